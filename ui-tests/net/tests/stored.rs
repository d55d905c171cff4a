//! Roles that NATS JetStream stores, whenever their processes or the server die.

#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "helpers of a test: a panic is a failure")]

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use futures::StreamExt as _;
use relay_first::stamping as first;
use relay_second::stamping as second;
use rumpsteak::states::End;
use rumpsteak::{Detached, Error, ErrorKind};
use rumpsteak_net::async_nats::{self, ConnectOptions, jetstream};
use rumpsteak_net::transport::Nats;
use rumpsteak_net::{Journal, NetError, Stored};
use rumpsteak_oracle::seeds;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

#[rumpsteak::protocol(
    Mirror,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod mirror {
    #[session(P)]
    type Giving = Select<Q, Gives>;

    enum Gives {
        Chunk(Chunk, Giving),
        Turn(Turn, Getting),
    }

    type Getting = Branch<Q, Gets>;

    enum Gets {
        Back(Back, Getting),
        Stop(Stop, End),
    }

    #[session(Q)]
    type Taking = Branch<P, Takes>;

    enum Takes {
        Chunk(Chunk, Taking),
        Turn(Turn, Turning),
    }

    type Turning = Select<P, Turns>;

    enum Turns {
        Back(Back, Turning),
        Stop(Stop, End),
    }
}

use mirror::{Back, Chunk, Gets, Getting, Giving, P, Q, Stop, Takes, Taking, Turn, Turning};

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The number of messages in each direction.
const MANY: u64 = 100;

/// The time that a step takes, besides.
const STEP: Duration = Duration::from_millis(4);

/// The state of a role: how many chunks it has sent, and the numbers that it has received.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Memory {
    sent: u64,
    received: Vec<u64>,
}

impl Memory {
    /// The next numbers to send.
    fn next(&mut self, random: &mut Rng) -> Range<u64> {
        let from = self.sent;
        self.sent = MANY.min(from + random.u64(1..6));
        from..self.sent
    }

    /// True if all numbers have come, once and in order.
    fn is_whole(&self) -> bool {
        self.received.iter().copied().eq(0..MANY)
    }
}

/// Sends numbered chunks, some in each step, and receives them again.
async fn give(journal: &Journal, random: &mut Rng, end: impl AsyncFnOnce(&Memory)) -> Outcome<()> {
    let start = Memory::default();
    let mut role: Stored<P, Memory> =
        journal.join::<Giving<'static, P>, _, _>("the 1st", start).await?;
    while !role.is_over() {
        sleep(STEP).await;
        if let Some(mut session) = role.session::<Giving<'static, P>>() {
            let numbers = role.value.next(random);
            let is_last = numbers.is_empty();
            let rest = session.run(async |mut s: Giving<'_>| {
                if is_last {
                    let (rest, end) = Detached::new(s.select(Turn).await?);
                    return Ok((Err(rest), end));
                }
                for number in numbers {
                    s = s.select(Chunk(number)).await?;
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Ok(rest), end))
            });
            match rest.await? {
                Ok::<Detached<Giving<'static, P>>, _>(rest) => role.save(rest).await?,
                Err::<_, Detached<Getting<'static, P>>>(rest) => role.save(rest).await?,
            }
        }
        if let Some(mut session) = role.session::<Getting<'static, P>>() {
            let (many, received) = (random.u64(1..8), &mut role.value.received);
            let rest = session.run(async |mut s: Getting<'_, P>| {
                for _ in 0..many {
                    s = match s.branch().await? {
                        Gets::Back(Back(number), next) => {
                            received.push(number);
                            next
                        }
                        Gets::Stop(Stop, end) => return Ok((None, end)),
                    };
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Some(rest), end))
            });
            match rest.await? {
                Some::<Detached<Getting<'static, P>>>(rest) => role.save(rest).await?,
                None => break,
            }
        }
    }
    Ok(role.finish(end).await?)
}

/// Receives chunks, some in each step, and sends them back.
async fn take(
    journal: &Journal,
    session: &str,
    random: &mut Rng,
    end: impl AsyncFnOnce(&Memory),
) -> Outcome<()> {
    let start = Memory::default();
    let mut role: Stored<Q, Memory> =
        journal.join::<Taking<'static, Q>, _, _>(session, start).await?;
    while !role.is_over() {
        sleep(STEP).await;
        if let Some(mut session) = role.session::<Taking<'static, Q>>() {
            let (many, received) = (random.u64(1..8), &mut role.value.received);
            let rest = session.run(async |mut s: Taking<'_>| {
                for _ in 0..many {
                    s = match s.branch().await? {
                        Takes::Chunk(Chunk(number), next) => {
                            received.push(number);
                            next
                        }
                        Takes::Turn(Turn, next) => {
                            let (rest, end) = Detached::new(next);
                            return Ok((Err(rest), end));
                        }
                    };
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Ok(rest), end))
            });
            match rest.await? {
                Ok::<Detached<Taking<'static, Q>>, _>(rest) => role.save(rest).await?,
                Err::<_, Detached<Turning<'static, Q>>>(rest) => role.save(rest).await?,
            }
        }
        if let Some(mut session) = role.session::<Turning<'static, Q>>() {
            let numbers = role.value.next(random);
            let is_last = numbers.is_empty();
            let rest = session.run(async |mut s: Turning<'_, Q>| {
                if is_last {
                    return Ok((None, s.select(Stop).await?));
                }
                for number in numbers {
                    s = s.select(Back(number)).await?;
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Some(rest), end))
            });
            match rest.await? {
                Some::<Detached<Turning<'static, Q>>>(rest) => role.save(rest).await?,
                None => break,
            }
        }
    }
    Ok(role.finish(end).await?)
}

/// The first session that is served.
async fn served(journal: &Journal) -> String {
    let (sender, mut session) = tokio::sync::mpsc::unbounded_channel();
    tokio::select! {
        ended = journal.serve::<Q>(|name| sender.send(name).unwrap()) => panic!("{ended:?}"),
        session = session.recv() => session.unwrap(),
    }
}

/// A server of NATS with JetStream, in this folder.
struct Broker {
    at: At,
    process: Child,
}

#[derive(Clone)]
struct At {
    port: u16,
    folder: PathBuf,
}

/// A port that is free now.
fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("rumpsteak-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

impl Broker {
    /// Starts a server, and waits until it answers.
    async fn start(name: &str) -> Self {
        loop {
            let at = At { port: port(), folder: folder(name) };
            let mut broker = Self { process: Self::process(&at, &[]), at };
            // Something may have taken the port.
            while broker.process.try_wait().unwrap().is_none() {
                if async_nats::connect(format!("127.0.0.1:{}", broker.at.port)).await.is_ok() {
                    return broker;
                }
                sleep(Duration::from_millis(10)).await;
            }
        }
    }

    fn process(at: &At, options: &[&str]) -> Child {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &at.port.to_string(), "-js", "-sd"]).arg(&at.folder);
        command.args(options).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn restart(&mut self) {
        self.process = Self::process(&self.at, &[]);
    }

    async fn client(&self) -> jetstream::Context {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            match async_nats::connect(format!("127.0.0.1:{}", self.at.port)).await {
                Ok(client) => break jetstream::new(client),
                Err(error) if Instant::now() > until => panic!("no server: {error}"),
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// The names of the streams, when the server answers.
    async fn streams(&self) -> Vec<String> {
        self.client().await.stream_names().map(Result::unwrap).collect().await
    }

    async fn journal(&self, instance: &str) -> Journal {
        let place = format!("127.0.0.1:{}/{instance}", self.at.port);
        Journal::open(&Nats::default(), &place, 1).await.unwrap()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.at.folder);
    }
}

/// A process that plays `part`. It writes its result to a file of that name, and errors to `log`.
fn start(at: &At, part: &str) -> Child {
    let log = File::options().create(true).append(true).open(at.folder.join("log")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_process", "--ignored"]);
    command.env("RUMPSTEAK_PART", part).env("RUMPSTEAK_PORT", at.port.to_string());
    command.env("RUMPSTEAK_FOLDER", &at.folder);
    command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

#[tokio::test]
#[ignore = "a process that the other tests start"]
async fn a_process() {
    let variable = |name: &str| std::env::var(format!("RUMPSTEAK_{name}")).ok();
    let (Some(part), Some(port), Some(folder)) =
        (variable("PART"), variable("PORT"), variable("FOLDER"))
    else {
        return;
    };
    let place = format!("127.0.0.1:{port}/{part}");
    let journal = Journal::open(&Nats::default(), &place, 1).await.unwrap();
    let result = Path::new(&folder).join(format!("{part}.result"));
    let has_ended = result.exists();
    if has_ended {
        let client = async_nats::connect(format!("127.0.0.1:{port}")).await.unwrap();
        if jetstream::new(client).stream_names().next().await.is_none() {
            return;
        }
    }
    let mut random = Rng::new();
    // A file that is written in part is written again.
    let write = async |memory: &Memory| {
        std::fs::write(&result, format!("{} {:?}", memory.is_whole(), memory.received)).unwrap();
    };
    let ended = match &*part {
        "give" => give(&journal, &mut random, write).await,
        "take" if has_ended => take(&journal, "the 1st", &mut random, write).await,
        _ => take(&journal, &served(&journal).await, &mut random, write).await,
    };
    ended.unwrap();
}

/// Starts a process again until it succeeds. It is killed after each of these times.
async fn run(at: &At, part: &str, kills: &[Duration]) -> Result<(), String> {
    let (mut kills, until) = (kills.iter(), Instant::now() + Duration::from_secs(60));
    while Instant::now() < until {
        let mut process = start(at, part);
        let killed = kills.next().map_or(until, |after| Instant::now() + *after);
        let status = loop {
            match process.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > killed => {
                    process.kill().unwrap();
                    break process.wait().unwrap();
                }
                None => sleep(Duration::from_millis(1)).await,
            }
        };
        if status.success() {
            return Ok(());
        }
    }
    Err(format!("`{part}` does not end"))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Broker,
    Service,
    Client,
    Roles,
}

async fn survives(victim: Victim) {
    use Victim::{Broker as B, Client, Roles, Service};
    for seed in seeds(1) {
        let mut random = Rng::with_seed(seed);
        let mut broker = Broker::start(&format!("{victim:?}")).await;
        let at = broker.at.clone();
        let mut kills = |of: &[Victim], kills| -> Vec<_> {
            let kills = if of.contains(&victim) { kills } else { 0 };
            (0..kills).map(|_| Duration::from_millis(random.u64(10..350))).collect()
        };
        let several = if victim == Roles { 4 } else { 1 };
        let (of_client, of_service) =
            (kills(&[Client, Roles], several), kills(&[Service, Roles], several));
        let killed = async {
            if let [after, pause] = kills(&[B], 2)[..] {
                sleep(after).await;
                broker.kill();
                sleep(pause).await;
                broker.restart();
            }
        };
        let ran =
            async { tokio::try_join!(run(&at, "give", &of_client), run(&at, "take", &of_service)) };
        let (ran, ()) = tokio::join!(ran, killed);
        let read = |of: &str| std::fs::read_to_string(at.folder.join(of)).unwrap_or_default();
        let is_right = ran.is_ok()
            && ["give.result", "take.result"].iter().all(|of| read(of).starts_with("true"));
        assert!(
            is_right && broker.streams().await.is_empty(),
            "{victim:?}, seed {seed}: {ran:?}, {}, {}, {:?}: {}",
            read("give.result"),
            read("take.result"),
            broker.streams().await,
            read("log")
        );
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_broker_that_is_killed_loses_nothing_that_roles_have_stored() {
    survives(Victim::Broker).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_service_that_is_killed_comes_back() {
    survives(Victim::Service).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_client_that_is_killed_comes_back() {
    survives(Victim::Client).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_service_and_a_client_that_are_killed_again_and_again_come_back() {
    survives(Victim::Roles).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn another_instance_does_not_take_a_session() {
    let broker = Broker::start("instances").await;
    let mut first = start(&broker.at, "take");
    sleep(Duration::from_millis(300)).await;
    let client = run(&broker.at, "give", &[]);
    let kills = async {
        while broker.streams().await.is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
        sleep(Duration::from_millis(100)).await;
        let mut other = start(&broker.at, "other");
        sleep(Duration::from_millis(500)).await;
        first.kill().unwrap();
        first.wait().unwrap();
        sleep(Duration::from_millis(500)).await;
        run(&broker.at, "take", &[]).await.unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
    };
    tokio::join!(client, kills).0.unwrap();
    assert!(!broker.at.folder.join("other.result").exists(), "the other instance has a session");
    let result = std::fs::read_to_string(broker.at.folder.join("give.result")).unwrap();
    assert!(result.starts_with("true"), "{result}");
    assert_eq!(broker.streams().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn what_peers_have_taken_is_removed_and_a_name_can_be_used_again() {
    let broker = Broker::start("names").await;
    let (gives, takes) = (broker.journal("p").await, broker.journal("q").await);
    let client = broker.client().await;
    for _ in 0..2 {
        let (mut most, mut randoms) = (0, [Rng::with_seed(1), Rng::with_seed(2)]);
        let [one, two] = &mut randoms;
        let is_whole = async |memory: &Memory| assert!(memory.is_whole(), "{memory:?}");
        let given = give(&gives, one, is_whole);
        let taken = async {
            let session = served(&takes).await;
            assert_eq!(session, "the 1st");
            take(&takes, &session, two, is_whole).await
        };
        let watched = async {
            loop {
                sleep(STEP).await;
                if let Ok(mut stream) = client.get_stream("rumpsteak-Mirror-the-201st").await {
                    most = most.max(stream.info().await.map_or(0, |info| info.state.messages));
                }
            }
        };
        tokio::select! {
            ended = async { tokio::try_join!(given, taken) } => ended.unwrap(),
            () = watched => unreachable!("it has no end"),
        };
        assert!((1..90).contains(&most), "{most} entries");
        assert_eq!(broker.streams().await, Vec::<String>::new());
    }
}

async fn turn(s: Giving<'_>) -> Result<(Detached<Getting<'static, P>>, End<'_, P>), Error> {
    Ok(Detached::new(s.select(Turn).await?))
}

/// Waits for a message, and none comes.
async fn gets(s: Getting<'_, P>) -> Result<((), End<'_, P>), Error> {
    match s.branch().await? {
        Gets::Stop(Stop, end) => Ok(((), end)),
        Gets::Back(..) => unreachable!("nothing was sent"),
    }
}

/// As `gets`.
async fn takes_turn(s: Taking<'_>) -> Result<((), End<'_, Q>), Error> {
    match s.branch().await? {
        Takes::Turn(Turn, s) => Ok(((), s.select(Stop).await?)),
        Takes::Chunk(..) => unreachable!("nothing was sent"),
    }
}

/// The cause of an error of a session.
fn cause(error: &Error) -> String {
    let ErrorKind::Transport { source, .. } = error.kind() else { panic!("{error:?}") };
    source.to_string()
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_role_that_cannot_go_on_is_told_why() {
    let broker = Broker::start("errors").await;
    let (gives, takes) = (broker.journal("p").await, broker.journal("q").await);
    let join = async || gives.join::<Giving<'static, P>, P, _>("1", 7).await;
    let mut role = join().await.unwrap();
    assert!(role.session::<Getting<'static, P>>().is_none(), "another state");
    let ended = role
        .session::<Giving<'static, P>>()
        .unwrap()
        .run(async |s: Giving<'_>| gets(s.select(Turn).await?).await)
        .await;
    assert_eq!(
        format!("{:?}", ended.unwrap_err()),
        "`p` cannot receive `Back` or `Stop` from `q`: the transport failed: the role is stored, and receives after \
         it has sent: save it in between"
    );
    assert!(role.session::<Giving<'static, P>>().is_none(), "a step was not saved");

    // Nothing was sent. A process that joins again takes the role from this one.
    let mut again = join().await.unwrap();
    assert_eq!(again.value, 7);
    let rest: Detached<Getting<'static, P>> =
        again.session::<Giving<'static, P>>().unwrap().run(turn).await.unwrap();
    let last = join().await.unwrap();
    let taken = again.save(rest).await.unwrap_err();
    assert_eq!(
        format!("{taken:?}"),
        "the session cannot be stored: another process plays `p` in this session"
    );
    let other = broker.journal("other").await;
    let refused = other.join::<Giving<'static, P>, P, _>("1", 7).await.map(drop).unwrap_err();
    assert_eq!(format!("{refused:?}"), "the session cannot be stored: `p` plays `p`");

    last.abandon().await.unwrap();

    // Another version of the program.
    let asks = gives.join::<first::CSession<'static, first::C>, first::C, _>("2", ());
    let asks = asks.await.unwrap();
    let hears = takes.join::<second::SSession<'static, second::S>, second::S, _>("2", ());
    let mut hears = hears.await.unwrap();
    let session = hears.session::<second::SSession<'static, second::S>>().unwrap();
    let refused = { session }
        .run(async |s: second::SSession<'_>| Ok::<_, Error>(s.receive().await?))
        .await
        .map(drop)
        .unwrap_err();
    assert!(cause(&refused).contains("their programs differ"), "{refused:?}");
    let again = gives.join::<second::CSession<'static, second::C>, second::C, _>("2", ());
    assert!(matches!(again.await, Err(NetError::OtherSession { .. })));
    hears.abandon().await.unwrap();
    asks.abandon().await.unwrap();
    assert_eq!(broker.streams().await, Vec::<String>::new());

    // Another version of the library.
    let mut taking = takes.join::<Taking<'static, Q>, Q, _>("3", ()).await.unwrap();
    let [stream] = &broker.streams().await[..] else { panic!("one session") };
    let protocol = stream.strip_prefix("rumpsteak-").unwrap().strip_suffix("-3").unwrap();
    let subject = format!("rumpsteak.sessions.{protocol}.3.p");
    broker.client().await.publish(subject, "".into()).await.unwrap().await.unwrap();
    let ended = taking.session::<Taking<'static, Q>>().unwrap().run(takes_turn).await.unwrap_err();
    let unreadable =
        "an entry of the session cannot be read: another version of `rumpsteak-net` wrote it";
    assert!(format!("{ended:?}").ends_with(unreadable), "{ended:?}");
    let joined = gives.join::<Giving<'static, P>, P, _>("3", 7).await.map(drop).unwrap_err();
    assert_eq!(format!("{joined:?}"), format!("the session cannot be stored: {unreadable}"));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_role_that_gives_up_ends_the_session_of_its_peers() {
    let broker = Broker::start("abandon").await;
    let (gives, takes) = (broker.journal("p").await, broker.journal("q").await);
    let giving = gives.join::<Giving<'static, P>, P, _>("1", ()).await.unwrap();
    let mut taking = takes.join::<Taking<'static, Q>, Q, _>("1", ()).await.unwrap();
    giving.abandon().await.unwrap();
    let again = gives.join::<Giving<'static, P>, P, _>("1", ()).await.map(drop).unwrap_err();
    assert_eq!(format!("{again:?}"), "`p` has given the session up");
    let ended = taking.session::<Taking<'static, Q>>().unwrap().run(takes_turn).await.unwrap_err();
    assert_eq!(cause(&ended), "`p` has given the session up");
    assert_ne!(broker.streams().await, Vec::<String>::new());
    taking.abandon().await.unwrap();
    assert_eq!(broker.streams().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_cluster_of_three_loses_one() {
    // It takes its time, for elections: only if more is asked for than usual.
    if std::env::var("RUMPSTEAK_FUZZ").is_err() {
        return;
    }
    let folder = folder("cluster");
    let [ports, routes] = [(); 2].map(|()| [(); 3].map(|()| port()));
    let all = routes.map(|port| format!("nats://127.0.0.1:{port}")).join(",");
    let start = |index: usize| {
        let at = At { port: ports[index], folder: folder.join(index.to_string()) };
        let (name, cluster) = (format!("s{index}"), format!("nats://127.0.0.1:{}", routes[index]));
        let options =
            ["--name", &name, "--cluster_name", "c", "--routes", &all, "--cluster", &cluster];
        Broker { process: Broker::process(&at, &options), at }
    };
    let mut servers = [0, 1, 2].map(start);
    let journal = async |index: usize| {
        let place = format!("127.0.0.1:{}/{index}", ports[index]);
        let opened = async {
            loop {
                match Journal::open(&Nats::default(), &place, 3).await {
                    Ok(journal) => break journal,
                    // The servers elect one of them first.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                }
            }
        };
        timeout(Duration::from_secs(30), opened).await.unwrap()
    };
    let (gives, takes) = (journal(0).await, journal(1).await);
    // Streams can be made when the servers have elected.
    let until = Instant::now() + Duration::from_secs(30);
    while gives.join::<Giving<'static, P>, P, _>("the 1st", Memory::default()).await.is_err() {
        assert!(Instant::now() < until, "no election");
    }
    let is_whole = async |memory: &Memory| assert!(memory.is_whole(), "{memory:?}");
    let (mut one, mut two) = (Rng::with_seed(1), Rng::with_seed(2));
    let kill = async {
        sleep(Duration::from_millis(100)).await;
        servers[0].kill();
        Ok(())
    };
    let given = give(&gives, &mut one, is_whole);
    let taken = take(&takes, "the 1st", &mut two, is_whole);
    tokio::try_join!(given, taken, kill).unwrap();
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_server_with_tls_takes_clients_that_trust_it() {
    let folder = folder("trust");
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    std::fs::write(file("cert"), own.cert.pem()).unwrap();
    std::fs::write(file("key"), own.signing_key.serialize_pem()).unwrap();
    let (cert, key) = (file("cert"), file("key"));
    let at = At { port: port(), folder };
    let process = Broker::process(&at, &["--tls", "--tlscert", &cert, "--tlskey", &key]);
    let broker = Broker { at, process };
    let open = async |options: ConnectOptions| {
        let nats = Nats::with_options(options.require_tls(true));
        let place = format!("localhost:{}/test", broker.at.port);
        loop {
            match Journal::open(&nats, &place, 1).await {
                Err(error) if error.to_string().contains("Connection refused") => {
                    sleep(Duration::from_millis(50)).await;
                }
                opened => break opened,
            }
        }
    };
    let journal = open(ConnectOptions::new().add_root_certificates(cert.into())).await.unwrap();
    let role = journal.join::<Giving<'static, P>, P, _>("1", ()).await.unwrap();
    role.abandon().await.unwrap();
    let refused = open(ConnectOptions::new()).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("certificate"), "{refused}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_server_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let (port, folder) = (port(), folder("settings"));
    let settings = folder.join("settings");
    std::fs::write(&settings, "authorization { user: u, password: p }\n").unwrap();
    let plain = ["-a", "127.0.0.1", "-c", settings.to_str().unwrap(), "-p", &port.to_string()];
    let process = Command::new("nats-server").args(plain).stderr(Stdio::null()).spawn().unwrap();
    let _server = Broker { at: At { port, folder }, process };
    let open = async |password: &str| {
        let options = ConnectOptions::new().user_and_password("u".to_owned(), password.to_owned());
        let place = format!("127.0.0.1:{port}/test");
        Journal::open(&Nats::with_options(options), &place, 1).await.map(drop).unwrap_err()
    };
    let refused = timeout(Duration::from_secs(10), async {
        loop {
            match open("wrong").await {
                error if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    sleep(Duration::from_millis(50)).await;
                }
                error => break error,
            }
        }
    });
    let refused = refused.await.unwrap();
    assert!(refused.to_string().contains("authorization violation"), "{refused}");
    let missing = open("p").await.to_string();
    assert!(missing.contains("start it with `nats-server -js`"), "{missing}");

    let broker = Broker::start("payload").await;
    let journal = broker.journal("test").await;
    let large = vec![7_u8; 1_100_000];
    let large = journal.join::<Giving<'static, P>, P, _>("1", large).await.map(drop).unwrap_err();
    assert_eq!(
        format!("{large:?}").split(" bytes, and").last(),
        Some(" the server takes 1048064: save more often, or raise its `max_payload`")
    );
}

#[rumpsteak::protocol(
    Line,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod line {}

use line::{A, ASession, B, BSession, C, CSession, First, Second};

#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_last_role_removes_the_session_though_not_all_know_each_other() {
    let broker = Broker::start("line").await;
    let journal = broker.journal("line").await;
    let a = async {
        let mut role = journal.join::<ASession<'static, A>, A, _>("1", ()).await?;
        let session = role.session::<ASession<'static, A>>().unwrap();
        { session }.run(async |s: ASession<'_>| Ok::<_, Error>(((), s.send(First).await?))).await?;
        role.finish(async |()| {}).await?;
        Outcome::Ok(())
    };
    let b = async {
        let mut role = journal.join::<BSession<'static, B>, B, _>("1", ()).await?;
        let mut session = role.session::<BSession<'static, B>>().unwrap();
        let passes = session.run(async |s: BSession<'_>| {
            let (First, s) = s.receive().await?;
            Ok::<_, Error>(((), s.send(Second).await?))
        });
        passes.await?;
        role.finish(async |()| {}).await?;
        Outcome::Ok(())
    };
    let c = async {
        let mut role = journal.join::<CSession<'static, C>, C, _>("1", ()).await?;
        let session = role.session::<CSession<'static, C>>().unwrap();
        let Second =
            { session }.run(async |s: CSession<'_>| Ok::<_, Error>(s.receive().await?)).await?;
        // The others have left long before.
        role.finish(async |()| sleep(Duration::from_millis(300)).await).await?;
        Outcome::Ok(())
    };
    tokio::try_join!(a, b, c).unwrap();
    assert_eq!(broker.streams().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_service_goes_on_after_the_server_was_killed() {
    let mut broker = Broker::start("service").await;
    let (gives, takes) = (broker.journal("p").await, broker.journal("q").await);
    let (sender, mut sessions) = tokio::sync::mpsc::unbounded_channel();
    let serving =
        tokio::spawn(async move { takes.serve::<Q>(|name| sender.send(name).unwrap()).await });
    for name in ["1", "2"] {
        let role = gives.join::<Giving<'static, P>, P, _>(name, ()).await.unwrap();
        let served = timeout(Duration::from_secs(30), sessions.recv()).await.unwrap();
        assert_eq!(served.as_deref(), Some(name));
        drop(role);
        // The server writes what it has confirmed.
        sleep(Duration::from_secs(1)).await;
        broker.kill();
        sleep(Duration::from_secs(2)).await;
        broker.restart();
        broker.streams().await;
        sleep(Duration::from_secs(5)).await;
    }
    assert!(!serving.is_finished());
    assert!(sessions.is_empty(), "a session is named once");
    serving.abort();
}
