//! The runtimes on which sessions are measured.

use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::{Error, Result};

/// A runtime of tokio with one thread: the caller's.
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

/// A runtime of tokio with two threads beside the caller's, which waits.
///
/// # Errors
///
/// [`Error::Wrong`] if the system has no resources for it.
pub(crate) fn two_threads() -> Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().map_err(Error::wrong)
}

/// Two tasks that end at once: what tasks on this runtime take, whatever they do.
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

/// Waits, if there is something to wait for: by tokio's timer in a runtime of tokio, and asleep in
/// a thread that has none.
pub(crate) async fn pause(delay: Option<Duration>) {
    match delay {
        None => {}
        Some(delay) if Handle::try_current().is_ok() => tokio::time::sleep(delay).await,
        Some(delay) => thread::sleep(delay),
    }
}
