//! Interrupts that cross with the end of their block, in a loop: none is taken in the next round.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rumpsteak::testing::explore;
use rumpsteak::try_run;
use rumpsteak_net::Host;

/// The processes of a module of `Transfer`.
macro_rules! processes {
    () => {
        use std::future::{pending, ready};

        use rumpsteak::states::{Raced, Until};
        use rumpsteak::{Ended, Result};

        /// Gets a file in each round and aborts it in these rounds, if it is not over before.
        /// Returns the rounds in which it did. The file of round 1 is missing.
        pub(super) async fn client<'s>(
            mut s: ClientSession<'s>,
            (rounds, aborts): (u32, &[u32]),
        ) -> Ended<'s, Client, Vec<u32>> {
            let mut aborted = Vec::new();
            for round in 0..rounds {
                let wish = async || {
                    if !aborts.contains(&round) {
                        pending::<()>().await;
                    }
                    ready(Abor).await
                };
                let mut open = match s.select(Retr(round)).await?.branch().await? {
                    ClientMissingChoice::Opening(Opening, open) => open,
                    ClientMissingChoice::Missing(Missing, next) => {
                        assert_eq!(round, 1);
                        s = next;
                        continue;
                    }
                };
                let eof = loop {
                    match open.race(wish()).await? {
                        Raced::Heard(ClientBlockChoice::Block(Block, next)) => open = next,
                        Raced::Heard(ClientBlockChoice::Eof(Eof, eof)) => {
                            break Ok(eof);
                        }
                        Raced::Heard(_) => unreachable!(),
                        Raced::Sent(abor) => break Err(abor),
                    }
                };
                s = match eof {
                    Ok(eof) => match eof.race(wish()).await? {
                        Raced::Heard(ClientCompleteChoice::Complete(Complete, next)) => {
                            s = next;
                            continue;
                        }
                        Raced::Heard(_) => unreachable!(),
                        Raced::Sent(abor) => abor.drain().await?,
                    },
                    Err(abor) => abor.drain().await?.drain().await?,
                };
                aborted.push(round);
            }
            s.select(Quit).await?.end(aborted)
        }

        /// Returns the numbers of interrupts that came in time, and too late.
        pub(super) async fn pi(mut s: PiSession<'_>) -> Ended<'_, Pi, (u32, u32)> {
            let (mut in_time, mut late) = (0, 0);
            loop {
                let next = match s.branch().await? {
                    PiRetrChoice::Retr(Retr(round), next) => {
                        retr(next, round, &mut in_time).await?
                    }
                    PiRetrChoice::Quit(Quit, rest) => {
                        return rest.send(Quit).await?.end((in_time, late));
                    }
                };
                let mut next = match next {
                    Ok(next) => {
                        s = next;
                        continue;
                    }
                    Err(next) => next,
                };
                s = loop {
                    let told = match next.branch().await? {
                        PiRetrChoiceAfterComplete::Retr(Retr(round), next) => {
                            retr(next, round, &mut in_time).await?
                        }
                        PiRetrChoiceAfterComplete::Quit(Quit, rest) => {
                            return rest.send(Quit).await?.end((in_time, late));
                        }
                        PiRetrChoiceAfterComplete::Abor(Abor, next) => {
                            late += 1;
                            Ok(next)
                        }
                    };
                    match told {
                        Ok(told) => break told,
                        Err(again) => next = again,
                    }
                };
            }
        }

        type Told<'s> = rumpsteak::states::Branch<'s, Pi, Client, PiRetrChoice<'s, Pi>>;
        type MayHear<'s> =
            rumpsteak::states::Branch<'s, Pi, Client, PiRetrChoiceAfterComplete<'s, Pi>>;

        /// `Err` if an interrupt may be late.
        async fn retr<'s>(
            s: rumpsteak::states::Select<'s, Pi, Client, PiMissingChoice<'s, Pi>>,
            round: u32,
            in_time: &mut u32,
        ) -> Result<std::result::Result<Told<'s>, MayHear<'s>>> {
            if round == 1 {
                return Ok(Ok(s.select(Missing).await?.send(Skip).await?));
            }
            let s = s.select(Opening).await?.send(Start(round)).await?;
            Ok(match s.branch().await? {
                PiSentChoice::Sent(Sent, s) => Err(s.send(Complete).await?),
                PiSentChoice::Abor(Abor, s) => {
                    *in_time += 1;
                    Ok(s.send(Abor).await?.send(Abor).await?.drain().await?)
                }
            })
        }

        /// Sends so many blocks in each round. Returns the rounds that were interrupted in time,
        /// and the number of late interrupts.
        pub(super) async fn dtp<'s>(
            s: DtpSession<'s>,
            blocks: u32,
        ) -> Ended<'s, Dtp, (Vec<u32>, u32)> {
            let (mut in_time, mut late) = (Vec::new(), 0);
            let mut waiting = s;
            'next: loop {
                let mut started = match waiting.branch().await? {
                    DtpSkipChoice::Skip(Skip, next) => {
                        waiting = next;
                        continue;
                    }
                    DtpSkipChoice::Start(start, next) => (start, next),
                    DtpSkipChoice::Quit(Quit, end) => return end.end((in_time, late)),
                };
                waiting = loop {
                    let (Start(round), mut s) = started;
                    let mut count = 0;
                    let done = loop {
                        s = match s.until(ready(())).await? {
                            Until::Heard(DtpBlockChoice::Abor(Abor, s)) => {
                                in_time.push(round);
                                waiting = s.send(Abor).await?.send(Abor).await?;
                                continue 'next;
                            }
                            Until::Heard(_) => unreachable!(),
                            Until::Wished((), s) if count == blocks => {
                                break s.select(Eof).await?.send(Sent).await?;
                            }
                            Until::Wished((), s) => s.select(Block).await?,
                        };
                        count += 1;
                    };
                    started = match done.branch().await? {
                        DtpSkipChoiceAfterSent::Skip(Skip, next) => break next,
                        DtpSkipChoiceAfterSent::Start(start, next) => (start, next),
                        DtpSkipChoiceAfterSent::Quit(Quit, end) => return end.end((in_time, late)),
                        DtpSkipChoiceAfterSent::Abor(Abor, next) => {
                            late += 1;
                            break next;
                        }
                    };
                };
            }
        }
    };
}

// `dtp` may send blocks for ever.
#[rumpsteak::protocol(Transfer, fair)]
mod transfer {
    processes!();
}

#[rumpsteak::protocol(Transfer, fair, routes = rumpsteak_net::Net, derive(serde::Serialize, serde::Deserialize))]
mod apart {
    processes!();
}

/// The rounds that were aborted, and what `pi` and `dtp` have counted.
#[derive(Default)]
struct Counts {
    client: Vec<u32>,
    pi: (u32, u32),
    dtp: (Vec<u32>, u32),
}

impl Counts {
    /// Checks that interrupts were taken in their rounds. Returns how many were late at `pi`, late
    /// at `dtp`, and late nowhere.
    fn check(&self) -> [u32; 3] {
        let Self { client, pi: (at_pi, late_at_pi), dtp: (at_dtp, late_at_dtp) } = self;
        assert_eq!(at_pi + late_at_pi, client.len() as u32);
        assert_eq!(at_dtp.len() as u32 + late_at_dtp, *at_pi);
        assert!(at_dtp.iter().all(|round| client.contains(round)), "{at_dtp:?} of {client:?}");
        [*late_at_pi, *late_at_dtp, at_dtp.len() as u32]
    }
}

#[test]
fn no_interleaving_takes_an_interrupt_in_the_next_round() {
    use transfer::{ClientSession, DtpSession, Roles};

    for (aborts, blocks, expected) in [
        (&[0][..], 1, &[[0, 0, 0], [0, 0, 1], [0, 1, 0]][..]),
        (&[2], 0, &[[0, 0, 0], [0, 0, 1], [0, 1, 0]]),
        // Late in both rounds, or in one of them.
        (&[0, 2], 0, &[[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 0], [0, 1, 1], [0, 2, 0]]),
    ] {
        let mut all: Vec<Arc<Mutex<Counts>>> = Vec::new();
        let explored = explore(|processes| {
            all.push(Arc::default());
            let counts = || Arc::clone(&all[all.len() - 1]);
            let Roles { mut client, mut pi, mut dtp } = Roles::default();
            let counted = counts();
            processes.add("client", async move {
                let ran = try_run(&mut client, async |s: ClientSession<'_>| {
                    transfer::client(s, (3, aborts)).await
                });
                ran.await.map(|it| counted.lock().unwrap().client = it)
            });
            let counted = counts();
            processes.add("pi", async move {
                try_run(&mut pi, transfer::pi).await.map(|it| counted.lock().unwrap().pi = it)
            });
            let counted = counts();
            processes.add("dtp", async move {
                let ran =
                    try_run(&mut dtp, async |s: DtpSession<'_>| transfer::dtp(s, blocks).await);
                ran.await.map(|it| counted.lock().unwrap().dtp = it)
            });
        });
        assert!(explored.is_complete, "{explored:?}");
        let found: BTreeSet<_> = all.iter().map(|counts| counts.lock().unwrap().check()).collect();
        assert_eq!(Vec::from_iter(found), expected);
    }
}

#[tokio::test]
async fn over_tcp_an_interrupt_that_is_late_is_dropped() {
    use apart::{Client, ClientSession, Dtp, DtpSession, Pi};

    const ROUNDS: u32 = 100;
    let hosts = [(); 3].map(|()| Host::new());
    let pi_at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let dtp_at = hosts[2].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let client = hosts[0].join::<Client>("1").peer("pi", [&pi_at]).peer("dtp", [&dtp_at]);
    let pi = hosts[1].join::<Pi>("1").peer("dtp", [&dtp_at]);
    let (client, pi, dtp) =
        tokio::try_join!(client.connect(), pi.connect(), hosts[2].join::<Dtp>("1").connect())
            .unwrap();
    // Every third transfer goes on to its end.
    let aborts: Vec<u32> = (0..ROUNDS).filter(|round| round % 3 > 0).collect();
    let client = client.play(async |role: &mut Client| {
        try_run(role, async |s: ClientSession<'_>| apart::client(s, (ROUNDS, &aborts)).await).await
    });
    let pi = pi.play(async |role: &mut Pi| try_run(role, apart::pi).await);
    let dtp = dtp.play(async |role: &mut Dtp| {
        try_run(role, async |s: DtpSession<'_>| apart::dtp(s, 0).await).await
    });
    let (client, pi, dtp) = tokio::try_join!(client, pi, dtp).unwrap();
    let [late_at_pi, late_at_dtp, _] = Counts { client, pi, dtp }.check();
    assert!(late_at_pi > 0 && late_at_dtp > 0, "{late_at_pi} {late_at_dtp}");
}
