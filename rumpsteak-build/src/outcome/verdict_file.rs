//! Writing the verdict file, and the generated code.

use std::io::{self, Write as _};
use std::path::Path;

use rumpsteak_contract::verdict::{FOLDER, PATH, VARIABLE, Verdicts, stamp};

/// Writes the verdicts below `out_dir`, and the generated files before them. Tells rustc, through
/// Cargo, that they are of this run of the build script, and of the package in `folder`.
///
/// # Errors
///
/// If the file system refuses.
pub(crate) fn write<'a>(
    folder: &Path,
    out_dir: &Path,
    verdicts: &Verdicts,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<()> {
    for (file, text) in files {
        write_file(&out_dir.join(file), text)?;
    }
    let text = verdicts.print(env!("CARGO_PKG_VERSION"));
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo::rustc-env={VARIABLE}={}", stamp(&text))?;
    writeln!(cargo, "cargo::rustc-env={FOLDER}={}", folder.display())?;
    write_file(&out_dir.join(PATH), &text)
}

/// Writes a file, unless it is there already: an unchanged file keeps its time.
pub(crate) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    replace(path, text)
}

/// Writes a file beside its place and moves it there, so that a build that is interrupted leaves
/// the old one or the new one, and nothing in between.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)?;
    std::fs::rename(beside, path)
}
