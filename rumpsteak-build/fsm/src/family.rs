#![doc = include_str!("family.md")]

use litemap::LiteMap;
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;
use petgraph::unionfind::UnionFind;

use crate::machine::{Action, Fsm, Message, Role, StateId, Transition, TransitionId};

/// Checks that a deterministic machine is safe with every number of members if it is safe with one.
/// Costs O(transitions), and O(states) more for each pair of receives from different peers.
///
/// # Errors
/// The first state that may not be, and why.
pub fn check(fsm: &Fsm, is_family: impl Fn(&Role) -> bool) -> Result<(), (StateId, &'static str)> {
    let is_member = is_family(fsm.role());
    for state in fsm.reachable() {
        let actions: Vec<_> = fsm.transitions_from(state).map(|found| found.action).collect();
        let sends = actions.iter().filter(|it| it.is_send()).count();
        let with_family = actions.iter().any(|action| is_family(&action.peer));
        let obstacle = match is_member {
            true if with_family => "members of two families talk to each other",
            true if sends > 0 && actions.len() > 1 => "each member could choose something else",
            false if with_family && sends == 0 && fsm.undirected(state).is_some() => {
                "it waits for the members or another role, whichever is first"
            }
            false if with_family && sends > 0 && sends < actions.len() => {
                "sending to the members depends on what comes first"
            }
            _ => continue,
        };
        return Err((state, obstacle));
    }
    let differing = if is_member { differing_order(fsm) } else { None };
    differing.map_or(Ok(()), |state| Err((state, "members could receive in different orders")))
}

/// Checks that each state sends, or waits for one role: beside a ring this has to hold.
///
/// # Errors
/// The first state that may not, and why.
pub fn waits_for_one(fsm: &Fsm) -> Result<(), (StateId, &'static str)> {
    let waits = |state| fsm.transitions_from(state).any(|by| !by.action.is_send());
    let found = fsm.reachable().find(|&state| waits(state) && !has_one_peer(fsm, state));
    let reason = "beside a ring, each role waits for one role at a time";
    found.map_or(Ok(()), |state| Err((state, reason)))
}

/// True if a machine may send or receive, whichever is first: members may do different things.
pub fn differs(fsm: &Fsm) -> bool {
    fsm.states().any(|state| fsm.mixed(state).is_some())
}

/// True if two members decide for any number: their machine talks to one role.
pub fn two_decide(member: &Fsm) -> bool {
    member.transitions().map(|by| &by.action.peer).is_sorted_by(|one, other| one == other)
}

/// True if a state sends, or waits for one role.
pub fn has_one_peer(fsm: &Fsm, state: StateId) -> bool {
    fsm.mixed(state).is_none() && fsm.undirected(state).is_none()
}

/// True if what a role may send where a family may be first may also be sent, with the same end,
/// after what the family sends. Then it may be sent while some of the members are due.
pub fn may_stop(fsm: &Fsm, is_family: impl Fn(&Role) -> bool) -> bool {
    fsm.states().filter(|&state| !has_one_peer(fsm, state)).all(|state| {
        let mut heard = fsm.transitions_from(state).filter(|by| is_heard(by, &is_family));
        heard.all(|heard| {
            fsm.sends_from(state).all(|by| {
                let mut after = fsm.transitions_from(heard.target);
                after.any(|of| (of.action, of.target) == (by.action, by.target))
            })
        })
    })
}

fn is_heard(by: &Transition<'_>, is_family: impl Fn(&Role) -> bool) -> bool {
    !by.action.is_send() && is_family(&by.action.peer)
}

/// True if a state receives from one role what leads back to it, or on to one other state.
fn drains(fsm: &Fsm, state: StateId) -> bool {
    let next = || fsm.transitions_from(state).map(|by| by.target).filter(|&it| it != state);
    let is_one = next().next().is_some() && next().is_sorted_by(|one, other| one == other);
    is_one && has_one_peer(fsm, state)
}

/// True if the runtime can run a machine: a state receives from one family at most, and from no
/// other role unless `two_decide`. If members `differ`, it does so with one label, or drains.
pub fn can_run(
    fsm: &Fsm,
    is_family: impl Fn(&Role) -> bool,
    differ: bool,
    two_decide: bool,
) -> bool {
    fsm.states().all(|state| {
        let heard = fsm.transitions_from(state).filter(|by| is_heard(by, &is_family));
        let heard: Vec<&Role> = heard.map(|by| &by.action.peer).collect();
        let is_alone = two_decide || heard.is_empty() || has_one_peer(fsm, state);
        let mut two = heard.windows(2);
        is_alone && two.all(|two| two[0] == two[1] && (!differ || drains(fsm, state)))
    })
}

/// The machine with the members of each family as single roles, `worker[0]`: one machine, or the
/// machines of all members. Each has the transitions that its own stand for. The function returns
/// the number of members of a family. With `stops`, gathers that [may stop](may_stop) do.
pub fn singly(
    fsm: &Fsm,
    members: impl Fn(&Role) -> Option<u32>,
    differ: bool,
    stops: bool,
) -> Vec<(Fsm, Vec<TransitionId>)> {
    let each = |role: &Role| match members(role) {
        None => vec![role.clone()],
        Some(number) => (0..number).map(|index| format!("{role}[{index}]").into()).collect(),
    };
    let written = each(fsm.role()).into_iter().map(|role| {
        let (mut builder, mut stands_for) = (Fsm::builder(role), vec![]);
        let (mut turns, states) = (LiteMap::new_vec(), fsm.states());
        states.for_each(|_| _ = builder.add_state());
        // Each with the state that it leaves. Those of a gather that stops come behind the others.
        let mut due: Vec<_> = fsm.transitions().map(|by| (by.source, by)).collect();
        let mut done = 0;
        while let Some(&(start, Transition { id, source: state, action, target })) = due.get(done) {
            done += 1;
            let (peers, receives) = (each(&action.peer), !action.is_send());
            let is_drained = differ && receives && drains(fsm, state);
            let any_is_first = receives && !has_one_peer(fsm, state);
            for first in 0..if any_is_first { peers.len() } else { 1 } {
                let (mut order, mut source) = (peers.clone(), start);
                order[..=first].rotate_right(1);
                for (turn, peer) in order.into_iter().enumerate() {
                    let is_last = turn + 1 == peers.len();
                    let next = match is_last {
                        true => target,
                        false if !is_drained => builder.add_state(),
                        false => *turns.entry((state, turn)).or_insert_with(|| builder.add_state()),
                    };
                    let target = if is_drained && target == state { source } else { next };
                    builder.add_transition(source, Action { peer, ..action.clone() }, target);
                    stands_for.push(id);
                    source = next;
                    if stops && any_is_first && !is_last {
                        due.extend(fsm.sends_from(state).map(|by| (source, by)));
                    }
                }
            }
        }
        (builder.build(fsm.initial()).on_demand(fsm.is_on_demand()), stands_for)
    });
    written.collect()
}

/// A state in which the order of receives may make a difference to a member.
fn differing_order(fsm: &Fsm) -> Option<StateId> {
    let has_several = |state: &StateId| fsm.undirected(*state).is_some();
    let (mut classes, mut steps) = (UnionFind::new(fsm.len()), vec![]);
    for state in fsm.reachable().filter(has_several) {
        for one in fsm.transitions_from(state) {
            let next = step(fsm, one, Sent::new()).map(|(next, _)| next).filter(has_several);
            steps.extend(next.map(|next| (state.index() as u32, next.index() as u32)));
            for other in fsm.transitions_from(state).filter(|it| it.action.peer < one.action.peer) {
                let both = |first, then: Transition<'_>| {
                    let (state, sent) = step(fsm, first, Sent::new())?;
                    let then = fsm.transitions_from(state).find(|it| it.action == then.action)?;
                    step(fsm, then, sent)
                };
                let ends = both(one, other).zip(both(other, one));
                if !ends.is_some_and(|((left, sent), (right, also))| {
                    sent == also && are_alike(fsm, (left, right), &mut classes)
                }) {
                    return Some(state);
                }
            }
        }
    }
    let is_cyclic = is_cyclic_directed(&DiGraph::<(), ()>::from_edges(steps));
    fsm.reachable().find(has_several).filter(|_| is_cyclic)
}

/// The messages to each peer.
type Sent<'f> = LiteMap<&'f Role, Vec<&'f Message>>;

/// The state behind a transition and all sends that follow it, if they come to an end.
fn step<'f>(fsm: &'f Fsm, by: Transition<'f>, mut sent: Sent<'f>) -> Option<(StateId, Sent<'f>)> {
    let mut state = by.target;
    for _ in 0..fsm.len() {
        let next = fsm.transitions_from(state).next();
        let Some(next) = next.filter(|it| it.action.is_send()) else {
            return Some((state, sent));
        };
        sent.entry(&next.action.peer).or_default().push(&next.action.message);
        state = next.target;
    }
    None
}

/// True if the machine does the same from both states, provided that it does from any two of a
/// class: one pair that differs ends the search.
fn are_alike(fsm: &Fsm, pair: (StateId, StateId), classes: &mut UnionFind<usize>) -> bool {
    let mut pending = vec![pair];
    while let Some((left, right)) = pending.pop() {
        if classes.union(left.index(), right.index()) {
            if fsm.actions_from(left) != fsm.actions_from(right) {
                return false;
            }
            let pairs = fsm.transitions_from(left).flat_map(|one| {
                let same = fsm.transitions_from(right).filter(move |it| it.action == one.action);
                same.map(move |other| (one.target, other.target))
            });
            pending.extend(pairs);
        }
    }
    true
}
