// The processes of the three adder, the same in all workflows.

use rumpsteak::{Ended, Result};

async fn first(s: ASession<'_>, own: i32) -> Ended<'_, A, i32> {
    let (Add(other), s) = s.send(Add(own)).await?.receive().await?;
    let (Sum(sum), end) = s.send(Add(other)).await?.receive().await?;
    end.end(sum)
}

async fn second(s: BSession<'_>, own: i32) -> Ended<'_, B, i32> {
    let (Add(other), s) = s.receive().await?;
    let s = s.send(Add(own)).await?.send(Add(other)).await?;
    let (Sum(sum), end) = s.receive().await?;
    end.end(sum)
}

async fn adder(s: CSession<'_>) -> Ended<'_, C> {
    let (Add(left), s) = s.receive().await?;
    let (Add(right), s) = s.receive().await?;
    let s = s.send(Sum(left + right)).await?;
    s.send(Sum(left + right)).await?.end(())
}

/// The sum at the first two roles.
pub async fn run() -> Result<i32> {
    let mut roles = Roles::default();
    let (left, right, ()) = roles.run(|a| first(a, 30), |b| second(b, 12), adder).await?;
    assert_eq!(left, right);
    Ok(left)
}
