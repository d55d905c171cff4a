//! The machines of roles in a protocol with blocks: `par` and `interruptible`.
//!
//! ```text
//!   par { m() from a to b; } and { n() from c to b; }      b:  ┌─a?m─▶·─c?n─┐
//!                                                             0            ▶3
//!                                                              └─c?n─▶·─a?m─┘
//! ```
//!
//! Each part of a block is projected separately. These machines are combined into the machine of
//! the block, which replaces the block in the machine around it. There the block is like a message:
//! a role that may begin to send in it has to know that it begins, and any other role learns that
//! from the first message that it receives in it (code S0408).
//!
//! * **`par`**: the [shuffle](super::shuffle) of the parts. What follows waits for all of them.
//! * **`interruptible … with { cancel() by c; timeout() by d; }`** uses messages alone (Demangeon,
//!   Honda, Hu, Neykova, Yoshida, FMSD'15, put a scope into each message instead). A *pair* P → Q
//!   of the block means that P sends to Q somewhere in it, or that P may interrupt it.
//!   * `c` may send `cancel` to all others, one after the other, in each state from which it sends
//!     something to each of them, however the block goes on. Then it receives and drops what
//!     arrives, for each pair P → c up to the interrupt of P.
//!   * Another role receives `cancel` from `c` in each state in which it may still hear from `c`.
//!     It receives `cancel` from a third role where it waits for that role: the message from `c` is
//!     under way then. It forwards `cancel` to each of its pairs. Then it receives and drops what
//!     arrives, for each other pair to it up to the interrupt there.
//!   * Interrupts may cross: `d` sends `timeout` before it hears of `cancel`. Each role follows the
//!     interrupt that it hears of first, and does not interrupt any more. So each pair carries one
//!     interrupt, and the one from each interrupter tells all others whether it is its own. So all
//!     roles learn who has interrupted, and agree.
//!   * A role that is done must not be interrupted any more, nor mistake an interrupt of the next
//!     round for one of this round. So the last message from each interrupter to the role says that
//!     there will be no interrupt. And the last action of a role that never interrupts is to
//!     receive from a role that may (code S0311).
//!
//!   In all cases the queues hold no message of the block once it is over, since an interrupt is
//!   the last message of the block for each pair.
//!
//! # Why it is sound
//! Some protocols are safe [by construction](super::flat). For all others the construction proves
//! nothing: their machines are judged as a system ([`judge`]). Unless this shows that they are
//! safe, there is an error, code S0409 or S0410. So no shuffle with an unsafe order passes, and no
//! block whose messages can be confused with the messages around it.
//!
//! # Cost
//! A shuffle is as large as the product of its parts. With n roles that may interrupt, the machine
//! of each role has about n² states and n³ transitions. [`Limits::local_states`] and
//! [`Limits::local_transitions`] stop both.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use rumpsteak_fsm::verify::{Decision, decide};
use rumpsteak_fsm::{Action, Direction, Message, Role, System, Verdict};

use super::flat;
use super::local::{Edge, Local};
use super::projection::{self, Projection};
use super::shuffle::{Order, shuffle};
use crate::diagnostics::diagnostic::{Diagnostic, all};
use crate::diagnostics::span::{Name, Span};
use crate::diagnostics::{global_errors, projection_errors};
use crate::global::automaton::{Block, Global, Letter};
use crate::index::{NONE, index};
use crate::limits::Limits;

/// The machines of all roles, and true if they are safe by construction; or the errors.
pub(crate) type Together = Result<(Vec<Projection>, bool), Vec<Diagnostic>>;

/// The machines of all roles: safe [by construction](super::flat), or judged together. `names` are
/// the roles as they are declared, and `raced` the messages with the annotation `@"race"`.
///
/// # Errors
/// Choices that a role cannot know, blocks with an unclear end or unclear labels, and unsafe runs.
pub(crate) fn project_all(
    global: &Global,
    protocol: &Name,
    names: &[Name],
    raced: &HashSet<Span>,
    limits: &Limits,
) -> Together {
    let machines = vec![Vec::new(); global.blocks.len()];
    let interrupters = interrupters(global);
    let is_told_by_one = Cell::new(true);
    let mut composer =
        Composer { global, names, raced, limits, machines, interrupters, is_told_by_one };
    // Inner blocks first: a block comes after those around it.
    for number in (0..global.blocks.len()).rev() {
        composer.machines[number] = composer.block(number)?;
    }
    let first = global.blocks[0].span;
    let projections = all((0..).zip(&global.roles[..]).map(|(role, name)| {
        let local = composer.part(global, role)?;
        Ok(Projection::of(composer.minimised(local, role, first)?, name))
    }))?;
    let by_construction = composer.is_told_by_one.get() && flat::is_safe(global, names, limits);
    if !by_construction {
        judge(&projections, protocol, (first, "this block"), &limits.verifier)?;
    }
    Ok((projections, by_construction))
}

/// Judges the machines together; `block` is the reason for that.
///
/// # Errors
/// An unsafe run, or the limit that stopped the search for one.
pub(super) fn judge(
    projections: &[Projection],
    protocol: &Name,
    block: (Span, &str),
    limits: &rumpsteak_fsm::Limits,
) -> Result<(), Vec<Diagnostic>> {
    let wrong = |why: String, steps: &[String]| {
        Err(vec![projection_errors::unsafe_together(block, protocol, &why, steps)])
    };
    let machines = projections.iter().map(|found| found.fsm.clone());
    let system = match System::new(machines.collect()) {
        Ok(system) => system,
        Err(error) => return wrong(error.to_string(), &[]),
    };
    let Decision { verdict, exploration } = decide(&system, limits);
    let refusal = verdict.refusal().map(|run| &**run);
    if let Some(run) = refusal.or(exploration.starvation.as_ref()) {
        let steps = run.steps.iter().map(|step| format!("{}: {}", step.role, step.action));
        return wrong(run.failure.to_string(), &steps.collect::<Vec<_>>());
    }
    match verdict {
        Verdict::Undecided(limit) => {
            Err(vec![projection_errors::undecided_together(block, protocol, limit)])
        }
        _ => Ok(()),
    }
}

struct Composer<'a> {
    global: &'a Global,
    names: &'a [Name],
    raced: &'a HashSet<Span>,
    limits: &'a Limits,
    /// The machine of each role in each block.
    machines: Vec<Vec<Local>>,
    /// The roles that may interrupt a block around each block.
    interrupters: Vec<BTreeSet<u32>>,
    /// True so far if each role that does not know yet whether a block begins waits for one role.
    is_told_by_one: Cell<bool>,
}

impl Composer<'_> {
    /// The machine of a role in an automaton, including the blocks in it.
    fn part(&self, automaton: &Global, role: u32) -> Result<Local, Vec<Diagnostic>> {
        let declared = self.names[role as usize].span;
        let outer = projection::local(automaton, role, declared, self.limits)?;
        let own = &self.global.roles[role as usize];
        let is_block = |edge: &Edge| edge.action.peer == *own;
        let beside_others =
            |(_, edges): &(u32, &Vec<Edge>)| edges.len() > 1 && edges.iter().any(is_block);
        let beside_others = (0..).zip(&outer.states).filter(beside_others);
        let beside_others: Vec<u32> = beside_others.map(|(state, _)| state).collect();
        let mut local = Local::default();
        for _ in &outer.states {
            local.add();
        }
        for (state, Edge { action, target, origins }) in (0..)
            .zip(outer.states)
            .flat_map(|(state, edges)| edges.into_iter().map(move |edge| (state, edge)))
        {
            if action.peer != *own {
                local.connect(state, action, target, origins);
            } else if local.exceeded(self.limits).is_none() {
                let number: usize = action.message.label.as_str().parse().unwrap_or(0);
                let part = &self.machines[number][role as usize];
                local.splice(state, part, target, beside_others.contains(&state));
            }
        }
        let is_one =
            |&state: &u32| flat::waits_for_one(local.edges(state).iter().map(|edge| &edge.action));
        self.is_told_by_one.set(self.is_told_by_one.get() && beside_others.iter().all(is_one));
        self.within_limits(local, role)
    }

    fn within_limits(&self, local: Local, role: u32) -> Result<Local, Vec<Diagnostic>> {
        let Some((limit, value)) = local.exceeded(self.limits) else { return Ok(local) };
        let Name { text, span } = &self.names[role as usize];
        Err(vec![projection_errors::projection_too_large(text, *span, limit, value)])
    }

    fn block(&self, number: usize) -> Result<Vec<Local>, Vec<Diagnostic>> {
        let (block, interrupters) = (&self.global.blocks[number], &self.interrupters[number]);
        let machines = all((0..index(self.names.len())).map(|role| {
            let parts = block.parts.iter().map(|part| self.part(part, role));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let order = Order {
                raced: self.raced,
                sends_first: !interrupters.contains(&role),
                gathers: interrupters.is_empty(),
            };
            let whole = self.within_limits(shuffle(&parts, order, self.limits), role)?;
            self.minimised(whole, role, block.span)
        }))?;
        if block.interrupts.is_empty() { Ok(machines) } else { self.interrupted(block, machines) }
    }

    /// The machines of a block that may be interrupted, from its machines without interrupts.
    fn interrupted(
        &self,
        block: &Block,
        mut machines: Vec<Local>,
    ) -> Result<Vec<Local>, Vec<Diagnostic>> {
        let interruption = Interruption::new(self.global, block, &machines);
        let Interruption { members, interrupters, .. } = &interruption;
        // At most one error per interrupter: the same message fixes it for all roles.
        let (mut diagnostics, mut told) = (Vec::new(), BTreeSet::new());
        let mut closed = HashMap::new();
        for &role in members {
            let machine = &machines[role as usize];
            let others = || interrupters.iter().filter(|&&by| by != role);
            closed.extend(others().map(|&by| ((by, role), interruption.closed(machine, by))));
            let mut wrong = others().filter_map(|&by| {
                Some((by, interruption.open_end(machine, by, role, &closed[&(by, role)])?))
            });
            diagnostics
                .extend(wrong.next().and_then(|(by, error)| told.insert(by).then_some(error)));
        }
        let open = |&by: &u32| (by, interruption.open(&machines[by as usize], by));
        let open: HashMap<u32, Vec<bool>> = interrupters.iter().map(open).collect();
        let shut = interrupters.iter().find(|by| open[*by].first() != Some(&true));
        if let (Some(&by), true) = (shut, diagnostics.is_empty()) {
            diagnostics.push(interruption.open_interrupt(by, by, None));
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        for &role in members {
            let open = open.get(&role).map_or(&[][..], Vec::as_slice);
            let mut machine = std::mem::take(&mut machines[role as usize]);
            interruption.end_early(&mut machine, role, open, &closed, self.limits);
            let machine = self.within_limits(machine, role)?;
            machines[role as usize] = self.minimised(machine, role, block.span)?;
        }
        Ok(machines)
    }

    /// The smallest equivalent machine. An error if two messages in one state share a label.
    fn minimised(&self, local: Local, role: u32, block: Span) -> Result<Local, Vec<Diagnostic>> {
        for edges in &local.states {
            let mut seen = HashSet::new();
            let known = edges.iter().find(|edge| {
                let Action { peer, direction, message } = &edge.action;
                !seen.insert((peer, *direction as u8, &message.label))
            });
            if let Some(known) = known {
                let role = self.global.roles[role as usize].as_str();
                let action = known.action.to_string();
                return Err(vec![projection_errors::shared_in_machine(block, role, &action)]);
            }
        }
        Ok(local.minimised())
    }
}

struct Interruption<'a> {
    roles: &'a [Role],
    block: &'a Block,
    /// The roles that take part.
    members: Vec<u32>,
    /// The roles that may interrupt it.
    interrupters: BTreeSet<u32>,
    /// The messages that interrupt it, each with the roles that may send it first.
    interrupts: Vec<(Message, Vec<u32>)>,
    /// The pairs of the block, with the messages between them.
    pairs: BTreeMap<(u32, u32), BTreeSet<Message>>,
}

/// For each interrupter and other role, the states of the other role in which it is [sure that no
/// interrupt comes](Interruption::closed).
type Closed = HashMap<(u32, u32), Vec<bool>>;

impl<'a> Interruption<'a> {
    fn new(global: &'a Global, block: &'a Block, machines: &[Local]) -> Self {
        let roles = &global.roles[..];
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
        Self { roles, block, members, interrupters, interrupts, pairs }
    }

    fn name(&self, role: u32) -> &str {
        self.roles[role as usize].as_str()
    }

    fn is(&self, edge: &Edge, direction: Direction, peer: u32) -> bool {
        edge.action.direction == direction && edge.action.peer == self.roles[peer as usize]
    }

    /// The end of a machine, unless the block never ends.
    fn own_end(&self, machine: &Local) -> Option<u32> {
        machine.end().filter(|_| self.block.ends)
    }

    /// Returns for each state of a role true if it hears no more from `by` and may come to its end.
    fn closed(&self, machine: &Local, by: u32) -> Vec<bool> {
        let hears = machine.states_with(|edge| self.is(edge, Direction::Receive, by));
        let hears = machine.leads_to(|_| true, hears);
        let ends = machine.leads_to(|_| true, self.own_end(machine));
        hears.into_iter().zip(ends).map(|(hears, ends)| ends && !hears).collect()
    }

    /// Returns for each state of `by` true if it sends to each other role, however it goes on.
    fn open(&self, machine: &Local, by: u32) -> Vec<bool> {
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
    fn open_end(&self, machine: &Local, by: u32, role: u32, closed: &[bool]) -> Option<Diagnostic> {
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

    fn open_interrupt(&self, by: u32, role: u32, last: Option<Span>) -> Diagnostic {
        let others = self.members.iter().filter(|&&other| other != by);
        let others: Vec<&str> = others.map(|&other| self.name(other)).collect();
        let by = (self.name(by), &others[..]);
        global_errors::open_interrupt(self.block.span, by, self.name(role), last)
    }

    /// Adds the transitions by which a role ends the block early: by its own interrupts in the
    /// states that are `open`, and by interrupts that it hears of. Stops at a limit.
    fn end_early(
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

    fn action(&self, peer: u32, direction: Direction, message: &Message) -> Action {
        let peer = self.roles[peer as usize].clone();
        Action { peer, direction, message: message.clone() }
    }

    /// A state from which the message is sent to these roles, before the state `next`.
    fn tell(&self, machine: &mut Local, to: &[u32], message: &Message, next: u32) -> u32 {
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

/// The roles that may interrupt a block around each block.
fn interrupters(global: &Global) -> Vec<BTreeSet<u32>> {
    let mut found = vec![BTreeSet::new(); global.blocks.len()];
    // Outer blocks first.
    for (number, block) in global.blocks.iter().enumerate() {
        let mut around: BTreeSet<u32> = found[number].clone();
        around.extend(block.interrupts.iter().map(|by| by.0));
        let edges = block.parts.iter().flat_map(Global::all_edges);
        for Letter { message, .. } in
            edges.map(|edge| global.letter(edge)).filter(|letter| letter.from == NONE)
        {
            found[message as usize].extend(&around);
        }
    }
    found
}
