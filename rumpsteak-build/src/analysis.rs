//! A package, judged: all of its modules, and what no module can say.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rumpsteak_front::Module;
use rumpsteak_front::name::snake;

use crate::codegen::machines;
use crate::findings::Findings;
use crate::manifest;
use crate::package::{self, Package, Place, RUNTIME, VERIFIED};
use crate::package_root::PackageRoot;
use crate::protocols::{DoneOnce, Protocols, ScrFile};
use crate::report::build_report::{Report, unreadable};
use crate::source::{RustFile, Source};

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
        analysis.warnings = warnings(&analysis);
        analysis
    }

    /// The modules with what was found out about each.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &(Module, Findings)> {
        self.judged.iter().flatten().flatten()
    }

    /// Leaves the verdicts on modules without a mistake for the macros.
    ///
    /// # Errors
    ///
    /// If the file system refuses.
    pub(crate) fn leave(&self, package: &Package) -> io::Result<()> {
        for (module, findings) in self.modules() {
            if module.errors.is_empty() && findings.told.is_empty() {
                let key = package::key(module, self.place(module).as_ref());
                package.leave(key, &findings.verdict)?;
            }
        }
        Ok(())
    }

    /// The files that the protocol of a module depends on.
    pub(crate) fn place(&self, module: &Module) -> Option<Place> {
        let name = module.arguments.protocol.as_ref()?;
        let position = self.protocols.position(&name.to_string())?;
        Some(Place::of(&self.protocols.files[self.protocols.protocols[position].file]))
    }

    /// True if a module names a protocol of the file.
    fn is_named(&self, file: usize) -> bool {
        let mut names = self.modules().filter_map(|(module, _)| module.arguments.protocol.as_ref());
        names.any(|name| self.protocols.declares(file, &name.to_string()))
    }

    /// The files with errors whose protocols have modules.
    pub(crate) fn broken_and_named(&self) -> impl Iterator<Item = &ScrFile> {
        let files = self.protocols.files.iter().enumerate();
        let broken = files.filter(|(_, file)| !file.diagnostics.is_empty());
        broken.filter(|(position, _)| self.is_named(*position)).map(|(_, file)| file)
    }

    /// The errors that no module can show.
    pub(crate) fn reports(&self) -> Vec<Report> {
        let files = self.protocols.files.iter().enumerate();
        let broken = files
            .filter(|(position, file)| !file.diagnostics.is_empty() && !self.is_named(*position));
        let broken = broken.map(|(_, file)| Report::of_file(file));
        unreadable(&self.protocols).chain(broken).collect()
    }

    /// The reason why rustc could not compile any module, if the manifest shows one.
    pub(crate) fn obstacle(&self) -> Option<Report> {
        let mut modules = self.modules();
        // A crate of another name, or a path to it, is rustc's to check.
        if !modules.any(|(module, _)| module.arguments.krate.is_none()) {
            return None;
        }
        if !manifest::has_edition(&self.base) {
            return Some(Report::of(
                "Cargo.toml names no edition, and edition 2015 has no `async`",
                "write `edition = \"2024\"` under `[package]`",
            ));
        }
        manifest::runtime(&self.base).is_none().then(|| {
            Report::of(
                "the package does not depend on `rumpsteak-runtime`",
                "write `rumpsteak = { package = \"rumpsteak-runtime\", version = \"0.1\" }` under `[dependencies]`",
            )
        })
    }

    /// Tells Cargo what was read, and what was not verified.
    pub(crate) fn announce(&self) {
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
        let name = manifest::runtime(&self.base).unwrap_or_else(|| "rumpsteak".to_owned());
        let _ = writeln!(text, "cargo::rustc-env={RUNTIME}={name}");
        // The macro of a module raises the errors, unless a `cfg` leaves the module out.
        let broken = self.broken_and_named().map(|file| format!("{} has errors", file.shown()));
        for warning in self.warnings.iter().cloned().chain(broken) {
            let _ = writeln!(text, "cargo::warning={warning}");
        }
        // If stdout is closed, Cargo is gone.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

/// The warnings of a package, in the order of the texts. Those of protocols without a module count
/// only if the package is right: with an error, they mostly follow from it.
fn warnings(analysis: &Analysis) -> Vec<String> {
    let protocols = &analysis.protocols;
    let is_right = analysis.judged.iter().flatten().all(|judged| {
        judged
            .as_ref()
            .is_ok_and(|(module, findings)| module.errors.is_empty() && findings.told.is_empty())
    });
    let mut warnings = Vec::new();
    let names = analysis.modules().filter_map(|(module, _)| module.arguments.protocol.as_ref());
    let named: BTreeSet<usize> =
        names.filter_map(|name| protocols.position(&name.to_string())).collect();
    for (position, protocol) in protocols.protocols.iter().enumerate() {
        let (file, name) = (protocols.files[protocol.file].shown(), protocol.name());
        // Packages may share a folder of protocols, and each has modules for some.
        let is_own = protocols.files[protocol.file].path.starts_with(analysis.base.folder());
        if is_right && is_own && !named.contains(&position) {
            warnings.push(format!(
                "{file}: no module is for the protocol `{name}`: `#[rumpsteak::protocol({name})] mod {} {{}}`",
                snake(name)
            ));
        }
        let projections = protocol.projections.iter().enumerate();
        let idle = projections.filter(|(_, of)| of.fsm.transitions().next().is_none());
        warnings.extend(idle.map(|(role, _)| {
            let role = protocol.role_at(role);
            format!(
                "{file}: the role `{role}` of `{name}` does nothing: no message is from it or to it"
            )
        }));
    }
    warnings.extend(protocols.files.iter().flat_map(ScrFile::warning_lines));
    for file in &protocols.files {
        let shown = file.shown();
        if is_right {
            warnings.extend(file.done_once().iter().map(|DoneOnce { variable, line, .. }| {
                format!("{shown}:{line}: `rec {variable}` is done once: write `continue {variable};` where it begins again")
            }));
        }
    }
    for (path, line) in &analysis.source.unreadable {
        let shown = analysis.base.show(path);
        warnings.push(format!("{shown}:{line}: not read, since it is not Rust"));
    }
    let is_named = |protocol: usize| named.contains(&protocol);
    warnings.extend(machines::unused(protocols, &analysis.base, &is_named));
    warnings.extend(analysis.modules().flat_map(|(_, findings)| findings.warnings.iter().cloned()));
    warnings.sort();
    warnings.dedup();
    warnings
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_protocol_of_the_packages_own_needs_a_module_and_a_shared_one_does_not() {
        const PROTOCOL: &str = "global protocol P(role a, role b) { x() from a to b; }\n";
        let folder = std::env::temp_dir().join(format!("rumpsteak-{}", std::process::id()));
        for path in ["own/protocols", "shared"] {
            fs::create_dir_all(folder.join(path)).unwrap();
            fs::write(folder.join(path).join("p.scr"), PROTOCOL).unwrap();
        }
        let warnings = |path: &str| {
            let own = folder.join("own");
            Analysis::new(&Package::new(&own, &folder, vec![path.into()])).warnings.len()
        };
        assert_eq!((warnings("protocols"), warnings("../shared")), (1, 0));
        fs::remove_dir_all(folder).unwrap();
    }
}
