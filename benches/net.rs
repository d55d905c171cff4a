//! The cost of the session layer over TCP: values of 100 bytes, one after the other without
//! waiting, and an end, in a verified session and over a bare socket with the same codec. Before
//! that, sessions and the calls of `tarpc` and `tonic` in turns: see [`mod@calls`].
//!
//! `cargo bench -p rumpsteak-benches --bench net`
//!
//! Each end is a task. A third row has the bare socket owned by a task behind tokio's queues, which
//! is the structure of the session layer without its work. The three are measured in turns, because
//! the clock of a machine changes; the last line has the medians of the ratios.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures and prints")]

#[path = "net/calls.rs"]
pub mod calls;

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures::{SinkExt, StreamExt as _};
use rumpsteak_net::{Codec as _, Host, Joined, Postcard};
use rumpsteak_runtime::{Error, try_run};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::codec::{Framed, LengthDelimitedCodec};

#[rumpsteak_runtime::protocol(
    Feed,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod feed {}
use feed::*;

const VALUES: usize = 50_000;

fn value() -> Vec<u8> {
    vec![7; 100]
}

async fn send(mut from: Joined<F>) -> Joined<F> {
    let sent = try_run(&mut from.role, async |mut session: FSession<'_>| {
        for _ in 0..VALUES {
            session = session.select(Value(value())).await?;
        }
        let (Done, end) = session.select(Stop).await?.receive().await?;
        Ok::<_, Error>(((), end))
    });
    sent.await.unwrap();
    from
}

async fn receive(mut to: Joined<T>) -> Joined<T> {
    let received = try_run(&mut to.role, async |mut session: TSession<'_>| {
        let mut sum = 0;
        loop {
            match session.branch().await? {
                TValueChoice::Value(Value(value), next) => {
                    sum += value.len();
                    session = next;
                }
                TValueChoice::Stop(Stop, next) => {
                    return Ok::<_, Error>((sum, next.send(Done).await?));
                }
            }
        }
    });
    assert_eq!(received.await.unwrap(), VALUES * 100);
    to
}

type Socket = Framed<TcpStream, LengthDelimitedCodec>;

fn frame(label: &Label) -> Bytes {
    let mut bytes = Vec::with_capacity(128);
    Postcard.encode(label, &mut bytes).unwrap();
    Bytes::from(bytes)
}

fn read(bytes: &BytesMut) -> Label {
    Postcard.decode(bytes).unwrap()
}

async fn send_bare(mut from: Socket) -> Socket {
    for _ in 0..VALUES {
        from.feed(frame(&Label::Value(Value(value())))).await.unwrap();
    }
    from.send(frame(&Label::Stop(Stop))).await.unwrap();
    assert!(matches!(read(&from.next().await.unwrap().unwrap()), Label::Done(_)));
    from
}

async fn receive_bare(mut to: Socket) -> Socket {
    let mut sum = 0;
    loop {
        match read(&to.next().await.unwrap().unwrap()) {
            Label::Value(Value(value)) => sum += value.len(),
            Label::Stop(_) => break,
            Label::Done(_) => unreachable!("only the receiver says so"),
        }
    }
    to.send(frame(&Label::Done(Done))).await.unwrap();
    assert_eq!(sum, VALUES * 100);
    to
}

/// Moves labels between queues and a socket until the first queue ends.
async fn pump(mut socket: Socket, mut sent: Receiver<Label>, received: Sender<Label>) -> Socket {
    let mut labels = Vec::new();
    loop {
        tokio::select! {
            count = sent.recv_many(&mut labels, QUEUE) => {
                if count == 0 {
                    return socket;
                }
                for label in labels.drain(..) {
                    socket.feed(frame(&label)).await.unwrap();
                }
                SinkExt::<Bytes>::flush(&mut socket).await.unwrap();
            }
            Some(next) = socket.next() => received.send(read(&next.unwrap())).await.unwrap(),
        }
    }
}

const QUEUE: usize = 1024;

async fn send_queued(from: Socket) -> Socket {
    let ((sender, sent), (received, mut receiver)) = (channel(QUEUE), channel(QUEUE));
    let pump = tokio::spawn(pump(from, sent, received));
    for _ in 0..VALUES {
        sender.send(Label::Value(Value(value()))).await.unwrap();
    }
    sender.send(Label::Stop(Stop)).await.unwrap();
    assert!(matches!(receiver.recv().await, Some(Label::Done(_))));
    drop(sender);
    pump.await.unwrap()
}

async fn receive_queued(to: Socket) -> Socket {
    let ((sender, sent), (received, mut receiver)) = (channel(QUEUE), channel(QUEUE));
    let pump = tokio::spawn(pump(to, sent, received));
    let mut sum = 0;
    while let Some(Label::Value(Value(value))) = receiver.recv().await {
        sum += value.len();
    }
    sender.send(Label::Done(Done)).await.unwrap();
    assert_eq!(sum, VALUES * 100);
    drop(sender);
    pump.await.unwrap()
}

/// Runs both ends as tasks, and returns the time.
async fn timed<A, B>(near: A, far: B) -> (Duration, (A::Output, B::Output))
where
    A: Future<Output: Send> + Send + 'static,
    B: Future<Output: Send> + Send + 'static,
{
    let start = Instant::now();
    let ends = tokio::try_join!(tokio::spawn(near), tokio::spawn(far)).unwrap();
    (start.elapsed(), ends)
}

async fn joined() -> (Joined<F>, Joined<T>) {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let from = near.join::<F>("1").peer("t", [at]);
    let to = far.join::<T>("1");
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
        runtime.block_on(calls::compare(name));
        runtime.block_on(async {
            let ((mut from, mut to), (mut near, mut far)) = (joined().await, sockets().await);
            let (mut ratios, mut queued_ratios) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                let (layer, bare, queued);
                (layer, (from, to)) = timed(send(from), receive(to)).await;
                (bare, (near, far)) = timed(send_bare(near), receive_bare(far)).await;
                (queued, (near, far)) = timed(send_queued(near), receive_queued(far)).await;
                println!("{name}: session {layer:?}, bare {bare:?}, bare with queues {queued:?}");
                ratios.push(layer.as_secs_f64() / bare.as_secs_f64());
                queued_ratios.push(queued.as_secs_f64() / bare.as_secs_f64());
            }
            let median = |mut ratios: Vec<f64>| {
                ratios.sort_by(f64::total_cmp);
                ratios[ratios.len() / 2]
            };
            println!("{name}: session / bare, median {:.2}", median(ratios));
            println!("{name}: bare with queues / bare, median {:.2}", median(queued_ratios));
        });
    }
}
