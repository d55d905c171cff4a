//! A role that plays on demand, in another process or in none.

use std::time::Duration;

use rumpsteak_net::{Host, Joined, Net, NetError};
use rumpsteak_runtime::{Error, ErrorKind, Message, Result, Role, session, try_run};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout};

#[derive(Debug, Role)]
#[protocol(Advice::boss)]
#[message(Note)]
struct Boss(#[route(Clerk)] Net<Note>);

#[derive(Debug, Role)]
#[protocol(Advice::clerk)]
#[message(Note)]
struct Clerk(#[route(Boss)] Net<Note>, #[route(Expert)] Net<Note>);

#[derive(Debug, Role)]
#[protocol(Advice::expert)]
#[message(Note)]
struct Expert(#[route(Clerk)] Net<Note>);

#[derive(Debug, Message, Serialize, Deserialize)]
enum Note {
    Hello(Hello),
    Task(Task),
    Ask(Ask),
    Advice(Advice),
    Reply(Reply),
    Done(Done),
}

#[derive(Debug, Serialize, Deserialize)]
struct Hello;
#[derive(Debug, Serialize, Deserialize)]
struct Task(u64);
#[derive(Debug, Serialize, Deserialize)]
struct Ask(u64);
#[derive(Debug, Serialize, Deserialize)]
struct Advice(u64);
#[derive(Debug, Serialize, Deserialize)]
struct Reply(u64);
#[derive(Debug, Serialize, Deserialize)]
struct Done;

#[session(Boss)]
type Leading = Send<Clerk, Hello, Tasks>;

#[session]
type Tasks = Select<Clerk, Work>;

#[session]
enum Work {
    Task(Task, Receive<Clerk, Reply, Tasks>),
    Done(Done, End),
}

#[session(Clerk)]
type Serving = Receive<Boss, Hello, Working>;

#[session]
struct Working(Branch<Boss, Given>);

#[session]
enum Given {
    Task(Task, Select<Answers>),
    Done(Done, End),
}

#[session]
enum Answers {
    Asked(Send<Expert, Ask, Receive<Expert, Advice, Send<Boss, Reply, Working>>>),
    Known(Send<Boss, Reply, Working>),
}

#[session(Expert)]
type Advising = Receive<Clerk, Ask, Send<Clerk, Advice, End>>;

/// The sum of the replies to so many tasks.
async fn boss(role: &mut Boss, tasks: u64) -> Result<u64> {
    try_run(role, async |s: Leading<'_>| {
        let (mut s, mut sum) = (s.send(Hello).await?, 0);
        for task in 0..tasks {
            let (Reply(reply), next) = s.select(Task(task)).await?.receive().await?;
            (s, sum) = (next, sum + reply);
        }
        Ok((sum, s.select(Done).await?))
    })
    .await
}

/// Asks the expert from this task on.
async fn clerk(role: &mut Clerk, knows: u64) -> Result<()> {
    try_run(role, async |s: Serving<'_>| {
        let (Hello, mut s) = s.receive().await?;
        loop {
            s = match s.branch().await? {
                Given::Task(Task(task), s) if task < knows => s.select(Reply(task)).await?,
                Given::Task(Task(task), s) => {
                    let (Advice(advice), s) = s.select(Ask(task)).await?.receive().await?;
                    s.send(Reply(advice)).await?
                }
                Given::Done(Done, end) => return Ok(((), end)),
            };
        }
    })
    .await
}

/// Advises until nobody can ask any more; how often.
async fn expert(mut joined: Joined<Expert>) -> u64 {
    let mut times = 0;
    loop {
        let advised: Result<()> = try_run(&mut joined.role, async |s: Advising<'_>| {
            let (Ask(task), s) = s.receive().await?;
            Ok(((), s.send(Advice(100 * task)).await?))
        })
        .await;
        match advised.map_err(Error::into_kind) {
            Ok(()) => times += 1,
            Err(ErrorKind::Closed { peer: "clerk", .. }) => break,
            Err(other) => panic!("{other:?}"),
        }
    }
    joined.leave().await.unwrap();
    times
}

const TCP: [&str; 2] = ["tcp://127.0.0.1:0"; 2];

/// A host for each role, and where the clerk and an expert can be called.
async fn hosts(at: [&str; 2]) -> ([Host; 3], [String; 2]) {
    let hosts = [(); 3].map(|()| Host::new());
    let clerk = hosts[1].listen(at[0]).await.unwrap().to_string();
    let expert = hosts[2].listen(at[1]).await.unwrap().to_string();
    (hosts, [clerk, expert])
}

/// What takes longer than this hangs.
async fn in_time<T>(ended: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), ended).await.unwrap()
}

/// The boss and the clerk, joined and gone; what both say.
macro_rules! worked {
    ($boss:expr, $clerk:expr, $tasks:expr, $knows:expr) => {
        in_time(async {
            let (mut b, mut c) = tokio::try_join!($boss, $clerk).unwrap();
            let worked = tokio::join!(boss(&mut b.role, $tasks), clerk(&mut c.role, $knows));
            tokio::try_join!(b.leave(), c.leave()).unwrap();
            worked
        })
    };
}

#[tokio::test]
async fn a_role_that_nobody_asks_need_not_be_there() {
    let ([b, c, nobody], [at_c, at_e]) = hosts(TCP).await;
    drop(nobody);
    for called in [true, false] {
        let begun = Instant::now();
        let boss = b.join::<Boss>(called.to_string()).peer("clerk", [&at_c]).connect();
        let join = c.join::<Clerk>(called.to_string());
        let join = if called { join.peer("expert", [&at_e]) } else { join };
        let (sum, done) = worked!(boss, join.connect(), 10, 10).await;
        done.unwrap();
        assert_eq!(sum.unwrap(), 45);
        assert!(begun.elapsed() < Duration::from_secs(30), "it was waited for");
    }
}

/// As a service that the clerk calls, calling the clerk itself, or at its host.
#[tokio::test]
async fn a_role_that_is_asked_plays() {
    for (knows, asked) in [(5, 5), (10, 0)] {
        for place in ["called", "calls", "there"] {
            let ([b, c, e], [at_c, at_e]) = hosts(TCP).await;
            let boss = b.join::<Boss>("1").peer("clerk", [&at_c]).connect();
            let mut experts = e.serve::<Expert>();
            let (clerk, at) = match place {
                "called" => (c.join::<Clerk>("1").peer("expert", [&at_e]), &e),
                "calls" => (c.join("1"), &e),
                _ => (c.join("1"), &c),
            };
            let advises = in_time(async {
                let join = match place {
                    "called" => experts.next().await.unwrap(),
                    "calls" => at.join("1").peer("clerk", [&at_c]),
                    _ => at.join("1"),
                };
                expert(join.connect().await.unwrap()).await
            });
            let worked = worked!(boss, clerk.connect(), 10, knows);
            let ((sum, done), times) = tokio::join!(worked, advises);
            done.unwrap();
            let expected: u64 =
                (0..knows).sum::<u64>() + (knows..10).map(|it| 100 * it).sum::<u64>();
            assert_eq!((sum.unwrap(), times), (expected, asked), "{place}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_role_that_is_asked_and_not_there_is_an_error() {
    let at = ["memory://asked", "memory://not-there"];
    let ([b, c, e], [at_c, at_e]) = hosts(at).await;
    drop(e);
    let boss_joins = b.join::<Boss>("1").peer("clerk", [&at_c]).connect();
    let clerk_joins = c.join::<Clerk>("1").peer("expert", [&at_e]).connect();
    let (mut b, mut c) = tokio::try_join!(boss_joins, clerk_joins).unwrap();
    let both = async { tokio::join!(boss(&mut b.role, 1), clerk(&mut c.role, 0)) };
    let (led, served) = in_time(both).await;
    let ErrorKind::Transport { peer, source, .. } = served.unwrap_err().into_kind() else {
        panic!("it is absent");
    };
    assert_eq!(peer, "expert");
    assert_eq!(source.to_string(), "`expert` has not joined the session `1` within 30s");
    assert!(matches!(source.downcast_ref(), Some(NetError::Absent { last: Some(_), .. })));
    assert!(matches!(led.unwrap_err().into_kind(), ErrorKind::Closed { peer: "clerk", .. }));
}

/// The expert comes, and nobody else does.
#[tokio::test(start_paused = true)]
async fn a_role_on_demand_waits_for_the_first_of_its_peers() {
    let (hosts, [at_c, _]) = hosts(["memory://first", "memory://second"]).await;
    let joins = hosts[2].join::<Expert>("1").peer("clerk", [&at_c]).connect();
    let absent = in_time(joins).await.map(drop).unwrap_err();
    assert_eq!(absent.to_string(), "`clerk` has not joined the session `1` within 30s");
}
