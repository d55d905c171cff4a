//! A role that waits for one peer, and hears of another one that it stops, over routes that may
//! lead to other processes. The other one is ahead.

use rumpsteak_net::Net;
use rumpsteak_runtime::{Message, Result, Role, Roles, session, try_run};

#[derive(Roles)]
#[closed_system]
pub(crate) struct Roles {
    pub(crate) reader: Reader,
    pub(crate) chief: Chief,
    pub(crate) press: Press,
}

#[derive(Role)]
#[message(Label)]
pub(crate) struct Reader {
    #[route(Chief)]
    chief: Net<Label>,
    #[route(Press)]
    press: Net<Label>,
}

#[derive(Role)]
#[message(Label)]
pub(crate) struct Chief(#[route(Reader)] Net<Label>);

#[derive(Role)]
#[message(Label)]
pub(crate) struct Press(#[route(Reader)] Net<Label>);

#[derive(Message)]
pub(crate) enum Label {
    Paper(Paper),
    Praise(Praise),
    Stop(Stop),
}

pub(crate) struct Paper;
pub(crate) struct Praise;
pub(crate) struct Stop;

#[session(Reader)]
pub(crate) struct Reads(Branch<Next>);

#[session]
pub(crate) enum Next {
    Paper(Receive<Press, Paper, Branch<Chief, Judgement>>),
    Stop(Receive<Chief, Stop, Receive<Press, Paper, End>>),
}

#[session]
pub(crate) enum Judgement {
    Praise(Praise, End),
    Stop(Stop, End),
}

#[session(Chief)]
pub(crate) struct Judges(Select<Reader, Judgement>);

#[session(Press)]
pub(crate) struct Prints(Send<Reader, Paper, End>);

pub(crate) async fn judges(role: &mut Chief) -> Result<()> {
    try_run(role, async |s: Judges<'_>| Ok(((), s.select(Praise).await?))).await
}

pub(crate) async fn prints(role: &mut Press) -> Result<()> {
    try_run(role, async |s: Prints<'_>| Ok(((), s.send(Paper).await?))).await
}

/// Whether it is praised for what it has read.
pub(crate) async fn reads(role: &mut Reader) -> Result<bool> {
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
