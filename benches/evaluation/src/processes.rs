//! Roles in processes of their own, and a way to them that takes longer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// Processes of this program, which are killed when this is dropped.
#[derive(Default)]
pub(crate) struct Processes(Vec<Child>);

impl Processes {
    /// Starts one that plays a role; where it is reached.
    pub(crate) fn start(&mut self, arguments: &[&str]) -> Result<String> {
        let program = std::env::current_exe().map_err(Error::wrong)?;
        let mut command = Command::new(program);
        command.arg("play").args(arguments).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(Error::wrong)?;
        let output = process.stdout.take();
        self.0.push(process);
        let mut at = String::new();
        if let Some(output) = output {
            BufReader::new(output).read_line(&mut at).map_err(Error::wrong)?;
        }
        Ok(at.trim().to_owned())
    }

    /// Waits until all have come to their end.
    pub(crate) fn wait(&mut self) -> Result<()> {
        for mut process in self.0.drain(..) {
            let status = process.wait().map_err(Error::wrong)?;
            if !status.success() {
                return Err(Error::wrong(format!("a process ends with {status}")));
            }
        }
        Ok(())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // It may have come to its end.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Where a server is reached by a way that takes so much longer in each direction.
///
/// Threads that sleep keep time: they are late by some hundredths of a millisecond. A kernel could
/// do it (`tc qdisc add … netem delay 1ms`), where it has that module.
pub(crate) fn delayed(server: SocketAddr, delay: Duration) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(Error::wrong)?;
    let address = listener.local_addr().map_err(Error::wrong)?;
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            // A connection that is not made is one that is closed.
            if let Ok(far) = TcpStream::connect(server) {
                let _ = pass_on(&near, &far, delay).and_then(|()| pass_on(&far, &near, delay));
            }
        }
    });
    Ok(address)
}

/// Writes what is read, so much later, in threads of its own, until the connection ends.
fn pass_on(from: &TcpStream, to: &TcpStream, delay: Duration) -> std::io::Result<()> {
    let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
    to.set_nodelay(true)?;
    let (send, sent) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut bytes)
            && send.send((Instant::now() + delay, bytes[..count].to_vec())).is_ok()
        {}
    });
    thread::spawn(move || {
        for (due, bytes) in sent {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        // It may be closed already.
        let _ = to.shutdown(Shutdown::Both);
    });
    Ok(())
}
