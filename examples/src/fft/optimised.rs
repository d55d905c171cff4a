//! The processes with both sides of each butterfly sending before they receive.
//!
//! A send may move ahead of a receive, so the build accepts this order of the protocol that
//! [`super::plain`] follows. All eight processes have the same shape now, and all of them work at
//! the same time.
//!
//! Who sends a row still needs it. So each result is written twice, to the buffer that is kept and
//! to that which came in, and the latter is sent next: but for the first row, nothing is copied or
//! allocated.

use num_complex::Complex32;
use rumpsteak_runtime::states::{End, Receive, Send, Session, State};
use rumpsteak_runtime::transport::Route;
use rumpsteak_runtime::{Channel, Result, Role, session, try_run};

use super::roles::{Column, Label, P0, P1, P2, P3, P4, P5, P6, P7, Row, Twiddle, eighth, quarter};

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
pub type Process1 = Send<
    P0,
    Column,
    Receive<
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
        Send<P0, Column, Receive<P0, Column, Send<P6, Column, Receive<P6, Column, End>>>>,
    >,
>;

#[session(P3)]
pub type Process3 = Send<
    P2,
    Column,
    Receive<
        P2,
        Column,
        Send<P1, Column, Receive<P1, Column, Send<P7, Column, Receive<P7, Column, End>>>>,
    >,
>;

#[session(P4)]
pub type Process4 = Send<
    P5,
    Column,
    Receive<
        P5,
        Column,
        Send<P6, Column, Receive<P6, Column, Send<P0, Column, Receive<P0, Column, End>>>>,
    >,
>;

#[session(P5)]
pub type Process5 = Send<
    P4,
    Column,
    Receive<
        P4,
        Column,
        Send<P7, Column, Receive<P7, Column, Send<P1, Column, Receive<P1, Column, End>>>>,
    >,
>;

#[session(P6)]
pub type Process6 = Send<
    P7,
    Column,
    Receive<
        P7,
        Column,
        Send<P4, Column, Receive<P4, Column, Send<P2, Column, Receive<P2, Column, End>>>>,
    >,
>;

#[session(P7)]
pub type Process7 = Send<
    P6,
    Column,
    Receive<
        P6,
        Column,
        Send<P5, Column, Receive<P5, Column, Send<P3, Column, Receive<P3, Column, End>>>>,
    >,
>;

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process0(role: &mut P0, row: Row) -> Result<Row> {
    try_run(role, async |s: Process0<'_>| exchanges(s, row, 0).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process1(role: &mut P1, row: Row) -> Result<Row> {
    try_run(role, async |s: Process1<'_>| exchanges(s, row, 1).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process2(role: &mut P2, row: Row) -> Result<Row> {
    try_run(role, async |s: Process2<'_>| exchanges(s, row, 2).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process3(role: &mut P3, row: Row) -> Result<Row> {
    try_run(role, async |s: Process3<'_>| exchanges(s, row, 3).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process4(role: &mut P4, row: Row) -> Result<Row> {
    try_run(role, async |s: Process4<'_>| exchanges(s, row, 4).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process5(role: &mut P5, row: Row) -> Result<Row> {
    try_run(role, async |s: Process5<'_>| exchanges(s, row, 5).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process6(role: &mut P6, row: Row) -> Result<Row> {
    try_run(role, async |s: Process6<'_>| exchanges(s, row, 6).await).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// Those of the session.
pub async fn process7(role: &mut P7, row: Row) -> Result<Row> {
    try_run(role, async |s: Process7<'_>| exchanges(s, row, 7).await).await
}

/// One butterfly, from either side.
type Exchange<'s, R, P, C> = Send<'s, R, P, Column, Receive<'s, R, P, Column, C>>;

/// The three butterflies of a process.
type Exchanges<'s, R, A, B, C> =
    Exchange<'s, R, A, Exchange<'s, R, B, Exchange<'s, R, C, End<'s, R>>>>;

/// What all processes do: the three butterflies of the process with this number.
async fn exchanges<'s, R, A, B, C>(
    session: Exchanges<'s, R, A, B, C>,
    row: Row,
    number: usize,
) -> Result<(Row, End<'s, R>)>
where
    R: Role<Message = Label>
        + Route<A, Link = Channel<Label>>
        + Route<B, Link = Channel<Label>>
        + Route<C, Link = Channel<Label>>,
    A: Role,
    B: Role,
    C: Role,
{
    let mut rows = Rows { copy: row.clone(), row };
    let session = exchange(session, &mut rows, number, 0).await?;
    let session = exchange(session, &mut rows, number, 1).await?;
    let session = exchange(session, &mut rows, number, 2).await?;
    Ok((rows.row, session))
}

/// A row, and the copy of it that is sent.
struct Rows {
    row: Row,
    copy: Row,
}

/// The butterfly with the process whose number differs in `bit`.
async fn exchange<'s, R, P, C>(
    session: Exchange<'s, R, P, C>,
    rows: &mut Rows,
    number: usize,
    bit: usize,
) -> Result<C>
where
    R: Role<Message = Label> + Route<P, Link = Channel<Label>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    let session = session.send(Column(std::mem::take(&mut rows.copy))).await?;
    let (Column(theirs), session) = session.receive().await?;
    rows.copy = theirs;
    if number >> bit & 1 == 0 {
        rows.combine(|mine, theirs| mine + theirs, next(number, bit));
    } else {
        rows.combine(|mine, theirs| theirs - mine, next(number, bit));
    }
    Ok(session)
}

/// What the process multiplies its row by before the exchange that follows that of `bit`.
fn next(number: usize, bit: usize) -> Twiddle {
    match (number, bit) {
        (3 | 7, 0) | (6, 1) => Twiddle::Quarter,
        (5, 1) => Twiddle::Eighth,
        (7, 1) => Twiddle::ThreeEighths,
        _ => Twiddle::One,
    }
}

impl Rows {
    /// Makes both rows that which `half` makes of the two, multiplied by `twiddle`.
    fn combine(&mut self, half: impl Fn(Complex32, Complex32) -> Complex32, twiddle: Twiddle) {
        match twiddle {
            Twiddle::One => self.write(half),
            Twiddle::Eighth => self.write(|mine, theirs| eighth(half(mine, theirs))),
            Twiddle::Quarter => self.write(|mine, theirs| quarter(half(mine, theirs))),
            Twiddle::ThreeEighths => self.write(|mine, theirs| quarter(eighth(half(mine, theirs)))),
        }
    }

    fn write(&mut self, value: impl Fn(Complex32, Complex32) -> Complex32) {
        for (mine, theirs) in self.row.iter_mut().zip(&mut self.copy) {
            let value = value(*mine, *theirs);
            (*mine, *theirs) = (value, value);
        }
    }
}
