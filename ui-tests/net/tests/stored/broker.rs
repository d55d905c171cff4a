//! Roles that come back from a bucket of JetStream: the broker and the processes are killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use rumpsteak_net::async_nats::{self, jetstream};
use rumpsteak_net::transport::{Nats, Transports};
use rumpsteak_net::{Host, KeyValue, Limits, Records};
use rumpsteak_oracle::seeds;
use tokio::time::{sleep, timeout};

use crate::mirror::Q;
use crate::{Memory, give, is_whole, mirror, take};

/// A server of NATS with JetStream, in this folder.
struct Broker {
    at: At,
    process: Child,
}

/// A free port, which nobody takes in between, it is hoped.
fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[derive(Clone)]
struct At {
    port: u16,
    folder: PathBuf,
}

impl Broker {
    fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("rumpsteak-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let port = port();
        let at = At { port, folder };
        let process = Self::process(&at);
        Self { at, process }
    }

    fn process(at: &At) -> Child {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &at.port.to_string(), "-js", "-sd"]).arg(&at.folder);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn restart(&mut self) {
        self.process = Self::process(&self.at);
    }

    /// The names of the streams, when the broker answers.
    async fn streams(&self) -> Vec<String> {
        let until = Instant::now() + Duration::from_secs(30);
        let client = loop {
            match async_nats::connect(format!("127.0.0.1:{}", self.at.port)).await {
                Ok(client) => break client,
                Err(error) if Instant::now() > until => panic!("no server: {error}"),
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let mut names = jetstream::new(client).stream_names();
        let mut found = Vec::new();
        while let Some(name) = futures::StreamExt::next(&mut names).await {
            found.push(name.unwrap());
        }
        found
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.at.folder);
    }
}

/// A process that plays `part`. It writes its result to a file of that name, and errors to `log`.
fn start(at: &At, part: &str) -> Child {
    let log = File::options().create(true).append(true).open(at.folder.join("log")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "broker::a_process", "--ignored"]);
    command.env("RUMPSTEAK_PART", part).env("RUMPSTEAK_PORT", at.port.to_string());
    command.env("RUMPSTEAK_FOLDER", &at.folder);
    command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

#[tokio::test]
#[ignore = "a process that the other tests start"]
async fn a_process() {
    let variable = |name: &str| std::env::var(format!("RUMPSTEAK_{name}")).ok();
    let (Some(part), Some(port), Some(folder)) =
        (variable("PART"), variable("PORT"), variable("FOLDER"))
    else {
        return;
    };
    let nats = Nats::default().instance(&part);
    let place = format!("127.0.0.1:{port}/{part}");
    let store = KeyValue::open(&nats, &place, 1).await.unwrap();
    // A service that was killed is noticed after three beats.
    let limits = Limits::default().beat(Duration::from_millis(300)).resume(Duration::from_secs(10));
    let host = Host::with(Transports::default().with("nats", nats), limits);
    let at = format!("nats://127.0.0.1:{port}/upload");
    let result = Path::new(&folder).join(format!("{part}.result"));
    if result.exists() && store.load().await.unwrap().is_empty() {
        return;
    }
    let mut random = Rng::new();
    // A file that is written in part is written again.
    let write = async |memory: &Memory| {
        std::fs::write(&result, format!("{} {:?}", is_whole(memory), memory.received)).unwrap();
    };
    let ended = match &*part {
        "give" => give(host, store, &at, &mut random, write).await,
        "take" => take(host, store, &at, &mut random, write).await,
        _ => {
            host.restore(store).await.unwrap();
            host.listen(&at).await.unwrap();
            let join = host.serve::<Q>().next().await.unwrap();
            mirror(join, &mut random, write).await
        }
    };
    ended.unwrap();
}

/// Starts a process again until it succeeds. It is killed after each of these times.
async fn run(at: &At, part: &str, kills: &[Duration]) -> Result<(), String> {
    let (mut kills, until) = (kills.iter(), Instant::now() + Duration::from_secs(60));
    while Instant::now() < until {
        let mut process = start(at, part);
        let killed = kills.next().map_or(until, |after| Instant::now() + *after);
        let status = loop {
            match process.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > killed => {
                    process.kill().unwrap();
                    break process.wait().unwrap();
                }
                None => sleep(Duration::from_millis(1)).await,
            }
        };
        if status.success() {
            return Ok(());
        }
    }
    Err(format!("`{part}` does not end"))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Broker,
    Service,
    Client,
    Roles,
}

async fn survives(victim: Victim) {
    use Victim::{Broker as B, Client, Roles, Service};
    for seed in seeds(1) {
        let mut random = Rng::with_seed(seed);
        let mut broker = Broker::start(&format!("{victim:?}"));
        // The broker itself has to be there first.
        broker.streams().await;
        let at = broker.at.clone();
        let mut kills = |of: &[Victim], kills| -> Vec<_> {
            let kills = if of.contains(&victim) { kills } else { 0 };
            (0..kills).map(|_| Duration::from_millis(random.u64(10..350))).collect()
        };
        let several = if victim == Roles { 4 } else { 1 };
        let (of_client, of_service) =
            (kills(&[Client, Roles], several), kills(&[Service, Roles], several));
        let killed = async {
            if let [after, pause] = kills(&[B], 2)[..] {
                sleep(after).await;
                broker.kill();
                sleep(pause).await;
                broker.restart();
            }
        };
        let ran =
            async { tokio::try_join!(run(&at, "give", &of_client), run(&at, "take", &of_service)) };
        let (ran, ()) = tokio::join!(ran, killed);
        let read = |of: &str| std::fs::read_to_string(at.folder.join(of)).unwrap_or_default();
        let is_right = ran.is_ok()
            && ["give.result", "take.result"].iter().all(|of| read(of).starts_with("true"));
        assert!(
            is_right && broker.streams().await.is_empty(),
            "{victim:?}, seed {seed}: {ran:?}, {}, {}, {:?}: {}",
            read("give.result"),
            read("take.result"),
            broker.streams().await,
            read("log")
        );
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_broker_that_is_killed_loses_nothing_that_roles_have_stored() {
    survives(Victim::Broker).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_service_that_is_killed_comes_back() {
    survives(Victim::Service).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_client_that_is_killed_comes_back() {
    survives(Victim::Client).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_service_and_a_client_that_are_killed_again_and_again_come_back() {
    survives(Victim::Roles).await;
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn another_instance_does_not_take_a_session() {
    let broker = Broker::start("instances");
    broker.streams().await;
    let mut first = start(&broker.at, "take");
    let client = run(&broker.at, "give", &[]);
    let kills = async {
        while !broker.streams().await.contains(&"KV_rumpsteak-take".to_owned()) {
            sleep(Duration::from_millis(5)).await;
        }
        sleep(Duration::from_millis(100)).await;
        let mut other = start(&broker.at, "other");
        sleep(Duration::from_millis(500)).await;
        first.kill().unwrap();
        first.wait().unwrap();
        sleep(Duration::from_millis(500)).await;
        run(&broker.at, "take", &[]).await.unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
    };
    tokio::join!(client, kills).0.unwrap();
    assert!(!broker.at.folder.join("other.result").exists(), "the other instance has a session");
    let result = std::fs::read_to_string(broker.at.folder.join("give.result")).unwrap();
    assert!(result.starts_with("true"), "{result}");
    assert_eq!(broker.streams().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_cluster_of_three_loses_one() {
    // It takes its time, for elections: only together with many kills.
    if std::env::var("RUMPSTEAK_FUZZ").is_err() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("rumpsteak-cluster-{}", std::process::id()));
    let [ports, routes] = [(); 2].map(|()| [(); 3].map(|()| port()));
    let all = routes.map(|port| format!("nats://127.0.0.1:{port}")).join(",");
    let start = |index: usize| {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &ports[index].to_string(), "-js", "-sd"]);
        command.arg(folder.join(index.to_string())).args(["--name", &format!("s{index}")]);
        command.args(["--cluster_name", "c", "--routes", &all, "--cluster"]);
        command.arg(format!("nats://127.0.0.1:{}", routes[index]));
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let mut servers = [0, 1, 2].map(start);
    let open = async |index: usize| {
        let place = format!("127.0.0.1:{}/test", ports[index]);
        let opened = async {
            loop {
                match KeyValue::open(&Nats::default(), &place, 3).await {
                    Ok(store) => break store,
                    // The servers elect one of them first.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                }
            }
        };
        timeout(Duration::from_secs(30), opened).await.unwrap()
    };
    let store = open(0).await;
    for lost in [0, 1, 2] {
        store.put("a", vec![lost]).await.unwrap();
        if lost == 0 {
            servers[0].kill().unwrap();
            servers[0].wait().unwrap();
        }
    }
    store.put("b", vec![3]).await.unwrap();
    let store = open(1).await;
    let (a, b) = (("a".to_owned(), vec![2]), ("b".to_owned(), vec![3]));
    assert_eq!(store.load().await.unwrap(), [a, b]);
    store.remove("a").await.unwrap();
    store.remove("b").await.unwrap();
    for mut server in servers {
        let _ = server.kill();
        server.wait().unwrap();
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_server_with_tls_takes_clients_that_trust_it() {
    let folder = std::env::temp_dir().join(format!("rumpsteak-trust-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let pem = |kind: &str, bytes: &[u8]| {
        let text = data_encoding::BASE64_MIME.encode(bytes);
        format!("-----BEGIN {kind}-----\n{text}-----END {kind}-----\n")
    };
    std::fs::write(file("cert"), pem("CERTIFICATE", own.cert.der())).unwrap();
    std::fs::write(file("key"), pem("PRIVATE KEY", own.signing_key.serialized_der())).unwrap();
    let (port, store) = (port(), file("store"));
    let (cert, key, at) = (file("cert"), file("key"), port.to_string());
    let tls = ["--tls", "--tlscert", &cert, "--tlskey", &key];
    let mut command = Command::new("nats-server");
    command.args(["-a", "127.0.0.1", "-p", &at, "-js", "-sd", &store]).args(tls);
    let mut server = command.stderr(Stdio::null()).spawn().unwrap();
    let open = async |options: async_nats::ConnectOptions| {
        let nats = Nats::with_options(options.require_tls(true));
        let place = format!("localhost:{port}/test");
        loop {
            match KeyValue::open(&nats, &place, 1).await {
                Err(error) if error.to_string().contains("Connection refused") => {
                    sleep(Duration::from_millis(50)).await;
                }
                opened => break opened,
            }
        }
    };
    let trusting = async_nats::ConnectOptions::new().add_root_certificates(cert.into());
    let store = open(trusting).await.unwrap();
    store.put("a", vec![1]).await.unwrap();
    store.remove("a").await.unwrap();
    let refused = open(async_nats::ConnectOptions::new()).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("certificate"), "{refused}");
    server.kill().unwrap();
    server.wait().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_bucket_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let port = port();
    let settings = std::env::temp_dir().join(format!("rumpsteak-settings-{}", std::process::id()));
    let text = "authorization { user: u, password: p }\n";
    std::fs::write(&settings, text).unwrap();
    let plain = ["-a", "127.0.0.1", "-c", settings.to_str().unwrap(), "-p", &port.to_string()];
    let mut server = Command::new("nats-server").args(plain).stderr(Stdio::null()).spawn().unwrap();
    let open = async |password: &str| {
        let options = async_nats::ConnectOptions::new()
            .user_and_password("u".to_owned(), password.to_owned());
        let place = format!("127.0.0.1:{port}/test");
        KeyValue::open(&Nats::with_options(options), &place, 1).await.map(drop).unwrap_err()
    };
    let refused = timeout(Duration::from_secs(10), async {
        loop {
            match open("wrong").await {
                error if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    sleep(Duration::from_millis(50)).await;
                }
                error => break error,
            }
        }
    });
    let refused = refused.await.unwrap();
    assert!(refused.to_string().contains("authorization violation"), "{refused}");
    let missing = open("p").await.to_string();
    assert!(missing.contains("start it with `nats-server -js`"), "{missing}");
    server.kill().unwrap();
    server.wait().unwrap();
    std::fs::remove_file(settings).unwrap();

    let broker = Broker::start("payload");
    broker.streams().await;
    let place = format!("127.0.0.1:{}/test", broker.at.port);
    let store = KeyValue::open(&Nats::default(), &place, 1).await.unwrap();
    let large = store.put("a", vec![0; 1_100_000]).await.unwrap_err().to_string();
    assert_eq!(
        large,
        "the record has 1100000 bytes, and the server takes 1048576: save more often, or raise its \
         `max_payload`"
    );
    store.put("a", vec![1]).await.unwrap();
    let before = store;
    let store = KeyValue::open(&Nats::default(), &place, 1).await.unwrap();
    assert_eq!(store.load().await.unwrap(), [("a".to_owned(), vec![1])]);
    // The last process cannot write any more, nor remove.
    let taken = before.put("a", vec![2]).await.unwrap_err().to_string();
    assert_eq!(taken, "another process has opened these records");
    assert_eq!(before.remove("a").await.unwrap_err().to_string(), taken);
    store.put("b", vec![3]).await.unwrap();
    store.remove("a").await.unwrap();
    let store = KeyValue::open(&Nats::default(), &place, 1).await.unwrap();
    assert_eq!(store.load().await.unwrap(), [("b".to_owned(), vec![3])]);
    store.remove("b").await.unwrap();
    assert_eq!(broker.streams().await, Vec::<String>::new());
    store.remove("a").await.unwrap();
    assert_eq!(broker.streams().await, Vec::<String>::new());
}
