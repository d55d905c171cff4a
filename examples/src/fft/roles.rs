//! The processes as roles, what they send, and the factors of their butterflies.

use num_complex::Complex32;
use rumpsteak_runtime::{Channel, Message, Role, Roles};

/// What each process holds and sends: one row of the matrix, a value of each column.
pub type Row = Vec<Complex32>;

/// All processes. Wired by `Roles::default()`; after an error all of them are poisoned until
/// `reset`.
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
