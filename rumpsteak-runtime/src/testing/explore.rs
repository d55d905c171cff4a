//! Running all roles in every interleaving.

use std::cell::{Cell, RefCell};
use std::error::Error as StdError;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use futures_core::future::LocalBoxFuture;

use crate::error::{Action, BoxError, Error, ErrorKind, any_of};

/// The number of interleavings that [`explore`] tries.
const MOST: usize = 10_000;

/// The number of polls in one interleaving, for processes that never end.
const MOST_POLLS: usize = 1_000;

/// The processes of a set of roles, each with a name for messages.
#[derive(Default)]
pub struct Processes(Vec<Process>);

struct Process {
    name: String,
    /// `None` once the process has ended, which drops its role too, as at the end of a task.
    future: Option<LocalBoxFuture<'static, Result<(), BoxError>>>,
    woken: Arc<Woken>,
}

impl Processes {
    /// Adds a process that owns its role: `async move { client(&mut c, 1).await }`.
    pub fn add<T, E: Into<BoxError>>(
        &mut self,
        name: impl Into<String>,
        process: impl Future<Output = Result<T, E>> + 'static,
    ) -> &mut Self {
        let process = async move { process.await.map(drop).map_err(Into::into) };
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.0.push(Process { name: name.into(), future: Some(Box::pin(process)), woken });
        self
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|process| &process.name)).finish()
    }
}

/// The result of [`explore`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Explored {
    /// The number of interleavings that were run.
    pub interleavings: usize,
    /// True if these are all interleavings, each run to its end.
    pub is_complete: bool,
}

/// Runs processes in every interleaving, up to 10,000 of them, one after the other on this thread.
///
/// `set` makes the roles and processes afresh for each. A deterministic scheduler polls one woken
/// process after the other and tries every order. A process may perform several actions in one
/// poll. Other processes only notice that through state that they share outside of their sessions.
///
/// ```
/// # use rumpsteak_doctests::*;
/// use rumpsteak::testing;
///
/// let explored = testing::explore(|processes| {
///     let Roles { mut c, mut s } = Roles::default();
///     processes.add("client", async move {
///         assert_eq!(try_run(&mut c, client).await?, 2);
///         Ok::<_, Error>(())
///     });
///     processes.add("server", async move { try_run(&mut s, server).await });
/// });
/// assert!(explored.is_complete);
/// ```
///
/// Processes may wait for their sessions and for each other (channels, locks of any library), but
/// not for timers, threads or sockets, and must otherwise do the same each time. After 1,000 polls,
/// the processes are dropped, and the result is not complete.
///
/// # Panics
///
/// If a process panics or returns an error; the message names the interleaving. If no process can
/// continue although one has not ended; the message says who waits for whom.
#[track_caller]
pub fn explore(set: impl FnMut(&mut Processes)) -> Explored {
    explore_up_to(MOST, set)
}

/// Runs processes as [`explore`] does, up to this many interleavings.
#[track_caller]
pub fn explore_up_to(most: usize, mut set: impl FnMut(&mut Processes)) -> Explored {
    let mut explored = Explored { interleavings: 0, is_complete: true };
    // For each poll with a choice: the chosen process and the number of choices.
    let mut path: Vec<(usize, usize)> = Vec::new();
    while explored.interleavings < most {
        explored.interleavings += 1;
        let mut run = Run::new(&mut set);
        let failure = match run.follow(&mut path) {
            End::Done => None,
            End::Cut => {
                explored.is_complete = false;
                None
            }
            End::Failed(process, error) => {
                let name = &run.set[process].name;
                Some(format!("`{name}` failed: {error}{}", run.left_out(&*error)))
            }
            End::Panicked(process) => Some(format!("`{}` panicked", run.set[process].name)),
            End::Stuck => {
                let waits = (0..run.set.len()).filter(|&process| run.set[process].future.is_some());
                let waits: Vec<String> = waits.map(|one| wait(one, &mut set, &mut path)).collect();
                Some(format!("no process can continue:\n  {}", waits.join("\n  ")))
            }
        };
        if let Some(failure) = failure {
            panic!("{failure}\n\nthe processes were polled in this order:{}", run.order());
        }
        // The last choice with another option left.
        while let Some((chosen, options)) = path.pop() {
            if chosen + 1 < options {
                path.push((chosen + 1, options));
                break;
            }
        }
        if path.is_empty() {
            return explored;
        }
    }
    explored.is_complete = false;
    explored
}

thread_local! {
    /// The reason why the last polled process waits, if it is a mock or begins a session.
    pub(super) static WAITS: RefCell<Option<String>> = const { RefCell::new(None) };
    static ENDS_QUEUES: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if an empty queue should end when a new waker waits for it, so that the waiting
/// role reports what it waits for.
pub(crate) fn ends_queues() -> bool {
    // A thread that is shutting down explores nothing.
    ENDS_QUEUES.try_with(Cell::get).is_ok_and(|ends| ends)
}

/// "`c` waits for `Pong` from `s`".
pub(crate) fn waits_for<T>(role: &str, peers: &[T], labels: &[&str]) -> String
where
    T: PartialEq + fmt::Display,
{
    format!("`{role}` waits for {} from {}", any_of(labels), any_of(peers))
}

/// Records that a role waits for its peers before its next session, if this is being asked.
#[cold]
pub(crate) fn waits_to_begin(role: &str) {
    if ends_queues() {
        WAITS
            .set(Some(format!("`{role}` waits to begin a session: a peer is two sessions behind")));
    }
}

/// Finds out what a process waits for: runs it to this point again and then ends its queues or, for
/// other transports, drops all other processes.
fn wait(
    process: usize,
    set: &mut impl FnMut(&mut Processes),
    path: &mut Vec<(usize, usize)>,
) -> String {
    let mut run = Run::new(set);
    run.follow(path);
    let name = run.set[process].name.clone();
    WAITS.take();
    let _ = run.poll(process);
    let told = WAITS.take().or_else(|| {
        run.set[process].woken = Arc::default();
        ENDS_QUEUES.set(true);
        let mut polled = run.poll(process);
        ENDS_QUEUES.set(false);
        if let Ok(Poll::Pending) = polled {
            let others = run.set.iter_mut().enumerate().filter(|(other, _)| *other != process);
            others.for_each(|(_, other)| other.future = None);
            polled = run.poll(process);
        }
        // A route has just ended. After any other error, the process had waited for no message.
        if let Ok(Poll::Ready(Err(error))) = &polled
            && let Some(ErrorKind::Closed { role, peer, action: Action::Receive(labels) }) =
                error.downcast_ref().map(Error::kind)
        {
            return Some(waits_for(role, &[peer], labels));
        }
        WAITS.take()
    });
    match told {
        Some(told) => format!("`{name}`: {told}"),
        None => format!(
            "`{name}` waits for something outside of its session, or for a role that it owns itself"
        ),
    }
}

enum End {
    Done,
    /// The limit of polls was reached.
    Cut,
    Failed(usize, BoxError),
    /// A process panicked and printed its message.
    Panicked(usize),
    /// No process was woken, and some have not ended.
    Stuck,
}

struct Run {
    set: Vec<Process>,
    polled: Vec<usize>,
}

/// True if a process must be polled.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl Run {
    fn new(set: &mut impl FnMut(&mut Processes)) -> Self {
        let mut processes = Processes::default();
        set(&mut processes);
        Self { set: processes.0, polled: Vec::new() }
    }

    /// Polls processes in the order of the path. Beyond its end, always chooses the first process,
    /// and adds the choice to the path.
    fn follow(&mut self, path: &mut Vec<(usize, usize)>) -> End {
        let mut choices = 0;
        loop {
            let is_due = |process: &usize| {
                let Process { future, woken, .. } = &self.set[*process];
                future.is_some() && woken.0.load(Ordering::Acquire)
            };
            let due: Vec<usize> = (0..self.set.len()).filter(is_due).collect();
            let process = match due[..] {
                [] if self.set.iter().any(|it| it.future.is_some()) => return End::Stuck,
                [] => return End::Done,
                _ if self.polled.len() == MOST_POLLS => return End::Cut,
                [only] => only,
                _ => {
                    if path.len() == choices {
                        path.push((0, due.len()));
                    }
                    let (chosen, options) = path[choices];
                    assert!(options == due.len(), "the processes do not do the same each time");
                    choices += 1;
                    due[chosen]
                }
            };
            self.polled.push(process);
            let Ok(polled) = self.poll(process) else { return End::Panicked(process) };
            match polled {
                Poll::Ready(Ok(())) => self.set[process].future = None,
                Poll::Ready(Err(error)) => return End::Failed(process, error),
                Poll::Pending => {}
            }
        }
    }

    /// Polls a process. After a panic, nothing that it left behind is used.
    fn poll(&mut self, process: usize) -> thread::Result<Poll<Result<(), BoxError>>> {
        let Process { future, woken, .. } = &mut self.set[process];
        let Some(future) = future else { return Ok(Poll::Ready(Ok(()))) };
        woken.0.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(woken));
        let poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
        panic::catch_unwind(AssertUnwindSafe(poll))
    }

    /// Explains a peer that has closed a route although no process has ended.
    fn left_out(&self, error: &(dyn StdError + 'static)) -> String {
        match error.downcast_ref::<Error>().map(Error::kind) {
            Some(ErrorKind::Closed { peer, .. })
                if self.set.iter().all(|it| it.future.is_some()) =>
            {
                format!(
                    "\n\nno process has ended: `{peer}` belongs to none, or its process has dropped it"
                )
            }
            _ => String::new(),
        }
    }

    /// The last polled processes, a line for each turn.
    fn order(&self) -> String {
        const MOST: usize = 30;
        let turns = self.polled.iter().enumerate().skip(self.polled.len().saturating_sub(MOST));
        turns.map(|(turn, &at)| format!("\n{:>4}  {}", turn + 1, self.set[at].name)).collect()
    }
}
