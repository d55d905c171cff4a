//! Connections that break at any time: nothing is lost, doubled or out of order, or the session
//! ends with an error that names who is lost.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use fastrand::Rng;
use futures::future::BoxFuture;
use futures::{Sink, Stream};
use rumpsteak_net::transport::{Connection, Listener, Memory, Transport, Transports};
use rumpsteak_net::{Host, Limits, NetError};
use rumpsteak_oracle::seeds;
use rumpsteak_runtime::{Error, ErrorKind};
use tokio::runtime::Builder;

use crate::shop::{C, L, S, client, expected, ledger, server};

/// A transport whose connections break after so many frames, if any are left to break.
#[derive(Clone)]
struct Breaking {
    random: Arc<Mutex<Rng>>,
    frames: Range<u32>,
}

impl Breaking {
    fn new(seed: u64, frames: Range<u32>) -> Self {
        Self { random: Arc::new(Mutex::new(Rng::with_seed(seed))), frames }
    }

    fn cut(&self, inner: Connection) -> Connection {
        let left = self.random.lock().unwrap().u32(self.frames.clone());
        Connection::new(Cut { inner: Some(inner), left })
    }
}

impl Transport for Breaking {
    fn connect<'a>(
        &'a self,
        place: &'a str,
        frame: usize,
    ) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move { Ok(self.cut(Memory.connect(place, frame).await?)) })
    }

    fn listen<'a>(
        &'a self,
        place: &'a str,
        frame: usize,
    ) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Memory.listen(place, frame)
    }
}

/// A connection that breaks: what it was given last never arrives.
struct Cut {
    inner: Option<Connection>,
    left: u32,
}

impl Cut {
    /// The connection, for one frame more or for none.
    fn inner(&mut self, frames: u32) -> io::Result<Pin<&mut Connection>> {
        if self.left < frames {
            self.inner = None;
        }
        self.left -= frames.min(self.left);
        self.inner.as_mut().map(Pin::new).ok_or(io::ErrorKind::ConnectionReset.into())
    }
}

impl Stream for Cut {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = this.inner(0)?.poll_next(context);
        if next.is_ready() {
            this.inner(1)?;
        }
        next
    }
}

impl Sink<Bytes> for Cut {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner(0)?.poll_ready(context)
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        self.get_mut().inner(1)?.start_send(frame)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner(0)?.poll_flush(context)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner(0)?.poll_close(context)
    }
}

#[test]
fn nothing_is_lost_doubled_or_out_of_order() {
    for seed in seeds(100) {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        let sums = runtime.block_on(async {
            let transports = Transports::default().with("cut", Breaking::new(seed, 3..40));
            let hosts = [(); 3].map(|()| Host::with(transports.clone(), Limits::default()));
            let [s, l] = ["s", "l"].map(|name| format!("cut://{seed}-{name}"));
            hosts[1].listen(&s).await.unwrap();
            hosts[2].listen(&l).await.unwrap();
            let c = hosts[0].join::<C>("1").peer("s", [&s]).peer("l", [&l]).connect();
            let served = hosts[1].join::<S>("1").peer("l", [&l]).connect();
            let booked = hosts[2].join::<L>("1").connect();
            let (mut c, mut s, mut l) = tokio::try_join!(c, served, booked).unwrap();
            let ran = async {
                tokio::try_join!(client(&mut c.role, 100), server(&mut s.role), ledger(&mut l.role))
            };
            let (sums, (), ()) = ran.await.unwrap();
            tokio::try_join!(c.leave(), s.leave(), l.leave()).unwrap();
            sums
        });
        assert_eq!(sums, expected(100), "seed {seed}");
    }
}

#[test]
fn who_is_lost_is_named_within_the_time() {
    let limits = Limits::default().resume(Duration::from_millis(300));
    let runtimes = [(); 2].map(|()| {
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(1).enable_all().build().unwrap()
    });
    let [here, there] = runtimes;
    let hosts = [(); 3].map(|()| Host::with(Transports::default(), limits));
    let (s, l) = ("memory://lost-s", "memory://lost-l");
    there.block_on(hosts[1].listen(s)).unwrap();
    here.block_on(hosts[2].listen(l)).unwrap();
    let served = there.spawn(hosts[1].join::<S>("1").peer("l", [l]).connect());
    let c = hosts[0].join::<C>("1").peer("s", [s]).peer("l", [l]).connect();
    let booked = hosts[2].join::<L>("1").connect();
    let (mut c, mut l) = here.block_on(async { tokio::try_join!(c, booked) }).unwrap();
    let s = here.block_on(served).unwrap().unwrap();
    // As if its process were killed: the tasks of its connections are, and nobody listens.
    there.shutdown_background();
    let lost = |ended: Result<(), Error>| match ended.unwrap_err().into_kind() {
        ErrorKind::Transport { role, peer, source, .. } => {
            let error = source.downcast_ref::<NetError>().unwrap();
            assert!(matches!(error, NetError::Lost { .. }), "{error}");
            (role, peer)
        }
        other => panic!("{other:?}"),
    };
    let started = Instant::now();
    let ended = async { tokio::join!(client(&mut c.role, 1), ledger(&mut l.role)) };
    let (c, l) = here.block_on(ended);
    assert_eq!(lost(c.map(drop)), ("c", "s"));
    assert_eq!(lost(l), ("l", "s"));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    drop(s);
}
