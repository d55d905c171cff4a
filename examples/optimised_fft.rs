//! Fast Fourier transform where both sides of each exchange send before they receive (PPoPP'22,
//! §4). The sessions and processes are in the library, `src/fft/optimised.rs`, where other packages
//! measure them; the columns are the same as in `fft.rs`.
//!
//! `cargo run -p rumpsteak-examples --example optimised_fft`

use std::process::ExitCode;

use rumpsteak::Result;
use rumpsteak_examples::fft::Order;

#[allow(dead_code, reason = "its columns and their transform, and the program")]
#[path = "fft.rs"]
pub mod plain;

/// The rows of the transform, rounded.
pub async fn run() -> Result<plain::Rows> {
    plain::transform(Order::Optimised).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, plain::EXPECTED)
}
