//! The checks of each state of a role's machine: see [`projection`](super::projection).

use fixedbitset::FixedBitSet;

use super::merge::{EdgeAt, Group, Subsets, TooLarge, path};
use crate::diagnostics::Code;
use crate::global::automaton::{Global, Letter};
use crate::index::{IndexSet, NONE, index, leads_to, sorted};

pub(super) struct Problem {
    pub(super) state: u32,
    pub(super) kind: Code,
    /// The edge that is impossible in some branch.
    pub(super) one: EdgeAt,
    /// Another edge; or a global state, with [`NONE`], from which `one` is impossible.
    pub(super) other: EdgeAt,
    /// If `one` can be overtaken: the path of the other roles from `other` to a message like `one`
    /// that arrives first.
    pub(super) early: Vec<EdgeAt>,
}

/// Checks the state that was just closed; `groups` are its edges.
pub(super) fn check(
    subsets: &mut Subsets<'_>,
    state: u32,
    groups: &[Group],
    problems: &mut Vec<Problem>,
) -> Result<(), TooLarge> {
    let Some(first) = groups.first() else { return Ok(()) };
    let mut add = |kind, one: EdgeAt, other: EdgeAt| {
        problems.push(Problem { state, kind, one, other, early: Vec::new() });
    };
    // A block is a send if the role may begin to send in it, and otherwise a receive.
    let is_block = |group: &Group| subsets.is_block(group.letter);
    let kind = |group: &Group, kind| if is_block(group) { Code::BlockUnknown } else { kind };
    let sends = subsets.sends(first.letter);
    let mixed = groups.iter().find(|group| subsets.sends(group.letter) != sends);
    if let Some((one, other)) = same_label(subsets, groups) {
        add(Code::PayloadUnknown, one.edges[0], other.edges[0]);
    } else if let Some(other) = mixed {
        let send_first = if is_block(first) || is_block(other) { is_block(first) } else { sends };
        let (one, other) = if send_first { (first, other) } else { (other, first) };
        add(kind(one, Code::SendOrReceive), one.edges[0], other.edges[0]);
    } else if sends {
        let mut steps = 0;
        for group in groups {
            steps += subsets.members.len();
            if let Some(stuck) = stuck(subsets, group.edges.iter()) {
                add(kind(group, Code::SendUnknown), group.edges[0], (stuck, NONE));
            }
        }
        subsets.spend(steps)?;
    } else if let Some(stuck) = stuck(subsets, groups.iter().flat_map(|group| &group.edges)) {
        let first = groups.iter().find(|group| is_block(group)).unwrap_or(first);
        add(kind(first, Code::NeverTold), first.edges[0], (stuck, NONE));
    } else if let Some((one, other, early)) = overtaken(subsets, groups)? {
        problems.push(Problem { state, kind: Code::Overtaken, one, other, early });
    }
    Ok(())
}

/// Two groups with equal peers and labels, and different payloads.
fn same_label<'g>(subsets: &Subsets<'_>, groups: &'g [Group]) -> Option<(&'g Group, &'g Group)> {
    let key = |group: &Group| {
        let letter = subsets.letter(group.letter);
        (letter.from, letter.to, &subsets.global.message(letter).label)
    };
    let messages = groups.iter().filter(|group| !subsets.is_block(group.letter));
    let mut keys: Vec<_> = messages.map(|group| (key(group), group)).collect();
    keys.sort_by(|one, other| one.0.cmp(&other.0));
    // One message to one member and to each is another mistake.
    keys.dedup_by_key(|(key, group)| (*key, subsets.letter(group.letter).message));
    let same = keys.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    Some((same[0].1, same[1].1))
}

/// A member from which no ε-path leads to any of `edges`.
fn stuck<'e>(subsets: &Subsets<'_>, edges: impl Iterator<Item = &'e EdgeAt>) -> Option<u32> {
    let members = &subsets.members;
    let goals = sorted(edges.map(|&(source, _)| subsets.slot(source)).collect());
    if goals.len() == members.len() {
        return None;
    }
    let silent = |&member: &u32| {
        let source = subsets.slot(member);
        subsets.silent(member).map(move |target| (source, target))
    };
    let silent: Vec<(u32, u32)> = members.iter().flat_map(silent).collect();
    let reaches = leads_to(members.len(), &silent, goals);
    Some(members[reaches.iter().position(|&reaches| !reaches)?])
}

/// Returns for each state true if the automaton can come to an end from there.
pub(super) fn can_end(automaton: &Global) -> Vec<bool> {
    let states = 0..index(automaton.len());
    let from = |state| automaton.edges(state).iter().map(move |edge| (state, edge.target));
    let edges: Vec<(u32, u32)> = states.clone().flat_map(from).collect();
    let ends = states.filter(|&state| automaton.edges(state).is_empty()).collect();
    leads_to(automaton.len(), &edges, ends)
}

/// Receive validity: finds a message that can arrive first although the branch of another one was
/// taken. Returns an edge with it, the edge of the other, and the path from there to the message
/// that arrives first.
fn overtaken(
    subsets: &mut Subsets<'_>,
    groups: &[Group],
) -> Result<Option<(EdgeAt, EdgeAt, Vec<EdgeAt>)>, TooLarge> {
    let senders = groups.iter().map(|group| subsets.letter(group.letter).from);
    let senders = sorted(senders.filter(|&sender| sender != NONE).collect());
    for Group { letter, edges } in groups {
        let own = subsets.letter(*letter).from;
        for &other in senders.iter().filter(|&&other| own != NONE && other != own) {
            for &taken in edges {
                let target = subsets.edge(taken).target;
                if let Some((awaited, early)) = available(subsets, target, other, groups)? {
                    return Ok(Some((awaited.edges[0], taken, early)));
                }
            }
        }
    }
    Ok(None)
}

/// Finds one of `groups` whose letter can be first in the queue from `sender` to the role when the
/// protocol goes on from `start` without the role, and the shortest path there. It is a letter of
/// the set `M` of CAV'23, Def. 5.2, for one sender.
///
/// The role is blocked from the start, and a role that waits for a blocked role is blocked. A path
/// is followed until `sender` is blocked or has sent to the role: only its first message matters.
/// It is not followed through a block: a protocol with blocks is judged as a whole.
fn available<'g>(
    subsets: &mut Subsets<'_>,
    start: u32,
    sender: u32,
    groups: &'g [Group],
) -> Result<Option<(&'g Group, Vec<EdgeAt>)>, TooLarge> {
    let global = subsets.global;
    let mut blocked = FixedBitSet::with_capacity(global.roles.len());
    blocked.insert(subsets.role as usize);
    // Each state with its blocked roles, and the step that led there.
    let (mut found, mut steps) = (IndexSet::from_iter([(start, blocked)]), vec![None]);
    let mut at = 0;
    while let Some((state, blocked)) = found.get_index(at).cloned() {
        subsets.spend(blocked.as_slice().len())?;
        for (position, edge) in (0..).zip(global.edges(state)) {
            let Letter { from, to, .. } = global.letter(edge);
            let back = Some((at, (state, position)));
            if from == NONE {
                continue;
            }
            let mut after = blocked.clone();
            if blocked.contains(from as usize) {
                after.insert(to as usize);
            } else if from == sender && to == subsets.role {
                if let Some(awaited) = groups.iter().find(|group| group.letter == edge.letter) {
                    return Ok(Some((awaited, path(back, |at| steps[at]))));
                }
                continue;
            }
            if !after.contains(sender as usize) && found.insert((edge.target, after)) {
                steps.push(back);
            }
        }
        at += 1;
    }
    Ok(None)
}
