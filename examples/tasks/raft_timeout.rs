//! Raft's election timeout: a follower that receives no heartbeat for too long asks for votes. The
//! protocol drops heartbeats that are in flight then.
//!
//! `cargo run -p rumpsteak-examples --example raft_timeout`

use std::future::pending;
use std::process::ExitCode;
use std::time::Duration;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::task::yield_now;
use tokio::time::sleep;

// The follower need not interrupt: `fair`.
#[rumpsteak::protocol(RaftTimeout, fair)]
pub mod raft_timeout {}
use raft_timeout::*;

/// Returns how many heartbeats came in time, and how many votes the follower then got.
async fn follower(
    mut follows: FollowerSession<'_>,
    timeout: Duration,
) -> Ended<'_, Follower, (u64, u64)> {
    let mut heard = 0;
    let mut waits = loop {
        let timer = async {
            sleep(timeout).await;
            Timeout(heard)
        };
        match follows.race(timer).await? {
            Raced::Heard(FollowerHeartbeatChoice::Heartbeat(Heartbeat(_), next)) => {
                (heard, follows) = (heard + 1, next);
            }
            Raced::Sent(waits) => break waits,
        }
    };
    println!("follower: no heartbeat for {timeout:?}");
    let asks = loop {
        waits = match waits.branch().await? {
            FollowerHeartbeatChoiceAfterTimeout::Heartbeat(_, waits) => waits,
            FollowerHeartbeatChoiceAfterTimeout::Timeout(_, asks) => break asks,
        };
    };
    let asked = asks.send(Vote(heard)).await?.send(Vote(heard)).await?;
    let (mut votes, mut due) = (0, asked.gather());
    loop {
        due = match due.next().await? {
            FollowerVotedGather::VotedFromLeader(Voted(vote), due)
            | FollowerVotedGather::VotedFromVoter(Voted(vote), due) => {
                votes += u64::from(vote);
                due
            }
            FollowerVotedGather::All(end) => return end.end((heard, votes)),
        };
    }
}

/// Fails after so many heartbeats, and does not vote.
async fn leader(mut leads: LeaderSession<'_>, heartbeats: u64) -> Ended<'_, Leader> {
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
            Raced::Heard(LeaderHeartbeatChoice::Timeout(timeout, steps_down)) => {
                let (Vote(_), votes) = steps_down.send(timeout).await?.receive().await?;
                return votes.send(Voted(false)).await?.end(());
            }
        };
        sent += 1;
    }
}

async fn voter(session: VoterSession<'_>) -> Ended<'_, Voter> {
    let (Vote(_), votes) = session.receive().await?;
    votes.send(Voted(true)).await?.end(())
}

/// The heartbeats that the follower received, and the votes that it got.
pub async fn run() -> Result<(u64, u64)> {
    let mut roles = Roles::default();
    let timeout = Duration::from_millis(50);
    let all = roles.run(|session| follower(session, timeout), |session| leader(session, 3), voter);
    let (outcome, (), ()) = all.await?;
    Ok(outcome)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (3, 1))
}
