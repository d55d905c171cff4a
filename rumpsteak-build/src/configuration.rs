//! What a build script asks for, and what it gets.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rumpsteak_contract::verdict::{Target, TargetKind};
use rumpsteak_fsm::Limits;
use rumpsteak_fsm::sorted::{self, SortedSet};

use crate::codegen::{self, Generator};
use crate::outcome::Findings;
use crate::outcome::{self, verdict_file};
use crate::protocols::Protocols;
use crate::report::{self, Kind, Report};
use crate::source::cfg::Cfg;
use crate::source::crate_tree;
use crate::source::package_root::Base;
use crate::source::targets::{self, Package, Root};

/// What to verify. Made by [`configure`](crate::configure).
#[derive(Clone, Debug)]
#[must_use = "nothing is verified until `verify` is called"]
pub struct Configuration {
    protocols: Vec<PathBuf>,
    sources: Vec<PathBuf>,
    limits: Limits,
    generate: bool,
    kmc: SortedSet<String>,
}

/// What was verified.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How many protocols there are.
    pub protocols: usize,
    /// How many roots, `#[session(…)]` with a role, there are in all targets.
    pub sessions: usize,
    /// How many of them hold. The others are errors that rustc will show.
    pub verified: usize,
}

/// What [`Configuration::check`] found out about a package.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The problems in the Rust source, by place.
    pub problems: Vec<Problem>,
    /// What is wrong with the protocol files and the package itself.
    pub reports: Vec<Report>,
    /// What was not verified because nothing asks for it: one line each.
    pub warnings: Vec<String>,
    /// How much was verified.
    pub summary: Summary,
}

/// A problem at a place in the Rust source.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// The file, as rustc would show it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The bytes of the offending token in the file.
    pub range: Range<usize>,
    /// The text of the error, without colours, of several lines.
    pub text: String,
    /// What it means for the package.
    pub kind: Kind,
    /// The problem drawn with its source line: plain, then styled.
    rendered: [String; 2],
}

impl Problem {
    /// The problem as rustc would draw it, with colours or without.
    #[must_use]
    pub fn render(&self, styled: bool) -> &str {
        &self.rendered[usize::from(styled)]
    }
}

/// The Rust code of a protocol. Made by [`Configuration::code`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Code {
    /// The protocol.
    pub protocol: String,
    /// The code, if the protocol can be said in Rust. Not to be used if there are problems.
    pub text: Option<String>,
    /// What is wrong with the protocol or with a machine beside its file: texts of several lines.
    pub problems: Vec<String>,
}

impl Code {
    /// Whether a text that [`Configuration::code`] gave is as it was then: no hand has changed it since.
    ///
    /// ```
    /// assert!(!rumpsteak_build::Code::is_untouched("struct Mine;"));
    /// ```
    #[must_use]
    pub fn is_untouched(text: &str) -> bool {
        codegen::is_untouched(text)
    }
}

impl Check {
    /// Whether everything holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.problems.is_empty() && self.reports.is_empty()
    }

    /// The gravest of what is wrong; nothing if everything holds.
    #[must_use]
    pub fn gravest(&self) -> Option<Kind> {
        let problems = self.problems.iter().map(|problem| problem.kind);
        problems.chain(self.reports.iter().map(Report::kind)).max()
    }
}

impl Configuration {
    pub(crate) fn new() -> Self {
        let (protocols, sources) = (Vec::new(), Vec::new());
        Self {
            protocols,
            sources,
            limits: Limits::default(),
            generate: false,
            kmc: SortedSet::new(),
        }
    }

    /// Adds a `.scr` file, or a folder with such files in it or below it. Relative to the package.
    pub fn protocols(mut self, path: impl Into<PathBuf>) -> Self {
        self.protocols.push(path.into());
        self
    }

    /// Adds source files that are no targets of the package and hold sessions: each is read as the root of a crate.
    /// Relative to the package.
    pub fn sources(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.sources.extend(files.into_iter().map(Into::into));
        self
    }

    /// Generates the Rust code of each protocol that the source includes by `protocol!(…)`: its roles, its messages and
    /// their sessions.
    ///
    /// ```no_run
    /// // In `main` of build.rs:
    /// rumpsteak_build::configure()
    ///     .protocols("protocols")
    ///     .generate()
    ///     .verify();
    /// // In the source: `rumpsteak_runtime::protocol!(DoubleBuffering);`
    /// ```
    ///
    /// A role does what the protocol says in the order of the protocol, unless another machine for it lies beside the
    /// `.scr` file: `double_buffering.k.dot` or, as a local type, `double_buffering.k.local` is the machine of the role
    /// `k` of the only protocol with such a role in `double_buffering.scr`; `double_buffering.DoubleBuffering.k.dot`
    /// says which protocol. It is verified against the protocol as a session written by hand is, and an error is raised
    /// at `protocol!(…)`.
    pub fn generate(mut self) -> Self {
        self.generate = true;
        self
    }

    /// Accepts sessions of a protocol that are no subtypes of their projections, if the sessions of all its roles together
    /// are k-multiparty compatible for some k.
    ///
    /// Asynchronous subtyping proves each role by itself, so that it is safe with any peers that keep to the protocol. What
    /// is accepted here is safe with the sessions of this very package, and with no others: use it only if no other program
    /// plays a role of the protocol. It takes all of them into account: if a role has no session in this package, or if one
    /// combination of sessions is not safe, nothing is accepted, and the error says why. The verdict records the k.
    ///
    /// ```no_run
    /// rumpsteak_build::configure()
    ///     .protocols("protocols")
    ///     .accept_kmc("DoubleBuffering")
    ///     .verify();
    /// ```
    pub fn accept_kmc(mut self, protocol: impl Into<String>) -> Self {
        self.kmc.insert(protocol.into());
        self
    }

    /// How much each proof may cost. The defaults do for every protocol that a person writes.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Verifies the package whose build script this is.
    ///
    /// Errors with a place in the Rust source are left to the macros, which raise them there. If there are others, this
    /// prints them and ends the process with status 1.
    pub fn verify(self) {
        if let Err(report) = self.try_verify() {
            // Cargo shows what a failing build script prints, and takes the colours out if its own output is no
            // terminal; the script itself cannot tell.
            let plain = |name: &str, off: &str| {
                std::env::var(name).is_ok_and(|value| off.is_empty() || value == off)
            };
            let colours = !plain("NO_COLOR", "")
                && !plain("TERM", "dumb")
                && !plain("CARGO_TERM_COLOR", "never");
            let text = if colours {
                &report.styled
            } else {
                &report.plain
            };
            let mut message = String::new();
            // Writing to a string does not fail.
            let _ = writeln!(message, "{text}");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes());
            std::process::exit(1);
        }
    }

    /// Verifies the package whose build script this is, and returns what [`verify`](Self::verify) would print.
    ///
    /// # Errors
    ///
    /// Errors in protocol files that no item of the Rust source can show; a package or a folder of protocols that cannot
    /// be read; a caller that is no build script.
    pub fn try_verify(self) -> Result<Summary, Report> {
        let folder = variable("CARGO_MANIFEST_DIR")?;
        let out_dir = variable("OUT_DIR")?;
        let vars = std::env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        let mut analysis = self.analyse(&folder, &Cfg::from_vars(vars))?;
        analysis.announce();

        let mut reports = analysis.reports();
        let mut verdicts = std::mem::take(&mut analysis.findings.verdicts);
        if analysis.includes_protocols() {
            verdicts.unanchored = reports.drain(..).map(|report| report.plain).collect();
        }
        let generated = analysis
            .tree
            .files
            .iter()
            .filter_map(|file| file.generated.as_ref());
        let files =
            generated.filter_map(|module| Some((module.file.as_str(), module.text.as_deref()?)));
        verdict_file::write(&out_dir, &verdicts, files).map_err(|error| {
            let message = format!(
                "cannot write the verdicts to {}: {error}",
                out_dir.display()
            );
            Report::of(&message, "check the permissions and the space left")
        })?;
        if reports.is_empty() {
            Ok(analysis.summary())
        } else {
            Err(join(&reports))
        }
    }

    /// The code that [`generate`](Self::generate) makes of each protocol, for those who check it in: the text is the same.
    /// `folder` is what the paths of the protocols are relative to. Nothing is written and nothing is printed.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has errors.
    pub fn code(self, folder: &Path) -> Result<Vec<Code>, Report> {
        let base = Base::new(folder);
        let protocols = Protocols::load(&base, &self.protocols);
        let broken = protocols
            .files
            .iter()
            .filter(|file| !file.diagnostics.is_empty());
        let broken = broken.map(Report::of_file);
        let mut reports: Vec<Report> = unreadable(&protocols).collect();
        reports.extend(broken);
        if !reports.is_empty() {
            return Err(join(&reports));
        }
        let generator = Generator::new(&protocols, &base, &self.limits, true);
        let code = generator.all().map(|(protocol, module)| Code {
            protocol: protocol.to_owned(),
            text: module.text,
            problems: module.problems.into_iter().map(|p| p.text).collect(),
        });
        Ok(code.collect())
    }

    /// Verifies the package in `folder` without Cargo: nothing is written and nothing is printed.
    ///
    /// # Errors
    ///
    /// If the package cannot be read.
    pub fn check(self, folder: &Path, cfg: &Cfg) -> Result<Check, Report> {
        let analysis = self.analyse(folder, cfg)?;
        let mut reports = analysis.reports();
        // Without macros to raise them, all errors in protocol files are the caller's to show, once. A macro cannot know whether
        // another one that is compiled raises the error, so each of them does; here that would be an echo.
        let mut problems = analysis.problems();
        problems.retain(|problem| !analysis.findings.echoes.contains(&problem.text));
        for (position, file) in analysis.protocols.files.iter().enumerate() {
            if !file.diagnostics.is_empty() && !analysis.findings.unanchored.contains(&position) {
                reports.push(Report::of_file(file));
            }
        }
        Ok(Check {
            problems,
            reports,
            warnings: analysis.findings.warnings.clone(),
            summary: analysis.summary(),
        })
    }

    fn analyse(&self, folder: &Path, cfg: &Cfg) -> Result<Analysis, Report> {
        let package = targets::package(folder).map_err(|message| {
            Report::of(
                &message,
                "this is called from the build script of a package, or with its folder",
            )
        })?;
        let base = Base::new(folder);
        let mut roots = package.roots.clone();
        roots.extend(self.sources.iter().map(|source| {
            let name = source
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            let target = Target {
                kind: TargetKind::Source,
                name: name.unwrap_or_default(),
            };
            Root {
                target,
                path: base.join(source),
            }
        }));
        let mut protocols = Protocols::load(&base, &self.protocols);
        if self.generate {
            protocols.watch_folders();
        }
        let mut generator = Generator::new(&protocols, &base, &self.limits, self.generate);
        let tree = crate_tree::walk(&roots, cfg, &mut generator);
        let warnings = generator.warnings();
        let mut findings = outcome::verify(&tree, &protocols, &base, &self.limits, &self.kmc);
        findings.warnings.extend(warnings);
        Ok(Analysis {
            base,
            package,
            tree,
            protocols,
            findings,
        })
    }
}

/// All that is known about a package.
struct Analysis {
    base: Base,
    package: Package,
    tree: crate_tree::Tree,
    protocols: Protocols,
    findings: Findings,
}

impl Analysis {
    fn summary(&self) -> Summary {
        Summary {
            protocols: self.protocols.protocols.len(),
            sessions: self.findings.roots,
            verified: self.findings.passed,
        }
    }

    /// Whether the source reports by `include_protocols!()` what belongs to no item. See [`mod@verify`] for where it counts.
    fn includes_protocols(&self) -> bool {
        self.findings.includes_protocols
    }

    /// The errors that belong to no item of the Rust source.
    fn reports(&self) -> Vec<Report> {
        let unreadable = unreadable(&self.protocols);
        let broken = self
            .findings
            .unanchored
            .iter()
            .map(|&file| Report::of_file(&self.protocols.files[file]));
        unreadable.chain(broken).collect()
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self
            .findings
            .problems
            .iter()
            .map(|located| {
                let file = &self.tree.files[located.file.0];
                let path = &file.path;
                let source = match &file.generated {
                    Some(module) => module.text.clone(),
                    None => std::fs::read_to_string(path).ok(),
                };
                let range = located.span.start..located.span.end;
                let before = source.as_deref().and_then(|text| text.get(..range.start));
                let before = before.unwrap_or_default();
                let line = before.rfind('\n').map_or(0, |end| end + 1);
                let mut problem = Problem {
                    file: self.base.show(path),
                    line: before.matches('\n').count() + 1,
                    column: before[line..].chars().count() + 1,
                    range,
                    text: located.text.clone(),
                    kind: self.findings.kind(&located.text),
                    rendered: Default::default(),
                };
                problem.rendered = [false, true]
                    .map(|styled| report::problem(&problem, source.as_deref(), styled));
                problem
            })
            .collect();
        sorted::sort_by(&mut problems, |left, right| {
            let at = |problem: &Problem| (problem.line, problem.column);
            (left.file.cmp(&right.file)).then_with(|| at(left).cmp(&at(right)))
        });
        // One file may belong to several targets.
        problems.dedup();
        problems
    }

    /// Tells Cargo what was read, and what was not verified.
    fn announce(&self) {
        let mut watched: SortedSet<PathBuf> = SortedSet::from([self.base.join("Cargo.toml")]);
        watched.extend(
            self.package
                .folders
                .iter()
                .map(|folder| crate_tree::normalise(folder)),
        );
        let read = self
            .tree
            .files
            .iter()
            .filter(|file| file.generated.is_none());
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
        for warning in &self.findings.warnings {
            let _ = writeln!(text, "cargo::warning={warning}");
        }
        // If nobody listens there is nobody to tell.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    }
}

/// The paths of protocols that cannot be read.
fn unreadable(protocols: &Protocols) -> impl Iterator<Item = Report> {
    protocols.unreadable.iter().map(|(path, error)| {
        Report::of(
            &format!("cannot read the protocols in `{path}`: {error}"),
            "build.rs names the folder or the file relative to the package: `rumpsteak_build::verify(\"protocols\")`",
        )
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

fn join(reports: &[Report]) -> Report {
    let join =
        |part: fn(&Report) -> &str| reports.iter().map(part).collect::<Vec<_>>().join("\n\n");
    Report {
        plain: join(|report| &report.plain),
        styled: join(|report| &report.styled),
        kind: reports
            .iter()
            .map(Report::kind)
            .max()
            .unwrap_or(Kind::BadInput),
    }
}
