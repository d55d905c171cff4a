// The processes of the three adder, the same in all workflows.

use rumpsteak_runtime::{Result, try_run};

async fn first(role: &mut A, own: i32) -> Result<i32> {
    try_run(role, async |s: ASession<'_>| {
        let (Add(other), s) = s.send(Add(own)).await?.receive().await?;
        let (Sum(sum), end) = s.send(Add(other)).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn second(role: &mut B, own: i32) -> Result<i32> {
    try_run(role, async |s: BSession<'_>| {
        let (Add(other), s) = s.receive().await?;
        let s = s.send(Add(own)).await?.send(Add(other)).await?;
        let (Sum(sum), end) = s.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder(role: &mut C) -> Result<()> {
    try_run(role, async |s: CSession<'_>| {
        let (Add(left), s) = s.receive().await?;
        let (Add(right), s) = s.receive().await?;
        let s = s.send(Sum(left + right)).await?;
        Ok(((), s.send(Sum(left + right)).await?))
    })
    .await
}

/// The sum at the first two roles.
pub async fn run() -> Result<i32> {
    let Roles {
        mut a,
        mut b,
        mut c,
    } = Roles::default();
    let (left, right, ()) = tokio::try_join!(first(&mut a, 30), second(&mut b, 12), adder(&mut c))?;
    assert_eq!(left, right);
    Ok(left)
}
