//! The runtimes on which sessions are measured.

use std::future::{Ready, ready};
use std::hint::spin_loop;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::{Error, Result};

/// A tokio runtime with one thread: the caller's.
///
/// # Errors
///
/// [`Error::Wrong`] if the system has no resources for it.
pub(crate) fn one_thread() -> Result<Runtime> {
    Builder::new_current_thread().enable_time().build().map_err(Error::wrong)
}

/// The same, with sockets.
///
/// # Errors
///
/// As `one_thread`.
pub(crate) fn one_thread_of_sockets() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(Error::wrong)
}

/// A tokio runtime with two threads beside the caller's, which waits.
///
/// # Errors
///
/// [`Error::Wrong`] if the system has no resources for it.
pub(crate) fn two_threads() -> Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().map_err(Error::wrong)
}

/// A thread beside the caller's, which works on demand. Both spin for a while before they sleep:
/// waking a thread takes tens of microseconds or more.
pub(crate) struct Second<I, O> {
    told: Sender<I>,
    done: Receiver<O>,
}

impl<I: Send + 'static, O: Send + 'static> Second<I, O> {
    /// A thread that does this work, and ends when this value is dropped.
    pub(crate) fn new(mut work: impl FnMut(I) -> O + Send + 'static) -> Self {
        let ((told, telling), (doing, done)) = (channel(), channel());
        thread::spawn(move || {
            while let Some(input) = next(&telling) {
                if doing.send(work(input)).is_err() {
                    break;
                }
            }
        });
        Self { told, done }
    }

    /// Runs the thread on its input, and a function of the caller meanwhile. Returns both results.
    ///
    /// # Errors
    ///
    /// [`Error::Wrong`] if the thread has panicked.
    pub(crate) fn beside<T>(&self, input: I, own: impl FnOnce() -> T) -> Result<(O, T)> {
        let gone = || Error::wrong("the second thread is gone");
        self.told.send(input).map_err(|_| gone())?;
        let own = own();
        Ok((next(&self.done).ok_or_else(gone)?, own))
    }
}

/// How long a thread spins: longer than it takes to wake the other one, or both would sleep in
/// turn.
const AWAKE: Duration = Duration::from_millis(1);

/// The next message. The thread spins for a while before it sleeps; `None` at the end.
fn next<T>(messages: &Receiver<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        match messages.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if start.elapsed() < AWAKE => spin_loop(),
            Err(TryRecvError::Empty) => return messages.recv().ok(),
        }
    }
}

/// Two tasks that end at once: the floor for tasks on this runtime.
///
/// # Errors
///
/// [`Error::Wrong`] if a task panics.
pub(crate) fn empty_tasks(runtime: &Runtime) -> Result<()> {
    let both = async { tokio::try_join!(tokio::spawn(async {}), tokio::spawn(async {})) };
    runtime.block_on(both).map(|_| ()).map_err(Error::wrong)
}

/// Checks a result.
///
/// # Errors
///
/// [`Error::Wrong`] if it is another one than expected.
pub(crate) fn expect<T: PartialEq + std::fmt::Debug>(actual: &T, expected: &T) -> Result<()> {
    if actual == expected {
        Ok(())
    } else {
        Err(Error::Wrong(format!("{actual:?} instead of {expected:?}")))
    }
}

/// No pause: only the process is measured.
pub(crate) fn no_pause() -> Ready<()> {
    ready(())
}

/// How long a [`pause`] is.
pub(crate) const PAUSE: Duration = Duration::from_millis(1);

/// Waits: by tokio's timer in a tokio runtime, and otherwise by sleeping.
pub(crate) async fn pause() {
    if Handle::try_current().is_ok() {
        tokio::time::sleep(PAUSE).await;
    } else {
        thread::sleep(PAUSE);
    }
}

/// Keeps the processor busy for so long, without a pause for other tasks of the thread.
pub(crate) async fn busy(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
}
