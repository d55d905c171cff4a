//! Servers on this machine, each on its own port, until a value is dropped.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    folder: PathBuf,
    /// The port at which it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Returns true if `redis-server` is installed.
    #[must_use]
    pub fn has_redis() -> bool {
        Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_ok()
    }

    /// Returns true if PostgreSQL is installed.
    #[must_use]
    pub fn has_postgres() -> bool {
        programs().is_ok()
    }

    /// Starts `redis-server`, which keeps nothing.
    ///
    /// # Errors
    ///
    /// If it is not installed, or does not start.
    pub fn redis() -> io::Result<Self> {
        let (address, folder) = (free_address()?, folder("redis")?);
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
        command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(&folder);
        Self::start(command, folder, address, || TcpStream::connect(address).is_ok())
    }

    /// Starts PostgreSQL with a new database, which trusts the user `postgres`.
    ///
    /// # Errors
    ///
    /// If it is not installed, or does not start.
    pub fn postgres() -> io::Result<Self> {
        let (address, folder) = (free_address()?, folder("postgres")?);
        let programs = programs()?;
        let command = |name: &str| {
            let mut command = Command::new(programs.join(name));
            // It refuses to run as root.
            if let Some(user) = user_for_root() {
                command.uid(user);
            }
            command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        if let Some(user) = user_for_root() {
            std::os::unix::fs::chown(&folder, Some(user), None)?;
        }
        let data = folder.join("data");
        let made = command("initdb")
            .args(["-A", "trust", "-U", "postgres", "-N", "-D"])
            .arg(&data)
            .status()?;
        if !made.success() {
            return Err(io::Error::other("initdb fails"));
        }
        let mut server = command("postgres");
        let port = address.port().to_string();
        server.args(["-h", "127.0.0.1", "-p", &port, "-F", "-D"]).arg(&data);
        server.arg("-k").arg(&folder);
        Self::start(server, folder, address, || {
            let asked = command("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
            asked.is_ok_and(|status| status.success())
        })
    }

    fn start(
        mut command: Command,
        folder: PathBuf,
        address: SocketAddr,
        is_ready: impl Fn() -> bool,
    ) -> io::Result<Self> {
        let process = command.stdout(Stdio::null()).spawn()?;
        let server = Self { process, folder, address };
        for _ in 0..1_000 {
            if is_ready() {
                return Ok(server);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(io::Error::other(format!("{command:?} does not answer")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// An address at which no process listens now.
fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

fn folder(name: &str) -> io::Result<PathBuf> {
    let number = free_address()?.port();
    let folder = env::temp_dir().join(format!("rumpsteak-{name}-{number}"));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The folder of PostgreSQL's programs in Debian, of the newest version.
fn programs() -> io::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")?;
    let mut versions: Vec<PathBuf> = versions.flatten().map(|entry| entry.path()).collect();
    versions.sort();
    let newest = versions.pop().ok_or(io::ErrorKind::NotFound)?;
    Ok(newest.join("bin"))
}

/// The user for programs that refuse to run as root.
fn user_for_root() -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let owner = || fs::metadata(Path::new("/var/lib/postgresql")).ok().map(|home| home.uid());
    if is_root { owner() } else { None }
}
