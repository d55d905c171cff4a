//! Verifies the sessions of this package, and those of the cases in `ui/`.
#![allow(clippy::print_stdout, reason = "that is how a build script talks to Cargo")]

use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    // Files may come and go.
    println!("cargo::rerun-if-changed=ui");
    let mut cases = Vec::new();
    for entry in Path::new("ui").read_dir()? {
        let path: PathBuf = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            cases.push(path);
        }
    }
    cases.sort();
    rumpsteak_build::configure()
        .protocols("protocols")
        .sources(cases)
        .generate()
        .verify()
        .map_err(std::io::Error::other)?;
    Ok(())
}
