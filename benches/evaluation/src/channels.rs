//! A stream and a ping-pong between two roles, beside the usual asynchronous channels.

use std::hint::black_box;

use rumpsteak_runtime::{self as rumpsteak, Ended, join, try_run};
use tokio::runtime::Runtime;

use crate::tasks::{expect, one_thread, two_threads};
use crate::{Case, Error, Figure, Mode, Of, Result, Series, XAxis, YAxis};

pub(crate) const NAME: &str = "channels";

/// The values of the x axis.
pub(crate) const CELLS: [&str; 4] = [
    "stream, one thread",
    "stream, two threads",
    "ping-pong, one thread",
    "ping-pong, two threads",
];

/// The peers: the series of each, in one task and in two.
pub(crate) const PEERS: [(&str, [&str; 2]); 4] = [
    ("tokio", ["tokio, join", "tokio, tasks"]),
    ("flume", ["flume, join", "flume, tasks"]),
    ("async-channel", ["async-channel, join", "async-channel, tasks"]),
    ("kanal", ["kanal, join", "kanal, tasks"]),
];

/// How many messages a stream has, or how many round trips a ping-pong.
const COUNT: u64 = 50_000;

/// The room of the peers' channels: the build script gives the queue of the stream as much.
const ROOM: usize = 16;

/// The figure.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    let peers = PEERS.into_iter().flat_map(|(_, [joined, tasks])| {
        [
            series(joined, Of::Peer, "both ends in one task, by `rumpsteak_runtime::join`"),
            series(tasks, Of::Peer, "a task for each end"),
        ]
    });
    let mut all = vec![
        series("ours, run", Of::Ours, "both roles in one task, by the method `run` of their set"),
        series("ours, tasks", Of::Ours, "a task for each role"),
    ];
    all.extend(peers);
    vec![Figure {
        name: NAME,
        title: "Beside the usual channels",
        about: "What a message of a stream costs, and what a round trip: 50,000 of them in each run, between two roles, and over the bounded channels of `tokio::sync::mpsc`, \
                `flume`, `async-channel` and `kanal`. Each run has fresh roles and channels.",
        x: XAxis { label: "what", log: false, names: &CELLS },
        y: YAxis { label: "time of a message or a round trip (ns)", log: true, scale: 1e9 / COUNT as f64 },
        series: all,
        points: |_| vec![0, 1, 2, 3],
        cases,
        notes: "The peers' channels have room for 16 messages: as much as the build script gives our queue of a stream. A peer's stream and ping-pong end when their \
                sender is dropped, ours with a message. Two threads are two workers of tokio's runtime. If a task wakes another, tokio often runs both on one worker.",
    }]
}

/// The session of the stream.
#[rumpsteak_runtime::protocol(Numbers)]
mod numbers {}

/// The session of the ping-pong.
#[rumpsteak_runtime::protocol(PingPong)]
mod ping_pong {}

/// The sum of the numbers, which the end that receives them must have computed.
fn sum() -> u64 {
    (0..COUNT).sum()
}

async fn give(mut session: numbers::ASession<'_>) -> Ended<'_, numbers::A> {
    for number in 0..black_box(COUNT) {
        session = session.select(numbers::Number(number)).await?;
    }
    session.select(numbers::Stop).await?.end(())
}

async fn take(mut session: numbers::BSession<'_>) -> Ended<'_, numbers::B, u64> {
    use numbers::{BNumberOrStop, Number, Stop};
    let mut sum = 0;
    loop {
        session = match session.branch().await? {
            BNumberOrStop::Number(Number(number), next) => {
                sum += number;
                next
            }
            BNumberOrStop::Stop(Stop, end) => return end.end(sum),
        };
    }
}

async fn ping(mut session: ping_pong::ASession<'_>) -> Ended<'_, ping_pong::A, u64> {
    use ping_pong::{Ping, Pong, Stop};
    let mut sum = 0;
    for number in 0..black_box(COUNT) {
        let (Pong(back), next) = session.select(Ping(number)).await?.receive().await?;
        sum += back;
        session = next;
    }
    session.select(Stop).await?.end(sum)
}

async fn pong(mut session: ping_pong::BSession<'_>) -> Ended<'_, ping_pong::B> {
    use ping_pong::{BPingOrStop, Ping, Pong, Stop};
    loop {
        session = match session.branch().await? {
            BPingOrStop::Ping(Ping(number), next) => next.send(Pong(number)).await?,
            BPingOrStop::Stop(Stop, end) => return end.end(()),
        };
    }
}

/// The four processes over a peer's channel.
macro_rules! peer {
    ($name:ident, $Sender:path, $Receiver:path, $send:ident, $receive:ident, $Some:path) => {
        mod $name {
            use super::*;

            pub(super) async fn give(numbers: $Sender) -> Result<()> {
                for number in 0..black_box(COUNT) {
                    numbers.$send(number).await.map_err(Error::wrong)?;
                }
                Ok(())
            }

            pub(super) async fn take(numbers: $Receiver) -> Result<u64> {
                #[allow(unused_mut, reason = "needed by tokio's")]
                let mut numbers = numbers;
                let mut sum = 0;
                while let $Some(number) = numbers.$receive().await {
                    sum += number;
                }
                Ok(sum)
            }

            pub(super) async fn ping(pings: $Sender, pongs: $Receiver) -> Result<u64> {
                #[allow(unused_mut, reason = "needed by tokio's")]
                let mut pongs = pongs;
                let mut sum = 0;
                for number in 0..black_box(COUNT) {
                    pings.$send(number).await.map_err(Error::wrong)?;
                    let $Some(back) = pongs.$receive().await else {
                        return Err(Error::wrong("nothing came back"));
                    };
                    sum += back;
                }
                Ok(sum)
            }

            pub(super) async fn pong(pings: $Receiver, pongs: $Sender) -> Result<()> {
                #[allow(unused_mut, reason = "needed by tokio's")]
                let mut pings = pings;
                while let $Some(number) = pings.$receive().await {
                    pongs.$send(number).await.map_err(Error::wrong)?;
                }
                Ok(())
            }
        }
    };
}

use tokio::sync::mpsc;
peer!(tokio_, mpsc::Sender<u64>, mpsc::Receiver<u64>, send, recv, Some);
peer!(flume_, flume::Sender<u64>, flume::Receiver<u64>, send_async, recv_async, Ok);
peer!(async_channel_, async_channel::Sender<u64>, async_channel::Receiver<u64>, send, recv, Ok);
peer!(kanal_, kanal::AsyncSender<u64>, kanal::AsyncReceiver<u64>, send, recv, Ok);

/// Two processes in one task.
fn in_one<A, B>(
    runtime: &Runtime,
    a: impl Future<Output = Result<A>>,
    b: impl Future<Output = Result<B>>,
) -> Result<(A, B)> {
    let (a, b) = runtime.block_on(join((a, b)));
    Ok((a?, b?))
}

/// A task for each of two processes.
fn in_two<A: Send + 'static, B: Send + 'static>(
    runtime: &Runtime,
    a: impl Future<Output = Result<A>> + Send + 'static,
    b: impl Future<Output = Result<B>> + Send + 'static,
) -> Result<(A, B)> {
    let tasks = async { tokio::try_join!(tokio::spawn(a), tokio::spawn(b)) };
    let (a, b) = runtime.block_on(tasks).map_err(Error::wrong)?;
    Ok((a?, b?))
}

fn cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let is_stream = x < 2;
    let is_one_thread = x.is_multiple_of(2);
    let case = |series, run: fn(&Runtime, bool) -> Result<u64>| {
        let runtime = if is_one_thread { one_thread() } else { two_threads() }?;
        Ok::<_, Error>(Case::timed(NAME, series, x, mode, move || {
            expect(&run(&runtime, is_stream)?, &sum())
        }))
    };
    let mut cases = vec![case("ours, tasks", our_tasks)?];
    if is_one_thread {
        cases.push(case("ours, run", our_run)?);
    }
    macro_rules! peers {
        ($(($module:ident, $pair:expr))*) => {[$(
            [
                (|runtime, is_stream| peers!(in_one, runtime, is_stream, $module, $pair))
                    as fn(&Runtime, bool) -> Result<u64>,
                |runtime, is_stream| peers!(in_two, runtime, is_stream, $module, $pair),
            ]
        ),*]};
        ($run:ident, $runtime:ident, $is_stream:ident, $module:ident, $pair:expr) => {{
            let (near, there) = $pair;
            if $is_stream {
                return Ok($run($runtime, $module::give(near), $module::take(there))?.1);
            }
            let (far, back) = $pair;
            Ok($run($runtime, $module::ping(near, back), $module::pong(there, far))?.0)
        }};
    }
    let peers = peers! {
        (tokio_, mpsc::channel(ROOM))
        (flume_, flume::bounded(ROOM))
        (async_channel_, async_channel::bounded(ROOM))
        (kanal_, kanal::bounded_async(ROOM))
    };
    for ((_, [joined, tasks]), [in_one, in_two]) in PEERS.into_iter().zip(peers) {
        cases.push(case(tasks, in_two)?);
        if is_one_thread {
            cases.push(case(joined, in_one)?);
        }
    }
    Ok(cases)
}

fn our_run(runtime: &Runtime, is_stream: bool) -> Result<u64> {
    let came: rumpsteak::Result<u64> = runtime.block_on(async {
        if is_stream {
            Ok(numbers::Roles::default().run(give, take).await?.1)
        } else {
            Ok(ping_pong::Roles::default().run(ping, pong).await?.0)
        }
    });
    came.map_err(Error::wrong)
}

fn our_tasks(runtime: &Runtime, is_stream: bool) -> Result<u64> {
    if is_stream {
        let numbers::Roles { mut a, mut b } = Default::default();
        let given = async move { try_run(&mut a, give).await.map_err(Error::wrong) };
        let taken = async move { try_run(&mut b, take).await.map_err(Error::wrong) };
        return Ok(in_two(runtime, given, taken)?.1);
    }
    let ping_pong::Roles { mut a, mut b } = Default::default();
    let pinged = async move { try_run(&mut a, ping).await.map_err(Error::wrong) };
    let ponged = async move { try_run(&mut b, pong).await.map_err(Error::wrong) };
    Ok(in_two(runtime, pinged, ponged)?.0)
}
