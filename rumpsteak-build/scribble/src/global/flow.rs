//! The flow of a protocol, before it is unfolded.
//!
//! Three mistakes that would make unfolding endless or senseless:
//!
//! * **unguarded recursion** (S0301): a cycle of [`Node`]s without a message. Edges that exchange
//!   nothing go from `rec` to its body, from `continue` to its `rec`, from `choice` to each branch,
//!   from `do` to the protocol called, from a `par` to its parts, and from either to what follows
//!   where what is in it can end without a message.
//! * **unreachable interactions** (S0302): what stands behind a `continue`, or behind something
//!   that never ends. Whether a protocol ends depends on those that it calls, so this is one search
//!   over all protocols: a `do` waits until an end of its protocol is found.
//! * **recursion that is not last** (S0303): a `do` inside a cycle of calls with something behind
//!   it. The rounds would stack up, so that no machine with finitely many states is the protocol.
//!
//! All three cost O(program) and use stacks of their own.

use hashbrown::HashMap;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::global_errors;
use crate::index::{follow, index};
use crate::names::program::{END, Node, NodeKind, Program};

/// Checks all valid protocols of `program`, and marks those with a mistake, and their callers,
/// invalid.
pub(crate) fn check(program: &mut Program<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let flat = Flat::new(program);
    let reach = flat.reach(false);
    let silent = flat.reach(true);
    let mut broken = Vec::new();
    flat.unreachable(&reach, &mut broken, diagnostics);
    flat.unguarded(&reach, &silent, &mut broken, diagnostics);
    flat.nested_recursion(&reach, &mut broken, diagnostics);
    for protocol in broken {
        program.protocols[protocol].valid = false;
    }
    program.spread_invalid();
    for protocol in program.protocols.iter_mut().filter(|found| found.valid) {
        look_ahead(&mut protocol.nodes);
    }
}

fn look_ahead(nodes: &mut [Node]) {
    let end = index(nodes.len());
    let ends = follow(nodes.len() + 1, |at| match nodes.get(at as usize)?.kind {
        NodeKind::Rec { body: next } | NodeKind::Continue { target: next } => Some(next.min(end)),
        _ => None,
    });
    for (node, &ahead) in nodes.iter_mut().zip(&ends) {
        node.ahead = if ahead == end { END } else { ahead };
    }
}

type At = (usize, u32);

/// All nodes of all protocols under one numbering.
struct Flat<'p, 'm> {
    program: &'p Program<'m>,
    /// The number of the first node of each protocol, and the end.
    bases: Vec<usize>,
}

/// Which nodes are reached, and which protocols come to an end.
struct Reach {
    nodes: Vec<bool>,
    ends: Vec<bool>,
    /// How many parts of each block come to their end.
    parts: HashMap<usize, usize>,
}

impl<'p, 'm> Flat<'p, 'm> {
    fn new(program: &'p Program<'m>) -> Self {
        let mut bases = vec![0];
        let mut sum = 0;
        for protocol in &program.protocols {
            sum += protocol.nodes.len();
            bases.push(sum);
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

    /// What is reached from the entries of all protocols. With `silent`, only what is reached
    /// without a message.
    fn reach(&self, silent: bool) -> Reach {
        let protocols = &self.program.protocols;
        let mut reach = Reach {
            nodes: vec![false; self.len()],
            ends: vec![false; protocols.len()],
            parts: HashMap::new(),
        };
        // The calls of a protocol that wait for its first end.
        let mut waiting: Vec<Vec<At>> = vec![Vec::new(); protocols.len()];
        let mut work: Vec<At> = self.valid().map(|index| (index, protocols[index].entry)).collect();
        while let Some((protocol, at)) = work.pop() {
            if at == END {
                if !std::mem::replace(&mut reach.ends[protocol], true) {
                    for (caller, call) in std::mem::take(&mut waiting[protocol]) {
                        work.push((caller, self.node((caller, call)).next));
                    }
                }
                continue;
            }
            if std::mem::replace(&mut reach.nodes[self.number((protocol, at))], true) {
                continue;
            }
            let node = self.node((protocol, at));
            match &node.kind {
                NodeKind::Message { .. } if silent => {}
                NodeKind::Message { .. } | NodeKind::Invalid => work.push((protocol, node.next)),
                NodeKind::Choice { branches, .. } => {
                    work.extend(branches.iter().map(|&branch| (protocol, branch)));
                }
                NodeKind::Rec { body } => work.push((protocol, *body)),
                NodeKind::Continue { target } => work.push((protocol, *target)),
                NodeKind::Block { parts, interrupts } => {
                    work.extend(parts.iter().map(|&part| (protocol, part)));
                    // An interrupt ends it in any case.
                    if !silent && !interrupts.is_empty() {
                        work.push((protocol, node.next));
                    }
                }
                NodeKind::PartEnd { block } => {
                    let block = (protocol, *block);
                    *reach.parts.entry(self.number(block)).or_default() += 1;
                    if self.passes(&reach, block) {
                        work.push((protocol, self.node(block).next));
                    }
                }
                NodeKind::Do { callee, .. } => {
                    let callee = *callee as usize;
                    if reach.ends[callee] {
                        work.push((protocol, node.next));
                    } else {
                        waiting[callee].push((protocol, at));
                    }
                }
            }
        }
        reach
    }

    fn passes(&self, reach: &Reach, block: At) -> bool {
        match &self.node(block).kind {
            NodeKind::Block { parts, .. } => {
                reach.parts.get(&self.number(block)) == Some(&parts.len())
            }
            _ => false,
        }
    }

    /// S0302, for the first unreachable interaction of each block.
    fn unreachable(
        &self,
        reach: &Reach,
        broken: &mut Vec<usize>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for protocol in self.valid() {
            let decl = self.program.protocols[protocol].decl;
            for block in &decl.body.blocks {
                let reached = |id: u32| reach.nodes[self.number((protocol, id))];
                for pair in block.windows(2) {
                    let (before, after) = (pair[0], pair[1]);
                    if reached(before.0) && !reached(after.0) {
                        let span = |id| decl.body.interaction(id).span;
                        diagnostics.push(global_errors::unreachable(span(after), span(before)));
                        broken.push(protocol);
                    }
                }
            }
        }
    }

    /// S0301, for each edge that closes a cycle in a depth-first search.
    fn unguarded(
        &self,
        reach: &Reach,
        silent: &Reach,
        broken: &mut Vec<usize>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        enum Task {
            Enter(At, At),
            /// Everything behind the node is seen.
            Leave(usize),
        }
        let mut marks = vec![Mark::New; self.len()];
        let nodes = |root: usize| {
            (0..index(self.program.protocols[root].nodes.len())).map(move |at| (root, at))
        };
        let starts = self
            .valid()
            .flat_map(nodes)
            .filter(|&start| reach.nodes[self.number(start)])
            .filter(|&start| !matches!(self.node(start).kind, NodeKind::Message { .. }));
        for start in starts {
            let mut tasks = vec![Task::Enter(start, start)];
            while let Some(task) = tasks.pop() {
                let (from, to) = match task {
                    Task::Enter(from, to) => (from, to),
                    Task::Leave(number) => {
                        marks[number] = Mark::Done;
                        continue;
                    }
                };
                let number = self.number(to);
                match marks[number] {
                    Mark::Done => {}
                    // An open node is one that led here.
                    Mark::Open => {
                        diagnostics.push(self.cycle(from, to));
                        broken.push(from.0);
                    }
                    Mark::New => {
                        marks[number] = Mark::Open;
                        tasks.push(Task::Leave(number));
                        let next = self.silent_successors(silent, to).into_iter().rev();
                        tasks.extend(next.map(|next| Task::Enter(to, next)));
                    }
                }
            }
        }
    }

    fn silent_successors(&self, silent: &Reach, at: At) -> Vec<At> {
        let node = self.node(at);
        let of_node = |next: u32| (at.0, next);
        let mut successors = match &node.kind {
            NodeKind::Message { .. } | NodeKind::PartEnd { .. } | NodeKind::Invalid => Vec::new(),
            NodeKind::Block { parts, .. } => {
                let behind = self.passes(silent, at).then_some(node.next);
                parts.iter().copied().chain(behind).map(of_node).collect()
            }
            NodeKind::Choice { branches, .. } => branches.iter().copied().map(of_node).collect(),
            NodeKind::Rec { body } => vec![of_node(*body)],
            NodeKind::Continue { target } => vec![of_node(*target)],
            NodeKind::Do { callee, .. } => {
                let callee = *callee as usize;
                let behind = silent.ends[callee].then_some(of_node(node.next));
                let entry = (callee, self.program.protocols[callee].entry);
                [entry].into_iter().chain(behind).collect()
            }
        };
        successors.retain(|&(_, next)| next != END);
        successors
    }

    fn cycle(&self, from: At, to: At) -> Diagnostic {
        let from = self.node(from);
        let to = self.node(to);
        match (&from.kind, &to.kind) {
            (NodeKind::Do { callee, .. }, _) => {
                let name = &self.program.protocols[*callee as usize].decl.name;
                let what = format!("the protocol `{name}`");
                global_errors::unguarded(&what, name.span, from.span)
            }
            (_, NodeKind::Rec { .. }) => {
                global_errors::unguarded("the recursion", to.span, from.span)
            }
            _ => global_errors::unguarded("the protocol", to.span, from.span),
        }
    }

    /// S0303. The cycles of calls are the strongly connected components of the call graph.
    fn nested_recursion(
        &self,
        reach: &Reach,
        broken: &mut Vec<usize>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let components = self.components();
        for protocol in self.valid() {
            let resolved = &self.program.protocols[protocol];
            for (at, node) in (0..).zip(&resolved.nodes) {
                let NodeKind::Do { callee, .. } = &node.kind else { continue };
                let callee = *callee as usize;
                if node.next == END
                    || components[callee] != components[protocol]
                    || !reach.nodes[self.number((protocol, at))]
                    || !reach.ends[callee]
                {
                    continue;
                }
                let behind = self.node((protocol, node.next)).span;
                let name = resolved.decl.name.as_str();
                diagnostics.push(global_errors::nested_recursion(name, node.span, behind));
                broken.push(protocol);
            }
        }
    }

    /// For each protocol the number of its component: protocols with equal numbers call each other,
    /// directly or not.
    fn components(&self) -> Vec<usize> {
        let protocols = &self.program.protocols;
        let mut calls: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<_> = protocols.iter().map(|_| calls.add_node(())).collect();
        for (caller, protocol) in protocols.iter().enumerate() {
            for callee in protocol.callees() {
                calls.add_edge(nodes[caller], nodes[callee], ());
            }
        }
        let mut components = vec![0; protocols.len()];
        for (component, members) in kosaraju_scc(&calls).iter().enumerate() {
            members.iter().for_each(|member| components[member.index()] = component);
        }
        components
    }
}
