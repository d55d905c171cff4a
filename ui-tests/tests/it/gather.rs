//! Gathers: one message of each of several peers, in any order.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::ready;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use futures::FutureExt as _;
use futures::executor::block_on;
use rumpsteak::error::Action;
use rumpsteak::machine::Machine;
use rumpsteak::states::Gather;
use rumpsteak::{
    Detached, Ended, Error, ErrorKind, Held, Result, Role as _, hold, testing, try_run,
};
use rumpsteak_ui_tests::closed;

#[rumpsteak::protocol(Vote)]
mod vote {}
use vote::CYesGather as Votes;
use vote::*;

/// Receives all votes. `then` is called with the sender and its vote.
macro_rules! gather {
    ($due:expr, $then:expr) => {{
        let mut due = $due;
        loop {
            let (who, vote, rest) = match due.next().await? {
                Votes::YesFromP(Yes(vote), due) => ('p', vote, due),
                Votes::YesFromQ(Yes(vote), due) => ('q', vote, due),
                Votes::YesFromR(Yes(vote), due) => ('r', vote, due),
                Votes::No(No, due) => ('p', 0, due),
                Votes::All(s) => break s,
            };
            $then(who, vote);
            due = rest;
        }
    }};
}

/// Begins a round, up to its votes.
macro_rules! ask {
    ($s:expr, $round:expr) => {
        $s.select(Ask($round)).await?.send(Ask($round)).await?.send(Ask($round)).await?
    };
}

/// Asks for so many rounds, and returns who voted in which order, and the sum of the votes.
async fn coordinator(mut s: CSession<'_>, rounds: u32) -> Ended<'_, C, (String, u32)> {
    let (mut order, mut sum) = (String::new(), 0);
    for round in 0..rounds {
        s = gather!(ask!(s, round).gather(), |who, vote| {
            order.push(who);
            sum += vote;
        });
    }
    s.select(Stop).await?.send(Stop).await?.send(Stop).await?.end((order, sum))
}

macro_rules! voter {
    ($name:ident, $Role:ident, $Session:ident, $Asked:ident, |$s:ident, $round:ident| $vote:expr) => {
        async fn $name(mut s: $Session<'_>) -> Ended<'_, $Role> {
            loop {
                s = match s.branch().await? {
                    $Asked::Ask(Ask($round), $s) => $vote,
                    $Asked::Stop(Stop, end) => return end.end(()),
                };
            }
        }
    };
}
voter!(p, P, PSession, PAskChoice, |s, round| match round % 2 {
    0 => s.select(Yes(1)).await?,
    _ => s.select(No).await?,
});
voter!(q, Q, QSession, QAskChoice, |s, round| s.send(Yes(10 + round)).await?);
voter!(r, R, RSession, RAskChoice, |s, round| s.send(Yes(20 + round)).await?);

#[test]
fn votes_are_received_in_the_order_in_which_they_come() {
    let orders = Rc::new(RefCell::new(BTreeSet::new()));
    let explored = testing::explore(|processes| {
        let Roles { mut c, p: mut of_p, q: mut of_q, r: mut of_r } = Roles::default();
        let orders = Rc::clone(&orders);
        processes.add("c", async move {
            let (order, sum) = try_run(&mut c, |s| coordinator(s, 1)).await?;
            assert_eq!(sum, 31);
            orders.borrow_mut().insert(order);
            Ok::<_, Error>(())
        });
        processes.add("p", async move { try_run(&mut of_p, p).await });
        processes.add("q", async move { try_run(&mut of_q, q).await });
        processes.add("r", async move { try_run(&mut of_r, r).await });
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(orders.borrow().len(), 6, "{orders:?}");
    let all = block_on(Roles::default().run(|s| coordinator(s, 40), p, q, r)).unwrap();
    assert_eq!((all.0.0.len(), all.0.1), (120, 20 + 40 * 30 + 2 * 39 * 20));
}

#[test]
fn the_verified_machine_receives_in_the_order_of_the_parts() {
    let machine = Machine::of::<CSession<'_>>();
    let received = machine.transitions().filter(|transition| !transition.sends);
    let received: Vec<_> = received.map(|it| (it.source, it.peer, it.label, it.target)).collect();
    let [(p, "p", "yes", q), (also_p, "p", "no", also_q), (of_q, "q", ..), (r, "r", ..)] =
        received[..]
    else {
        panic!("{machine}")
    };
    assert!(p == also_p && q == also_q && q == of_q && received[2].3 == r, "{machine}");
}

#[test]
fn polling_by_reference_loses_no_vote_and_dropping_poisons() {
    for is_hasty in [false, true] {
        let mut roles = Roles::default();
        let restless = try_run(&mut roles.c, async |s: CSession<'_>| {
            let (mut due, mut lost) = (ask!(s, 0).gather(), 0);
            loop {
                let mut next = due.next();
                let votes = loop {
                    tokio::select! {
                        biased;
                        votes = &mut next => break votes?,
                        () = ready(()) => lost += 1,
                    }
                    if is_hasty && lost == 2 {
                        return Err(Error::from(ErrorKind::Poisoned { role: "hasty" }));
                    }
                    tokio::task::yield_now().await;
                };
                due = match votes {
                    Votes::YesFromP(_, due) | Votes::YesFromQ(_, due) => due,
                    Votes::YesFromR(_, due) | Votes::No(_, due) => due,
                    Votes::All(s) => {
                        let end = s.select(Stop).await?.send(Stop).await?.send(Stop).await?;
                        return Ok((lost, end));
                    }
                };
            }
        });
        let slow = async {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            let votes =
                (try_run(&mut roles.p, p), try_run(&mut roles.q, q), try_run(&mut roles.r, r));
            rumpsteak::join(votes).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (lost, votes) = runtime.block_on(futures::future::join(restless, slow));
        assert_eq!(lost.is_ok_and(|lost| lost > 2), !is_hasty);
        assert_eq!((votes.0.is_ok(), roles.c.is_poisoned()), (!is_hasty, is_hasty));
    }
}

#[test]
fn a_voter_that_is_gone_is_named_and_one_that_is_late_is_reported() {
    let labels: &[&str] = &["Yes", "No", "Yes", "Yes"];
    let mut roles = Roles::default();
    let gone = try_run(&mut roles.c, async |s: CSession<'_>| {
        let s = ask!(s, 0);
        drop(roles.q);
        let _ = gather!(s.gather(), |who, _| assert_ne!(who, 'q'));
        unreachable!("`q` does not vote")
    });
    let (gone, ..): (Result<()>, _, _) =
        block_on(rumpsteak::join((gone, try_run(&mut roles.p, p), try_run(&mut roles.r, r))));
    assert_eq!(closed(gone), ("c", "q", Action::Receive(labels)));

    let (tell, told) = channel();
    let limit = Duration::from_millis(100);
    let mut roles = Roles::default().watch_with(limit, move |it| drop(tell.send(it.roles.clone())));
    let mut all = Box::pin(rumpsteak::join((
        try_run(&mut roles.c, |s| coordinator(s, 1)),
        try_run(&mut roles.p, p),
    )));
    assert!(all.as_mut().now_or_never().is_none());
    let waits = "`c` waits for `Yes` or `No` from `q` or `r`".to_owned();
    let told = told.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(told.contains(&waits), "{told:?}");
}

#[test]
fn a_gather_may_be_held_and_changes_hands_before_it_begins() {
    type Asked = Gather<'static, C, rumpsteak::states::AnyPeer, Votes<'static, C>>;
    for is_held in [false, true] {
        let Roles { mut c, p: mut of_p, q: mut of_q, r: mut of_r } = Roles::default();
        let asks = async {
            let sum = RefCell::new(0);
            if is_held {
                let s: CSession<'static, Held<C>> = hold(c).await?;
                let s = gather!(ask!(s, 0).gather(), |_, vote| *sum.borrow_mut() += vote);
                drop(s.select(Stop).await?.send(Stop).await?.send(Stop).await?);
            } else {
                let taken = try_run(&mut c, async |s: CSession<'_>| {
                    Ok::<_, Error>(Detached::new(ask!(s, 0)))
                });
                let mut taken: Detached<Asked> = taken.await?;
                let rest = taken.run(async |s: Gather<'_, C, _, Votes<'_, C>>| {
                    let s = gather!(s.gather(), |_, vote| *sum.borrow_mut() += vote);
                    Ok::<_, Error>(((), s.select(Stop).await?.send(Stop).await?.send(Stop).await?))
                });
                rest.await?;
            }
            Ok::<_, Error>(sum.into_inner())
        };
        let votes = (try_run(&mut of_p, p), try_run(&mut of_q, q), try_run(&mut of_r, r));
        let (sum, ..) = block_on(rumpsteak::join((asks, votes.0, votes.1, votes.2)));
        assert_eq!(sum.unwrap(), 31);
    }
}
