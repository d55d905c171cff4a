//! Numbers that no one else can know.

use std::io;

/// 128 bits of the operating system's generator.
///
/// # Errors
///
/// If the operating system has none.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}
