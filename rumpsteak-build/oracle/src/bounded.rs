//! Systems whose queues have capacities, explored by the definition: can they hang?
//!
//! # Meaning
//! A role that can send *commits* to one of its sends first, at any time, and then waits until its
//! queue has room. Only a role that races, in a state that sends and receives, sends without a
//! commitment. With capacity 0, a send happens together with its receive. A *mailbox* is one queue
//! for all senders of a role.
//!
//! A set of roles is *stuck* if no member can move or commit now, and none could after any actions
//! of the other roles, possible or not: these may take any message that is for them, and put any
//! message into a queue that they send to. All sets are tried. A configuration hangs if some set is
//! stuck in it, and a member is not finished.
//!
//! # Cost
//! Naive on purpose, as [`explore`](crate::System::explore). Exponential in the number of roles.

use std::collections::{BTreeMap, HashMap, VecDeque};

use rumpsteak_fsm::{Action, Direction, Fsm, Message, StateId, Transition, TransitionId};

/// Machines with capacities. All vectors are in the order of the machines.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The machines; they may send to themselves.
    pub machines: Vec<Fsm>,
    /// `capacities[from][to]`, unless the receiver has a mailbox.
    pub capacities: Vec<Vec<usize>>,
    /// The capacity of the mailbox of a role that has one.
    pub mailboxes: Vec<Option<usize>>,
    /// True if messages to this role are dropped while their queue is full.
    pub drops: Vec<bool>,
    /// True if the role races.
    pub races: Vec<bool>,
}

/// The answer of the exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hangs {
    /// Some set of roles gets stuck, first after this many events: a rendezvous is one.
    Stuck(usize),
    /// No set gets stuck, but a role never moves again or a message is never received.
    Lost,
    /// Neither.
    Never,
}

/// The sender, if the queue is not a mailbox, and the receiver.
type Queue = (Option<usize>, usize);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    states: Vec<StateId>,
    committed: Vec<Option<TransitionId>>,
    queues: BTreeMap<Queue, VecDeque<(usize, Message)>>,
}

/// An edge: its target, its length, the roles that move and the queue that is taken from.
#[derive(Clone, Debug)]
struct Edge {
    to: usize,
    length: usize,
    movers: Vec<usize>,
    taken: Option<Queue>,
}

impl Bounded {
    /// Explores all configurations. `None` if there are more than `most`.
    pub fn explore(&self, most: usize) -> Option<Hangs> {
        let start = Configuration {
            states: self.machines.iter().map(Fsm::initial).collect(),
            committed: vec![None; self.machines.len()],
            queues: BTreeMap::new(),
        };
        let mut numbers = HashMap::from([(start.clone(), 0)]);
        let mut all = vec![start];
        let mut edges: Vec<Vec<Edge>> = vec![];
        while edges.len() < all.len() {
            let mut own = vec![];
            for (next, length, movers, taken) in self.successors(&all[edges.len()]) {
                let count = all.len();
                let to = *numbers.entry(next.clone()).or_insert(count);
                if to == count {
                    all.push(next);
                }
                own.push(Edge { to, length, movers, taken });
            }
            if all.len() > most {
                return None;
            }
            edges.push(own);
        }
        let mut distances = vec![usize::MAX; all.len()];
        distances[0] = 0;
        let mut open = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            for edge in &edges[at] {
                let distance = distances[at] + edge.length;
                if distance < distances[edge.to] {
                    distances[edge.to] = distance;
                    open.push_back(edge.to);
                }
            }
        }
        let stuck = (0..all.len()).filter(|&at| self.is_stuck(&all[at]));
        if let Some(events) = stuck.map(|at| distances[at]).min() {
            return Some(Hangs::Stuck(events));
        }
        let can = |wanted: &dyn Fn(&Edge) -> bool| {
            let mut can: Vec<bool> = edges.iter().map(|own| own.iter().any(wanted)).collect();
            loop {
                let more = |at: &usize| !can[*at] && edges[*at].iter().any(|edge| can[edge.to]);
                let more: Vec<usize> = (0..can.len()).filter(more).collect();
                if more.is_empty() {
                    return can;
                }
                more.into_iter().for_each(|at| can[at] = true);
            }
        };
        for machine in 0..self.machines.len() {
            let moves = can(&|edge| edge.movers.contains(&machine));
            if (0..all.len()).any(|at| !moves[at] && !self.is_finished(&all[at], machine)) {
                return Some(Hangs::Lost);
            }
        }
        let queues: std::collections::BTreeSet<Queue> =
            all.iter().flat_map(|at| at.queues.keys().copied()).collect();
        for queue in queues {
            let taken = can(&|edge| edge.taken == Some(queue));
            if (0..all.len()).any(|at| !taken[at] && all[at].queues.contains_key(&queue)) {
                return Some(Hangs::Lost);
            }
        }
        Some(Hangs::Never)
    }

    /// True if these transitions of machines, in this order, are possible, and some set of roles is
    /// stuck then, after commitments. A rendezvous is its send and its receive.
    pub fn gets_stuck(&self, run: &[(usize, TransitionId)]) -> bool {
        let mut at = Configuration {
            states: self.machines.iter().map(Fsm::initial).collect(),
            committed: vec![None; self.machines.len()],
            queues: BTreeMap::new(),
        };
        let mut rest = run.iter();
        while let Some(&(machine, by)) = rest.next() {
            let action = self.machines[machine].transition(by).action;
            let to = if action.direction == Direction::Send { Some(by) } else { None };
            at.committed[machine] = to;
            let mut events = vec![(machine, by)];
            if to.is_some() && self.capacity(machine, action) == 0 {
                let Some(&receive) = rest.next() else { return false };
                events.push(receive);
            }
            let wanted: Vec<usize> = events.iter().map(|event| event.0).collect();
            let next = self.successors(&at).into_iter().find(|(next, length, movers, taken)| {
                let target = |&(mover, by): &(usize, TransitionId)| {
                    next.states[mover] == self.machines[mover].transition(by).target
                };
                *length == 1
                    && *movers == wanted
                    && taken.is_some() == to.is_none()
                    && events.iter().all(target)
            });
            let Some((next, ..)) = next else { return false };
            at = next;
        }
        // Commitments alone.
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if self.is_stuck(&at) {
                return true;
            }
            let next = self.successors(&at).into_iter();
            open.extend(next.filter(|next| next.1 == 0).map(|next| next.0));
        }
        false
    }

    fn position(&self, action: &Action) -> usize {
        let found = self.machines.iter().position(|machine| *machine.role() == action.peer);
        found.unwrap_or_else(|| panic!("no machine plays `{}`", action.peer))
    }

    fn queue(&self, machine: usize, action: &Action) -> (Queue, usize) {
        let peer = self.position(action);
        let (from, to) = match action.direction {
            Direction::Send => (machine, peer),
            Direction::Receive => (peer, machine),
        };
        ((self.mailboxes[to].is_none().then_some(from), to), from)
    }

    fn capacity(&self, machine: usize, action: &Action) -> usize {
        let ((_, to), from) = self.queue(machine, action);
        self.mailboxes[to].unwrap_or(self.capacities[from][to])
    }

    fn races_in(&self, machine: usize, state: StateId) -> bool {
        let fsm = &self.machines[machine];
        let mut receives = fsm.transitions_from(state);
        self.races[machine] && receives.any(|by| by.action.direction == Direction::Receive)
    }

    /// The moves that a role is ready for: all, the one that it is committed to, or without
    /// a commitment its receives.
    fn offers<'a>(&'a self, at: &Configuration, machine: usize) -> Vec<Transition<'a>> {
        let fsm = &self.machines[machine];
        let state = at.states[machine];
        let is_ready = |by: &Transition<'_>| match at.committed[machine] {
            Some(only) => by.id == only,
            None => by.action.direction == Direction::Receive || self.races_in(machine, state),
        };
        fsm.transitions_from(state).filter(is_ready).collect()
    }

    fn successors(
        &self,
        at: &Configuration,
    ) -> Vec<(Configuration, usize, Vec<usize>, Option<Queue>)> {
        let mut all = vec![];
        for (machine, fsm) in self.machines.iter().enumerate() {
            let state = at.states[machine];
            if at.committed[machine].is_none() && !self.races_in(machine, state) {
                let sends = fsm.transitions_from(state);
                for by in sends.filter(|by| by.action.direction == Direction::Send) {
                    let mut next = at.clone();
                    next.committed[machine] = Some(by.id);
                    all.push((next, 0, vec![], None));
                }
            }
            for by in self.offers(at, machine) {
                let (queue, from) = self.queue(machine, by.action);
                let message = (from, by.action.message.clone());
                let mut next = at.clone();
                next.states[machine] = by.target;
                next.committed[machine] = None;
                let held = next.queues.entry(queue).or_default();
                let capacity = self.capacity(machine, by.action);
                if by.action.direction == Direction::Receive {
                    if held.pop_front() == Some(message) {
                        next.queues.retain(|_, held| !held.is_empty());
                        all.push((next, 1, vec![machine], Some(queue)));
                    }
                } else if capacity == 0 {
                    next.queues.retain(|_, held| !held.is_empty());
                    let receiver = queue.1;
                    for other in self.offers(at, receiver) {
                        if self.meets(machine, by, receiver, other) {
                            let mut next = next.clone();
                            next.states[receiver] = other.target;
                            all.push((next, 1, vec![machine, receiver], None));
                        }
                    }
                } else if held.len() < capacity || self.drops[queue.1] {
                    if held.len() < capacity {
                        held.push_back(message);
                    }
                    all.push((next, 1, vec![machine], None));
                }
            }
        }
        all
    }

    fn meets(&self, from: usize, send: Transition<'_>, to: usize, other: Transition<'_>) -> bool {
        from != to
            && other.action.direction == Direction::Receive
            && other.action.message == send.action.message
            && self.position(send.action) == to
            && self.position(other.action) == from
    }

    fn is_finished(&self, at: &Configuration, machine: usize) -> bool {
        self.machines[machine].is_terminal(at.states[machine])
    }

    fn is_stuck(&self, at: &Configuration) -> bool {
        let count = self.machines.len();
        (1..1_usize << count).any(|set| {
            let is_in = |machine: usize| set >> machine & 1 == 1;
            let members = || (0..count).filter(|&machine| is_in(machine));
            members().any(|machine| !self.is_finished(at, machine))
                && members().all(|machine| self.never_moves(at, machine, &is_in))
        })
    }

    fn never_moves(
        &self,
        at: &Configuration,
        machine: usize,
        is_in: &dyn Fn(usize) -> bool,
    ) -> bool {
        let state = at.states[machine];
        let mut sends = self.machines[machine].transitions_from(state);
        let may_commit = at.committed[machine].is_none()
            && !self.races_in(machine, state)
            && sends.any(|by| by.action.direction == Direction::Send);
        !may_commit
            && self.offers(at, machine).into_iter().all(|by| {
                let (queue, from) = self.queue(machine, by.action);
                let (to, is_send) = (queue.1, by.action.direction == Direction::Send);
                let capacity = self.capacity(machine, by.action);
                let held = at.queues.get(&queue);
                if capacity == 0 {
                    // The peer is outside, or ready.
                    let peer = if is_send { to } else { from };
                    let mut others = self.offers(at, peer).into_iter();
                    let is_ready = others.any(|other| match is_send {
                        true => self.meets(machine, by, peer, other),
                        false => {
                            other.action.direction == Direction::Send
                                && self.meets(peer, other, machine, by)
                        }
                    });
                    // From itself, nothing ever comes.
                    return is_in(peer) && !is_ready;
                }
                if is_send {
                    let is_full = held.is_some_and(|held| held.len() >= capacity);
                    return is_full && is_in(to) && !self.drops[to];
                }
                match held.and_then(VecDeque::front) {
                    Some(head) => *head != (from, by.action.message.clone()),
                    None => is_in(from),
                }
            })
    }
}
