//! TLS with certificates at both ends.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
/// The types of certificates and keys, which it reads from PEM files.
pub use tokio_rustls::rustls::pki_types as rustls_pki_types;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};
use webpki::EndEntityCert;

use super::connection::*;
use super::multiplex::multiplexed;
use super::tcp;

/// The certificates of an end, and the authorities that it trusts. Debug output elides the key.
///
/// ```no_run
/// # use rumpsteak_net::{Host, Limits};
/// use rumpsteak_net::transport::{Identity, Tls, Transports};
///
/// # fn f() -> std::io::Result<()> {
/// let identity = Identity::from_pem_files("shop-c.pem", "shop-c.key", "authority.pem")?;
/// let transports = Transports::default().with("tls", Tls::new(identity)?);
/// let host = Host::with(transports, Limits::default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Identity {
    /// The certificate of the end, and its chain of signers.
    pub certificates: Vec<CertificateDer<'static>>,
    /// The key of the certificate.
    pub key: PrivateKeyDer<'static>,
    /// The trusted authorities.
    pub authorities: Vec<CertificateDer<'static>>,
}

impl Identity {
    /// The identity in PEM files: the certificate of the end and its chain, its key, and the
    /// authorities that it trusts. Fails if a file cannot be read, or is empty.
    pub fn from_pem_files(
        certificates: impl AsRef<Path>,
        key: impl AsRef<Path>,
        authorities: impl AsRef<Path>,
    ) -> io::Result<Self> {
        let of = |path: &Path, error: pem::Error| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {error}", path.display()))
        };
        let all = |path: &Path| {
            let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
            match read {
                Ok(all) if !Vec::is_empty(&all) => Ok(all),
                read => Err(of(path, read.err().unwrap_or(pem::Error::NoItemsFound))),
            }
        };
        let key = PrivateKeyDer::from_pem_file(&key).map_err(|error| of(key.as_ref(), error))?;
        let (certificates, authorities) = (all(certificates.as_ref())?, all(authorities.as_ref())?);
        Ok(Self { certificates, key, authorities })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        let Self { certificates, key, authorities } = self;
        let (certificates, key) = (certificates.clone(), key.clone_key());
        Self { certificates, key, authorities: authorities.clone() }
    }
}

/// TLS over TCP, `tls://host:port`. Both ends show certificates, and each end trusts only its
/// authorities.
///
/// A certificate says which roles its owner may play: the name `c.shop.rumpsteak` stands for the
/// role `c` of a protocol `Shop`, and `*.shop.rumpsteak` for all of its roles. A caller also
/// requires the name of the host.
#[derive(Clone, Debug)]
pub struct Tls {
    client: Arc<ClientConfig>,
    /// `None` for a caller without an identity.
    server: Option<Arc<ServerConfig>>,
}

impl Tls {
    /// The transport of an end with this identity. Fails if the key does not fit the certificate,
    /// or the certificate of an authority is invalid.
    pub fn new(identity: Identity) -> io::Result<Self> {
        let (client, server) = configs(identity)?;
        Ok(Self { client: Arc::new(client), server: Some(Arc::new(server)) })
    }

    /// The transport of a caller without an identity, for a service behind a proxy that ends TLS.
    /// The host that answers needs a certificate of these authorities for its name, and may play
    /// every role: see `WebSocket::with_token`. The caller's host cannot listen. Fails if the
    /// certificate of an authority is invalid.
    pub fn trusting(
        authorities: impl IntoIterator<Item = CertificateDer<'static>>,
    ) -> io::Result<Self> {
        let client = ClientConfig::builder().with_root_certificates(roots(authorities)?);
        Ok(Self { client: Arc::new(client.with_no_client_auth()), server: None })
    }

    /// The TLS stream to a place, over a stream of bytes, made once the place is known as valid.
    pub(super) async fn call(
        &self,
        place: &str,
        stream: impl Future<Output = io::Result<TcpStream>>,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host_of(place).to_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(TlsConnector::from(Arc::clone(&self.client)).connect(name, stream.await?).await?.into())
    }

    /// Decides which roles the other end of a stream may play.
    pub(super) fn may_play(
        &self,
        stream: &TlsStream<TcpStream>,
    ) -> impl Fn(&str, &str) -> bool + Send + Sync + use<> {
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let (may_play, is_any) = (may_play(shown.cloned()), self.server.is_none());
        move |protocol, role| is_any || may_play(protocol, role)
    }

    async fn opened(
        &self,
        stream: TlsStream<TcpStream>,
        frame: usize,
        is_caller: bool,
    ) -> io::Result<Connection> {
        let may_play = self.may_play(&stream);
        Ok(multiplexed(stream, frame, is_caller).await?.only_for(may_play))
    }

    /// Fails for a caller without an identity.
    pub(super) fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let text = "a host that listens over TLS needs an `Identity`: see `Tls::new`";
        let server = self.server.clone();
        let server = server.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, text))?;
        Ok(TlsAcceptor::from(server))
    }
}

/// The stream to a caller.
pub(super) async fn answer(
    acceptor: TlsAcceptor,
    stream: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => Ok(stream.into()),
        Err((error, mut stream)) => {
            // The caller has greeted by now. It only hears the refusal if this end reads that.
            stream.shutdown().await?;
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
            Err(error)
        }
    }
}

/// These authorities, for the check of certificates.
fn roots(
    authorities: impl IntoIterator<Item = CertificateDer<'static>>,
) -> io::Result<Arc<RootCertStore>> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority).map_err(io::Error::other)?;
    }
    Ok(Arc::new(roots))
}

/// The settings of TLS for callers, and for listeners.
pub(super) fn configs(identity: Identity) -> io::Result<(ClientConfig, ServerConfig)> {
    let Identity { certificates, key, authorities } = identity;
    let roots = roots(authorities)?;
    let verifier = WebPkiClientVerifier::builder(Arc::clone(&roots)).build();
    let server = ServerConfig::builder()
        .with_client_cert_verifier(verifier.map_err(io::Error::other)?)
        .with_single_cert(certificates.clone(), key.clone_key())
        .map_err(io::Error::other)?;
    let client = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_client_auth_cert(certificates, key)
        .map_err(io::Error::other)?;
    Ok((client, server))
}

/// Returns true if one end does not trust the certificate of the other.
pub(super) fn is_denied(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    error.is_some_and(|error| match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => true,
        rustls::Error::AlertReceived(alert) => is_denial(u8::from(*alert)),
        _ => false,
    })
}

/// Returns true if a TLS alert says that one end does not trust the certificate of the other, or
/// that the ends have no version or algorithm in common.
pub(super) fn is_denial(alert: u8) -> bool {
    matches!(alert, 40 | 42..=46 | 48 | 49 | 51 | 70 | 112 | 116 | 120)
}

/// The host in `host:port`.
pub(super) fn host_of(place: &str) -> &str {
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Decides which roles the owner of a certificate may play.
pub(super) fn may_play(
    certificate: Option<CertificateDer<'static>>,
) -> impl Fn(&str, &str) -> bool + Send + Sync + 'static {
    move |protocol, role| {
        let name = format!("{role}.{protocol}.rumpsteak").to_lowercase().replace('_', "-");
        let name = ServerName::try_from(name);
        let shown = certificate.as_ref().and_then(|shown| EndEntityCert::try_from(shown).ok());
        let (Some(certificate), Ok(name)) = (shown, name) else { return false };
        certificate.verify_is_valid_for_subject_name(&name).is_ok()
    }
}

impl Transport for Tls {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            self.opened(self.call(place, tcp::call(place)).await?, frame, true).await
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let (tls, acceptor) = (self.clone(), self.acceptor()?);
            let open = move |stream| -> Opening {
                let (tls, acceptor) = (tls.clone(), acceptor.clone());
                Box::pin(
                    async move { tls.opened(answer(acceptor, stream).await?, frame, false).await },
                )
            };
            tcp::listen(place, open).await
        })
    }
}
