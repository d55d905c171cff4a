//! Watching sets of roles: a report of who waits for whom when nothing happens any more.
//!
//! The proof is about roles that all run. A program can leave one out, mix two sets, await one role
//! after the other, or drop a session, and then waits in silence. A watched set reports it:
//!
//! ```
//! # use rumpsteak_doctests::*;
//! use std::{sync::mpsc, time::Duration};
//!
//! let (tell, told) = mpsc::channel();
//! let Roles { mut c, mut s } = Roles::default()
//!     .watch_with(Duration::from_millis(50), move |report| drop(tell.send(report.to_string())));
//! std::thread::spawn(move || {
//!     futures::executor::block_on(async {
//!         try_run(&mut c, client).await?; // waits for the server, which has not started
//!         try_run(&mut s, server).await
//!     })
//! });
//! assert!(told.recv()?.contains("`c` waits for `Pong` from `s`"));
//! # Ok::<(), mpsc::RecvError>(())
//! ```
//!
//! `Roles::default().watch(duration)` prints the reports to stderr. `RUMPSTEAK_WATCH=5` in the
//! environment watches all sets and all roles of `rumpsteak-net`, for 5 seconds. Optimised builds
//! watch only with the feature `watch` of this package.
//!
//! A report ends nothing: a server may well wait for an hour. It is made if no
//! action of the set has completed for the given time and at least one role waits, and again after
//! the next action. Routes of other transports cannot look ahead: after their last message was
//! received, the report still says that the role waits for it.
//!
//! # Cost
//!
//! Nothing in optimised builds without the feature `watch`. With it, each action looks if its role
//! is watched, and sessions take 2 % to 21 % more instructions. An action of a watched role looks
//! if it will wait, and takes one lock that all watched sets share. One thread, started for the
//! first watched set, looks at all of them. A set stays known while a session of it runs; of the
//! other ones, the last 1,000 do.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use std::{env, fmt, mem, ptr};

use crate::error::any_of;
use crate::role::{Role, participant};
use crate::testing::waits_for;

/// A report that no action of a set of roles has completed for some time although a role waits.
///
/// Its `Display` output is what [`watch`](self) prints: one line for the set, and one per role.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The protocol of the roles, or the name of the module of a closed system.
    pub protocol: &'static str,
    /// The time since the last action.
    pub silence: Duration,
    /// A sentence for each role.
    pub roles: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, silence, roles } = self;
        write!(f, "no action of the roles of `{protocol}` has completed for {silence:.1?}")?;
        roles.iter().try_for_each(|role| write!(f, "\n  {role}"))
    }
}

/// Not `eprintln`, which panics if stderr is closed. Used by `rumpsteak-net`, too.
#[doc(hidden)]
pub fn print(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "rumpsteak: {message}");
}

/// A way to watch sets. Used by the macro.
#[doc(hidden)]
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "only generated code has one")]
pub struct Watch {
    limit: Duration,
    tell: Arc<dyn Fn(&Report) + Send + Sync>,
    /// The name of a session that roles have joined one by one.
    session: Option<Arc<str>>,
}

/// Describes the connection to a peer in another process.
type Connection = Box<dyn Fn() -> String + Send + Sync>;

impl Watch {
    pub fn new(limit: Duration, tell: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        Self { limit, tell: Arc::new(tell), session: None }
    }

    /// Takes roles that have joined a session of this name to be one set.
    pub fn of_session(&self, session: &str) -> Self {
        Self { session: Some(session.into()), ..self.clone() }
    }

    /// Prints its reports.
    pub fn printing(limit: Duration) -> Self {
        Self::new(limit, |report| print(report))
    }

    /// The watch that the environment asks for, if watching is compiled in.
    #[inline]
    pub fn from_environment() -> Option<Self> {
        static LIMIT: LazyLock<Option<Duration>> = LazyLock::new(|| {
            let seconds = env::var("RUMPSTEAK_WATCH").ok()?.trim().parse().ok()?;
            Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
        });
        // The least call costs each new set 1 % of its instructions.
        if IS_ON { LIMIT.map(Self::printing) } else { None }
    }

    /// Watches a role from now on, together with the other roles of its set.
    pub fn add<R: Role>(&self, role: &R) {
        if !IS_ON {
            return print("nothing is watched: set the feature `watch` of `rumpsteak-runtime`");
        }
        role.for_each_mark(|_, mark| mark.watch());
        let Some((number, member)) = participant::watched(role) else { return };
        self.add_to(number, R::PROTOCOL, (R::NAME, member));
    }

    /// Watches a role of this set.
    fn add_to(&self, number: usize, protocol: &'static str, (name, member): (&'static str, u16)) {
        let mut sets = sets();
        let set = sets.entry(number).or_insert_with(|| Set {
            protocol,
            watch: self.clone(),
            last: Instant::now(),
            is_reported: Cell::new(false),
            roles: Vec::new(),
            connections: Vec::new(),
        });
        let replaced = mem::replace(&mut set.watch, self.clone());
        if set.roles.iter().all(|known| (known.name, known.member) != (name, member)) {
            set.roles.push(Watched { name, member, session: 0, doing: Doing::Nothing });
        }
        let runs = |set: &Set| set.roles.iter().any(|role| role.doing.is_in_session());
        let idle: Vec<_> = sets.iter().filter(|(_, set)| !runs(set)).collect();
        let oldest = idle.iter().min_by_key(|(_, set)| set.last).map(|(number, _)| **number);
        let forgotten = oldest.filter(|_| idle.len() > MOST_IDLE);
        let forgotten = forgotten.and_then(|number| sets.remove(&number));
        drop(sets);
        // Not under the lock: it may run code of users.
        drop((replaced, forgotten));
        if let Some(thread) = &*THREAD {
            thread.unpark();
        }
    }
}

/// True if watching is compiled in. It needs a clock and a thread, which a browser has not.
pub(crate) const IS_ON: bool =
    cfg!(all(any(debug_assertions, feature = "watch"), not(target_family = "wasm")));

/// The number of sets without a running session that stay known.
const MOST_IDLE: usize = 1000;

/// Describes the connection of a watched role to a peer. Used by `rumpsteak-net`.
#[doc(hidden)]
pub fn connection<R: Role>(role: &R, peer: &str, describe: Connection) {
    let Some((set, _)) = participant::watched(role) else { return };
    if let Some(set) = sets().get_mut(&set) {
        set.connections.retain(|(known, _)| known != peer);
        set.connections.push((peer.to_owned(), describe));
    }
}

static SETS: Mutex<BTreeMap<usize, Set>> = Mutex::new(BTreeMap::new());

struct Set {
    protocol: &'static str,
    watch: Watch,
    /// The time of the last action, or at which the last role began to wait.
    last: Instant,
    is_reported: Cell<bool>,
    roles: Vec<Watched>,
    connections: Vec<(String, Connection)>,
}

struct Watched {
    name: &'static str,
    /// One more than the index of a member of a family.
    member: u16,
    /// The number of the last session that it began or waited to begin.
    session: usize,
    doing: Doing,
}

#[derive(PartialEq)]
pub(crate) enum Doing {
    /// It has begun no session.
    Nothing,
    WaitsToBegin,
    /// It has begun a session, and no action.
    Begun,
    /// An action waits.
    Waits(Step),
    /// This was its last action, and it has begun no other one.
    Did(Step),
    /// It has ended its session or given it away, and begun no other one.
    Ended,
    Aborted,
}

#[derive(PartialEq)]
pub(crate) struct Step {
    pub(crate) way: Way,
    /// The roles, or members.
    pub(crate) peers: Vec<String>,
    pub(crate) labels: &'static [&'static str],
}

/// The kind of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Send,
    Receive,
    /// It receives unless a future of the process completes first.
    Race,
}

/// Locks the sets. No code of users runs under the lock.
fn sets() -> MutexGuard<'static, BTreeMap<usize, Set>> {
    SETS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Doing {
    fn is_in_session(&self) -> bool {
        matches!(self, Self::Begun | Self::Waits(_) | Self::Did(_))
    }

    fn waits(&self) -> bool {
        matches!(self, Self::Waits(_) | Self::WaitsToBegin)
    }
}

impl Set {
    /// Returns true if the roles of both belong to one set.
    fn is_same(&self, other: &Self) -> bool {
        ptr::eq(self, other)
            || self.protocol == other.protocol
                && self.watch.session.is_some()
                && self.watch.session == other.watch.session
    }
}

impl Watched {
    /// The role, or the member of the family.
    fn shown(&self) -> String {
        let index = self.member.checked_sub(1);
        index.map_or_else(|| self.name.to_owned(), |index| format!("{}[{index}]", self.name))
    }
}

/// Changes what a role does, unless `to` returns `None`. Returns true if it has.
fn change(
    watched: Option<(usize, u16)>,
    name: &str,
    to: impl FnOnce(&mut Watched) -> Option<Doing>,
) -> bool {
    let Some((set, member)) = watched else { return false };
    let mut sets = sets();
    let Some(set) = sets.get_mut(&set) else { return false };
    let mut roles = set.roles.iter_mut();
    let role = roles.find(|role| role.member == member && role.name == name);
    let Some(role) = role else { return false };
    let Some(doing) = to(role) else { return false };
    (role.doing, set.last) = (doing, Instant::now());
    set.is_reported.set(false);
    true
}

/// The role now does something else, if it is watched.
#[cold]
#[inline(never)]
pub(crate) fn changes<R: Role>(role: &R, doing: Doing) {
    change(participant::watched(role), R::NAME, |_| Some(doing));
}

/// The role begins a session, or waits to. Returns true if the role is watched. A role that is
/// traced is, too, because only the watch knows when an action begins to wait.
#[cold]
#[inline(never)]
pub(crate) fn begins<R: Role>(role: &R) -> bool {
    #[cfg(feature = "tracing")]
    if participant::watched(role).is_none()
        && tracing::enabled!(target: "rumpsteak", tracing::Level::TRACE)
    {
        Watch::new(Duration::MAX, |_| {}).add(role);
    }
    let (set, (_, completed)) = (participant::watched(role), participant::session(role));
    change(set, R::NAME, |role| {
        role.session = completed + 1;
        (!role.doing.is_in_session()).then_some(Doing::Begun)
    });
    set.is_some()
}

/// An action of the role waits, or is about to complete.
#[cold]
#[inline(never)]
pub(crate) fn acts<R: Role>(role: &R, waits: bool, step: Step) {
    #[cfg(feature = "tracing")]
    let (action, peer, label) = (
        if step.way == Way::Send { "waits to send" } else { "waits to receive" },
        step.peers.join(" or "),
        step.labels.join(" or "),
    );
    let next = if waits { Doing::Waits(step) } else { Doing::Did(step) };
    // A role that is polled again, and still waits, is silent.
    #[allow(unused_variables, reason = "only tracing needs it")]
    let is_new = change(participant::watched(role), R::NAME, |role| {
        (!waits || role.doing != next).then_some(next)
    });
    #[cfg(feature = "tracing")]
    if waits && is_new {
        trace::<R>(action, &peer, &label);
    }
}

#[cfg(feature = "tracing")]
pub(crate) fn trace<R: Role>(action: &'static str, peer: &str, label: &str) {
    tracing::trace!(
        target: "rumpsteak",
        protocol = R::PROTOCOL,
        role = R::NAME,
        peer,
        label,
        "{action}"
    );
}

/// A session that owns its role. Dropping it ends the session.
pub(crate) struct Watching {
    pub(crate) set: Option<(usize, u16)>,
    role: &'static str,
}

impl Watching {
    pub(crate) fn new<R: Role>(role: &R) -> Self {
        begins(role);
        Self { set: participant::watched(role), role: R::NAME }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        change(self.set, self.role, |of| of.doing.is_in_session().then_some(Doing::Ended));
    }
}

/// The thread that looks at all sets, unless it cannot be started.
static THREAD: LazyLock<Option<Thread>> = LazyLock::new(|| {
    let started = thread::Builder::new().name("rumpsteak-watch".to_owned()).spawn(run);
    started.ok().map(|handle| handle.thread().clone())
});

fn run() {
    loop {
        let (mut reports, mut pause, now) = (Vec::new(), Duration::MAX, Instant::now());
        let sets = sets();
        for set in sets.values() {
            let silence = now.duration_since(set.last);
            let left = set.watch.limit.saturating_sub(silence);
            let waits = left.is_zero() && set.roles.iter().any(|it| it.doing.waits());
            if waits && !set.is_reported.replace(true) {
                let roles: Vec<_> = roles_of(&sets, set).collect();
                let alike = roles.chunk_by(|(_, left), (_, right)| {
                    (left.name, left.session, &left.doing)
                        == (right.name, right.session, &right.doing)
                });
                let roles = alike.map(|alike| {
                    let told = describe(&sets, alike[0].0, alike[0].1);
                    match alike.len() - 1 {
                        0 => told,
                        others => format!("{told} (and {others} more, likewise)"),
                    }
                });
                let report = Report { protocol: set.protocol, silence, roles: roles.collect() };
                reports.push((report, Arc::clone(&set.watch.tell)));
            }
            let quarter = set.watch.limit / 4;
            pause = pause.min(if left.is_zero() { quarter } else { left.min(quarter) });
        }
        // A callback may use watched roles.
        drop(sets);
        reports.iter().for_each(|(report, tell)| tell(report));
        // A short pause, so that short limits take no core.
        thread::park_timeout(pause.max(Duration::from_millis(1)));
    }
}

/// All watched roles of the set. Roles that have joined one by one are in a set each.
fn roles_of<'a>(
    sets: &'a BTreeMap<usize, Set>,
    set: &'a Set,
) -> impl Iterator<Item = (&'a Set, &'a Watched)> {
    let same = sets.values().filter(|other| set.is_same(other));
    same.flat_map(|set| set.roles.iter().map(move |role| (set, role)))
}

fn describe(sets: &BTreeMap<usize, Set>, set: &Set, role: &Watched) -> String {
    let name = &*role.shown();
    let is_for = |peers: &[String]| peers.iter().any(|it| *it == name || it == role.name);
    let others = || roles_of(sets, set).map(|(_, role)| role);
    let missed = others().filter_map(|other| match &other.doing {
        Doing::Waits(Step { way: Way::Receive | Way::Race, peers, labels }) if is_for(peers) => {
            Some(format!("{} to `{}`", any_of(labels), other.shown()))
        }
        _ => None,
    });
    let missed: Vec<String> = missed.collect();
    let owes = match missed.is_empty() {
        true => String::new(),
        false => format!("; it owes {}", missed.join(" and ")),
    };
    let idle = "it is in code of its own, its future is not polled, or it has dropped its session, \
                by `drop(session)` or by an action that was never awaited, as in \
                `let _ = session.send(…)`";
    let is_ahead = |other: &&Watched| match &other.doing {
        Doing::Waits(of) if !is_for(&of.peers) => false,
        doing => doing.waits() && other.session > role.session,
    };
    match &role.doing {
        Doing::Waits(Step { way, peers, labels }) => {
            let described = set.connections.iter().filter(|(peer, _)| peers.contains(peer));
            let described = described.map(|(peer, text)| format!(" (`{peer}`: {})", text()));
            let described = described.collect::<String>();
            let own = ", or until its own future in `race` or `until` completes";
            match way {
                Way::Receive => waits_for(name, peers, labels) + &described,
                Way::Race => waits_for(name, peers, labels) + &described + own,
                Way::Send => format!(
                    "`{name}` waits for room to send {} to {}{described}",
                    any_of(labels),
                    any_of(peers)
                ),
            }
        }
        Doing::WaitsToBegin => {
            format!("`{name}` waits to begin a session: a peer is two sessions behind")
        }
        Doing::Nothing => {
            let begun = others().filter(|other| other.doing != Doing::Nothing);
            let begun: Vec<&str> = begun.map(|other| other.name).collect();
            if is_mixed(sets, set, role.name, &begun) {
                return format!(
                    "`{name}` has begun no session, but the `{name}` of another set has: two sets \
                     are mixed{owes}. Take all roles from one set"
                );
            }
            format!(
                "`{name}` has begun no session: it was left out, or is awaited in sequence, after \
                 {}{owes}. Run all roles at once, with `run` of the set, `join` or tasks",
                any_of(&begun)
            )
        }
        Doing::Begun => format!("`{name}` has begun its session, and no action: {idle}{owes}"),
        Doing::Did(Step { way, peers, labels }) => format!(
            "`{name}` has {} {} {}, and begun no other action: {idle}{owes}",
            if *way == Way::Send { "sent" } else { "received" },
            any_of(labels),
            if *way == Way::Send { "to" } else { "from" }.to_owned() + " " + &any_of(peers),
        ),
        Doing::Ended => match others().find(is_ahead) {
            Some(other) => format!(
                "`{name}` has ended session {}, and begun no other, but `{}` is at session \
                 {}{owes}. Run as many sessions of each role, or drop `{name}` or its set \
                 after the last one: its peers then get `Closed`",
                role.session,
                other.shown(),
                other.session
            ),
            None => format!("`{name}` has ended its session, and begun no other"),
        },
        Doing::Aborted => format!("`{name}` has aborted its session"),
    }
}

/// Returns true if the role `fresh`, which has begun no session in this set, waits in another set
/// of the same protocol, in which one of the running roles of this set has begun none.
fn is_mixed(sets: &BTreeMap<usize, Set>, set: &Set, fresh: &str, begun: &[&str]) -> bool {
    let others =
        sets.values().filter(|other| other.protocol == set.protocol && !other.is_same(set));
    others.into_iter().any(|other| {
        let has = |is: &dyn Fn(&Watched) -> bool| roles_of(sets, other).any(|(_, role)| is(role));
        has(&|role| role.name == fresh && role.doing.waits())
            && has(&|role| role.doing == Doing::Nothing && begun.contains(&role.name))
    })
}
