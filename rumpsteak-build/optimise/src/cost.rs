//! The time that a fixed piece of work takes.
//!
//! ```text
//!   send     clock(p) += work;   the message arrives at clock(p) + latency(p, q)
//!   receive  clock(q) = max(clock(q), arrival) + work
//! ```
//!
//! The roles are sequential and wait for one queue at a time, so they are a Kahn network:
//! scheduling changes neither the messages nor their times. (A role that waits for several peers
//! takes the first arrival.) A role must *choose* the same for all orders that are compared. So a
//! choice depends on its options, and on how often it was made before: for some rounds it takes the
//! branches that can come back, in turn, and then those that end.
//!
//! The work is what the projections do in a number of rounds: so many actions for each role. The
//! time of an order is the time at which the last role has done as many.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rumpsteak_fsm::{Action, Fsm, Message, Role, StateId, Transition};

/// The costs of messages and actions, in a unit of the caller's choice.
#[derive(Clone, Copy)]
pub struct Costs<'a> {
    /// The time of a message on its way from the first role to the second.
    pub latency: &'a dyn Fn(&Role, &Role) -> u64,
    /// The time that a send or a receive takes.
    pub work: u64,
}

impl std::fmt::Debug for Costs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Costs").field("work", &self.work).finish_non_exhaustive()
    }
}

/// One action of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The time.
    pub time: u64,
    /// The role.
    pub role: Role,
    /// The action.
    pub action: Action,
}

/// How often a loop is chosen before its exit.
const ROUNDS: usize = 32;
/// How many actions a role does at most.
const ACTIONS: usize = 600;
/// How far a role may run ahead of its share, so that the others can do theirs.
const AHEAD: usize = 64;

/// A piece of work: how the choices are made, and how many actions are each role's share.
#[derive(Clone, Debug)]
pub struct Work {
    /// For the options of each choice those that can come back to it.
    again: BTreeMap<(Role, BTreeSet<Action>), BTreeSet<Action>>,
    /// How many actions are each role's share, in the order of the machines.
    pub share: Vec<usize>,
}

impl Work {
    /// The work that these machines do together as they are.
    pub fn new(machines: &[Fsm]) -> Self {
        let mut again: BTreeMap<_, BTreeSet<Action>> = BTreeMap::new();
        for machine in machines {
            for state in machine.states() {
                let leaving: Vec<Transition<'_>> = machine.transitions_from(state).collect();
                if leaving.len() < 2 || !leaving[0].action.is_send() {
                    continue;
                }
                let returns = |transition: &&Transition<'_>| {
                    let mut later = machine.reachable_from(transition.target);
                    later.any(|later| later == state)
                };
                let back = leaving.iter().filter(returns);
                again
                    .entry((machine.role().clone(), key(&leaving)))
                    .or_default()
                    .extend(back.map(|transition| transition.action.clone()));
            }
        }
        let mut work = Self { again, share: vec![ACTIONS; machines.len()] };
        work.share = work.run(machines, None).iter().map(Vec::len).collect();
        work
    }

    /// When the last role has done its share.
    pub fn time(&self, machines: &[Fsm], costs: &Costs<'_>) -> u64 {
        let done = self.run(machines, Some(costs));
        let last = done.iter().zip(&self.share).map(|(events, &share)| {
            events.get(share.saturating_sub(1)).or(events.last()).map_or(0, |(_, event)| event.time)
        });
        last.max().unwrap_or(0)
    }

    /// The first actions of all roles, by time, with causes before effects.
    pub fn events(&self, machines: &[Fsm], costs: &Costs<'_>, most: usize) -> Vec<Event> {
        let roles = self.run(machines, Some(costs));
        let mut events: Vec<(usize, Event)> = roles.into_iter().flatten().collect();
        // A cause is found before its effect, and is never later.
        events.sort_by_key(|(found, event)| (event.time, *found));
        events.truncate(most);
        events.into_iter().map(|(_, event)| event).collect()
    }

    /// The events of each role, each with the number of events found before.
    fn run(&self, machines: &[Fsm], costs: Option<&Costs<'_>>) -> Vec<Vec<(usize, Event)>> {
        let mut found = 0;
        let player = |machine| {
            let (clock, choices, events) = Default::default();
            Player { machine, state: Fsm::initial(machine), clock, choices, events }
        };
        let mut roles: Vec<Player<'_>> = machines.iter().map(player).collect();
        let mut queues: BTreeMap<(&Role, &Role), VecDeque<(u64, &Message)>> = BTreeMap::new();
        loop {
            let mut moved = false;
            for (position, player) in roles.iter_mut().enumerate() {
                let most = match costs {
                    None => ACTIONS,
                    Some(_) => self.share[position] + AHEAD,
                };
                while player.events.len() < most && self.step(player, &mut queues, costs, found) {
                    found += 1;
                    moved = true;
                }
            }
            if !moved {
                return roles.into_iter().map(|player| player.events).collect();
            }
        }
    }

    fn step<'m>(
        &self,
        player: &mut Player<'m>,
        queues: &mut BTreeMap<(&'m Role, &'m Role), VecDeque<(u64, &'m Message)>>,
        costs: Option<&Costs<'_>>,
        found: usize,
    ) -> bool {
        let machine = player.machine;
        let role = machine.role();
        let leaving: Vec<Transition<'m>> = machine.transitions_from(player.state).collect();
        let work = costs.map_or(1, |costs| costs.work);
        let Some(first) = leaving.first() else { return false };
        let taken = if first.action.is_send() {
            let taken = self.choose(player, &leaving);
            player.clock += work;
            let peer = &taken.action.peer;
            let latency = costs.map_or(1, |costs| (costs.latency)(role, peer));
            let queue = queues.entry((role, peer)).or_default();
            // A message does not arrive before the one in front of it.
            let before = queue.back().map_or(0, |(arrival, _)| *arrival);
            let arrival = (player.clock + latency).max(before);
            queue.push_back((arrival, &taken.action.message));
            taken
        } else {
            let waiting = leaving.iter().filter_map(|transition| {
                let (arrival, message) = queues.get(&(&transition.action.peer, role))?.front()?;
                (**message == transition.action.message).then_some((*arrival, *transition))
            });
            let Some((arrival, taken)) = waiting.min_by_key(|(arrival, _)| *arrival) else {
                return false;
            };
            if let Some(queue) = queues.get_mut(&(&taken.action.peer, role)) {
                queue.pop_front();
            }
            player.clock = player.clock.max(arrival) + work;
            taken
        };
        let event = Event { time: player.clock, role: role.clone(), action: taken.action.clone() };
        player.events.push((found, event));
        player.state = taken.target;
        true
    }

    fn choose<'m>(&self, player: &mut Player<'m>, leaving: &[Transition<'m>]) -> Transition<'m> {
        if leaving.len() == 1 {
            return leaving[0];
        }
        let key = key(leaving);
        let made = player.choices.entry(key.clone()).or_default();
        let round = *made;
        *made += 1;
        let again = self.again.get(&(player.machine.role().clone(), key));
        let returns = |action: &Action| again.is_some_and(|again| again.contains(action));
        let wanted = |transition: &&Transition<'m>| returns(transition.action) == (round < ROUNDS);
        let mut fitting: Vec<Transition<'m>> = leaving.iter().filter(wanted).copied().collect();
        if fitting.is_empty() {
            fitting = leaving.to_vec();
        }
        // The order of transitions may differ between machines.
        fitting.sort_by_key(|transition| transition.action);
        fitting[round % fitting.len()]
    }
}

struct Player<'m> {
    machine: &'m Fsm,
    state: StateId,
    clock: u64,
    choices: BTreeMap<BTreeSet<Action>, usize>,
    events: Vec<(usize, Event)>,
}

fn key(leaving: &[Transition<'_>]) -> BTreeSet<Action> {
    leaving.iter().map(|transition| transition.action.clone()).collect()
}
