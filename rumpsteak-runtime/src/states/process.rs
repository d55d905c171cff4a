//! What a process is.

use std::convert::Infallible;

/// What a process gives: a future.
///
/// It has two answers, of which the second never holds, so that rustc looks whether the first one
/// does before it goes on with it: a process that is not `async` has one error then.
#[diagnostic::on_unimplemented(
    message = "the process is not `async`: it returns `{Self}`",
    label = "write `async |session: …| {{ … }}`"
)]
pub trait Process<A>: Future {
    /// This future.
    type Itself: Future<Output = Self::Output>;

    #[doc(hidden)]
    fn itself(self) -> Self::Itself;
}

#[diagnostic::do_not_recommend]
impl<F: Future> Process<Infallible> for F {
    type Itself = F;

    fn itself(self) -> F {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future + Process<((), F)>> Process<()> for F {
    type Itself = F;

    fn itself(self) -> F {
        self
    }
}
