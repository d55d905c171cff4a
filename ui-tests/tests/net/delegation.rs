//! Sessions that go to another host in the middle: their peers see nothing but a pause.

use std::time::Duration;

use fastrand::Rng;
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Limits, Net, Parcel};
use rumpsteak_oracle::seeds;
use rumpsteak_runtime::{Detached, Error, Message, Result, Role, session, try_run};
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::time::timeout;

use crate::breaks::breaking;

#[derive(Role)]
#[protocol(Portal::user)]
#[message(Label)]
struct User(#[route(Portal)] Net<Label>);

#[derive(Role)]
#[protocol(Portal::portal)]
#[message(Label)]
struct Portal(#[route(User)] Net<Label>);

#[derive(Message, Serialize, Deserialize)]
enum Label {
    Name(Name),
    Ask(Ask),
    Answer(Answer),
    Quit(Quit),
}

#[derive(Serialize, Deserialize)]
struct Name(String);
#[derive(Serialize, Deserialize)]
struct Ask(u64);
#[derive(Serialize, Deserialize)]
struct Answer(u64);
#[derive(Serialize, Deserialize)]
struct Quit;

#[session(User)]
type Using = Send<Portal, Name, Wanting>;

#[session]
struct Wanting(Select<Portal, Asking>);

#[session]
enum Asking {
    Ask(Ask, Receive<Portal, Answer, Wanting>),
    Quit(Quit, End),
}

#[session(Portal)]
type Greeting = Receive<User, Name, Serving>;

#[session]
struct Serving(Branch<User, Served>);

#[session]
enum Served {
    Ask(Ask, Send<User, Answer, Serving>),
    Quit(Quit, End),
}

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

/// A user whose session goes to the other hosts after so many questions each.
async fn user(hosts: &[Host], at: &[String], portal: &str, asks: &[u64]) -> Ended {
    let mut joined = hosts[0].join::<User>("1").peer("portal", [portal]).connect().await?;
    let mut session: Asks = try_run(&mut joined.role, async |s: Using<'_>| {
        Ok::<_, Error>(Detached::new(s.send(Name("Ada".to_owned())).await?))
    })
    .await?;
    let mut from = 0;
    for (index, many) in asks.iter().enumerate() {
        session = ask(&mut session, from..from + many).await?;
        from += many;
        if let Some(host) = hosts.get(index + 1) {
            (joined, session) = moved!(joined, session, host, &at[index + 1]);
        }
    }
    quit(&mut session).await?;
    Ok(joined.leave().await?)
}

/// A portal whose session goes to another host before anything was said, and to the others after so
/// many answers each.
async fn portal(hosts: &[Host], at: &[String], answers: &[u64]) -> Ended {
    let mut joined = hosts[0].join::<Portal>("1").connect().await?;
    let session: Detached<Greeting<'static>> =
        try_run(&mut joined.role, async |s: Greeting<'_>| Ok::<_, Error>(Detached::new(s))).await?;
    let (mut joined, mut session) = moved!(joined, session, &hosts[1], &at[1]);
    let mut session: Serves = session
        .run(async |s: Greeting<'_>| {
            let (Name(name), s) = s.receive().await?;
            assert_eq!(name, "Ada");
            Ok::<_, Error>(Detached::new(s))
        })
        .await?;
    for ((host, at), many) in hosts[2..].iter().zip(&at[2..]).zip(answers) {
        session = answer(&mut session, *many).await?;
        (joined, session) = moved!(joined, session, host, at);
    }
    answer_all(&mut session).await?;
    Ok(joined.leave().await?)
}

#[test]
fn sessions_that_move_on_both_sides_lose_nothing_however_connections_break() {
    for seed in seeds(30) {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut random = Rng::with_seed(seed);
            let breaks = random.u32(4..9)..random.u32(10..60);
            let transports = Transports::default().with("cut", breaking(seed, breaks));
            let hosts = [(); 7].map(|()| Host::with(transports.clone(), Limits::default()));
            let at = [0, 1, 2, 3, 4, 5, 6].map(|index| format!("cut://{seed}-moves-{index}"));
            for (host, at) in hosts.iter().zip(&at) {
                host.listen(at).await.unwrap();
            }
            let asks = [(); 3].map(|()| random.u64(..10));
            let mut left: u64 = asks.iter().sum();
            let answers = [(); 2].map(|()| {
                let many = random.u64(..=left);
                left -= many;
                many
            });
            let user = user(&hosts[..3], &at[..3], &at[3], &asks);
            let portal = portal(&hosts[3..], &at[3..], &answers);
            let ended = timeout(Duration::from_secs(600), async { tokio::try_join!(user, portal) });
            let ended = ended.await.unwrap_or_else(|_| panic!("seed {seed} hangs"));
            ended.unwrap_or_else(|error| panic!("seed {seed}: {error}: {error:?}"));
        });
    }
}
