//! The clients, against the servers of this machine.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::time::Duration;

use bytes::Bytes;
use rumpsteak::ErrorKind;
use rumpsteak_net::NetError;
use rumpsteak_servers::checkout::shop;
use rumpsteak_servers::local::Server;
use rumpsteak_servers::postgres::{self, Batch};
use rumpsteak_servers::redis::{self, Command, Reply, command};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

fn words(line: &str) -> Command {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    command(&words)
}

fn batch(lines: &[&str]) -> Vec<Command> {
    lines.iter().map(|line| words(line)).collect()
}

/// Sessions that live between two HTTP requests, interleaved.
#[tokio::test]
async fn a_session_is_held_between_two_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, shop()).await });
    for (path, expected) in [
        ("/order/1/5", "200 OK 15"),
        ("/order/2/7", "200 OK 21"),
        ("/pay/2/21", "200 OK 0"),
        ("/pay/1/20", "200 OK 5"),
        ("/pay/1/20", "404 Not Found nothing was ordered"),
        ("/order/1/5", "200 OK 15"),
        (
            "/pay/1/1",
            "409 Conflict `page` cannot receive `Change` from `till`: `till` has closed the route (it failed, \
             was cancelled or was dropped)",
        ),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("POST {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        let status = response.lines().next().unwrap().trim_start_matches("HTTP/1.1 ");
        let body = response.split("\r\n\r\n").nth(1).unwrap();
        assert_eq!(format!("{status} {body}"), expected, "{path}");
    }
}

/// A reply of each form, a `PONG` that answers no ping of the session's, and an error.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn redis_answers_in_either_order() {
    let server = Server::redis().unwrap();
    let batches = || {
        [
            batch(&["FLUSHALL", "SET key value", "GET key", "GET nothing", "INCR number"]),
            batch(&["PING", "RPUSH list a", "LRANGE list 0 -1", "INCR key", "INCR number"]),
            Vec::new(),
        ]
    };
    let text = |text: &'static str| Bytes::from_static(text.as_bytes());
    let expected = [
        vec![
            Reply::SimpleString(text("OK")),
            Reply::SimpleString(text("OK")),
            Reply::BulkString(text("value")),
            Reply::Nil,
            Reply::Integer(1),
        ],
        vec![
            Reply::SimpleString(text("PONG")),
            Reply::Integer(1),
            Reply::Array(text("*1\r\n$1\r\na\r\n")),
            Reply::Error(text("ERR value is not an integer or out of range")),
            Reply::Integer(2),
        ],
        Vec::new(),
    ];
    let (mut client, bridge) = redis::connect(server.address).await.unwrap();
    let mut replies = Vec::new();
    redis::in_order(&mut client, batches(), |of_batch| replies.push(of_batch)).await.unwrap();
    assert_eq!(replies, expected);
    drop(client);
    bridge.leave().await.unwrap();

    let (mut client, bridge) = redis::connect(server.address).await.unwrap();
    let mut replies = Vec::new();
    redis::pipelined(&mut client, batches(), |of_batch| replies.push(of_batch)).await.unwrap();
    assert_eq!(replies, expected);
    drop(client);
    bridge.leave().await.unwrap();
}

/// More bytes than fit into all buffers between client and server, in either direction.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn redis_answers_a_batch_of_any_size() {
    let server = Server::redis().unwrap();
    let value = vec![7; 100_000];
    let set = command(&[b"SET", b"key", &value]);
    let get = words("GET key");
    let batch: Vec<Command> = (0..300).flat_map(|_| [set.clone(), get.clone()]).collect();
    let (mut client, _bridge) = redis::connect(server.address).await.unwrap();
    let mut replies = Vec::new();
    redis::pipelined(&mut client, [batch], |of_batch| replies.extend(of_batch)).await.unwrap();
    let ok = Reply::SimpleString(Bytes::from_static(b"OK"));
    let expected: Vec<Reply> =
        (0..300).flat_map(|_| [ok.clone(), Reply::BulkString(value.clone().into())]).collect();
    assert!(replies == expected);
}

/// The error of a session with a server.
fn lost(error: &rumpsteak::Error) -> String {
    match error.kind() {
        ErrorKind::Closed { peer, .. } => format!("{peer} is gone"),
        ErrorKind::Transport { source, .. } => {
            source.downcast_ref::<NetError>().unwrap().to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_is_killed_ends_the_session() {
    let server = Server::redis().unwrap();
    let (mut client, _bridge) = redis::connect(server.address).await.unwrap();
    let endless = std::iter::from_fn(|| Some(batch(&["PING"; 100])));
    let waiting = tokio::spawn(async move { redis::pipelined(&mut client, endless, drop).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(server);
    let error = lost(&waiting.await.unwrap().unwrap_err());
    let legal = ["server is gone", "the connection to `redis-server` failed"];
    assert!(legal.contains(&&*error), "{error}");
}

/// A server's bytes, in one piece or byte by byte, and the result of the session.
#[tokio::test]
async fn what_is_no_reply_ends_the_session() {
    let failed = "the connection to `redis-server` failed";
    for (said, expected) in [
        ("+OK\r\n+OK\r\n", Ok(())),
        ("+OK\r\n-ERR\r\n", Err(failed)),
        ("what?\r\n", Err(failed)),
        ("*2\r\n", Err(failed)),
        ("+OK\r\n+OK\r\n+OK\r\n", Ok(())),
        ("", Err("server is gone")),
    ] {
        for piece in [1, said.len().max(1)] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let says = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut heard = [0; 24];
                stream.read_exact(&mut heard).await.unwrap();
                assert_eq!(&heard, b"*1\r\n$8\r\nFLUSHALL\r\nQUIT\r\n");
                for piece in said.as_bytes().chunks(piece) {
                    // A client that has read enough closes the connection.
                    let _ = stream.write_all(piece).await;
                }
            };
            let hears = async {
                let (mut client, _bridge) = redis::connect(address).await.unwrap();
                redis::pipelined(&mut client, [batch(&["FLUSHALL"])], drop).await
            };
            let ((), heard) = tokio::join!(says, hears);
            assert_eq!(heard.map_err(|error| lost(&error)), expected.map_err(str::to_owned));
        }
    }
}

fn asked(query: &str, parameters: &[&[&str]]) -> Batch {
    let parameters =
        parameters.iter().map(|values| values.iter().map(|&value| value.to_owned()).collect());
    Batch { query: query.to_owned(), parameters: parameters.collect() }
}

/// Rows, queries without rows, a null, an error in mid-batch after which nothing is answered, and
/// one in a query itself.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn postgres_answers_in_either_order() {
    let server = Server::postgres().unwrap();
    let batches = || {
        [
            asked("CREATE TEMPORARY TABLE numbers (number integer)", &[&[]]),
            asked("INSERT INTO numbers VALUES ($1::integer)", &[&["1"], &["2"], &["3"]]),
            asked("INSERT INTO numbers VALUES ($1::integer)", &[&["4"], &["four"], &["5"]]),
            asked(
                "SELECT number, nullif(number, 2) FROM numbers WHERE number >= $1::integer ORDER BY 1",
                &[&["2"], &["4"]],
            ),
            asked("SELECT nothing", &[]),
            asked("SELECT $1 || 'b'", &[&["a"]]),
        ]
    };
    let none = || Ok(Vec::new());
    let expected: Vec<Vec<Result<Vec<String>, String>>> = vec![
        vec![none()],
        vec![none(), none(), none()],
        vec![none(), Err("invalid input syntax for type integer: \"four\"".to_owned())],
        vec![Ok(vec!["2 null".to_owned(), "3 3".to_owned()]), none()],
        vec![Err("column \"nothing\" does not exist".to_owned())],
        vec![Ok(vec!["ab".to_owned()])],
    ];
    let shown = |results: Vec<Vec<postgres::Rows>>| -> Vec<Vec<Result<Vec<String>, String>>> {
        let text = |column: Option<Bytes>| {
            column.map_or("null".to_owned(), |text| String::from_utf8(text.to_vec()).unwrap())
        };
        let row = |row| postgres::columns(row).into_iter().map(text).collect::<Vec<_>>().join(" ");
        let rows = |rows: postgres::Rows| rows.map(|rows| rows.into_iter().map(row).collect());
        results.into_iter().map(|batch| batch.into_iter().map(rows).collect()).collect()
    };
    let (mut frontend, bridge) = postgres::connect(server.address, "postgres").await.unwrap();
    assert_eq!(shown(postgres::in_order(&mut frontend, batches()).await.unwrap()), expected);
    drop(frontend);
    bridge.leave().await.unwrap();

    let (mut frontend, bridge) = postgres::connect(server.address, "postgres").await.unwrap();
    assert_eq!(shown(postgres::pipelined(&mut frontend, batches()).await.unwrap()), expected);
    drop(frontend);
    bridge.leave().await.unwrap();
}

/// The answers fill all buffers while queries are still sent: a client that does not read meanwhile
/// would wait for ever.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn postgres_answers_a_batch_of_any_size() {
    let server = Server::postgres().unwrap();
    let value = "x".repeat(100_000);
    let value: &str = &value;
    let asked = asked("SELECT $1::text", &[[value].as_slice(); 300]);
    let (mut frontend, _bridge) = postgres::connect(server.address, "postgres").await.unwrap();
    let results = postgres::pipelined(&mut frontend, [asked]).await.unwrap();
    assert_eq!(results[0].len(), 300);
    for rows in &results[0] {
        assert_eq!(rows.as_ref().unwrap()[0].len(), 4 + value.len());
    }
}
