//! Choices among peers in other processes: whoever is first, one that has left, and a request that
//! is cancelled.

use std::future::{pending, ready};
use std::io;
use std::time::Duration;

use bytes::Bytes;
use rumpsteak::error::Action;
use rumpsteak::states::{End, Raced};
use rumpsteak::{Detached, Error, ErrorKind, Result, try_run};
use rumpsteak_net::transport::Transports;
use rumpsteak_net::{Host, Joined, Limits, NetError};
use rumpsteak_ui_tests::closed;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::meddling::{Hands, Meddling};
use either::*;

#[rumpsteak::protocol(
    Either,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod either {}

async fn chooser(role: &mut D) -> Result<()> {
    try_run(role, async |s: DSession<'_>| {
        let (Done, end) = s.select::<B, _>(Go).await?.send(Stop).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

async fn may_answer(s: ASession<'_>) -> Result<((), End<'_, A>)> {
    match s.branch().await? {
        AGoChoice::Go(Go, s) => Ok(((), s.send(Answer).await?)),
        AGoChoice::Stop(Stop, end) => Ok(((), end)),
    }
}

async fn ann(role: &mut A) -> Result<()> {
    try_run(role, async |s: ASession<'_>| may_answer(s).await).await
}

async fn bob(role: &mut B, work: impl Future<Output = ()>) -> Result<()> {
    try_run(role, async |s: BSession<'_>| match s.branch().await? {
        BStopChoice::Go(Go, s) => {
            work.await;
            Ok(((), s.send(Answer).await?))
        }
        BStopChoice::Stop(Stop, end) => Ok(((), end)),
    })
    .await
}

/// True if Bob answers.
async fn listen(s: CSession<'_>) -> Result<(bool, End<'_, C>)> {
    match s.branch().await? {
        CAnswerChoice::AnswerFromA(Answer, s) => Ok((false, s.send(Done).await?)),
        CAnswerChoice::AnswerFromB(Answer, s) => Ok((true, s.send(Done).await?)),
    }
}

async fn listener(role: &mut C) -> Result<bool> {
    try_run(role, async |s: CSession<'_>| listen(s).await).await
}

/// The four roles, each at a host of its own, and where Ann calls the listener.
macro_rules! joined {
    ($hosts:ident $(, $ann_calls:expr)?) => {{
        let mut at = Vec::new();
        for host in &$hosts {
            at.push(host.listen("tcp://127.0.0.1:0").await.unwrap().to_string());
        }
        let [d, a, b, c] = &$hosts;
        let d = d.join::<D>("1").peer("a", [&at[1]]).peer("b", [&at[2]]);
        let ann_calls = [$($ann_calls,)? at[3].clone()];
        tokio::try_join!(
            d.peer("c", [&at[3]]).connect(),
            a.join::<A>("1").peer("c", ann_calls).connect(),
            b.join::<B>("1").peer("c", [&at[3]]).connect(),
            c.join::<C>("1").connect(),
        )
        .unwrap()
    }};
}

fn hosts<const N: usize>() -> [Host; N] {
    [(); N].map(|()| Host::default())
}

/// Long enough for a process to notice what there is.
async fn a_while() {
    sleep(Duration::from_millis(50)).await;
}

/// A longer wait is a hang.
async fn in_time<T>(ended: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(30), ended).await.unwrap()
}

/// Before the listener listens, while it waits, and once it has heard Bob.
#[tokio::test]
async fn a_peer_may_leave_in_order_at_any_time() {
    for leaves in 0..3 {
        let hosts = hosts();
        let (mut d, mut a, mut b, mut c) = joined!(hosts);
        let [gone, is_gone] = [(); 2].map(|()| Notify::new());
        let ann_is = async {
            ann(&mut a.role).await.unwrap();
            if leaves == 2 {
                is_gone.notified().await;
            }
            a.leave().await.unwrap();
            gone.notify_one();
        };
        let heard = async {
            if leaves == 0 {
                is_gone.notified().await;
                a_while().await;
            }
            let heard = listener(&mut c.role).await;
            is_gone.notify_one();
            heard
        };
        let work = async {
            if leaves < 2 {
                gone.notified().await;
                is_gone.notify_one();
                a_while().await;
            }
        };
        let all =
            async { tokio::join!(chooser(&mut d.role), ann_is, bob(&mut b.role, work), heard) };
        let (chose, (), answered, heard) = in_time(all).await;
        chose.unwrap();
        answered.unwrap();
        assert!(heard.unwrap(), "{leaves}");
        tokio::try_join!(d.leave(), b.leave(), c.leave()).unwrap();
    }
}

/// All roles play twice, but for Ann, who leaves after the first time.
#[tokio::test]
async fn a_peer_that_has_left_before_the_session_is_an_error() {
    let hosts = hosts();
    let (mut d, mut a, mut b, mut c) = joined!(hosts);
    let once = async {
        let (d, a, b, c) = (&mut d.role, &mut a.role, &mut b.role, &mut c.role);
        tokio::try_join!(chooser(d), ann(a), bob(b, ready(())), listener(c))
    };
    assert!(in_time(once).await.unwrap().3);
    a.leave().await.unwrap();
    assert_eq!(closed(in_time(listener(&mut c.role)).await), ("c", "a", LISTENS));
}

const LISTENS: Action = Action::Receive(&["Answer", "Answer"]);

/// Ann gives up in the middle of her session, so her answer may be what is waited for.
#[tokio::test]
async fn a_peer_that_gives_up_is_an_error() {
    let hosts = hosts();
    let (mut d, mut a, mut b, mut c) = joined!(hosts);
    let gives_up = async {
        let session = try_run(&mut a.role, async |s: ASession<'_>| {
            let _ = s.branch().await?;
            Err::<((), _), Error>(ErrorKind::Poisoned { role: "told" }.into())
        });
        session.await.unwrap_err();
        drop(a);
    };
    let heard = tokio::select! {
        heard = async { tokio::join!(in_time(listener(&mut c.role)), gives_up).0 } => heard,
        _ = async { tokio::join!(chooser(&mut d.role), bob(&mut b.role, pending())) } => {
            panic!("Bob works for ever");
        }
    };
    assert_eq!(closed(heard), ("c", "a", LISTENS));
}

/// In the place of the start of the frame that says that a role has left.
struct Ends(&'static [u8]);

impl Hands for Ends {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        let rest = frame.get(9..).filter(|_| self.0.len() > 1).unwrap_or_default();
        Ok(if frame.first() == Some(&1) { [self.0, rest].concat().into() } else { frame })
    }
}

/// How the listener ends if Ann, who leaves in order, says so like this.
async fn heard_with(end: &'static [u8]) -> Result<bool> {
    let transports = Transports::default().with("ends", Meddling(move || Ends(end)));
    let hosts = [(); 4].map(|()| Host::with(transports.clone(), Limits::default()));
    let at = format!("ends-{}-{:?}", end.len(), end.last());
    hosts[3].listen(&format!("memory://{at}")).await.unwrap();
    let (mut d, mut a, mut b, mut c) = joined!(hosts, format!("ends://{at}"));
    let leaves = async {
        ann(&mut a.role).await.unwrap();
        drop(a);
    };
    let others = async { tokio::join!(chooser(&mut d.role), leaves, bob(&mut b.role, a_while())) };
    in_time(async { tokio::join!(listener(&mut c.role), others).0 }).await
}

#[tokio::test]
async fn a_peer_is_believed_if_it_says_how_it_has_left() {
    assert!(heard_with(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).await.unwrap());
    assert_eq!(closed(heard_with(&[1, 0, 0, 0, 0, 0, 0, 0, 0]).await), ("c", "a", LISTENS));
    // So it was in the first version of the frames.
    let ErrorKind::Transport { peer, source, .. } = heard_with(&[1]).await.unwrap_err().into_kind()
    else {
        panic!("a frame is none");
    };
    let Some(NetError::Frame { what, .. }) = source.downcast_ref() else { panic!("{source}") };
    assert_eq!((peer, *what), ("a", "bytes that are not a frame"));
}

/// The session of a role goes on at another host, where its process does.
macro_rules! moved {
    ($joined:ident, $Session:ident, $host:expr) => {{
        let session: Result<Detached<$Session<'static>>> =
            try_run(&mut $joined.role, async |s: $Session<'_>| Ok(Detached::new(s))).await;
        let at = $host.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
        let parcel = $joined.pack(session.unwrap(), [at]).await.unwrap();
        parcel.unpack(&$host).unwrap()
    }};
}

/// How often Ann has played is counted across hosts, whether she moves in the second session or
/// whoever listens does.
#[tokio::test]
async fn a_session_that_moves_knows_how_many_came_before_it() {
    for (moves, plays) in [("a", 2), ("c", 2), ("c", 1)] {
        let (hosts, other) = (hosts(), Host::new());
        let (mut d, mut a, mut b, mut c) = joined!(hosts);
        let once = async {
            let (d, a, b, c) = (&mut d.role, &mut a.role, &mut b.role, &mut c.role);
            tokio::try_join!(chooser(d), ann(a), bob(b, ready(())), listener(c))
        };
        assert!(in_time(once).await.unwrap().3);
        let gone = Notify::new();
        let mut a = Some(a);
        if plays == 1
            && let Some(a) = a.take()
        {
            a.leave().await.unwrap();
        }
        let ann_is = async {
            if let Some(mut a) = a.take() {
                if moves == "a" {
                    let (joined, mut session) = moved!(a, ASession, other);
                    session.run(async |s: ASession<'_>| may_answer(s).await).await.unwrap();
                    joined.leave().await.unwrap();
                } else {
                    ann(&mut a.role).await.unwrap();
                    a.leave().await.unwrap();
                }
            }
            gone.notify_one();
        };
        let heard = async {
            if moves == "a" {
                return listener(&mut c.role).await;
            }
            let (_joined, mut session) = moved!(c, CSession, other);
            session.run(async |s: CSession<'_>| listen(s).await).await
        };
        let work = async {
            gone.notified().await;
            a_while().await;
            if plays == 1 {
                pending().await
            }
        };
        let others = async {
            tokio::join!(chooser(&mut d.role), ann_is, bob(&mut b.role, work), pending::<()>())
        };
        let heard = tokio::select! {
            heard = in_time(heard) => heard,
            _ = others => unreachable!("one of them never ends"),
        };
        match plays {
            1 => assert_eq!(closed(heard), ("c", "a", LISTENS)),
            _ => assert!(heard.unwrap(), "{moves}"),
        }
    }
}

#[rumpsteak::protocol(
    Fan,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod fan {}

/// Writes these lines, and leaves.
macro_rules! write {
    ($joined:ident, $Session:ty, $lines:expr) => {
        async {
            let mut joined = $joined;
            let written: Result<()> = try_run(&mut joined.role, async |mut s: $Session| {
                for line in $lines {
                    s = s.select(fan::Line(line)).await?;
                }
                Ok(((), s.select(fan::Last).await?))
            })
            .await;
            written.unwrap();
            joined.leave().await.unwrap();
        }
    };
}

/// The sum of all lines.
async fn read(mut joined: Joined<fan::C>) -> u64 {
    use fan::{CLineChoice as Both, CLineChoiceAfterLast as OnlyB, CLineChoiceAfterLast2 as OnlyA};
    let read: Result<u64> = try_run(&mut joined.role, async |mut s: fan::CSession<'_>| {
        let mut sum = 0;
        let end = loop {
            let (fan::Line(line), next) = match s.branch().await? {
                Both::LineFromA(line, next) | Both::LineFromB(line, next) => (line, next),
                Both::LastFromA(fan::Last, mut s) => {
                    break loop {
                        match s.branch().await? {
                            OnlyB::Line(fan::Line(line), next) => (sum, s) = (sum + line, next),
                            OnlyB::Last(fan::Last, end) => break end,
                        }
                    };
                }
                Both::LastFromB(fan::Last, mut s) => {
                    break loop {
                        match s.branch().await? {
                            OnlyA::Line(fan::Line(line), next) => (sum, s) = (sum + line, next),
                            OnlyA::Last(fan::Last, end) => break end,
                        }
                    };
                }
            };
            (sum, s) = (sum + line, next);
        };
        Ok((sum, end))
    })
    .await;
    joined.leave().await.unwrap();
    read.unwrap()
}

/// One of them has left before anything is read.
#[tokio::test]
async fn whoever_is_ready_is_read() {
    let [a, b, c] = hosts();
    let at = c.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let (early, late, reader) = tokio::try_join!(
        a.join::<fan::A>("1").peer("c", [&at]).connect(),
        b.join::<fan::B>("1").peer("c", [&at]).connect(),
        c.join::<fan::C>("1").connect(),
    )
    .unwrap();
    in_time(write!(early, fan::ASession<'_>, 0..100)).await;
    let late = write!(late, fan::BSession<'_>, 100..5_000);
    let (sum, ()) = in_time(async { tokio::join!(read(reader), late) }).await;
    assert_eq!(sum, (0..5_000_u64).sum::<u64>());
}

#[rumpsteak::protocol(
    Patience,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod patience {}

/// Returns true if the answer came in time.
async fn asker(role: &mut patience::C, patience: Duration) -> Result<bool> {
    use patience::*;
    try_run(role, async |s: CSession<'_>| {
        let timer = async {
            sleep(patience).await;
            Cancel
        };
        let mut draining = match s.select(Question).await?.race(timer).await? {
            Raced::Heard(CAnswerChoice::Answer(Answer, s)) => {
                return Ok((true, s.select(Thanks).await?));
            }
            Raced::Sent(draining) => draining,
        };
        loop {
            draining = match draining.branch().await? {
                CAnswerChoiceAfterCancel::Answer(Answer, draining) => draining,
                CAnswerChoiceAfterCancel::Cancel(Cancel, end) => return Ok((false, end)),
            };
        }
    })
    .await
}

/// Returns true if the answer was wanted.
async fn worker(role: &mut patience::S, work: Duration) -> Result<bool> {
    use patience::*;
    try_run(role, async |s: SSession<'_>| {
        let answer = async {
            sleep(work).await;
            Answer
        };
        let cancelled = match s.branch().await? {
            SQuestionChoice::Question(Question, working) => match working.race(answer).await? {
                Raced::Heard(SAnswerChoice::Cancel(Cancel, cancelled)) => cancelled,
                Raced::Sent(answered) => match answered.branch().await? {
                    SThanksChoice::Thanks(Thanks, end) => return Ok((true, end)),
                    SThanksChoice::Cancel(Cancel, cancelled) => cancelled,
                },
            },
            SQuestionChoice::Cancel(Cancel, cancelled) => cancelled,
        };
        Ok((false, cancelled.send(Cancel).await?))
    })
    .await
}

#[tokio::test]
async fn a_request_is_cancelled_while_the_server_works() {
    let [here, there] = hosts();
    let at = there.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let (long, short) = (Duration::from_secs(60), Duration::from_millis(5));
    for (session, patience, work, wanted) in [("1", long, short, true), ("2", short, long, false)] {
        let (mut c, mut s) = tokio::try_join!(
            here.join::<patience::C>(session).peer("s", [&at]).connect(),
            there.join::<patience::S>(session).connect(),
        )
        .unwrap();
        let both = async { tokio::join!(asker(&mut c.role, patience), worker(&mut s.role, work)) };
        let (got, gave) = timeout(Duration::from_secs(30), both).await.unwrap();
        assert_eq!((got.unwrap(), gave.unwrap()), (wanted, wanted));
        tokio::try_join!(c.leave(), s.leave()).unwrap();
    }
}

#[rumpsteak::protocol(
    Gather,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod gather {}

/// Each worker answers in its own process. `b` answers first in every second round.
#[tokio::test]
async fn answers_of_several_hosts_come_in_any_order() {
    use gather::MReplyGather as Replies;
    let [m, a, b] = hosts();
    let at = m.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let (mut m, a, b) = tokio::try_join!(
        m.join::<gather::M>("1").connect(),
        a.join::<gather::A>("1").peer("m", [&at]).connect(),
        b.join::<gather::B>("1").peer("m", [&at]).connect(),
    )
    .unwrap();
    macro_rules! work {
        ($joined:ident, $Session:ty, $Asked:ident, $late:expr) => {
            async {
                let mut joined = $joined;
                let done: Result<()> = try_run(&mut joined.role, async |mut s: $Session| {
                    loop {
                        s = match s.branch().await? {
                            gather::$Asked::Ask(gather::Ask(round), s) => {
                                if round % 2 == $late {
                                    tokio::time::sleep(Duration::from_millis(50)).await;
                                }
                                s.send(gather::Reply($late)).await?
                            }
                            gather::$Asked::Stop(gather::Stop, end) => return Ok(((), end)),
                        };
                    }
                })
                .await;
                done.unwrap();
                joined.leave().await.unwrap();
            }
        };
    }
    let asks = async {
        let order: Result<Vec<u64>> = try_run(&mut m.role, async |mut s: gather::MSession<'_>| {
            let mut order = Vec::new();
            for round in 0..4 {
                let mut due =
                    s.select(gather::Ask(round)).await?.send(gather::Ask(round)).await?.gather();
                s = loop {
                    due = match due.next().await? {
                        Replies::ReplyFromA(gather::Reply(who), due)
                        | Replies::ReplyFromB(gather::Reply(who), due) => {
                            order.push(who);
                            due
                        }
                        Replies::All(s) => break s,
                    };
                };
            }
            Ok((order, s.select(gather::Stop).await?.send(gather::Stop).await?))
        })
        .await;
        m.leave().await.unwrap();
        order.unwrap()
    };
    let a = work!(a, gather::ASession<'_>, AAskChoice, 0);
    let b = work!(b, gather::BSession<'_>, BAskChoice, 1);
    let (order, ..) = tokio::join!(asks, a, b);
    assert_eq!(order, [1, 0, 0, 1, 1, 0, 0, 1]);
}
