//! A block that may be interrupted: its roles, its interrupts, and the machines of roles that
//! always learn if there is one. The [machines of blocks](super::blocks) say how.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rumpsteak_fsm::{Action, Direction, Message, Role};

use super::local::{Edge, Local};
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::global_errors;
use crate::diagnostics::span::Span;
use crate::global::automaton::{Block, Global};
use crate::index::{NONE, index};
use crate::limits::Limits;

pub(super) struct Interruption<'a> {
    roles: &'a [Role],
    pub(super) number: u32,
    pub(super) block: &'a Block,
    /// The roles that take part.
    pub(super) members: Vec<u32>,
    /// The roles that may interrupt it.
    pub(super) interrupters: BTreeSet<u32>,
    /// The messages that interrupt it, each with the roles that may send it first.
    pub(super) interrupts: Vec<(Message, Vec<u32>)>,
    /// The pairs of the block, with the messages between them.
    pub(super) pairs: BTreeMap<(u32, u32), BTreeSet<Message>>,
}

/// For each interrupter and other role, the states of the other role in which it is [sure that no
/// interrupt comes](Interruption::closed).
pub(super) type Closed = HashMap<(u32, u32), Vec<bool>>;

impl<'a> Interruption<'a> {
    pub(super) fn new(global: &'a Global, number: u32, machines: &[Local]) -> Self {
        let (roles, block) = (&global.roles[..], &global.blocks[number as usize]);
        let interrupters: BTreeSet<u32> = block.interrupts.iter().map(|by| by.0).collect();
        let mut pairs: BTreeMap<(u32, u32), BTreeSet<Message>> = BTreeMap::new();
        let mut members = Vec::new();
        for (role, machine) in (0..).zip(machines) {
            for (_, Edge { action, .. }) in machine.all_edges() {
                let peer = roles.iter().position(|known| *known == action.peer).map_or(NONE, index);
                if action.direction == Direction::Send {
                    pairs.entry((role, peer)).or_default().insert(action.message.clone());
                }
            }
            if interrupters.contains(&role) || machine.all_edges().next().is_some() {
                members.push(role);
            }
        }
        for &by in &interrupters {
            for &role in members.iter().filter(|&&role| role != by) {
                pairs.entry((by, role)).or_default();
            }
        }
        let mut interrupts: Vec<(Message, Vec<u32>)> = Vec::new();
        for &(by, message, _) in &block.interrupts {
            let message = &global.messages[message as usize];
            match interrupts.iter_mut().find(|known| known.0 == *message) {
                Some((_, known)) => known.push(by),
                None => interrupts.push((message.clone(), vec![by])),
            }
        }
        Self { roles, number, block, members, interrupters, interrupts, pairs }
    }

    fn name(&self, role: u32) -> &str {
        self.roles[role as usize].as_str()
    }

    pub(super) fn is(&self, edge: &Edge, direction: Direction, peer: u32) -> bool {
        edge.action.direction == direction && edge.action.peer == self.roles[peer as usize]
    }

    /// The end of a machine, unless the block never ends.
    pub(super) fn own_end(&self, machine: &Local) -> Option<u32> {
        machine.end().filter(|_| self.block.ends)
    }

    /// Returns for each state of a role true if it hears no more from `by` and may come to its end.
    pub(super) fn closed(&self, machine: &Local, by: u32) -> Vec<bool> {
        let hears = machine.states_with(|edge| self.is(edge, Direction::Receive, by));
        let hears = machine.leads_to(|_| true, hears);
        let ends = machine.leads_to(|_| true, self.own_end(machine));
        hears.into_iter().zip(ends).map(|(hears, ends)| ends && !hears).collect()
    }

    /// Returns for each state of `by` true if it sends to each other role, however it goes on.
    pub(super) fn open(&self, machine: &Local, by: u32) -> Vec<bool> {
        let mut open = vec![self.members.len() > 1; machine.states.len()];
        let end = self.own_end(machine);
        for &other in self.members.iter().filter(|&&other| other != by && self.block.ends) {
            let tells = |edge: &Edge| self.is(edge, Direction::Send, other);
            let may = machine.leads_to(|_| true, machine.states_with(tells));
            let need_not = machine.leads_to(|edge| !tells(edge), end);
            for ((open, may), need_not) in open.iter_mut().zip(may).zip(need_not) {
                *open &= may && !need_not;
            }
        }
        open
    }

    /// An error if a role may be done while `by` may interrupt. `closed` has the states in which
    /// the role is sure that no interrupt comes.
    pub(super) fn open_end(
        &self,
        machine: &Local,
        by: u32,
        role: u32,
        closed: &[bool],
    ) -> Option<Diagnostic> {
        let hears = |edge: &Edge, by: u32| self.is(edge, Direction::Receive, by);
        let end = self.own_end(machine).filter(|_| !self.interrupters.contains(&role));
        let is_open = |&(source, edge): &(u32, &Edge)| {
            let closes = closed[edge.target as usize] && !closed[source as usize];
            let is_last = Some(edge.target) == end;
            closes && !hears(edge, by)
                || is_last && !self.interrupters.iter().any(|&by| hears(edge, by))
        };
        let last = machine.all_edges().find(is_open);
        if last.is_none() && !closed[0] {
            return None;
        }
        let last = last.and_then(|(_, edge)| edge.origins.first().copied());
        Some(self.open_interrupt(by, role, last))
    }

    pub(super) fn open_interrupt(&self, by: u32, role: u32, last: Option<Span>) -> Diagnostic {
        let others = self.members.iter().filter(|&&other| other != by);
        let others: Vec<&str> = others.map(|&other| self.name(other)).collect();
        let by = (self.name(by), &others[..]);
        global_errors::open_interrupt(self.block.span, by, self.name(role), last)
    }

    /// Adds the transitions by which a role ends the block early: by its own interrupts in the
    /// states that are `open`, and by interrupts that it hears of. Stops at a limit.
    pub(super) fn end_early(
        &self,
        machine: &mut Local,
        role: u32,
        open: &[bool],
        closed: &Closed,
        limits: &Limits,
    ) {
        let states = index(machine.states.len());
        let end = self.own_end(machine).unwrap_or_else(|| machine.add());
        let to: Vec<u32> =
            self.pairs.keys().filter(|pair| pair.0 == role).map(|pair| pair.1).collect();
        let sources: Vec<u32> =
            self.pairs.keys().filter(|pair| pair.1 == role).map(|pair| pair.0).collect();
        let may_hear = |by: u32, state: u32| {
            closed.get(&(by, role)).is_some_and(|closed| !closed[state as usize])
        };
        for (message, by) in &self.interrupts {
            if let (true, Some((&first, others))) = (by.contains(&role), to.split_first()) {
                // The first message is sent in the state where it interrupts, then the others.
                let drained = self.drain(machine, role, &sources, (message, &[role], role), end);
                let told = self.tell(machine, others, message, drained);
                for (state, _) in (0..).zip(open).filter(|(_, is_open)| **is_open) {
                    let action = self.action(first, Direction::Send, message);
                    machine.connect(state, action, told, vec![self.block.span]);
                }
            }
            let by: Vec<u32> = by.iter().copied().filter(|&by| by != role).collect();
            for &heard in sources.iter().filter(|_| !by.is_empty()) {
                if machine.exceeded(limits).is_some() {
                    return;
                }
                let rest: Vec<u32> =
                    sources.iter().copied().filter(|&other| other != heard).collect();
                let drained = self.drain(machine, role, &rest, (message, &by, heard), end);
                let next = self.tell(machine, &to, message, drained);
                for state in 0..states {
                    let waits = || {
                        let mut edges = machine.edges(state).iter();
                        edges.any(|edge| self.is(edge, Direction::Receive, heard))
                    };
                    let is_sent = by.iter().any(|&by| may_hear(by, state));
                    if is_sent && (may_hear(heard, state) || waits()) {
                        let action = self.action(heard, Direction::Receive, message);
                        machine.connect(state, action, next, vec![self.block.span]);
                    }
                }
            }
        }
    }

    pub(super) fn action(&self, peer: u32, direction: Direction, message: &Message) -> Action {
        let peer = self.roles[peer as usize].clone();
        Action { peer, direction, message: message.clone() }
    }

    /// A state from which the message is sent to these roles, before the state `next`.
    pub(super) fn tell(
        &self,
        machine: &mut Local,
        to: &[u32],
        message: &Message,
        next: u32,
    ) -> u32 {
        to.iter().rev().fold(next, |next, &to| {
            let state = machine.add();
            let action = self.action(to, Direction::Send, message);
            machine.connect(state, action, next, vec![self.block.span]);
            state
        })
    }

    /// A state from which the messages of the roles `from` are dropped, up to their interrupts,
    /// before the state `next`. The role follows `message`, which one of `by` sent first, and which
    /// it heard from `heard`.
    fn drain(
        &self,
        machine: &mut Local,
        role: u32,
        from: &[u32],
        (message, by, heard): (&Message, &[u32], u32),
        next: u32,
    ) -> u32 {
        from.iter().rev().fold(next, |next, &from| {
            let state = machine.add();
            let receive = |message: &Message| self.action(from, Direction::Receive, message);
            for dropped in self.pairs.get(&(from, role)).into_iter().flatten() {
                machine.connect(state, receive(dropped), state, vec![self.block.span]);
            }
            for (crossing, others) in &self.interrupts {
                // A role that has interrupted or heard of an interrupt does not interrupt.
                let crosses = |by: u32, other: u32| other != by && other != role && other != heard;
                let may_come = *crossing == *message
                    || by
                        .iter()
                        .any(|&by| by != from && others.iter().any(|&other| crosses(by, other)));
                if may_come {
                    machine.connect(state, receive(crossing), next, vec![self.block.span]);
                }
            }
            state
        })
    }
}
