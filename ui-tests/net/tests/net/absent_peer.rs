//! A role that plays on demand, in another process or in none.

use std::time::Duration;

use rumpsteak::states::End;
use rumpsteak::{Detached, Error, ErrorKind, Result, try_run};
use rumpsteak_net::{Host, Joined, NetError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::transports::Authority;
use advice::*;
use referral::*;

#[rumpsteak::protocol(
    Advice,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod advice {
    #[session(Clerk)]
    type Serving = Receive<Boss, Hello, Working>;

    struct Working(Branch<Boss, Given>);

    enum Given {
        Task(Task, Select<Answers>),
        Done(Done, End),
    }

    enum Answers {
        Asked(Send<Expert, Ask, Asking>),
        Known(Send<Boss, Reply, Working>),
    }

    struct Asking(Receive<Expert, Advice, Send<Boss, Reply, Working>>);
}

/// The sum of the replies to so many tasks.
async fn boss(role: &mut Boss, tasks: u64) -> Result<u64> {
    try_run(role, async |s: BossSession<'_>| {
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
    try_run(role, async |s: Serving<'_>| work(s.receive().await?.1, knows).await).await
}

async fn work(mut s: Working<'_, Clerk>, knows: u64) -> Result<((), End<'_, Clerk>)> {
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
}

/// Advises until nobody can ask any more; how often.
async fn expert(mut joined: Joined<Expert>) -> u64 {
    let mut times = 0;
    loop {
        let advised: Result<()> = try_run(&mut joined.role, async |s: ExpertSession<'_>| {
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
    let at = listening(&hosts, at).await;
    (hosts, at)
}

async fn listening([_, clerk, expert]: &[Host; 3], at: [&str; 2]) -> [String; 2] {
    [clerk.listen(at[0]).await, expert.listen(at[1]).await].map(|at| at.unwrap().to_string())
}

/// A longer wait is a hang.
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

/// The expert is a service that the clerk calls, calls the clerk itself, or is at its host.
pub(crate) const PLACES: [&str; 3] = ["called", "calls", "there"];

/// Ten tasks, of which the clerk knows so many and has an expert for the others.
pub(crate) async fn is_advised(hosts: &[Host; 3], at: [&str; 2], place: &str, knows: u64) {
    let ([b, c, e], [at_c, at_e]) = (hosts, listening(hosts, at).await);
    let boss = b.join::<Boss>("1").peer("clerk", [&at_c]).connect();
    let mut experts = e.serve::<Expert>();
    let clerk = match place {
        "called" => c.join::<Clerk>("1").peer("expert", [&at_e]),
        _ => c.join("1"),
    };
    let advises = in_time(async {
        let join = match place {
            "called" => experts.next().await.unwrap(),
            "calls" => e.join("1").peer("clerk", [&at_c]),
            _ => c.join("1"),
        };
        expert(join.connect().await.unwrap()).await
    });
    let worked = worked!(boss, clerk.connect(), 10, knows);
    let ((sum, done), times) = tokio::join!(worked, advises);
    done.unwrap();
    let expected: u64 = (0..10).map(|it| if it < knows { it } else { 100 * it }).sum();
    assert_eq!((sum.unwrap(), times), (expected, 10 - knows), "{at:?}, {place}");
}

#[tokio::test]
async fn a_role_that_is_asked_plays_over_any_transport() {
    let authority = Authority::new();
    for scheme in ["memory", "tcp", "ws", "tls", "quic", "wss"] {
        for (place, knows) in PLACES.into_iter().flat_map(|place| [(place, 5), (place, 10)]) {
            let hosts = ["boss", "clerk", "expert"]
                .map(|role| authority.host(&format!("{role}.advice.rumpsteak")));
            let at = ["clerk", "expert"].map(|role| match scheme {
                "memory" => format!("memory://{place}-{knows}-{role}"),
                _ => format!("{scheme}://127.0.0.1:0"),
            });
            is_advised(&hosts, [&at[0], &at[1]], place, knows).await;
        }
    }
}

/// A clerk that moves to another host. The host is told when the clerk has left.
type Ended = std::result::Result<(), Box<dyn std::error::Error + std::marker::Send + Sync>>;

/// A clerk whose session goes on elsewhere before its first task, or with its first question.
async fn moving_clerk(
    mut joined: Joined<Clerk>,
    (host, at): (&Host, &str),
    has_asked: bool,
    packed: &Notify,
) -> Ended {
    if has_asked {
        let asked = try_run(&mut joined.role, async |s: Serving<'_>| {
            let Given::Task(Task(task), s) = s.receive().await?.1.branch().await? else {
                panic!("there is a task");
            };
            Ok::<_, Error>(Detached::<Asking<'static, Clerk>>::new(s.select(Ask(task)).await?))
        })
        .await?;
        let parcel = joined.pack(asked, [at]).await?;
        packed.notify_one();
        let (joined, mut session) = parcel.unpack(host)?;
        let worked = session.run(async |s: Asking<'_, Clerk>| {
            let (Advice(advice), s) = s.receive().await?;
            work(s.send(Reply(advice)).await?, 5).await
        });
        let () = worked.await?;
        return Ok(joined.leave().await?);
    }
    let begun = try_run(&mut joined.role, async |s: Serving<'_>| {
        Ok::<_, Error>(Detached::<Working<'static, Clerk>>::new(s.receive().await?.1))
    })
    .await?;
    let parcel = joined.pack(begun, [at]).await?;
    packed.notify_one();
    let (joined, mut session) = parcel.unpack(host)?;
    let () = session.run(async |s: Working<'_, Clerk>| work(s, 5).await).await?;
    Ok(joined.leave().await?)
}

/// The expert comes when the clerk has gone, or has joined where the clerk then leaves.
#[tokio::test]
async fn a_session_goes_to_another_host_whether_or_not_a_role_on_demand_is_there() {
    for (place, has_asked) in
        [("called", false), ("called", true), ("there", false), ("there first", false)]
    {
        let ([b, c, e], [at_c, at_e]) = hosts(TCP).await;
        let next = Host::new();
        let at_next = next.listen(TCP[0]).await.unwrap().to_string();
        let boss_joins = b.join::<Boss>("1").peer("clerk", [&at_c]).connect();
        let (clerk_joins, expert_joins) = (c.join::<Clerk>("1"), c.join::<Expert>("1"));
        let (mut b, clerk, there) = in_time(async {
            Ok::<_, NetError>(match place {
                "called" => {
                    let clerk = clerk_joins.peer("expert", [&at_e]).connect();
                    let (b, c) = tokio::try_join!(boss_joins, clerk)?;
                    (b, c, None)
                }
                "there" => {
                    let there =
                        async { tokio::try_join!(clerk_joins.connect(), expert_joins.connect()) };
                    let (b, (c, e)) = tokio::try_join!(boss_joins, there)?;
                    (b, c, Some(e))
                }
                _ => {
                    let there =
                        async { tokio::try_join!(expert_joins.connect(), clerk_joins.connect()) };
                    let (b, (e, c)) = tokio::try_join!(boss_joins, there)?;
                    (b, c, Some(e))
                }
            })
        })
        .await
        .unwrap();
        let packed = Notify::new();
        let advises = async {
            packed.notified().await;
            let joined = match there {
                Some(joined) => joined,
                None => e.serve::<Expert>().next().await.unwrap().connect().await.unwrap(),
            };
            expert(joined).await
        };
        let leads = async {
            let sum = boss(&mut b.role, 10).await;
            b.leave().await.unwrap();
            sum
        };
        let serves = moving_clerk(clerk, (&next, &at_next), has_asked, &packed);
        let ended = in_time(async { tokio::join!(leads, serves, advises) });
        let (sum, served, times) = ended.await;
        served.unwrap_or_else(|error| panic!("{place}, {has_asked}: {error}: {error:?}"));
        assert_eq!(
            (sum.unwrap(), times),
            (3_510, 5 + u64::from(has_asked)),
            "{place}, {has_asked}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_if_it_leaves_where_a_role_on_demand_is_to_call_it() {
    let ([b, c, _], [at_c, _]) = hosts(["memory://stays", "memory://calls"]).await;
    let boss_joins = b.join::<Boss>("1").peer("clerk", [&at_c]).connect();
    let clerk_joins = c.join::<Clerk>("1").connect();
    let (mut b, clerk) = tokio::try_join!(boss_joins, clerk_joins).unwrap();
    let (next, packed) = (Host::new(), Notify::new());
    let serves = moving_clerk(clerk, (&next, "memory://leaves"), false, &packed);
    let (led, served) = in_time(async { tokio::join!(boss(&mut b.role, 1), serves) }).await;
    assert_eq!(
        served.unwrap_err().to_string(),
        "`clerk` cannot move before `expert` has called it, as no address of `expert` was given"
    );
    assert!(matches!(led.unwrap_err().into_kind(), ErrorKind::Transport { peer: "clerk", .. }));
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
    let absent =
        "`clerk` waits for `expert` in the session `1`, and called memory://not-there for 30s";
    assert_eq!(source.to_string(), absent);
    assert!(matches!(source.downcast_ref(), Some(NetError::Absent { last: Some(_), .. })));
    assert!(matches!(led.unwrap_err().into_kind(), ErrorKind::Closed { peer: "clerk", .. }));
}

/// The expert comes, and nobody else does.
#[tokio::test(start_paused = true)]
async fn a_role_on_demand_waits_for_the_first_of_its_peers() {
    let (hosts, [at_c, _]) = hosts(["memory://first", "memory://second"]).await;
    let joins = hosts[2].join::<Expert>("1").peer("clerk", [&at_c]).connect();
    let absent = in_time(joins).await.map(drop).unwrap_err();
    assert_eq!(
        absent.to_string(),
        "`expert` waits for `clerk` in the session `1`, and called memory://first for 30s"
    );
}

#[rumpsteak::protocol(
    Referral,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod referral {}

async fn patient(role: &mut Patient) -> Result<u64> {
    try_run(role, async |s: PatientSession<'_>| match s.send(Complaint).await?.branch().await? {
        PatientReferredChoice::Referred(Referred, s) => {
            let (Report(report), end) = s.receive().await?;
            Ok((report, end))
        }
        PatientReferredChoice::Opinion(Opinion(opinion), end) => Ok((opinion, end)),
    })
    .await
}

/// Refers the patient, and does not come to tell the specialist if there are no findings.
async fn doctor(role: &mut Doctor, findings: Option<u64>) -> Option<()> {
    let treated = try_run(role, async |s: DoctorSession<'_>| {
        let s = s.receive().await?.1.select(Referred).await?;
        match findings {
            Some(findings) => Ok(((), s.send(Findings(findings)).await?)),
            None => Err::<_, Box<dyn std::error::Error>>("no findings".into()),
        }
    });
    treated.await.ok()
}

/// Nobody else knows whether the specialist is still to come.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_role_on_demand_learns_that_nobody_asks_it() {
    for findings in [Some(3), None] {
        let hosts = [(); 3].map(|()| Host::new());
        let at = ["patient", "doctor", "specialist"];
        let at = at.map(|role| format!("memory://{role}-{}", findings.is_some()));
        for (host, at) in hosts.iter().zip(&at) {
            host.listen(at).await.unwrap();
        }
        let patients = hosts[0].join::<Patient>("1").connect();
        let doctors = hosts[1].join::<Doctor>("1").peer("patient", [&at[0]]);
        let doctors = doctors.peer("specialist", [&at[2]]).connect();
        let (mut p, mut d) = in_time(async { tokio::try_join!(patients, doctors) }).await.unwrap();
        let reports = async {
            let join = hosts[2].serve::<Specialist>().next().await.unwrap();
            let mut joined = join.peer("patient", [&at[0]]).connect().await.unwrap();
            let reported: Result<()> =
                try_run(&mut joined.role, async |s: SpecialistSession<'_>| {
                    let (Findings(findings), s) = s.receive().await?;
                    Ok(((), s.send(Report(2 * findings)).await?))
                })
                .await;
            reported.unwrap();
            joined.leave().await.unwrap();
        };
        let treats = async {
            let treated = doctor(&mut d.role, findings).await;
            d.leave().await.map(|()| treated)
        };
        let ended = in_time(async {
            let ailing = async { (patient(&mut p.role).await, p.leave().await) };
            match findings {
                Some(_) => tokio::join!(ailing, treats, reports),
                None => tokio::join!(ailing, treats, async {}),
            }
        });
        let ((cured, left), treated, ()) = ended.await;
        assert_eq!((treated.unwrap().is_some(), left.is_ok()), (findings.is_some(), true));
        match cured.map_err(Error::into_kind) {
            Ok(report) => assert_eq!(Some(report), findings.map(|it| 2 * it)),
            Err(ErrorKind::Transport { peer, source, .. }) => {
                let absent = "`patient` waits for `specialist` in the session `1`, which has \
                              neither called memory://patient-false nor joined it on this host \
                              within 30s";
                assert_eq!((peer, &*source.to_string()), ("specialist", absent));
                assert_eq!(findings, None);
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}
