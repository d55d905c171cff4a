//! The configuration of a package's build script, which writes it beside its verdicts when it runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

use rumpsteak_build::Configuration;
use rumpsteak_build::command::{self, Notice};
use serde_json::Value;

/// The configuration of the build script of the package in `folder`, and a note if it may be out of
/// date. If the build script has not run yet, the folder `protocols` is assumed, if it exists.
pub(crate) fn read(folder: &Path) -> (Configuration, Option<Notice>) {
    let script = modified(&folder.join("build.rs"));
    let Some((configuration, written)) = latest(folder) else {
        let mut configuration = rumpsteak_build::configure();
        if folder.join("protocols").exists() {
            configuration = configuration.protocols("protocols");
        }
        let note = "the build script has not run yet, so its settings are not known";
        let help = "run `cargo check` first, or name the protocols with `--protocols`";
        return (configuration, script.map(|_| Notice::note(note).help(help)));
    };
    let note = "the build script has changed since it ran, so its settings may be others";
    let changed = script.filter(|&changed| changed > written);
    (configuration, changed.map(|_| Notice::note(note).help("run `cargo check` first")))
}

/// The configuration that the latest run of the build script wrote, and the time of that run.
fn latest(folder: &Path) -> Option<(Configuration, SystemTime)> {
    let (target, package) = cargo_metadata(folder)?;
    let read = out_dirs(&target, &package).into_iter().filter_map(|out_dir| {
        Some((command::configuration(&out_dir)?, modified(&out_dir.join(command::PATH))?))
    });
    read.max_by_key(|(_, written)| *written)
}

/// The folder of the builds, and the name of the package.
fn cargo_metadata(folder: &Path) -> Option<(PathBuf, String)> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--format-version=1"];
    let output = Command::new(cargo).args(arguments).current_dir(folder).output().ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    // Cargo can be told to build in another folder than the one for the results.
    let target = metadata["build_directory"].as_str().or(metadata["target_directory"].as_str())?;
    let manifest = fs::canonicalize(folder.join("Cargo.toml")).ok()?;
    let is_here = |package: &&Value| {
        let path = package["manifest_path"].as_str().map(fs::canonicalize);
        path.is_some_and(|path| path.is_ok_and(|path| path == manifest))
    };
    let package = metadata["packages"].as_array()?.iter().find(is_here)?;
    Some((target.into(), package["name"].as_str()?.to_owned()))
}

/// The `OUT_DIR`s of a package: `<profile>/build/<package>-<hash>/out`, also below the folder of a
/// `--target`.
fn out_dirs(target: &Path, package: &str) -> Vec<PathBuf> {
    let mut profiles = folders(target);
    let nested: Vec<PathBuf> = profiles.iter().flat_map(|folder| folders(folder)).collect();
    profiles.extend(nested);
    let scripts = profiles.iter().flat_map(|profile| folders(&profile.join("build")));
    let of_package = scripts.filter(|script| {
        let name = script.file_name().and_then(|name| name.to_str());
        let hash = name.and_then(|name| name.strip_prefix(package)?.strip_prefix('-'));
        hash.is_some_and(|hash| !hash.contains('-'))
    });
    of_package.map(|script| script.join("out")).collect()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
