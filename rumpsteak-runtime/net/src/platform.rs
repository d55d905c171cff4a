//! Tasks and timers: tokio's, and in a browser what takes their place; and locks.
//!
//! A browser calls the code of a page, and the code must not block. So no runtime of tokio can run
//! there. The tasks are tokio's all the same: the event loop of the browser drives a `LocalSet`.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(not(target_family = "wasm"))]
pub(crate) use tokio::{spawn, task, time};

#[cfg(target_family = "wasm")]
pub(crate) use self::browser::{spawn, task, time};

/// Locks a mutex whose holders never panic half-way through a change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(target_family = "wasm")]
mod browser {
    use std::future::pending;

    use tokio::task::{JoinHandle, LocalSet};

    thread_local! {
        static TASKS: &'static LocalSet = {
            let tasks: &LocalSet = Box::leak(Box::default());
            wasm_bindgen_futures::spawn_local(tasks.run_until(pending()));
            tasks
        };
    }

    pub(crate) fn spawn<T: 'static>(task: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        TASKS.with(|tasks| tasks.spawn_local(task))
    }

    pub(crate) mod time {
        pub(crate) use n0_future::time::*;

        pub(crate) fn timeout_at<F: Future>(until: Instant, future: F) -> Timeout<F> {
            timeout(until.duration_since(Instant::now()), future)
        }
    }

    pub(crate) mod task {
        pub(crate) use tokio::task::{AbortHandle, JoinError, JoinHandle};

        /// Runs the closure in a task, because a page has no other thread.
        pub(crate) fn spawn_blocking<T: 'static>(
            run: impl FnOnce() -> T + 'static,
        ) -> JoinHandle<T> {
            super::spawn(async { run() })
        }

        /// tokio's, for tasks of the page.
        #[derive(Default)]
        pub(crate) struct JoinSet<T>(tokio::task::JoinSet<T>);

        impl<T: 'static> JoinSet<T> {
            pub(crate) fn spawn(&mut self, task: impl Future<Output = T> + 'static) {
                super::TASKS.with(|tasks| self.0.spawn_local_on(task, tasks));
            }

            pub(crate) fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
                self.0.try_join_next()
            }

            pub(crate) fn abort_all(&mut self) {
                self.0.abort_all();
            }
        }
    }
}
