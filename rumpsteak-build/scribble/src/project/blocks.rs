//! The machines of roles in a protocol with blocks: `par` and `interruptible`.
//!
//! ```text
//!   par { m() from a to b; } and { n() from c to b; }      b:  ┌─a?m─▶·─c?n─┐
//!                                                             0            ▶3
//!                                                              └─c?n─▶·─a?m─┘
//! ```
//!
//! Each part of a block is projected by itself. From these machines that of the block is made,
//! and put where the block stands in the machine of what is around it; a role knows there that the
//! block begins (code S0408).
//!
//! * **`par`**: the shuffle of the parts. What follows waits for all of them.
//! * **`interruptible … with { cancel() by c; timeout() by d; }`**, by messages alone (Demangeon,
//!   Honda, Hu, Neykova, Yoshida, FMSD'15, have a scope in each message instead). Let P → Q be the
//!   *pairs* of the block: P sends to Q somewhere in it, or P may interrupt it.
//!   * `c` may send `cancel` to all others, one after the other, wherever it is, as long as it has
//!     something to say to each of them however the block goes on. Then it takes and drops what
//!     comes, for each pair P → c up to the interrupt of P.
//!   * Another role takes the `cancel` of `c` wherever it has not heard the last of `c` yet, and
//!     that of another role where it waits for this role: the `cancel` of `c` is under way then. It
//!     sends `cancel` on for each of its pairs, and then takes and drops what comes, for each other
//!     pair to it up to the interrupt there.
//!   * Interrupts may cross: `d` sends `timeout` before it hears of `cancel`. Each role goes by the
//!     first that it hears of, and nobody interrupts who has heard of one. So there is one for each
//!     pair, and that of each interrupter tells all others whether it is its own. So everybody
//!     learns who has interrupted, and the same.
//!   * Who is done must not be interrupted any more, nor take the interrupt of the next round for
//!     one of this. So it hears from each interrupter that there will be none: its last message
//!     for this role. And the last that a role does that never interrupts is to receive from one
//!     that does (code S0311).
//!
//!   In all cases nothing of the block is left in a queue, since an interrupt is the last message
//!   of the block for each pair.
//!
//! # Why it is sound
//! Some protocols are safe [by construction](super::flat). Of all others nothing is taken from
//! here: their machines are judged as a system ([`judge`]), and if that is not known to be safe,
//! there is an error, code S0409 or S0410. So no order of a shuffle that goes wrong passes, and no
//! block whose messages are mixed up with those around it.
//!
//! # Cost
//! A shuffle is as large as the product of its parts. With n roles that may interrupt, the machine
//! of each role has some n² states and n³ transitions. [`Limits::local_states`] and
//! [`Limits::local_transitions`] stop both.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use rumpsteak_fsm::verify::{Decision, decide};
use rumpsteak_fsm::{Action, Direction, Fsm, Message, Role, System, Verdict};

use super::flat;
use super::grouped::leads_to;
use super::minimise::{self, Move};
use super::projection::{Projection, project};
use crate::diagnostics::diagnostic::{Diagnostic, all};
use crate::diagnostics::span::{Name, Span};
use crate::diagnostics::{global_errors, projection_errors};
use crate::global::automaton::{Block, Global};
use crate::index::{NONE, index};
use crate::limits::Limits;

/// The machines of all roles, and whether they are safe by construction; or what is wrong.
pub(crate) type Together = Result<(Vec<Projection>, bool), Vec<Diagnostic>>;

/// The machines of all roles, judged together, and whether they are safe [by
/// construction](super::flat). `names` are the roles as they are declared.
///
/// # Errors
/// Whatever a role cannot know, a block whose end or labels are not clear, and what goes wrong.
pub(crate) fn project_all(
    global: &Global,
    protocol: &Name,
    names: &[Name],
    limits: &Limits,
) -> Together {
    let mut composer = Composer { global, names, limits, machines: Vec::new() };
    composer.machines.resize_with(global.blocks.len(), Vec::new);
    // A block comes after those around it.
    for number in (0..global.blocks.len()).rev() {
        composer.machines[number] = composer.block(&global.blocks[number])?;
    }
    let first = global.blocks[0].span;
    let projections = all((0..).zip(&global.roles[..]).map(|(role, name)| {
        let local = composer.part(global, role)?;
        Ok(composer.deterministic(local, role, first)?.projection(name))
    }))?;
    let by_construction = flat::is_safe(global, names, limits);
    if !by_construction {
        judge(&projections, protocol, (first, "this block"), &limits.verifier)?;
    }
    Ok((projections, by_construction))
}

/// Judges the machines together; `block` is why they are judged so.
///
/// # Errors
/// What goes wrong with them, or that it is not known.
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

/// A transition, and where it is written.
#[derive(Clone, Debug)]
struct Edge {
    action: Action,
    target: u32,
    origins: Vec<Span>,
}

/// A machine that may be a part of another one. State 0 is the initial one, and at most one state,
/// the end, has no edges.
#[derive(Clone, Debug, Default)]
struct Local {
    states: Vec<Vec<Edge>>,
    /// The number of all edges.
    size: usize,
}

impl Local {
    fn add(&mut self) -> u32 {
        self.states.push(Vec::new());
        index(self.states.len() - 1)
    }

    fn connect(&mut self, from: u32, action: Action, to: u32, origins: &[Span]) {
        let origins = origins.to_vec();
        self.states[from as usize].push(Edge { action, target: to, origins });
        self.size += 1;
    }

    /// The name and the value of a limit that the machine exceeds.
    fn exceeded(&self, limits: &Limits) -> Option<(&'static str, usize)> {
        if self.states.len() > limits.local_states {
            return Some(("local_states", limits.local_states));
        }
        let limit = limits.local_transitions;
        (self.size > limit).then_some(("local_transitions", limit))
    }

    fn edges(&self, state: u32) -> &[Edge] {
        &self.states[state as usize]
    }

    fn end(&self) -> Option<u32> {
        self.states.iter().position(Vec::is_empty).map(index)
    }

    fn all_edges(&self) -> impl Iterator<Item = (u32, &Edge)> {
        (0..)
            .zip(&self.states)
            .flat_map(|(state, edges)| edges.iter().map(move |edge| (state, edge)))
    }

    fn states_with(&self, is: impl Fn(&Edge) -> bool) -> impl Iterator<Item = u32> {
        self.all_edges().filter(move |(_, edge)| is(edge)).map(|(state, _)| state)
    }

    /// Which states lead to one of `goals`, by such edges.
    fn leads_to(
        &self,
        by: impl Fn(&Edge) -> bool,
        goals: impl IntoIterator<Item = u32>,
    ) -> Vec<bool> {
        let edges = self.all_edges().filter(|(_, edge)| by(edge));
        let edges: Vec<(u32, u32)> = edges.map(|(state, edge)| (state, edge.target)).collect();
        leads_to(self.states.len(), &edges, goals)
    }

    fn of(projection: &Projection) -> Self {
        let fsm = &projection.fsm;
        let mut local = Self::default();
        local.states.resize_with(fsm.len(), Vec::new);
        for found in fsm.states().flat_map(|state| fsm.transitions_from(state)) {
            let [from, to] = [found.source, found.target].map(|state| index(state.index()));
            local.connect(from, found.action.clone(), to, projection.origins(found.id));
        }
        local
    }

    fn minimised(self) -> Self {
        let mut letters: HashMap<&Action, u32> = HashMap::new();
        let mut moves = Vec::new();
        for (source, edges) in (0..).zip(&self.states) {
            for edge in edges {
                let next = index(letters.len());
                let letter = *letters.entry(&edge.action).or_insert(next);
                moves.push(Move { source, letter, target: edge.target });
            }
        }
        let classes = minimise::classes(self.states.len(), letters.len(), &moves);
        let targets = |state| self.edges(state).iter().rev().map(|edge| edge.target);
        let (order, places) = minimise::depth_first(&classes, targets);
        let place = |state: u32| places[classes[state as usize] as usize];
        let mut least = Self { states: vec![Vec::new(); order.len()], size: 0 };
        for (state, edges) in (0..).zip(&self.states) {
            let source = place(state);
            for edge in edges.iter().filter(|_| source != NONE) {
                let target = place(edge.target);
                let known = &mut least.states[source as usize];
                match known.iter_mut().find(|known| known.action == edge.action) {
                    Some(known) => known.origins.extend(&edge.origins),
                    None => least.connect(source, edge.action.clone(), target, &edge.origins),
                }
            }
        }
        for edge in least.states.iter_mut().flatten() {
            edge.origins.sort_unstable();
            edge.origins.dedup();
        }
        least
    }

    fn projection(self, role: &Role) -> Projection {
        let least = self.minimised();
        let mut builder = Fsm::builder(role.clone());
        let states: Vec<_> = least.states.iter().map(|_| builder.add_state()).collect();
        for (source, edges) in states.iter().zip(&least.states) {
            for edge in edges {
                let target = states[edge.target as usize];
                builder.add_transition(*source, edge.action.clone(), target);
            }
        }
        let origins = least.states.into_iter().flatten().map(|edge| edge.origins);
        Projection::new(builder.build(states[0]), origins)
    }
}

struct Composer<'a> {
    global: &'a Global,
    names: &'a [Name],
    limits: &'a Limits,
    /// By block, the machine of each role in it.
    machines: Vec<Vec<Local>>,
}

impl Composer<'_> {
    /// The machine of a role in an automaton, with those of the blocks in it.
    fn part(&self, automaton: &Global, role: u32) -> Result<Local, Vec<Diagnostic>> {
        let declared = self.names[role as usize].span;
        let outer = Local::of(&project(automaton, role, declared, self.limits)?);
        let own = &self.global.roles[role as usize];
        let mut local = Local::default();
        local.states.resize_with(outer.states.len(), Vec::new);
        for (state, edges) in (0..).zip(&outer.states) {
            for edge in edges {
                if edge.action.peer != *own {
                    local.connect(state, edge.action.clone(), edge.target, &edge.origins);
                    continue;
                }
                // A block is the only edge of its state.
                let number: usize = edge.action.message.label.as_str().parse().unwrap_or(0);
                splice(&mut local, state, &self.machines[number][role as usize], edge.target);
                if local.exceeded(self.limits).is_some() {
                    break;
                }
            }
        }
        self.within_limits(local, role)
    }

    fn within_limits(&self, local: Local, role: u32) -> Result<Local, Vec<Diagnostic>> {
        let Some((limit, value)) = local.exceeded(self.limits) else { return Ok(local) };
        let Name { text, span } = &self.names[role as usize];
        Err(vec![projection_errors::projection_too_large(text, *span, limit, value)])
    }

    fn block(&self, block: &Block) -> Result<Vec<Local>, Vec<Diagnostic>> {
        let machines = all((0..index(self.names.len())).map(|role| {
            let parts = block.parts.iter().map(|part| self.part(part, role));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let whole = self.within_limits(shuffle(&parts, self.limits), role)?;
            Ok(self.deterministic(whole, role, block.span)?.minimised())
        }))?;
        if block.interrupts.is_empty() { Ok(machines) } else { self.interrupted(block, machines) }
    }

    /// The machines of a block that may be ended early.
    fn interrupted(
        &self,
        block: &Block,
        mut machines: Vec<Local>,
    ) -> Result<Vec<Local>, Vec<Diagnostic>> {
        let interruption = Interruption::new(self.global, block, &machines);
        let Interruption { members, interrupters, .. } = &interruption;
        // One for each interrupter: the same message ends it for all.
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
            machines[role as usize] = self.within_limits(machine, role)?;
        }
        let machines = (0..).zip(machines).map(|(role, machine)| {
            let machine = self.deterministic(machine, role, block.span)?;
            Ok(machine.minimised())
        });
        machines.collect()
    }

    /// A machine that knows from each message where it goes.
    fn deterministic(
        &self,
        local: Local,
        role: u32,
        block: Span,
    ) -> Result<Local, Vec<Diagnostic>> {
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
        Ok(local)
    }
}

struct Interruption<'a> {
    roles: &'a [Role],
    block: &'a Block,
    members: Vec<u32>,
    /// Those that may interrupt it.
    interrupters: BTreeSet<u32>,
    /// The messages by which they do, each with those that may send it first.
    interrupts: Vec<(Message, Vec<u32>)>,
    pairs: BTreeMap<(u32, u32), BTreeSet<Message>>,
}

/// By interrupter and another role, the states of that one in which it [is sure that there is no
/// interrupt](Interruption::closed).
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

    /// The end of a machine, unless nobody is ever done.
    fn own_end(&self, machine: &Local) -> Option<u32> {
        machine.end().filter(|_| self.block.ends)
    }

    /// In which states of a role it has heard the last of `by`, and may come to its end.
    fn closed(&self, machine: &Local, by: u32) -> Vec<bool> {
        let hears = machine.states_with(|edge| self.is(edge, Direction::Receive, by));
        let hears = machine.leads_to(|_| true, hears);
        let ends = machine.leads_to(|_| true, self.own_end(machine));
        hears.into_iter().zip(ends).map(|(hears, ends)| ends && !hears).collect()
    }

    /// In which states of `by` it has something to say to each other role, however it goes on.
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

    /// That a role may be done while `by` may interrupt, if it may; `closed` are its states in
    /// which it takes itself for safe.
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

    /// Adds the ways on which a role ends the block: by interrupts of its own, where it is `open`,
    /// and by those that it hears of. Stops at a limit.
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
                // The first of the messages is sent where the interrupter is, the others behind it.
                let drained = self.drain(machine, role, &sources, (message, &[role], role), end);
                let told = self.tell(machine, others, message, drained);
                for (state, _) in (0..).zip(open).filter(|(_, is_open)| **is_open) {
                    let action = self.action(first, Direction::Send, message);
                    machine.connect(state, action, told, &[self.block.span]);
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
                        machine.connect(state, action, next, &[self.block.span]);
                    }
                }
            }
        }
    }

    fn action(&self, peer: u32, direction: Direction, message: &Message) -> Action {
        let peer = self.roles[peer as usize].clone();
        Action { peer, direction, message: message.clone() }
    }

    /// A state from which the message is sent to these, before what follows.
    fn tell(&self, machine: &mut Local, to: &[u32], message: &Message, next: u32) -> u32 {
        to.iter().rev().fold(next, |next, &to| {
            let state = machine.add();
            let action = self.action(to, Direction::Send, message);
            machine.connect(state, action, next, &[self.block.span]);
            state
        })
    }

    /// A state from which all that these have sent is taken, up to their interrupts, before what
    /// follows. The role went by the message, first sent `by` one of these and `heard` of this one.
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
                machine.connect(state, receive(dropped), state, &[self.block.span]);
            }
            for (crossing, others) in &self.interrupts {
                // Nobody interrupts twice, nor whoever has heard of an interrupt.
                let crosses = |by: u32, other: u32| other != by && other != role && other != heard;
                let may_come = *crossing == *message
                    || by
                        .iter()
                        .any(|&by| by != from && others.iter().any(|&other| crosses(by, other)));
                if may_come {
                    machine.connect(state, receive(crossing), next, &[self.block.span]);
                }
            }
            state
        })
    }
}

/// Puts a machine between two states, the first of which has no edges.
fn splice(local: &mut Local, from: u32, part: &Local, to: u32) {
    let end = part.end();
    let numbers: Vec<u32> = (0..index(part.states.len()))
        .map(|state| match state {
            0 => from,
            _ if Some(state) == end => to,
            _ => local.add(),
        })
        .collect();
    for (state, edges) in numbers.iter().zip(&part.states) {
        for edge in edges {
            let target = numbers[edge.target as usize];
            local.connect(*state, edge.action.clone(), target, &edge.origins);
        }
    }
}

/// All orders of what the parts do, as far as the limits allow.
fn shuffle(parts: &[Local], limits: &Limits) -> Local {
    if let [part] = parts {
        return part.clone();
    }
    let mut local = Local::default();
    let start = vec![0; parts.len()];
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::from([(start.clone(), local.add())]);
    let mut work = vec![start];
    while let Some(states) = work.pop() {
        let source = numbers[&states];
        for (position, part) in parts.iter().enumerate() {
            for edge in part.edges(states[position]) {
                let mut next = states.clone();
                next[position] = edge.target;
                let target = match numbers.get(&next) {
                    Some(&known) => known,
                    None => {
                        let new = local.add();
                        numbers.insert(next.clone(), new);
                        work.push(next);
                        new
                    }
                };
                local.connect(source, edge.action.clone(), target, &edge.origins);
            }
        }
        if local.exceeded(limits).is_some() {
            break;
        }
    }
    local
}
