//! Successive sessions of one set of roles, as the runtime keeps them apart.
//!
//! Each role plays a number of sessions, and any of its machines in each. A message carries the
//! number of the session in which it was sent. A role receives a message only in the session of
//! that number: a message of a later session stays in the queue, and the role behaves as if its
//! queue were empty. A role begins a session unless the receiver of its last message is more than a
//! session behind. A role that has ended a session leaves late messages. Once their senders have
//! completed it, the role drops them and begins the next one.
//!
//! The faults are:
//! ```text
//! deadlock               no role can move, and some role has not played all of its sessions
//! unspecified reception  a role can only receive, and each queue that it may receive from has a message of
//!                        this session at its front that the state does not take
//! orphan message         a role has completed a session, and a message of it is queued for the role
//! ```
//!
//! A role on demand does not count sessions, and its peers do not count sessions with it.
//!
//! # Cost
//! The same as of [`explore`](crate::System::explore), which shares no code with this.

use std::collections::{BTreeMap, VecDeque};

use indexmap::IndexSet;
use rumpsteak_fsm::{Direction, Fsm, Role, StateId, Transition};

use crate::report::FaultKind;

/// The machines of each role, and how many sessions each role plays.
#[derive(Clone, Debug)]
pub struct Successive<'a> {
    /// For each role the machines of its sessions, at least one.
    pub machines: Vec<Vec<&'a Fsm>>,
    /// How many sessions each role plays.
    pub sessions: usize,
}

/// A role: in a session, with its machine and state, or between two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// How many sessions the role has completed.
    completed: usize,
    within: Option<(usize, StateId)>,
}

type Channel = (usize, usize);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Queue {
    /// The session and the number of each message, oldest first.
    messages: VecDeque<(usize, usize)>,
    /// The session of the first message that was sent before the receiver could begin it, unless
    /// the receiver has reached it.
    unreached: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    places: Vec<Place>,
    queues: BTreeMap<Channel, Queue>,
}

impl Successive<'_> {
    /// Visits configurations breadth first. Returns true if these are all: none was beyond so many
    /// configurations, and no queue would have held more than so many messages.
    ///
    /// # Errors
    ///
    /// The first fault.
    pub fn explore(&self, configurations: usize, most: usize) -> Result<bool, FaultKind> {
        let actions = self.actions();
        let idle = Place { completed: 0, within: None };
        let places = vec![idle; self.machines.len()];
        let mut found = IndexSet::from([Configuration { places, queues: BTreeMap::new() }]);
        let (mut at, mut is_whole) = (0, true);
        while let Some(configuration) = found.get_index(at).cloned() {
            if found.len() > configurations {
                return Ok(false);
            }
            let (next, is_held_back) = self.successors(&actions, &configuration, most)?;
            is_whole &= !is_held_back;
            let is_over = |(role, place): (usize, &Place)| match (place.within, place.completed) {
                // The role waits to be called.
                (Some((machine, state)), _) => {
                    self.is_on_demand(role) && state == self.machines[role][machine].initial()
                }
                (None, completed) => self.is_on_demand(role) || completed == self.sessions,
            };
            if next.is_empty() && !is_held_back {
                if !configuration.places.iter().enumerate().all(is_over) {
                    return Err(FaultKind::Deadlock);
                }
                let is_left = |(channel, queue): (&Channel, &Queue)| {
                    !queue.messages.is_empty() && !self.may_be_late(*channel)
                };
                if configuration.queues.iter().any(is_left) {
                    return Err(FaultKind::Orphan);
                }
            }
            found.extend(next);
            at += 1;
        }
        Ok(is_whole)
    }

    fn role(&self, role: usize) -> &Role {
        self.machines[role][0].role()
    }

    fn is_on_demand(&self, role: usize) -> bool {
        self.machines[role][0].is_on_demand()
    }

    /// Returns true if both ends of a queue count the same sessions.
    fn counts(&self, (from, to): Channel) -> bool {
        !self.is_on_demand(from) && !self.is_on_demand(to)
    }

    /// Returns true if the receiver drops late messages.
    fn may_be_late(&self, (from, to): Channel) -> bool {
        self.machines[to][0].late().contains_key(self.role(from))
    }

    /// By role, machine and transition: the queue, and the number of the message.
    fn actions(&self) -> Vec<Vec<Vec<(Channel, usize)>>> {
        let mut messages = IndexSet::new();
        let mut of_machine = |role: usize, fsm: &Fsm| {
            let action = |transition: Transition<'_>| {
                let (number, _) = messages.insert_full(transition.action.message.clone());
                (self.channel(role, transition), number)
            };
            fsm.transitions().map(action).collect()
        };
        let of_role = |(role, machines): (usize, &Vec<&Fsm>)| {
            machines.iter().map(|fsm| of_machine(role, fsm)).collect()
        };
        self.machines.iter().enumerate().map(of_role).collect()
    }

    fn successors(
        &self,
        actions: &[Vec<Vec<(Channel, usize)>>],
        now: &Configuration,
        most: usize,
    ) -> Result<(Vec<Configuration>, bool), FaultKind> {
        let (mut next, mut is_held_back) = (Vec::new(), false);
        for (role, place) in now.places.iter().enumerate() {
            let Some((machine, state)) = place.within else {
                let waits = |(channel, queue): (&Channel, &Queue)| {
                    channel.0 == role && queue.unreached.is_some()
                };
                let is_done = place.completed == self.sessions && !self.is_on_demand(role);
                if is_done || now.queues.iter().any(waits) {
                    continue;
                }
                let late = (0..self.machines.len()).filter(|&from| self.may_be_late((from, role)));
                if late.clone().any(|from| now.places[from].completed < place.completed) {
                    continue;
                }
                for (machine, fsm) in self.machines[role].iter().enumerate() {
                    let mut after = now.clone();
                    for from in late.clone() {
                        let queue = after.queues.entry((from, role)).or_default();
                        queue.messages.retain(|message| message.0 >= place.completed);
                        queue.unreached = queue.unreached.filter(|&at| at >= place.completed);
                    }
                    self.enter(&mut after, role, machine, fsm.initial())?;
                    next.push(after);
                }
                continue;
            };
            let fsm = self.machines[role][machine];
            let (mut only_receives, mut takes) = (true, false);
            let mut refuses = true;
            for transition in fsm.transitions_from(state) {
                let (channel, message) = actions[role][machine][transition.id.index()];
                let mut after = now.clone();
                let queue = after.queues.entry(channel).or_default();
                let session = if self.counts(channel) { place.completed } else { 0 };
                if transition.action.direction == Direction::Send {
                    only_receives = false;
                    if queue.messages.len() == most {
                        is_held_back = true;
                        continue;
                    }
                    let Place { completed, within } = &now.places[channel.1];
                    // It has not dropped what is late.
                    let is_open = within.is_none() && self.may_be_late(channel);
                    if completed.saturating_sub(usize::from(is_open)) < session {
                        queue.unreached = Some(session);
                    }
                    queue.messages.push_back((session, message));
                } else {
                    let front = queue.messages.front();
                    if front.is_some_and(|front| front.0 < session) {
                        return Err(FaultKind::Orphan);
                    }
                    refuses &= front.is_some_and(|front| front.0 == session);
                    if front != Some(&(session, message)) {
                        continue;
                    }
                    takes = true;
                    queue.messages.pop_front();
                    queue.unreached = queue.unreached.filter(|&at| at > session);
                }
                self.enter(&mut after, role, machine, transition.target)?;
                next.push(after);
            }
            if only_receives && refuses && !takes && !fsm.is_terminal(state) {
                return Err(FaultKind::UnspecifiedReception);
            }
        }
        Ok((next, is_held_back))
    }

    fn channel(&self, role: usize, transition: Transition<'_>) -> Channel {
        let peer = (0..self.machines.len()).find(|&it| *self.role(it) == transition.action.peer);
        // The machines form a system, so every peer is among them.
        let peer = peer.unwrap_or(role);
        match transition.action.direction {
            Direction::Send => (role, peer),
            Direction::Receive => (peer, role),
        }
    }

    /// Moves a role to a state, and out of the session if that is over.
    fn enter(
        &self,
        after: &mut Configuration,
        role: usize,
        machine: usize,
        state: StateId,
    ) -> Result<(), FaultKind> {
        if !self.machines[role][machine].is_terminal(state) {
            after.places[role].within = Some((machine, state));
            return Ok(());
        }
        let completed = after.places[role].completed;
        let is_left = |(&(from, to), queue): (&Channel, &Queue)| {
            let is_of_session = |message: &(usize, usize)| message.0 <= completed;
            let may_be_left =
                to != role || !self.counts((from, to)) || self.may_be_late((from, to));
            !may_be_left && queue.messages.iter().any(is_of_session)
        };
        if after.queues.iter().any(is_left) {
            return Err(FaultKind::Orphan);
        }
        let is_on_demand = self.is_on_demand(role);
        after.places[role] =
            Place { completed: completed + usize::from(!is_on_demand), within: None };
        after.queues.retain(|_, queue| !queue.messages.is_empty() || queue.unreached.is_some());
        Ok(())
    }
}
