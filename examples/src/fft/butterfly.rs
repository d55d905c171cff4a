//! The arithmetic of an exchange.

use num_complex::Complex32;

/// Makes two rows, `asked` and `own`, into `asked + w·own` and `asked − w·own`.
///
/// With the feature `simd` by the vectors that the processor at hand has, as `rustfft` does.
pub fn butterfly(asked: &mut [Complex32], own: &mut [Complex32], w: Complex32) {
    #[cfg(feature = "simd")]
    pulp::Arch::new().dispatch(simd::Butterfly { asked, own, w });
    #[cfg(not(feature = "simd"))]
    if w == Complex32::ONE {
        each(asked, own, |value| value);
    } else {
        each(asked, own, |value| value * w);
    }
}

/// The butterfly, value by value.
#[inline(always)]
fn each(asked: &mut [Complex32], own: &mut [Complex32], turn: impl Fn(Complex32) -> Complex32) {
    for (asked, own) in asked.iter_mut().zip(own) {
        let turned = turn(*own);
        (*asked, *own) = (*asked + turned, *asked - turned);
    }
}

#[cfg(feature = "simd")]
mod simd {
    use num_complex::Complex32;
    use pulp::{Simd, WithSimd};

    /// The arguments of [`butterfly`](super::butterfly).
    pub(super) struct Butterfly<'a> {
        pub(super) asked: &'a mut [Complex32],
        pub(super) own: &'a mut [Complex32],
        pub(super) w: Complex32,
    }

    impl WithSimd for Butterfly<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self { asked, own, w } = self;
            let (asked, asked_rest) = S::as_mut_simd_c32s(asked);
            let (own, own_rest) = S::as_mut_simd_c32s(own);
            let all = simd.splat_c32s(w);
            for (asked, own) in asked.iter_mut().zip(own) {
                let turned = simd.mul_c32s(all, *own);
                (*asked, *own) = (simd.add_c32s(*asked, turned), simd.sub_c32s(*asked, turned));
            }
            super::each(asked_rest, own_rest, |value| value * w);
        }
    }
}
