//! Sessions through a broker, also over a restart of it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rumpsteak::{Error, ErrorKind};
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Limits, NetError};
use tokio::time::Instant;

use crate::absent_peer::{PLACES, is_advised};
use crate::shop::{C, L, S, client, expected, ledger, order, server};
use crate::window::net::{A, B};
use crate::window::{early, plain};

/// A server of NATS at this port.
struct Server(u16, Child);

impl Server {
    fn start(port: u16) -> Self {
        Self::start_with(port, &[])
    }

    fn start_with(port: u16, arguments: &[&str]) -> Self {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).args(arguments);
        Self(port, command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn restart(&mut self) {
        self.1.kill().unwrap();
        self.1.wait().unwrap();
        *self = Self::start(self.0);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.1.kill();
        let _ = self.1.wait();
    }
}

/// A free port, which nobody takes in between, it is hoped.
fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn through(server: &mut Server, restarts: u32, many: u64) -> (u64, u64) {
    let at = |name: &str| format!("nats://127.0.0.1:{}/{name}", server.0);
    let (s, l) = (at("shop.s"), at("shop.l"));
    let hosts = [(); 3].map(|()| Host::new());
    // The server may not answer yet.
    tokio::try_join!(hosts[1].listen(&s), hosts[2].listen(&l)).unwrap();
    let c = hosts[0].join::<C>("1").peer("s", [&s]).peer("l", [&l]).connect();
    let served = hosts[1].join::<S>("1").peer("l", [&l]).connect();
    let booked = hosts[2].join::<L>("1").connect();
    let (mut c, mut s, mut l) = tokio::try_join!(c, served, booked).unwrap();
    let ran = async {
        tokio::try_join!(client(&mut c.role, many), self::server(&mut s.role), ledger(&mut l.role))
    };
    let restarted = async {
        for _ in 0..restarts {
            tokio::time::sleep(Duration::from_millis(300)).await;
            server.restart();
        }
    };
    let (ran, ()) = tokio::join!(ran, restarted);
    let (sums, (), ()) = ran.unwrap();
    tokio::try_join!(c.leave(), s.leave(), l.leave()).unwrap();
    sums
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn roles_find_each_other_by_name() {
    assert_eq!(through(&mut Server::start(port()), 0, 1_000).await, expected(1_000));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_restart_of_the_broker_loses_nothing() {
    assert_eq!(through(&mut Server::start(port()), 3, 20_000).await, expected(20_000));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_broker_that_is_not_there_yet_is_waited_for_in_bounds() {
    let port = port();
    let address = format!("nats://127.0.0.1:{port}/shop.s");
    let waits = |join| Host::with(Transports::default(), Limits::default().join(join));

    let error = waits(Duration::from_millis(100)).listen(&address).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(error.to_string(), format!("cannot listen at {address}"));
    assert_eq!(source.to_string(), "IO error: Connection refused (os error 111)");

    let host = waits(Duration::from_secs(60));
    let starts = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        Server::start(port)
    };
    let (listened, _server) = tokio::join!(host.listen(&address), starts);
    assert_eq!(listened.unwrap().to_string(), address);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_role_on_demand_is_found_by_name() {
    let server = Server::start(port());
    for (place, knows) in PLACES.into_iter().flat_map(|place| [(place, 5), (place, 10)]) {
        let at = ["clerk", "expert"]
            .map(|role| format!("nats://127.0.0.1:{}/{place}.{knows}.{role}", server.0));
        is_advised(&[(); 3].map(|()| Host::new()), [&at[0], &at[1]], place, knows).await;
    }
}

/// Two instances of a service under one name, at a broker that is restarted.
#[tokio::test]
#[ignore = "needs nats-server"]
async fn sessions_resume_at_the_instance_that_has_them() {
    let mut server = Server::start(port());
    let at = format!("nats://127.0.0.1:{}/swap", server.0);
    let instances = [(); 2].map(|()| Host::new());
    let mut services = Vec::new();
    for instance in &instances {
        instance.listen(&at).await.unwrap();
        let mut sessions = instance.serve::<B>();
        services.push(tokio::spawn(async move {
            let mut played = tokio::task::JoinSet::new();
            while let Ok(Some(join)) =
                tokio::time::timeout(Duration::from_secs(3), sessions.next()).await
            {
                played.spawn(async move {
                    let mut b = join.connect().await.unwrap();
                    for _ in 0..200 {
                        early(&mut b.role).await.unwrap();
                    }
                    b.leave().await.unwrap();
                });
            }
            played.join_all().await.len()
        }));
    }
    let clients = (0..20).map(|session: u32| {
        let at = at.clone();
        tokio::spawn(async move {
            let join = Host::new().join::<A>(session.to_string()).peer("b", [at]);
            let mut a = join.connect().await.unwrap();
            for _ in 0..200 {
                plain(&mut a.role).await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            a.leave().await.unwrap();
        })
    });
    let clients: Vec<_> = clients.collect();
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(800)).await;
        server.restart();
    }
    for client in clients {
        client.await.unwrap();
    }
    let [first, second] = [services.remove(0).await.unwrap(), services.remove(0).await.unwrap()];
    assert!(first > 0 && second > 0 && first + second == 20, "{first} and {second} sessions");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_message_that_is_larger_than_the_broker_takes_is_an_error_at_once() {
    let server = Server::start(port());
    let at = |name: &str| format!("nats://127.0.0.1:{}/{name}", server.0);
    let hosts = [(); 3].map(|()| Host::new());
    for (size, fits) in [(1_000_000, true), (1_048_570, false)] {
        let (s, l) = (at(&format!("s{size}")), at(&format!("l{size}")));
        tokio::try_join!(hosts[1].listen(&s), hosts[2].listen(&l)).unwrap();
        let session = size.to_string();
        let (mut c, mut s, mut l) = tokio::try_join!(
            hosts[0].join::<C>(&session).peer("s", [&s]).peer("l", [&l]).connect(),
            hosts[1].join::<S>(&session).peer("l", [&l]).connect(),
            hosts[2].join::<L>(&session).connect(),
        )
        .unwrap();
        let began = Instant::now();
        let others = tokio::spawn(async move {
            let _ = tokio::join!(self::server(&mut s.role), ledger(&mut l.role));
        });
        let ordered = order(&mut c.role, "x".repeat(size)).await;
        if fits {
            assert_eq!(ordered.unwrap(), (1_000_000, 1_000_000));
            others.await.unwrap();
            continue;
        }
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        let ErrorKind::Transport { source, .. } = Error::into_kind(ordered.unwrap_err()) else {
            panic!("it is no error of the transport")
        };
        assert_eq!(
            format!("{source:?}"),
            "the message `Order` to `s` cannot be written: it has 1048574 bytes, and \
             the limit there is 1048559"
        );
    }
}

/// The listener and the caller are told at once if the broker does not permit a subject.
#[tokio::test]
#[ignore = "needs nats-server"]
async fn what_a_broker_does_not_permit_is_told_at_once() {
    let settings = std::env::temp_dir().join(format!("rumpsteak-nats-{}", std::process::id()));
    let denies = "permissions: { publish: { deny: \"rumpsteak.listeners.>\" }, \
                  subscribe: { deny: \"rumpsteak.listeners.>\" } }";
    let users = |more| {
        format!("authorization {{ users = [{{ user: u, password: p, {denies} }}] }}\n{more}")
    };
    for (text, listens, calls) in [
        (users(""), "authorization violation", "authorization violation"),
        (
            users("no_auth_user: u"),
            "Permissions Violation for Subscription to \"rumpsteak.listeners.denied",
            "Permissions Violation for Publish to \"rumpsteak.listeners.denied\"",
        ),
    ] {
        let port = port();
        std::fs::write(&settings, text).unwrap();
        let _server = Server::start_with(port, &["-c", &settings.display().to_string()]);
        let at = format!("nats://127.0.0.1:{port}/denied");
        let listened = Host::new().listen(&at).await.unwrap_err();
        assert!(
            format!("{listened:?}").to_lowercase().contains(&listens.to_lowercase()),
            "{listened:?}"
        );
        let began = Instant::now();
        let called = Host::new().join::<A>("1").peer("b", [&at]).connect().await;
        let called = called.map(drop).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert!(matches!(called, NetError::Call { .. }), "{called:?}");
        assert!(format!("{called:?}").to_lowercase().contains(&calls.to_lowercase()), "{called:?}");
    }
    std::fs::remove_file(settings).unwrap();
}
