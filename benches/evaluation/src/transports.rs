//! SJ framework, Fig. 14: sessions over transports, and delegated sessions.

use std::time::Instant;

use futures::{SinkExt as _, StreamExt as _};
use rumpsteak_net::{Codec as _, Host, Joined, Postcard};
use rumpsteak_runtime::{self as rumpsteak, Detached, try_run};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio_util::bytes::Bytes;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use crate::applications::work;
use crate::processes::Processes;
use crate::tasks::{expect, one_thread_of_sockets};
use crate::{Case, Error, Figure, Mode, Of, Result, Sample, Series, Unit, XAxis, YAxis};

const TREES: &str = "sj-fig14-trees";
const OBJECTS: &str = "sj-fig14-objects";
const LENGTH: &str = "sj-fig14-length";
const DELEGATION: &str = "sj-fig14-delegation";

/// The number of exchanges in a session, unless it is the x axis.
const EXCHANGES: u64 = 100;

/// The number of objects in an exchange, unless it is the x axis.
const FEW: u64 = 10;

/// The number of exchanges of trees, and in a delegated session.
const BULK: u64 = 1_000;

#[rumpsteak_runtime::protocol(
    Exchange,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod exchange {}
use exchange::*;

#[rumpsteak_runtime::protocol(
    Delegation,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod delegation {
    use super::exchange::BobSession as Updating;
    use rumpsteak_net::Parcel;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Job(Parcel<Updating<'static>>);
}
use delegation::{Bob as Taker, BobSession as Takes, Carol, CarolSession as Gives, Job};

/// The payload that Alice gives away, and gets back from Bob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Payload {
    /// Numbers, all of which Bob updates.
    Numbers(Vec<u64>),
    /// A tree, whose root Bob updates.
    Tree(Tree),
}

/// A binary tree: its number, and its children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree(u64, Option<[Box<Self>; 2]>);

impl Tree {
    fn of(depth: u64) -> Self {
        let children = || [(); 2].map(|()| Box::new(Self::of(depth - 1)));
        Self(7, (depth > 0).then(children))
    }
}

impl Payload {
    fn numbers(count: u64) -> Self {
        Self::Numbers(vec![7; count as usize])
    }

    fn update(&mut self, by: u64) {
        match self {
            Self::Numbers(numbers) => numbers.iter_mut().for_each(|number| *number += by),
            Self::Tree(Tree(root, _)) => *root += by,
        }
    }
}

/// All four.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    let over = || {
        vec![
            series("moved", Of::Ours, "both roles at one host: messages are moved"),
            series("copied", Of::Ours, "two hosts in one process: messages are written and read"),
            series("TCP", Of::Ours, "two hosts, over the loopback"),
            series(
                "bare TCP",
                Of::Floor,
                "tokio's sockets with the same codec and frames, without sessions",
            ),
        ]
    };
    let y = YAxis { label: "time of a session (ms)", log: true, scale: 1e3 };
    vec![
        Figure {
            name: TREES,
            title: "Sessions over transports: binary trees",
            about: "SJ framework, Fig. 14 b and c: a session of 1,000 exchanges of one binary tree of this depth, which goes there and back, after it was joined. Bob \
                    updates the root. A task for each role, one thread.",
            x: XAxis { label: "depth", log: false, names: &[] },
            y,
            series: over(),
            points: |_| vec![0, 1, 2, 4, 8],
            cases: |x, mode| exchanges(TREES, x, mode, BULK, Payload::Tree(Tree::of(x))),
            notes: "*moved* is the paper's `noalias`, *copied* its ordinary messages: 18 ms and 1020 ms at depth 8, of 511 nodes.",
        },
        Figure {
            name: OBJECTS,
            title: "Sessions over transports: objects",
            about: "SJ framework, Fig. 14 a to c: a session of 100 exchanges, each of so many numbers there and back, after it was joined. Bob updates each. A task for \
                    each role, one thread.",
            x: XAxis { label: "objects", log: false, names: &[] },
            y,
            series: over(),
            points: |_| vec![0, 10, 100, 1_000],
            cases: |x, mode| exchanges(OBJECTS, x, mode, EXCHANGES, Payload::numbers(x)),
            notes: "",
        },
        Figure {
            name: LENGTH,
            title: "Sessions over transports: length",
            about: "SJ framework, Fig. 14 a and b: a session of so many exchanges of ten numbers each there and back, after it was joined. A task for each role, one thread.",
            x: XAxis { label: "exchanges", log: true, names: &[] },
            y,
            series: over(),
            points: |_| vec![1, 10, 100, 1_000],
            cases: |x, mode| exchanges(LENGTH, x, mode, x, Payload::numbers(FEW)),
            notes: "",
        },
        Figure {
            name: DELEGATION,
            title: "Delegation and forwarding",
            about: "SJ framework, Fig. 14 d: Alice has a session of 1,000 exchanges with Carol, after it was joined. Alice, Bob and Carol are processes, over TCP.",
            x: XAxis { label: "objects", log: false, names: &[] },
            y: YAxis { label: "time of Alice's session (ms)", log: false, scale: 1e3 },
            series: vec![
                series("forwarded", Of::Ours, "Carol passes each message on to Bob, and back"),
                series("delegated", Of::Ours, "Carol gives the session to Bob"),
                series(
                    "delegated, to memory",
                    Of::Ours,
                    "Bob is in Alice's process, at her host: messages are moved from then on",
                ),
            ],
            points: |_| vec![0, 10, 100, 1_000],
            cases: delegations,
            notes: "",
        },
    ]
}

/// Sends the payload so many times, and gets it back each time.
async fn give(role: &mut Alice, exchanges: u64, payload: Payload) -> rumpsteak::Result<Payload> {
    try_run(role, async |mut session: AliceSession<'_>| {
        let mut payload = payload;
        for _ in 0..exchanges {
            let (Updated(updated), next) = session.select(Given(payload)).await?.receive().await?;
            (payload, session) = (updated, next);
        }
        Ok((payload, session.select(Stop).await?))
    })
    .await
}

/// Updates the received payloads, in any session of Bob.
macro_rules! update {
    ($session:ident) => {
        loop {
            match $session.branch().await? {
                BobGivenChoice::Given(Given(mut payload), next) => {
                    payload.update(1);
                    $session = next.send(Updated(payload)).await?;
                }
                BobGivenChoice::Stop(Stop, end) => return Ok(((), end)),
            }
        }
    };
}

async fn update(role: &mut Bob) -> rumpsteak::Result<()> {
    try_run(role, async |mut session: BobSession<'_>| update!(session)).await
}

async fn update_rest(mut rest: Detached<BobSession<'static>>) -> rumpsteak::Result<()> {
    rest.run(async |mut session: BobSession<'_>| update!(session)).await
}

/// Alice and Bob in a session, at one host or at two.
async fn joined(near: &Host, far: &Host, at: Option<&str>) -> Result<(Joined<Alice>, Joined<Bob>)> {
    let alice = near.join::<Alice>("a");
    let alice = match at {
        Some(at) => {
            let at = far.listen(at).await.map_err(Error::wrong)?;
            alice.peer("bob", [at.to_string()])
        }
        None => alice,
    };
    tokio::try_join!(alice.connect(), far.join::<Bob>("a").connect()).map_err(Error::wrong)
}

/// The series of a figure without delegation.
fn exchanges(
    figure: &'static str,
    x: u64,
    mode: Mode,
    exchanges: u64,
    payload: Payload,
) -> Result<Vec<Case>> {
    let here = Host::new();
    let memory = format!("memory://{figure}-{x}");
    let session = |series, near: Host, far: Host, at: Option<&str>| {
        let runtime = one_thread_of_sockets()?;
        let (mut alice, mut bob) = runtime.block_on(joined(&near, &far, at))?;
        Ok::<_, Error>(exchange(figure, series, x, mode, exchanges, &payload, move |given| {
            let (alice, bob) = (&mut alice.role, &mut bob.role);
            let ran = async { tokio::try_join!(give(alice, exchanges, given), update(bob)) };
            runtime.block_on(ran).map(|(got, ())| got).map_err(Error::wrong)
        }))
    };
    let runtime = one_thread_of_sockets()?;
    let (mut near, mut far) = runtime.block_on(sockets()).map_err(Error::wrong)?;
    let bare = move |given| {
        let (near, far) = (&mut near, &mut far);
        let ran = async { tokio::try_join!(give_bare(near, exchanges, given), update_bare(far)) };
        runtime.block_on(ran).map(|(got, ())| got)
    };
    Ok(vec![
        session("moved", here.clone(), here, None)?,
        session("copied", Host::new(), Host::new(), Some(&memory))?,
        session("TCP", Host::new(), Host::new(), Some("tcp://127.0.0.1:0"))?,
        exchange(figure, "bare TCP", x, mode, exchanges, &payload, bare),
    ])
}

/// A series whose runs give the same payload away and get it back.
fn exchange(
    figure: &'static str,
    series: &'static str,
    x: u64,
    mode: Mode,
    exchanges: u64,
    payload: &Payload,
    mut run: impl FnMut(Payload) -> Result<Payload> + 'static,
) -> Case {
    let (mut expected, mut kept) = (payload.clone(), Some(payload.clone()));
    Case::timed(figure, series, x, mode, move || {
        let given = kept.take().ok_or_else(|| Error::wrong("the run before failed"))?;
        expected.update(exchanges);
        let got = run(given)?;
        expect(&got, &expected)?;
        kept = Some(got);
        Ok(())
    })
}

type Socket = Framed<TcpStream, LengthDelimitedCodec>;

async fn sockets() -> std::io::Result<(Socket, Socket)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let near = TcpStream::connect(listener.local_addr()?).await?;
    let (far, _) = listener.accept().await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((
        Framed::new(near, LengthDelimitedCodec::new()),
        Framed::new(far, LengthDelimitedCodec::new()),
    ))
}

async fn say(socket: &mut Socket, label: &Label) -> Result<()> {
    let mut bytes = Vec::new();
    Postcard.encode(label, &mut bytes).map_err(Error::wrong)?;
    socket.send(Bytes::from(bytes)).await.map_err(Error::wrong)
}

async fn hear(socket: &mut Socket) -> Result<Label> {
    let bytes = socket.next().await.ok_or_else(|| Error::wrong("nothing came"))?;
    Postcard.decode(&bytes.map_err(Error::wrong)?).map_err(Error::wrong)
}

async fn give_bare(socket: &mut Socket, exchanges: u64, mut payload: Payload) -> Result<Payload> {
    for _ in 0..exchanges {
        say(socket, &Label::Given(Given(payload))).await?;
        let Label::Updated(Updated(updated)) = hear(socket).await? else {
            return Err(Error::wrong("an unexpected message"));
        };
        payload = updated;
    }
    say(socket, &Label::Stop(Stop)).await?;
    Ok(payload)
}

async fn update_bare(socket: &mut Socket) -> Result<()> {
    while let Label::Given(Given(mut payload)) = hear(socket).await? {
        payload.update(1);
        say(socket, &Label::Updated(Updated(payload))).await?;
    }
    Ok(())
}

/// The series of the figure of delegation. Each sample has fresh processes.
fn delegations(x: u64, _: Mode) -> Result<Vec<Case>> {
    let case = |series, forwards: bool, is_here: bool| {
        Case::new(DELEGATION, series, x, Unit::Seconds, move || {
            let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::wrong)?;
            runtime.block_on(alice(x, forwards, is_here)).map(Sample::of)
        })
        .samples(15)
    };
    Ok(vec![
        case("forwarded", true, false),
        case("delegated", false, false),
        case("delegated, to memory", false, true),
    ])
}

/// How long Alice's session takes, in seconds.
async fn alice(objects: u64, forwards: bool, is_bob_here: bool) -> Result<f64> {
    let host = Host::new();
    let (mut processes, mut task) = (Processes::default(), None);
    let way = if forwards { "forward" } else { "delegate" };
    let bob_at = if is_bob_here {
        let at = host.listen("tcp://127.0.0.1:0").await.map_err(Error::wrong)?;
        task = Some(tokio::spawn(bob(host.clone(), forwards)));
        at.to_string()
    } else {
        processes.start(&["bob", way])?
    };
    let carol_at = processes.start(&["carol", way, &bob_at])?;
    let alice = host.join::<Alice>("a").peer("bob", [&carol_at]);
    let mut alice = alice.connect().await.map_err(Error::wrong)?;
    let (given, mut expected) = (Payload::numbers(objects), Payload::numbers(objects));
    expected.update(BULK);
    let begun = Instant::now();
    let got = give(&mut alice.role, BULK, given).await.map_err(Error::wrong)?;
    let taken = begun.elapsed();
    expect(&got, &expected)?;
    alice.leave().await.map_err(Error::wrong)?;
    if let Some(task) = task {
        task.await.map_err(Error::wrong)??;
    }
    processes.wait()?;
    Ok(taken.as_secs_f64())
}

/// Plays a role in its own process: `bob`, or `carol`, who gets Bob's address and either `forward`s
/// the messages or `delegate`s the session; or a worker of an application (`work`).
///
/// # Errors
///
/// [`Error::Usage`], and the errors of the session.
#[allow(clippy::print_stdout, reason = "how it says where it is")]
pub fn play(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    one_thread_of_sockets()?.block_on(async {
        let host = Host::new();
        println!("{}", host.listen("tcp://127.0.0.1:0").await.map_err(Error::wrong)?);
        match *arguments {
            ["bob", way] => bob(host, way == "forward").await,
            ["carol", "forward", at] => forward(host, at).await,
            ["carol", "delegate", at] => delegate(host, at).await,
            ["work", worker, size, ref next @ ..] => {
                let size = size.parse().map_err(Error::wrong)?;
                work(host, worker, size, next.first().copied().map(str::to_owned)).await
            }
            _ => Err(Error::Usage("`play` is for this program alone".to_owned())),
        }
    })
}

async fn bob(host: Host, forwards: bool) -> Result<()> {
    if forwards {
        let mut bob = host.join::<Bob>("b").connect().await.map_err(Error::wrong)?;
        update(&mut bob.role).await.map_err(Error::wrong)?;
        return bob.leave().await.map_err(Error::wrong);
    }
    let mut taker = host.join::<Taker>("b").connect().await.map_err(Error::wrong)?;
    let taken: rumpsteak::Result<_> = try_run(&mut taker.role, async |session: Takes<'_>| {
        let (Job(parcel), end) = session.receive().await?;
        Ok((parcel, end))
    })
    .await;
    let (joined, rest) = taken.map_err(Error::wrong)?.unpack(&host).map_err(Error::wrong)?;
    update_rest(rest).await.map_err(Error::wrong)?;
    taker.leave().await.map_err(Error::wrong)?;
    joined.leave().await.map_err(Error::wrong)
}

async fn delegate(host: Host, at: &str) -> Result<()> {
    let carol = host.join::<Carol>("b").peer("bob", [at]).connect();
    let (mut carol, mut bob) =
        tokio::try_join!(carol, host.join::<Bob>("a").connect()).map_err(Error::wrong)?;
    let rest = try_run(&mut bob.role, async |session: BobSession<'_>| {
        Ok::<_, rumpsteak::Error>(Detached::new(session))
    });
    let rest: Detached<BobSession<'static>> = rest.await.map_err(Error::wrong)?;
    let parcel = bob.pack(rest, [at]).await.map_err(Error::wrong)?;
    let given: rumpsteak::Result<()> = try_run(&mut carol.role, async |session: Gives<'_>| {
        Ok(((), session.send(Job(parcel)).await?))
    })
    .await;
    given.map_err(Error::wrong)?;
    carol.leave().await.map_err(Error::wrong)?;
    host.told().await;
    Ok(())
}

async fn forward(host: Host, at: &str) -> Result<()> {
    let onward = host.join::<Alice>("b").peer("bob", [at]).connect();
    let (mut onward, mut bob) =
        tokio::try_join!(onward, host.join::<Bob>("a").connect()).map_err(Error::wrong)?;
    let passed: rumpsteak::Result<()> = try_run(&mut bob.role, async |mut s: BobSession<'_>| {
        let passed: rumpsteak::Result<_> =
            try_run(&mut onward.role, async |mut o: AliceSession<'_>| {
                loop {
                    match s.branch().await? {
                        BobGivenChoice::Given(given, next) => {
                            let (updated, then) = o.select(given).await?.receive().await?;
                            (s, o) = (next.send(updated).await?, then);
                        }
                        BobGivenChoice::Stop(Stop, end) => return Ok((end, o.select(Stop).await?)),
                    }
                }
            })
            .await;
        Ok(((), passed?))
    })
    .await;
    passed.map_err(Error::wrong)?;
    onward.leave().await.map_err(Error::wrong)?;
    bob.leave().await.map_err(Error::wrong)
}
