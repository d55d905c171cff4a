//! What the session layer costs over TCP: values of 100 bytes, one after the other without waiting,
//! and a word at the end, in a verified session and over a bare socket with the same codec.
//!
//! `cargo bench -p rumpsteak-benches --bench net`
//!
//! The two are measured in turns, because the clock of a machine changes; the last line has the
//! median of the ratios.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures and prints")]

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures::{SinkExt as _, StreamExt as _};
use rumpsteak_net::{Codec as _, Host, Joined, Net, Postcard};
use rumpsteak_runtime::{Message, Role, session, try_run};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::{Framed, LengthDelimitedCodec};

#[derive(Role)]
#[protocol(Feed::f)]
#[message(Label)]
struct From(#[route(To)] Net<Label>);

#[derive(Role)]
#[protocol(Feed::t)]
#[message(Label)]
struct To(#[route(From)] Net<Label>);

#[derive(Message, Serialize, Deserialize)]
enum Label {
    Value(Value),
    Stop(Stop),
    Done(Done),
}

#[derive(Serialize, Deserialize)]
struct Value(Vec<u8>);
#[derive(Serialize, Deserialize)]
struct Stop;
#[derive(Serialize, Deserialize)]
struct Done;

#[session(From)]
type Sending = Select<To, More>;

#[session]
enum More {
    Value(Value, Select<To, More>),
    Stop(Stop, Receive<To, Done, End>),
}

#[session(To)]
type Receiving = Branch<From, Next>;

#[session]
enum Next {
    Value(Value, Branch<From, Next>),
    Stop(Stop, Send<From, Done, End>),
}

const VALUES: usize = 50_000;

fn value() -> Vec<u8> {
    vec![7; 100]
}

async fn session((from, to): &mut (Joined<From>, Joined<To>)) -> Duration {
    let sending = try_run(&mut from.role, async |mut session: Sending<'_>| {
        for _ in 0..VALUES {
            session = session.select(Value(value())).await?;
        }
        let (Done, end) = session.select(Stop).await?.receive().await?;
        Ok(((), end))
    });
    let receiving = try_run(&mut to.role, async |mut session: Receiving<'_>| {
        let mut sum = 0;
        loop {
            match session.branch().await? {
                Next::Value(Value(value), next) => {
                    sum += value.len();
                    session = next;
                }
                Next::Stop(Stop, next) => return Ok((sum, next.send(Done).await?)),
            }
        }
    });
    let start = Instant::now();
    let (sum, ()) = {
        let both: Result<_, rumpsteak_runtime::Error> = tokio::try_join!(receiving, sending);
        both.unwrap()
    };
    assert_eq!(sum, VALUES * 100);
    start.elapsed()
}

type Socket = Framed<TcpStream, LengthDelimitedCodec>;

async fn bare((from, to): &mut (Socket, Socket)) -> Duration {
    let frame = |label: &Label| {
        let mut bytes = Vec::with_capacity(128);
        Postcard.encode(label, &mut bytes).unwrap();
        Bytes::from(bytes)
    };
    let read = |bytes: BytesMut| Postcard.decode::<Label>(&bytes).unwrap();
    let sending = async {
        for _ in 0..VALUES {
            from.feed(frame(&Label::Value(Value(value())))).await.unwrap();
        }
        from.send(frame(&Label::Stop(Stop))).await.unwrap();
        let done = read(from.next().await.unwrap().unwrap());
        assert!(matches!(done, Label::Done(_)));
    };
    let receiving = async {
        let mut sum = 0;
        loop {
            match read(to.next().await.unwrap().unwrap()) {
                Label::Value(Value(value)) => sum += value.len(),
                Label::Stop(_) => {
                    to.send(frame(&Label::Done(Done))).await.unwrap();
                    return sum;
                }
                Label::Done(_) => unreachable!("only the receiver says so"),
            }
        }
    };
    let start = Instant::now();
    let ((), sum) = tokio::join!(sending, receiving);
    assert_eq!(sum, VALUES * 100);
    start.elapsed()
}

async fn joined() -> (Joined<From>, Joined<To>) {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let from = near.join::<From>("1").peer("t", [at]);
    let to = far.join::<To>("1");
    tokio::try_join!(from.connect(), to.connect()).unwrap()
}

async fn sockets() -> (Socket, Socket) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (far, _) = listener.accept().await.unwrap();
    let framed = |stream: TcpStream| {
        stream.set_nodelay(true).unwrap();
        let mut framed = Framed::with_capacity(stream, LengthDelimitedCodec::new(), 64 << 10);
        framed.set_backpressure_boundary(64 << 10);
        framed
    };
    (framed(near), framed(far))
}

fn main() {
    for (name, threads) in [("one thread", 1), ("two threads", 2)] {
        let mut runtime = match threads {
            1 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut roles, mut sockets) = (joined().await, sockets().await);
            let mut ratios = Vec::new();
            for _ in 0..20 {
                let (layer, bare) = (session(&mut roles).await, bare(&mut sockets).await);
                println!("{name}: session {layer:?}, bare {bare:?}");
                ratios.push(layer.as_secs_f64() / bare.as_secs_f64());
            }
            ratios.sort_by(f64::total_cmp);
            println!("{name}: session / bare, median {:.2}", ratios[ratios.len() / 2]);
        });
    }
}
