//! Reading Scribble modules from files.

use std::{path::Path, rc::Rc};

use rumpsteak_scribble::{Code, Diagnostic, Protocol, Span, check, parse};

use crate::{
    exit::Outcome,
    input::{Reader, Source},
    report::Report,
};

/// A Scribble module that was read and checked.
#[derive(Debug)]
pub(crate) struct Module {
    source: Rc<Source>,
    /// The protocols without errors that are more than helpers of others.
    pub(crate) protocols: Vec<Protocol>,
    /// Every error, sorted.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a module, `-` being standard input.
///
/// # Errors
/// The file cannot be read. What is wrong in the module is in its diagnostics.
pub(crate) fn read(reader: &mut Reader, path: &Path) -> Result<Module, Report> {
    let what = "a Scribble protocol: `global protocol P(role a, role b) { hello() from a to b; }`";
    let source = Rc::new(reader.read(path, what)?);
    let parsed = parse(&source.text);
    let checked = check(&parsed.module);
    let mut diagnostics = parsed.diagnostics;
    diagnostics.extend(checked.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary);
    Ok(Module {
        source,
        protocols: checked.protocols,
        diagnostics,
    })
}

impl Module {
    /// How the file is called.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    /// Diagnostics of this module, ready to print.
    pub(crate) fn reports<'a>(
        &'a self,
        diagnostics: &'a [Diagnostic],
    ) -> impl Iterator<Item = Report> + 'a {
        diagnostics.iter().map(|diagnostic| self.report(diagnostic))
    }

    /// A diagnostic of this module, ready to print.
    fn report(&self, diagnostic: &Diagnostic) -> Report {
        let code = diagnostic.code.as_str();
        let mut report = Report::error(diagnostic.message.clone()).code(code);
        report = self.mark(report, diagnostic.primary, &diagnostic.label);
        for (span, label) in &diagnostic.secondary {
            report = self.mark(report, *span, label);
        }
        report.maybe_help(diagnostic.help.clone())
    }

    /// Adds a place of this module to a report.
    pub(crate) fn mark(&self, report: Report, span: Span, label: &str) -> Report {
        report.mark(&self.source, span.range(), label)
    }
}

/// What errors mean for the exit status: a text that is no Scribble cannot be judged; a search that was given up
/// decides nothing; anything else is a protocol that does not hold.
pub(crate) fn outcome(diagnostics: &[Diagnostic]) -> Outcome {
    let outcome = |diagnostic: &Diagnostic| match diagnostic.code {
        Code::TooLarge | Code::ProjectionTooLarge => Outcome::Undecided,
        // The role was named in the call.
        Code::NoSuchRole => Outcome::BadInput,
        // S01: tokens and grammar.
        code if code.as_str().starts_with("S01") => Outcome::BadInput,
        _ => Outcome::Fails,
    };
    diagnostics
        .iter()
        .map(outcome)
        .max()
        .unwrap_or(Outcome::Holds)
}
