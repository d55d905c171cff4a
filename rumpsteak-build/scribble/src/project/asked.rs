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
//! The automaton is as many times as large as it has members, for each role that asks.

use std::collections::BTreeMap;

use super::projection::{Projection, local, project};
use crate::diagnostics::{Found, Span, all, global_errors, name_errors};
use crate::global::automaton::{Edge, Global, Letter};
use crate::index::{IndexSet, index};
use crate::limits::Limits;
use crate::syntax::ast::Link;

/// The machine of the members of a family. `families` has the number of members of each role that
/// is one.
pub(crate) fn member(
    global: &Global,
    family: usize,
    families: &[Option<u32>],
    declared: Span,
    limits: &Limits,
) -> Found<Projection> {
    let (singly, of) = singly(global, families, limits.global_states)?;
    let first = of.iter().position(|&role| role == family).unwrap_or_default();
    let role = &global.roles[family];
    let found = local(&singly, index(first), declared, limits).map_err(|mut errors| {
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
    let (singly, of) = singly(global, families, limits.global_states)?;
    let roles = (0..).zip(of);
    all(roles.map(|(role, of)| project(&singly, role, declared(of), limits)))
}

/// The automaton with each member as a role, `w[0]`, and for each role what it is a member of.
///
/// # Errors
/// An answer of a member that was not asked, a label for one member and for each, and more than
/// `most` states.
fn singly(global: &Global, families: &[Option<u32>], most: usize) -> Found<(Global, Vec<usize>)> {
    let (mut roles, mut of, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (role, members)) in global.roles.iter().zip(families).enumerate() {
        let names = (0..members.unwrap_or_default()).map(|index| format!("{role}[{index}]").into());
        roles.extend(names.chain(members.is_none().then(|| role.clone())));
        of.resize(roles.len(), number);
    }
    let all_of = |role: u32| {
        let all = (0..).zip(&of).filter(move |(_, of)| **of == role as usize);
        all.map(|(number, _)| number)
    };
    let (mut letters, mut states) = (IndexSet::<Letter>::default(), Vec::new());
    // A state, the members that were asked last, and the message of the state that goes on with
    // this member.
    let mut found = IndexSet::from_iter([(0, BTreeMap::new(), None)]);
    while let Some((state, asked, within)) = found.get_index(states.len()).cloned() {
        let mut edges = Vec::new();
        if states.len() > most {
            let first = global.all_edges().flat_map(|edge| &edge.origins).next();
            return Err(first
                .map(|&first| global_errors::too_large(first, most))
                .into_iter()
                .collect());
        }
        for (at, edge) in global.edges(state).iter().enumerate() {
            let letter = global.letter(edge);
            let (pair, is_answer) =
                ((letter.from, letter.to), families[letter.from as usize].is_some());
            let asker = if is_answer { (pair.1, pair.0) } else { pair };
            let both =
                all_of(letter.from).flat_map(|from| all_of(letter.to).map(move |to| (from, to)));
            let both: Vec<(u32, u32)> = both.collect();
            for (turn, &(from, to)) in both.iter().enumerate() {
                let (mut asked, mut next) = (asked.clone(), None);
                if letter.link != Link::Asks {
                    if within.unwrap_or((at, 0)) != (at, turn) {
                        continue;
                    }
                    next = (turn + 1 < both.len()).then_some((at, turn + 1));
                } else if within.is_some() || is_answer && asked.get(&asker) != Some(&turn) {
                    continue;
                } else {
                    asked.insert(asker, turn);
                }
                let target = if next.is_some() { state } else { edge.target };
                let target = index(found.insert_full((target, asked, next)).0);
                let letter = index(letters.insert_full(Letter { from, to, ..letter }).0);
                edges.push(Edge { letter, target, origins: edge.origins.clone() });
            }
            if letter.link == Link::Asks && is_answer && !asked.contains_key(&asker) {
                let family = global.roles[letter.from as usize].as_str();
                errors.push(name_errors::unasked(family, edge.origins[0]));
            }
        }
        states.push(edges);
    }
    let some = |edge: &&Edge| global.letter(edge).link == Link::Asks;
    for asks in global.all_edges().filter(some) {
        let label = |edge: &Edge| &global.message(global.letter(edge)).label;
        let is_each = |edge: &Edge| {
            let Letter { from, to, link, .. } = global.letter(edge);
            let has_family = [from, to].into_iter().any(|role| families[role as usize].is_some());
            link != Link::Asks && has_family && label(edge) == label(asks)
        };
        errors.extend(global.all_edges().find(|edge| is_each(edge)).map(|each| {
            name_errors::each_and_some(label(asks).as_str(), each.origins[0], asks.origins[0])
        }));
    }
    let singly = Global { roles, ..global.with_states(states, letters.into_iter().collect()) };
    if errors.is_empty() { Ok((singly, of)) } else { Err(errors) }
}
