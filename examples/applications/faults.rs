//! Processes that are killed, connections that are cut, and a broker that is restarted, at random
//! moments of each application.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use fastrand::Rng;
use rumpsteak_oracle::seeds;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::{Application, applications, portal};

/// How long roles wait for a lost peer, and how long they may take in addition.
const PATIENCE: Duration = Duration::from_secs(1);
const MORE: Duration = Duration::from_secs(20);

/// How long roles wait if no peer is lost: a busy machine is slow.
const LONG: Duration = Duration::from_secs(60);

/// Each remaining process succeeds, or reports in time which peer is lost.
#[test]
fn a_process_that_is_killed_is_named_by_the_others() {
    at_points(applications(), seeds(2), |point| {
        let running = Running::start(point, PATIENCE, |folder, _| folder.into());
        let (has_ended, lost) = kill_one(point, running);
        assert!(lost.is_empty() || !has_ended, "who was killed had ended: {lost:?}");
    });
}

/// All processes succeed, as if nothing had happened.
#[test]
fn connections_that_are_cut_are_made_again() {
    at_points(applications(), seeds(2), |point| {
        let mut running = Running::start(point, LONG, own_folder);
        let _network = point.network(&running);
        running.comes_to_its_end();
    });
}

/// A session moves between processes: its user succeeds although connections are cut, and if one of
/// the processes is killed as well, the others learn which peer is lost.
#[test]
fn delegation_survives_cuts_and_ends_with_kills() {
    at_points(portal(), seeds(8), |point| {
        let is_killed = point.seed % 2 == 1;
        let patience = if is_killed { PATIENCE } else { LONG };
        let mut running = Running::start(point, patience, own_folder);
        let _network = point.network(&running);
        if is_killed {
            kill_one(point, running);
        } else {
            running.comes_to_its_end();
        }
    });
}

/// A moment of an application.
struct Point<'a> {
    program: &'a Path,
    application: Application,
    seed: u64,
    /// How long the application takes when it is left alone.
    whole: Duration,
    runtime: &'a Runtime,
    /// How many connections were cut.
    cuts: &'a Arc<AtomicU64>,
}

/// Runs a test at so many points of each application, several at a time.
fn at_points(
    applications: impl Iterator<Item = (PathBuf, Application)>,
    seeds: Range<u64>,
    test: impl Fn(&Point<'_>) + Sync,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let cuts = Arc::default();
    for (program, application) in applications {
        let start = Instant::now();
        let run = Command::new(&program).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let whole = start.elapsed();
        let next = AtomicU64::new(seeds.start);
        // The processes are idle most of the time.
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= seeds.end {
                            break;
                        }
                        let (program, runtime, cuts) = (&*program, &runtime, &cuts);
                        test(&Point { program, application, seed, whole, runtime, cuts });
                    }
                });
            }
        });
    }
    let cuts = cuts.load(Ordering::Relaxed);
    println!("points {seeds:?} of each application, {cuts} connections cut");
}

/// The processes of an application.
struct Running {
    application: Application,
    /// Identifies the run in the message of a failed test.
    name: String,
    folder: PathBuf,
    processes: Vec<Child>,
}

/// The folder of a role that finds its peers through others.
fn own_folder(folder: &Path, role: &str) -> PathBuf {
    folder.join(role)
}

impl Running {
    /// Starts a process for each role, with its folder from `folder`.
    fn start(
        point: &Point<'_>,
        patience: Duration,
        folder: impl Fn(&Path, &str) -> PathBuf,
    ) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (name, roles, _) = point.application;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let all = std::env::temp_dir().join(format!("rumpsteak-{name}-{}-{number}", process::id()));
        let start = |role: &&str| -> Child {
            let folder = folder(&all, role);
            fs::create_dir_all(&folder).unwrap();
            let mut command = Command::new(point.program);
            command.args(["--role", role, "--patience", &patience.as_millis().to_string()]);
            command.arg("--folder").arg(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let processes = roles.iter().map(start).collect();
        let name = format!("{name}, point {}", point.seed);
        Self { application: point.application, name, folder: all, processes }
    }

    /// Waits until all processes have ended, with the expected result.
    fn comes_to_its_end(&mut self) {
        let (_, roles, expected) = self.application;
        let mut said = String::new();
        for (process, role) in self.processes.drain(..).zip(roles) {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{}, `{role}`: {output:?}", self.name);
            said += &String::from_utf8_lossy(&output.stdout);
        }
        assert_eq!(said, expected, "{}", self.name);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Processes are left only if the test has failed.
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Kills one of the processes. Returns true if it had ended before, and the errors of the peers
/// that have lost it.
fn kill_one(point: &Point<'_>, mut running: Running) -> (bool, Vec<String>) {
    let mut random = Rng::with_seed(point.seed);
    let (_, roles, _) = running.application;
    let victim = random.usize(..roles.len());
    thread::sleep(point.whole.mul_f64(random.f64()));
    let mut process = running.processes.remove(victim);
    process.kill().unwrap();
    let killed = Instant::now();
    let victim_ended = process.wait_with_output().unwrap().status.success();

    let name = &running.name;
    let mut lost = Vec::new();
    for (process, role) in running.processes.drain(..).zip(others(roles, roles[victim])) {
        let Output { status, stderr, .. } = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&stderr);
        let context = format!("{name}: `{}` was killed, `{role}` says {said}", roles[victim]);
        assert!(killed.elapsed() < PATIENCE + MORE, "{context}");
        if status.success() {
            continue;
        }
        // The error names the killed process, or another one that has given up because of it.
        let is_named = others(roles, role).any(|peer| said.contains(&format!("`{peer}`")));
        assert!(is_named && status.code() == Some(1), "{context}");
        lost.push(context);
    }
    (victim_ended, lost)
}

fn others<'a>(roles: &'a [&'a str], but: &str) -> impl Iterator<Item = &'a str> {
    roles.iter().copied().filter(move |role| *role != but)
}

impl Point<'_> {
    /// Lets processes that have folders of their own find each other through a network, which cuts
    /// each connection after some time, for as long as its tasks are kept.
    fn network(&self, running: &Running) -> JoinSet<()> {
        let (_, roles, _) = running.application;
        let mut random = Rng::with_seed(self.seed);
        let mut proxies = JoinSet::new();
        for role in roles {
            let word = |of: &str| running.folder.join(of).join(format!("{role}.address"));
            let (own, told) = (word(role), others(roles, role).map(word).collect());
            let (random, whole, cuts) = (random.fork(), self.whole, Arc::clone(self.cuts));
            proxies.spawn_on(proxy(own, told, random, whole, cuts), self.runtime.handle());
        }
        proxies
    }
}

/// Waits until a process writes its address, tells others another address, and forwards
/// connections.
async fn proxy(
    own: PathBuf,
    told: Vec<PathBuf>,
    mut random: Rng,
    whole: Duration,
    cuts: Arc<AtomicU64>,
) {
    let place = loop {
        match fs::read_to_string(&own) {
            Ok(address) => break address.replace("tcp://", ""),
            Err(_) => sleep(Duration::from_millis(5)).await,
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    for word in told {
        let draft = word.with_extension("draft");
        fs::write(&draft, &address).unwrap();
        fs::rename(draft, word).unwrap();
    }
    let mut connections = JoinSet::new();
    while let Ok((mut near, _)) = listener.accept().await {
        let Ok(mut far) = TcpStream::connect(&place).await else { continue };
        for stream in [&near, &far] {
            stream.set_nodelay(true).unwrap();
        }
        // Most messages are sent in the beginning.
        let life = whole.mul_f64(0.001_f64.powf(random.f64()));
        let cuts = Arc::clone(&cuts);
        connections.spawn(async move {
            tokio::select! {
                _ = copy_bidirectional(&mut near, &mut far) => {}
                () = sleep(life) => drop(cuts.fetch_add(1, Ordering::Relaxed)),
            }
        });
    }
}

#[cfg(feature = "nats")]
mod broker {
    use super::*;

    /// A NATS server.
    struct Broker(String, Child);

    impl Broker {
        fn start() -> Self {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = free.local_addr().unwrap().to_string();
            drop(free);
            let server = serve(&address);
            Self(address, server)
        }

        fn restart(&mut self) {
            self.1.kill().unwrap();
            self.1.wait().unwrap();
            self.1 = serve(&self.0);
        }
    }

    impl Drop for Broker {
        fn drop(&mut self) {
            let _ = self.1.kill();
            let _ = self.1.wait();
        }
    }

    /// A server that will answer at this address.
    fn serve(address: &str) -> Child {
        let (host, port) = address.split_once(':').unwrap();
        let mut command = Command::new("nats-server");
        command.args(["-a", host, "-p", port]).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    #[test]
    #[ignore = "needs nats-server"]
    fn every_application_runs_through_a_broker() {
        let broker = Broker::start();
        crate::run_all(applications(), &["--transport", "nats", "--broker", &broker.0]);
    }

    #[test]
    #[ignore = "needs nats-server"]
    fn a_broker_that_is_restarted_is_waited_for() {
        at_points(applications(), seeds(2), |point| {
            let mut broker = Broker::start();
            let mut command = Command::new(point.program);
            command.args(["--transport", "nats", "--broker", &broker.0, "--patience", "60000"]);
            let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (name, _, expected) = point.application;
            let mut random = Rng::with_seed(point.seed);
            thread::sleep(point.whole.mul_f64(random.f64()));
            broker.restart();
            let Output { status, stdout, stderr } = run.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&stderr);
            assert!(status.success(), "{name}, point {}: {said}", point.seed);
            assert_eq!(String::from_utf8_lossy(&stdout), expected, "{name}, point {}", point.seed);
        });
    }
}
