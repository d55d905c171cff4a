//! The packages of the workspace and their targets, as Cargo knows them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// A package of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name without `rumpsteak-`.
    pub name: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// Its targets, build scripts left out.
    pub targets: Vec<Target>,
}

/// A target of a package.
#[derive(Clone, Debug)]
pub struct Target {
    /// What Cargo calls its kind: `lib`, `bin`, `example`, `test`, …
    pub kind: String,
    /// The file where rustc begins to read.
    pub root: PathBuf,
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this package is in a folder of the workspace")
        .to_owned()
}

/// The packages of the workspace, in the order of their folders.
pub fn packages() -> Vec<Package> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let list = |value: &Value| value.as_array().expect("an array").clone();
    let mut packages: Vec<Package> = list(&metadata["packages"])
        .iter()
        .map(|package| Package {
            name: text(&package["name"]).replacen("rumpsteak-", "", 1),
            folder: Path::new(&text(&package["manifest_path"]))
                .parent()
                .expect("a manifest is in a folder")
                .to_owned(),
            targets: list(&package["targets"])
                .iter()
                .map(|target| Target {
                    kind: text(&target["kind"][0]),
                    root: PathBuf::from(text(&target["src_path"])),
                })
                .filter(|target| target.kind != "custom-build")
                .collect(),
        })
        .collect();
    packages.sort_by(|left, right| left.folder.cmp(&right.folder));
    packages
}

impl Package {
    /// The Rust files in the folder, those of packages inside it left out.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the folder can be read") {
                let path = entry.expect("the entry can be read").path();
                if path.is_dir() {
                    if !path.join("Cargo.toml").exists() && !path.ends_with("target") {
                        folders.push(path);
                    }
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }
}
