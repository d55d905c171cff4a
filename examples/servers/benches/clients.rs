//! The clients beside the usual ones, over loopback and where each way takes a millisecond more:
//! how many requests a second are answered, a hundred in a batch.
//!
//! `cargo bench -p rumpsteak-servers`
//!
//! A batch of PostgreSQL's is one transaction here, with one `Sync` behind it; `tokio-postgres` has
//! one behind each query.
//!
//! All are measured in turns, because the clock of a machine changes; the lines at the end have the
//! medians, and those of the ratios.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures and prints")]

use std::net::SocketAddr;
use std::time::{Duration, Instant};
use std::{iter, thread};

use futures::future::try_join_all;
use rumpsteak_servers::local::Server;
use rumpsteak_servers::{postgres, redis as ours};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

const BATCH: usize = 100;
const ROUNDS: usize = 15;

/// How many requests a second were answered.
type Rate = f64;

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (redis, postgres) = (Server::redis().unwrap(), Server::postgres().unwrap());
    for delay in [0, 1].map(Duration::from_millis) {
        let at = |server: SocketAddr| if delay.is_zero() { server } else { proxy(server, delay) };
        // Batches of each client: enough that a round takes some tens of milliseconds.
        let (few, many) = if delay.is_zero() { (20, 200) } else { (1, 20) };
        let (redis, postgres) = (at(redis.address), at(postgres.address));
        compare(
            &format!("redis, {delay:?}"),
            [
                &|| runtime.block_on(redis_in_order(redis, few)),
                &|| runtime.block_on(redis_pipelined(redis, many)),
                &|| runtime.block_on(redis_crate(redis, many)),
            ],
        );
        compare(
            &format!("PostgreSQL, {delay:?}"),
            [
                &|| runtime.block_on(postgres_in_order(postgres, few)),
                &|| runtime.block_on(postgres_pipelined(postgres, many / 4)),
                &|| runtime.block_on(tokio_postgres_crate(postgres, many / 4)),
            ],
        );
    }
}

/// Measures in turns: in order, pipelined, and the usual client.
fn compare(name: &str, clients: [&dyn Fn() -> Rate; 3]) {
    let mut rates = [const { Vec::new() }; 3];
    let (mut to_order, mut to_usual) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let [in_order, pipelined, usual] = clients.map(|client| client());
        to_order.push(pipelined / in_order);
        to_usual.push(pipelined / usual);
        for (rates, rate) in rates.iter_mut().zip([in_order, pipelined, usual]) {
            rates.push(rate);
        }
    }
    let [in_order, pipelined, usual] = rates.map(median);
    println!("{name}: in order {in_order:.0}/s, pipelined {pipelined:.0}/s, usual {usual:.0}/s");
    let (to_order, to_usual) = (median(to_order), median(to_usual));
    println!("{name}: pipelined is {to_order:.1} × in order, {to_usual:.2} × the usual client");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn rate(batches: usize, start: Instant) -> Rate {
    (batches * BATCH) as f64 / start.elapsed().as_secs_f64()
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
    let (mut client, _bridge) = ours::connect(at).await.unwrap();
    let start = Instant::now();
    let commands = iter::repeat_with(commands).take(batches);
    ours::in_order(&mut client, commands, |replies| assert_eq!(replies.len(), BATCH))
        .await
        .unwrap();
    rate(batches, start)
}

async fn redis_pipelined(at: SocketAddr, batches: usize) -> Rate {
    let (mut client, _bridge) = ours::connect(at).await.unwrap();
    let start = Instant::now();
    let commands = iter::repeat_with(commands).take(batches);
    ours::pipelined(&mut client, commands, |replies| assert_eq!(replies.len(), BATCH))
        .await
        .unwrap();
    rate(batches, start)
}

async fn redis_crate(at: SocketAddr, batches: usize) -> Rate {
    let client = redis::Client::open(format!("redis://{at}")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let start = Instant::now();
    for _ in 0..batches {
        let mut pipe = redis::pipe();
        for number in 0..BATCH {
            let key = format!("key:{number}");
            if number.is_multiple_of(2) {
                pipe.cmd("SET").arg(key).arg(&VALUE);
            } else {
                pipe.cmd("GET").arg(key);
            }
        }
        let replies: Vec<redis::Value> = pipe.query_async(&mut connection).await.unwrap();
        assert_eq!(replies.len(), BATCH);
    }
    rate(batches, start)
}

const QUERY: &str = "SELECT $1::text";

fn asked() -> postgres::Batch {
    let parameters = (0..BATCH).map(|number| vec![number.to_string()]).collect();
    postgres::Batch { query: QUERY.to_owned(), parameters }
}

async fn postgres_in_order(at: SocketAddr, batches: usize) -> Rate {
    let (mut frontend, _bridge) = postgres::connect(at, "postgres").await.unwrap();
    let start = Instant::now();
    let asked = iter::repeat_with(asked).take(batches);
    let results = postgres::in_order(&mut frontend, asked).await.unwrap();
    assert!(results.iter().all(|batch| batch.len() == BATCH));
    rate(batches, start)
}

async fn postgres_pipelined(at: SocketAddr, batches: usize) -> Rate {
    let (mut frontend, _bridge) = postgres::connect(at, "postgres").await.unwrap();
    let start = Instant::now();
    let asked = iter::repeat_with(asked).take(batches);
    let results = postgres::pipelined(&mut frontend, asked).await.unwrap();
    assert!(results.iter().all(|batch| batch.len() == BATCH));
    rate(batches, start)
}

async fn tokio_postgres_crate(at: SocketAddr, batches: usize) -> Rate {
    let config = format!("host={} port={} user=postgres", at.ip(), at.port());
    let (client, connection) =
        tokio_postgres::connect(&config, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let start = Instant::now();
    let statement = client.prepare(QUERY).await.unwrap();
    for _ in 0..batches {
        let asked = (0..BATCH).map(|number| {
            let (client, statement) = (&client, &statement);
            async move { client.query(statement, &[&number.to_string()]).await }
        });
        assert_eq!(try_join_all(asked).await.unwrap().len(), BATCH);
    }
    rate(batches, start)
}

/// Where a server is reached by a way that takes longer in each direction.
fn proxy(server: SocketAddr, delay: Duration) -> SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (near, _) = listener.accept().await.unwrap();
                let far = TcpStream::connect(server).await.unwrap();
                near.set_nodelay(true).unwrap();
                far.set_nodelay(true).unwrap();
                let ((near_in, near_out), (far_in, far_out)) =
                    (near.into_split(), far.into_split());
                tokio::spawn(delayed(near_in, far_out, delay));
                tokio::spawn(delayed(far_in, near_out, delay));
            }
        });
    });
    told.recv().unwrap()
}

/// Writes what is read, so much later.
async fn delayed(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    delay: Duration,
) {
    let (send, mut sent) = mpsc::unbounded_channel();
    let read = async move {
        loop {
            let mut bytes = Vec::with_capacity(64 << 10);
            match from.read_buf(&mut bytes).await {
                Ok(1..) => {
                    let _ = send.send((tokio::time::Instant::now() + delay, bytes));
                }
                _ => return,
            }
        }
    };
    let write = async move {
        while let Some((due, bytes)) = sent.recv().await {
            sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}
