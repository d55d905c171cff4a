//! WebSocket through proxies: one that opens tunnels, and one that ends TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rumpsteak_net::transport::{Tls, Transports, WebSocket};
use rumpsteak_net::{Host, Limits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::reconnect::ordered;
use crate::shop::{C, S, expected};
use crate::transports::Authority;

fn host(scheme: &'static str, transport: WebSocket) -> Host {
    Host::with(Transports::default().with(scheme, transport), Limits::default())
}

/// A proxy for `user:word`, and the number of its tunnels.
async fn forward_proxy() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (at, tunnels) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&tunnels);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(near.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                if !head.contains("\r\nProxy-Authorization: Basic dXNlcjp3b3Jk\r\n") {
                    let refused = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
                    return near.write_all(refused).await.unwrap();
                }
                let place = head.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
                let mut far = TcpStream::connect(place).await.unwrap();
                near.write_all(b"HTTP/1.1 200 OK\r\nVia: 1.1 proxy\r\n\r\n").await.unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                let _ = copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (at, tunnels)
}

#[tokio::test]
async fn through_a_forward_proxy() {
    let (proxy, tunnels) = forward_proxy().await;
    let calls = |user: &str| host("ws", WebSocket::default().through(format!("{user}{proxy}")));
    let (s, l) = (Host::new(), Host::new());
    let at = s.listen("ws://127.0.0.1:0").await.unwrap().to_string();
    l.listen("memory://proxied").await.unwrap();
    let hosts = [calls("user:word@"), s, l];
    assert_eq!(ordered(&hosts, "1", [&at, "memory://proxied"], 100).await, expected(100));
    assert_eq!(tunnels.load(Ordering::Relaxed), 1);
    assert!(!format!("{:?}", WebSocket::default().through("user:word@h:1")).contains("word"));
    let refused = calls("").join::<C>("2").peer("s", [&at]).connect().await.map(drop).unwrap_err();
    let (place, why) = (&at["ws://".len()..], "407 Proxy Authentication Required");
    assert_eq!(
        format!("{refused:?}"),
        format!(
            "cannot call {at}: the proxy {proxy} answered \"HTTP/1.1 {why}\" to CONNECT {place}"
        )
    );
}

/// A proxy that ends TLS, in front of a place.
async fn ends_tls(authority: &Authority, place: String) -> String {
    let (certificate, key) = authority.sign(["127.0.0.1"]);
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![certificate], key.into()).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (acceptor, place) = (acceptor.clone(), place.clone());
            tokio::spawn(async move {
                let Ok(mut near) = acceptor.accept(near).await else { return };
                let mut far = TcpStream::connect(place).await.unwrap();
                let _ = copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    at
}

#[tokio::test]
async fn behind_a_proxy_that_ends_tls_a_token_names_the_role() {
    let authority = Authority::new();
    let admits = |token: &str, protocol: &str, role: &str| {
        (token, protocol, role) == ("secret of c", "Shop", "c")
    };
    let (s, l) = (host("ws", WebSocket::default().admitting(admits)), Host::new());
    let at = s.listen("ws://127.0.0.1:0/shop").await.unwrap().to_string();
    l.listen("memory://behind").await.unwrap();
    let at = ends_tls(&authority, at["ws://".len()..].to_owned()).await;
    let trusting = || WebSocket::over(Tls::trusting([authority.certificate()]).unwrap());
    let calls = |socket: WebSocket| host("wss", socket);
    let call = async |socket: WebSocket| {
        let c = calls(socket).join::<C>("2").peer("s", [format!("wss://{at}/shop")]).connect();
        c.await.map(drop).unwrap_err().to_string()
    };
    let with_token = calls(trusting().with_token("secret of c"));
    let wss = format!("wss://{at}/shop");
    let hosts = [with_token, s, l];
    assert_eq!(ordered(&hosts, "1", [&wss, "memory://behind"], 100).await, expected(100));
    let _service = hosts[1].serve::<S>();
    let unknown = call(trusting().with_token("secret of x")).await;
    assert!(unknown.ends_with("is not for the role that it plays"), "{unknown}");
    let without = call(trusting()).await;
    assert!(without.starts_with(&format!("cannot call {wss}")), "{without}");
    let invalid = call(trusting().with_token("two\nlines")).await;
    assert!(invalid.starts_with(&format!("cannot call {wss}")), "{invalid}");
    let other = Tls::trusting([Authority::new().certificate()]).unwrap();
    let untrusted = call(WebSocket::over(other).with_token("secret of c")).await;
    assert!(untrusted.starts_with(&format!("cannot call {wss}")), "{untrusted}");
    let listens = calls(trusting()).listen("wss://127.0.0.1:0").await.map(drop).unwrap_err();
    assert!(format!("{listens:?}").contains("needs an `Identity`"), "{listens:?}");
}

#[tokio::test]
async fn a_page_shows_its_token_in_a_subprotocol() {
    let s = host("ws", WebSocket::default().admitting(|_, _, _| true));
    let at = s.listen("ws://127.0.0.1:0").await.unwrap().to_string();
    let call = async |offered: &str| {
        let mut stream = TcpStream::connect(&at["ws://".len()..]).await.unwrap();
        let request = format!(
            "GET / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: {offered}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 1_024];
        let size = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..size]).to_lowercase()
    };
    let shown = call("rumpsteak, bearer.c2VjcmV0IG9mIGM").await;
    assert!(shown.starts_with("http/1.1 101 "), "{shown}");
    assert!(shown.contains("\r\nsec-websocket-protocol: rumpsteak\r\n"), "{shown}");
    // No token, one that is not base64url, and one beside another subprotocol.
    for offered in ["rumpsteak", "rumpsteak, bearer.?", "chat, bearer.c2VjcmV0IG9mIGM"] {
        let refused = call(offered).await;
        assert!(refused.starts_with("http/1.1 401 "), "{offered}: {refused}");
    }
}
