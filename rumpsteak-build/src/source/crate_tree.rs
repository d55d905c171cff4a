//! The module trees of a package, as far as sessions need them.
//!
//! From each target's root file the [`walk`] follows `mod x;` (with `#[path]`), inline modules and
//! `include!("…")`, leaves out what `#[cfg]` is known to exclude, and keeps of each module the
//! items that a session may name: modules, imports, types, and among these the session items, roles
//! and messages. It lists each `protocol!(…)`; [`graft`] adds the code that was generated for it.
//!
//! What is not found or is no Rust is left to rustc, which says so at the right place. What the
//! walk cannot see (items that macros make) is refused by the `#[session]` macro for want of a
//! verdict. So the walk may miss things without harm to soundness, and never fails.
//!
//! A file that belongs to several targets is read once, into a [`Source`] without tokens. Nothing
//! recurses: pending modules are on a stack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rumpsteak_contract::canonical::Hasher;
use rumpsteak_contract::{ProtocolItem, RoleItem, SessionItem};

use crate::source::cargo_targets::{Root, Target, TargetKind};
use crate::source::conditions::{Cfg, CfgValue};
use crate::source::declarations::{self, Body, NoRust, Part, PartKind};
pub(crate) use crate::source::declarations::{Import, ItemKind};
use crate::source::items::Visibility;
use crate::source::text_file;

/// All targets of a package.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) crates: Vec<Crate>,
    pub(crate) modules: Vec<Module>,
    pub(crate) items: Vec<Item>,
    pub(crate) files: Vec<File>,
    pub(crate) inclusions: Vec<Inclusion>,
    /// The modules below others that a `protocol!(…)` makes which does not parse.
    pub(crate) failed: Vec<(ModuleId, String)>,
    /// Folders in which a file was looked for in vain: its appearance would change the tree.
    pub(crate) awaited: BTreeSet<PathBuf>,
    /// Whether there are more modules than the limit allows, and the rest was not read.
    pub(crate) is_cut: bool,
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
    /// The items by name; several of one name where conditions are unknown.
    pub(crate) names: BTreeMap<String, Vec<Named>>,
    pub(crate) imports: Vec<Import>,
    /// These as of a [`Body`].
    pub(crate) bare_names: BTreeMap<&'static str, (FileId, usize)>,
    pub(crate) run: BTreeSet<String>,
    pub(crate) is_opaque: bool,
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

#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) module: ModuleId,
    pub(crate) file: FileId,
    /// The line of the name, from 1.
    pub(crate) line: usize,
    /// Whether the item is part of every build of its target: true, or not known.
    pub(crate) condition: CfgValue,
    pub(crate) kind: Rc<ItemKind>,
    /// Whether an item of this name is declared before it in every build, so that this one has no
    /// meaning.
    pub(crate) is_second: bool,
}

#[derive(Debug)]
pub(crate) struct File {
    /// The path by which the file was read; for generated code, its path below `OUT_DIR`.
    pub(crate) path: PathBuf,
    /// What this build generates.
    pub(crate) generated: Option<Rc<GeneratedFile>>,
    /// Where the file is no Rust, if it is none.
    pub(crate) no_rust: Option<NoRust>,
}

/// A file that this build generates.
#[derive(Debug)]
pub(crate) struct GeneratedFile {
    /// The path below `OUT_DIR`, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A `protocol!(…)`.
#[derive(Debug)]
pub(crate) struct Inclusion {
    pub(crate) item: ProtocolItem,
    pub(crate) module: ModuleId,
    pub(crate) file: FileId,
    condition: CfgValue,
    /// The file that it includes, once it is grafted.
    pub(crate) included: Option<FileId>,
    /// The position of an earlier one of the same crate that includes the file: then this one does
    /// not.
    pub(crate) first: Option<usize>,
}

impl GeneratedFile {
    /// The text with comments in place of its documentation, which is most of it and costs more to
    /// read: no session is in that. All places stay.
    fn code(&self) -> String {
        let line = |line: &str| match line.trim_start() {
            text if text.starts_with("///") || text.starts_with("#[cfg_attr(doc,") => {
                let indent = line.len() - text.len();
                format!("{}// {}", &line[..indent], &text[3..])
            }
            _ => line.to_owned(),
        };
        self.text.split_inclusive('\n').map(line).collect()
    }
}

impl Crate {
    /// The crate as its macros know it.
    pub(crate) fn site(&self) -> String {
        let kind = match self.target.kind {
            TargetKind::Bin | TargetKind::Example => "bin",
            TargetKind::Bench | TargetKind::Test => "test",
            TargetKind::Lib => "lib",
            TargetKind::Source => return String::new(),
        };
        format!("{kind} {}", self.name)
    }
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

    /// Whether an item is in generated code.
    pub(crate) fn is_generated(&self, id: ItemId) -> bool {
        self.files[self.item(id).file.0].generated.is_some()
    }

    /// The path of an item below its crate's root, `crate::a::B`.
    pub(crate) fn path(&self, id: ItemId) -> String {
        let item = self.item(id);
        self.path_in(item.module, &item.name)
    }

    pub(crate) fn path_in(&self, module: ModuleId, name: &str) -> String {
        let module = self.module_path(module);
        let path = ["crate", &module, name];
        let path: Vec<&str> = path.into_iter().filter(|part| !part.is_empty()).collect();
        path.join("::")
    }

    pub(crate) fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0]
    }

    /// The session that an item is.
    pub(crate) fn session(&self, id: ItemId) -> Option<&SessionItem> {
        match &*self.item(id).kind {
            ItemKind::Session(session) => Some(session),
            _ => None,
        }
    }

    /// The role that an item is.
    pub(crate) fn role(&self, id: ItemId) -> Option<&RoleItem> {
        match &*self.item(id).kind {
            ItemKind::Role(role) => Some(role),
            _ => None,
        }
    }

    pub(crate) fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    pub(crate) fn crate_id(&self, id: ItemId) -> CrateId {
        self.module(self.item(id).module).krate
    }

    pub(crate) fn crate_of(&self, id: ItemId) -> &Crate {
        &self.crates[self.crate_id(id).0]
    }

    /// What tells an item from all others, in this build and in others: its target and its path.
    pub(crate) fn hash_place(&self, id: ItemId, hasher: &mut Hasher) {
        let target = &self.crate_of(id).target;
        hasher.text(&target.kind.to_string());
        hasher.text(&target.name);
        hasher.text(&self.module_path(self.item(id).module));
        hasher.text(&self.item(id).name);
    }

    /// The path of the first module of a crate for which `protocol!(…)` has no code, and says why.
    pub(crate) fn without_code(&self, krate: CrateId) -> Option<String> {
        let empty = self.inclusions.iter().filter(|of| of.included.is_none() && of.first.is_none());
        let empty = empty.map(|inclusion| (inclusion.module, inclusion.item.module()));
        let mut failed = self.failed.iter().cloned().chain(empty);
        let (module, name) = failed.find(|(module, _)| self.module(*module).krate == krate)?;
        Some(self.path_in(module, &name))
    }

    /// Whether no file or item that concerns sessions has an error that rustc or a macro says.
    pub(crate) fn is_read(&self) -> bool {
        let is_broken = |item: &Item| matches!(*item.kind, ItemKind::Broken);
        self.failed.is_empty()
            && !self.files.iter().any(|file| file.no_rust.is_some())
            && !self.items.iter().any(is_broken)
    }

    /// Whether every build compiles a crate: the library, or the binaries of a package without one.
    pub(crate) fn is_always_compiled(&self, krate: &Crate) -> bool {
        match krate.target.kind {
            TargetKind::Lib | TargetKind::Source => true,
            TargetKind::Bin => self.crates.iter().all(|krate| krate.target.kind != TargetKind::Lib),
            TargetKind::Bench | TargetKind::Example | TargetKind::Test => false,
        }
    }

    pub(crate) fn item_ids(&self) -> impl Iterator<Item = ItemId> + use<> {
        (0..self.items.len()).map(ItemId)
    }
}

impl Tree {
    /// Adds an item, which gets its name unless another item has it in every build.
    fn declare(&mut self, mut item: Item, visibility: Visibility) {
        let module = &mut self.modules[item.module.0];
        let is_certain = |named: &Named| match named.meaning {
            Meaning::Item(id) => self.items[id.0].condition == CfgValue::True,
            Meaning::Module(_) => false,
        };
        let mut known = module.names.get(&item.name).into_iter().flatten();
        item.is_second = item.condition == CfgValue::True && known.any(is_certain);
        if !item.is_second {
            let meaning = Meaning::Item(ItemId(self.items.len()));
            module.declare(item.name.clone(), visibility, meaning);
        }
        self.items.push(item);
    }
}

/// Walks the targets with the given roots, up to a number of modules.
pub(crate) fn walk(roots: &[Root], cfg: &Cfg, most_modules: usize) -> Tree {
    let mut walker = Walker::new(Tree::default(), cfg, most_modules);
    for root in roots {
        walker.target(root);
    }
    walker.tree
}

/// Adds the module that each `protocol!(…)` includes. There is one file, or none, for each of the
/// tree's inclusions.
pub(crate) fn graft(
    tree: Tree,
    cfg: &Cfg,
    most_modules: usize,
    files: impl IntoIterator<Item = Option<Rc<GeneratedFile>>>,
) -> Tree {
    let mut walker = Walker::new(tree, cfg, most_modules);
    for (position, file) in files.into_iter().enumerate() {
        if let Some(file) = file {
            walker.graft(position, &file);
        }
    }
    walker.tree
}

struct Walker<'a> {
    cfg: &'a Cfg,
    /// The files that `include!` has brought into each module. A second time brings nothing new, so
    /// that files which include each other are read once.
    included: BTreeSet<(ModuleId, FileId)>,
    most_modules: usize,
    tree: Tree,
    /// Each file by its path; `None` if it could not be read or is no Rust.
    sources: BTreeMap<PathBuf, Option<Rc<Source>>>,
}

struct Source {
    file: FileId,
    /// The file itself, then its inline modules.
    bodies: Vec<Body>,
}

/// A module whose items are still to be read.
struct Pending {
    module: ModuleId,
    source: Rc<Source>,
    /// The position of the module in the source.
    body: usize,
    /// Whether what stands there is part of every build.
    condition: CfgValue,
    place: Place,
}

/// Where the items of a module are written, which decides where its child modules are.
#[derive(Clone)]
struct Place {
    file: FileId,
    folder: PathBuf,
    /// The folder in which `mod x;` is looked for.
    children: PathBuf,
    /// Whether the module is inside an inline one, so that `#[path]` counts from `children`.
    inline: bool,
    /// The files that this one is nested in, itself included: none of them can be a module of it.
    ancestors: Vec<FileId>,
}

impl<'a> Walker<'a> {
    fn new(tree: Tree, cfg: &'a Cfg, most_modules: usize) -> Self {
        Self { cfg, included: BTreeSet::new(), most_modules, tree, sources: BTreeMap::new() }
    }

    fn target(&mut self, root: &Root) {
        let krate = CrateId(self.tree.crates.len());
        let module = self.add_module(String::new(), krate, None);
        let Root { target, path } = root;
        let name = target.name.replace('-', "_");
        let target = target.clone();
        self.tree.crates.push(Crate { target, name, root: module, includes_protocols: false });
        let Some(source) = self.read(path) else {
            return self.await_file(path);
        };
        let file = source.file;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let children = folder.clone();
        let place = Place { file, folder, children, inline: false, ancestors: vec![file] };
        let pending = vec![Pending { module, source, body: 0, condition: CfgValue::True, place }];
        self.modules(pending);
    }

    /// Reads modules, and those below them.
    fn modules(&mut self, mut pending: Vec<Pending>) {
        while let Some(next) = pending.pop() {
            let others = pending.len();
            self.module(next, &mut pending);
            // The next is the first of those in it.
            pending[others..].reverse();
        }
    }

    fn add_module(&mut self, name: String, krate: CrateId, parent: Option<ModuleId>) -> ModuleId {
        self.tree.modules.push(Module {
            name,
            krate,
            parent,
            names: BTreeMap::new(),
            imports: Vec::new(),
            bare_names: BTreeMap::new(),
            run: BTreeSet::new(),
            is_opaque: false,
        });
        ModuleId(self.tree.modules.len() - 1)
    }

    /// Reads a file, unless a `#![cfg]` excludes it.
    fn read(&mut self, path: &Path) -> Option<Rc<Source>> {
        let path = path_clean::clean(path);
        let source = match self.sources.get(&path) {
            Some(known) => known.clone(),
            None => {
                let text = text_file::read(&path).ok()?;
                let generated = None;
                self.add_source(path, generated, &text)
            }
        };
        source.filter(|source| source.bodies[0].condition != CfgValue::False)
    }

    fn add_source(
        &mut self,
        path: PathBuf,
        generated: Option<Rc<GeneratedFile>>,
        text: &str,
    ) -> Option<Rc<Source>> {
        let file = FileId(self.tree.files.len());
        let read = declarations::read(text, self.cfg);
        let no_rust = read.as_ref().err().copied();
        let source = read.ok().map(|bodies| Rc::new(Source { file, bodies }));
        self.sources.insert(path.clone(), source.clone());
        self.tree.files.push(File { path, generated, no_rust });
        source
    }

    fn module(&mut self, next: Pending, pending: &mut Vec<Pending>) {
        let (module, place) = (next.module, &next.place);
        let condition = |part: &Part| next.condition.min(part.condition);
        let body = &next.source.bodies[next.body];
        let known = &mut self.tree.modules[module.0];
        known.is_opaque |= body.is_opaque;
        if next.condition == CfgValue::True {
            let names = body.bare_names.iter();
            known.bare_names.extend(names.map(|(name, line)| (*name, (place.file, *line))));
            known.run.extend(body.run.iter().cloned());
        }
        for part in &body.parts {
            match &part.kind {
                PartKind::Declared(name, line, kind) => {
                    self.tree.declare(
                        Item {
                            name: name.clone(),
                            module,
                            file: place.file,
                            line: *line,
                            condition: condition(part),
                            kind: Rc::clone(kind),
                            is_second: false,
                        },
                        part.visibility,
                    );
                }
                PartKind::Imports(imports) => {
                    let known = &mut self.tree.modules[module.0].imports;
                    known.extend_from_slice(imports);
                }
                PartKind::Include(relative) => {
                    let path = place.folder.join(relative);
                    match self.read(&path) {
                        // What includes itself, or a file around it, is no Rust.
                        Some(source) if place.ancestors.contains(&source.file) => {}
                        Some(source) if self.included.insert((module, source.file)) => {
                            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                            let mut place = Place { file: source.file, folder, ..place.clone() };
                            place.ancestors.push(source.file);
                            pending.push(Pending {
                                module,
                                condition: condition(part).min(source.bodies[0].condition),
                                source,
                                body: 0,
                                place,
                            });
                        }
                        Some(_) => {}
                        None => self.await_file(&path),
                    }
                }
                // Where it may be left out, nobody can rely on it.
                PartKind::IncludesProtocols if condition(part) != CfgValue::True => {}
                PartKind::IncludesProtocols => {
                    let krate = self.tree.modules[module.0].krate;
                    self.tree.crates[krate.0].includes_protocols = true;
                }
                PartKind::Module { name, path, body } => {
                    self.child(&next, part, name, path.as_deref(), *body, pending);
                }
                PartKind::NoProtocol(name) => self.tree.failed.push((module, name.clone())),
                PartKind::Protocol(item) => {
                    self.tree.inclusions.push(Inclusion {
                        item: item.clone(),
                        module,
                        file: place.file,
                        condition: condition(part),
                        included: None,
                        first: None,
                    });
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
        let (parent, place) = (outer.module, &outer.place);
        let found = match body {
            Some(body) => {
                let is_present = outer.source.bodies[body].condition != CfgValue::False;
                is_present.then(|| (Rc::clone(&outer.source), place.inline(name, explicit)))
            }
            None => self.file_of(place, name, explicit),
        };
        let Some((source, place)) = found else {
            return;
        };
        let body = body.unwrap_or(0);
        let condition = part.condition.min(source.bodies[body].condition);
        let condition = outer.condition.min(condition);
        let Some(module) = self.add_child(parent, name.to_owned(), part.visibility) else {
            return;
        };
        pending.push(Pending { module, source, body, condition, place });
    }

    /// Adds a module below another one, unless there are too many.
    fn add_child(
        &mut self,
        parent: ModuleId,
        name: String,
        visibility: Visibility,
    ) -> Option<ModuleId> {
        if self.tree.modules.len() >= self.most_modules {
            self.tree.is_cut = true;
            return None;
        }
        let krate = self.tree.modules[parent.0].krate;
        let module = self.add_module(name.clone(), krate, Some(parent));
        let meaning = Meaning::Module(module);
        self.tree.modules[parent.0].declare(name, visibility, meaning);
        Some(module)
    }

    /// Reads the file of `mod name;`, with `explicit` as its `#[path]`. `None` if there is none, or
    /// if the module is inside of it.
    fn file_of(
        &mut self,
        outer: &Place,
        name: &str,
        explicit: Option<&str>,
    ) -> Option<(Rc<Source>, Place)> {
        let candidates = match explicit {
            Some(explicit) => vec![outer.base().join(explicit)],
            None => vec![
                outer.children.join(format!("{name}.rs")),
                outer.children.join(name).join("mod.rs"),
            ],
        };
        let Some(path) = candidates.iter().find(|path| path.is_file()) else {
            candidates.iter().for_each(|path| self.await_file(path));
            return None;
        };
        let source = self.read(path)?;
        let file = source.file;
        if outer.ancestors.contains(&file) {
            return None;
        }
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        // A file that `#[path]` names has its children beside it, as a `mod.rs` has.
        let children = match explicit {
            Some(_) => folder.clone(),
            None => outer.children.join(name),
        };
        let mut ancestors = outer.ancestors.clone();
        ancestors.push(file);
        let place = Place { file, folder, children, inline: false, ancestors };
        Some((source, place))
    }

    /// Adds the module that the `protocol!(…)` at a position of the tree's inclusions makes.
    fn graft(&mut self, position: usize, generated: &Rc<GeneratedFile>) {
        let path = PathBuf::from(&generated.path);
        let (earlier, rest) = self.tree.inclusions.split_at_mut(position);
        let inclusion = &mut rest[0];
        let krate = |module: ModuleId| self.tree.modules[module.0].krate;
        let is_same = |other: &Inclusion| {
            let file = other.included.map(|file| &self.tree.files[file.0].path);
            krate(other.module) == krate(inclusion.module) && file == Some(&path)
        };
        inclusion.first = earlier.iter().position(is_same);
        if inclusion.first.is_some() {
            return;
        }
        let parent = inclusion.module;
        let (name, condition) = (inclusion.item.module(), inclusion.condition);
        let source = match self.sources.get(&path) {
            Some(known) => known.clone(),
            None => self.add_source(path, Some(Rc::clone(generated)), &generated.code()),
        };
        let Some(source) = source else {
            return;
        };
        let file = source.file;
        self.tree.inclusions[position].included = Some(file);
        // What may not be seen from elsewhere rustc says.
        if let Some(module) = self.add_child(parent, name, Visibility::Public) {
            let place = Place {
                file,
                folder: PathBuf::new(),
                children: PathBuf::new(),
                inline: false,
                ancestors: vec![file],
            };
            self.modules(vec![Pending { module, source, body: 0, condition, place }]);
        }
    }

    /// Notes that a file is missing. Cargo watches existing paths only, so the nearest folder
    /// stands for it.
    fn await_file(&mut self, path: &Path) {
        let path = path_clean::clean(path);
        if let Some(folder) = path.ancestors().skip(1).find(|folder| folder.is_dir()) {
            self.tree.awaited.insert(folder.to_owned());
        }
    }
}

impl Module {
    fn declare(&mut self, name: String, visibility: Visibility, meaning: Meaning) {
        let known = self.names.entry(name).or_default();
        known.push(Named { visibility, meaning });
    }
}

impl Place {
    /// The folder from which `#[path]` counts.
    fn base(&self) -> &Path {
        if self.inline { &self.children } else { &self.folder }
    }

    /// The place of an inline module, with `explicit` as its `#[path]`.
    fn inline(&self, name: &str, explicit: Option<&str>) -> Self {
        let children = match explicit {
            Some(explicit) => self.base().join(explicit),
            None => self.children.join(name),
        };
        Self { children, inline: true, ..self.clone() }
    }
}
