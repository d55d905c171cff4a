//! The arithmetic of the processes over the peers.

use std::f32::consts::PI;

pub(crate) use rumpsteak_examples::fft::butterfly;
use rustfft::num_complex::Complex32;

/// e to the power of −πi · `eighths` / `half`.
pub(super) fn turn(eighths: usize, half: usize) -> Complex32 {
    Complex32::from_polar(1.0, -PI * eighths as f32 / half as f32)
}

/// The factor of the row of the process with this number in a stage, if the process answers: then
/// its number has the bit of the stage.
pub(crate) fn factor(process: usize, stage: u32) -> Complex32 {
    let half = 1 << stage;
    turn(process % half, half)
}
