//! The automaton of a protocol.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rumpsteak_fsm::{Message, Role};

use crate::diagnostics::Span;
use crate::diagnostics::projection_errors::Step;
use crate::index::{NONE, reached};
use crate::names::program::Interrupt;
use crate::syntax::ast::Link;

/// The automaton of one protocol. State 0 is the initial one. A state without edges is an end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Global {
    pub(crate) roles: Vec<Role>,
    pub(crate) messages: Arc<[Message]>,
    pub(crate) letters: Vec<Letter>,
    /// The edges that leave each state.
    pub(crate) states: Vec<Vec<Edge>>,
    /// The roles that take part in each block.
    pub(crate) participants: Arc<[FixedBitSet]>,
    /// The roles that may send in each block before they receive anything in it.
    pub(crate) starters: Arc<[FixedBitSet]>,
    /// The blocks of the protocol, each before the blocks inside it. Their parts have empty lists
    /// of blocks.
    pub(crate) blocks: Vec<Block>,
}

/// A `par` or `interruptible`: one letter of the automaton around it.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) span: Span,
    /// The parts of a `par`, or the only part of an `interruptible`.
    pub(crate) parts: Vec<Global>,
    pub(crate) interrupts: Vec<Interrupt<u32>>,
    /// True if all parts can come to their ends.
    pub(crate) ends: bool,
}

/// An interaction `message from→to`, or the block with the number `message` if `from` is [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Letter {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) message: u32,
    pub(crate) link: Link,
}

impl Letter {
    pub(crate) fn block(number: u32) -> Self {
        Self { from: NONE, to: NONE, message: number, link: Link::Needs }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) letter: u32,
    pub(crate) target: u32,
    /// The places of the interaction in order: several if branches begin equally.
    pub(crate) origins: Vec<Span>,
}

impl Global {
    /// An automaton without blocks, of the same roles and messages.
    pub(crate) fn with_states(&self, states: Vec<Vec<Edge>>, letters: Vec<Letter>) -> Self {
        let (roles, messages) = (self.roles.clone(), Arc::clone(&self.messages));
        Self { roles, messages, letters, states, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        &self.states[state as usize]
    }

    pub(crate) fn all_edges(&self) -> Box<dyn Iterator<Item = &Edge> + '_> {
        Box::new(self.states.iter().flatten())
    }

    pub(crate) fn letter(&self, edge: &Edge) -> Letter {
        self.letters[edge.letter as usize]
    }

    pub(crate) fn is_seen_by(&self, letter: u32, role: u32) -> bool {
        let Letter { from, to, message, .. } = self.letters[letter as usize];
        match from {
            NONE => self.participants[message as usize].contains(role as usize),
            _ => from == role || to == role,
        }
    }

    /// True if the role sends the message, or may send something first in the block.
    pub(crate) fn is_sent_by(&self, letter: u32, role: u32) -> bool {
        let Letter { from, message, .. } = self.letters[letter as usize];
        match from {
            NONE => self.starters[message as usize].contains(role as usize),
            _ => from == role,
        }
    }

    /// True if the automaton can come to an end. `letters` and `blocks` belong to the protocol.
    pub(crate) fn ends(&self, letters: &[Letter], blocks: &[Block]) -> bool {
        let passes = |edge: &&Edge| {
            let Letter { from, message, .. } = letters[edge.letter as usize];
            from != NONE || {
                let block = &blocks[message as usize];
                block.ends || !block.interrupts.is_empty()
            }
        };
        let next = |state| self.edges(state).iter().filter(passes).map(|edge| edge.target);
        let reached = reached(self.len(), vec![0], &|state, work| work.extend(next(state)));
        let mut reached = reached.into_iter().zip(&self.states);
        reached.any(|(is_reached, edges)| is_reached && edges.is_empty())
    }

    /// The same protocol, except that the edges that end it and satisfy `is_one` go to `state`.
    pub(crate) fn redirected(&self, is_one: impl Fn(&Edge) -> bool, state: u32) -> Self {
        let mut global = self.clone();
        for edge in global.states.iter_mut().flatten() {
            if self.edges(edge.target).is_empty() && is_one(edge) {
                edge.target = state;
            }
        }
        global
    }

    pub(crate) fn step(&self, edge: &Edge) -> Step {
        Step { label: self.label(self.letter(edge)), span: edge.origins[0] }
    }

    /// `value(i32) from s to k`
    pub(crate) fn text(&self, edge: &Edge) -> String {
        let letter = self.letter(edge);
        if letter.from == NONE {
            return self.label(letter);
        }
        let [from, to] = [letter.from, letter.to].map(|role| &self.roles[role as usize]);
        format!("{} from {from} to {to}", self.label(letter))
    }

    pub(crate) fn message(&self, letter: Letter) -> &Message {
        &self.messages[letter.message as usize]
    }

    /// `value(i32)`
    fn label(&self, letter: Letter) -> String {
        if letter.from == NONE {
            return "…".to_owned();
        }
        let Message { label, payload } = self.message(letter);
        let payload: Vec<_> = payload.iter().map(|sort| sort.as_str()).collect();
        format!("{label}({})", payload.join(", "))
    }
}
