//! All roles, in every interleaving.

use std::cell::{Cell, RefCell};
use std::error::Error as StdError;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use crate::error::{Action, BoxError, Error, ErrorKind};

/// How many interleavings [`explore`] tries.
const MOST: usize = 10_000;

/// How many polls a process that never ends may have in one interleaving.
const MOST_POLLS: usize = 1_000;

/// The processes of a set of roles, each with a name for messages.
#[derive(Default)]
pub struct Processes {
    names: Vec<String>,
    futures: Vec<Process>,
}

type Process = Pin<Box<dyn Future<Output = Result<(), BoxError>>>>;

impl Processes {
    /// Adds a process. It owns its role: `async move { client(&mut c, 1).await }`.
    pub fn add<T, E: Into<BoxError>>(
        &mut self,
        name: impl Into<String>,
        process: impl Future<Output = Result<T, E>> + 'static,
    ) -> &mut Self {
        self.names.push(name.into());
        let process = async move { process.await.map(drop).map_err(Into::into) };
        self.futures.push(Box::pin(process));
        self
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.names).finish()
    }
}

/// What [`explore`] did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Explored {
    /// How many interleavings were run.
    pub interleavings: usize,
    /// Whether these are all, each to its end.
    pub is_complete: bool,
}

/// Runs processes in every interleaving, up to 10,000 of them, one after the other on this thread.
///
/// `set` makes the roles and their processes anew for each. A scheduler without chance polls one
/// process that was woken after the other, and tries every order of them. Between two polls a
/// process may do several actions; other processes can tell them apart only by what they share
/// outside of their sessions.
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
/// Processes wait for their sessions and for each other (channels, locks of any library), and for
/// nothing else: no timers, threads or sockets. Whatever else they do must be the same each time. A
/// process without an end is dropped after 1,000 polls, and the result is then not complete.
///
/// # Panics
///
/// If a process does, or returns an error: the message names the interleaving; and if no process
/// can go on while one has not ended: it says who waits for whom.
#[track_caller]
pub fn explore(set: impl FnMut(&mut Processes)) -> Explored {
    explore_up_to(MOST, set)
}

/// As [`explore`], up to this many interleavings.
#[track_caller]
pub fn explore_up_to(most: usize, mut set: impl FnMut(&mut Processes)) -> Explored {
    let mut explored = Explored { interleavings: 0, is_complete: true };
    // For each poll with a choice: what was chosen, and among how many.
    let mut path: Vec<(usize, usize)> = Vec::new();
    while explored.interleavings < most {
        explored.interleavings += 1;
        let mut run = Run::new(&mut set);
        match run.follow(&mut path) {
            End::Done => {}
            End::Cut => explored.is_complete = false,
            End::Failed(process, error) => panic!(
                "`{}` failed: {error}{}\n\nthe processes were polled in this order: {}",
                run.set.names[process],
                run.left_out(&*error),
                run.order()
            ),
            End::Panicked(process) => panic!(
                "`{}` panicked\n\nthe processes were polled in this order: {}",
                run.set.names[process],
                run.order()
            ),
            End::Stuck => {
                let waits = (0..run.set.names.len()).filter(|&process| run.running[process]);
                let waits: Vec<String> = waits.map(|one| wait(one, &mut set, &mut path)).collect();
                panic!(
                    "nobody can go on:\n  {}\n\nthe processes were polled in this order: {}",
                    waits.join("\n  "),
                    run.order()
                )
            }
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
    /// For what the mock waits that was polled last.
    pub(super) static WAITS: RefCell<Option<String>> = const { RefCell::new(None) };
    static ENDS_QUEUES: Cell<bool> = const { Cell::new(false) };
}

/// Whether a queue that is empty when a new waker waits at it is to end, so that who waits there
/// says for what.
pub(crate) fn ends_queues() -> bool {
    // A thread that is shutting down explores nothing.
    ENDS_QUEUES.try_with(Cell::get).is_ok_and(|ends| ends)
}

/// "`c` waits for `Pong` from `s`".
pub(super) fn waits_for(role: &str, peer: &str, labels: &[&str]) -> String {
    let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
    format!("`{role}` waits for {} from `{peer}`", labels.join(" or "))
}

/// Says that a role waits for its peers before its next session, if that is asked.
#[cold]
pub(crate) fn waits_to_begin(role: &str) {
    if ends_queues() {
        WAITS
            .set(Some(format!("`{role}` waits to begin a session: a peer is two sessions behind")));
    }
}

/// For what a process waits: it is brought there once more, its queues end, and, for transports
/// that are not of this crate, all other processes are dropped.
fn wait(
    process: usize,
    set: &mut impl FnMut(&mut Processes),
    path: &mut Vec<(usize, usize)>,
) -> String {
    let mut run = Run::new(set);
    run.follow(path);
    let name = run.set.names[process].clone();
    WAITS.take();
    let _ = run.poll(process);
    let told = WAITS.take().or_else(|| {
        run.wakers[process] = Arc::default();
        ENDS_QUEUES.set(true);
        let mut polled = run.poll_caught(process);
        ENDS_QUEUES.set(false);
        if let Ok(Poll::Pending) = polled {
            for other in (0..run.set.futures.len()).filter(|&other| other != process) {
                run.set.futures[other] = Box::pin(async { Ok(()) });
            }
            polled = run.poll_caught(process);
        }
        let told = match polled {
            Ok(Poll::Ready(Err(error))) => told(&*error),
            _ => None,
        };
        told.or_else(|| WAITS.take())
    });
    match told {
        Some(told) => format!("`{name}`: {told}"),
        None => format!(
            "`{name}` waits for something outside of its session, or for a role that it has itself"
        ),
    }
}

/// Who waits for whom, as the error says when the latter is dropped. A process that could then go
/// on and send has not waited for a message.
fn told(error: &(dyn StdError + 'static)) -> Option<String> {
    match error.downcast_ref::<Error>()?.kind() {
        ErrorKind::Closed { role, peer, action: Action::Receive(labels) } => {
            Some(waits_for(role, peer, labels))
        }
        _ => None,
    }
}

enum End {
    Done,
    /// A process runs on.
    Cut,
    Failed(usize, BoxError),
    /// A process panicked, and the panic's own message is printed.
    Panicked(usize),
    /// No process was woken, and some have not ended.
    Stuck,
}

struct Run {
    set: Processes,
    wakers: Vec<Arc<Woken>>,
    running: Vec<bool>,
    polled: Vec<usize>,
}

/// Whether a process is to be polled.
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
        let number = processes.names.len();
        let wakers = (0..number).map(|_| Arc::new(Woken(AtomicBool::new(true)))).collect();
        Self { set: processes, wakers, running: vec![true; number], polled: Vec::new() }
    }

    /// Polls processes as the path says, and behind it always the first that was woken, which it
    /// adds to the path.
    fn follow(&mut self, path: &mut Vec<(usize, usize)>) -> End {
        let mut choices = 0;
        loop {
            let is_due = |process: &usize| {
                self.running[*process] && self.wakers[*process].0.load(Ordering::Acquire)
            };
            let due: Vec<usize> = (0..self.running.len()).filter(is_due).collect();
            let process = match due[..] {
                [] if self.running.contains(&true) => return End::Stuck,
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
            let Ok(polled) = self.poll_caught(process) else { return End::Panicked(process) };
            match polled {
                Poll::Ready(Ok(())) => {
                    self.running[process] = false;
                    // Its role is dropped with it, as that of a task is.
                    self.set.futures[process] = Box::pin(async { Ok(()) });
                }
                Poll::Ready(Err(error)) => return End::Failed(process, error),
                Poll::Pending => {}
            }
        }
    }

    fn poll(&mut self, process: usize) -> Poll<Result<(), BoxError>> {
        let woken = &self.wakers[process];
        woken.0.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(woken));
        self.set.futures[process].as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// What a panic has left behind is not looked at.
    fn poll_caught(&mut self, process: usize) -> thread::Result<Poll<Result<(), BoxError>>> {
        panic::catch_unwind(AssertUnwindSafe(|| self.poll(process)))
    }

    /// Why a peer has closed a route while no process has ended.
    fn left_out(&self, error: &(dyn StdError + 'static)) -> String {
        match error.downcast_ref::<Error>().map(Error::kind) {
            Some(ErrorKind::Closed { peer, .. }) if !self.running.contains(&false) => {
                format!(
                    "\n\nno process has ended: `{peer}` was added to none, or one has dropped it"
                )
            }
            _ => String::new(),
        }
    }

    /// "client, server, client": the last ones if they are many.
    fn order(&self) -> String {
        const MOST: usize = 30;
        let skipped = self.polled.len().saturating_sub(MOST);
        let names = self.polled[skipped..].iter().map(|&process| self.set.names[process].as_str());
        let names: Vec<&str> = names.collect();
        let before = if skipped == 0 { "" } else { "…, " };
        format!("{before}{}", names.join(", "))
    }
}
