//! Writes the protocol and the program of the page to files, and verifies this package.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const PAGE: &str = "../../rumpsteak-runtime/guide/cookbook/axum.md";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PAGE}");
    let page = fs::read_to_string(PAGE)?;
    let out = env::var("OUT_DIR")?;
    let protocols = Path::new(&out).join("protocols");
    fs::create_dir_all(&protocols)?;
    for (fence, file) in
        [("scribble", protocols.join("checkout.scr")), ("rust", Path::new(&out).join("page.rs"))]
    {
        let (_, block) = page.split_once(&format!("```{fence}\n")).ok_or("a block is missing")?;
        let block = block.split("```").next().unwrap_or_default();
        // A file that is written anew makes Cargo run this script again.
        if fs::read_to_string(&file).ok().as_deref() != Some(block) {
            fs::write(file, block)?;
        }
    }
    rumpsteak_build::verify(protocols)?;
    Ok(())
}
