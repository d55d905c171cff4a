//! The units of a target folder that are one package's, and those that Cargo has named.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::target_folder::{TargetFolder, UNITS};

impl TargetFolder {
    pub(super) fn clear(&self) {
        let _ = fs::remove_dir_all(&self.0);
    }

    /// Takes in all units of another one, none of which Cargo will compile again here.
    pub(super) fn share(&self, from: &Self) {
        self.link(from, false);
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

fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
