//! Writing the verdict file.

use std::io::{self, Write as _};
use std::path::Path;

use rumpsteak_syntax::verdict::{PATH, VARIABLE, Verdicts, stamp};

/// Writes the verdicts below `out_dir`, unless they are there already: an unchanged file keeps its time. Tells rustc,
/// through Cargo, that they are of this run of the build script.
///
/// The file is written beside its place and moved there, so that a build that is interrupted leaves the old one or the
/// new one, and nothing in between.
///
/// # Errors
///
/// If the file system refuses.
pub(crate) fn write(out_dir: &Path, verdicts: &Verdicts) -> io::Result<()> {
    let path = out_dir.join(PATH);
    let text = verdicts.print();
    writeln!(io::stdout(), "cargo::rustc-env={VARIABLE}={}", stamp(&text))?;
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)?;
    std::fs::rename(beside, path)
}
