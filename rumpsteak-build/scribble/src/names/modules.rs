//! A module with all its imports.
//!
//! Imports are followed breadth first, each module once, so modules may import each other. The
//! caller reads the files: this crate knows names only.

use hashbrown::HashMap;

use super::program::Source;
use super::resolve::earlier;
use crate::diagnostics::{Diagnostic, Name, SourceId, Span, diagnostic, name_errors};
use crate::syntax::ast::{Declaration, Import, Module};
use crate::syntax::parser;

/// The conventional file of a module, relative to the import path: `shop/Base.scr` for the full
/// name `shop.Base`. The separator is `/` on every system.
pub fn file_of_module(name: &str) -> String {
    name.replace('.', "/") + ".scr"
}

/// A module, and all modules that it imports directly or indirectly.
#[derive(Clone, Debug)]
pub struct Modules {
    pub(crate) loaded: Vec<Source>,
}

impl Modules {
    /// Parses `source` and everything that it imports. `find` returns the text of the module with a
    /// full name such as `shop.Base`, by convention from [`file_of_module`] below the import path,
    /// or `None` if it does not exist. It is called once for each name.
    ///
    /// The errors are about the texts and the imports: modules that are missing, import themselves
    /// or have another name in their `module` line, and two modules visible under one name. Spans
    /// tell the texts apart ([`Span::source`]): first the root, then the others in the order in
    /// which they were found.
    ///
    /// Cyclic imports are allowed: protocols are called, not executed on import.
    ///
    /// ```
    /// use rumpsteak_scribble::Modules;
    ///
    /// let base = "aux global protocol Ping(role A, role B) { ping() from A to B; }";
    /// let (modules, errors) = Modules::load(
    ///     "import shop.Base as B; global protocol P(role A, role B) { do B.Ping(A, B); }",
    ///     |name| (name == "shop.Base").then(|| base.to_owned()),
    /// );
    /// assert_eq!(errors, []);
    /// let checked = modules.check(&Default::default());
    /// assert_eq!(checked.diagnostics, []);
    /// assert_eq!(checked.protocols[0].states(), 2);
    /// ```
    pub fn load(source: &str, find: impl FnMut(&str) -> Option<String>) -> (Self, Vec<Diagnostic>) {
        let root = parser::parse(source);
        let name = root.module.header.as_ref();
        let mut loader = Loader {
            find,
            known: name.map(|name| (name.to_string(), Some(0))).into_iter().collect(),
            loaded: vec![Source { module: root.module, imports: Vec::new() }],
            diagnostics: root.diagnostics,
        };
        let mut at = 0;
        while at < loader.loaded.len() {
            let imports = loader.loaded[at].module.imports.clone();
            let found = imports.iter().map(|import| loader.import(at, import)).collect();
            loader.loaded[at].imports = found;
            clashes(&loader.loaded[at].module, &mut loader.diagnostics);
            at += 1;
        }
        let Loader { loaded, mut diagnostics, .. } = loader;
        diagnostic::sort(&mut diagnostics);
        (Self { loaded }, diagnostics)
    }

    /// Compares the `module` line of the root with the path of its file. `place` is the path:
    /// folders first, and the name of the file without `.scr` last. Returns `None` if there is no
    /// such line, or if the path ends with the parts of the name.
    ///
    /// Another file name is an error. If only the folders differ, it is a
    /// warning, unless a module imports the root by this name: the
    /// import would not find it.
    ///
    /// ```
    /// use rumpsteak_scribble::Modules;
    ///
    /// let (modules, _) = Modules::load("module shop.Orders;", |_| None);
    /// assert_eq!(modules.misplaced(&["home", "shop", "Orders"]), None);
    /// let moved = modules.misplaced(&["home", "market", "Orders"]).unwrap();
    /// assert!(!moved.is_error);
    /// let error = modules.misplaced(&["home", "shop", "Basket"]).unwrap();
    /// assert!(error.is_error);
    /// assert_eq!(error.message, "the module in `Basket.scr` calls itself `shop.Orders`");
    /// ```
    pub fn misplaced(&self, place: &[impl AsRef<str>]) -> Option<Diagnostic> {
        let header = self.root().header.as_ref()?;
        let parts: Vec<&str> = header.as_str().split('.').collect();
        let place: Vec<&str> = place.iter().map(AsRef::as_ref).collect();
        let expected = &place[place.len().saturating_sub(parts.len())..];
        if parts == expected {
            return None;
        }
        let file = place.last().copied().unwrap_or_default();
        // If no part of the name is right, expect the name of the file without folders.
        let is_near = parts.iter().zip(expected).any(|(part, place)| part == place);
        let expected = if is_near { expected } else { &place[place.len().saturating_sub(1)..] };
        // The names of folders and files need not be valid names of modules.
        let is_name = |part: &&str| {
            !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let is_imported = self.loaded[1..].iter().any(|loaded| loaded.imports.contains(&Some(0)));
        let is_error = parts.last() != Some(&file) || is_imported;
        let label = match expected.iter().all(is_name) {
            true => format!("expected `{}`", expected.join(".")),
            false => "not the name of the file".to_owned(),
        };
        let right = file_of_module(header.as_str());
        let found = name_errors::misplaced_module(header, file, &label, &right);
        Some(if is_error { found } else { found.warning() })
    }

    /// The module that was loaded; the others are its imports.
    pub fn root(&self) -> &Module {
        &self.loaded[0].module
    }

    /// All modules, the root first.
    pub fn iter(&self) -> impl Iterator<Item = &Module> {
        self.loaded.iter().map(|loaded| &loaded.module)
    }

    /// Finds the declaration of a sort that occurs in a projected machine: in the root, or else in
    /// the first module that declares it. A declaration for Rust precedes those for other
    /// languages.
    pub fn sort(&self, name: &str) -> Option<&Declaration> {
        let found = self.iter().filter_map(|module| module.sort(name));
        found.min_by_key(|found| found.schema.as_str() != "rust")
    }
}

struct Loader<F> {
    find: F,
    /// The modules that were looked for, by full name; `None` for a missing one.
    known: HashMap<String, Option<usize>>,
    loaded: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
}

impl<F: FnMut(&str) -> Option<String>> Loader<F> {
    /// The position of a module that the module at `own` imports. Loads it at the first import.
    fn import(&mut self, own: usize, import: &Import) -> Option<usize> {
        let name = &import.module;
        if !self.known.contains_key(name.as_str()) {
            let position = self.read(name);
            self.known.insert(name.to_string(), position);
        }
        let position = self.known[name.as_str()];
        if position.is_none() {
            let file = file_of_module(name.as_str());
            self.diagnostics.push(name_errors::missing_module(name, &file));
        } else if position == Some(own) {
            self.diagnostics.push(name_errors::self_import(name));
        }
        position
    }

    fn read(&mut self, name: &Name) -> Option<usize> {
        let position = self.loaded.len();
        let text = (self.find)(name.as_str())?;
        let parsed = parser::parse_source(&text, SourceId::from_index(position)?);
        self.diagnostics.extend(parsed.diagnostics);
        if let Some(header) = &parsed.module.header
            && header.text != name.text
        {
            self.diagnostics.push(name_errors::other_module(name, header));
        }
        self.loaded.push(Source { module: parsed.module, imports: Vec::new() });
        Some(position)
    }
}

/// Reports modules that are visible under one name. A module is visible under its alias, or else
/// under its full name; to itself it is also visible under the last part of its name.
fn clashes(module: &Module, diagnostics: &mut Vec<Diagnostic>) {
    let mut visible: HashMap<&str, Span> = HashMap::new();
    let own = module.header.as_ref().map(Name::as_str);
    if let Some(header) = &module.header {
        let last = header.as_str().rsplit('.').next().unwrap_or_default();
        visible.extend([header.as_str(), last].map(|name| (name, header.span)));
    }
    // A module that imports itself is reported elsewhere.
    for import in module.imports.iter().filter(|import| own != Some(import.module.as_str())) {
        let name = import.alias.as_ref().unwrap_or(&import.module);
        let first = earlier(&mut visible, name);
        diagnostics.extend(first.map(|first| name_errors::module_clash(name, first)));
    }
}
