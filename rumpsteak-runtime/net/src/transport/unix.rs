//! Unix sockets.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

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
            let listening = Listening { listener: bound?, path: path.to_owned(), frame };
            Ok((Box::new(listening) as _, place.to_owned()))
        })
    }
}

struct Listening {
    listener: UnixListener,
    path: PathBuf,
    frame: usize,
}

impl Listener for Listening {
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        Box::pin(async {
            let (stream, _) = self.listener.accept().await?;
            Ok((Box::pin(multiplexed(stream, self.frame, false)) as _, None))
        })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Another process may have removed it already.
        let _ = std::fs::remove_file(&self.path);
    }
}
