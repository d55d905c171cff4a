//! The prefix π′: the supertype's pending actions.
//!
//! ```text
//!   t?ready · ● · t!value · s!{ stop · ⟨7⟩, more · k?ack · ⟨2⟩ }
//!   └────── spine ──────┘   └─ an open choice, at the end only ─┘
//! ```
//!
//! The *spine* is a sequence of single actions. Behind it is usually a state of the supertype, from
//! which the spine can be prolonged. It is an open choice if the subtype overtook a choice of
//! outputs that it has not made yet: then each alternative has a spine of its own, and the
//! subtype's own later output decides.
//!
//! The first action of each kind (`p?` or `p!`) leaves the spine first. So the actions of a kind
//! are linked, and finding and removing one costs O(1). A removed action leaves a hole (`●`) until
//! it comes to the front, as in the paper's lazily removable lists (App. B.5).

use std::collections::VecDeque;
use std::rc::Rc;

use super::pair::{Act, Edge, Kind, Pair, State};

/// A promised action, and the transition of the supertype that promised it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    pub(super) act: Act,
    pub(super) origin: u32,
}

impl Promise {
    pub(super) fn of(edge: &Edge) -> Self {
        Self { act: edge.act, origin: edge.id.index() as u32 }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Rest {
    State(u32),
    /// A choice between at least two outputs to one peer, and the number of promised actions in it.
    Choice(Rc<[Alternative]>, usize),
}

#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub(super) promise: Promise,
    pub(super) segment: Segment,
}

/// A spine and its continuation, in an alternative or to prolong another spine.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) promises: Vec<Promise>,
    pub(super) rest: Rest,
}

const NONE: usize = usize::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    promise: Promise,
    /// The next of its kind, by absolute position.
    next: usize,
    live: bool,
}

/// A sequence of promised actions; the first of each kind can be taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Spine {
    slots: VecDeque<Slot>,
    /// The absolute position of the first slot.
    base: usize,
    /// By kind, the absolute positions of its first and last live slot.
    ends: Vec<(usize, usize)>,
    live: usize,
}

impl Spine {
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// The position of the first action of a kind, as a number that only orders positions.
    fn position(&self, kind: Kind) -> Option<usize> {
        let &(first, _) = self.ends.get(kind as usize)?;
        (first != NONE).then_some(first)
    }

    pub(super) fn first(&self, kind: Kind) -> Option<Promise> {
        self.position(kind).map(|position| self.slots[position - self.base].promise)
    }

    fn first_send(&self, pair: &Pair) -> Option<(usize, Promise)> {
        let kinds = (0..pair.kinds() as Kind).filter(|&kind| pair.sends(kind));
        let position = kinds.filter_map(|kind| self.position(kind)).min()?;
        Some((position, self.slots[position - self.base].promise))
    }

    /// The first input of a kind. `Err` with an output that is pending before it.
    pub(super) fn first_input(&self, pair: &Pair, kind: Kind) -> Result<Option<Promise>, Promise> {
        let input = self.position(kind);
        match self.first_send(pair) {
            Some((send, output)) if input.is_none_or(|input| send < input) => Err(output),
            _ => Ok(self.first(kind)),
        }
    }

    pub(super) fn promises(&self) -> impl Iterator<Item = Promise> {
        self.slots.iter().filter(|slot| slot.live).map(|slot| slot.promise)
    }

    pub(super) fn take(&mut self, kind: Kind) -> Option<Promise> {
        let position = self.position(kind)?;
        let slot = &mut self.slots[position - self.base];
        slot.live = false;
        let (promise, next) = (slot.promise, slot.next);
        let (first, last) = &mut self.ends[kind as usize];
        *first = next;
        if next == NONE {
            *last = NONE;
        }
        self.live -= 1;
        while self.slots.front().is_some_and(|slot| !slot.live) {
            self.slots.pop_front();
            self.base += 1;
        }
        Some(promise)
    }

    pub(super) fn push(&mut self, kind: Kind, promise: Promise) {
        let position = self.base + self.slots.len();
        if self.ends.len() <= kind as usize {
            self.ends.resize(kind as usize + 1, (NONE, NONE));
        }
        let (first, last) = self.ends[kind as usize];
        match last {
            NONE => self.ends[kind as usize] = (position, position),
            last => {
                self.slots[last - self.base].next = position;
                self.ends[kind as usize] = (first, position);
            }
        }
        self.slots.push_back(Slot { promise, next: NONE, live: true });
        self.live += 1;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Prefix {
    pub(super) spine: Spine,
    pub(super) rest: Rest,
}

impl Prefix {
    pub(super) fn new(initial: u32) -> Self {
        Self { spine: Spine::default(), rest: Rest::State(initial) }
    }

    /// The first action on the spine, or else the first alternative of the choice behind it.
    pub(super) fn head(&self) -> Option<Promise> {
        self.spine.promises().next().or(self.rest.first())
    }

    /// The first action of a kind on the spine, or else an alternative of the choice if it is of
    /// the kind.
    pub(super) fn promise(&self, pair: &Pair, kind: Kind) -> Option<Promise> {
        let is_of_kind = |promise: &Promise| pair.kind(promise.act) == kind;
        self.spine.first(kind).or(self.rest.first().filter(is_of_kind))
    }

    pub(super) fn awaits_send(&self, pair: &Pair) -> bool {
        matches!(self.rest, Rest::Choice(..)) || self.spine.first_send(pair).is_some()
    }

    pub(super) fn extend(&mut self, pair: &Pair, segment: Segment) {
        self.spine.slots.reserve(segment.promises.len());
        for promise in segment.promises {
            self.spine.push(pair.kind(promise.act), promise);
        }
        self.rest = segment.rest;
    }

    /// Unfolds the supertype up to a state that does `kind`, branches or ends, and, if `inputs`, up
    /// to an output; returns the number of unfoldings. No choice is passed, so these actions are
    /// pending whatever the subtype does next. Stops after as many actions as the supertype has
    /// states: then it is in a loop without `kind`.
    pub(super) fn stretch(&mut self, pair: &Pair, kind: Kind, inputs: bool) -> u32 {
        for times in 0..pair.sup.len() as u32 {
            let Rest::State(state) = self.rest else { return times };
            let (own, receives) = match pair.sup.state(state) {
                State::End => return times,
                State::Receive(own) => (own, true),
                State::Send(own) => (own, false),
            };
            let [edge] = pair.sup.edges(state) else { return times };
            if own == kind || inputs && !receives {
                return times;
            }
            self.spine.push(own, Promise::of(edge));
            self.rest = Rest::State(edge.target);
        }
        pair.sup.len() as u32
    }

    /// Appends numbers that are equal for two prefixes if and only if their pending actions, open
    /// choices and following states are equal.
    pub(super) fn encode(&self, key: &mut Vec<u32>) {
        key.reserve(self.spine.live + 3);
        key.push(self.spine.live as u32);
        key.extend(self.spine.promises().map(|promise| promise.act));
        encode_rest(&self.rest, key);
    }
}

/// Each alternative begins with the number of alternatives from it on, and a state with 0, so the
/// numbers mark where a choice begins and ends. An anticipation bounds the depth of the recursion.
fn encode_rest(rest: &Rest, key: &mut Vec<u32>) {
    match rest {
        Rest::State(state) => key.extend([0, *state]),
        Rest::Choice(alternatives, _) => {
            for (index, Alternative { promise, segment }) in alternatives.iter().enumerate() {
                let left = (alternatives.len() - index) as u32;
                key.extend([left, promise.act, segment.promises.len() as u32]);
                key.extend(segment.promises.iter().map(|promise| promise.act));
                encode_rest(&segment.rest, key);
            }
        }
    }
}

impl Rest {
    /// The first alternative of a choice.
    fn first(&self) -> Option<Promise> {
        let Self::Choice(alternatives, _) = self else { return None };
        Some(alternatives[0].promise)
    }

    /// A choice between at least two alternatives.
    pub(super) fn choice(alternatives: Vec<Alternative>) -> Self {
        let size = |alternative: &Alternative| {
            1 + alternative.segment.promises.len() + alternative.segment.rest.size()
        };
        let size = alternatives.iter().map(size).sum();
        Self::Choice(alternatives.into(), size)
    }

    /// The number of promised actions in all alternatives, in O(1).
    pub(super) fn size(&self) -> usize {
        match *self {
            Self::State(_) => 0,
            Self::Choice(_, size) => size,
        }
    }
}
