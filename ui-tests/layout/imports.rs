//! Which files of a target name items of which others, and where that goes round in a circle.
//!
//! A name counts for the file that *defines* the item: re-exports (`pub use`) are followed, and a
//! facade that defines nothing takes part in no cycle. Names are found in `use` trees and in the
//! tokens of all items. They are looked up as rustc does, without namespaces: in a file that gives
//! one name to a type and to a function, both count. Calling a method needs no import, and a macro
//! that is in scope without one is not found.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, UseTree};

use crate::tree::{Module, Tree};

/// The import cycles between the files of a target: for each, its imports, one a line.
pub(crate) fn cycles(tree: &Tree) -> Vec<String> {
    let scopes = scopes(tree);
    let mut imports: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    for (module, paths) in tree.modules.iter().map(paths).enumerate() {
        let imported = scopes[module].imported.iter().map(|(_, path)| path);
        for path in imported.chain(&paths) {
            for found in resolve(tree, &scopes, module, path) {
                if let Found::Item(to) = found {
                    let names = imports.entry((tree.modules[module].file, to)).or_default();
                    names.extend(path.last().cloned());
                }
            }
        }
    }

    let edges = imports.keys().map(|&(from, to)| (from as u32, to as u32));
    let graph = DiGraph::<(), ()>::from_edges(edges);
    let components = kosaraju_scc(&graph).into_iter();
    let components = components.filter(|component| component.len() > 1);
    components
        .map(|component| {
            let files: HashSet<usize> = component.iter().map(|node| node.index()).collect();
            let mut cycle = String::new();
            for ((from, to), names) in &imports {
                if from != to && files.contains(from) && files.contains(to) {
                    let names = names.iter().cloned().collect::<Vec<_>>().join(", ");
                    let [from, to] = [from, to].map(|&file| tree.files[file].0.display());
                    cycle += &format!("\n  {from} → {to}: {names}");
                }
            }
            cycle
        })
        .collect()
}

/// The meaning of a name.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Found {
    /// An item that is defined in the file with this index.
    Item(usize),
    /// The module with this index.
    Module(usize),
}

/// The names in a module.
#[derive(Default)]
struct Scope {
    names: BTreeMap<String, BTreeSet<Found>>,
    /// The names that `use` gives, and the path that each stands for; no name for `use path::*`.
    imported: Vec<(Option<String>, Vec<String>)>,
}

impl Scope {
    fn of(module: &Module) -> Self {
        let mut scope = Self::default();
        for (name, &child) in &module.children {
            scope.add(name, Found::Module(child));
        }
        for item in &module.items {
            if let Item::Use(item) = item {
                scope.import(&item.tree, Vec::new());
            } else if let Some(name) = defined_name(item) {
                scope.add(&name.to_string(), Found::Item(module.file));
            }
        }
        scope
    }

    /// Adds a meaning. Returns true if the name did not have it before.
    fn add(&mut self, name: &str, found: Found) -> bool {
        self.names.entry(name.to_owned()).or_default().insert(found)
    }

    fn import(&mut self, tree: &UseTree, mut path: Vec<String>) {
        let name = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                return self.import(&tree.tree, path);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, path.clone()));
            }
            UseTree::Name(tree) if tree.ident == "self" => path.last().cloned(),
            UseTree::Name(tree) => {
                path.push(tree.ident.to_string());
                path.last().cloned()
            }
            UseTree::Rename(tree) => {
                path.push(tree.ident.to_string());
                Some(tree.rename.to_string())
            }
            UseTree::Glob(_) => None,
        };
        // `use syn;` names a crate, not itself.
        if path.len() > 1 || name.as_ref() != path.first() {
            self.imported.push((name, path));
        }
    }
}

fn defined_name(item: &Item) -> Option<&Ident> {
    Some(match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    })
}

/// The scopes of all modules: imports are followed until they lead to nothing new.
fn scopes(tree: &Tree) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = tree.modules.iter().map(Scope::of).collect();
    loop {
        let mut is_new = false;
        for module in 0..scopes.len() {
            for (name, path) in scopes[module].imported.clone() {
                for found in resolve(tree, &scopes, module, &path) {
                    is_new |= match (&name, found) {
                        (Some(name), found) => scopes[module].add(name, found),
                        (None, Found::Module(place)) => {
                            let mut names = scopes[place].names.clone();
                            // What has the name otherwise hides it.
                            names.retain(|name, _| !scopes[module].names.contains_key(name));
                            let is_new = !names.is_empty();
                            scopes[module].names.append(&mut names);
                            is_new
                        }
                        (None, Found::Item(_)) => false,
                    };
                }
            }
        }
        if !is_new {
            return scopes;
        }
    }
}

/// The meaning of `path` in `module`; `None` for the items of other crates.
fn resolve(tree: &Tree, scopes: &[Scope], module: usize, path: &[String]) -> BTreeSet<Found> {
    let mut found = BTreeSet::from([Found::Module(module)]);
    for (position, name) in path.iter().enumerate() {
        let mut next = BTreeSet::new();
        for place in found {
            match (place, name.as_str()) {
                // A variant or an associated item belongs to the item before.
                (Found::Item(_), _) | (_, "self") => _ = next.insert(place),
                (Found::Module(place), "super") => {
                    next.insert(Found::Module(tree.modules[place].parent));
                }
                (_, "crate") if position == 0 => _ = next.insert(Found::Module(0)),
                (Found::Module(place), _) => {
                    next.extend(scopes[place].names.get(name).into_iter().flatten())
                }
            }
        }
        found = next;
    }
    found
}

/// The paths in the items of a module, `use` left out.
fn paths(module: &Module) -> HashSet<Vec<String>> {
    let mut paths = HashSet::new();
    let items = module.items.iter();
    let mut open: Vec<TokenStream> =
        items.filter(|item| !matches!(item, Item::Use(_))).map(ToTokens::to_token_stream).collect();
    while let Some(tokens) = open.pop() {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        paths.insert(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                }
                other => {
                    paths.insert(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        open.push(group.stream());
                    }
                }
            }
        }
        paths.insert(path);
    }
    paths.remove(&Vec::new());
    paths
}
