//! Roles that were verified against different versions of a protocol: `c` and `l` against the
//! first one, `s` against another.

use std::time::Duration;

use relay_first::relay::{C, CSession, L, LSession, Note, Order, Price, Total};
use relay_second::relay::{S, SSession};
use rumpsteak::{Result, try_run};
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Limits, NetError, Refusal};
use tokio::time::timeout;

async fn client(role: &mut C, order: u64) -> Result<(u64, u64)> {
    try_run(role, async |s: CSession<'_>| {
        let s = s.send(Order(order)).await?;
        let (Price(price), s) = s.receive().await?;
        let (Total(total), end) = s.receive().await?;
        Ok(((price, total), end))
    })
    .await
}

async fn ledger(role: &mut L) -> Result<()> {
    try_run(role, async |s: LSession<'_>| {
        let (Note(price), s) = s.receive().await?;
        Ok(((), s.send(Total(price)).await?))
    })
    .await
}

async fn server(role: &mut S) -> Result<()> {
    use relay_second::relay::{Note, Order, Price};
    try_run(role, async |s: SSession<'_>| {
        let (Order(order), s) = s.receive().await?;
        let price = 2 * order;
        Ok(((), s.send(Price(price)).await?.send(Note(price)).await?))
    })
    .await
}

/// Hosts, of which the last two listen.
async fn hosts(names: [&str; 2]) -> ([Host; 3], [String; 2]) {
    let limits = Limits::default().join(Duration::from_secs(1));
    let hosts = [(); 3].map(|()| Host::with(Transports::default(), limits));
    let addresses = names.map(|name| format!("memory://{name}"));
    for (host, at) in hosts[1..].iter().zip(&addresses) {
        host.listen(at).await.unwrap();
    }
    (hosts, addresses)
}

/// Why `c` and `s` refuse each other. The one that calls hears it at once; the other waits for a
/// better peer as long as it may, and hears it then.
async fn refusal<C, S>(
    c: impl Future<Output = Result<C, NetError>>,
    s: impl Future<Output = Result<S, NetError>>,
) -> Refusal {
    let (c, s) = timeout(Duration::from_secs(10), async { tokio::join!(c, s) }).await.unwrap();
    let Err(NetError::Refused { peer, refusal }) = c.map(drop) else { panic!("`c` goes on") };
    assert_eq!(peer, "s");
    assert_waited(s, "s", "c", &refusal.to_string());
    refusal
}

/// Asserts that a role has waited, although an end came that did not fit.
fn assert_waited<R>(joined: Result<R, NetError>, own: &str, waits_for: &str, why: &str) {
    let Err(NetError::Absent { role, peer, how, .. }) = joined.map(drop) else { panic!("{own}") };
    assert_eq!((&*role, &*peer), (own, waits_for));
    let why = format!(" within 1s, and an end that called for it does not fit: {why}");
    assert!(how.contains(&why), "{how}");
}

async fn difference<C, S>(
    c: impl Future<Output = Result<C, NetError>>,
    s: impl Future<Output = Result<S, NetError>>,
) -> String {
    match refusal(c, s).await {
        Refusal::Protocol(difference) => difference,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_version_that_fits_joins_and_runs() {
    let (hosts, [at_s, at_l]) = hosts(["fits-s", "fits-l"]).await;
    let c = hosts[0].join::<C>("1").peer("s", [&at_s]).peer("l", [&at_l]).connect();
    let s = hosts[1].join::<S>("1").peer("l", [&at_l]).connect();
    let l = hosts[2].join::<L>("1").connect();
    let (mut c, mut s, mut l) = tokio::try_join!(c, s, l).unwrap();
    for order in 0..100 {
        let ran =
            tokio::try_join!(client(&mut c.role, order), server(&mut s.role), ledger(&mut l.role));
        assert_eq!(ran.unwrap(), ((2 * order, 2 * order), (), ()));
    }
    tokio::try_join!(c.leave(), s.leave(), l.leave()).unwrap();
}

#[tokio::test]
async fn a_version_that_does_not_fit_is_refused_with_the_run_that_would_go_wrong() {
    let (hosts, [at_s, at_l]) = hosts(["unfit-s", "unfit-l"]).await;
    let c = hosts[0].join::<C>("1").peer("s", [&at_s]).peer("l", [&at_l]).connect();
    let s = hosts[1].join::<relay_third::relay::S>("1").peer("l", [&at_l]).connect();
    let l = hosts[2].join::<L>("1").connect();
    let (difference, l) = tokio::join!(difference(c, s), l);
    let why = "they were verified against different versions of the protocol: `l` does nothing \
               where `s?note(u64)` is due: ";
    assert_waited(l, "l", "s", why);
    assert_eq!(
        difference,
        "`l` does `s?note(u64)` where `c!total(u64)` is due: a receive may not overtake a send; \
         `c` does `s!order(u64)`, `s` does `c?order(u64)`, `s` does `l!note(u64)`, \
         `l` does `s?note(u64)`, `s` does `c!price(u64)`, `c` does `s?price(u64)`, \
         and then no role can move"
    );
}

#[tokio::test]
async fn a_session_that_is_safe_with_its_own_build_only_joins_no_other() {
    use relay_first::swap::{Ask, AsksLate, C, S, Tell, TellsEarly};
    let asks = async |role: &mut C| {
        try_run(role, async |s: AsksLate<'_>| {
            let (Tell, s) = s.receive().await?;
            Ok(((), s.send(Ask).await?))
        })
        .await
    };
    let tells = async |role: &mut S| {
        try_run(role, async |s: TellsEarly<'_>| {
            let (Ask, s) = s.send(Tell).await?.receive().await?;
            Ok(((), s))
        })
        .await
    };
    let (hosts, [at, _]) = hosts(["closed", "closed-l"]).await;
    let c = hosts[0].join::<C>("1").peer("s", [&at]).connect();
    let s = hosts[1].join::<S>("1").connect();
    let (mut c, mut s) = tokio::try_join!(c, s).unwrap();
    let ran: Result<((), ())> = tokio::try_join!(asks(&mut c.role), tells(&mut s.role));
    ran.unwrap();
    tokio::try_join!(c.leave(), s.leave()).unwrap();

    // With who tells when it is asked, both would wait.
    let c = hosts[0].join::<C>("2").peer("s", [&at]).connect();
    let s = hosts[1].join::<relay_second::swap::S>("2").connect();
    assert_eq!(
        difference(c, s).await,
        "they are compared only if both ends have the feature `compat` of rumpsteak-net, and neither has sessions \
         that are safe only together with the other sessions of its build"
    );
}

#[tokio::test]
async fn a_payload_with_its_fields_in_another_order_is_refused() {
    let (hosts, [at, _]) = hosts(["stamps", "stamps-l"]).await;
    let c = hosts[0].join::<relay_first::stamping::C>("1").peer("s", [&at]).connect();
    let s = hosts[1].join::<relay_second::stamping::S>("1").connect();
    assert_eq!(refusal(c, s).await, Refusal::Type("Stamp".to_owned()));
}
