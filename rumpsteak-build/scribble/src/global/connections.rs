//! Connections: `explicit` protocols, `connect` and `disconnect` (Hu, Yoshida, *Explicit connection
//! actions in multiparty session types*, FASE'17).
//!
//! A queue exists whether it is used or not, so a connection costs nothing here: `connect A to B`
//! is a message like any other, and `disconnect A and B` sends nothing. Connections say which roles
//! may be absent: see [`on_demand`](crate::project::on_demand).
//!
//! The automaton is unfolded until each state has one set of connections. Every interaction is
//! checked against it, and `disconnect` disappears as a step.

use fixedbitset::FixedBitSet;

use super::automaton::{Edge, Global, Letter};
use crate::diagnostics::{Diagnostic, Found, Name, global_errors};
use crate::index::{IndexSet, index};
use crate::syntax::ast::Link;

/// The roles without any connection, by state. Empty if the protocol never mentions connections:
/// then all roles are connected.
pub(crate) type Alone = Vec<FixedBitSet>;

/// The connected pairs of roles, the smaller number first. Sorted.
type Connections = Vec<(u32, u32)>;

/// Follows the connections of a protocol. At first none exist if it is `explicit`, and all
/// otherwise.
///
/// # Errors
/// Interactions without a connection, connections that are made twice, unsupported combinations;
/// and if the protocol called `name` has more than `limit` states.
pub(crate) fn connect(
    global: Global,
    explicit: bool,
    name: &Name,
    limit: usize,
) -> Found<(Global, Alone)> {
    if !explicit && global.letters.iter().all(|letter| letter.link.only_sends()) {
        return Ok((global, Vec::new()));
    }
    if let Some(block) = global.blocks.first() {
        return Err(vec![global_errors::block_in_explicit(block.span)]);
    }
    let roles = index(global.roles.len());
    let all = (0..roles).flat_map(|one| (one + 1..roles).map(move |other| (one, other)));
    let start = if explicit { Connections::new() } else { all.collect() };
    let mut found = IndexSet::from_iter([settle(&global, 0, start)]);
    let mut letters: IndexSet<Letter> = IndexSet::default();
    let mut states: Vec<Vec<Edge>> = Vec::new();
    while let Some((state, connections)) = found.get_index(states.len()).cloned() {
        let (mut edges, mut diagnostics) = (Vec::new(), Vec::new());
        for edge in global.edges(state) {
            let mut connections = connections.clone();
            diagnostics.extend(step(&global, edge, &mut connections, explicit));
            let (target, _) = found.insert_full(settle(&global, edge.target, connections));
            let letter = Letter { link: Link::Needs, ..global.letter(edge) };
            let (letter, target) = (index(letters.insert_full(letter).0), index(target));
            edges.push(Edge { letter, target, origins: edge.origins.clone() });
        }
        states.push(edges);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
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
    Ok((global.with_states(states, letters.into_iter().collect()), alone.collect()))
}

/// Updates the connections for one interaction. [`settle`] has ended the connections of a state
/// whose only edge does that, so an edge that ends one here is an error.
fn step(
    global: &Global,
    edge: &Edge,
    connections: &mut Connections,
    explicit: bool,
) -> Option<Diagnostic> {
    let Letter { from, to, link, .. } = global.letter(edge);
    let pair = (from.min(to), from.max(to));
    let span = edge.origins[0];
    let [from, to] = [from, to].map(|role| global.roles[role as usize].as_str());
    match (link, connections.binary_search(&pair)) {
        (Link::Needs | Link::Asks, Ok(_)) => None,
        (Link::Opens, Err(at)) => {
            connections.insert(at, pair);
            None
        }
        (Link::Opens, Ok(_)) if explicit => Some(global_errors::connected_twice(span, from, to)),
        (Link::Opens, Ok(_)) => Some(
            global_errors::connected_twice(span, from, to)
                .help("all roles are connected unless it is an `explicit global protocol`"),
        ),
        (Link::Closes, Ok(_)) => Some(global_errors::silent_branch(span, from)),
        (_, Err(_)) => Some(global_errors::unconnected(span, from, to)),
    }
}

/// Ends the connections that end before anything else happens.
fn settle(global: &Global, mut state: u32, mut connections: Connections) -> (u32, Connections) {
    while let [edge] = global.edges(state)
        && let Letter { from, to, link: Link::Closes, .. } = global.letter(edge)
    {
        // Each connection exists before, so this ends.
        let Ok(at) = connections.binary_search(&(from.min(to), from.max(to))) else { break };
        connections.remove(at);
        state = edge.target;
    }
    (state, connections)
}
