//! A role that hears one of two peers, then one of another two, of which one is the same.

use std::convert::Infallible;

use rumpsteak_runtime::{Channel, Error, Message, Role, Roles, session, try_run};

#[derive(Debug, Roles)]
#[closed_system]
pub(crate) struct Roles {
    pub(crate) ear: Ear,
    pub(crate) a: MouthA,
    pub(crate) b: MouthB,
    pub(crate) c: MouthC,
}

#[derive(Debug, Role)]
#[message(Speech)]
pub(crate) struct Ear {
    #[route(MouthA)]
    pub(crate) a: Channel<Speech>,
    #[route(MouthB)]
    pub(crate) b: Channel<Speech>,
    #[route(MouthC)]
    pub(crate) c: Channel<Speech>,
}

#[derive(Debug, Role)]
#[message(Speech)]
pub(crate) struct MouthA(#[route(Ear)] pub(crate) Channel<Speech>);

#[derive(Debug, Role)]
#[message(Speech)]
pub(crate) struct MouthB(#[route(Ear)] pub(crate) Channel<Speech>);

#[derive(Debug, Role)]
#[message(Speech)]
pub(crate) struct MouthC(#[route(Ear)] pub(crate) Channel<Speech>);

#[derive(Debug, Message)]
pub(crate) enum Speech {
    Word(Word),
    Nod(Nod),
}

#[derive(Debug)]
pub(crate) struct Word;

#[derive(Debug)]
pub(crate) struct Nod;

#[session(Ear)]
pub(crate) struct Hears(Branch<AOrB>);

#[session]
pub(crate) enum AOrB {
    A(Receive<MouthA, Word, Send<MouthA, Nod, Branch<BOrC>>>),
    B(Receive<MouthB, Word, Send<MouthB, Nod, Branch<BOrC>>>),
}

#[session]
pub(crate) enum BOrC {
    B(Receive<MouthB, Word, Send<MouthB, Nod, Hears>>),
    C(Receive<MouthC, Word, Send<MouthC, Nod, Hears>>),
}

#[session]
pub(crate) struct Speaks(Send<Ear, Word, Receive<Ear, Nod, Self>>);

#[session(MouthA)]
pub(crate) type SpeaksA = Speaks;

#[session(MouthB)]
pub(crate) type SpeaksB = Speaks;

#[session(MouthC)]
pub(crate) type SpeaksC = Speaks;

/// Hears so many words, and tells whose, in order.
///
/// # Errors
///
/// As soon as it has, by the error `heard`.
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
                return Err(rumpsteak_runtime::ErrorKind::Poisoned { role: "heard" }.into());
            }
        }
    })
    .await
}
