//! k-multiparty compatibility by its definitions: plain queues, a search for every question. For
//! small systems.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rumpsteak_fsm::kmc::Flaw;
use rumpsteak_fsm::run::Step;
use rumpsteak_fsm::{Direction, Fsm, Message, StateId, System, Transition, TransitionId};

/// The states of the machines, and the messages from one machine to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Configuration {
    states: Vec<StateId>,
    queues: BTreeMap<(usize, usize), VecDeque<Message>>,
}

#[derive(Clone, Debug)]
struct Edge {
    machine: usize,
    transition: TransitionId,
    to: usize,
}

/// RS_k, breadth first.
#[derive(Debug)]
pub(crate) struct Reference<'a> {
    system: &'a System,
    bound: usize,
    configurations: Vec<Configuration>,
    edges: Vec<Vec<Edge>>,
    /// The length of a shortest run to each.
    depths: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Exhaustive,
    Progress,
    Reception,
    Obi,
    Ibi,
    Sibi,
    Cibi,
}

impl<'a> Reference<'a> {
    /// All configurations, or `None` if there are more than `limit`.
    pub(crate) fn new(system: &'a System, bound: usize, limit: usize) -> Option<Self> {
        let initial = Configuration {
            states: system.machines().iter().map(Fsm::initial).collect(),
            queues: BTreeMap::new(),
        };
        let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
        let mut reference =
            Self { system, bound, configurations: vec![initial], edges: vec![], depths: vec![0] };
        while reference.edges.len() < reference.configurations.len() {
            let at = reference.edges.len();
            let mut edges = vec![];
            for (machine, transition, next) in reference.successors(at) {
                let fresh = reference.configurations.len();
                let to = *numbers.entry(next.clone()).or_insert(fresh);
                if to == fresh {
                    reference.configurations.push(next);
                    reference.depths.push(reference.depths[at] + 1);
                }
                edges.push(Edge { machine, transition, to });
            }
            reference.edges.push(edges);
            if reference.configurations.len() > limit {
                return None;
            }
        }
        Some(reference)
    }

    fn machine(&self, machine: usize) -> &Fsm {
        &self.system.machines()[machine]
    }

    fn peer(&self, transition: &Transition<'_>) -> usize {
        self.system.index_of(&transition.action.peer).unwrap()
    }

    fn transitions(&self, at: usize, machine: usize) -> Vec<Transition<'_>> {
        self.machine(machine).transitions_from(self.configurations[at].states[machine]).collect()
    }

    fn channel(&self, machine: usize, transition: &Transition<'_>) -> (usize, usize) {
        match transition.action.direction {
            Direction::Send => (machine, self.peer(transition)),
            Direction::Receive => (self.peer(transition), machine),
        }
    }

    fn queue(&self, at: usize, channel: (usize, usize)) -> VecDeque<Message> {
        self.configurations[at].queues.get(&channel).cloned().unwrap_or_default()
    }

    fn is_enabled(&self, at: usize, machine: usize, transition: &Transition<'_>) -> bool {
        let queue = self.queue(at, self.channel(machine, transition));
        match transition.action.direction {
            Direction::Send => queue.len() < self.bound,
            Direction::Receive => queue.front() == Some(&transition.action.message),
        }
    }

    fn successors(&self, at: usize) -> Vec<(usize, TransitionId, Configuration)> {
        let mut successors = vec![];
        for machine in 0..self.system.machines().len() {
            for transition in self.transitions(at, machine) {
                if !self.is_enabled(at, machine, &transition) {
                    continue;
                }
                let channel = self.channel(machine, &transition);
                let mut next = self.configurations[at].clone();
                next.states[machine] = transition.target;
                let mut queue = self.queue(at, channel);
                match transition.action.direction {
                    Direction::Send => queue.push_back(transition.action.message.clone()),
                    Direction::Receive => drop(queue.pop_front()),
                }
                match queue.is_empty() {
                    true => next.queues.remove(&channel),
                    false => next.queues.insert(channel, queue),
                };
                successors.push((machine, transition.id, next));
            }
        }
        successors
    }

    /// The configurations to which runs lead from `at` in which `without` does not move.
    fn reach(&self, at: usize, without: Option<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([at]);
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            for edge in &self.edges[at] {
                if Some(edge.machine) != without && reached.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        reached
    }

    fn can(
        &self,
        at: usize,
        without: Option<usize>,
        wanted: impl Fn(usize, &Edge) -> bool,
    ) -> bool {
        self.reach(at, without)
            .into_iter()
            .any(|at| self.edges[at].iter().any(|edge| wanted(at, edge)))
    }

    fn action(&self, edge: &Edge) -> Transition<'_> {
        self.machine(edge.machine).transition(edge.transition)
    }

    fn violates(&self, at: usize, kind: Kind) -> bool {
        let machines = 0..self.system.machines().len();
        let is_send = |t: &Transition<'_>| t.action.direction == Direction::Send;
        match kind {
            Kind::Exhaustive => machines.clone().any(|machine| {
                let sends = self.transitions(at, machine).into_iter().filter(is_send);
                sends.into_iter().any(|send| {
                    !self.can(at, Some(machine), |_, _| false)
                        && !self
                            .reach(at, Some(machine))
                            .into_iter()
                            .any(|at| self.is_enabled(at, machine, &send))
                })
            }),
            Kind::Progress => machines.clone().any(|machine| {
                let transitions = self.transitions(at, machine);
                !transitions.is_empty()
                    && !transitions.iter().any(is_send)
                    && !self.can(at, None, |_, edge| edge.machine == machine)
            }),
            Kind::Reception => self.configurations[at].queues.keys().any(|&channel| {
                !self.can(at, None, |_, edge| {
                    let action = self.action(edge);
                    !is_send(&action) && self.channel(edge.machine, &action) == channel
                })
            }),
            Kind::Obi => machines.clone().any(|machine| {
                let sends = self.transitions(at, machine).into_iter().filter(is_send);
                let enabled: BTreeSet<bool> =
                    sends.map(|send| self.is_enabled(at, machine, &send)).collect();
                enabled.len() == 2
            }),
            Kind::Ibi => machines.clone().any(|machine| {
                let transitions = self.transitions(at, machine);
                let possible: BTreeSet<_> = transitions
                    .iter()
                    .filter(|t| !is_send(t) && self.is_enabled(at, machine, t))
                    .map(|t| self.channel(machine, t))
                    .collect();
                possible.len() > 1
            }),
            Kind::Sibi | Kind::Cibi => self.edges[at].iter().any(|edge| {
                let received = self.action(edge);
                let transitions = self.transitions(at, edge.machine);
                if is_send(&received) || transitions.iter().any(is_send) {
                    return false;
                }
                transitions.iter().any(|rival| {
                    self.peer(rival) != self.peer(&received)
                        && (self.is_enabled(at, edge.machine, rival)
                            || self.is_sent_later(edge, rival, kind == Kind::Cibi))
                })
            }),
        }
    }

    /// True if the rival's message is sent after a reception; if `independent`, by a machine that
    /// does not depend on it.
    fn is_sent_later(&self, reception: &Edge, rival: &Transition<'_>, independent: bool) -> bool {
        let receiver = reception.machine;
        let sender = self.peer(rival);
        // Who depends on the reception, and for each message in a queue whether it does.
        type Dependence = (BTreeSet<usize>, BTreeMap<(usize, usize), VecDeque<bool>>);
        let queues = &self.configurations[reception.to].queues;
        let start: (usize, Dependence) = (
            reception.to,
            (
                BTreeSet::from([receiver]),
                queues
                    .iter()
                    .map(|(&channel, queue)| (channel, queue.iter().map(|_| false).collect()))
                    .collect(),
            ),
        );
        let mut seen = BTreeSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some((at, (depends, queues))) = open.pop() {
            for edge in &self.edges[at] {
                let action = self.action(edge);
                let channel = self.channel(edge.machine, &action);
                let (mut depends, mut queues) = (depends.clone(), queues.clone());
                let queue = queues.entry(channel).or_default();
                if action.action.direction == Direction::Send {
                    let wanted = edge.machine == sender
                        && channel.1 == receiver
                        && action.action.message == rival.action.message;
                    if wanted && !(independent && depends.contains(&edge.machine)) {
                        return true;
                    }
                    queue.push_back(depends.contains(&edge.machine));
                } else if queue.pop_front().unwrap() {
                    depends.insert(edge.machine);
                }
                let next = (edge.to, (depends, queues));
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// The length of a shortest run to where the property is violated.
    pub(crate) fn violation(&self, kind: Kind) -> Option<usize> {
        let at = (0..self.configurations.len()).find(|&at| self.violates(at, kind))?;
        Some(self.depths[at])
    }

    /// True if the steps are a run that ends where this flaw's role violates the property.
    pub(crate) fn shows(&self, kind: Kind, steps: &[Step], flaw: &Flaw) -> bool {
        let mut at = 0;
        for step in steps {
            let machine = self.system.index_of(&step.role).unwrap();
            let taken = self.edges[at]
                .iter()
                .find(|edge| edge.machine == machine && edge.transition == step.transition);
            let Some(edge) = taken else { return false };
            at = edge.to;
        }
        let role_is_there = match flaw {
            Flaw::Blocked(role, send) => {
                let machine = self.system.index_of(role).unwrap();
                let transitions = self.transitions(at, machine);
                transitions.iter().any(|t| t.id == *send && !self.is_enabled(at, machine, t))
            }
            Flaw::Competing(role, first, second) | Flaw::Partial(role, first, second) => {
                let machine = self.system.index_of(role).unwrap();
                let transitions = self.transitions(at, machine);
                transitions.iter().any(|t| t.id == *first && self.is_enabled(at, machine, t))
                    && transitions.iter().any(|t| t.id == *second)
            }
            Flaw::Lost(from, to) => {
                let index = |role| self.system.index_of(role).unwrap();
                !self.queue(at, (index(from), index(to))).is_empty()
            }
            Flaw::Waits(role) => {
                let machine = self.system.index_of(role).unwrap();
                !self.transitions(at, machine).is_empty()
                    && !self.edges[at].iter().any(|edge| edge.machine == machine)
            }
        };
        role_is_there && self.violates(at, kind)
    }

    pub(crate) fn hits_bound(&self) -> bool {
        (0..self.configurations.len()).any(|at| {
            (0..self.system.machines().len()).any(|machine| {
                self.transitions(at, machine).iter().any(|t| {
                    t.action.direction == Direction::Send && !self.is_enabled(at, machine, t)
                })
            })
        })
    }
}
