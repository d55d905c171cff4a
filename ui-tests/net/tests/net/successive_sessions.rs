//! Sessions that follow one another across processes: a role never receives a message of a session
//! that it has not begun, however connections break and wherever a role moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use rumpsteak::{Detached, Error, Result, try_run};
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Joined, Limits, Parcel};
use rumpsteak_oracle::seeds;
use tokio::time::{sleep, timeout};

use crate::reconnect::breaking;

#[rumpsteak::protocol(
    Detour,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod detour {
    #[session(A)]
    type Direct = Send<C, X, Rest>;
    type Rest = Send<B, N, End>;
    #[session(A)]
    type Indirect = Send<B, Go, End>;
    #[session(B)]
    type Middle = Branch<A, OfB>;
    enum OfB {
        N(N, Send<C, M, End>),
        Go(Go, Send<C, Y, End>),
    }
    #[session(C)]
    type Last = Branch<OfC>;
    enum OfC {
        First(Receive<A, X, Receive<B, M, End>>),
        Second(Receive<B, Y, End>),
    }
}

use detour::{A, B, C, Direct, Go, Indirect, Last, M, Middle, N, OfB, OfC, Rest, X, Y};

type Ended<T> = std::result::Result<T, Box<dyn std::error::Error + std::marker::Send + Sync>>;

/// A host, and where it listens.
type Place = (Host, String);

async fn pause(random: &mut Rng) {
    sleep(Duration::from_millis(random.u64(0..30))).await;
}

/// Joins as a role that is called by those before it, at this place.
macro_rules! joins {
    ($Role:ty, $place:expr $(, $peer:literal at $at:expr)*) => {
        $place.0.join::<$Role>("1")$(.peer($peer, [&$at.1]))*.connect().await?
    };
}

/// Plays a session for each of these, directly or not. In the last one, which is direct, it goes to
/// another host between its two messages: its peers may be in the session before.
async fn of_a(places: &[Place], to: &Place, directly: &[bool], random: &mut Rng) -> Ended<()> {
    let mut joined: Joined<A> = joins!(A, places[0], "b" at places[1], "c" at places[2]);
    for is_direct in directly {
        pause(random).await;
        let role = &mut joined.role;
        if *is_direct {
            try_run(role, async |s: Direct<'_>| {
                Ok::<_, Error>(((), s.send(X).await?.send(N).await?))
            })
            .await?;
        } else {
            try_run(role, async |s: Indirect<'_>| Ok::<_, Error>(((), s.send(Go).await?))).await?;
        }
    }
    let rest: Detached<Rest<'static, A>> = try_run(&mut joined.role, async |s: Direct<'_>| {
        Ok::<_, Error>(Detached::new(s.send(X).await?))
    })
    .await?;
    let parcel = joined.pack(rest, [&to.1]).await?;
    let parcel: Parcel<_> = postcard::from_bytes(&postcard::to_stdvec(&parcel)?)?;
    let (joined, mut rest): (Joined<A>, Detached<Rest<'static, A>>) = parcel.unpack(&to.0)?;
    rest.run(async |s: Rest<'_, A>| Ok::<_, Error>(((), s.send(N).await?))).await?;
    Ok(joined.leave().await?)
}

async fn of_b(places: &[Place], sessions: usize, random: &mut Rng) -> Ended<()> {
    let mut joined: Joined<B> = joins!(B, places[1], "c" at places[2]);
    for _ in 0..sessions {
        pause(random).await;
        try_run(&mut joined.role, async |s: Middle<'_>| match s.branch().await? {
            OfB::N(_, s) => Ok::<_, Error>(((), s.send(M).await?)),
            OfB::Go(_, s) => Ok(((), s.send(Y).await?)),
        })
        .await?;
    }
    Ok(joined.leave().await?)
}

/// Returns for each session if it was direct.
async fn of_c(places: &[Place], sessions: usize, random: &mut Rng) -> Ended<Vec<bool>> {
    let mut joined: Joined<C> = joins!(C, places[2]);
    let mut heard = Vec::new();
    for _ in 0..sessions {
        pause(random).await;
        let is_direct: Result<bool> =
            try_run(&mut joined.role, async |s: Last<'_>| match s.branch().await? {
                OfC::First(_, s) => Ok((true, s.receive().await?.1)),
                OfC::Second(_, end) => Ok((false, end)),
            })
            .await;
        heard.push(is_direct?);
    }
    joined.leave().await?;
    Ok(heard)
}

#[test]
fn sessions_follow_one_another_however_connections_break() {
    let broken = Arc::new(AtomicU64::new(0));
    for seed in seeds(60) {
        crate::paused().block_on(async {
            let mut random = Rng::with_seed(seed);
            let breaks = random.u32(4..9)..random.u32(10..60);
            let transports = Transports::default().with("cut", breaking(seed, breaks, &broken));
            let hosts = [0, 1, 2, 3].map(|index| {
                let host = Host::with(transports.clone(), Limits::default());
                (host, format!("cut://{seed}-follows-{index}"))
            });
            for (host, at) in &hosts {
                host.listen(at).await.unwrap();
            }
            // Roles may be on one host.
            let places = [(); 3].map(|()| hosts[random.usize(..3)].clone());
            let directly: Vec<bool> = (0..random.usize(..6)).map(|_| random.bool()).collect();
            let sessions = directly.len() + 1;
            let [mut first, mut second, mut third] = [(); 3].map(|()| random.fork());
            let played = async {
                tokio::try_join!(
                    of_a(&places, &hosts[3], &directly, &mut first),
                    of_b(&places, sessions, &mut second),
                    of_c(&places, sessions, &mut third),
                )
            };
            let played = timeout(Duration::from_secs(600), played).await;
            let played = played.unwrap_or_else(|_| panic!("seed {seed} hangs"));
            let (.., heard) = played.unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
            assert_eq!(heard, [&directly[..], &[true]].concat(), "seed {seed}");
        });
    }
    let broken = broken.load(Ordering::Relaxed);
    println!("{broken} connections broken");
    assert!(broken > 0);
}
