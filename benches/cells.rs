//! The workloads over cells that hold one number: as little as two tasks can do that wait for each
//! other. Nothing is checked, nobody can leave, and nothing is allocated. It is the floor in
//! instructions; in time it is not, because the waker of `futures` takes more atomic steps than a
//! queue of this project.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;

use futures::task::AtomicWaker;

const EMPTY: i32 = i32::MIN;
const READY: i32 = -1;
const STOP: i32 = -2;

/// A place for one number.
#[derive(Debug)]
struct Cell {
    number: AtomicI32,
    waker: AtomicWaker,
}

impl Cell {
    fn new() -> Arc<Self> {
        Arc::new(Self { number: AtomicI32::new(EMPTY), waker: AtomicWaker::new() })
    }

    fn put(&self, number: i32) {
        self.number.store(number, Ordering::Release);
        self.waker.wake();
    }

    async fn take(&self) -> i32 {
        let taken = || match self.number.load(Ordering::Acquire) {
            EMPTY => None,
            number => {
                self.number.store(EMPTY, Ordering::Release);
                Some(number)
            }
        };
        poll_fn(|context| {
            if let Some(number) = taken() {
                return Poll::Ready(number);
            }
            self.waker.register(context.waker());
            taken().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// A cell to take from, and one to put into.
#[derive(Debug)]
pub struct End {
    before: Arc<Cell>,
    after: Arc<Cell>,
}

/// Streaming.
pub mod streaming {
    use super::{Arc, Cell, End, Infallible, READY, STOP};

    /// Both ends.
    #[must_use]
    pub fn pair() -> (End, End) {
        let (asked, values) = (Cell::new(), Cell::new());
        let other = End { before: Arc::clone(&values), after: Arc::clone(&asked) };
        (End { before: asked, after: values }, other)
    }

    /// Sends `count` values, each when it is asked for.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn source(s: &mut End, count: i32) -> Result<(), Infallible> {
        for value in 0..count {
            s.before.take().await;
            s.after.put(value);
        }
        s.before.take().await;
        s.after.put(STOP);
        Ok(())
    }

    /// Asks for values until there are no more, and returns their sum.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn sink(t: &mut End) -> Result<i32, Infallible> {
        let mut sum = 0;
        loop {
            t.after.put(READY);
            match t.before.take().await {
                STOP => return Ok(sum),
                value => sum += value,
            }
        }
    }
}

/// The ring of three.
pub mod ring {
    use super::{Arc, Cell, End, Infallible};
    use crate::bare::ring::Stopped;

    /// All places.
    #[must_use]
    pub fn places() -> [End; 3] {
        let cells = [Cell::new(), Cell::new(), Cell::new()];
        let place = |before: usize, after: usize| End {
            before: Arc::clone(&cells[before]),
            after: Arc::clone(&cells[after]),
        };
        [place(2, 0), place(0, 1), place(1, 2)]
    }

    /// Sends a number round `laps` times, then stops.
    ///
    /// # Errors
    ///
    /// The last number.
    pub async fn first(place: &mut End, laps: i32) -> Result<Infallible, Stopped> {
        let mut value = 0;
        for _ in 0..laps {
            place.after.put(value + 1);
            value = place.before.take().await;
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
            let value = place.before.take().await;
            place.after.put(value + 1);
        }
    }
}
