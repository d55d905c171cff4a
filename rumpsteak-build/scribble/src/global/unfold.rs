//! Unfolding: calls, recursions and choices as places.
//!
//! A *place* is a message with what follows it, a choice, a block, or the end: a node of the
//! program under a *frame*. A frame says which roles play the roles of the node's protocol, and
//! where to go on after it. A call in last position takes over the frame of its caller, so that
//! recursion becomes a cycle. The flow checks have refused every other recursion, so there are
//! finitely many frames. Frames and places are shared: a protocol that is called twice with the
//! same roles and the same continuation exists once.

use super::automaton::Letter;
use crate::diagnostics::Span;
use crate::index::{IndexSet, index};
use crate::names::program::{END, Interrupt, NodeKind, Program, Template};

/// More frames, places, states or steps than allowed.
#[derive(Debug)]
pub(super) struct TooLarge;

/// The average number of steps that one state may cost: one for each of its places, and one for
/// each call that leads to a place. Only a contrived protocol needs more.
const STEPS_PER_STATE: usize = 8;

/// The roles that play the roles of a protocol, and what follows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Frame {
    protocol: u32,
    /// For each role of the protocol the role of the root.
    roles: Vec<u32>,
    /// The values of its parameters.
    arguments: Vec<Template>,
    /// The node to go on with, and its frame.
    back: Option<(u32, u32)>,
}

/// The place where the protocol is over.
const FINAL: u32 = 0;

pub(super) enum Step {
    End,
    Choice { role: u32, branches: Vec<u32>, span: Span },
    Message { letter: Letter, target: u32, span: Span },
    Block(Block),
}

/// A `par` or `interruptible`: its parts end separately.
pub(super) struct Block {
    pub(super) parts: Vec<u32>,
    pub(super) interrupts: Vec<Interrupt<u32>>,
    pub(super) target: u32,
    pub(super) span: Span,
}

pub(super) struct Unfolding<'a, 'm> {
    pub(super) program: &'a mut Program<'m>,
    pub(super) limit: usize,
    /// Marks the protocols that take part.
    entered: &'a mut [bool],
    frames: IndexSet<Frame>,
    /// The node and the frame of each place.
    places: IndexSet<(u32, u32)>,
    /// The number of steps that are left before the protocol counts as too large.
    pub(super) steps: usize,
}

impl<'a, 'm> Unfolding<'a, 'm> {
    pub(super) fn new(program: &'a mut Program<'m>, limit: usize, entered: &'a mut [bool]) -> Self {
        let places = IndexSet::from_iter([(END, 0)]);
        let steps = limit.saturating_mul(STEPS_PER_STATE);
        Self { program, limit, entered, frames: IndexSet::default(), places, steps }
    }

    /// The place where the protocol `root` starts, played by its own roles.
    pub(super) fn start(&mut self, root: usize) -> Result<u32, TooLarge> {
        let protocol = &self.program.protocols[root];
        let entry = protocol.entry;
        let roles = (0..index(protocol.decl.roles.len())).collect();
        let protocol = index(root);
        let frame = self.enter(Frame { protocol, roles, arguments: Vec::new(), back: None })?;
        self.arrive(entry, frame)
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooLarge)?;
        Ok(())
    }

    pub(super) fn step(&mut self, place: u32) -> Result<Step, TooLarge> {
        let (node, number) = self.places[place as usize];
        if node == END {
            return Ok(Step::End);
        }
        let frame = &self.frames[number as usize];
        let node = &self.program.protocols[frame.protocol as usize].nodes[node as usize];
        let (span, next) = (node.span, node.next);
        let messages = &mut self.program.messages;
        let mut instantiate = |message: &Template| {
            match message.instantiate(&frame.arguments, messages) {
                Template::Message(message) => Some(message),
                // Unreachable: resolving has refused sorts here.
                _ => None,
            }
        };
        match &node.kind {
            NodeKind::Choice { at, branches } => {
                let role = frame.roles[*at as usize];
                let branches = self.arrive_all(branches.clone(), number)?;
                Ok(Step::Choice { role, branches, span })
            }
            &NodeKind::Message { ref message, from, to, link } => {
                let Some(message) = instantiate(message) else { return Ok(Step::End) };
                let [from, to] = [from, to].map(|role| frame.roles[role as usize]);
                let letter = Letter { from, to, message, link };
                Ok(Step::Message { letter, target: self.arrive(next, number)?, span })
            }
            NodeKind::Block { parts, interrupts } => {
                let role = |role: &u32| frame.roles[*role as usize];
                let interrupts = interrupts.iter().filter_map(|found| {
                    Some(Interrupt {
                        by: role(&found.by),
                        message: instantiate(&found.message)?,
                        via: found.via.iter().map(role).collect(),
                        answer: found.answer.as_ref().and_then(&mut instantiate),
                        span: found.span,
                    })
                });
                let interrupts = interrupts.collect();
                let parts = self.arrive_all(parts.clone(), number)?;
                let target = self.arrive(next, number)?;
                Ok(Step::Block(Block { parts, interrupts, target, span }))
            }
            // Unreachable: no place is one of these.
            _ => Ok(Step::End),
        }
    }

    fn enter(&mut self, frame: Frame) -> Result<u32, TooLarge> {
        self.spend(frame.roles.len())?;
        self.entered[frame.protocol as usize] = true;
        let (id, _) = self.frames.insert_full(frame);
        if id > self.limit { Err(TooLarge) } else { Ok(index(id)) }
    }

    fn arrive_all(&mut self, nodes: Vec<u32>, frame: u32) -> Result<Vec<u32>, TooLarge> {
        nodes.into_iter().map(|node| self.arrive(node, frame)).collect()
    }

    /// The place of `node` under `frame`: follows recursions, calls and returns to the next
    /// message, choice or block. This ends because a cycle without messages has been refused.
    fn arrive(&mut self, mut node: u32, mut frame: u32) -> Result<u32, TooLarge> {
        loop {
            self.spend(1)?;
            let current = &self.frames[frame as usize];
            if node == END {
                let Some(back) = current.back else { return Ok(FINAL) };
                (node, frame) = back;
                continue;
            }
            let found = &self.program.protocols[current.protocol as usize].nodes[node as usize];
            match &found.kind {
                NodeKind::Message { .. } | NodeKind::Choice { .. } | NodeKind::Block { .. } => {
                    let (place, _) = self.places.insert_full((node, frame));
                    // Choices and branches take places too, so there are a few per state.
                    return if place / 4 > self.limit { Err(TooLarge) } else { Ok(index(place)) };
                }
                NodeKind::PartEnd { .. } => return Ok(FINAL),
                NodeKind::Jump { target } => node = *target,
                NodeKind::Do { callee, roles, arguments } => {
                    let callee = *callee;
                    let back = match found.next {
                        // A call in last position needs no way back.
                        END => current.back,
                        next => Some((next, frame)),
                    };
                    let given = &current.arguments;
                    let messages = &mut self.program.messages;
                    let arguments = arguments.iter().map(|of| of.instantiate(given, messages));
                    let arguments = arguments.collect();
                    let roles = roles.iter().map(|&role| current.roles[role as usize]).collect();
                    node = self.program.protocols[callee as usize].entry;
                    frame = self.enter(Frame { protocol: callee, roles, arguments, back })?;
                }
                // Unreachable: only valid protocols are unfolded, and they call valid ones only.
                NodeKind::Invalid => node = found.next,
            }
        }
    }
}
