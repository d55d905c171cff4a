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
//! * **`interruptible … with { cancel() by c; }`**, by messages alone (Demangeon, Honda, Hu,
//!   Neykova, Yoshida, FMSD'15, have a scope in each message instead). Let P → Q be the *pairs* of
//!   the block: P sends to Q somewhere in it.
//!   * `c` may send `cancel` to all others, one after the other, wherever it is, until it has sent
//!     somebody who may be done the last message that it has for it. Then it takes and drops what
//!     comes, for each pair P → c up to the `cancel` of P.
//!   * Another role takes the `cancel` of `c` wherever it is, and that of another role where it
//!     waits for this role: the `cancel` of `c` is under way then. It sends `cancel` on for each of
//!     its pairs, and then takes and drops what comes: for each pair to it up to the `cancel`
//!     there, and what comes from `c` up to the `cancel` of `c`.
//!   * Who is done must not be interrupted any more, nor take the interrupt of the next round for
//!     one of this. So the last that each other role does is to receive from `c` (code S0311):
//!     either its last message or `cancel`.
//!
//!   In both cases nothing of the block is left in a queue, since `cancel` is the last message of
//!   the block for each pair.
//!
//! # Why it is sound
//! Some protocols are safe [by construction](super::flat). Of all others nothing is taken from
//! here: their machines are explored as a system, or k-MC decides ([`judge`]); otherwise there is
//! an error, code S0409 or S0410. So no order of a shuffle that goes wrong passes, and no block
//! whose messages are mixed up with those around it.
//!
//! # Cost
//! A shuffle is as large as the product of its parts, which [`Limits::local_states`] stops.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use rumpsteak_fsm::system::explore;
use rumpsteak_fsm::{Action, Direction, Fsm, Message, Role, System, Verdict, kmc};

use super::flat;
use super::grouped::leads_to;
use super::minimise::{self, Move};
use super::projection::{Projection, project};
use crate::diagnostics::diagnostic::Diagnostic;
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
    let mut projections = Vec::with_capacity(names.len());
    let mut diagnostics = Vec::new();
    let first = global.blocks[0].span;
    for role in 0..index(names.len()) {
        let found = composer.part(global, role);
        match found.and_then(|local| composer.deterministic(local, role, first)) {
            Ok(local) => projections.push(local.projection(&global.roles[role as usize])),
            Err(found) => diagnostics.extend(found),
        }
    }
    let by_construction = diagnostics.is_empty() && flat::is_safe(global, names, limits);
    if diagnostics.is_empty() && !by_construction {
        diagnostics.extend(judge(&projections, protocol, (first, "this block")));
    }
    if diagnostics.is_empty() { Ok((projections, by_construction)) } else { Err(diagnostics) }
}

/// What goes wrong with the machines together, or that it is not known; and why they are judged so.
pub(super) fn judge(
    projections: &[Projection],
    protocol: &Name,
    block: (Span, &str),
) -> Option<Diagnostic> {
    let machines = projections.iter().map(|found| found.fsm.clone());
    let system = match System::new(machines.collect()) {
        Ok(system) => system,
        Err(error) => {
            let why = error.to_string();
            return Some(projection_errors::unsafe_together(block, protocol, &why, &[]));
        }
    };
    let limits = rumpsteak_fsm::Limits::default();
    let refused = |run: &rumpsteak_fsm::Run| {
        let steps = run.steps.iter().map(|step| format!("{}: {}", step.role, step.action));
        let steps: Vec<String> = steps.collect();
        let why = run.failure.to_string();
        Some(projection_errors::unsafe_together(block, protocol, &why, &steps))
    };
    let explored = explore(&system, &limits);
    match (explored.verdict, explored.starvation) {
        (Verdict::Unsafe(run), _) | (Verdict::Safe(()), Some(run)) => refused(&run),
        (Verdict::Safe(()), None) => None,
        (Verdict::Undecided(limit), _) => match kmc::check(&system, &limits).verdict {
            kmc::Verdict::Safe { .. } => None,
            kmc::Verdict::Unsafe(run) => refused(&run),
            kmc::Verdict::Undecided { .. } => {
                let limit = limit.to_string();
                Some(projection_errors::undecided_together(block, protocol, &limit))
            }
        },
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
}

impl Local {
    /// The number of a new state.
    fn add(&mut self) -> u32 {
        self.states.push(Vec::new());
        index(self.states.len() - 1)
    }

    fn connect(&mut self, from: u32, action: Action, to: u32, origins: &[Span]) {
        let origins = origins.to_vec();
        self.states[from as usize].push(Edge { action, target: to, origins });
    }

    fn edges(&self, state: u32) -> &[Edge] {
        &self.states[state as usize]
    }

    fn end(&self) -> Option<u32> {
        self.states.iter().position(Vec::is_empty).map(index)
    }

    fn all_edges(&self) -> impl Iterator<Item = &Edge> {
        self.states.iter().flatten()
    }

    fn of(projection: &Projection) -> Self {
        let fsm = &projection.fsm;
        let mut local = Self::default();
        for state in fsm.states() {
            let edges = fsm.transitions_from(state).map(|found| Edge {
                action: found.action.clone(),
                target: index(found.target.index()),
                origins: projection.origins(found.id).to_vec(),
            });
            local.states.push(edges.collect());
        }
        local
    }

    /// The smallest machine with the same behaviour.
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
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut least = Self::default();
        // By class, one of its states; depth first, in the order of the text.
        let mut stack = vec![0];
        while let Some(state) = stack.pop() {
            if numbers.contains_key(&classes[state as usize]) {
                continue;
            }
            numbers.insert(classes[state as usize], least.add());
            stack.extend(self.edges(state).iter().rev().map(|edge| edge.target));
        }
        for (state, edges) in self.states.iter().enumerate() {
            let Some(&source) = numbers.get(&classes[state]) else { continue };
            for edge in edges {
                let target = numbers[&classes[edge.target as usize]];
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
                    local.states[state as usize].push(edge.clone());
                    continue;
                }
                // A block is the only edge of its state.
                let number: usize = edge.action.message.label.as_str().parse().unwrap_or(0);
                splice(&mut local, state, &self.machines[number][role as usize], edge.target);
                if local.states.len() > self.limits.local_states {
                    return Err(self.too_large(role));
                }
            }
        }
        Ok(local)
    }

    fn too_large(&self, role: u32) -> Vec<Diagnostic> {
        let Name { text, span } = &self.names[role as usize];
        let (limit, value) = ("local_states", self.limits.local_states);
        vec![projection_errors::projection_too_large(text, *span, limit, value)]
    }

    /// The machines of all roles in a block.
    fn block(&self, block: &Block) -> Result<Vec<Local>, Vec<Diagnostic>> {
        let mut machines = Vec::with_capacity(self.names.len());
        let mut diagnostics = Vec::new();
        for role in 0..index(self.names.len()) {
            let parts: Result<Vec<Local>, _> =
                block.parts.iter().map(|part| self.part(part, role)).collect();
            let limit = self.limits.local_states;
            let whole = parts
                .and_then(|parts| shuffle(&parts, limit).ok_or_else(|| self.too_large(role)))
                .and_then(|local| self.deterministic(local, role, block.span));
            match whole {
                Ok(local) => machines.push(local.minimised()),
                Err(found) => diagnostics.extend(found),
            }
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        match block.interrupts.first() {
            None => Ok(machines),
            Some(&(by, _)) => self.interrupted(block, by, machines),
        }
    }

    /// The machines of a block that `by` may end.
    fn interrupted(
        &self,
        block: &Block,
        by: u32,
        mut machines: Vec<Local>,
    ) -> Result<Vec<Local>, Vec<Diagnostic>> {
        let roles = &self.global.roles;
        // The messages of each pair, from and to.
        let mut pairs: BTreeMap<(u32, u32), BTreeSet<Message>> = BTreeMap::new();
        let mut others: Vec<u32> = Vec::new();
        for (role, machine) in (0..).zip(&machines) {
            for Edge { action, .. } in machine.all_edges() {
                let peer = roles.iter().position(|known| *known == action.peer).map_or(NONE, index);
                if action.direction == Direction::Send {
                    pairs.entry((role, peer)).or_default().insert(action.message.clone());
                }
            }
            if role != by && machine.all_edges().next().is_some() {
                others.push(role);
            }
        }
        let name = |role: u32| roles[role as usize].as_str();
        let mut diagnostics = Vec::new();
        for &role in &others {
            let machine = &machines[role as usize];
            let end = machine.end();
            let is_open = |edge: &&Edge| {
                let told = edge.action.peer.as_str() == name(by)
                    && edge.action.direction == Direction::Receive;
                Some(edge.target) == end && !told
            };
            if let Some(last) = machine.all_edges().find(is_open).filter(|_| block.ends) {
                let last = last.origins.first().copied();
                let error = global_errors::open_interrupt(block.span, name(by), name(role), last);
                diagnostics.push(error);
            }
        }
        // In a block that goes on for ever nobody is ever done.
        let told = if block.ends { &others[..] } else { &[] };
        let open = open_states(&machines[by as usize], told, roles);
        if diagnostics.is_empty() && (others.is_empty() || open.first() != Some(&true)) {
            let silent = others.iter().find(|&&role| !pairs.contains_key(&(by, role)));
            let role = silent.copied().unwrap_or(by);
            diagnostics.push(global_errors::open_interrupt(block.span, name(by), name(role), None));
        }
        if !diagnostics.is_empty() || others.is_empty() {
            return Err(diagnostics);
        }
        let interrupts = block.interrupts.iter();
        let interrupts: Vec<Message> = interrupts
            .map(|&(_, message)| self.global.messages[message as usize].clone())
            .collect();
        let interruption = Interruption {
            roles,
            span: block.span,
            ends: block.ends,
            by,
            others: &others,
            pairs: &pairs,
        };
        for message in &interrupts {
            interruption.cancel(&mut machines[by as usize], &open, message);
        }
        for &role in &others {
            interruption.give_way(&mut machines[role as usize], role, &interrupts);
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

/// Whether, in each state of the interrupter, each of these roles has still to hear from it.
fn open_states(machine: &Local, others: &[u32], roles: &[Role]) -> Vec<bool> {
    let edges = || {
        (0..)
            .zip(&machine.states)
            .flat_map(|(state, edges)| edges.iter().map(move |edge| (state, edge)))
    };
    let targets: Vec<(u32, u32)> = edges().map(|(state, edge)| (state, edge.target)).collect();
    let mut open = vec![true; machine.states.len()];
    for &other in others {
        let peer = &roles[other as usize];
        let tells = |(state, Edge { action, .. }): (u32, &Edge)| {
            (action.peer == *peer && action.direction == Direction::Send).then_some(state)
        };
        let reaches = leads_to(machine.states.len(), &targets, edges().filter_map(tells));
        for (open, reaches) in open.iter_mut().zip(reaches) {
            *open &= reaches;
        }
    }
    open
}

/// How a block is ended early.
struct Interruption<'a> {
    roles: &'a [Role],
    span: Span,
    /// Whether the block comes to an end by itself.
    ends: bool,
    by: u32,
    /// All roles of the block but the interrupter.
    others: &'a [u32],
    /// The messages of the block by sender and receiver.
    pairs: &'a BTreeMap<(u32, u32), BTreeSet<Message>>,
}

impl Interruption<'_> {
    /// Adds the ways on which the interrupter ends the block with this message.
    fn cancel(&self, machine: &mut Local, open: &[bool], message: &Message) {
        let sources: Vec<u32> = self.sources(self.by).collect();
        let end = self.end(machine);
        let drained = self.drain(machine, self.by, &sources, message, end);
        // The first of the messages is sent where the interrupter is, the others behind it.
        let others = &self.others[1..];
        let told = self.tell(machine, others, message, drained);
        let first = Action {
            peer: self.roles[self.others[0] as usize].clone(),
            direction: Direction::Send,
            message: message.clone(),
        };
        for (state, _) in (0..).zip(open).filter(|(_, is_open)| **is_open) {
            machine.connect(state, first.clone(), told, &[self.span]);
        }
    }

    /// Adds the ways on which another role gives way to one of these messages.
    fn give_way(&self, machine: &mut Local, role: u32, messages: &[Message]) {
        let states = machine.states.len();
        let end = self.end(machine);
        let to: Vec<u32> =
            self.pairs.keys().filter(|pair| pair.0 == role).map(|pair| pair.1).collect();
        for message in messages {
            // By the role that the interrupt was heard of, what follows.
            let mut behind: BTreeMap<u32, u32> = BTreeMap::new();
            let mut sources: BTreeSet<u32> = self.sources(role).collect();
            sources.insert(self.by);
            for &heard in &sources {
                let rest: Vec<u32> =
                    sources.iter().copied().filter(|&other| other != heard).collect();
                let drained = self.drain(machine, role, &rest, message, end);
                behind.insert(heard, self.tell(machine, &to, message, drained));
            }
            for state in (0..index(states)).filter(|&state| state != end) {
                for (&heard, &next) in &behind {
                    let peer = &self.roles[heard as usize];
                    let waits = machine.edges(state).iter().any(|edge| {
                        edge.action.direction == Direction::Receive && edge.action.peer == *peer
                    });
                    if waits || heard == self.by {
                        let (peer, message) = (peer.clone(), message.clone());
                        let action = Action { peer, direction: Direction::Receive, message };
                        machine.connect(state, action, next, &[self.span]);
                    }
                }
            }
        }
    }

    /// The end of the block in a machine.
    fn end(&self, machine: &mut Local) -> u32 {
        match machine.end().filter(|_| self.ends) {
            Some(end) => end,
            None => machine.add(),
        }
    }

    /// Who sends to a role in the block.
    fn sources(&self, role: u32) -> impl Iterator<Item = u32> {
        self.pairs.keys().filter(move |pair| pair.1 == role).map(|pair| pair.0)
    }

    /// A state from which the message is sent to these, before what follows.
    fn tell(&self, machine: &mut Local, to: &[u32], message: &Message, next: u32) -> u32 {
        to.iter().rev().fold(next, |next, &to| {
            let state = machine.add();
            let peer = self.roles[to as usize].clone();
            let action = Action { peer, direction: Direction::Send, message: message.clone() };
            machine.connect(state, action, next, &[self.span]);
            state
        })
    }

    /// A state from which all that these have sent is taken, up to the message, before what
    /// follows.
    fn drain(
        &self,
        machine: &mut Local,
        role: u32,
        from: &[u32],
        message: &Message,
        next: u32,
    ) -> u32 {
        from.iter().rev().fold(next, |next, &from| {
            let state = machine.add();
            let receive = |message: &Message| Action {
                peer: self.roles[from as usize].clone(),
                direction: Direction::Receive,
                message: message.clone(),
            };
            for dropped in self.pairs.get(&(from, role)).into_iter().flatten() {
                machine.connect(state, receive(dropped), state, &[self.span]);
            }
            machine.connect(state, receive(message), next, &[self.span]);
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

/// All orders of what the parts do. `None` if that has more states than `limit`.
fn shuffle(parts: &[Local], limit: usize) -> Option<Local> {
    if let [part] = parts {
        return Some(part.clone());
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
        if local.states.len() > limit {
            return None;
        }
    }
    Some(local)
}
