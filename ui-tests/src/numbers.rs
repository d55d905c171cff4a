//! The protocol `Numbers`: recursion and choice.

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Numbers)]
mod protocol {
    /// Both roles.
    #[derive(Debug, Roles)]
    struct Roles(P, Q);

    /// Sends the numbers.
    #[derive(Debug, Role)]
    struct P(#[route(Q)] Channel<Label>);

    /// Adds them.
    #[derive(Debug, Role)]
    struct Q(#[route(P)] Channel<Label>);

    /// The message type.
    #[derive(Debug, Message)]
    enum Label {
        /// One more number.
        Number(Number),
        /// No more.
        Stop(Stop),
        /// The result.
        #[label("sum")]
        Total(Sum),
    }

    /// The session of `p`.
    #[session(P)]
    type Producer = Select<Q, More>;

    /// The choice of `p`.
    enum More {
        /// One more number.
        Number(Number, Producer),
        /// No more.
        Stop(Stop, Receive<Q, Sum, End>),
    }

    /// The session of `q`: a struct that refers to itself through its choice.
    #[session(Q)]
    struct Consumer(Branch<P, Next>);

    /// The choice that `q` receives.
    enum Next {
        /// One more number.
        Number(Number, Consumer),
        /// No more.
        Stop(Stop, Send<P, Sum, End>),
    }

    /// One more number.
    #[derive(Debug)]
    struct Number(i32);

    /// No more.
    #[derive(Debug)]
    struct Stop;

    /// The result.
    #[derive(Debug)]
    struct Sum(i32);
}
pub use protocol::*;

/// Sends all numbers and returns their sum, as `q` computed it.
///
/// # Errors
///
/// The errors of the session.
pub async fn producer(role: &mut P, numbers: &[i32]) -> Result<i32> {
    // A closure that returns a future, as in the papers; `numbers` is borrowed by it.
    try_run(role, |mut s: Producer<'_>| async move {
        for &number in numbers {
            s = s.select(Number(number)).await?;
        }
        let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

/// Adds the numbers.
///
/// # Errors
///
/// The errors of the session.
pub async fn consumer(role: &mut Q) -> Result<i32> {
    try_run(role, async |mut s: Consumer<'_>| {
        let mut sum = 0;
        loop {
            s = match s.branch().await? {
                Next::Number(Number(number), s) => {
                    sum += number;
                    s
                }
                Next::Stop(Stop, s) => return Ok((sum, s.send(Sum(sum)).await?)),
            };
        }
    })
    .await
}
