//! SJ framework, Fig. 14: sessions over transports, and delegated sessions.

use std::time::Instant;

use futures::{SinkExt as _, StreamExt as _};
use rumpsteak_net::{Codec as _, Host, Joined, Postcard};
use rumpsteak_runtime::{self as rumpsteak, Detached, try_run};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio_util::bytes::Bytes;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use crate::applications::work;
use crate::processes::Processes;
use crate::tasks::{expect, one_thread_of_sockets};
use crate::{Case, Error, Figure, Mode, Of, Result, Sample, Series, Unit, XAxis, YAxis};

const OBJECTS: &str = "sj-fig14-objects";
const LENGTH: &str = "sj-fig14-length";
const DELEGATION: &str = "sj-fig14-delegation";

/// The number of exchanges in a session, unless it is the x axis.
const EXCHANGES: u64 = 100;

/// The number of objects in an exchange, unless it is the x axis.
const FEW: u64 = 10;

/// The number of exchanges in a delegated session.
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

/// All three.
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
            name: OBJECTS,
            title: "Sessions over transports: objects",
            about: "SJ framework, Fig. 14 a to c: a session of 100 exchanges, each of so many numbers there and back, after it was joined. A task for each role, one \
                    thread.",
            x: XAxis { label: "objects", log: false, names: &[] },
            y,
            series: over(),
            points: |_| vec![0, 10, 100, 1_000],
            cases: |x, mode| exchanges(OBJECTS, x, mode, EXCHANGES, x),
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
            cases: |x, mode| exchanges(LENGTH, x, mode, x, FEW),
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

/// Sends so many objects so many times, and returns how many came back.
async fn give(role: &mut Alice, exchanges: u64, objects: u64) -> rumpsteak::Result<u64> {
    try_run(role, async |mut session: AliceSession<'_>| {
        let mut came = 0;
        for _ in 0..exchanges {
            let given = Given(vec![7; objects as usize]);
            let (Updated(updated), next) = session.select(given).await?.receive().await?;
            came += updated.len() as u64;
            session = next;
        }
        Ok((came, session.select(Stop).await?))
    })
    .await
}

/// Updates the received objects, in any session of Bob.
macro_rules! update {
    ($session:ident) => {
        loop {
            match $session.branch().await? {
                BobGivenOrStop::Given(Given(objects), next) => {
                    $session = next.send(Updated(updated(objects))).await?;
                }
                BobGivenOrStop::Stop(Stop, end) => return Ok(((), end)),
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

fn updated(mut objects: Vec<u64>) -> Vec<u64> {
    for object in &mut objects {
        *object += 1;
    }
    objects
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
    objects: u64,
) -> Result<Vec<Case>> {
    let here = Host::new();
    let memory = format!("memory://{figure}-{x}");
    let session = |series, near: Host, far: Host, at: Option<&str>| {
        let runtime = one_thread_of_sockets()?;
        let (mut alice, mut bob) = runtime.block_on(joined(&near, &far, at))?;
        Ok::<_, Error>(Case::timed(figure, series, x, mode, move || {
            let (alice, bob) = (&mut alice.role, &mut bob.role);
            let ran = async { tokio::try_join!(give(alice, exchanges, objects), update(bob)) };
            let (came, ()) = runtime.block_on(ran).map_err(Error::wrong)?;
            expect(&came, &(exchanges * objects))
        }))
    };
    Ok(vec![
        session("moved", here.clone(), here, None)?,
        session("copied", Host::new(), Host::new(), Some(&memory))?,
        session("TCP", Host::new(), Host::new(), Some("tcp://127.0.0.1:0"))?,
        bare(figure, x, mode, exchanges, objects)?,
    ])
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

async fn give_bare(socket: &mut Socket, exchanges: u64, objects: u64) -> Result<u64> {
    let mut came = 0;
    for _ in 0..exchanges {
        say(socket, &Label::Given(Given(vec![7; objects as usize]))).await?;
        if let Label::Updated(Updated(updated)) = hear(socket).await? {
            came += updated.len() as u64;
        }
    }
    say(socket, &Label::Stop(Stop)).await?;
    Ok(came)
}

async fn update_bare(socket: &mut Socket) -> Result<()> {
    while let Label::Given(Given(objects)) = hear(socket).await? {
        say(socket, &Label::Updated(Updated(updated(objects)))).await?;
    }
    Ok(())
}

fn bare(figure: &'static str, x: u64, mode: Mode, exchanges: u64, objects: u64) -> Result<Case> {
    let runtime = one_thread_of_sockets()?;
    let (mut near, mut far) = runtime.block_on(sockets()).map_err(Error::wrong)?;
    Ok(Case::timed(figure, "bare TCP", x, mode, move || {
        let (near, far) = (&mut near, &mut far);
        let ran = async { tokio::try_join!(give_bare(near, exchanges, objects), update_bare(far)) };
        expect(&runtime.block_on(ran)?.0, &(exchanges * objects))
    }))
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
    let begun = Instant::now();
    let came = give(&mut alice.role, BULK, objects).await.map_err(Error::wrong)?;
    let taken = begun.elapsed();
    expect(&came, &(BULK * objects))?;
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
                        BobGivenOrStop::Given(given, next) => {
                            let (updated, then) = o.select(given).await?.receive().await?;
                            (s, o) = (next.send(updated).await?, then);
                        }
                        BobGivenOrStop::Stop(Stop, end) => return Ok((end, o.select(Stop).await?)),
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
