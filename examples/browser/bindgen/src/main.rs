//! Writes `browser.js` and `browser_bg.wasm` for a module: `rumpsteak-bindgen MODULE FOLDER`.

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let [module, folder] = env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: rumpsteak-bindgen MODULE FOLDER")?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("browser").omit_default_module_path(false);
    bindgen.web(true)?.generate(folder)?;
    Ok(())
}
