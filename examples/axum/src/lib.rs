//! The program of the page on axum in the cookbook, and requests to it.

#![cfg(test)]

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page's `main` would serve for ever: the test serves the same `app`.
const _: fn() -> std::io::Result<()> = main;

#[tokio::test]
async fn a_request_is_a_session() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, app()).await });
    for (item, status, body) in [("tea", "200 OK", "receipt 1005"), ("gold", "404 Not Found", "")] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request =
            format!("GET /buy/{item} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");
    }
}
