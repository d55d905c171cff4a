//! Connections that break at any time: nothing is lost, doubled or out of order, or the session
//! ends with an error that names who is lost.

use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use fastrand::Rng;
use futures::{Sink, Stream, StreamExt as _};
use rumpsteak::{Error, ErrorKind};
use rumpsteak_net::transport::{
    Connection, IoFuture, Listener, Listens, Memory, Opening, Transport, Transports,
};
use rumpsteak_net::{Host, Joined, Limits, NetError};
use rumpsteak_oracle::seeds;
use rumpsteak_ui_tests::closed;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::meddling::{Hands, Meddling};
use crate::shop::{C, L, S, client, expected, ledger, server};
use crate::window::net::{A, B};
use crate::window::{early, plain};

/// Breaks a connection after so many frames: what it was given last never arrives. Also counts the
/// frames that were sent.
struct Cut(u32, Arc<AtomicU64>, u32);

impl Cut {
    fn count(&mut self) -> io::Result<()> {
        match self.0.checked_sub(1) {
            Some(left) => self.0 = left,
            None => {
                self.1.fetch_add(1, Ordering::Relaxed);
                return Err(io::ErrorKind::ConnectionReset.into());
            }
        }
        Ok(())
    }
}

impl Hands for Cut {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        self.2 += 1;
        assert!(self.2 > 2 || frame.len() <= 64 << 10, "a frame that no transport takes yet");
        self.count().map(|()| frame)
    }

    fn receive(&mut self) -> io::Result<()> {
        self.count()
    }
}

/// Connections in memory that break, each after another number of frames; `broken` counts them.
pub(crate) fn breaking(
    seed: u64,
    frames: Range<u32>,
    broken: &Arc<AtomicU64>,
) -> impl Transport + use<> {
    let (random, broken) = (Mutex::new(Rng::with_seed(seed)), Arc::clone(broken));
    Meddling(move || Cut(random.lock().unwrap().u32(frames.clone()), Arc::clone(&broken), 0))
}

/// Listens in memory; who calls first never gets an answer.
struct Mute;

impl Transport for Mute {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Memory.connect(place, frame)
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let (listener, place) = Memory.listen(place, frame).await?;
            Ok((Box::new(MuteListener { listener, is_mute: true }) as Box<dyn Listener>, place))
        })
    }
}

struct MuteListener {
    listener: Box<dyn Listener>,
    is_mute: bool,
}

impl Listener for MuteListener {
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        Box::pin(async {
            let (opening, caller) = self.listener.accept().await?;
            let is_mute = std::mem::take(&mut self.is_mute);
            let open = async move {
                let connection = opening.await?;
                Ok(if is_mute { Connection::new(Muted(connection)) } else { connection })
            };
            Ok((Box::pin(open) as Opening, caller))
        })
    }
}

/// A connection that takes nothing.
struct Muted(Connection);

impl Stream for Muted {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().0.poll_next_unpin(context)
    }
}

impl Sink<Bytes> for Muted {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn start_send(self: Pin<&mut Self>, _: Bytes) -> io::Result<()> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

/// A session with so many orders, in which the server and the ledger are called at these addresses.
pub(crate) async fn ordered(
    hosts: &[Host; 3],
    session: &str,
    [s, l]: [&str; 2],
    many: u64,
) -> (u64, u64) {
    let c = hosts[0].join::<C>(session).peer("s", [s]).peer("l", [l]).connect();
    let served = hosts[1].join::<S>(session).peer("l", [l]).connect();
    let booked = hosts[2].join::<L>(session).connect();
    let (mut c, mut s, mut l) = tokio::try_join!(c, served, booked).unwrap();
    let ran = async {
        tokio::try_join!(client(&mut c.role, many), server(&mut s.role), ledger(&mut l.role))
    };
    let (sums, (), ()) = ran.await.unwrap();
    tokio::try_join!(c.leave(), s.leave(), l.leave()).unwrap();
    sums
}

#[test]
fn nothing_is_lost_doubled_or_out_of_order() {
    let broken = Arc::new(AtomicU64::new(0));
    for seed in seeds(100) {
        let sums = crate::paused().block_on(async {
            let transports = Transports::default().with("cut", breaking(seed, 3..40, &broken));
            let hosts = [(); 3].map(|()| Host::with(transports.clone(), Limits::default()));
            let [s, l] = ["s", "l"].map(|name| format!("cut://{seed}-{name}"));
            hosts[1].listen(&s).await.unwrap();
            hosts[2].listen(&l).await.unwrap();
            ordered(&hosts, "1", [&s, &l], 100).await
        });
        assert_eq!(sums, expected(100), "seed {seed}");
    }
    assert!(broken.load(Ordering::Relaxed) > 0);
}

/// The faults of a network.
#[derive(Clone)]
struct Network {
    random: Arc<Mutex<Rng>>,
    /// How many connections were cut.
    cuts: Arc<AtomicU64>,
    /// True if nothing passes any more instead of a cut.
    parts: bool,
}

impl Network {
    /// An address from which bytes are passed on to a place: in pieces, late, and not to the end.
    /// The task that does so has to be kept.
    async fn towards(&self, place: String) -> (String, JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("tcp://{}", listener.local_addr().unwrap());
        let network = self.clone();
        let mut task = JoinSet::new();
        task.spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(&place).await else { continue };
                // It is late by itself.
                for stream in [&near, &far] {
                    stream.set_nodelay(true).unwrap();
                }
                let network = network.clone();
                tokio::spawn(async move {
                    let left = network.random.lock().unwrap().u64(100..5_000);
                    let left = Arc::new(AtomicU64::new(left));
                    let ((near_in, near_out), (far_in, far_out)) =
                        (near.into_split(), far.into_split());
                    // Each direction ends by itself, or both are cut.
                    let forth = network.pass(near_in, far_out, Arc::clone(&left));
                    let _ = tokio::try_join!(forth, network.pass(far_in, near_out, left));
                });
            }
        });
        (address, task)
    }

    async fn pass(
        &self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        left: Arc<AtomicU64>,
    ) -> io::Result<()> {
        let mut bytes = [0; 100];
        loop {
            let (size, pause) = {
                let mut random = self.random.lock().unwrap();
                (random.usize(1..=bytes.len()), random.u64(..20))
            };
            let size = from.read(&mut bytes[..size]).await?;
            if size == 0 {
                return to.shutdown().await;
            }
            let rest = |left: u64| left.checked_sub(size as u64);
            let is_parted = self.parts && self.cuts.load(Ordering::Relaxed) > 0;
            if is_parted || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_err() {
                self.cuts.fetch_add(1, Ordering::Relaxed);
                if self.parts {
                    std::future::pending::<()>().await;
                }
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if pause < 3 {
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            to.write_all(&bytes[..size]).await?;
        }
    }
}

#[tokio::test]
async fn a_network_that_cuts_delays_and_splits_loses_nothing() {
    let cuts = Arc::new(AtomicU64::new(0));
    let seeds: Vec<u64> = seeds(20).collect();
    let runs = seeds.iter().map(async |&seed| {
        let random = Arc::new(Mutex::new(Rng::with_seed(seed)));
        let network = Network { random, cuts: Arc::clone(&cuts), parts: false };
        let hosts = [(); 3].map(|()| Host::new());
        let s = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap();
        let l = hosts[2].listen("tcp://127.0.0.1:0").await.unwrap();
        let (s, _to_s) = network.towards(s.place().to_owned()).await;
        let (l, _to_l) = network.towards(l.place().to_owned()).await;
        assert_eq!(ordered(&hosts, "1", [&s, &l], 50).await, expected(50), "seed {seed}");
    });
    futures::stream::iter(runs).buffer_unordered(30).collect::<()>().await;
    let cuts = cuts.load(Ordering::Relaxed);
    println!("{} sessions, {cuts} connections cut", seeds.len());
    assert!(cuts > 0);
}

#[tokio::test]
async fn a_network_that_stays_parted_ends_the_session_at_both_ends() {
    let random = Arc::new(Mutex::new(Rng::with_seed(1)));
    let network = Network { random, cuts: Arc::default(), parts: true };
    let limits = Limits::default().beat(Duration::from_millis(200));
    let limits = limits.resume(Duration::from_secs(1)).handshake(Duration::from_millis(500));
    let [near, far] = [(); 2].map(|()| Host::with(Transports::default(), limits));
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap();
    let (at, _to_b) = network.towards(at.place().to_owned()).await;
    let a = near.join::<A>("1").peer("b", [at]).connect();
    let (mut a, mut b) = tokio::try_join!(a, far.join::<B>("1").connect()).unwrap();
    let ended = async {
        let a = async {
            loop {
                if let Err(error) = plain(&mut a.role).await {
                    return error;
                }
            }
        };
        let b = async {
            loop {
                if let Err(error) = early(&mut b.role).await {
                    return error;
                }
            }
        };
        tokio::join!(a, b)
    };
    let (a, b) = tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap();
    assert_eq!((lost(a), lost(b)), (("a", "b"), ("b", "a")));
}

/// The role that reports a loss, and the peer that it lost.
fn lost(ended: Error) -> (&'static str, &'static str) {
    match ended.into_kind() {
        ErrorKind::Transport { role, peer, source, .. } => {
            let error = source.downcast_ref::<NetError>().unwrap();
            let told = format!(
                "`{peer}` is lost, or its program ended before `Joined::leave`: its connection broke"
            );
            assert!(error.to_string().starts_with(&told), "{error}");
            (role, peer)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn who_did_not_hear_its_welcome_is_welcomed_again() {
    let transports = Transports::default().with("mute", Mute);
    let limits = Limits::default().handshake(Duration::from_secs(1));
    let [near, far] = [(); 2].map(|()| Host::with(transports.clone(), limits));
    far.listen("mute://welcome").await.unwrap();
    let a = near.join::<A>("1").peer("b", ["mute://welcome"]).connect();
    let (mut a, mut b) = tokio::try_join!(a, far.join::<B>("1").connect()).unwrap();
    tokio::try_join!(plain(&mut a.role), early(&mut b.role)).unwrap();
    tokio::try_join!(a.leave(), b.leave()).unwrap();
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
    let started = Instant::now();
    let ended = async { tokio::join!(client(&mut c.role, 1), ledger(&mut l.role)) };
    let (c, l) = here.block_on(ended);
    assert_eq!(lost(c.unwrap_err()), ("c", "s"));
    assert_eq!(lost(l.unwrap_err()), ("l", "s"));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    drop(s);
}

/// A program that calls another one, where the two roles have joined: the role of the other, its
/// runtime, and the role here.
fn two_programs(at: &str, here: &Runtime, near: &Host) -> (Joined<B>, Runtime, Joined<A>) {
    let (there, host) = (runtime(), Host::new());
    there.block_on(host.listen(at)).unwrap();
    let b = there.spawn(host.join::<B>("1").connect());
    let a = here.block_on(near.join::<A>("1").peer("b", [at]).connect()).unwrap();
    (here.block_on(b).unwrap().unwrap(), there, a)
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

#[test]
fn who_was_started_again_is_named_at_both_ends() {
    for has_joined in [true, false] {
        let (at, here) = (format!("memory://again-{has_joined}"), runtime());
        let (_b, there, mut a) = two_programs(&at, &here, &Host::new());
        // As if its process were killed.
        there.shutdown_timeout(Duration::from_secs(10));
        let limits = Limits::default().join(Duration::from_millis(500));
        let again = Host::with(Transports::default(), limits);
        here.block_on(async {
            let mut joins = Box::pin(again.join::<B>("1").connect());
            if has_joined {
                assert!(futures::poll!(&mut joins).is_pending());
            }
            again.listen(&at).await.unwrap();
            let ended = plain(&mut a.role).await.unwrap_err().into_kind();
            let ErrorKind::Transport { source, .. } = ended else { panic!("{ended:?}") };
            if !has_joined {
                let told = "the connection to `b` was refused: it no longer has this session, and \
                            may have restarted";
                return assert_eq!(source.to_string(), told);
            }
            let told = "the connection to `b` was refused: it has restarted, and this session ended \
                        with the previous process";
            let waits = format!(
                "`b` waits for `a` in the session `1`, which has neither called {at} nor joined it \
                 on this host within 500ms, but has called for a session of this name that \
                 ended with the previous process"
            );
            let absent = joins.await.unwrap_err();
            assert_eq!([source.to_string(), absent.to_string()], [told.to_owned(), waits]);
        });
    }
}

/// A program that ends as soon as its role has been played.
#[test]
fn who_plays_and_fails_or_panics_has_told_its_peers() {
    for panics in [false, true] {
        let (at, here) = (format!("memory://plays-{panics}"), runtime());
        let (b, there, mut a) = two_programs(&at, &here, &Host::new());
        let played = b.play(async move |b| {
            early(b).await?;
            assert!(!panics, "as it should");
            Err::<(), Error>(ErrorKind::Poisoned { role: "told" }.into())
        });
        let ended = thread::spawn(move || there.block_on(there.spawn(played)));
        here.block_on(plain(&mut a.role)).unwrap();
        assert_eq!(closed::<()>(Err(here.block_on(plain(&mut a.role)).unwrap_err())).0, "a");
        drop(a);
        match ended.join().unwrap() {
            Ok(failed) => assert!(matches!(failed.unwrap_err().kind(), ErrorKind::Poisoned { .. })),
            Err(error) => assert!(error.is_panic() && panics),
        }
    }
}

#[test]
fn who_cannot_leave_says_so_though_its_process_has_succeeded() {
    let limits = Limits::default().resume(Duration::from_millis(300));
    // `b` may have said that it has the last messages before its program is stopped.
    let ended = (0..100).find_map(|attempt| {
        let (here, near) = (runtime(), Host::with(Transports::default(), limits));
        let (mut b, there, a) = two_programs(&format!("memory://stays-{attempt}"), &here, &near);
        let played = here.block_on(a.play(async |a| {
            tokio::try_join!(plain(a), early(&mut b.role))?;
            there.shutdown_background();
            Ok::<_, Error>(())
        }));
        played.err()
    });
    assert_eq!(
        format!("{:?}", ended.unwrap()).split_once(" or its program ended").unwrap().0,
        "`a` has completed its sessions, but cannot know if its peers got its last messages: `b` is lost,"
    );
}
