//! Peers that do not fit, or do not behave: an error at that session, and the host goes on.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fastrand::Rng;
use futures::{SinkExt as _, StreamExt as _, stream};
use rumpsteak_net::transport::{Memory, Transport as _, Transports};
use rumpsteak_net::{Codec, CodecError, Host, Limits, NetError, Postcard, Refusal};
use rumpsteak_oracle::seeds;
use rumpsteak_ui_tests::closed;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::meddling::{Hands, Meddling};
use crate::shop::{C, L, S, client, expected, ledger, server};
use crate::window::net::{A, B, Label, Left};
use crate::window::{early, plain};

/// Changes some of the frames that the caller sends, and counts them: greetings, and others.
struct Mangle {
    random: Arc<Mutex<Rng>>,
    mangled: Arc<[AtomicU64; 2]>,
    has_greeted: bool,
}

impl Hands for Mangle {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        let mut frame = frame.to_vec();
        let mut random = self.random.lock().unwrap();
        let mangled = &self.mangled[usize::from(std::mem::replace(&mut self.has_greeted, true))];
        if random.u8(..10) == 0 {
            mangled.fetch_add(1, Ordering::Relaxed);
            match random.u8(..4) {
                0 => frame.truncate(random.usize(..=frame.len())),
                1 => frame.extend((0..random.usize(..20)).map(|_| random.u8(..))),
                2 => frame = (0..random.usize(..40)).map(|_| random.u8(..)).collect(),
                _ => {
                    let at = random.usize(..frame.len().max(1));
                    frame.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.u8(..8));
                }
            }
        }
        Ok(frame.into())
    }
}

/// A server and a ledger that go on for ever, at these addresses; where they are reached.
pub(crate) async fn serve<const N: usize>(host: &Host, at: [&str; N]) -> Vec<String> {
    let mut reached = Vec::new();
    for at in at {
        reached.push(host.listen(at).await.unwrap().to_string());
    }
    let (mut servers, mut ledgers) = (host.serve::<S>(), host.serve::<L>());
    tokio::spawn(async move {
        while let Some(join) = servers.next().await {
            tokio::spawn(async move {
                let mut s = join.connect().await?;
                server(&mut s.role).await?;
                Ok::<(), Box<dyn std::error::Error + Send + Sync>>(s.leave().await?)
            });
        }
    });
    tokio::spawn(async move {
        while let Some(join) = ledgers.next().await {
            tokio::spawn(async move {
                let mut l = join.connect().await?;
                ledger(&mut l.role).await?;
                Ok::<(), Box<dyn std::error::Error + Send + Sync>>(l.leave().await?)
            });
        }
    });
    reached
}

/// A session of a client with the services.
pub(crate) async fn order(host: &Host, session: &str, at: [&str; 2]) -> Result<(u64, u64), String> {
    let join = host.join::<C>(session).peer("s", [at[0]]).peer("l", [at[1]]);
    let mut c = join.connect().await.map_err(|error| error.to_string())?;
    let sums = client(&mut c.role, 20).await.map_err(|error| error.to_string())?;
    c.leave().await.map_err(|error| error.to_string())?;
    Ok(sums)
}

#[test]
fn mangled_frames_end_one_session_and_no_more() {
    let (mut whole, mut ended) = (0, 0);
    let counts = Arc::new([0, 0].map(AtomicU64::new));
    for seed in seeds(100) {
        crate::paused().block_on(async {
            let random = Arc::new(Mutex::new(Rng::with_seed(seed)));
            let counts = Arc::clone(&counts);
            let mangling = Meddling(move || {
                let (random, mangled) = (Arc::clone(&random), Arc::clone(&counts));
                Mangle { random, mangled, has_greeted: false }
            });
            let transports = Transports::default().with("mangled", mangling);
            let limits = Limits::default();
            let (services, callers) = (Host::new(), Host::with(transports, limits));
            let [s, l] = ["s", "l"].map(|name| format!("{seed}-strange-{name}"));
            let [at_s, at_l] = [&s, &l].map(|name| format!("memory://{name}"));
            serve(&services, [&at_s, &at_l]).await;
            let [bad_s, bad_l] = [&s, &l].map(|name| format!("mangled://{name}"));
            // To join, to notice that somebody is gone, and to give up: each within its limit. But
            // a message that has become a beat is missed only when the connection breaks again.
            let most = Duration::from_secs(3_600);
            let bad = timeout(most, order(&callers, "bad", [&bad_s, &bad_l])).await;
            match bad.unwrap_or_else(|_| panic!("seed {seed} hangs")) {
                Ok(_) => whole += 1,
                Err(_) => ended += 1,
            }
            let good = order(&callers, "good", [&at_s, &at_l]).await;
            assert_eq!(good, Ok(expected(20)), "seed {seed}");
        });
    }
    println!("{whole} sessions went to their end, {ended} did not");
    let [greetings, frames] = [0, 1].map(|at| counts[at].load(Ordering::Relaxed));
    println!("{greetings} greetings and {frames} other frames mangled");
    assert!(whole > 0 && ended > 0 && greetings > 0 && frames > 0);
}

/// Returns the host's answer to these bytes as the first frame of a connection.
async fn answer(bytes: &'static [u8]) -> Option<BytesMut> {
    let mut connection = Memory.connect("answers", 1 << 20).await.unwrap();
    connection.send(Bytes::from_static(bytes)).await.unwrap();
    connection.next().await?.ok()
}

#[tokio::test(start_paused = true)]
async fn what_is_no_greeting_is_refused() {
    let host = Host::new();
    host.listen("memory://answers").await.unwrap();
    for bytes in
        [&b""[..], b"GET / HTTP/1.1\r\n\r\n", b"rumpsteak\x01", b"rumpsteak\x08", &[0xff; 3_000]]
    {
        let refused = answer(bytes).await.unwrap();
        // The version, and the answer that is a refusal.
        let refusal = refused.strip_prefix(b"rumpsteak\x08\x01").unwrap();
        let refusal: Refusal = Postcard.decode(refusal).unwrap();
        assert_eq!(refusal, Refusal::NoGreeting, "{bytes:?}");
    }
    // Who says nothing is left alone after a while.
    let mut silent = Memory.connect("answers", 1 << 20).await.unwrap();
    let ended = timeout(Duration::from_secs(11), silent.next()).await.unwrap();
    assert!(ended.is_none_or(|next| next.is_err()));
}

/// Keeps the first frame that is sent, and sends none.
struct Keep(Arc<Mutex<Option<Bytes>>>);

impl Hands for Keep {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        self.0.lock().unwrap().get_or_insert(frame);
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

#[tokio::test(start_paused = true)]
async fn who_sends_more_than_was_granted_ends_its_session() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let transports = Transports::default().with("kept", Meddling(move || Keep(Arc::clone(&keep))));
    let (here, there) = (Host::with(transports, Limits::default()), Host::new());
    there.listen("memory://flood").await.unwrap();
    let a = tokio::spawn(here.join::<A>("1").peer("b", ["kept://flood"]).connect());
    let b = tokio::spawn(there.join::<B>("1").connect());
    tokio::time::sleep(Duration::from_millis(5)).await;
    a.abort();
    // It greets as the role would, and then says everything a hundred times.
    let mut stranger = Memory.connect("flood", 1 << 20).await.unwrap();
    let hello = kept.lock().unwrap().take().unwrap();
    stranger.send(hello).await.unwrap();
    stranger.next().await.unwrap().unwrap();
    let mut message = Vec::new();
    Postcard.encode(&Label::Left(Left(1)), &mut message).unwrap();
    // A frame of messages, of which there is one, of this length.
    let frame = [&[0, 1, 0, 0, 0, message.len() as u8, 0, 0, 0][..], &message].concat();
    let frames = stream::iter(std::iter::repeat_n(Bytes::from(frame), 300)).map(Ok);
    // The other end hangs up in the middle of it.
    let _ = stranger.send_all(&mut { frames }).await;
    let mut b = b.await.unwrap().unwrap();
    let _ = early(&mut b.role).await;
    let error = b.leave().await.unwrap_err();
    assert_eq!(error.to_string(), "`a` sent more messages than it was granted");
}

#[tokio::test]
async fn a_length_of_a_gigabyte_is_no_frame() {
    let host = Host::new();
    let at = host.listen("tcp://127.0.0.1:0").await.unwrap();
    let mut stranger = TcpStream::connect(at.place()).await.unwrap();
    stranger.write_all(&0x4000_0000_u32.to_be_bytes()).await.unwrap();
    let ended = timeout(Duration::from_secs(60), stranger.read(&mut [0])).await.unwrap();
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    let a = Host::new();
    let a = a.join::<A>("1").peer("b", [at.to_string()]).connect();
    let (mut a, mut b) = tokio::try_join!(a, host.join::<B>("1").connect()).unwrap();
    tokio::try_join!(plain(&mut a.role), early(&mut b.role)).unwrap();
}

/// `postcard` under this name, or under another one; it writes so many messages.
#[derive(Clone)]
struct Writes<const IS_POSTCARD: bool>(Arc<AtomicU64>);

impl<const IS_POSTCARD: bool> Codec for Writes<IS_POSTCARD> {
    const NAME: &'static str = if IS_POSTCARD { Postcard::NAME } else { "other" };

    fn encode<M: Serialize>(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
        Postcard.encode(message, bytes)?;
        let left = self.0.fetch_sub(1, Ordering::Relaxed);
        if left == 0 { Err("as it should".into()) } else { Ok(()) }
    }

    fn decode<M: DeserializeOwned>(&self, bytes: &[u8]) -> Result<M, CodecError> {
        Postcard.decode(bytes)
    }

    fn renumber(
        &self,
        bytes: Vec<u8>,
        number: impl FnOnce(u32) -> Option<u32>,
    ) -> Result<Vec<u8>, CodecError> {
        Postcard.renumber(bytes, number)
    }
}

#[tokio::test(start_paused = true)]
async fn peers_that_do_not_fit_are_refused_with_the_reason() {
    let (services, callers) = (Host::new(), Host::new());
    serve(&services, ["memory://fit-s", "memory://fit-l"]).await;
    let join = callers.join::<C>("1").peer("s", ["memory://fit-s"]).peer("l", ["memory://fit-l"]);
    let refused =
        join.codec(Writes::<false>(Arc::new(2.into()))).connect().await.map(drop).unwrap_err();
    assert!(matches!(&refused, NetError::Refused { refusal: Refusal::Codec(_), .. }), "{refused}");
    assert_eq!(
        refused.to_string(),
        "the connection to `s` was refused: one writes messages by the codec `postcard`, the other by `other`"
    );
}

#[tokio::test(start_paused = true)]
async fn who_cannot_write_a_message_names_it_and_its_peers_hear_of_it_at_once() {
    let hosts = [(); 3].map(|()| Host::new());
    let (at_s, at_l) = ("memory://unwritten-s", "memory://unwritten-l");
    hosts[1].listen(at_s).await.unwrap();
    hosts[2].listen(at_l).await.unwrap();
    let c = hosts[0].join::<C>("1").codec(Writes::<true>(Arc::new(2.into()))).peer("s", [at_s]);
    let (c, s, l) = tokio::try_join!(
        c.peer("l", [at_l]).connect(),
        hosts[1].join::<S>("1").peer("l", [at_l]).connect(),
        hosts[2].join::<L>("1").connect(),
    )
    .unwrap();
    let begin = Instant::now();
    let c = c.play(async |c| client(c, 20).await);
    let (c, s, l) = tokio::join!(c, s.play(server), l.play(ledger));
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(
        format!("{:?}", c.unwrap_err()),
        "`c` cannot send `Order` to `s`: the transport failed: the message `Order` to `s` cannot be \
         written: as it should"
    );
    let [s, l] = [closed(s), closed(l)].map(|(role, peer, _)| (role, peer));
    assert_eq!([s, l], [("s", "c"), ("l", "s")]);
}

#[tokio::test(start_paused = true)]
async fn a_role_is_taken_once() {
    let (services, callers) = (Host::new(), [Host::new(), Host::new()]);
    serve(&services, ["memory://twice-s", "memory://twice-l"]).await;
    let join = |host: &Host| {
        let join = host.join::<C>("1").peer("s", ["memory://twice-s"]);
        join.peer("l", ["memory://twice-l"]).connect()
    };
    let first = join(&callers[0]).await.unwrap();
    let second = join(&callers[1]).await.map(drop).unwrap_err();
    assert!(matches!(&second, NetError::Refused { refusal: Refusal::Taken, .. }), "{second}");
    let again = join(&callers[0]).await.map(drop).unwrap_err();
    assert_eq!(again.to_string(), "`c` has already joined the session `1`");
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_come_is_named() {
    let host = Host::new();
    let join = host.join::<C>("1").peer("s", ["memory://nowhere", "memory://neither"]).connect();
    let absent = join.await.map(drop).unwrap_err();
    let NetError::Absent { last: Some(last), .. } = &absent else {
        panic!("{absent:?}");
    };
    assert_eq!(last.kind(), io::ErrorKind::ConnectionRefused);
    assert_eq!(
        absent.to_string(),
        "`c` waits for `s` in the session `1`, and called memory://nowhere and memory://neither for 30s"
    );
    let nobody = host.join::<C>("1").connect().await.map(drop).unwrap_err();
    assert_eq!(
        nobody.to_string(),
        "`c` waits for `s` in the session `1`, which has not joined it on this host within 30s: no \
         address of it was given, and this host does not listen; roles at one host have to connect \
         at once (`tokio::try_join!`)"
    );
    host.listen("memory://names-nobody").await.unwrap();
    let nobody = host.join::<C>("1").connect().await.map(drop).unwrap_err();
    assert_eq!(
        nobody.to_string(),
        "`c` waits for `s` in the session `1`, which has neither called memory://names-nobody nor joined \
         it on this host within 30s"
    );
}

#[tokio::test(start_paused = true)]
async fn an_address_without_a_port_is_refused_at_once() {
    let (host, begin) = (Host::new(), Instant::now());
    for (place, names) in
        [("tcp://127.0.0.1", "127.0.0.1"), ("tcp://::1", "::1"), ("tcp://h:http", "h:http")]
    {
        let called = host.join::<C>("1").peer("s", [place]).connect().await.map(drop);
        let why = format!(
            "{place}: `{names}` has no port number up to 65535: write `host:port`, as in `localhost:4000` or \
             `[::1]:4000`"
        );
        assert_eq!(format!("{:?}", called.unwrap_err()), format!("cannot call {why}"));
        let listened = host.listen(place).await.unwrap_err();
        assert_eq!(format!("{listened:?}"), format!("cannot listen at {why}"));
    }
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn who_is_called_for_another_session_says_so() {
    let (called, calls) = (Host::new(), Host::new());
    called.listen("memory://names").await.unwrap();
    let c = calls.join::<C>("two").peer("s", ["memory://names"]).connect();
    let (c, s) = tokio::join!(c, called.join::<S>("one").connect());
    // As `main` prints it.
    assert_eq!(
        [format!("{:?}", c.unwrap_err()), format!("{:?}", s.unwrap_err())],
        [
            "`c` waits for `s` in the session `two`, and called memory://names for 30s: the host there \
             does not play this role in this session",
            "`s` waits for `c` in the session `one`, which has neither called memory://names nor \
             joined it on this host within 30s, and has called for the session `two`"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_role_that_can_neither_call_nor_be_called_says_so_at_once() {
    let (far, near, began) = (Host::new(), Host::new(), tokio::time::Instant::now());
    far.listen("memory://far").await.unwrap();
    let _s = tokio::spawn(far.join::<S>("1").connect());
    let _c = tokio::spawn(near.join::<C>("1").peer("s", ["memory://far"]).connect());
    let cut_off = near.join::<L>("1").connect().await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(
        cut_off.to_string(),
        "`l` waits for `s` in the session `1`, which plays on another host: no address of it was \
         given, and this host does not listen"
    );
}
