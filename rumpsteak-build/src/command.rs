//! The interface for `cargo rumpsteak`, which may change at any time.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use proc_macro2::Span;
use quote::{format_ident, quote};
use rumpsteak_front::Module;
use rumpsteak_front::module::ModuleKind;
use rumpsteak_front::name::{camel, snake};
use rumpsteak_fsm::Fsm;
use rumpsteak_scribble::{Code as ScribbleCode, Projection, Protocol};

use crate::analysis::{Analysis, Summary};
use crate::codegen::{self, standalone};
use crate::configuration::Configuration;
use crate::fault::Cause;
use crate::findings::Findings;
use crate::limits::Limits;
use crate::package::{self, Package};
use crate::package_root::PackageRoot;
use crate::protocols::{Loaded, Protocols, ScrFile};
use crate::scope::Scope;
use crate::verdict::ProtocolFacts;

pub use crate::codegen::standalone::is_untouched;
pub use crate::named_text::NamedText;
pub use crate::protocols::scr_module::{ScrModule, root_of};
pub use crate::protocols::{Outcome, gravest};
pub use crate::report::comparison::{
    Explanation, among_peers, decided_by_run, explain, fair_among, proven,
};
pub use crate::report::excerpt::{Excerpt, Mark};
pub use crate::report::notice::{Notice, Severity};
use crate::report::notice::{Report, unreadable};
use crate::report::wording;
pub use crate::report::wording::ErrorText;
pub use crate::report::{chart, shortest};
pub use crate::words::{count, did_you_mean, either, list, meant, split_way_out, visible};

/// The file below `OUT_DIR` that lists the paths of the protocols.
pub const PATH: &str = "rumpsteak/protocols.txt";

macro_rules! pages {
    ($($code:literal)+) => {
        /// The codes and their pages, in Markdown.
        const PAGES: &[(&str, &str)] = &[
            $(($code, include_str!(concat!("report/explain/", $code, ".md"))),)+
        ];
    };
}

pages! {
    "V0101" "V0103" "V0104" "V0106" "V0108" "V0201" "V0202" "V0203" "V0204" "V0205" "V0206"
    "V0207" "V0208" "V0209" "V0211" "V0213" "V0301" "V0302" "V0303"
    "V0401" "V0402" "V0403" "V0404" "V0405" "V0406" "V0407" "V0408" "V0409" "V0410" "V0411"
    "V0412" "V0413" "V0501" "V0502" "V0503" "V0505" "V0506" "V0603" "V0604"
}

/// All codes of `cargo rumpsteak explain`, in order, and their pages in Markdown.
pub fn explanations() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_scribble = ScribbleCode::ALL.iter().map(|code| (code.as_str(), code.explanation()));
    of_scribble.chain(PAGES.iter().copied())
}

/// The configuration of a package's build script, from its `OUT_DIR`. `None` if the build script
/// has written nothing there, or is of another version.
pub fn configuration(out_dir: &Path) -> Option<Configuration> {
    Some(Configuration { protocols: package::read_description(out_dir)?.2 })
}

/// An optimised machine as sessions to paste into a module. `number` distinguishes proposals.
pub fn optimised_items(
    module: &ScrModule,
    protocol: &Protocol,
    fsm: &Fsm,
    number: usize,
) -> Option<String> {
    let role = camel(fsm.role().as_str());
    let base = match number {
        1 => format!("Optimised{role}"),
        number => format!("Optimised{role}{number}"),
    };
    let is_declared = |sort: &str| module.modules.sort(sort).is_some();
    standalone::session_items(fsm, &base, protocol.roles(), is_declared)
}

/// The reason why no code can be generated for a protocol of this module, if there is one.
pub fn unwritable(
    module: &ScrModule,
    protocol: &Protocol,
    projections: &[Projection],
    limits: &Limits,
) -> Option<ErrorText> {
    let loaded = Loaded::new(0, protocol.clone(), projections.to_vec());
    let (path, imports, read, machines) = Default::default();
    let file = ScrFile { path, imports, read, machines, module: module.clone() };
    let module = empty_module(protocol.name().as_str())?;
    let (files, protocols) = (vec![file], vec![loaded]);
    let protocols = Protocols { files, protocols, limits: *limits, ..Protocols::default() };
    let cause = codegen::write(&Scope::new(&module, None, &protocols, Some(0)), &[]).err()?;
    Some(wording::told(&cause.at(Span::call_site()), &protocols, None))
}

/// An empty module for a protocol. `None` if the protocol's name is not valid in Rust.
fn empty_module(protocol: &str) -> Option<Module> {
    let name = syn::parse_str::<syn::Ident>(protocol).ok()?;
    let module = syn::parse_str::<syn::Ident>(&snake(protocol)).ok();
    // These names would hide the crates of a program.
    let module = module.filter(|it| ["rumpsteak", "std", "tokio"].iter().all(|of| it != of));
    let module = module.unwrap_or_else(|| format_ident!("protocol_{}", snake(protocol)));
    Module::parse(ModuleKind::Protocol, quote!(#name), quote!(mod #module {})).ok()
}

impl Notice {
    /// The error of a library, `what is wrong; what to do`.
    pub fn of_error(error: &impl fmt::Display) -> Self {
        let text = error.to_string();
        let (message, way_out) = split_way_out(&text);
        Self::error(message).maybe_help(way_out)
    }

    /// A warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// A note.
    pub fn note(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message)
    }

    /// Sets the code.
    pub fn with_code(self, code: Option<&'static str>) -> Self {
        Self { code, ..self }
    }

    /// Adds a place in a text. The first place is the primary one.
    pub fn mark(mut self, text: &Arc<NamedText>, span: Range<usize>, label: &str) -> Self {
        self.excerpt.mark(text, span, label);
        self
    }

    /// Adds a remark.
    pub fn remark(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl Configuration {
    /// The module of each protocol with all of its items. Writes and prints nothing.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has errors.
    pub fn code(self, folder: &Path, limits: &Limits) -> Result<Vec<Code>, Report> {
        let protocols = Protocols::load(&PackageRoot::new(folder), &self.protocols, *limits);
        let files = protocols.files.iter();
        let broken = files.filter(|file| !file.module.diagnostics.is_empty()).map(Report::of_file);
        if let Some(report) = Report::join(unreadable(&protocols).chain(broken).collect()) {
            return Err(report);
        }
        let positions = 0..protocols.protocols.len();
        Ok(positions.map(|position| code(&protocols, position)).collect())
    }

    /// The machines of all sessions of the package in `folder` whose names can be resolved, each
    /// with the names of its module and of the session.
    pub fn sessions(self, folder: &Path, limits: &Limits) -> Vec<([String; 2], Fsm)> {
        let analysis = self.analyse(folder, limits);
        let sessions = analysis.modules().flat_map(|(module, findings)| {
            findings.verdict.roots.iter().filter_map(|(name, root)| {
                Some(([module.name.to_string(), name.clone()], root.fsm()?))
            })
        });
        sessions.collect()
    }

    fn analyse(self, folder: &Path, limits: &Limits) -> Analysis {
        let package = Package::new(folder, Path::new(""), self.protocols);
        Analysis::new(&Package { limits: *limits, ..package })
    }

    /// Verifies the package in `folder` without Cargo. `limits` apply to modules that set none.
    pub fn check(self, folder: &Path, limits: &Limits) -> Check {
        let analysis = self.analyse(folder, limits);
        let mut reports = analysis.reports();
        // No macro will raise the errors of protocol files.
        reports.extend(analysis.broken(true).map(Report::of_file));
        let problems = problems(&analysis);
        Check { problems, reports, warnings: analysis.warnings(), summary: analysis.summary }
    }
}

fn code(protocols: &Protocols, position: usize) -> Code {
    let loaded = &protocols.protocols[position];
    let protocol = loaded.name().to_owned();
    let roles = (0..).zip(loaded.protocol.roles()).filter(|(at, _)| loaded.has_process(*at));
    let sizes = roles.filter(|(_, role)| loaded.protocol.members(role) == Some(0)).count();
    let Some(module) = empty_module(&protocol) else {
        let reason =
            format!("`{protocol}` is not a valid name in Rust\n\nhelp: rename the protocol");
        let cause = Cause::Unwritable { protocol: protocol.clone(), reason };
        let problem = wording::told(&cause.at(Span::call_site()), protocols, None);
        return Code { protocol, problems: vec![problem], ..Code::default() };
    };
    let Findings { verdict, told, .. } = Findings::of(&module, protocols);
    let file = &protocols.files[loaded.file];
    let text = Some(verdict.text).filter(|items| !items.is_empty());
    let text = text.map(|items| standalone::module(&module.name, &protocol, file, &items));
    let problems = told.into_iter().map(|(_, told)| told).collect();
    Code { protocol, text, problems, sizes, facts: verdict.protocol }
}

/// The result of [`Configuration::check`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The mistakes in the Rust source, by place.
    pub problems: Vec<Problem>,
    /// The errors in the protocol files and in the package itself.
    pub reports: Vec<Report>,
    /// The warnings, one line each.
    pub warnings: Vec<String>,
    /// The numbers of protocols and sessions.
    pub summary: Summary,
}

/// A mistake at a place in the Rust source.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// The file, as rustc shows it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The bytes of the offending token in the file.
    pub range: Range<usize>,
    /// The text of the error, without colours, of several lines.
    pub text: String,
    /// The code that `cargo rumpsteak explain` knows.
    pub code: Option<&'static str>,
    /// The outcome for the package.
    pub outcome: Outcome,
    /// The mistake with its source line: plain, then styled.
    rendered: [String; 2],
}

impl Problem {
    /// The mistake as rustc would draw it, with colours or without.
    pub fn render(&self, styled: bool) -> &str {
        &self.rendered[usize::from(styled)]
    }
}

/// The Rust code of a protocol.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Code {
    /// The protocol.
    pub protocol: String,
    /// The code, if the protocol can be expressed in Rust. Not to be used if there are problems.
    pub text: Option<String>,
    /// The mistakes in the protocol or in a machine beside its file.
    pub problems: Vec<ErrorText>,
    /// The number of families whose number of members the program gives.
    sizes: usize,
    facts: ProtocolFacts,
}

impl Code {
    /// A process to fill in for each role, by the role's name in the protocol; and a program that
    /// runs them. Empty without a text.
    pub fn skeleton(&self) -> (Vec<(String, String)>, String) {
        let name = format_ident!("{}", self.protocol);
        let parse = |item| Module::parse(ModuleKind::Protocol, quote!(#name), item).ok();
        let item = self.text.as_ref().and_then(|text| text.parse().ok());
        let Some(module) = item.and_then(parse) else { return Default::default() };
        let processes = standalone::processes(&module, &self.facts);
        let (name, sizes, on_demand) = (&self.protocol, self.sizes, &self.facts.on_demand);
        let program = standalone::program(name, &module, &processes, sizes, on_demand);
        (processes, program)
    }
}

impl Check {
    /// True if no mistake was found: all sessions are verified, unless the check is incomplete.
    pub fn holds(&self) -> bool {
        self.problems.is_empty() && self.reports.is_empty()
    }

    /// True if sessions were not verified because of mistakes that only rustc reports.
    pub fn is_incomplete(&self) -> bool {
        let Summary { sessions, verified, unread, .. } = self.summary;
        verified < sessions || sessions == 0 && unread > 0
    }

    /// The most serious outcome of all mistakes. Sessions that were not verified, without a
    /// mistake here, are undecided: rustc reports why.
    pub fn gravest(&self) -> Outcome {
        let problems = self.problems.iter().map(|problem| problem.outcome);
        let gravest = problems.chain(self.reports.iter().map(|report| report.outcome)).max();
        let complete = if self.is_incomplete() { Outcome::Undecided } else { Outcome::Holds };
        gravest.unwrap_or(complete)
    }
}

fn problems(analysis: &Analysis) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (file, judged) in analysis.source.files.iter().zip(&analysis.judged) {
        let source =
            Arc::new(NamedText::new(analysis.protocols.base.show(&file.path), file.text.clone()));
        let mut add = |span: Span, told: &ErrorText, outcome: Outcome| {
            let range = span.byte_range();
            let (line, column) = source.position(range.start);
            problems.push(Problem {
                file: source.name.clone(),
                line,
                column,
                rendered: rendered(told, &source, &range),
                range,
                text: told.text.clone(),
                code: told.code,
                outcome,
            });
        };
        let of_syntax = |error: &syn::Error| ErrorText { text: error.to_string(), code: None };
        for judged in judged {
            let (module, findings) = match judged {
                Ok(judged) => judged,
                Err(error) => {
                    add(error.span(), &of_syntax(error), Outcome::BadInput);
                    continue;
                }
            };
            // Tokens of generated code have no place.
            let anchor = module.arguments.protocol.as_ref().unwrap_or(&module.name).span();
            let place = |span: Span| if span.byte_range().is_empty() { anchor } else { span };
            for error in &module.errors {
                add(error.span(), &of_syntax(error), Outcome::BadInput);
            }
            let outcome = findings.outcome.unwrap_or(Outcome::Fails);
            // The errors of a file are reported with it, unless the module's own limits cause them.
            let files = analysis.protocols.files.iter().enumerate();
            let mut broken = files.filter(|(_, file)| !file.module.diagnostics.is_empty());
            let is_reported = broken.any(|(file, _)| analysis.is_of(module, file));
            let told = findings.told.iter();
            let told = told.filter(|(_, told)| told.code.is_some() || !is_reported);
            told.for_each(|(span, told)| add(place(*span), told, outcome));
        }
    }
    problems.sort_by_cached_key(|problem| (problem.file.clone(), problem.line, problem.column));
    problems
}

/// A mistake as rustc would draw it: plain, then styled.
fn rendered(told: &ErrorText, source: &Arc<NamedText>, range: &Range<usize>) -> [String; 2] {
    let (message, rest) = told.text.split_once('\n').unwrap_or((&told.text, ""));
    let rest = rest.trim_start_matches('\n');
    let mut notice = Notice::error(message).with_code(told.code);
    // Neither a file that has changed since nor a long line, which takes long, is drawn.
    const LONGEST: usize = 4_096;
    let is_short = source.lines(range.clone()).1.len() < LONGEST;
    if is_short && !source.text.is_empty() && source.text.get(range.clone()).is_some() {
        notice.excerpt.mark(source, range.clone(), "");
    }
    let apart = if rest.is_empty() { "" } else { "\n" };
    [false, true].map(|colour| notice.render(colour) + apart + rest)
}
