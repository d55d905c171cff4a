//! Writing the verdict file, and the generated code.

use std::io::{self, Write as _};
use std::path::Path;

use rumpsteak_contract::verdict::{PATH, VARIABLE, Verdicts, stamp};

/// Writes the verdicts below `out_dir`, and the generated files before them. Tells rustc, through
/// Cargo, that they are of this run of the build script.
///
/// # Errors
///
/// If the file system refuses.
pub(crate) fn write<'a>(
    out_dir: &Path,
    verdicts: &Verdicts,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<()> {
    for (file, text) in files {
        write_file(&out_dir.join(file), text)?;
    }
    let text = verdicts.print(env!("CARGO_PKG_VERSION"));
    writeln!(io::stdout(), "cargo::rustc-env={VARIABLE}={}", stamp(&text))?;
    write_file(&out_dir.join(PATH), &text)
}

/// Writes a file, unless it is there already: an unchanged file keeps its time.
///
/// The file is written beside its place and moved there, so that a build that is interrupted leaves
/// the old one or the new one, and nothing in between.
pub(crate) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)?;
    std::fs::rename(beside, path)
}
