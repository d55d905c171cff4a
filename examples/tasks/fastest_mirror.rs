//! A client asks two mirrors for a file. The first one that has it wins, and the other is
//! cancelled: if its file is in flight, the protocol receives and drops it.
//!
//! `cargo run -p rumpsteak-examples --example fastest_mirror`

use std::process::ExitCode;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::task::yield_now;

#[rumpsteak::protocol(FastestMirror, accept_closed_system)]
pub mod fastest_mirror {
    // The client may cancel at any time. This one does so once it has a file.
    #[session(Client)]
    type Fetching = Send<First, Get, Send<Second, Get, Branch<Fastest>>>;

    enum Fastest {
        First(
            Receive<First, File, Send<First, Thanks, Send<Second, Cancel, Branch<Second, Late>>>>,
        ),
        Second(
            Receive<Second, File, Send<Second, Thanks, Send<First, Cancel, Branch<First, Later>>>>,
        ),
    }

    /// The session until the second mirror knows that it is cancelled.
    enum Late {
        File(File, Branch<Second, Self>),
        Cancel(Cancel, End),
    }

    /// The session until the first mirror knows that it is cancelled.
    enum Later {
        File(File, Branch<First, Self>),
        Cancel(Cancel, End),
    }
}
use fastest_mirror::*;

async fn client<'s>(s: Fetching<'s>, name: &str) -> Ended<'s, Client, String> {
    let s = s.send(Get(name.to_owned())).await?.send(Get(name.to_owned())).await?;
    match s.branch().await? {
        Fastest::First(File(file), s) => {
            let mut late = s.send(Thanks).await?.send(Cancel).await?;
            loop {
                late = match late.branch().await? {
                    Late::File(_, late) => late,
                    Late::Cancel(Cancel, end) => break end.end(file),
                };
            }
        }
        Fastest::Second(File(file), s) => {
            let mut late = s.send(Thanks).await?.send(Cancel).await?;
            loop {
                late = match late.branch().await? {
                    Later::File(_, late) => late,
                    Later::Cancel(Cancel, end) => break end.end(file),
                };
            }
        }
    }
}

macro_rules! mirror {
    ($mirror:ident, $Role:ident, $Session:ident, $Asked:ident, $Working:ident, $Sent:ident) => {
        /// Needs so many turns to find a file. Returns true if the client thanked it.
        async fn $mirror(s: $Session<'_>, turns: usize) -> Ended<'_, $Role, bool> {
            let cancelled = match s.branch().await? {
                $Asked::Get(Get(name), s) => {
                    let work = async {
                        for _ in 0..turns {
                            yield_now().await;
                        }
                        File(format!("{name} of the {} mirror", stringify!($mirror)))
                    };
                    match s.race(work).await? {
                        Raced::Heard($Working::Cancel(Cancel, cancelled)) => cancelled,
                        Raced::Sent(s) => match s.branch().await? {
                            $Sent::Thanks(Thanks, end) => return end.end(true),
                            $Sent::Cancel(Cancel, cancelled) => cancelled,
                        },
                    }
                }
                $Asked::Cancel(Cancel, cancelled) => cancelled,
            };
            println!("the {} mirror stops", stringify!($mirror));
            cancelled.send(Cancel).await?.end(false)
        }
    };
}

mirror!(first, First, FirstSession, FirstGetChoice, FirstFileChoice, FirstThanksChoice);
mirror!(second, Second, SecondSession, SecondGetChoice, SecondFileChoice, SecondThanksChoice);

/// The files, with true for each mirror that the client thanked. First one mirror is fast, then the
/// other.
pub async fn run() -> Result<Vec<(String, bool, bool)>> {
    let (mut roles, mut all) = (Roles::default(), Vec::new());
    for (of_first, of_second) in [(1, 100), (100, 1)] {
        let session = roles.run(
            |session| client(session, "index"),
            |session| first(session, of_first),
            |session| second(session, of_second),
        );
        all.push(session.await?);
    }
    Ok(all)
}

/// The expected result.
pub fn expected() -> Vec<(String, bool, bool)> {
    let file = |mirror: &str| format!("index of the {mirror} mirror");
    vec![(file("first"), true, false), (file("second"), false, true)]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, expected())
}
