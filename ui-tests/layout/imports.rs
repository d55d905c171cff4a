//! Which files of a target name items of which others, and where that goes round in a circle.
//!
//! A name counts for the file that *defines* the item: re-exports (`pub use`) are followed, and a
//! facade that defines nothing takes part in no cycle. Names are found in `use` trees and in the
//! tokens of all items. They are looked up as rustc does, without namespaces: in a file that gives
//! one name to a type and to a function, both count. Calling a method needs no import, and a macro
//! that is in scope without one is not found.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use petgraph::{algo::kosaraju_scc, graph::DiGraph};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, UseTree};

use crate::tree::{Module, Tree};

/// The import cycles between the files of a target: for each, its imports, one a line.
pub(crate) fn cycles(tree: &Tree) -> Vec<String> {
    let scopes: Vec<Scope> = tree.modules.iter().map(Scope::of).collect();
    let resolver = Resolver { tree, scopes };
    let mut imports: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
    let paths: Vec<HashSet<Vec<String>>> = tree.modules.iter().map(paths).collect();
    for (module, paths) in paths.iter().enumerate() {
        let from = tree.modules[module].file;
        let imported = resolver.scopes[module].imported.iter();
        for path in imported.map(|(_, path)| path).chain(paths) {
            for found in resolver.resolve(module, path, &mut HashSet::new()) {
                if let Found::Item(to) = found {
                    imports
                        .entry((from, to))
                        .or_default()
                        .extend(path.last().map(|n| &**n));
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
                    let names = names.iter().copied().collect::<Vec<_>>().join(", ");
                    let [from, to] = [from, to].map(|&file| tree.files[file].0.display());
                    cycle += &format!("\n  {from} → {to}: {names}");
                }
            }
            cycle
        })
        .collect()
}

/// What the items of a module put into its scope, its children left out.
#[derive(Default)]
struct Scope {
    /// The names that the module itself defines.
    defined: HashSet<String>,
    /// What `use` names, with the path that the name stands for.
    imported: Vec<(String, Vec<String>)>,
    /// The paths of `use path::*`.
    globs: Vec<Vec<String>>,
}

impl Scope {
    fn of(module: &Module) -> Self {
        let mut scope = Self::default();
        for item in &module.items {
            match item {
                Item::Use(item) => scope.import(&item.tree, Vec::new()),
                Item::Impl(_) => {}
                _ => scope.defined.extend(defined_name(item)),
            }
        }
        scope
    }

    fn import(&mut self, tree: &UseTree, mut path: Vec<String>) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.import(&tree.tree, path);
            }
            UseTree::Name(tree) if tree.ident == "self" => {
                let name = path.last().unwrap().clone();
                self.imported.push((name, path));
            }
            UseTree::Name(tree) => {
                path.push(tree.ident.to_string());
                self.imported.push((tree.ident.to_string(), path));
            }
            UseTree::Rename(tree) => {
                path.push(tree.ident.to_string());
                self.imported.push((tree.rename.to_string(), path));
            }
            UseTree::Glob(_) => self.globs.push(path),
            UseTree::Group(group) => {
                let trees = group.items.iter();
                trees.for_each(|tree| self.import(tree, path.clone()));
            }
        }
    }
}

/// The name of an item: the first word that is no keyword.
fn defined_name(item: &Item) -> Option<String> {
    const KEYWORDS: [&str; 13] = [
        "async",
        "auto",
        "const",
        "enum",
        "extern",
        "fn",
        "macro_rules",
        "mut",
        "pub",
        "static",
        "struct",
        "trait",
        "type",
    ];
    let words = item
        .to_token_stream()
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Ident(word) => Some(word.to_string()),
            _ => None,
        });
    words
        .into_iter()
        .find(|word| !KEYWORDS.contains(&word.as_str()))
}

/// What a path leads to.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum Found {
    /// An item that is defined in the file with this index.
    Item(usize),
    /// The module with this index.
    Module(usize),
}

struct Resolver<'t> {
    tree: &'t Tree,
    scopes: Vec<Scope>,
}

impl Resolver<'_> {
    /// What `path` means in `module`; nothing for the items of other crates.
    ///
    /// `seen` are the imports that are being followed: two globs may name each other.
    fn resolve(
        &self,
        module: usize,
        path: &[String],
        seen: &mut HashSet<(usize, Vec<String>)>,
    ) -> Vec<Found> {
        if !seen.insert((module, path.to_vec())) {
            return Vec::new();
        }
        let mut found = vec![Found::Module(module)];
        for (position, name) in path.iter().enumerate() {
            let mut next = Vec::new();
            for place in found {
                let Found::Module(place) = place else {
                    // A variant or an associated item belongs to the item before.
                    next.push(place);
                    continue;
                };
                match name.as_str() {
                    "self" => next.push(Found::Module(place)),
                    "super" => next.push(Found::Module(self.tree.modules[place].parent)),
                    "crate" if position == 0 => next.push(Found::Module(0)),
                    _ => next.extend(self.look_up(place, name, seen)),
                }
            }
            found = next;
        }
        found
    }

    /// The meanings of `name` in `module`.
    fn look_up(
        &self,
        module: usize,
        name: &str,
        seen: &mut HashSet<(usize, Vec<String>)>,
    ) -> Vec<Found> {
        let scope = &self.scopes[module];
        let mut found = Vec::new();
        let Module { file, children, .. } = &self.tree.modules[module];
        if scope.defined.contains(name) {
            found.push(Found::Item(*file));
        }
        found.extend(children.get(name).map(|&child| Found::Module(child)));
        for (_, path) in scope.imported.iter().filter(|(import, _)| import == name) {
            // `use syn::Ident;` names a crate, not itself.
            if path.len() > 1 || path[0] != name {
                found.extend(self.resolve(module, path, seen));
            }
        }
        if found.is_empty() {
            for glob in &scope.globs {
                for place in self.resolve(module, glob, seen) {
                    if let Found::Module(place) = place
                        && place != module
                    {
                        found.extend(self.look_up(place, name, seen));
                    }
                }
            }
        }
        found
    }
}

/// The paths in the items of a module, `use` left out.
fn paths(module: &Module) -> HashSet<Vec<String>> {
    let mut paths = HashSet::new();
    let items = module.items.iter();
    let mut open: Vec<TokenStream> = items
        .filter(|item| !matches!(item, Item::Use(_)))
        .map(ToTokens::to_token_stream)
        .collect();
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
