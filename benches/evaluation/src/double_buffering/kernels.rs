//! The orders of the kernel, all roles in threads, and their buffers.

use std::panic;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

use futures::executor::block_on;

use super::ours::{K, Roles, kernel, optimised_kernel, sink, source, weak_kernel};
use crate::{Error, Result};

/// The time at which the kernel asks for the second buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    Plain,
    Weak,
    Optimised,
}

impl Kernel {
    pub(crate) async fn run<F: Future<Output = ()>>(
        self,
        role: &mut K,
        pause: impl Fn() -> F,
    ) -> rumpsteak_runtime::Result<()> {
        match self {
            Self::Plain => kernel(role, pause).await,
            Self::Weak => weak_kernel(role, pause).await,
            Self::Optimised => optimised_kernel(role, pause).await,
        }
    }
}

/// Double buffering with a thread for each role.
pub(crate) fn pass_on_in_threads<F: Future<Output = ()>>(
    roles: &mut Roles,
    halves: [&[i32]; 2],
    order: Kernel,
    pause: impl Fn() -> F + Copy + Send,
) -> Result<[Vec<i32>; 2]> {
    let Roles { s, k, t } = roles;
    let ended = |thread: ScopedJoinHandle<'_, _>| match thread.join() {
        Ok(ended) => ended,
        Err(panic) => panic::resume_unwind(panic),
    };
    let received = thread::scope(|scope| {
        let sending = scope.spawn(move || block_on(source(s, halves, pause)));
        let passing = scope.spawn(move || block_on(order.run(k, pause)));
        let received = block_on(sink(t));
        ended(sending).and(ended(passing)).and(received)
    });
    received.map_err(Error::wrong)
}

/// The values of both buffers.
pub(crate) fn values(count: usize) -> Arc<[i32]> {
    (0..).take(count).collect()
}

/// Both buffers.
pub(crate) fn halves(values: &[i32]) -> [&[i32]; 2] {
    let (first, second) = values.split_at(values.len() / 2);
    [first, second]
}

/// Checks the buffers of the sink: all values the first time, then lengths and ends, because
/// comparing takes as long as copying.
pub(crate) fn check(received: &[Vec<i32>], values: &[i32], is_first: bool) -> Result<()> {
    let expected = halves(values);
    let is_right = received.len() == 2
        && received.iter().zip(expected).all(|(received, expected)| {
            received.len() == expected.len()
                && received.first() == expected.first()
                && received.last() == expected.last()
                && (!is_first || received == expected)
        });
    if is_right { Ok(()) } else { Err(Error::wrong("the sink received other buffers")) }
}
