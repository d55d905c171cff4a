//! Reads the manifest of a package by hand: a TOML library would cost a clean build 2 s of CPU.

use std::path::Path;

use crate::package_root::{self, PackageRoot};
use crate::short_map::entry;

const RUNTIME: &str = "rumpsteak-runtime";

/// The name of the runtime's crate in a package: the key of the dependency, if there is one.
pub(crate) fn runtime(base: &PackageRoot) -> Option<String> {
    runtime_in(&read(&base.folder), &read(&base.workspace))
}

fn runtime_in(own: &str, workspace: &str) -> Option<String> {
    let inherited = dependencies(workspace, true);
    let is_runtime = |(key, value): &&(String, String)| {
        let inherits = value.contains("workspace = true") || value.contains("workspace=true");
        let value =
            inherited.iter().find(|(own, _)| inherits && own == key).map_or(value, |(_, of)| of);
        // The value may name the package.
        let named = value.split("package").nth(1).and_then(|rest| rest.split(['"', '\'']).nth(1));
        named.unwrap_or(key) == RUNTIME
    };
    dependencies(own, false).iter().find(is_runtime).map(|(key, _)| key.replace('-', "_"))
}

pub(crate) fn read(folder: &Path) -> String {
    package_root::read(&folder.join("Cargo.toml")).unwrap_or_default()
}

/// The dependencies in a manifest, or those that the workspace shares, except build dependencies.
fn dependencies(text: &str, shared: bool) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (mut is_table, mut of_table) = (false, None);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            let (before, key) = header.split_once("dependencies").unwrap_or(("-", "-"));
            is_table = !before.ends_with("build-")
                && before.starts_with("workspace.") == shared
                && (key.is_empty() || key.starts_with('.'));
            of_table = key.strip_prefix('.').map(str::to_owned);
            continue;
        }
        let (true, Some((key, _))) = (is_table, line.split_once(['=', '.'])) else { continue };
        let (key, value) = match &of_table {
            Some(key) => (key.as_str(), line),
            None => (key, &line[key.len() + 1..]),
        };
        entry(&mut found, key.trim().trim_matches('"').to_owned()).push_str(value);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::runtime_in;

    #[test]
    fn the_runtime_has_the_name_of_its_key() {
        let workspace = "[workspace.dependencies]\nrt = { package = \"rumpsteak-runtime\", path = \"r\" }\n\
                         rumpsteak-runtime = \"0.1\"\n[workspace.dependencies.rumpsteak]\npackage = \"rumpsteak-runtime\"\n";
        for (own, expected) in [
            ("[dependencies]\nrumpsteak = { package = \"rumpsteak-runtime\" }", Some("rumpsteak")),
            ("[dependencies]\nrumpsteak-runtime = \"0.1\"", Some("rumpsteak_runtime")),
            ("[dependencies]\nrumpsteak-runtime.workspace = true", Some("rumpsteak_runtime")),
            ("[dev-dependencies]\nrumpsteak.workspace = true", Some("rumpsteak")),
            ("[dependencies]\nrt = { workspace = true }", Some("rt")),
            ("[dependencies.rt]\nworkspace = true", Some("rt")),
            ("[dependencies.own]\nversion = '1'\npackage = 'rumpsteak-runtime'", Some("own")),
            (
                "[target.'cfg(unix)'.dependencies]\nrumpsteak-runtime = \"1\"",
                Some("rumpsteak_runtime"),
            ),
            ("[build-dependencies]\nrumpsteak-runtime = \"1\"", None),
            ("[dependencies]\n# rumpsteak-runtime = \"1\"\nrumpsteak-net = \"1\"", None),
            ("[features]\nrumpsteak-runtime = []", None),
            ("", None),
        ] {
            assert_eq!(runtime_in(own, workspace).as_deref(), expected, "{own}");
        }
    }
}
