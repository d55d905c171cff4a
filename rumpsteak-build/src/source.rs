//! The modules of protocols in the Rust files of a package.
//!
//! All `.rs` files below the package's folder are looked at, but for those of other packages and of
//! builds. Neither targets nor `cfg` matter: a module that is not compiled has a verdict that no
//! macro asks for, and the macro of a module in a file elsewhere finds none and judges the module
//! itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use rumpsteak_front::cut;
use rumpsteak_front::module::ModuleKind;

use crate::text_file;

/// A Rust file with modules of protocols.
#[derive(Debug)]
pub(crate) struct RustFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Each module: its kind, the arguments of the attribute, and the tokens of the module.
    pub(crate) modules: Vec<(ModuleKind, TokenStream, TokenStream)>,
}

/// The Rust files of a package.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The files with modules of protocols.
    pub(crate) files: Vec<RustFile>,
    /// The files and folders in the package's folder that hold Rust files.
    pub(crate) watched: BTreeSet<PathBuf>,
    /// The files that mention a protocol and are no Rust: the path, and the line from 1.
    pub(crate) unreadable: Vec<(PathBuf, usize)>,
}

impl Source {
    /// Reads the package in a folder.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut source = Self::default();
        for entry in entries(folder) {
            let mut pending = vec![entry.clone()];
            while let Some(path) = pending.pop() {
                if path.is_dir() {
                    let is_other = ["Cargo.toml", "CACHEDIR.TAG"];
                    if !is_other.iter().any(|name| path.join(name).exists()) {
                        pending.extend(entries(&path));
                    }
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    source.watched.insert(entry.clone());
                    source.file(path);
                }
            }
        }
        source.files.sort_by(|left, right| left.path.cmp(&right.path));
        source
    }

    fn file(&mut self, path: PathBuf) {
        let Ok(text) = text_file::read(&path) else { return };
        // Most files have no protocol, and need not be lexed.
        if !text.contains("protocol") && !text.contains("closed_system") {
            return;
        }
        match text.parse::<TokenStream>() {
            Ok(tokens) => {
                let modules = cut::modules(tokens);
                if !modules.is_empty() {
                    self.files.push(RustFile { path, text, modules });
                }
            }
            Err(error) => self.unreadable.push((path, error.span().start().line)),
        }
    }
}

/// The entries of a folder that are not hidden, sorted. A symbolic link to a folder is left out: it
/// may lead back.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let kept = entries.filter(|entry| {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let is_link = entry.file_type().is_ok_and(|ty| ty.is_symlink()) && entry.path().is_dir();
        !is_hidden && !is_link
    });
    let mut paths: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
