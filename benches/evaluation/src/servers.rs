//! Verified clients of `redis-server` and PostgreSQL beside the usual clients.

use std::cell::OnceCell;
use std::error::Error as StdError;
use std::iter;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use rumpsteak_servers::local::Server;
use rumpsteak_servers::{postgres, redis as ours};

use crate::processes::delayed;
use crate::{Case, Error, Figure, Mode, Of, Result, Sample, Series, Unit, XAxis, YAxis};

const REDIS: &str = "servers-redis";
const POSTGRES: &str = "servers-postgres";

/// How many requests are in a batch.
const BATCH: usize = 100;

/// The number of answered requests per second.
type Rate = Result<f64, Box<dyn StdError>>;

/// Both.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    let figure = |name, title, about, peer: [Series; 2], points, cases, notes| Figure {
        name,
        title,
        about,
        x: XAxis { label: "delay of each way", log: false, names: &["none", "1 ms"] },
        y: YAxis { label: "requests a second", log: true, scale: 1.0 },
        series: [
            series(
                "in order",
                Of::Ours,
                "the order of the protocol: each request waits for the answer to the one before",
            ),
            series(
                "pipelined",
                Of::Ours,
                "a batch is sent before its answers are read: another order, verified",
            ),
        ]
        .into_iter()
        .chain(peer)
        .collect(),
        points,
        cases,
        notes,
    };
    vec![
        figure(
            REDIS,
            "A client of `redis-server`",
            "A hundred commands in a batch, `SET` and `GET` of 100 bytes, over the loopback; at 1 ms through a proxy that passes everything on so much later, in both \
             directions. One thread.",
            [
                series("`redis`", Of::Peer, "the crate `redis`, one command after the other"),
                series("`redis`, pipelined", Of::Peer, "its pipelines"),
            ],
            |_| if Server::has_redis() { vec![0, 1] } else { vec![] },
            redis_cases,
            "",
        ),
        figure(
            POSTGRES,
            "A client of PostgreSQL",
            "A hundred queries in a batch, `SELECT $1::text`, as above.",
            [
                series("`tokio-postgres`", Of::Peer, "one query after the other"),
                series(
                    "`tokio-postgres`, pipelined",
                    Of::Peer,
                    "the queries of a batch at once, by `try_join_all`",
                ),
            ],
            |_| if Server::has_postgres() { vec![0, 1] } else { vec![] },
            postgres_cases,
            "A batch is one transaction here, with one `Sync` behind it; `tokio-postgres` has one behind each query.",
        ),
    ]
}

/// A server that is started when it is first needed, and its address.
type Lazy = Rc<OnceCell<(Server, SocketAddr)>>;

/// A case: so many batches of a client, counted in requests a second.
fn case(
    figure: &'static str,
    series: &'static str,
    x: u64,
    server: &Lazy,
    client: impl AsyncFn(SocketAddr, usize) -> Rate + 'static,
    batches: usize,
) -> Case {
    let server = Rc::clone(server);
    Case::new(figure, series, x, Unit::PerSecond, move || {
        let at = match server.get() {
            Some((_, at)) => *at,
            None => {
                let started = if figure == REDIS { Server::redis() } else { Server::postgres() };
                let started = started.map_err(Error::wrong)?;
                let at = match x {
                    0 => started.address,
                    delay => delayed(started.address, Duration::from_millis(delay))?,
                };
                // It was not set a moment ago.
                let _ = server.set((started, at));
                at
            }
        };
        let rate = crate::tasks::one_thread_of_sockets()?.block_on(client(at, batches));
        Ok(Sample::of(rate.map_err(Error::wrong)?))
    })
}

/// How many batches a sample has, in order and pipelined: enough for some tens of milliseconds.
fn batches(x: u64) -> (usize, usize) {
    if x == 0 { (20, 200) } else { (1, 20) }
}

fn redis_cases(x: u64, _: Mode) -> Result<Vec<Case>> {
    let (server, (few, many)) = (Lazy::default(), batches(x));
    Ok(vec![
        case(REDIS, "in order", x, &server, redis_in_order, few),
        case(REDIS, "pipelined", x, &server, redis_pipelined, many),
        case(REDIS, "`redis`", x, &server, redis_crate, few),
        case(REDIS, "`redis`, pipelined", x, &server, redis_crate_pipelined, many),
    ])
}

fn postgres_cases(x: u64, _: Mode) -> Result<Vec<Case>> {
    let (server, (few, many)) = (Lazy::default(), batches(x));
    let many = many / 4;
    Ok(vec![
        case(POSTGRES, "in order", x, &server, postgres_in_order, few),
        case(POSTGRES, "pipelined", x, &server, postgres_pipelined, many),
        case(POSTGRES, "`tokio-postgres`", x, &server, postgres_crate, few),
        case(POSTGRES, "`tokio-postgres`, pipelined", x, &server, postgres_crate_pipelined, many),
    ])
}

/// The rate of so many batches since then.
fn rate(batches: usize, start: Instant) -> Rate {
    Ok((batches * BATCH) as f64 / start.elapsed().as_secs_f64())
}

/// Checks how many answers came.
fn complete(answers: usize, expected: usize) -> Result<()> {
    crate::tasks::expect(&answers, &expected)
}

const VALUE: [u8; 100] = [b'x'; 100];

fn commands() -> Vec<ours::Command> {
    let command = |number: usize| {
        let key = format!("key:{number}");
        if number.is_multiple_of(2) {
            ours::command(&[b"SET", key.as_bytes(), &VALUE])
        } else {
            ours::command(&[b"GET", key.as_bytes()])
        }
    };
    (0..BATCH).map(command).collect()
}

async fn redis_in_order(at: SocketAddr, batches: usize) -> Rate {
    let (mut client, _bridge) = ours::connect(at).await?;
    let (start, mut answers) = (Instant::now(), 0);
    let commands = iter::repeat_with(commands).take(batches);
    ours::in_order(&mut client, commands, |replies| answers += replies.len()).await?;
    complete(answers, batches * BATCH)?;
    rate(batches, start)
}

async fn redis_pipelined(at: SocketAddr, batches: usize) -> Rate {
    let (mut client, _bridge) = ours::connect(at).await?;
    let (start, mut answers) = (Instant::now(), 0);
    let commands = iter::repeat_with(commands).take(batches);
    ours::pipelined(&mut client, commands, |replies| answers += replies.len()).await?;
    complete(answers, batches * BATCH)?;
    rate(batches, start)
}

fn usual_command(number: usize) -> redis::Cmd {
    let key = format!("key:{number}");
    if number.is_multiple_of(2) {
        redis::cmd("SET").arg(key).arg(&VALUE).take()
    } else {
        redis::cmd("GET").arg(key).take()
    }
}

async fn redis_crate(at: SocketAddr, batches: usize) -> Rate {
    let client = redis::Client::open(format!("redis://{at}"))?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let start = Instant::now();
    for number in 0..batches * BATCH {
        let _: redis::Value = usual_command(number % BATCH).query_async(&mut connection).await?;
    }
    rate(batches, start)
}

async fn redis_crate_pipelined(at: SocketAddr, batches: usize) -> Rate {
    let client = redis::Client::open(format!("redis://{at}"))?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let start = Instant::now();
    for _ in 0..batches {
        let mut pipe = redis::pipe();
        for number in 0..BATCH {
            pipe.add_command(usual_command(number));
        }
        let replies: Vec<redis::Value> = pipe.query_async(&mut connection).await?;
        complete(replies.len(), BATCH)?;
    }
    rate(batches, start)
}

const QUERY: &str = "SELECT $1::text";

fn asked() -> postgres::Batch {
    let parameters = (0..BATCH).map(|number| vec![number.to_string()]).collect();
    postgres::Batch { query: QUERY.to_owned(), parameters }
}

async fn postgres_in_order(at: SocketAddr, batches: usize) -> Rate {
    let (mut frontend, _bridge) = postgres::connect(at, "postgres").await?;
    let start = Instant::now();
    let asked = iter::repeat_with(asked).take(batches);
    let results = postgres::in_order(&mut frontend, asked).await?;
    complete(results.iter().map(Vec::len).sum(), batches * BATCH)?;
    rate(batches, start)
}

async fn postgres_pipelined(at: SocketAddr, batches: usize) -> Rate {
    let (mut frontend, _bridge) = postgres::connect(at, "postgres").await?;
    let start = Instant::now();
    let asked = iter::repeat_with(asked).take(batches);
    let results = postgres::pipelined(&mut frontend, asked).await?;
    complete(results.iter().map(Vec::len).sum(), batches * BATCH)?;
    rate(batches, start)
}

/// The usual client, connected.
async fn usual_postgres(at: SocketAddr) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let config = format!("host={} port={} user=postgres", at.ip(), at.port());
    let (client, connection) = tokio_postgres::connect(&config, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn postgres_crate(at: SocketAddr, batches: usize) -> Rate {
    let client = usual_postgres(at).await?;
    let start = Instant::now();
    let statement = client.prepare(QUERY).await?;
    for number in 0..batches * BATCH {
        client.query(&statement, &[&(number % BATCH).to_string()]).await?;
    }
    rate(batches, start)
}

async fn postgres_crate_pipelined(at: SocketAddr, batches: usize) -> Rate {
    let client = usual_postgres(at).await?;
    let start = Instant::now();
    let statement = client.prepare(QUERY).await?;
    for _ in 0..batches {
        let asked = (0..BATCH).map(|number| {
            let (client, statement) = (&client, &statement);
            async move { client.query(statement, &[&number.to_string()]).await }
        });
        complete(try_join_all(asked).await?.len(), BATCH)?;
    }
    rate(batches, start)
}
