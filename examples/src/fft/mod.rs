//! The fast Fourier transform of Cooley and Tukey (PPoPP'22, §4), by eight processes that exchange columns.
//!
//! An eight by *n* matrix is transformed: each of its *n* columns of eight values becomes its discrete Fourier
//! transform. Process *p* holds one row, *n* values, and talks to three others: to the one whose number differs in the
//! lowest bit, then in the middle one, then in the highest. Each exchange is a *butterfly*: of the rows `a` and `b`, with
//! a factor `w`, one process has `a + w·b` afterwards and the other `a − w·b`. The protocol is `protocols/fft.scr`.
//!
//! ```text
//!  holds        differ by 1      by 2        by 4      holds
//!  row 0  P0 ────●──────────────●───────────●───────── row 0 of the transform
//!  row 4  P1 ────●──────────────┼─●─────────┼●──────── row 1
//!  row 2  P2 ────●──────────────●─┼─────────┼┼●─────── row 2
//!  row 6  P3 ────●────────────────●─────────┼┼┼●────── row 3
//!  row 1  P4 ────●──────────────●───────────●┼┼┼────── row 4
//!  row 5  P5 ────●──────────────┼─●──────────●┼┼────── row 5
//!  row 3  P6 ────●──────────────●─┼───────────●┼────── row 6
//!  row 7  P7 ────●────────────────●────────────●────── row 7
//! ```
//!
//! The processes begin with the rows in *bit reversed* order: number 1 is `001`, so it begins with row `100`. Then the
//! rows of the transform are in order.
//!
//! * [`plain`] follows the protocol: one process of each pair sends first and waits, the other answers. So the other does
//!   the arithmetic of both, and nothing is ever copied.
//! * [`optimised`] sends before it receives on both sides: no process waits for another to begin, and each does its own
//!   half of the arithmetic. Each must keep what it sends, so it also writes each value twice.
//!
//! Both compute the same, but not by the same messages: all eight processes have to be of one module. They borrow their
//! roles, for one transform after another over the same channels, and may run in one task ([`run`]) or in several.

pub mod optimised;
pub mod plain;
#[cfg(test)]
mod tests;

use num_complex::Complex32;
use rumpsteak_runtime::{Channel, Message, Result, Role, Roles};

/// What each process holds and sends: one row of the matrix, a value of each column.
pub type Row = Vec<Complex32>;

/// A matrix by its rows, which all have the same length.
pub type Matrix = [Row; 8];

/// The transform, in one task: the fastest way on one thread.
///
/// Element `j` of row `k` of the result is the sum, over all `i`, of element `j` of row `i`, times e to the power of
/// −2πi·ik/8. If the rows have different lengths, zeros are added to the shorter ones.
///
/// ```
/// use num_complex::Complex32;
/// use rumpsteak_examples::fft::{self, Order};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// // One column, with 1 in its first element: all frequencies are there.
/// let mut rows = [const { Vec::new() }; 8];
/// rows[0] = vec![Complex32::ONE];
/// let transform = fft::run(&mut fft::Roles::default(), rows, Order::Optimised).await?;
/// assert_eq!(transform, [const { Complex32::ONE }; 8].map(|one| vec![one]));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the roles are poisoned, as after a transform that was cancelled: see [`Roles`](struct@Roles).
///
/// # Cancel safety
///
/// Dropping the future poisons the roles.
pub async fn run(roles: &mut Roles, rows: Matrix, order: Order) -> Result<Matrix> {
    let [x0, x1, x2, x3, x4, x5, x6, x7] = begin(rows);
    let Roles {
        p0,
        p1,
        p2,
        p3,
        p4,
        p5,
        p6,
        p7,
    } = roles;
    let (x0, x1, x2, x3, x4, x5, x6, x7) = match order {
        Order::Plain => {
            use plain::*;
            rumpsteak_runtime::join((
                process0(p0, x0),
                process1(p1, x1),
                process2(p2, x2),
                process3(p3, x3),
                process4(p4, x4),
                process5(p5, x5),
                process6(p6, x6),
                process7(p7, x7),
            ))
            .await
        }
        Order::Optimised => {
            use optimised::*;
            rumpsteak_runtime::join((
                process0(p0, x0),
                process1(p1, x1),
                process2(p2, x2),
                process3(p3, x3),
                process4(p4, x4),
                process5(p5, x5),
                process6(p6, x6),
                process7(p7, x7),
            ))
            .await
        }
    };
    Ok([x0?, x1?, x2?, x3?, x4?, x5?, x6?, x7?])
}

/// Which sessions the processes of [`run`] follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those of [`plain`].
    Plain,
    /// Those of [`optimised`].
    Optimised,
}

/// The row that each process begins with: those of `rows`, in bit reversed order and of one length.
#[must_use]
pub fn begin(rows: Matrix) -> Matrix {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let [x0, x1, x2, x3, x4, x5, x6, x7] = rows.map(|mut row| {
        row.resize(columns, Complex32::ZERO);
        row
    });
    [x0, x4, x2, x6, x1, x5, x3, x7]
}

/// All processes. Wired by `Roles::default()`; after an error all of them are poisoned until `reset`.
#[derive(Debug, Roles)]
pub struct Roles {
    /// Begins with row 0.
    pub p0: P0,
    /// Begins with row 4.
    pub p1: P1,
    /// Begins with row 2.
    pub p2: P2,
    /// Begins with row 6.
    pub p3: P3,
    /// Begins with row 1.
    pub p4: P4,
    /// Begins with row 5.
    pub p5: P5,
    /// Begins with row 3.
    pub p6: P6,
    /// Begins with row 7.
    pub p7: P7,
}

/// Process 0.
#[derive(Debug, Role)]
#[protocol(Fft::p0)]
#[message(Label)]
pub struct P0 {
    #[route(P1)]
    p1: Channel<Label>,
    #[route(P2)]
    p2: Channel<Label>,
    #[route(P4)]
    p4: Channel<Label>,
}

/// Process 1.
#[derive(Debug, Role)]
#[protocol(Fft::p1)]
#[message(Label)]
pub struct P1 {
    #[route(P0)]
    p0: Channel<Label>,
    #[route(P3)]
    p3: Channel<Label>,
    #[route(P5)]
    p5: Channel<Label>,
}

/// Process 2.
#[derive(Debug, Role)]
#[protocol(Fft::p2)]
#[message(Label)]
pub struct P2 {
    #[route(P0)]
    p0: Channel<Label>,
    #[route(P3)]
    p3: Channel<Label>,
    #[route(P6)]
    p6: Channel<Label>,
}

/// Process 3.
#[derive(Debug, Role)]
#[protocol(Fft::p3)]
#[message(Label)]
pub struct P3 {
    #[route(P1)]
    p1: Channel<Label>,
    #[route(P2)]
    p2: Channel<Label>,
    #[route(P7)]
    p7: Channel<Label>,
}

/// Process 4.
#[derive(Debug, Role)]
#[protocol(Fft::p4)]
#[message(Label)]
pub struct P4 {
    #[route(P0)]
    p0: Channel<Label>,
    #[route(P5)]
    p5: Channel<Label>,
    #[route(P6)]
    p6: Channel<Label>,
}

/// Process 5.
#[derive(Debug, Role)]
#[protocol(Fft::p5)]
#[message(Label)]
pub struct P5 {
    #[route(P1)]
    p1: Channel<Label>,
    #[route(P4)]
    p4: Channel<Label>,
    #[route(P7)]
    p7: Channel<Label>,
}

/// Process 6.
#[derive(Debug, Role)]
#[protocol(Fft::p6)]
#[message(Label)]
pub struct P6 {
    #[route(P2)]
    p2: Channel<Label>,
    #[route(P4)]
    p4: Channel<Label>,
    #[route(P7)]
    p7: Channel<Label>,
}

/// Process 7.
#[derive(Debug, Role)]
#[protocol(Fft::p7)]
#[message(Label)]
pub struct P7 {
    #[route(P3)]
    p3: Channel<Label>,
    #[route(P5)]
    p5: Channel<Label>,
    #[route(P6)]
    p6: Channel<Label>,
}

/// The messages.
#[derive(Debug, Message)]
pub enum Label {
    /// A row.
    Column(Column),
}

/// What one process has of each column, in one message.
#[derive(Debug)]
pub struct Column(pub Vec<Complex32>);

/// A power of e^(−2πi/8), which a butterfly multiplies by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twiddle {
    /// The power 0: 1.
    One,
    /// The power 1: (1 − i)/√2.
    Eighth,
    /// The power 2: −i.
    Quarter,
    /// The power 3: (−1 − i)/√2.
    ThreeEighths,
}

/// x · (1 − i)/√2.
#[inline(always)]
fn eighth(x: Complex32) -> Complex32 {
    use std::f32::consts::FRAC_1_SQRT_2;
    Complex32::new((x.re + x.im) * FRAC_1_SQRT_2, (x.im - x.re) * FRAC_1_SQRT_2)
}

/// x · (−i).
#[inline(always)]
fn quarter(x: Complex32) -> Complex32 {
    Complex32::new(x.im, -x.re)
}
