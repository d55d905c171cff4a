//! The protocol `Numbers`: recursion and choice.

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

/// Both roles.
#[derive(Debug, Roles)]
pub struct Roles(pub P, pub Q);

/// Sends the numbers.
#[derive(Debug, Role)]
#[protocol(Numbers::p)]
#[message(Label)]
pub struct P(#[route(Q)] pub Channel<Label>);

/// Adds them.
#[derive(Debug, Role)]
#[protocol(Numbers::q)]
#[message(Label)]
pub struct Q(#[route(P)] pub Channel<Label>);

/// What they say.
#[derive(Debug, Message)]
pub enum Label {
    /// One more number.
    Number(Number),
    /// No more.
    Stop(Stop),
    /// The result.
    #[label("sum")]
    Total(Sum),
}

/// One more number.
#[derive(Debug)]
pub struct Number(pub i32);

/// No more.
#[derive(Debug)]
pub struct Stop;

/// The result.
#[derive(Debug)]
pub struct Sum(pub i32);

/// What `p` does.
#[session(P)]
pub type Producer = Select<Q, More>;

/// What `p` sends next.
#[session]
pub enum More {
    /// One more number.
    Number(Number, Producer),
    /// No more.
    Stop(Stop, Receive<Q, Sum, End>),
}

/// What `q` does: a struct that refers to itself through its choice.
#[session(Q)]
pub struct Consumer(Branch<P, Next>);

/// What `q` gets next.
#[session]
pub enum Next {
    /// One more number.
    Number(Number, Consumer),
    /// No more.
    Stop(Stop, Send<P, Sum, End>),
}

/// Sends all numbers and returns their sum, as `q` computed it.
///
/// # Errors
///
/// Those of the session.
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
/// Those of the session.
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
