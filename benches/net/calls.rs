//! Sessions and the calls of `tarpc` and `tonic`, in turns, over one TCP connection each.
//!
//! A call is a request of so many bytes and an answer of as many. A short session is the same, with
//! its beginning and its end; its roles join and leave, except in one row: there they have joined
//! once, and play one session after the other. In the rows of one way, a session sends values
//! without waiting, and many calls with an empty answer are under way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::prelude::*;
use rumpsteak_net::{Blob, Host, Joined};
use rumpsteak_runtime::{Error, try_run};
use tarpc::client::Config;
use tarpc::context::{self, Context};
use tarpc::serde_transport::tcp;
use tarpc::server::{BaseChannel, Channel as _};
use tarpc::tokio_serde::formats::Bincode;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server as TonicServer};
use tonic::{Request, Response, Status};

#[rumpsteak_runtime::protocol(
    Call,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod call {}

#[rumpsteak_runtime::protocol(
    Echo,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod echo {}

#[rumpsteak_runtime::protocol(
    Stream,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod stream {}

#[tarpc::service]
trait Service {
    async fn echo(bytes: Blob) -> Blob;
    async fn take(bytes: Blob);
}

#[derive(Clone)]
struct Server;

impl Service for Server {
    async fn echo(self, _: Context, bytes: Blob) -> Blob {
        bytes
    }

    async fn take(self, _: Context, _: Blob) {}
}

/// A message of `tonic`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Payload {
    #[prost(bytes = "bytes", tag = "1")]
    bytes: bytes::Bytes,
}

/// The client and the server that `build.rs` generates.
pub mod grpc {
    tonic::include_proto!("calls.Bytes");
}
use grpc::bytes_client::BytesClient;
use grpc::bytes_server::{self, BytesServer};

#[tonic::async_trait]
impl bytes_server::Bytes for Server {
    async fn echo(&self, request: Request<Payload>) -> Result<Response<Payload>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn take(&self, _: Request<Payload>) -> Result<Response<Payload>, Status> {
        Ok(Response::new(Payload::default()))
    }
}

/// A client of `tonic` that is connected with a server.
async fn tonic_client() -> BytesClient<Channel> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let router = TonicServer::builder().add_service(BytesServer::new(Server));
    tokio::spawn(router.serve_with_incoming(incoming));
    BytesClient::connect(format!("http://{at}")).await.unwrap()
}

fn payload(size: usize) -> Blob {
    vec![7; size].into()
}

/// A client of `tarpc` that is connected with a server, which has a task for each call.
async fn tarpc_client() -> ServiceClient {
    let mut listener = tcp::listen("127.0.0.1:0", Bincode::default).await.unwrap();
    let at = listener.local_addr();
    tokio::spawn(async move {
        let transport = listener.next().await.unwrap().unwrap();
        let requests = BaseChannel::with_defaults(transport).execute(Server.serve());
        requests.for_each(|answer| async { drop(tokio::spawn(answer)) }).await;
    });
    let mut config = Config::default();
    config.pending_request_buffer = 1024;
    config.max_in_flight_requests = 1024;
    ServiceClient::new(config, tcp::connect(at, Bincode::default).await.unwrap()).spawn()
}

/// The time of each of so many tasks, with so many of them under way at once.
async fn each<F>(count: usize, at_once: usize, one: impl Fn(usize) -> F) -> Duration
where
    F: Future<Output = ()> + Send + 'static,
{
    let began = Instant::now();
    let tasks = futures::stream::iter(0..count).map(|number| tokio::spawn(one(number)));
    tasks.buffer_unordered(at_once).for_each(async |ended| ended.unwrap()).await;
    began.elapsed() / count as u32
}

/// A host that calls, one that serves short sessions, and the address of the second.
async fn hosts() -> (Host, Host, Arc<str>) {
    let (near, far) = (Host::new(), Host::new());
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let mut service = far.serve::<call::S>();
    tokio::spawn(async move {
        while let Some(join) = service.next().await {
            tokio::spawn(async move { serve(join.connect().await.unwrap()).await });
        }
    });
    (near, far, at.into())
}

async fn answer(role: &mut call::S) -> Result<(), Error> {
    try_run(role, async |session: call::SSession<'_>| {
        let (call::Ask(bytes), session) = session.receive().await?;
        Ok(((), session.send(call::Answer(bytes)).await?))
    })
    .await
}

async fn ask(role: &mut call::C) -> Result<usize, Error> {
    try_run(role, async |session: call::CSession<'_>| {
        let session = session.send(call::Ask(payload(100))).await?;
        let (call::Answer(bytes), end) = session.receive().await?;
        Ok((bytes.len(), end))
    })
    .await
}

async fn serve(server: Joined<call::S>) {
    server.play(answer).await.unwrap();
}

async fn short_session(near: Host, at: Arc<str>, name: String) {
    let client = near.join::<call::C>(name).peer("s", [&at]).connect().await.unwrap();
    assert_eq!(client.play(ask).await.unwrap(), 100);
}

/// The time of each of so many short sessions, which the same roles play one after the other.
async fn successive(near: &Host, at: &str, count: usize) -> Duration {
    // Another host than the one that serves one session of each name.
    let far = Host::new();
    let at = far.listen(&format!("{}:0", &at[..at.rfind(':').unwrap()])).await.unwrap();
    let client = near.join::<call::C>("successive").peer("s", [at.to_string()]).connect();
    let (client, server) =
        tokio::try_join!(client, far.join::<call::S>("successive").connect()).unwrap();
    let serves = tokio::spawn(server.play(async move |role: &mut call::S| {
        for _ in 0..count {
            answer(role).await?;
        }
        Ok::<_, Error>(())
    }));
    let began = Instant::now();
    let asks = tokio::spawn(client.play(async move |role: &mut call::C| {
        for _ in 0..count {
            assert_eq!(ask(role).await?, 100);
        }
        Ok::<_, Error>(())
    }));
    let (asked, served) = tokio::try_join!(asks, serves).unwrap();
    asked.and(served).unwrap();
    began.elapsed() / count as u32
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The median time of a request and its answer, in a session that has begun.
async fn round_trip(near: &Host, far: &Host, at: &str) -> Duration {
    let client = near.join::<echo::C>("echo").peer("s", [at]).connect();
    let (client, server) = tokio::try_join!(client, far.join::<echo::S>("echo").connect()).unwrap();
    let serves = tokio::spawn(server.play(async |role: &mut echo::S| {
        try_run(role, async |mut session: echo::SSession<'_>| {
            loop {
                match session.branch().await? {
                    echo::SAskChoice::Ask(echo::Ask(bytes), next) => {
                        session = next.send(echo::Answer(bytes)).await?;
                    }
                    echo::SAskChoice::Stop(echo::Stop, end) => return Ok::<_, Error>(((), end)),
                }
            }
        })
        .await
    }));
    let asks = tokio::spawn(client.play(async |role: &mut echo::C| {
        try_run(role, async |mut session: echo::CSession<'_>| {
            let mut times = Vec::new();
            for _ in 0..2_000 {
                let began = Instant::now();
                let next = session.select(echo::Ask(payload(100))).await?;
                (_, session) = next.receive().await?;
                times.push(began.elapsed());
            }
            Ok::<_, Error>((times, session.select(echo::Stop).await?))
        })
        .await
    }));
    let (times, served) = tokio::try_join!(asks, serves).unwrap();
    served.unwrap();
    median(times.unwrap())
}

/// The time of each of so many values in one direction.
async fn one_way(near: &Host, far: &Host, at: &str, size: usize, count: usize) -> Duration {
    let from = near.join::<stream::F>("stream").peer("t", [at]).connect();
    let (from, to) = tokio::try_join!(from, far.join::<stream::T>("stream").connect()).unwrap();
    let began = Instant::now();
    let sends = tokio::spawn(from.play(async move |role: &mut stream::F| {
        try_run(role, async |mut session: stream::FSession<'_>| {
            for _ in 0..count {
                session = session.select(stream::Value(payload(size))).await?;
            }
            let (stream::Done, end) = session.select(stream::Stop).await?.receive().await?;
            Ok::<_, Error>(((), end))
        })
        .await
    }));
    let receives = tokio::spawn(to.play(async |role: &mut stream::T| {
        try_run(role, async |mut session: stream::TSession<'_>| {
            loop {
                match session.branch().await? {
                    stream::TValueChoice::Value(stream::Value(_), next) => session = next,
                    stream::TValueChoice::Stop(stream::Stop, next) => {
                        return Ok::<_, Error>(((), next.send(stream::Done).await?));
                    }
                }
            }
        })
        .await
    }));
    let (sent, received) = tokio::try_join!(sends, receives).unwrap();
    sent.and(received).unwrap();
    began.elapsed() / count as u32
}

/// The median time of so many calls, one after the other.
async fn p50<F>(call: impl Fn(usize) -> F + Send + 'static) -> Duration
where
    F: Future<Output = ()> + Send,
{
    let calls = async move {
        let mut times = Vec::new();
        for number in 0..2_000 {
            let began = Instant::now();
            call(number).await;
            times.push(began.elapsed());
        }
        median(times)
    };
    tokio::spawn(calls).await.unwrap()
}

/// Prints the medians of sessions and of calls, and how many times as many sessions there are.
pub(crate) async fn compare(name: &str) {
    let (near, far, at) = hosts().await;
    let (tarpc, tonic) = (tarpc_client().await, tonic_client().await);
    let short = |number| short_session(near.clone(), Arc::clone(&at), format!("{number}"));
    let tarpc_echo = |size| {
        let client = tarpc.clone();
        move |_| {
            let client = client.clone();
            async move { drop(client.echo(context::current(), payload(size)).await.unwrap()) }
        }
    };
    let tarpc_take = |size| {
        let client = tarpc.clone();
        move |_| {
            let client = client.clone();
            async move { client.take(context::current(), payload(size)).await.unwrap() }
        }
    };
    let tonic_echo = |size| {
        let client = tonic.clone();
        move |_| {
            let (mut client, bytes) = (client.clone(), vec![7; size].into());
            async move { drop(client.echo(Payload { bytes }).await.unwrap()) }
        }
    };
    let tonic_take = |size| {
        let client = tonic.clone();
        move |_| {
            let (mut client, bytes) = (client.clone(), vec![7; size].into());
            async move { drop(client.take(Payload { bytes }).await.unwrap()) }
        }
    };
    let mut rows = [const { [Vec::new(), Vec::new(), Vec::new()] }; 6];
    for _ in 0..9 {
        for (row, at_once) in [(0, 1), (1, 32)] {
            rows[row][0].push(each(1_000, at_once, short).await);
            rows[row][1].push(each(1_000, at_once, tarpc_echo(100)).await);
            rows[row][2].push(each(1_000, at_once, tonic_echo(100)).await);
        }
        rows[2][0].push(successive(&near, &at, 1_000).await);
        rows[2][1] = rows[0][1].clone();
        rows[2][2] = rows[0][2].clone();
        rows[3][0].push(round_trip(&near, &far, &at).await);
        rows[3][1].push(p50(tarpc_echo(100)).await);
        rows[3][2].push(p50(tonic_echo(100)).await);
        for (row, size, count, at_once) in [(4, 100, 20_000, 1_000), (5, 64 << 10, 2_000, 32)] {
            rows[row][0].push(one_way(&near, &far, &at, size, count).await);
            rows[row][1].push(each(count, at_once, tarpc_take(size)).await);
            rows[row][2].push(each(count, at_once, tonic_take(size)).await);
        }
    }
    let names = [
        "short, one at a time",
        "short, 32 at once",
        "short, of roles that stay",
        "100 B, p50 of a round trip",
        "100 B, one way",
        "64 KiB, one way",
    ];
    for (row, times) in names.iter().zip(rows) {
        let [session, tarpc, tonic] = times.map(median);
        let [to_tarpc, to_tonic] =
            [tarpc, tonic].map(|call| call.as_secs_f64() / session.as_secs_f64());
        println!(
            "{name}: {row}: session {session:?}, tarpc {tarpc:?}, tonic {tonic:?}, \
             rate {to_tarpc:.2} x tarpc, {to_tonic:.2} x tonic"
        );
    }
}
