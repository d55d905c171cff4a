//! The most memory that each end of an upload takes:
//!
//! ```text
//! cargo run -p rumpsteak-net-tests --example upload -- take tcp://127.0.0.1:5600 4
//! cargo run -p rumpsteak-net-tests --example upload -- give tcp://127.0.0.1:5600 3000
//! ```
//!
//! The reader takes so many milliseconds for each chunk of a megabyte.

#![allow(clippy::print_stdout, reason = "a program that measures and prints")]

use std::time::Duration;

use rumpsteak::{Result, try_run};
use rumpsteak_net::Host;
use upload::{Chunk, Finish, P, PSession, Q, QChunkChoice, QSession, Total};

#[rumpsteak::protocol(
    Upload,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod upload {}

async fn give(p: &mut P, chunks: u64) -> Result<u64> {
    try_run(p, async |mut session: PSession<'_>| {
        for _ in 0..chunks {
            session = session.select(Chunk("x".repeat(1 << 20))).await?;
        }
        let (Total(total), end) = session.select(Finish).await?.receive().await?;
        Ok((total, end))
    })
    .await
}

async fn take(q: &mut Q, pause: Duration) -> Result<u64> {
    try_run(q, async |mut session: QSession<'_>| {
        let mut total = 0;
        loop {
            match session.branch().await? {
                QChunkChoice::Chunk(Chunk(text), next) => {
                    total += text.len() as u64;
                    tokio::time::sleep(pause).await;
                    session = next;
                }
                QChunkChoice::Finish(_, next) => {
                    return Ok((total, next.send(Total(total)).await?));
                }
            }
        }
    })
    .await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, at, number] = &arguments[..] else {
        return Err("give or take, ADDRESS, NUMBER".into());
    };
    let (host, number) = (Host::new(), number.parse()?);
    let total = if what == "give" {
        let p = host.join::<P>("1").peer_role::<Q>([at]).connect().await?;
        p.play(async |p| give(p, number).await).await?
    } else {
        host.listen(at).await?;
        let q = host.join::<Q>("1").connect().await?;
        q.play(async |q| take(q, Duration::from_millis(number)).await).await?
    };
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{what}: {total} bytes, {most}");
    Ok(())
}
