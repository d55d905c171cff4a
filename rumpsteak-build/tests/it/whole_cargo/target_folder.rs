//! Target folders: what Cargo has compiled in one, another one may have from the beginning.
//!
//! A unit is a crate, a program or a run of a build script, with all that decides what it is in
//! 16 digits: its files are named after both. Cargo compares what it remembers of a unit with what
//! it is to be, wherever that was compiled.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folders that have one for each unit.
pub(super) const UNITS: [&str; 2] = [".fingerprint", "build"];

/// A target folder, of which `debug` is of interest.
pub(super) struct TargetFolder(pub(super) PathBuf);

impl TargetFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Takes in all units of another one. What Cargo or rustc may write over, rather than anew, is
    /// copied.
    pub(super) fn take(&self, from: &Self) {
        self.link(from, true);
    }

    /// The same, with copies or, if Cargo will compile none of the units again here, without.
    pub(super) fn link(&self, from: &Self, is_copied: bool) {
        for part in UNITS.iter().chain(&["deps"]) {
            let from = from.0.join("debug").join(part);
            if from.is_dir() {
                link(&from, &self.0.join("debug").join(part), is_copied);
            }
        }
    }
}

/// Links all files of a folder into another one, or copies small ones, but for those that are
/// there. Another Cargo may take a file away meanwhile.
fn link(from: &Path, to: &Path, is_copied: bool) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries.flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let is_program = |path: &Path| {
            let end = path.extension().and_then(|end| end.to_str());
            end.is_some_and(|end| ["rlib", "rmeta", "so"].contains(&end))
                || fs::metadata(path).is_ok_and(|file| file.len() > 100_000)
        };
        if path.is_dir() {
            link(&path, &to, is_copied);
            continue;
        }
        let linked = match !is_copied || is_program(&path) {
            _ if to.exists() => Ok(()),
            true => fs::hard_link(&path, &to),
            false => fs::copy(&path, &to).map(|_| set_modified(&to, modified(&path))),
        };
        match linked {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                panic!("{}: {error}", to.display())
            }
            _ => {}
        }
    }
}

/// When a file was written.
pub(super) fn modified(file: &Path) -> SystemTime {
    let time = fs::metadata(file).and_then(|file| file.modified());
    time.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Has a file be as if it was written at a time.
pub(super) fn set_modified(file: &Path, time: SystemTime) {
    let set = fs::File::options().write(true).open(file).and_then(|file| file.set_modified(time));
    set.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}
