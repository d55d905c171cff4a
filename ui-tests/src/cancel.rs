//! A closed system in which both roles race: an answer against its cancellation.

use rumpsteak::states::Raced;
use rumpsteak::{Result, try_run};

#[rumpsteak::closed_system]
mod cancel {
    /// The session of `Asker`.
    #[session(Asker)]
    type Asking = Send<Worker, Question, Race<Patience>>;

    /// While it waits for the answer.
    enum Patience {
        /// The answer.
        Answer(Receive<Worker, Answer, Send<Worker, Thanks, End>>),
        /// It takes too long.
        Cancel(Send<Worker, Cancel, Branch<Worker, Crossed>>),
    }

    /// The peer's answer to `Cancel`.
    enum Crossed {
        /// The answer was already in flight.
        Answer(Answer, End),
        /// There will be no answer.
        Cancelled(Cancelled, End),
    }

    /// The session of `Worker`.
    #[session(Worker)]
    struct Working(Receive<Asker, Question, Race<Work>>);

    /// While it works.
    enum Work {
        /// It has the answer.
        Answer(Send<Asker, Answer, Branch<Asker, Received>>),
        /// It was cancelled.
        Cancel(Receive<Asker, Cancel, Send<Asker, Cancelled, End>>),
    }

    /// The peer's answer to `Answer`.
    enum Received {
        /// The answer was received.
        Thanks(Thanks, End),
        /// The answer came too late.
        Cancel(Cancel, End),
    }

    /// The question.
    struct Question;

    /// The answer.
    struct Answer(i32);

    /// The answer was received.
    struct Thanks;

    /// The asker gives up.
    struct Cancel;

    /// There will be no answer.
    struct Cancelled;
}
pub use self::cancel::*;

/// Asks until `patience` ends. Returns the answer, and true if `patience` had ended.
///
/// # Errors
///
/// The errors of the session.
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

/// Works. Returns true if it had an answer, and true if that was wanted.
///
/// # Errors
///
/// The errors of the session.
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
