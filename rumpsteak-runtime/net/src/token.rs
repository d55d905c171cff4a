//! Tokens.

use std::io;

/// An unpredictable number: 128 bits of the operating system's generator.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}
