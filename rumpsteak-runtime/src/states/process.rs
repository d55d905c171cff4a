//! Processes.

use std::convert::Infallible;

/// The future of a process.
///
/// It has a second implementation, which never applies. Without it, rustc would assume the first one
/// and report two errors for a process that is not `async`.
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
