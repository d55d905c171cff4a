//! Verifies all modules of a package, and finds the mistakes that no module can show.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use rumpsteak_front::Module;
use rumpsteak_front::name::{same, snake};

use crate::codegen::machines;
use crate::fault::Cause;
use crate::findings::Findings;
use crate::package::{self, Inputs, Package, RUNTIME, VERIFIED};
use crate::protocols::{Protocols, ScrFile};
use crate::report::notice::{Report, unreadable};
use crate::source::{RustFile, Source};
use crate::{manifest, scope};

/// The result of a build script.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of protocols.
    pub protocols: usize,
    /// The number of sessions with a role, `#[session(K)]`, written or generated, in all modules.
    pub sessions: usize,
    /// The number of verified sessions. rustc will report the others.
    pub verified: usize,
    /// The number of files that were not read, since they are not Rust.
    pub unread: usize,
}

pub(crate) struct Analysis {
    pub(crate) protocols: Protocols,
    pub(crate) source: Source,
    pub(crate) judged: Vec<Vec<Result<(Module, Findings), syn::Error>>>,
    pub(crate) summary: Summary,
    /// The protocol of each module.
    named: Vec<usize>,
}

impl Analysis {
    pub(crate) fn new(package: &Package) -> Self {
        let protocols = Protocols::load(&package.base, &package.paths, package.limits);
        let source = Source::read(&package.base.folder);
        let mut summary = Summary {
            protocols: protocols.protocols.len(),
            unread: source.unreadable.len(),
            ..Summary::default()
        };
        let judge = |file: &RustFile| {
            let modules = file.modules.iter().map(|(kind, arguments, item)| {
                let module = Module::parse(*kind, arguments.clone(), item.clone())?;
                // A protocol may be read differently within the limits of the module.
                let findings = match module.arguments.limits.is_empty() {
                    true => Findings::of(&module, &protocols),
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
        let analysis = Self { protocols, source, judged, summary, named: Vec::new() };
        let own = |of: &(Module, _)| scope::own(&of.0, &analysis.protocols)?.ok();
        Self { named: analysis.modules().filter_map(own).collect(), ..analysis }
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = &(Module, Findings)> {
        self.judged.iter().flatten().flatten()
    }

    /// Stores the verdicts on modules without a mistake for the macros.
    pub(crate) fn store(&self, package: &Package) -> io::Result<()> {
        let judged = self
            .modules()
            .filter(|(module, findings)| module.errors.is_empty() && findings.told.is_empty());
        package.store(judged.map(|(module, findings)| {
            let own = scope::own(module, &self.protocols).and_then(Result::ok);
            let file = |own: usize| &self.protocols.files[self.protocols.protocols[own].file];
            (package::key(module, own.map(|own| Inputs::of(file(own))).as_ref()), &findings.verdict)
        }))
    }

    /// True if the file has the protocol that a module names, even if it does not parse.
    pub(crate) fn is_of(&self, module: &Module, file: usize) -> bool {
        let Some(name) = &module.arguments.protocol else { return false };
        let name = &name.to_string();
        let found = scope::protocol(&self.protocols, name);
        matches!(found, Err(Cause::BrokenFile { file: own }) if own == file)
            || self.protocols.declared().any(|(own, it)| own == file && same(it, name))
    }

    /// The files with errors, those whose protocols have modules or the others.
    pub(crate) fn broken(&self, is_named: bool) -> impl Iterator<Item = &ScrFile> {
        let files = self.protocols.files.iter().enumerate();
        let broken = files.filter(|(_, file)| !file.module.diagnostics.is_empty());
        let has_module = |file| self.modules().any(|(module, _)| self.is_of(module, file));
        broken.filter(move |(at, _)| has_module(*at) == is_named).map(|(_, file)| file)
    }

    /// The errors that no module can show.
    pub(crate) fn reports(&self) -> Vec<Report> {
        let bare = self.without_module().filter_map(|(file, name, lost)| {
            let message = format!("the module for `{name}` of {file} lacks its attribute");
            let help = match lost? {
                (at, "") => format!("write `#[rumpsteak::protocol({name})]` above it, in {at}"),
                (at, wrong) => {
                    format!("write `rumpsteak::protocol` in place of `{wrong}`, above {at}")
                }
            };
            Some(Report::of(&message, &help))
        });
        let broken = self.broken(false).map(Report::of_file);
        unreadable(&self.protocols).chain(broken).chain(bare).collect()
    }

    /// A mistake in the manifest because of which no module compiles.
    pub(crate) fn obstacle(&self) -> Option<Report> {
        // rustc checks a crate that the attribute names.
        self.modules().find(|(module, _)| module.arguments.krate.is_none())?;
        let manifest = manifest::read(&self.protocols.base.folder);
        if !manifest.lines().any(|line| line.trim_start().starts_with("edition")) {
            return Some(Report::of(
                "Cargo.toml names no edition, and edition 2015 has no `async`",
                "write `edition = \"2024\"` under `[package]`",
            ));
        }
        let says = |it: &RustFile| !it.modules.is_empty() && it.text.contains("#[rumpsteak::");
        let says = !self.source.is_unclear && self.source.files.iter().any(says);
        let message = match manifest::runtime(&self.protocols.base) {
            None => "the package does not depend on `rumpsteak-runtime`".to_owned(),
            Some(name) if name != "rumpsteak" && says => format!(
                "the source says `#[rumpsteak::…]`, and Cargo.toml calls the runtime `{name}`"
            ),
            Some(_) => return None,
        };
        let help = "write `rumpsteak = { package = \"rumpsteak-runtime\", version = \"0.1\" }` under `[dependencies]`, \
                 or `path` in the place of `version`; the package `rumpsteak` is another one";
        Some(Report::of(&message, help))
    }

    /// Prints the files to watch, the variables and the warnings for Cargo.
    pub(crate) fn announce(&self) {
        let base = &self.protocols.base;
        // The name of the runtime is in them.
        let manifests = [&base.folder, &base.workspace].map(|folder| folder.join("Cargo.toml"));
        let mut watched = self.source.watched.clone();
        let folders = self.protocols.machines.keys();
        watched.extend(self.protocols.looked_at.iter().chain(folders).cloned().chain(manifests));
        let mut text = String::new();
        // Writing to a string does not fail.
        for path in &watched {
            // Cargo also watches everything below a folder.
            let is_below = |ancestor: &Path| watched.contains(ancestor);
            if path.exists() && !path.ancestors().skip(1).any(is_below) {
                let _ = writeln!(text, "cargo::rerun-if-changed={}", base.relative(path).display());
            }
        }
        let _ = writeln!(text, "cargo::rustc-env={VERIFIED}={}", env!("CARGO_PKG_VERSION"));
        let name = manifest::runtime(base).unwrap_or_else(|| "rumpsteak".to_owned());
        let _ = writeln!(text, "cargo::rustc-env={RUNTIME}={name}");
        // The macros raise the errors, unless a `cfg` removes their modules.
        let broken = self.broken(true).map(|file| format!("{} has errors", file.shown()));
        for warning in self.warnings().into_iter().chain(broken) {
            // Cargo takes one line at a time.
            let _ = writeln!(text, "cargo::warning={}", warning.replace('\n', "\ncargo::warning="));
        }
        // If stdout is closed, there is nothing to report to.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }

    /// The package's own protocols without a module that a macro sees: the file, the name, and the
    /// place of a module that lacks its attribute, with the path of a wrong one.
    fn without_module(&self) -> impl Iterator<Item = (String, &str, Option<(String, &str)>)> {
        let Protocols { protocols, files, base, .. } = &self.protocols;
        // A module that cannot be read may be for any protocol.
        let can_be_read = self.judged.iter().flatten().all(Result::is_ok);
        protocols.iter().zip(0..).filter_map(move |(protocol, at)| {
            let (file, name) = (&files[protocol.file], protocol.name());
            let lost = || self.source.lost.iter().filter(|(.., of, _)| same(of, name));
            // The finder takes `#[protocol]` without its path for ours.
            let found = self.named.iter().filter(|of| **of == at).count();
            let pathless = self.source.lost.iter().filter(|(.., wrong)| wrong == "protocol");
            let pathless = pathless.filter(|(.., of, _)| same(of, name)).count();
            // Packages that share a folder of protocols have modules for some of them each.
            (found <= pathless && file.path.starts_with(&base.folder)).then_some(())?;
            let is_own = |(module, _): &(Module, _)| same(&module.name.to_string(), name);
            let is_lost = |wrong: &str| !wrong.is_empty() || !self.modules().any(is_own);
            let lost = lost().find(|(.., wrong)| can_be_read && is_lost(wrong));
            let place =
                lost.map(|(at, line, _, bad)| (format!("{}:{line}", base.show(at)), &**bad));
            Some((file.shown().to_string(), name, place))
        })
    }

    /// The warnings, sorted. With a mistake, those that may follow from it are left out.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let protocols = &self.protocols;
        let is_right = |judged: &Result<(Module, Findings), _>| matches!(judged, Ok((module, of)) if module.errors.is_empty() && of.told.is_empty());
        let is_right =
            self.source.unreadable.is_empty() && self.judged.iter().flatten().all(is_right);
        let mut warnings = BTreeSet::new();
        let idle = self.without_module().filter(|(.., lost)| is_right && lost.is_none());
        warnings.extend(idle.map(|(file, name, _)| format!("{file}: no module is for the protocol `{name}`: write `#[rumpsteak::protocol({name})] mod {} {{}}`, or take the protocol out", snake(name))));
        for protocol in &protocols.protocols {
            let (file, name) = (protocols.files[protocol.file].shown(), protocol.name());
            let machines = protocol.projections.iter().map(|of| &of.fsm);
            let idle = machines.filter(|fsm| fsm.transitions().next().is_none());
            warnings.extend(idle.map(|fsm| {
                let role = fsm.role();
                format!("{file}: the role `{role}` of `{name}` does nothing: no message is from it or to it")
            }));
        }
        warnings.extend(protocols.files.iter().flat_map(ScrFile::warning_lines));
        for (path, line) in &self.source.unreadable {
            let path = protocols.base.show(path);
            warnings.insert(format!("{path}:{line}: not read, since it is not Rust"));
        }
        warnings.extend(machines::unused(protocols, &|protocol| self.named.contains(&protocol)));
        warnings.extend(self.modules().flat_map(|(_, findings)| findings.warnings.iter().cloned()));
        warnings.into_iter().collect()
    }
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
            Analysis::new(&Package::new(&own, &folder, vec![path.into()])).warnings().len()
        };
        assert_eq!((warnings("protocols"), warnings("../shared")), (1, 0));
        fs::remove_dir_all(folder).unwrap();
    }
}
