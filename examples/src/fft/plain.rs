//! The processes as the protocol has them.
//!
//! Who sends first *asks*: it parts with its row, waits, and is given the row that it goes on with.
//! Who receives first *answers*: it has both rows, makes both results in place and sends one back.
//! So rows are moved and never copied.
//!
//! Each butterfly keeps one of two processes busy.

use rumpsteak_runtime::states::{Receive, Send, Session, State};
use rumpsteak_runtime::transport::Route;
use rumpsteak_runtime::{Channel, Result, Role, session, try_run};

use super::butterfly::butterfly;
use super::roles::{Column, Label, P0, P1, P2, P3, P4, P5, P6, P7, Row, Twiddle};

#[session(P0)]
pub type Process0 = Send<
    P1,
    Column,
    Receive<
        P1,
        Column,
        Send<P2, Column, Receive<P2, Column, Send<P4, Column, Receive<P4, Column, End>>>>,
    >,
>;

#[session(P1)]
pub type Process1 = Receive<
    P0,
    Column,
    Send<
        P0,
        Column,
        Send<P3, Column, Receive<P3, Column, Send<P5, Column, Receive<P5, Column, End>>>>,
    >,
>;

#[session(P2)]
pub type Process2 = Send<
    P3,
    Column,
    Receive<
        P3,
        Column,
        Receive<P0, Column, Send<P0, Column, Send<P6, Column, Receive<P6, Column, End>>>>,
    >,
>;

#[session(P3)]
pub type Process3 = Receive<
    P2,
    Column,
    Send<
        P2,
        Column,
        Receive<P1, Column, Send<P1, Column, Send<P7, Column, Receive<P7, Column, End>>>>,
    >,
>;

#[session(P4)]
pub type Process4 = Send<
    P5,
    Column,
    Receive<
        P5,
        Column,
        Send<P6, Column, Receive<P6, Column, Receive<P0, Column, Send<P0, Column, End>>>>,
    >,
>;

#[session(P5)]
pub type Process5 = Receive<
    P4,
    Column,
    Send<
        P4,
        Column,
        Send<P7, Column, Receive<P7, Column, Receive<P1, Column, Send<P1, Column, End>>>>,
    >,
>;

#[session(P6)]
pub type Process6 = Send<
    P7,
    Column,
    Receive<
        P7,
        Column,
        Receive<P4, Column, Send<P4, Column, Receive<P2, Column, Send<P2, Column, End>>>>,
    >,
>;

#[session(P7)]
pub type Process7 = Receive<
    P6,
    Column,
    Send<
        P6,
        Column,
        Receive<P5, Column, Send<P5, Column, Receive<P3, Column, Send<P3, Column, End>>>>,
    >,
>;

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process0(role: &mut P0, row: Row) -> Result<Row> {
    try_run(role, async |s: Process0<'_>| {
        let (row, s) = ask(s, row).await?;
        let (row, s) = ask(s, row).await?;
        let (row, s) = ask(s, row).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process1(role: &mut P1, row: Row) -> Result<Row> {
    try_run(role, async |s: Process1<'_>| {
        let (row, s) = answer(s, row, Twiddle::One).await?;
        let (row, s) = ask(s, row).await?;
        let (row, s) = ask(s, row).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process2(role: &mut P2, row: Row) -> Result<Row> {
    try_run(role, async |s: Process2<'_>| {
        let (row, s) = ask(s, row).await?;
        let (row, s) = answer(s, row, Twiddle::One).await?;
        let (row, s) = ask(s, row).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process3(role: &mut P3, row: Row) -> Result<Row> {
    try_run(role, async |s: Process3<'_>| {
        let (row, s) = answer(s, row, Twiddle::One).await?;
        let (row, s) = answer(s, row, Twiddle::Quarter).await?;
        let (row, s) = ask(s, row).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process4(role: &mut P4, row: Row) -> Result<Row> {
    try_run(role, async |s: Process4<'_>| {
        let (row, s) = ask(s, row).await?;
        let (row, s) = ask(s, row).await?;
        let (row, s) = answer(s, row, Twiddle::One).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process5(role: &mut P5, row: Row) -> Result<Row> {
    try_run(role, async |s: Process5<'_>| {
        let (row, s) = answer(s, row, Twiddle::One).await?;
        let (row, s) = ask(s, row).await?;
        let (row, s) = answer(s, row, Twiddle::Eighth).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process6(role: &mut P6, row: Row) -> Result<Row> {
    try_run(role, async |s: Process6<'_>| {
        let (row, s) = ask(s, row).await?;
        let (row, s) = answer(s, row, Twiddle::One).await?;
        let (row, s) = answer(s, row, Twiddle::Quarter).await?;
        Ok((row, s))
    })
    .await
}

/// Asks or answers three times.
///
/// # Errors
///
/// Those of the session.
pub async fn process7(role: &mut P7, row: Row) -> Result<Row> {
    try_run(role, async |s: Process7<'_>| {
        let (row, s) = answer(s, row, Twiddle::One).await?;
        let (row, s) = answer(s, row, Twiddle::Quarter).await?;
        let (row, s) = answer(s, row, Twiddle::ThreeEighths).await?;
        Ok((row, s))
    })
    .await
}

/// The lower half of a butterfly: parts with its row, and is given the sum.
async fn ask<'s, R, P, C>(
    session: Send<'s, R, P, Column, Receive<'s, R, P, Column, C>>,
    row: Row,
) -> Result<(Row, C)>
where
    R: Role<Message = Label> + Route<P, Link = Channel<Label>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    let (Column(row), session) = session.send(Column(row)).await?.receive().await?;
    Ok((row, session))
}

/// The upper half of a butterfly: sends the sum back and keeps the difference.
async fn answer<'s, R, P, C>(
    session: Receive<'s, R, P, Column, Send<'s, R, P, Column, C>>,
    mut row: Row,
    twiddle: Twiddle,
) -> Result<(Row, C)>
where
    R: Role<Message = Label> + Route<P, Link = Channel<Label>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    let (Column(mut theirs), session) = session.receive().await?;
    butterfly(&mut theirs, &mut row, twiddle.factor());
    Ok((row, session.send(Column(theirs)).await?))
}
