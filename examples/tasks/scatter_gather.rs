//! Scatter and gather: a task for each of eight workers, and their results. The root takes each
//! result when it comes. The build needs one state for each worker, although the results may come
//! in any order.
//!
//! `cargo run -p rumpsteak-examples --example scatter_gather`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::task::yield_now;

#[rumpsteak::protocol(ScatterGather)]
pub mod scatter_gather {
    #[session(Root)]
    type Scatter = Send<A, Task, Send<B, Task, Send<C, Task, Send<D, Task, ToLast>>>>;

    type ToLast = Send<E, Task, Send<F, Task, Send<G, Task, Send<H, Task, Gather<Results>>>>>;

    enum Results {
        A(Receive<A, ResultMessage, Self>),
        B(Receive<B, ResultMessage, Self>),
        C(Receive<C, ResultMessage, Self>),
        D(Receive<D, ResultMessage, Self>),
        E(Receive<E, ResultMessage, Self>),
        F(Receive<F, ResultMessage, Self>),
        G(Receive<G, ResultMessage, Self>),
        H(Receive<H, ResultMessage, Self>),
        All(End),
    }
}
use scatter_gather::*;

/// The sum of the squares of eight numbers.
async fn root(s: Scatter<'_>, first: u64) -> Ended<'_, Root, u64> {
    let s = s.send(Task(first)).await?.send(Task(first + 1)).await?;
    let s = s.send(Task(first + 2)).await?.send(Task(first + 3)).await?;
    let s = s.send(Task(first + 4)).await?.send(Task(first + 5)).await?;
    let s = s.send(Task(first + 6)).await?.send(Task(first + 7)).await?;
    let (mut sum, mut due) = (0, s.gather());
    loop {
        let (ResultMessage(result), rest) = match due.next().await? {
            Results::A(it, due) | Results::B(it, due) | Results::C(it, due) => (it, due),
            Results::D(it, due) | Results::E(it, due) | Results::F(it, due) => (it, due),
            Results::G(it, due) | Results::H(it, due) => (it, due),
            Results::All(end) => return end.end(sum),
        };
        println!("root: {result}");
        (sum, due) = (sum + result, rest);
    }
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
