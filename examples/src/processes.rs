//! Examples whose roles are processes: [`start`] starts one for each role and lets them find each
//! other.
//!
//! ```text
//! cargo run -p rumpsteak-examples --example jacobi -- --transport unix
//! ```
//!
//! Or one role in each terminal, with the addresses of the others:
//!
//! ```text
//! … --role a --listen tcp://127.0.0.1:4001
//! … --role b --listen tcp://127.0.0.1:4002
//! … --role m --peer a=tcp://127.0.0.1:4001 --peer b=tcp://127.0.0.1:4002
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs, iter, process};

use clap::Parser;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rumpsteak_net::transport::{Identity, Quic, Tls, Transports, WebSocket};
use rumpsteak_net::{Host, Join, Joins, Limits};

/// The error of a role.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Plays the roles of a session as processes
#[derive(Clone, Debug, Parser)]
struct Arguments {
    /// tcp, unix, tls, ws, wss, quic or, with that feature, nats; memory plays all in one process
    #[arg(long, default_value = "tcp")]
    transport: String,
    /// The transport by which servers behind a portal are reached: tcp by default
    #[arg(long, value_name = "TRANSPORT", conflicts_with = "role")]
    servers: Option<String>,
    /// The address of the NATS server
    #[arg(long, default_value = "127.0.0.1:4222")]
    broker: String,
    /// Play this role only
    #[arg(long)]
    role: Option<String>,
    /// The address of this role
    #[arg(long, value_name = "URL", requires = "role")]
    listen: Option<String>,
    /// The address of a peer
    #[arg(long, value_name = "ROLE=URL", requires = "role")]
    peer: Vec<String>,
    /// How long to wait for peers that join or are lost, in milliseconds
    #[arg(long, value_name = "MS", default_value = "10000")]
    patience: u64,
    /// The number of workers, if they are a family
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
    /// The folder in which the processes write their addresses
    #[arg(long, hide = true)]
    folder: Option<PathBuf>,
}

/// The host of a role, and its settings.
#[derive(Clone, Debug)]
pub struct Place {
    role: String,
    host: Host,
    /// The address of the host.
    reached: Option<String>,
    arguments: Arguments,
}

/// Plays the roles, each in a process. Returns success if all roles succeed.
///
/// Each role comes with the names in its certificate: the roles and protocols that it may play.
/// `play` plays one of them: it is given the [`Place`].
pub fn start(
    roles: &[(&str, &[&str])],
    play: impl Fn(Place) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>,
) -> ExitCode {
    start_with(roles, &[], play)
}

/// [`start`], for a master `m` and a family `worker` of so many members as `--workers` says.
pub fn start_family(
    protocol: &str,
    play: impl Fn(Place) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>,
) -> ExitCode {
    let workers = Arguments::parse().workers;
    let members: Vec<String> = (0..workers).map(|index| format!("worker[{index}]")).collect();
    let names = ["m", "worker"].map(|role| format!("{role}.{protocol}"));
    let [m, worker] = names.each_ref().map(|name| [name.as_str()]);
    let members = members.iter().map(|member| (member.as_str(), &worker[..]));
    let roles: Vec<(&str, &[&str])> = [("m", &m[..])].into_iter().chain(members).collect();
    start(&roles, play)
}

/// [`start`], for an example in which these roles listen over the transport that `--servers` names.
pub fn start_with(
    roles: &[(&str, &[&str])],
    servers: &[&str],
    play: impl Fn(Place) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>,
) -> ExitCode {
    let arguments = Arguments::parse();
    let is_alone = arguments.transport == "memory";
    let played = match &arguments.role {
        Some(role) => played_here(&arguments, &[role], play),
        None if arguments.servers.is_some() && (is_alone || servers.is_empty()) => {
            Err("`--servers` is only for servers in processes of their own".into())
        }
        None if is_alone => {
            let roles: Vec<&str> = roles.iter().map(|(role, _)| *role).collect();
            played_here(&arguments, &roles, play)
        }
        None => in_processes(&arguments, roles, servers),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let first: &(dyn Error + 'static) = &*error;
            let causes = iter::successors(Some(first), |&error| error.source());
            let causes: Vec<String> = causes.map(ToString::to_string).collect();
            eprintln!("{}", causes.join(": "));
            ExitCode::FAILURE
        }
    }
}

/// Plays roles in this process.
fn played_here(
    arguments: &Arguments,
    roles: &[&str],
    play: impl Fn(Place) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let host = host(arguments)?;
        let reached = listen(&host, arguments).await?;
        let playing = roles.iter().map(|role| {
            let (host, reached) = (host.clone(), reached.clone());
            let (role, arguments) = ((*role).to_owned(), arguments.clone());
            tokio::spawn(play(Place { role, host, reached, arguments }))
        });
        for role in playing.collect::<Vec<_>>() {
            role.await??;
        }
        Ok(())
    })
}

/// Starts a process for each role, and waits for all.
fn in_processes(
    arguments: &Arguments,
    roles: &[(&str, &[&str])],
    servers: &[&str],
) -> Result<(), Failure> {
    let folder = env::temp_dir().join(format!("rumpsteak-{}", process::id()));
    fs::create_dir_all(&folder)?;
    certify(&folder, roles)?;
    let start = |(role, _): &(&str, &[&str])| {
        let mut command = Command::new(env::current_exe()?);
        let transport = if servers.contains(role) {
            arguments.servers.as_deref().unwrap_or("tcp")
        } else {
            &arguments.transport
        };
        command.args(["--transport", transport, "--role", role]);
        command.args(["--broker", &arguments.broker]);
        command.args(["--workers", &arguments.workers.to_string()]);
        command.args(["--patience", &arguments.patience.to_string(), "--folder"]);
        command.arg(&folder).spawn()
    };
    let started: Vec<_> = roles.iter().map(start).collect::<Result<_, _>>()?;
    let mut failed = Vec::new();
    for ((role, _), mut process) in roles.iter().zip(started) {
        if !process.wait()?.success() {
            failed.push(*role);
        }
    }
    fs::remove_dir_all(&folder)?;
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// Writes a certificate for each role. All processes are on this machine.
fn certify(folder: &Path, roles: &[(&str, &[&str])]) -> Result<(), Failure> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["authority".to_owned()])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    fs::write(folder.join("authority.der"), params.self_signed(&key)?.der())?;
    let authority = Issuer::new(params, key);
    for (role, names) in roles {
        let key = KeyPair::generate()?;
        let names = names.iter().map(|name| format!("{name}.rumpsteak"));
        let names: Vec<String> = names.chain(["127.0.0.1".to_owned()]).collect();
        let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        fs::write(folder.join(format!("{role}.der")), certificate.der())?;
        fs::write(folder.join(format!("{role}.key")), key.serialize_der())?;
    }
    Ok(())
}

/// The host of this process, with TLS if there are certificates.
fn host(arguments: &Arguments) -> Result<Host, Failure> {
    let mut transports = Transports::default();
    if let (Some(folder), Some(role)) = (&arguments.folder, &arguments.role)
        && folder.join("authority.der").exists()
    {
        let read = |name: &str| fs::read(folder.join(name));
        let identity = Identity {
            certificates: vec![read(&format!("{role}.der"))?.into()],
            key: read(&format!("{role}.key"))?.try_into()?,
            authorities: vec![read("authority.der")?.into()],
        };
        let tls = Tls::new(identity.clone())?;
        transports = transports.with("tls", tls.clone()).with("wss", WebSocket::over(tls));
        transports = transports.with("quic", Quic::new(identity)?);
    }
    let patience = Duration::from_millis(arguments.patience);
    Ok(Host::with(transports, Limits::default().join(patience).resume(patience)))
}

/// Listens at the given address, and writes it to the folder.
async fn listen(host: &Host, arguments: &Arguments) -> Result<Option<String>, Failure> {
    let Arguments { transport, broker, role, listen, folder, .. } = arguments;
    let here = match (listen, folder, role) {
        (Some(address), ..) => address.clone(),
        (None, Some(folder), Some(role)) if transport == "unix" => {
            format!("unix://{}", folder.join(role).display())
        }
        (None, Some(folder), Some(role)) if transport == "nats" => {
            let name = folder.file_name().unwrap_or_default().display();
            format!("nats://{broker}/{name}.{role}")
        }
        (None, Some(_), _) => format!("{transport}://127.0.0.1:0"),
        (None, None, None) => "memory://all".to_owned(),
        (None, None, Some(_)) => return Ok(None),
    };
    let reached = host.listen(&here).await?.to_string();
    if let (Some(folder), Some(role)) = (folder, role) {
        let (draft, word) = (format!("{role}.draft"), format!("{role}.address"));
        fs::write(folder.join(&draft), &reached)?;
        fs::rename(folder.join(draft), folder.join(word))?;
    }
    Ok(Some(reached))
}

impl Place {
    /// The role that is played here.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    /// The number of members of the family `worker`.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.arguments.workers.into()
    }

    /// The index of the role among the members of its family; `None` for a role of its own.
    #[must_use]
    pub fn member(&self) -> Option<usize> {
        let (_, index) = self.role.strip_suffix(']')?.split_once('[')?;
        index.parse().ok()
    }

    /// The host of the role.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The address of the host; `None` if it calls all of its peers.
    #[must_use]
    pub fn reached(&self) -> Option<&str> {
        self.reached.as_deref()
    }

    /// How long the role waits for a peer.
    #[must_use]
    pub fn patience(&self) -> Duration {
        Duration::from_millis(self.arguments.patience)
    }

    /// Joins the only session, and calls the named peers. The others call this role.
    ///
    /// # Errors
    ///
    /// If a peer does not write its address.
    pub async fn join<R: Joins>(&self, called: &[&str]) -> Result<Join<R>, Failure> {
        self.join_as("example", called).await
    }

    /// Joins a session of this name.
    ///
    /// # Errors
    ///
    /// If a peer does not write its address.
    pub async fn join_as<R: Joins>(
        &self,
        session: &str,
        called: &[&str],
    ) -> Result<Join<R>, Failure> {
        let mut join = self.host.join(session);
        for role in called {
            let given: Vec<&str> = self.given(role).collect();
            if !given.is_empty() {
                join = join.peer(role, given);
            } else if self.arguments.folder.is_some() {
                join = join.peer(role, [self.word_of(role).await?]);
            }
        }
        Ok(join)
    }

    /// The addresses of a peer in the arguments.
    fn given(&self, role: &str) -> impl Iterator<Item = &str> {
        let given = self.arguments.peer.iter().filter_map(|peer| peer.split_once('='));
        given.filter(move |(of, _)| *of == role).map(|(_, at)| at)
    }

    /// The address of the process of another role. It is this process if it plays all roles.
    ///
    /// # Errors
    ///
    /// If the process does not write its address.
    pub async fn word_of(&self, role: &str) -> Result<String, Failure> {
        if let Some(at) = self.given(role).next() {
            return Ok(at.to_owned());
        }
        let Some(folder) = &self.arguments.folder else {
            return self.reached.clone().ok_or_else(|| "this process does not listen".into());
        };
        let file = folder.join(format!("{role}.address"));
        let until = Instant::now() + self.patience();
        while Instant::now() < until {
            if let Ok(word) = fs::read_to_string(&file) {
                return Ok(word);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(format!("`{role}` leaves no word in {}", folder.display()).into())
    }
}
