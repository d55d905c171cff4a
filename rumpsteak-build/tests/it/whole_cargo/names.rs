//! The runtime's crate has any name: the one in the manifest of the package, or the one that the
//! attribute says.

use super::harness::{MODULE, Package, TOKIO, VERIFIES, dependency, workspace};
use crate::support::PROTOCOL;

#[test]
fn the_runtime_may_have_any_name() {
    let package = Package::bare("names");
    let runtime = format!(
        "package = \"rumpsteak-runtime\", path = {:?}",
        workspace().join("rumpsteak-runtime")
    );
    let members = [
        (
            "plain",
            &*format!("{TOKIO}\nrumpsteak-runtime.workspace = true\n"),
            "rumpsteak_runtime",
            "",
        ),
        ("renamed", &format!("rt = {{ {runtime} }}\n"), "rt", ""),
        ("inherited", "rumpsteak = { workspace = true }\n", "rumpsteak", ""),
        ("table", "[dependencies.sessions]\nworkspace = true\n", "sessions", ""),
        (
            "said",
            "# package = \"rumpsteak-runtime\"\nrumpsteak.workspace = true\n",
            "inner",
            ", crate = \"crate::inner\"",
        ),
    ];
    package.write(
        "Cargo.toml",
        &format!(
            "[workspace]\nresolver = \"3\"\nmembers = {:?}\n\n[workspace.dependencies]\n\
             rumpsteak-runtime = {}\nrumpsteak = {{ {runtime} }}\nsessions = {{ {runtime} }}\nrumpsteak-build = {}\n",
            members.map(|(name, ..)| name),
            dependency("rumpsteak-runtime"),
            dependency("rumpsteak-build"),
        ),
    );
    for (name, dependency, krate, setting) in members {
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [build-dependencies]\nrumpsteak-build.workspace = true\n\n{}{dependency}",
            if dependency.starts_with('[') { "" } else { "[dependencies]\n" },
        );
        let module = MODULE.replace("rumpsteak::", &format!("{krate}::"));
        let module = module.replace("(DoubleBuffering)", &format!("(DoubleBuffering{setting})"));
        let inner = if krate == "inner" { "pub use rumpsteak as inner;\n" } else { "" };
        for (file, text) in [
            ("Cargo.toml", &*manifest),
            ("build.rs", VERIFIES),
            ("protocols/double_buffering.scr", PROTOCOL),
            ("src/lib.rs", &format!("{inner}{module}")),
        ] {
            package.write(&format!("{name}/{file}"), text);
        }
    }
    // The build script runs again when the manifest alone changes.
    let [wrong, right] = ["rumpsteak.workspace", "rumpsteak-runtime.workspace"];
    package.edit("plain/Cargo.toml", right, wrong);
    assert!(!package.check(&["-p", "plain"]).success);
    package.edit("plain/Cargo.toml", wrong, right);
    package.check(&["--keep-going"]).passes();
}
