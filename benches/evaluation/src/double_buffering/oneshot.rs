//! Over one-shot channels.

use futures::future::try_join3;

use crate::Result;
use crate::oneshot::{End, Receive, Send, Session};

struct Ready;

type Buffer = Vec<i32>;
type Asks = Send<Ready, Receive<Buffer, Send<Ready, Receive<Buffer, End>>>>;

/// Passes copies of both halves on, over channels of its own, and returns what the sink received.
pub(crate) async fn run(values: &[i32]) -> Result<Vec<Vec<i32>>> {
    let (ks, sk) = Asks::pair();
    let (tk, kt) = Asks::pair();
    let source = async {
        let half = values.len() / 2;
        let (Ready, s) = sk.receive().await?;
        let (Ready, s) = s.send(values[..half].to_vec())?.receive().await?;
        let End = s.send(values[half..].to_vec())?;
        Ok(())
    };
    let kernel = async {
        let (buffer, s) = ks.send(Ready)?.receive().await?;
        let (Ready, t) = kt.receive().await?;
        let t = t.send(buffer)?;
        let (buffer, End) = s.send(Ready)?.receive().await?;
        let (Ready, t) = t.receive().await?;
        let End = t.send(buffer)?;
        Ok(())
    };
    let sink = async {
        let (first, t) = tk.send(Ready)?.receive().await?;
        let (second, End) = t.send(Ready)?.receive().await?;
        Ok(vec![first, second])
    };
    let ((), (), received) = try_join3(source, kernel, sink).await?;
    Ok(received)
}
