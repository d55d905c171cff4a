//! Writes the Scribble blocks of the documents to files, and verifies this package against them.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let protocols = Path::new(&env::var("OUT_DIR")?).join("protocols");
    fs::create_dir_all(&protocols)?;
    for folder in ["..", "../guide", "../guide/cookbook", "../net/guide"] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                println!("cargo::rerun-if-changed={}", path.display());
                extract(&path, &protocols)?;
            }
        }
    }
    rumpsteak_build::verify(protocols)?;
    Ok(())
}

/// Writes each block to a file that is named after its first protocol.
fn extract(document: &Path, protocols: &Path) -> Result<(), Box<dyn Error>> {
    for block in fs::read_to_string(document)?.split("```scribble\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let name = block.split("global protocol ").nth(1).and_then(|it| it.split('(').next());
        let file = protocols.join(name.ok_or("a block without a protocol")?).with_extension("scr");
        // A file that is written anew makes Cargo run this script again.
        if fs::read_to_string(&file).ok().as_deref() != Some(block) {
            fs::write(file, block)?;
        }
    }
    Ok(())
}
