//! Running the processes of several roles in one task.
//!
//! In tasks of their own, roles that mostly wait for each other would pay for each message with a
//! turn of the executor's queue or a wake-up across threads. [`join`] polls them inside the task
//! that awaits it, and polls only those that were woken:
//!
//! ```text
//!            woken: {0, 1}     poll 0: waits
//!            woken: {1}        poll 1: sends to 0, which wakes it; waits
//!            woken: {0}        poll 0: ...
//!            woken: {}         wait, until something outside wakes one of them
//! ```
//!
//! Each process has its own waker, or `join` would poll all processes in each round. Most wake-ups
//! come from another process of the same set, so from the thread that is polling them. They only
//! set a bit, without an atomic read-modify-write. A thread-local variable tells which set the
//! thread is polling. Wake-ups from elsewhere (another thread, a timer) set their bit atomically,
//! and wake the task if it sleeps.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use pin_project_lite::pin_project;

use crate::seal::ByMacro;
use crate::states::state::polled_again;
use crate::sync::atomic::Ordering;
use crate::woken::{self, POLLING, Polling, Woken};

/// Runs the processes of several roles in the task that awaits it, and returns all their values.
///
/// Takes a tuple of up to twelve futures. This is the fastest way to run roles that mostly wait for
/// each other, on any executor. Each process has its own result: one that fails poisons its role,
/// and the others wake with an error of their own.
///
/// ```
/// # use rumpsteak_doctests::*;
/// use futures::executor::block_on;
///
/// let Roles { mut c, mut s } = Roles::default();
/// let (asked, served) = block_on(rumpsteak::join((try_run(&mut c, client), try_run(&mut s, server))));
/// assert_eq!(asked?, 2);
/// served?;
/// # Ok::<(), Error>(())
/// ```
///
/// A process may also wait for things outside of its session. The future is `Send` if the processes
/// are.
///
/// # Fairness
///
/// Woken processes take turns. After 1,024 polls in a row the task yields to the executor, so busy
/// roles leave time for other tasks.
///
/// # Cost
///
/// The first poll allocates once per process, and twice more. It allocates nothing if the last
/// `join` that ended on the thread had as many processes and left its wakers.
///
/// # Cancel safety
///
/// Dropping the future drops all processes that still run, which poisons their roles and wakes
/// peers elsewhere. So does a panic of a process. Polling by reference is cancel safe once the
/// future is pinned. It panics if it is polled after it has completed.
pub fn join<P: Processes>(processes: P) -> P::Joined {
    processes.join()
}

/// A tuple of processes that [`join`] can run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of processes",
    label = "not a tuple of futures",
    note = "`join` takes one argument, a tuple of up to twelve futures: `join((source(&mut s), sink(&mut t)))`"
)]
pub trait Processes {
    /// The future of all processes.
    type Joined: Future;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    #[doc(hidden)]
    fn join(self) -> Self::Joined;
}

macro_rules! processes {
    ($Joined:ident: $($process:ident: $Process:ident = $index:tt),+) => {
        pin_project! {
            // The processes are pinned here: an `async fn` would reserve memory for its arguments,
            // and once more for the pinned futures.
            #[must_use = "no process runs unless you `await` the future"]
            pub struct $Joined<$($Process: Future),+> {
                $(#[pin] $process: Option<$Process>,)+
                values: ($(Option<$Process::Output>,)+),
                schedule: Option<Schedule<{ [$($index),+].len() }>>,
            }
        }

        impl<$($Process: Future),+> Future for $Joined<$($Process),+> {
            type Output = ($($Process::Output,)+);

            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                let mut this = self.project();
                let schedule = this.schedule.get_or_insert_with(Schedule::new);
                ready!(schedule.poll(context, |index, context| match index {
                    $($index => poll_process(&mut this.$process, &mut this.values.$index, context),)+
                    _ => Poll::Pending,
                }));
                // The schedule completes when each process has given its value.
                Poll::Ready(($(this.values.$index.take().unwrap_or_else(|| polled_again()),)+))
            }
        }

        impl<$($Process: Future),+> Processes for ($($Process,)+) {
            type Joined = $Joined<$($Process),+>;

            const BY_MACRO: ByMacro = ByMacro(());

            fn join(self) -> Self::Joined {
                let ($($process,)+) = self;
                $(let $process = Some($process);)+
                $Joined { $($process,)+ values: Default::default(), schedule: None }
            }
        }
    };
}

/// The futures of `join`, by the number of processes.
mod joined {
    use super::*;

    processes!(Joined1: a: A = 0);
    processes!(Joined2: a: A = 0, b: B = 1);
    processes!(Joined3: a: A = 0, b: B = 1, c: C = 2);
    processes!(Joined4: a: A = 0, b: B = 1, c: C = 2, d: D = 3);
    processes!(Joined5: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4);
    processes!(Joined6: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5);
    processes!(Joined7: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5, g: G = 6);
    processes!(Joined8: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5, g: G = 6, h: H = 7);
    processes!(Joined9: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5, g: G = 6, h: H = 7, i: I = 8);
    processes!(Joined10: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5, g: G = 6, h: H = 7, i: I = 8, j: J = 9);
    processes!(Joined11: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5, g: G = 6, h: H = 7, i: I = 8, j: J = 9, k: K = 10);
    processes!(Joined12: a: A = 0, b: B = 1, c: C = 2, d: D = 3, e: E = 4, f: F = 5, g: G = 6, h: H = 7, i: I = 8, j: J = 9, k: K = 10, l: L = 11);
}

/// Polls a process. When it is done, keeps its value and drops it.
#[inline]
fn poll_process<F: Future>(
    process: &mut Pin<&mut Option<F>>,
    value: &mut Option<F::Output>,
    context: &mut Context<'_>,
) -> Poll<()> {
    let Some(running) = process.as_mut().as_pin_mut() else { return Poll::Ready(()) };
    match running.poll(context) {
        Poll::Ready(done) => {
            *value = Some(done);
            process.set(None);
            Poll::Ready(())
        }
        Poll::Pending => Poll::Pending,
    }
}

/// The number of process polls in one poll of the task.
const BUDGET: usize = 1024;

struct Schedule<const N: usize> {
    woken: Arc<Woken>,
    wakers: Vec<Waker>,
    /// A bit set of the processes that have not ended.
    running: usize,
    /// The process that was polled last. The search for the next one begins after it.
    last: usize,
}

impl<const N: usize> Schedule<N> {
    fn new() -> Self {
        let (woken, wakers) = woken::wakers(N);
        Self {
            woken,
            wakers,
            running: (1 << N) - 1,
            // So the first process is next.
            last: N - 1,
        }
    }

    /// Polls woken processes until none is left or all have ended.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        mut process: impl FnMut(usize, &mut Context<'_>) -> Poll<()>,
    ) -> Poll<()> {
        if self.running == 0 {
            return Poll::Ready(());
        }
        let woken = &*self.woken;
        woken.elsewhere.fetch_or(POLLING, Ordering::Acquire);
        let _polling = Polling::enter(woken.address());
        for _ in 0..BUDGET {
            if woken.elsewhere.load(Ordering::Relaxed) != POLLING {
                let others = woken.elsewhere.swap(POLLING, Ordering::AcqRel) & !POLLING;
                woken.add_here(others);
            }
            let here = woken.here.load(Ordering::Relaxed) & self.running;
            if here == 0 {
                // Sleep, unless a wake-up came meanwhile. A later wake-up also wakes the task.
                woken.task.register(context.waker());
                let (slept, woken_up) = (Ordering::AcqRel, Ordering::Relaxed);
                if woken.elsewhere.compare_exchange(POLLING, 0, slept, woken_up).is_ok() {
                    return Poll::Pending;
                }
                continue;
            }
            let behind = here & (usize::MAX << 1 << self.last);
            let next = if behind == 0 { here } else { behind };
            let index = next.trailing_zeros() as usize;
            self.last = index;
            // Before the poll: the process may be woken again while it runs.
            woken.here.store(here & !(1 << index), Ordering::Relaxed);
            let mut context = Context::from_waker(&self.wakers[index]);
            if process(index, &mut context).is_ready() {
                self.running &= !(1 << index);
                if self.running == 0 {
                    return Poll::Ready(());
                }
            }
        }
        // Leave the thread to other tasks. Processes that are due stay in the set.
        woken.elsewhere.fetch_and(!POLLING, Ordering::Release);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<const N: usize> Drop for Schedule<N> {
    fn drop(&mut self) {
        woken::keep((Arc::clone(&self.woken), mem::take(&mut self.wakers)));
    }
}

#[cfg(all(test, rumpsteak_loom))]
mod models {
    //! Models of the races between the thread that polls a set and the threads that wake its
    //! processes: see `channel::models`.

    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Poll;

    use loom::future::block_on;
    use loom::model::Builder;
    use loom::thread;

    use futures_core::Stream as _;

    use super::join;
    use crate::channel::QueueSender;
    use crate::sync::AtomicWaker;
    use crate::transport::Pair as _;
    use crate::woken::is_polling;

    /// A condition that a process waits for.
    struct Signal {
        waker: AtomicWaker,
        rung: loom::sync::atomic::AtomicUsize,
    }

    impl Signal {
        fn new() -> loom::sync::Arc<Self> {
            loom::sync::Arc::new(Self {
                waker: AtomicWaker::default(),
                rung: loom::sync::atomic::AtomicUsize::new(0),
            })
        }

        fn ring(&self) {
            self.rung.fetch_add(1, loom::sync::atomic::Ordering::AcqRel);
            self.waker.wake();
        }

        async fn wait(&self, times: usize) {
            std::future::poll_fn(|context| {
                self.waker.register(context.waker());
                if self.rung.load(loom::sync::atomic::Ordering::Acquire) < times {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            })
            .await;
        }
    }

    fn model(race: impl Fn() + Sync + Send + 'static) {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(race);
    }

    /// Another thread wakes a process while the set finds no process to poll and goes to sleep.
    #[test]
    fn wake_races_with_going_to_sleep() {
        model(|| {
            let signal = Signal::new();
            let other = {
                let signal = signal.clone();
                thread::spawn(move || signal.ring())
            };
            block_on(join((signal.wait(1), async {})));
            other.join().unwrap();
        });
    }

    /// As before, twice: at the second wake-up the set may sleep, be woken or be polling.
    #[test]
    fn wake_races_with_waking_up() {
        model(|| {
            let signal = Signal::new();
            let other = {
                let signal = signal.clone();
                thread::spawn(move || {
                    signal.ring();
                    signal.ring();
                })
            };
            let twice = async {
                signal.wait(1).await;
                signal.wait(2).await;
            };
            block_on(join((twice, async {})));
            other.join().unwrap();
        });
    }

    /// Two threads wake one process each: neither bit is lost.
    #[test]
    fn wakes_from_two_threads_race() {
        model(|| {
            let signals = [Signal::new(), Signal::new()];
            let others = signals.clone().map(|signal| thread::spawn(move || signal.ring()));
            block_on(join((signals[0].wait(1), signals[1].wait(1))));
            for other in others {
                other.join().unwrap();
            }
        });
    }

    /// Another thread wakes a process while the set completes; its wakers outlive it.
    #[test]
    fn wake_races_with_completion() {
        model(|| {
            let signal = Signal::new();
            let done = Arc::new(AtomicBool::new(false));
            let other = {
                let signal = signal.clone();
                thread::spawn(move || {
                    signal.ring();
                    signal.ring();
                })
            };
            block_on(async {
                join((signal.wait(1), async { done.store(true, Ordering::Relaxed) })).await;
                assert!(!is_polling());
            });
            other.join().unwrap();
            assert!(done.load(Ordering::Relaxed));
        });
    }

    /// Another thread wakes a process of a completed set while its wakers serve the next set.
    #[test]
    fn wake_of_a_set_that_is_done_races_with_the_next() {
        model(|| {
            let signals = [Signal::new(), Signal::new()];
            let others = signals.clone().map(|signal| thread::spawn(move || signal.ring()));
            for signal in signals {
                block_on(join((signal.wait(1),)));
            }
            for other in others {
                other.join().unwrap();
            }
        });
    }

    /// A receiver asks for another turn instead of parking, and then parks, while another thread
    /// sends and drops its end.
    #[test]
    fn turn_asked_for_races_with_send() {
        model(|| {
            let (mut tx, mut rx) = QueueSender::pair();
            let other = thread::spawn(move || tx.try_send(7));
            let received = std::future::poll_fn(|context| Pin::new(&mut rx).poll_next(context));
            let (received, ()) = block_on(join((received, async {})));
            assert_eq!(received, Some(7));
            assert_eq!(other.join().unwrap(), Ok(()));
        });
    }

    /// A process of the set wakes another one while a thread wakes it too.
    #[test]
    fn wake_from_within_races_with_wake_from_elsewhere() {
        model(|| {
            let signal = Signal::new();
            let other = {
                let signal = signal.clone();
                thread::spawn(move || signal.ring())
            };
            block_on(join((signal.wait(2), async { signal.ring() })));
            other.join().unwrap();
        });
    }
}
