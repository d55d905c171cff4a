//! The protocol `Pool`: a choice among peers, as a person writes it and as the build script does.

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Pool)]
mod protocol {
    /// Distributes the jobs.
    #[derive(Debug, Role)]
    #[protocol(Pool::d)]
    struct Boss {
        /// A route.
        #[route(Ann)]
        a: Channel<Label>,
        /// A route.
        #[route(Bob)]
        b: Channel<Label>,
    }

    /// Does some of the jobs.
    #[derive(Debug, Role)]
    #[protocol(Pool::a)]
    struct Ann(#[route(Boss)] Channel<Label>);

    /// Does the other jobs.
    #[derive(Debug, Role)]
    #[protocol(Pool::b)]
    struct Bob(#[route(Boss)] Channel<Label>);

    /// The session of `d`.
    #[session(Boss)]
    type Dispatcher = Select<NextJob>;

    /// The peer of the next message.
    enum NextJob {
        /// A job for `a`.
        ToA(Send<Ann, Job, Receive<Ann, Done, Dispatcher>>),
        /// A job for `b`.
        ToB(Send<Bob, Job, Receive<Bob, Done, Dispatcher>>),
        /// No more.
        Halt(Send<Ann, Halt, Send<Bob, Halt, End>>),
    }

    /// The session of `a`.
    #[session(Ann)]
    type First = Branch<Boss, FirstJob>;

    /// The choice that `a` receives.
    enum FirstJob {
        /// A job.
        Job(Job, Send<Boss, Done, First>),
        /// No more.
        Halt(Halt, End),
    }

    /// The session of `b`.
    #[session(Bob)]
    struct Second(Branch<Boss, SecondJob>);

    /// The choice that `b` receives.
    enum SecondJob {
        /// A job.
        Job(Job, Send<Boss, Done, Second>),
        /// No more.
        Halt(Halt, End),
    }
}
pub use protocol::*;

/// Hands the even numbers to `a` and the odd ones to `b`, and adds what they answer.
///
/// # Errors
///
/// The errors of the session.
pub async fn dispatcher(role: &mut Boss, jobs: &[i32]) -> Result<i32> {
    try_run(role, async |mut s: Dispatcher<'_>| {
        let mut sum = 0;
        for &job in jobs {
            let done;
            (Done(done), s) = if job % 2 == 0 {
                s.select::<Ann, _>(Job(job)).await?.receive().await?
            } else {
                s.select::<Bob, _>(Job(job)).await?.receive().await?
            };
            sum += done;
        }
        Ok((sum, s.select(Halt).await?.send(Halt).await?))
    })
    .await
}

/// Doubles.
///
/// # Errors
///
/// The errors of the session.
pub async fn first(role: &mut Ann) -> Result<()> {
    try_run(role, async |mut s: First<'_>| {
        loop {
            s = match s.branch().await? {
                FirstJob::Job(Job(job), s) => s.send(Done(2 * job)).await?,
                FirstJob::Halt(Halt, end) => return Ok(((), end)),
            };
        }
    })
    .await
}

/// Triples.
///
/// # Errors
///
/// The errors of the session.
pub async fn second(role: &mut Bob) -> Result<()> {
    try_run(role, async |mut s: Second<'_>| {
        loop {
            s = match s.branch().await? {
                SecondJob::Job(Job(job), s) => s.send(Done(3 * job)).await?,
                SecondJob::Halt(Halt, end) => return Ok(((), end)),
            };
        }
    })
    .await
}
