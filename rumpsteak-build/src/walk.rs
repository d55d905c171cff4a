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
//! Files are read once, whatever number of targets they belong to. Nothing recurses: pending modules are on a stack.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use rumpsteak_fsm::sorted::{SortedMap, SortedSet};
use rumpsteak_syntax::role::ROLE_ATTRIBUTES;
use rumpsteak_syntax::set::SET_ATTRIBUTES;
use rumpsteak_syntax::verdict::Target;
use rumpsteak_syntax::{MessageItem, ProtocolItem, RoleItem, SessionItem, SetItem};

use crate::cfg::{Cfg, Truth};
use crate::generate::{self, Generator, Module as Generated, Problem};
use crate::report;
use crate::scan::{Attribute, RawItem, RawItems, RawKind, Visibility, scan, string_value};
use crate::targets::Root;

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
#[derive(Debug)]
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
    pub(crate) kind: ItemKind,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    /// A session, role or message that does not parse: its own macro says why.
    Broken,
    /// The labels of a message type; of a struct, which is its own only label, the types of the fields as well.
    Message(MessageItem, Option<Vec<TokenStream>>),
    /// Any type; of a struct, the types of the fields.
    Other(Option<Vec<TokenStream>>),
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
    /// The tokens of each file, by its path; nothing if it could not be read or is no Rust.
    sources: SortedMap<PathBuf, (FileId, Option<TokenStream>)>,
}

/// A module whose items are still to be read.
struct Pending {
    module: ModuleId,
    items: RawItems,
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
        let Some((file, items)) = self.read(path) else {
            return self.await_file(path);
        };
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
            items,
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

    /// Reads a file and cuts it into items, unless a `#![cfg]` excludes it.
    fn read(&mut self, path: &Path) -> Option<(FileId, RawItems)> {
        let path = normalise(path);
        if !self.sources.contains_key(&path) {
            let text = std::fs::read_to_string(&path).ok()?;
            let text = without_prelude(text);
            let file = FileId(self.tree.files.len());
            self.tree.files.push(File {
                path: path.clone(),
                generated: None,
            });
            self.sources.insert(path.clone(), (file, text.parse().ok()));
        }
        let (file, tokens) = self.sources.get(&path)?;
        let (file, tokens) = (*file, tokens.clone()?);
        let items = scan(tokens, self.cfg);
        (items.condition != Truth::False).then_some((file, items))
    }

    fn module(&mut self, next: Pending, pending: &mut Vec<Pending>) {
        let Pending {
            module,
            items,
            place,
        } = next;
        for item in items.items {
            if item.condition == Truth::False {
                continue;
            }
            match &item.kind {
                RawKind::Module(name, body) => {
                    self.child(module, &item, name, body.clone(), &place, pending);
                }
                RawKind::Use(tree) => {
                    flatten_use(
                        tree,
                        item.visibility,
                        &mut self.tree.modules[module.0].imports,
                    );
                }
                RawKind::ExternCrate { name, alias } => {
                    let path = vec![if name == "self" {
                        "crate".into()
                    } else {
                        unraw(name)
                    }];
                    let import = Import {
                        visibility: item.visibility,
                        leading_colon: false,
                        path,
                        name: Some(unraw(alias)),
                    };
                    self.tree.modules[module.0].imports.push(import);
                }
                RawKind::Include(literal) => {
                    let Some(relative) = string_value(literal) else {
                        continue;
                    };
                    let path = place.folder.join(relative);
                    match self.read(&path) {
                        Some((file, items)) if !place.ancestors.contains(&file) => {
                            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                            let mut place = Place {
                                file,
                                folder,
                                ..place.clone()
                            };
                            place.ancestors.push(file);
                            pending.push(Pending {
                                module,
                                items,
                                place,
                            });
                        }
                        Some(_) => {}
                        None => self.await_file(&path),
                    }
                }
                RawKind::Protocol(arguments) => {
                    self.protocol(module, &item, arguments.clone(), &place, pending);
                }
                RawKind::Other => self.note_include_protocols(module, &item),
                RawKind::Enum(name) | RawKind::Struct(name) | RawKind::Type(name) => {
                    self.declare(module, &item, &name.clone(), place.file);
                }
            }
        }
    }

    fn child(
        &mut self,
        parent: ModuleId,
        item: &RawItem,
        name: &Ident,
        body: Option<TokenStream>,
        place: &Place,
        pending: &mut Vec<Pending>,
    ) {
        if self.tree.modules.len() >= MODULES {
            return;
        }
        let attribute = item
            .attributes
            .iter()
            .find(|attribute| attribute.is("path"));
        let explicit = attribute.and_then(Attribute::string);
        let base = if place.inline {
            &place.children
        } else {
            &place.folder
        };
        let name = unraw(name);
        let (items, place) = match body {
            Some(body) => {
                let items = scan(body, self.cfg);
                if items.condition == Truth::False {
                    return;
                }
                let children = match explicit {
                    Some(explicit) => base.join(explicit),
                    None => place.children.join(&name),
                };
                (
                    items,
                    Place {
                        children,
                        inline: true,
                        ..place.clone()
                    },
                )
            }
            None => {
                let candidates = match &explicit {
                    Some(explicit) => vec![base.join(explicit)],
                    None => vec![
                        place.children.join(format!("{name}.rs")),
                        place.children.join(&name).join("mod.rs"),
                    ],
                };
                let Some(path) = candidates.iter().find(|path| path.is_file()) else {
                    candidates.iter().for_each(|path| self.await_file(path));
                    return;
                };
                let Some((file, items)) = self.read(path) else {
                    return;
                };
                if place.ancestors.contains(&file) {
                    return;
                }
                let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                // A file that `#[path]` names has its children beside it, as a `mod.rs` has.
                let children = if explicit.is_some() {
                    folder.clone()
                } else {
                    place.children.join(&name)
                };
                let mut ancestors = place.ancestors.clone();
                ancestors.push(file);
                (
                    items,
                    Place {
                        file,
                        folder,
                        children,
                        inline: false,
                        ancestors,
                    },
                )
            }
        };
        let krate = self.tree.modules[parent.0].krate;
        let condition = self.tree.modules[parent.0].condition.and(item.condition);
        let condition = condition.and(items.condition);
        let module = self.add_module(name.clone(), krate, Some(parent), condition);
        let named = Named {
            visibility: item.visibility,
            meaning: Meaning::Module(module),
        };
        self.tree.modules[parent.0]
            .names
            .or_default(name)
            .push(named);
        pending.push(Pending {
            module,
            items,
            place,
        });
    }

    /// The module that a `protocol!(…)` makes.
    fn protocol(
        &mut self,
        parent: ModuleId,
        item: &RawItem,
        arguments: TokenStream,
        place: &Place,
        pending: &mut Vec<Pending>,
    ) {
        // What is no call of this macro is that of another one.
        let Ok(call) = ProtocolItem::parse(arguments) else {
            return;
        };
        if self.tree.modules.len() >= MODULES {
            return;
        }
        let name = unraw(&call.name);
        let krate = self.tree.modules[parent.0].krate;
        let generated = self.generator.module(&name);
        let mut inclusion = Inclusion {
            module: parent,
            file: place.file,
            included: None,
            problems: generated.problems.clone(),
            item: call,
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
            inclusion.problems = vec![Problem::fails(report::text::included_twice(&name))];
        } else if let Some(text) = &generated.text {
            if !self.sources.contains_key(&path) {
                let file = FileId(self.tree.files.len());
                self.tree.files.push(File {
                    path: path.clone(),
                    generated: Some(Rc::clone(&generated)),
                });
                let tokens = generate::without_docs(text).parse().ok();
                self.sources.insert(path.clone(), (file, tokens));
            }
            if let Some((file, Some(tokens))) = self.sources.get(&path) {
                let file = *file;
                let items = scan(tokens.clone(), self.cfg);
                inclusion.included = Some(file);
                let condition = self.tree.modules[parent.0].condition.and(item.condition);
                let module =
                    self.add_module(inclusion.item.module(), krate, Some(parent), condition);
                let visibility = match inclusion.item.is_public() {
                    true => Visibility::Public,
                    false => Visibility::Private,
                };
                let named = Named {
                    visibility,
                    meaning: Meaning::Module(module),
                };
                let names = &mut self.tree.modules[parent.0].names;
                names.or_default(inclusion.item.module()).push(named);
                let mut place = Place {
                    file,
                    ..place.clone()
                };
                place.ancestors.push(file);
                pending.push(Pending {
                    module,
                    items,
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

    fn declare(&mut self, module: ModuleId, item: &RawItem, name: &Ident, file: FileId) {
        let kind = classify(item, self.cfg);
        let id = ItemId(self.tree.items.len());
        let named = Named {
            visibility: item.visibility,
            meaning: Meaning::Item(id),
        };
        let line = name.span().start().line;
        let name = unraw(name);
        let condition = self.tree.modules[module.0].condition.and(item.condition);
        self.tree.items.push(Item {
            name: name.clone(),
            module,
            file,
            line,
            condition,
            kind,
        });
        self.tree.modules[module.0]
            .names
            .or_default(name)
            .push(named);
    }

    fn note_include_protocols(&mut self, module: ModuleId, item: &RawItem) {
        let names = item.tokens.windows(2).any(|pair| match pair {
            [TokenTree::Ident(ident), TokenTree::Punct(punct)] => {
                ident == "include_protocols" && punct.as_char() == '!'
            }
            _ => false,
        });
        let krate = self.tree.modules[module.0].krate;
        self.tree.crates[krate.0].includes_protocols |= names;
    }
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
fn classify(item: &RawItem, cfg: &Cfg) -> ItemKind {
    let tokens = || item.tokens.iter().cloned();
    if let Some(session) = item
        .attributes
        .iter()
        .find(|attribute| attribute.is("session"))
    {
        let arguments = session.arguments().unwrap_or_default();
        return SessionItem::parse(arguments, tokens().collect())
            .map_or(ItemKind::Broken, ItemKind::Session);
    }
    let derives = |name| {
        item.attributes
            .iter()
            .any(|attribute| attribute.derives(name))
    };
    // What a derive sees: the attributes that it declares, and the fields or variants that are part of this build.
    let with = |names: &[&str]| -> TokenStream {
        let is_kept = |attribute: &&Attribute| names.iter().any(|name| attribute.is(name));
        let kept = item.attributes.iter().filter(is_kept);
        kept.flat_map(attribute_tokens)
            .chain(configured(&item.tokens, cfg))
            .collect()
    };
    match &item.kind {
        RawKind::Struct(_) if derives("Role") => {
            RoleItem::parse(with(&ROLE_ATTRIBUTES)).map_or(ItemKind::Broken, ItemKind::Role)
        }
        RawKind::Struct(_) if derives("Roles") => match SetItem::parse(with(&SET_ATTRIBUTES)) {
            Ok(Some(set)) => ItemKind::Set(set),
            Ok(None) => ItemKind::Other(fields(&item.tokens)),
            Err(_) => ItemKind::Broken,
        },
        RawKind::Enum(_) if derives("Message") => MessageItem::parse(with(&[]))
            .map_or(ItemKind::Broken, |message| ItemKind::Message(message, None)),
        RawKind::Struct(_) if derives("Message") => MessageItem::parse(with(&["label"]))
            .map_or(ItemKind::Broken, |message| {
                ItemKind::Message(message, fields(&item.tokens))
            }),
        RawKind::Struct(_) => ItemKind::Other(fields(&item.tokens)),
        _ => ItemKind::Other(None),
    }
}

/// The tokens of a struct or an enum without the fields or variants that a `#[cfg]` excludes, as rustc gives them to a
/// derive: with a field goes the comma behind it.
fn configured(tokens: &[TokenTree], cfg: &Cfg) -> Vec<TokenTree> {
    let has_cfg = |stream: TokenStream| {
        stream.into_iter().any(|tree| match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                matches!(group.stream().into_iter().next(),
                    Some(TokenTree::Ident(name)) if name == "cfg" || name == "cfg_attr")
            }
            _ => false,
        })
    };
    let configure = |tree: &TokenTree| match tree {
        TokenTree::Group(group) if has_cfg(group.stream()) => {
            let fields = fields_with_commas(group.stream());
            let included = fields
                .into_iter()
                .filter(|field| !is_excluded(field, cfg))
                .flatten();
            let mut body = Group::new(group.delimiter(), included.collect());
            body.set_span(group.span());
            TokenTree::Group(body)
        }
        other => other.clone(),
    };
    tokens.iter().map(configure).collect()
}

/// Whether a `#[cfg]` before a field or variant is known to exclude it.
fn is_excluded(field: &[TokenTree], cfg: &Cfg) -> bool {
    field.windows(2).any(|pair| match pair {
        [TokenTree::Punct(hash), TokenTree::Group(group)]
            if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            let mut content = group.stream().into_iter();
            match (content.next(), content.next()) {
                (Some(TokenTree::Ident(name)), Some(TokenTree::Group(predicate))) => {
                    name == "cfg" && cfg.evaluate(predicate.stream()) == Truth::False
                }
                _ => false,
            }
        }
        _ => false,
    })
}

fn attribute_tokens(attribute: &Attribute) -> [TokenTree; 2] {
    let span = attribute
        .path
        .first()
        .map_or_else(Span::call_site, Ident::span);
    let mut hash = proc_macro2::Punct::new('#', proc_macro2::Spacing::Alone);
    hash.set_span(span);
    let mut body = Group::new(Delimiter::Bracket, attribute.content.clone());
    body.set_span(span);
    [TokenTree::Punct(hash), TokenTree::Group(body)]
}

/// The types of a struct's fields, without attributes, visibilities and names.
fn fields(tokens: &[TokenTree]) -> Option<Vec<TokenStream>> {
    let is_struct = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "struct");
    let keyword = tokens.iter().position(is_struct)?;
    let mut angles = Angles::default();
    let mut after_where = false;
    let body = tokens[keyword..].iter().find_map(|tree| {
        angles.step(tree);
        after_where |= matches!(tree, TokenTree::Ident(ident) if ident == "where");
        match tree {
            TokenTree::Group(group) if angles.depth == 0 => match group.delimiter() {
                Delimiter::Brace => Some(group),
                Delimiter::Parenthesis if !after_where => Some(group),
                _ => None,
            },
            _ => None,
        }
    });
    let Some(body) = body else {
        return Some(Vec::new());
    };
    let named = body.delimiter() == Delimiter::Brace;
    let mut types = Vec::new();
    for field in split_fields(body.stream()) {
        let mut trees = field.into_iter().peekable();
        while trees.next_if(is_punct('#')).is_some() {
            trees.next();
        }
        if trees
            .next_if(|tree| matches!(tree, TokenTree::Ident(i) if i == "pub"))
            .is_some()
        {
            trees.next_if(is_restriction);
        }
        if named {
            trees.next();
            trees.next_if(is_punct(':'));
        }
        types.push(trees.collect());
    }
    Some(types)
}

fn is_punct(punct: char) -> impl Fn(&TokenTree) -> bool {
    move |tree| matches!(tree, TokenTree::Punct(other) if other.as_char() == punct)
}

/// Whether a group after `pub` restricts it: `(crate)`, `(super)`, `(self)`, `(in …)`.
fn is_restriction(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else {
        return false;
    };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Parenthesis
        && matches!(first, Some(TokenTree::Ident(ident))
            if ["crate", "self", "super", "in"].iter().any(|word| ident == word))
}

/// How many angle brackets are open.
#[derive(Default)]
struct Angles {
    depth: usize,
    /// Whether the last token was a `-`, so that a `>` is the rest of an arrow.
    after_minus: bool,
}

impl Angles {
    fn step(&mut self, tree: &TokenTree) {
        let punct = match tree {
            TokenTree::Punct(punct) => punct.as_char(),
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
fn fields_with_commas(stream: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut fields = vec![Vec::new()];
    let mut angles = Angles::default();
    for tree in stream {
        angles.step(&tree);
        let ends = angles.depth == 0 && is_punct(',')(&tree);
        if let Some(field) = fields.last_mut() {
            field.push(tree);
        }
        if ends {
            fields.push(Vec::new());
        }
    }
    fields.retain(|field| !field.is_empty());
    fields
}

/// Splits at the commas outside angle brackets.
fn split_fields(stream: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut fields = fields_with_commas(stream);
    for field in &mut fields {
        field.pop_if(|last| is_punct(',')(last));
    }
    fields.retain(|field| !field.is_empty());
    fields
}

/// Reads the tree of a `use` into its leaves.
fn flatten_use(tree: &[TokenTree], visibility: Visibility, imports: &mut Vec<Import>) {
    let leading_colon = matches!(tree.first(), Some(tree) if is_punct(':')(tree));
    let mut pending = vec![(tree.to_vec(), Vec::<String>::new(), 0)];
    while let Some((trees, mut path, depth)) = pending.pop() {
        let mut name = None;
        let mut trees = trees.into_iter().peekable();
        let mut is_glob = false;
        let mut is_branch = false;
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(ident) if ident == "as" => {
                    name = trees.next().map(|tree| match tree {
                        TokenTree::Ident(alias) => unraw(&alias),
                        _ => String::new(),
                    });
                }
                // `a::{self}` is `a` itself.
                TokenTree::Ident(ident) if ident == "self" && !path.is_empty() => {}
                TokenTree::Ident(ident) => path.push(unraw(&ident)),
                TokenTree::Punct(punct) if punct.as_char() == '*' => is_glob = true,
                TokenTree::Group(group) => {
                    is_branch = true;
                    if depth < USE_DEPTH {
                        let branches = split_fields(group.stream()).into_iter().rev();
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

pub(crate) fn unraw(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
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
