//! Many strangers and many sessions: how much memory they take, and how much is left of them.
//!
//! Sessions are opened and closed for two seconds, or for as many as `RUMPSTEAK_SOAK` says.

#![allow(clippy::unwrap_used, reason = "helpers of a test: a panic is a failure")]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use rumpsteak::{Result, try_run};
use rumpsteak_net::{Host, Limits, NetError, transport::Transports};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use ping::{C, CSession, Ping, Pong, S, SSession};

#[rumpsteak::protocol(
    Ping,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod ping {}

async fn client(role: &mut C) -> Result<i32> {
    try_run(role, async |s: CSession<'_>| {
        let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}

async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |s: SSession<'_>| {
        let (Ping(number), s) = s.receive().await?;
        Ok(((), s.send(Pong(number + 1)).await?))
    })
    .await
}

/// Tests that measure the memory of the process run one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// How many bytes of memory the process has.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn sessions_that_are_over_leave_nothing() {
    let _alone = ALONE.lock();
    let seconds = std::env::var("RUMPSTEAK_SOAK").map_or(2, |text| text.parse().unwrap());
    let mut sessions = 0_u64;
    // All of it happens on this thread.
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let (near, far) = (Host::new(), Host::new());
    let mut services = far.serve::<S>();
    let mut run = |until: Instant| {
        runtime.block_on(async {
            while Instant::now() < until {
                let name = format!("a session whose name is {sessions}");
                sessions += 1;
                let c = near.join::<C>(name).peer("s", ["memory://over"]).connect();
                let s = async { services.next().await.unwrap().connect().await };
                let (c, s) = tokio::join!(c, s);
                let (c, s) = (c.unwrap(), s.unwrap());
                let (answer, served) = tokio::join!(c.play(client), s.play(server));
                assert_eq!(answer.unwrap(), 2);
                served.unwrap();
            }
        });
    };
    runtime.block_on(far.listen("memory://over")).unwrap();
    run(Instant::now() + Duration::from_millis(200));
    let left = measure(|| run(Instant::now() + Duration::from_secs(seconds)));
    println!("{sessions} sessions left {} bytes of {}", left.bytes_current, left.bytes_total);
    assert!(left.bytes_current < 100_000, "{sessions} sessions: {left:?}");
}

#[test]
fn names_of_strangers_are_forgotten() {
    let _alone = ALONE.lock();
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let far = Host::with(Transports::default(), Limits::default().join(Duration::from_secs(2)));
    let mut services = far.serve::<S>();
    runtime.block_on(far.listen("memory://strangers")).unwrap();
    let mut asked = 0_u64;
    let mut ask = |many: u64| {
        runtime.block_on(async {
            let mut calls = JoinSet::new();
            for _ in 0..many {
                let near = Host::with(
                    Transports::default(),
                    Limits::default().join(Duration::from_secs(1)),
                );
                let name = format!("{asked:0256}");
                asked += 1;
                let call = near.join::<C>(name).peer("s", ["memory://strangers"]).connect();
                calls.spawn(async { assert!(matches!(call.await, Err(NetError::Absent { .. }))) });
            }
            calls.join_all().await;
            // The service is told of each, and plays none.
            for _ in 0..many {
                drop(services.next().await.unwrap());
            }
            tokio::time::sleep(Duration::from_secs(60)).await;
        });
    };
    ask(100);
    // No more at a time than may be in their handshake.
    let left = measure(|| (0..4).for_each(|_| ask(500)));
    let forgotten = measure(|| ask(1));
    let all = left.bytes_current + forgotten.bytes_current;
    println!("2000 strangers left {} bytes, and {all} when one more had asked", left.bytes_current);
    assert!(all < 50_000, "{left:?}, {forgotten:?}");
}

#[test]
fn what_comes_before_a_greeting_takes_little_memory() {
    let _alone = ALONE.lock();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let host = Host::new();
        let at = host.listen("tcp://127.0.0.1:0").await.unwrap();
        let before = resident();
        let mut strangers = Vec::new();
        for number in 0..200 {
            let mut stranger = TcpStream::connect(at.place()).await.unwrap();
            // As large as may be, and not to its end; or larger.
            let length = if number % 2 == 0 { 65_536_u32 } else { 16 << 20 };
            let mut frame = length.to_be_bytes().to_vec();
            frame.resize(65_000, 7);
            for _ in 0..4 {
                let written = stranger.write_all(&frame).await;
                if written.is_err() || length == 65_536 {
                    break;
                }
            }
            strangers.push(stranger);
        }
        let taken = resident().saturating_sub(before);
        println!("200 connections take {taken} bytes");
        assert!(taken < 40_000_000, "{taken}");
        let began = Instant::now();
        for stranger in &mut strangers {
            let _ = stranger.read(&mut [0]).await;
        }
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    });
}

#[rumpsteak::protocol(
    Upload,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod upload {}

#[test]
fn a_slow_reader_costs_a_window_at_each_end() {
    use upload::{Chunk, Finish, P, PSession, Q, QChunkChoice, QSession, Total};

    const CHUNKS: u64 = 300;
    let _alone = ALONE.lock();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let (near, far) = (Host::new(), Host::new());
        let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
        let p = near.join::<P>("1").peer("q", [at]).connect();
        let (p, q) = tokio::try_join!(p, far.join::<Q>("1").connect()).unwrap();
        let before = resident();
        let gives = tokio::spawn(p.play(async |p| {
            try_run(p, async |mut session: PSession<'_>| {
                for _ in 0..CHUNKS {
                    session = session.select(Chunk("x".repeat(1 << 20))).await?;
                }
                let (Total(total), end) = session.select(Finish).await?.receive().await?;
                Ok::<_, rumpsteak::Error>((total, end))
            })
            .await
        }));
        let taken = q.play(async |q| {
            try_run(q, async |mut session: QSession<'_>| {
                let (mut total, mut most) = (0, 0);
                loop {
                    match session.branch().await? {
                        QChunkChoice::Chunk(Chunk(text), next) => {
                            total += text.len() as u64;
                            most = resident().max(most);
                            tokio::time::sleep(Duration::from_millis(2)).await;
                            session = next;
                        }
                        QChunkChoice::Finish(_, next) => {
                            return Ok((most, next.send(Total(total)).await?));
                        }
                    }
                }
            })
            .await
        });
        let most: Result<u64> = taken.await;
        assert_eq!(gives.await.unwrap().unwrap(), CHUNKS << 20);
        let taken = most.unwrap().saturating_sub(before);
        println!("both ends of {CHUNKS} MiB to a slow reader take {taken} bytes");
        assert!(taken < 64 << 20, "{taken}");
    });
}
