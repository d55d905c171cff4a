//! Over one-shot channels.

use futures::future::try_join3;

use super::Sums;
use crate::Result;
use crate::oneshot::{End, Receive, Send, Session};

/// Adds two numbers, over channels of its own.
pub(crate) async fn add(first: i32, second: i32) -> Result<Sums> {
    let (ab, ba) = <Send<i32, Receive<i32, End>>>::pair();
    let (ac, ca) = <Send<i32, Receive<i32, End>>>::pair();
    let (bc, cb) = <Send<i32, Receive<i32, End>>>::pair();
    let a = async {
        let (theirs, End) = ab.send(first)?.receive().await?;
        let (sum, End) = ac.send(theirs)?.receive().await?;
        Ok(sum)
    };
    let b = async {
        let (theirs, next) = ba.receive().await?;
        let End = next.send(second)?;
        let (sum, End) = bc.send(theirs)?.receive().await?;
        Ok(sum)
    };
    let c = async {
        let (first, to_a) = ca.receive().await?;
        let (second, to_b) = cb.receive().await?;
        let (End, End) = (to_a.send(first + second)?, to_b.send(first + second)?);
        Ok(())
    };
    let (a, b, ()) = try_join3(a, b, c).await?;
    Ok((a, b))
}
