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

use std::path::{Path, PathBuf};
use std::rc::Rc;

use rumpsteak_contract::ProtocolItem;
use rumpsteak_contract::verdict::Target;
use rumpsteak_fsm::sorted::{SortedMap, SortedSet};
use syn::ext::IdentExt as _;

use crate::codegen::{Generator, Module as Generated, Problem};
use crate::fault::Cause;
use crate::source::cfg::{Cfg, Truth};
use crate::source::declarations::{self, Body, NoRust, Part, PartKind};
pub(crate) use crate::source::declarations::{Import, ItemKind};
use crate::source::items::Visibility;
use crate::source::targets::Root;

/// How many modules a package may have in all of its targets together. Reached only by a cycle that this module does
/// not recognise; the rest is then not walked, and the macros say so.
const MODULES: usize = 100_000;

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
pub(crate) struct File {
    /// The path by which the file was read; for generated code, its path below `OUT_DIR`.
    pub(crate) path: PathBuf,
    /// The text of a file that this build generates.
    pub(crate) generated: Option<Rc<Generated>>,
    /// Where the file is no Rust, if it is none.
    pub(crate) no_rust: Option<NoRust>,
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

/// A file that was read.
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
        let path = path_clean::clean(path);
        let source = match self.sources.get(&path) {
            Some(known) => known.clone(),
            None => {
                let text = std::fs::read_to_string(&path).ok()?;
                let generated = None;
                self.add_source(path, generated, &text)
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
        let read = declarations::read(text, self.cfg);
        let no_rust = read.as_ref().err().copied();
        let source = read.ok().map(|bodies| Rc::new(Source { file, bodies }));
        self.sources.insert(path.clone(), source.clone());
        self.tree.files.push(File {
            path,
            generated,
            no_rust,
        });
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
        let name = &call.name.unraw().to_string();
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
                let visibility = match call.is_public() {
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
        let path = path_clean::clean(path);
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
