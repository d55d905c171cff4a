//! Target folders: giving one what Cargo has already compiled in another.
//!
//! Cargo names compiled files by a hash of all their inputs and compares its fingerprints with the
//! current inputs, wherever a file was compiled.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Copies the compiled files of one target folder to another.
pub(super) fn take(from: &Path, to: &Path) {
    for part in [".fingerprint", "build", "deps"] {
        let from = from.join("debug").join(part);
        if from.is_dir() {
            link(&from, &to.join("debug").join(part));
        }
    }
}

/// Links the files of a folder into another one, unless they exist there. A file that Cargo or
/// rustc may overwrite is copied. Another Cargo may remove a file meanwhile.
fn link(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries.flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let end = path.extension().and_then(|end| end.to_str());
        let is_library = end.is_some_and(|end| ["rlib", "rmeta", "so"].contains(&end));
        let is_large = || fs::metadata(&path).is_ok_and(|file| file.len() > 100_000);
        let linked = match is_library || is_large() {
            _ if to.exists() && !path.is_dir() => Ok(()),
            _ if path.is_dir() => {
                link(&path, &to);
                Ok(())
            }
            true => fs::hard_link(&path, &to),
            false => copy(&path, &to),
        };
        match linked {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                panic!("{}: {error}", to.display())
            }
            _ => {}
        }
    }
}

/// Copies a file with its modification time.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let written = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(written)
}
