//! Roles that come back from their records, whenever their hosts or their processes die.

#![allow(clippy::unwrap_used, reason = "helpers of a test: a panic is a failure")]

#[cfg(feature = "nats")]
mod broker;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use rumpsteak::{Detached, Error};
use rumpsteak_net::transport::{IoFuture, Transports};
use rumpsteak_net::{Host, Join, Limits, NetError, Records, Stored};
use rumpsteak_oracle::seeds;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

#[rumpsteak::protocol(
    Mirror,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod mirror {
    #[session(P)]
    type Giving = Select<Q, Gives>;

    enum Gives {
        Chunk(Chunk, Giving),
        Turn(Turn, Getting),
    }

    type Getting = Branch<Q, Gets>;

    enum Gets {
        Back(Back, Getting),
        Stop(Stop, End),
    }

    #[session(Q)]
    type Taking = Branch<P, Takes>;

    enum Takes {
        Chunk(Chunk, Taking),
        Turn(Turn, Turning),
    }

    type Turning = Select<P, Turns>;

    enum Turns {
        Back(Back, Turning),
        Stop(Stop, End),
    }
}

use mirror::{Back, Chunk, Gets, Getting, Giving, P, Q, Stop, Takes, Taking, Turn, Turning};

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Records in memory, which take a while.
#[derive(Default)]
struct Slow {
    records: Mutex<BTreeMap<String, Vec<u8>>>,
    random: Mutex<Rng>,
}

impl Slow {
    async fn pause(&self) {
        let pause = self.random.lock().unwrap().u64(..4);
        sleep(Duration::from_millis(pause)).await;
    }
}

impl Records for Slow {
    fn load(&self) -> IoFuture<'_, Vec<(String, Vec<u8>)>> {
        Box::pin(async { Ok(self.records.lock().unwrap().clone().into_iter().collect()) })
    }

    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()> {
        Box::pin(async {
            self.pause().await;
            self.records.lock().unwrap().insert(name.to_owned(), record);
            self.pause().await;
            Ok(())
        })
    }

    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()> {
        Box::pin(async {
            self.records.lock().unwrap().remove(name);
            Ok(())
        })
    }
}

/// The same records, for several hosts.
struct Same(Arc<Slow>);

impl Records for Same {
    fn load(&self) -> IoFuture<'_, Vec<(String, Vec<u8>)>> {
        self.0.load()
    }

    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()> {
        self.0.put(name, record)
    }

    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()> {
        self.0.remove(name)
    }
}

/// The number of messages in each direction.
const MANY: u64 = 40;

/// The time that a step takes, besides.
const STEP: Duration = Duration::from_millis(4);

/// The state of a role: how many chunks it has sent, and the numbers that it has received.
#[derive(Default, Deserialize, Serialize)]
struct Memory {
    sent: u64,
    received: Vec<u64>,
}

impl Memory {
    /// The next numbers to send.
    fn next(&mut self, random: &mut Rng) -> std::ops::Range<u64> {
        let from = self.sent;
        self.sent = MANY.min(from + random.u64(1..6));
        from..self.sent
    }
}

/// Sends numbered chunks, some in each step, and receives them again. Returns their numbers.
async fn give(
    host: Host,
    store: impl Records,
    at: &str,
    random: &mut Rng,
    end: impl AsyncFnOnce(&Memory),
) -> Outcome<()> {
    host.restore(store).await?;
    let join = host.join::<P>("1").peer("q", [at]);
    let mut role: Stored<P, Memory> =
        join.stored::<Giving<'static, P>, _>(Memory::default()).await?;
    while !role.is_over() {
        sleep(STEP).await;
        if let Some(mut session) = role.session::<Giving<'static, P>>() {
            let numbers = role.value.next(random);
            let is_last = numbers.is_empty();
            let rest = session.run(async |mut s: Giving<'_>| {
                if is_last {
                    let (rest, end) = Detached::new(s.select(Turn).await?);
                    return Ok((Err(rest), end));
                }
                for number in numbers {
                    s = s.select(Chunk(number)).await?;
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Ok(rest), end))
            });
            match rest.await? {
                Ok::<Detached<Giving<'static, P>>, _>(rest) => role.save(rest).await?,
                Err::<_, Detached<Getting<'static, P>>>(rest) => role.save(rest).await?,
            }
        }
        if let Some(mut session) = role.session::<Getting<'static, P>>() {
            let (many, received) = (random.u64(1..8), &mut role.value.received);
            let rest = session.run(async |mut s: Getting<'_, P>| {
                for _ in 0..many {
                    s = match s.branch().await? {
                        Gets::Back(Back(number), next) => {
                            received.push(number);
                            next
                        }
                        Gets::Stop(Stop, end) => return Ok((None, end)),
                    };
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Some(rest), end))
            });
            match rest.await? {
                Some::<Detached<Getting<'static, P>>>(rest) => role.save(rest).await?,
                None => break,
            }
        }
    }
    Ok(role.finish(end).await?)
}

/// Receives chunks, some in each step, and sends them back.
async fn take(
    host: Host,
    store: impl Records,
    at: &str,
    random: &mut Rng,
    end: impl AsyncFnOnce(&Memory),
) -> Outcome<()> {
    host.restore(store).await?;
    host.listen(at).await?;
    mirror(host.join::<Q>("1"), random, end).await
}

async fn mirror(join: Join<Q>, random: &mut Rng, end: impl AsyncFnOnce(&Memory)) -> Outcome<()> {
    let mut role: Stored<Q, Memory> =
        join.stored::<Taking<'static, Q>, _>(Memory::default()).await?;
    while !role.is_over() {
        sleep(STEP).await;
        if let Some(mut session) = role.session::<Taking<'static, Q>>() {
            let (many, received) = (random.u64(1..8), &mut role.value.received);
            let rest = session.run(async |mut s: Taking<'_>| {
                for _ in 0..many {
                    s = match s.branch().await? {
                        Takes::Chunk(Chunk(number), next) => {
                            received.push(number);
                            next
                        }
                        Takes::Turn(Turn, next) => {
                            let (rest, end) = Detached::new(next);
                            return Ok((Err(rest), end));
                        }
                    };
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Ok(rest), end))
            });
            match rest.await? {
                Ok::<Detached<Taking<'static, Q>>, _>(rest) => role.save(rest).await?,
                Err::<_, Detached<Turning<'static, Q>>>(rest) => role.save(rest).await?,
            }
        }
        if let Some(mut session) = role.session::<Turning<'static, Q>>() {
            let numbers = role.value.next(random);
            let is_last = numbers.is_empty();
            let rest = session.run(async |mut s: Turning<'_, Q>| {
                if is_last {
                    return Ok((None, s.select(Stop).await?));
                }
                for number in numbers {
                    s = s.select(Back(number)).await?;
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Some(rest), end))
            });
            match rest.await? {
                Some::<Detached<Turning<'static, Q>>>(rest) => role.save(rest).await?,
                None => break,
            }
        }
    }
    Ok(role.finish(end).await?)
}

/// True if all numbers have come, once and in order.
fn is_whole(memory: &Memory) -> bool {
    memory.received.iter().copied().eq(0..MANY)
}

/// Runs a program until it ends, and kills it at random moments.
async fn killing<T>(
    seed: u64,
    kills: u32,
    mut program: impl AsyncFnMut(&mut Rng) -> Outcome<T>,
) -> T {
    let mut random = Rng::with_seed(seed);
    for kill in 0.. {
        let limit = if kill < kills { random.u64(..150) } else { 1_000_000 };
        let mut choices = random.fork();
        match timeout(Duration::from_millis(limit), program(&mut choices)).await {
            Ok(ended) => return ended.unwrap_or_else(|error| panic!("seed {seed}: {error:?}")),
            Err(_) => sleep(Duration::from_millis(random.u64(1..30))).await,
        }
    }
    unreachable!("the last run has no limit")
}

#[test]
fn roles_whose_hosts_die_come_back_and_lose_and_double_nothing() {
    for seed in seeds(20) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let at = format!("memory://stored-{seed}");
            let limits = Limits::default().resume(Duration::from_secs(600));
            let host = || Host::with(Transports::default(), limits);
            let slow = || Slow { random: Mutex::new(Rng::with_seed(seed)), ..Slow::default() };
            let stores = [slow(), slow()].map(Arc::new);
            let store = |index: usize| Same(Arc::clone(&stores[index]));
            let done = async |memory: &Memory| assert!(is_whole(memory), "seed {seed}");
            let gives = killing(2 * seed, 8, async |random| {
                give(host(), store(0), &at, random, done).await
            });
            let takes = killing(2 * seed + 1, 8, async |random| {
                take(host(), store(1), &at, random, done).await
            });
            let both = timeout(Duration::from_secs(5_000), async { tokio::join!(gives, takes) });
            both.await.unwrap_or_else(|_| panic!("seed {seed} hangs"));
            for store in &stores {
                assert!(store.records.lock().unwrap().is_empty(), "seed {seed}");
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_role_that_cannot_join_has_no_record() {
    let host = Host::new();
    let join = || host.join::<P>("1").peer("q", ["memory://absent"]);
    let joined = join().stored::<Giving<'static, P>, _>(()).await;
    assert!(matches!(joined, Err(NetError::Store(_))), "without a store");
    let store = Arc::new(Slow::default());
    host.restore(Same(Arc::clone(&store))).await.unwrap();
    let joined = join().stored::<Giving<'static, P>, _>(()).await;
    assert!(matches!(joined, Err(NetError::Absent { .. })));
    assert_eq!(store.load().await.unwrap(), []);
    assert!(host.restore(Same(store)).await.is_err(), "one store only");
    // A peer at the same host would die with it.
    let stored = join().stored::<Giving<'static, P>, _>(());
    let (stored, _) = tokio::join!(stored, host.join::<Q>("1").connect());
    assert!(matches!(stored, Err(NetError::NotStorable { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_role_that_receives_after_it_has_sent_is_told_to_save() {
    let hosts = [(); 2].map(|()| Host::new());
    hosts[1].listen("memory://unsaved").await.unwrap();
    let store = Arc::new(Slow::default());
    hosts[0].restore(Same(Arc::clone(&store))).await.unwrap();
    let gives = hosts[0].join::<P>("1").peer("q", ["memory://unsaved"]);
    let gives = gives.stored::<Giving<'static, P>, _>(());
    let takes = hosts[1].join::<Q>("1").connect();
    let (mut role, _takes) = tokio::try_join!(gives, takes).unwrap();
    assert!(role.session::<Getting<'static, P>>().is_none());
    let ended = role.session::<Giving<'static, P>>().unwrap();
    let ended = { ended }
        .run(async |s: Giving<'_>| match s.select(Turn).await?.branch().await? {
            Gets::Stop(Stop, end) => Ok::<_, Error>(((), end)),
            Gets::Back(..) => unreachable!(),
        })
        .await;
    assert_eq!(
        format!("{:?}", ended.unwrap_err()),
        "`p` cannot receive `Back` or `Stop` from `q`: the transport failed: the role is stored, and receives after \
         it has sent: save it in between"
    );
    assert!(role.session::<Giving<'static, P>>().is_none());
    role.abandon().await.unwrap();
    assert_eq!(store.load().await.unwrap(), []);
}
