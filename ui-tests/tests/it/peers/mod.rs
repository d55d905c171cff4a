//! Choices among peers: sending to one, receiving from whichever is first, and doing either.

mod turns;

use std::convert::Infallible;
use std::future::{pending, ready};

use futures::executor::block_on;
use futures::future::{FutureExt as _, try_join, try_join3};
use rumpsteak::error::Action;
use rumpsteak::{Error, ErrorKind, Role as _, try_run};
use rumpsteak_ui_tests::fan_in::{Both, Collector};
use rumpsteak_ui_tests::{cancel, closed, either, fan_in, pool};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
fn jobs_go_to_whom_the_dispatcher_likes() {
    let pool::Roles { mut d, mut a, mut b } = pool::Roles::default();
    for _ in 0..3 {
        let jobs = pool::dispatcher(&mut d, &[1, 2, 3, 4]);
        let all = try_join3(jobs, pool::first(&mut a), pool::second(&mut b));
        assert_eq!(block_on(all).unwrap(), (3 + 4 + 9 + 8, (), ()));
    }
}

/// Both peers have always sent something, so each is received from at every second turn.
#[test]
fn no_peer_starves_another() {
    let fan_in::Roles { mut a, mut b, mut c } = fan_in::Roles::default();
    let all =
        (fan_in::writer_a(&mut a, 50), fan_in::writer_b(&mut b, 50), fan_in::collector(&mut c));
    let (wrote_a, wrote_b, lines) = block_on(rumpsteak::join(all));
    assert!(wrote_a.is_ok() && wrote_b.is_ok());
    let lines = lines.unwrap();
    assert_eq!(lines.len(), 100);
    for pair in lines.chunks(2) {
        assert!(pair[0].0 != pair[1].0 && pair[0].1 == pair[1].1, "{lines:?}");
    }
}

/// All peers have always sent something. The second is in both choices, so turns that always begin
/// behind the last sender would starve the third.
#[test]
fn no_peer_starves_another_in_other_choices() {
    let turns::Roles { mut ear, mouth_a: mut a, mouth_b: mut b, mouth_c: mut c } =
        turns::Roles::default();
    macro_rules! speak {
        ($role:ident, $Session:ident) => {
            async {
                let ended: Result<Infallible, Error> =
                    try_run(&mut $role, async |mut s: turns::$Session<'_>| {
                        loop {
                            (turns::Nod, s) = s.send(turns::Word).await?.receive().await?;
                        }
                    })
                    .await;
                ended
            }
        };
    }
    let mut words = Vec::new();
    let all = (
        turns::ear(&mut ear, &mut words, 90),
        speak!(a, SpeaksA),
        speak!(b, SpeaksB),
        speak!(c, SpeaksC),
    );
    let (heard, ..) = block_on(rumpsteak::join(all));
    assert!(heard.is_err());
    // A waiting peer is received from after at most one message of each other peer in its choices.
    for who in ['a', 'b', 'c'] {
        let mut waited = 0;
        for choice in words.chunks(2) {
            waited = if choice.contains(&who) { 0 } else { waited + 1 };
            assert!(waited <= 2, "{who} waits for ever: {words:?}");
        }
    }
}

/// On threads, every interleaving that occurs gives each writer's lines in order.
#[test]
fn lines_of_each_peer_stay_in_their_order() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    let fan_in::Roles { mut a, mut b, mut c } = fan_in::Roles::default();
    let lines = runtime.block_on(async {
        let a = tokio::spawn(async move { fan_in::writer_a(&mut a, 500).await.map(|()| a) });
        let b = tokio::spawn(async move { fan_in::writer_b(&mut b, 700).await.map(|()| b) });
        let c = tokio::spawn(async move { fan_in::collector(&mut c).await });
        let (a, b, lines) = (a.await.unwrap(), b.await.unwrap(), c.await.unwrap());
        assert!(a.is_ok() && b.is_ok());
        lines.unwrap()
    });
    for (who, count) in [('l', 500), ('r', 700)] {
        let of_one = lines.iter().filter(|line| line.0 == who).map(|line| line.1);
        assert!(of_one.eq(0..count), "{who}");
    }
}

#[test]
fn a_branch_that_loses_races_loses_no_message() {
    let fan_in::Roles { mut a, mut b, mut c } = fan_in::Roles::default();
    let restless = try_run(&mut c, async |mut s: Collector<'_>| {
        let mut lost = 0;
        let end = loop {
            let mut branching = s.branch();
            let heard = loop {
                tokio::select! {
                    biased;
                    heard = &mut branching => break heard?,
                    () = ready(()) => lost += 1,
                }
                tokio::task::yield_now().await;
            };
            s = match heard {
                Both::FromA(_, s) => s.send(fan_in::Got).await?,
                Both::FromB(_, s) => s.send(fan_in::Got).await?,
                Both::NoMoreA(_, mut s) => {
                    break loop {
                        s = match s.branch().await? {
                            fan_in::OnlyB::Line(_, s) => s.send(fan_in::Got).await?,
                            fan_in::OnlyB::LastLine(_, end) => break end,
                        };
                    };
                }
                Both::NoMoreB(_, mut s) => {
                    break loop {
                        s = match s.branch().await? {
                            fan_in::OnlyA::Line(_, s) => s.send(fan_in::Got).await?,
                            fan_in::OnlyA::LastLine(_, end) => break end,
                        };
                    };
                }
            };
        };
        Ok::<_, Error>((lost > 0, end))
    });
    let slow = async |writer: futures::future::BoxFuture<'_, rumpsteak::Result<()>>| {
        tokio::task::yield_now().await;
        writer.await
    };
    let all = try_join3(
        slow(fan_in::writer_a(&mut a, 20).boxed()),
        slow(fan_in::writer_b(&mut b, 30).boxed()),
        restless,
    );
    assert_eq!(runtime().block_on(all).unwrap(), ((), (), true));
}

/// A peer that is gone is named, but only after the messages of the others.
#[test]
fn a_peer_that_is_gone_is_an_error_once_nothing_else_is_there() {
    let fan_in::Roles { a, mut b, mut c } = fan_in::Roles::default();
    drop(a);
    let mut writing = Box::pin(fan_in::writer_b(&mut b, 3));
    assert!(writing.as_mut().now_or_never().is_none());
    let mut heard = 0;
    let collected = block_on(try_run(&mut c, async |mut s: Collector<'_>| {
        while let Both::FromB(fan_in::Line(line), next) = s.branch().await? {
            assert_eq!(line, heard);
            heard += 1;
            s = next.send(fan_in::Got).await?;
        }
        Err::<((), _), Error>(ErrorKind::Poisoned { role: "told" }.into())
    }));
    let labels = &["Line", "Line", "LastLine", "LastLine"];
    assert_eq!(closed(collected), ("Hub", "Left", Action::Receive(labels)));
    assert_eq!(heard, 3);
    assert!(c.is_poisoned());
}

/// Ann sends nothing and is dropped once her session has ended: the role still waits for Bob.
#[test]
fn a_peer_that_has_left_in_order_is_no_error_while_another_may_answer() {
    let (tell, told) = futures::channel::oneshot::channel::<()>();
    let either::Roles { mut d, mut a, mut b, mut c } = either::Roles::default();
    runtime().block_on(async {
        let chose = tokio::spawn(async move { either::chooser(&mut d).await });
        let ann = tokio::spawn(async move { either::ann(&mut a).await });
        let work = async { told.await.map_err(|_| ErrorKind::Poisoned { role: "told" }.into()) };
        let bob = tokio::spawn(async move { either::bob(&mut b, work).await });
        let mut heard = Box::pin(either::listener(&mut c));
        assert!(futures::poll!(&mut heard).is_pending());
        ann.await.unwrap().unwrap();
        assert!(futures::poll!(&mut heard).is_pending());
        tell.send(()).unwrap();
        assert!(heard.await.unwrap());
        bob.await.unwrap().unwrap();
        chose.await.unwrap().unwrap();
    });
}

/// A peer that gives up is an error at once, whether the other one has left or stays silent.
#[test]
fn a_peer_that_gives_up_is_an_error_whoever_else_is_there() {
    for stays in [true, false] {
        let either::Roles { mut d, mut a, mut b, mut c } = either::Roles::default();
        let gives_up = async { Err(ErrorKind::Poisoned { role: "told" }.into()) };
        let (heard, stayed) = runtime().block_on(async {
            let chose = tokio::spawn(async move { either::chooser(&mut d).await });
            let stayed = async {
                either::ann(&mut a).await.unwrap();
                stays.then_some(a)
            };
            let heard = async {
                // After all the others.
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                either::listener(&mut c).await
            };
            let bob = async move { either::bob(&mut b, gives_up).await };
            let (heard, stayed, gave_up) = tokio::join!(heard, stayed, bob);
            assert!(gave_up.is_err());
            assert!(chose.await.unwrap().is_err());
            (heard, stayed)
        });
        assert_eq!(stayed.is_some(), stays);
        assert_eq!(closed(heard), ("c", "b", Action::Receive(&["Answer", "Answer"])), "{stays}");
    }
}

#[test]
fn an_answer_comes_before_patience_ends() {
    let cancel::Roles { mut asker, mut worker } = cancel::Roles::default();
    for _ in 0..2 {
        let both =
            try_join(cancel::asker(&mut asker, pending()), cancel::worker(&mut worker, ready(42)));
        assert_eq!(block_on(both).unwrap(), ((Some(42), false), (true, true)));
    }
}

#[test]
fn patience_ends_before_the_answer() {
    let cancel::Roles { mut asker, mut worker } = cancel::Roles::default();
    for _ in 0..2 {
        let both =
            try_join(cancel::asker(&mut asker, ready(())), cancel::worker(&mut worker, pending()));
        assert_eq!(block_on(both).unwrap(), ((None, true), (false, false)));
    }
}

/// Both wishes complete before either is received: messages that cross are received all the same.
#[test]
fn an_answer_and_the_end_of_patience_cross() {
    let cancel::Roles { mut asker, mut worker } = cancel::Roles::default();
    let (tell, told) = futures::channel::oneshot::channel::<()>();
    let patience = async {
        // Until the worker has begun and received nothing.
        told.await.unwrap();
    };
    let work = async {
        tell.send(()).unwrap();
        7
    };
    let both = try_join(cancel::asker(&mut asker, patience), cancel::worker(&mut worker, work));
    let ((answer, impatient), (answered, wanted)) = block_on(both).unwrap();
    assert_eq!((answer, answered), (Some(7), true));
    assert_eq!(impatient, !wanted);
}

#[test]
fn a_race_can_be_spawned() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let cancel::Roles { mut asker, mut worker } = cancel::Roles::default();
    let (asked, worked) = runtime.block_on(async {
        let asked = tokio::spawn(async move { cancel::asker(&mut asker, pending()).await });
        let worked = tokio::spawn(async move { cancel::worker(&mut worker, ready(1)).await });
        (asked.await.unwrap(), worked.await.unwrap())
    });
    assert_eq!((asked.unwrap(), worked.unwrap()), ((Some(1), false), (true, true)));
}
