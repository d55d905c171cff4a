use std::io;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, ready};

use tokio::net::{UnixListener, UnixStream};

use super::connection::*;
use super::multiplex::multiplexed;

/// A socket in the file system: `unix:///run/app.sock`.
///
/// Replaces a socket at which no process listens. Removes the socket when the listener ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unix;

impl Transport for Unix {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move { multiplexed(UnixStream::connect(place).await?, frame, true).await })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let path = Path::new(place);
            let bound = match UnixListener::bind(path) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    let connected = UnixStream::connect(path).await;
                    // No process listens at the socket.
                    if connected.is_err_and(|it| it.kind() == io::ErrorKind::ConnectionRefused) {
                        std::fs::remove_file(path)?;
                    }
                    UnixListener::bind(path)
                }
                bound => bound,
            };
            let socket = Socket { listener: bound?, path: path.to_owned() };
            let accept = move |context: &mut Context<'_>| {
                let (stream, _) = ready!(socket.listener.poll_accept(context))?;
                Poll::Ready(Ok((Box::pin(multiplexed(stream, frame, false)) as Opening, None)))
            };
            Ok((Box::new(accept) as _, place.to_owned()))
        })
    }
}

struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another process may have removed it already.
        let _ = std::fs::remove_file(&self.path);
    }
}
