//! Reading Scribble modules from files.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use rumpsteak_scribble::{Code, Diagnostic, Limits, Modules, Protocol, Span, parse};

use crate::{
    exit::Outcome,
    input::{Reader, Source},
    report::Report,
};

/// What a file of protocols holds.
const SCRIBBLE: &str =
    "a Scribble protocol: `global protocol P(role a, role b) { hello() from a to b; }`";

/// A Scribble module that was read and checked with all that it imports.
#[derive(Debug)]
pub(crate) struct Module {
    /// The module itself, and then what it imports, as spans count them.
    sources: Vec<Rc<Source>>,
    /// What they say, in the same order.
    pub(crate) modules: Modules,
    /// Imported files that are there and cannot be read.
    pub(crate) unreadable: Vec<Report>,
    /// The protocols without errors that are more than helpers of others.
    pub(crate) protocols: Vec<Protocol>,
    /// Every error, sorted.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a module, `-` being standard input.
///
/// A module `shop.Base` that it imports is looked for as `shop/Base.scr`, below the import paths, below the folder that
/// makes the module's own name its place, and below the module's own folder.
///
/// # Errors
/// The file cannot be read. What is wrong in the module is in its diagnostics.
pub(crate) fn read(
    reader: &mut Reader,
    path: &Path,
    import_paths: &[PathBuf],
) -> Result<Module, Report> {
    let source = Rc::new(reader.read(path, SCRIBBLE)?);
    let header = parse(&source.text).module.header;
    let mut roots = import_paths.to_vec();
    let place = place_of(path);
    if path != Path::new("-") {
        if let Some(header) = &header {
            // As it was given first, since imports are shown as they are found.
            let places = [Some(path), place.as_deref()].into_iter().flatten();
            roots.extend(places.filter_map(|place| root_of(place, header.as_str())));
        }
        roots.extend(path.parent().map(Path::to_owned));
    }

    let mut sources = vec![Rc::clone(&source)];
    let mut unreadable = vec![];
    let find = |name: &str| {
        let place = PathBuf::from(name.replace('.', "/") + ".scr");
        let mut places = roots.iter().map(|root| root.join(&place));
        let found = places.find(|place| place.is_file())?;
        match reader.read(&found, SCRIBBLE) {
            Ok(imported) => {
                let text = imported.text.clone();
                sources.push(Rc::new(imported));
                Some(text)
            }
            Err(report) => {
                unreadable.push(report);
                None
            }
        }
    };
    let (modules, mut diagnostics) = Modules::load(&source.text, find);
    if let Some(place) = place {
        let place = place.with_extension("");
        let place: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
        diagnostics.extend(modules.misplaced(&place));
    }
    let checked = modules.check(&Limits::default());
    diagnostics.extend(checked.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary);
    Ok(Module {
        sources,
        modules,
        unreadable,
        protocols: checked.protocols,
        diagnostics,
    })
}

/// Where a file is, with all folders: as many as its `module` line may name. Nothing for standard input.
fn place_of(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") {
        return None;
    }
    // The file was read, so this only fails where the current folder has gone; the path as given is all there is then.
    let place = std::fs::canonicalize(path);
    let name = |path: &Path| path.file_name().map(ToOwned::to_owned);
    match place {
        // A link is called as it was asked for.
        Ok(place) if name(&place) == name(path) => Some(place),
        _ => Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
    }
}

/// The folder below which a module called `shop.Orders` is at `path`, if its path ends in `shop/Orders.scr`.
fn root_of(path: &Path, module: &str) -> Option<PathBuf> {
    let mut folder = path.with_extension("");
    for part in module.rsplit('.') {
        if folder.file_name()?.to_str()? != part {
            return None;
        }
        folder.pop();
    }
    Some(folder)
}

impl Module {
    /// How the file is called.
    pub(crate) fn name(&self) -> &str {
        &self.sources[0].name
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
        report = diagnostic.notes.iter().fold(report, Report::remark);
        report.maybe_help(diagnostic.help.clone())
    }

    /// Adds a place of this module to a report.
    pub(crate) fn mark(&self, report: Report, span: Span, label: &str) -> Report {
        match self.sources.get(span.source().index()) {
            Some(source) => report.mark(source, span.range(), label),
            None => report,
        }
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
