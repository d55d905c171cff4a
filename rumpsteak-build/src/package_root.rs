//! How paths are shown: as rustc shows those of the same package.

use std::path::{Component, Path, PathBuf};

use path_clean::clean;

use crate::text_file;

/// The package's folder, and the folder that shown paths start from.
#[derive(Clone, Debug)]
pub(crate) struct PackageRoot {
    folder: PathBuf,
    workspace: PathBuf,
}

impl PackageRoot {
    /// The root of the package in `folder`. rustc runs in the root of the workspace, so its paths
    /// start there.
    pub(crate) fn new(folder: &Path) -> Self {
        let folder = clean(folder);
        let declares_workspace = |ancestor: &&Path| {
            let manifest = text_file::read(&ancestor.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.lines().any(|line| line.starts_with("[workspace")))
        };
        let workspace = folder.ancestors().find(declares_workspace);
        Self { workspace: workspace.unwrap_or(&folder).to_owned(), folder }
    }

    /// The package's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The root of the workspace.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// A path that the user gave, from the package's folder on.
    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        clean(self.folder.join(path))
    }

    /// A path as seen from the package's folder, with `..` where it is outside: the same on every
    /// machine.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        let path = clean(path);
        let shared = path.components().zip(self.folder.components());
        let shared = shared.take_while(|(left, right)| left == right).count();
        // Without a common root, as between two drives, only the whole path says where.
        if shared == 0 {
            return path;
        }
        let up = self.folder.components().skip(shared);
        let up = up.map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
        // The folder itself is `.`.
        clean(relative)
    }

    /// A path as the user should see it: below the root of the workspace if it is there, with `/`.
    pub(crate) fn show(&self, path: &Path) -> String {
        let path = clean(path);
        let shown = path.strip_prefix(&self.workspace).unwrap_or(&path);
        let parts: Vec<_> = shown.iter().map(|part| part.to_string_lossy()).collect();
        let text = parts.join("/");
        // The root of the file system is a part of its own.
        text.strip_prefix("//").map_or(text.clone(), |rest| format!("/{rest}"))
    }
}
