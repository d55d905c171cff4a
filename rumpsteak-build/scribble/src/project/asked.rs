//! Messages with one member of a family: `job() from m to some w`, and what this member answers.
//!
//! ```text
//!   job() from m to some w;     choice at m { job() from m to w[0]; done() from w[0] to m; }
//!   done() from some w to m;             or { job() from m to w[1]; done() from w[1] to m; }
//! ```
//!
//! `m` chooses the member, so the protocol is the one on the right, with each member as a role. The
//! machine of a member is its projection. A member that another one is asked instead of sees
//! nothing of it, so two members have the same projection as any greater number.
//!
//! # Cost
//! Each role that asks makes the automaton as many times as large as the family has members.

use litemap::LiteMap;

use super::projection::{Projection, local, project};
use crate::diagnostics::{Found, Span, all, global_errors, name_errors};
use crate::global::automaton::{Edge, Global, Letter};
use crate::index::{IndexSet, index};
use crate::limits::Limits;
use crate::syntax::ast::Link;

/// The machine of the members of a family. `families` has the number of members of each role that
/// is one: 0 if the program gives it.
pub(crate) fn member(
    global: &Global,
    family: usize,
    families: &[Option<u32>],
    declared: Span,
    limits: &Limits,
) -> Found<Projection> {
    // Another member is like the second one.
    let two = families.iter().map(|number| number.map(|number| if number == 1 { 1 } else { 2 }));
    let (singly, first) = singly(global, &two.collect::<Vec<_>>(), limits.global_states)?;
    let role = &global.roles[family];
    let found = local(&singly, first[family], declared, limits).map_err(|mut errors| {
        // All members are told at once.
        let (one, each) = (format!("tell `{role}[0]`"), format!("tell `each {role}`"));
        for help in errors.iter_mut().filter_map(|error| error.help.as_mut()) {
            *help = help.replace(&one, &each);
        }
        errors
    });
    Ok(Projection::of(found?, role))
}

/// The machines of all roles, with each member as a role. `declared` has the places of the roles.
pub(crate) fn project_all(
    global: &Global,
    families: &[Option<u32>],
    declared: impl Fn(usize) -> Span,
    limits: &Limits,
) -> Found<Vec<Projection>> {
    let (singly, first) = singly(global, families, limits.global_states)?;
    all((0..index(singly.roles.len())).map(|role| {
        let of = first.partition_point(|&first| first <= role) - 1;
        project(&singly, role, declared(of), limits)
    }))
}

/// The automaton with each member as a role, `w[0]`, and the number of the first member of each
/// role, or of the role itself.
///
/// # Errors
/// An answer of a member that was not asked, a label for one member and for each, and more than
/// `most` states.
fn singly(global: &Global, families: &[Option<u32>], most: usize) -> Found<(Global, Vec<u32>)> {
    let (mut roles, mut first, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (role, members) in global.roles.iter().zip(families) {
        first.push(index(roles.len()));
        match members {
            None => roles.push(role.clone()),
            Some(number) => roles.extend((0..*number).map(|at| format!("{role}[{at}]").into())),
        }
    }
    let is_asked = |edge: &Edge| global.letter(edge).link == Link::Asks;
    let (mut letters, mut states) = (IndexSet::<Letter>::default(), Vec::new());
    // A state, the members that were asked last, and the message of the state that goes on with
    // this member.
    let mut found = IndexSet::from_iter([(0, LiteMap::new_vec(), None)]);
    while let Some((state, asked, within)) = found.get_index(states.len()).cloned() {
        let mut edges = Vec::new();
        for (at, edge) in global.edges(state).iter().enumerate() {
            let letter = global.letter(edge);
            let is_from_family = families[letter.from as usize].is_some();
            let (family, other) =
                if is_from_family { (letter.from, letter.to) } else { (letter.to, letter.from) };
            let number = families[family as usize].unwrap_or(1);
            let turns = match (is_asked(edge), within) {
                (true, None) if is_from_family => match asked.get(&(other, family)) {
                    Some(&turn) => turn..turn + 1,
                    None => {
                        let family = global.roles[family as usize].as_str();
                        errors.push(name_errors::unasked(family, edge.origins[0]));
                        continue;
                    }
                },
                (true, None) => 0..number,
                (false, None) => 0..1,
                (false, Some((message, turn))) if message == at => turn..turn + 1,
                _ => continue,
            };
            for turn in turns {
                let mut asked = asked.clone();
                if is_asked(edge) {
                    asked.insert((other, family), turn);
                }
                let goes_on = !is_asked(edge) && turn + 1 < number;
                let target = if goes_on { state } else { edge.target };
                let target = (target, asked, goes_on.then_some((at, turn + 1)));
                let [mut from, mut to] = [letter.from, letter.to].map(|role| first[role as usize]);
                *(if is_from_family { &mut from } else { &mut to }) += turn;
                let target = index(found.insert_full(target).0);
                let letter = index(letters.insert_full(Letter { from, to, ..letter }).0);
                edges.push(Edge { letter, target, origins: edge.origins.clone() });
            }
            if found.len() > most {
                let error = global_errors::too_large(edge.origins[0], most);
                let help = "write fewer members, or raise the limit `global_states`";
                return Err(vec![error.help(help)]);
            }
        }
        states.push(edges);
    }
    for asks in global.all_edges().filter(|edge| is_asked(edge)) {
        let label = |edge: &Edge| &global.message(global.letter(edge)).label;
        let is_for_each = |edge: &&Edge| {
            let Letter { from, to, .. } = global.letter(edge);
            let has_family = [from, to].into_iter().any(|role| families[role as usize].is_some());
            !is_asked(edge) && has_family && label(edge) == label(asks)
        };
        errors.extend(global.all_edges().find(is_for_each).map(|each| {
            name_errors::each_and_some(label(asks).as_str(), each.origins[0], asks.origins[0])
        }));
    }
    let singly = Global { roles, ..global.with_states(states, letters.into_iter().collect()) };
    if errors.is_empty() { Ok((singly, first)) } else { Err(errors) }
}
