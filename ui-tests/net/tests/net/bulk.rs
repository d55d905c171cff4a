//! Large messages: what the ends of a session keep, and that no role waits for room for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use futures::{SinkExt as _, StreamExt as _};
use rumpsteak::{Result, try_run};
use rumpsteak_net::transport::{Connection, Memory, Transport as _, Transports};
use rumpsteak_net::{Host, Limits};
use rumpsteak_oracle::seeds;
use tokio::time::{sleep, timeout};

use crate::handshake::{Greeting, Greetings, Listening};
use crate::meddling::Meddling;
use crate::reconnect::breaking;

#[rumpsteak::protocol(
    Exchange,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod exchange {
    /// Sends first what the protocol sends last.
    #[session(B)]
    #[rustfmt::skip]
    type Early = Send<A, Right, Send<A, Right, Send<A, Right, Send<A, Right,
        Receive<A, Left, Receive<A, Left, Receive<A, Left, Receive<A, Left, End>>>>>>>>;
}

#[rumpsteak::protocol(
    Exchange,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod in_order {}

#[rumpsteak::protocol(
    Upload,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod upload {}

#[rumpsteak::protocol(
    Rpc,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod rpc {}

/// A process that sends four texts and then receives four.
macro_rules! exchange {
    ($name:ident, $module:ident::$Role:ident, $Session:ident, $Sent:ident, $Received:ident) => {
        async fn $name(role: &mut $module::$Role, size: usize) -> Result<usize> {
            use $module::{$Received, $Sent};
            try_run(role, async |s: $module::$Session<'_>| {
                let text = || $Sent("x".repeat(size));
                let s = s.send(text()).await?.send(text()).await?;
                let s = s.send(text()).await?.send(text()).await?;
                let ($Received(one), s) = s.receive().await?;
                let ($Received(two), s) = s.receive().await?;
                let ($Received(three), s) = s.receive().await?;
                let ($Received(four), end) = s.receive().await?;
                Ok((one.len() + two.len() + three.len() + four.len(), end))
            })
            .await
        }
    };
}

exchange!(plain, exchange::A, ASession, Left, Right);
exchange!(early, exchange::B, Early, Right, Left);
exchange!(first, in_order::A, ASession, Left, Right);

/// Receives four texts and then sends four, in the order of the protocol.
async fn last(role: &mut in_order::B, size: usize) -> Result<()> {
    use in_order::{BSession, Left, Right};
    try_run(role, async |s: BSession<'_>| {
        let (Left(_), s) = s.receive().await?.1.receive().await?;
        let (Left(_), s) = s.receive().await?.1.receive().await?;
        let text = || Right("x".repeat(size));
        let s = s.send(text()).await?.send(text()).await?;
        sleep(Duration::from_millis(5)).await;
        Ok(((), s.send(text()).await?.send(text()).await?))
    })
    .await
}

/// The role ends its session and leaves while large messages of it have no connection.
#[test]
fn large_messages_at_the_end_arrive_over_the_next_connection() {
    let broken = Arc::new(AtomicU64::new(0));
    for seed in seeds(60) {
        let runtime = crate::paused();
        let transports = Transports::default().with("cut", breaking(seed, 1..12, &broken));
        let received = runtime.block_on(async {
            let hosts = [(); 2].map(|()| Host::with(transports.clone(), Limits::default()));
            let at = format!("cut://{seed}-end");
            hosts[1].listen(&at).await.unwrap();
            let b = hosts[0].join::<in_order::B>("1").peer("a", [&at]).connect();
            let a = hosts[1].join::<in_order::A>("1").connect();
            let (mut a, mut b) = tokio::try_join!(a, b).unwrap();
            let first = async {
                let received = first(&mut a.role, 100_000).await;
                a.leave().await.unwrap();
                received
            };
            let last = async {
                last(&mut b.role, 100_000).await.unwrap();
                b.leave().await.unwrap();
            };
            timeout(Duration::from_secs(3_000), async { tokio::join!(first, last).0 }).await
        });
        assert_eq!(received.unwrap().unwrap(), 400_000, "seed {seed}");
    }
    assert!(broken.load(Ordering::Relaxed) > 30);
}

#[tokio::test]
async fn what_the_proof_needs_has_room_in_any_window() {
    const SIZE: usize = 2 << 20;
    for window in [Limits::default(), Limits::default().window(1), Limits::default().window(0)] {
        let [near, far] = [(); 2].map(|()| Host::with(Transports::default(), window));
        let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
        let a = near.join::<exchange::A>("1").peer("b", [at]).connect();
        let (mut a, mut b) = tokio::try_join!(a, far.join::<exchange::B>("1").connect()).unwrap();
        for _ in 0..3 {
            let both =
                async { tokio::try_join!(plain(&mut a.role, SIZE), early(&mut b.role, SIZE)) };
            let got = timeout(Duration::from_secs(60), both).await.unwrap().unwrap();
            assert_eq!(got, (4 * SIZE, 4 * SIZE));
        }
        tokio::try_join!(a.leave(), b.leave()).unwrap();
    }
}

/// Sends chunks of these sizes.
async fn give(role: &mut upload::P, sizes: impl Iterator<Item = usize>) -> Result<u64> {
    use upload::{Chunk, Finish, PSession, Total};
    try_run(role, async |mut session: PSession<'_>| {
        for (number, size) in sizes.enumerate() {
            let text = format!("{number} {}", "x".repeat(size));
            session = session.select(Chunk(text)).await?;
        }
        let (Total(total), end) = session.select(Finish).await?.receive().await?;
        Ok((total, end))
    })
    .await
}

/// Counts the chunks, which have to come in order.
async fn take(role: &mut upload::Q, mut pause: impl FnMut() -> Duration) -> Result<u64> {
    use upload::{Chunk, QChunkChoice, QSession, Total};
    try_run(role, async |mut session: QSession<'_>| {
        let mut count = 0;
        loop {
            match session.branch().await? {
                QChunkChoice::Chunk(Chunk(text), next) => {
                    assert_eq!(text.split_once(' ').unwrap().0, count.to_string());
                    count += 1;
                    sleep(pause()).await;
                    session = next;
                }
                QChunkChoice::Finish(_, next) => {
                    return Ok((count, next.send(Total(count)).await?));
                }
            }
        }
    })
    .await
}

#[test]
fn chunks_arrive_once_and_in_order_whatever_the_windows_are() {
    let broken = Arc::new(AtomicU64::new(0));
    for seed in seeds(60) {
        let runtime = crate::paused();
        let mut rng = Rng::with_seed(seed);
        let transports = Transports::default().with("cut", breaking(seed, 5..60, &broken));
        let limits = [(); 2].map(|()| {
            let window = *rng.choice(&[1, 100, 5_000, 100_000, 4 << 20]).unwrap();
            Limits::default().window(window).unproven_window(window)
        });
        let largest = *rng.choice(&[10, 2_000, 50_000]).unwrap();
        let sizes: Vec<usize> = (0..200).map(|_| rng.usize(..largest)).collect();
        let slow = rng.bool();
        let ran = runtime.block_on(async {
            let hosts = limits.map(|limits| Host::with(transports.clone(), limits));
            let at = format!("cut://{seed}-bulk");
            hosts[1].listen(&at).await.unwrap();
            let p = hosts[0].join::<upload::P>("1").peer("q", [&at]).connect();
            let q = hosts[1].join::<upload::Q>("1").connect();
            let (mut p, mut q) = tokio::try_join!(p, q).unwrap();
            let pause = || Duration::from_millis(if slow { rng.u64(..5) } else { 0 });
            let both = async {
                tokio::try_join!(give(&mut p.role, sizes.into_iter()), take(&mut q.role, pause))
            };
            let counts = timeout(Duration::from_secs(3_000), both).await.map(Result::unwrap);
            tokio::try_join!(p.leave(), q.leave()).unwrap();
            counts
        });
        assert_eq!(ran.ok(), Some((200, 200)), "seed {seed}: {limits:?}");
    }
    println!("{broken:?} connections broke");
    assert!(broken.load(Ordering::Relaxed) > 0);
}

/// The role and the task of its lane run at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_and_small_chunks_in_turns_arrive() {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let p = near.join::<upload::P>("1").peer("q", [at]).connect();
    let (mut p, mut q) = tokio::try_join!(p, far.join::<upload::Q>("1").connect()).unwrap();
    for _ in 0..50 {
        let gives = tokio::spawn(async move {
            let sizes = (0..100).map(|number| if number % 7 < 4 { 20_000 } else { number });
            (give(&mut p.role, sizes).await.unwrap(), p)
        });
        let takes =
            tokio::spawn(async move { (take(&mut q.role, || Duration::ZERO).await.unwrap(), q) });
        let both = async { tokio::try_join!(gives, takes) };
        let ends = timeout(Duration::from_secs(60), both).await.unwrap().unwrap();
        assert_eq!((ends.0.0, ends.1.0), (100, 100));
        (p, q) = (ends.0.1, ends.1.1);
    }
    tokio::try_join!(p.leave(), q.leave()).unwrap();
}

/// A stranger that greets a role as its peer did, with the limits of the host.
async fn stranger(at: &str, greeting: &Greeting, session: &str) -> Connection {
    let mut stranger = Memory.connect(at, 16 << 20).await.unwrap();
    let greeting = Greeting { session: session.to_owned(), ..greeting.clone() };
    stranger.send(greeting.frame()).await.unwrap();
    stranger.next().await.unwrap().unwrap();
    stranger
}

/// A frame with the message of this label, which has a text of this size.
fn message(label: u8, size: usize) -> Bytes {
    let text = postcard::to_stdvec(&(label, "x".repeat(size))).unwrap();
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    [&[0, 1, 0, 0, 0][..], &length, &text].concat().into()
}

/// A grant of endless credit that acknowledges nothing.
fn endless() -> Bytes {
    let numbers = [0, 1 << 40, 0, 0, 0, u64::MAX, u64::MAX];
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    [2].into_iter().chain(bytes).collect()
}

/// Answers each request with its text, and counts the answers.
async fn serve(server: &mut rpc::Server, answered: &AtomicU64) -> Result<()> {
    use rpc::{Request, Response, ServerRequestChoice, ServerSession};
    try_run(server, async |mut session: ServerSession<'_>| {
        loop {
            match session.branch().await? {
                ServerRequestChoice::Request(Request(text), next) => {
                    session = next.send(Response(text)).await?;
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                ServerRequestChoice::Stop(_, end) => return Ok(((), end)),
            }
        }
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_acknowledges_nothing_costs_a_window() {
    const SIZE: usize = 64 << 10;
    let heard = Greetings::default();
    let noted = Arc::clone(&heard);
    let hands = move || Listening { heard: Arc::clone(&noted), sent: 0, most: u32::MAX };
    let (near, far) = (
        Host::with(Transports::default().with("noted", Meddling(hands)), Limits::default()),
        Host::new(),
    );
    far.listen("memory://mute").await.unwrap();
    let mut sessions = far.serve::<rpc::Server>();
    let answered = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&answered);
    tokio::spawn(async move {
        while let Some(join) = sessions.next().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let played = join.connect().await.unwrap();
                played.play(async move |server| serve(server, &count).await).await
            });
        }
    });
    let client = near.join::<rpc::Client>("1").peer("server", ["noted://mute"]).connect();
    drop(client.await.unwrap());
    let greeting = heard.lock().unwrap()[0].clone();
    let (mut writes, mut reads) = stranger("mute", &greeting, "2").await.split();
    writes.send(endless()).await.unwrap();
    // It reads, so that the connection has room, and says nothing more than its requests.
    let reads = tokio::spawn(async move { while let Some(Ok(_)) = reads.next().await {} });
    let requests = async {
        for _ in 0..1_000 {
            writes.send(message(0, SIZE)).await?;
            sleep(Duration::from_millis(1)).await;
        }
        Ok::<_, std::io::Error>(())
    };
    let _ = requests.await;
    let answered = answered.load(Ordering::Relaxed);
    // Its window, and the one message that exceeds it.
    assert_eq!(answered, (4 << 20) / SIZE as u64);
    reads.abort();

    // The other way: the service has a window, too.
    let p = near.join::<upload::P>("4").peer("q", ["noted://mute"]).connect();
    drop(tokio::try_join!(p, far.join::<upload::Q>("4").connect()).unwrap());
    let greeting = heard.lock().unwrap().last().cloned().unwrap();
    let q = tokio::spawn(far.join::<upload::Q>("5").connect());
    sleep(Duration::from_millis(1)).await;
    let mut overdraws = stranger("mute", &greeting, "5").await;
    overdraws.send(endless()).await.unwrap();
    let mut frames = 0;
    while frames < 40 && overdraws.send(message(0, 1 << 20)).await.is_ok() {
        frames += 1;
    }
    // Sixteen messages have room, because the queue waits.
    assert!((16..20).contains(&frames), "{frames}");
    let error = q.await.unwrap().unwrap().leave().await.unwrap_err();
    assert_eq!(error.to_string(), "`p` sent more bytes than its window has");
}
