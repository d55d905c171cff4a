//! Families: any number of roles with one process.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::executor::block_on;
use futures::future::{join, join_all, join3};
use rumpsteak::watch::Report;
use rumpsteak::{Ended, Error, ErrorKind, Role as _, testing, try_run};

#[rumpsteak::protocol(Family)]
mod family {
    #[session(M)]
    type Master = Select<Round>;

    enum Round {
        Job(Send<Worker, Job, Answers>),
        Stop(Send<Q, Stop, Send<Pair, Stop, Send<Worker, Stop, End>>>),
    }

    struct Answers(
        Send<Pair, Half, Receive<Worker, Done, Receive<Pair, Halved, Send<Q, Note, Master>>>>,
    );
}
use family::*;

/// The sums of so many rounds, and the order of the answers of workers.
async fn master(mut s: Master<'_>, rounds: u32) -> Ended<'_, M, (Vec<u32>, Vec<usize>)> {
    let (mut sums, mut order) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let answers = s.select_each::<Worker, _>(|index| Job(round + index as u32)).await?;
        let halves = answers.send_each(|index| Half(100 * (index as u32 + 1))).await?;
        let mut sum = 0;
        let done = halves.receive_each(|index, Done(own)| {
            sum += own;
            order.push(index);
        });
        let note = done.await?.receive_each(|_, Halved(half)| sum += half);
        s = note.await?.send(Note(sum)).await?;
        sums.push(sum);
    }
    s.select(Stop).await?.send_each(|_| Stop).await?.send_each(|_| Stop).await?.end((sums, order))
}

async fn q(mut s: QSession<'_>) -> Ended<'_, Q, u32> {
    let mut last = 0;
    loop {
        s = match s.branch().await? {
            QNoteChoice::Note(Note(sum), s) => {
                last = sum;
                s.send_each(|_| Seen).await?
            }
            QNoteChoice::Stop(Stop, s) => return s.end(last),
        };
    }
}

async fn worker(index: usize, mut s: WorkerSession<'_>) -> Ended<'_, Worker, usize> {
    loop {
        s = match s.branch().await? {
            WorkerJobChoice::Job(Job(number), s) => s.send(Done(number)).await?.receive().await?.1,
            WorkerJobChoice::Stop(Stop, s) => return s.end(index),
        };
    }
}

async fn pair(_: usize, mut s: PairSession<'_>) -> Ended<'_, Pair> {
    loop {
        s = match s.branch().await? {
            PairHalfChoice::Half(Half(number), s) => s.send(Halved(number / 2)).await?,
            PairHalfChoice::Stop(Stop, s) => return s.end(()),
        };
    }
}

#[test]
fn one_process_is_each_member_in_session_after_session() {
    for workers in [1, 2, 5, 100] {
        let mut roles = Roles::sized(workers);
        assert_eq!((roles.worker.len(), roles.pair.len()), (workers, 2));
        for rounds in [0, 1, 3] {
            let ran = block_on(roles.run(|s| master(s, rounds), q, worker, pair));
            let ((sums, order), last, indices, pairs) = ran.unwrap();
            let sum =
                |round: u32| 150 + (0..workers as u32).map(|index| round + index).sum::<u32>();
            assert_eq!(sums, (0..rounds).map(sum).collect::<Vec<_>>());
            assert_eq!(last, sums.last().copied().unwrap_or_default());
            assert_eq!((order.len(), indices), (workers * rounds as usize, (0..workers).collect()));
            assert_eq!(pairs, [(), ()]);
        }
    }
}

#[test]
fn answers_come_in_every_order() {
    let orders = Rc::new(RefCell::new(BTreeSet::new()));
    let explored = testing::explore(|processes| {
        let Roles { mut m, q: mut of_q, worker: workers, pair: pairs } = Roles::sized(2);
        let orders = Rc::clone(&orders);
        processes.add("m", async move {
            let (sums, order) = try_run(&mut m, |s| master(s, 1)).await?;
            assert_eq!(sums, [151]);
            orders.borrow_mut().insert(order);
            Ok::<_, Error>(())
        });
        processes.add("q", async move { try_run(&mut of_q, q).await.map(drop) });
        for (index, mut own) in workers.into_iter().enumerate() {
            let run = async move { try_run(&mut own, |s| worker(index, s)).await.map(drop) };
            processes.add("worker", run);
        }
        for (index, mut own) in pairs.into_iter().enumerate() {
            processes.add("pair", async move { try_run(&mut own, |s| pair(index, s)).await });
        }
    });
    assert!(explored.interleavings > 10, "{explored:?}");
    assert_eq!(orders.borrow().len(), 2, "{orders:?}");
}

async fn fails(index: usize, s: WorkerSession<'_>) -> Ended<'_, Worker, usize> {
    match index {
        1 => Err(ErrorKind::Poisoned { role: "worker 1" }.into()),
        _ => worker(index, s).await,
    }
}

#[test]
fn a_member_that_fails_ends_the_session_until_the_set_is_reset() {
    let mut roles = Roles::sized(3);
    let failed = block_on(roles.run(|s| master(s, 2), q, fails, pair)).unwrap_err();
    assert!(matches!(failed.kind(), ErrorKind::Poisoned { role: "worker 1" }), "{failed}");
    assert!(roles.m.is_poisoned() && roles.worker.iter().any(|of| of.is_poisoned()));
    roles.reset();
    assert_eq!(roles.worker.len(), 3);
    block_on(roles.run(|s| master(s, 2), q, worker, pair)).unwrap();
    let Roles { mut m, q: mut of_q, mut worker, mut pair } = roles;
    worker.swap(0, 2);
    worker.truncate(2);
    Roles::reset_each(&mut m, &mut of_q, &mut worker, &mut pair);
    assert_eq!(worker.len(), 2);
}

#[test]
fn another_number_of_members_than_the_fixed_one_is_an_error_before_the_first_message() {
    let mut m = Roles::sized(1).m;
    m.pair = Vec::new().into_iter().collect();
    let error = block_on(try_run(&mut m, |s| master(s, 1))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`m` cannot begin a session: the protocol or the set of roles has 2 members of `pair`, and its route leads to 0"
    );
}

#[test]
fn a_member_that_is_left_out_is_named_by_its_index() {
    let (tell, told) = mpsc::channel();
    let tell = move |report: &Report| drop(tell.send(report.roles.clone()));
    let Roles { mut m, q: mut of_q, mut worker, mut pair } =
        Roles::sized(3).watch_with(Duration::from_millis(100), tell);
    let workers = worker[..2].iter_mut().map(|of| try_run(of, |s| super::families::worker(0, s)));
    let pairs = pair.iter_mut().map(|of| try_run(of, |s| super::families::pair(0, s)));
    let roles = join(try_run(&mut m, |s| master(s, 1)), try_run(&mut of_q, q));
    let mut left_out = pin!(join3(roles, join_all(workers), join_all(pairs)));
    assert!(left_out.as_mut().now_or_never().is_none());
    let told = told.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(told[2], "`worker[0]` waits for `Seen` from `q` (and 1 more, likewise)");
    assert!(told[3].starts_with("`worker[2]` has begun no session: it was left out,"), "{told:?}");
    assert!(told[3].contains("; it owes `Done` to `m`. Run all roles at once"), "{told:?}");
}

#[test]
#[should_panic(expected = "the family `worker` has no members")]
fn a_family_has_a_member() {
    drop(Roles::sized(0));
}

mod rounds {
    use super::{BTreeSet, Ended, Error, Rc, RefCell, testing, try_run};

    #[rumpsteak::protocol(Round)]
    mod round {
        #[session(Log)]
        struct Reads(Branch<Member, Told>);

        enum Told {
            Went(Went, Reads),
            Stopped(Stopped, End),
        }
    }
    use round::*;

    async fn m(s: MSession<'_>) -> Ended<'_, M> {
        let s = s.select_each(|index| Go(1 + index as u32)).await?.send(Begin).await?;
        s.send_each(|_| Note).await?.select_each(|_| Stop).await?.send(Stop).await?.end(())
    }

    async fn q(s: QSession<'_>) -> Ended<'_, Q> {
        let QBeginChoice::Begin(Begin, s) = s.branch().await? else { panic!() };
        let s = s.send_each(|_| Ask).await?.receive_each(|_, Yes| ()).await?;
        let QBeginChoice::Stop(Stop, s) = s.branch().await? else { panic!() };
        s.end(())
    }

    async fn log(mut s: Reads<'_>) -> Ended<'_, Log, u32> {
        let mut sum = 0;
        loop {
            let add = |_, message| {
                if let Label::Went(Went(own)) = message {
                    sum += own
                }
            };
            s = match s.branch_each(add).await? {
                Told::Went(Went(first), s) => {
                    sum += first;
                    s
                }
                Told::Stopped(Stopped, s) => return s.end(sum),
            };
        }
    }

    async fn member(mut s: MemberSession<'_>) -> Ended<'_, Member, Vec<bool>> {
        let mut asked_first = vec![];
        loop {
            let (number, next) = match s.branch().await? {
                MemberGoChoice::Go(Go(number), s) => (number, s.branch().await?),
                MemberGoChoice::Stop(Stop, s) => return s.send(Stopped).await?.end(asked_first),
            };
            asked_first.push(matches!(next, MemberAskChoice::Ask(..)));
            let last = match next {
                MemberAskChoice::Ask(Ask, s) => s.send(Yes).await?.receive().await?.1,
                MemberAskChoice::Note(Note, s) => s.receive().await?.1.send(Yes).await?,
            };
            s = last.send(Went(number)).await?;
        }
    }

    #[test]
    fn a_role_learns_a_choice_from_members_that_receive_in_any_order() {
        let orders = Rc::new(RefCell::new(BTreeSet::new()));
        testing::explore(|processes| {
            let Roles { m: mut of_m, q: mut of_q, log: mut of_log, member: members } =
                Roles::sized(2);
            processes.add("m", async move { try_run(&mut of_m, m).await });
            processes.add("q", async move { try_run(&mut of_q, q).await });
            processes.add("log", async move {
                assert_eq!(try_run(&mut of_log, log).await?, 3);
                Ok::<_, Error>(())
            });
            for mut own in members {
                let orders = Rc::clone(&orders);
                processes.add("member", async move {
                    let order = try_run(&mut own, member).await?;
                    orders.borrow_mut().insert(order);
                    Ok::<_, Error>(())
                });
            }
        });
        assert_eq!(orders.borrow().len(), 2, "{orders:?}");
    }
}

mod halt {
    use std::future::pending;

    use futures::FutureExt as _;
    use futures::executor::LocalPool;
    use futures::future::{BoxFuture, try_join, try_join_all};
    use futures::task::LocalSpawnExt as _;
    use rumpsteak::states::Until;
    use rumpsteak::{Ended, Held, Result, hold, try_run};

    use super::{Duration, Report, mpsc, pin};

    #[rumpsteak::protocol(Halt)]
    mod halt {}
    use halt::*;

    /// A session that may move to another thread.
    fn m(role: M) -> BoxFuture<'static, Result<M>> {
        Box::pin(async {
            let s: MSession<'static, Held<M>> = hold(role).await?;
            let asked = s.select_each(|_| Part).await?;
            let Until::Wished((), s) = asked.until_each(|_, _| (), async {}).await? else {
                panic!("no member has answered")
            };
            Ok(s.select_each::<Member, _>(|_| Stop).await?.drain_each().await?.into_role())
        })
    }

    async fn member(s: MemberSession<'_>) -> Ended<'_, Member> {
        let MemberPartChoice::Part(Part, s) = s.branch().await? else { panic!() };
        let Until::Heard(MemberFoundChoice::Stop(Stop, s)) = s.until(async {}).await? else {
            panic!("what has come is first")
        };
        s.send(Stop).await?.end(())
    }

    #[test]
    fn a_race_without_a_message_waits_for_its_own_future_too() {
        let (tell, told) = mpsc::channel();
        let tell = move |report: &Report| drop(tell.send(report.roles.clone()));
        let mut roles = Roles::sized(1).watch_with(Duration::from_millis(100), tell);
        let m = async |s: MSession<'_>| -> Ended<'_, M> {
            s.select_each(|_| Part).await?.until_each(|_, _| (), pending::<()>()).await?;
            unreachable!()
        };
        let silent = async |_: usize, s: MemberSession<'_>| -> Ended<'_, Member> {
            let MemberPartChoice::Part(Part, s) = s.branch().await? else { panic!() };
            s.until(pending::<()>()).await?;
            unreachable!()
        };
        let mut all = pin!(roles.run(m, silent));
        assert!(all.as_mut().now_or_never().is_none());
        let own = ", or until its own future in `race` or `until` completes";
        let waits =
            ["`m` waits for `Found` from `member`", "`member[0]` waits for `Stop` from `m`"];
        let told = told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(told, waits.map(|waits| waits.to_owned() + own));
    }

    #[test]
    fn a_held_role_drains_its_members_in_each_session() {
        let Roles { m: mut role, member: mut members } = Roles::sized(2);
        let mut pool = LocalPool::new();
        let sessions = pool.spawner().spawn_local_with_handle(async move {
            for _ in 0..3 {
                let ends = try_join_all(members.iter_mut().map(|own| try_run(own, member)));
                role = try_join(m(role), ends).await.unwrap().0;
            }
        });
        pool.run_until_stalled();
        assert_eq!(sessions.unwrap().now_or_never(), Some(()));
    }
}
