//! Unfolding: calls, recursions and choices as places.
//!
//! A *place* is a message with what follows it, a choice, or the end: a node of the program under a
//! *frame*. A frame says which roles play those of the protocol that the node is in, and where to
//! go on behind it. A call that is the last thing that happens takes over the frame of its caller,
//! so that recursion is a cycle; the flow checks have refused every other recursion, so there are
//! finitely many frames. Frames and places are shared: a protocol that is called twice with the
//! same roles and the same continuation exists once.

use super::automaton::Letter;
use crate::diagnostics::span::Span;
use crate::index::{IndexSet, index};
use crate::names::program::{END, NodeKind, Program, Template};

/// More frames, places, states or steps than allowed.
#[derive(Debug)]
pub(super) struct TooLarge;

/// A state costs a step for each place in it, and a place one for each call on the way there. A
/// protocol that needs more than this per state, on average, is one that is made to.
const STEPS_PER_STATE: usize = 8;

/// The roles that play those of a protocol, and what follows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Frame {
    protocol: u32,
    /// For each role of the protocol the role of the root.
    roles: Vec<u32>,
    /// What each of its parameters stands for.
    arguments: Vec<Template>,
    /// The node to go on with, and its frame.
    back: Option<(u32, u32)>,
}

/// A message for its `receiver`th receiver, or a choice, under a frame.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: u32,
    frame: u32,
    receiver: u32,
}

const FINAL: u32 = 0;

pub(super) enum Step {
    End,
    Choice { role: u32, branches: Vec<u32>, span: Span },
    Message { letter: Letter, target: u32, span: Span },
    Block(Block),
}

/// What is understood as a whole: parts that end each by itself.
pub(super) struct Block {
    pub(super) parts: Vec<u32>,
    /// The roles that may interrupt it, with their messages and where these are written.
    pub(super) interrupts: Vec<(u32, u32, Span)>,
    pub(super) target: u32,
    pub(super) span: Span,
}

pub(super) struct Unfolding<'a, 'm> {
    pub(super) program: &'a mut Program<'m>,
    pub(super) limit: usize,
    /// The protocols that are part of it.
    entered: &'a mut [bool],
    frames: IndexSet<Frame>,
    /// For each node under each frame its first place, or [`FINAL`] where none is known yet, and
    /// where the nodes of each frame start.
    arrived: Vec<u32>,
    starts: Vec<usize>,
    places: Vec<Place>,
    /// No more nodes under frames than this.
    most_nodes: usize,
    /// How much more may be done before the protocol counts as too large.
    steps: usize,
}

impl<'a, 'm> Unfolding<'a, 'm> {
    pub(super) fn new(
        program: &'a mut Program<'m>,
        root: usize,
        limit: usize,
        entered: &'a mut [bool],
    ) -> Self {
        let end = Place { node: END, frame: 0, receiver: 0 };
        // Each node is a place in the end, or on the way to one, and few states have many places.
        let size = program.protocols[root].nodes.len();
        Self {
            program,
            limit,
            entered,
            frames: IndexSet::default(),
            arrived: Vec::new(),
            starts: Vec::new(),
            places: vec![end],
            most_nodes: limit.saturating_mul(16).saturating_add(size),
            steps: limit.saturating_mul(STEPS_PER_STATE),
        }
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

    /// Leaves at most so many steps.
    pub(super) fn hurry(&mut self, steps: usize) {
        self.steps = self.steps.min(steps);
    }

    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    pub(super) fn step(&mut self, id: u32) -> Result<Step, TooLarge> {
        if id == FINAL {
            return Ok(Step::End);
        }
        let place = self.places[id as usize];
        let frame = &self.frames[place.frame as usize];
        let node = &self.program.protocols[frame.protocol as usize].nodes[place.node as usize];
        let span = node.span;
        match &node.kind {
            NodeKind::Choice { at, branches } => {
                let role = frame.roles[*at as usize];
                let mut branches = branches.clone();
                for branch in &mut branches {
                    *branch = self.arrive(*branch, place.frame)?;
                }
                Ok(Step::Choice { role, branches, span })
            }
            NodeKind::Message { message, from, to, link } => {
                let link = *link;
                let messages = &mut self.program.messages;
                let message = message.instantiate(&frame.arguments, messages);
                let Template::Message(message) = message else {
                    // Unreachable: resolving has refused sorts here.
                    return Ok(Step::End);
                };
                let receiver = place.receiver as usize;
                let letter = Letter {
                    from: frame.roles[*from as usize],
                    to: frame.roles[to[receiver] as usize],
                    message,
                    link,
                };
                let target = if receiver + 1 == to.len() {
                    self.arrive(node.next, place.frame)?
                } else {
                    // The places of one message stand together.
                    id + 1
                };
                Ok(Step::Message { letter, target, span })
            }
            NodeKind::Block { parts, interrupts } => {
                let (mut parts, next) = (parts.clone(), node.next);
                let messages = &mut self.program.messages;
                let interrupts = interrupts.iter().filter_map(|&(role, ref message, span)| {
                    match message.instantiate(&frame.arguments, messages) {
                        Template::Message(message) => {
                            Some((frame.roles[role as usize], message, span))
                        }
                        // Unreachable: resolving has refused sorts here.
                        _ => None,
                    }
                });
                let interrupts = interrupts.collect();
                for part in &mut parts {
                    *part = self.arrive(*part, place.frame)?;
                }
                let target = self.arrive(next, place.frame)?;
                Ok(Step::Block(Block { parts, interrupts, target, span }))
            }
            // Unreachable: no place is one of these.
            _ => Ok(Step::End),
        }
    }

    fn enter(&mut self, frame: Frame) -> Result<u32, TooLarge> {
        self.spend(frame.roles.len())?;
        let protocol = frame.protocol as usize;
        let (id, is_new) = self.frames.insert_full(frame);
        if is_new {
            let start = self.arrived.len();
            let end = start + self.program.protocols[protocol].nodes.len();
            if id > self.limit || end > self.most_nodes {
                return Err(TooLarge);
            }
            self.starts.push(start);
            self.arrived.resize(end, FINAL);
        }
        self.entered[protocol] = true;
        Ok(index(id))
    }

    /// The place of a message for the first of its receivers, or of a choice, which has one place.
    fn place(&mut self, node: u32, frame: u32, receivers: usize) -> Result<u32, TooLarge> {
        let at = self.starts[frame as usize] + node as usize;
        if self.arrived[at] == FINAL {
            self.arrived[at] = index(self.places.len());
            for receiver in 0..index(receivers) {
                self.places.push(Place { node, frame, receiver });
            }
            // Choices and branches take places too, so there are a few per state.
            if (self.places.len() - 1) / 4 > self.limit {
                return Err(TooLarge);
            }
        }
        Ok(self.arrived[at])
    }

    /// The place that `node` under `frame` stands for: follows recursions, calls and returns to the
    /// next message or choice. This ends because a cycle without messages is refused before.
    fn arrive(&mut self, mut node: u32, mut frame: u32) -> Result<u32, TooLarge> {
        loop {
            self.spend(1)?;
            let current = &self.frames[frame as usize];
            if node == END {
                match current.back {
                    Some(back) => (node, frame) = back,
                    None => return Ok(FINAL),
                }
                continue;
            }
            let found = &self.program.protocols[current.protocol as usize].nodes[node as usize];
            match &found.kind {
                NodeKind::Message { to, .. } => return self.place(node, frame, to.len()),
                NodeKind::Choice { .. } | NodeKind::Block { .. } => {
                    return self.place(node, frame, 1);
                }
                NodeKind::PartEnd { .. } => return Ok(FINAL),
                NodeKind::Rec { .. } | NodeKind::Continue { .. } => node = found.ahead,
                NodeKind::Do { callee, roles, arguments } => {
                    let callee = *callee;
                    let back = match found.next {
                        // The last thing that happens: no way back is needed.
                        END => current.back,
                        next => Some((next, frame)),
                    };
                    let given = &current.arguments;
                    let messages = &mut self.program.messages;
                    let arguments = arguments
                        .iter()
                        .map(|template| template.instantiate(given, messages))
                        .collect();
                    let roles = roles.iter().map(|&role| current.roles[role as usize]).collect();
                    node = self.program.protocols[callee as usize].entry;
                    frame = self.enter(Frame { protocol: callee, roles, arguments, back })?;
                }
                // Unreachable: only valid protocols are built, and they call valid ones only.
                NodeKind::Invalid => node = found.next,
            }
        }
    }
}
