//! Transports that hold few frames at a time, and roles that do not read.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::channel::mpsc;
use futures::{Sink, Stream, StreamExt as _};
use rumpsteak::{Result, try_run};
use rumpsteak_net::transport::{
    Connection, IoFuture, Listener, Listens, Opening, Transport, Transports,
};
use rumpsteak_net::{Codec, CodecError, Host, Limits, Postcard};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use numbers::{Number, P, PSession, Q, QNumberChoice, QSession, Stop, Sum};

/// Roles whose routes are between hosts.
#[rumpsteak::protocol(
    Swap,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub(crate) mod net {
    /// Sends first what the protocol sends last.
    #[session(B)]
    type Early = Send<
        A,
        Right,
        Send<A, Right, Send<A, Right, Receive<A, Left, Receive<A, Left, Receive<A, Left, End>>>>>,
    >;
}

/// The same roles over the bare queues of a transport that holds one frame. Their declaration is
/// not true, because with the true one the build refuses the sessions.
#[rumpsteak::protocol(Swap)]
mod bare {
    use futures::channel::mpsc::{Receiver, Sender};
    use rumpsteak::transport::Bidirectional;

    pub(crate) type Bare = Bidirectional<Sender<Label>, Receiver<Label>>;

    #[derive(Role)]
    #[message(Label)]
    struct A(#[route(B, unbounded)] Bare);

    #[derive(Role)]
    #[message(Label)]
    struct B(#[route(A, unbounded)] Bare);

    #[session(B)]
    type Early = Send<
        A,
        Right,
        Send<A, Right, Send<A, Right, Receive<A, Left, Receive<A, Left, Receive<A, Left, End>>>>>,
    >;
}

/// A program that was built apart: its sessions are in the order of the protocol.
#[rumpsteak::protocol(
    Swap,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod in_order {}

/// A process that sends three messages and then receives three.
macro_rules! process {
    ($name:ident, $module:ident, $Role:ident, $Session:ident, $Sent:ident, $Received:ident) => {
        pub(crate) async fn $name(role: &mut $module::$Role) -> Result<[u64; 3]> {
            use $module::{$Received, $Sent, $Session};
            try_run(role, async |s: $Session<'_>| {
                let s = s.send($Sent(1)).await?.send($Sent(2)).await?.send($Sent(3)).await?;
                let ($Received(one), s) = s.receive().await?;
                let ($Received(two), s) = s.receive().await?;
                let ($Received(three), end) = s.receive().await?;
                Ok(([one, two, three], end))
            })
            .await
        }
    };
}

process!(plain, net, A, ASession, Left, Right);
process!(early, net, B, Early, Right, Left);
process!(plain_in_order, in_order, A, ASession, Left, Right);
process!(bare_plain, bare, A, ASession, Left, Right);
process!(bare_early, bare, B, Early, Right, Left);

/// A transport that holds some frames at a time in each direction, and leads to one place.
struct Narrow {
    frames: usize,
    calls: mpsc::UnboundedSender<Connection>,
    called: Mutex<Option<mpsc::UnboundedReceiver<Connection>>>,
}

/// One end of a connection that holds some frames at a time.
struct End(mpsc::Sender<Bytes>, mpsc::Receiver<Bytes>);

/// A queue with room for one: as much as its only sender has by itself.
fn one<T>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
    mpsc::channel(0)
}

impl Narrow {
    fn new(frames: usize) -> Self {
        let (calls, called) = mpsc::unbounded();
        Self { frames, calls, called: Mutex::new(Some(called)) }
    }
}

impl Transport for Narrow {
    fn connect<'a>(&'a self, _: &'a str, _: usize) -> IoFuture<'a, Connection> {
        let queue = || mpsc::channel(self.frames - 1);
        let ((near_tx, far_rx), (far_tx, near_rx)) = (queue(), queue());
        let called = self.calls.unbounded_send(Connection::new(End(far_tx, far_rx)));
        let near = called.map(|()| Connection::new(End(near_tx, near_rx)));
        Box::pin(async { near.map_err(|_| io::ErrorKind::ConnectionRefused.into()) })
    }

    fn listen<'a>(&'a self, _: &'a str, _: usize) -> IoFuture<'a, Listens> {
        let called = self.called.lock().unwrap().take().unwrap();
        Box::pin(async { Ok((Box::new(Called(called)) as _, "here".to_owned())) })
    }
}

struct Called(mpsc::UnboundedReceiver<Connection>);

impl Listener for Called {
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        Box::pin(async {
            let connection = self.0.next().await.ok_or(io::ErrorKind::NotConnected)?;
            Ok((Box::pin(async { Ok(connection) }) as _, None))
        })
    }
}

impl Stream for End {
    type Item = io::Result<BytesMut>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.1.poll_next_unpin(context));
        Poll::Ready(next.map(|frame| Ok(frame.into())))
    }
}

impl Sink<Bytes> for End {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_ready(context).map_err(io::Error::other)
    }

    fn start_send(mut self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        self.0.start_send(frame).map_err(io::Error::other)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close_channel();
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_early_waits_for_no_window() {
    let transports = Transports::default().with("narrow", Narrow::new(1));
    let hosts = [(); 2].map(|()| Host::with(transports.clone(), Limits::default()));
    hosts[1].listen("narrow://here").await.unwrap();
    let a = hosts[0].join::<net::A>("1").peer("b", ["narrow://here"]).connect();
    let b = hosts[1].join::<net::B>("1").connect();
    let (mut a, mut b) = tokio::try_join!(a, b).unwrap();
    for _ in 0..100 {
        let swapped = async { tokio::try_join!(plain(&mut a.role), early(&mut b.role)) };
        let swapped = timeout(Duration::from_secs(60), swapped).await.unwrap().unwrap();
        assert_eq!(swapped, ([1, 2, 3], [1, 2, 3]));
    }
    tokio::try_join!(a.leave(), b.leave()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_credit_the_same_sessions_wait_for_each_other() {
    let ((to_b, from_a), (to_a, from_b)) = (one(), one());
    let mut a = bare::A(bare::Bare::new(to_b, from_b));
    let mut b = bare::B(bare::Bare::new(to_a, from_a));
    let swapped = async { tokio::try_join!(bare_plain(&mut a), bare_early(&mut b)) };
    assert!(timeout(Duration::from_secs(60), swapped).await.is_err());
}

#[rumpsteak::protocol(
    Numbers,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod numbers {}

#[tokio::test(start_paused = true)]
async fn programs_with_other_sessions_of_one_protocol_join() {
    let [near, far] = [Host::new(), Host::new()];
    far.listen("memory://other-sessions").await.unwrap();
    let a = near.join::<in_order::A>("1").peer("b", ["memory://other-sessions"]).connect();
    let (mut a, mut b) = tokio::try_join!(a, far.join::<net::B>("1").connect()).unwrap();
    let swapped = tokio::try_join!(plain_in_order(&mut a.role), early(&mut b.role));
    assert_eq!(swapped.unwrap(), ([1, 2, 3], [1, 2, 3]));
    tokio::try_join!(a.leave(), b.leave()).unwrap();
}

/// Sends numbers as far ahead as it likes.
async fn give(role: &mut P, many: i32) -> Result<i32> {
    try_run(role, async |mut session: PSession<'_>| {
        for _ in 0..many {
            session = session.select(Number(1)).await?;
        }
        let (Sum(sum), end) = session.select(Stop).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

/// Adds them up.
async fn add(role: &mut Q) -> Result<()> {
    try_run(role, async |mut session: QSession<'_>| {
        let mut sum = 0;
        loop {
            match session.branch().await? {
                QNumberChoice::Number(Number(number), next) => {
                    sum += number;
                    session = next;
                }
                QNumberChoice::Stop(Stop, next) => return Ok(((), next.send(Sum(sum)).await?)),
            }
        }
    })
    .await
}

/// Messages so large that few of them are a frame.
#[derive(Clone)]
struct Padded;

const PADDING: usize = 20_000;

impl Codec for Padded {
    const NAME: &'static str = "padded";

    fn encode<M: Serialize>(
        &self,
        message: &M,
        bytes: &mut Vec<u8>,
    ) -> std::result::Result<(), CodecError> {
        bytes.extend([0; PADDING]);
        Postcard.encode(message, bytes)
    }

    fn decode<M: DeserializeOwned>(&self, bytes: &[u8]) -> std::result::Result<M, CodecError> {
        Postcard.decode(&bytes[PADDING..])
    }

    fn renumber(
        &self,
        bytes: Vec<u8>,
        _: impl FnOnce(u32) -> Option<u32>,
    ) -> std::result::Result<Vec<u8>, CodecError> {
        Ok(bytes)
    }
}

/// Nothing goes on only because a connection is looked after from time to time: the clock stands
/// still as long as somebody can do something.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_wider_than_the_window_never_stops() {
    let transports = Transports::default().with("narrow", Narrow::new(8));
    let hosts = [(); 2].map(|()| Host::with(transports.clone(), Limits::default()));
    hosts[1].listen("narrow://here").await.unwrap();
    let p = hosts[0].join::<P>("1").peer("q", ["narrow://here"]).codec(Padded).connect();
    let q = hosts[1].join::<Q>("1").codec(Padded).connect();
    let (mut p, mut q) = tokio::try_join!(p, q).unwrap();
    let begun = tokio::time::Instant::now();
    let many = 2_000;
    let added = async { tokio::try_join!(give(&mut p.role, many), add(&mut q.role)) };
    assert_eq!(added.await.unwrap(), (many, ()));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    tokio::try_join!(p.leave(), q.leave()).unwrap();
}
