//! A session is used in its own process and ends with it: using its states elsewhere, and the
//! moment at which the peers learn that a session was given up.

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::task::Poll;
use std::{mem, panic, thread};

use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{join, join3, poll_fn};
use futures::{FutureExt as _, pin_mut};
use rumpsteak::error::Action;
use rumpsteak::states::End;
use rumpsteak::{Detached, Error, ErrorKind, Result, Role as _, try_run};
use rumpsteak_ui_tests::closed;
use rumpsteak_ui_tests::fan_in::{self, Both, Collector, Got, Line, WriterA, WriterB};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong, Roles, server};

/// The error of an action outside of its process.
const OUTSIDE: &str = "the session of `c` was used outside of its process: in another task, or after its process \
                       ended; use `Detached` to move a session to another task";

fn assert_outside<T>(used: Result<T>) {
    let error = used.map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Outside { role: "c" }));
    assert_eq!(error.to_string(), OUTSIDE);
}

/// Yields once.
async fn pause() {
    let mut is_first = true;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

#[test]
fn states_are_used_by_processes_within_their_process() {
    let mut sets = [Roles::default(), Roles::default(), Roles::default()];
    let [one, two, three] = &mut sets;
    let nested = try_run(&mut one.c, async |s| {
        let s = Client::send(s, Ping(1)).await?;
        let (inner, s) = try_run(&mut two.c, async |t: Client<'_>| {
            let t = t.send(Ping(2)).await?;
            let (innermost, t, s) = try_run(&mut three.c, async |u: Client<'_>| {
                // From the outermost, the middle and the innermost session.
                let (Pong(first), s) = s.receive().await?;
                let u = u.send(Ping(first)).await?;
                let (Pong(second), t) = t.receive().await?;
                let (Pong(third), u) = u.receive().await?;
                Ok::<_, Error>((([first, second, third], t, s), u))
            })
            .await?;
            Ok::<_, Error>(((innermost, s), t))
        })
        .await?;
        Ok::<_, Error>((inner, s))
    });
    let servers = join3(server(&mut one.s), server(&mut two.s), server(&mut three.s));
    let (answers, _) = block_on(join(nested, servers));
    assert_eq!(answers.unwrap(), [2, 3, 3]);
    assert!(sets.iter().all(|set| !set.c.is_poisoned() && !set.s.is_poisoned()));
}

#[test]
fn the_outer_session_goes_on_after_a_panic_in_an_inner_process() {
    let (mut outer, mut inner) = (Roles::default(), Roles::default());
    let ended = try_run(&mut outer.c, async |s: Client<'_>| {
        let s = s.send(Ping(1)).await?;
        let panics = try_run(&mut inner.c, async |t: Client<'_>| -> Result<((), End<'_, C>)> {
            let _t = t.send(Ping(2)).await?;
            panic::resume_unwind(Box::new("inner"))
        });
        assert!(AssertUnwindSafe(panics).catch_unwind().await.is_err());
        let (Pong(answer), end) = s.receive().await?;
        Ok::<_, Error>((answer, end))
    });
    let (answer, served) = block_on(join(ended, server(&mut outer.s)));
    assert_eq!((answer.unwrap(), served.unwrap()), (2, ()));
    assert!(inner.c.is_poisoned());
}

#[test]
fn a_state_is_of_no_use_beside_its_process() {
    let mut roles = Roles::default();
    let (give, given) = oneshot::channel();
    let (done, is_done) = oneshot::channel();
    let process = try_run(&mut roles.c, async |s: Client<'_>| {
        give.send(s).unwrap();
        is_done.await.unwrap();
        Err::<((), _), _>(Error::other("has no state"))
    });
    let beside = async {
        assert_outside(given.await.unwrap().send(Ping(1)).await);
        done.send(()).unwrap();
    };
    let (ended, (), served) = block_on(join3(process, beside, server(&mut roles.s)));
    assert_eq!(ended.unwrap_err().to_string(), "has no state");
    assert_eq!(closed(served), ("s", "c", Action::Receive(&["Ping"])));
}

/// Uses the session while its process is polled, on the other thread or beside another session.
#[test]
fn a_state_is_of_no_use_on_another_thread() {
    let (mut roles, mut others) = (Roles::default(), Roles::default());
    let process = try_run(&mut roles.c, async |s: Client<'_>| {
        let used = thread::scope(|scope| {
            let uses = async || {
                let used = try_run(&mut others.c, async |_: Client<'_>| {
                    assert_outside(s.send(Ping(1)).await);
                    Err::<((), _), _>(Error::other("used"))
                });
                used.await.unwrap_err().to_string()
            };
            scope.spawn(|| block_on(uses())).join().unwrap()
        });
        Err::<((), _), _>(Error::other(used))
    });
    assert_eq!(block_on(process).unwrap_err().to_string(), "used");
    assert_eq!(closed(block_on(server(&mut roles.s))), ("s", "c", Action::Receive(&["Ping"])));
}

#[test]
fn a_state_is_of_no_use_after_its_process() {
    let mut roles = Roles::default();
    let (mut taken, mut receives) = (None, None);
    let gives_away = try_run(&mut roles.c, async |s: Client<'_>| {
        let mut received = s.send(Ping(1)).await?.receive();
        assert!((&mut received).now_or_never().is_none());
        receives = Some(received);
        Err::<((), _), _>(Error::other("too early"))
    });
    assert!(block_on(gives_away).is_err());
    assert_outside(block_on(receives.take().unwrap()));
    // A first state cannot be used either, and the error poisons nothing else.
    let mut other = Roles::default();
    let gives_away = try_run(&mut other.c, async |s: Client<'_>| {
        taken = Some(s);
        Err::<((), _), _>(Error::other("too early"))
    });
    assert!(block_on(gives_away).is_err());
    assert_outside(block_on(taken.take().unwrap().send(Ping(1))));
    // The question was sent, and no peer answers.
    assert_eq!(closed(block_on(server(&mut roles.s))), ("s", "c", Action::Send("Pong")));
    assert!(roles.c.is_poisoned() && other.c.is_poisoned());
}

#[test]
#[should_panic(expected = "outside of its process")]
fn a_session_is_taken_away_by_its_process_only() {
    let mut roles = Roles::default();
    let mut taken = None;
    let gives_away = try_run(&mut roles.c, async |s: Client<'_>| {
        taken = Some(s);
        Err::<((), _), _>(Error::other("too early"))
    });
    assert!(block_on(gives_away).is_err());
    let _: (Detached<Client<'static>>, _) = Detached::new(taken.unwrap());
}

/// The peer learns that a process has given up its session by `giving_up` a state once the process
/// returns, not before.
fn peer_hears_when_the_process_returns(giving_up: impl FnOnce(Client<'_>)) {
    let Roles { mut c, mut s } = Roles::default();
    let process = try_run(&mut c, async |s: Client<'_>| {
        giving_up(s);
        pause().await;
        Err::<((), _), _>(Error::other("gave up"))
    });
    let waits = server(&mut s);
    pin_mut!(process, waits);
    assert!(process.as_mut().now_or_never().is_none());
    assert!(waits.as_mut().now_or_never().is_none());
    // The process has returned, and its future still exists.
    let ended: Result<()> = process.as_mut().now_or_never().unwrap();
    assert_eq!(ended.unwrap_err().to_string(), "gave up");
    assert_eq!(closed(waits.now_or_never().unwrap()), ("s", "c", Action::Receive(&["Ping"])));
}

#[test]
fn peers_hear_when_a_process_returns_without_its_end() {
    peer_hears_when_the_process_returns(|_dropped| {});
    peer_hears_when_the_process_returns(|s| {
        let _dropped = s.send(Ping(1));
    });
}

#[test]
fn peers_hear_at_once_where_an_action_fails() {
    let fan_in::Roles { a: mut left, b: mut right, c: mut hub } = fan_in::Roles::default();
    let writes = try_run(&mut left, async |s: WriterA<'_>| {
        let _ = s.send(Line(1)).await?;
        Err::<((), _), _>(Error::other("wrote one line"))
    });
    assert_eq!(block_on(writes).unwrap_err().to_string(), "wrote one line");
    let waits = try_run(&mut right, async |s: WriterB<'_>| {
        let s = s.send(Line(2)).await?.send(Line(3)).await?.select(Line(4)).await?;
        let _ = s.receive().await?;
        Err::<((), _), _>(Error::other("not reached"))
    });
    let mut answered = None;
    let process = try_run(&mut hub, async |s: Collector<'_>| {
        let Both::FromA(Line(1), s) = s.branch().await? else { panic!("it is the turn of `Left`") };
        answered = Some(s.send(Got).await.map(drop));
        pending::<Result<((), _)>>().await
    });
    pin_mut!(process, waits);
    assert!(waits.as_mut().now_or_never().is_none());
    // The process continues, and the peers know.
    assert!(process.as_mut().now_or_never().is_none());
    assert_eq!(closed(waits.now_or_never().unwrap()), ("Right", "Hub", Action::Receive(&["Got"])));
    assert_eq!(closed(answered.unwrap()), ("Hub", "Left", Action::Send("Got")));
}

#[test]
fn a_choice_among_peers_is_of_no_use_after_its_process() {
    let mut roles = fan_in::Roles::default();
    let mut taken = None;
    let gives_away = try_run(&mut roles.c, async |s: Collector<'_>| {
        taken = Some(s);
        Err::<((), _), _>(Error::other("too early"))
    });
    assert!(block_on(gives_away).is_err());
    let used = block_on(taken.unwrap().branch());
    assert!(matches!(used.unwrap_err().kind(), ErrorKind::Outside { role: "Hub" }));
}

#[test]
fn actions_are_not_polled_again() {
    let mut roles = Roles::default();
    let process = try_run(&mut roles.c, async |s: Client<'_>| {
        let mut sends = s.send(Ping(1));
        let s = (&mut sends).await?;
        let again = panic::catch_unwind(AssertUnwindSafe(|| (&mut sends).now_or_never()));
        assert!(again.is_err());
        let (Pong(answer), end) = s.receive().await?;
        Ok::<_, Error>((answer, end))
    });
    assert_eq!(block_on(join(process, server(&mut roles.s))).0.unwrap(), 2);
    let Roles { mut c, s } = Roles::default();
    drop(s);
    let process = try_run(&mut c, async |s: Client<'_>| -> Result<((), End<'_, C>)> {
        let mut sends = s.send(Ping(1));
        assert!((&mut sends).await.is_err());
        let again = panic::catch_unwind(AssertUnwindSafe(|| (&mut sends).now_or_never()));
        assert!(again.is_err());
        Err(Error::other("over"))
    });
    assert_eq!(block_on(process).unwrap_err().to_string(), "over");
}
