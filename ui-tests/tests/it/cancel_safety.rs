//! The sections "Cancel safety": an action polled by reference loses nothing, and dropping one
//! poisons the role.

use std::future::ready;

use futures::channel::mpsc;
use futures::executor::block_on;
use futures::future::{join, try_join};
use futures::{FutureExt as _, StreamExt as _};
use rumpsteak::error::Action;
use rumpsteak::{Error, ErrorKind, Result, Role as _, try_run};
use rumpsteak_ui_tests::closed;
use rumpsteak_ui_tests::numbers::{self, Consumer, Next, Number, Producer, Stop, Sum, consumer};
use rumpsteak_ui_tests::ping::{Client, Ping, Pong, Roles, Server, client, server};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
fn a_receive_that_loses_a_select_loses_no_message() {
    let Roles { mut c, mut s } = Roles::default();
    let (tick, mut ticks) = mpsc::unbounded::<u32>();
    let patient = try_run(&mut c, async |s: Client<'_>| {
        let mut answer = s.send(Ping(1)).await?.receive();
        let mut seen = Vec::new();
        loop {
            tokio::select! {
                biased;
                Ok(tick) = ticks.next().map(|tick| tick.ok_or(())) => seen.push(tick),
                received = &mut answer => {
                    let (Pong(answer), end) = received?;
                    return Ok::<_, Error>(((answer, seen), end));
                }
            }
        }
    });
    let slow = try_run(&mut s, async |s: Server<'_>| {
        let (Ping(question), s) = s.receive().await?;
        for number in 0..3 {
            tick.unbounded_send(number).unwrap();
            tokio::task::yield_now().await;
        }
        Ok::<_, Error>(((), s.send(Pong(question + 1)).await?))
    });
    let (answered, ()) = runtime().block_on(try_join(patient, slow)).unwrap();
    assert_eq!(answered, (2, vec![0, 1, 2]));
}

#[test]
fn a_branch_that_loses_every_race_loses_no_message() {
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let restless = try_run(&mut q, async |mut s: Consumer<'_>| {
        let (mut sum, mut lost) = (0, 0);
        loop {
            let mut next = s.branch();
            let next = loop {
                tokio::select! {
                    biased;
                    next = &mut next => break next?,
                    () = ready(()) => lost += 1,
                }
                tokio::task::yield_now().await;
            };
            s = match next {
                Next::Number(Number(number), s) => {
                    sum += number;
                    s
                }
                Next::Stop(Stop, s) => {
                    return Ok::<_, Error>(((sum, lost > 0), s.send(Sum(sum)).await?));
                }
            };
        }
    });
    let slow = try_run(&mut p, async |mut s: Producer<'_>| {
        for number in 1..=100 {
            s = s.select(Number(number)).await?;
            tokio::task::yield_now().await;
        }
        let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
        Ok::<_, Error>((sum, end))
    });
    let ((consumed, lost), produced) = runtime().block_on(try_join(restless, slow)).unwrap();
    assert_eq!((consumed, produced), (5050, 5050));
    assert!(lost);
}

#[test]
fn an_action_that_is_dropped_poisons_and_wakes_the_peer() {
    let Roles { mut c, mut s } = Roles::default();
    let hasty = try_run(&mut c, async |s: Client<'_>| {
        let answer = s.send(Ping(1)).await?.receive();
        tokio::select! {
            biased;
            received = answer => {
                let (Pong(answer), end) = received?;
                Ok((answer, end))
            }
            () = ready(()) => Err(Error::from(ErrorKind::Poisoned { role: "too slow" })),
        }
    });
    let slow = try_run(&mut s, async |s: Server<'_>| {
        let (Ping(_), s) = s.receive().await?;
        tokio::task::yield_now().await;
        Ok::<_, Error>(((), s.send(Pong(0)).await?))
    });
    let (asked, served) = runtime().block_on(join(hasty, slow));
    assert!(matches!(
        asked.map_err(Error::into_kind),
        Err(ErrorKind::Poisoned { role: "too slow" })
    ));
    assert_eq!(closed(served), ("s", "c", Action::Send("Pong")));
    assert!(c.is_poisoned() && s.is_poisoned());
}

#[test]
fn an_action_that_was_never_polled_poisons_too() {
    let Roles { mut c, mut s } = Roles::default();
    let result = block_on(try_run(&mut c, async |s: Client<'_>| {
        drop(s.send(Ping(1)));
        Err::<((), _), Error>(ErrorKind::Poisoned { role: "unsent" }.into())
    }));
    assert!(result.is_err());
    // Nothing was sent.
    assert_eq!(closed(block_on(server(&mut s))), ("s", "c", Action::Receive(&["Ping"])));
}

#[test]
fn a_send_that_waits_and_loses_a_select_sends_once() {
    // The queue has room for sixteen, so the message that stops the stream waits.
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let sixteen: i32 = 16;
    let mut waited = 0;
    let eager = try_run(&mut p, async |mut s: Producer<'_>| {
        for number in 1..=3 * sixteen {
            let mut sending = s.select(Number(number));
            s = loop {
                tokio::select! {
                    biased;
                    sent = &mut sending => break sent?,
                    () = ready(()) => waited += 1,
                }
                tokio::task::yield_now().await;
            };
        }
        let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
        Ok::<_, Error>((sum, end))
    });
    let lazy = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        consumer(&mut q).await
    };
    assert_eq!(runtime().block_on(try_join(eager, lazy)).unwrap(), (48 * 49 / 2, 48 * 49 / 2));
    assert!(waited > 0);
}

#[test]
fn a_session_dropped_before_its_first_poll_has_no_effect() {
    let Roles { mut c, mut s } = Roles::default();
    drop(client(&mut c, 1));
    assert!(!c.is_poisoned());
    let (answer, ()) = block_on(try_join(client(&mut c, 1), server(&mut s))).unwrap();
    assert_eq!(answer, 2);
}

#[test]
fn actions_say_where_they_are() {
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let mut texts = Vec::new();
    let failed: Result<()> = block_on(try_run(&mut q, async |s: Consumer<'_>| {
        texts.push(format!("{:?}", s.branch()));
        Err(ErrorKind::Poisoned { role: "q" }.into())
    }));
    assert!(failed.is_err());
    let failed: Result<()> = block_on(try_run(&mut p, async |s: Producer<'_>| {
        let mut sending = s.select_or_return(Number(1));
        texts.push(format!("{sending:?}"));
        assert!((&mut sending).await.is_err(), "the consumer is gone");
        texts.push(format!("{sending:?}"));
        Err(ErrorKind::Poisoned { role: "p" }.into())
    }));
    assert!(failed.is_err());
    assert_eq!(
        texts,
        [
            r#"Branching { role: "q", peer: "p", labels: ["Number", "Stop"] }"#,
            r#"Returning { sending: Sending { role: "p", peer: "q", label: "Number" }, .. }"#,
            r#"Returning { sending: Sending { role: "p", peer: "q", label: "Number", completed: true }, .. }"#,
        ]
    );
}
