//! Watched roles over TCP: each way to hang is reported by name, with the peer's address.

use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use rumpsteak::{Error, Result, try_run};
use rumpsteak_net::{Host, Joined};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::shop::{C, L, Order, Price, S, SOrderChoice, SSession, ledger, order, server};

const LIMIT: Duration = Duration::from_millis(100);

/// By when a report must have come, also on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The watched roles of a session, each at a host of its own, and the reports of the client.
struct Shop {
    c: Joined<C>,
    s: Joined<S>,
    l: Joined<L>,
    of_c: UnboundedReceiver<Vec<String>>,
    /// The address of the server.
    at: String,
}

impl Shop {
    async fn join(session: &str) -> Self {
        let hosts = [(); 3].map(|()| Host::new());
        let at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
        let l = hosts[2].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
        let c = hosts[0].join::<C>(session).peer("s", [&at]).peer("l", [&l]).connect();
        let s = hosts[1].join::<S>(session).peer("l", [&l]).connect();
        let l = hosts[2].join::<L>(session).connect();
        let (c, s, l) = tokio::try_join!(c, s, l).unwrap();
        let (tell, of_c) = unbounded_channel();
        let c = c.watch_with(LIMIT, move |report| drop(tell.send(report.roles.clone())));
        Self { c, s: s.watch(DEADLINE), l: l.watch(DEADLINE), of_c, at }
    }

    /// The line that says what the client waits for.
    fn waits(&self) -> String {
        format!(
            "`c` waits for `Price` from `s` (`s`: at {}, the connection is silent for ",
            self.at
        )
    }
}

/// The next report while the roles run.
async fn next(
    reports: &mut UnboundedReceiver<Vec<String>>,
    roles: impl Future<Output = Result<()>>,
) -> Vec<String> {
    let mut roles = pin!(roles);
    let report = async {
        tokio::select! {
            ended = &mut roles => panic!("{ended:?}"),
            report = reports.recv() => report.unwrap(),
        }
    };
    timeout(DEADLINE, report).await.unwrap()
}

#[tokio::test]
async fn a_role_that_is_left_out_or_awaited_in_sequence() {
    let mut shop = Shop::join("in sequence").await;
    let waits = shop.waits();
    let (c, s) = (&mut shop.c.role, &mut shop.s.role);
    let report = next(&mut shop.of_c, async {
        order(c, "tea".to_owned()).await?;
        server(s).await
    });
    let report = report.await;
    assert!(report.iter().any(|role| role.starts_with(&waits)), "{report:?}");
    let fresh = "`s` has begun no session: it was left out, or is awaited in sequence, after `c`; it \
                 owes `Price` to `c`. Run all roles at once, with `run` of the set, `join` or tasks";
    assert!(report.contains(&fresh.to_owned()), "{report:?}");
}

#[tokio::test]
async fn two_sessions_that_are_mixed() {
    let (mut one, mut two) = (Shop::join("one").await, Shop::join("two").await);
    let (c, s) = (&mut one.c.role, &mut two.s.role);
    let report = next(&mut one.of_c, async {
        tokio::try_join!(server(s), order(c, "tea".to_owned())).map(drop)
    });
    let mixed = "`s` has begun no session, but the `s` of another set has: two sets are mixed; it \
                 owes `Price` to `c`. Take all roles from one set";
    let report = report.await;
    assert!(report.contains(&mixed.to_owned()), "{report:?}");
}

/// Runs a server that takes an order and gives up its session, which the client's report says.
async fn dropping(session: &str, drops: impl FnOnce(Price, ToPrice<'_>)) {
    let mut shop = Shop::join(session).await;
    let waits = shop.waits();
    let (c, s, l) = (&mut shop.c.role, &mut shop.s.role, &mut shop.l.role);
    let serves = try_run(s, async |session: SSession<'_>| {
        let SOrderChoice::Order(Order(_), next) = session.branch().await? else { panic!() };
        let next = next.send(crate::shop::Note(crate::shop::carried::Note(1))).await?;
        drops(Price(1), next);
        pending::<Result<((), _), Error>>().await
    });
    let runs = async { tokio::try_join!(order(c, "tea".to_owned()), serves, ledger(l)).map(drop) };
    let report = next(&mut shop.of_c, runs).await;
    assert!(report.iter().any(|role| role.starts_with(&waits)), "{report:?}");
    let dropped = report.iter().find(|role| role.starts_with(DROPPED)).unwrap();
    assert!(dropped.contains("`Price` to `c`"), "{dropped}");
}

type ToPrice<'s> = rumpsteak::states::Send<'s, S, C, Price, SSession<'s>>;

const DROPPED: &str = "`s` has sent `Note` to `l`, and begun no other action: it is in code of its own, \
                       its future is not polled, or it has dropped its session, by `drop(session)` or \
                       by an action that was never awaited, as in `let _ = session.send(…)`; it owes ";

#[tokio::test]
async fn a_session_that_is_dropped() {
    dropping("dropped", |_, session| drop(session)).await;
}

#[tokio::test]
async fn an_action_that_is_never_awaited() {
    let forgets = |price, session: ToPrice<'_>| {
        #[expect(clippy::let_underscore_future, reason = "the mistake")]
        let _ = session.send(price);
    };
    dropping("forgotten", forgets).await;
}
