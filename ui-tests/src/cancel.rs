//! A closed system in which both roles do whatever is first: an answer, or a wish to have none any
//! more.

use rumpsteak::states::Raced;
use rumpsteak::{Result, try_run};

#[rumpsteak::closed_system]
mod cancel {
    /// What `Asker` does.
    #[session(Asker)]
    type Asking = Send<Worker, Question, Race<Patience>>;

    /// While the answer is not there.
    enum Patience {
        /// Here it is.
        Answer(Receive<Worker, Answer, Send<Worker, Thanks, End>>),
        /// It takes too long.
        Cancel(Send<Worker, Cancel, Branch<Worker, Crossed>>),
    }

    /// What comes after `Cancel`.
    enum Crossed {
        /// It was under way already.
        Answer(Answer, End),
        /// It will not come.
        Cancelled(Cancelled, End),
    }

    /// What `Worker` does.
    #[session(Worker)]
    struct Working(Receive<Asker, Question, Race<Work>>);

    /// While it works.
    enum Work {
        /// It has the answer.
        Answer(Send<Asker, Answer, Branch<Asker, Received>>),
        /// Nobody wants it.
        Cancel(Receive<Asker, Cancel, Send<Asker, Cancelled, End>>),
    }

    /// What comes after `Answer`.
    enum Received {
        /// It has come.
        Thanks(Thanks, End),
        /// It was not wanted any more.
        Cancel(Cancel, End),
    }

    /// The question.
    struct Question;

    /// The answer.
    struct Answer(i32);

    /// It has come.
    struct Thanks;

    /// It is not wanted any more.
    struct Cancel;

    /// It will not come.
    struct Cancelled;
}
pub use self::cancel::*;

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
