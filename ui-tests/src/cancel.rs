//! A set without a protocol in which both roles do whatever is first: an answer, or a wish to have
//! none any more.

use rumpsteak_runtime::states::Raced;
use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

/// Both roles.
#[derive(Debug, Roles)]
#[closed_system]
pub struct Roles {
    /// Asks.
    pub asker: Asker,
    /// Answers.
    pub worker: Worker,
}

/// Asks.
#[derive(Debug, Role)]
#[message(Label)]
pub struct Asker(#[route(Worker)] pub Channel<Label>);

/// Answers.
#[derive(Debug, Role)]
#[message(Label)]
pub struct Worker(#[route(Asker)] pub Channel<Label>);

/// What they say.
#[derive(Debug, Message)]
pub enum Label {
    /// The question.
    Question(Question),
    /// The answer.
    Answer(Answer),
    /// It has come.
    Thanks(Thanks),
    /// It is not wanted any more.
    Cancel(Cancel),
    /// It will not come.
    Cancelled(Cancelled),
}

/// The question.
#[derive(Debug)]
pub struct Question;

/// The answer.
#[derive(Debug)]
pub struct Answer(pub i32);

/// It has come.
#[derive(Debug)]
pub struct Thanks;

/// It is not wanted any more.
#[derive(Debug)]
pub struct Cancel;

/// It will not come.
#[derive(Debug)]
pub struct Cancelled;

/// What `Asker` does.
#[session(Asker)]
pub type Asking = Send<Worker, Question, Race<Patience>>;

/// While the answer is not there.
#[session]
pub enum Patience {
    /// Here it is.
    Answer(Receive<Worker, Answer, Send<Worker, Thanks, End>>),
    /// It takes too long.
    Cancel(Send<Worker, Cancel, Branch<Worker, Crossed>>),
}

/// What comes after `Cancel`.
#[session]
pub enum Crossed {
    /// It was under way already.
    Answer(Answer, End),
    /// It will not come.
    Cancelled(Cancelled, End),
}

/// What `Worker` does.
#[session(Worker)]
pub struct Working(Receive<Asker, Question, Race<Work>>);

/// While it works.
#[session]
pub enum Work {
    /// It has the answer.
    Answer(Send<Asker, Answer, Branch<Asker, Received>>),
    /// Nobody wants it.
    Cancel(Receive<Asker, Cancel, Send<Asker, Cancelled, End>>),
}

/// What comes after `Answer`.
#[session]
pub enum Received {
    /// It has come.
    Thanks(Thanks, End),
    /// It was not wanted any more.
    Cancel(Cancel, End),
}

/// Asks, until `patience` ends, and returns the answer and whether that ended.
///
/// # Errors
///
/// Those of the session.
pub async fn asker(
    role: &mut Asker,
    patience: impl Future<Output = ()>,
) -> Result<(Option<i32>, bool)> {
    try_run(role, async |s: Asking<'_>| {
        let s = s.send(Question).await?;
        let impatience = async {
            patience.await;
            Cancel
        };
        match s.race(impatience).await? {
            Raced::Heard(Patience::Answer(Answer(answer), s)) => {
                Ok(((Some(answer), false), s.send(Thanks).await?))
            }
            Raced::Sent(s) => Ok(match s.branch().await? {
                Crossed::Answer(Answer(answer), end) => ((Some(answer), true), end),
                Crossed::Cancelled(Cancelled, end) => ((None, true), end),
            }),
        }
    })
    .await
}

/// Works, and returns whether it had the answer and whether that was wanted.
///
/// # Errors
///
/// Those of the session.
pub async fn worker(role: &mut Worker, work: impl Future<Output = i32>) -> Result<(bool, bool)> {
    try_run(role, async |s: Working<'_>| {
        let (Question, s) = s.receive().await?;
        match s.race(async { Answer(work.await) }).await? {
            Raced::Heard(Work::Cancel(Cancel, s)) => Ok(((false, false), s.send(Cancelled).await?)),
            Raced::Sent(s) => Ok(match s.branch().await? {
                Received::Thanks(Thanks, end) => ((true, true), end),
                Received::Cancel(Cancel, end) => ((true, false), end),
            }),
        }
    })
    .await
}
