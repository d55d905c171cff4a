//! The processes in the order of the protocol.
//!
//! The process that sends first *asks*: it parts with its row, waits, and receives the row that it
//! goes on with. The process that receives first *answers*: it has both rows, makes both results in
//! place and sends one back. So rows are moved and never copied.
//!
//! Each butterfly keeps one of two processes busy.

use rumpsteak::states::{NotAFamily, Receive, Send, Session, State};
use rumpsteak::transport::Route;
use rumpsteak::{Channel, Ended, Result, Role};

use super::butterfly::butterfly;
use super::matrix::{Matrix, Row};
use super::twiddle::Twiddle;

#[rumpsteak::protocol(Fft)]
pub mod processes {}
use processes::*;

/// The transform of rows in the order of [`begin`](super::begin), in one task.
///
/// # Errors
///
/// If a session fails.
pub async fn run(roles: &mut Roles, rows: Matrix) -> Result<Matrix> {
    let [x0, x1, x2, x3, x4, x5, x6, x7] = rows;
    let rows = roles.run(
        |s| process0(s, x0),
        |s| process1(s, x1),
        |s| process2(s, x2),
        |s| process3(s, x3),
        |s| process4(s, x4),
        |s| process5(s, x5),
        |s| process6(s, x6),
        |s| process7(s, x7),
    );
    Ok(rows.await?.into())
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process0(s: P0Session<'_>, row: Row) -> Ended<'_, P0, Row> {
    let (row, s) = ask(s, row).await?;
    let (row, s) = ask(s, row).await?;
    let (row, s) = ask(s, row).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process1(s: P1Session<'_>, row: Row) -> Ended<'_, P1, Row> {
    let (row, s) = answer(s, row, Twiddle::One).await?;
    let (row, s) = ask(s, row).await?;
    let (row, s) = ask(s, row).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process2(s: P2Session<'_>, row: Row) -> Ended<'_, P2, Row> {
    let (row, s) = ask(s, row).await?;
    let (row, s) = answer(s, row, Twiddle::One).await?;
    let (row, s) = ask(s, row).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process3(s: P3Session<'_>, row: Row) -> Ended<'_, P3, Row> {
    let (row, s) = answer(s, row, Twiddle::One).await?;
    let (row, s) = answer(s, row, Twiddle::Quarter).await?;
    let (row, s) = ask(s, row).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process4(s: P4Session<'_>, row: Row) -> Ended<'_, P4, Row> {
    let (row, s) = ask(s, row).await?;
    let (row, s) = ask(s, row).await?;
    let (row, s) = answer(s, row, Twiddle::One).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process5(s: P5Session<'_>, row: Row) -> Ended<'_, P5, Row> {
    let (row, s) = answer(s, row, Twiddle::One).await?;
    let (row, s) = ask(s, row).await?;
    let (row, s) = answer(s, row, Twiddle::Eighth).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process6(s: P6Session<'_>, row: Row) -> Ended<'_, P6, Row> {
    let (row, s) = ask(s, row).await?;
    let (row, s) = answer(s, row, Twiddle::One).await?;
    let (row, s) = answer(s, row, Twiddle::Quarter).await?;
    s.end(row)
}

/// Asks or answers three times.
///
/// # Errors
///
/// If the session fails.
pub async fn process7(s: P7Session<'_>, row: Row) -> Ended<'_, P7, Row> {
    let (row, s) = answer(s, row, Twiddle::One).await?;
    let (row, s) = answer(s, row, Twiddle::Quarter).await?;
    let (row, s) = answer(s, row, Twiddle::ThreeEighths).await?;
    s.end(row)
}

/// The lower half of a butterfly: parts with its row, and is given the sum.
async fn ask<'s, R, P, C>(
    session: Send<'s, R, P, Column, Receive<'s, R, P, Column, C>>,
    row: Row,
) -> Result<(Row, C)>
where
    R: Role<Message = Label> + Route<P, Link = Channel<Label>>,
    P: NotAFamily,
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
    P: NotAFamily,
    C: Session<State = State<'s, R>>,
{
    let (Column(mut theirs), session) = session.receive().await?;
    butterfly(&mut theirs, &mut row, twiddle.factor());
    Ok((row, session.send(Column(theirs)).await?))
}
