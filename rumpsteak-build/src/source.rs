//! Finds the modules with `#[protocol]` or `#[closed_system]` in the Rust files of a package.
//!
//! Looks at all `.rs` files below the package's folder, except build output and other packages.
//! Targets and `cfg` do not matter: an unused verdict does no harm, and a macro that finds no
//! verdict verifies its module itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use rumpsteak_front::cut;
use rumpsteak_front::module::ModuleKind;

use crate::package_root;

pub(crate) struct RustFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The kind of each module, the arguments of its attribute, and its tokens.
    pub(crate) modules: Vec<(ModuleKind, TokenStream, TokenStream)>,
}

#[derive(Default)]
pub(crate) struct Source {
    /// The files that mention a protocol or a session.
    pub(crate) files: Vec<RustFile>,
    /// The entries of the package's folder that contain Rust files.
    pub(crate) watched: BTreeSet<PathBuf>,
    /// The other such files, which do not lex: the path, and the line from 1.
    pub(crate) unreadable: Vec<(PathBuf, usize)>,
    /// True if a file may give `rumpsteak` or `protocol` another meaning, perhaps in another file.
    pub(crate) is_unclear: bool,
    /// The modules that are meant for a protocol, and that no macro sees: the path, the line, the
    /// protocol or a name like it, and the path of a wrong attribute, or "".
    pub(crate) lost: Vec<(PathBuf, usize, String, String)>,
}

impl Source {
    pub(crate) fn read(folder: &Path) -> Self {
        let mut source = Self::default();
        for entry in entries(folder) {
            let mut pending = vec![entry.clone()];
            while let Some(path) = pending.pop() {
                if path.is_dir() {
                    if !["Cargo.toml", "CACHEDIR.TAG"].iter().any(|name| path.join(name).exists()) {
                        pending.extend(entries(&path));
                    }
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    source.watched.insert(entry.clone());
                    source.file(path);
                }
            }
        }
        source.lost.retain(|(.., wrong)| wrong.is_empty() || !source.is_unclear);
        source.files.sort_by(|left, right| left.path.cmp(&right.path));
        source
    }

    fn file(&mut self, path: PathBuf) {
        let Ok(text) = package_root::read(&path) else { return };
        let unclear = [" as rumpsteak", "mod rumpsteak", "include!", "macro_use"];
        self.is_unclear |= unclear.iter().any(|word| text.contains(word));
        // Most files have no protocol, and need not be lexed.
        let words = ["protocol", "closed_system", "#[session", "#[rumpsteak::"];
        let is_empty = |line: &str| line.contains("mod ") && line.ends_with("{}");
        if !words.iter().any(|word| text.contains(word)) && !text.lines().any(is_empty) {
            return;
        }
        match text.parse::<TokenStream>() {
            Ok(tokens) => {
                for (name, of, wrong) in cut::lost(tokens.clone()) {
                    self.lost.push((path.clone(), name.span().start().line, of, wrong));
                }
                self.files.push(RustFile { path, text, modules: cut::modules(tokens) });
            }
            Err(error) => self.unreadable.push((path, error.span().start().line)),
        }
    }
}

/// The visible entries of a folder, without links to folders, which may form a cycle.
fn entries(folder: &Path) -> Vec<PathBuf> {
    package_root::entries(folder, |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !(name.starts_with('.') || path.is_symlink() && path.is_dir())
    })
}
