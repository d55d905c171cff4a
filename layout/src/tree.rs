//! The modules of a target, in the files that rustc would read without `--test`.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, Expr, Item, Lit, Meta};

use crate::attributes::{attributes, is_test_only};

/// The files of a target and the modules in them.
#[derive(Debug)]
pub struct Tree {
    /// The files, the root first.
    pub files: Vec<File>,
    /// The modules, the root first.
    pub(crate) modules: Vec<Module>,
}

/// A file of a target.
#[derive(Debug)]
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A module: a file, or a block `mod name { … }` in one.
#[derive(Debug)]
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
    pub fn read(root: &Path) -> Self {
        let mut tree = Self {
            files: Vec::new(),
            modules: Vec::new(),
        };
        let folder = root.parent().expect("a file is in a folder");
        tree.file(root, folder, None);
        tree
    }

    /// Reads a file, whose modules are in `folder`; gives the index of its module.
    fn file(&mut self, path: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parsed =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(File {
            path: path.to_owned(),
            text,
        });
        let file = self.files.len() - 1;
        self.module(parsed.items, file, folder, parent)
    }

    fn module(
        &mut self,
        items: Vec<Item>,
        file: usize,
        folder: &Path,
        parent: Option<usize>,
    ) -> usize {
        let module = self.modules.len();
        self.modules.push(Module {
            file,
            parent: parent.unwrap_or(module),
            children: HashMap::new(),
            items: Vec::new(),
        });
        for item in items {
            if is_test_only(attributes(&item)) {
                continue;
            }
            let Item::Mod(item) = item else {
                self.modules[module].items.push(item);
                continue;
            };
            let name = item.ident.to_string();
            let inside = folder.join(&name);
            let child = match item.content {
                Some((_, items)) => self.module(items, file, &inside, Some(module)),
                None => {
                    let beside = self.files[file].path.with_file_name("");
                    let path = match path_attribute(&item.attrs) {
                        Some(path) => beside.join(path),
                        None => [folder.join(format!("{name}.rs")), inside.join("mod.rs")]
                            .into_iter()
                            .find(|path| path.exists())
                            .unwrap_or_else(|| panic!("no file for {}", inside.display())),
                    };
                    let inside = if path.ends_with("mod.rs") {
                        path.with_file_name("")
                    } else {
                        path.with_extension("")
                    };
                    self.file(&path, &inside, Some(module))
                }
            };
            self.modules[module].children.insert(name, child);
        }
        module
    }
}

/// The text of `#[path = "…"]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let value = attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("path") => Some(&meta.value),
            _ => None,
        })?;
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
