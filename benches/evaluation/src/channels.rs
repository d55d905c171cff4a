//! A stream and a ping-pong between two roles, beside the usual asynchronous channels.

use std::hint::black_box;

use rumpsteak_runtime::{self as rumpsteak, Ended, join, try_run};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

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

/// Our series: in one task, and in two.
pub(crate) const OURS: [&str; 2] = ["ours, run", "ours, tasks"];

/// The peers, and the series of each: in one task, and in two.
pub(crate) const PEERS: [(&str, [&str; 2]); 4] = [
    ("tokio", ["tokio, join", "tokio, tasks"]),
    ("flume", ["flume, join", "flume, tasks"]),
    ("async-channel", ["async-channel, join", "async-channel, tasks"]),
    ("kanal", ["kanal, join", "kanal, tasks"]),
];

/// The messages of a stream, or the round trips of a ping-pong.
const COUNT: u64 = 50_000;

/// The capacity of the peers' channels. The build script gives our queue of the stream the same.
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
    let [joined, tasks] = OURS;
    let mut all = vec![
        series(joined, Of::Ours, "both roles in one task, by the method `run` of their set"),
        series(tasks, Of::Ours, "a task for each role"),
    ];
    all.extend(peers);
    vec![Figure {
        name: NAME,
        title: "Beside the usual channels",
        about: "The cost of a message of a stream, and of a round trip. Each run has 50,000 of them, between two fresh roles or over fresh bounded channels of \
                `tokio::sync::mpsc`, `flume`, `async-channel` or `kanal`.",
        x: XAxis { label: "what", log: false, names: &CELLS },
        y: YAxis {
            label: "time of a message or a round trip (ns)",
            log: true,
            scale: 1e9 / COUNT as f64,
        },
        series: all,
        points: |_| vec![0, 1, 2, 3],
        cases,
        notes: "The peers' channels have room for 16 messages, as our queue of the stream has by the build script. Our sessions end with a message, the peers' when a sender \
                is dropped. Two threads are two workers of tokio's runtime; it often runs a task that was woken on the worker of the task that woke it.",
    }]
}

/// The session of the stream.
#[rumpsteak_runtime::protocol(Numbers)]
mod numbers {}

/// The session of the ping-pong.
#[rumpsteak_runtime::protocol(PingPong)]
mod ping_pong {}

/// The sum of the numbers, which the receiving end must have computed.
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
    use numbers::{BNumberChoice, Number, Stop};
    let mut sum = 0;
    loop {
        session = match session.branch().await? {
            BNumberChoice::Number(Number(number), next) => {
                sum += number;
                next
            }
            BNumberChoice::Stop(Stop, end) => return end.end(sum),
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
    use ping_pong::{BPingChoice, Ping, Pong, Stop};
    loop {
        session = match session.branch().await? {
            BPingChoice::Ping(Ping(number), next) => next.send(Pong(number)).await?,
            BPingChoice::Stop(Stop, end) => return end.end(()),
        };
    }
}

/// A workload, and what runs it.
#[derive(Clone, Copy)]
struct Run<'r> {
    runtime: &'r Runtime,
    /// True for the stream, false for the ping-pong.
    is_stream: bool,
    /// True if both ends are in one task, false if each has a task of its own.
    is_joined: bool,
}

impl Run<'_> {
    /// Runs both ends, and returns their values.
    fn both<A: Send + 'static, B: Send + 'static>(
        self,
        a: impl Future<Output = Result<A>> + Send + 'static,
        b: impl Future<Output = Result<B>> + Send + 'static,
    ) -> Result<(A, B)> {
        let (a, b) = if self.is_joined {
            self.runtime.block_on(join((a, b)))
        } else {
            let tasks = async { tokio::try_join!(tokio::spawn(a), tokio::spawn(b)) };
            self.runtime.block_on(tasks).map_err(Error::wrong)?
        };
        Ok((a?, b?))
    }
}

/// Runs our sessions, and returns the sum.
fn ours(run: Run<'_>) -> Result<u64> {
    let joined: rumpsteak::Result<u64> = match (run.is_joined, run.is_stream) {
        (true, true) => run.runtime.block_on(async {
            let ((), sum) = numbers::Roles::default().run(give, take).await?;
            Ok(sum)
        }),
        (true, false) => run.runtime.block_on(async {
            let (sum, ()) = ping_pong::Roles::default().run(ping, pong).await?;
            Ok(sum)
        }),
        (false, true) => {
            let numbers::Roles { mut a, mut b } = Default::default();
            let given = async move { try_run(&mut a, give).await.map_err(Error::wrong) };
            let taken = async move { try_run(&mut b, take).await.map_err(Error::wrong) };
            return Ok(run.both(given, taken)?.1);
        }
        (false, false) => {
            let ping_pong::Roles { mut a, mut b } = Default::default();
            let pinged = async move { try_run(&mut a, ping).await.map_err(Error::wrong) };
            let ponged = async move { try_run(&mut b, pong).await.map_err(Error::wrong) };
            return Ok(run.both(pinged, ponged)?.0);
        }
    };
    joined.map_err(Error::wrong)
}

/// A function that does the same over a peer's channel.
macro_rules! peer {
    ($peer:ident, $channel:path, $Sender:path, $Receiver:path, $send:ident, $receive:ident, $Some:path) => {
        fn $peer(run: Run<'_>) -> Result<u64> {
            async fn give(numbers: $Sender) -> Result<()> {
                for number in 0..black_box(COUNT) {
                    numbers.$send(number).await.map_err(Error::wrong)?;
                }
                Ok(())
            }

            #[allow(unused_mut, reason = "one of the peers receives by `&mut`")]
            async fn take(mut numbers: $Receiver) -> Result<u64> {
                let mut sum = 0;
                while let $Some(number) = numbers.$receive().await {
                    sum += number;
                }
                Ok(sum)
            }

            #[allow(unused_mut, reason = "as above")]
            async fn ping(pings: $Sender, mut pongs: $Receiver) -> Result<u64> {
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

            #[allow(unused_mut, reason = "as above")]
            async fn pong(mut pings: $Receiver, pongs: $Sender) -> Result<()> {
                while let $Some(number) = pings.$receive().await {
                    pongs.$send(number).await.map_err(Error::wrong)?;
                }
                Ok(())
            }

            let (near, there) = $channel(ROOM);
            if run.is_stream {
                return Ok(run.both(give(near), take(there))?.1);
            }
            let (far, back) = $channel(ROOM);
            Ok(run.both(ping(near, back), pong(there, far))?.0)
        }
    };
}

peer!(tokio, mpsc::channel, mpsc::Sender<u64>, mpsc::Receiver<u64>, send, recv, Some);
peer!(flume, flume::bounded, flume::Sender<u64>, flume::Receiver<u64>, send_async, recv_async, Ok);
peer!(
    async_channel,
    async_channel::bounded,
    async_channel::Sender<u64>,
    async_channel::Receiver<u64>,
    send,
    recv,
    Ok
);
peer!(
    kanal,
    kanal::bounded_async,
    kanal::AsyncSender<u64>,
    kanal::AsyncReceiver<u64>,
    send,
    recv,
    Ok
);

fn cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let (is_stream, is_one_thread) = (x < 2, x.is_multiple_of(2));
    let runs: [fn(Run<'_>) -> Result<u64>; 5] = [ours, tokio, flume, async_channel, kanal];
    let series = [OURS].into_iter().chain(PEERS.map(|(_, series)| series));
    let mut cases = Vec::new();
    for (series, run) in series.zip(runs) {
        for (series, is_joined) in series.into_iter().zip([true, false]) {
            if is_joined && !is_one_thread {
                continue;
            }
            let runtime = if is_one_thread { one_thread() } else { two_threads() }?;
            cases.push(Case::timed(NAME, series, x, mode, move || {
                expect(&run(Run { runtime: &runtime, is_stream, is_joined })?, &sum())
            }));
        }
    }
    Ok(cases)
}
