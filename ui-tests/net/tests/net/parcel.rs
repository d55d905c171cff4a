//! Sessions that go to another host in the middle: their peers see nothing but a pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use rumpsteak::{Detached, Error, ErrorKind, Result, try_run};
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Joined, Limits, NetError, Parcel, Refusal};
use rumpsteak_oracle::seeds;
use tokio::time::timeout;

use crate::reconnect::breaking;
use crate::transports::Authority;

#[rumpsteak::protocol(
    Portal,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod greeting {
    #[session(User)]
    type Using = Send<Portal, Name, Wanting>;

    struct Wanting(Select<Portal, Asking>);

    enum Asking {
        Ask(Ask, Receive<Portal, Answer, Wanting>),
        Quit(Quit, End),
    }

    #[session(Portal)]
    type Greeting = Receive<User, Name, Serving>;

    struct Serving(Branch<User, Served>);

    enum Served {
        Ask(Ask, Send<User, Answer, Serving>),
        Quit(Quit, End),
    }
}

use greeting::{Answer, Ask, Greeting, Name, Portal, Quit, Served, Serving, User, Using, Wanting};

type Asks = Detached<Wanting<'static, User>>;
type Serves = Detached<Serving<'static, Portal>>;

/// Asks for the double of each of these numbers.
async fn ask(session: &mut Asks, numbers: std::ops::Range<u64>) -> Result<Asks> {
    session
        .run(async |mut s: Wanting<'_, User>| {
            for number in numbers {
                let (Answer(answer), next) = s.select(Ask(number)).await?.receive().await?;
                assert_eq!(answer, 2 * number);
                s = next;
            }
            Ok(Detached::new(s))
        })
        .await
}

async fn quit(session: &mut Asks) -> Result<()> {
    session.run(async |s: Wanting<'_, User>| Ok(((), s.select(Quit).await?))).await
}

/// Answers so many questions.
async fn answer(session: &mut Serves, many: u64) -> Result<Serves> {
    session
        .run(async |mut s: Serving<'_, Portal>| {
            for _ in 0..many {
                let Served::Ask(Ask(number), next) = s.branch().await? else {
                    panic!("there are more questions");
                };
                s = next.send(Answer(2 * number)).await?;
            }
            Ok(Detached::new(s))
        })
        .await
}

async fn answer_all(session: &mut Serves) -> Result<()> {
    session
        .run(async |mut s: Serving<'_, Portal>| {
            loop {
                match s.branch().await? {
                    Served::Ask(Ask(number), next) => s = next.send(Answer(2 * number)).await?,
                    Served::Quit(Quit, end) => return Ok(((), end)),
                }
            }
        })
        .await
}

#[rumpsteak::protocol(
    Hire,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod hire {
    use rumpsteak_net::Parcel;

    use super::greeting;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Job(Parcel<greeting::Serving<'static, greeting::Portal>>);
}

use hire::{Job, Server, Taken};

/// A parcel, as it comes out of the bytes that it goes into.
fn sent<S>(parcel: &Parcel<S>) -> postcard::Result<Parcel<S>> {
    postcard::from_bytes(&postcard::to_stdvec(parcel)?)
}

/// Moves a session to another host.
macro_rules! moved {
    ($joined:ident, $session:expr, $host:expr, $at:expr) => {{
        let parcel = $joined.pack($session, [$at]).await?;
        sent(&parcel)?.unpack($host)?
    }};
}

type Ended = std::result::Result<(), Box<dyn std::error::Error + std::marker::Send + Sync>>;

/// A host, and where it listens.
type Place = (Host, String);

/// A user whose session goes to the other places after so many questions each.
async fn user(places: &[Place], portal: &str, asks: &[u64]) -> Ended {
    let mut joined = places[0].0.join::<User>("1").peer("portal", [portal]).connect().await?;
    let mut session: Asks = try_run(&mut joined.role, async |s: Using<'_>| {
        Ok::<_, Error>(Detached::new(s.send(Name("Ada".to_owned())).await?))
    })
    .await?;
    let mut from = 0;
    for (index, many) in asks.iter().enumerate() {
        session = ask(&mut session, from..from + many).await?;
        from += many;
        if let Some((host, at)) = places.get(index + 1) {
            (joined, session) = moved!(joined, session, host, at);
        }
    }
    quit(&mut session).await?;
    Ok(joined.leave().await?)
}

/// A portal whose session goes to another place before anything was said, and to the others after
/// so many answers each.
async fn portal(places: &[Place], answers: &[u64]) -> Ended {
    let mut joined = places[0].0.join::<Portal>("1").connect().await?;
    let session: Detached<Greeting<'static>> =
        try_run(&mut joined.role, async |s: Greeting<'_>| Ok::<_, Error>(Detached::new(s))).await?;
    let (mut joined, mut session) = moved!(joined, session, &places[1].0, &places[1].1);
    let mut session: Serves = session
        .run(async |s: Greeting<'_>| {
            let (Name(name), s) = s.receive().await?;
            assert_eq!(name, "Ada");
            Ok::<_, Error>(Detached::new(s))
        })
        .await?;
    for ((host, at), many) in places[2..].iter().zip(answers) {
        session = answer(&mut session, *many).await?;
        (joined, session) = moved!(joined, session, host, at);
    }
    answer_all(&mut session).await?;
    Ok(joined.leave().await?)
}

#[test]
fn sessions_that_move_on_both_sides_lose_nothing_however_connections_break() {
    let broken = Arc::new(AtomicU64::new(0));
    for seed in seeds(50) {
        crate::paused().block_on(async {
            let mut random = Rng::with_seed(seed);
            let breaks = random.u32(4..9)..random.u32(10..60);
            let transports = Transports::default().with("cut", breaking(seed, breaks, &broken));
            let places = [0, 1, 2, 3].map(|index| {
                let host = Host::with(transports.clone(), Limits::default());
                (host, format!("cut://{seed}-moves-{index}"))
            });
            for (host, at) in &places {
                host.listen(at).await.unwrap();
            }
            // Both may be on one host at any time, or stay where they are.
            let [users, portals] = [3, 4].map(|many| {
                let place = || places[random.usize(..places.len())].clone();
                std::iter::repeat_with(place).take(many).collect::<Vec<Place>>()
            });
            let asks = [(); 3].map(|()| random.u64(..10));
            let mut left: u64 = asks.iter().sum();
            let answers = [(); 2].map(|()| {
                let many = random.u64(..=left);
                left -= many;
                many
            });
            let user = user(&users, &portals[0].1, &asks);
            let portal = portal(&portals, &answers);
            let ended = timeout(Duration::from_secs(600), async { tokio::try_join!(user, portal) });
            let ended = ended.await.unwrap_or_else(|_| panic!("seed {seed} hangs"));
            ended.unwrap_or_else(|error| panic!("seed {seed}: {error}: {error:?}"));
            for (host, _) in &places {
                timeout(Duration::from_secs(60), host.told()).await.unwrap();
            }
        });
    }
    let broken = broken.load(Ordering::Relaxed);
    println!("{broken} connections broken");
    assert!(broken > 0);
}

/// The user at one host and the portal at another, at this address, in this session.
async fn begun(hosts: [&Host; 2], at: &str, session: &str) -> (Joined<User>, Joined<Portal>) {
    let user = hosts[0].join::<User>(session).peer("portal", [at]).connect();
    tokio::try_join!(user, hosts[1].join::<Portal>(session).connect()).unwrap()
}

/// The session of a user who has greeted, and that of the portal.
async fn greeted(user: &mut Joined<User>, portal: &mut Joined<Portal>) -> (Asks, Serves) {
    let greets = try_run(&mut user.role, async |s: Using<'_>| {
        Ok::<_, Error>(Detached::new(s.send(Name("Ada".to_owned())).await?))
    });
    let greeted = try_run(&mut portal.role, async |s: Greeting<'_>| {
        Ok::<_, Error>(Detached::new(s.receive().await?.1))
    });
    tokio::try_join!(greets, greeted).unwrap()
}

#[tokio::test]
async fn a_session_is_a_payload_of_another_one() {
    let hosts = [(); 3].map(|()| Host::new());
    let portal_at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let server_at = hosts[2].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let (mut user, mut portal) = begun([&hosts[0], &hosts[1]], &portal_at, "1").await;
    let giver = hosts[1].join::<hire::Portal>("2").peer("server", [&server_at]).connect();
    let (mut giver, mut server) =
        tokio::try_join!(giver, hosts[2].join::<Server>("2").connect()).unwrap();
    let (mut asks, serves) = greeted(&mut user, &mut portal).await;
    let use_it = async {
        let mut asks = ask(&mut asks, 0..100).await?;
        quit(&mut asks).await?;
        Ended::Ok(user.leave().await?)
    };
    let give = async {
        let parcel = portal.pack(serves, [&server_at]).await?;
        try_run(&mut giver.role, async |s: hire::PortalSession<'_>| {
            let (Taken, end) = s.send(Job(parcel)).await?.receive().await?;
            Ok::<_, Error>(((), end))
        })
        .await?;
        Ended::Ok(giver.leave().await?)
    };
    let take = async {
        let taken: Result<_> = try_run(&mut server.role, async |s: hire::ServerSession<'_>| {
            let (Job(parcel), s) = s.receive().await?;
            Ok((parcel, s.send(Taken).await?))
        })
        .await;
        server.leave().await?;
        let (joined, mut serves) = taken?.unpack(&hosts[2])?;
        answer_all(&mut serves).await?;
        Ended::Ok(joined.leave().await?)
    };
    tokio::try_join!(use_it, give, take).unwrap();
}

/// Each host listens over one transport only, and is gone when the session has moved on.
#[tokio::test]
async fn a_session_that_moves_changes_its_transport() {
    let authority = Authority::new();
    let folder = std::env::temp_dir().join(format!("rumpsteak-moves-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let unix = format!("unix://{}", folder.join("portal").display());
    let mut places: Vec<String> = vec!["memory://moves-a".to_owned(), unix];
    places.extend(["tcp", "tls", "ws", "wss", "quic"].map(|it| format!("{it}://127.0.0.1:0")));
    places.push("memory://moves-b".to_owned());

    let near = authority.host("user.portal.rumpsteak");
    let mut host = authority.host("portal.portal.rumpsteak");
    let at = host.listen(&places[0]).await.unwrap().to_string();
    let (mut user, mut portal) = begun([&near, &host], &at, "1").await;
    let (mut asks, mut serves) = greeted(&mut user, &mut portal).await;
    for (number, place) in (0..).zip(&places[1..]) {
        let asked = ask(&mut asks, number..number + 1);
        (asks, serves) = tokio::try_join!(asked, answer(&mut serves, 1)).unwrap();
        let next = authority.host("portal.portal.rumpsteak");
        let at = next.listen(place).await.unwrap().to_string();
        let parcel = portal.pack(serves, [at]).await.unwrap();
        host.told().await;
        host = next;
        (portal, serves) = sent(&parcel).unwrap().unpack(&host).unwrap();
    }
    tokio::try_join!(quit(&mut asks), answer_all(&mut serves)).unwrap();
    tokio::try_join!(user.leave(), portal.leave()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The peer refuses the new host before it sends a message there.
#[tokio::test]
async fn a_session_does_not_move_to_a_transport_that_a_peer_does_not_accept() {
    let authority = Authority::new();
    let near = authority.host("user.portal.rumpsteak");
    let hosts = [(); 2].map(|()| authority.host("portal.portal.rumpsteak"));
    let tls = hosts[0].listen("tls://127.0.0.1:0").await.unwrap().to_string();
    let tcp = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let user = near.join::<User>("1").peer("portal", [&tls]).over(["tls"]).connect();
    let (mut user, mut portal) =
        tokio::try_join!(user, hosts[0].join::<Portal>("1").connect()).unwrap();
    let (mut asks, serves) = greeted(&mut user, &mut portal).await;
    let (_joined, _serves) = portal.pack(serves, [tcp]).await.unwrap().unpack(&hosts[1]).unwrap();
    let refused = ask(&mut asks, 0..1).await.map(drop).unwrap_err();
    let ErrorKind::Transport { peer: "portal", source, .. } = refused.into_kind() else {
        panic!("the user refuses the transport");
    };
    let NetError::Refused { refusal: Refusal::Transport(lists), .. } =
        source.downcast_ref().unwrap()
    else {
        panic!("{source}");
    };
    assert_eq!(*lists, ["tls", "tcp"]);
}

/// Passes each question on to another portal, and the answer back.
async fn forward(session: &mut Serves, onward: &mut Asks) -> Result<()> {
    session
        .run(async |mut s: Serving<'_, Portal>| {
            let passed: Result<_> = onward
                .run(async |mut o: Wanting<'_, User>| {
                    loop {
                        match s.branch().await? {
                            Served::Ask(asked, next) => {
                                let (answer, then) = o.select(asked).await?.receive().await?;
                                (s, o) = (next.send(answer).await?, then);
                            }
                            Served::Quit(Quit, end) => return Ok((end, o.select(Quit).await?)),
                        }
                    }
                })
                .await;
            Ok(((), passed?))
        })
        .await
}

/// How long a question takes with a portal that gives the session away, or passes questions on.
async fn question(is_given_away: bool) -> Duration {
    const QUESTIONS: u64 = 1_000;
    let hosts = [(); 3].map(|()| Host::new());
    let portal_at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let server_at = hosts[2].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let (mut user, mut portal) = begun([&hosts[0], &hosts[1]], &portal_at, "1").await;
    let (mut asks, mut serves) = greeted(&mut user, &mut portal).await;
    let started = Instant::now();
    let answered = tokio::spawn(async move {
        if is_given_away {
            let parcel = portal.pack(serves, [&server_at]).await?;
            let (joined, mut serves) = parcel.unpack(&hosts[2])?;
            answer_all(&mut serves).await?;
            return Ended::Ok(joined.leave().await?);
        }
        let (mut onward, mut server) = begun([&hosts[1], &hosts[2]], &server_at, "2").await;
        let (mut passes, mut serves_on) = greeted(&mut onward, &mut server).await;
        tokio::try_join!(forward(&mut serves, &mut passes), answer_all(&mut serves_on))?;
        Ended::Ok(())
    });
    quit(&mut ask(&mut asks, 0..QUESTIONS).await.unwrap()).await.unwrap();
    let each = started.elapsed() / QUESTIONS as u32;
    user.leave().await.unwrap();
    answered.await.unwrap().unwrap();
    each
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_given_away_needs_nobody_to_pass_it_on() {
    let (given, passed) = (question(true).await, question(false).await);
    println!("a question takes {given:?} where the session was given away, {passed:?} passed on");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_session_that_nobody_unpacks_is_told_who_is_lost() {
    let hosts = [(); 2].map(|()| Host::new());
    hosts[1].listen("memory://unpacked").await.unwrap();
    let (mut user, mut portal) = begun([&hosts[0], &hosts[1]], "memory://unpacked", "1").await;
    let (mut asks, serves) = greeted(&mut user, &mut portal).await;
    let parcel = portal.pack(serves, ["memory://nobody"]).await.unwrap();
    let lost = ask(&mut asks, 0..1).await.map(drop).unwrap_err();
    let ErrorKind::Transport { peer: "portal", source, .. } = lost.into_kind() else {
        panic!("the portal is lost");
    };
    let source = source.downcast_ref::<NetError>().unwrap();
    assert!(matches!(source, NetError::Lost { peer, .. } if peer == "portal"), "{source}");
    drop(parcel);
}

#[tokio::test(start_paused = true)]
async fn the_host_that_was_left_may_end_when_the_peers_were_told() {
    let [near, left, next] = [(); 3].map(|()| Host::new());
    left.listen("memory://left").await.unwrap();
    next.listen("memory://next").await.unwrap();
    let (mut user, mut portal) = begun([&near, &left], "memory://left", "1").await;
    let (mut asks, serves) = greeted(&mut user, &mut portal).await;
    let parcel = portal.pack(serves, ["memory://next"]).await.unwrap();
    left.told().await;
    drop(left);
    // The user calls the next host already, where nobody is yet.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (joined, mut serves) = parcel.unpack(&next).unwrap();
    let asked = async { quit(&mut ask(&mut asks, 0..10).await?).await };
    tokio::try_join!(asked, answer_all(&mut serves)).unwrap();
    tokio::try_join!(user.leave(), joined.leave()).unwrap();
}

/// The peer finds the role beside it, and the host that the role has left is told all the same.
#[tokio::test]
async fn a_host_may_end_at_once_if_the_session_has_moved_to_the_peer() {
    let [near, left] = [(); 2].map(|()| Host::new());
    let [near_at, left_at] = [near.listen("tcp://127.0.0.1:0"), left.listen("tcp://127.0.0.1:0")];
    let (near_at, left_at) = tokio::try_join!(near_at, left_at).unwrap();
    let (mut user, mut portal) = begun([&near, &left], &left_at.to_string(), "1").await;
    let (mut asks, serves) = greeted(&mut user, &mut portal).await;
    let parcel = portal.pack(serves, [near_at.to_string()]).await.unwrap();
    let (joined, mut serves) = parcel.unpack(&near).unwrap();
    timeout(Duration::from_secs(5), left.told()).await.unwrap();
    let asked = async { quit(&mut ask(&mut asks, 0..10).await?).await };
    tokio::try_join!(asked, answer_all(&mut serves)).unwrap();
    tokio::try_join!(user.leave(), joined.leave()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_packed_or_unpacked_is_an_error() {
    let hosts = [(); 3].map(|()| Host::new());
    hosts[1].listen("memory://errors").await.unwrap();
    let apart = [&hosts[0], &hosts[1]];
    let (mut user, mut portal) = begun(apart, "memory://errors", "1").await;
    let (_asks, serves) = greeted(&mut user, &mut portal).await;
    let (_user, another) = begun(apart, "memory://errors", "2").await;
    let error = another.pack(serves, ["memory://x"]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`portal` has joined another session here, or has already continued this one"
    );
    let (mut user, mut portal) = begun(apart, "memory://errors", "3").await;
    let (_asks, serves) = greeted(&mut user, &mut portal).await;
    let parcel = portal.pack(serves, ["memory://x"]).await.unwrap();
    let bytes = postcard::to_stdvec(&parcel).unwrap();
    // In another state, and by a role that is there already.
    let begins: Parcel<Greeting<'static>> = postcard::from_bytes(&bytes).unwrap();
    let error = begins.unpack(&hosts[2]).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the session of `portal` that was handed over is not the one that is expected here"
    );
    let _there = parcel.unpack(&hosts[2]).unwrap();
    let again: Parcel<Serving<'static, Portal>> = postcard::from_bytes(&bytes).unwrap();
    let error = again.unpack(&hosts[2]).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "`portal` has already joined the session `3`");
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_a_parcel_is_refused_where_the_other_one_came_first() {
    let hosts = [(); 4].map(|()| Host::new());
    hosts[1].listen("memory://copied").await.unwrap();
    let (mut user, mut portal) = begun([&hosts[0], &hosts[1]], "memory://copied", "1").await;
    let (asks, mut serves) = greeted(&mut user, &mut portal).await;
    let served = tokio::spawn(async move { answer_all(&mut serves).await });
    let parcel = user.pack(asks, ["memory://anywhere"]).await.unwrap();
    let copy = sent(&parcel).unwrap();
    let (first, mut asks) = parcel.unpack(&hosts[2]).unwrap();
    let mut asks = ask(&mut asks, 0..3).await.unwrap();
    let (second, mut copied) = copy.unpack(&hosts[3]).unwrap();
    let refused = ask(&mut copied, 3..4).await.map(drop).unwrap_err();
    let ErrorKind::Transport { peer: "portal", source, .. } = refused.into_kind() else {
        panic!("the portal has refused it");
    };
    let refused = "the connection to `portal` was refused: another process already plays this role in \
                   this session, or this process did before it restarted";
    assert_eq!(source.to_string(), refused);
    drop(second);
    // The first one goes on, also to a further host.
    let (first, mut asks) = {
        asks = ask(&mut asks, 3..6).await.unwrap();
        first.pack(asks, ["memory://anywhere"]).await.unwrap().unpack(&hosts[0]).unwrap()
    };
    quit(&mut ask(&mut asks, 6..9).await.unwrap()).await.unwrap();
    served.await.unwrap().unwrap();
    tokio::try_join!(first.leave(), portal.leave()).unwrap();
}

#[test]
fn a_mangled_parcel_does_no_harm() {
    let (mut read, mut unpacked) = (0, 0);
    for seed in seeds(60) {
        crate::paused().block_on(async {
            let mut random = Rng::with_seed(seed);
            let hosts = [(); 3].map(|()| Host::new());
            let at = format!("memory://{seed}-mangled");
            hosts[1].listen(&at).await.unwrap();
            let (mut user, mut portal) = begun([&hosts[0], &hosts[1]], &at, "1").await;
            let (mut asks, serves) = greeted(&mut user, &mut portal).await;
            tokio::spawn(async move {
                let _ = ask(&mut asks, 0..3).await;
            });
            tokio::time::sleep(Duration::from_millis(1)).await;
            let parcel = portal.pack(serves, [&at]).await.unwrap();
            let mut bytes = postcard::to_stdvec(&parcel).unwrap();
            for _ in 0..random.u8(1..3) {
                let at = random.usize(..bytes.len());
                bytes[at] ^= 1 << random.u8(..8);
            }
            let Ok(parcel) = postcard::from_bytes::<Parcel<Serving<'static, Portal>>>(&bytes)
            else {
                return;
            };
            read += 1;
            let Ok((joined, mut session)) = parcel.unpack(&hosts[2]) else { return };
            unpacked += 1;
            let ended = timeout(Duration::from_secs(120), async {
                let _ = answer_all(&mut session).await;
                drop(session);
                let _ = joined.leave().await;
            });
            ended.await.unwrap_or_else(|_| panic!("seed {seed} hangs"));
        });
    }
    assert!(read > unpacked && unpacked > 0, "{read} read, {unpacked} unpacked");
}

/// The program at the next host. Its portal is the same; its user is the one of the protocol.
#[rumpsteak::protocol(
    Portal,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod next_program {
    #[session(Portal)]
    type Greeting = Receive<User, Name, Serving>;

    struct Serving(Branch<User, Served>);

    enum Served {
        Ask(Ask, Send<User, Answer, Serving>),
        Quit(Quit, End),
    }
}

/// A third program, whose session after the name is written in another way.
#[rumpsteak::protocol(
    Portal,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod other_program {
    #[session(Portal)]
    type Greeting = Receive<User, Name, Serving>;

    struct Serving(Branch<User, Served>);

    enum Served {
        Ask(Ask, Answering),
        Quit(Quit, End),
    }

    struct Answering(Send<User, Answer, Serving>);
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_in_another_program_that_has_the_same_one() {
    let hosts = [(); 3].map(|()| Host::new());
    hosts[1].listen("memory://programs").await.unwrap();
    let (mut user, mut portal) = begun([&hosts[0], &hosts[1]], "memory://programs", "1").await;
    let (mut asks, serves) = greeted(&mut user, &mut portal).await;
    let parcel = portal.pack(serves, ["memory://programs-next"]).await.unwrap();
    let bytes = postcard::to_stdvec(&parcel).unwrap();

    use other_program as other;
    let differs: Parcel<other::Serving<'static, other::Portal>> =
        postcard::from_bytes(&bytes).unwrap();
    assert_eq!(
        differs.unpack(&hosts[2]).map(drop).unwrap_err().to_string(),
        "the session of `portal` that was handed over is not the one that is expected here"
    );

    use next_program as next;
    hosts[2].listen("memory://programs-next").await.unwrap();
    let same: Parcel<next::Serving<'static, next::Portal>> = postcard::from_bytes(&bytes).unwrap();
    let (joined, mut serves) = same.unpack(&hosts[2]).unwrap();
    let answered = serves.run(async |s: next::Serving<'_, next::Portal>| {
        let next::Served::Ask(next::Ask(number), s) = s.branch().await? else { panic!() };
        let next::Served::Quit(next::Quit, end) =
            s.send(next::Answer(2 * number)).await?.branch().await?
        else {
            panic!()
        };
        Ok::<_, Error>(((), end))
    });
    let asked = async { quit(&mut ask(&mut asks, 7..8).await?).await };
    tokio::try_join!(answered, asked).unwrap();
    tokio::try_join!(user.leave(), joined.leave()).unwrap();
}
