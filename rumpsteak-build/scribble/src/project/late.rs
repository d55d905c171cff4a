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
//! Such a block is for roles that no interrupter tells that it is over. An interrupter may do so
//! until it is done itself, and it tells all others. A role that has interrupted or heard of it
//! tells those to whom it may still send in the block, and drops what each other role sends, up to
//! the interrupt or the *last* message of that role to it, which it has to know by its label. No
//! message is sent that the block would not have otherwise.
//!
//! A role that may be done before an interrupt *waits for it meanwhile*: in each state of what
//! follows the block, the interrupt is received and dropped, at most once, until another message
//! from the interrupter, or a late interrupt of a later block, shows that none comes. If the
//! protocol ends before, the role drops it when it has ended. If the same message could be received
//! with another meaning, the [rounds](super::rounds) need rules, or there is an error (S0311).
//!
//! Nothing is late for a role that [learns](Interruption::learn), perhaps through others, that the
//! interrupter is done: in every run that comes before its own last action. If only an interrupt
//! ends the block, no role is done before, so it tells all its hops and waits for them.
//!
//! In a block inside another one, the marks are steps of the outer block's machine like others. A
//! role that drops all up to an interrupt of the outer block also drops late ones of the inner.
//!
//! # Interrupts that are passed on
//! With `cancel() by c via g`, a *hop* P → Q is a pair such that P tells Q in any case: c → g, and
//! g → Q if Q may send for ever without waiting, so that nothing else would stop it, and g has a
//! channel to Q elsewhere in the protocol. All others are told as above. So:
//! * `c` interrupts where it waits or may send for ever, or wherever it sends if it never waits.
//! * A role hears of `cancel` where it waits, and also if it has nothing else to do and only an
//!   interrupt ends the block.
//! * If Q itself says that P has nothing more to send to it (*closing*), `cancel` may cross with
//!   that. Then it may be late from P, too.
//!
//! # Why it is sound
//! These machines are always [judged](super::blocks::judge): a wrong expansion is refused.

use litemap::LiteMap;
use rumpsteak_fsm::{Action, Direction, Label, Message, Role};

use super::interruption::{Interrupt, Interruption};
use super::local::{Edge, Local};
use super::rounds::{Rounds, Rule, TooLate};
use crate::diagnostics::Span;
use crate::global::automaton::Global;
use crate::index::{IndexSet, index, sorted};
use crate::limits::Limits;

/// Interrupts that may still come, in order: each with the number of its block and its role.
pub(super) type Late = Vec<(u32, u32, Message)>;

/// The knowledge that each role has of the others in a block.
pub(super) struct Lateness {
    /// For each interrupter the states in which it may interrupt.
    open: LiteMap<u32, Vec<bool>>,
    /// By sender and receiver: the messages after which the sender sends nothing more to it.
    last: LiteMap<(u32, u32), IndexSet<Message>>,
    /// By hop: the messages after which its sender tells of no interrupt.
    sure: LiteMap<(u32, u32), IndexSet<Message>>,
    /// By sender and receiver: for each state of the sender true if it may still send to it.
    sends: LiteMap<(u32, u32), Vec<bool>>,
    /// The same, for each state of the receiver.
    hears: LiteMap<(u32, u32), Vec<bool>>,
    /// By sender and receiver: the messages by which the receiver says that the sender has nothing
    /// more to send to it. They may cross an interrupt.
    closing: LiteMap<(u32, u32), IndexSet<Message>>,
    /// The pairs whose receiver is not done before its sender is, so that nothing is late.
    in_time: IndexSet<(u32, u32)>,
    /// By hop or pair with such messages: for each state of its receiver true if it may still be
    /// told of an interrupt.
    unsure: LiteMap<(u32, u32), Vec<bool>>,
}

impl Lateness {
    /// `Err` if an interrupter takes no part, or with a role that does not know by a label that
    /// another one, the first, has sent its last message to it. `told` has the interrupters that
    /// tell all others when the block is over, or stop early, and where they may interrupt.
    pub(super) fn new(
        of: &Interruption<'_>,
        machines: &[Local],
        told: &LiteMap<u32, Vec<bool>>,
    ) -> Result<Self, Option<(u32, u32)>> {
        let open = open(of, machines, told).ok_or(None)?;
        let is_strict = of.members.iter().any(|&by| of.rounds.is_early(of.block.span, by));
        // True if `role` is not done while `by` may interrupt.
        let learns =
            |by: u32, role: u32| of.learn(by, told.contains_key(&by)).contains(role as usize);
        let (mut last, mut closing) = (LiteMap::new_vec(), LiteMap::new_vec());
        let (mut sends, mut hears) = (LiteMap::new_vec(), LiteMap::new_vec());
        let pairs =
            of.members.iter().flat_map(|&from| of.members.iter().map(move |&to| (from, to)));
        for pair @ (from, to) in pairs.filter(|pair| pair.0 != pair.1) {
            let [sender, receiver] = [from, to].map(|role| &machines[role as usize]);
            let is_sent = |edge: &Edge| of.is(edge, Direction::Send, to);
            let is_received = |edge: &Edge| of.is(edge, Direction::Receive, from);
            let may = sender.leads_to(&|_| true, sender.states_with(&is_sent));
            // If anyone interrupts, such a sender is not done yet, and so it tells its hops.
            let is_caught =
                |&by: &u32| by == from || !of.block.ends || is_strict && learns(by, from);
            let is_told = of.hops.contains_key(&pair) && of.interrupters.iter().all(is_caught);
            let (mut final_ones, mut others) = (IndexSet::default(), IndexSet::default());
            // The messages by which the receiver itself says that nothing more comes.
            let mut said = IndexSet::default();
            let counts = |source: u32| may[source as usize] && !is_told;
            for (_, edge) in sender.all_edges().filter(|(source, _)| counts(*source)) {
                let is_more = may[edge.target as usize];
                match is_sent(edge) {
                    true if is_more => others.insert(edge.action.message.clone()),
                    true => final_ones.insert(edge.action.message.clone()),
                    false if is_more => continue,
                    false => {
                        if !of.is(edge, Direction::Receive, to) {
                            return Err(Some(pair));
                        }
                        said.insert(edge.action.message.clone())
                    }
                };
            }
            if !final_ones.is_disjoint(&others) {
                return Err(Some(pair));
            }
            let is_said = |edge: &Edge| {
                of.is(edge, Direction::Send, from) && said.contains(&edge.action.message)
            };
            let hearing = receiver.states_with(&|edge| is_received(edge) || is_said(edge));
            let hearing = receiver.leads_to(&|_| true, hearing);
            if !said.is_empty() && of.hears_of_others(from, to) {
                closing.insert(pair, said.clone());
            }
            hears.insert(pair, hearing.into_iter().map(|hears| hears || is_told).collect());
            last.insert(pair, final_ones);
            sends.insert(pair, may.into_iter().map(|may| may || is_told).collect());
        }
        let (sure, unsure) = (LiteMap::new_vec(), LiteMap::new_vec());
        let is_in_time = |&&(from, to): &&(u32, u32)| {
            let is_own = of.hops.get(&(from, to)).is_some_and(|by| by.iter().all(|by| *by == from));
            is_own && learns(from, to) || of.learn(from, false).contains(to as usize)
        };
        let in_time = of.hops.keys().chain(closing.keys()).filter(is_in_time).copied().collect();
        let mut known = Self { open, last, sure, sends, hears, closing, in_time, unsure };
        // Those that interrupt come before those that pass it on.
        let (first, others): (Vec<_>, Vec<_>) =
            of.hops.keys().partition(|(from, _)| of.interrupters.contains(from));
        for &hop in first.into_iter().chain(others) {
            known.learn(of, machines, hop);
        }
        for &pair in known.closing.keys() {
            let receiver = &machines[pair.1 as usize];
            let closed = receiver.all_edges().filter(|(_, edge)| known.closes(of, pair, edge));
            let closed = receiver.reached(&|_| true, closed.map(|(_, edge)| edge.target).collect());
            let unsure = known.unsure.entry(pair).or_insert_with(|| vec![false; closed.len()]);
            unsure.iter_mut().zip(closed).for_each(|(unsure, closed)| *unsure |= closed);
        }
        Ok(known)
    }

    /// True if the receiver of this pair says by this edge that the sender sends nothing more.
    fn closes(&self, of: &Interruption<'_>, pair: (u32, u32), edge: &Edge) -> bool {
        let is_closing = |known: &IndexSet<Message>| known.contains(&edge.action.message);
        of.is(edge, Direction::Send, pair.0) && self.closing.get(&pair).is_some_and(is_closing)
    }

    /// True if the receiver of this pair may be told of an interrupt after this edge to its end.
    fn is_unsure_after(
        &self,
        of: &Interruption<'_>,
        pair: (u32, u32),
        (state, edge): (u32, &Edge),
    ) -> bool {
        let is_sure = |sure: &IndexSet<Message>| {
            of.is(edge, Direction::Receive, pair.0) && sure.contains(&edge.action.message)
        };
        let is_unsure = |unsure: &Vec<bool>| unsure[state as usize];
        !self.in_time.contains(&pair)
            && (self.closes(of, pair, edge)
                || self.unsure.get(&pair).is_some_and(is_unsure)
                    && !self.sure.get(&pair).is_some_and(is_sure))
    }

    /// Adds what `to` knows about being told by `from`.
    fn learn(&mut self, of: &Interruption<'_>, machines: &[Local], (from, to): (u32, u32)) {
        let (sender, receiver) = (&machines[from as usize], &machines[to as usize]);
        let tells = match self.open.get(&from) {
            Some(open) => {
                let states = (0..).zip(open).filter(|(_, is_open)| **is_open);
                sender.leads_to(&|_| true, states.map(|(state, _)| state).collect())
            }
            None => {
                let hops = of.hops.keys().filter(|hop| hop.1 == from);
                let hops = hops.filter_map(|hop| self.unsure.get(hop));
                (0..sender.states.len()).map(|at| hops.clone().any(|of| of[at])).collect()
            }
        };
        let is_sent = |edge: &&Edge| of.is(edge, Direction::Send, to);
        let sent = || sender.all_edges().map(|(_, edge)| edge).filter(is_sent);
        let mut after: IndexSet<Message> = sent().map(|edge| edge.action.message.clone()).collect();
        for edge in sent().filter(|edge| tells[edge.target as usize]) {
            after.swap_remove(&edge.action.message);
        }
        let is_sure = |edge: &Edge| {
            of.is(edge, Direction::Receive, from) && after.contains(&edge.action.message)
        };
        self.unsure.insert((from, to), receiver.reached(&|edge| !is_sure(edge), vec![0]));
        self.sure.insert((from, to), after);
    }
}

/// The states in which each interrupter may interrupt. `None` if one of them takes no part.
fn open(
    of: &Interruption<'_>,
    machines: &[Local],
    told: &LiteMap<u32, Vec<bool>>,
) -> Option<LiteMap<u32, Vec<bool>>> {
    let open = of.interrupters.iter().map(|&by| {
        let machine = &machines[by as usize];
        let (end, told, mut open) = (of.own_end(machine), told.get(&by), of.looks(machine));
        // A role that never waits may interrupt wherever it sends.
        if !open.contains(&true) {
            open.fill(true);
        }
        let is_first =
            |&&role: &&u32| of.rounds.rule(of.block.span, by, role) == Some(Rule::AfterMessage);
        let first: Vec<u32> = of.members.iter().filter(is_first).copied().collect();
        let waits = machine.states_with(&|edge| !edge.action.is_send());
        for &role in &first {
            let before = machine.reached(&|edge| !of.is(edge, Direction::Send, role), vec![0]);
            // It could not interrupt where it waits for others.
            if waits.iter().any(|&state| before[state as usize]) {
                return None;
            }
            open.iter_mut().zip(before).for_each(|(open, before)| *open &= !before);
        }
        for (state, open) in (0..).zip(&mut open) {
            *open &= told.map_or(Some(state) != end, |told| told[state as usize]);
        }
        let is_of_use = waits.is_empty() || waits.iter().any(|&state| open[state as usize]);
        let anywhere = of.is_routed() || !first.is_empty();
        let takes_part = if anywhere { open.contains(&true) } else { open[0] };
        let tells = of.hops.iter().any(|(hop, of)| hop.0 == by && of.contains(&by));
        let is_early = of.rounds.is_early(of.block.span, by);
        (takes_part && tells && (is_of_use || !is_early)).then_some((by, open))
    });
    open.collect::<Option<_>>().map(LiteMap::from_sorted_store_unchecked)
}

impl Interruption<'_> {
    /// Adds the transitions by which a role ends the block early, and marks where it ends while
    /// interrupts may be late. `late_sets` numbers the marks. Stops at a limit.
    pub(super) fn end_late(
        &self,
        machine: &mut Local,
        role: u32,
        known: &Lateness,
        late_sets: &mut IndexSet<(u32, Late)>,
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
        for (state, edges) in (0..).zip(&original.states) {
            for (position, edge) in
                edges.iter().enumerate().filter(|of| Some(of.1.target) == own_end)
            {
                let mut may_come: Vec<u32> = others().collect();
                may_come.retain(|&by| known.is_unsure_after(self, (by, role), (state, edge)));
                let marked = self.marked(machine, &may_come, end, role, (known, late_sets));
                machine.states[state as usize][position].target = marked;
            }
        }
        let looks = self.looks(&original);
        for interrupt in &self.interrupts {
            let Interrupt { message, by, .. } = interrupt;
            let tells = |from: u32, to: u32| self.is_hop(from, to, by);
            let is_told = others().any(|from| tells(from, role));
            for state in (0..states).filter(|&state| Some(state) != own_end) {
                if machine.exceeded(limits).is_some() {
                    return;
                }
                let unsure: Vec<u32> = others().filter(|&by| unsure(by, state)).collect();
                let sends = |to: u32| known.sends[&(role, to)][state as usize];
                if by.contains(&role) && known.open[&role][state as usize] {
                    let left = (interrupt, role, unsure.clone());
                    let to = Vec::from_iter(others().filter(|&to| tells(role, to) || sends(to)));
                    let next = self.wind_up(machine, (role, state), left, known, (end, late_sets));
                    let next = self.tell(machine, &to[1..], (interrupt, role), next);
                    self.connect(machine, state, (to[0], Direction::Send, message), next);
                }
                for heard in others() {
                    let mut edges = original.edges(state).iter();
                    let waits = edges.any(|edge| self.is(edge, Direction::Receive, heard));
                    let is_sent = if tells(heard, role) {
                        looks[state as usize]
                            && unsure.contains(&heard)
                            && !(*by == [heard] && self.comes_later(&original, heard, role, state))
                    } else if !waits || !self.hears_of_others(heard, role) {
                        false
                    } else if is_told {
                        unsure.iter().any(|&from| tells(from, role))
                    } else {
                        by.iter().any(|&by| by != role)
                    };
                    if is_sent {
                        let left = (interrupt, heard, unsure.clone());
                        let next =
                            self.wind_up(machine, (role, state), left, known, (end, late_sets));
                        let passes = |to| to != heard && !by.contains(&role) && tells(role, to);
                        let to = Vec::from_iter(others().filter(|&to| sends(to) || passes(to)));
                        let next = self.tell(machine, &to, (interrupt, heard), next);
                        self.connect(machine, state, (heard, Direction::Receive, message), next);
                    }
                }
            }
        }
    }

    /// True if `by` interrupts only after a message that `role` has not received in this state.
    fn comes_later(&self, machine: &Local, by: u32, role: u32, state: u32) -> bool {
        let heard = machine.all_edges().filter(|(_, edge)| self.is(edge, Direction::Receive, by));
        self.rounds.rule(self.block.span, by, role) == Some(Rule::AfterMessage)
            && !machine.reached(&|_| true, heard.map(|of| of.1.target).collect())[state as usize]
    }

    /// A state from which the role drops what the others send, up to an interrupt or their last
    /// message. It has heard of the interrupt from `heard` or sent it, when those that are `unsure`
    /// could still interrupt.
    fn wind_up(
        &self,
        machine: &mut Local,
        (role, state): (u32, u32),
        (interrupt, heard, mut unsure): (&Interrupt, u32, Vec<u32>),
        known: &Lateness,
        (end, late_sets): (u32, &mut IndexSet<(u32, Late)>),
    ) -> u32 {
        unsure.retain(|&by| by != heard);
        let sources = self.members.iter().copied().filter(|&from| {
            let hears = known.hears.get(&(from, role));
            from != heard && hears.is_some_and(|hears| hears[state as usize])
        });
        // From the last source on: for each set of roles that may still interrupt the next state.
        let mut next: LiteMap<Vec<u32>, u32> = LiteMap::default();
        let sources: Vec<u32> = sources.collect();
        let mut sets = vec![unsure.clone()];
        sets[0].retain(|by| !sources.contains(by));
        for &from in sources.iter().filter(|from| unsure.contains(from)) {
            for at in 0..sets.len() {
                sets.push(sorted([&sets[at][..], &[from]].concat()));
            }
        }
        for set in sets {
            let state = self.marked(machine, &set, end, role, (known, late_sets));
            next.insert(set, state);
        }
        for &from in sources.iter().rev() {
            let before = std::mem::take(&mut next);
            for set in before.keys().filter(|set| !set.contains(&from)) {
                let state = machine.add();
                next.insert(set.clone(), state);
                let more = if unsure.contains(&from) { &[from][..] } else { &[] };
                let late = sorted([set, more].concat());
                for dropped in self.pairs.get(&(from, role)).into_iter().flatten() {
                    let is_last = known.last[&(from, role)].contains(dropped);
                    let is_sure = known.sure.get(&(from, role));
                    let is_sure = is_sure.is_some_and(|sure| sure.contains(dropped));
                    let after = before[if is_sure { set } else { &late }];
                    let target = if is_last { after } else { state };
                    self.connect(machine, state, (from, Direction::Receive, dropped), target);
                }
                for crossing in &self.interrupts {
                    // A role that has interrupted or heard of an interrupt does not interrupt.
                    let others = |&by: &u32| by != role && by != heard;
                    if crossing == interrupt || crossing.by.iter().any(others) {
                        let (place, follows) = ((state, role, from), crossing == interrupt);
                        self.dropped(machine, place, crossing, follows, before[set]);
                    }
                }
            }
        }
        // Reached with nothing added so far.
        next.first().map_or(end, |(_, state)| *state)
    }

    /// A state that leads to the end, where these roles may tell of an interrupt too late.
    fn marked(
        &self,
        machine: &mut Local,
        from: &[u32],
        end: u32,
        role: u32,
        (known, late_sets): (&Lateness, &mut IndexSet<(u32, Late)>),
    ) -> u32 {
        let found = self.interrupts.iter().flat_map(|Interrupt { message, by, .. }| {
            let others = by.iter().any(|&by| by != role);
            let from = from.iter().filter(move |&&from| {
                others && known.closing.contains_key(&(from, role)) || self.is_hop(from, role, by)
            });
            from.map(|&from| (self.number, from, message.clone()))
        });
        let mut late = Late::new();
        found.for_each(|one| insert(&mut late, one));
        if late.is_empty() {
            return end;
        }
        let label = Label::from(late_sets.insert_full((self.number, late)).0.to_string());
        let state = machine.add();
        let mark = Message { label, payload: Vec::new() };
        self.connect(machine, state, (role, Direction::Send, &mark), end);
        state
    }
}

fn insert(late: &mut Late, one: (u32, u32, Message)) {
    let Err(at) = late.binary_search(&one) else { return };
    late.insert(at, one);
}

impl Local {
    /// The machine without [marks](Interruption::end_late): it receives and drops the interrupts
    /// that may be late, until it hears something else from the same role.
    pub(super) fn settled(
        &self,
        Global { roles, blocks, .. }: &Global,
        role: u32,
        late_sets: &IndexSet<(u32, Late)>,
        rounds: &Rounds<'_>,
    ) -> Result<Self, TooLate> {
        let own = &roles[role as usize];
        let settle = |mut state: u32, mut late: Late| {
            while let Some(mark) = self.edges(state).iter().find(|edge| edge.action.peer == *own) {
                let number = mark.action.message.label.as_str().parse().unwrap_or(0);
                let marked = late_sets.get_index(number).map_or(&[][..], |(_, marked)| marked);
                marked.iter().for_each(|one| insert(&mut late, one.clone()));
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
            let late_as = |action: &Action| {
                let mut late = late.iter().filter(|_| !action.is_send());
                late.find(|(_, by, message)| {
                    action.peer == roles[*by as usize] && action.message.label == message.label
                })
            };
            let too_late = |(block, by, message): &(u32, u32, Message), confused| {
                let (block, by, message) = (*block, *by, message.clone());
                Err(TooLate { block, by, role, message, confused })
            };
            for Edge { action, target, origins } in self.edges(state) {
                // A late interrupt is dropped, too, after an interrupt of a block around.
                let is_of_block = |place: &Span| blocks.iter().any(|block| block.span == *place);
                let drops = *target == state && origins.iter().all(is_of_block);
                if let Some(late) = late_as(action).filter(|_| !drops) {
                    let is_later =
                        |&block| rounds.rule(block, late.1, role) == Some(Rule::AfterMessage);
                    match origins.iter().all(is_later) {
                        true => continue,
                        false => return too_late(late, Some(origins.clone())),
                    }
                }
                let late = if action.is_send() { late.clone() } else { without(&action.peer) };
                let target = index(found.insert_full(settle(*target, late)).0);
                local.connect(source, action.clone(), target, origins.clone());
            }
            let has_ended = self.edges(state).is_empty();
            for one @ (block, by, message) in &late {
                let peer = roles[*by as usize].clone();
                if has_ended {
                    let Some(drops) = rounds.drops else { return too_late(one, None) };
                    drops.set(true);
                    local.late.entry(peer).or_default().insert(message.clone());
                    continue;
                }
                // If an earlier block has the same message, this one may still come after it.
                if late.iter().any(|(of, from, text)| of < block && (from, text) == (by, message)) {
                    continue;
                }
                let action =
                    Action { peer, direction: Direction::Receive, message: message.clone() };
                if local.edges(source).iter().any(|edge| edge.action == action) {
                    continue;
                }
                let rest = late.iter().filter(|(of, from, _)| from != by || of > block).cloned();
                let target = index(found.insert_full((state, rest.collect())).0);
                local.connect(source, action, target, Vec::new());
            }
        }
        Ok(local)
    }
}
