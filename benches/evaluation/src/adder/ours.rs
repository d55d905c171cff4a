//! Over this project's runtime.

use rumpsteak_runtime::{Result, try_run};

use super::Sums;

/// The roles, whose sessions are in the order of the protocol.
#[rumpsteak_runtime::protocol(ThreeAdder)]
mod roles {}
pub use roles::Roles;
use roles::{A, ASession, Add, B, BSession, C, CSession, Sum};

/// Adds two numbers, in one task.
///
/// # Errors
///
/// If a session fails.
pub async fn add(roles: &mut Roles, first: i32, second: i32) -> Result<Sums> {
    let Roles { a, b, c } = roles;
    let a = adder_a(a, first);
    let (a, b, ()) = futures::future::try_join3(a, adder_b(b, second), adder_c(c)).await?;
    Ok((a, b))
}

/// The same, by the runner of this project.
///
/// # Errors
///
/// If a session fails.
pub async fn join(roles: &mut Roles, first: i32, second: i32) -> Result<Sums> {
    let Roles { a, b, c } = roles;
    let processes = (adder_a(a, first), adder_b(b, second), adder_c(c));
    let (a, b, c) = rumpsteak_runtime::join(processes).await;
    c?;
    Ok((a?, b?))
}

async fn adder_a(role: &mut A, mine: i32) -> Result<i32> {
    try_run(role, async |session: ASession<'_>| {
        let (Add(theirs), session) = session.send(Add(mine)).await?.receive().await?;
        let (Sum(sum), end) = session.send(Add(theirs)).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder_b(role: &mut B, mine: i32) -> Result<i32> {
    try_run(role, async |session: BSession<'_>| {
        let (Add(theirs), session) = session.receive().await?;
        let session = session.send(Add(mine)).await?;
        let (Sum(sum), end) = session.send(Add(theirs)).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder_c(role: &mut C) -> Result<()> {
    try_run(role, async |session: CSession<'_>| {
        let (Add(first), session) = session.receive().await?;
        let (Add(second), session) = session.receive().await?;
        let session = session.send(Sum(first + second)).await?;
        Ok(((), session.send(Sum(first + second)).await?))
    })
    .await
}
