//! Interrupts that may be late: a role ends the block while the interrupt is under way to it.
//!
//! ```text
//!   interruptible { rec Items { choice at server { next() …; continue Items; }
//!                                            or { complete() from server to client; } } }
//!   with { stop() by client; }
//!
//!   client:  0 ─?next─▶ 0,  0 ─?complete─▶ end,  0 ─!stop─▶ 1      1: until `stop` or `complete`
//!   server:  0 ─!next─▶ 0,  0 ─!complete─▶ end°, 0 ─?stop─▶ 1 ─!stop─▶ end
//!   end°:    like end, and `stop` is received and dropped, until something else comes from client
//! ```
//!
//! Such a block is for roles that no interrupter tells that it is over. Here an interrupter may
//! interrupt until it is done itself, and it tells all others. A role that hears of the interrupt
//! tells those to whom it may still send in the block. A role that has interrupted or heard of it
//! drops what each other role sends, up to the interrupt or the *last* message of that role to it.
//! So the last message for each pair has to be known by its label. No message is sent that the
//! block would not have otherwise.
//!
//! A role that may be done before an interrupt *waits for it meanwhile*: in each state of what
//! follows the block, the interrupt is received and dropped, at most once, until another message
//! from the interrupter shows that none comes. If that is not before the same message could be
//! received with another meaning, or before the end of the protocol, there is an error (S0311).
//!
//! # Why it is sound
//! These machines are always [judged](super::blocks::judge), like all that are not safe by
//! construction.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rumpsteak_fsm::{Action, Direction, Label, Message, Role};

use super::interruption::Interruption;
use super::local::{Edge, Local};
use crate::index::{IndexSet, index};
use crate::limits::Limits;

/// Interrupts that may still come: each with the number of its block and the role that interrupts.
pub(super) type Late = BTreeSet<(u32, u32, Message)>;

/// The knowledge that each role has of the others in a block.
pub(super) struct Lateness {
    /// For each interrupter the states in which it may interrupt.
    open: BTreeMap<u32, Vec<bool>>,
    /// By sender and receiver: the messages after which the sender sends nothing more to it.
    last: BTreeMap<(u32, u32), BTreeSet<Message>>,
    /// By interrupter and other role: the messages after which the interrupter does not interrupt.
    sure: BTreeMap<(u32, u32), BTreeSet<Message>>,
    /// By sender and receiver: for each state of the sender true if it may still send to it.
    sends: BTreeMap<(u32, u32), Vec<bool>>,
    /// The same, for each state of the receiver.
    hears: BTreeMap<(u32, u32), Vec<bool>>,
    /// By interrupter and other role: for each state of the latter true if the interrupter may
    /// still interrupt.
    unsure: BTreeMap<(u32, u32), Vec<bool>>,
}

impl Lateness {
    /// `None` if an interrupter takes no part, or if a role does not know by a label that another
    /// one has sent its last message to it.
    /// `told` has the interrupters that tell all others when the block is over, with the states in
    /// which they may interrupt.
    pub(super) fn new(
        of: &Interruption<'_>,
        machines: &[Local],
        told: &HashMap<u32, Vec<bool>>,
    ) -> Option<Self> {
        let until_end = |by: u32| {
            let end = of.own_end(&machines[by as usize]);
            (0..index(machines[by as usize].states.len())).map(|state| Some(state) != end).collect()
        };
        let open = of.interrupters.iter();
        let open = open.map(|&by| (by, told.get(&by).cloned().unwrap_or_else(|| until_end(by))));
        let open: BTreeMap<u32, Vec<bool>> = open.collect();
        if open.values().any(|open| !open[0]) {
            return None;
        }
        let (mut last, mut sends, mut hears) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (mut sure, mut unsure) = (BTreeMap::new(), BTreeMap::new());
        let pairs =
            of.members.iter().flat_map(|&from| of.members.iter().map(move |&to| (from, to)));
        for pair @ (from, to) in pairs.filter(|pair| pair.0 != pair.1) {
            let [sender, receiver] = [from, to].map(|role| &machines[role as usize]);
            let is_sent = |edge: &Edge| of.is(edge, Direction::Send, to);
            let is_received = |edge: &Edge| of.is(edge, Direction::Receive, from);
            let may = sender.leads_to(|_| true, sender.states_with(is_sent));
            // A single interrupter's interrupt comes for sure: no other role interrupts it.
            let is_needed = of.interrupters.iter().any(|&by| by != from);
            let (mut final_ones, mut others) = (BTreeSet::new(), BTreeSet::new());
            for (_, edge) in sender.all_edges().filter(|(source, _)| may[*source as usize]) {
                let is_more = may[edge.target as usize];
                match is_sent(edge) {
                    true if is_more => others.insert(edge.action.message.clone()),
                    true => final_ones.insert(edge.action.message.clone()),
                    false if is_needed && !is_more => return None,
                    false => continue,
                };
            }
            if !is_needed {
                final_ones.clear();
            } else if !final_ones.is_disjoint(&others) {
                return None;
            }
            if let Some(open) = open.get(&from) {
                let states = (0..).zip(open).filter(|(_, is_open)| **is_open);
                let may_interrupt = sender.leads_to(|_| true, states.map(|(state, _)| state));
                let sent = || sender.all_edges().map(|(_, edge)| edge).filter(|edge| is_sent(edge));
                let before = sent().filter(|edge| may_interrupt[edge.target as usize]);
                let before: BTreeSet<&Message> = before.map(|edge| &edge.action.message).collect();
                let after = sent().map(|edge| &edge.action.message);
                let after = after.filter(|message| !before.contains(message)).cloned();
                let after: BTreeSet<Message> = after.collect();
                let tells = |edge: &Edge| is_received(edge) && after.contains(&edge.action.message);
                unsure.insert(pair, reachable(receiver, |edge| !tells(edge)));
                sure.insert(pair, after);
            }
            hears.insert(pair, receiver.leads_to(|_| true, receiver.states_with(is_received)));
            last.insert(pair, final_ones);
            sends.insert(pair, may);
        }
        Some(Self { open, last, sure, sends, hears, unsure })
    }
}

/// The states that are reached from the initial one by edges that satisfy `by`.
fn reachable(machine: &Local, by: impl Fn(&Edge) -> bool) -> Vec<bool> {
    let (mut seen, mut work) = (vec![false; machine.states.len()], vec![0]);
    while let Some(state) = work.pop() {
        if !std::mem::replace(&mut seen[state as usize], true) {
            work.extend(
                machine.edges(state).iter().filter(|edge| by(edge)).map(|edge| edge.target),
            );
        }
    }
    seen
}

impl Interruption<'_> {
    /// Adds the transitions by which a role ends the block early, and marks where it ends while
    /// interrupts may be late. `late_sets` numbers the marks. Stops at a limit.
    pub(super) fn end_late(
        &self,
        machine: &mut Local,
        role: u32,
        known: &Lateness,
        late_sets: &mut IndexSet<Late>,
        limits: &Limits,
    ) {
        let original = machine.clone();
        let states = index(original.states.len());
        let own_end = self.own_end(machine);
        let end = own_end.unwrap_or_else(|| machine.add());
        let others = || self.members.iter().copied().filter(move |&other| other != role);
        let unsure = |by: u32, state: u32| {
            known.unsure.get(&(by, role)).is_some_and(|unsure| unsure[state as usize])
        };
        // Its own end.
        let may_come = others().filter(|&by| unsure(by, end) && own_end.is_some());
        let marked = self.marked(machine, may_come.collect(), end, role, late_sets);
        if marked != end {
            for edge in machine.states[..states as usize].iter_mut().flatten() {
                if edge.target == end {
                    edge.target = marked;
                }
            }
        }
        for (message, by) in &self.interrupts {
            let is_by = |other: u32| by.contains(&other);
            for state in (0..states).filter(|&state| Some(state) != own_end) {
                if machine.exceeded(limits).is_some() {
                    return;
                }
                let unsure: BTreeSet<u32> = others().filter(|&by| unsure(by, state)).collect();
                if is_by(role) && known.open[&role][state as usize] {
                    let left = (message, role, unsure.clone());
                    let to: Vec<u32> = others().collect();
                    let next = self.wind_up(machine, (role, state), left, known, (end, late_sets));
                    let next = self.tell(machine, &to[1..], message, next);
                    let action = self.action(to[0], Direction::Send, message);
                    machine.connect(state, action, next, vec![self.block.span]);
                }
                for heard in others() {
                    let mut edges = original.edges(state).iter();
                    let waits = edges.any(|edge| self.is(edge, Direction::Receive, heard));
                    let is_sent = if is_by(heard) {
                        unsure.contains(&heard)
                    } else {
                        waits && unsure.iter().any(|&by| is_by(by))
                    };
                    if is_sent {
                        let left = (message, heard, unsure.clone());
                        let next =
                            self.wind_up(machine, (role, state), left, known, (end, late_sets));
                        let to = others().filter(|&to| known.sends[&(role, to)][state as usize]);
                        let next = self.tell(machine, &to.collect::<Vec<_>>(), message, next);
                        let action = self.action(heard, Direction::Receive, message);
                        machine.connect(state, action, next, vec![self.block.span]);
                    }
                }
            }
        }
    }

    /// A state from which the role drops what the others send, up to an interrupt or their last
    /// message. It has heard of the interrupt from `heard` or sent it, when those that are `unsure`
    /// could still interrupt.
    fn wind_up(
        &self,
        machine: &mut Local,
        (role, state): (u32, u32),
        (message, heard, mut unsure): (&Message, u32, BTreeSet<u32>),
        known: &Lateness,
        (end, late_sets): (u32, &mut IndexSet<Late>),
    ) -> u32 {
        unsure.remove(&heard);
        let sources = self.members.iter().copied().filter(|&from| {
            let hears = known.hears.get(&(from, role));
            from != heard && hears.is_some_and(|hears| hears[state as usize])
        });
        // From the last source on: for each set of roles that may still interrupt the next state.
        let mut next: BTreeMap<BTreeSet<u32>, u32> = BTreeMap::new();
        let sources: Vec<u32> = sources.collect();
        let drained = sources.iter().copied().collect();
        let mut sets = vec![unsure.difference(&drained).copied().collect::<BTreeSet<u32>>()];
        for from in sources.iter().filter(|from| unsure.contains(from)) {
            let more = sets.iter().map(|set| set.iter().copied().chain([*from]).collect());
            sets.extend(more.collect::<Vec<_>>());
        }
        for set in sets {
            let state = self.marked(machine, set.clone(), end, role, late_sets);
            next.insert(set, state);
        }
        for &from in sources.iter().rev() {
            let before = std::mem::take(&mut next);
            for set in before.keys().filter(|set| !set.contains(&from)) {
                let state = machine.add();
                next.insert(set.clone(), state);
                let receive = |message: &Message| self.action(from, Direction::Receive, message);
                let late = set.iter().copied().chain(unsure.contains(&from).then_some(from));
                let late: BTreeSet<u32> = late.collect();
                for dropped in self.pairs.get(&(from, role)).into_iter().flatten() {
                    let is_last = known.last[&(from, role)].contains(dropped);
                    let is_sure = known.sure.get(&(from, role));
                    let is_sure = is_sure.is_some_and(|sure| sure.contains(dropped));
                    let after = before[if is_sure { set } else { &late }];
                    let target = if is_last { after } else { state };
                    machine.connect(state, receive(dropped), target, vec![self.block.span]);
                }
                for (crossing, by) in &self.interrupts {
                    // A role that has interrupted or heard of an interrupt does not interrupt.
                    let others = |&by: &u32| by != role && by != heard;
                    if crossing == message || by.iter().any(others) {
                        machine.connect(
                            state,
                            receive(crossing),
                            before[set],
                            vec![self.block.span],
                        );
                    }
                }
            }
        }
        // Reached with nothing added so far.
        next.into_values().next().unwrap_or(end)
    }

    /// A state that leads to the end, where interrupts of these roles may be late.
    fn marked(
        &self,
        machine: &mut Local,
        by: BTreeSet<u32>,
        end: u32,
        role: u32,
        late_sets: &mut IndexSet<Late>,
    ) -> u32 {
        let late = self.interrupts.iter().flat_map(|(message, of)| {
            let of = of.iter().filter(|of| by.contains(of));
            of.map(|&of| (self.number, of, message.clone()))
        });
        let late: Late = late.collect();
        if late.is_empty() {
            return end;
        }
        let label = Label::from(late_sets.insert_full(late).0.to_string());
        let state = machine.add();
        let action = self.action(role, Direction::Send, &Message { label, payload: Vec::new() });
        machine.connect(state, action, end, vec![self.block.span]);
        state
    }
}

/// An interrupt that is late where it must not be: in a state in which it could be taken for
/// another message, or else at the end.
pub(super) struct TooLate {
    pub(super) block: u32,
    pub(super) by: u32,
    pub(super) message: Message,
    pub(super) is_confused: bool,
}

impl Local {
    /// The machine without [marks](Interruption::end_late): it receives and drops the interrupts
    /// that may be late, until it hears something else from the same role.
    pub(super) fn settled(
        &self,
        roles: &[Role],
        role: u32,
        late_sets: &IndexSet<Late>,
    ) -> Result<Self, TooLate> {
        let own = &roles[role as usize];
        let settle = |mut state: u32, mut late: Late| {
            while let Some(mark) = self.edges(state).iter().find(|edge| edge.action.peer == *own) {
                let number = mark.action.message.label.as_str().parse().unwrap_or(0);
                late.extend(late_sets.get_index(number).into_iter().flatten().cloned());
                state = mark.target;
            }
            (state, late)
        };
        let mut found: IndexSet<(u32, Late)> = IndexSet::from_iter([settle(0, Late::new())]);
        let mut local = Self::default();
        while let Some((state, late)) = found.get_index(local.states.len()).cloned() {
            let source = local.add();
            if late.is_empty() && self.gathers.contains(&state) {
                local.gathers.insert(source);
            }
            let without = |peer: &Role| {
                let others = late.iter().filter(|(_, by, _)| roles[*by as usize] != *peer);
                others.cloned().collect::<Late>()
            };
            for Edge { action, target, origins } in self.edges(state) {
                let is_heard = action.direction == Direction::Receive;
                let late = if is_heard { without(&action.peer) } else { late.clone() };
                let target = index(found.insert_full(settle(*target, late)).0);
                local.connect(source, action.clone(), target, origins.clone());
            }
            for (block, by, message) in &late {
                let peer = roles[*by as usize].clone();
                let is_same = |edge: &Edge| {
                    let Action { peer: from, direction, message: known } = &edge.action;
                    *direction == Direction::Receive
                        && *from == peer
                        && known.label == message.label
                };
                let is_confused = self.edges(state).iter().any(is_same);
                if is_confused || self.edges(state).is_empty() {
                    let (block, by, message) = (*block, *by, message.clone());
                    return Err(TooLate { block, by, message, is_confused });
                }
                let target = index(found.insert_full((state, without(&peer))).0);
                let action =
                    Action { peer, direction: Direction::Receive, message: message.clone() };
                local.connect(source, action, target, Vec::new());
            }
        }
        Ok(local)
    }
}
