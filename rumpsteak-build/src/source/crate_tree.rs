//! The module trees of a package, as far as sessions need them.
//!
//! From each target's root file the walk follows `mod x;` (with `#[path]`), inline modules and `include!("…")`, leaves
//! out what `#[cfg]` is known to exclude, and keeps of each module the items that a session may name: modules, imports,
//! types, and among these the session items, roles and messages.
//!
//! What is not found or is no Rust is left to rustc, which says so at the right place. What the walk cannot see at all
//! (items that macros make) is refused by the `#[session]` macro for want of a verdict. So the walk may miss things
//! without harm to soundness, and never fails.
//!
//! Files are read once, whatever number of targets they belong to: a file becomes a [`Source`], which has no tokens any
//! more. Nothing recurses: pending modules are on a stack.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use rumpsteak_contract::lex::lex;
use rumpsteak_contract::role::ROLE_ATTRIBUTES;
use rumpsteak_contract::set::SET_ATTRIBUTES;
use rumpsteak_contract::token::{
    Delimiter, Token, TokenKind, content, push_attribute, tree_len, trees, type_text,
};
use rumpsteak_contract::verdict::Target;
use rumpsteak_contract::{MessageItem, ProtocolItem, RoleItem, SessionItem, SetItem};
use rumpsteak_fsm::sorted::{SortedMap, SortedSet};

use crate::codegen::{Generator, Module as Generated, Problem};
use crate::fault::Cause;
use crate::source::cfg::{Cfg, Truth, split_commas};
use crate::source::items::{
    Attribute, Name, RawItem, RawKind, Tokens, Visibility, scan, string_value,
};
use crate::source::targets::Root;

/// How many modules a package may have in all of its targets together. Reached only by a cycle that this module does
/// not recognise; the rest is then not walked, and the macros say so.
const MODULES: usize = 100_000;

/// How deep the braces of one `use` may be nested.
const USE_DEPTH: usize = 64;

/// All targets of a package.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) crates: Vec<Crate>,
    pub(crate) modules: Vec<Module>,
    pub(crate) items: Vec<Item>,
    pub(crate) files: Vec<File>,
    /// The calls of `protocol!(…)`.
    pub(crate) inclusions: Vec<Inclusion>,
    /// Folders in which a file was looked for in vain: its appearance would change the tree.
    pub(crate) awaited: SortedSet<PathBuf>,
}

/// The module tree of one target.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) target: Target,
    /// The name by which the other targets know a library.
    pub(crate) name: String,
    pub(crate) root: ModuleId,
    /// Whether some module calls `include_protocols!()`, and so reports what belongs to no item.
    pub(crate) includes_protocols: bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct CrateId(pub(crate) usize);

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ModuleId(pub(crate) usize);

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ItemId(pub(crate) usize);

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct FileId(pub(crate) usize);

#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) krate: CrateId,
    pub(crate) parent: Option<ModuleId>,
    /// Whether the module is part of every build.
    pub(crate) condition: Truth,
    /// The items by name; several of one name where conditions are unknown.
    pub(crate) names: SortedMap<String, Vec<Named>>,
    pub(crate) imports: Vec<Import>,
}

/// What a name in a module stands for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Meaning {
    Item(ItemId),
    Module(ModuleId),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) visibility: Visibility,
    pub(crate) meaning: Meaning,
}

/// One leaf of a `use`.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) visibility: Visibility,
    pub(crate) leading_colon: bool,
    pub(crate) path: Vec<String>,
    /// The name in this module; nothing for a glob.
    pub(crate) name: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) module: ModuleId,
    pub(crate) file: FileId,
    /// The line of the name, from 1.
    pub(crate) line: usize,
    /// Whether the item is part of every build of its target: true, or not known.
    pub(crate) condition: Truth,
    pub(crate) kind: Rc<ItemKind>,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    /// A session, role or message that does not parse: its own macro says why.
    Broken,
    /// The labels of a message type; of a struct, which is its own only label, the types of the fields as well.
    Message(MessageItem, Option<Vec<String>>),
    /// Any type; of a struct, the types of the fields.
    Other(Option<Vec<String>>),
    Role(RoleItem),
    Session(SessionItem),
    /// A set of roles that is verified as a whole.
    Set(SetItem),
}

#[derive(Debug)]
pub(crate) struct File {
    /// The path by which the file was read; for generated code, its path below `OUT_DIR`.
    pub(crate) path: PathBuf,
    /// The text of a file that this build generates.
    pub(crate) generated: Option<Rc<Generated>>,
}

/// A `protocol!(…)`.
#[derive(Debug)]
pub(crate) struct Inclusion {
    pub(crate) item: ProtocolItem,
    /// The module in which it stands.
    pub(crate) module: ModuleId,
    /// Where it stands.
    pub(crate) file: FileId,
    /// The file that it includes, if there is one.
    pub(crate) included: Option<FileId>,
    /// What is wrong with what it includes.
    pub(crate) problems: Vec<Problem>,
}

impl Tree {
    /// The path of a module below its crate's root, `a::b`.
    pub(crate) fn module_path(&self, module: ModuleId) -> String {
        let mut names = Vec::new();
        let mut next = Some(module);
        while let Some(ModuleId(index)) = next {
            let module = &self.modules[index];
            if module.parent.is_some() {
                names.push(module.name.as_str());
            }
            next = module.parent;
        }
        names.reverse();
        names.join("::")
    }

    pub(crate) fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0]
    }

    pub(crate) fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    /// The crate that an item is in.
    pub(crate) fn crate_of(&self, id: ItemId) -> &Crate {
        &self.crates[self.module(self.item(id).module).krate.0]
    }

    pub(crate) fn item_ids(&self) -> impl Iterator<Item = ItemId> + use<> {
        (0..self.items.len()).map(ItemId)
    }
}

/// Walks the targets with the given roots, and the modules that `generator` has for `protocol!(…)`.
pub(crate) fn walk(roots: &[Root], cfg: &Cfg, generator: &mut Generator<'_>) -> Tree {
    let mut walker = Walker {
        cfg,
        generator,
        tree: Tree::default(),
        sources: SortedMap::new(),
    };
    for root in roots {
        walker.target(root);
    }
    walker.tree
}

struct Walker<'a, 'g> {
    cfg: &'a Cfg,
    generator: &'a mut Generator<'g>,
    tree: Tree,
    /// Each file by its path; nothing if it could not be read or is no Rust.
    sources: SortedMap<PathBuf, Option<Rc<Source>>>,
}

/// What a file has, whatever module it is.
struct Source {
    file: FileId,
    /// The file itself, then its inline modules.
    bodies: Vec<Body>,
}

/// A file or an inline module.
struct Body {
    /// The conjunction of the inner `#![cfg(…)]`s.
    condition: Truth,
    parts: Vec<Part>,
}

/// An item that matters to sessions.
struct Part {
    condition: Truth,
    visibility: Visibility,
    kind: PartKind,
}

enum PartKind {
    /// A type, with its line.
    Declared(String, usize, Rc<ItemKind>),
    Imports(Vec<Import>),
    /// `include!("…");`
    Include(String),
    /// `include_protocols!();`
    IncludesProtocols,
    Module {
        name: String,
        /// The value of `#[path]`.
        path: Option<String>,
        /// The position of an inline one in the source.
        body: Option<usize>,
    },
    /// `protocol!(…);`
    Protocol(ProtocolItem),
}

/// A module whose items are still to be read.
struct Pending {
    module: ModuleId,
    source: Rc<Source>,
    /// The position of the module in the source.
    body: usize,
    place: Place,
}

/// Where the items of a module are written, which decides where its child modules are.
#[derive(Clone)]
struct Place {
    file: FileId,
    /// The folder of the file.
    folder: PathBuf,
    /// The folder in which `mod x;` is looked for.
    children: PathBuf,
    /// Whether the module is inside an inline one, so that `#[path]` counts from `children`.
    inline: bool,
    /// The files that this one is nested in, itself included: none of them can be a module of it.
    ancestors: Vec<FileId>,
}

impl Walker<'_, '_> {
    fn target(&mut self, root: &Root) {
        let krate = CrateId(self.tree.crates.len());
        let module = self.add_module(String::new(), krate, None, Truth::True);
        let Root { target, path } = root;
        let name = target.name.replace('-', "_");
        let target = target.clone();
        self.tree.crates.push(Crate {
            target,
            name,
            root: module,
            includes_protocols: false,
        });
        let Some(source) = self.read(path) else {
            return self.await_file(path);
        };
        let file = source.file;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let children = folder.clone();
        let place = Place {
            file,
            folder,
            children,
            inline: false,
            ancestors: vec![file],
        };
        let mut pending = vec![Pending {
            module,
            source,
            body: 0,
            place,
        }];
        while let Some(next) = pending.pop() {
            self.module(next, &mut pending);
        }
    }

    fn add_module(
        &mut self,
        name: String,
        krate: CrateId,
        parent: Option<ModuleId>,
        condition: Truth,
    ) -> ModuleId {
        let (names, imports) = (SortedMap::new(), Vec::new());
        self.tree.modules.push(Module {
            name,
            krate,
            parent,
            condition,
            names,
            imports,
        });
        ModuleId(self.tree.modules.len() - 1)
    }

    /// Reads a file, unless a `#![cfg]` excludes it.
    fn read(&mut self, path: &Path) -> Option<Rc<Source>> {
        let path = normalise(path);
        let source = match self.sources.get(&path) {
            Some(known) => known.clone(),
            None => {
                let text = std::fs::read_to_string(&path).ok()?;
                let generated = None;
                self.add_source(path, generated, &without_prelude(text))
            }
        };
        source.filter(|source| source.bodies[0].condition != Truth::False)
    }

    fn add_source(
        &mut self,
        path: PathBuf,
        generated: Option<Rc<Generated>>,
        text: &str,
    ) -> Option<Rc<Source>> {
        let file = FileId(self.tree.files.len());
        let source = Source::read(file, text, self.cfg).map(Rc::new);
        self.sources.insert(path.clone(), source.clone());
        self.tree.files.push(File { path, generated });
        source
    }

    fn module(&mut self, next: Pending, pending: &mut Vec<Pending>) {
        let (module, place) = (next.module, &next.place);
        for part in &next.source.bodies[next.body].parts {
            match &part.kind {
                PartKind::Declared(name, line, kind) => {
                    self.declare(module, part, name, *line, kind, place.file);
                }
                PartKind::Imports(imports) => {
                    let known = &mut self.tree.modules[module.0].imports;
                    known.extend_from_slice(imports);
                }
                PartKind::Include(relative) => {
                    let path = place.folder.join(relative);
                    match self.read(&path) {
                        Some(source) if !place.ancestors.contains(&source.file) => {
                            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                            let mut place = Place {
                                file: source.file,
                                folder,
                                ..place.clone()
                            };
                            place.ancestors.push(source.file);
                            pending.push(Pending {
                                module,
                                source,
                                body: 0,
                                place,
                            });
                        }
                        Some(_) => {}
                        None => self.await_file(&path),
                    }
                }
                PartKind::IncludesProtocols => {
                    let krate = self.tree.modules[module.0].krate;
                    self.tree.crates[krate.0].includes_protocols = true;
                }
                PartKind::Module { name, path, body } => {
                    self.child(&next, part, name, path.as_deref(), *body, pending);
                }
                PartKind::Protocol(call) => {
                    self.protocol(module, part, call, place, pending);
                }
            }
        }
    }

    fn child(
        &mut self,
        outer: &Pending,
        part: &Part,
        name: &str,
        explicit: Option<&str>,
        body: Option<usize>,
        pending: &mut Vec<Pending>,
    ) {
        if self.tree.modules.len() >= MODULES {
            return;
        }
        let (parent, place) = (outer.module, &outer.place);
        let base = if place.inline {
            &place.children
        } else {
            &place.folder
        };
        let (source, place) = match body {
            Some(body) => {
                if outer.source.bodies[body].condition == Truth::False {
                    return;
                }
                let children = match explicit {
                    Some(explicit) => base.join(explicit),
                    None => place.children.join(name),
                };
                let place = Place {
                    children,
                    inline: true,
                    ..place.clone()
                };
                (Rc::clone(&outer.source), place)
            }
            None => {
                let candidates = match explicit {
                    Some(explicit) => vec![base.join(explicit)],
                    None => vec![
                        place.children.join(format!("{name}.rs")),
                        place.children.join(name).join("mod.rs"),
                    ],
                };
                let Some(path) = candidates.iter().find(|path| path.is_file()) else {
                    candidates.iter().for_each(|path| self.await_file(path));
                    return;
                };
                let Some(source) = self.read(path) else {
                    return;
                };
                let file = source.file;
                if place.ancestors.contains(&file) {
                    return;
                }
                let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                // A file that `#[path]` names has its children beside it, as a `mod.rs` has.
                let children = if explicit.is_some() {
                    folder.clone()
                } else {
                    place.children.join(name)
                };
                let mut ancestors = place.ancestors.clone();
                ancestors.push(file);
                let place = Place {
                    file,
                    folder,
                    children,
                    inline: false,
                    ancestors,
                };
                (source, place)
            }
        };
        let body = body.unwrap_or(0);
        let krate = self.tree.modules[parent.0].krate;
        let condition = self.tree.modules[parent.0].condition.and(part.condition);
        let condition = condition.and(source.bodies[body].condition);
        let module = self.add_module(name.to_owned(), krate, Some(parent), condition);
        let named = Named {
            visibility: part.visibility,
            meaning: Meaning::Module(module),
        };
        self.tree.modules[parent.0]
            .names
            .or_default(name.to_owned())
            .push(named);
        pending.push(Pending {
            module,
            source,
            body,
            place,
        });
    }

    /// The module that a `protocol!(…)` makes.
    fn protocol(
        &mut self,
        parent: ModuleId,
        part: &Part,
        call: &ProtocolItem,
        place: &Place,
        pending: &mut Vec<Pending>,
    ) {
        if self.tree.modules.len() >= MODULES {
            return;
        }
        let name = call.name.unraw();
        let krate = self.tree.modules[parent.0].krate;
        let generated = self.generator.module(name);
        let mut inclusion = Inclusion {
            module: parent,
            file: place.file,
            included: None,
            problems: generated.problems.clone(),
            item: call.clone(),
        };
        let here = |module: ModuleId| self.tree.modules[module.0].krate == krate;
        let path = PathBuf::from(&generated.file);
        let known = |file: &FileId| self.tree.files[file.0].path == path;
        let mut earlier = self
            .tree
            .inclusions
            .iter()
            .filter(|other| here(other.module));
        if generated.text.is_some()
            && earlier.any(|other| other.included.as_ref().is_some_and(known))
        {
            inclusion.problems = vec![
                Cause::IncludedTwice {
                    name: name.to_string(),
                }
                .into(),
            ];
        } else if let Some(text) = &generated.text {
            let source = match self.sources.get(&path) {
                Some(known) => known.clone(),
                None => self.add_source(path, Some(Rc::clone(&generated)), text),
            };
            if let Some(source) = source {
                let file = source.file;
                inclusion.included = Some(file);
                let condition = self.tree.modules[parent.0].condition.and(part.condition);
                let module = self.add_module(call.module(), krate, Some(parent), condition);
                let visibility = match call.is_public {
                    true => Visibility::Public,
                    false => Visibility::Private,
                };
                let named = Named {
                    visibility,
                    meaning: Meaning::Module(module),
                };
                let names = &mut self.tree.modules[parent.0].names;
                names.or_default(call.module()).push(named);
                let mut place = Place {
                    file,
                    ..place.clone()
                };
                place.ancestors.push(file);
                pending.push(Pending {
                    module,
                    source,
                    body: 0,
                    place,
                });
            }
        }
        self.tree.inclusions.push(inclusion);
    }

    /// Notes that a file is missing. Cargo watches existing paths only, so the nearest folder stands for it.
    fn await_file(&mut self, path: &Path) {
        let path = normalise(path);
        if let Some(folder) = path.ancestors().skip(1).find(|folder| folder.is_dir()) {
            self.tree.awaited.insert(folder.to_owned());
        }
    }

    fn declare(
        &mut self,
        module: ModuleId,
        part: &Part,
        name: &str,
        line: usize,
        kind: &Rc<ItemKind>,
        file: FileId,
    ) {
        let id = ItemId(self.tree.items.len());
        let named = Named {
            visibility: part.visibility,
            meaning: Meaning::Item(id),
        };
        let condition = self.tree.modules[module.0].condition.and(part.condition);
        self.tree.items.push(Item {
            name: name.to_owned(),
            module,
            file,
            line,
            condition,
            kind: Rc::clone(kind),
        });
        self.tree.modules[module.0]
            .names
            .or_default(name.to_owned())
            .push(named);
    }
}

impl Source {
    /// Reads the text of a file; nothing if it is no Rust.
    fn read(file: FileId, text: &str, cfg: &Cfg) -> Option<Self> {
        let tokens = lex(text)?;
        let empty = || Body {
            condition: Truth::True,
            parts: Vec::new(),
        };
        let mut bodies = vec![empty()];
        let mut pending = vec![(0, &tokens[..])];
        while let Some((position, tokens)) = pending.pop() {
            let items = scan(tokens, cfg);
            let mut parts = Vec::with_capacity(items.items.len());
            for item in &items.items {
                let kind = match item.condition {
                    Truth::False => None,
                    _ => part(item, cfg, |body| {
                        bodies.push(empty());
                        pending.push((bodies.len() - 1, body));
                        bodies.len() - 1
                    }),
                };
                parts.extend(kind.map(|kind| Part {
                    condition: item.condition,
                    visibility: item.visibility,
                    kind,
                }));
            }
            let condition = items.condition;
            bodies[position] = Body { condition, parts };
        }
        Some(Self { file, bodies })
    }
}

/// What an item is to sessions; nothing if it does not matter. `inline` takes the body of a module and returns its
/// position.
fn part<'s, 'a>(
    item: &RawItem<'s, 'a>,
    cfg: &Cfg,
    inline: impl FnOnce(Tokens<'s, 'a>) -> usize,
) -> Option<PartKind> {
    Some(match item.kind {
        RawKind::Module(name, body) => {
            let path = item.attributes.iter().find(|a| a.is("path"));
            PartKind::Module {
                name: unraw(name).to_owned(),
                path: path.and_then(Attribute::string),
                body: body.map(inline),
            }
        }
        RawKind::Use(tree) => {
            let mut imports = Vec::new();
            flatten_use(tree, item.visibility, &mut imports);
            PartKind::Imports(imports)
        }
        RawKind::ExternCrate { name, alias } => {
            let name = match name {
                "self" => "crate",
                name => unraw(name),
            };
            PartKind::Imports(vec![Import {
                visibility: item.visibility,
                leading_colon: false,
                path: vec![name.to_owned()],
                name: Some(unraw(alias).to_owned()),
            }])
        }
        RawKind::Include(literal) => PartKind::Include(string_value(literal)?),
        RawKind::Protocol(arguments) => {
            // What is no call of this macro is that of another one.
            let call = ProtocolItem::parse(arguments).ok()?;
            PartKind::Protocol(call)
        }
        RawKind::Other => {
            return includes_protocols(item.tokens).then_some(PartKind::IncludesProtocols);
        }
        RawKind::Enum(name) | RawKind::Struct(name) | RawKind::Type(name) => {
            let (name, span): Name<'a> = name;
            let kind = Rc::new(classify(item, cfg));
            PartKind::Declared(unraw(name).to_owned(), span.line, kind)
        }
    })
}

fn includes_protocols(tokens: Tokens<'_, '_>) -> bool {
    let mut next = 0;
    while next + 1 < tokens.len() {
        if tokens[next].as_ident() == Some("include_protocols") && tokens[next + 1].is_punct('!') {
            return true;
        }
        next += tree_len(&tokens[next..]);
    }
    false
}

/// Blanks out what rustc steps over and lexing does not, a byte order mark and a first line `#!…`, so that all places stay.
fn without_prelude(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.replace_range(..'\u{feff}'.len_utf8(), "   ");
    }
    let is_attribute = |rest: &str| rest.trim_start().starts_with('[');
    if text
        .trim_start()
        .strip_prefix("#!")
        .is_some_and(|rest| !is_attribute(rest))
    {
        let end = text.find('\n').unwrap_or(text.len());
        text.replace_range(..end, &" ".repeat(end));
    }
    text
}

/// What a type is to sessions, by its attributes.
fn classify(item: &RawItem<'_, '_>, cfg: &Cfg) -> ItemKind {
    if let Some(session) = item
        .attributes
        .iter()
        .find(|attribute| attribute.is("session"))
    {
        let arguments = session.arguments().unwrap_or_default();
        return SessionItem::parse(arguments, item.tokens)
            .map_or(ItemKind::Broken, ItemKind::Session);
    }
    let derives = |name| {
        item.attributes
            .iter()
            .any(|attribute| attribute.derives(name))
    };
    // What a derive sees: the attributes that it declares, and the fields or variants that are part of this build.
    let with = |names: &[&str]| {
        let mut tokens = Vec::with_capacity(item.tokens.len());
        for attribute in &item.attributes {
            if names.contains(&attribute.name) {
                push_attribute(&mut tokens, attribute.content);
            }
        }
        push_configured(&mut tokens, item.tokens, cfg);
        tokens
    };
    match &item.kind {
        RawKind::Struct(_) if derives("Role") => {
            RoleItem::parse(&with(&ROLE_ATTRIBUTES)).map_or(ItemKind::Broken, ItemKind::Role)
        }
        RawKind::Struct(_) if derives("Roles") => match SetItem::parse(&with(&SET_ATTRIBUTES)) {
            Ok(Some(set)) => ItemKind::Set(set),
            Ok(None) => ItemKind::Other(fields(item.tokens)),
            Err(_) => ItemKind::Broken,
        },
        RawKind::Enum(_) if derives("Message") => MessageItem::parse(&with(&[]))
            .map_or(ItemKind::Broken, |message| ItemKind::Message(message, None)),
        RawKind::Struct(_) if derives("Message") => MessageItem::parse(&with(&["label"]))
            .map_or(ItemKind::Broken, |message| {
                ItemKind::Message(message, fields(item.tokens))
            }),
        RawKind::Struct(_) => ItemKind::Other(fields(item.tokens)),
        _ => ItemKind::Other(None),
    }
}

/// Appends the tokens of a struct or an enum without the fields or variants that a `#[cfg]` excludes, as rustc gives them
/// to a derive: with a field goes the comma behind it.
fn push_configured<'a>(configured: &mut Vec<Token<'a>>, tokens: &[Token<'a>], cfg: &Cfg) {
    // In most items there is none, which shows sooner than where it would be.
    let is_cfg = |token: &Token<'_>| matches!(token.as_ident(), Some("cfg" | "cfg_attr"));
    if !tokens.iter().any(is_cfg) {
        configured.extend_from_slice(tokens);
        return;
    }
    let has_cfg = |tree: &[Token<'_>]| {
        trees(content(tree))
            .any(|tree| tree[0].opens(Delimiter::Bracket) && tree.get(1).is_some_and(is_cfg))
    };
    for tree in trees(tokens) {
        match tree {
            [open, inner @ .., close] if has_cfg(tree) => {
                configured.push(*open);
                for field in fields_with_commas(inner) {
                    if !is_excluded(field, cfg) {
                        configured.extend_from_slice(field);
                    }
                }
                configured.push(*close);
            }
            _ => configured.extend_from_slice(tree),
        }
    }
}

/// Whether a `#[cfg]` before a field or variant is known to exclude it.
fn is_excluded(field: &[Token<'_>], cfg: &Cfg) -> bool {
    let mut after_hash = false;
    trees(field).any(|tree| {
        let excludes = after_hash
            && tree[0].opens(Delimiter::Bracket)
            && match content(tree) {
                [name, predicate @ ..] => {
                    let is_list =
                        matches!(predicate, [first, ..] if first.opens(Delimiter::Parenthesis));
                    is_list
                        && name.as_ident() == Some("cfg")
                        && cfg.evaluate(content(&predicate[..tree_len(predicate)])) == Truth::False
                }
                [] => false,
            };
        after_hash = tree[0].is_punct('#');
        excludes
    })
}

/// The types of a struct's fields, without attributes, visibilities and names.
fn fields(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    let is_struct = |token: &Token<'_>| token.as_ident() == Some("struct");
    let keyword = tokens.iter().position(is_struct)?;
    let mut angles = Angles::default();
    let mut after_where = false;
    let body = trees(&tokens[keyword..]).find(|tree| {
        angles.step(&tree[0]);
        after_where |= tree[0].as_ident() == Some("where");
        angles.depth == 0
            && match tree[0].kind {
                TokenKind::Open(Delimiter::Brace) => true,
                TokenKind::Open(Delimiter::Parenthesis) => !after_where,
                _ => false,
            }
    });
    let body = body.unwrap_or_default();
    let named = matches!(body, [first, ..] if first.opens(Delimiter::Brace));
    let mut types = Vec::new();
    for mut field in fields_with_commas(content(body)) {
        if let [rest @ .., last] = field
            && last.is_punct(',')
        {
            field = rest;
        }
        if field.is_empty() {
            continue;
        }
        while let [hash, rest @ ..] = field
            && hash.is_punct('#')
        {
            field = &rest[tree_len(rest)..];
        }
        if let [word, rest @ ..] = field
            && word.as_ident() == Some("pub")
        {
            field = rest;
            if is_restriction(rest) {
                field = &rest[tree_len(rest)..];
            }
        }
        if named {
            field = field.get(1..).unwrap_or_default();
            if let [colon, rest @ ..] = field
                && colon.is_punct(':')
            {
                field = rest;
            }
        }
        types.push(type_text(field));
    }
    Some(types)
}

/// Whether what follows `pub` restricts it: `(crate)`, `(super)`, `(self)`, `(in …)`.
fn is_restriction(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [open, word, ..] => {
            let word = word.as_ident();
            open.opens(Delimiter::Parenthesis)
                && matches!(word, Some("crate" | "self" | "super" | "in"))
        }
        _ => false,
    }
}

/// How many angle brackets are open.
#[derive(Default)]
struct Angles {
    depth: usize,
    /// Whether the last token was a `-`, so that a `>` is the rest of an arrow.
    after_minus: bool,
}

impl Angles {
    fn step(&mut self, token: &Token<'_>) {
        let punct = match token.kind {
            TokenKind::Punct(punct, _) => punct,
            _ => ' ',
        };
        match punct {
            '<' => self.depth += 1,
            '>' if !self.after_minus => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.after_minus = punct == '-';
    }
}

/// Splits behind the commas outside angle brackets.
fn fields_with_commas<'s, 'a>(mut tokens: Tokens<'s, 'a>) -> Vec<Tokens<'s, 'a>> {
    let mut fields = Vec::new();
    let mut angles = Angles::default();
    let mut end = 0;
    while end < tokens.len() {
        let token = &tokens[end];
        angles.step(token);
        end += tree_len(&tokens[end..]);
        if angles.depth == 0 && token.is_punct(',') {
            let (field, rest) = tokens.split_at(end);
            fields.push(field);
            (tokens, end) = (rest, 0);
        }
    }
    if !tokens.is_empty() {
        fields.push(tokens);
    }
    fields
}

/// Reads the tree of a `use` into its leaves.
fn flatten_use(tree: Tokens<'_, '_>, visibility: Visibility, imports: &mut Vec<Import>) {
    let leading_colon = matches!(tree, [first, ..] if first.is_punct(':'));
    let mut pending = vec![(tree, Vec::<String>::new(), 0)];
    while let Some((tokens, mut path, depth)) = pending.pop() {
        let mut name = None;
        let mut trees = trees(tokens);
        let mut is_glob = false;
        let mut is_branch = false;
        while let Some(tree) = trees.next() {
            match tree[0].kind {
                TokenKind::Ident("as") => {
                    let alias = trees.next().and_then(|tree| tree[0].as_ident());
                    name = Some(alias.map_or("", unraw).to_owned());
                }
                // `a::{self}` is `a` itself.
                TokenKind::Ident("self") if !path.is_empty() => {}
                TokenKind::Ident(ident) => path.push(unraw(ident).to_owned()),
                TokenKind::Punct('*', _) => is_glob = true,
                TokenKind::Open(_) => {
                    is_branch = true;
                    if depth < USE_DEPTH {
                        let branches = split_commas(content(tree)).into_iter().rev();
                        let branches = branches.filter(|branch| !branch.is_empty());
                        pending.extend(branches.map(|branch| (branch, path.clone(), depth + 1)));
                    }
                }
                _ => {}
            }
        }
        if is_branch {
            continue;
        }
        let name = if is_glob {
            None
        } else {
            name.or_else(|| path.last().cloned())
        };
        if !path.is_empty() && name.as_deref() != Some("_") || is_glob {
            imports.push(Import {
                visibility,
                leading_colon,
                path,
                name,
            });
        }
    }
}

pub(crate) fn unraw(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// A path without `.` and, where that needs no look at the file system, without `..`.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
