//! What the processes over the peers compute.

use std::f32::consts::PI;

pub(crate) use rumpsteak_examples::fft::butterfly;
use rustfft::num_complex::Complex32;

/// e to the power of −πi · `eighths` / `half`.
pub(super) fn turn(eighths: usize, half: usize) -> Complex32 {
    Complex32::from_polar(1.0, -PI * eighths as f32 / half as f32)
}

/// What the process of this number multiplies its row with in a stage, if it answers: its number
/// has the bit of the stage.
pub(crate) fn factor(process: usize, stage: u32) -> Complex32 {
    let half = 1 << stage;
    turn(process % half, half)
}
