use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Connection as QuicConnection, ConnectionError, Endpoint, ReadError, RecvStream,
    SendStream, ServerConfig, TransportConfig, VarInt,
};
use tokio::time::{sleep, timeout};
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::connection::*;
use super::framing::frames;
use super::tcp::with_port;
use super::tls::{Identity, configs, host_of, is_denial, may_play};
use crate::Limits;
use crate::limits::SILENT_BEATS;

/// QUIC, `quic://host:port`: over UDP, with the same certificates as [`Tls`](super::Tls). Its
/// heartbeats have the [default interval](crate::Limits::beat).
#[derive(Clone, Debug)]
pub struct Quic {
    client: ClientConfig,
    server: ServerConfig,
}

/// The number of streams of a connection at the same time. The library keeps some bytes for each.
const STREAMS: u32 = 2048;

/// The size of the buffers of a stream, at first.
const SMALL: usize = 4 << 10;

/// The name of the protocol above QUIC.
const PROTOCOL: &[u8] = b"rumpsteak";

impl Quic {
    /// The transport of an end with this identity. Fails if the key does not fit the certificate,
    /// or the certificate of an authority is invalid.
    pub fn new(identity: Identity) -> io::Result<Self> {
        let (mut client, mut server) = configs(identity)?;
        client.alpn_protocols = vec![PROTOCOL.to_vec()];
        server.alpn_protocols = vec![PROTOCOL.to_vec()];
        let client = QuicClientConfig::try_from(client).map_err(io::Error::other)?;
        let server = QuicServerConfig::try_from(server).map_err(io::Error::other)?;
        let mut client = ClientConfig::new(Arc::new(client));
        let mut server = ServerConfig::with_crypto(Arc::new(server));
        let mut transport = TransportConfig::default();
        let beat = Limits::default().beat;
        let silent = VarInt::from_u32(beat.as_millis() as u32 * SILENT_BEATS);
        transport.keep_alive_interval(Some(beat)).max_idle_timeout(Some(silent.into()));
        transport.max_concurrent_bidi_streams(STREAMS.into());
        let transport = Arc::new(transport);
        client.transport_config(Arc::clone(&transport));
        server.transport_config(transport);
        Ok(Self { client, server })
    }
}

impl Transport for Quic {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let mut last = io::ErrorKind::NotFound.into();
            for address in tokio::net::lookup_host(with_port(place)?).await? {
                let any: SocketAddr = match address {
                    SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
                    SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
                };
                let endpoint = Endpoint::client(any)?;
                let called = endpoint.connect_with(self.client.clone(), address, host_of(place));
                match called.map_err(io::Error::other)?.await {
                    Ok(connection) => return begin(connection, frame, true).await,
                    Err(error) => last = error.into(),
                }
            }
            Err(last)
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let address = tokio::net::lookup_host(with_port(place)?).await?.next();
            let address = address.ok_or(io::ErrorKind::NotFound)?;
            let endpoint = Endpoint::server(self.server.clone(), address)?;
            let place = endpoint.local_addr()?.to_string();
            Ok((Box::new(Listening { endpoint, frame }) as _, place))
        })
    }
}

struct Listening {
    endpoint: Endpoint,
    frame: usize,
}

impl Listener for Listening {
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        Box::pin(async {
            let incoming = self.endpoint.accept().await.ok_or(io::ErrorKind::NotConnected)?;
            let caller = incoming.remote_address().ip();
            let frame = self.frame;
            let open = async move { begin(incoming.await?, frame, false).await };
            Ok((Box::pin(open) as _, Some(caller)))
        })
    }
}

/// Returns true if one end does not trust the certificate of the other.
pub(super) fn is_denied(error: &io::Error) -> bool {
    let Some(source) = error.get_ref() else { return false };
    let lost = match source.downcast_ref() {
        Some(ReadError::ConnectionLost(lost)) => Some(lost),
        _ => source.downcast_ref(),
    };
    let code = match lost {
        Some(ConnectionError::TransportError(error)) => u64::from(error.code),
        Some(ConnectionError::ConnectionClosed(close)) => u64::from(close.error_code),
        _ => return false,
    };
    u8::try_from(code.wrapping_sub(0x100)).is_ok_and(is_denial)
}

/// The first stream of a connection.
async fn begin(quic: QuicConnection, frame: usize, is_caller: bool) -> io::Result<Connection> {
    let identity = quic.peer_identity();
    let shown = identity.and_then(|shown| shown.downcast::<Vec<CertificateDer<'static>>>().ok());
    let certificate = shown.and_then(|shown| shown.into_iter().next());
    let line = Arc::new(Shared { quic, frame, is_caller, is_kept: AtomicBool::new(false) });
    Ok(Streams::first(line, is_caller).await?.only_for(may_play(certificate)))
}

/// A connection of which each stream is one of QUIC.
struct Shared {
    quic: QuicConnection,
    frame: usize,
    is_caller: bool,
    is_kept: AtomicBool,
}

impl Shared {
    fn stream(self: Arc<Self>, (sending, receiving): (SendStream, RecvStream)) -> Connection {
        let frames = frames(tokio::io::join(receiving, sending), self.frame, SMALL);
        Connection::of(self, frames)
    }
}

impl Line for Shared {
    fn open(self: Arc<Self>) -> IoFuture<'static, Connection> {
        Box::pin(async {
            // If it has as many streams as it may have, the call makes another connection.
            let opened = timeout(Duration::ZERO, self.quic.open_bi()).await;
            Ok(self.stream(opened.map_err(|_| io::ErrorKind::NotConnected)??))
        })
    }

    fn accept(self: Arc<Self>) -> IoFuture<'static, Connection> {
        Box::pin(async {
            let streams = self.quic.accept_bi().await?;
            Ok(self.stream(streams))
        })
    }

    fn is_open(&self) -> bool {
        self.quic.close_reason().is_none()
    }

    fn keep(self: Arc<Self>, _: Duration) {
        if self.is_kept.swap(true, Ordering::Relaxed) {
            return;
        }
        let idle = if self.is_caller { IDLE } else { 2 * IDLE };
        let line = Arc::downgrade(&self);
        tokio::spawn(async move {
            let mut was_idle = false;
            while let Some(line) = line.upgrade().filter(|line| line.is_open()) {
                // This one, and the one of the host.
                let is_idle = Arc::strong_count(&line) <= 2;
                if was_idle && is_idle {
                    return line.quic.close(0_u8.into(), b"idle");
                }
                was_idle = is_idle;
                drop(line);
                sleep(idle).await;
            }
        });
    }
}
