//! Writes the Scribble blocks of the documents to files, and verifies this package against them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let protocols = Path::new(&env::var("OUT_DIR")?).join("protocols");
    fs::create_dir_all(&protocols)?;
    println!("cargo::rerun-if-changed=../guide");
    println!("cargo::rerun-if-changed=../README.md");
    let chapters = fs::read_dir("../guide")?.collect::<Result<Vec<_>, _>>()?;
    let chapters = chapters.iter().map(fs::DirEntry::path);
    for path in chapters.chain([PathBuf::from("../README.md")]) {
        let text = fs::read_to_string(&path)?;
        for block in text.split("```scribble\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let name = block.split("global protocol ").nth(1).and_then(|it| it.split('(').next());
            let file = protocols.join(name.ok_or("a block without a protocol")?).with_extension("scr");
            // A file that is written anew makes Cargo run this script again.
            if fs::read_to_string(&file).ok().as_deref() != Some(block) {
                fs::write(file, block)?;
            }
        }
    }
    rumpsteak_build::verify(protocols)?;
    Ok(())
}
