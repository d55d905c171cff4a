//! The processes where both sides of each butterfly send before they receive.
//!
//! A send may move ahead of a receive, so the build accepts this order of the protocol that
//! [`super::plain`] follows. All eight processes have the same shape now, and all of them work at
//! the same time.
//!
//! A process still needs the row that it sends. So each result is written twice, to the buffer that
//! is kept and to the one that was received, which is sent next. Nothing but the first row is
//! copied or allocated.

use num_complex::Complex32;
use rumpsteak::states::{End, NotAFamily, Receive, Send, Session, State};
use rumpsteak::transport::Route;
use rumpsteak::{Channel, Ended, Result, Role};

use super::matrix::{Matrix, Row};
use super::twiddle::{Twiddle, eighth, quarter};

#[rumpsteak::protocol(Fft)]
pub mod processes {
    #[session(P1)]
    type Process1 = Send<P0, Column, Receive<P0, Column, Rest1>>;
    type Rest1 = Send<P3, Column, Receive<P3, Column, Send<P5, Column, Receive<P5, Column, End>>>>;

    #[session(P2)]
    type Process2 = Send<P3, Column, Receive<P3, Column, Rest2>>;
    type Rest2 = Send<P0, Column, Receive<P0, Column, Send<P6, Column, Receive<P6, Column, End>>>>;

    #[session(P3)]
    type Process3 = Send<P2, Column, Receive<P2, Column, Rest3>>;
    type Rest3 = Send<P1, Column, Receive<P1, Column, Send<P7, Column, Receive<P7, Column, End>>>>;

    #[session(P4)]
    type Process4 = Send<P5, Column, Receive<P5, Column, Rest4>>;
    type Rest4 = Send<P6, Column, Receive<P6, Column, Send<P0, Column, Receive<P0, Column, End>>>>;

    #[session(P5)]
    type Process5 = Send<P4, Column, Receive<P4, Column, Rest5>>;
    type Rest5 = Send<P7, Column, Receive<P7, Column, Send<P1, Column, Receive<P1, Column, End>>>>;

    #[session(P6)]
    type Process6 = Send<P7, Column, Receive<P7, Column, Rest6>>;
    type Rest6 = Send<P4, Column, Receive<P4, Column, Send<P2, Column, Receive<P2, Column, End>>>>;

    #[session(P7)]
    type Process7 = Send<P6, Column, Receive<P6, Column, Rest7>>;
    type Rest7 = Send<P5, Column, Receive<P5, Column, Send<P3, Column, Receive<P3, Column, End>>>>;
}
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

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process0(s: P0Session<'_>, row: Row) -> Ended<'_, P0, Row> {
    exchanges(s, row, 0).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process1(s: Process1<'_>, row: Row) -> Ended<'_, P1, Row> {
    exchanges(s, row, 1).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process2(s: Process2<'_>, row: Row) -> Ended<'_, P2, Row> {
    exchanges(s, row, 2).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process3(s: Process3<'_>, row: Row) -> Ended<'_, P3, Row> {
    exchanges(s, row, 3).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process4(s: Process4<'_>, row: Row) -> Ended<'_, P4, Row> {
    exchanges(s, row, 4).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process5(s: Process5<'_>, row: Row) -> Ended<'_, P5, Row> {
    exchanges(s, row, 5).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process6(s: Process6<'_>, row: Row) -> Ended<'_, P6, Row> {
    exchanges(s, row, 6).await
}

/// Exchanges its row with three others, one after the other.
///
/// # Errors
///
/// If the session fails.
pub async fn process7(s: Process7<'_>, row: Row) -> Ended<'_, P7, Row> {
    exchanges(s, row, 7).await
}

/// One butterfly, from either side.
type Exchange<'s, R, P, C> = Send<'s, R, P, Column, Receive<'s, R, P, Column, C>>;

/// The three butterflies of a process.
type Exchanges<'s, R, A, B, C> =
    Exchange<'s, R, A, Exchange<'s, R, B, Exchange<'s, R, C, End<'s, R>>>>;

/// The body of all processes: the three butterflies of the process with this number.
async fn exchanges<'s, R, A, B, C>(
    session: Exchanges<'s, R, A, B, C>,
    row: Row,
    number: usize,
) -> Ended<'s, R, Row>
where
    R: Role<Message = Label>
        + Route<A, Link = Channel<Label>>
        + Route<B, Link = Channel<Label>>
        + Route<C, Link = Channel<Label>>,
    A: NotAFamily,
    B: NotAFamily,
    C: NotAFamily,
{
    let mut rows = Rows { copy: row.clone(), row };
    let session = exchange(session, &mut rows, number, 0).await?;
    let session = exchange(session, &mut rows, number, 1).await?;
    let session = exchange(session, &mut rows, number, 2).await?;
    session.end(rows.row)
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
    P: NotAFamily,
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

/// The factor of the process's row before the exchange after the one for `bit`.
fn next(number: usize, bit: usize) -> Twiddle {
    match (number, bit) {
        (3 | 7, 0) | (6, 1) => Twiddle::Quarter,
        (5, 1) => Twiddle::Eighth,
        (7, 1) => Twiddle::ThreeEighths,
        _ => Twiddle::One,
    }
}

impl Rows {
    /// Sets both rows to the result of `half`, multiplied by `twiddle`.
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
