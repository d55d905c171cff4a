//! The automaton of a protocol.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rumpsteak_fsm::{Message, Role};

use crate::diagnostics::projection_errors::Step;
use crate::diagnostics::span::Span;
use crate::index::{NONE, index};
use crate::syntax::ast::Link;

/// The automaton of one protocol. State 0 is the initial one, and a state without edges is an end.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub(crate) roles: Vec<Role>,
    pub(crate) messages: Arc<[Message]>,
    pub(crate) letters: Vec<Letter>,
    /// `edges[offsets[s]..offsets[s + 1]]` leave state `s`; one longer than there are states.
    pub(super) offsets: Vec<u32>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) origins: Vec<Span>,
    /// For each state the one edge that leaves it. Every projection looks at all of them.
    pub(crate) hops: Vec<Hop>,
    /// By block the roles that take part.
    pub(crate) participants: Arc<[FixedBitSet]>,
    /// The blocks of the protocol, each before those in it. Their parts have none of their own.
    pub(crate) blocks: Vec<Block>,
}

/// What is one letter of the automaton around it.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) span: Span,
    /// Several that run side by side, or one.
    pub(crate) parts: Vec<Global>,
    /// The roles that may end it, with their messages and where these are written.
    pub(crate) interrupts: Vec<(u32, u32, Span)>,
    /// Whether all its parts can come to their ends.
    pub(crate) ends: bool,
}

/// The only edge of a state; [`NONE`] three times for a state with none or several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) target: u32,
}

/// An interaction `message from→to`; or the block `message`, if nobody sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Letter {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) message: u32,
    pub(crate) link: Link,
}

impl Letter {
    pub(super) fn block(number: u32) -> Self {
        Self { from: NONE, to: NONE, message: number, link: Link::Needs }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) letter: u32,
    pub(crate) target: u32,
    /// Where it is written: `origins[start..end]`, in order.
    pub(crate) origins: (u32, u32),
}

impl Global {
    pub(super) fn find_hops(&mut self) {
        let hop = |state: usize| match *self.edges(index(state)) {
            [Edge { letter, target, .. }] => {
                let Letter { from, to, .. } = self.letters[letter as usize];
                let is_block = from == NONE;
                Hop { from, to, target: if is_block { NONE } else { target } }
            }
            _ => Hop { from: NONE, to: NONE, target: NONE },
        };
        self.hops = (0..self.len()).map(hop).collect();
    }

    /// An automaton without blocks, of the same roles; each state has its edges.
    pub(crate) fn with_states(
        &self,
        states: Vec<Vec<Edge>>,
        origins: Vec<Span>,
        letters: Vec<Letter>,
    ) -> Self {
        let mut offsets = vec![0];
        let mut edges = Vec::new();
        for state in states {
            edges.extend(state);
            offsets.push(index(edges.len()));
        }
        let mut global = Self {
            roles: self.roles.clone(),
            messages: Arc::clone(&self.messages),
            letters,
            offsets,
            edges,
            origins,
            hops: Vec::new(),
            participants: Arc::default(),
            blocks: Vec::new(),
        };
        global.find_hops();
        global
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        let state = state as usize;
        &self.edges[self.offsets[state] as usize..self.offsets[state + 1] as usize]
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

    /// Whether it can come to its end; `blocks` are those of the protocol.
    pub(crate) fn ends(&self, letters: &[Letter], blocks: &[Block]) -> bool {
        let mut seen = vec![false; self.len()];
        let mut work = vec![0];
        while let Some(state) = work.pop() {
            if std::mem::replace(&mut seen[state as usize], true) {
                continue;
            }
            let edges = self.edges(state);
            if edges.is_empty() {
                return true;
            }
            let passes = |edge: &&Edge| {
                let Letter { from, message, .. } = letters[edge.letter as usize];
                from != NONE || {
                    let block = &blocks[message as usize];
                    block.ends || !block.interrupts.is_empty()
                }
            };
            work.extend(edges.iter().filter(passes).map(|edge| edge.target));
        }
        false
    }

    /// The same protocol, but going on in a state where it ends with one of these edges.
    pub(crate) fn going_on(&self, is_one: impl Fn(&Edge) -> bool, state: u32) -> Self {
        let mut global = self.clone();
        for edge in &mut global.edges {
            if self.edges(edge.target).is_empty() && is_one(edge) {
                edge.target = state;
            }
        }
        global.find_hops();
        global
    }

    /// Where the interaction is written; more than once if branches begin equally.
    pub(crate) fn origins(&self, edge: &Edge) -> &[Span] {
        &self.origins[edge.origins.0 as usize..edge.origins.1 as usize]
    }

    pub(crate) fn step(&self, edge: &Edge) -> Step {
        Step { label: self.label(self.letter(edge)), span: self.origins(edge)[0] }
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
