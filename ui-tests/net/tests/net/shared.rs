//! Sessions that share the connection of their hosts: none waits for another, and bad input on one
//! stream hurts no other.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use rumpsteak_net::{Host, Refusal};
use rumpsteak_oracle::seeds;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::handshake::{Answer, Greeting, MAGIC};
use crate::shop::{C, expected, order as order_one};
use crate::strangers::{order, serve};
use crate::transports::Authority;

pub(crate) const FRAME: u32 = 0;
pub(crate) const PART: u32 = 1;
pub(crate) const GRANT: u32 = 2;
pub(crate) const END: u32 = 3;

/// A piece of a stream with this number.
pub(crate) fn piece(number: u32, kind: u32, payload: &[u8]) -> Vec<u8> {
    let head = number << 3 | kind;
    [&(payload.len() as u32).to_be_bytes()[..], &head.to_be_bytes(), payload].concat()
}

pub(crate) async fn read_piece(
    from: &mut (impl AsyncRead + Unpin),
) -> io::Result<(u32, u32, Vec<u8>)> {
    let (size, head) = (from.read_u32().await?, from.read_u32().await?);
    let mut payload = vec![0; size as usize];
    from.read_exact(&mut payload).await?;
    Ok((head >> 3, head & 7, payload))
}

/// The bytes that take the place of a piece; and true if the connection is cut after them.
pub(crate) type Meddled = (Vec<u8>, bool);

/// A proxy that meddles with the pieces of each connection, given the number of the connection and
/// true for a piece of the caller; and the number of connections.
pub(crate) async fn meddling<F>(to: String, meddle: F) -> (String, Arc<AtomicU64>)
where
    F: FnMut(u64, bool, u32, u32, Vec<u8>) -> Meddled + Clone + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (at, count) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    let made = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let number = made.fetch_add(1, Ordering::Relaxed);
            let Ok(far) = TcpStream::connect(&to).await else { continue };
            let (near, far) = (near.into_split(), far.into_split());
            let pass = |(mut from, mut to), is_caller| {
                let mut meddle = meddle.clone();
                async move {
                    while let Ok((stream, kind, payload)) = read_piece(&mut from).await {
                        let (bytes, is_cut) = meddle(number, is_caller, stream, kind, payload);
                        let _ = tokio::io::AsyncWriteExt::write_all(&mut to, &bytes).await;
                        if is_cut {
                            break;
                        }
                    }
                    drop((from, to));
                }
            };
            let (forth, back) = (pass((near.0, far.1), true), pass((far.0, near.1), false));
            // If one direction is cut, both are.
            tokio::spawn(async {
                tokio::select! { () = forth => {}, () = back => {} }
            });
        }
    });
    (format!("tcp://{at}"), count)
}

/// Plays so many sessions at once, with the services at this address.
async fn sessions(host: &Host, at: &str, many: u64, what: &str) {
    let mut orders = JoinSet::new();
    for number in 0..many {
        let (host, at, name) = (host.clone(), at.to_owned(), format!("{what} {number}"));
        orders.spawn(async move { (order(&host, &name, [&at, &at]).await, name) });
    }
    let played = async {
        while let Some(Ok((sums, name))) = orders.join_next().await {
            assert_eq!(sums, Ok(expected(20)), "{name}");
        }
    };
    timeout(Duration::from_secs(60), played).await.unwrap_or_else(|_| panic!("{what} hangs"));
}

#[tokio::test]
async fn sessions_of_two_hosts_share_a_connection_of_any_transport() {
    let authority = Authority::new();
    let socket = std::env::temp_dir().join(format!("rumpsteak-shared-{}", std::process::id()));
    let unix = format!("unix://{}", socket.display());
    for at in [
        "tcp://127.0.0.1:0",
        "tls://127.0.0.1:0",
        "wss://127.0.0.1:0",
        "ws://127.0.0.1:0",
        "quic://127.0.0.1:0",
        &unix,
    ] {
        let [near, far] = [(); 2].map(|()| authority.host("*.shop.rumpsteak"));
        let place = serve(&far, [at]).await.pop().unwrap();
        if at == unix || at.starts_with("quic") {
            sessions(&near, &place, 50, at).await;
            continue;
        }
        let (scheme, place) = place.split_once("://").unwrap();
        let (proxy, connections) = crate::service::proxy(place.to_owned(), u64::MAX).await;
        let at = proxy.replace("tcp", scheme);
        for round in 0..2 {
            sessions(&near, &at, 50, &format!("{at} {round}")).await;
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1, "{at}");
    }
}

#[tokio::test]
async fn no_stream_waits_for_another() {
    let [near, far] = [(); 2].map(|()| Host::new());
    let place = serve(&far, ["tcp://127.0.0.1:0"]).await.pop().unwrap();
    // The first session is never granted more bytes, nor are its messages acknowledged.
    let meddle = |_: u64, is_caller: bool, stream: u32, kind: u32, payload: Vec<u8>| {
        let is_kept = !is_caller && stream < 2 && !payload.starts_with(MAGIC);
        (if is_kept { Vec::new() } else { piece(stream, kind, &payload) }, false)
    };
    let (at, connections) = meddling(place.replace("tcp://", ""), meddle).await;
    let mut c = near.join::<C>("stuck").peer("s", [&at]).peer("l", [&at]).connect().await.unwrap();
    let stuck = tokio::spawn(async move { order_one(&mut c.role, "x".repeat(10_000_000)).await });
    for round in 0..5 {
        sessions(&near, &at, 20, &format!("beside it, {round}")).await;
    }
    assert!(!stuck.is_finished());
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    stuck.abort();
}

#[tokio::test]
async fn a_stream_that_breaks_the_rules_ends_alone() {
    // Too many bytes of one frame, and bytes that do not make a frame; at either end.
    for (is_callers, kind, many) in
        [(true, PART, 200), (false, PART, 200), (true, FRAME, 500), (false, FRAME, 500)]
    {
        let [near, far] = [(); 2].map(|()| Host::new());
        let place = serve(&far, ["tcp://127.0.0.1:0"]).await.pop().unwrap();
        let meddle =
            move |_: u64, is_caller: bool, stream: u32, kind_now: u32, payload: Vec<u8>| {
                let mut bytes = piece(stream, kind_now, &payload);
                if is_caller == is_callers
                    && stream == 0
                    && kind_now == FRAME
                    && !payload.starts_with(MAGIC)
                {
                    bytes.extend(piece(0, kind, &[7; 100_000]).repeat(many));
                }
                (bytes, false)
            };
        let (at, connections) = meddling(place.replace("tcp://", ""), meddle).await;
        let failed = order(&near, "flooded", [&at, &at]).await.unwrap_err();
        assert!(!failed.contains("lost"), "{failed}");
        sessions(&near, &at, 20, "beside it").await;
        assert_eq!(connections.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn who_sends_more_than_a_window_before_it_is_welcome_ends_that_stream() {
    let [near, far] = [(); 2].map(|()| Host::new());
    let place = serve(&far, ["tcp://127.0.0.1:0"]).await.pop().unwrap();
    let heard = Arc::new(Mutex::new(None));
    let hears = Arc::clone(&heard);
    let meddle = move |_: u64, _: bool, stream: u32, kind: u32, payload: Vec<u8>| {
        if payload.starts_with(MAGIC) {
            hears.lock().unwrap().get_or_insert_with(|| Greeting::read(&payload));
        }
        (piece(stream, kind, &payload), false)
    };
    let (at, _) = meddling(place.replace("tcp://", ""), meddle).await;
    sessions(&near, &at, 1, "overheard").await;
    let greeting = heard.lock().unwrap().take().unwrap();
    let mut stranger = TcpStream::connect(place.replace("tcp://", "")).await.unwrap();
    // No role of this name plays here, so the host waits.
    let unknown = Greeting { protocol: "Other".to_owned(), ..greeting.clone() };
    stranger.write_all(&piece(0, FRAME, &unknown.frame())).await.unwrap();
    for _ in 0..3 {
        stranger.write_all(&piece(0, FRAME, &[7; 60_000])).await.unwrap();
    }
    let ended = timeout(Duration::from_secs(4), read_piece(&mut stranger)).await.unwrap().unwrap();
    assert_eq!(ended, (0, END, Vec::new()));
    // Its other streams are heard.
    stranger.write_all(&piece(1, END, &[])).await.unwrap();
    let greeting = Greeting { session: "new".to_owned(), instance: 9, ..greeting }.codec("other");
    stranger.write_all(&piece(2, FRAME, &greeting.frame())).await.unwrap();
    let (number, _, answer) = read_piece(&mut stranger).await.unwrap();
    let answer = Answer::read(&answer);
    assert!(number == 2 && matches!(answer, Answer::Refused(Refusal::Codec(_))), "{answer:?}");
    // A number that does not exist ends the connection.
    stranger.write_all(&piece(4, GRANT, &[0; 4])).await.unwrap();
    let rest = timeout(Duration::from_secs(1), stranger.read_to_end(&mut Vec::new())).await;
    rest.unwrap().unwrap_or_default();
}

#[tokio::test]
async fn a_connection_that_is_cut_anywhere_loses_nothing_of_its_sessions() {
    let (mut cuts, mut all) = (0, 0);
    for seed in seeds(10) {
        let [near, far] = [(); 2].map(|()| Host::new());
        let place = serve(&far, ["tcp://127.0.0.1:0"]).await.pop().unwrap();
        let random = Arc::new(Mutex::new(Rng::with_seed(seed)));
        let meddle = move |_: u64, _: bool, stream: u32, kind: u32, payload: Vec<u8>| {
            let (mut random, mut bytes) = (random.lock().unwrap(), piece(stream, kind, &payload));
            let is_cut = random.u8(..) == 0;
            if is_cut && random.bool() {
                bytes.truncate(random.usize(..bytes.len()));
            } else if is_cut {
                // A stream that does not exist.
                bytes.extend(piece(stream + 10_000, kind, &payload));
            }
            (bytes, is_cut)
        };
        let (at, connections) = meddling(place.replace("tcp://", ""), meddle).await;
        sessions(&near, &at, 20, &format!("seed {seed}")).await;
        (cuts, all) = (cuts + connections.load(Ordering::Relaxed) - 1, all + 20);
    }
    println!("{all} sessions, {cuts} connections cut");
    assert!(cuts > 0);
}

#[tokio::test]
async fn five_hundred_calls_at_once_need_no_second_connection() {
    let [near, far] = [(); 2].map(|()| Host::new());
    let place = serve(&far, ["tcp://127.0.0.1:0"]).await.pop().unwrap();
    let (at, connections) = crate::service::proxy(place.replace("tcp://", ""), u64::MAX).await;
    let began = Instant::now();
    sessions(&near, &at, 500, "at once").await;
    println!("500 sessions in {:?}", began.elapsed());
    sleep(Duration::from_millis(10)).await;
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_role_that_is_not_polled_keeps_no_connection_from_others() {
    let (services, clients) = (Host::new(), Host::new());
    let at = serve(&services, ["tcp://127.0.0.1:0"]).await.remove(0);
    let join = clients.join::<C>("1").peer("s", [&at]).peer("l", [&at]);
    let mut first = std::pin::pin!(join.connect());
    std::future::poll_fn(|context| {
        assert!(first.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    let ordered = timeout(Duration::from_secs(5), order(&clients, "2", [&at, &at])).await;
    assert_eq!(ordered.unwrap(), Ok(expected(20)));
    let mut joined = first.await.unwrap();
    assert_eq!(order_one(&mut joined.role, "x".into()).await.unwrap(), (1, 1));
    joined.leave().await.unwrap();
}
