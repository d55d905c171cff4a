//! The folder of a package, paths as rustc shows them, and files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use path_clean::clean;

/// The package's folder, and the folder that shown paths are relative to.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackageRoot {
    pub(crate) folder: PathBuf,
    pub(crate) workspace: PathBuf,
}

impl PackageRoot {
    /// The root of the package in `folder`. rustc shows paths relative to the workspace.
    pub(crate) fn new(folder: &Path) -> Self {
        let folder = clean(folder);
        let declares_workspace = |ancestor: &&Path| {
            let manifest = read(&ancestor.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.lines().any(|line| line.starts_with("[workspace")))
        };
        let workspace = folder.ancestors().find(declares_workspace);
        Self { workspace: workspace.unwrap_or(&folder).to_owned(), folder }
    }

    /// Resolves a path that the user wrote, relative to the package's folder.
    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        clean(self.folder.join(path))
    }

    /// A path relative to the package's folder: the same on every machine.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        let path = clean(path);
        let shared = path.components().zip(self.folder.components());
        let shared = shared.take_while(|(left, right)| left == right).count();
        // Two drives have no common root.
        if shared == 0 {
            return path;
        }
        let up = self.folder.components().skip(shared).map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
        // The folder itself is `.`.
        clean(relative)
    }

    /// A path as shown to the user: relative to the workspace if it is inside, with `/`.
    pub(crate) fn show(&self, path: &Path) -> String {
        let path = clean(path);
        let shown = path.strip_prefix(&self.workspace).unwrap_or(&path);
        let parts: Vec<_> = shown.iter().map(|part| part.to_string_lossy()).collect();
        let text = parts.join("/");
        // The root of the file system is a component.
        text.strip_prefix("//").map_or(text.clone(), |rest| format!("/{rest}"))
    }
}

/// The entries of a folder that are wanted, sorted.
pub(crate) fn entries(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| is_wanted(path));
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths
}

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
