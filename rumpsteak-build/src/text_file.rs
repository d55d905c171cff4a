//! Reading a file of the package.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The number of bytes that are read. rumpsteak-scribble refuses less than this: S0106.
const MOST_BYTES: u64 = 65 << 20;

/// Reads a file, or the beginning of a file that is too long to be source.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    // The limit may fall inside a character.
    if bytes.len() as u64 == MOST_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
