//! Roles that come back from their records, whenever their hosts die.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use rumpsteak::{Detached, Error, try_run};
use rumpsteak_net::transport::{IoFuture, Transports};
use rumpsteak_net::{Folder, Host, Limits, Records};
use rumpsteak_oracle::seeds;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

#[rumpsteak::protocol(
    Upload,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod upload {
    #[session(P)]
    type Giving = Select<Q, Gives>;

    enum Gives {
        Chunk(Chunk, Giving),
        Finish(Finish, Totalling),
    }

    struct Totalling(Receive<Q, Total, End>);

    #[session(Q)]
    type Taking = Branch<P, Takes>;

    enum Takes {
        Chunk(Chunk, Taking),
        Finish(Finish, Send<P, Total, End>),
    }
}

use upload::{Chunk, Finish, Giving, P, Q, Takes, Taking, Total, Totalling};

type Gives = Detached<Giving<'static, P>>;
type Taken = Detached<Taking<'static, Q>>;
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
    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn get<'a>(&'a self, name: &'a str) -> IoFuture<'a, Option<Vec<u8>>> {
        Box::pin(async { Ok(self.records.lock().unwrap().get(name).cloned()) })
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

    fn names(&self) -> IoFuture<'_, Vec<String>> {
        Box::pin(async { Ok(self.records.lock().unwrap().keys().cloned().collect()) })
    }
}

pub(crate) const MANY: u64 = 60;

/// How long a step takes, besides.
const STEP: Duration = Duration::from_millis(5);

/// Sends numbered chunks, some in each step. Returns the total that the peer has counted.
pub(crate) async fn give(
    host: Host,
    store: Arc<dyn Records>,
    at: &str,
    random: &mut Rng,
    end: impl AsyncFnOnce(u64) -> u64,
) -> Outcome<u64> {
    let mut opened = host.join::<P>("1").peer("q", [at]).open(&store).await?;
    if opened.is_over() {
        return Ok(opened.finish(end).await?);
    }
    if opened.is_at::<Totalling<'static, P>>() {
        return total(opened.resume::<Totalling<'static, P>, u64>()?, end).await;
    }
    let mut stored = if let Some(role) = opened.role() {
        let begun: Gives =
            try_run(role, async |s: Giving<'_>| Ok::<_, Error>(Detached::new(s))).await?;
        opened.save(begun, 0_u64).await?
    } else {
        opened.resume::<Giving<'static, P>, u64>()?
    };
    while stored.value < MANY {
        let until = MANY.min(stored.value + random.u64(1..6));
        let numbers = stored.value..until;
        let next: Gives = stored
            .session
            .run(async |mut s: Giving<'_>| {
                for number in numbers {
                    s = s.select(Chunk(number.to_string())).await?;
                }
                Ok::<_, Error>(Detached::new(s))
            })
            .await?;
        stored.value = until;
        sleep(STEP).await;
        stored = stored.save(next).await?;
    }
    let finished: Detached<Totalling<'static, P>> = stored
        .session
        .run(async |s: Giving<'_>| Ok::<_, Error>(Detached::new(s.select(Finish).await?)))
        .await?;
    total(stored.save(finished).await?, end).await
}

async fn total(
    mut stored: rumpsteak_net::Stored<P, Totalling<'static, P>, u64>,
    end: impl AsyncFnOnce(u64) -> u64,
) -> Outcome<u64> {
    let total = stored.session.run(async |s: Totalling<'_, P>| {
        let (Total(total), end) = s.receive().await?;
        Ok::<_, Error>((total, end))
    });
    stored.value = total.await?;
    Ok(stored.finish(end).await?)
}

/// Takes chunks, some in each step. Returns their numbers.
pub(crate) async fn take(
    host: Host,
    store: Arc<dyn Records>,
    at: &str,
    random: &mut Rng,
    end: impl AsyncFnOnce(Vec<u64>) -> Vec<u64>,
) -> Outcome<Vec<u64>> {
    host.recorded::<Q>(&store).await?;
    host.listen(at).await?;
    let mut opened = host.join::<Q>("1").open(&store).await?;
    if opened.is_over() {
        return Ok(opened.finish(end).await?);
    }
    let mut stored = if let Some(role) = opened.role() {
        let begun: Taken =
            try_run(role, async |s: Taking<'_>| Ok::<_, Error>(Detached::new(s))).await?;
        opened.save(begun, Vec::new()).await?
    } else {
        opened.resume::<Taking<'static, Q>, Vec<u64>>()?
    };
    loop {
        let many = random.u64(1..8);
        let mut came: Vec<u64> = Vec::new();
        let next: Option<Taken> = stored
            .session
            .run(async |mut s: Taking<'_>| {
                for _ in 0..many {
                    s = match s.branch().await? {
                        Takes::Chunk(Chunk(number), next) => {
                            came.push(number.parse().unwrap());
                            next
                        }
                        Takes::Finish(Finish, next) => {
                            return Ok((None, next.send(Total(MANY)).await?));
                        }
                    };
                }
                let (rest, end) = Detached::new(s);
                Ok::<_, Error>((Some(rest), end))
            })
            .await?;
        stored.value.extend(came);
        sleep(STEP).await;
        match next {
            Some(next) => stored = stored.save(next).await?,
            None => return Ok(stored.finish(end).await?),
        }
    }
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
    for seed in seeds(200) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let at = format!("memory://stored-{seed}");
            let limits = Limits::default().resume(Duration::from_secs(600));
            let host = || Host::with(Transports::default(), limits);
            let slow = || Slow { random: Mutex::new(Rng::with_seed(seed)), ..Slow::default() };
            let stores = [slow(), slow()].map(Arc::new);
            let store = |index: usize| Arc::clone(&stores[index]) as Arc<dyn Records>;
            let gives = killing(2 * seed, 8, async |random| {
                give(host(), store(0), &at, random, async |total| total).await
            });
            let takes = killing(2 * seed + 1, 8, async |random| {
                take(host(), store(1), &at, random, async |taken| taken).await
            });
            let both = timeout(Duration::from_secs(5_000), async { tokio::join!(gives, takes) });
            let (total, taken) = both.await.unwrap_or_else(|_| panic!("seed {seed} hangs"));
            assert_eq!(total, MANY, "seed {seed}");
            assert_eq!(taken, (0..MANY).collect::<Vec<_>>(), "seed {seed}");
            for store in &stores {
                assert!(store.records.lock().unwrap().is_empty(), "seed {seed}");
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_role_that_receives_after_it_has_sent_is_told_to_save() {
    let hosts = [(); 2].map(|()| Host::new());
    hosts[1].listen("memory://unsaved").await.unwrap();
    let store: Arc<dyn Records> = Arc::new(Slow::default());
    let gives = hosts[0].join::<P>("1").peer("q", ["memory://unsaved"]).open(&store);
    let takes = hosts[1].join::<Q>("1").connect();
    let (mut gives, _takes) = tokio::try_join!(gives, takes).unwrap();
    let ended = try_run(gives.role().unwrap(), async |s: Giving<'_>| {
        let (Total(total), end) = s.select(Finish).await?.receive().await?;
        Ok::<_, Error>((total, end))
    });
    assert_eq!(
        format!("{:?}", ended.await.unwrap_err()),
        "`p` cannot receive `Total` from `q`: the transport failed: the role is stored, and \
         receives from `q` after it has sent: save it in between, by `Stored::save`"
    );
    gives.abandon().await.unwrap();
    assert_eq!(store.names().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_folder_keeps_and_removes_records() {
    let path = std::env::temp_dir().join(format!("rumpsteak-folder-{}", std::process::id()));
    let folder = Folder::open(&path).unwrap();
    assert_eq!(folder.get("a").await.unwrap(), None);
    for record in [vec![1], vec![2, 3]] {
        folder.put("a", record.clone()).await.unwrap();
        assert_eq!(Folder::open(&path).unwrap().get("a").await.unwrap(), Some(record));
    }
    assert_eq!(folder.names().await.unwrap(), ["a"]);
    folder.remove("a").await.unwrap();
    folder.remove("a").await.unwrap();
    assert_eq!(folder.names().await.unwrap(), Vec::<String>::new());
    std::fs::remove_dir(path).unwrap();
}
