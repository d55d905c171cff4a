//! Target folders: what Cargo has compiled in one, another one may have from the beginning.
//!
//! A unit is a crate, a program or a run of a build script, with all that decides what it is in
//! 16 digits: its files are named after both. Cargo compares what it remembers of a unit with what
//! it is to be, wherever that was compiled.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folders that have one for each unit.
const UNITS: [&str; 2] = [".fingerprint", "build"];

/// A target folder, of which `debug` is of interest.
pub(super) struct TargetFolder(PathBuf);

impl TargetFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn clear(&self) {
        let _ = fs::remove_dir_all(&self.0);
    }

    /// Takes in all units of another one. What Cargo or rustc may write over, rather than anew, is
    /// copied.
    pub(super) fn take(&self, from: &Self) {
        self.link(from, true);
    }

    /// Takes in all units of another one, none of which Cargo will compile again here.
    pub(super) fn share(&self, from: &Self) {
        self.link(from, false);
    }

    fn link(&self, from: &Self, is_copied: bool) {
        for part in UNITS.iter().chain(&["deps"]) {
            let from = from.0.join("debug").join(part);
            if from.is_dir() {
                link(&from, &self.0.join("debug").join(part), is_copied);
            }
        }
    }

    /// Moves the program that a package's build script is to another one, and removes all else that
    /// is of the package.
    pub(super) fn move_script(&self, package: &str, to: &Self) {
        let is_script = |folder: &Path| {
            let names = ["build-script-build", "build-script-build-script-build"];
            names.iter().any(|name| folder.join(name).exists())
        };
        for (part, folder) in self.units() {
            let Some((name, _)) = unit(&folder) else { continue };
            if name == package && is_script(&folder) {
                let above = to.0.join("debug").join(part);
                let to = above.join(folder.file_name().unwrap_or_default());
                let moved = fs::create_dir_all(above).and_then(|()| fs::rename(&folder, to));
                moved.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            } else if name == package {
                remove(&folder);
            }
        }
    }

    /// Removes the units that Cargo has not named, and those of a package.
    pub(super) fn keep(&self, told: &str, package: &str) {
        let words = told.split(|c: char| !c.is_ascii_alphanumeric());
        let named: BTreeSet<&str> = words.filter(|word| is_hash(word)).collect();
        let library = format!("lib{package}");
        let files = fs::read_dir(self.0.join("debug/deps")).into_iter().flatten().flatten();
        let files = files.map(|entry| entry.path());
        let folders = self.units().into_iter().map(|(_, folder)| folder);
        for path in files.chain(folders) {
            let is_kept = unit(&path).is_some_and(|(name, hash)| {
                named.contains(&*hash) && name != package && name != library
            });
            if !is_kept {
                remove(&path);
            }
        }
    }

    /// The folders of units, each with the one that it is in.
    fn units(&self) -> Vec<(&'static str, PathBuf)> {
        let parts = UNITS.into_iter().flat_map(|part| {
            let entries = fs::read_dir(self.0.join("debug").join(part));
            entries.into_iter().flatten().flatten().map(move |entry| (part, entry.path()))
        });
        parts.collect()
    }
}

/// The name and the digits of a unit that a file or a folder is of.
fn unit(path: &Path) -> Option<(String, String)> {
    let name = path.file_name()?.to_str()?;
    let (name, hash) = name.split('.').next()?.rsplit_once('-')?;
    is_hash(hash).then(|| (name.to_owned(), hash.to_owned()))
}

fn is_hash(word: &str) -> bool {
    word.len() == 16 && word.bytes().all(|digit| digit.is_ascii_hexdigit())
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

fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
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
