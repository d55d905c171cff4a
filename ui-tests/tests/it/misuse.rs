//! Safe code that tries to get round the proof: exchanged routes, roles with a leaked session, and
//! indistinguishable ends. All of it is refused when a session begins or ends, and no peer waits
//! forever.

use std::cell::Cell;
use std::future::pending;
use std::mem;
use std::task::{Context, Poll};

use futures::executor::block_on;
use futures::future::{FutureExt as _, join3};
use rumpsteak::error::Action;
use rumpsteak::transport::{Incoming, Link, Mark, Outgoing, Pair, RouteError};
use rumpsteak::{Channel, Ended, Error, ErrorKind, Result, Role as _, try_run};
use rumpsteak_ui_tests::closed;
use rumpsteak_ui_tests::ping::{self, client, server};

#[rumpsteak::protocol(Fork)]
mod fork {
    #[derive(Role)]
    struct B(#[route(A)] Channel<Label>);

    #[derive(Role)]
    struct C(#[route(A)] Channel<Label>);

    #[session(A)]
    type Sender = Send<B, Note, Send<C, Note, End>>;

    #[session(B)]
    type First = Receive<A, Note, End>;

    #[session(C)]
    type Second = Receive<A, Note, End>;
}

use fork::{A, B, C, First, Label, Note, Roles, Second, Sender};

async fn sends(s: Sender<'_>) -> Ended<'_, A> {
    s.send(Note(1)).await?.send(Note(2)).await?.end(())
}

async fn first(s: First<'_>) -> Ended<'_, B, u8> {
    let (Note(note), s) = s.receive().await?;
    s.end(note)
}

async fn second(s: Second<'_>) -> Ended<'_, C, u8> {
    let (Note(note), s) = s.receive().await?;
    s.end(note)
}

/// The processes, as three futures.
fn play(a: &mut A, b: &mut B, c: &mut C) -> (Result<()>, Result<u8>, Result<u8>) {
    block_on(join3(try_run(a, sends), try_run(b, first), try_run(c, second)))
}

/// Runs a set whose routes were exchanged. All three sessions end. The sessions of `b` and `c` fail
/// because their routes are closed or misplaced.
fn refusals(roles: &mut Roles) -> [String; 3] {
    let (a, b, c) = play(&mut roles.a, &mut roles.b, &mut roles.c);
    assert!(roles.a.is_poisoned() && roles.b.is_poisoned() && roles.c.is_poisoned());
    [a.map(|()| 0), b, c].map(|ended| ended.unwrap_err().to_string())
}

const NOBODY_SENDS_TO_B: &str = "`b` cannot receive `Note` from `a`: \
    `a` has closed the route (it failed, was cancelled or was dropped)";
const NOBODY_SENDS_TO_C: &str = "`c` cannot receive `Note` from `a`: \
    `a` has closed the route (it failed, was cancelled or was dropped)";

#[test]
fn routes_of_two_sets_are_exchanged() {
    let [mut one, mut two] = [Roles::default(), Roles::default()];
    mem::swap(&mut one.a.c, &mut two.a.c);
    let text = "`a` cannot begin a session: its route to `C` belongs to another set of roles";
    // The route to `one.c` is in `two`, which closes it.
    assert_eq!(try_run(&mut two.a, sends).now_or_never().unwrap().unwrap_err().to_string(), text);
    assert_eq!(refusals(&mut one), [text, NOBODY_SENDS_TO_B, NOBODY_SENDS_TO_C]);
    // A reset repairs both.
    one.reset();
    assert_eq!(block_on(one.run(sends, first, second)).unwrap(), ((), 1, 2));
}

#[test]
fn routes_of_one_role_are_exchanged() {
    let mut roles = Roles::default();
    mem::swap(&mut roles.a.b, &mut roles.a.c);
    assert_eq!(
        refusals(&mut roles),
        [
            "`a` cannot begin a session: its route to `B` belongs to `a` and leads to `c`",
            NOBODY_SENDS_TO_B,
            NOBODY_SENDS_TO_C,
        ]
    );
}

#[test]
fn routes_of_two_roles_are_exchanged() {
    let mut roles = Roles::default();
    mem::swap(&mut roles.b.0, &mut roles.c.0);
    let (b, c) = (try_run(&mut roles.b, first), try_run(&mut roles.c, second));
    let texts = [b.now_or_never(), c.now_or_never()].map(|ended| {
        let error = ended.unwrap().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Misplaced { .. }));
        error.to_string()
    });
    assert_eq!(
        texts,
        [
            "`b` cannot begin a session: its route to `A` belongs to `c` and leads to `a`",
            "`c` cannot begin a session: its route to `A` belongs to `b` and leads to `a`",
        ]
    );
    assert_eq!(closed(try_run(&mut roles.a, sends).now_or_never().unwrap()).1, "b");
}

/// Each role moves its routes along. `run` has no other processes that it could wait for.
#[test]
fn roles_may_be_exchanged() {
    let [mut one, mut two] = [Roles::default(), Roles::default()];
    mem::swap(&mut one.a, &mut two.a);
    let refused = block_on(one.run(sends, first, second)).unwrap_err().to_string();
    assert_eq!(
        refused,
        "`b` cannot begin a session: its route to `A` belongs to another set of roles"
    );
    let (sent, b, c) = play(&mut one.a, &mut two.b, &mut two.c);
    assert_eq!((sent.unwrap(), b.unwrap(), c.unwrap()), ((), 1, 2));
}

/// Routes that were made by hand may be anywhere.
#[test]
fn routes_made_by_hand_may_replace_those_of_a_set() {
    let mut roles = Roles::default();
    let (near, far) = <Channel<Label> as Pair<Channel<Label>>>::pair();
    (roles.a.c, roles.c.0) = (near, far);
    assert_eq!(block_on(roles.run(sends, first, second)).unwrap(), ((), 1, 2));
}

/// A client whose session was leaked in the middle: the future that runs it, not a state.
fn leaked() -> ping::Roles {
    let mut roles = ping::Roles::default();
    let mut begun = Box::pin(client(&mut roles.c, 1));
    assert!(begun.as_mut().now_or_never().is_none());
    mem::forget(begun);
    assert!(roles.c.is_poisoned());
    roles
}

/// The result of the next session of a leaked client's server after `what`, if it ends.
fn server_after(what: impl FnOnce(ping::C) -> Option<ping::C>) -> Option<Result<()>> {
    let ping::Roles { mut s, c } = leaked();
    // The question was sent before.
    server(&mut s).now_or_never().unwrap().unwrap();
    let mut waiting = Box::pin(server(&mut s));
    // A leaked session wakes no peer.
    assert!(waiting.as_mut().now_or_never().is_none());
    let _client = what(c);
    waiting.now_or_never()
}

#[test]
fn peers_of_a_leaked_session_wait_as_long_as_its_role_is_left_alone() {
    assert!(server_after(Some).is_none());
    let dropped = server_after(|_| None);
    let reset = server_after(|mut c| {
        ping::Roles::reset_each(&mut ping::Roles::default().s, &mut c);
        Some(c)
    });
    let refused = server_after(|mut c| {
        let refused = client(&mut c, 2).now_or_never().unwrap();
        let refused = refused.map_err(Error::into_kind);
        assert!(matches!(refused, Err(ErrorKind::Poisoned { role: "c" })));
        Some(c)
    });
    for ended in [dropped, reset, refused] {
        assert_eq!(closed(ended.unwrap()), ("s", "c", Action::Receive(&["Ping"])));
    }
}

/// The halves of its route could be put into a fresh one.
#[test]
fn a_leaked_session_keeps_the_halves_of_its_routes() {
    assert!(leaked().c.s.into_inner().is_none());
    assert!(ping::Roles::default().c.s.into_inner().is_some());
}

#[test]
fn a_leaked_role_stays_poisoned_in_another_place() {
    let mut moved = leaked().c;
    let mut fresh = ping::Roles::default();
    mem::swap(&mut moved.s, &mut fresh.c.s);
    assert!(fresh.c.is_poisoned() && !moved.is_poisoned());
}

/// A role whose route keeps its mark elsewhere.
#[rumpsteak::protocol(Ping)]
mod unmarked {
    use super::Bus;

    #[derive(Role)]
    #[role("c")]
    struct Unmarked(#[route(S, unbounded)] Bus);

    #[session(Unmarked)]
    type Asking = Send<S, Ping, Receive<S, Pong, End>>;
}

use unmarked::{Asking, Ping, Pong, Unmarked};

/// A transport. It has a size, because roles of size zero do not compile.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "a role may be public, and then its routes are, too")]
pub struct Bus(u8);

thread_local! {
    /// The mark that a `Bus` returns: the same one at each call, or another one.
    static MARKS: Cell<fn() -> &'static Mark> = const { Cell::new(one_mark) };
}

fn one_mark() -> &'static Mark {
    static MARK: Mark = Mark::new();
    &MARK
}

fn many_marks() -> &'static Mark {
    Box::leak(Box::default())
}

impl Link for Bus {
    fn mark(&self) -> &Mark {
        MARKS.get()()
    }

    fn close(&mut self) {}
}

impl Outgoing<unmarked::Label> for Bus {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(&mut self, _: unmarked::Label) -> Result<(), RouteError> {
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
        Poll::Ready(Ok(()))
    }
}

impl Incoming<unmarked::Label> for Bus {
    fn poll_receive(&mut self, _: &mut Context<'_>) -> Poll<Result<unmarked::Label, RouteError>> {
        Poll::Ready(Ok(unmarked::Label::Pong(Pong(self.0.into()))))
    }
}

/// The results of two sessions of which the first returns the end of the second.
fn end_of_another(marks: fn() -> &'static Mark) -> (ErrorKind, Option<ErrorKind>) {
    MARKS.set(marks);
    let (mut one, mut two) = (Unmarked(Bus(0)), Unmarked(Bus(0)));
    let mut inner = None;
    let outer = try_run(&mut one, async |s: Asking<'_>| {
        let mut end = None;
        let mut other = Box::pin(try_run(&mut two, async |t: Asking<'_>| {
            end = Some(t.send(Ping(1)).await?.receive().await?.1);
            pending::<Result<((), _)>>().await
        }));
        inner = other.as_mut().now_or_never();
        mem::forget((s, other));
        Ok(((), end.ok_or(ErrorKind::Poisoned { role: "no end" })?))
    });
    let outer: Result<()> = outer.now_or_never().unwrap();
    let inner = inner.map(|ended| ended.unwrap_err().into_kind());
    (outer.unwrap_err().into_kind(), inner)
}

#[test]
fn ends_are_told_apart_whatever_marks_are_lent() {
    // With one mark, there is one session at a time.
    let (outer, inner) = end_of_another(one_mark);
    assert!(matches!(outer, ErrorKind::Poisoned { role: "no end" }));
    assert!(matches!(inner, Some(ErrorKind::Poisoned { role: "c" })));
    // With several marks, the ends differ.
    let (outer, inner) = end_of_another(many_marks);
    assert!(matches!(outer, ErrorKind::ForeignEnd { role: "c" }));
    assert!(inner.is_none());
}
