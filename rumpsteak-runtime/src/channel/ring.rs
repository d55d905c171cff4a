//! A ring: a fixed piece of memory that one side writes and the other reads, without a lock.
//!
//! ```text
//!                 head            tail
//!                  v               v
//!     | free | free | msg  | msg  | free | free | ...      room = capacity - (tail - head)
//! ```
//!
//! Both are counters that only go up (and wrap). The number of slots is a power of two, so the low
//! bits of a position are its slot. Only the [`Producer`] moves `tail` and only the [`Consumer`]
//! moves `head`. Each remembers the other's counter and loads it again only when that is used up.
//!
//! `tail` shares its word with three flags, which make waiting cheap. A consumer that finds nothing
//! parks with one compare-and-exchange on the word in which it saw nothing: if that succeeds, there
//! was nothing at that moment, and it need not check again. The producer swaps the word, which
//! makes the message visible, clears the flags and tells if it must wake, all in one step.
//!
//! | flag | set by | cleared by |
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
//! and acquires). So the owner of a slot has seen all that was done to it before. A remembered
//! counter may be too old, never too new: its side then owns more slots than it knows of.
//!
//! # Cost
//!
//! One atomic read-modify-write per message sent, none per message received, and one each time that
//! the consumer waits. One slot per message of capacity, rounded up to a power of two. One
//! allocation; two if the slots take more than 256 bytes.
//!
//! The crate `rtrb` keeps its counters private, so the flags would need a word of their own, a
//! second check by the side that parks and a second atomic step of the sender: 12 % to 14 % more
//! instructions.

#![allow(
    unsafe_code,
    reason = "both sides write and read messages in shared memory; `models` checks every race"
)]

use std::marker::PhantomData;
use std::mem::{self, MaybeUninit, offset_of};
use std::ptr;

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::sync::cell::UnsafeCell;
use crate::sync::{self, Arc};

/// The consumer waits.
pub(super) const PARKED: usize = 1;
/// The consumer has left a new waker.
pub(super) const FRESH: usize = 2;
/// No more messages will be written.
const ENDED: usize = 4;
const FLAGS: usize = PARKED | FRESH | ENDED;
/// One position further.
const ONE: usize = FLAGS + 1;
/// The first position. Not 0: rustc would turn a gap between zeros into zeros too, and copy them
/// into the ring. That made a set of roles a quarter slower to make and drop.
const FIRST: usize = ONE;

/// The writing side. `P` is its user's state.
pub(super) struct Producer<M, T, P, C> {
    ring: Arc<Ring<M, T, P, C>>,
}

/// The reading side. `C` is its user's state.
pub(super) struct Consumer<M, T, P, C> {
    ring: Arc<Ring<M, T, P, C>>,
}

pub(super) type Sides<M, T, P, C> = (Producer<M, T, P, C>, Consumer<M, T, P, C>);

/// The producer's own part.
struct Writing<P> {
    /// The position of the next message: the ring's `tail` without flags.
    tail: usize,
    /// The position up to which there was room at the last look.
    limit: usize,
    /// True if the ring takes no message: it has ended, or is held.
    is_shut: bool,
    has_ended: bool,
    state: P,
}

/// The consumer's own part.
struct Reading<C> {
    /// A position that the ring's `tail` has reached.
    tail: usize,
    state: C,
}

/// The word in which a consumer parks.
pub(super) struct Word<'a>(&'a AtomicUsize);

/// The word in which a consumer saw that the ring is empty, for [`Word::park`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Empty(usize);

/// The shared part, and beside it each side's own part. This keeps the sides small: roles are moved
/// often before their sessions begin. Positions count in steps of [`ONE`].
///
/// The parts that different sides write are two cache lines apart (some processors fetch lines in
/// pairs), so that writing one does not slow down the other. They are kept apart by gaps, because
/// allocators take several times as long for an alignment. Rarely used fields fill the place
/// before `tail`.
#[repr(C)]
struct Ring<M, T, P, C> {
    /// The first slot: in `few` if the slots fit there, else in memory of their own. Only written
    /// while no one else has the ring.
    slots: AtomicPtr<Slot<M>>,
    /// The number of slots minus one. The number is a power of two, and at least `capacity`.
    mask: usize,
    capacity: usize,
    shared: T,
    /// The producer's position, and the flags.
    tail: AtomicUsize,
    before_head: Gap,
    /// The consumer's position.
    head: AtomicUsize,
    reading: UnsafeCell<Reading<C>>,
    before_writing: Gap,
    writing: UnsafeCell<Writing<P>>,
    behind_writing: Gap,
    few: UnsafeCell<Few>,
    messages: PhantomData<M>,
}

/// Keeps the fields before and behind it apart.
type Gap = MaybeUninit<[u8; 128]>;

type Slot<M> = UnsafeCell<MaybeUninit<M>>;

/// Room for a few slots.
type Few = MaybeUninit<[u128; 16]>;

// SAFETY: of the shared memory, the slots and the sides' own parts need not be `Sync` by
// themselves. A slot has one owner at a time (see above), and passes from one side to the other
// like a message that is sent to another thread, hence `M: Send`. A reference to a message is only
// lent on the side that owns it, so `M: Sync` is not needed. A side's own part is only reached
// through that side, which exists once: exclusively through `&mut`, and shared through `&`, hence
// `Send` and `Sync`.
unsafe impl<M: Send, T: Sync, P: Send + Sync, C: Send + Sync> Sync for Ring<M, T, P, C> {}

/// Makes a ring with room for `capacity` messages, the shared data and the users' states, each in
/// its final place. Panics if `capacity` is too large.
#[inline]
pub(super) fn ring<M, T, P, C>(
    capacity: usize,
    shared: impl FnOnce() -> T,
    producer: impl FnOnce() -> P,
    consumer: impl FnOnce() -> C,
) -> Sides<M, T, P, C> {
    let count = capacity.checked_next_power_of_two();
    // 128 bytes, or half of that if words have 32 bits.
    const { assert!(offset_of!(Ring<M, T, P, C>, tail) >= 16 * size_of::<usize>()) };
    // The positions of a ring must differ, even twice round.
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

/// The number of slots that fit into [`Few`].
const fn few<M>() -> usize {
    // loom's cells must be constructed one by one.
    if cfg!(all(test, rumpsteak_loom)) || align_of::<Slot<M>>() > align_of::<Few>() {
        return 0;
    }
    match size_of::<Slot<M>>() {
        0 => usize::MAX,
        size => size_of::<Few>() / size,
    }
}

/// Makes slots in memory of their own, which the ring frees when it is dropped.
#[cold]
fn many<M>(count: usize) -> *mut Slot<M> {
    let slots: Box<[Slot<M>]> =
        (0..count).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    Box::into_raw(slots).cast()
}

impl<M, T, P, C> Ring<M, T, P, C> {
    /// Points at the slots inside the ring, which must not move any more.
    #[inline]
    fn find_slots(&self) {
        if self.mask < few::<M>() {
            self.slots.store(self.few.with_mut(|few| few.cast()), Ordering::Relaxed);
        }
    }

    #[inline]
    fn slot(&self, position: usize) -> &Slot<M> {
        let slots = self.slots.load(Ordering::Relaxed);
        // SAFETY: there are `mask + 1` slots, so the masked position is the position of one. It
        // lives as long as the ring: it is inside it, or in memory that the ring frees. Any bytes
        // are a valid slot, and slots are only accessed by shared references.
        unsafe { &*slots.add((position / ONE) & self.mask) }
    }
}

impl<M, T, P, C> Producer<M, T, P, C> {
    #[inline]
    pub(super) fn shared(&self) -> &T {
        &self.ring.shared
    }

    /// The shared data and the user's state.
    #[inline]
    pub(super) fn state(&mut self) -> (&T, &mut P) {
        let (ring, writing) = self.parts();
        (&ring.shared, &mut writing.state)
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Ring<M, T, P, C>, &mut Writing<P>) {
        // SAFETY: a ring has one producer, and nothing else touches its part. `&mut self` is
        // borrowed as long as the reference lives.
        let writing = self.ring.writing.with_mut(|writing| unsafe { &mut *writing });
        (&self.ring, writing)
    }

    #[inline(always)]
    fn writing(&self) -> &Writing<P> {
        // SAFETY: as in `parts`, with shared access.
        self.ring.writing.with(|writing| unsafe { &*writing })
    }

    /// The number of messages that an empty ring has room for.
    pub(super) fn capacity(&self) -> usize {
        self.ring.capacity
    }

    /// Returns true if there is room for a message. Always false while the ring is held, and once
    /// it has ended.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        self.saw_room() || self.look_for_room()
    }

    /// Returns true if there was room for a message at the last look: then there still is.
    #[inline(always)]
    pub(super) fn saw_room(&self) -> bool {
        let writing = self.writing();
        writing.tail != writing.limit
    }

    /// Returns true if [`end`](Producer::end) was called.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.writing().has_ended
    }

    /// Makes the ring take no message until it is [released](Self::release): the next `push` finds
    /// no room. A `push` that finds room pays nothing for this.
    pub(super) fn hold(&mut self) {
        let (_, writing) = self.parts();
        writing.is_shut = true;
        writing.limit = writing.tail;
    }

    /// Makes a held ring take messages again. Returns true if it was held.
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

    /// Puts a message into the ring and returns the flags of a waiting consumer, which must then be
    /// woken. Returns the message if the ring is full, held or ended.
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
            // consumer has moved the last one out before it released that `head`. So nothing is
            // overwritten without being dropped, and nothing else touches the slot before `tail` is
            // written. `&mut self` keeps other producers away.
            unsafe { (*slot).write(message) };
        });
        let tail = tail.wrapping_add(ONE);
        writing.tail = tail;
        // The old word has the position of this message, and flags.
        Ok(ring.tail.swap(tail, Ordering::AcqRel) & FLAGS)
    }

    /// Returns the flags of a waiting consumer, as `push` does, and clears them.
    pub(super) fn touch(&mut self) -> usize {
        self.ring.tail.fetch_and(!(PARKED | FRESH), Ordering::AcqRel) & (PARKED | FRESH)
    }

    /// Ends the ring. Returns the flags of a waiting consumer, as `push` does.
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
    #[inline]
    pub(super) fn shared(&self) -> &T {
        &self.ring.shared
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Ring<M, T, P, C>, &mut Reading<C>) {
        // SAFETY: as for the producer: a ring has one consumer.
        let reading = self.ring.reading.with_mut(|reading| unsafe { &mut *reading });
        (&self.ring, reading)
    }

    #[inline(always)]
    pub(super) fn state_ref(&self) -> &C {
        // SAFETY: as in `parts`, with shared access.
        &self.ring.reading.with(|reading| unsafe { &*reading }).state
    }

    /// Takes the next message out of the ring. If the ring is empty, returns the word that says so.
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
        // Only the consumer writes `head`.
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

    /// Gives back the slot at `head` after its message was taken.
    #[inline(always)]
    fn give_back(&mut self, head: usize) {
        self.ring.head.store(head.wrapping_add(ONE), Ordering::Release);
    }

    /// Returns true if the producer has written nothing since the consumer parked: its next write
    /// wakes the consumer.
    #[inline]
    pub(super) fn is_parked(&self) -> bool {
        self.ring.tail.load(Ordering::Relaxed) & PARKED != 0
    }

    /// The shared data, the user's state, and the word in which to park.
    #[inline]
    pub(super) fn state(&mut self) -> (&T, &mut C, Word<'_>) {
        let (ring, reading) = self.parts();
        (&ring.shared, &mut reading.state, Word(&ring.tail))
    }
}

impl Word<'_> {
    /// Parks with these flags. Returns false if the producer has written since the consumer saw the
    /// ring empty.
    #[inline]
    pub(super) fn park(&self, empty: Empty, flags: usize) -> bool {
        let (seen, parked) = (empty.0, empty.0 | flags);
        // A consumer that is already parked with the same waker need not park again: if the
        // producer has written since, it wakes that waker. With a new waker, only the exchange
        // shows that the producer has not gone for the old one yet.
        flags == PARKED && seen == parked
            || self.0.compare_exchange(seen, parked, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl Empty {
    /// Returns true if no message will ever follow.
    #[inline]
    pub(super) fn is_final(self) -> bool {
        self.0 & ENDED != 0
    }

    /// Returns true if the consumer had parked and nothing was written since.
    #[inline]
    pub(super) fn is_parked(self) -> bool {
        self.0 & PARKED != 0
    }

    /// Returns true if no message came in between.
    #[inline]
    pub(super) fn is_same(self, other: Self) -> bool {
        self.0 & !FLAGS == other.0 & !FLAGS
    }
}

impl<M, T, P, C> Drop for Ring<M, T, P, C> {
    fn drop(&mut self) {
        // `&mut` to the whole ring invalidates pointers that were derived from `&` before.
        self.find_slots();
        // Both sides are gone, and dropping the last `Arc` acquires all that they did.
        let mut head = self.head.load(Ordering::Relaxed);
        let tail = self.tail.load(Ordering::Relaxed) & !FLAGS;
        while mem::needs_drop::<M>() && head != tail {
            self.slot(head).with_mut(|slot| {
                // SAFETY: the slots from `head` up to `tail` hold the messages that were put in and
                // not moved out. Nothing else has the ring any more, and the loop visits each slot
                // once. If dropping a message panics, those behind it leak.
                unsafe { (*slot).assume_init_drop() };
            });
            head = head.wrapping_add(ONE);
        }
        if self.mask >= few::<M>() {
            let slots = self.slots.load(Ordering::Relaxed);
            // SAFETY: `many` made a box of this many slots, and nothing else points to it.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(slots, self.mask + 1)) });
        }
    }
}
