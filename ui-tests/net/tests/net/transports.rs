//! The same roles over every transport.

use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rumpsteak_net::transport::rustls_pki_types::CertificateDer;
use rumpsteak_net::transport::{Identity, Quic, Tls, Transports, WebSocket};
use rumpsteak_net::{Host, Limits, NetError, Refusal};
use tokio::time::timeout;

use crate::reconnect::ordered;
use crate::shop::{C, L, S, client, expected, ledger, server};

/// The hosts of three roles, of which each has the name of its role and knows all transports.
fn hosts() -> [Host; 3] {
    let authority = Authority::new();
    ["c.shop.rumpsteak", "s.shop.rumpsteak", "l.shop.rumpsteak"].map(|name| authority.host(name))
}

/// The authority that signs certificates.
pub(crate) struct Authority(Issuer<'static, KeyPair>, rcgen::Certificate);

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["authority".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Self(Issuer::new(params, key), certificate)
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.1.der().clone()
    }

    /// A certificate with these names, and its key.
    pub(crate) fn sign<const N: usize>(
        &self,
        names: [&str; N],
    ) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names.map(str::to_owned)).unwrap();
        (params.signed_by(&key, &self.0).unwrap().der().clone(), key)
    }

    /// A host whose certificate has this name, and is for this machine.
    pub(crate) fn host(&self, name: &str) -> Host {
        self.host_that_believes(self, name)
    }

    /// The same, for a host that believes the certificates of another authority.
    fn host_that_believes(&self, authority: &Self, name: &str) -> Host {
        let (certificate, key) = self.sign([name, "127.0.0.1"]);
        let identity = Identity {
            certificates: vec![certificate],
            key: key.into(),
            authorities: vec![authority.certificate()],
        };
        let quic = Quic::new(identity.clone()).unwrap();
        let tls = Tls::new(identity).unwrap();
        let transports = Transports::default().with("tls", tls.clone()).with("quic", quic);
        Host::with(transports.with("wss", WebSocket::over(tls)), Limits::default())
    }
}

/// Each role at a host of its own, where the server and the ledger listen.
async fn apart(addresses: [&str; 2], session: &str, many: u64) -> (u64, u64) {
    let hosts = hosts();
    let s = hosts[1].listen(addresses[0]).await.unwrap().to_string();
    let l = hosts[2].listen(addresses[1]).await.unwrap().to_string();
    ordered(&hosts, session, [&s, &l], many).await
}

#[tokio::test]
async fn over_memory() {
    assert_eq!(apart(["memory://over-s", "memory://over-l"], "1", 1_000).await, expected(1_000));
}

#[tokio::test]
async fn over_tcp() {
    let sums = apart(["tcp://127.0.0.1:0", "tcp://127.0.0.1:0"], "1", 1_000).await;
    assert_eq!(sums, expected(1_000));
}

#[tokio::test]
async fn a_joined_role_knows_its_peers() {
    let hosts = hosts();
    let at = hosts[1].listen("tls://127.0.0.1:0").await.unwrap().to_string();
    let c = hosts[0].join::<C>("1").peer_role::<S>([&at]).peer_role::<L>(["memory://knows"]);
    hosts[2].listen("memory://knows").await.unwrap();
    let (c, s, l) = tokio::try_join!(
        c.connect(),
        hosts[1].join::<S>("1").peer("l", ["memory://knows"]).connect(),
        hosts[2].join::<L>("1").connect(),
    )
    .unwrap();
    let [s_at_c, c_at_s, c_at_l] = [c.peer("s"), s.peer("c"), l.peer("c")].map(Option::unwrap);
    assert!(c.peer("c").is_none() && c.peer("x").is_none());
    let played = async {
        tokio::try_join!(c.play(async |c| client(c, 20).await), s.play(server), l.play(ledger))
    };
    assert_eq!(played.await.unwrap().0, expected(20));
    let is = |text: &str| Some(text.to_owned());
    assert_eq!([s_at_c.transport(), s_at_c.address()], [is("tls"), Some(at)]);
    assert_eq!([c_at_s.transport(), c_at_s.address()], [is("tls"), is("127.0.0.1")]);
    assert_eq!([c_at_l.transport(), c_at_l.address()], [is("memory"), None]);
    // Twenty orders and an end, and their prices.
    assert_eq!([s_at_c.sent(), s_at_c.received()], [21, 20]);
    assert_eq!([c_at_s.sent(), c_at_s.received()], [20, 21]);
    assert!(s_at_c.taken() <= 21);
}

/// A section of a PEM file: the bytes in base64.
fn pem(kind: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {kind}-----");
    for (line, three) in bytes.chunks(3).enumerate() {
        let number = three.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let number = number << (8 * (3 - three.len()));
        text += if line % 16 == 0 { "\n" } else { "" };
        let digits = (0..4).map(|at| char::from(DIGITS[number >> (18 - 6 * at) & 63]));
        text.extend(digits.take(three.len() + 1).chain("==".chars()).take(4));
    }
    format!("{text}\n-----END {kind}-----\n")
}

#[tokio::test]
async fn an_identity_is_read_from_files() {
    let authority = Authority::new();
    let folder = std::env::temp_dir().join(format!("rumpsteak-pem-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [certificate, key, signer] = ["c.pem", "c.key", "authority.pem"].map(|it| folder.join(it));
    let (signed, pair) = authority.sign(["c.shop.rumpsteak"]);
    std::fs::write(&certificate, pem("CERTIFICATE", &signed)).unwrap();
    std::fs::write(&key, pem("PRIVATE KEY", &pair.serialize_der())).unwrap();
    std::fs::write(&signer, pem("CERTIFICATE", &authority.certificate())).unwrap();
    let identity = Identity::from_pem_files(&certificate, &key, &signer).unwrap();
    assert_eq!(&identity.certificates[..], [signed]);
    let tls = Tls::new(identity).unwrap();
    let c = Host::with(Transports::default().with("tls", tls), Limits::default());
    let [s, l] = ["s", "l"].map(|role| authority.host(&format!("{role}.shop.rumpsteak")));
    let at = s.listen("tls://127.0.0.1:0").await.unwrap().to_string();
    l.listen("memory://pem").await.unwrap();
    assert_eq!(ordered(&[c, s, l], "1", [&at, "memory://pem"], 3).await, expected(3));
    // Each error names the file.
    let failed = |certificate, key, signer| {
        Identity::from_pem_files(certificate, key, signer).map(drop).unwrap_err().to_string()
    };
    for (file, error) in [
        (&key, failed(&certificate, &certificate, &signer)),
        (&certificate, failed(&key, &key, &signer)),
        (&signer, failed(&certificate, &key, &folder.join("none.pem"))),
    ] {
        println!("{}: {error}", file.display());
        assert!(error.starts_with(&folder.display().to_string()), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn over_tls() {
    let sums = apart(["tls://127.0.0.1:0", "tls://127.0.0.1:0"], "1", 1_000).await;
    assert_eq!(sums, expected(1_000));
}

#[tokio::test]
async fn over_quic() {
    let sums = apart(["quic://127.0.0.1:0", "quic://127.0.0.1:0"], "1", 1_000).await;
    assert_eq!(sums, expected(1_000));
}

#[tokio::test]
async fn over_websocket() {
    assert_eq!(apart(["ws://127.0.0.1:0", "ws://127.0.0.1:0"], "1", 1_000).await, expected(1_000));
}

#[tokio::test]
async fn over_a_mix() {
    assert_eq!(apart(["wss://127.0.0.1:0", "memory://mix"], "1", 1_000).await, expected(1_000));
}

#[tokio::test]
async fn a_certificate_is_for_its_role() {
    let authority = Authority::new();
    let (own, other) =
        (authority.host("s.shop.rumpsteak"), Authority::new().host("c.shop.rumpsteak"));
    let at = own.listen("tls://127.0.0.1:0").await.unwrap().to_string();
    let mut service = own.serve::<S>();
    let call = async |host: &Host, most: Duration| {
        let c = host.join::<C>("1").peer("s", [&at]).connect();
        let refused = timeout(most, c).await;
        refused.map(|joined| joined.map(drop).unwrap_err())
    };
    // Signed by an authority that the other end does not believe: no further call can mend it.
    let denied = call(&other, Duration::from_secs(5)).await.unwrap();
    assert!(matches!(&denied, NetError::Call { .. }), "{denied:?}");
    let why = format!("cannot call {at}: invalid peer certificate: BadSignature");
    assert_eq!(format!("{denied:?}"), why);
    let refused = call(&authority.host("x.shop.rumpsteak"), Duration::from_secs(30)).await.unwrap();
    assert_eq!(
        refused.to_string(),
        "the connection to `s` was refused: the certificate or the token of one end is not for the role that it plays"
    );
    // For every role of the protocol: the session is announced.
    let any = authority.host("*.shop.rumpsteak");
    tokio::select! {
        refused = call(&any, Duration::from_secs(30)) => panic!("{refused:?}"),
        announced = service.next() => assert_eq!(announced.unwrap().session(), "1"),
    }
}

#[tokio::test]
async fn a_wrong_certificate_is_told_at_once() {
    let [own, other] = [Authority::new(), Authority::new()];
    let server = own.host("s.shop.rumpsteak");
    for scheme in ["tls", "quic", "wss"] {
        let at = server.listen(&format!("{scheme}://127.0.0.1:0")).await.unwrap().to_string();
        let name = "c.shop.rumpsteak";
        for (what, client, at) in [
            ("the server is believed", other.host_that_believes(&own, name), at.clone()),
            ("the client is believed", own.host_that_believes(&other, name), at.clone()),
            ("another name", own.host(name), at.replace("127.0.0.1", "localhost")),
        ] {
            let began = Instant::now();
            let joined = client.join::<C>("1").peer("s", [&at]).connect();
            let denied = timeout(Duration::from_secs(9), joined).await;
            let denied =
                denied.unwrap_or_else(|_| panic!("{scheme}, {what}")).map(drop).unwrap_err();
            assert!(matches!(denied, NetError::Call { .. }), "{scheme}, {what}: {denied:?}");
            assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        }
    }
    let client = own.host("c.shop.rumpsteak");
    for (address, why) in [
        ("tls://a..b:1", "invalid"),
        ("smoke://hill", "no transport is known for smoke://hill"),
        ("tcp://host", "`host` has no port number"),
    ] {
        let joined = client.join::<C>("1").peer("s", [address]).connect();
        let error = timeout(Duration::from_secs(5), joined).await.unwrap().map(drop).unwrap_err();
        assert!(format!("{error:?}").contains(why), "{error:?}");
    }
}

/// The server demands TLS: the client calls where all is in the clear, and comes in by TLS.
#[tokio::test]
async fn a_role_that_demands_tls_never_speaks_in_the_clear() {
    let authority = Authority::new();
    let (server, client) = (authority.host("s.shop.rumpsteak"), authority.host("c.shop.rumpsteak"));
    let tcp = server.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let joins = || server.join::<S>("1").over(["tls", "quic"]);
    let waits = tokio::spawn(joins().connect());
    tokio::task::yield_now().await;
    let refused = client.join::<C>("1").peer("s", [&tcp]).connect().await.map(drop).unwrap_err();
    let NetError::Refused { refusal, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(refusal, Refusal::Transport(["tcp".to_owned(), "tls, quic".to_owned()]));
    let tls = server.listen("tls://127.0.0.1:0").await.unwrap();
    assert_eq!(tls.scheme(), "tls");
    let ledger = client.join::<L>("1").connect();
    let c = client.join::<C>("1").peer("s", [&tcp]).connect();
    let (c, ledger) = tokio::join!(
        timeout(Duration::from_millis(500), c),
        timeout(Duration::from_millis(600), ledger)
    );
    // Both wait for the server's call of the ledger, of which it has no address.
    assert!(c.is_ok_and(|c| c.is_ok()) && ledger.is_err());
    waits.abort();
}

#[tokio::test]
async fn over_unix_sockets() {
    let folder = std::env::temp_dir().join(format!("rumpsteak-net-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let place = |name: &str| format!("unix://{}", folder.join(name).display());
    assert_eq!(apart([&place("s"), &place("l")], "1", 1_000).await, expected(1_000));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn roles_of_one_host_are_wired_in_memory_whatever_their_addresses() {
    let host = Host::new();
    let nowhere = "tcp://127.0.0.1:1";
    let c = host.join::<C>("1").peer("s", [nowhere]).peer("l", [nowhere]).connect();
    let s = host.join::<S>("1").peer("l", [nowhere]).connect();
    let l = host.join::<L>("1").connect();
    let (mut c, mut s, mut l) = tokio::try_join!(c, s, l).unwrap();
    let ran = tokio::try_join!(client(&mut c.role, 10), server(&mut s.role), ledger(&mut l.role));
    assert_eq!(ran.unwrap(), (expected(10), (), ()));
}

#[tokio::test]
async fn a_service_is_told_of_roles_that_joined_before_it() {
    let host = Host::new();
    let c = tokio::spawn(host.join::<C>("1").connect());
    tokio::task::yield_now().await;
    // It waits for both of them now, and the server for one.
    let moment = Duration::from_secs(10);
    let s = timeout(moment, host.serve::<S>().next()).await.unwrap().unwrap();
    assert_eq!(s.session(), "1");
    let s = tokio::spawn(s.connect());
    tokio::task::yield_now().await;
    let mut ledgers = host.serve::<L>();
    let l = timeout(moment, ledgers.next()).await.unwrap().unwrap();
    let mut l = l.connect().await.unwrap();
    let (mut c, mut s) = (c.await.unwrap().unwrap(), s.await.unwrap().unwrap());
    let ran = tokio::try_join!(client(&mut c.role, 10), server(&mut s.role), ledger(&mut l.role));
    assert_eq!(ran.unwrap(), (expected(10), (), ()));
    // Both have waited for the ledger of one session, and nobody waits any more.
    assert!(timeout(Duration::from_millis(10), ledgers.next()).await.is_err());
    let mut servers = host.serve::<S>();
    assert!(timeout(Duration::from_millis(10), servers.next()).await.is_err());
}

#[tokio::test]
async fn a_host_serves_many_sessions() {
    let [near, far] = [Host::new(), Host::new()];
    let at = far.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let mut servers = far.serve::<S>();
    let ledgers = tokio::spawn({
        let mut service = near.serve::<L>();
        near.listen("memory://many-l").await.unwrap();
        async move {
            while let Some(join) = service.next().await {
                tokio::spawn(async move {
                    let mut l = join.connect().await.unwrap();
                    ledger(&mut l.role).await.unwrap();
                });
            }
        }
    });
    let servers = tokio::spawn(async move {
        while let Some(join) = servers.next().await {
            tokio::spawn(async move {
                let mut s = join.peer("l", ["memory://many-l"]).connect().await.unwrap();
                server(&mut s.role).await.unwrap();
                s.leave().await.unwrap();
            });
        }
    });
    let clients = (0..20).map(|number| {
        let (host, at) = (Host::new(), at.clone());
        tokio::spawn(async move {
            let join = host.join::<C>(format!("session {number}"));
            let join = join.peer("s", [&at]).peer("l", ["memory://many-l"]);
            let mut c = join.connect().await.unwrap();
            assert_eq!(client(&mut c.role, number).await.unwrap(), expected(number));
            c.leave().await.unwrap();
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    ledgers.abort();
    servers.abort();
}

#[tokio::test]
async fn what_cannot_be_is_an_error_at_once() {
    let host = Host::new();
    let error = |joined: Result<_, NetError>| joined.err().map(|error| error.to_string());
    let joined = host.join::<C>("1").peer("s", ["localhost:1"]).connect().await.map(drop);
    assert_eq!(
        error(joined).unwrap(),
        "`localhost:1` is not an address: write `scheme://place`, as in `tcp://localhost:4000`"
    );
    let joined = host.join::<C>("1").peer("x", ["tcp://localhost:1"]).connect().await.map(drop);
    assert_eq!(error(joined).unwrap(), "`c` has no route to a role `x`: its peers are s, l");
    for (address, needs) in [
        ("smoke://hill", "the schemes are memory, tcp, unix, ws"),
        ("wss://hill", "give it to the host, by `Transports::default().with(\"wss\", …)`"),
        #[cfg(not(feature = "nats"))]
        ("nats://hill", "in Cargo.toml, `rumpsteak-net` lacks the feature `nats`"),
    ] {
        assert_eq!(
            error(host.listen(address).await.map(drop)).unwrap().replace("memory, nats", "memory"),
            format!("no transport is known for {address}: {needs}")
        );
    }
}
