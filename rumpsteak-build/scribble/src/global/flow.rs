//! What can be said about the flow of a protocol before it is unfolded.
//!
//! Three mistakes that would make unfolding endless or senseless:
//!
//! * **unguarded recursion** (S0301): a cycle of [`Node`]s without a message. Edges that exchange nothing go from
//!   `rec` to its body, from `continue` to its `rec`, from `choice` to each branch, from `do` to the protocol
//!   called, and from `do` to what follows where the protocol called can end without a message.
//! * **unreachable interactions** (S0302): what stands behind a `continue`, or behind something that never ends.
//!   Whether a protocol ends depends on those that it calls, so this is one search over all protocols: a
//!   `do` waits until an end of its protocol is found.
//! * **recursion that is not last** (S0303): a `do` inside a cycle of calls with something behind it. The rounds
//!   would stack up, so that no machine with finitely many states is the protocol.
//!
//! All three cost O(program) and use stacks of their own.

use crate::{
    diagnostics::code as codes,
    diagnostics::diagnostic::Diagnostic,
    diagnostics::span::Span,
    names::resolve::{END, Node, NodeKind, Program},
};

/// Checks all valid protocols of `program`, and marks those with a mistake, and their callers, invalid.
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
    crate::names::resolve::spread_invalid(&mut program.protocols);
    for protocol in program.protocols.iter_mut().filter(|found| found.valid) {
        look_ahead(&mut protocol.nodes);
    }
}

/// Sets [`Node::ahead`] of every recursion and `continue`. Without unguarded recursion, following them ends.
fn look_ahead(nodes: &mut [Node]) {
    let mut known = vec![false; nodes.len()];
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut at = crate::names::resolve::index(start);
        let end = loop {
            if at == END {
                break at;
            }
            let node = &nodes[at as usize];
            let next = match node.kind {
                NodeKind::Rec { body } => body,
                NodeKind::Continue { target } => target,
                _ => break at,
            };
            if std::mem::replace(&mut known[at as usize], true) {
                // Either on the way to here, which no reachable node is, or done.
                break node.ahead;
            }
            path.push(at);
            at = next;
        };
        for at in path.drain(..) {
            nodes[at as usize].ahead = end;
        }
    }
}

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

    fn node(&self, protocol: usize, node: u32) -> &'p Node {
        &self.program.protocols[protocol].nodes[node as usize]
    }

    fn number(&self, protocol: usize, node: u32) -> usize {
        self.bases[protocol] + node as usize
    }

    fn valid(&self) -> impl Iterator<Item = usize> {
        let protocols = &self.program.protocols;
        (0..protocols.len()).filter(|&index| protocols[index].valid)
    }

    /// What is reached from the entries of all protocols. With `silent`, only what is reached without a message.
    fn reach(&self, silent: bool) -> Reach {
        let protocols = &self.program.protocols;
        let mut reach = Reach {
            nodes: vec![false; self.len()],
            ends: vec![false; protocols.len()],
        };
        // The calls of a protocol that wait for its first end.
        let mut waiting: Vec<Vec<(usize, u32)>> = protocols.iter().map(|_| Vec::new()).collect();
        let mut work: Vec<(usize, u32)> = self
            .valid()
            .map(|index| (index, protocols[index].entry))
            .collect();
        while let Some((protocol, at)) = work.pop() {
            if at == END {
                if !std::mem::replace(&mut reach.ends[protocol], true) {
                    for (caller, call) in std::mem::take(&mut waiting[protocol]) {
                        work.push((caller, self.node(caller, call).next));
                    }
                }
                continue;
            }
            if std::mem::replace(&mut reach.nodes[self.number(protocol, at)], true) {
                continue;
            }
            let node = self.node(protocol, at);
            match &node.kind {
                NodeKind::Message { .. } if silent => {}
                NodeKind::Message { .. } | NodeKind::Invalid => work.push((protocol, node.next)),
                NodeKind::Choice { branches, .. } => {
                    work.extend(branches.iter().map(|&branch| (protocol, branch)));
                }
                NodeKind::Rec { body } => work.push((protocol, *body)),
                NodeKind::Continue { target } => work.push((protocol, *target)),
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
                let reached = |id: u32| reach.nodes[self.number(protocol, id)];
                for pair in block.items.windows(2) {
                    let (before, after) = (pair[0], pair[1]);
                    if reached(before.0) && !reached(after.0) {
                        let span = |id| decl.body.interaction(id).span;
                        diagnostics.push(codes::unreachable(span(after), Some(span(before))));
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
            /// Follow the edge between two nodes.
            Enter((usize, u32), (usize, u32)),
            /// Everything behind the node is seen.
            Leave(usize),
        }
        let mut marks = vec![Mark::New; self.len()];
        let mut successors = Vec::new();
        let mut tasks = Vec::new();
        for root in self.valid() {
            for start in 0..self.program.protocols[root].nodes.len() {
                let start = (root, crate::names::resolve::index(start));
                if !reach.nodes[self.number(start.0, start.1)] {
                    continue;
                }
                tasks.push(Task::Enter(start, start));
                while let Some(task) = tasks.pop() {
                    let (from, to) = match task {
                        Task::Enter(from, to) => (from, to),
                        Task::Leave(number) => {
                            marks[number] = Mark::Done;
                            continue;
                        }
                    };
                    let number = self.number(to.0, to.1);
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
                            self.silent_successors(silent, to.0, to.1, &mut successors);
                            tasks.extend(
                                successors.drain(..).rev().map(|next| Task::Enter(to, next)),
                            );
                        }
                    }
                }
            }
        }
    }

    fn silent_successors(
        &self,
        silent: &Reach,
        protocol: usize,
        at: u32,
        successors: &mut Vec<(usize, u32)>,
    ) {
        let node = self.node(protocol, at);
        match &node.kind {
            NodeKind::Message { .. } | NodeKind::Invalid => {}
            NodeKind::Choice { branches, .. } => {
                successors.extend(branches.iter().map(|&branch| (protocol, branch)));
            }
            NodeKind::Rec { body } => successors.push((protocol, *body)),
            NodeKind::Continue { target } => successors.push((protocol, *target)),
            NodeKind::Do { callee, .. } => {
                let callee = *callee as usize;
                successors.push((callee, self.program.protocols[callee].entry));
                if silent.ends[callee] {
                    successors.push((protocol, node.next));
                }
            }
        }
        successors.retain(|&(_, next)| next != END);
    }

    /// The silent edge from `from` to `to` closes a cycle.
    fn cycle(&self, from: (usize, u32), to: (usize, u32)) -> Diagnostic {
        let from = self.node(from.0, from.1);
        let to = self.node(to.0, to.1);
        match (&from.kind, &to.kind) {
            (NodeKind::Do { callee, .. }, _) => {
                let name = &self.program.protocols[*callee as usize].decl.name;
                let what = format!("the protocol `{name}`");
                codes::unguarded(&what, name.span, Some(from.span))
            }
            (_, NodeKind::Rec { .. }) => {
                codes::unguarded("the recursion", to.span, Some(from.span))
            }
            _ => codes::unguarded("the protocol", to.span, Some(from.span)),
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
            let decl = self.program.protocols[protocol].decl;
            for (at, node) in (0..).zip(&self.program.protocols[protocol].nodes) {
                let NodeKind::Do { callee, .. } = &node.kind else {
                    continue;
                };
                let callee = *callee as usize;
                if node.next == END
                    || components[callee] != components[protocol]
                    || !reach.nodes[self.number(protocol, at)]
                    || !reach.ends[callee]
                {
                    continue;
                }
                let behind: Span = self.node(protocol, node.next).span;
                let name = decl.name.as_str();
                diagnostics.push(codes::nested_recursion(name, node.span, behind));
                broken.push(protocol);
            }
        }
    }

    /// Which protocols call each other, directly or not: equal numbers. Tarjan's algorithm, with its recursion
    /// written as a stack.
    fn components(&self) -> Vec<usize> {
        const UNSEEN: usize = usize::MAX;
        let protocols = &self.program.protocols;
        let calls: Vec<Vec<usize>> = protocols
            .iter()
            .map(|protocol| {
                let callees = protocol.nodes.iter().filter_map(|node| match node.kind {
                    NodeKind::Do { callee, .. } => Some(callee as usize),
                    _ => None,
                });
                callees.collect()
            })
            .collect();
        let mut order = vec![UNSEEN; protocols.len()];
        let mut low = vec![UNSEEN; protocols.len()];
        let mut component = vec![UNSEEN; protocols.len()];
        let mut open = Vec::new();
        let mut count = 0;
        for root in 0..protocols.len() {
            if order[root] != UNSEEN {
                continue;
            }
            let mut stack = vec![(root, 0)];
            while let Some(top) = stack.last_mut() {
                let (protocol, done) = *top;
                if done == 0 {
                    order[protocol] = count;
                    low[protocol] = count;
                    count += 1;
                    open.push(protocol);
                }
                if let Some(&callee) = calls[protocol].get(done) {
                    top.1 += 1;
                    if order[callee] == UNSEEN {
                        stack.push((callee, 0));
                    } else if component[callee] == UNSEEN {
                        low[protocol] = low[protocol].min(order[callee]);
                    }
                    continue;
                }
                stack.pop();
                if let Some(&(caller, _)) = stack.last() {
                    low[caller] = low[caller].min(low[protocol]);
                }
                if low[protocol] == order[protocol] {
                    while let Some(member) = open.pop() {
                        component[member] = order[protocol];
                        if member == protocol {
                            break;
                        }
                    }
                }
            }
        }
        component
    }
}
