//! A moderator receives from two guests, in any order. A message is passed on, or the guest
//! is warned. The moderator may close the chat at any time; messages in flight are dropped.
//!
//! `cargo run -p rumpsteak-examples --example chat_moderator`

use std::future::pending;
use std::process::ExitCode;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::task::yield_now;

// Another guest may be served for ever, and no role has to interrupt: `fair`.
#[rumpsteak::protocol(ChatModerator, accept_closed_system, fair)]
pub mod chat_moderator {
    // The moderator answers one guest before it receives from the next; the protocol allows more.
    #[session(Moderator)]
    type Moderates = Branch<Word>;

    enum Word {
        OfAnn(Receive<Ann, Say, Select<ToBob>>),
        OfBob(Receive<Bob, Say, Select<ToAnn>>),
    }

    enum ToBob {
        Said(Send<Bob, Said, Send<Ann, Passed, Moderates>>),
        Warned(Send<Ann, Warned, Moderates>),
        Closed(Send<Ann, Closed, Closing>),
    }

    enum ToAnn {
        Said(Send<Ann, Said, Send<Bob, Passed, Moderates>>),
        Warned(Send<Bob, Warned, Moderates>),
        Closed(Send<Ann, Closed, Closing>),
    }

    type Closing = Send<Bob, Closed, Branch<Ann, LastOfAnn>>;

    enum LastOfAnn {
        Say(Say, Branch<Ann, Self>),
        Closed(Closed, Branch<Bob, LastOfBob>),
    }

    enum LastOfBob {
        Say(Say, Branch<Bob, Self>),
        Closed(Closed, End),
    }
}
use chat_moderator::*;

/// Passes on polite words, and closes the chat after `patience` others. Returns how many it passed
/// on.
async fn moderator(mut chat: Moderates<'_>, mut patience: usize) -> Ended<'_, Moderator, usize> {
    let mut passed = 0;
    let closing = loop {
        let (word, of_ann, of_bob) = match chat.branch().await? {
            Word::OfAnn(Say(word), next) => (word, Some(next), None),
            Word::OfBob(Say(word), next) => (word, None, Some(next)),
        };
        let is_polite = word == word.to_lowercase();
        patience -= usize::from(!is_polite);
        passed += usize::from(is_polite);
        chat = match (of_ann, of_bob) {
            (Some(ann), _) if is_polite => ann.select(Said(word)).await?.send(Passed).await?,
            (_, Some(bob)) if is_polite => bob.select(Said(word)).await?.send(Passed).await?,
            (Some(ann), _) if patience > 0 => ann.select(Warned).await?,
            (_, Some(bob)) if patience > 0 => bob.select(Warned).await?,
            (Some(ann), _) => break ann.select(Closed).await?,
            (_, Some(bob)) => break bob.select(Closed).await?,
            (None, None) => unreachable!("somebody has spoken"),
        };
    };
    let mut ann = closing.send(Closed).await?;
    let mut bob = loop {
        ann = match ann.branch().await? {
            LastOfAnn::Say(_, ann) => ann,
            LastOfAnn::Closed(Closed, bob) => break bob,
        };
    };
    loop {
        bob = match bob.branch().await? {
            LastOfBob::Say(_, bob) => bob,
            LastOfBob::Closed(Closed, end) => return end.end(passed),
        };
    }
}

macro_rules! guest {
    ($guest:ident, $Role:ident, $Session:ident, $Listening:ident, $Waiting:ident) => {
        /// Says all of `words`, each a turn after the last answer. Returns the words that it
        /// received.
        async fn $guest<'s>(
            mut chat: $Session<'s>,
            words: &[&str],
        ) -> Ended<'s, $Role, Vec<String>> {
            let (mut words, mut heard) = (words.iter(), Vec::new());
            let closed = loop {
                let word = async {
                    yield_now().await;
                    match words.next() {
                        Some(&word) => Say(word.to_owned()),
                        None => pending().await,
                    }
                };
                let mut waiting = match chat.race(word).await? {
                    Raced::Sent(waiting) => waiting,
                    Raced::Heard($Listening::Said(Said(word), next)) => {
                        heard.push(word);
                        chat = next;
                        continue;
                    }
                    Raced::Heard($Listening::Closed(Closed, closed)) => break closed,
                };
                chat = loop {
                    waiting = match waiting.branch().await? {
                        $Waiting::Said(Said(word), waiting) => {
                            heard.push(word);
                            waiting
                        }
                        $Waiting::Passed(Passed, chat) => break chat,
                        $Waiting::Warned(Warned, chat) => break chat,
                        $Waiting::Closed(Closed, closed) => {
                            return closed.send(Closed).await?.end(heard);
                        }
                    };
                };
            };
            closed.send(Closed).await?.end(heard)
        }
    };
}

guest!(ann, Ann, AnnSession, AnnSayChoice, AnnSaidChoice);
guest!(bob, Bob, BobSession, BobSayChoice, BobSaidChoice);

/// The number of words that the moderator passed on, and the words that Ann and Bob received.
pub async fn run() -> Result<(usize, Vec<String>, Vec<String>)> {
    let mut roles = Roles::default();
    let all = roles.run(
        |session| moderator(session, 2),
        |session| ann(session, &["hello", "how are you"]),
        |session| bob(session, &["HI", "fine", "BYE"]),
    );
    all.await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let heard = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let expected = (3, heard(&["fine"]), heard(&["hello", "how are you"]));
    rumpsteak_examples::conclude(run().await, expected)
}
