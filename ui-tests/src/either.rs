//! The protocol `Either`: a role that receives from one of two peers; the other sends nothing.

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Either)]
mod protocol {
    /// Tells one of the two to answer.
    #[derive(Debug, Role)]
    #[role("d")]
    struct Chooser {
        /// A route.
        #[route(Ann)]
        a: Channel<Label>,
        /// A route.
        #[route(Bob)]
        b: Channel<Label>,
        /// A route.
        #[route(Listener)]
        c: Channel<Label>,
    }

    /// May answer.
    #[derive(Debug, Role)]
    #[protocol(Either::a)]
    struct Ann {
        /// A route.
        #[route(Chooser)]
        d: Channel<Label>,
        /// A route.
        #[route(Listener)]
        c: Channel<Label>,
    }

    /// May answer.
    #[derive(Debug, Role)]
    #[protocol(Either::b)]
    struct Bob {
        /// A route.
        #[route(Chooser)]
        d: Channel<Label>,
        /// A route.
        #[route(Listener)]
        c: Channel<Label>,
    }

    /// Listens to both.
    #[derive(Debug, Role)]
    #[protocol(Either::c)]
    struct Listener {
        /// A route.
        #[route(Ann)]
        a: Channel<Label>,
        /// A route.
        #[route(Bob)]
        b: Channel<Label>,
        /// A route.
        #[route(Chooser)]
        d: Channel<Label>,
    }

    /// The session of `d`.
    #[session(Chooser)]
    type Choosing = Select<Who>;

    /// The peer that must answer.
    enum Who {
        /// Ann.
        Ann(Send<Ann, Go, Send<Bob, Stop, Receive<Listener, Done, End>>>),
        /// Bob.
        Bob(Send<Bob, Go, Send<Ann, Stop, Receive<Listener, Done, End>>>),
    }

    /// The session of `a`.
    #[session(Ann)]
    type AnnMay = Branch<Chooser, May>;

    /// The session of `b`.
    #[session(Bob)]
    type BobMay = Branch<Chooser, May>;

    /// The choice that both receive.
    enum May {
        /// To answer.
        Go(Go, Send<Listener, Answer, End>),
        /// Not to.
        Stop(Stop, End),
    }

    /// The session of `c`.
    #[session(Listener)]
    type Listening = Branch<First>;

    /// The peer that has answered.
    enum First {
        /// Ann.
        FromAnn(Receive<Ann, Answer, Send<Chooser, Done, End>>),
        /// Bob.
        FromBob(Receive<Bob, Answer, Send<Chooser, Done, End>>),
    }
}
pub use protocol::*;

/// Tells `b` to answer.
///
/// # Errors
///
/// The errors of the session.
pub async fn chooser(role: &mut Chooser) -> Result<()> {
    try_run(role, async |s: Choosing<'_>| {
        let s = s.select::<Bob, _>(Go).await?.send(Stop).await?;
        let (Done, s) = s.receive().await?;
        Ok(((), s))
    })
    .await
}

/// Answers if it is told to.
///
/// # Errors
///
/// The errors of the session.
pub async fn ann(role: &mut Ann) -> Result<()> {
    try_run(role, async |s: AnnMay<'_>| match s.branch().await? {
        May::Go(Go, s) => Ok(((), s.send(Answer).await?)),
        May::Stop(Stop, s) => Ok(((), s)),
    })
    .await
}

/// Answers if it is told to, once `work` is done. Gives up if `work` fails.
///
/// # Errors
///
/// The errors of the session, and of `work`.
pub async fn bob(role: &mut Bob, work: impl Future<Output = Result<()>>) -> Result<()> {
    try_run(role, async |s: BobMay<'_>| match s.branch().await? {
        May::Go(Go, s) => {
            work.await?;
            Ok(((), s.send(Answer).await?))
        }
        May::Stop(Stop, s) => Ok(((), s)),
    })
    .await
}

/// Returns true if `b` answers.
///
/// # Errors
///
/// The errors of the session.
pub async fn listener(role: &mut Listener) -> Result<bool> {
    try_run(role, async |s: Listening<'_>| match s.branch().await? {
        First::FromAnn(Answer, s) => Ok((false, s.send(Done).await?)),
        First::FromBob(Answer, s) => Ok((true, s.send(Done).await?)),
    })
    .await
}
