//! Successive sessions: a role never receives a message of a session that it has not begun.

use std::future::{pending, poll_fn, ready};
use std::panic::catch_unwind;
use std::pin::pin;
use std::task::Poll;

use futures::FutureExt as _;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures::executor::block_on;
use futures::future::{join3, select, try_join, try_join3};
use rumpsteak::states::{End, Raced, Until};
use rumpsteak::testing::explore;
use rumpsteak::transport::Bidirectional;
use rumpsteak::{ErrorKind, Result, try_run};

/// Lets all others run as far as they can.
async fn pause() {
    let mut turns = 200;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        turns -= 1;
        if turns == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[rumpsteak::protocol(Detour)]
mod detour {
    use rumpsteak::{Result, try_run};

    pub(super) async fn direct(a: &mut A) -> Result<()> {
        try_run(a, async |s: ASession<'_>| Ok(((), s.select(X).await?.send(N).await?))).await
    }

    pub(super) async fn indirect(a: &mut A) -> Result<()> {
        try_run(a, async |s: ASession<'_>| Ok(((), s.select(Go).await?))).await
    }

    pub(super) async fn middle(b: &mut B) -> Result<()> {
        try_run(b, async |s: BSession<'_>| match s.branch().await? {
            BNChoice::N(_, s) => s.send(M).await?.end(()),
            BNChoice::Go(_, s) => s.send(Y).await?.end(()),
        })
        .await
    }

    /// Returns true if `c` received from `a`.
    pub(super) async fn last(c: &mut C) -> Result<bool> {
        try_run(c, async |s: CSession<'_>| match s.branch().await? {
            CXChoice::X(_, s) => s.receive().await?.1.end(true),
            CXChoice::Y(_, end) => end.end(false),
        })
        .await
    }
}

#[test]
fn two_sessions_of_a_role_are_played_in_any_order() {
    use detour::{A, Roles, direct, indirect, last, middle};

    for orders in 0..8_usize {
        let Roles { mut a, mut b, mut c } = Roles::default();
        let is_direct = |session: usize| orders >> session & 1 == 1;
        let play = async |a: &mut A, session| match is_direct(session) {
            true => direct(a).await,
            false => indirect(a).await,
        };
        let of_a = async {
            for session in 0..3 {
                play(&mut a, session).await?;
            }
            Ok(())
        };
        let of_b = async {
            for _ in 0..3 {
                pause().await;
                middle(&mut b).await?;
            }
            Ok(())
        };
        let of_c = async { Ok([last(&mut c).await?, last(&mut c).await?, last(&mut c).await?]) };
        let heard: Result<_> = block_on(try_join3(of_a, of_b, of_c));
        assert_eq!(heard.map(|(.., heard)| heard).unwrap(), [0, 1, 2].map(is_direct));
    }
}

#[test]
fn a_role_is_one_session_ahead_and_waits_before_the_next_one() {
    let detour::Roles { mut a, mut b, mut c } = detour::Roles::default();
    for _ in 0..2 {
        assert!(detour::direct(&mut a).now_or_never().is_some_and(|played| played.is_ok()));
    }
    {
        let mut third = pin!(detour::direct(&mut a));
        assert!(third.as_mut().now_or_never().is_none());
        let played = block_on(try_join(detour::middle(&mut b), detour::last(&mut c)));
        assert_eq!(played.unwrap(), ((), true));
        assert!(third.as_mut().now_or_never().is_none());
        let played = block_on(try_join(detour::middle(&mut b), detour::last(&mut c)));
        assert_eq!(played.unwrap(), ((), true));
        assert!(third.now_or_never().is_some_and(|played| played.is_ok()));
    }
    let left = (detour::middle(&mut b), detour::last(&mut c));
    assert_eq!(block_on(try_join(left.0, left.1)).unwrap(), ((), true));
}

#[test]
fn a_role_that_waits_to_begin_is_reported_as_waiting() {
    let explored = catch_unwind(|| {
        explore(|processes| {
            let detour::Roles { mut a, b, c } = detour::Roles::default();
            processes.add("ahead", async move {
                for _ in 0..3 {
                    detour::direct(&mut a).await?;
                }
                Ok::<_, rumpsteak::Error>(())
            });
            processes.add("behind", async move {
                let _roles = (b, c);
                pending::<Result<()>>().await
            });
        });
    });
    let text = *explored.unwrap_err().downcast::<String>().unwrap();
    let said = "  `ahead`: `a` waits to begin a session: a peer is two sessions behind\n";
    assert!(text.contains(said), "{text}");
}

#[test]
fn the_halves_of_a_route_that_was_used_are_not_to_be_had() {
    let detour::Roles { mut a, b: _b, c: _c } = detour::Roles::default();
    assert!(detour::direct(&mut a).now_or_never().is_some_and(|played| played.is_ok()));
    assert!(a.b.into_inner().is_none());
}

#[test]
fn a_role_that_waits_to_begin_is_not_poisoned_and_wakes_when_its_peer_goes() {
    let detour::Roles { mut a, b, mut c } = detour::Roles::default();
    for _ in 0..2 {
        assert!(detour::direct(&mut a).now_or_never().is_some_and(|played| played.is_ok()));
    }
    // Dropped before it began.
    assert!(detour::direct(&mut a).now_or_never().is_none());
    assert!(!rumpsteak::Role::is_poisoned(&a));
    let (waits, ()) = block_on(futures::future::join(detour::direct(&mut a), async {
        pause().await;
        drop(b);
        let _ = detour::last(&mut c).await;
    }));
    let error = waits.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Closed { .. }), "{error}");
}

#[rumpsteak::protocol(Recall)]
mod recall {}

/// `a` is slow: in its first session it learns that the session is over and that the second one is
/// cancelled.
#[test]
fn the_next_session_is_interrupted_and_this_one_is_not() {
    use recall::*;

    async fn rest<'s>(s: ACancelRest<'s, A>) -> Result<End<'s, A>> {
        let mut s = s.send(Cancel).await?.send(Cancel).await?;
        loop {
            s = match s.branch().await? {
                ALateChoiceAfterCancel::Late(_, s) => s,
                ALateChoiceAfterCancel::Cancel(_, end) => return Ok(end),
            }
        }
    }
    // Returns true if the session was cancelled.
    async fn of_a(role: &mut A) -> Result<bool> {
        try_run(role, async |s: ASession<'_>| {
            let s = match s.race(ready(Ask)).await? {
                Raced::Sent(s) => s,
                Raced::Heard(AAskChoice::Cancel(_, s)) => return Ok((true, rest(s).await?)),
                Raced::Heard(_) => unreachable!(),
            };
            pause().await;
            match s.branch().await? {
                ALateChoice::Last(_, end) => Ok((false, end)),
                ALateChoice::CancelFromC(_, s) => Ok((true, rest(s).await?)),
                _ => panic!("`d` never says so here"),
            }
        })
        .await
    }
    async fn of_c(role: &mut C, cancels: bool) -> Result<()> {
        try_run(role, async |s: CSession<'_>| {
            let wish = async {
                if !cancels {
                    pending::<()>().await;
                }
                Cancel
            };
            let s = match s.race(wish).await? {
                Raced::Heard(CLateChoice::Done(_, s)) => {
                    return Ok(((), s.select(Last).await?.send(Last).await?));
                }
                Raced::Sent(s) => s,
                Raced::Heard(_) => panic!("`d` never says so here"),
            };
            let mut s = s.send(Cancel).await?;
            let mut s = loop {
                s = match s.branch().await? {
                    COkChoiceAfterCancel::OkMessage(_, s) => s,
                    COkChoiceAfterCancel::Cancel(_, s) => break s,
                }
            };
            loop {
                s = match s.branch().await? {
                    CDoneChoice::Done(_, s) | CDoneChoice::Late(_, s) => s,
                    CDoneChoice::Cancel(_, end) => return Ok(((), end)),
                }
            }
        })
        .await
    }
    async fn of_d(role: &mut D) -> Result<()> {
        try_run(role, async |s: DSession<'_>| {
            let s = match s.branch().await? {
                DAskChoice::Ask(_, s) => match s.until(ready(())).await? {
                    Until::Wished((), s) => match s.select(Done).await?.branch().await? {
                        DLastChoice::Last(_, end) => return Ok(((), end)),
                        DLastChoice::Cancel(_, s) => s,
                    },
                    Until::Heard(_) => panic!("nobody is faster"),
                },
                DAskChoice::CancelFromC(_, s) => s,
                DAskChoice::CancelFromA(..) => panic!("`a` is slow"),
            };
            let mut s = s.send(Cancel).await?.send(Cancel).await?;
            loop {
                s = match s.branch().await? {
                    DAskChoiceAfterCancel::Ask(_, s) => s,
                    DAskChoiceAfterCancel::Cancel(_, end) => return Ok(((), end)),
                }
            }
        })
        .await
    }

    let Roles { mut a, mut c, mut d } = Roles::default();
    let played: Result<_> = block_on(try_join3(
        async { Ok([of_a(&mut a).await?, of_a(&mut a).await?]) },
        async {
            of_c(&mut c, false).await?;
            of_c(&mut c, true).await
        },
        async {
            of_d(&mut d).await?;
            of_d(&mut d).await
        },
    ));
    assert_eq!(played.unwrap().0, [false, true]);
}

#[rumpsteak::protocol(Broadcast)]
mod broadcast {}

/// `c` ends and runs again while `a` and `b` stream forever and receive nothing of it.
#[test]
fn a_session_begins_beside_one_without_an_end() {
    use broadcast::*;

    async fn of_a(role: &mut A) -> Result<()> {
        try_run(role, async |s: ASession<'_>| match s.branch().await? {
            AOneChoice::One(_, s) => Ok(((), s.receive().await?.1)),
            AOneChoice::Item(_, mut s) => loop {
                s = s.receive().await?.1;
            },
        })
        .await
    }
    async fn of_b(role: &mut B) -> Result<()> {
        try_run(role, async |s: BSession<'_>| match s.branch().await? {
            BOneChoice::One(_, s) => Ok(((), s.send(Reply).await?)),
            BOneChoice::Stream(_, mut s) => loop {
                pause().await;
                s = s.send(Item).await?;
            },
        })
        .await
    }
    async fn streams(role: &mut C) -> Result<()> {
        try_run(role, async |s: CSession<'_>| Ok(((), s.select(Stream).await?))).await
    }
    async fn says_one(role: &mut C) -> Result<()> {
        try_run(role, async |s: CSession<'_>| Ok(((), s.select(One).await?.send(One).await?))).await
    }

    let Roles { mut a, mut b, mut c } = Roles::default();
    let of_c = async {
        streams(&mut c).await?;
        says_one(&mut c).await
    };
    let looks = async {
        for _ in 0..20 {
            pause().await;
        }
    };
    let played: std::cell::Cell<Option<Result<()>>> = std::cell::Cell::new(None);
    let all = join3(of_a(&mut a), of_b(&mut b), async { played.set(Some(of_c.await)) });
    // Neither `a` nor `b` runs again.
    block_on(select(pin!(all), pin!(looks)));
    assert!(matches!(played.into_inner(), Some(Ok(()))));
}

#[rumpsteak::protocol(Notify)]
mod notify {}

async fn seller(role: &mut notify::Seller, ships: bool) -> Result<()> {
    use notify::{Nothing, OutOfStock, SellerSession, Ship};
    try_run(role, async |s: SellerSession<'_>| match ships {
        true => Ok(((), s.select(Ship("tea".to_owned())).await?)),
        false => Ok(((), s.select(OutOfStock).await?.send(Nothing).await?)),
    })
    .await
}

async fn carrier(role: &mut notify::Carrier) -> Result<()> {
    use notify::{CarrierSession, CarrierShipChoice, Delivered};
    try_run(role, async |s: CarrierSession<'_>| match s.branch().await? {
        CarrierShipChoice::Ship(_, s) => Ok(((), s.send(Delivered).await?)),
        CarrierShipChoice::Nothing(_, end) => Ok(((), end)),
    })
    .await
}

/// Returns true if the parcel was delivered.
async fn buyer(role: &mut notify::Buyer) -> Result<bool> {
    use notify::{BuyerDeliveredChoice, BuyerSession};
    try_run(role, async |s: BuyerSession<'_>| match s.branch().await? {
        BuyerDeliveredChoice::Delivered(_, end) => Ok((true, end)),
        BuyerDeliveredChoice::OutOfStock(_, end) => Ok((false, end)),
    })
    .await
}

#[test]
fn whoever_is_told_by_one_of_two_is_told_in_the_right_session() {
    let notify::Roles { seller: mut s, carrier: mut c, buyer: mut b } = notify::Roles::default();
    let orders = [true, false, false, true, true];
    let told: Result<_> = block_on(try_join3(
        async {
            for ships in orders {
                seller(&mut s, ships).await?;
            }
            Ok(())
        },
        async {
            for _ in orders {
                pause().await;
                carrier(&mut c).await?;
            }
            Ok(())
        },
        async {
            let mut told = Vec::new();
            for _ in orders {
                told.push(buyer(&mut b).await?);
            }
            Ok(told)
        },
    ));
    assert_eq!(told.unwrap().2, orders);
}

type Mpsc<M> = Bidirectional<UnboundedSender<M>, UnboundedReceiver<M>>;

/// [`detour`] over queues that do not distinguish sessions.
#[rumpsteak::protocol(Detour, routes = super::Mpsc)]
mod detour_over_mpsc {
    use rumpsteak::{Result, try_run};

    pub(super) async fn indirect(a: &mut A) -> Result<()> {
        try_run(a, async |s: ASession<'_>| Ok(((), s.select(Go).await?))).await
    }

    pub(super) async fn middle(b: &mut B) -> Result<()> {
        try_run(b, async |s: BSession<'_>| match s.branch().await? {
            BNChoice::N(_, s) => s.send(M).await?.end(()),
            BNChoice::Go(_, s) => s.send(Y).await?.end(()),
        })
        .await
    }

    pub(super) async fn last(c: &mut C) -> Result<()> {
        try_run(c, async |s: CSession<'_>| match s.branch().await? {
            CXChoice::X(_, s) => s.receive().await?.1.end(()),
            CXChoice::Y(_, end) => end.end(()),
        })
        .await
    }
}

#[test]
fn over_a_route_of_another_kind_a_role_that_hears_several_peers_has_one_session() {
    use detour_over_mpsc::{Roles, indirect, last, middle};

    let Roles { mut a, mut b, mut c } = Roles::default();
    let once = async { try_join3(indirect(&mut a), middle(&mut b), last(&mut c)).await };
    assert_eq!(block_on(once).unwrap(), ((), (), ()));
    // Another session of `a` could reach `c` in the first one.
    for (error, [role, peer]) in [
        (block_on(indirect(&mut a)).unwrap_err(), ["a", "c"]),
        (block_on(middle(&mut b)).unwrap_err(), ["b", "c"]),
        (block_on(last(&mut c)).unwrap_err(), ["c", "a"]),
    ] {
        let expected = format!("`{role}` cannot run a second session over the same routes");
        assert!(error.to_string().starts_with(&expected), "{error}");
        let kind = error.into_kind();
        assert!(
            matches!(kind, ErrorKind::SecondSession { peer: of, .. } if of == peer),
            "{kind:?}"
        );
    }
    assert!(rumpsteak::Role::is_poisoned(&c));
    // Fresh roles.
    Roles::reset_each(&mut a, &mut b, &mut c);
    let again = async { try_join3(indirect(&mut a), middle(&mut b), last(&mut c)).await };
    assert_eq!(block_on(again).unwrap(), ((), (), ()));
}

#[rumpsteak::protocol(Referral)]
mod referral {}

#[test]
fn beside_a_role_on_demand_with_several_peers_a_role_has_one_session() {
    use referral::*;

    async fn patient(role: &mut Patient) -> Result<u64> {
        try_run(role, async |s: PatientSession<'_>| {
            match s.send(Complaint).await?.branch().await? {
                PatientReferredChoice::Opinion(Opinion(it), end) => Ok((it, end)),
                PatientReferredChoice::Referred(_, s) => {
                    let (Report(it), end) = s.receive().await?;
                    Ok((it, end))
                }
            }
        })
        .await
    }
    async fn doctor(role: &mut Doctor) -> Result<()> {
        try_run(role, async |s: DoctorSession<'_>| {
            let (Complaint, s) = s.receive().await?;
            Ok(((), s.select(Opinion(7)).await?))
        })
        .await
    }

    let Roles { patient: mut p, doctor: mut d, .. } = Roles::default();
    assert_eq!(block_on(try_join(patient(&mut p), doctor(&mut d))).unwrap(), (7, ()));
    let error = block_on(patient(&mut p)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`patient` cannot run a second session over the same routes: messages of two sessions could be \
         confused at `patient` or `specialist`; make fresh roles for each session"
    );
}
