//! QUIC.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Connection as QuicConnection, ConnectionError, Endpoint, ReadError, RecvStream,
    SendStream, ServerConfig,
};
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::connection::*;
use super::tcp::with_port;
use super::tls::{Identity, configs, host_of, is_denial, may_play};

/// QUIC, `quic://host:port`: over UDP, with the same certificates as [`Tls`](super::Tls).
#[derive(Clone, Debug)]
pub struct Quic {
    client: ClientConfig,
    server: ServerConfig,
}

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
        Ok(Self {
            client: ClientConfig::new(Arc::new(client)),
            server: ServerConfig::with_crypto(Arc::new(server)),
        })
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
                let client = self.client.clone();
                let called = endpoint.connect_with(client, address, host_of(place));
                match called.map_err(io::Error::other)?.await {
                    Ok(connection) => {
                        let streams = connection.open_bi().await?;
                        return Ok(opened(&connection, streams, frame));
                    }
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
            let open = async move {
                let connection = incoming.await?;
                let streams = connection.accept_bi().await?;
                Ok(opened(&connection, streams, frame))
            };
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

/// Frames over one stream, which keeps its connection alive.
fn opened(
    connection: &QuicConnection,
    (sending, receiving): (SendStream, RecvStream),
    frame: usize,
) -> Connection {
    let identity = connection.peer_identity();
    let shown = identity.and_then(|shown| shown.downcast::<Vec<CertificateDer<'static>>>().ok());
    let certificate = shown.and_then(|shown| shown.into_iter().next());
    framed(tokio::io::join(receiving, sending), frame).only_for(may_play(certificate))
}
