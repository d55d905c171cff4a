//! The fast Fourier transform of Cooley and Tukey (PPoPP'22, §4), by eight processes that exchange
//! columns.
//!
//! An eight by *n* matrix is transformed: each of its *n* columns of eight values becomes its
//! discrete Fourier transform. Process *p* holds one row, *n* values, and talks to three others: to
//! the one whose number differs in the lowest bit, then in the middle one, then in the highest.
//! Each exchange is a *butterfly*: of the rows `a` and `b`, with a factor `w`, one process has `a +
//! w·b` afterwards and the other `a − w·b`. The protocol is `protocols/fft.scr`.
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
//! The processes begin with the rows in *bit reversed* order: number 1 is `001`, so it begins with
//! row `100`. Then the rows of the transform are in order.
//!
//! * [`plain`] follows the protocol: one process of each pair sends first and waits, the other
//!   answers. So the other does the arithmetic of both, and nothing is ever copied.
//! * [`optimised`] sends before it receives on both sides: no process waits for another to begin,
//!   and each does its own half of the arithmetic. Each must keep what it sends, so it also writes
//!   each value twice.
//!
//! Both compute the same. Their roles are different types, so that all eight processes are of one
//! module. A set of roles runs one transform after another over the same channels, in one task
//! ([`run`]) or in several.

mod butterfly;
mod matrix;
pub mod optimised;
pub mod plain;
#[cfg(test)]
mod tests;
mod twiddle;

use num_complex::Complex32;
use rumpsteak::Result;

pub use butterfly::butterfly;
pub use matrix::{Matrix, Row};

/// The roles of both orders.
#[derive(Default)]
pub struct Roles {
    plain: plain::processes::Roles,
    optimised: optimised::processes::Roles,
}

/// The transform, in one task: the fastest way on one thread.
///
/// Element `j` of row `k` of the result is the sum, over all `i`, of element `j` of row `i`, times
/// e to the power of −2πi·ik/8. If the rows have different lengths, zeros are added to the shorter
/// ones.
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
/// If the roles are poisoned, as after a transform that was cancelled.
///
/// # Cancel safety
///
/// Dropping the future poisons the roles.
pub async fn run(roles: &mut Roles, rows: Matrix, order: Order) -> Result<Matrix> {
    match order {
        Order::Plain => plain::run(&mut roles.plain, begin(rows)).await,
        Order::Optimised => optimised::run(&mut roles.optimised, begin(rows)).await,
    }
}

/// The order of actions of the processes of [`run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of [`plain`].
    Plain,
    /// The order of [`optimised`].
    Optimised,
}

/// The row that each process begins with: the rows in bit reversed order, and of one length.
#[must_use]
pub fn begin(rows: Matrix) -> Matrix {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let [x0, x1, x2, x3, x4, x5, x6, x7] = rows.map(|mut row| {
        row.resize(columns, Complex32::ZERO);
        row
    });
    [x0, x4, x2, x6, x1, x5, x3, x7]
}
