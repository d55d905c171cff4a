//! Connections that break at any time: nothing is lost, doubled or out of order, or the session
//! ends with an error that names who is lost.

use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fastrand::Rng;
use rumpsteak_net::transport::{Transport, Transports};
use rumpsteak_net::{Host, Limits, NetError};
use rumpsteak_oracle::seeds;
use rumpsteak_runtime::{Error, ErrorKind};
use tokio::runtime::Builder;

use crate::meddling::{Hands, Meddling};
use crate::shop::{C, L, S, client, expected, ledger, server};

/// Breaks a connection after so many frames: what it was given last never arrives.
struct Cut(u32);

impl Cut {
    fn count(&mut self) -> io::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::ConnectionReset)?;
        Ok(())
    }
}

impl Hands for Cut {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        self.count().map(|()| frame)
    }

    fn receive(&mut self) -> io::Result<()> {
        self.count()
    }
}

/// Connections in memory that break, each after another number of frames.
pub(crate) fn breaking(seed: u64, frames: Range<u32>) -> impl Transport {
    let random = Mutex::new(Rng::with_seed(seed));
    Meddling(move || Cut(random.lock().unwrap().u32(frames.clone())))
}

#[test]
fn nothing_is_lost_doubled_or_out_of_order() {
    for seed in seeds(100) {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        let sums = runtime.block_on(async {
            let transports = Transports::default().with("cut", breaking(seed, 3..40));
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
