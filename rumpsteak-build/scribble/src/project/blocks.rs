#![doc = include_str!("blocks.md")]

use std::cell::{Cell, RefCell};

use fixedbitset::FixedBitSet;
use hashbrown::HashSet;
use litemap::LiteMap;
use rumpsteak_fsm::bounded::growth;
use rumpsteak_fsm::verify::{Decision, decide};
use rumpsteak_fsm::{System, Verdict};

use super::flat;
use super::interruption::{Closed, Interruption};
use super::late::{Late, Lateness};
use super::local::{Edge, Local};
use super::projection::{self, Projection};
use super::rounds::{Rounds, TooLate};
use super::shuffle::{Order, shuffle};
use crate::diagnostics::{
    Code, Diagnostic, Found, Name, Span, all, diagnostic, global_errors, name_errors,
    projection_errors,
};
use crate::global::automaton::{Block, Edge as Step, Global, Letter};
use crate::index::{IndexSet, NONE, index};
use crate::limits::Limits;
use crate::syntax::ast::{Link, ProtocolDecl};

/// The machines of all roles, and true if they are safe by construction; or the errors.
pub(crate) type Together = Found<(Vec<Projection>, bool)>;

/// The most roles whose parts may come in any order if that is not safe by construction: each
/// choice of these roles is judged.
const MOST_MIXED: usize = 3;

/// The machines of all roles: safe [by construction](super::flat), or judged together. `names` are
/// the roles of `decl`, and `raced` the messages with the annotation `@"race"`.
///
/// # Errors
/// Choices that a role cannot know, blocks with an unclear end or unclear labels, and unsafe runs.
pub(crate) fn project_all(
    global: &Global,
    decl: &ProtocolDecl,
    names: &[Name],
    raced: &HashSet<Span>,
    limits: &Limits,
) -> Together {
    if let Some(ring) = decl.roles.iter().find(|role| decl.connected_by(role).is_some()) {
        return Err(vec![global_errors::block_beside_ring(global.blocks[0].span, &ring.name)]);
    }
    let parts = global.blocks.iter().flat_map(|block| &block.parts);
    let mut edges = [global].into_iter().chain(parts).flat_map(Global::all_edges);
    if let Some(asks) = edges.find(|edge| global.letter(edge).link == Link::Asks) {
        let (asks, block) = (asks.origins[0], global.blocks[0].span);
        return Err(vec![name_errors::some_beside_block(asks, block)]);
    }
    let project = |rounds| project_with(global, (&decl.name, names), raced, &rounds, limits);
    let has_families = decl.roles.iter().any(|role| role.members.is_some());
    if has_families || global.blocks.iter().all(|block| block.interrupts.is_empty()) {
        return project(Rounds::default());
    }
    let drops = Cell::new(false);
    match project(Rounds::dropping(&drops)) {
        Err(errors) if drops.get() => {
            let undecided = is_undecided(&errors).then_some(errors);
            project(Rounds::default()).map_err(|errors| undecided.unwrap_or(errors))
        }
        found => found,
    }
}

/// True if a limit has ended a search. What is found without it is not the reason then.
fn is_undecided(errors: &[Diagnostic]) -> bool {
    errors.iter().any(|error| error.code == Code::UndecidedTogether)
}

/// The same; `rounds` says if late interrupts are dropped at the end.
fn project_with(
    global: &Global,
    (protocol, names): (&Name, &[Name]),
    raced: &HashSet<Span>,
    rounds: &Rounds<'_>,
    limits: &Limits,
) -> Together {
    let compose = |raced| compose(global, names, raced, rounds.clone(), limits);
    let (mut projections, is_plain, errors) = compose(Some(raced))?;
    let by_construction = is_plain && flat::is_safe(global, names, limits);
    let block = (global.blocks[0].span, "this block");
    if !by_construction {
        let judged = judge(&projections, protocol, block, &limits.verifier);
        judged.map_err(|found| match errors.is_empty() || is_undecided(&found) {
            true => found,
            false => errors,
        })?;
    }
    if global.blocks.iter().any(|block| block.parts.len() > 1)
        && let Ok((others, is_plain, _)) = compose(None)
    {
        let differs = |&role: &usize| others[role].fsm != projections[role].fsm;
        let differing: Vec<usize> = (0..names.len()).filter(differs).collect();
        let late =
            |of: &[Projection]| of.iter().map(|of| of.fsm.late().clone()).collect::<Vec<_>>();
        let drop_the_same = late(&others) == late(&projections);
        let cheap = limits.verifier.for_a_warning(names.len());
        // Any of these roles may be written in another order.
        let is_safe = |chosen: u32| {
            let mut mixed = projections.clone();
            for (bit, &role) in differing.iter().enumerate() {
                if chosen >> bit & 1 == 1 {
                    mixed[role] = others[role].clone();
                }
            }
            judge(&mixed, protocol, block, &cheap).is_ok()
        };
        if (is_plain && by_construction)
            || (differing.len() <= MOST_MIXED
                && drop_the_same
                && (1..1 << differing.len()).all(is_safe))
        {
            for role in differing {
                projections[role].in_any_order = Some(others[role].fsm.clone());
            }
        }
    }
    Ok((projections, by_construction))
}

/// The machines of all roles, true if each of them is told of a block by one role, and the errors
/// if [rounds](super::rounds), and branches that begin alike, were not told apart. Without `raced`,
/// the actions of parts come in any order.
fn compose(
    global: &Global,
    names: &[Name],
    raced: Option<&HashSet<Span>>,
    mut rounds: Rounds<'_>,
    limits: &Limits,
) -> Found<(Vec<Projection>, bool, Vec<Diagnostic>)> {
    let mut first_errors = Vec::new();
    loop {
        let mut composer = Composer {
            global,
            names,
            raced,
            limits,
            machines: vec![Vec::new(); global.blocks.len()],
            interrupters: interrupters(global),
            is_told_by_one: Cell::new(true),
            late_sets: IndexSet::default(),
            open_ends: vec![None; global.blocks.len()],
            rounds: &rounds,
            too_late: RefCell::default(),
            unclear: RefCell::default(),
        };
        let composed = composer.compose();
        let Composer { is_told_by_one, open_ends, too_late, unclear, .. } = composer;
        let errors = match composed {
            Ok(projections) => {
                let is_plain = is_told_by_one.get() && open_ends.iter().all(Option::is_none);
                first_errors.extend(unclear.into_inner());
                return Ok((projections, is_plain, first_errors));
            }
            Err(errors) => errors,
        };
        let too_late = too_late.into_inner();
        if first_errors.is_empty() {
            first_errors = errors;
        }
        if !rounds.mend(global, &too_late, |number: u32| open_ends[number as usize].is_some()) {
            return Err(first_errors);
        }
    }
}

/// Judges the machines together; `block` is the reason for that.
///
/// # Errors
/// An unsafe run, or the limit that stopped the search for one.
pub(crate) fn judge(
    projections: &[Projection],
    protocol: &Name,
    block: (Span, &str),
    limits: &rumpsteak_fsm::Limits,
) -> Found<()> {
    let wrong = |why: String, steps: &[String]| {
        Err(vec![projection_errors::unsafe_together(block, protocol, &why, steps)])
    };
    let system = match System::new(projections.iter().map(|found| found.fsm.clone()).collect()) {
        Ok(system) => system,
        Err(error) => return wrong(error.to_string(), &[]),
    };
    let Decision { verdict, exploration } = decide(&system, limits);
    let refusal = verdict.refusal().map(|run| &**run);
    if let Some(run) = refusal.or(exploration.starvation.as_ref()) {
        let steps = run.steps.iter().map(|step| format!("{}: {}", step.role, step.action));
        return wrong(run.failure.to_string(), &steps.collect::<Vec<_>>());
    }
    let Verdict::Undecided(limit) = verdict else { return Ok(()) };
    let growth = growth(&system);
    Err(vec![projection_errors::undecided_together(block, protocol, limit, growth.as_ref())])
}

struct Composer<'a> {
    global: &'a Global,
    names: &'a [Name],
    raced: Option<&'a HashSet<Span>>,
    limits: &'a Limits,
    /// The machine of each role in each block.
    machines: Vec<Vec<Local>>,
    /// The roles that may interrupt a block around each block.
    interrupters: Vec<FixedBitSet>,
    /// True so far if each role that does not know yet whether a block begins waits for one role.
    is_told_by_one: Cell<bool>,
    /// The interrupts that may be late where a machine is marked so.
    late_sets: IndexSet<(u32, Late)>,
    /// By block: the errors if its interrupts must not be late.
    open_ends: Vec<Option<Vec<Diagnostic>>>,
    rounds: &'a Rounds<'a>,
    /// The interrupts that were found to come too late.
    too_late: RefCell<Vec<TooLate>>,
    /// The errors if a role must not be told later in which branch it is.
    unclear: RefCell<Vec<Diagnostic>>,
}

impl Composer<'_> {
    fn compose(&mut self) -> Found<Vec<Projection>> {
        let global = self.global;
        // Inner blocks first: a block comes after those around it.
        for number in (0..global.blocks.len()).rev() {
            self.machines[number] = self.block(index(number))?;
        }
        let first = global.blocks[0].span;
        let projections = all((0..).zip(&global.roles[..]).map(|(role, name)| {
            let local = self.settled(self.part(global, role, first)?, role)?;
            Ok(Projection::of(self.minimised(local, role, first)?, name))
        }));
        // Several roles may have the same error about a block.
        projections.map_err(|mut found| {
            diagnostic::sort(&mut found);
            found
        })
    }

    /// The machine of a role in an automaton of `block`, including the blocks in it.
    fn part(&self, automaton: &Global, role: u32, block: Span) -> Found<Local> {
        let is_clear = |local: &Local| local.shared_label().is_none();
        let found = self.spliced(automaton, role);
        if found.as_ref().is_ok_and(is_clear) {
            return found;
        }
        let opened = self.opened(automaton, role);
        let opened = opened.and_then(|opened| self.spliced(&opened, role).ok()).filter(is_clear);
        let opened = opened.or_else(|| {
            let found = found.as_ref().ok().filter(|_| self.late_sets.is_empty())?;
            let told = found.told_later(self.limits).filter(is_clear)?;
            self.unclear.borrow_mut().extend(self.minimised(found.clone(), role, block).err()?);
            Some(told)
        });
        if opened.is_some() {
            self.is_told_by_one.set(false);
        }
        opened.map_or(found, Ok)
    }

    fn spliced(&self, automaton: &Global, role: u32) -> Found<Local> {
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
        // A role that may begin to send in one of several blocks, but does not choose the block.
        let guesses = |edge: &Step| {
            let Letter { from, message, .. } = automaton.letter(edge);
            let may_send =
                automaton.is_seen_by(edge.letter, role) && automaton.is_sent_by(edge.letter, role);
            from == NONE && may_send && !self.begins(message, role)
        };
        let knows = |edges: &Vec<Step>| edges.len() == 1 || !edges.iter().any(guesses);
        let are_all = beside_others.iter().all(is_one) && automaton.states.iter().all(knows);
        self.is_told_by_one.set(self.is_told_by_one.get() && are_all);
        self.within_limits(local, role)
    }

    /// True if the role sends whatever comes first in a block.
    fn begins(&self, block: u32, role: u32) -> bool {
        let parts = self.global.blocks[block as usize].parts.iter();
        let mut first = parts.flat_map(|part| part.edges(0).iter().map(|edge| part.letter(edge)));
        first.all(|of| of.from == role || of.from == NONE && self.begins(of.message, role))
    }

    /// The automaton in which the role need not know which of several blocks it is in: with a part
    /// in the place of each `par` that it sees only in that part, and with one block for all in
    /// which it has the same machine. If the role may begin to send in a part, no other branch may
    /// begin beside the block.
    fn opened(&self, automaton: &Global, role: u32) -> Option<Global> {
        let (mut opened, blocks) = (automaton.clone(), &self.global.blocks);
        // The role does not see where the part begins and ends. The others cannot be followed from
        // there: what they do in the other parts may come first.
        let border = index(opened.letters.len());
        opened.letters.push(Letter::block(index(blocks.len())));
        let nobody = FixedBitSet::with_capacity(self.names.len());
        opened.participants = opened.participants.iter().cloned().chain([nobody]).collect();
        let (mut state, mut is_changed) = (0, false);
        while state < opened.len() && opened.len() <= self.limits.global_states {
            let is_alone = opened.states[state].len() == 1;
            for at in 0..opened.states[state].len() {
                let Step { letter, target, ref origins } = opened.states[state][at];
                let (Letter { from, message, .. }, origins) =
                    (opened.letters[letter as usize], origins.clone());
                if from != NONE || !opened.is_seen_by(letter, role) {
                    continue;
                }
                let Block { parts, interrupts, .. } = &blocks[message as usize];
                let sees = |edge: &Step| opened.is_seen_by(edge.letter, role);
                let own = Vec::from_iter(parts.iter().filter(|part| part.all_edges().any(sees)));
                // An outer block has no machines yet.
                let machine = |number: u32| self.machines[number as usize].get(role as usize);
                let is_same = |&other: &u32| {
                    let both = machine(other).zip(machine(message));
                    blocks[other as usize].interrupts.is_empty()
                        && both.is_some_and(|(one, other)| one.is_same(other))
                };
                match &own[..] {
                    _ if !interrupts.is_empty() => {}
                    [part] if is_alone || !opened.is_sent_by(letter, role) => {
                        let start = index(opened.len());
                        let step =
                            |target| Step { letter: border, target, origins: origins.clone() };
                        opened.states[state][at] = step(start);
                        let shift =
                            |edge: &Step| Step { target: start + edge.target, ..edge.clone() };
                        opened.states.extend(part.states.iter().map(|edges| match &edges[..] {
                            [] => vec![step(target)],
                            edges => edges.iter().map(shift).collect(),
                        }));
                        is_changed = true;
                    }
                    _ => {
                        let first = (0..message).find(is_same).map(Letter::block);
                        let first = opened.letters.iter().position(|of| Some(*of) == first);
                        if let Some(first) = first {
                            opened.states[state][at].letter = index(first);
                            is_changed = true;
                        }
                    }
                }
            }
            state += 1;
        }
        is_changed.then_some(opened)
    }

    fn within_limits(&self, local: Local, role: u32) -> Found<Local> {
        let Some(limit) = local.exceeded(self.limits) else { return Ok(local) };
        let Name { text, span } = &self.names[role as usize];
        Err(vec![projection_errors::projection_too_large(text, *span, limit)])
    }

    /// The machine with the interrupts that may be late.
    fn settled(&self, local: Local, role: u32) -> Found<Local> {
        if self.late_sets.is_empty() {
            return Ok(local);
        }
        local.settled(self.global, role, &self.late_sets, self.rounds).map_err(|found| {
            let name = |role: u32| self.global.roles[role as usize].as_str();
            let Block { span: block, interrupts, .. } = &self.global.blocks[found.block as usize];
            let is_own = interrupts.iter().any(|of| of.by == found.by);
            let (block, by, role) = (*block, name(found.by), name(role));
            // Inserted with the marks of the block.
            let open = self.open_ends[found.block as usize].as_deref().unwrap_or_default();
            let errors = match &found.message.label {
                label if found.confused.is_some() => {
                    vec![global_errors::late_interrupt(block, by, role, label.as_str())]
                }
                _ if is_own && !open.is_empty() => open.to_vec(),
                _ => vec![global_errors::open_interrupt(block, (by, &[role]), role, None)],
            };
            self.too_late.borrow_mut().push(found);
            errors
        })
    }

    fn block(&mut self, number: u32) -> Found<Vec<Local>> {
        let block = &self.global.blocks[number as usize];
        let interrupters = &self.interrupters[number as usize];
        let machines = all((0..index(self.names.len())).map(|role| {
            let parts = block.parts.iter().map(|part| self.part(part, role, block.span));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let order = Order {
                raced: self.raced,
                sends_first: self.raced.is_some() && !interrupters.contains(role as usize),
                gathers: self.raced.is_some() && interrupters.is_clear(),
            };
            let mut whole = shuffle(&parts, order, self.limits);
            if self.raced.is_none() && whole.exceeded(self.limits).is_some() {
                // Too many orders: a gather has fewer.
                let order = Order { gathers: interrupters.is_clear(), ..order };
                whole = shuffle(&parts, order, self.limits);
            }
            self.minimised(self.within_limits(whole, role)?, role, block.span)
        }))?;
        if block.interrupts.is_empty() { Ok(machines) } else { self.interrupted(number, machines) }
    }

    /// The machines of a block that may be interrupted, from its machines without interrupts.
    fn interrupted(&mut self, number: u32, mut machines: Vec<Local>) -> Found<Vec<Local>> {
        let block = &self.global.blocks[number as usize];
        let interruption = Interruption::new(self.global, number, &machines, self.rounds);
        let Interruption { members, interrupters, .. } = &interruption;
        // At most one error per interrupter: the same message fixes it for all roles.
        let (mut diagnostics, mut told) = (Vec::new(), vec![false; machines.len()]);
        let mut closed = Closed::default();
        for &role in members {
            let machine = &machines[role as usize];
            let is_told = |by| members.iter().any(|&of| interruption.is_hop(of, role, &[by]));
            let others = || interrupters.iter().filter(|&&by| is_told(by));
            let sure = |&by: &u32| ((by, role), interruption.closed(machine, by));
            others().map(sure).for_each(|(pair, sure)| _ = closed.insert(pair, sure));
            let mut wrong = others().filter_map(|&by| {
                Some((by, interruption.open_end(machine, by, role, &closed[&(by, role)])?))
            });
            diagnostics.extend(wrong.next().and_then(|(by, error)| {
                (!std::mem::replace(&mut told[by as usize], true)).then_some(error)
            }));
        }
        let of = |&by: &u32| (by, interruption.open(&machines[by as usize], by));
        let mut open = LiteMap::new();
        interrupters.iter().map(of).for_each(|(by, open_at)| _ = open.insert(by, open_at));
        let shut = interrupters.iter().find(|by| open[*by].first() != Some(&true));
        if let (Some(&by), true, false) = (shut, diagnostics.is_empty(), interruption.is_routed()) {
            diagnostics.push(interruption.open_interrupt(by, by, None));
        }
        if !diagnostics.is_empty() || interruption.is_routed() {
            return self.late(&interruption, &machines, open, &closed, diagnostics);
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

    /// The machines of a block whose interrupts may be late.
    ///
    /// # Errors
    /// These errors, or one that says which role does not know what it has to wait for.
    fn late(
        &mut self,
        interruption: &Interruption<'_>,
        machines: &[Local],
        mut open: LiteMap<u32, Vec<bool>>,
        closed: &Closed,
        errors: Vec<Diagnostic>,
    ) -> Found<Vec<Local>> {
        // The interrupters that tell all others when they are done.
        open.retain(|&by, open| {
            let others = interruption.members.iter();
            let mut others = others.filter(|&&role| interruption.is_hop(by, role, &[by]));
            let is_told = |&role: &u32| {
                let (machine, closed) = (&machines[role as usize], &closed[&(by, role)]);
                interruption.open_end(machine, by, role, closed).is_none()
            };
            self.rounds.is_early(interruption.block.span, by)
                || (open[0] || interruption.is_routed()) && others.all(is_told)
        });
        let known =
            Lateness::new(interruption, machines, &open).map_err(|pair| match &errors[..] {
                [] => vec![interruption.unclear_last(pair)],
                _ => errors.clone(),
            })?;
        self.open_ends[interruption.number as usize] = Some(errors);
        let mut late = machines.to_vec();
        for &role in &interruption.members {
            let mut machine = machines[role as usize].clone();
            interruption.end_late(&mut machine, role, &known, &mut self.late_sets, self.limits);
            let machine = self.within_limits(machine, role)?;
            late[role as usize] = self.minimised(machine, role, interruption.block.span)?;
        }
        Ok(late)
    }

    /// The smallest equivalent machine. An error if two messages in one state share a label.
    fn minimised(&self, local: Local, role: u32, block: Span) -> Found<Local> {
        if let Some(edge) = local.shared_label() {
            let role = self.global.roles[role as usize].as_str();
            let action = edge.action.to_string();
            return Err(vec![projection_errors::shared_in_machine(block, role, &action)]);
        }
        Ok(local.minimised())
    }
}

/// The roles that may interrupt a block around each block.
fn interrupters(global: &Global) -> Vec<FixedBitSet> {
    let mut found = vec![FixedBitSet::with_capacity(global.roles.len()); global.blocks.len()];
    // Outer blocks first.
    for (number, block) in global.blocks.iter().enumerate() {
        let mut around = found[number].clone();
        around.extend(block.interrupts.iter().map(|of| of.by as usize));
        let edges = block.parts.iter().flat_map(Global::all_edges);
        for Letter { message, .. } in
            edges.map(|edge| global.letter(edge)).filter(|letter| letter.from == NONE)
        {
            found[message as usize].union_with(&around);
        }
    }
    found
}
