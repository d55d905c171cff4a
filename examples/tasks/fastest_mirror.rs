//! Two mirrors are asked for a file. The first one that has it wins, and the other is cancelled:
//! its file may be under way by then, and is received and dropped by the protocol.
//!
//! `cargo run -p rumpsteak-examples --example fastest_mirror`

use std::process::ExitCode;

use rumpsteak_runtime::states::Raced;
use rumpsteak_runtime::{Result, session, try_run};
use tokio::task::yield_now;

rumpsteak_runtime::protocol!(FastestMirror);
use fastest_mirror::{
    Cancel, Client, File, First, FirstCancelOrFile, FirstCancelOrGet, FirstCancelOrThanks,
    FirstSession, Get, Roles, Second, SecondCancelOrFile, SecondCancelOrGet, SecondCancelOrThanks,
    SecondSession, Thanks,
};

// The client may cancel at any time. This one does so once it has a file.
#[session(Client)]
type Fetching = Send<First, Get, Send<Second, Get, Branch<Fastest>>>;

#[session]
enum Fastest {
    First(Receive<First, File, Send<First, Thanks, Send<Second, Cancel, Branch<Second, Late>>>>),
    Second(Receive<Second, File, Send<Second, Thanks, Send<First, Cancel, Branch<First, Later>>>>),
}

/// Until the second mirror has heard that it is cancelled.
#[session]
enum Late {
    File(File, Branch<Second, Self>),
    Cancel(Cancel, End),
}

/// Until the first mirror has.
#[session]
enum Later {
    File(File, Branch<First, Self>),
    Cancel(Cancel, End),
}

async fn client(role: &mut Client, name: &str) -> Result<String> {
    try_run(role, async |s: Fetching<'_>| {
        let s = s.send(Get(name.to_owned())).await?.send(Get(name.to_owned())).await?;
        match s.branch().await? {
            Fastest::First(File(file), s) => {
                let mut late = s.send(Thanks).await?.send(Cancel).await?;
                loop {
                    late = match late.branch().await? {
                        Late::File(_, late) => late,
                        Late::Cancel(Cancel, end) => break Ok((file, end)),
                    };
                }
            }
            Fastest::Second(File(file), s) => {
                let mut late = s.send(Thanks).await?.send(Cancel).await?;
                loop {
                    late = match late.branch().await? {
                        Later::File(_, late) => late,
                        Later::Cancel(Cancel, end) => break Ok((file, end)),
                    };
                }
            }
        }
    })
    .await
}

macro_rules! mirror {
    ($mirror:ident, $Role:ident, $Session:ident, $Asked:ident, $Working:ident, $Sent:ident) => {
        /// Needs so many turns to find a file. Returns whether it was thanked.
        async fn $mirror(role: &mut $Role, turns: usize) -> Result<bool> {
            try_run(role, async |s: $Session<'_>| {
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
                                $Sent::Thanks(Thanks, end) => return Ok((true, end)),
                                $Sent::Cancel(Cancel, cancelled) => cancelled,
                            },
                        }
                    }
                    $Asked::Cancel(Cancel, cancelled) => cancelled,
                };
                println!("the {} mirror stops", stringify!($mirror));
                Ok((false, cancelled.send(Cancel).await?))
            })
            .await
        }
    };
}

mirror!(first, First, FirstSession, FirstCancelOrGet, FirstCancelOrFile, FirstCancelOrThanks);
mirror!(second, Second, SecondSession, SecondCancelOrGet, SecondCancelOrFile, SecondCancelOrThanks);

/// The files, and whether the mirrors were thanked, where now the one is fast and now the other.
pub async fn run() -> Result<Vec<(String, bool, bool)>> {
    let (mut roles, mut all) = (Roles::default(), Vec::new());
    for (of_first, of_second) in [(1, 100), (100, 1)] {
        all.push(tokio::try_join!(
            client(&mut roles.client, "index"),
            first(&mut roles.first, of_first),
            second(&mut roles.second, of_second),
        )?);
    }
    Ok(all)
}

/// What comes of it.
pub fn expected() -> Vec<(String, bool, bool)> {
    let file = |mirror: &str| format!("index of the {mirror} mirror");
    vec![(file("first"), true, false), (file("second"), false, true)]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, expected())
}
