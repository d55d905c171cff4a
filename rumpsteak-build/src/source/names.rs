//! What a path in a session stands for.
//!
//! Follows rustc's rules for names of types as far as sessions need them: `crate`, `self`, `super`,
//! the items and imports of the module, globs after these, then the package's own library by its
//! name. Names of other packages, of the prelude and of items that macros make are not known here;
//! a session cannot use them, and its error says so.
//!
//! A wrong answer here does no harm beyond a needless error: what was resolved becomes part of the
//! proof, which rustc compares with what it resolves itself.
//!
//! One query looks a name up at most once per module, so it costs at most (modules × imports), also
//! where imports go in circles. Chains of imports are followed by recursion up to [`DEPTH`].

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::Path;
use syn::ext::IdentExt as _;

use crate::source::cargo_targets::TargetKind;
use crate::source::crate_tree::{Crate, Import, ItemId, Meaning, Module, ModuleId, Named, Tree};
use crate::source::items::Visibility;

/// How many imports may lie between a name and its item.
pub(crate) const DEPTH: usize = 64;

/// The types that every Rust program knows by one name.
pub(crate) const PRIMITIVES: [&str; 18] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "String",
    "u8", "u16", "u32", "u64", "u128", "usize",
];

/// What a path stands for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Resolution {
    /// Several items, under conditions that a build script cannot tell apart.
    Ambiguous(Vec<Meaning>),
    Found(Meaning),
    /// Nothing in this package.
    Nothing,
}

/// Resolves a path that is written in `module`.
pub(crate) fn resolve(tree: &Tree, module: ModuleId, path: &Path) -> Resolution {
    // Most names are those of the only item of the module that has them.
    if let Some(name) = path.as_ident()
        && let Some(meaning) = only(tree.module(module), &name.unraw().to_string())
    {
        return Resolution::Found(meaning);
    }
    let segments: Vec<String> = path.segments.iter().map(|s| s.unraw().to_string()).collect();
    let mut query = Query { tree, from: module, known: BTreeMap::new() };
    let found = query.path(module, path.leading_colon, &segments, 0);
    match found.len() {
        0 => Resolution::Nothing,
        1 => found.first().map_or(Resolution::Nothing, |&meaning| Resolution::Found(meaning)),
        _ => Resolution::Ambiguous(found.into_iter().collect()),
    }
}

/// The one item that a path stands for, which is written in `module`.
pub(crate) fn item(tree: &Tree, module: ModuleId, path: &Path) -> Option<ItemId> {
    match resolve(tree, module, path) {
        Resolution::Found(Meaning::Item(found)) => Some(found),
        _ => None,
    }
}

/// The one module that a path stands for, which is written in `from`.
pub(crate) fn module(tree: &Tree, from: ModuleId, path: &[String]) -> Option<ModuleId> {
    let mut query = Query { tree, from, known: BTreeMap::new() };
    let mut found = query.path(from, false, path, 0).into_iter();
    match (found.next(), found.next()) {
        (Some(Meaning::Module(module)), None) => Some(module),
        _ => None,
    }
}

/// The name of the other package that a path leads into which stands for nothing in this one, by
/// itself or by an import: something that is not declared here, as far as that shows.
pub(crate) fn elsewhere(tree: &Tree, module: ModuleId, path: &Path) -> Option<String> {
    let first = path.segments[0].unraw().to_string();
    let declared = tree.module(module);
    let mut imports = declared.imports.iter();
    let root = match imports.find(|import| import.name.as_ref() == Some(&first)) {
        Some(import) => import.path.first().cloned(),
        None => (path.segments.len() > 1).then_some(first),
    };
    let is_known = |root: &str| {
        ["crate", "self", "super", "Self"].contains(&root)
            || declared.names.contains_key(root)
            || tree.crates.iter().any(|krate| krate.name == root)
    };
    root.filter(|root| !is_known(root))
}

/// Whether a name without a path means anything in a module, wherever that is declared. In doubt
/// it does.
pub(crate) fn is_known(tree: &Tree, module: ModuleId, name: &str) -> bool {
    let (from, root) = (module, tree.crates[tree.module(module).krate.0].root);
    let (mut seen, mut pending) = (BTreeSet::from([module]), vec![module]);
    let mut query = Query { tree, from: module, known: BTreeMap::new() };
    while let Some(module) = pending.pop() {
        let declared = tree.module(module);
        let is_inside = query.is_inside(from, module);
        let seen_here = |visibility| is_inside || visibility == Visibility::Public;
        let mut names = declared.names.get(name).into_iter().flatten();
        let imports = || declared.imports.iter().filter(|import| seen_here(import.visibility));
        if declared.is_opaque
            || names.any(|named| seen_here(named.visibility))
            || imports().any(|import| import.name.as_deref() == Some(name))
        {
            return true;
        }
        for import in imports().filter(|import| import.name.is_none()) {
            let found = query.import(module, import, 0);
            // The only generated code may be yet to come.
            let is_code = matches!(&tree.inclusions[..], [code] if code.included.is_none()
                && import.path.last() == Some(&code.item.module()));
            if found.is_empty() && !is_code {
                return true;
            }
            pending.extend(found.into_iter().filter_map(|meaning| match meaning {
                Meaning::Module(globbed) => seen.insert(globbed).then_some(globbed),
                Meaning::Item(_) => None,
            }));
        }
    }
    // `#[macro_use]` there is for all modules.
    tree.module(root).is_opaque
}

/// What a name means if the module declares it once, and imports nothing by this name.
fn only(module: &Module, name: &str) -> Option<Meaning> {
    for import in &module.imports {
        if let Some(imported) = &import.name
            && imported.len() == name.len()
            && imported == name
        {
            return None;
        }
    }
    match module.names.get(name)?[..] {
        [Named { meaning, .. }] => Some(meaning),
        _ => None,
    }
}

struct Query<'a> {
    tree: &'a Tree,
    /// Where the path is written.
    from: ModuleId,
    /// The names that were looked up. While one is being looked up, it means nothing: an import
    /// that leads back to itself adds nothing to what it means.
    known: BTreeMap<(ModuleId, String), BTreeSet<Meaning>>,
}

impl Query<'_> {
    fn path(
        &mut self,
        module: ModuleId,
        leading_colon: bool,
        segments: &[String],
        depth: usize,
    ) -> BTreeSet<Meaning> {
        if depth > DEPTH {
            return BTreeSet::new();
        }
        let krate = self.tree.module(module).krate;
        let mut segments = segments.iter();
        let Some(first) = segments.next() else {
            return BTreeSet::new();
        };
        let mut current: BTreeSet<Meaning> = match first.as_str() {
            _ if leading_colon => self.library(first).into_iter().collect(),
            "crate" => [Meaning::Module(self.tree.crates[krate.0].root)].into(),
            "self" => [Meaning::Module(module)].into(),
            "super" => self.tree.module(module).parent.map(Meaning::Module).into_iter().collect(),
            name => {
                let found = self.name(module, name, module, depth);
                // A name of the module hides that of a package.
                if found.is_empty() { self.library(name).into_iter().collect() } else { found }
            }
        };
        for segment in segments {
            let mut next = BTreeSet::new();
            for meaning in current {
                let Meaning::Module(inner) = meaning else {
                    continue;
                };
                if segment == "super" {
                    next.extend(self.tree.module(inner).parent.map(Meaning::Module));
                } else {
                    next.extend(self.name(inner, segment, module, depth));
                }
            }
            current = next;
        }
        current
    }

    /// The root of the package's library, if that is its name.
    fn library(&self, name: &str) -> Option<Meaning> {
        let is_library =
            |krate: &&Crate| krate.target.kind == TargetKind::Lib && krate.name == name;
        self.tree.crates.iter().find(is_library).map(|krate| Meaning::Module(krate.root))
    }

    /// What `name` means in `module`, written in `from`.
    fn name(
        &mut self,
        module: ModuleId,
        name: &str,
        from: ModuleId,
        depth: usize,
    ) -> BTreeSet<Meaning> {
        let key = (module, name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.known.insert(key.clone(), BTreeSet::new());
        let tree = self.tree;
        let inside = self.is_inside(from, module) || self.is_inside(self.from, module);
        let visible = |visibility| inside || visibility == Visibility::Public;
        let declared = tree.module(module);

        let mut found: BTreeSet<Meaning> = BTreeSet::new();
        let items = declared.names.get(name).map_or(&[][..], Vec::as_slice);
        found.extend(items.iter().filter(|item| visible(item.visibility)).map(|item| item.meaning));
        let imports = || declared.imports.iter().filter(|import| visible(import.visibility));
        for import in imports().filter(|import| import.name.as_deref() == Some(name)) {
            found.extend(self.import(module, import, depth));
        }
        if found.is_empty() {
            for import in imports().filter(|import| import.name.is_none()) {
                for meaning in self.import(module, import, depth) {
                    if let Meaning::Module(globbed) = meaning {
                        found.extend(self.name(globbed, name, module, depth + 1));
                    }
                }
            }
        }
        self.known.insert(key, found.clone());
        found
    }

    fn import(&mut self, module: ModuleId, import: &Import, depth: usize) -> BTreeSet<Meaning> {
        self.path(module, import.leading_colon, &import.path, depth + 1)
    }

    /// Whether `inner` is `outer` or below it.
    fn is_inside(&self, inner: ModuleId, outer: ModuleId) -> bool {
        let mut next = Some(inner);
        while let Some(module) = next {
            if module == outer {
                return true;
            }
            next = self.tree.module(module).parent;
        }
        false
    }
}
