#![cfg(not(target_family = "wasm"))]

use std::io;
use std::task::{Context, Poll, ready};

use tokio::net::{TcpListener, TcpStream};

use super::connection::*;
use super::multiplex::multiplexed;

/// TCP: `tcp://host:port`. Small messages are sent at once (`TCP_NODELAY`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Transport for Tcp {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move { multiplexed(call(place).await?, frame, true).await })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        let open = move |stream| -> Opening { Box::pin(multiplexed(stream, frame, false)) };
        Box::pin(listen(place, open))
    }
}

pub(super) async fn call(place: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(with_port(place)?).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Returns the place if it has a port number.
pub(super) fn with_port(place: &str) -> io::Result<&str> {
    let parts = place.rsplit_once(':');
    let is_one = |host: &str| !host.contains(':') || host.starts_with('[');
    if parts.is_some_and(|(host, port)| is_one(host) && port.parse::<u16>().is_ok()) {
        return Ok(place);
    }
    let text = format!(
        "`{place}` has no port number up to 65535: write `host:port`, as in `localhost:4000` or `[::1]:4000`"
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Listens at a place. `open` makes a connection of each stream.
pub(super) async fn listen(
    place: &str,
    open: impl Fn(TcpStream) -> Opening + Send + Sync + 'static,
) -> io::Result<Listens> {
    let socket = TcpListener::bind(with_port(place)?).await?;
    let place = socket.local_addr()?.to_string();
    let accept = move |context: &mut Context<'_>| {
        let (stream, caller) = ready!(socket.poll_accept(context))?;
        stream.set_nodelay(true)?;
        Poll::Ready(Ok((open(stream), Some(caller.ip()))))
    };
    Ok((Box::new(accept) as _, place))
}
