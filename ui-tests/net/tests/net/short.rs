//! Short sessions over a shared connection: how often their roles wait for a message to travel.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rumpsteak::{Result, try_run};
use rumpsteak_net::{Host, Joined};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::shared::{FRAME, meddling, piece};

#[rumpsteak::protocol(
    Call,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod call {}
use call::{Ask, C, CSession, Reply, S, SSession};

async fn ask(joined: Joined<C>, number: u64) -> Result<u64> {
    joined.play(async |role| asks(role, number).await).await
}

async fn asks(role: &mut C, number: u64) -> Result<u64> {
    try_run(role, async |s: CSession<'_>| {
        let (Reply(reply), end) = s.send(Ask(number)).await?.receive().await?;
        Ok((reply, end))
    })
    .await
}

async fn answer(joined: Joined<S>) -> Result<()> {
    let answers = async |role: &mut S| {
        try_run(role, async |s: SSession<'_>| {
            let (Ask(number), s) = s.receive().await?;
            Ok(((), s.send(Reply(number + 1)).await?))
        })
        .await
    };
    joined.play(answers).await
}

/// Answers in every session at this host. The results of the sessions.
fn serve(host: &Host) -> mpsc::UnboundedReceiver<Result<()>> {
    let (mut service, (ended, results)) = (host.serve::<S>(), mpsc::unbounded_channel());
    tokio::spawn(async move {
        while let Some(join) = service.next().await {
            let ended = ended.clone();
            tokio::spawn(async move { ended.send(answer(join.connect().await.unwrap()).await) });
        }
    });
    results
}

/// The time that bytes need to the other end.
const TRIP: Duration = Duration::from_millis(10);

async fn travel(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (sender, mut receiver) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        while let Some((at, bytes)) = receiver.recv().await {
            sleep_until(at).await;
            to.write_all(&bytes).await?;
        }
        io::Result::Ok(())
    });
    let mut bytes = [0; 1 << 16];
    loop {
        let count = from.read(&mut bytes).await?;
        if count == 0 || sender.send((Instant::now() + TRIP, bytes[..count].to_vec())).is_err() {
            return Ok(());
        }
    }
}

/// Two hosts, and an address at which the second one is a trip away.
async fn far_apart(name: &str) -> (Host, Host, String) {
    let place = |end: &str| {
        let file = format!("rumpsteak-short-{name}-{end}-{}", std::process::id());
        std::env::temp_dir().join(file)
    };
    let (host, proxy) = (place("host"), place("proxy"));
    let (near, far) = (Host::new(), Host::new());
    far.listen(&format!("unix://{}", host.display())).await.unwrap();
    let _ = std::fs::remove_file(&proxy);
    let (listener, at) =
        (UnixListener::bind(&proxy).unwrap(), format!("unix://{}", proxy.display()));
    tokio::spawn(async move {
        while let Ok((caller, _)) = listener.accept().await {
            let called = UnixStream::connect(&host).await.unwrap();
            let ((near_in, near_out), (far_in, far_out)) =
                (caller.into_split(), called.into_split());
            tokio::spawn(travel(near_in, far_out));
            tokio::spawn(travel(far_in, near_out));
        }
    });
    (near, far, at)
}

/// The number of trips since then.
fn trips(began: Instant) -> u128 {
    (began.elapsed().as_millis() + 2) / TRIP.as_millis()
}

/// The last two trips are the end of the role, and its acknowledgement.
#[tokio::test(start_paused = true)]
async fn a_short_session_takes_six_trips_and_four_to_its_result() {
    let (near, far, at) = far_apart("six").await;
    let mut results = serve(&far);
    for number in 0..4 {
        let name = number.to_string();
        let began = Instant::now();
        let mut joined = near.join::<C>(&name).peer("s", [&at]).connect().await.unwrap();
        assert_eq!(trips(began), 2, "to join, and to be welcome");
        if number % 2 == 0 {
            assert_eq!(ask(joined, number).await.unwrap(), number + 1);
            assert_eq!(trips(began), 6, "session {number}");
        } else {
            assert_eq!(asks(&mut joined.role, number).await.unwrap(), number + 1);
            assert_eq!(trips(began), 4, "session {number}");
            tokio::spawn(joined.leave());
        }
    }
    for _ in 0..4 {
        assert!(results.recv().await.unwrap().is_ok());
    }
}

/// The host of the peer hears of the next session before or after it has the end of the last one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_name_of_a_session_is_free_once_its_role_has_left() {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let mut results = serve(&far);
    for number in 0..1_000 {
        let joined = near.join::<C>("1").peer("s", [&at]).connect().await.unwrap();
        assert_eq!(ask(joined, number).await.unwrap(), number + 1);
    }
    for _ in 0..1_000 {
        assert!(results.recv().await.unwrap().is_ok());
    }
}

/// The last frame of a role that has ended.
fn is_end(kind: u32, payload: &[u8]) -> bool {
    kind == FRAME && payload.len() == 17 && payload[0] == 1
}

/// The end of each second session is lost with its connection.
#[tokio::test]
async fn a_program_may_end_once_its_role_has_left() {
    let far = Host::new();
    let place = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let mut results = serve(&far);
    let ends = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&ends);
    let meddle = move |_: u64, is_caller: bool, stream: u32, kind: u32, payload: Vec<u8>| {
        let cuts = is_caller
            && is_end(kind, &payload)
            && counted.fetch_add(1, Ordering::SeqCst).is_multiple_of(3);
        (if cuts { Vec::new() } else { piece(stream, kind, &payload) }, cuts)
    };
    let (at, _) = meddling(place.replace("tcp://", ""), meddle).await;
    for number in 0..100 {
        let at = at.clone();
        let program = tokio::task::spawn_blocking(move || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let joined = Host::new().join::<C>("1").peer("s", [&at]).connect().await.unwrap();
                ask(joined, number).await.unwrap()
            })
        });
        assert!(timeout(Duration::from_secs(10), results.recv()).await.unwrap().unwrap().is_ok());
        assert_eq!(program.await.unwrap(), number + 1);
    }
    // Each second session has a second end.
    assert_eq!(ends.load(Ordering::SeqCst), 150);
}
