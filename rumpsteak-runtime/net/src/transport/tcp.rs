//! TCP.

use std::io;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use super::connection::{Connection, framed};
use super::listener::{IoFuture, Listener, Opening, Transport};

/// TCP: `tcp://host:port`. Small messages are sent at once (`TCP_NODELAY`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Transport for Tcp {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move { Ok(framed(call(place).await?, frame)) })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Box<dyn Listener>> {
        let open = move |stream| -> Opening { Box::pin(async move { Ok(framed(stream, frame)) }) };
        Box::pin(listen(place, open))
    }
}

/// A stream to a place.
pub(super) async fn call(place: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(place).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Listens at a place; `open` does what is to be done with each stream.
pub(super) async fn listen(
    place: &str,
    open: impl Fn(TcpStream) -> Opening + Send + Sync + 'static,
) -> io::Result<Box<dyn Listener>> {
    let listener = TcpListener::bind(place).await?;
    let place = listener.local_addr()?.to_string();
    Ok(Box::new(Listening { listener, place, open: Arc::new(open) }))
}

struct Listening {
    listener: TcpListener,
    place: String,
    open: Arc<dyn Fn(TcpStream) -> Opening + Send + Sync>,
}

impl Listener for Listening {
    fn accept(&mut self) -> IoFuture<'_, Opening> {
        Box::pin(async {
            let (stream, _) = self.listener.accept().await?;
            stream.set_nodelay(true)?;
            Ok((self.open)(stream))
        })
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}
