//! The protocol `Either`: a role that listens to two, one of which has nothing to say.

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

/// All roles.
#[derive(Debug, Roles)]
pub struct Roles {
    /// Tells one of the two to answer.
    pub d: Chooser,
    /// May answer.
    pub a: Ann,
    /// May answer.
    pub b: Bob,
    /// Listens to both.
    pub c: Listener,
}

/// Tells one of the two to answer.
#[derive(Debug, Role)]
#[protocol(Either::d)]
#[message(Label)]
pub struct Chooser {
    #[route(Ann)]
    a: Channel<Label>,
    #[route(Bob)]
    b: Channel<Label>,
    #[route(Listener)]
    c: Channel<Label>,
}

/// May answer.
#[derive(Debug, Role)]
#[protocol(Either::a)]
#[message(Label)]
pub struct Ann {
    #[route(Chooser)]
    d: Channel<Label>,
    #[route(Listener)]
    c: Channel<Label>,
}

/// May answer.
#[derive(Debug, Role)]
#[protocol(Either::b)]
#[message(Label)]
pub struct Bob {
    #[route(Chooser)]
    d: Channel<Label>,
    #[route(Listener)]
    c: Channel<Label>,
}

/// Listens to both.
#[derive(Debug, Role)]
#[protocol(Either::c)]
#[message(Label)]
pub struct Listener {
    #[route(Ann)]
    a: Channel<Label>,
    #[route(Bob)]
    b: Channel<Label>,
    #[route(Chooser)]
    d: Channel<Label>,
}

/// What they say.
#[derive(Debug, Message)]
pub enum Label {
    /// Answer.
    Go(Go),
    /// Do not.
    Stop(Stop),
    /// An answer.
    Answer(Answer),
    /// It came.
    Done(Done),
}

/// Answer.
#[derive(Debug)]
pub struct Go;

/// Do not.
#[derive(Debug)]
pub struct Stop;

/// An answer.
#[derive(Debug)]
pub struct Answer;

/// It came.
#[derive(Debug)]
pub struct Done;

#[session(Chooser)]
type Choosing = Select<Who>;

#[session]
enum Who {
    Ann(Send<Ann, Go, Send<Bob, Stop, Receive<Listener, Done, End>>>),
    Bob(Send<Bob, Go, Send<Ann, Stop, Receive<Listener, Done, End>>>),
}

#[session(Ann)]
type AnnMay = Branch<Chooser, May>;

#[session(Bob)]
type BobMay = Branch<Chooser, May>;

#[session]
enum May {
    Go(Go, Send<Listener, Answer, End>),
    Stop(Stop, End),
}

#[session(Listener)]
type Listening = Branch<First>;

#[session]
enum First {
    FromAnn(Receive<Ann, Answer, Send<Chooser, Done, End>>),
    FromBob(Receive<Bob, Answer, Send<Chooser, Done, End>>),
}

/// Tells `b` to answer.
///
/// # Errors
///
/// Those of the session.
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
/// Those of the session.
pub async fn ann(role: &mut Ann) -> Result<()> {
    try_run(role, async |s: AnnMay<'_>| match s.branch().await? {
        May::Go(Go, s) => Ok(((), s.send(Answer).await?)),
        May::Stop(Stop, s) => Ok(((), s)),
    })
    .await
}

/// Answers if it is told to, once `work` is done. Gives up where that fails.
///
/// # Errors
///
/// Those of the session, and of `work`.
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

/// Whether `b` answers.
///
/// # Errors
///
/// Those of the session.
pub async fn listener(role: &mut Listener) -> Result<bool> {
    try_run(role, async |s: Listening<'_>| match s.branch().await? {
        First::FromAnn(Answer, s) => Ok((false, s.send(Done).await?)),
        First::FromBob(Answer, s) => Ok((true, s.send(Done).await?)),
    })
    .await
}
