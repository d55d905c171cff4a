//! The packages of the workspace, and the modules of their targets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use proc_macro2::TokenTree;
use quote::ToTokens;
use serde_json::Value;
use syn::Item;

/// A package of the workspace.
pub(crate) struct Package {
    /// Its name without `rumpsteak-`.
    pub(crate) name: String,
    folder: PathBuf,
    /// The kind of each target in Cargo's words, and its root file.
    pub(crate) targets: Vec<(String, PathBuf)>,
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The packages of the workspace, by folder.
pub(crate) fn packages() -> Vec<Package> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let target = |target: &Value| (text(&target["kind"][0]), text(&target["src_path"]).into());
    let package = |package: &Value| Package {
        name: text(&package["name"]).replacen("rumpsteak-", "", 1),
        folder: Path::new(&text(&package["manifest_path"])).with_file_name(""),
        targets: package["targets"].as_array().unwrap().iter().map(target).collect(),
    };
    let packages = metadata["packages"].as_array().unwrap().iter();
    let mut packages: Vec<Package> = packages.map(package).collect();
    packages.sort_by(|left, right| left.folder.cmp(&right.folder));
    packages
}

impl Package {
    /// The Rust files in the folder, those of packages inside it left out.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() && !path.join("Cargo.toml").exists() && !path.ends_with("target") {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }
}

/// The files of a target, as rustc reads them without `--test`, and the modules in them.
#[derive(Default)]
pub(crate) struct Tree {
    /// The paths and texts, the root first.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// The root first.
    pub(crate) modules: Vec<Module>,
}

/// A module: a file, or a block `mod name { … }` in one.
pub(crate) struct Module {
    /// The index of its file.
    pub(crate) file: usize,
    /// The index of its parent, that of the root for the root.
    pub(crate) parent: usize,
    pub(crate) children: HashMap<String, usize>,
    /// Its items without those for tests and without its children.
    pub(crate) items: Vec<Item>,
}

impl Tree {
    /// Reads the target whose first file is `root`.
    pub(crate) fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        tree.file(root, &root.with_file_name(""), 0);
        tree
    }

    /// Reads a file, whose modules are in `folder`; the index of its module.
    fn file(&mut self, path: &Path, folder: &Path, parent: usize) -> usize {
        let text = fs::read_to_string(path).unwrap();
        let parsed = syn::parse_file(&text).unwrap();
        self.files.push((path.to_owned(), text));
        self.module(parsed.items, self.files.len() - 1, folder, parent)
    }

    fn module(&mut self, items: Vec<Item>, file: usize, folder: &Path, parent: usize) -> usize {
        let module = self.modules.len();
        self.modules.push(Module { file, parent, children: HashMap::new(), items: Vec::new() });
        for item in items.into_iter().filter(|item| !is_for_tests(item)) {
            let Item::Mod(item) = item else {
                self.modules[module].items.push(item);
                continue;
            };
            let inside = folder.join(item.ident.to_string());
            let path = path_attribute(&attributes(&item));
            let child = match (item.content, path) {
                (Some((_, items)), _) => self.module(items, file, &inside, module),
                (None, Some(path)) => {
                    let path = self.files[file].0.with_file_name(path);
                    self.file(&path, &path.with_file_name(""), module)
                }
                (None, None) => {
                    let paths = [inside.with_extension("rs"), inside.join("mod.rs")];
                    self.file(paths.iter().find(|path| path.exists()).unwrap(), &inside, module)
                }
            };
            self.modules[module].children.insert(item.ident.to_string(), child);
        }
        module
    }
}

/// The text of `#[path = "…"]`.
fn path_attribute(attributes: &str) -> Option<String> {
    let (_, rest) = attributes.split_once("[path = \"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// Returns true if an item has `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, …))]`.
pub(crate) fn is_for_tests(item: &impl ToTokens) -> bool {
    let attributes = attributes(item).replace(' ', "");
    let is_there = |attribute| attributes.contains(attribute);
    is_there("[test]") || is_there("[cfg(test)]") || is_there("[cfg(all(test,")
}

/// The attributes before an item, documentation included, as tokens.
pub(crate) fn attributes(item: &impl ToTokens) -> String {
    let mut attributes = String::new();
    let mut tokens = item.to_token_stream().into_iter();
    while let (Some(TokenTree::Punct(_)), Some(attribute)) = (tokens.next(), tokens.next()) {
        attributes += &attribute.to_string();
    }
    attributes
}
