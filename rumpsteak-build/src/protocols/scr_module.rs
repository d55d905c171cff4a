//! A Scribble module with its imports, read and checked. The build script and the command differ
//! only in where they look for imports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rumpsteak_scribble::{Code, Diagnostic, Limits, Modules, Protocol, SourceId};

use crate::named_text::NamedText;

/// The number of errors that are reported, since each is drawn with its lines.
const MOST: usize = 30;

/// A module and the modules that it imports.
#[derive(Clone, Debug)]
pub struct ScrModule {
    /// The texts of the module and its imports, in the order of their `SourceId`s; at least one.
    pub texts: Vec<Arc<NamedText>>,
    /// The modules, in the same order.
    pub modules: Modules,
    /// The well-formed protocols that roles can play.
    pub protocols: Vec<Protocol>,
    /// The errors, in the order of the text, up to `MOST`. Projections are not tried yet.
    pub diagnostics: Vec<Diagnostic>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

impl ScrModule {
    /// Checks a module and its imports. `find` reads an imported module by its name. `path` is
    /// absolute; without it, the name in the `module` line is not checked.
    pub fn load(
        text: Arc<NamedText>,
        path: Option<&Path>,
        limits: &Limits,
        mut find: impl FnMut(&str) -> Option<Arc<NamedText>>,
    ) -> Self {
        let mut texts = vec![Arc::clone(&text)];
        let (modules, mut diagnostics) = Modules::load(&text.text, |name| {
            let imported = find(name)?;
            let text = imported.text.clone();
            texts.push(imported);
            Some(text)
        });
        if let Some(path) = path {
            let place = path.with_extension("");
            let place: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
            diagnostics.extend(modules.misplaced(&place));
        }
        let checked = modules.check(limits);
        diagnostics.extend(checked.diagnostics);
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary);
        // A text that is too long was not read, and an excerpt would show all of it.
        for diagnostic in &diagnostics {
            if diagnostic.code == Code::TextTooLong
                && let Some(text) = texts.get_mut(diagnostic.primary.source().index())
            {
                *text = Arc::new(NamedText::new(text.name.clone(), ""));
            }
        }
        let (mut diagnostics, warnings): (Vec<_>, _) =
            diagnostics.into_iter().partition(|found| found.is_error);
        let more = diagnostics.len().saturating_sub(MOST);
        diagnostics.truncate(MOST);
        if let Some(last) = diagnostics.last_mut().filter(|_| more > 0) {
            last.notes.push(format!("there are {more} more mistakes"));
        }
        Self { texts, modules, protocols: checked.protocols, diagnostics, warnings }
    }

    /// The text of a source, or else of the module itself.
    pub fn text(&self, source: SourceId) -> &Arc<NamedText> {
        self.texts.get(source.index()).unwrap_or(&self.texts[0])
    }
}

/// The folder that the module `shop.Orders` is relative to, if `path` ends in `shop/Orders.scr`.
pub fn root_of(path: &Path, module: &str) -> Option<PathBuf> {
    let mut folder = path.with_extension("");
    for part in module.rsplit('.') {
        if folder.file_name()?.to_str()? != part {
            return None;
        }
        folder.pop();
    }
    Some(folder)
}
