//! The prefix π′: the supertype's pending inputs and outputs, which the subtype has not done yet.
//!
//! ```text
//!   t?ready · ● · t!value · s!{ stop · ⟨7⟩, more · k?ack · ⟨2⟩ }
//!   └────── spine ──────┘   └─ an open choice, at the end only ─┘
//! ```
//!
//! The *spine* is a sequence of single actions. Behind it is usually a state of the supertype, from
//! which the spine can be prolonged. It is an open choice if the subtype overtook a choice of
//! outputs that it has not made itself yet: then each alternative has a spine of its own, and the
//! subtype's own later output decides between them.
//!
//! Of each kind (`p?` or `p!`), always the first action leaves the spine. So the actions of one
//! kind are linked, and finding and removing costs O(1). A removed action leaves a hole (`●`) until
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
    /// In a choice between at least two outputs to one peer; with the number of promised actions in
    /// all alternatives.
    Choice(Rc<[Alternative]>, usize),
}

#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub(super) promise: Promise,
    pub(super) segment: Segment,
}

/// A spine with what follows it, in an alternative or to prolong another spine.
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

/// A sequence of promised actions, from which of each kind the first may be taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Spine {
    slots: VecDeque<Slot>,
    /// The absolute position of the first slot.
    base: usize,
    /// By kind, the absolute positions of its first and last live slot; as long as the greatest
    /// kind that ever was here needs.
    ends: Vec<(usize, usize)>,
    live: usize,
}

impl Spine {
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Where the first action of a kind stands, as a number that only orders positions.
    pub(super) fn position(&self, kind: Kind) -> Option<usize> {
        let &(first, _) = self.ends.get(kind as usize)?;
        (first != NONE).then_some(first)
    }

    pub(super) fn first(&self, kind: Kind) -> Option<Promise> {
        self.position(kind).map(|position| self.slots[position - self.base].promise)
    }

    pub(super) fn first_send(&self, pair: &Pair) -> Option<(usize, Promise)> {
        let kinds = (0..pair.kinds() as Kind).filter(|&kind| pair.sends(kind));
        let position = kinds.filter_map(|kind| self.position(kind)).min()?;
        Some((position, self.slots[position - self.base].promise))
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

    /// Prolongs it by an action of `kind`.
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

/// The prefix π′ with the state or choice behind it.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    pub(super) spine: Spine,
    pub(super) rest: Rest,
}

impl Prefix {
    pub(super) fn new(initial: u32) -> Self {
        Self { spine: Spine::default(), rest: Rest::State(initial) }
    }

    /// The first action on the spine, or else an alternative of the choice behind it.
    pub(super) fn head(&self) -> Option<Promise> {
        match (self.spine.promises().next(), &self.rest) {
            (Some(promise), _) => Some(promise),
            (None, Rest::Choice(alternatives, _)) => {
                alternatives.first().map(|alternative| alternative.promise)
            }
            (None, Rest::State(_)) => None,
        }
    }

    /// The first action of a kind on the spine, or an alternative of the choice at its end if that
    /// is of the kind.
    pub(super) fn promise(&self, pair: &Pair, kind: Kind) -> Option<Promise> {
        self.spine.first(kind).or(match &self.rest {
            Rest::Choice(alternatives, _) => {
                Some(alternatives[0].promise).filter(|promise| pair.kind(promise.act) == kind)
            }
            Rest::State(_) => None,
        })
    }

    /// Whether an output is pending, on the spine or as a choice behind it.
    pub(super) fn awaits_send(&self, pair: &Pair) -> bool {
        matches!(self.rest, Rest::Choice(..)) || self.spine.first_send(pair).is_some()
    }

    /// Appends a segment, which replaces the state or choice behind the spine.
    pub(super) fn extend(&mut self, pair: &Pair, segment: Segment) {
        self.spine.slots.reserve(segment.promises.len());
        for promise in segment.promises {
            self.spine.push(pair.kind(promise.act), promise);
        }
        self.rest = segment.rest;
    }

    /// Unfolds the supertype up to a state that does `kind`, branches or ends, and, if `inputs`, up
    /// to an output; the number of actions that are new on the spine.
    ///
    /// Nothing is chosen on the way, so these actions are pending whatever the subtype does next.
    /// Stops after as many actions as the supertype has states: then it goes round a loop without
    /// `kind`.
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

    /// Appends numbers that are equal for two prefixes if and only if the same actions are pending
    /// in the same order, the same choices are open and the same states follow.
    pub(super) fn encode(&self, key: &mut Vec<u32>) {
        key.reserve(self.spine.live + 3);
        key.push(self.spine.live as u32);
        key.extend(self.spine.promises().map(|promise| promise.act));
        encode_rest(&self.rest, key);
    }
}

/// Each alternative begins with the number of alternatives from it on, and a state with 0; so the
/// numbers say where a choice begins and ends.
///
/// The depth of the recursion is the number of open choices on a path, which an anticipation
/// bounds.
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
    /// A choice between at least two alternatives. O(alternatives).
    pub(super) fn choice(alternatives: Vec<Alternative>) -> Self {
        let size = |alternative: &Alternative| {
            1 + alternative.segment.promises.len() + alternative.segment.rest.size()
        };
        let size = alternatives.iter().map(size).sum();
        Self::Choice(alternatives.into(), size)
    }

    /// The number of promised actions in all alternatives. O(1), because each step of the search
    /// asks for it.
    pub(super) fn size(&self) -> usize {
        match *self {
            Self::State(_) => 0,
            Self::Choice(_, size) => size,
        }
    }
}
