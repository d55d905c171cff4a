//! A module with all that it imports.
//!
//! Imports are followed breadth first, each module once, so that modules may import each other. Who reads the
//! texts is the caller's business: this crate knows names only.

use rumpsteak_fsm::hashed::HashedMap;

use crate::{
    check::{self, Checked, Limits},
    diagnostics::code as codes,
    diagnostics::diagnostic::{self, Diagnostic},
    diagnostics::span::{SourceId, Span},
    names::resolve::Source,
    syntax::ast::{Declaration, Module, Name},
    syntax::parser,
};

/// A module and, directly or not, the modules that it imports.
#[derive(Clone, Debug)]
pub struct Modules {
    loaded: Vec<Loaded>,
}

#[derive(Clone, Debug)]
struct Loaded {
    /// The name under which it was asked for; the root has that of its header, if any.
    name: Option<String>,
    module: Module,
    /// For each import the module that it means, unless it could not be loaded.
    imports: Vec<Option<usize>>,
}

impl Modules {
    /// Parses `source` and everything that it imports. `find` gives the text of the module with a full name such as
    /// `shop.Base`, by convention that of the file `shop/Base.scr` below the import path, or nothing if there is none. It
    /// is called once for each name.
    ///
    /// The errors are those of all texts, and of the imports themselves: modules that are missing, that
    /// import themselves or call themselves something else, and two modules visible under one name. Their spans tell
    /// the texts apart ([`Span::source`](crate::Span::source), [`name`](Self::name)).
    ///
    /// Modules may import each other; a cycle of imports is no mistake, since protocols are called and not executed on import.
    ///
    /// ```
    /// use rumpsteak_scribble::Modules;
    ///
    /// let (modules, errors) = Modules::load(
    ///     "import shop.Base as B; global protocol P(role A, role B) { do B.Ping(A, B); }",
    ///     |name| match name {
    ///         "shop.Base" => Some("aux global protocol Ping(role A, role B) { ping() from A to B; }".to_owned()),
    ///         _ => None,
    ///     },
    /// );
    /// assert_eq!(errors, []);
    /// let checked = modules.check(&Default::default());
    /// assert_eq!(checked.diagnostics, []);
    /// assert_eq!(checked.protocols[0].states(), 2);
    /// ```
    pub fn load(
        source: &str,
        mut find: impl FnMut(&str) -> Option<String>,
    ) -> (Self, Vec<Diagnostic>) {
        let mut known: HashedMap<String, Option<usize>> = HashedMap::new();
        let parsed = parser::parse(source);
        let mut diagnostics = parsed.diagnostics;
        let name = parsed.module.header.as_ref().map(Name::to_string);
        if let Some(name) = &name {
            known.insert(name.clone(), Some(0));
        }
        let mut loaded = vec![Loaded {
            name,
            module: parsed.module,
            imports: Vec::new(),
        }];
        let mut at = 0;
        while at < loaded.len() {
            let mut imports = Vec::new();
            for import in loaded[at].module.imports.clone() {
                let name = import.module.as_str();
                let position = match known.get(name) {
                    Some(&position) => position,
                    None => {
                        let found = find(name)
                            .and_then(|text| Some((text, SourceId::from_index(loaded.len())?)));
                        let position = found.map(|(text, source)| {
                            let parsed = parser::parse_source(&text, source);
                            diagnostics.extend(parsed.diagnostics);
                            if let Some(header) = &parsed.module.header
                                && header.as_str() != name
                            {
                                diagnostics.push(codes::other_module(
                                    name,
                                    import.module.span,
                                    header.as_str(),
                                    header.span,
                                ));
                            }
                            loaded.push(Loaded {
                                name: Some(name.to_owned()),
                                module: parsed.module,
                                imports: Vec::new(),
                            });
                            loaded.len() - 1
                        });
                        known.insert(name.to_owned(), position);
                        position
                    }
                };
                match position {
                    Some(position) if position == at => {
                        diagnostics.push(codes::self_import(name, import.module.span));
                    }
                    Some(_) => {}
                    None => {
                        diagnostics.push(codes::missing_module(name, import.module.span));
                    }
                }
                imports.push(position);
            }
            clashes(&loaded[at].module, &mut diagnostics);
            loaded[at].imports = imports;
            at += 1;
        }
        diagnostic::sort(&mut diagnostics);
        (Self { loaded }, diagnostics)
    }

    /// Whether the root calls itself something else than its place: nothing if it has no `module` line, or if `place` ends in
    /// the parts of the name. `place` is the path of its file, folders first and the name of the file without `.scr` last.
    ///
    /// A module that is imported was found by its full name, and [`load`](Self::load) compares the two. Nobody has named the root,
    /// and its folders may go on above the import path; so as many of them are compared as its name has. A text without
    /// a file has no place, and any name.
    ///
    /// ```
    /// use rumpsteak_scribble::Modules;
    ///
    /// let (modules, _) = Modules::load("module shop.Orders;", |_| None);
    /// assert_eq!(modules.misplaced(&["home", "shop", "Orders"]), None);
    /// let error = modules.misplaced(&["home", "shop", "Basket"]).map(|error| error.message);
    /// assert_eq!(error.as_deref(), Some("the module in `Basket.scr` calls itself `shop.Orders`"));
    /// ```
    pub fn misplaced(&self, place: &[impl AsRef<str>]) -> Option<Diagnostic> {
        let header = self.root().header.as_ref()?;
        let parts = header.as_str().split('.').count();
        let place: Vec<&str> = place.iter().map(AsRef::as_ref).collect();
        let expected = &place[place.len().saturating_sub(parts)..];
        if header.as_str().split('.').eq(expected.iter().copied()) {
            return None;
        }
        let file = place.last().copied().unwrap_or_default();
        // Where no part of the name is right, the folders need not be meant: the file's own name is enough.
        let is_near =
            (header.as_str().split('.').zip(expected)).any(|(part, &place)| part == place);
        let expected = match is_near {
            true => expected,
            false => &place[place.len().saturating_sub(1)..],
        };
        // Folders and files may have names that no module can have.
        let is_name = |part: &&str| {
            let mut letters = part.chars();
            part.chars().next().is_some()
                && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let expected = expected.iter().all(is_name).then(|| expected.join("."));
        Some(codes::misplaced_module(
            header.as_str(),
            header.span,
            file,
            expected.as_deref(),
        ))
    }

    /// The module that was asked for.
    pub fn root(&self) -> &Module {
        &self.loaded[0].module
    }

    /// All modules, the root first.
    pub fn iter(&self) -> impl Iterator<Item = &Module> {
        self.loaded.iter().map(|loaded| &loaded.module)
    }

    /// The full name of a module; nothing for a root without a header, and for a source that does not exist.
    pub fn name(&self, source: SourceId) -> Option<&str> {
        self.loaded.get(source.index())?.name.as_deref()
    }

    /// The declaration of the sort `name` as it occurs in a projected machine: in the root, or else in the
    /// first module that declares it.
    pub fn sort(&self, name: &str) -> Option<&Declaration> {
        self.iter().find_map(|module| module.sort(name))
    }

    /// The declaration of the message `name`, found in the same way.
    pub fn signature(&self, name: &str) -> Option<&Declaration> {
        self.iter().find_map(|module| module.signature(name))
    }

    /// Checks all modules, as [`check`](crate::check()) does one. The protocols are those of the root; the errors those of all.
    pub fn check(&self, limits: &Limits) -> Checked {
        let sources: Vec<Source<'_>> = self
            .loaded
            .iter()
            .map(|loaded| Source {
                module: &loaded.module,
                imports: loaded.imports.clone(),
            })
            .collect();
        let mut diagnostics = Vec::new();
        let protocols = check::check_sources(&sources, limits, &mut diagnostics);
        diagnostic::sort(&mut diagnostics);
        Checked {
            protocols,
            diagnostics,
        }
    }
}

/// Modules that are visible under one name. A module is visible under its full name and, to itself, under
/// its last name too; an alias replaces the full name.
fn clashes(module: &Module, diagnostics: &mut Vec<Diagnostic>) {
    let mut visible: HashedMap<&str, Span> = HashedMap::new();
    if let Some(header) = &module.header {
        visible.insert(header.as_str(), header.span);
        if let Some((_, last)) = header.as_str().rsplit_once('.') {
            visible.insert(last, header.span);
        }
    }
    for import in &module.imports {
        let own = module.header.as_ref().map(Name::as_str);
        if own == Some(import.module.as_str()) {
            // An error of its own.
            continue;
        }
        let name = import.alias.as_ref().unwrap_or(&import.module);
        match visible.get(name.as_str()) {
            Some(first) => {
                let text = name.as_str();
                diagnostics.push(codes::module_clash(text, name.span, *first));
            }
            None => {
                visible.insert(name.as_str(), name.span);
            }
        }
    }
}
