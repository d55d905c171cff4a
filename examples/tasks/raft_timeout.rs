//! Raft's election timeout: a follower that hears no heartbeat for too long asks for votes.
//! Heartbeats that are under way by then are dropped by the protocol.
//!
//! `cargo run -p rumpsteak-examples --example raft_timeout`

use std::future::pending;
use std::process::ExitCode;
use std::time::Duration;

use rumpsteak_runtime::states::Raced;
use rumpsteak_runtime::{Result, try_run};
use tokio::task::yield_now;
use tokio::time::sleep;

rumpsteak_runtime::protocol!(RaftTimeout);
use raft_timeout::{
    Follower, FollowerHeartbeatOrTimeout, FollowerSession, FollowerTimeoutOrHeartbeat,
    FollowerVoted, Heartbeat, Leader, LeaderSession, LeaderTimeoutOrHeartbeat, Roles, Timeout,
    Vote, Voted, Voter, VoterSession,
};

/// How many heartbeats it heard in time, and how many votes it then got.
async fn follower(role: &mut Follower, timeout: Duration) -> Result<(u64, u64)> {
    try_run(role, async |mut follows: FollowerSession<'_>| {
        let mut heard = 0;
        let mut waits = loop {
            let timer = async {
                sleep(timeout).await;
                Timeout(heard)
            };
            match follows.race(timer).await? {
                Raced::Heard(FollowerTimeoutOrHeartbeat::Heartbeat(Heartbeat(_), next)) => {
                    (heard, follows) = (heard + 1, next);
                }
                Raced::Sent(waits) => break waits,
            }
        };
        println!("follower: no heartbeat for {timeout:?}");
        let asks = loop {
            waits = match waits.branch().await? {
                FollowerHeartbeatOrTimeout::Heartbeat(_, waits) => waits,
                FollowerHeartbeatOrTimeout::Timeout(_, asks) => break asks,
            };
        };
        let asked = asks.send(Vote(heard)).await?.send(Vote(heard)).await?;
        let (first, (Voted(second), end)) = match asked.branch().await? {
            FollowerVoted::VotedFromLeader(Voted(vote), late) => (vote, late.receive().await?),
            FollowerVoted::VotedFromVoter(Voted(vote), late) => (vote, late.receive().await?),
        };
        Ok(((heard, u64::from(first) + u64::from(second)), end))
    })
    .await
}

/// Fails after so many heartbeats, and votes for nobody.
async fn leader(role: &mut Leader, heartbeats: u64) -> Result<()> {
    try_run(role, async |mut leads: LeaderSession<'_>| {
        let mut sent = 0;
        loop {
            let heartbeat = async {
                if sent == heartbeats {
                    pending::<()>().await;
                }
                yield_now().await;
                Heartbeat(sent)
            };
            leads = match leads.race(heartbeat).await? {
                Raced::Sent(leads) => leads,
                Raced::Heard(LeaderTimeoutOrHeartbeat::Timeout(timeout, steps_down)) => {
                    let (Vote(_), votes) = steps_down.send(timeout).await?.receive().await?;
                    return Ok(((), votes.send(Voted(false)).await?));
                }
            };
            sent += 1;
        }
    })
    .await
}

async fn voter(role: &mut Voter) -> Result<()> {
    try_run(role, async |session: VoterSession<'_>| {
        let (Vote(_), votes) = session.receive().await?;
        Ok(((), votes.send(Voted(true)).await?))
    })
    .await
}

/// The heartbeats that the follower heard, and the votes that it got.
pub async fn run() -> Result<(u64, u64)> {
    let mut roles = Roles::default();
    let (outcome, (), ()) = tokio::try_join!(
        follower(&mut roles.follower, Duration::from_millis(50)),
        leader(&mut roles.leader, 3),
        voter(&mut roles.voter),
    )?;
    Ok(outcome)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (3, 1))
}
