//! Which transport two ends talk over, and where a role is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Address, Directory, Host, Join, Limits, NetError, Refusal};
use tokio::time::timeout;

use crate::meddling::{Hands, Meddling};
use crate::window::net::{A, B};
use crate::window::{early, plain};

/// Does nothing.
struct Idle;

impl Hands for Idle {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        Ok(frame)
    }
}

/// Hosts that know the transports `one` and `two`, and how often each was called.
struct Net {
    transports: Transports,
    calls: [Arc<AtomicU64>; 2],
}

impl Net {
    fn new() -> Self {
        let calls = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let [one, two] = calls.clone().map(|calls| {
            Meddling(move || {
                calls.fetch_add(1, Ordering::Relaxed);
                Idle
            })
        });
        Self { transports: Transports::default().with("one", one).with("two", two), calls }
    }

    fn host(&self) -> Host {
        Host::with(self.transports.clone(), Limits::default().join(Duration::from_secs(5)))
    }

    /// How often each transport was called since it was last asked.
    fn calls(&self) -> [u64; 2] {
        [0, 1].map(|index| self.calls[index].swap(0, Ordering::Relaxed))
    }
}

/// A session in which `b` is called.
async fn swap(here: Join<A>, there: &Host) -> Result<(), NetError> {
    let there = there.join::<B>(here.session());
    swap_with(here, there).await
}

async fn swap_with(here: Join<A>, there: Join<B>) -> Result<(), NetError> {
    let (mut a, mut b) = tokio::try_join!(here.connect(), there.connect())?;
    tokio::try_join!(plain(&mut a.role), early(&mut b.role)).unwrap();
    tokio::try_join!(a.leave(), b.leave())?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_best_transport_that_both_have_is_remembered_until_it_fails() {
    let net = Net::new();
    let (here, there) = (net.host(), net.host());
    there.listen("one://best-1").await.unwrap();
    there.listen("two://best-2").await.unwrap();
    let join = |session: &str| here.join::<A>(session).peer("b", ["one://best-1"]);
    // Without a wish, the connection that there is will do.
    swap(join("1"), &there).await.unwrap();
    assert_eq!(net.calls(), [1, 0]);
    swap(join("2").over(["two", "one"]), &there).await.unwrap();
    assert_eq!(net.calls(), [1, 1]);
    swap(join("3").over(["two", "one"]), &there).await.unwrap();
    assert_eq!(net.calls(), [0, 1]);
    swap(join("4").over(["one", "two"]), &there).await.unwrap();
    assert_eq!(net.calls()[1], 1);
    // There is another host now, which is called where it listens.
    drop(there);
    let there = net.host();
    tokio::time::sleep(Duration::from_secs(1)).await;
    there.listen("one://best-1").await.unwrap();
    net.calls();
    swap(join("5").over(["two", "one"]), &there).await.unwrap();
    assert_eq!(net.calls()[0], 1);
}

/// Each pair of lists: the caller's, in its order of preference, and the called role's.
#[tokio::test(start_paused = true)]
async fn both_ends_have_a_say() {
    let lists: [&[&str]; 5] = [&[], &["one"], &["two"], &["one", "two"], &["two", "one"]];
    let expected = [
        ["one", "one", "two", "one", "one"],
        ["one", "one", "-", "one", "one"],
        ["two", "-", "two", "two", "two"],
        ["one", "one", "two", "one", "one"],
        ["two", "one", "two", "two", "two"],
    ];
    let mut found = [[""; 5]; 5];
    for (i, ours) in lists.into_iter().enumerate() {
        for (j, theirs) in lists.into_iter().enumerate() {
            let net = Net::new();
            let (here, there) = (net.host(), net.host());
            let address = format!("one://pair-{i}-{j}");
            there.listen(&address).await.unwrap();
            there.listen(&format!("two://other-{i}-{j}")).await.unwrap();
            let here = here.join::<A>("1").peer("b", [address]).over(ours.iter().copied());
            let there = there.join::<B>("1").over(theirs.iter().copied());
            found[i][j] = match swap_with(here, there).await {
                Ok(()) if net.calls()[1] > 0 => "two",
                Ok(()) => "one",
                Err(NetError::Refused { refusal: Refusal::Transport(_), .. }) => "-",
                Err(error) => panic!("{ours:?} and {theirs:?}: {error}"),
            };
        }
    }
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn a_host_may_be_met_at_another_address_than_where_it_talks() {
    let net = Net::new();
    let (here, there) = (net.host(), net.host());
    there.meet("one://meet").await.unwrap();
    there.listen("two://talk").await.unwrap();
    swap(here.join("1").peer("b", ["one://meet"]), &there).await.unwrap();
    assert_eq!(net.calls(), [1, 1]);
    let join = here.join::<A>("2").peer("b", ["one://meet"]).over(["one"]);
    let refused = tokio::select! {
        refused = join.connect() => refused.map(drop).unwrap_err(),
        joined = there.join::<B>("2").connect() => panic!("{joined:?}"),
    };
    assert_eq!(
        refused.to_string(),
        "the connection to `b` was refused: one talks over these transports: one; the other \
         over these: two"
    );
}

#[tokio::test(start_paused = true)]
async fn a_directory_says_where_peers_are() {
    let read = |text: &str| toml::from_str::<Directory>(text);
    let from_toml =
        read("b = ['memory://directory']\nother = ['tcp://a:1', 'unix:///b']\n").unwrap();
    let vars = [("NET_B", "memory://directory"), ("NET_OTHER", "tcp://a:1, unix:///b")];
    let vars = vars.iter().chain(&[("NETS", "x"), ("PATH", "/bin")]);
    let vars = vars.map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let from_vars = Directory::from_vars("NET", vars).unwrap();
    assert_eq!(from_toml, from_vars);
    let wrong = read("b = ['nowhere']").unwrap_err().to_string();
    assert!(wrong.contains("`nowhere` is not an address"), "{wrong}");
    let wrong = Directory::from_vars("N", [("N_B".to_owned(), "nowhere".to_owned())]);
    assert_eq!(wrong.unwrap_err(), "nowhere".parse::<Address>().unwrap_err());

    let [here, there] = [Host::new(), Host::new()];
    there.listen("memory://directory").await.unwrap();
    let swapped = swap(here.join("1").peers(&from_vars), &there);
    timeout(Duration::from_secs(60), swapped).await.unwrap().unwrap();
}
