use std::io;

use data_encoding::BASE64URL_NOPAD;
use send_wrapper::SendWrapper;
use ws_stream_wasm::{WsErr, WsMeta};

use super::connection::*;
use super::multiplex::multiplexed;

/// WebSocket in a browser: `ws://host:port/path`, or [secure](WebSocket::secure)
/// `wss://host:port/path`. A page can only call: see the [guide](crate::guide::browser).
#[derive(Clone, Default)]
pub struct WebSocket {
    is_secure: bool,
    token: Option<String>,
}

impl WebSocket {
    /// WebSocket over the browser's TLS.
    pub fn secure() -> Self {
        Self { is_secure: true, ..Self::default() }
    }

    /// Shows this token when it calls. Only show a token over TLS.
    #[must_use]
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }
}

impl Transport for WebSocket {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        let url = format!("{}://{place}", if self.is_secure { "wss" } else { "ws" });
        let shown = self.token.as_ref().map(|token| BASE64URL_NOPAD.encode(token.as_bytes()));
        // A page has one thread.
        let called = SendWrapper::new(async move {
            let shown = shown.map(|token| format!("bearer.{token}"));
            WsMeta::connect(url, shown.as_deref().map(|shown| vec!["rumpsteak", shown])).await
        });
        Box::pin(async move {
            let (_, socket) = called.await.map_err(failed)?;
            multiplexed(socket.into_io(), frame, true).await
        })
    }

    fn listen<'a>(&'a self, _: &'a str, _: usize) -> IoFuture<'a, Listens> {
        let error = io::Error::new(io::ErrorKind::Unsupported, "a page cannot listen");
        Box::pin(async { Err(error) })
    }
}

impl_debug!([] WebSocket, "is_secure": |it| it.is_secure);

/// A browser does not say why a call failed, so it counts as a host that is not there yet.
fn failed(error: WsErr) -> io::Error {
    let is_invalid = matches!(error, WsErr::InvalidUrl { .. });
    let refused = io::ErrorKind::ConnectionRefused;
    io::Error::new(if is_invalid { io::ErrorKind::InvalidInput } else { refused }, error)
}
