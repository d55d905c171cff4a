//! A block that may be interrupted: its roles, its interrupts, and the machines of roles that
//! always learn if there is one. The [machines of blocks](super::blocks) say how.

use fixedbitset::FixedBitSet;
use litemap::LiteMap;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rumpsteak_fsm::{Action, Direction, Message, Role};

use super::local::{Edge, Local};
use super::rounds::{Rounds, Rule};
use crate::diagnostics::{Diagnostic, Span, global_errors};
use crate::global::automaton::{Block, Global, Letter};
use crate::index::{IndexSet, NONE, index, reached, sorted};
use crate::limits::Limits;
use crate::names::program;

pub(super) struct Interruption<'a> {
    roles: &'a [Role],
    pub(super) number: u32,
    pub(super) block: &'a Block,
    /// The roles that take part.
    pub(super) members: Vec<u32>,
    /// The roles that may interrupt it, in order.
    pub(super) interrupters: Vec<u32>,
    pub(super) interrupts: Vec<Interrupt>,
    /// The pairs of the block, with the messages between them in the order of the sender.
    pub(super) pairs: LiteMap<(u32, u32), IndexSet<Message>>,
    /// The pairs P → Q such that P tells Q of an interrupt in any case, with its interrupters.
    pub(super) hops: LiteMap<(u32, u32), Vec<u32>>,
    pub(super) rounds: &'a Rounds<'a>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Interrupt {
    pub(super) message: Message,
    /// The roles that may send it first.
    pub(super) by: Vec<u32>,
    /// The message that goes back to the role that has told of it, if that is another one.
    answer: Option<Message>,
}

/// For each interrupter and other role, the states of the other role in which it is [sure that no
/// interrupt comes](Interruption::closed).
pub(super) type Closed = LiteMap<(u32, u32), Vec<bool>>;

impl<'a> Interruption<'a> {
    pub(super) fn new(
        global: &'a Global,
        number: u32,
        machines: &[Local],
        rounds: &'a Rounds<'a>,
    ) -> Self {
        let (roles, block) = (&global.roles[..], &global.blocks[number as usize]);
        let interrupters = sorted(block.interrupts.iter().map(|of| of.by).collect());
        let is_via = |role: u32| block.interrupts.iter().any(|of| of.via.contains(&role));
        let mut pairs: LiteMap<(u32, u32), IndexSet<Message>> = LiteMap::default();
        let mut members = Vec::new();
        for (role, machine) in (0..).zip(machines) {
            for (_, Edge { action, .. }) in machine.all_edges() {
                let peer = roles.iter().position(|known| *known == action.peer).map_or(NONE, index);
                if action.is_send() && peer != role {
                    pairs.entry((role, peer)).or_default().insert(action.message.clone());
                }
            }
            let acts = machine.all_edges().next().is_some();
            if interrupters.contains(&role) || is_via(role) || acts {
                members.push(role);
            }
        }
        let mut interrupts: Vec<Interrupt> = Vec::new();
        let mut hops: LiteMap<(u32, u32), Vec<u32>> = LiteMap::default();
        for program::Interrupt { by, message, via, answer, .. } in &block.interrupts {
            let text = |number: u32| global.messages[number as usize].clone();
            let (message, answer) = (text(*message), answer.map(text));
            let is_same =
                |known: &&mut Interrupt| (&known.message, &known.answer) == (&message, &answer);
            match interrupts.iter_mut().find(is_same) {
                Some(known) => known.by.push(*by),
                None => interrupts.push(Interrupt { message, by: vec![*by], answer }),
            }
            let is_told = |role: &&u32| match &via[..] {
                [] => rounds.rule(block.span, *by, **role) != Some(Rule::ThroughAnother),
                via => via.contains(role),
            };
            let (via, others): (Vec<u32>, Vec<u32>) =
                members.iter().filter(|role| *role != by).partition(is_told);
            let mut told: Vec<(u32, u32)> = via.iter().map(|&role| (*by, role)).collect();
            // A role that need not wait is told over a channel that it has elsewhere.
            for to in others {
                if sends_on(&machines[to as usize]).contains(&true) {
                    let is_channel = |&&from: &&u32| {
                        global.letters.iter().any(|of| (of.from, of.to) == (from, to))
                    };
                    told.extend(via.iter().find(is_channel).map(|&from| (from, to)));
                }
            }
            for hop in told {
                pairs.entry(hop).or_default();
                hops.entry(hop).or_default().push(*by);
            }
        }
        Self { roles, number, block, members, interrupters, interrupts, pairs, hops, rounds }
    }

    /// True if some interrupter does not tell all others itself.
    pub(super) fn is_routed(&self) -> bool {
        let tells = |by, to| by == to || self.is_hop(by, to, &[by]);
        !self.interrupters.iter().all(|&by| self.members.iter().all(|&to| tells(by, to)))
    }

    /// True if `from` tells `to` in any case of an interrupt by one of these roles.
    pub(super) fn is_hop(&self, from: u32, to: u32, by: &[u32]) -> bool {
        self.hops.get(&(from, to)).is_some_and(|of| by.iter().any(|by| of.contains(by)))
    }

    /// True if a role may learn of an interrupt on a way that does not lead through `other`.
    pub(super) fn hears_of_others(&self, role: u32, other: u32) -> bool {
        let first = self.interrupters.iter().copied().filter(|&by| by != other).collect();
        let next = |from, work: &mut Vec<u32>| {
            let mut at = self.pairs.find_index(&(from, 0)).unwrap_or_else(|at| at);
            while let Some((&(_, to), _)) = self.pairs.get_indexed(at).filter(|of| of.0.0 == from) {
                work.extend((to != other).then_some(to));
                at += 1;
            }
        };
        reached(self.roles.len(), first, &next)[role as usize]
    }

    /// Returns for each state of a role true if it may interrupt there, or look for an interrupt
    /// that it is told of. With a `via`, only if it waits there or may send for ever.
    pub(super) fn looks(&self, machine: &Local) -> Vec<bool> {
        if !self.is_routed() {
            return vec![true; machine.states.len()];
        }
        let mut looks = sends_on(machine);
        let mut waits = machine.states_with(&|edge| !edge.action.is_send());
        // If only an interrupt ends the block, a role that has nothing left to do waits for it.
        waits.extend(machine.end().filter(|_| !self.block.ends));
        waits.into_iter().for_each(|state| looks[state as usize] = true);
        looks
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
        let hears = machine.states_with(&|edge| self.is(edge, Direction::Receive, by));
        let hears = machine.leads_to(&|_| true, hears);
        let ends = machine.leads_to(&|_| true, Vec::from_iter(self.own_end(machine)));
        hears.into_iter().zip(ends).map(|(hears, ends)| ends && !hears).collect()
    }

    /// Returns for each state of `by` true if it sends to each role that it tells, however it goes
    /// on. If it is early, to any role if all learn of its last send, else to those it sends to.
    pub(super) fn open(&self, machine: &Local, by: u32) -> Vec<bool> {
        let is_sent = |edge: &Edge, to| self.is(edge, Direction::Send, to);
        let mut hops = self.members.clone();
        hops.retain(|&other| self.is_hop(by, other, &[by]));
        let mut size = 1;
        if self.rounds.is_early(self.block.span, by) {
            let learn = self.learn(by, true);
            match hops.iter().all(|&to| learn.contains(to as usize)) {
                true => (hops, size) = (self.members.clone(), self.members.len()),
                false => hops.retain(|&to| machine.all_edges().any(|(_, edge)| is_sent(edge, to))),
            }
        }
        let mut open = vec![self.members.len() > 1 && !hops.is_empty(); machine.states.len()];
        for peers in hops.chunks(size).filter(|_| self.block.ends) {
            let tells = |edge: &Edge| peers.iter().any(|&to| is_sent(edge, to));
            let may = machine.leads_to(&|_| true, machine.states_with(&tells));
            let end = Vec::from_iter(self.own_end(machine));
            let need_not = machine.leads_to(&|edge| !tells(edge), end);
            for ((open, may), need_not) in open.iter_mut().zip(may).zip(need_not) {
                *open &= may && !need_not;
            }
        }
        open
    }

    /// The roles that are not done before they know, perhaps through others, that `by` is, or that
    /// it sends no more. After a block inside this one only `by` knows.
    pub(super) fn learn(&self, by: u32, is_send: bool) -> FixedBitSet {
        let mut only = FixedBitSet::with_capacity(self.roles.len());
        only.insert(by as usize);
        let [part] = &self.block.parts[..] else { return only };
        // For each state, those who know of all that `by` has done, whatever came before.
        let mut known: Vec<Option<FixedBitSet>> = vec![None; part.len()];
        let mut work = vec![(0, only.clone())];
        while let Some((state, mut next)) = work.pop() {
            let known = &mut known[state as usize];
            known.iter().for_each(|known| next.intersect_with(known));
            if known.as_ref() != Some(&next) {
                work.extend(part.edges(state).iter().map(|edge| {
                    let Letter { from, to, .. } = part.letter(edge);
                    let acts = part.is_seen_by(edge.letter, by) && !(is_send && to == by);
                    let mut next = if acts { only.clone() } else { next.clone() };
                    if next.contains(from as usize) {
                        next.insert(to as usize);
                    }
                    (edge.target, next)
                }));
                *known = Some(next);
            }
        }
        let ends = known.into_iter().zip(&part.states).filter(|(_, edges)| edges.is_empty());
        ends.filter_map(|(known, _)| known).reduce(|all, known| &all & &known).unwrap_or(only)
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

    /// An error about a block with `via`: its interrupter takes no part, or the second role does
    /// not know the last message of the first one.
    pub(super) fn unclear_last(&self, pair: Option<(u32, u32)>) -> Diagnostic {
        let Some((from, to)) = pair else {
            return global_errors::via_without_effect(self.block.span);
        };
        global_errors::unclear_last(self.block.span, self.name(from), self.name(to))
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
        let pairs = self.pairs.keys();
        let to = pairs.clone().filter(|pair| pair.0 == role).map(|pair| pair.1);
        let sources = pairs.filter(|pair| pair.1 == role).map(|pair| pair.0);
        let (to, sources): (Vec<u32>, Vec<u32>) = (to.collect(), sources.collect());
        let may_hear = |by: u32, state: u32| {
            closed.get(&(by, role)).is_some_and(|closed| !closed[state as usize])
        };
        for interrupt in &self.interrupts {
            let by = &interrupt.by;
            if let (true, Some((&first, others))) = (by.contains(&role), to.split_first()) {
                // The first message is sent in the state where it interrupts, then the others.
                let drained = self.drain(machine, role, &sources, (interrupt, &[role], role), end);
                let told = self.tell(machine, others, (interrupt, role), drained);
                for (state, _) in (0..).zip(open).filter(|(_, is_open)| **is_open) {
                    let action = (first, Direction::Send, &interrupt.message);
                    self.connect(machine, state, action, told);
                }
            }
            let by: Vec<u32> = by.iter().copied().filter(|&by| by != role).collect();
            for &heard in sources.iter().filter(|_| !by.is_empty()) {
                if machine.exceeded(limits).is_some() {
                    return;
                }
                let rest = Vec::from_iter(sources.iter().copied().filter(|&other| other != heard));
                let drained = self.drain(machine, role, &rest, (interrupt, &by, heard), end);
                let next = self.tell(machine, &to, (interrupt, heard), drained);
                for state in 0..states {
                    let waits = || {
                        let mut edges = machine.edges(state).iter();
                        edges.any(|edge| self.is(edge, Direction::Receive, heard))
                    };
                    let is_sent = by.iter().any(|&by| may_hear(by, state));
                    if is_sent && (may_hear(heard, state) || waits()) {
                        let action = (heard, Direction::Receive, &interrupt.message);
                        self.connect(machine, state, action, next);
                    }
                }
            }
        }
    }

    /// Adds a transition that the block does not have otherwise.
    pub(super) fn connect(
        &self,
        machine: &mut Local,
        from: u32,
        (peer, direction, message): (u32, Direction, &Message),
        to: u32,
    ) {
        let peer = self.roles[peer as usize].clone();
        let action = Action { peer, direction, message: message.clone() };
        machine.connect(from, action, to, vec![self.block.span]);
    }

    /// A state from which these roles are told of an interrupt, before the state `next`. The role
    /// has heard of it from `heard`, which gets the answer if there is one.
    pub(super) fn tell(
        &self,
        machine: &mut Local,
        to: &[u32],
        (interrupt, heard): (&Interrupt, u32),
        next: u32,
    ) -> u32 {
        let Interrupt { message, by, answer } = interrupt;
        to.iter().rev().fold(next, |next, &to| {
            let state = machine.add();
            let answer = answer.as_ref().filter(|_| to == heard || *by == [to]);
            self.connect(machine, state, (to, Direction::Send, answer.unwrap_or(message)), next);
            state
        })
    }

    /// A state from which the messages of the roles `from` are dropped, up to their interrupts,
    /// before the state `next`. The role follows the interrupt, which one of `by` sent first, and
    /// which it heard from `heard`.
    fn drain(
        &self,
        machine: &mut Local,
        role: u32,
        from: &[u32],
        (interrupt, by, heard): (&Interrupt, &[u32], u32),
        next: u32,
    ) -> u32 {
        from.iter().rev().fold(next, |next, &from| {
            let state = machine.add();
            for dropped in self.pairs.get(&(from, role)).into_iter().flatten() {
                self.connect(machine, state, (from, Direction::Receive, dropped), state);
            }
            for crossing in &self.interrupts {
                // A role that has interrupted or heard of an interrupt does not interrupt.
                let crosses = |by: u32| {
                    let mut others = crossing.by.iter().filter(|&&other| other != by);
                    by != from && others.any(|&other| other != role && other != heard)
                };
                let follows = crossing == interrupt;
                if follows || by.iter().any(|&by| crosses(by)) {
                    self.dropped(machine, (state, role, from), crossing, follows, next);
                }
            }
            state
        })
    }

    /// Connects a state in which the role drops what `from` sends with the state after this
    /// interrupt, or after the answer to it if the role `follows` it.
    pub(super) fn dropped(
        &self,
        machine: &mut Local,
        (state, role, from): (u32, u32, u32),
        interrupt: &Interrupt,
        follows: bool,
        next: u32,
    ) {
        let Interrupt { message, by, answer } = interrupt;
        let answer = answer.as_ref().filter(|_| follows);
        let hears = || *by != [role] && self.hears_of_others(from, role);
        let message = Some(message).filter(|_| answer.is_none() || hears());
        for message in message.into_iter().chain(answer) {
            self.connect(machine, state, (from, Direction::Receive, message), next);
        }
    }
}

/// Returns for each state of a role true if it may send for ever without waiting.
fn sends_on(machine: &Local) -> Vec<bool> {
    let is_sent = |edge: &Edge| edge.action.is_send();
    let sent = machine.all_edges().filter(|(_, edge)| is_sent(edge));
    let graph = DiGraph::<(), ()>::from_edges(sent.map(|(state, edge)| (state, edge.target)));
    let rounds = kosaraju_scc(&graph).into_iter();
    let rounds = rounds.filter(|of| of.len() > 1 || graph.contains_edge(of[0], of[0]));
    let states = rounds.flatten().map(|state| index(state.index()));
    machine.leads_to(&is_sent, states.collect())
}
