//! Streams both ways in the rounds of a loop, with a cancel that crosses with the end of a round.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rumpsteak::testing::explore;
use rumpsteak::try_run;
use rumpsteak_net::Host;

/// The processes of a module of `Duplex`.
macro_rules! processes {
    () => {
        use std::future::{pending, ready};

        use rumpsteak::Ended;
        use rumpsteak::states::{Raced, Until};

        /// Calls once in each round, with one request, and cancels in these rounds, if the call is
        /// not over before. It lets others run for a while first, up to `patience` times. Returns
        /// the rounds in which it did.
        pub(super) async fn client<'s>(
            mut s: ClientSession<'s>,
            (rounds, cancels, patience): (u32, &[u32], u32),
        ) -> Ended<'s, Client, Vec<u32>> {
            let mut cancelled = Vec::new();
            'rounds: for round in 0..rounds {
                let is_unwanted = cancels.contains(&round);
                let (mut open, mut sent) = (s.select(Call(round)).await?, 0);
                let mut half = loop {
                    open = match open.until(ready(())).await? {
                        Until::Heard(ClientRequestChoiceAfterCall::Response(Response, next)) => {
                            next
                        }
                        Until::Heard(ClientRequestChoiceAfterCall::Status(Status, rest)) => {
                            s = if is_unwanted {
                                cancelled.push(round);
                                rest.select(Cancel).await?
                            } else {
                                rest.select(Half).await?
                            };
                            continue 'rounds;
                        }
                        Until::Heard(_) => unreachable!(),
                        Until::Wished((), next) if sent == 1 => break next.select(Half).await?,
                        Until::Wished((), next) => {
                            sent += 1;
                            next.select(Request).await?
                        }
                    };
                };
                s = loop {
                    let wish = async {
                        if !is_unwanted {
                            pending::<()>().await;
                        }
                        for _ in 0..round % (patience + 1) {
                            tokio::task::yield_now().await;
                        }
                        Cancel
                    };
                    half = match half.race(wish).await? {
                        Raced::Heard(ClientResponseChoice::Response(Response, next)) => next,
                        Raced::Heard(ClientResponseChoice::Status(Status, next)) => {
                            break next;
                        }
                        Raced::Heard(_) => unreachable!(),
                        Raced::Sent(told) => {
                            cancelled.push(round);
                            break told.drain().await?;
                        }
                    };
                };
            }
            s.select(Bye).await?.end(cancelled)
        }

        /// Sends so many responses in each round. Returns the rounds that were cancelled in time,
        /// and those that were cancelled too late.
        pub(super) async fn server<'s>(
            s: ServerSession<'s>,
            responses: u32,
        ) -> Ended<'s, Server, (Vec<u32>, Vec<u32>)> {
            let (mut in_time, mut late, mut waiting) = (Vec::new(), Vec::new(), s);
            'next: loop {
                let mut called = match waiting.branch().await? {
                    ServerCallChoice::Call(Call(round), s) => (round, s),
                    ServerCallChoice::Bye(Bye, end) => return end.end((in_time, late)),
                };
                waiting = loop {
                    let ((round, mut open), mut sent) = (called, 0);
                    let done = 'done: {
                        let mut half = loop {
                            open = match open.until(ready(())).await? {
                                Until::Heard(ServerRequestChoiceAfterCall::Request(Request, s)) => {
                                    s
                                }
                                Until::Heard(ServerRequestChoiceAfterCall::Half(Half, s)) => {
                                    break s;
                                }
                                Until::Heard(ServerRequestChoiceAfterCall::Cancel(Cancel, s)) => {
                                    in_time.push(round);
                                    waiting = s.send(Cancel).await?;
                                    continue 'next;
                                }
                                Until::Heard(_) => unreachable!(),
                                Until::Wished((), s) if sent < responses => {
                                    sent += 1;
                                    s.select(Response).await?
                                }
                                Until::Wished((), s) => {
                                    let mut rest = s.select(Status).await?;
                                    loop {
                                        rest = match rest.branch().await? {
                                            ServerRequestChoiceAfterStatus::Request(Request, s) => {
                                                s
                                            }
                                            ServerRequestChoiceAfterStatus::Half(Half, s) => {
                                                break 'done s;
                                            }
                                            ServerRequestChoiceAfterStatus::Cancel(Cancel, s) => {
                                                in_time.push(round);
                                                waiting = s;
                                                continue 'next;
                                            }
                                        };
                                    }
                                }
                            };
                        };
                        loop {
                            half = match half.until(ready(())).await? {
                                Until::Heard(ServerResponseChoice::Cancel(Cancel, s)) => {
                                    in_time.push(round);
                                    waiting = s.send(Cancel).await?;
                                    continue 'next;
                                }
                                Until::Heard(_) => unreachable!(),
                                Until::Wished((), s) if sent < responses => {
                                    sent += 1;
                                    s.select(Response).await?
                                }
                                Until::Wished((), s) => break s.select(Status).await?,
                            };
                        }
                    };
                    called = match done.branch().await? {
                        ServerCallChoiceAfterStatus::Call(Call(round), s) => (round, s),
                        ServerCallChoiceAfterStatus::Bye(Bye, end) => {
                            return end.end((in_time, late));
                        }
                        ServerCallChoiceAfterStatus::Cancel(Cancel, next) => {
                            late.push(round);
                            break next;
                        }
                    };
                };
            }
        }
    };
}

// Both may stream for ever.
#[rumpsteak::protocol(Duplex, fair)]
mod duplex {
    processes!();
}

#[rumpsteak::protocol(Duplex, fair, routes = rumpsteak_net::Net, derive(serde::Serialize, serde::Deserialize))]
mod apart {
    processes!();
}

/// The rounds that the client has cancelled, and those that the server saw cancelled.
#[derive(Default)]
struct Rounds {
    client: Vec<u32>,
    server: (Vec<u32>, Vec<u32>),
}

impl Rounds {
    /// Checks that each cancel was taken in its round. Returns how many were in time and too late.
    fn check(&self) -> [usize; 2] {
        let (in_time, late) = &self.server;
        let mut all = [&in_time[..], late].concat();
        all.sort_unstable();
        assert_eq!(all, self.client);
        [in_time.len(), late.len()]
    }
}

#[test]
fn no_interleaving_takes_a_cancel_in_the_next_round() {
    use duplex::{ClientSession, Roles, ServerSession};

    for (rounds, cancels, responses) in [(2, &[0][..], 1), (2, &[0, 1], 0), (3, &[1], 0)] {
        let mut all: Vec<Arc<Mutex<Rounds>>> = Vec::new();
        let explored = explore(|processes| {
            all.push(Arc::default());
            let counts = || Arc::clone(&all[all.len() - 1]);
            let Roles { mut client, mut server } = Roles::default();
            let counted = counts();
            processes.add("client", async move {
                let ran = try_run(&mut client, async |s: ClientSession<'_>| {
                    duplex::client(s, (rounds, cancels, 0)).await
                });
                ran.await.map(|it| counted.lock().unwrap().client = it)
            });
            let counted = counts();
            processes.add("server", async move {
                let ran = try_run(&mut server, async |s: ServerSession<'_>| {
                    duplex::server(s, responses).await
                });
                ran.await.map(|it| counted.lock().unwrap().server = it)
            });
        });
        assert!(explored.is_complete, "{explored:?}");
        let found: BTreeSet<_> = all.iter().map(|counts| counts.lock().unwrap().check()).collect();
        // A message is there at once, so a role hears of a cancel before it goes on.
        assert!(found.contains(&[cancels.len(), 0]) && found.iter().all(|of| of[1] == 0));
    }
}

#[tokio::test]
async fn over_tcp_a_cancel_that_crosses_is_dropped() {
    use apart::{Client, ClientSession, Server, ServerSession};

    const ROUNDS: u32 = 100;
    let hosts = [(); 2].map(|()| Host::new());
    let server_at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let client = hosts[0].join::<Client>("1").peer("server", [&server_at]);
    let (client, server) =
        tokio::try_join!(client.connect(), hosts[1].join::<Server>("1").connect()).unwrap();
    // Every third call goes on to its end.
    let cancels: Vec<u32> = (0..ROUNDS).filter(|round| round % 3 > 0).collect();
    let client = client.play(async |role: &mut Client| {
        try_run(role, async |s: ClientSession<'_>| apart::client(s, (ROUNDS, &cancels, 20)).await)
            .await
    });
    let server = server.play(async |role: &mut Server| {
        try_run(role, async |s: ServerSession<'_>| apart::server(s, 1).await).await
    });
    let (client, server) = tokio::try_join!(client, server).unwrap();
    let [_, late] = Rounds { client, server }.check();
    assert!(late > 0);
}
