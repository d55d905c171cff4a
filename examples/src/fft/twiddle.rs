//! The factors of the butterflies.

use num_complex::Complex32;

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

impl Twiddle {
    pub(crate) fn factor(self) -> Complex32 {
        match self {
            Self::One => Complex32::ONE,
            Self::Eighth => eighth(Complex32::ONE),
            Self::Quarter => quarter(Complex32::ONE),
            Self::ThreeEighths => quarter(eighth(Complex32::ONE)),
        }
    }
}

/// x · (1 − i)/√2.
#[inline(always)]
pub(crate) fn eighth(x: Complex32) -> Complex32 {
    use std::f32::consts::FRAC_1_SQRT_2;
    Complex32::new((x.re + x.im) * FRAC_1_SQRT_2, (x.im - x.re) * FRAC_1_SQRT_2)
}

/// x · (−i).
#[inline(always)]
pub(crate) fn quarter(x: Complex32) -> Complex32 {
    Complex32::new(x.im, -x.re)
}
