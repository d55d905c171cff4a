//! How paths are shown: as rustc shows those of the same package.

use std::path::{Component, Path, PathBuf};

use crate::source::crate_tree::normalise;

/// The package's folder, and the folder that shown paths start from.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    folder: PathBuf,
    root: PathBuf,
}

impl Base {
    /// The base of the package in `folder`: rustc runs in the root of the workspace, so its paths start there.
    pub(crate) fn new(folder: &Path) -> Self {
        let folder = normalise(folder);
        let declares_workspace = |ancestor: &&Path| {
            let manifest = std::fs::read_to_string(ancestor.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.lines().any(|line| line.starts_with("[workspace")))
        };
        let root = folder
            .ancestors()
            .find(declares_workspace)
            .unwrap_or(&folder)
            .to_owned();
        Self { folder, root }
    }

    /// A path that the user gave, from the package's folder on.
    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        normalise(&self.folder.join(path))
    }

    /// A path as seen from the package's folder, with `..` where it is outside: the same on every machine.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        let path = normalise(path);
        let shared = path.components().zip(self.folder.components());
        let shared = shared.take_while(|(left, right)| left == right).count();
        // Without a common root, as between two drives, only the whole path says where.
        if shared == 0 {
            return path;
        }
        let up = self
            .folder
            .components()
            .skip(shared)
            .map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
        if relative.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            relative
        }
    }

    /// A path as the user should see it: below the root of the workspace if it is there, with `/`.
    pub(crate) fn show(&self, path: &Path) -> String {
        let path = normalise(path);
        let shown = path.strip_prefix(&self.root).unwrap_or(&path);
        let parts: Vec<_> = shown.iter().map(|part| part.to_string_lossy()).collect();
        let text = parts.join("/");
        // The root of the file system is a part of its own.
        text.strip_prefix("//")
            .map_or(text.clone(), |rest| format!("/{rest}"))
    }
}
