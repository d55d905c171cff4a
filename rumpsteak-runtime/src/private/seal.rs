//! What keeps a public trait to the macros.

/// A trait that asks for one of these is implemented by macros only.
#[derive(Debug)]
pub struct ByMacro;
