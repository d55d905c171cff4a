//! Interrupts that cross with the end of their block, in every interleaving.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::{Arc, Mutex};

use rumpsteak::states::{Raced, Until};
use rumpsteak::testing::explore;
use rumpsteak::{Ended, try_run};

#[rumpsteak::protocol(InARow)]
mod in_a_row {}
#[rumpsteak::protocol(Stored)]
mod stored {}
#[rumpsteak::protocol(Repair)]
mod repair {}
#[rumpsteak::protocol(Stream, fair)]
mod stream {}

/// The values that processes return in any interleaving.
type Seen<T> = Arc<Mutex<BTreeSet<T>>>;

/// Adds a process, which plays this session, and keeps what it returns.
macro_rules! add {
    ($processes:ident, $role:ident, $session:path, $seen:ident) => {
        let seen = Arc::clone(&$seen);
        $processes.add(stringify!($role), async move {
            let ran = try_run(&mut $role, $session).await;
            ran.map(|it| {
                seen.lock().unwrap().insert((stringify!($role), it));
            })
        });
    };
}

/// Sends this, unless something is there already. What comes in between crosses with it.
macro_rules! race {
    ($state:expr, $label:ident) => {
        match $state.until(ready(())).await? {
            Until::Heard(heard) => Raced::Heard(heard),
            Until::Wished((), s) => {
                tokio::task::yield_now().await;
                Raced::Sent(s.select($label).await?)
            }
        }
    };
}

/// Returns everything that was seen.
fn all<T: Ord + Clone>(seen: &Seen<T>) -> Vec<T> {
    seen.lock().unwrap().iter().cloned().collect()
}

/// Each role of a transfer sees both ends of it.
const EITHER: [(&str, bool); 6] =
    [("c", false), ("c", true), ("dtp", false), ("dtp", true), ("pi", false), ("pi", true)];

#[test]
fn what_is_late_of_one_block_is_dropped_in_the_next() {
    use in_a_row::*;
    use rumpsteak::states::{AnyPeer, End, Race};

    type SecondBlock<'s> = Race<'s, S, AnyPeer, SBChoiceAfterStopA<'s, S>>;

    async fn client(s: CSession<'_>) -> Ended<'_, C, &'static str> {
        let s = match race!(s, StopA) {
            Raced::Sent(s) => s.drain().await?,
            Raced::Heard(CAChoice::A(A, s)) => s,
            Raced::Heard(_) => unreachable!(),
        };
        let s = match race!(s, StopB) {
            Raced::Sent(s) => s.drain().await?,
            Raced::Heard(CBChoice::B(B, s)) => s,
            Raced::Heard(_) => unreachable!(),
        };
        s.send(Bye).await?.end("done")
    }

    /// Plays the second block, after a `stopA`.
    async fn second(s: SecondBlock<'_>) -> rumpsteak::Result<End<'_, S>> {
        let s = match race!(s, B) {
            Raced::Sent(s) => match s.branch().await? {
                SByeChoiceAfterStopA::Bye(Bye, end) => return Ok(end),
                SByeChoiceAfterStopA::StopB(StopB, s) => s,
            },
            Raced::Heard(SBChoiceAfterStopA::StopB(StopB, s)) => s.send(StopB).await?,
            Raced::Heard(_) => unreachable!(),
        };
        Ok(s.receive().await?.1)
    }

    /// Returns when it has heard of `stopA`.
    async fn server(s: SSession<'_>) -> Ended<'_, S, &'static str> {
        let s = match race!(s, A) {
            Raced::Heard(SAChoice::StopA(StopA, s)) => {
                return second(s.send(StopA).await?).await?.end("in time");
            }
            Raced::Sent(s) => s,
            Raced::Heard(_) => unreachable!(),
        };
        match race!(s, B) {
            Raced::Heard(SBChoiceAfterA::StopA(StopA, s)) => second(s).await?.end("before b"),
            Raced::Heard(SBChoiceAfterA::StopB(StopB, s)) => {
                s.send(StopB).await?.receive().await?.1.end("never")
            }
            Raced::Heard(_) => unreachable!(),
            Raced::Sent(s) => match s.branch().await? {
                SByeChoiceAfterB::Bye(Bye, end) => end.end("never"),
                SByeChoiceAfterB::StopB(StopB, s) => s.receive().await?.1.end("never"),
                SByeChoiceAfterB::StopA(StopA, s) => match s.branch().await? {
                    SByeChoiceAfterStopA::Bye(Bye, end) => end.end("after b"),
                    SByeChoiceAfterStopA::StopB(StopB, s) => s.receive().await?.1.end("after b"),
                },
            },
        }
    }

    let seen = Seen::default();
    let explored = explore(|processes| {
        let Roles { mut c, mut s } = Roles::default();
        add!(processes, c, client, seen);
        add!(processes, s, server, seen);
    });
    assert!(explored.is_complete, "{explored:?}");
    let server = ["after b", "before b", "in time", "never"].map(|it| ("s", it));
    assert_eq!(all(&seen), [&[("c", "done")][..], &server].concat());
}

#[test]
fn no_interrupt_is_late_for_a_role_that_hears_of_its_end_through_another() {
    use stored::*;

    async fn client(s: CSession<'_>) -> Ended<'_, C, bool> {
        let s = match race!(s, Eof) {
            Raced::Sent(s) => s,
            Raced::Heard(CEofChoice::Full(Full, s)) => {
                return s.send(Full).await?.drain().await?.end(true);
            }
            Raced::Heard(_) => unreachable!(),
        };
        match s.branch().await? {
            CCompleteChoice::Complete(Complete, end) => end.end(false),
            CCompleteChoice::FullFromPi(Full, s) => s.receive().await?.1.end(true),
            CCompleteChoice::FullFromDtp(Full, s) => s.drain().await?.end(true),
        }
    }

    async fn relay(s: PiSession<'_>) -> Ended<'_, Pi, bool> {
        match s.branch().await? {
            PiGotChoice::Got(Got, s) => s.send(Complete).await?.end(false),
            PiGotChoice::Full(Full, s) => s.send(Full).await?.end(true),
        }
    }

    async fn disk(s: DtpSession<'_>) -> Ended<'_, Dtp, bool> {
        match race!(s, Full) {
            Raced::Heard(DtpEofChoice::Eof(Eof, s)) => s.select(Got).await?.end(false),
            Raced::Heard(_) => unreachable!(),
            Raced::Sent(s) => s.send(Full).await?.drain().await?.end(true),
        }
    }

    let seen = Seen::default();
    let explored = explore(|processes| {
        let Roles { mut c, mut pi, mut dtp } = Roles::default();
        add!(processes, c, client, seen);
        add!(processes, pi, relay, seen);
        add!(processes, dtp, disk, seen);
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(all(&seen), EITHER);
}

#[test]
fn an_interrupter_that_stops_early_is_heard_in_its_round() {
    use repair::*;

    /// Returns the rounds that have failed.
    async fn giver(mut s: GSession<'_>) -> Ended<'_, G, Vec<u32>> {
        let mut failed = Vec::new();
        for round in 0..2 {
            s = match race!(s.select(More).await?, Job) {
                Raced::Heard(GJobChoice::Fail(Fail, s)) => {
                    failed.push(round);
                    s.send(Fail).await?
                }
                Raced::Heard(_) => unreachable!(),
                Raced::Sent(s) => match s.branch().await? {
                    GPartChoice::Part(Part, s) => s.send(Ack).await?,
                    GPartChoice::Fail(Fail, s) => {
                        failed.push(round);
                        s.send(Fail).await?
                    }
                },
            };
        }
        s.select(Close).await?.end(failed)
    }

    /// Fails in the first round, unless the job is there.
    async fn agent(mut s: ASession<'_>) -> Ended<'_, A, Vec<u32>> {
        let (mut failed, mut round) = (Vec::new(), 0);
        loop {
            s = match s.branch().await? {
                AMoreChoice::Close(Close, end) => return end.end(failed),
                AMoreChoice::More(More, s) if round == 0 => match race!(s, Fail) {
                    Raced::Sent(s) => {
                        failed.push(round);
                        s.drain().await?
                    }
                    Raced::Heard(AJobChoice::Job(Job, s)) => {
                        s.select(Part).await?.receive().await?.1
                    }
                    Raced::Heard(_) => unreachable!(),
                },
                AMoreChoice::More(More, s) => match s.race(std::future::pending()).await? {
                    Raced::Heard(AJobChoice::Job(Job, s)) => {
                        s.select(Part).await?.receive().await?.1
                    }
                    _ => unreachable!(),
                },
            };
            round += 1;
        }
    }

    let seen = Seen::default();
    let explored = explore(|processes| {
        let Roles { mut g, mut a } = Roles::default();
        add!(processes, g, giver, seen);
        add!(processes, a, agent, seen);
    });
    assert!(explored.is_complete, "{explored:?}");
    let expected = [("a", vec![]), ("a", vec![0]), ("g", vec![]), ("g", vec![0])];
    assert_eq!(all(&seen), expected);
}

#[test]
fn interrupts_of_a_block_that_only_they_end_cross_and_all_end_it() {
    use stream::*;

    async fn client(mut s: CSession<'_>) -> Ended<'_, C, bool> {
        loop {
            s = match race!(s, Abor) {
                Raced::Sent(s) => return s.drain().await?.send(Bye).await?.end(true),
                Raced::Heard(CBlockChoice::Block(Block, s)) => s,
                Raced::Heard(CBlockChoice::Eof(Eof, s)) => {
                    return s.send(Eof).await?.send(Bye).await?.end(false);
                }
                Raced::Heard(_) => unreachable!(),
            };
        }
    }

    async fn relay(s: PiSession<'_>) -> Ended<'_, Pi, bool> {
        let (s, is_abor) = match s.branch().await? {
            PiAborChoice::Abor(Abor, s) => (s.send(Abor).await?.drain().await?, true),
            PiAborChoice::Eof(Eof, s) => (s.send(Eof).await?.drain().await?, false),
        };
        let (Bye, s) = s.receive().await?;
        s.send(Bye).await?.end(is_abor)
    }

    async fn source(s: DtpSession<'_>) -> Ended<'_, Dtp, bool> {
        let s = match race!(s, Eof) {
            Raced::Sent(s) => s.send(Eof).await?.drain().await?,
            Raced::Heard(DtpBlockChoice::Abor(Abor, s)) => {
                return s.send(Closed).await?.send(Closed).await?.receive().await?.1.end(true);
            }
            Raced::Heard(_) => unreachable!(),
        };
        s.receive().await?.1.end(false)
    }

    let seen = Seen::default();
    let explored = explore(|processes| {
        let Roles { mut c, mut pi, mut dtp } = Roles::default();
        add!(processes, c, client, seen);
        add!(processes, pi, relay, seen);
        add!(processes, dtp, source, seen);
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(all(&seen), EITHER);
}
