//! A service among strangers: connections that break again and again, half greetings, wrong tokens,
//! long names, frames that are too large, and peers that are silent.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use allocation_counter::measure;
use bytes::Bytes;
use futures::{SinkExt as _, StreamExt as _};
use rumpsteak::{Error, ErrorKind};
use rumpsteak_net::transport::{
    Connection, IoFuture, Listener, Listens, Memory, Opening, Transport, Transports,
};
use rumpsteak_net::{Host, Joined, Limits, NetError, Refusal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, timeout};

use crate::handshake::{Answer, Greeting, Greetings, Listening};
use crate::meddling::{Hands, Meddling};
use crate::reconnect::{breaking, ordered};
use crate::shared::{piece, read_piece};
use crate::shop::{C, L, S, client, expected, ledger, server};
use crate::window::net::{A, B};
use crate::window::{early, plain};

/// The events that a role was told about its peer.
fn told(error: Error) -> NetError {
    match error.into_kind() {
        ErrorKind::Transport { source, .. } => source.downcast_ref::<NetError>().unwrap().clone(),
        other => panic!("{other:?}"),
    }
}

async fn joined(near: &Host, far: &Host, at: &str, session: &str) -> (Joined<A>, Joined<B>) {
    let a = near.join::<A>(session).peer("b", [at]).connect();
    tokio::try_join!(a, far.join::<B>(session).connect()).unwrap()
}

async fn play(mut a: Joined<A>, mut b: Joined<B>) {
    tokio::try_join!(plain(&mut a.role), early(&mut b.role)).unwrap();
    tokio::try_join!(a.leave(), b.leave()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_before_anything_gets_through_is_lost_in_time() {
    let broken = Arc::default();
    // A greeting and its answer, but no message.
    let transports = Transports::default().with("cut", breaking(1, 2..3, &broken));
    let (near, far) = (Host::with(transports, Limits::default()), Host::new());
    far.listen("memory://again").await.unwrap();
    let (mut a, mut b) = joined(&near, &far, "cut://again", "1").await;
    let began = Instant::now();
    let (a, b) =
        tokio::join!(async { (plain(&mut a.role).await.unwrap_err(), began.elapsed()) }, async {
            (early(&mut b.role).await.unwrap_err(), began.elapsed())
        },);
    for (error, took) in [a, b] {
        // The end that hears that the other one has given up does so a little earlier.
        let told = told(error);
        assert!(matches!(told, NetError::Lost { .. } | NetError::Refused { .. }), "{told:?}");
        assert!((29..=32).contains(&took.as_secs()), "{took:?}");
    }
    let tries = broken.load(Ordering::Relaxed);
    assert!((10..=45).contains(&tries), "{tries} connections");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_session_survives_any_number_of_breaks() {
    let broken = Arc::default();
    let transports = Transports::default().with("cut", breaking(1, 8..12, &broken));
    let (near, far) = (Host::with(transports, Limits::default()), Host::new());
    far.listen("memory://quiet").await.unwrap();
    let (a, b) = joined(&near, &far, "cut://quiet", "1").await;
    sleep(Duration::from_secs(3_600)).await;
    assert!(broken.load(Ordering::Relaxed) > 50);
    play(a, b).await;
}

/// Lets in a greeting's answer and a grant. What says that messages have arrived breaks the
/// connection.
struct Deaf(u8);

impl Hands for Deaf {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        Ok(frame)
    }

    fn receive(&mut self) -> io::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::ConnectionReset)?;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn progress_that_only_a_new_connection_tells_begins_the_pauses_anew() {
    let transports = Transports::default().with("deaf", Meddling(|| Deaf(2)));
    let hosts = [(); 3].map(|()| Host::with(transports.clone(), Limits::default()));
    let [s, l] = ["memory://progress-s", "memory://progress-l"];
    hosts[1].listen(s).await.unwrap();
    hosts[2].listen(l).await.unwrap();
    let (c, s, l) = tokio::try_join!(
        hosts[0].join::<C>("1").peer("s", [s]).peer("l", [l]).connect(),
        hosts[1].join::<S>("1").peer("l", ["deaf://progress-l"]).connect(),
        hosts[2].join::<L>("1").connect(),
    )
    .unwrap();
    let began = Instant::now();
    let orders = c.play(async |c| client(c, 40_000).await);
    let (sums, ..) = tokio::try_join!(orders, s.play(server), l.play(ledger)).unwrap();
    assert_eq!(sums, expected(40_000));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// A proxy that cuts a connection after so many bytes, and the number of connections.
pub(crate) async fn proxy(to: String, most: u64) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (at, count) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    let made = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            made.fetch_add(1, Ordering::Relaxed);
            let Ok(far) = TcpStream::connect(&to).await else { continue };
            tokio::spawn(async move {
                let ((near_in, mut near_out), (mut far_in, mut far_out)) =
                    (near.into_split(), far.into_split());
                let mut near_in = near_in.take(most);
                tokio::select! {
                    _ = tokio::io::copy(&mut near_in, &mut far_out) => {}
                    _ = tokio::io::copy(&mut far_in, &mut near_out) => {}
                }
            });
        }
    });
    (format!("tcp://{at}"), count)
}

#[tokio::test]
async fn a_message_that_no_connection_carries_is_lost_in_time_over_tcp() {
    let limits = Limits::default().resume(Duration::from_secs(1));
    let hosts = [(); 3].map(|()| Host::with(Transports::default(), limits));
    let at_s = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap();
    let at_l = hosts[2].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let (cut, connections) = proxy(at_s.place().to_owned(), 40_000).await;
    let c = hosts[0].join::<C>("1").peer("s", [cut]).peer("l", [&at_l]).connect();
    let s = hosts[1].join::<S>("1").peer("l", [&at_l]).connect();
    let (mut c, mut s, _l) = tokio::try_join!(c, s, hosts[2].join::<L>("1").connect()).unwrap();
    let began = Instant::now();
    let order = "x".repeat(200_000);
    let (c, s) = tokio::join!(crate::shop::order(&mut c.role, order), async {
        server(&mut s.role).await.unwrap_err()
    },);
    assert!(matches!(told(c.unwrap_err()), NetError::Lost { .. }));
    assert!(matches!(told(s), NetError::Lost { .. }));
    let (took, connections) = (began.elapsed(), connections.load(Ordering::Relaxed));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!((3..=12).contains(&connections), "{connections} connections in {took:?}");
}

/// A transport over which a frame has at most so many bytes, but for its first connections.
struct Narrow(u32, AtomicU64, usize);

impl Transport for Narrow {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            if self.1.fetch_add(1, Ordering::Relaxed) < u64::from(self.0) {
                let cut = || Listening { heard: Greetings::default(), sent: 0, most: 1 };
                return Meddling(cut).connect(place, frame).await;
            }
            Ok(Memory.connect(place, frame).await?.with_max_payload(self.2))
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Memory.listen(place, frame)
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_too_large_for_the_transport_is_an_error_at_once() {
    // Also if an earlier connection would have taken it.
    for wide in [0, 1] {
        let narrow = Narrow(wide, AtomicU64::new(0), 1_000);
        let transports = Transports::default().with("narrow", narrow);
        let (hosts, limits) = (Host::with(transports, Limits::default()), Limits::default());
        let others = [(); 2].map(|()| Host::with(Transports::default(), limits));
        let [s, l] = ["s", "l"].map(|role| format!("memory://narrow-{wide}-{role}"));
        others[0].listen(&s).await.unwrap();
        others[1].listen(&l).await.unwrap();
        let narrow = s.replace("memory", "narrow");
        let c = hosts.join::<C>("1").peer("s", [&narrow]).peer("l", [&l]).connect();
        let (mut c, s, l) = tokio::try_join!(
            c,
            others[0].join::<S>("1").peer("l", [&l]).connect(),
            others[1].join::<L>("1").connect(),
        )
        .unwrap();
        let began = Instant::now();
        let _others = tokio::spawn(async { tokio::join!(s.play(server), l.play(ledger)) });
        let error = told(crate::shop::order(&mut c.role, "x".repeat(2_000)).await.unwrap_err());
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert!(matches!(&error, NetError::Encode { label: "Order", .. }), "{error:?}");
        assert_eq!(
            format!("{error:?}"),
            "the message `Order` to `s` cannot be written: it has 2003 bytes, and the limit there \
             is 991"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_fits_the_transport_arrives() {
    let transports = Transports::default().with("narrow", Narrow(0, AtomicU64::new(0), 1_000));
    let hosts = [(); 3].map(|()| Host::with(transports.clone(), Limits::default()));
    hosts[1].listen("narrow://fits-s").await.unwrap();
    hosts[2].listen("narrow://fits-l").await.unwrap();
    let sums = ordered(&hosts, "1", ["narrow://fits-s", "narrow://fits-l"], 1_000).await;
    assert_eq!(sums, expected(1_000));
}

/// Two roles that have joined, with the greeting of the caller.
async fn overheard(at: &str, limits: Limits) -> (Joined<A>, Joined<B>, Host, Greeting) {
    let heard = Greetings::default();
    let noted = Arc::clone(&heard);
    let hands = move || Listening { heard: Arc::clone(&noted), sent: 0, most: u32::MAX };
    let transports = Transports::default().with("noted", Meddling(hands));
    let (near, far) = (Host::with(transports, limits), Host::with(Transports::default(), limits));
    far.listen(&format!("memory://{at}")).await.unwrap();
    let (a, b) = joined(&near, &far, &format!("noted://{at}"), "1").await;
    let greeting = heard.lock().unwrap()[0].clone();
    (a, b, far, greeting)
}

/// Returns the host's answer to a greeting.
async fn answer(place: &str, greeting: &Greeting) -> Answer {
    let mut connection = Memory.connect(place, 1 << 20).await.unwrap();
    connection.send(greeting.frame()).await.unwrap();
    Answer::read(&connection.next().await.unwrap().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_wrong_token_is_refused_in_every_bit() {
    let (a, b, _far, greeting) = overheard("tokens", Limits::default()).await;
    for bit in 0..128 {
        let guess = Greeting { instance: greeting.instance ^ (1 << bit), ..greeting.clone() };
        let answer = answer("tokens", &guess).await;
        assert!(matches!(answer, Answer::Refused(Refusal::Taken)), "{bit}: {answer:?}");
        let known = Some(greeting.instance ^ (1 << bit));
        let answer = self::answer("tokens", &Greeting { known, ..greeting.clone() }).await;
        assert!(matches!(answer, Answer::Refused(Refusal::StartedAgain)), "{bit}: {answer:?}");
    }
    // The session has not noticed.
    play(a, b).await;
    let gone = Greeting { known: Some(1), ..greeting.clone() };
    assert!(matches!(answer("tokens", &gone).await, Answer::Refused(Refusal::Gone)));
}

#[tokio::test(start_paused = true)]
async fn each_lane_has_a_token_of_its_own() {
    let heard = Greetings::default();
    let noted = Arc::clone(&heard);
    let hands = move || Listening { heard: Arc::clone(&noted), sent: 0, most: u32::MAX };
    let transports = Transports::default().with("noted", Meddling(hands));
    let hosts = [(); 3].map(|()| Host::with(transports.clone(), Limits::default()));
    hosts[1].listen("noted://own-s").await.unwrap();
    hosts[2].listen("noted://own-l").await.unwrap();
    for session in ["1", "2"] {
        let sums = ordered(&hosts, session, ["noted://own-s", "noted://own-l"], 3).await;
        assert_eq!(sums, expected(3));
    }
    let mut tokens: Vec<_> = heard.lock().unwrap().iter().map(|it| it.instance).collect();
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), 6);
    // Of two sessions, as of two lanes of one: 128 bits, of which none is always the same.
    let (all, any) = tokens.iter().fold((u128::MAX, 0), |(all, any), it| (all & it, any | it));
    assert!(all.count_ones() < 16 && any.count_ones() > 112, "{tokens:x?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_name_is_refused() {
    let (a, b, far, greeting) = overheard("names", Limits::default()).await;
    let mut services = far.serve::<B>();
    let long = |text: &str| format!("{text}{}", "x".repeat(257));
    for change in [
        Greeting { protocol: long(&greeting.protocol), ..greeting.clone() },
        Greeting { session: long("1"), ..greeting.clone() },
        Greeting { role: long("a"), ..greeting.clone() },
        Greeting { peer: long("b"), ..greeting.clone() },
        greeting.clone().codec(&long("c")),
        Greeting { transports: vec!["memory".to_owned(), long("t")], ..greeting.clone() },
    ] {
        let answer = answer("names", &change).await;
        assert!(matches!(answer, Answer::Refused(Refusal::Name)), "{answer:?}");
    }
    assert!(timeout(Duration::from_secs(1), services.next()).await.is_err());
    let most = "ä".repeat(128);
    let (first, last) = joined(&far, &far, "memory://names", &most).await;
    play(first, last).await;
    let error = far.join::<A>(format!("{most}x")).connect().await.map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the name of a session has at most 256 bytes, and this one has 257: `{}…`",
            "ä".repeat(40)
        )
    );
    play(a, b).await;
}

#[tokio::test(start_paused = true)]
async fn the_name_of_a_session_can_be_used_again_when_it_is_over() {
    let (near, far) = (Host::new(), Host::new());
    far.listen("memory://reused").await.unwrap();
    let mut services = far.serve::<B>();
    for _ in 0..3 {
        let a = near.join::<A>("1").peer("b", ["memory://reused"]).connect();
        let b = async { services.next().await.unwrap().connect().await };
        let (a, b) = tokio::try_join!(a, b).unwrap();
        play(a, b).await;
        // Once for each session.
        assert!(timeout(Duration::from_secs(100), services.next()).await.is_err());
    }
    // At once, as soon as one of the two has left.
    let serves = tokio::spawn(async move {
        while let Some(join) = services.next().await {
            tokio::spawn(async { join.connect().await.unwrap().play(early).await });
        }
    });
    let began = Instant::now();
    for _ in 0..100 {
        let a = near.join::<A>("1").peer_role::<B>(["memory://reused"]).connect().await.unwrap();
        a.play(plain).await.unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    serves.abort();
}

/// Listens in memory; the process is out of files when the first caller comes.
struct Exhausted;

impl Transport for Exhausted {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Memory.connect(place, frame)
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let (listener, place) = Memory.listen(place, frame).await?;
            Ok((Box::new(ExhaustedListener(listener, 3)) as Box<dyn Listener>, place))
        })
    }
}

struct ExhaustedListener(Box<dyn Listener>, u32);

impl Listener for ExhaustedListener {
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        match self.1.checked_sub(1) {
            // `EMFILE`
            Some(left) => {
                self.1 = left;
                Box::pin(async { Err(io::Error::from_raw_os_error(24)) })
            }
            None => self.0.accept(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_without_files_or_places_says_so_and_so_does_the_caller() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&told);
    let limits = Limits::default().connections(1);
    let far = Host::with(Transports::default().with("scarce", Exhausted), limits);
    far.tell(move |error| notes.lock().unwrap().push(format!("{error:?}")));
    far.listen("scarce://here").await.unwrap();
    let near = Host::with(Transports::default(), Limits::default().join(Duration::from_secs(3)));
    let call = |session: &'static str| {
        let a = near.join::<A>(session).peer("b", ["memory://here"]).connect();
        async { format!("{:?}", a.await.map(drop).unwrap_err()) }
    };
    // The first one waits for the role, in the only place.
    let (_, second) = tokio::join!(call("1"), async {
        sleep(Duration::from_millis(500)).await;
        call("2").await
    });
    let busy = "the host there turns away new sessions, as too many callers wait for an answer";
    assert!(second.ends_with(busy), "{second}");
    assert_eq!(
        *told.lock().unwrap(),
        [
            "cannot accept connections at scarce://here, and drops one that has not greeted yet: \
             Too many open files (os error 24)",
            "callers of new sessions are turned away at scarce://here: 1 others wait for an answer, \
             the limit of `Limits::connections`"
        ]
    );
    // A host that has no file for a caller does not even hear it.
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("tcp://{}", deaf.local_addr().unwrap());
    let limits = Limits::default().handshake(Duration::from_secs(1)).join(Duration::from_secs(2));
    let near = Host::with(Transports::default(), limits);
    let absent = near.join::<A>("1").peer("b", [at]).connect().await.map(drop).unwrap_err();
    let why = "no answer came within 1s: the host there may be out of files, or overloaded";
    assert!(format!("{absent:?}").ends_with(why), "{absent:?}");
    // Nor does a server of something else understand it.
    let at = format!("tcp://{}", deaf.local_addr().unwrap());
    let talks = tokio::spawn(async move {
        while let Ok((mut stream, _)) = deaf.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let absent = near.join::<A>("1").peer("b", [at]).connect().await.map(drop).unwrap_err();
    let why =
        "the other end sent the length 1213486160, and the limit is 65536; it may not be a host";
    assert!(format!("{absent:?}").ends_with(why), "{absent:?}");
    talks.abort();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_a_service_does_not_want_is_announced_once_while_peers_ask() {
    let (near, far) = (Host::new(), Host::new());
    far.listen("memory://unwanted").await.unwrap();
    let mut services = far.serve::<B>();
    let a = near.join::<A>("1").peer("b", ["memory://unwanted"]).connect();
    let announced = async {
        let mut announced = 0;
        while timeout(Duration::from_secs(29), services.next()).await.is_ok() {
            announced += 1;
        }
        announced
    };
    let (a, announced) = tokio::join!(a, announced);
    assert!(matches!(a, Err(NetError::Absent { .. })), "{a:?}");
    assert_eq!(announced, 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_fit_does_not_end_a_waiting_role() {
    let (a, b, far, greeting) = overheard("misfit", Limits::default()).await;
    let waits = tokio::spawn(far.join::<B>("2").connect());
    sleep(Duration::from_secs(1)).await;
    let mut stranger = Greeting { session: "2".to_owned(), contract: 1, ..greeting.clone() };
    stranger.format.projections.clear();
    let mut long = stranger.clone();
    long.format.labels = vec!["x".repeat(60_000)];
    for stranger in [Greeting { instance: 9, ..stranger.clone() }, stranger.codec("other"), long] {
        let answer = answer("misfit", &stranger).await;
        assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
    }
    let near = Host::new();
    let second = near.join::<A>("2").peer("b", ["memory://misfit"]).connect().await.unwrap();
    play(second, waits.await.unwrap().unwrap()).await;
    play(a, b).await;

    let waits = tokio::spawn(far.join::<B>("3").connect());
    sleep(Duration::from_secs(1)).await;
    let misfit = Greeting { session: "3".to_owned(), ..greeting }.codec("other");
    answer("misfit", &misfit).await;
    let absent = waits.await.unwrap().map(drop).unwrap_err();
    assert_eq!(
        absent.to_string(),
        "`b` waits for `a` in the session `3`, which has neither called memory://misfit nor joined \
         it on this host within 30s, and an end that called for it does not fit: one writes messages \
         by the codec `postcard`, the other by `other`"
    );
}

/// A stranger that has the right greeting begins sessions, and is gone.
#[test]
fn strangers_that_fit_and_vanish_leave_nothing() {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (a, b, far, greeting) = runtime.block_on(overheard("vanish", Limits::default()));
    let mut services = far.serve::<B>();
    runtime.spawn(async move {
        while let Some(join) = services.next().await {
            tokio::spawn(async move {
                let b = join.connect().await.unwrap();
                b.play(early).await.unwrap_err();
            });
        }
    });
    let mut number = 0_u64;
    let mut vanish = |many: u64| {
        runtime.block_on(async {
            for _ in 0..many {
                number += 1;
                let (session, instance) = (format!("{number:0250}"), number.into());
                let begun = Greeting { session, instance, ..greeting.clone() };
                assert!(matches!(answer("vanish", &begun).await, Answer::Welcome(..)));
            }
            // As long as the stranger might resume.
            sleep(Duration::from_secs(60)).await;
        });
    };
    vanish(100);
    let left = measure(|| vanish(1_000));
    assert!(left.bytes_current < 50_000, "{left:?}");
    runtime.block_on(play(a, b));
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_noticed_after_three_beats() {
    let limits = Limits::default().beat(Duration::from_secs(7)).resume(Duration::from_secs(10));
    let (_a, _b, far, greeting) = overheard("silent", limits).await;
    let b = tokio::spawn(far.join::<B>("2").connect());
    sleep(Duration::from_secs(1)).await;
    let mut stranger = Memory.connect("silent", 1 << 20).await.unwrap();
    stranger.send(Greeting { session: "2".to_owned(), ..greeting }.frame()).await.unwrap();
    let answer = Answer::read(&stranger.next().await.unwrap().unwrap());
    assert!(matches!(answer, Answer::Welcome(..)), "{answer:?}");
    let began = Instant::now();
    // It has more to say than nothing once.
    sleep(Duration::from_secs(5)).await;
    stranger.send(Bytes::from_static(&[3])).await.unwrap();
    let mut beats = 0;
    while let Some(Ok(_)) = stranger.next().await {
        beats += 1;
    }
    assert_eq!(began.elapsed().as_secs(), 5 + 21, "{beats}");
    let mut b = b.await.unwrap().unwrap();
    let lost = told(early(&mut b.role).await.unwrap_err());
    assert!(matches!(lost, NetError::Lost { .. }), "{lost:?}");
    assert_eq!(began.elapsed().as_secs(), 5 + 21 + 10);
}

/// The start of a greeting.
const HALF: &[u8] = b"\0\0\0\x40rum";

/// Returns true if the other end has ended the connection.
async fn has_ended(stream: &mut TcpStream) -> bool {
    timeout(Duration::from_millis(1), stream.read(&mut [0])).await.is_ok()
}

#[tokio::test]
async fn half_greetings_give_way_to_others_of_their_address_and_end_soon() {
    let limits = Limits::default().connections_of_address(8);
    let (near, far) = (Host::new(), Host::with(Transports::default(), limits));
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap();
    let began = Instant::now();
    let mut halves = Vec::new();
    for _ in 0..20 {
        let mut half = TcpStream::connect(at.place()).await.unwrap();
        half.write_all(HALF).await.unwrap();
        halves.push(half);
    }
    sleep(Duration::from_millis(300)).await;
    let mut ended = Vec::new();
    for half in &mut halves {
        ended.push(has_ended(half).await);
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(ended, [vec![true; 12], vec![false; 8]].concat());
    let (a, b) = joined(&near, &far, &at.to_string(), "1").await;
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    for half in &mut halves {
        let _ = half.read(&mut [0]).await;
    }
    let took = began.elapsed();
    assert!((1_900..4_000).contains(&took.as_millis()), "{took:?}");
    play(a, b).await;
}

#[tokio::test]
async fn half_greetings_of_one_address_are_not_counted_at_a_socket_of_unix() {
    let far = Host::with(Transports::default(), Limits::default().connections_of_address(2));
    let path = std::env::temp_dir().join(format!("rumpsteak-half-{}", std::process::id()));
    let at = far.listen(&format!("unix://{}", path.display())).await.unwrap();
    let mut halves = Vec::new();
    for _ in 0..6 {
        let mut half = UnixStream::connect(at.place()).await.unwrap();
        half.write_all(HALF).await.unwrap();
        halves.push(half);
    }
    sleep(Duration::from_millis(200)).await;
    for half in &mut halves {
        let ended = timeout(Duration::from_millis(1), half.read(&mut [0])).await;
        assert!(ended.is_err(), "{ended:?}");
    }
}

/// Keeps so many half greetings at an address, however fast they are ended.
async fn half_greet(place: String, most: usize) {
    let mut halves = VecDeque::new();
    loop {
        if let Ok(mut half) = TcpStream::connect(&place).await {
            let _ = half.write_all(HALF).await;
            halves.push_back(half);
        }
        if halves.len() > most {
            halves.pop_front();
        }
    }
}

#[tokio::test]
async fn half_greetings_keep_no_one_out() {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap();
    let (cut, cuts) = proxy(at.place().to_owned(), 3_000).await;
    let attack = tokio::spawn(half_greet(at.place().to_owned(), 1_024));
    sleep(Duration::from_millis(200)).await;
    let began = Instant::now();
    for session in 0..20 {
        let (a, b) = joined(&near, &far, &at.to_string(), &session.to_string()).await;
        play(a, b).await;
    }
    let joined_in = began.elapsed();
    assert!(joined_in < Duration::from_secs(10), "{joined_in:?}");
    // The connection is cut every few messages, and made again.
    let (mut a, mut b) = joined(&near, &far, &cut, "cut").await;
    let many = async {
        for _ in 0..300 {
            tokio::try_join!(plain(&mut a.role), early(&mut b.role))?;
        }
        Ok::<_, Error>(())
    };
    timeout(Duration::from_secs(30), many).await.unwrap().unwrap();
    println!("joined in {joined_in:?}, {:?} connections", cuts);
    assert!(cuts.load(Ordering::Relaxed) > 3, "{cuts:?}");
    attack.abort();
    tokio::try_join!(a.leave(), b.leave()).unwrap();
}

#[tokio::test]
async fn ten_thousand_half_greetings_hurt_no_one() {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap();
    let (a, b) = joined(&near, &far, &at.to_string(), "before").await;
    let mut halves = VecDeque::new();
    for number in 0..10_000_usize {
        let mut half = TcpStream::connect(at.place()).await.unwrap();
        // Each is cut at another place.
        let greeting = [&[0, 0, 0, 0x40][..], &[b'r'; 0x40]].concat();
        let _ = half.write_all(&greeting[..number % 68]).await;
        halves.push_back(half);
        if halves.len() > 500 {
            halves.pop_front();
        }
    }
    let began = Instant::now();
    let (first, last) = joined(&near, &far, &at.to_string(), "after").await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    play(first, last).await;
    play(a, b).await;
}

#[tokio::test]
async fn a_frame_before_the_greeting_is_small() {
    let host = Host::new();
    let tcp = host.listen("tcp://127.0.0.1:0").await.unwrap();
    let mut large = TcpStream::connect(tcp.place()).await.unwrap();
    large.write_all(&(65_537_u32).to_be_bytes()).await.unwrap();
    let ended = timeout(Duration::from_secs(1), large.read(&mut [0])).await.unwrap();
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    // As large as may be: it is heard to its end, and is none.
    let mut most = TcpStream::connect(tcp.place()).await.unwrap();
    most.write_all(&piece(0, 0, &[0; 65_536])).await.unwrap();
    // After a grant.
    assert_eq!(read_piece(&mut most).await.unwrap().1, 2);
    let (number, kind, answer) = read_piece(&mut most).await.unwrap();
    assert_eq!((number, kind), (0, 0));
    assert!(matches!(Answer::read(&answer), Answer::Refused(Refusal::NoGreeting)));
    // Nor is the next one large.
    most.write_all(&piece(0, 0, &[0; 65_537])).await.unwrap();
    let ended = timeout(Duration::from_secs(1), most.read_to_end(&mut Vec::new())).await.unwrap();
    assert!(ended.is_ok_and(|size| size <= 8), "no more than the end of the stream");

    let websocket = host.listen("ws://127.0.0.1:0").await.unwrap();
    let began = Instant::now();
    let mut large = TcpStream::connect(websocket.place()).await.unwrap();
    let upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    large.write_all(upgrade.as_bytes()).await.unwrap();
    assert!(large.read(&mut [0; 1_000]).await.unwrap() > 0);
    // A masked binary message of ten megabytes.
    let head = [&[0x82, 0xff][..], &10_000_000_u64.to_be_bytes(), &[0; 4]].concat();
    large.write_all(&head).await.unwrap();
    let (mut reads, mut writes) = large.into_split();
    let pumps = async {
        let mut sent = 0;
        while writes.write_all(&[0; 65_536]).await.is_ok() {
            sent += 65_536;
            assert!(sent < 10_000_000, "all of it was taken");
        }
    };
    let ends = async { while reads.read(&mut [0; 100]).await.is_ok_and(|size| size > 0) {} };
    tokio::select! {
        () = pumps => {}
        () = ends => {}
    }
    assert!(began.elapsed() < Duration::from_millis(1_900), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_message_may_be_large_when_the_greeting_is_done() {
    for (number, at) in
        ["memory://large", "tcp://127.0.0.1:0", "ws://127.0.0.1:0"].iter().enumerate()
    {
        let hosts = [(); 3].map(|()| Host::new());
        let s = hosts[1].listen(at).await.unwrap().to_string();
        let l = hosts[2].listen(&format!("memory://large-l-{number}")).await.unwrap().to_string();
        let (mut c, s, l) = tokio::try_join!(
            hosts[0].join::<C>("1").peer("s", [&s]).peer("l", [&l]).connect(),
            hosts[1].join::<S>("1").peer("l", [&l]).connect(),
            hosts[2].join::<L>("1").connect(),
        )
        .unwrap();
        let others = tokio::spawn(async { tokio::join!(s.play(server), l.play(ledger)) });
        let sums = crate::shop::order(&mut c.role, "x".repeat(10_000_000)).await.unwrap();
        assert_eq!(sums, (10_000_000, 10_000_000));
        c.leave().await.unwrap();
        let (s, l) = others.await.unwrap();
        s.unwrap();
        l.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_resumed_where_it_is_and_not_where_else_someone_listens() {
    let broken = Arc::default();
    let transports = Transports::default().with("cut", breaking(1, 5..30, &broken));
    let (near, first, second) =
        (Host::with(transports, Limits::default()), Host::new(), Host::new());
    second.listen("memory://second").await.unwrap();
    let at = ["cut://first", "cut://second"];
    let a = near.join::<A>("1").peer("b", at).connect();
    let (mut a, mut b) = tokio::try_join!(a, second.join::<B>("1").connect()).unwrap();
    // Another instance of the service, which knows nothing of the session.
    first.listen("memory://first").await.unwrap();
    for _ in 0..50 {
        tokio::try_join!(plain(&mut a.role), early(&mut b.role)).unwrap();
    }
    assert!(broken.load(Ordering::Relaxed) > 3);
    tokio::try_join!(a.leave(), b.leave()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_role_that_is_called_says_over_which_transports() {
    let heard = Greetings::default();
    let noted = Arc::clone(&heard);
    // Nothing but the greeting may pass.
    let clear = move || Listening { heard: Arc::clone(&noted), sent: 0, most: 1 };
    let secret = || Listening { heard: Greetings::default(), sent: 0, most: u32::MAX };
    let transports =
        Transports::default().with("clear", Meddling(clear)).with("secret", Meddling(secret));
    let [near, far] = [(); 2].map(|()| Host::with(transports.clone(), Limits::default()));
    far.listen("clear://called").await.unwrap();
    let swap = async |session: &str, takes: &[&str]| {
        let a = near.join::<A>(session).peer("b", ["clear://called"]).over(takes.iter().copied());
        let b = far.join::<B>(session).over(["secret"]).connect();
        let b = tokio::spawn(b);
        sleep(Duration::from_millis(100)).await;
        (a.connect().await, b)
    };
    // There is no such address yet. The role goes on waiting.
    let (refused, waits) = swap("1", &[]).await;
    let NetError::Refused { refusal, .. } = refused.map(drop).unwrap_err() else { panic!() };
    assert_eq!(refusal, Refusal::Transport(["clear".to_owned(), "secret".to_owned()]));
    far.listen("secret://called-2").await.unwrap();
    let a = near.join::<A>("1").peer("b", ["clear://called"]).connect().await.unwrap();
    play(a, waits.await.unwrap().unwrap()).await;
    // Whatever the caller prefers, if it takes that at all.
    for (session, takes) in [("2", &[][..]), ("3", &["clear", "secret"]), ("4", &["secret"])] {
        let (a, b) = swap(session, takes).await;
        play(a.unwrap(), b.await.unwrap().unwrap()).await;
    }
    let (refused, waits) = swap("5", &["clear"]).await;
    let NetError::Refused { refusal, .. } = refused.map(drop).unwrap_err() else { panic!() };
    assert_eq!(refusal, Refusal::Transport(["clear".to_owned(), "secret".to_owned()]));
    // A stranger that insists gets no further than its greeting.
    let insists = Greeting { session: "5".to_owned(), ..heard.lock().unwrap()[0].clone() };
    let clear = Memory.connect("called", 1 << 20).await.unwrap();
    let answer = async |mut connection: Connection| {
        connection.send(insists.frame()).await.unwrap();
        Answer::read(&connection.next().await.unwrap().unwrap())
    };
    assert!(matches!(answer(clear).await, Answer::Offers(at) if at == ["secret://called-2"]));
    assert!(matches!(waits.await.unwrap(), Err(NetError::Absent { .. })));
}
