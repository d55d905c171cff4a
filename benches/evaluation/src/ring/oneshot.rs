//! Over one-shot channels.

use futures::future::try_join3;

use super::{Received, SENT};
use crate::Result;
use crate::oneshot::{End, Send, Session};

/// One lap, over channels of its own.
pub(crate) async fn lap() -> Result<Received> {
    let (ab, ba) = <Send<i32, End>>::pair();
    let (bc, cb) = <Send<i32, End>>::pair();
    let (ca, ac) = <Send<i32, End>>::pair();
    let a = async {
        let End = ab.send(SENT.0)?;
        let (value, End) = ac.receive().await?;
        Ok(value)
    };
    let b = async {
        let (value, End) = ba.receive().await?;
        let End = bc.send(SENT.1)?;
        Ok(value)
    };
    let c = async {
        let (value, End) = cb.receive().await?;
        let End = ca.send(SENT.2)?;
        Ok(value)
    };
    try_join3(a, b, c).await
}
