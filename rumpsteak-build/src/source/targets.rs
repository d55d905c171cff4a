//! The targets of a package: where rustc begins to read.
//!
//! Cargo does not tell a build script which targets the package has, so this follows its rules: what `Cargo.toml` says
//! under `[lib]`, `[[bin]]`, `[[example]]`, `[[test]]` and `[[bench]]`, and what lies in the conventional places unless
//! `autobins = false` and the like forbid it.

use std::path::{Path, PathBuf};

use rumpsteak_contract::verdict::{Target, TargetKind};
use rumpsteak_fsm::sorted::{self, SortedMap, SortedSet};

use crate::source::manifest::{self, Table, Value};

/// A target and its first file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Root {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
}

/// What the manifest of a package says.
#[derive(Debug)]
pub(crate) struct Package {
    /// The targets whose files exist: the library first, then by kind and name.
    pub(crate) roots: Vec<Root>,
    /// The features that are on unless the user switches them off.
    pub(crate) default_features: SortedSet<String>,
    /// The folders in which a new file would be a new target.
    pub(crate) folders: Vec<PathBuf>,
}

/// Reads the manifest in `folder` and looks for the files of its targets.
///
/// # Errors
///
/// If the manifest cannot be read or is none of a package.
pub(crate) fn package(folder: &Path) -> Result<Package, String> {
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let manifest = manifest::parse(&text);
    let Some(package) = table(&manifest, "package") else {
        return Err(format!("{} has no [package]", path.display()));
    };
    let name = string(package, "name").unwrap_or_default().to_owned();

    let mut roots: SortedMap<(u8, TargetKind, String), PathBuf> = SortedMap::new();
    let mut add = |kind: TargetKind, name: String, path: PathBuf| {
        let order = u8::from(kind != TargetKind::Lib);
        if path.is_file() {
            roots.or_insert_with((order, kind, name), || path);
        }
    };

    let lib = table(&manifest, "lib");
    let lib_path = lib.and_then(|lib| string(lib, "path"));
    if lib.is_some() || package.get("autolib") != Some(&Value::Bool(false)) {
        let lib_name = lib.and_then(|lib| string(lib, "name")).unwrap_or(&name);
        add(
            TargetKind::Lib,
            lib_name.to_owned(),
            folder.join(lib_path.unwrap_or("src/lib.rs")),
        );
    }
    let mut folders = vec![folder.join("src")];
    for kind in &KINDS {
        let mut claimed = SortedSet::new();
        for target in tables(&manifest, kind.key) {
            let Some(target_name) = string(target, "name") else {
                continue;
            };
            let path = string(target, "path").map(|path| folder.join(path));
            let path = path.or_else(|| kind.conventional(folder, target_name, &name));
            if let Some(path) = path {
                claimed.insert(path.clone());
                add(kind.kind, target_name.to_owned(), path);
            }
        }
        if package.get(kind.auto) != Some(&Value::Bool(false)) {
            for (target_name, path) in kind.discover(folder, &name) {
                // A file that the manifest names is that target only, whatever its own name.
                if !claimed.contains(&path) {
                    add(kind.kind, target_name, path);
                }
            }
            if kind.folder != "src/bin" {
                folders.push(folder.join(kind.folder));
            }
        }
    }
    folders.retain(|folder| folder.is_dir());
    let roots = roots
        .into_iter()
        .map(|((_, kind, name), path)| Root {
            target: Target { kind, name },
            path,
        })
        .collect();
    Ok(Package {
        roots,
        default_features: default_features(&manifest),
        folders,
    })
}

/// What Cargo calls a kind of target, and where it looks for it.
struct Kind {
    kind: TargetKind,
    key: &'static str,
    auto: &'static str,
    folder: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        kind: TargetKind::Bin,
        key: "bin",
        auto: "autobins",
        folder: "src/bin",
    },
    Kind {
        kind: TargetKind::Example,
        key: "example",
        auto: "autoexamples",
        folder: "examples",
    },
    Kind {
        kind: TargetKind::Test,
        key: "test",
        auto: "autotests",
        folder: "tests",
    },
    Kind {
        kind: TargetKind::Bench,
        key: "bench",
        auto: "autobenches",
        folder: "benches",
    },
];

impl Kind {
    /// The file of a target that the manifest names without a path.
    fn conventional(&self, package: &Path, name: &str, package_name: &str) -> Option<PathBuf> {
        let folder = package.join(self.folder);
        let mut candidates = vec![
            folder.join(format!("{name}.rs")),
            folder.join(name).join("main.rs"),
        ];
        if self.kind == TargetKind::Bin && name == package_name {
            candidates.push(package.join("src/main.rs"));
        }
        candidates.into_iter().find(|path| path.is_file())
    }

    /// The targets that the manifest need not name: `FOLDER/*.rs` and `FOLDER/*/main.rs`.
    fn discover(&self, package: &Path, package_name: &str) -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        if self.kind == TargetKind::Bin {
            found.push((package_name.to_owned(), package.join("src/main.rs")));
        }
        let Ok(entries) = std::fs::read_dir(package.join(self.folder)) else {
            return found;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_file = path.extension().is_some_and(|extension| extension == "rs");
            let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else {
                continue;
            };
            if is_file {
                found.push((name.to_owned(), path));
            } else if path.is_dir() {
                found.push((name.to_owned(), path.join("main.rs")));
            }
        }
        sorted::sort(&mut found);
        found
    }
}

/// The features that `default` switches on, through other features too.
fn default_features(manifest: &Table) -> SortedSet<String> {
    let Some(features) = table(manifest, "features") else {
        return SortedSet::new();
    };
    let mut on = SortedSet::new();
    let mut pending = vec!["default".to_owned()];
    while let Some(feature) = pending.pop() {
        // `dep:x` and `x/y` concern other packages.
        if !on.contains(&feature)
            && let Some(Value::Array(implied)) = features.get(&feature)
        {
            pending.extend(implied.iter().filter_map(|value| match value {
                Value::String(name) => Some(name.clone()),
                _ => None,
            }));
            on.insert(feature);
        }
    }
    on
}

fn table<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    match table.get(key) {
        Some(Value::Table(inner)) => Some(inner),
        _ => None,
    }
}

fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let values = match table.get(key) {
        Some(Value::Array(values)) => values.as_slice(),
        _ => &[],
    };
    values.iter().filter_map(|value| match value {
        Value::Table(inner) => Some(inner),
        _ => None,
    })
}

fn string<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    match table.get(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
