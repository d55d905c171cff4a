//! What `cargo rumpsteak` shares with the build. No part of the public face: it may change at any
//! time.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rumpsteak_contract::name::{camel, snake};
use rumpsteak_fsm::Fsm;
use rumpsteak_scribble::{Projection, Protocol};

use crate::analysis::{Analysis, Summary, unreadable};
use crate::codegen::{self, Generator};
use crate::configuration::Configuration;
use crate::judge::inclusions;
use crate::limits::Limits;
use crate::protocols::{Loaded, Protocols, ScrFile};
use crate::source::package_root::PackageRoot;
use crate::source::{cargo_targets, text_file};

pub use crate::configuration::PATH;
pub use crate::gravity::Gravity;
pub use crate::named_text::NamedText;
pub use crate::outcome::findings::Told;
pub use crate::protocols::gravest;
pub use crate::protocols::scr_module::{ScrModule, root_of};
use crate::report::build_report::Report;
pub use crate::report::code::explanations;
pub use crate::report::comparison::{
    Comparison, Explanation, among_peers, decided_by_run, fair_among, proven, proven_among,
};
pub use crate::report::excerpt::{Excerpt, Mark, visible};
pub use crate::report::notice::{Notice, Severity};
pub use crate::report::runs::shortest;
use crate::report::wording;
pub use crate::source::conditions::Cfg;
pub use crate::words::{count, did_you_mean, either, list, meant, split_way_out};

/// What the build script of a package asked for when it last ran, from its `OUT_DIR`. `None` if it
/// left nothing there, or is of another version.
pub fn configuration(out_dir: &Path) -> Option<Configuration> {
    Configuration::read(out_dir)
}

/// The features of the package in `folder` that are on by default: those of a build without
/// `--features`.
///
/// # Errors
///
/// If the manifest cannot be read.
pub fn default_features(folder: &Path) -> Result<Vec<String>, Report> {
    let package = cargo_targets::package(folder)
        .map_err(|message| Report::of(&message, "name the folder of a package"))?;
    Ok(package.default_features.into_iter().collect())
}

/// An optimised machine of a protocol as session types to paste beside its role. `number` tells
/// several proposals apart. `None` for a machine that is no session type.
///
/// Names are those of generated code.
pub fn optimised_items(protocol: &str, fsm: &Fsm, number: usize) -> Option<String> {
    let role = camel(fsm.role().as_str());
    let base = match number {
        1 => format!("Optimised{role}"),
        number => format!("Optimised{role}{number}"),
    };
    codegen::session_items(fsm, &base, &snake(protocol))
}

/// Why no code can be generated of a protocol of this module, if none can.
pub fn unwritable(
    module: &ScrModule,
    protocol: &Protocol,
    projections: &[Projection],
    generated_lines: Option<usize>,
) -> Option<Told> {
    let loaded = Loaded::new(0, protocol.clone(), projections.to_vec());
    let file = ScrFile {
        path: PathBuf::new(),
        texts: module.texts.clone(),
        modules: module.modules.clone(),
        diagnostics: Vec::new(),
        warnings: Vec::new(),
    };
    let protocols =
        Protocols { files: vec![file], protocols: vec![loaded], ..Protocols::default() };
    let most = Limits::default().generated_lines;
    let most = generated_lines.unwrap_or(most);
    let cause = codegen::unwritable(&protocols.protocols[0], &protocols.files[0], most)?;
    Some(wording::told(&cause, None, &protocols))
}

impl Configuration {
    /// Where the protocols are.
    pub fn protocol_paths(&self) -> &[PathBuf] {
        &self.protocols
    }

    /// Takes these protocols in place of those that it has.
    pub fn replace_protocols(mut self, paths: &[PathBuf]) -> Self {
        self.protocols = paths.to_vec();
        self
    }

    /// Takes these limits, by the names of their setters, where they are given.
    pub fn limited<const N: usize>(mut self, given: [(&str, Option<usize>); N]) -> Self {
        for (name, most) in given {
            let mut limits = self.limits.by_name().filter(|(own, _)| *own == name);
            if let (Some((_, limit)), Some(most)) = (limits.next(), most) {
                *limit = most;
            }
        }
        self
    }

    /// The code that [`generate`](Self::generate) makes of each protocol, to be checked in. Paths
    /// are relative to `folder`. Nothing is written and nothing is printed.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has errors.
    pub fn code(self, folder: &Path) -> Result<Vec<Code>, Report> {
        let base = PackageRoot::new(folder);
        let protocols = Protocols::load(&base, &self.protocols, &self.limits.scribble());
        let files = protocols.files.iter();
        let broken = files.filter(|file| !file.diagnostics.is_empty()).map(Report::of_file);
        let reports: Vec<Report> = unreadable(&protocols).chain(broken).collect();
        if let Some(report) = Report::join(reports) {
            return Err(report);
        }
        let this = self.generate();
        let generator = Generator::new(&protocols, &base, &this);
        let code = generator.all().map(|(name, generated)| {
            let problems = inclusions::problems(&generated, &protocols, &this);
            let told = |(cause, _): &_| wording::told(cause, None, &protocols);
            Code {
                protocol: name.to_owned(),
                text: generated.file.as_ref().map(|file| file.text.clone()),
                problems: problems.iter().map(told).collect(),
            }
        });
        Ok(code.collect())
    }

    /// Verifies the package in `folder` without Cargo: nothing is written and nothing is printed.
    ///
    /// # Errors
    ///
    /// If the package cannot be read.
    pub fn check(self, folder: &Path, cfg: &Cfg) -> Result<Check, Report> {
        let analysis = Analysis::new(&self, folder, cfg)?;
        let mut reports = analysis.reports();
        // No macro raises the errors of protocol files here, so each is reported once, and without
        // its echoes: each macro raises one, because it cannot know whether another one does.
        let problems = problems(&analysis);
        for (position, file) in analysis.protocols.files.iter().enumerate() {
            if !file.diagnostics.is_empty() && !analysis.findings.unanchored.contains(&position) {
                reports.push(Report::of_file(file));
            }
        }
        Ok(Check {
            problems,
            reports,
            warnings: analysis.warnings.clone(),
            summary: analysis.summary(),
        })
    }
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
    /// What `cargo rumpsteak explain` knows it by.
    pub code: Option<&'static str>,
    /// What it means for the package.
    pub gravity: Gravity,
    /// The problem drawn with its source line: plain, then styled.
    rendered: [String; 2],
}

impl Problem {
    /// The problem as rustc would draw it, with colours or without.
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
    /// What is wrong with the protocol or with a machine beside its file.
    pub problems: Vec<Told>,
}

impl Code {
    /// Whether a text that [`Configuration::code`] gave is as it was then: no hand has changed it
    /// since.
    ///
    /// ```
    /// assert!(!rumpsteak_build::command::Code::is_untouched("struct Mine;"));
    /// ```
    pub fn is_untouched(text: &str) -> bool {
        codegen::is_untouched(text)
    }
}

impl Check {
    /// Whether everything holds.
    pub fn holds(&self) -> bool {
        self.problems.is_empty() && self.reports.is_empty()
    }

    /// The gravest of what is wrong. `None` if everything holds.
    pub fn gravest(&self) -> Option<Gravity> {
        let problems = self.problems.iter().map(|problem| problem.gravity);
        problems.chain(self.reports.iter().map(Report::gravity)).max()
    }
}

/// The problems in the Rust source, by place.
fn problems(analysis: &Analysis) -> Vec<Problem> {
    let mut problems: Vec<Problem> = analysis
        .findings
        .problems
        .iter()
        .filter(|located| !located.is_of_file)
        .map(|located| {
            let file = &analysis.tree.files[located.file.0];
            let path = &file.path;
            let source = match &file.generated {
                Some(generated) => Some(generated.text.clone()),
                None => text_file::read(path).ok(),
            };
            let range = located.span.byte_range();
            let shown = analysis.base.show(path);
            let source = Arc::new(NamedText::new(shown, source.unwrap_or_default()));
            let (line, column) = source.position(range.start);
            Problem {
                file: source.name.clone(),
                line,
                column,
                rendered: rendered(&located.told, &source, &range),
                range,
                text: located.told.text.clone(),
                code: located.told.code,
                gravity: located.gravity,
            }
        })
        .collect();
    problems.sort_by(|left, right| {
        let at = |problem: &Problem| (problem.line, problem.column);
        (left.file.cmp(&right.file)).then_with(|| at(left).cmp(&at(right)))
    });
    // One file may belong to several targets.
    problems.dedup();
    problems
}

/// A problem drawn as rustc would draw it: plain, then styled.
fn rendered(told: &Told, source: &Arc<NamedText>, range: &Range<usize>) -> [String; 2] {
    let text = told.text.as_str();
    let (message, rest) = match text.split_once('\n') {
        Some((message, rest)) => (message, Some(rest)),
        None => (text, None),
    };
    let mut notice = Notice::error(message).with_code(told.code);
    // A file that cannot be read again has no excerpt.
    if !source.text.is_empty() && range.end <= source.text.len() {
        notice.excerpt.mark(source, range.clone(), "");
    }
    [false, true].map(|colour| {
        let mut drawn = notice.render(colour);
        if let Some(rest) = rest {
            drawn.push('\n');
            drawn.push_str(rest.trim_start_matches('\n'));
        }
        drawn
    })
}
