//! The way of a package through the rooms, and what its build script leaves behind.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use rumpsteak_contract::verdict::RENAMED;

use crate::codegen::{Generated, Generator};
use crate::configuration::{Configuration, PATH, raised};
use crate::judge::{inclusions, judgement, liveness};
use crate::link::context::Context;
use crate::link::roles::Pairs;
use crate::outcome::agree::agree;
use crate::outcome::entries::entries;
use crate::outcome::findings::Findings;
use crate::outcome::once::once;
use crate::outcome::propagate::propagate;
use crate::outcome::unimported::{names_runtime, unimported};
use crate::outcome::{verdict_file, warnings};
use crate::protocols::Protocols;
use crate::report::build_report::Report;
use crate::report::wording;
use crate::source::bare_names::RUNTIME;
use crate::source::cargo_targets::{self, Package, Root, Target, TargetKind};
use crate::source::conditions::Cfg;
use crate::source::crate_tree;
use crate::source::package_root::PackageRoot;

/// Whether this process has called [`Configuration::verify`].
static CALLED: AtomicBool = AtomicBool::new(false);

/// What was verified.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How many protocols there are.
    pub protocols: usize,
    /// How many sessions with a role, `#[session(K)]`, there are in all targets.
    pub sessions: usize,
    /// How many of them hold. The others are errors that rustc will show.
    pub verified: usize,
}

impl Configuration {
    /// Verifies the package whose build script this is.
    ///
    /// Errors with a place in the Rust source are not returned: the macros raise them there.
    ///
    /// # Errors
    ///
    /// Errors in protocol files that no item of the Rust source can show; a package or a folder of
    /// protocols that cannot be read; a caller that is no build script; a second call.
    pub fn verify(self) -> Result<Summary, Report> {
        let folder = variable("CARGO_MANIFEST_DIR")?;
        let out_dir = variable("OUT_DIR")?;
        // This call would replace what the first one has left for the macros.
        if CALLED.swap(true, Ordering::Relaxed)
            && let Some(first) = Self::read(&out_dir)
        {
            return Err(Report::of(
                "`verify` is called a second time, and only one call counts",
                &format!("name all folders in one call: `{}.verify()?;`", first.and(self).script()),
            ));
        }
        let unwritable = |error: std::io::Error| {
            let message = format!("cannot write to {}: {error}", out_dir.display());
            Report::of(&message, "check the permissions and the space left")
        };
        // Its time is that of this run.
        verdict_file::replace(&out_dir.join(PATH), &self.print()).map_err(unwritable)?;
        let vars = std::env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        let mut analysis = Analysis::new(&self, &folder, &Cfg::from_vars(vars))?;
        analysis.announce();

        let mut reports = analysis.reports();
        let mut verdicts = std::mem::take(&mut analysis.findings.verdicts);
        if analysis.findings.includes_protocols {
            verdicts.package.unanchored =
                reports.drain(..).map(|report| report.to_string()).collect();
        }
        reports.append(&mut analysis.unsaid);
        let unreadable = analysis.tree.files.iter().filter_map(|file| {
            let no_rust = file.no_rust?;
            Some((analysis.base.show(&file.path), no_rust.byte, no_rust.line))
        });
        verdicts.package.unreadable = unreadable.collect();
        verdicts.package.protocols = analysis.texts();
        verdict_file::write(&folder, &out_dir, &verdicts, analysis.generated())
            .map_err(unwritable)?;
        Report::join(reports).map_or_else(|| Ok(analysis.summary()), Err)
    }
}

/// All that is known about a package.
pub(crate) struct Analysis {
    pub(crate) base: PackageRoot,
    pub(crate) package: Package,
    pub(crate) tree: crate_tree::Tree,
    pub(crate) protocols: Protocols,
    pub(crate) findings: Findings,
    /// What was not verified because nothing asks for it: one line each.
    pub(crate) warnings: Vec<String>,
    /// Why no macro of the runtime runs, where none does that could say so.
    unsaid: Vec<Report>,
}

impl Analysis {
    pub(crate) fn new(
        configuration: &Configuration,
        folder: &Path,
        cfg: &Cfg,
    ) -> Result<Self, Report> {
        let package = cargo_targets::package(folder).map_err(|message| {
            Report::of(
                &message,
                "this is called from the build script of a package, or with its folder",
            )
        })?;
        let base = PackageRoot::new(folder);
        let mut roots = package.roots.clone();
        roots.extend(configuration.sources.iter().map(|source| source_root(&base, source)));
        let mut protocols =
            Protocols::load(&base, &configuration.protocols, &configuration.limits.scribble());
        protocols.script = configuration.script();
        // Files beside those of the protocols matter, too.
        let folders = protocols.files.iter().filter_map(|file| file.path.parent());
        protocols.looked_at.extend(folders.map(Path::to_owned));
        let limits = &configuration.limits;
        let tree = crate_tree::walk(&roots, cfg, limits.modules);
        let mut generator = Generator::new(&protocols, &base, configuration);
        let generated: Vec<Rc<Generated>> =
            tree.inclusions.iter().map(|inclusion| generator.generate(inclusion)).collect();
        let machines = generator.warnings();
        let files = generated.iter().map(|generated| generated.file.clone());
        let tree = crate_tree::graft(tree, cfg, limits.modules, files);
        let pairs = Pairs::new(&tree, &protocols);
        let context = Context { base: &base, tree: &tree, protocols: &protocols, pairs: &pairs };
        let mut judgement = judgement::judge(context, configuration);
        let included = tree.inclusions.iter().zip(&generated);
        let systems = &judgement.closed_systems;
        let judged = included.map(|(inclusion, code)| {
            inclusions::judge(&tree, inclusion, code, &protocols, systems, configuration)
        });
        judgement.inclusions = judged.collect();
        let unsaid = unimported(&base, &tree, &mut judgement);
        once(&tree, &mut judgement);
        inclusions::raise(&tree, &mut judgement);
        propagate(&tree, &mut judgement);
        agree(&tree, &mut judgement);
        let word = |cause: &_, note: Option<&_>| wording::told(cause, note, &protocols);
        let unsaid = unsaid.iter().map(|cause| {
            let text = word(cause, None).text;
            let (message, help) = text.split_once("\n\nhelp: ").unwrap_or((&text, ""));
            Report::of(message, help)
        });
        let unsaid =
            manifest(&package, &tree).map_or_else(|| unsaid.collect(), |error| vec![error]);
        let findings = entries(context, &judgement, limits, &word);
        let is_right =
            findings.problems.is_empty() && findings.unanchored.is_empty() && tree.is_read();
        let mut warnings = warnings::warnings(context, &judgement, is_right);
        let accepted = &configuration.closed_systems;
        warnings.extend(warnings::unknown_closed_systems(context, accepted));
        warnings.extend(liveness::unknown(configuration, &protocols));
        warnings.extend(machines);
        if tree.is_cut {
            warnings.push(format!(
                "the package has more than {} modules, and the rest was not read: raise that in build.rs, `{}`",
                limits.modules,
                protocols.script(&raised("modules", limits.modules))
            ));
        }
        Ok(Analysis { base, package, tree, protocols, findings, warnings, unsaid })
    }

    /// The generated files with code: paths below `OUT_DIR`, and texts.
    fn generated(&self) -> impl Iterator<Item = (&str, &str)> {
        let modules = self.tree.files.iter().filter_map(|file| file.generated.as_ref());
        modules.map(|file| (file.path.as_str(), file.text.as_str()))
    }

    /// The files of protocols that were read, each with the stamp of its text.
    fn texts(&self) -> Vec<(String, String)> {
        let texts = self.protocols.texts.iter();
        let texts = texts.map(|(path, stamp)| {
            let path = self.base.relative(path);
            (path.to_string_lossy().into_owned(), stamp.clone())
        });
        texts.collect()
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            protocols: self.protocols.protocols.len(),
            sessions: self.findings.roots,
            verified: self.findings.passed,
        }
    }

    /// The errors that belong to no item of the Rust source.
    pub(crate) fn reports(&self) -> Vec<Report> {
        let unreadable = unreadable(&self.protocols);
        let broken = self
            .findings
            .unanchored
            .iter()
            .map(|&file| Report::of_file(&self.protocols.files[file]));
        unreadable.chain(broken).collect()
    }

    /// Tells Cargo what was read, and what was not verified.
    fn announce(&self) {
        let mut watched: BTreeSet<PathBuf> = BTreeSet::from([self.base.join("Cargo.toml")]);
        watched.extend(self.package.folders.iter().map(path_clean::clean));
        let read = self.tree.files.iter().filter(|file| file.generated.is_none());
        watched.extend(read.map(|file| file.path.clone()));
        watched.extend(self.tree.awaited.iter().cloned());
        watched.extend(self.protocols.looked_at.iter().cloned());
        let mut text = String::new();
        for path in &watched {
            // Cargo watches a folder with all that is below it.
            let is_below = |ancestor: &Path| watched.contains(ancestor);
            if path.exists() && !path.ancestors().skip(1).any(is_below) {
                let shown = self.base.relative(path);
                let _ = writeln!(text, "cargo::rerun-if-changed={}", shown.display());
            }
        }
        if let Some(name) = &self.package.runtime {
            let _ = writeln!(text, "cargo::rustc-env={RENAMED}={name}");
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "cargo::warning={warning}");
        }
        // If nobody listens there is nobody to tell.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    }
}

/// A file that the build script names is the root of a crate of its own.
fn source_root(base: &PackageRoot, source: &Path) -> Root {
    let name = source.file_stem().unwrap_or_default();
    let target = Target { kind: TargetKind::Source, name: name.to_string_lossy().into_owned() };
    let path = base.join(source);
    Root { target, path }
}

/// What the manifest lacks for the macros of the runtime to run at all.
fn manifest(package: &Package, tree: &crate_tree::Tree) -> Option<Report> {
    if !names_runtime(tree) {
        return None;
    }
    let of = |message: &str, help: &str| Some(Report::of(message, help));
    match (package.has_edition, package.dependencies.contains(RUNTIME) || package.runtime.is_some())
    {
        (_, false) => of(
            "Cargo.toml does not depend on `rumpsteak-runtime`",
            "add it under `[dependencies]`, beside `rumpsteak-build` under `[build-dependencies]`; if it is there as `NAME` of the \
             workspace, write `extern crate NAME as rumpsteak_runtime;` in the root of the crate",
        ),
        (false, true) => of(
            "Cargo.toml names no `edition`: without it a package is Rust 2015, which has no `async`",
            "add `edition = \"2024\"` under `[package]`",
        ),
        (true, true) => None,
    }
}

/// The paths of protocols that cannot be read.
pub(crate) fn unreadable(protocols: &Protocols) -> impl Iterator<Item = Report> {
    protocols.unreadable.iter().map(|(path, error, meant)| {
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "build.rs names the folder or the file relative to the package, as in `protocols(\"protocols\")`".to_owned(),
        };
        Report::of(&format!("cannot read the protocols in `{path}`: {error}"), &help)
    })
}

/// A folder that Cargo names to build scripts.
fn variable(name: &str) -> Result<PathBuf, Report> {
    std::env::var_os(name).map(PathBuf::from).ok_or_else(|| {
        Report::of(
            &format!("`{name}` is not set: this was not called from a build script"),
            "call it in `main` of build.rs; elsewhere, `cargo rumpsteak check` verifies a package",
        )
    })
}
