//! Short sessions of hosts that have a connection already: the first messages go with the greeting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Limits, NetError, Refusal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::handshake::{Answer, Greeting, MAGIC};
use crate::shared::{FRAME, meddling, piece, read_piece};
use crate::strangers::Writes;
use crate::window::net::{A, B};
use crate::window::{early, plain};

/// A service that counts the sessions that it has played in order, and where it listens.
async fn service(host: &Host) -> (String, Arc<AtomicU64>) {
    let (mut sessions, played) = (host.serve::<B>(), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&played);
    tokio::spawn(async move {
        while let Some(join) = sessions.next().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let b = join.connect().await.unwrap();
                if b.play(early).await.is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let at = host.listen("tcp://127.0.0.1:0").await.unwrap();
    (at.place().to_owned(), played)
}

async fn play(host: &Host, at: &str, session: &str) {
    let a = host.join::<A>(session).peer("b", [at]).connect();
    let played = async { a.await.unwrap().play(plain).await };
    timeout(Duration::from_secs(20), played).await.unwrap().unwrap();
}

/// The number of the first label in a frame of messages.
fn is_message(payload: &[u8]) -> bool {
    payload.first() == Some(&0)
}

#[tokio::test]
async fn first_messages_come_before_the_answer_and_names_can_be_used_again_at_once() {
    let [near, far] = [(); 2].map(|()| Host::new());
    let (place, played) = service(&far).await;
    // The kinds of the frames of both ends, in each stream but the first.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let meddle = move |_: u64, is_caller: bool, stream: u32, kind: u32, payload: Vec<u8>| {
        if kind == FRAME && stream > 0 {
            let is_hello = payload.starts_with(MAGIC);
            sees.lock().unwrap().push((stream, is_caller, is_hello, is_message(&payload)));
        }
        (piece(stream, kind, &payload), false)
    };
    let (at, connections) = meddling(place, meddle).await;
    for _ in 0..100 {
        play(&near, &at, "the same name").await;
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let seen = seen.lock().unwrap();
    for stream in 1..100 {
        let of_stream: Vec<_> = seen.iter().filter(|frame| frame.0 == stream).collect();
        let answer =
            of_stream.iter().position(|(_, is_caller, is_hello, _)| !is_caller && *is_hello);
        let message =
            of_stream.iter().position(|(_, is_caller, _, is_message)| *is_caller && *is_message);
        assert!(message.is_some() && message < answer, "{stream}: {of_stream:?}");
    }
    // The last one ends a moment later.
    assert!(played.load(Ordering::Relaxed) >= 99);
}

#[tokio::test]
async fn first_messages_whose_greeting_is_refused_reach_nobody() {
    let limits = Limits::default().join(Duration::from_millis(500));
    let (near, far) = (Host::new(), Host::with(Transports::default(), limits));
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let b = far.join::<B>("1").connect();
    let (mut a, mut b) =
        tokio::try_join!(near.join::<A>("1").peer("b", [&at]).connect(), b).unwrap();
    tokio::try_join!(plain(&mut a.role), early(&mut b.role)).unwrap();
    tokio::try_join!(a.leave(), b.leave()).unwrap();
    // The other end of the second session writes other bytes, and no message gets through to it.
    let b = tokio::spawn(far.join::<B>("2").codec(Writes::<false>::new(100)).connect());
    let mut a = near.join::<A>("2").peer("b", [&at]).connect().await.unwrap();
    plain(&mut a.role).await.unwrap_err();
    let error = a.leave().await.unwrap_err();
    assert!(matches!(&error, NetError::Refused { refusal: Refusal::Codec(_), .. }), "{error:?}");
    assert!(matches!(b.await.unwrap().map(drop), Err(NetError::Absent { .. })));
}

#[tokio::test]
async fn a_connection_that_is_cut_before_the_answer_delivers_first_messages_once() {
    for after_messages in [false, true] {
        let [near, far] = [(); 2].map(|()| Host::new());
        let (place, played) = service(&far).await;
        // The connection is cut after the greeting of the second stream, or its first message.
        let meddle =
            move |connection: u64, is_caller: bool, stream: u32, kind: u32, payload: Vec<u8>| {
                let is_hello = payload.starts_with(MAGIC);
                let is_cut = if after_messages { is_message(&payload) } else { is_hello };
                let is_cut = (connection, stream, is_caller) == (0, 1, true) && is_cut;
                // No answer gets through.
                let is_kept = (connection, stream, is_caller) == (0, 1, false);
                (if is_kept { Vec::new() } else { piece(stream, kind, &payload) }, is_cut)
            };
        let (at, connections) = meddling(place, meddle).await;
        play(&near, &at, "1").await;
        play(&near, &at, "2").await;
        play(&near, &at, "3").await;
        assert_eq!(connections.load(Ordering::Relaxed), 2);
        let has_played = async {
            while played.load(Ordering::Relaxed) < 3 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(20), has_played).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(played.load(Ordering::Relaxed), 3, "{after_messages}");
    }
}

#[tokio::test]
async fn first_messages_that_another_host_may_have_are_not_sent_again() {
    let [near, far] = [(); 2].map(|()| Host::new());
    let (place, played) = service(&far).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let meddle = move |_: u64, _: bool, stream: u32, kind: u32, payload: Vec<u8>| {
        if payload.starts_with(MAGIC) {
            hears.lock().unwrap().push(payload.clone());
        }
        (piece(stream, kind, &payload), false)
    };
    let (at, _) = meddling(place.clone(), meddle).await;
    play(&near, &at, "1").await;
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    let greeting = Greeting::read(&heard[0]);
    let Answer::Welcome(welcome) = Answer::read(&heard[1]) else { panic!() };
    let mut stranger = TcpStream::connect(place).await.unwrap();
    // A greeting after first messages to a host that has restarted since; and to this one.
    for (number, host) in [(0, welcome.host ^ 2), (1, welcome.host)] {
        let session = format!("again {number}");
        let again = Greeting { session, instance: 9, host, ..greeting.clone() };
        stranger.write_all(&piece(number, FRAME, &again.frame())).await.unwrap();
        let answer = loop {
            let (_, kind, payload) = read_piece(&mut stranger).await.unwrap();
            if kind == FRAME && payload.starts_with(MAGIC) {
                break Answer::read(&payload);
            }
        };
        match number {
            0 => assert!(matches!(answer, Answer::Refused(Refusal::Gone)), "{answer:?}"),
            _ => assert!(matches!(answer, Answer::Welcome(_)), "{answer:?}"),
        }
    }
    assert_eq!(played.load(Ordering::Relaxed), 1);
    let _ = stranger.read(&mut [0]).await;
}
