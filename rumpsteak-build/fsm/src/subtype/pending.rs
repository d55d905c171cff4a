//! What the supertype has promised and the subtype has not yet done: the prefix π′.
//!
//! ```text
//!   t?ready · ● · t!value · s!{ stop · ⟨7⟩, more · k?ack · ⟨2⟩ }
//!   └────── spine ──────┘   └─ an open choice, at the end only ─┘
//! ```
//!
//! The *spine* is a sequence of single actions. Most often it ends in a state of the supertype, from which it can be
//! prolonged. It ends in a choice if the subtype overtook a choice of outputs that it has not made itself yet:
//! then each alternative has a spine of its own, and the subtype's own later output decides between them.
//!
//! Actions leave the spine from anywhere, but of each kind (`p?` or `p!`) always the first one. So the actions of one kind are
//! linked, and finding and removing costs O(1); what is removed leaves a hole (`●`) until it comes to the front, as
//! in the paper's lazily removable lists (App. B.5).

use std::{collections::VecDeque, rc::Rc};

use super::pair::{Act, Kind, Pair, State};

/// A promised action, and the transition of the supertype that promised it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) act: Act,
    pub(super) origin: u32,
}

/// How a spine ends.
#[derive(Clone, Debug)]
pub(super) enum Tail {
    /// In a state of the supertype.
    State(u32),
    /// In a choice between at least two outputs to one peer; with the number of promised actions in all alternatives.
    Choice(Rc<[Branch]>, usize),
}

/// An alternative of an open choice.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) item: Item,
    pub(super) segment: Segment,
}

/// What follows an alternative, or prolongs a spine.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) items: Vec<Item>,
    pub(super) tail: Tail,
}

const NONE: usize = usize::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    item: Item,
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
    /// By kind, the absolute positions of its first and last live slot; as long as the greatest kind that ever was here needs.
    ends: Vec<(usize, usize)>,
    live: usize,
}

impl Spine {
    /// The number of actions.
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Where the first action of a kind stands, as a number that only orders positions.
    pub(super) fn position(&self, kind: Kind) -> Option<usize> {
        let &(first, _) = self.ends.get(kind as usize)?;
        (first != NONE).then_some(first)
    }

    /// The first action of a kind.
    pub(super) fn first(&self, kind: Kind) -> Option<Item> {
        self.position(kind)
            .map(|position| self.slots[position - self.base].item)
    }

    /// The first send, with its position.
    pub(super) fn first_send(&self, pair: &Pair) -> Option<(usize, Item)> {
        let kinds = (0..pair.kinds() as Kind).filter(|&kind| pair.sends(kind));
        let position = kinds.filter_map(|kind| self.position(kind)).min()?;
        Some((position, self.slots[position - self.base].item))
    }

    /// The actions in order.
    pub(super) fn items(&self) -> impl Iterator<Item = Item> {
        self.slots
            .iter()
            .filter(|slot| slot.live)
            .map(|slot| slot.item)
    }

    /// Takes the first action of a kind.
    pub(super) fn take(&mut self, kind: Kind) -> Option<Item> {
        let position = self.position(kind)?;
        let slot = &mut self.slots[position - self.base];
        slot.live = false;
        let (item, next) = (slot.item, slot.next);
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
        Some(item)
    }

    /// Prolongs it by an action of `kind`.
    pub(super) fn push(&mut self, kind: Kind, item: Item) {
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
        self.slots.push_back(Slot {
            item,
            next: NONE,
            live: true,
        });
        self.live += 1;
    }

    /// Appends a text that is equal for two sequences if and only if they have the same actions in the same order. Where they were
    /// promised does not matter.
    pub(super) fn encode(&self, key: &mut Vec<u32>) {
        key.push(self.live as u32);
        key.extend(self.items().map(|item| item.act));
    }
}

/// The prefix π′ with the state or choice behind it.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) spine: Spine,
    pub(super) tail: Tail,
}

impl Pending {
    pub(super) fn new(initial: u32) -> Self {
        Self {
            spine: Spine::default(),
            tail: Tail::State(initial),
        }
    }

    /// The first action on the spine, or else an alternative of the choice behind it.
    pub(super) fn head(&self) -> Option<Item> {
        match (self.spine.items().next(), &self.tail) {
            (Some(item), _) => Some(item),
            (None, Tail::Choice(branches, _)) => branches.first().map(|branch| branch.item),
            (None, Tail::State(_)) => None,
        }
    }

    /// The first action of a kind on the spine, or an alternative of the choice at its end if that is of the kind.
    pub(super) fn promise(&self, pair: &Pair, kind: Kind) -> Option<Item> {
        self.spine.first(kind).or(match &self.tail {
            Tail::Choice(branches, _) => {
                Some(branches[0].item).filter(|item| pair.kind(item.act) == kind)
            }
            Tail::State(_) => None,
        })
    }

    /// Whether an output is pending, on the spine or as a choice behind it.
    pub(super) fn awaits_send(&self, pair: &Pair) -> bool {
        matches!(self.tail, Tail::Choice(..)) || self.spine.first_send(pair).is_some()
    }

    /// Prolongs the spine beyond its tail, which `segment` replaces.
    pub(super) fn extend(&mut self, pair: &Pair, segment: Segment) {
        for item in segment.items {
            self.spine.push(pair.kind(item.act), item);
        }
        self.tail = segment.tail;
    }

    /// Prolongs the spine by what the supertype must do next, up to a state that does `kind` or that branches; only by inputs if `inputs`.
    ///
    /// Nothing is chosen on the way, so whatever the subtype does next, this belongs to its pending actions. Stops after as many
    /// actions as the supertype has states: then it goes round a loop without `kind`.
    pub(super) fn stretch(&mut self, pair: &Pair, kind: Kind, inputs: bool) {
        for _ in 0..pair.sup.len() {
            let Tail::State(state) = self.tail else {
                return;
            };
            let (own, receives) = match pair.sup.state(state) {
                State::End => return,
                State::Receive(own) => (own, true),
                State::Send(own) => (own, false),
            };
            let [edge] = pair.sup.edges(state) else {
                return;
            };
            if own == kind || inputs && !receives {
                return;
            }
            self.spine.push(
                own,
                Item {
                    act: edge.act,
                    origin: edge.id.index() as u32,
                },
            );
            self.tail = Tail::State(edge.target);
        }
    }

    /// Appends a text that is equal for two prefixes if and only if the same actions are promised in the same order, the same
    /// choices are open and the same states follow.
    pub(super) fn encode(&self, key: &mut Vec<u32>) {
        self.spine.encode(key);
        encode_tail(&self.tail, key);
    }
}

/// Each alternative begins with how many are left, itself included, and a state with 0: so where a tail begins and ends is known without looking back.
///
/// The depth of the recursion is the number of open choices on a path, which `Limits::branching` bounds.
fn encode_tail(tail: &Tail, key: &mut Vec<u32>) {
    match tail {
        Tail::State(state) => key.extend([0, *state]),
        Tail::Choice(branches, _) => {
            for (index, Branch { item, segment }) in branches.iter().enumerate() {
                let left = (branches.len() - index) as u32;
                key.extend([left, item.act, segment.items.len() as u32]);
                key.extend(segment.items.iter().map(|item| item.act));
                encode_tail(&segment.tail, key);
            }
        }
    }
}

impl Tail {
    /// A choice between at least two alternatives. O(alternatives).
    pub(super) fn choice(branches: Vec<Branch>) -> Self {
        let size = |branch: &Branch| 1 + branch.segment.items.len() + branch.segment.tail.size();
        let size = branches.iter().map(size).sum();
        Self::Choice(branches.into(), size)
    }

    /// The number of promised actions in all alternatives. O(1), as it is asked for with each action that is compared.
    pub(super) fn size(&self) -> usize {
        match *self {
            Self::State(_) => 0,
            Self::Choice(_, size) => size,
        }
    }
}
