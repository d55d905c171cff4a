//! Scatter and gather: a task for each of eight workers, and their results. The root is done when
//! the slowest worker is done, in whatever order it takes the results. So it takes them in
//! alphabetical order, which is verified with all roles. An early result waits in its queue.
//!
//! `cargo run -p rumpsteak-examples --example scatter_gather`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::task::yield_now;

#[rumpsteak::protocol(ScatterGather, accept_closed_system)]
pub mod scatter_gather {
    #[session(Root)]
    type Scatter = Send<A, Task, Send<B, Task, Send<C, Task, Send<D, Task, ToLast>>>>;

    type ToLast = Send<E, Task, Send<F, Task, Send<G, Task, Send<H, Task, Gather>>>>;

    type Gather = Receive<
        A,
        ResultMessage,
        Receive<B, ResultMessage, Receive<C, ResultMessage, Receive<D, ResultMessage, Last>>>,
    >;

    type Last = Receive<
        E,
        ResultMessage,
        Receive<F, ResultMessage, Receive<G, ResultMessage, Receive<H, ResultMessage, End>>>,
    >;
}
use scatter_gather::*;

/// The sum of the squares of eight numbers.
async fn root(s: Scatter<'_>, first: u64) -> Ended<'_, Root, u64> {
    let s = s.send(Task(first)).await?.send(Task(first + 1)).await?;
    let s = s.send(Task(first + 2)).await?.send(Task(first + 3)).await?;
    let s = s.send(Task(first + 4)).await?.send(Task(first + 5)).await?;
    let s = s.send(Task(first + 6)).await?.send(Task(first + 7)).await?;
    let (ResultMessage(a), s) = s.receive().await?;
    let (ResultMessage(b), s) = s.receive().await?;
    let (ResultMessage(c), s) = s.receive().await?;
    let (ResultMessage(d), s) = s.receive().await?;
    let (ResultMessage(e), s) = s.receive().await?;
    let (ResultMessage(f), s) = s.receive().await?;
    let (ResultMessage(g), s) = s.receive().await?;
    let (ResultMessage(h), end) = s.receive().await?;
    end.end(a + b + c + d + e + f + g + h)
}

macro_rules! worker {
    ($worker:ident, $Role:ident, $Session:ident) => {
        /// Squares a number, in so many turns.
        async fn $worker(s: $Session<'_>, turns: usize) -> Ended<'_, $Role> {
            let (Task(number), s) = s.receive().await?;
            for _ in 0..turns {
                yield_now().await;
            }
            println!("{}: {number} squared", stringify!($worker));
            s.send(ResultMessage(number * number)).await?.end(())
        }
    };
}

worker!(a, A, ASession);
worker!(b, B, BSession);
worker!(c, C, CSession);
worker!(d, D, DSession);
worker!(e, E, ESession);
worker!(f, F, FSession);
worker!(g, G, GSession);
worker!(h, H, HSession);

/// The sum of the squares from 1 to 8. The first worker is the slowest.
pub async fn run() -> Result<u64> {
    let mut roles = Roles::default();
    let all = roles.run(
        |session| root(session, 1),
        |session| a(session, 8),
        |session| b(session, 7),
        |session| c(session, 6),
        |session| d(session, 5),
        |session| e(session, 4),
        |session| f(session, 3),
        |session| g(session, 2),
        |session| h(session, 1),
    );
    Ok(all.await?.0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 204)
}
