//! Each application over each transport, its roles in processes of their own; and with one of them
//! killed.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use rumpsteak_oracle::seeds;

/// An application: its program, its roles, and what it says in the end.
type Application = (&'static str, &'static [&'static str], &'static str);

const APPLICATIONS: [Application; 5] = [
    (
        "chat",
        &["server", "ann", "bob", "cy"],
        "ann whispers to cy: question 0 answered, question 1 answered, question 2 answered\n",
    ),
    ("file_transfer", &["client", "server"], "the files are as they were\n"),
    ("jacobi", &["m", "a", "b"], "900 points after 591 rounds, as one process has them\n"),
    ("n_body", &["a", "b", "c"], "60 bodies after 200 steps, as one process has them\n"),
    ("portal", &["user", "portal", "server"], "the squares up to 999 are 332833500 in all\n"),
];

/// The applications. `cargo test` builds the examples before this test, unless it is told to build
/// this test alone.
fn applications() -> impl Iterator<Item = (PathBuf, Application)> {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap().join("examples");
    APPLICATIONS.into_iter().filter_map(move |application| {
        let program = folder.join(application.0).with_extension(std::env::consts::EXE_EXTENSION);
        if !program.exists() {
            println!("skipped: `{}` was not built", application.0);
        }
        program.exists().then_some((program, application))
    })
}

#[test]
fn every_application_runs_over_every_transport() {
    for transport in ["memory", "tcp", "unix", "tls", "ws", "wss", "quic"] {
        run_all(&["--transport", transport]);
    }
}

#[cfg(feature = "nats")]
#[test]
#[ignore = "needs nats-server"]
fn every_application_runs_through_a_broker() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let mut server = Command::new("nats-server");
    server.args(["-a", "127.0.0.1", "-p", &address.port().to_string()]);
    let mut server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while std::net::TcpStream::connect(address).is_err() {
        assert_eq!(server.try_wait().unwrap(), None);
        thread::sleep(Duration::from_millis(20));
    }
    run_all(&["--transport", "nats", "--broker", &address.to_string()]);
    server.kill().unwrap();
    server.wait().unwrap();
}

fn run_all(arguments: &[&str]) {
    for (program, (name, _, expected)) in applications() {
        let output = Command::new(&program).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name} {arguments:?}: {output:?}");
        assert_eq!(text, expected, "{name} {arguments:?}");
    }
}

/// How long roles wait for a peer, in milliseconds, and how long they may take beyond that.
const PATIENCE: u64 = 1_000;
const MORE: Duration = Duration::from_secs(10);

/// Whoever is left comes to its end, or says in time which peer is lost.
#[test]
fn a_process_that_is_killed_is_named_by_the_others() {
    let points = seeds(2);
    for (program, (name, roles, _)) in applications() {
        let start = Instant::now();
        let run = Command::new(&program).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let whole = start.elapsed();
        let points: Vec<u64> = points.clone().collect();
        // They wait most of the time.
        for points in points.chunks(8) {
            thread::scope(|scope| {
                for &point in points {
                    let program = &program;
                    scope.spawn(move || kill_one(program, name, roles, whole, point));
                }
            });
        }
    }
}

fn kill_one(program: &Path, name: &str, roles: &[&str], whole: Duration, point: u64) {
    let mut random = fastrand::Rng::with_seed(point);
    let folder = std::env::temp_dir().join(format!("rumpsteak-{name}-{}-{point}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let start = |role: &&str| -> Child {
        let mut command = Command::new(program);
        command.args(["--role", role, "--patience", &PATIENCE.to_string(), "--folder"]);
        command.arg(&folder).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut processes: Vec<Child> = roles.iter().map(start).collect();
    let victim = random.usize(..processes.len());
    thread::sleep(whole.mul_f64(random.f64()));
    let mut victim_process = processes.remove(victim);
    victim_process.kill().unwrap();
    let killed = Instant::now();
    let victim_ended = victim_process.wait_with_output().unwrap().status.success();

    let mut failed = 0;
    for (process, role) in processes.into_iter().zip(others(roles, victim)) {
        let Output { status, stderr, .. } = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&stderr);
        let context =
            format!("{name}, point {point}: `{}` was killed, `{role}` says {said}", roles[victim]);
        assert!(killed.elapsed() < Duration::from_millis(PATIENCE) + MORE, "{context}");
        if status.success() {
            continue;
        }
        failed += 1;
        // By its name: the one that was killed, or one that has given up for want of it.
        let mut peers = others(roles, roles.iter().position(|other| other == &role).unwrap());
        let is_named = peers.any(|peer| said.contains(&format!("`{peer}`")));
        assert!(is_named && status.code() == Some(1), "{context}");
    }
    assert!(failed == 0 || !victim_ended, "{name}, point {point}: nobody was lost");
    fs::remove_dir_all(folder).unwrap();
}

fn others<'a>(roles: &'a [&'a str], but: usize) -> impl Iterator<Item = &'a str> {
    roles.iter().enumerate().filter(move |(index, _)| *index != but).map(|(_, role)| *role)
}
