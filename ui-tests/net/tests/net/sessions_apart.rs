//! A role that waits for one peer, and hears of another one that it stops, over routes that may
//! lead to other processes. The other one is ahead.

use futures::executor::block_on;
use rumpsteak::{Result, try_run};

#[rumpsteak::closed_system]
mod paper {
    use rumpsteak_net::Net;

    #[derive(Role)]
    #[message(Label)]
    struct Reader {
        #[route(Chief)]
        chief: Net<Label>,
        #[route(Press)]
        press: Net<Label>,
    }

    #[derive(Role)]
    #[message(Label)]
    struct Chief(#[route(Reader)] Net<Label>);

    #[derive(Role)]
    #[message(Label)]
    struct Press(#[route(Reader)] Net<Label>);

    struct Paper;
    struct Praise;
    struct Stop;

    #[session(Reader)]
    struct Reads(Branch<Next>);

    enum Next {
        Paper(Receive<Press, Paper, Branch<Chief, Judgement>>),
        Stop(Receive<Chief, Stop, Receive<Press, Paper, End>>),
    }

    enum Judgement {
        Praise(Praise, End),
        Stop(Stop, End),
    }

    #[session(Chief)]
    struct Judges(Select<Reader, Judgement>);

    #[session(Press)]
    struct Prints(Send<Reader, Paper, End>);
}

use paper::*;

async fn judges(role: &mut Chief) -> Result<()> {
    try_run(role, async |s: Judges<'_>| Ok(((), s.select(Praise).await?))).await
}

async fn prints(role: &mut Press) -> Result<()> {
    try_run(role, async |s: Prints<'_>| Ok(((), s.send(Paper).await?))).await
}

/// Returns true if the reader was praised.
async fn reads(role: &mut Reader) -> Result<bool> {
    try_run(role, async |s: Reads<'_>| {
        Ok(match s.branch().await? {
            Next::Paper(Paper, s) => match s.branch().await? {
                Judgement::Praise(Praise, end) => (true, end),
                Judgement::Stop(Stop, end) => (false, end),
            },
            Next::Stop(Stop, s) => (false, s.receive().await?.1),
        })
    })
    .await
}

/// The chief's message stays in its queue until the paper has come.
#[test]
fn a_peer_that_is_ahead_is_heard_in_its_turn() {
    let Roles { mut reader, mut chief, mut press } = Roles::default();
    block_on(judges(&mut chief)).unwrap();
    let (praised, printed) = block_on(rumpsteak::join((reads(&mut reader), prints(&mut press))));
    printed.unwrap();
    assert!(praised.unwrap());
}
