//! The workloads over cells that hold a few numbers: the least that two tasks do to wait for each
//! other. Nothing is checked or allocated, and no task can leave. This is the floor in
//! instructions, but not in time: the waker of `futures` takes more atomic steps than a queue of
//! this project.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;

use futures::task::AtomicWaker;

const EMPTY: i32 = i32::MIN;
const READY: i32 = -1;
const STOP: i32 = -2;

/// The number of numbers in a cell: more than are under way in any of the workloads.
const PLACES: usize = 8;

/// Places for numbers, one after the other.
#[derive(Debug)]
struct Cell {
    places: [AtomicI32; PLACES],
    waker: AtomicWaker,
}

impl Cell {
    fn new() -> Arc<Self> {
        let places = [const { AtomicI32::new(EMPTY) }; PLACES];
        Arc::new(Self { places, waker: AtomicWaker::new() })
    }
}

/// A cell to take from, and one to put into, with how often that was done.
#[derive(Debug)]
pub struct End {
    before: Arc<Cell>,
    taken: usize,
    after: Arc<Cell>,
    put: usize,
}

impl End {
    fn new(before: &Arc<Cell>, after: &Arc<Cell>) -> Self {
        Self { before: Arc::clone(before), taken: 0, after: Arc::clone(after), put: 0 }
    }

    fn put(&mut self, number: i32) {
        self.after.places[self.put % PLACES].store(number, Ordering::Release);
        self.put += 1;
        self.after.waker.wake();
    }

    async fn take(&mut self) -> i32 {
        let place = &self.before.places[self.taken % PLACES];
        self.taken += 1;
        let taken = || match place.load(Ordering::Acquire) {
            EMPTY => None,
            number => {
                place.store(EMPTY, Ordering::Release);
                Some(number)
            }
        };
        poll_fn(|context| {
            if let Some(number) = taken() {
                return Poll::Ready(number);
            }
            self.before.waker.register(context.waker());
            taken().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Streaming.
pub mod streaming {
    use super::{Cell, End, Infallible, READY, STOP};

    /// Both ends.
    #[must_use]
    pub fn pair() -> (End, End) {
        let (asked, values) = (Cell::new(), Cell::new());
        (End::new(&asked, &values), End::new(&values, &asked))
    }

    /// Sends `count` values, each when it is asked for.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn source(s: &mut End, count: i32) -> Result<(), Infallible> {
        stream(s, count, 0).await;
        Ok(())
    }

    /// The same, five values ahead.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn windowed_source(s: &mut End, count: i32) -> Result<(), Infallible> {
        stream(s, count, 5).await;
        Ok(())
    }

    async fn stream(s: &mut End, count: i32, most: i32) {
        let ahead = most.min(count);
        for value in 0..ahead {
            s.put(value);
        }
        for value in ahead..count {
            s.take().await;
            s.put(value);
        }
        s.take().await;
        s.put(STOP);
        for _ in 0..ahead {
            s.take().await;
        }
    }

    /// Asks for values until the source stops, and returns their sum.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn sink(t: &mut End) -> Result<i32, Infallible> {
        let mut sum = 0;
        loop {
            t.put(READY);
            match t.take().await {
                STOP => return Ok(sum),
                value => sum += value,
            }
        }
    }
}

/// The ring of three.
pub mod ring {
    use super::{Cell, End, Infallible};
    use crate::bare::ring::Stopped;

    /// All places.
    #[must_use]
    pub fn places() -> [End; 3] {
        let cells = [Cell::new(), Cell::new(), Cell::new()];
        [(2, 0), (0, 1), (1, 2)].map(|(before, after)| End::new(&cells[before], &cells[after]))
    }

    /// Sends a number round `laps` times, then stops.
    ///
    /// # Errors
    ///
    /// The last number.
    pub async fn first(place: &mut End, laps: i32) -> Result<Infallible, Stopped> {
        let mut value = 0;
        for _ in 0..laps {
            place.put(value + 1);
            value = place.take().await;
        }
        Err(Stopped::With(value))
    }

    /// Passes it on.
    ///
    /// # Errors
    ///
    /// None; it never stops.
    pub async fn next(place: &mut End) -> Result<Infallible, Stopped> {
        loop {
            let value = place.take().await;
            place.put(value + 1);
        }
    }
}
