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
//! environment watches all sets and all roles of `rumpsteak-net`, for 5 seconds.
//!
//! A report is no error, and ends nothing: a server may well wait for an hour. It is made if no
//! action of the set has completed for the given time and at least one role waits, and again after
//! the next action. It covers [`Channel`](crate::Channel)s and the routes of `rumpsteak-net`.
//!
//! # Cost
//!
//! Nothing for roles that are not watched: a watched queue takes the rare paths of sending,
//! receiving and parking, which exist anyway. Each action of a watched role takes one lock that all
//! watched sets share. One thread, started for the first watched set, looks at all of them.
//!
//! # How a wait gets its labels
//!
//! Only the action knows what it waits for. So a watched queue that parks returns the error of a
//! closed route, and leaves the role's number in a thread-local variable. The action's error path
//! finds it there, reports its labels, and waits.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::role::Role;
use crate::role::participant;
use crate::testing::{any_of, waits_for};

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

/// Watches the roles of one set, which are added in turn. Used by the macro.
#[doc(hidden)]
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "only generated code has one")]
pub struct Watch {
    limit: Duration,
    tell: Arc<Tell>,
    /// The name of a session that roles have joined one by one.
    session: Option<Arc<str>>,
}

type Tell = dyn Fn(&Report) + Send + Sync;

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
        Self::new(limit, |report| {
            // Not `eprintln`, which panics if stderr is closed.
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("rumpsteak: {report}\n"),
            );
        })
    }

    /// The watch that the environment asks for.
    #[inline]
    pub fn from_environment() -> Option<Self> {
        if IS_OFF.load(Ordering::Relaxed) { None } else { Self::look_at_environment() }
    }

    #[cold]
    #[inline(never)]
    fn look_at_environment() -> Option<Self> {
        static LIMIT: OnceLock<Option<Duration>> = OnceLock::new();
        let limit = *LIMIT.get_or_init(limit);
        IS_OFF.store(limit.is_none(), Ordering::Relaxed);
        limit.map(Self::printing)
    }

    pub fn add<R: Role>(&self, role: &mut R) {
        let Some(number) = participant::set(role) else { return };
        let mut registry = registry();
        let set = registry.sets.entry(number).or_insert_with(|| Set {
            protocol: R::PROTOCOL,
            watch: self.clone(),
            receivers: 0,
            last: Instant::now(),
            is_reported: false,
            roles: Vec::new(),
            connections: Vec::new(),
        });
        let before = mem::replace(&mut set.watch, self.clone());
        if set.place(R::NAME).is_none() {
            set.roles.push(Watched { name: R::NAME, ..Watched::default() });
            if !registry.is_running {
                let started = thread::Builder::new().name("rumpsteak-watch".to_owned()).spawn(run);
                registry.is_running = started.is_ok();
            }
            drop(registry);
            role.for_each_mark(|_, mark| mark.watch());
            let receivers = watch_routes(role, false);
            with(Some(number), |set| set.receivers += receivers);
        }
        drop(before);
        CHANGED.notify_one();
    }
}

/// True once it is known that the environment asks for no watch.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// Describes the connection of a watched role to a peer. Used by `rumpsteak-net`.
#[doc(hidden)]
pub fn connection<R: Role>(role: &R, peer: &str, describe: Connection) {
    with(participant::watched(role), |set| {
        set.connections.retain(|(known, _)| known != peer);
        set.connections.push((peer.to_owned(), describe));
    });
}

/// The time in seconds that the environment gives.
#[cold]
#[inline(never)]
fn limit() -> Option<Duration> {
    let seconds = env::var("RUMPSTEAK_WATCH").ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
}

/// A role's number is the number of its set times this, plus its place in the set, plus 1.
const MOST_ROLES: usize = 1 << 12;

struct Registry {
    sets: BTreeMap<usize, Set>,
    /// The numbers of the roles that send into a queue and receive from it, by its address; 0 for a
    /// role that is not watched. A queue takes no room for them, because its size has a price.
    queues: BTreeMap<usize, [usize; 2]>,
    is_running: bool,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { sets: BTreeMap::new(), queues: BTreeMap::new(), is_running: false });

/// A set was added.
static CHANGED: Condvar = Condvar::new();

struct Set {
    protocol: &'static str,
    watch: Watch,
    /// The number of receiving halves of its queues that exist. Without any, no role waits.
    receivers: usize,
    /// The time of the last action, or at which the last role began to wait.
    last: Instant,
    is_reported: bool,
    roles: Vec<Watched>,
    connections: Vec<(String, Connection)>,
}

#[derive(Default)]
struct Watched {
    name: &'static str,
    stage: Stage,
    /// Its address, since it began a session: then it is borrowed.
    address: usize,
    wait: Option<Wait>,
}

/// How far a role has come.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum Stage {
    /// It has begun no session.
    #[default]
    Fresh,
    InSession,
    /// It has dropped a state of its session, or the future of an action with it.
    Dropped,
    /// It has ended a session, and begun no other one.
    Ended,
    Aborted,
}

#[derive(Eq, PartialEq)]
enum Wait {
    Messages { peers: Vec<&'static str>, labels: &'static [&'static str] },
    Room { peer: &'static str },
    Session,
}

/// Locks the registry. No code of users runs under the lock: dropping a waker may drop a role.
fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with(set: Option<usize>, change: impl FnOnce(&mut Set)) {
    if let Some(set) = set {
        registry().sets.get_mut(&set).map(change);
    }
}

impl Set {
    fn progress(&mut self) {
        (self.last, self.is_reported) = (Instant::now(), false);
    }

    fn place(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|known| known.name == role)
    }

    fn role(&mut self, name: &str) -> Option<&mut Watched> {
        self.roles.iter_mut().find(|role| role.name == name)
    }

    fn enter(&mut self, role: &str, stage: Stage) {
        self.progress();
        if let Some(role) = self.role(role) {
            (role.stage, role.wait) = (stage, None);
        }
    }

    fn wait(&mut self, place: usize, wait: Wait) {
        let role = &mut self.roles[place];
        match (&mut role.wait, &wait) {
            (Some(before), _) if *before == wait => return,
            // Another peer of the same choice.
            (
                Some(Wait::Messages { peers, labels }),
                Wait::Messages { peers: more, labels: same },
            ) if labels == same => {
                let new = more.iter().filter(|peer| !peers.contains(peer));
                let new: Vec<_> = new.copied().collect();
                peers.extend(new);
                peers.sort_unstable();
                return;
            }
            _ => {}
        }
        role.wait = Some(wait);
        self.progress();
    }

    /// Returns true if a role waits, or can do no further action.
    fn hangs(&self) -> bool {
        self.roles.iter().any(|role| role.wait.is_some() || role.stage == Stage::Dropped)
    }

    /// Returns true if the roles of both belong to one set.
    fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (self, other);
        ptr::eq(one, other)
            || one.protocol == other.protocol
                && one.watch.session.is_some()
                && one.watch.session == other.watch.session
    }
}

/// Lets the routes of a watched role report to its number. Returns the number of its receivers.
fn watch_routes<R: Role>(role: &mut R, in_session: bool) -> usize {
    let mut number = None;
    with(participant::set(role), |set| number = set.place(R::NAME));
    let number = participant::set(role).zip(number);
    number.map_or(0, |(set, place)| role.watch(set * MOST_ROLES + place + 1, in_session))
}

/// The role begins a session, or waits to.
#[cold]
#[inline(never)]
pub(crate) fn begins<R: Role>(role: &mut R) {
    let mut is_new = false;
    let address = ptr::from_ref(role).addr();
    with(participant::watched(role), |set| {
        let Some(known) = set.role(R::NAME) else { return };
        (known.address, known.wait) = (address, None);
        is_new = known.stage != Stage::InSession;
        if is_new {
            set.enter(R::NAME, Stage::InSession);
        }
    });
    if is_new {
        watch_routes(role, true);
    }
}

/// The process of the role's session has returned, if the role was not aborted before.
#[cold]
#[inline(never)]
pub(crate) fn returned<R: Role>(role: &mut R) {
    with(participant::watched(role), |set| {
        if set.role(R::NAME).is_some_and(|role| role.stage != Stage::Aborted) {
            set.enter(R::NAME, Stage::Ended);
        }
    });
    watch_routes(role, false);
}

/// The session of the role was aborted.
#[cold]
#[inline(never)]
pub(crate) fn aborted<R: Role>(role: &R) {
    with(participant::watched(role), |set| set.enter(R::NAME, Stage::Aborted));
}

/// The process of the role at this address has dropped its session.
#[cfg(debug_assertions)]
#[cold]
#[inline(never)]
pub(crate) fn dropped(address: usize) {
    let mut registry = registry();
    let roles = registry.sets.values_mut().flat_map(|set| &mut set.roles);
    for role in roles.filter(|role| role.address == address && role.stage == Stage::InSession) {
        (role.stage, role.wait) = (Stage::Dropped, None);
    }
}

/// A role waits to begin its next session.
#[cold]
#[inline(never)]
pub(crate) fn waits_to_begin<R: Role>(role: &R) {
    with(participant::watched(role), |set| {
        if let Some(place) = set.place(R::NAME) {
            set.wait(place, Wait::Session);
        }
    });
}

/// An end of a queue.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// A watched role of this number has the end of a queue.
#[cold]
#[inline(never)]
pub(crate) fn queue(queue: usize, end: End, role: usize) {
    registry().queues.entry(queue).or_default()[end as usize] = role;
}

/// A queue continues at another address. Each end says so.
#[cold]
#[inline(never)]
pub(crate) fn moved(from: usize, to: usize) {
    let mut registry = registry();
    let roles = registry.queues.get(&from).copied().unwrap_or_default();
    registry.queues.entry(to).or_insert(roles);
}

impl Registry {
    /// The set of the role at the end of a queue, and its place there.
    fn role(&mut self, queue: usize, end: End) -> Option<(&mut Set, usize)> {
        let role = self.queues.get(&queue)?[end as usize].checked_sub(1)?;
        let set = self.sets.get_mut(&(role / MOST_ROLES))?;
        Some((set, role % MOST_ROLES))
    }
}

/// A message was sent into a queue or received from it.
#[cold]
#[inline(never)]
pub(crate) fn acted(queue: usize, end: End) {
    if let Some((set, place)) = registry().role(queue, end) {
        set.progress();
        set.roles[place].wait = None;
    }
}

/// The sender waits for room in a queue to a peer.
#[cold]
#[inline(never)]
pub(crate) fn waits_for_room(queue: usize, peer: &'static str) {
    if let Some((set, place)) = registry().role(queue, End::Sender) {
        set.wait(place, Wait::Room { peer });
    }
}

/// The receiving half of a queue is dropped.
#[cold]
#[inline(never)]
pub(crate) fn left(queue: usize) {
    let mut registry = registry();
    let Some([_, role]) = registry.queues.remove(&queue) else { return };
    let number = role.wrapping_sub(1) / MOST_ROLES;
    if let Some(set) = registry.sets.get_mut(&number) {
        set.receivers = set.receivers.saturating_sub(1);
        if set.receivers == 0 {
            let set = registry.sets.remove(&number);
            let is_other = |role: &usize| role.wrapping_sub(1) / MOST_ROLES != number;
            registry.queues.retain(|_, roles| roles.iter().all(is_other));
            // Its callback may run code of its user when it is dropped: not under the lock.
            drop(registry);
            drop(set);
        }
    }
}

thread_local! {
    /// The queue whose receiver has just parked, or 0.
    static PARKED: Cell<usize> = const { Cell::new(0) };
}

/// The receiver of a queue has parked, and returns as if its queue had ended.
#[cold]
#[inline(never)]
pub(crate) fn parked(queue: usize) {
    PARKED.set(queue);
}

/// Returns the queue whose receiver has parked since the last call, or 0.
pub(crate) fn take_parked() -> usize {
    PARKED.take()
}

/// Returns true if the route's error only means that the role waits, and reports what it waits for.
#[cold]
#[inline(never)]
pub(crate) fn takes_wait<R: Role>(
    role: &R,
    peer: &'static str,
    labels: &'static [&'static str],
) -> bool {
    let queue = take_parked();
    if queue == 0 || participant::watched(role).is_none() {
        return false;
    }
    if let Some((set, place)) = registry().role(queue, End::Receiver) {
        set.wait(place, Wait::Messages { peers: vec![peer], labels });
    }
    true
}

/// Looks at all sets, for ever.
fn run() {
    let mut registry = registry();
    loop {
        let now = Instant::now();
        let (mut reports, mut next) = (Vec::new(), None::<Duration>);
        let numbers: Vec<usize> = registry.sets.keys().copied().collect();
        for number in numbers {
            let Some(set) = registry.sets.get(&number) else { continue };
            let (silence, limit) = (now.duration_since(set.last), set.watch.limit);
            let waits = !set.is_reported && set.hangs();
            let pause = match limit.checked_sub(silence) {
                Some(left) if waits && !left.is_zero() => left.min(limit / 4),
                None | Some(_) if waits => {
                    reports.push((report(&registry, set, silence), Arc::clone(&set.watch.tell)));
                    if let Some(set) = registry.sets.get_mut(&number) {
                        set.is_reported = true;
                    }
                    limit / 4
                }
                _ => limit / 4,
            };
            next = Some(next.map_or(pause, |next| next.min(pause)));
        }
        if !reports.is_empty() {
            // A callback may use watched roles.
            drop(registry);
            for (report, tell) in reports {
                tell(&report);
            }
            registry = self::registry();
            continue;
        }
        registry = match next {
            // A short pause, so that short limits take no core.
            Some(pause) => {
                let pause = pause.max(Duration::from_millis(1));
                let woken = CHANGED.wait_timeout(registry, pause);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
            None => CHANGED.wait(registry).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

fn report(registry: &Registry, set: &Set, silence: Duration) -> Report {
    let roles = roles_of(registry, set);
    let roles = roles.map(|(set, role)| describe(registry, set, role)).collect();
    Report { protocol: set.protocol, silence, roles }
}

/// All watched roles of the set. Roles that have joined one by one are in a set each.
fn roles_of<'a>(
    registry: &'a Registry,
    set: &'a Set,
) -> impl Iterator<Item = (&'a Set, &'a Watched)> {
    let same = registry.sets.values().filter(|other| set.is_same(other));
    same.flat_map(|set| set.roles.iter().map(move |role| (set, role)))
}

/// Says what a role does.
fn describe(registry: &Registry, set: &Set, role: &Watched) -> String {
    let name = role.name;
    match &role.wait {
        Some(Wait::Messages { peers, labels }) => {
            let described = set.connections.iter().filter(|(peer, _)| peers.contains(&&**peer));
            let described = described.map(|(peer, text)| format!(" (`{peer}`: {})", text()));
            return waits_for(name, peers, labels) + &described.collect::<String>();
        }
        Some(Wait::Room { peer }) => {
            return format!("`{name}` waits for room in its queue to `{peer}`");
        }
        Some(Wait::Session) => {
            return format!("`{name}` waits to begin a session: a peer is two sessions behind");
        }
        None => {}
    }
    let roles = || roles_of(registry, set).map(|(_, role)| role);
    let missed = |other: &Watched| match &other.wait {
        Some(Wait::Messages { peers, labels }) if peers.contains(&name) => {
            Some(format!("{} to `{}`", any_of(labels), other.name))
        }
        _ => None,
    };
    let missed: Vec<String> = roles().filter_map(missed).collect();
    let owes = match missed.is_empty() {
        true => String::new(),
        false => format!("; it owes {}", missed.join(" and ")),
    };
    match role.stage {
        Stage::Fresh => {
            let others = roles().filter(|other| other.stage != Stage::Fresh);
            let others: Vec<&str> = others.map(|other| other.name).collect();
            if is_mixed(registry, set, name, &others) {
                return format!(
                    "`{name}` has begun no session, but the `{name}` of another set has: two sets \
                     are mixed{owes}. Take all roles from one set"
                );
            }
            format!(
                "`{name}` has begun no session: it was left out, or is awaited in sequence, after \
                 {}{owes}. Run all roles at once, with `run` of the set, `join` or tasks",
                any_of(&others)
            )
        }
        Stage::InSession if cfg!(debug_assertions) => {
            format!("`{name}` is in code of its own{owes}")
        }
        Stage::InSession => format!(
            "`{name}` is in code of its own, or has dropped its session, by `drop(session)` or by \
             an action that was never awaited, as in `let _ = session.send(…)`{owes}"
        ),
        Stage::Dropped => format!(
            "`{name}` has dropped its session, by `drop(session)` or by an action that was never \
             awaited, as in `let _ = session.send(…)`{owes}"
        ),
        Stage::Ended => format!("`{name}` has ended its session and begun no other"),
        Stage::Aborted => format!("`{name}` has aborted its session"),
    }
}

/// Returns true if the role `fresh`, which has begun no session in this set, waits in another set
/// of the same protocol, in which one of the running roles of this set has begun none.
fn is_mixed(registry: &Registry, set: &Set, fresh: &str, running: &[&str]) -> bool {
    let sets = registry.sets.values();
    sets.filter(|other| other.protocol == set.protocol && !other.is_same(set)).any(|other| {
        let mut roles = roles_of(registry, other).map(|(_, role)| role);
        let mut rest = roles_of(registry, other).map(|(_, role)| role);
        roles.any(|role| role.name == fresh && role.wait.is_some())
            && rest.any(|role| role.stage == Stage::Fresh && running.contains(&role.name))
    })
}
