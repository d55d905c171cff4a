//! Sessions that do not reach their end: the role is poisoned, and the peers wake.
//!
//! `failure_matrix.rs` has every cause at every place. This file has the other cases.

use std::future::pending;

use futures::executor::block_on;
use futures::future::{join, join3};
use futures::poll;
use rumpsteak::error::Action;
use rumpsteak::states::End;
use rumpsteak::transport::Pair;
use rumpsteak::{Channel, Error, ErrorKind, Result, Role, try_run};
use rumpsteak_ui_tests::closed;
use rumpsteak_ui_tests::numbers::{self, Producer, consumer, producer};
use rumpsteak_ui_tests::ping::{self, C, Client, Label, Ping, Pong, Roles, Server, client, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_task_wakes_the_peer() {
    let Roles { mut s, mut c } = Roles::default();
    let (asked, was_asked) = tokio::sync::oneshot::channel();
    let task = tokio::spawn(async move {
        try_run(&mut s, async |s: Server<'_>| -> Result<((), _)> {
            let (Ping(_), _s) = s.receive().await?;
            asked.send(()).unwrap();
            pending().await
        })
        .await
    });
    let waiting = tokio::spawn(async move { client(&mut c, 1).await });
    was_asked.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(closed(waiting.await.unwrap()), ("c", "s", Action::Receive(&["Pong"])));
}

/// The error of a client that returned the end of another session.
fn assert_foreign<T: std::fmt::Debug>(result: Result<T>) {
    let kind = result.as_ref().map_err(Error::kind);
    assert!(matches!(kind, Err(ErrorKind::ForeignEnd { role: "c" })), "{result:?}");
}

#[test]
fn what_was_sent_before_the_failure_still_arrives() {
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let failed = block_on(try_run(&mut p, async |s: Producer<'_>| {
        let _s = s.select(numbers::Number(1)).await?.select(numbers::Number(2)).await?;
        Err::<((), _), _>(Failed::Process)
    }));
    assert!(matches!(failed, Err(Failed::Process)));
    let mut seen = Vec::new();
    let result = block_on(try_run(&mut q, async |mut s: numbers::Consumer<'_>| {
        loop {
            s = match s.branch().await? {
                numbers::Next::Number(number, s) => {
                    seen.push(number.0);
                    s
                }
                numbers::Next::Stop(_, s) => return Ok(((), s.send(numbers::Sum(0)).await?)),
            };
        }
    }));
    assert_eq!(seen, [1, 2]);
    assert_eq!(closed(result), ("q", "p", Action::Receive(&["Number", "Stop"])));
}

#[test]
fn a_reset_connects_roles_of_several_sets() {
    let [mut first, second] = two();
    let Roles { s: mut far, c: gone } = second;
    drop(gone);
    block_on(async {
        let mut dropped = Box::pin(client(&mut first.c, 1));
        assert!(poll!(&mut dropped).is_pending());
    });
    // The client leaves its server and gets the server of the other set.
    Roles::reset_each(&mut far, &mut first.c);
    assert!(!first.c.is_poisoned());
    let (answer, served) = block_on(join(client(&mut first.c, 1), server(&mut far)));
    assert_eq!(answer.unwrap(), 2);
    served.unwrap();
    // The server of the first set has no peer, and the question of the dropped session.
    assert_eq!(closed(block_on(server(&mut first.s))), ("s", "c", Action::Send("Pong")));
}

fn two() -> [Roles; 2] {
    [Roles::default(), Roles::default()]
}

#[test]
fn sessions_that_swap_their_ends_are_both_refused() {
    let [Roles { mut s, mut c }, Roles { s: mut s2, c: mut c2 }] = two();
    let (to_first, from_second) = futures::channel::oneshot::channel();
    let (to_second, from_first) = futures::channel::oneshot::channel();
    let (first, second, _) = block_on(join3(
        try_run(&mut c, async |s: Client<'_>| {
            let (Pong(_), end) = s.send(Ping(1)).await?.receive().await?;
            to_second.send(end).unwrap();
            Ok::<_, Error>(((), from_second.await.unwrap()))
        }),
        try_run(&mut c2, async |s: Client<'_>| {
            let (Pong(_), end) = s.send(Ping(2)).await?.receive().await?;
            to_first.send(end).unwrap();
            Ok::<_, Error>(((), from_first.await.unwrap()))
        }),
        join(server(&mut s), server(&mut s2)),
    ));
    assert_foreign(first);
    assert_foreign(second);
    assert!(c.is_poisoned() && c2.is_poisoned());
}

#[test]
fn sessions_that_swap_their_states_are_both_refused() {
    let [Roles { mut s, mut c }, Roles { s: mut s2, c: mut c2 }] = two();
    let (to_first, from_second) = futures::channel::oneshot::channel();
    let (to_second, from_first) = futures::channel::oneshot::channel();
    let (first, second, _) = block_on(join3(
        try_run(&mut c, async |mut s: Client<'_>| {
            let mut other = from_second.await.unwrap();
            std::mem::swap(&mut s, &mut other);
            to_second.send(other).unwrap();
            let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
            Ok::<_, Error>((answer, end))
        }),
        try_run(&mut c2, async |s: Client<'_>| {
            to_first.send(s).unwrap();
            let (Pong(answer), end) =
                from_first.await.unwrap().send(Ping(2)).await?.receive().await?;
            Ok::<_, Error>((answer, end))
        }),
        join(server(&mut s), server(&mut s2)),
    ));
    for ended in [first, second] {
        assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Outside { role: "c" }));
    }
    assert!(c.is_poisoned() && c2.is_poisoned());
}

#[test]
fn an_error_after_the_end_poisons_too() {
    // Only `Ok` leaves a role clean.
    let Roles { mut s, mut c } = Roles::default();
    let late = try_run(&mut c, async |s: Client<'_>| {
        let (Pong(_), _end) = s.send(Ping(1)).await?.receive().await?;
        Err::<((), _), _>(Failed::Process)
    });
    let (late, served) = block_on(join(late, server(&mut s)));
    assert!(matches!(late, Err(Failed::Process)));
    served.unwrap();
    assert!(c.is_poisoned() && !s.is_poisoned());
}

#[test]
fn a_failed_send_returns_its_label() {
    let Roles { s, mut c } = Roles::default();
    drop(s);
    let mut returned = None;
    let result = block_on(try_run(&mut c, async |s: Client<'_>| -> Result<((), End<'_, C>)> {
        let unsent = s.send_or_return(Ping(7)).await.unwrap_err();
        returned = unsent.label;
        Err(unsent.error)
    }));
    assert_eq!(returned, Some(Ping(7)));
    assert_eq!(closed(result), ("c", "s", Action::Send("Ping")));

    let numbers::Roles(mut p, q) = numbers::Roles::default();
    drop(q);
    let result = block_on(try_run(&mut p, async |s: Producer<'_>| {
        let unsent = s.select_or_return(numbers::Number(8)).await.unwrap_err();
        assert_eq!(unsent.label.as_ref().unwrap().0, 8);
        assert_eq!(
            unsent.to_string(),
            "`p` cannot send `Number` to `q`: `q` has closed the route (it failed, was cancelled or was dropped)"
        );
        Err::<((), _), Error>(unsent.into())
    }));
    assert_eq!(closed(result), ("p", "q", Action::Send("Number")));
}

#[test]
fn an_unexpected_label_names_what_was_legal_and_what_came() {
    // Only a foreign program at the other end can send it; here the test does.
    let (near, far) = <Channel<Label> as Pair<Channel<Label>>>::pair();
    let mut c = C { s: near };
    let (mut tx, rx) = far.into_inner().unwrap();
    assert!(tx.try_send(Label::Ping(Ping(0))).is_ok());
    let result = block_on(client(&mut c, 1));
    let Err(ErrorKind::Unexpected { role: "c", peer: "s", legal: ["Pong"], came: "Ping" }) =
        result.as_ref().map_err(Error::kind)
    else {
        panic!("{result:?}");
    };
    assert_eq!(
        result.unwrap_err().to_string(),
        "`c` got `Ping` from `s` but can only receive `Pong`"
    );
    assert!(c.is_poisoned());
    drop(rx);
}

#[test]
fn an_unexpected_label_in_a_branch_names_all_that_were_legal() {
    let (near, far) = <Channel<numbers::Label> as Pair<Channel<numbers::Label>>>::pair();
    let mut q = numbers::Q(near);
    let (mut tx, _rx) = far.into_inner().unwrap();
    assert!(tx.try_send(numbers::Label::Number(numbers::Number(1))).is_ok());
    assert!(tx.try_send(numbers::Label::Total(numbers::Sum(1))).is_ok());
    let error = block_on(consumer(&mut q)).unwrap_err();
    assert_eq!(error.to_string(), "`q` got `sum` from `p` but can only receive `Number` or `Stop`");
}

#[test]
fn a_dropped_peer_is_a_closed_peer() {
    let numbers::Roles(mut p, q) = numbers::Roles::default();
    drop(q);
    assert_eq!(closed(block_on(producer(&mut p, &[1]))), ("p", "q", Action::Send("Number")));
    let ping::Roles { mut s, c } = Roles::default();
    drop(c);
    assert_eq!(closed(block_on(server(&mut s))), ("s", "c", Action::Receive(&["Ping"])));
}

#[test]
fn errors_explain_themselves() {
    let role = "k";
    assert_eq!(
        ErrorKind::ForeignEnd { role }.to_string(),
        "the session of `k` returned the end of another session; both roles are poisoned"
    );
    assert_eq!(
        ErrorKind::Poisoned { role }.to_string(),
        "role `k` is poisoned: an earlier session did not reach its end; reset the role together with its peers"
    );
    let legal = &["a", "b", "c"];
    assert_eq!(
        ErrorKind::Unexpected { role, peer: "s", legal, came: "d" }.to_string(),
        "`k` got `d` from `s` but can only receive `a`, `b` or `c`"
    );
    // The output of a `main` that returns the error.
    let error = Error::from(ErrorKind::ForeignEnd { role });
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[derive(Debug)]
enum Failed {
    Process,
    Session,
}

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self::Session
    }
}
