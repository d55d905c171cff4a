//! The flow of a protocol, before it is unfolded: three mistakes that would make unfolding endless
//! or meaningless.
//!
//! * **Unguarded recursion** (S0301): a cycle of [`Node`]s without a message. An edge without a
//!   message leads from `rec` to its body, from `continue` to its `rec`, from `choice` to each
//!   branch, from `do` to the called protocol, and from a block to its parts. `do` and blocks also
//!   lead to what follows them if they can end without a message.
//! * **Unreachable interactions** (S0302): they follow a `continue`, or something that never ends.
//!   Whether a protocol ends depends on the protocols that it calls, so one search covers all of
//!   them: a `do` waits until the search finds an end of the called protocol.
//! * **Recursion that is not last** (S0303): a `do` inside a cycle of calls, followed by something
//!   else. The rounds would stack up, so no machine with finitely many states describes the
//!   protocol.
//!
//! Each costs O(program) and uses a stack of its own.

use hashbrown::HashMap;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;

use crate::diagnostics::{Diagnostic, global_errors};
use crate::index::{follow, index};
use crate::names::program::{END, Node, NodeKind, Program};

/// Checks all valid protocols of `program`. Marks the protocols with a mistake, and their callers,
/// invalid.
pub(crate) fn check(program: &mut Program<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let flat = Flat::new(program);
    let reach = flat.reach(false);
    let mut found = flat.unreachable(&reach);
    found.extend(flat.unguarded(&reach));
    found.extend(flat.nested_recursion(&reach));
    for (protocol, diagnostic) in found {
        program.protocols[protocol].valid = false;
        diagnostics.push(diagnostic);
    }
    program.spread_invalid();
    for protocol in program.protocols.iter_mut().filter(|found| found.valid) {
        shorten_jumps(&mut protocol.nodes);
    }
}

/// Lets each jump lead to a node that is not a jump. Following many nested recursions one by one
/// from each `continue` would be quadratic.
fn shorten_jumps(nodes: &mut [Node]) {
    let end = index(nodes.len());
    let ends = follow(nodes.len() + 1, |at| match nodes.get(at as usize)?.kind {
        NodeKind::Jump { target } => Some(target.min(end)),
        _ => None,
    });
    for node in nodes {
        if let NodeKind::Jump { target } = &mut node.kind {
            let last = ends[(*target).min(end) as usize];
            *target = if last == end { END } else { last };
        }
    }
}

/// A protocol, and one of its nodes or [`END`].
type At = (usize, u32);

/// All nodes of all protocols under one numbering.
struct Flat<'p, 'm> {
    program: &'p Program<'m>,
    /// The number of the first node of each protocol, and the number of all nodes.
    bases: Vec<usize>,
}

/// The nodes that are reached, and the protocols that come to an end.
struct Reach {
    /// True if the search stops at messages.
    silent: bool,
    nodes: Vec<bool>,
    ends: Vec<bool>,
    /// For each block the number of its parts that come to their ends.
    parts: HashMap<At, usize>,
}

impl<'p, 'm> Flat<'p, 'm> {
    fn new(program: &'p Program<'m>) -> Self {
        let mut bases = vec![0];
        for protocol in &program.protocols {
            bases.push(bases[bases.len() - 1] + protocol.nodes.len());
        }
        Self { program, bases }
    }

    fn len(&self) -> usize {
        self.bases[self.program.protocols.len()]
    }

    fn node(&self, (protocol, node): At) -> &'p Node {
        &self.program.protocols[protocol].nodes[node as usize]
    }

    fn number(&self, (protocol, node): At) -> usize {
        self.bases[protocol] + node as usize
    }

    fn valid(&self) -> impl Iterator<Item = usize> {
        let protocols = &self.program.protocols;
        (0..protocols.len()).filter(|&index| protocols[index].valid)
    }

    /// Searches from the entries of all protocols. If `silent`, it stops at messages.
    fn reach(&self, silent: bool) -> Reach {
        let protocols = &self.program.protocols;
        let mut reach = Reach {
            silent,
            nodes: vec![false; self.len()],
            ends: vec![false; protocols.len()],
            parts: HashMap::new(),
        };
        // By protocol, where its callers go on once its first end is found.
        let mut waiting: Vec<Vec<At>> = vec![Vec::new(); protocols.len()];
        let mut work: Vec<At> = self.valid().map(|index| (index, protocols[index].entry)).collect();
        while let Some(at) = work.pop() {
            let (protocol, node) = at;
            if node == END {
                reach.ends[protocol] = true;
                work.append(&mut waiting[protocol]);
                continue;
            }
            if std::mem::replace(&mut reach.nodes[self.number(at)], true) {
                continue;
            }
            match self.node(at).kind {
                NodeKind::Do { callee, .. } if !reach.ends[callee as usize] => {
                    waiting[callee as usize].push((protocol, self.node(at).next));
                }
                NodeKind::PartEnd { block } => {
                    *reach.parts.entry((protocol, block)).or_default() += 1;
                    if self.passes(&reach, (protocol, block)) {
                        work.push((protocol, self.node((protocol, block)).next));
                    }
                }
                _ => {}
            }
            work.extend(self.successors(&reach, at));
        }
        reach
    }

    /// True if all parts of the block have been seen to end, or if an interrupt can end it.
    fn passes(&self, reach: &Reach, block: At) -> bool {
        let NodeKind::Block { parts, interrupts } = &self.node(block).kind else { return false };
        reach.parts.get(&block) == Some(&parts.len()) || !reach.silent && !interrupts.is_empty()
    }

    /// The nodes that follow one, as far as the search knows which protocols and parts end.
    fn successors(&self, reach: &Reach, at: At) -> Vec<At> {
        let node = self.node(at);
        let next = |passes: bool| passes.then_some(node.next);
        let of_node = |next: u32| (at.0, next);
        match &node.kind {
            NodeKind::PartEnd { .. } | NodeKind::Invalid => Vec::new(),
            NodeKind::Message { .. } => next(!reach.silent).into_iter().map(of_node).collect(),
            NodeKind::Block { parts, .. } => {
                parts.iter().copied().chain(next(self.passes(reach, at))).map(of_node).collect()
            }
            NodeKind::Choice { branches, .. } => branches.iter().copied().map(of_node).collect(),
            NodeKind::Jump { target } => vec![of_node(*target)],
            NodeKind::Do { callee, .. } => {
                let callee = *callee as usize;
                let entry = (callee, self.program.protocols[callee].entry);
                [entry].into_iter().chain(next(reach.ends[callee]).map(of_node)).collect()
            }
        }
    }

    /// S0302, for the first unreachable interaction of each block.
    fn unreachable(&self, reach: &Reach) -> Vec<(usize, Diagnostic)> {
        let mut found = Vec::new();
        for protocol in self.valid() {
            let decl = self.program.protocols[protocol].decl;
            let reached = |id: u32| reach.nodes[self.number((protocol, id))];
            for pair in decl.body.blocks.iter().flat_map(|block| block.windows(2)) {
                let (before, after) = (pair[0], pair[1]);
                if reached(before.0) && !reached(after.0) {
                    let [after, before] = [after, before].map(|id| decl.body.interaction(id).span);
                    found.push((protocol, global_errors::unreachable(after, before)));
                }
            }
        }
        found
    }

    /// S0301, for each edge that closes a cycle in a depth-first search, which leaves its target
    /// last.
    fn unguarded(&self, reach: &Reach) -> Vec<(usize, Diagnostic)> {
        let silent = self.reach(true);
        let mut graph: DiGraph<At, ()> = DiGraph::with_capacity(self.len(), self.len());
        for (protocol, found) in self.program.protocols.iter().enumerate() {
            (0..index(found.nodes.len())).for_each(|at| _ = graph.add_node((protocol, at)));
        }
        for from in graph.node_indices().filter(|from| reach.nodes[from.index()]) {
            for to in self.successors(&silent, graph[from]) {
                if to.1 != END {
                    graph.add_edge(from, NodeIndex::new(self.number(to)), ());
                }
            }
        }
        let (mut search, mut left) = (DfsPostOrder::empty(&graph), vec![0; self.len()]);
        let mut count = 0;
        for start in
            self.valid().flat_map(|protocol| self.bases[protocol]..self.bases[protocol + 1])
        {
            search.move_to(NodeIndex::new(start));
            while let Some(node) = search.next(&graph) {
                count += 1;
                left[node.index()] = count;
            }
        }
        let closing = graph.raw_edges().iter().filter(|edge| {
            let from = left[edge.source().index()];
            from > 0 && left[edge.target().index()] >= from
        });
        let ends = closing.map(|edge| (graph[edge.source()], graph[edge.target()]));
        ends.map(|(from, to)| (from.0, self.cycle(from, to))).collect()
    }

    fn cycle(&self, from: At, to: At) -> Diagnostic {
        let (from, to) = (self.node(from), self.node(to));
        match (&from.kind, &to.kind) {
            (NodeKind::Do { callee, .. }, _) => {
                let name = &self.program.protocols[*callee as usize].decl.name;
                global_errors::unguarded(&format!("the protocol `{name}`"), name.span, from.span)
            }
            (_, NodeKind::Jump { .. }) => {
                global_errors::unguarded("the recursion", to.span, from.span)
            }
            _ => global_errors::unguarded("the protocol", to.span, from.span),
        }
    }

    /// S0303. The cycles of calls are the strongly connected components of the call graph.
    fn nested_recursion(&self, reach: &Reach) -> Vec<(usize, Diagnostic)> {
        let calls: DiGraph<(), ()> = DiGraph::from_edges(self.program.calls());
        let mut component_of = vec![0; self.program.protocols.len()];
        for (component, members) in kosaraju_scc(&calls).iter().enumerate() {
            members.iter().for_each(|member| component_of[member.index()] = component);
        }
        let mut found = Vec::new();
        for protocol in self.valid() {
            let resolved = &self.program.protocols[protocol];
            for (at, node) in (0..).zip(&resolved.nodes) {
                let NodeKind::Do { callee, .. } = &node.kind else { continue };
                let callee = *callee as usize;
                if node.next != END
                    && component_of[callee] == component_of[protocol]
                    && reach.nodes[self.number((protocol, at))]
                    && reach.ends[callee]
                {
                    let behind = self.node((protocol, node.next)).span;
                    let name = resolved.decl.name.as_str();
                    found
                        .push((protocol, global_errors::nested_recursion(name, node.span, behind)));
                }
            }
        }
        found
    }
}
