//! A ring: a fixed piece of memory that one side writes and the other reads, without a lock.
//!
//! ```text
//!                 head            tail
//!                  v               v
//!     | free | free | msg  | msg  | free | free | ...      room = capacity - (tail - head)
//! ```
//!
//! Both are counters that only go up (and wrap): the slot of a position is what its low bits say,
//! since there are as many slots as a power of two. The [`Producer`] alone moves `tail`, the
//! [`Consumer`] alone moves `head`, and each remembers what it last saw of the other's, so that it
//! looks again only when that is used up.
//!
//! `tail` shares its word with three flags, and this is what makes waiting cheap. A consumer that
//! finds nothing parks with one compare-and-exchange, from the very word in which it saw nothing:
//! if that succeeds, there was nothing at that moment, and it need not look again. The producer
//! writes the word with a swap, which makes the message visible, takes the flags away and tells
//! whether there is anybody to wake, all in one step.
//!
//! | flag | set by | taken away by |
//! |---|---|---|
//! | [`PARKED`] | the consumer, when it waits | the producer's next write |
//! | [`FRESH`] | the consumer, when it waits and has left a new waker | the producer's next write |
//! | ended | the producer, which writes nothing after it | – |
//!
//! # Why each slot has one owner at a time
//!
//! The slots from `head` up to `tail` are the consumer's, all others are the producer's. A slot
//! passes to the consumer by the write of `tail` (a swap that releases; the consumer loads `tail`
//! and acquires), and back by the write of `head` (a store that releases; the producer loads `head`
//! and acquires). So whoever owns a slot has seen all that was done to it before. What a side
//! remembers of the other's counter may be too old, never too new: it then owns more slots than it
//! knows of.
//!
//! # Cost
//!
//! One atomic read-modify-write for each message sent, none for one received, one more for each
//! time that the consumer waits. A slot for each message that there is room for, rounded up to a
//! power of two. One allocation; one more for slots of more than 256 bytes.
//!
//! The crate `rtrb` keeps its counters private, so that the flags need a word of their own, and
//! with it a second look by the side that parks and a second atomic step of the sender: 12 % to 14
//! % more instructions for a stream, or a lap of a ring.

#![allow(
    unsafe_code,
    reason = "a message is written to and read from memory that both sides share; `models` tries every race"
)]

use std::marker::PhantomData;
use std::mem::{self, MaybeUninit, offset_of};
use std::ptr;

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::sync::cell::UnsafeCell;
use crate::sync::{self, Arc};

/// The consumer waits.
pub(super) const PARKED: usize = 1;
/// The consumer waits, and has left a new waker.
pub(super) const FRESH: usize = 2;
/// There will be no more messages than there are.
const ENDED: usize = 4;
/// All flags.
const FLAGS: usize = PARKED | FRESH | ENDED;
/// One position further.
const ONE: usize = FLAGS + 1;
/// The first position. Not 0: where both sides of a gap are zeros, rustc makes all of it zeros, and
/// copies them into the ring. To make and drop a set of roles took a quarter longer.
const FIRST: usize = ONE;

/// The writing side, with a state `P` of its user.
pub(super) struct Producer<M, T, P, C> {
    ring: Arc<Ring<M, T, P, C>>,
}

/// The reading side, with a state `C` of its user.
pub(super) struct Consumer<M, T, P, C> {
    ring: Arc<Ring<M, T, P, C>>,
}

/// The two sides of a ring.
pub(super) type Sides<M, T, P, C> = (Producer<M, T, P, C>, Consumer<M, T, P, C>);

/// What only the producer uses.
struct Writing<P> {
    /// The position of the next message: that of the ring's `tail`, without flags.
    tail: usize,
    /// Up to which position there was room when that was last looked at.
    limit: usize,
    /// No message is taken: the ring has ended, or is held.
    is_shut: bool,
    has_ended: bool,
    state: P,
}

/// What only the consumer uses.
struct Reading<C> {
    /// A position that the ring's `tail` has come to, maybe a while ago.
    tail: usize,
    state: C,
}

/// The word in which a consumer parks.
pub(super) struct Word<'a>(&'a AtomicUsize);

/// The word in which a consumer saw that the ring is empty: for [`Word::park`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Empty(usize);

/// What both sides share, and beside it what only one of them uses: so the sides themselves are
/// small, since roles are moved often until their sessions begin. Positions count in steps of
/// [`ONE`].
///
/// What one side writes is so far apart from what the other one does that it does not take that
/// away: by two cache lines, since some processors fetch them in pairs. Not by an alignment, for
/// which allocators take several times as long. What is seldom used fills the place before `tail`.
#[repr(C)]
struct Ring<M, T, P, C> {
    /// The first of the slots: in `few` if they have room there, otherwise in memory of their own.
    /// Only written while nobody else has the ring.
    slots: AtomicPtr<Slot<M>>,
    /// One less than there are slots: as many as a power of two, and at least as many as
    /// `capacity`.
    mask: usize,
    capacity: usize,
    shared: T,
    /// Where the producer is, and the flags.
    tail: AtomicUsize,
    before_head: Gap,
    /// Where the consumer is.
    head: AtomicUsize,
    reading: UnsafeCell<Reading<C>>,
    before_writing: Gap,
    writing: UnsafeCell<Writing<P>>,
    behind_writing: Gap,
    few: UnsafeCell<Few>,
    messages: PhantomData<M>,
}

/// Keeps what is before it apart from what is behind it.
type Gap = MaybeUninit<[u8; 128]>;

/// Where a message is.
type Slot<M> = UnsafeCell<MaybeUninit<M>>;

/// Room for a few slots.
type Few = MaybeUninit<[u128; 16]>;

// SAFETY: of what is shared, the slots and the two sides' own parts need not be `Sync` by
// themselves. A slot has one owner at a time (see above), and passes from one side to the other as
// a message does that is sent to another thread, hence `M: Send`. A reference to a message is only
// lent on the side that owns it, so `M: Sync` is not needed. A side's own part is only reached
// through that side, of which there is one: exclusively through `&mut`, and shared through `&`,
// hence `Send` and `Sync`.
unsafe impl<M: Send, T: Sync, P: Send + Sync, C: Send + Sync> Sync for Ring<M, T, P, C> {}

/// A ring with room for `capacity` messages, with what else its sides share, and the states of
/// their users: all made where they stay. Panics if there is no memory of this size.
#[inline]
pub(super) fn ring<M, T, P, C>(
    capacity: usize,
    shared: impl FnOnce() -> T,
    producer: impl FnOnce() -> P,
    consumer: impl FnOnce() -> C,
) -> Sides<M, T, P, C> {
    let count = capacity.checked_next_power_of_two();
    const { assert!(offset_of!(Ring<M, T, P, C>, tail) >= size_of::<Gap>()) };
    // Positions of twice as many messages must differ.
    let count = count.filter(|&count| count <= usize::MAX / ONE / 2);
    let Some(count) = count else { panic!("no memory for a queue of {capacity} messages") };
    let ring = sync::arc(|| Ring {
        slots: AtomicPtr::new(if count > few::<M>() { many(count) } else { ptr::null_mut() }),
        mask: count - 1,
        capacity,
        shared: shared(),
        tail: AtomicUsize::new(FIRST),
        before_head: Gap::uninit(),
        head: AtomicUsize::new(FIRST),
        reading: UnsafeCell::new(Reading { tail: FIRST, state: consumer() }),
        before_writing: Gap::uninit(),
        writing: UnsafeCell::new(Writing {
            tail: FIRST,
            limit: FIRST + capacity * ONE,
            is_shut: false,
            has_ended: false,
            state: producer(),
        }),
        behind_writing: Gap::uninit(),
        few: UnsafeCell::new(Few::uninit()),
        messages: PhantomData,
    });
    ring.find_slots();
    (Producer { ring: Arc::clone(&ring) }, Consumer { ring })
}

/// How many slots [`Few`] has room for.
const fn few<M>() -> usize {
    // loom's cells are made one by one.
    if cfg!(all(test, rumpsteak_loom)) || align_of::<Slot<M>>() > align_of::<Few>() {
        return 0;
    }
    match size_of::<Slot<M>>() {
        0 => usize::MAX,
        size => size_of::<Few>() / size,
    }
}

/// Slots in memory of their own, which the ring frees when it is dropped.
#[cold]
fn many<M>(count: usize) -> *mut Slot<M> {
    let slots: Box<[Slot<M>]> =
        (0..count).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    Box::into_raw(slots).cast()
}

impl<M, T, P, C> Ring<M, T, P, C> {
    /// Points at the slots that are in the ring itself, which stays where it is from now on.
    #[inline]
    fn find_slots(&self) {
        if self.mask < few::<M>() {
            self.slots.store(self.few.with_mut(|few| few.cast()), Ordering::Relaxed);
        }
    }

    #[inline]
    fn slot(&self, position: usize) -> &Slot<M> {
        let slots = self.slots.load(Ordering::Relaxed);
        // SAFETY: there is one slot more than the mask says, so the masked position is that of one.
        // It lives as long as the ring: it is inside of it, or in memory that the ring frees. Any
        // bytes are a slot, and slots are only shared.
        unsafe { &*slots.add((position / ONE) & self.mask) }
    }
}

impl<M, T, P, C> Producer<M, T, P, C> {
    /// What the sides share.
    #[inline]
    pub(super) fn shared(&self) -> &T {
        &self.ring.shared
    }

    /// The state of the user, with what the sides share.
    #[inline]
    pub(super) fn state(&mut self) -> (&T, &mut P) {
        let (ring, writing) = self.parts();
        (&ring.shared, &mut writing.state)
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Ring<M, T, P, C>, &mut Writing<P>) {
        // SAFETY: a ring has one producer, and nobody else touches its part. `&mut self` is
        // borrowed as long as the reference lives.
        let writing = self.ring.writing.with_mut(|writing| unsafe { &mut *writing });
        (&self.ring, writing)
    }

    #[inline(always)]
    fn writing(&self) -> &Writing<P> {
        // SAFETY: as in `parts`, but shared.
        self.ring.writing.with(|writing| unsafe { &*writing })
    }

    /// How many messages there is room for when the ring is empty.
    pub(super) fn capacity(&self) -> usize {
        self.ring.capacity
    }

    /// Returns true if there is room for a message: never once the ring has ended, or while it is
    /// held.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        let (_, writing) = self.parts();
        writing.tail != writing.limit || self.look_for_room()
    }

    /// Whether [`end`](Producer::end) was called.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.writing().has_ended
    }

    /// Makes the ring take no message until it is [released](Self::release). The next `push` finds
    /// no room, so those that find some pay nothing for it.
    pub(super) fn hold(&mut self) {
        let (_, writing) = self.parts();
        writing.is_shut = true;
        writing.limit = writing.tail;
    }

    /// Makes a ring that was held take messages again. Returns true if it was held.
    pub(super) fn release(&mut self) -> bool {
        let (_, writing) = self.parts();
        let was_shut = writing.is_shut;
        writing.is_shut = writing.has_ended;
        was_shut && !writing.has_ended
    }

    #[cold]
    #[inline(never)]
    fn look_for_room(&mut self) -> bool {
        let (ring, writing) = self.parts();
        if !writing.is_shut {
            let head = ring.head.load(Ordering::Acquire);
            writing.limit = head.wrapping_add(ring.capacity * ONE);
        }
        writing.tail != writing.limit
    }

    /// Puts a message into the ring and returns the flags of a consumer that waits, which must then
    /// be woken. Returns the message if the ring is full, is held or has ended.
    #[inline(always)]
    pub(super) fn push(&mut self, message: M) -> Result<usize, M> {
        if !self.has_room() {
            return Err(message);
        }
        let (ring, writing) = self.parts();
        let tail = writing.tail;
        ring.slot(tail).with_mut(|slot| {
            // SAFETY: there is room, so `tail` is less than `capacity` positions ahead of a `head`
            // that was acquired, and the slot at `tail` is the producer's. It holds no message: the
            // consumer has moved the one that was there out before it released that `head`. So
            // nothing is overwritten without being dropped, and nobody else touches the slot before
            // `tail` is written. `&mut self` keeps other producers away.
            unsafe { (*slot).write(message) };
        });
        let tail = tail.wrapping_add(ONE);
        writing.tail = tail;
        // Before this there were the position of this message, and flags.
        Ok(ring.tail.swap(tail, Ordering::AcqRel) & FLAGS)
    }

    /// Says that there will be no more messages. Returns the flags of a consumer that waits, as
    /// `push` does.
    pub(super) fn end(&mut self) -> usize {
        let (ring, writing) = self.parts();
        writing.has_ended = true;
        writing.is_shut = true;
        writing.limit = writing.tail;
        let before = ring.tail.swap(writing.tail | ENDED, Ordering::AcqRel);
        before & (PARKED | FRESH)
    }
}

impl<M, T, P, C> Consumer<M, T, P, C> {
    /// What the sides share.
    #[inline]
    pub(super) fn shared(&self) -> &T {
        &self.ring.shared
    }

    /// The state of the user, with what the sides share.
    #[inline]
    pub(super) fn state(&mut self) -> (&T, &mut C) {
        let (ring, reading) = self.parts();
        (&ring.shared, &mut reading.state)
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Ring<M, T, P, C>, &mut Reading<C>) {
        // SAFETY: as for the producer: a ring has one consumer.
        let reading = self.ring.reading.with_mut(|reading| unsafe { &mut *reading });
        (&self.ring, reading)
    }

    /// The state of the user.
    #[inline(always)]
    pub(super) fn state_ref(&self) -> &C {
        // SAFETY: as in `parts`, but shared.
        &self.ring.reading.with(|reading| unsafe { &*reading }).state
    }

    /// Takes the next message out of the ring, or returns what the consumer saw if it is empty.
    #[inline]
    pub(super) fn pop(&mut self) -> Result<M, Empty> {
        let head = self.find()?;
        let message = self.ring.slot(head).with(|slot| {
            // SAFETY: `head` is before a `tail` that was acquired, so the producer has written a
            // message into the slot and released it, and does not touch it before it sees a later
            // `head`. `head` moves on right below, before anything could panic, so the message is
            // moved out once. `&mut self` keeps other consumers away.
            unsafe { (*slot).assume_init_read() }
        });
        self.give_back(head);
        Ok(message)
    }

    /// Takes the next message out of the ring if `is` accepts it, as `pop` does.
    #[inline(always)]
    pub(super) fn pop_if(&mut self, is: impl FnOnce(&M) -> bool) -> Result<Option<M>, Empty> {
        let head = self.find()?;
        let message = self.ring.slot(head).with(|slot| {
            // SAFETY: as in `pop`. While the message is lent to `is`, which may panic, it has not
            // been moved; once it is, nothing panics before `head` moves on.
            let is = is(unsafe { (*slot).assume_init_ref() });
            // SAFETY: as in `pop`.
            is.then(|| unsafe { (*slot).assume_init_read() })
        });
        if message.is_some() {
            self.give_back(head);
        }
        Ok(message)
    }

    /// The position of the next message.
    #[inline(always)]
    fn find(&mut self) -> Result<usize, Empty> {
        let (ring, reading) = self.parts();
        // Nobody else writes it.
        let head = ring.head.load(Ordering::Relaxed);
        if head == reading.tail {
            let word = ring.tail.load(Ordering::Acquire);
            let tail = word & !FLAGS;
            if head == tail {
                return Err(Empty(word));
            }
            reading.tail = tail;
        }
        Ok(head)
    }

    /// Gives the slot at `head` back, out of which the message was taken.
    #[inline(always)]
    fn give_back(&mut self, head: usize) {
        self.ring.head.store(head.wrapping_add(ONE), Ordering::Release);
    }

    /// Whether the producer has written nothing since the consumer parked: what it writes next
    /// wakes the consumer.
    #[inline]
    pub(super) fn is_parked(&self) -> bool {
        self.ring.tail.load(Ordering::Relaxed) & PARKED != 0
    }

    /// The state of the user, with what the sides share, and the word in which to park.
    #[inline]
    pub(super) fn parking(&mut self) -> (&T, &mut C, Word<'_>) {
        let (ring, reading) = self.parts();
        (&ring.shared, &mut reading.state, Word(&ring.tail))
    }
}

impl Word<'_> {
    /// Parks with these flags. `false` if the producer has written since the consumer saw that the
    /// ring is empty.
    #[inline]
    pub(super) fn park(&self, empty: Empty, flags: usize) -> bool {
        let (seen, parked) = (empty.0, empty.0 | flags);
        // A consumer that is parked already, with the same waker, need not park again: if the
        // producer has written since, it wakes that waker. With a new waker, only the exchange
        // tells that the producer has not yet gone for the old one.
        flags == PARKED && seen == parked
            || self.0.compare_exchange(seen, parked, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl Empty {
    /// Whether no message will ever follow.
    #[inline]
    pub(super) fn is_final(self) -> bool {
        self.0 & ENDED != 0
    }

    /// Whether the consumer had parked, and nothing was written since.
    #[inline]
    pub(super) fn is_parked(self) -> bool {
        self.0 & PARKED != 0
    }

    /// Whether no message came in between.
    #[inline]
    pub(super) fn is_same(self, other: Self) -> bool {
        self.0 & !FLAGS == other.0 & !FLAGS
    }
}

impl<M, T, P, C> Drop for Ring<M, T, P, C> {
    fn drop(&mut self) {
        // `&mut` to all of the ring ends what was derived from `&` before.
        self.find_slots();
        // Both sides are gone, and dropping the last `Arc` acquires all that they did.
        let mut head = self.head.load(Ordering::Relaxed);
        let tail = self.tail.load(Ordering::Relaxed) & !FLAGS;
        while mem::needs_drop::<M>() && head != tail {
            self.slot(head).with_mut(|slot| {
                // SAFETY: the slots from `head` up to `tail` hold the messages that were put in and
                // not moved out. Nobody else has the ring any more, and the loop comes to each of
                // them once. Should a message panic when it is dropped, those behind it leak.
                unsafe { (*slot).assume_init_drop() };
            });
            head = head.wrapping_add(ONE);
        }
        if self.mask >= few::<M>() {
            let slots = self.slots.load(Ordering::Relaxed);
            // SAFETY: `many` made a box of so many slots, of which nobody else knows any more.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(slots, self.mask + 1)) });
        }
    }
}
