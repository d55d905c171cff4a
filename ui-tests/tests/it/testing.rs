//! `testing`: all interleavings, and peers played by hand.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::join;
use rumpsteak::Error;
use rumpsteak::machine::Machine;
use rumpsteak::testing::{Mock, Processes, explore, explore_up_to};
use rumpsteak_ui_tests::either;
use rumpsteak_ui_tests::numbers::{self, consumer, producer};
use rumpsteak_ui_tests::ping::{self, C, Client, Ping, Pong, S, Server, client, server};
use rumpsteak_ui_tests::pool;
use rumpsteak_ui_tests::ring::{self, first, second, third};

#[track_caller]
fn fails(add: impl Fn(&mut Processes)) -> String {
    panics(|| {
        explore(add);
    })
}

#[track_caller]
fn panics(run: impl FnOnce()) -> String {
    *catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast::<String>().unwrap()
}

#[test]
fn every_interleaving_is_run() {
    let answers = Rc::new(RefCell::new(0));
    let explored = explore(|processes| {
        let ping::Roles { mut c, mut s } = ping::Roles::default();
        let answers = Rc::clone(&answers);
        processes.add("client", async move {
            *answers.borrow_mut() += client(&mut c, 1).await?;
            Ok::<_, Error>(())
        });
        processes.add("server", async move { server(&mut s).await });
    });
    // One of them is polled first; then each waits for the other.
    assert!(explored.is_complete);
    assert_eq!((explored.interleavings, *answers.borrow()), (2, 4));
}

#[test]
fn what_processes_share_outside_of_their_sessions_is_seen_in_every_order() {
    let orders = Rc::new(RefCell::new(BTreeSet::new()));
    let explored = explore(|processes| {
        let log = Rc::new(RefCell::new(Vec::new()));
        for name in ["one", "two", "three"] {
            let (log, orders) = (Rc::clone(&log), Rc::clone(&orders));
            let numbers::Roles(mut p, mut q) = numbers::Roles::default();
            processes.add(name, async move {
                let both = (producer(&mut p, &[1]), consumer(&mut q));
                let (produced, consumed) = rumpsteak::join(both).await;
                log.borrow_mut().push(name);
                if log.borrow().len() == 3 {
                    orders.borrow_mut().insert(log.borrow().clone());
                }
                produced.and(consumed)
            });
        }
    });
    assert!(explored.is_complete);
    assert_eq!(orders.borrow().len(), 6);
}

#[test]
fn a_hang_says_who_waits_for_whom() {
    let text = fails(|processes| {
        let ping::Roles { mut c, mut s } = ping::Roles::default();
        let (tell, told) = oneshot::channel::<i32>();
        processes.add("client", async move {
            let answer = client(&mut c, 1).await;
            let _ = tell.send(1);
            answer
        });
        processes.add("server", async move {
            let _ = told.await;
            server(&mut s).await
        });
    });
    assert_eq!(
        text,
        "no process can continue:\n  `client`: `c` waits for `Pong` from `s`\n  \
         `server` waits for something outside of its session, or for a role that it owns itself\n\n\
         the processes were polled in this order:\n   1  client\n   2  server"
    );
}

#[test]
fn a_hang_says_for_what_a_mock_waits() {
    let text = fails(|processes| {
        let ping::Roles { c, s } = ping::Roles::default();
        let plays = Mock::new(s, Machine::of::<Server<'_>>()).play(async |mock| {
            let _ = mock.receive::<C>().await;
        });
        processes.add("server", async move {
            plays.await;
            Ok::<_, Error>(())
        });
        processes.add("client", async move {
            let _c = c;
            std::future::pending::<Result<(), Error>>().await
        });
    });
    assert_eq!(
        text,
        "no process can continue:\n  `server`: `s` waits for `ping` from `c`\n  \
         `client` waits for something outside of its session, or for a role that it owns itself\n\n\
         the processes were polled in this order:\n   1  server\n   2  client"
    );
}

#[test]
fn a_hang_names_the_message_that_a_process_with_two_roles_waits_for() {
    let text = fails(|processes| {
        let ping::Roles { mut c, mut s } = ping::Roles::default();
        processes.add("both", async move {
            client(&mut c, 1).await?;
            server(&mut s).await
        });
    });
    assert_eq!(
        text,
        "no process can continue:\n  `both`: `c` waits for `Pong` from `s`\n\n\
         the processes were polled in this order:\n   1  both"
    );
}

#[test]
fn a_role_that_was_left_out_is_named() {
    let text = fails(|processes| {
        let mut c = ping::Roles::default().c;
        processes.add("client", async move { client(&mut c, 1).await });
    });
    assert_eq!(
        text,
        "`client` failed: `c` cannot send `Ping` to `s`: `s` has closed the route (it failed, was cancelled or was dropped)\n\n\
         no process has ended: `s` belongs to none, or its process has dropped it\n\n\
         the processes were polled in this order:\n   1  client"
    );
}

#[test]
fn an_error_is_named_with_its_interleaving() {
    let text = fails(|processes| {
        let ping::Roles { mut c, s } = ping::Roles::default();
        processes.add("client", async move { client(&mut c, 1).await });
        processes.add("gone", async move {
            drop(s);
            Ok::<_, Error>(())
        });
    });
    assert_eq!(
        text,
        "`client` failed: `c` cannot receive `Pong` from `s`: `s` has closed the route (it failed, was cancelled or was dropped)\n\n\
         the processes were polled in this order:\n   1  client\n   2  gone\n   3  client"
    );

    let text = fails(|processes| {
        let ping::Roles { mut c, mut s } = ping::Roles::default();
        processes.add("client", async move {
            assert_eq!(client(&mut c, 1).await?, 3);
            Ok::<_, Error>(())
        });
        processes.add("server", async move { server(&mut s).await });
    });
    assert_eq!(
        text,
        "`client` panicked\n\nthe processes were polled in this order:\n   1  client\n   2  server\n   3  client"
    );
}

#[test]
fn what_is_not_all_says_so() {
    let explored = explore_up_to(2, |processes| {
        let ring::Roles { mut x, mut y, mut z } = ring::Roles::default();
        // A session without an end, as far as the test goes.
        processes.add("x", async move { first(&mut x, u64::MAX).await.map_err(|_| "stopped") });
        processes.add("y", async move { second(&mut y).await });
        processes.add("z", async move { third(&mut z).await });
    });
    assert_eq!((explored.interleavings, explored.is_complete), (2, false));
}

#[test]
fn a_mock_plays_a_peer() {
    let ping::Roles { mut c, s } = ping::Roles::default();
    let plays = Mock::new(s, Machine::of::<Server<'_>>()).play(async |mock| {
        let ping::Label::Ping(Ping(question)) = mock.receive::<C>().await else { panic!() };
        mock.send::<C, _>(Pong(question * 10)).await;
    });
    let (answer, ()) = block_on(join(client(&mut c, 4), plays));
    assert_eq!(answer.unwrap(), 40);

    let ping::Roles { c, mut s } = ping::Roles::default();
    let plays = Mock::new(c, Machine::of::<Client<'_>>()).play(async |mock| {
        mock.send::<S, _>(Ping(3)).await;
        let ping::Label::Pong(Pong(4)) = mock.receive::<S>().await else { panic!() };
    });
    let (served, ()) = block_on(join(server(&mut s), plays));
    served.unwrap();
}

#[test]
fn a_mock_keeps_to_the_protocol() {
    let mock = || {
        let ping::Roles { c, s } = ping::Roles::default();
        (Mock::new(s, Machine::of::<Server<'_>>()), c)
    };
    let (mut early, _c) = mock();
    assert_eq!(
        panics(|| block_on(early.send::<C, _>(Pong(1)))),
        "`s` cannot send `Pong` to `c` here: the role must receive `ping` from `c`"
    );
    let (unfinished, mut c) = mock();
    let script = async |mock: &mut Mock<S>| {
        let _ = mock.receive::<C>().await;
    };
    let short = unfinished.play(script);
    let at = format!("{}:{}:28", file!(), line!() - 1);
    assert_eq!(
        panics(|| drop(block_on(join(client(&mut c, 4), short)))),
        format!("the script at {at} ends too early: the role must send `pong` to `c`")
    );
    let (mut lonely, c) = mock();
    drop(c);
    let at = format!("{}:{}:29", file!(), line!() + 3);
    assert_eq!(
        panics(|| {
            block_on(lonely.receive::<C>());
        }),
        format!("{at}: `c` has closed its route to `s`: its role was dropped, or it has ended")
    );
    let ping::Roles { c, s: _s } = ping::Roles::default();
    let mut waiting = Mock::new(c, Machine::of::<Client<'_>>());
    assert_eq!(
        panics(|| {
            block_on(waiting.receive::<S>());
        }),
        "`c` cannot receive from `s` here: the role must send `ping` to `s`"
    );
    let ping::Roles { c, s: _s } = ping::Roles::default();
    assert_eq!(
        panics(|| drop(Mock::new(c, Machine::of::<Server<'_>>()))),
        "the machine is one of `s`, not of `c`"
    );
    // Both protocols have a role `d`.
    let either = either::Roles::default().d;
    assert_eq!(Machine::of::<pool::Dispatcher<'_>>().protocol, "Pool");
    assert_eq!(
        panics(|| drop(Mock::new(either, Machine::of::<pool::Dispatcher<'_>>()))),
        "the machine is one of the protocol `Pool`, and this `d` plays in `Either`"
    );
}
