//! Roles in their own processes, and connections to them with a delay.

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
    /// Starts a process that plays a role, and returns its address.
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

    /// Waits until all have ended.
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
            // It may have ended.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The address of a relay that delays a server by so much in each direction.
///
/// Sleeping threads are precise enough: they are late by some hundredths of a millisecond. A kernel
/// with the module could do it as well (`tc qdisc add … netem delay 1ms`).
pub(crate) fn delayed(server: SocketAddr, delay: Duration) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(Error::wrong)?;
    let address = listener.local_addr().map_err(Error::wrong)?;
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            // If the connection fails, the caller sees a closed one.
            if let Ok(far) = TcpStream::connect(server) {
                let _ = pass_on(&near, &far, delay).and_then(|()| pass_on(&far, &near, delay));
            }
        }
    });
    Ok(address)
}

/// Writes incoming bytes after the delay, in its own threads, until the connection ends.
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
