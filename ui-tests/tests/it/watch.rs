//! `watch`: each way to hang is reported by name, and nothing is reported of roles that do not
//! hang.

use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, iter};

use futures::FutureExt as _;
use futures::executor::block_on;
use futures::future::join;
use rumpsteak::watch::Report;
use rumpsteak::{Ended, Error, ErrorKind, Held, Role as _, hold, try_run};
use rumpsteak_ui_tests::either::{self, ann, bob, listener};
use rumpsteak_ui_tests::numbers::{self, Number, Producer, Stop, Sum, consumer};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong, Roles, S, Server, client, server};
use rumpsteak_ui_tests::pool;

const LIMIT: Duration = Duration::from_millis(100);

/// By when a report must have come, also on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// A function that takes the reports of a set, and their receiver.
fn reports() -> (impl Fn(&Report) + Send + Sync + 'static, Receiver<Report>) {
    let (tell, told) = channel();
    (move |report: &Report| drop(tell.send(report.clone())), told)
}

#[track_caller]
fn next(reports: &Receiver<Report>) -> Vec<String> {
    let report = reports.recv_timeout(DEADLINE).unwrap();
    assert!(report.silence >= LIMIT, "{report}");
    report.roles
}

const WAITS: &str = "`c` waits for `Pong` from `s`";

#[test]
fn a_role_that_is_left_out_or_awaited_in_sequence() {
    let (tell, told) = reports();
    let Roles { mut c, mut s } = Roles::default().watch_with(LIMIT, tell);
    let mut in_sequence = pin!(async {
        client(&mut c, 1).await?;
        server(&mut s).await
    });
    assert!(in_sequence.as_mut().now_or_never().is_none());
    let fresh = "`s` has begun no session: it was left out, or is awaited in sequence, after `c`; it \
                 owes `Pong` to `c`. Run all roles at once, with `run` of the set, `join` or tasks";
    assert_eq!(next(&told), [fresh, WAITS]);
    // Once for each silence.
    assert!(told.recv_timeout(LIMIT * 3).is_err());
}

#[test]
fn two_sets_that_are_mixed() {
    let (tell, told) = reports();
    let (other_tell, other_told) = reports();
    let mut one = numbers::Roles::default().watch_with(LIMIT, tell);
    let mut other = numbers::Roles::default().watch_with(LIMIT, other_tell);
    let producer = numbers::producer(&mut one.0, &[1]);
    let mut mixed = pin!(join(consumer(&mut other.1), producer));
    assert!(mixed.as_mut().now_or_never().is_none());
    let mixed = "`q` has begun no session, but the `q` of another set has: two sets are mixed; it \
                 owes `sum` to `p`. Take all roles from one set";
    assert_eq!(next(&told), ["`p` waits for `sum` from `q`", mixed]);
    let mixed = "`p` has begun no session, but the `p` of another set has: two sets are mixed; it \
                 owes `Number` or `Stop` to `q`. Take all roles from one set";
    assert_eq!(next(&other_told), [mixed, "`q` waits for `Number` or `Stop` from `p`"]);
}

#[test]
fn a_send_that_waits_for_room() {
    let (tell, told) = reports();
    let mut roles = numbers::Roles::default().watch_with(LIMIT, tell);
    let mut alone = pin!(numbers::producer(&mut roles.0, &[1; 1000]));
    assert!(alone.as_mut().now_or_never().is_none());
    assert_eq!(next(&told)[0], "`p` waits for room to send `Number` to `q`");
}

#[test]
fn a_session_that_owns_its_role() {
    let (tell, told) = reports();
    let Roles { c, s } = Roles::default().watch_with(LIMIT, tell);
    let mut asking = Box::pin(async {
        let session: Client<'static, Held<C>> = hold(c).await?;
        session.send(Ping(1)).await?.receive().await
    });
    assert!(asking.as_mut().now_or_never().is_none());
    assert_eq!(next(&told)[1], WAITS);
    // What is dropped does not wait.
    drop(asking);
    drop(s);
    assert!(told.recv_timeout(LIMIT * 3).is_err());
}

const DROPPED: &str = "`s` has received `Ping` from `c`, and begun no other action: it is in code of its \
                       own, its future is not polled, or it has dropped its session, by \
                       `drop(session)` or by an action that was never awaited, as in \
                       `let _ = session.send(…)`; it owes `Pong` to `c`";

#[test]
fn a_session_that_is_dropped_and_an_action_that_is_never_awaited() {
    for is_dropped in [true, false] {
        let (tell, told) = reports();
        let mut roles = Roles::default().watch_with(LIMIT, tell);
        let forgets = async |s: Server<'_>| -> Ended<'_, S> {
            let (Ping(question), session) = s.receive().await?;
            match is_dropped {
                true => drop(session),
                false => drop(session.send(Pong(question + 1))),
            }
            pending().await
        };
        let mut running = pin!(roles.run(forgets, asks));
        assert!(running.as_mut().now_or_never().is_none());
        assert_eq!(next(&told), [DROPPED, WAITS]);
    }
}

async fn asks(s: Client<'_>) -> Ended<'_, C, i32> {
    let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
    end.end(answer)
}

#[test]
fn code_of_its_own_and_a_choice_among_peers() {
    let (tell, told) = reports();
    let mut roles = either::Roles::default().watch_with(LIMIT, tell);
    let (heard, hears) = futures::channel::oneshot::channel::<()>();
    let work = async move {
        let _ = hears.await;
        Ok(())
    };
    let either::Roles { d, a, b, c } = &mut roles;
    let all = (either::chooser(d), ann(a), bob(b, work), listener(c));
    let mut all = pin!(rumpsteak::join(all));
    assert!(all.as_mut().now_or_never().is_none());
    let waits = [
        "`d` waits for `Done` from `c`",
        "`a` has ended its session, and begun no other",
        "`b` has received `Go` or `Stop` from `d`, and begun no other action: it is in code of its own, \
         its future is not polled, or it has dropped its session, by `drop(session)` or by an action \
         that was never awaited, as in `let _ = session.send(…)`; it owes `Answer` to `c`",
        "`c` waits for `Answer` from `a` or `b`",
    ];
    assert_eq!(next(&told), waits);
    // The set works all the same.
    heard.send(()).unwrap();
    assert!(block_on(all).3.unwrap());
}

#[test]
fn nothing_is_reported_until_a_role_waits_for_one_that_runs_fewer_sessions() {
    let (tell, told) = reports();
    let mut ended = Roles::default().watch_with(LIMIT, tell);
    for question in 0..3 {
        let both = join(client(&mut ended.c, question), server(&mut ended.s));
        assert_eq!(block_on(both).0.unwrap(), question + 1);
    }
    let (tell, idle) = reports();
    let mut roles = Roles::default().watch_with(LIMIT, tell);
    let mut running = pin!(roles.run(
        async |_s: Server<'_>| -> Ended<'_, S> { pending().await },
        async |_s: Client<'_>| -> Ended<'_, C> { pending().await },
    ));
    assert!(running.as_mut().now_or_never().is_none());
    sleep(LIMIT * 5);
    // A process that a busy machine stops for long may have been reported in the middle.
    let reported: Vec<Report> = told.try_iter().collect();
    assert!(reported.iter().all(|report| report.roles.iter().any(|role| role == WAITS)));
    assert!(idle.try_recv().is_err());
    assert!(!ended.c.is_poisoned());
    let mut fourth = pin!(server(&mut ended.s));
    assert!(fourth.as_mut().now_or_never().is_none());
    let third = "`c` has ended session 3, and begun no other, but `s` is at session 4; it owes `Ping` to \
                 `s`. Run as many sessions of each role, or drop `c` or its set after the last one: its \
                 peers then get `Closed`";
    assert_eq!(next(&told), ["`s` waits for `Ping` from `c`", third]);
    drop(ended.c);
    assert!(matches!(block_on(fourth).unwrap_err().kind(), ErrorKind::Closed { peer: "c", .. }));
}

#[test]
fn nothing_is_reported_of_roles_that_act_in_time() {
    let (tell, told) = reports();
    let limit = LIMIT * 10;
    let mut roles = numbers::Roles::default().watch_with(limit, tell);
    let mut longest = Duration::ZERO;
    let numbers::Roles(p, q) = &mut roles;
    let sends = try_run(p, async |mut s: Producer<'_>| {
        for _ in 0..8 {
            let before = Instant::now();
            sleep(limit / 4);
            s = s.select(Number(1)).await?;
            longest = longest.max(before.elapsed());
        }
        let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
        Ok::<_, Error>((sum, end))
    });
    let (sum, _): (Result<i32, Error>, _) = block_on(join(sends, consumer(q)));
    assert_eq!(sum.unwrap(), 8);
    // Only a machine that stopped the thread for long may have made one.
    assert!(longest > limit / 2 || told.try_recv().is_err());
}

#[test]
fn sessions_of_watched_roles_do_the_same() {
    let mut roles = pool::Roles::default().watch(DEADLINE);
    let jobs: Vec<i32> = iter::repeat_n(1, 50).collect();
    for _ in 0..3 {
        let pool::Roles { d, a, b } = &mut roles;
        let (dispatched, first, second) = block_on(rumpsteak::join((
            pool::dispatcher(d, &jobs),
            pool::first(a),
            pool::second(b),
        )));
        dispatched.unwrap();
        first.unwrap();
        second.unwrap();
    }
    drop(roles.a);
    drop(roles.b);
    assert!(!roles.d.is_poisoned());
}

#[test]
fn the_environment_watches_all_sets() {
    let mut hangs = Command::new(env::current_exe().unwrap())
        .args(["--exact", "watch::hangs", "--ignored", "--nocapture"])
        .env("RUMPSTEAK_WATCH", "0.1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(hangs.stderr.take().unwrap()).lines().map_while(Result::ok);
    let lines: Vec<String> = lines.take(3).collect();
    hangs.kill().unwrap();
    hangs.wait().unwrap();
    assert!(lines[0].starts_with("rumpsteak: no action of the roles of `Ping` has completed for "));
    assert_eq!(lines[2], format!("  {WAITS}"));
}

#[test]
#[ignore = "the process that another test watches"]
fn hangs() {
    let Roles { mut c, s: _s } = Roles::default();
    let mut alone = pin!(client(&mut c, 1));
    assert!(alone.as_mut().now_or_never().is_none());
    sleep(DEADLINE);
}
