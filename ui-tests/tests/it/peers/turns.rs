//! A role that alternates between two choices of two peers each, with one peer in both.

use std::convert::Infallible;

use rumpsteak::{Error, try_run};

#[rumpsteak::closed_system]
mod ears {
    #[session(Ear)]
    struct Hears(Branch<AOrB>);

    enum AOrB {
        A(Receive<MouthA, Word, Send<MouthA, Nod, Branch<BOrC>>>),
        B(Receive<MouthB, Word, Send<MouthB, Nod, Branch<BOrC>>>),
    }

    enum BOrC {
        B(Receive<MouthB, Word, Send<MouthB, Nod, Hears>>),
        C(Receive<MouthC, Word, Send<MouthC, Nod, Hears>>),
    }

    struct Speaks(Send<Ear, Word, Receive<Ear, Nod, Self>>);

    #[session(MouthA)]
    type SpeaksA = Speaks;

    #[session(MouthB)]
    type SpeaksB = Speaks;

    #[session(MouthC)]
    type SpeaksC = Speaks;

    struct Word;
    struct Nod;
}

pub(crate) use ears::*;

/// Receives this many words and records their senders in order.
///
/// # Errors
///
/// The error `heard`, as soon as it is done.
pub(crate) async fn ear(
    role: &mut Ear,
    words: &mut Vec<char>,
    until: usize,
) -> Result<Infallible, Error> {
    try_run(role, async |mut s: Hears<'_>| {
        loop {
            let (first, next) = match s.branch().await? {
                AOrB::A(Word, s) => ('a', s.send(Nod).await?),
                AOrB::B(Word, s) => ('b', s.send(Nod).await?),
            };
            let second;
            (second, s) = match next.branch().await? {
                BOrC::B(Word, s) => ('b', s.send(Nod).await?),
                BOrC::C(Word, s) => ('c', s.send(Nod).await?),
            };
            words.extend([first, second]);
            if words.len() >= until {
                return Err(rumpsteak::ErrorKind::Poisoned { role: "heard" }.into());
            }
        }
    })
    .await
}
