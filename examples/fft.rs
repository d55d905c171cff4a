//! Fast Fourier transform by eight processes that exchange columns (PPoPP'22, §4). The sessions and
//! processes are in the library, `src/fft/plain.rs`, where other packages measure them.
//!
//! `cargo run -p rumpsteak-examples --example fft`

use std::process::ExitCode;

use num_complex::Complex32;
use rumpsteak::Result;
use rumpsteak_examples::fft::{self, Matrix, Order, Roles};

/// Three columns of eight values each, by rows: an impulse, a constant and an oscillation in steps
/// of a quarter.
fn signal() -> Matrix {
    let quarter = [Complex32::ONE, Complex32::I, -Complex32::ONE, -Complex32::I];
    let mut index = 0;
    [(); 8].map(|()| {
        let impulse = if index == 0 { Complex32::ONE } else { Complex32::ZERO };
        let row = vec![impulse, Complex32::ONE, quarter[index % 4]];
        index += 1;
        row
    })
}

/// The real and imaginary parts of three columns, by rows.
pub type Rows = [[(i32, i32); 3]; 8];

/// The rows of the transform, rounded.
pub async fn run() -> Result<Rows> {
    transform(Order::Plain).await
}

/// The rows of the transform, rounded, by processes that act in this order.
pub async fn transform(order: Order) -> Result<Rows> {
    let mut roles = Roles::default();
    let rows = fft::run(&mut roles, signal(), order).await?;
    Ok(rows.map(|row| {
        println!("{row:?}");
        let mut values =
            row.into_iter().map(|value| (value.re.round() as i32, value.im.round() as i32));
        [(); 3].map(|()| values.next().unwrap_or_default())
    }))
}

/// An impulse has all frequencies, a constant has only 0, and the oscillation goes round twice in
/// eight steps.
pub const EXPECTED: Rows = [
    [(1, 0), (8, 0), (0, 0)],
    [(1, 0), (0, 0), (0, 0)],
    [(1, 0), (0, 0), (8, 0)],
    [(1, 0), (0, 0), (0, 0)],
    [(1, 0), (0, 0), (0, 0)],
    [(1, 0), (0, 0), (0, 0)],
    [(1, 0), (0, 0), (0, 0)],
    [(1, 0), (0, 0), (0, 0)],
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, EXPECTED)
}
