//! The explorer, which visits every configuration of a system, and reports the faults of each.
//!
//! # Meaning
//! A system is one machine per role with a FIFO queue per ordered pair of roles. A configuration is
//! a state for each machine and the messages in each queue. A role *moves* by taking one of its
//! transitions: a send puts a message at the back of the queue to the peer, a receive takes exactly
//! that message from the front of the queue from the peer. A role is *finished* in a state without
//! transitions. A role on demand is also finished in its initial state, and begins again from
//! there. The faults are:
//! ```text
//! deadlock               no role can move, and some role is not finished
//! unspecified reception  a role can only receive, and each queue that it may receive from has a message at
//!                        its front that the state does not take
//! orphan message         a message is queued for a role that is finished       (at once), or
//!                        the front of a queue is not received in any run from here on   (for ever)
//! starvation             a role can only receive, and does not move in any run from here on
//! ```
//!
//! The configuration alone shows the first two faults and the orphan of the first kind, so a report
//! of them is right even if the exploration is incomplete. The same holds for a message at the
//! front of a queue if its receiver's machine, taken alone, has no path to a receive of it.
//! Otherwise the last two faults depend on all runs from a configuration, so they are reported only
//! if the exploration knows all of these runs (see [`Coverage`]).
//!
//! Choices are not assumed to be fair, so there is a weaker fault than `for ever`: a role is
//! *neglected* if it waits for ever, or a message for it is never received, in some endless run in
//! which every role that can move does. If a role depends on a choice that need not come, the
//! protocol itself neglects it. In all other protocols ([balanced](crate::Global::is_balanced)) no
//! subtype may neglect a role.
//!
//! # Bounds
//! Queues are unbounded in the meaning and bounded here: a send into a full queue is *held back*.
//! If no send was held back, the report is about the unbounded system. If each that was could be
//! made after other moves (k-exhaustivity: Lange and Yoshida, CAV'19), every run of the unbounded
//! system of directed machines is a reordering of an explored run. Else longer runs are unknown.
//!
//! # Cost
//! Naive on purpose: one allocation for each configuration and queue, a breadth-first search, and a
//! backward search for each channel and each role. Meant for thousands of configurations, to be
//! trusted rather than fast. It shares no code with the systems of `rumpsteak-fsm`.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rumpsteak_fsm::{Direction, StateId, Transition};

use crate::report::{Coverage, Fault, FaultKind, Finding, Limits, Neglect, Report};
use crate::system::{Configuration, Step, System};

impl System {
    fn only_receives(&self, configuration: &Configuration, machine: usize) -> bool {
        let fsm = &self.machines[machine];
        let state = configuration.states[machine];
        !fsm.is_terminal(state)
            && fsm.transitions_from(state).all(|t| t.action.direction == Direction::Receive)
    }

    /// Returns true if `machine` waits for a peer: it can only receive, and is not finished.
    fn waits(&self, configuration: &Configuration, machine: usize) -> bool {
        let state = configuration.states[machine];
        self.only_receives(configuration, machine) && !self.machines[machine].may_end(state)
    }

    /// The faults that `configuration` alone shows.
    pub fn faults(&self, configuration: &Configuration) -> Vec<Fault> {
        let mut faults = vec![];
        let finished =
            |machine: usize| self.machines[machine].is_terminal(configuration.states[machine]);
        let machines = 0..self.machines.len();

        let may_end =
            |machine: usize| self.machines[machine].may_end(configuration.states[machine]);
        if self.successors(configuration).is_empty() && !machines.clone().all(may_end) {
            faults.push(Fault::Deadlock);
        }
        for receiver in machines {
            if self.only_receives(configuration, receiver)
                && self.machines[receiver]
                    .transitions_from(configuration.states[receiver])
                    .all(|t| self.is_refused(configuration, receiver, t))
            {
                faults.push(Fault::UnspecifiedReception { receiver });
            }
        }
        for &(sender, receiver) in configuration.queues.keys() {
            if finished(receiver) {
                faults.push(Fault::Orphan { sender, receiver });
            }
        }
        faults
    }

    /// Returns true if the queue of `receive` holds a message that the state of `receive` does not
    /// take.
    fn is_refused(
        &self,
        configuration: &Configuration,
        receiver: usize,
        receive: Transition<'_>,
    ) -> bool {
        let channel = self.channel(receiver, receive.id);
        let front = configuration.queues.get(&channel).and_then(VecDeque::front);
        let Some(front) = front else { return false };
        self.machines[receiver]
            .transitions_from(receive.source)
            .filter(|t| t.action.peer == receive.action.peer)
            .all(|t| self.number(receiver, t.id) != *front)
    }

    /// Visits configurations breadth first, up to `limits`, and reports the first fault of each
    /// kind.
    pub fn explore(&self, limits: &Limits) -> Report {
        self.explore_from(self.initial(), limits)
    }

    /// The same from another configuration, where the runs start.
    pub fn explore_from(&self, start: Configuration, limits: &Limits) -> Report {
        let graph = Graph::new(self, start, limits);
        let (coverage, uncertain) = graph.coverage(self);

        // Of each kind the fault with the shortest run; of equally short ones the one seen
        // first.
        let mut found: BTreeMap<FaultKind, (usize, usize, Fault)> = BTreeMap::new();
        let mut note = |fault: Fault, node: usize| {
            let depth = graph.depths[node];
            let best = found.entry(fault.kind()).or_insert((depth, node, fault));
            if depth < best.0 {
                *best = (depth, node, fault);
            }
        };
        for (node, configuration) in graph.configurations.iter().enumerate() {
            for fault in self.faults(configuration) {
                note(fault, node);
            }
        }

        // The other faults depend on all runs from a configuration. Runs to the border of the graph
        // are unknown.
        let channels = self.used_channels();
        for &(sender, receiver) in &channels {
            let received = self.receives(&graph, (sender, receiver));
            for (node, configuration) in graph.configurations.iter().enumerate() {
                let terminal = self.machines[receiver].is_terminal(configuration.states[receiver]);
                let Some(front) =
                    configuration.queues.get(&(sender, receiver)).and_then(VecDeque::front)
                else {
                    continue;
                };
                let state = configuration.states[receiver];
                let never = (!received[node] && !uncertain[node])
                    || !self.may_receive(receiver, state, sender, *front);
                if never && !terminal {
                    note(Fault::Abandoned { sender, receiver }, node);
                }
            }
        }
        for machine in 0..self.machines.len() {
            let moved = graph.can_reach(|node| graph.moves(node, machine));
            for (node, configuration) in graph.configurations.iter().enumerate() {
                if self.waits(configuration, machine) && !moved[node] && !uncertain[node] {
                    note(Fault::Starvation { machine }, node);
                }
            }
        }

        let mut findings: Vec<Finding> = found
            .into_values()
            .map(|(_, node, fault)| Finding { fault, run: graph.run(node) })
            .collect();
        findings.sort_by_key(|f| (f.run.len(), f.fault));
        Report { findings, configurations: graph.configurations.len(), coverage }
    }

    /// Returns true if sends may block at these `capacities` (0 for a channel without one): every
    /// role continues sooner or later, and every message is received. `None` if there are more
    /// configurations than the limit.
    pub fn gets_along_with(
        &self,
        capacities: &BTreeMap<(usize, usize), usize>,
        configurations: usize,
    ) -> Option<bool> {
        let limits = Limits { queue: 0, configurations, steps: usize::MAX };
        let room = |channel| capacities.get(&channel).copied().unwrap_or(0);
        let graph = Graph::with_room(self, self.initial(), &limits, 0, room);
        if graph.cut.contains(&true) {
            return None;
        }
        let all = |wrong: &dyn Fn(&Configuration, usize) -> bool| {
            let mut nodes = graph.configurations.iter().enumerate();
            nodes.all(|(node, configuration)| !wrong(configuration, node))
        };
        let everyone_moves = (0..self.machines.len()).all(|machine| {
            let moved = graph.can_reach(|node| graph.moves(node, machine));
            all(&|configuration, node| {
                !moved[node] && !self.machines[machine].may_end(configuration.states[machine])
            })
        });
        let all_received = self.used_channels().into_iter().all(|channel| {
            let received = self.receives(&graph, channel);
            all(&|configuration, node| {
                !received[node] && configuration.queues.contains_key(&channel)
            })
        });
        Some(everyone_moves && all_received)
    }

    /// The largest number of messages that each channel ever holds if nothing blocks; `None` if
    /// `limits` are too small.
    pub fn occupancies(&self, limits: &Limits) -> Option<BTreeMap<(usize, usize), usize>> {
        let graph = Graph::new(self, self.initial(), limits);
        if graph.coverage(self).0 != Coverage::Complete {
            return None;
        }
        let mut most: BTreeMap<_, usize> =
            self.used_channels().into_iter().map(|c| (c, 0)).collect();
        for configuration in &graph.configurations {
            for (channel, queue) in &configuration.queues {
                let most = most.entry(*channel).or_default();
                *most = (*most).max(queue.len());
            }
        }
        Some(most)
    }

    /// Looks for a role that is neglected in an endless run within `limits`. Such a run exists in
    /// the unbounded system as well.
    pub fn neglect(&self, limits: &Limits) -> Option<Neglect> {
        let graph = Graph::new(self, self.initial(), limits);
        for machine in 0..self.machines.len() {
            let waits = |node: usize| self.waits(&graph.configurations[node], machine);
            let found = self.endless(&graph, waits, |step| step.machine != machine);
            if let Some((run, steps)) = found {
                return Some(Neglect { machine, run, steps });
            }
        }
        for channel in self.used_channels() {
            let queued = |node: usize| graph.configurations[node].queues.contains_key(&channel);
            let found = self.endless(&graph, queued, |step| {
                step.machine != channel.1 || self.channel(step.machine, step.transition) != channel
            });
            if let Some((run, steps)) = found {
                return Some(Neglect { machine: channel.1, run, steps });
            }
        }
        None
    }

    /// A run into a cycle of configurations, all of them `within`, and the steps of the cycle,
    /// which are `allowed`. Every role moves in the cycle, or cannot move.
    fn endless(
        &self,
        graph: &Graph,
        within: impl Fn(usize) -> bool,
        allowed: impl Fn(Step) -> bool,
    ) -> Option<(Vec<Step>, Vec<Step>)> {
        let inside: Vec<bool> = (0..graph.edges.len()).map(within).collect();
        let steps_of = |node: usize| {
            let mut steps = graph.edges[node].clone();
            steps.retain(|&(step, target)| inside[node] && inside[target] && allowed(step));
            steps
        };
        let steps: Vec<_> = (0..inside.len()).map(steps_of).collect();
        let mut part = DiGraph::<(), ()>::with_capacity(inside.len(), 0);
        let ids: Vec<_> = inside.iter().map(|_| part.add_node(())).collect();
        for (node, steps) in steps.iter().enumerate() {
            for &(_, target) in steps {
                part.add_edge(ids[node], ids[target], ());
            }
        }
        let mut components = kosaraju_scc(&part);
        let mut component_of = vec![0; inside.len()];
        for (index, component) in components.iter().enumerate() {
            for id in component {
                component_of[id.index()] = index;
            }
        }
        components.sort_by_key(|component| component.iter().min().copied());

        components.into_iter().find_map(|component| {
            let start = component.iter().min()?.index();
            let steps: Vec<Step> = component
                .iter()
                .flat_map(|id| &steps[id.index()])
                .filter(|(_, target)| component_of[*target] == component_of[start])
                .map(|(step, _)| *step)
                .collect();
            // A role that can move and does not can still move after the others have; so one
            // configuration tells. Steps that the limits kept out of the graph count as well.
            let able = self.successors(&graph.configurations[start]);
            let fair = (0..self.machines.len()).all(|machine| {
                steps.iter().any(|step| step.machine == machine)
                    || able.iter().all(|(step, _)| step.machine != machine)
            });
            (fair && !steps.is_empty()).then(|| (graph.run(start), steps))
        })
    }

    /// The nodes from which a message of the channel may be received, sooner or later.
    fn receives(&self, graph: &Graph, channel: (usize, usize)) -> Vec<bool> {
        graph.can_reach(|node| {
            let state = graph.configurations[node].states[channel.1];
            let (from, to) = (&self.machines[channel.0], &self.machines[channel.1]);
            let has_dropped = to.is_terminal(state) && to.late().contains_key(from.role());
            has_dropped
                || graph.edges[node].iter().any(|(step, _)| {
                    step.machine == channel.1
                        && self.channel(step.machine, step.transition) == channel
                })
        })
    }

    /// Returns true if `configuration` has this `fault`; `None` if `limits` are too small to know.
    pub fn holds(
        &self,
        configuration: &Configuration,
        fault: Fault,
        limits: &Limits,
    ) -> Option<bool> {
        let (reached, graph) = match fault {
            Fault::Abandoned { sender, receiver } => {
                let Some(front) =
                    configuration.queues.get(&(sender, receiver)).and_then(VecDeque::front)
                else {
                    return Some(false);
                };
                if !self.may_receive(receiver, configuration.states[receiver], sender, *front) {
                    return Some(true);
                }
                let graph = Graph::new(self, configuration.clone(), limits);
                (self.receives(&graph, (sender, receiver))[0], graph)
            }
            Fault::Starvation { machine } => {
                if !self.waits(configuration, machine) {
                    return Some(false);
                }
                let graph = Graph::new(self, configuration.clone(), limits);
                (graph.can_reach(|node| graph.moves(node, machine))[0], graph)
            }
            immediate => return Some(self.faults(configuration).contains(&immediate)),
        };
        match (reached, graph.coverage(self).1[0]) {
            (true, _) => Some(false),
            (false, true) => None,
            (false, false) => Some(true),
        }
    }

    /// Returns true if the machine `receiver` alone has a path from `state` on which the next
    /// message from `sender` is `message`, whatever else it receives.
    fn may_receive(&self, receiver: usize, state: StateId, sender: usize, message: usize) -> bool {
        let fsm = &self.machines[receiver];
        let mut seen = vec![false; fsm.len()];
        let mut pending = vec![state];
        while let Some(state) = pending.pop() {
            if std::mem::replace(&mut seen[state.index()], true) {
                continue;
            }
            let late = fsm.late().get(self.machines[sender].role());
            if fsm.is_terminal(state) && late.is_some_and(|of| of.contains(&self.messages[message]))
            {
                return true;
            }
            for transition in fsm.transitions_from(state) {
                if self.channel(receiver, transition.id) == (sender, receiver) {
                    if self.number(receiver, transition.id) == message {
                        return true;
                    }
                } else {
                    pending.push(transition.target);
                }
            }
        }
        false
    }

    fn used_channels(&self) -> Vec<(usize, usize)> {
        let mut used = self.channels.concat();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The run as text, a step a line: `1. k to s: ready`.
    pub fn describe(&self, run: &[Step]) -> String {
        let mut text = String::new();
        let mut configuration = self.initial();
        for (position, &step) in run.iter().enumerate() {
            let Some(next) = self.fire(&configuration, step) else {
                text.push_str(&format!("{:4}. cannot be taken\n", position + 1));
                return text;
            };
            let fsm = &self.machines[step.machine];
            let action = fsm.transition(step.transition).action;
            text.push_str(&format!("{:4}. {} {action}\n", position + 1, fsm.role()));
            configuration = next;
        }
        for (fsm, state) in self.machines.iter().zip(&configuration.states) {
            let mut offers = fsm
                .transitions_from(*state)
                .map(|t| t.action.to_string())
                .collect::<Vec<_>>()
                .join(" or ");
            if offers.is_empty() {
                offers.push_str("finished");
            }
            text.push_str(&format!("      {} in state {state}: {offers}\n", fsm.role()));
        }
        for (&(sender, receiver), queue) in &configuration.queues {
            let messages = queue.iter().map(|&number| self.message(number).to_string());
            let messages: Vec<_> = messages.collect();
            text.push_str(&format!(
                "      queued from {} to {}: {}\n",
                self.machines[sender].role(),
                self.machines[receiver].role(),
                messages.join(", ")
            ));
        }
        text
    }
}

struct Graph {
    configurations: IndexSet<Configuration, DefaultHashBuilder>,
    /// The step that first reached each; `None` for the root.
    parents: Vec<Option<(Step, usize)>>,
    /// The number of steps to each.
    depths: Vec<usize>,
    edges: Vec<Vec<(Step, usize)>>,
    /// The nodes from which a step leads to each, and the machine of the step.
    sources: Vec<Vec<(usize, usize)>>,
    /// The channels whose sends were held back in each.
    held: Vec<Vec<(usize, usize)>>,
    /// The nodes from which the search did not continue.
    cut: Vec<bool>,
    queue: usize,
}

impl Graph {
    /// The graph in which all queues are as long as `limits` allow.
    fn new(system: &System, root: Configuration, limits: &Limits) -> Self {
        let room = |_| limits.queue;
        Self::with_room(system, root, limits, limits.queue, room)
    }

    /// The graph in which a queue holds as many messages as `room` says; `queue` is the least of
    /// all.
    fn with_room(
        system: &System,
        root: Configuration,
        limits: &Limits,
        queue: usize,
        room: impl Fn((usize, usize)) -> usize,
    ) -> Self {
        let mut graph = Self {
            configurations: IndexSet::from_iter([root]),
            parents: vec![None],
            depths: vec![0],
            edges: vec![],
            sources: vec![],
            held: vec![],
            cut: vec![],
            queue,
        };
        // Nodes are appended while they are visited, so the search is breadth-first.
        let mut node = 0;
        while node < graph.configurations.len() {
            let mut edges = vec![];
            let mut held = vec![];
            let mut cut = false;
            for (step, next) in system.successors(&graph.configurations[node]) {
                let channel = system.channel(step.machine, step.transition);
                // Only a send makes a queue longer, so no receive is held back.
                if next.queues.get(&channel).map_or(0, VecDeque::len) > room(channel) {
                    held.push(channel);
                    continue;
                }
                let target = match graph.configurations.get_index_of(&next) {
                    Some(target) => target,
                    None if graph.configurations.len() >= limits.configurations
                        || graph.depths[node] >= limits.steps =>
                    {
                        cut = true;
                        continue;
                    }
                    None => {
                        let (target, _) = graph.configurations.insert_full(next);
                        graph.parents.push(Some((step, node)));
                        graph.depths.push(graph.depths[node] + 1);
                        target
                    }
                };
                edges.push((step, target));
            }
            graph.edges.push(edges);
            graph.held.push(held);
            graph.cut.push(cut);
            node += 1;
        }
        graph.sources = vec![vec![]; node];
        for (source, edges) in graph.edges.iter().enumerate() {
            for &(step, target) in edges {
                graph.sources[target].push((source, step.machine));
            }
        }
        graph
    }

    fn run(&self, mut node: usize) -> Vec<Step> {
        let mut run = vec![];
        while let Some((step, parent)) = self.parents[node] {
            run.push(step);
            node = parent;
        }
        run.reverse();
        run
    }

    fn moves(&self, node: usize, machine: usize) -> bool {
        self.edges[node].iter().any(|(step, _)| step.machine == machine)
    }

    /// For each node, true if a path leads from it to a `good` node.
    fn can_reach(&self, good: impl Fn(usize) -> bool) -> Vec<bool> {
        self.can_reach_without(None, good)
    }

    /// The same, over paths on which the machine `idle` does not move.
    fn can_reach_without(&self, idle: Option<usize>, good: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut reached: Vec<bool> = (0..self.edges.len()).map(good).collect();
        let mut pending: Vec<usize> = (0..reached.len()).filter(|&n| reached[n]).collect();
        while let Some(node) = pending.pop() {
            for &(source, machine) in &self.sources[node] {
                if !reached[source] && Some(machine) != idle {
                    reached[source] = true;
                    pending.push(source);
                }
            }
        }
        reached
    }

    /// The knowledge of the graph about the unbounded system, and the nodes from which it does not
    /// know all runs.
    fn coverage(&self, system: &System) -> (Coverage, Vec<bool>) {
        let cut = self.cut.contains(&true);
        let held = self.held.iter().any(|held| !held.is_empty());
        let exhaustive = !cut && (!held || self.is_exhaustive(system));
        let uncertain =
            self.can_reach(|node| self.cut[node] || (!exhaustive && !self.held[node].is_empty()));
        let coverage = match (cut, held, exhaustive) {
            (false, false, _) => Coverage::Complete,
            (false, true, true) => Coverage::Exhaustive,
            _ => Coverage::Partial,
        };
        (coverage, uncertain)
    }

    /// Returns true if each send that was held back can be made after other roles than its sender
    /// have moved. This only tells something about the unbounded system if the machines are
    /// directed.
    fn is_exhaustive(&self, system: &System) -> bool {
        system.machines.iter().all(|m| m.check_directed().is_ok())
            && system.used_channels().into_iter().all(|channel| {
                let room = self.can_reach_without(Some(channel.0), |node| {
                    let queue = self.configurations[node].queues.get(&channel);
                    queue.map_or(0, VecDeque::len) < self.queue
                });
                (0..self.held.len()).all(|node| room[node] || !self.held[node].contains(&channel))
            })
    }
}
