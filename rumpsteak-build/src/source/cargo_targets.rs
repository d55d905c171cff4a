//! The targets of a package: where rustc begins to read.
//!
//! Cargo does not tell a build script which targets the package has, so this follows its rules:
//! what `Cargo.toml` says under `[lib]`, `[[bin]]`, `[[example]]`, `[[test]]` and `[[bench]]`, and
//! what lies in the conventional places unless `autobins = false` and the like forbid it. Calling
//! `cargo metadata` from a build script would wait for the lock of the Cargo that runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use toml::de::{DeTable, DeValue};

use crate::source::bare_names::RUNTIME;
use crate::source::text_file;

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    /// Its name as Cargo has it, with `-` where the user wrote `-`.
    pub(crate) name: String,
}

/// The sorts of targets that hold sessions, by their names in `cargo`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum TargetKind {
    Bench,
    Bin,
    Example,
    Lib,
    /// A source file that the build script was told to read.
    Source,
    Test,
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Root {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Package {
    /// The targets whose files exist: the library first, then by kind and name.
    pub(crate) roots: Vec<Root>,
    /// The features that are on unless the user switches them off.
    pub(crate) default_features: BTreeSet<String>,
    /// The folders in which a new file would be a new target.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) has_edition: bool,
    /// What it depends on, for some target or for tests, by the names in paths.
    pub(crate) dependencies: BTreeSet<String>,
    /// What the runtime is called in paths, if it is renamed.
    pub(crate) runtime: Option<String>,
}

/// Reads the manifest in `folder` and looks for the files of its targets.
///
/// # Errors
///
/// If the manifest cannot be read, is not TOML, or has no `[package]`.
pub(crate) fn package(folder: &Path) -> Result<Package, String> {
    let path = folder.join("Cargo.toml");
    let text = text_file::read(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let manifest = DeTable::parse(&text)
        .map_err(|error| format!("cannot read {}: {}", path.display(), error.message()))?
        .into_inner();
    let Some(package) = table(&manifest, "package") else {
        return Err(format!("{} has no [package]", path.display()));
    };
    let name = string(package, "name").unwrap_or_default();
    let is_discovered = |auto: &str| !matches!(value(package, auto), Some(DeValue::Boolean(false)));

    let mut roots: BTreeMap<(u8, TargetKind, String), PathBuf> = BTreeMap::new();
    let mut add = |kind: TargetKind, name: &str, path: PathBuf| {
        let order = u8::from(kind != TargetKind::Lib);
        if path.is_file() {
            roots.entry((order, kind, name.to_owned())).or_insert(path);
        }
    };

    let lib = table(&manifest, "lib");
    if lib.is_some() || is_discovered("autolib") {
        let key = |key| lib.and_then(|lib| string(lib, key));
        let path = folder.join(key("path").unwrap_or("src/lib.rs"));
        add(TargetKind::Lib, key("name").unwrap_or(name), path);
    }
    let mut folders = vec![folder.join("src")];
    for kind in &KINDS {
        let mut claimed = BTreeSet::new();
        for target in tables(&manifest, kind.key) {
            let Some(target_name) = string(target, "name") else { continue };
            let path = string(target, "path").map(|path| folder.join(path));
            let path = path.or_else(|| kind.conventional(folder, target_name, name));
            if let Some(path) = path {
                claimed.insert(path.clone());
                add(kind.kind, target_name, path);
            }
        }
        if is_discovered(kind.auto) {
            for (target_name, path) in kind.discover(folder, name) {
                // A file that the manifest names is that target only, whatever its own name.
                if !claimed.contains(&path) {
                    add(kind.kind, &target_name, path);
                }
            }
            if kind.folder != "src/bin" {
                folders.push(folder.join(kind.folder));
            }
        }
    }
    folders.retain(|folder| folder.is_dir());
    let dependencies = dependencies(&manifest);
    let is_runtime = |(_, of): &(&String, &&DeValue<'_>)| {
        let package = of.as_table().and_then(|of| string(of, "package"));
        package == Some("rumpsteak-runtime") && !dependencies.contains_key(RUNTIME)
    };
    let roots = roots
        .into_iter()
        .map(|((_, kind, name), path)| Root { target: Target { kind, name }, path });
    Ok(Package {
        roots: roots.collect(),
        default_features: default_features(&manifest),
        folders,
        has_edition: value(package, "edition").is_some(),
        runtime: dependencies.iter().find(is_runtime).map(|(name, _)| name.clone()),
        dependencies: dependencies.into_keys().collect(),
    })
}

/// The names in paths of what a package depends on, and what the manifest says of each.
fn dependencies<'t, 'i>(manifest: &'t DeTable<'i>) -> BTreeMap<String, &'t DeValue<'i>> {
    let targets = table(manifest, "target").into_iter().flat_map(DeTable::values);
    let all = targets.filter_map(|target| target.get_ref().as_table()).chain([manifest]);
    let of = |all| ["dependencies", "dev-dependencies"].map(|key| table(all, key));
    let all = all.flat_map(of).flatten().flat_map(DeTable::iter);
    all.map(|(name, of)| (name.get_ref().replace('-', "_"), of.get_ref())).collect()
}

/// What Cargo calls a kind of target, and where it looks for it.
struct Kind {
    kind: TargetKind,
    key: &'static str,
    auto: &'static str,
    folder: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { kind: TargetKind::Bin, key: "bin", auto: "autobins", folder: "src/bin" },
    Kind { kind: TargetKind::Example, key: "example", auto: "autoexamples", folder: "examples" },
    Kind { kind: TargetKind::Test, key: "test", auto: "autotests", folder: "tests" },
    Kind { kind: TargetKind::Bench, key: "bench", auto: "autobenches", folder: "benches" },
];

impl Kind {
    /// The file of a target that the manifest names without a path.
    fn conventional(&self, package: &Path, name: &str, package_name: &str) -> Option<PathBuf> {
        let folder = package.join(self.folder);
        let mut candidates =
            vec![folder.join(format!("{name}.rs")), folder.join(name).join("main.rs")];
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
        let Ok(entries) = fs::read_dir(package.join(self.folder)) else { return found };
        for path in entries.flatten().map(|entry| entry.path()) {
            let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
            if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((name.to_owned(), path));
            } else if path.is_dir() {
                found.push((name.to_owned(), path.join("main.rs")));
            }
        }
        found.sort();
        found
    }
}

/// The features that `default` switches on, through other features too.
fn default_features(manifest: &DeTable<'_>) -> BTreeSet<String> {
    let mut on = BTreeSet::new();
    let Some(features) = table(manifest, "features") else { return on };
    let mut pending = vec!["default"];
    while let Some(feature) = pending.pop() {
        // `dep:x` and `x/y` concern other packages.
        if let Some(DeValue::Array(implied)) = value(features, feature)
            && on.insert(feature.to_owned())
        {
            pending.extend(implied.iter().filter_map(|value| value.get_ref().as_str()));
        }
    }
    on
}

fn value<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.get(key).map(|value| value.get_ref())
}

fn string<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    value(table, key)?.as_str()
}

fn table<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    value(table, key)?.as_table()
}

fn tables<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> impl Iterator<Item = &'t DeTable<'i>> {
    let tables = value(table, key).and_then(|value| value.as_array());
    let tables = tables.into_iter().flat_map(|tables| tables.iter());
    tables.filter_map(|table| table.get_ref().as_table())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_is_none_is_an_error() {
        let folder = std::env::temp_dir().join(format!("rumpsteak-targets-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
        let deep = [
            "[".repeat(100_000),
            format!("a = {}", "[".repeat(100_000)),
            format!("a = {}", "{a=".repeat(100_000)),
            format!("{}b = 1", "a.".repeat(100_000)),
            format!("[{}b]", "a.".repeat(100_000)),
        ];
        let texts = ["", "[workspace]", "a =", "[package"];
        for text in texts.into_iter().chain(deep.iter().map(String::as_str)) {
            let written = fs::write(folder.join("Cargo.toml"), text);
            written.unwrap_or_else(|error| panic!("{error}"));
            assert!(package(&folder).is_err(), "{:.20}", text);
        }
        let _ = fs::remove_dir_all(folder);
    }
}
