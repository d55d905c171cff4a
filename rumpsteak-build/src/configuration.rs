//! The entry point of a build script.

use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::analysis::{Analysis, Summary};
use crate::package::Package;
use crate::report::notice::Report;

/// True once this process has called [`Configuration::verify`].
static CALLED: AtomicBool = AtomicBool::new(false);

/// The configuration of a build script. Made by [`configure`](crate::configure).
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is verified until `verify` is called"]
pub struct Configuration {
    /// The paths of the protocols, for `cargo rumpsteak`.
    #[doc(hidden)]
    pub protocols: Vec<PathBuf>,
}

impl Configuration {
    /// Adds a `.scr` file, or a folder with such files in it or below it. Relative to the package.
    pub fn protocols(mut self, path: impl Into<PathBuf>) -> Self {
        self.protocols.push(path.into());
        self
    }

    /// Verifies the package whose build script this is.
    ///
    /// Errors that a macro can raise are not returned: it raises them at the token.
    ///
    /// # Errors
    ///
    /// Errors in protocol files that no module names; a module that lacks its attribute; what
    /// cannot be read; a caller other than a build script; a second call.
    pub fn verify(self) -> Result<Summary, Report> {
        let folder = variable("CARGO_MANIFEST_DIR")?;
        let out_dir = variable("OUT_DIR")?;
        // A second call would overwrite the verdicts of the first one.
        if CALLED.swap(true, Ordering::Relaxed) {
            return Err(Report::of(
                "`verify` is called a second time, and only one call counts",
                "name all folders in one call: `configure().protocols(…).protocols(…).verify()`",
            ));
        }
        let package = Package::new(&folder, &out_dir, self.protocols);
        let unwritable = |error: std::io::Error| {
            let message = format!("cannot write to {}: {error}", out_dir.display());
            Report::of(&message, "check the permissions and the free space")
        };
        package.begin().map_err(unwritable)?;
        let analysis = Analysis::new(&package);
        package.list(&analysis.protocols).map_err(unwritable)?;
        analysis.store(&package).map_err(unwritable)?;
        analysis.announce();
        let reports = analysis.obstacle().into_iter().chain(analysis.reports());
        Report::join(reports.collect()).map_or_else(|| Ok(analysis.summary), Err)
    }
}

fn variable(name: &str) -> Result<PathBuf, Report> {
    env::var_os(name).map(PathBuf::from).ok_or_else(|| {
        Report::of(
            &format!("`{name}` is not set: this was not called from a build script"),
            "call it in `main` of build.rs; elsewhere, `cargo rumpsteak check` verifies a package",
        )
    })
}
