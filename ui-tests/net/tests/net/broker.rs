//! Sessions through a broker, also over a restart of it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Limits};

use crate::demand::{PLACES, is_advised};
use crate::shop::{C, L, S, client, expected, ledger, server};

/// A server of NATS at this port.
struct Server(u16, Child);

impl Server {
    fn start(port: u16) -> Self {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
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
    let sums = through(&mut Server::start(port()), 0, 1_000).await;
    assert_eq!(sums, expected(1_000));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_restart_of_the_broker_loses_nothing() {
    let sums = through(&mut Server::start(port()), 3, 20_000).await;
    assert_eq!(sums, expected(20_000));
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
