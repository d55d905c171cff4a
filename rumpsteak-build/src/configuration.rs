//! What a build script asks for, and its run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs};

use rumpsteak_front::Module;

use crate::findings::Findings;
use crate::package::{Package, Place, RUNTIME, VERIFIED};
use crate::package_root::PackageRoot;
use crate::protocols::Protocols;
use crate::report::build_report::{Report, unreadable};
use crate::source::{RustFile, Source};
use crate::verdict;
use crate::warnings;

/// True once this process has called [`Configuration::verify`].
static CALLED: AtomicBool = AtomicBool::new(false);

/// What to verify. Made by [`configure`](crate::configure).
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is verified until `verify` is called"]
pub struct Configuration {
    pub(crate) protocols: Vec<PathBuf>,
}

/// What was verified.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of protocols.
    pub protocols: usize,
    /// The number of sessions with a role, `#[session(K)]`, written or generated, in all modules.
    pub sessions: usize,
    /// The number of those that hold. The others are errors that rustc will show.
    pub verified: usize,
}

/// The modules of a package with what was found out about each.
pub(crate) struct Analysis {
    pub(crate) base: PackageRoot,
    pub(crate) protocols: Protocols,
    pub(crate) source: Source,
    /// The modules of each file of the source.
    pub(crate) judged: Vec<Vec<Result<(Module, Findings), syn::Error>>>,
    pub(crate) summary: Summary,
    pub(crate) warnings: Vec<String>,
}

impl Configuration {
    /// Adds a `.scr` file, or a folder with such files in it or below it. Relative to the package.
    pub fn protocols(mut self, path: impl Into<PathBuf>) -> Self {
        self.protocols.push(path.into());
        self
    }

    /// Verifies the package whose build script this is.
    ///
    /// Errors with a place in the Rust source are not returned: the macros raise them there.
    ///
    /// # Errors
    ///
    /// Errors in protocol files that no module names; a package or a folder of protocols that cannot
    /// be read; a caller that is no build script; a second call.
    pub fn verify(self) -> Result<Summary, Report> {
        let folder = variable("CARGO_MANIFEST_DIR")?;
        let out_dir = variable("OUT_DIR")?;
        // This call would replace what the first one has left for the macros.
        if CALLED.swap(true, Ordering::Relaxed) {
            return Err(Report::of(
                "`verify` is called a second time, and only one call counts",
                "name all folders in one call: `configure().protocols(…).protocols(…).verify()`",
            ));
        }
        let package = Package::new(&folder, &out_dir, self.protocols);
        let unwritable = |error: std::io::Error| {
            let message = format!("cannot write to {}: {error}", out_dir.display());
            Report::of(&message, "check the permissions and the space left")
        };
        package.begin().map_err(unwritable)?;
        let analysis = Analysis::new(&package);
        package.list(&analysis.protocols).map_err(unwritable)?;
        for (module, findings) in analysis.judged.iter().flatten().flatten() {
            if module.errors.is_empty() && findings.told.is_empty() {
                let place = analysis.place(module);
                let key = verdict::key(module, place.as_ref());
                package.leave(key, &findings.verdict).map_err(unwritable)?;
            }
        }
        analysis.announce();
        Report::join(analysis.reports()).map_or_else(|| Ok(analysis.summary), Err)
    }
}

impl Analysis {
    /// Judges all modules of a package.
    pub(crate) fn new(package: &Package) -> Self {
        let protocols = Protocols::load(&package.base, &package.paths, package.limits);
        let source = Source::read(package.base.folder());
        let mut summary = Summary { protocols: protocols.protocols.len(), ..Summary::default() };
        let judge = |file: &RustFile| {
            let modules = file.modules.iter().map(|(kind, arguments, item)| {
                let module = Module::parse(*kind, arguments.clone(), item.clone())?;
                // Its own limits may have it read its protocol differently.
                let findings = match module.arguments.limits.is_empty() {
                    true => Findings::of(&module, &protocols, &package.base),
                    false => package.judge(&module, None),
                };
                Ok((module, findings))
            });
            modules.collect()
        };
        let judged: Vec<Vec<_>> = source.files.iter().map(judge).collect();
        for (_, findings) in judged.iter().flatten().flatten() {
            let roots = &findings.verdict.roots;
            summary.sessions += roots.len();
            summary.verified += roots.values().filter(|root| root.passed).count();
        }
        let base = package.base.clone();
        let mut analysis = Self { base, protocols, source, judged, summary, warnings: Vec::new() };
        analysis.warnings = warnings::of_package(&analysis);
        analysis
    }

    /// The modules with what was found out about each.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &(Module, Findings)> {
        self.judged.iter().flatten().flatten()
    }

    /// The files that the protocol of a module depends on.
    fn place(&self, module: &Module) -> Option<Place> {
        let name = module.arguments.protocol.as_ref()?;
        let position = self.protocols.find(&name.to_string()).ok()?;
        Some(Place::of(&self.protocols.files[self.protocols.protocols[position].file]))
    }

    /// True if a module names a protocol of the file.
    pub(crate) fn is_named(&self, file: usize) -> bool {
        let mut names = self.modules().filter_map(|(module, _)| module.arguments.protocol.as_ref());
        names.any(|name| self.protocols.declares(file, &name.to_string()))
    }

    /// The errors that no module can show.
    pub(crate) fn reports(&self) -> Vec<Report> {
        let files = self.protocols.files.iter().enumerate();
        let broken = files
            .filter(|(position, file)| !file.diagnostics.is_empty() && !self.is_named(*position));
        let broken = broken.map(|(_, file)| Report::of_file(file));
        unreadable(&self.protocols).chain(broken).collect()
    }

    /// Tells Cargo what was read, and what was not verified.
    fn announce(&self) {
        let mut watched: BTreeSet<&Path> = BTreeSet::new();
        watched.extend(self.source.watched.iter().map(PathBuf::as_path));
        watched.extend(self.protocols.looked_at.iter().map(PathBuf::as_path));
        let folders = self.protocols.files.iter().filter_map(|file| file.path.parent());
        watched.extend(folders);
        let mut text = String::new();
        // Writing to a string does not fail.
        for path in &watched {
            // Cargo watches a folder with all that is below it.
            let is_below = |ancestor: &Path| watched.contains(ancestor);
            if path.exists() && !path.ancestors().skip(1).any(is_below) {
                let shown = self.base.relative(path);
                let _ = writeln!(text, "cargo::rerun-if-changed={}", shown.display());
            }
        }
        let _ = writeln!(text, "cargo::rustc-env={VERIFIED}={}", env!("CARGO_PKG_VERSION"));
        let name = runtime(&self.base.join("Cargo.toml"));
        let _ = writeln!(text, "cargo::rustc-env={RUNTIME}={name}");
        for warning in &self.warnings {
            let _ = writeln!(text, "cargo::warning={warning}");
        }
        // If stdout is closed, Cargo is gone.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

/// The name of the runtime's crate in a manifest: a key with `package = "rumpsteak-runtime"`, or
/// the package's own name. By default, `rumpsteak`.
fn runtime(manifest: &Path) -> String {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let key = |line: &str| {
        let (key, _) = line.split_once(['=', '.'])?;
        Some(key.trim().trim_matches('"').replace('-', "_"))
    };
    let renamed = text.lines().find(|line| {
        line.contains("package") && line.contains("\"rumpsteak-runtime\"") && !line.starts_with('#')
    });
    let plain = text.lines().find(|line| line.trim_start().starts_with("rumpsteak-runtime"));
    let table = text.lines().any(|line| line.contains("dependencies.rumpsteak-runtime]"));
    match (renamed.and_then(key), plain.is_some() || table) {
        (Some(key), _) if key != "package" => key,
        (_, true) => "rumpsteak_runtime".to_owned(),
        _ => "rumpsteak".to_owned(),
    }
}

/// A folder that Cargo names to build scripts.
fn variable(name: &str) -> Result<PathBuf, Report> {
    env::var_os(name).map(PathBuf::from).ok_or_else(|| {
        Report::of(
            &format!("`{name}` is not set: this was not called from a build script"),
            "call it in `main` of build.rs; elsewhere, `cargo rumpsteak check` verifies a package",
        )
    })
}
