//! Who is connected with whom: `explicit` protocols, `connect` and `disconnect` (Hu, Yoshida,
//! *Explicit connection actions in multiparty session types*, FASE'17).
//!
//! A connection costs nothing here: a queue is there whether it is used or not. `connect A to B` is
//! a message like any other, and `disconnect A and B` is none. What they say is who may be absent:
//! see [`on_demand`](crate::project::on_demand).
//!
//! The automaton is unfolded until each state has one set of connections, which every interaction
//! needs, makes or ends. There, `disconnect` is no step any more.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use super::automaton::{Edge, Global, Letter};
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::global_errors;
use crate::diagnostics::span::Name;
use crate::index::{IndexSet, index};
use crate::syntax::ast::Link;

/// By state the roles that are connected with nobody. Empty if the protocol says nothing of
/// connections: then all are connected.
pub(crate) type Alone = Vec<FixedBitSet>;

/// The pairs of roles that are connected, the smaller number first.
type Connections = BTreeSet<(u32, u32)>;

/// Follows the connections of a protocol, in which none are there at first if it is `explicit`, and
/// otherwise all.
///
/// # Errors
/// Interactions without a connection, connections that are made twice, and what is beyond them; and
/// if the protocol called `name` has more than `limit` states.
pub(crate) fn connect(
    global: Global,
    explicit: bool,
    name: &Name,
    limit: usize,
) -> Result<(Global, Alone), Vec<Diagnostic>> {
    if !explicit && global.letters.iter().all(|letter| letter.link == Link::Needs) {
        return Ok((global, Vec::new()));
    }
    if let Some(block) = global.blocks.first() {
        return Err(vec![global_errors::block_in_explicit(block.span)]);
    }
    let roles = index(global.roles.len());
    let all = (0..roles).flat_map(|one| (one + 1..roles).map(move |other| (one, other)));
    let start = if explicit { Connections::new() } else { all.collect() };
    let mut walk = Walk { global: &global, explicit, diagnostics: Vec::new() };
    let mut found = IndexSet::from_iter([walk.settle(0, start)]);
    let mut letters: IndexSet<Letter> = IndexSet::default();
    let mut states: Vec<Vec<Edge>> = Vec::new();
    while let Some((state, connections)) = found.get_index(states.len()).cloned() {
        let mut edges = Vec::new();
        for edge in global.edges(state) {
            let target = walk.step(edge, connections.clone());
            let target = index(found.insert_full(target).0);
            let letter = Letter { link: Link::Needs, ..global.letter(edge) };
            let letter = index(letters.insert_full(letter).0);
            edges.push(Edge { letter, target, ..*edge });
        }
        states.push(edges);
        if !walk.diagnostics.is_empty() {
            return Err(walk.diagnostics);
        }
        if states.len() > limit {
            return Err(vec![global_errors::too_large(name.span, limit)]);
        }
    }
    let alone = found.iter().map(|(_, connections)| {
        let mut alone = FixedBitSet::with_capacity(global.roles.len());
        alone.insert_range(..);
        for &(one, other) in connections {
            alone.set(one as usize, false);
            alone.set(other as usize, false);
        }
        alone
    });
    let alone = alone.collect();
    let letters = letters.into_iter().collect();
    Ok((global.with_states(states, global.origins.clone(), letters), alone))
}

struct Walk<'a> {
    global: &'a Global,
    explicit: bool,
    /// What is wrong where somebody looked last.
    diagnostics: Vec<Diagnostic>,
}

impl Walk<'_> {
    /// The state and the connections behind an interaction that is no end of a connection, or one
    /// beside others, which is wrong.
    fn step(&mut self, edge: &Edge, mut connections: Connections) -> (u32, Connections) {
        let letter = self.global.letter(edge);
        let pair = (letter.from.min(letter.to), letter.from.max(letter.to));
        let span = self.global.origins(edge)[0];
        let [from, to] =
            [letter.from, letter.to].map(|role| self.global.roles[role as usize].as_str());
        let wrong = match (letter.link, connections.contains(&pair)) {
            (Link::Needs, true) => None,
            (Link::Opens, false) => {
                connections.insert(pair);
                None
            }
            (Link::Opens, true) => {
                Some(global_errors::connected_twice(span, from, to, self.explicit))
            }
            (Link::Closes, true) => Some(global_errors::silent_branch(span, from)),
            (_, false) => Some(global_errors::unconnected(span, from, to)),
        };
        self.diagnostics.extend(wrong);
        self.settle(edge.target, connections)
    }

    /// Ends the connections that are ended before anything else happens.
    fn settle(&mut self, mut state: u32, mut connections: Connections) -> (u32, Connections) {
        while let [edge] = self.global.edges(state)
            && let Letter { from, to, link: Link::Closes, .. } = self.global.letter(edge)
        {
            // Each one is there before, so this ends.
            if !connections.remove(&(from.min(to), from.max(to))) {
                break;
            }
            state = edge.target;
        }
        (state, connections)
    }
}
