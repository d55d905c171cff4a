//! The environment variables of tests.

use std::env;
use std::ops::Range;
use std::path::PathBuf;

/// The folder `name` of the corpora: files with known verdicts that are not part of the project.
///
/// Tests that call it are `#[ignore = "needs RUMPSTEAK_CORPORA"]`.
///
/// # Panics
///
/// If the environment variable `RUMPSTEAK_CORPORA` does not name the folder of the corpora.
pub fn corpus(name: &str) -> PathBuf {
    match env::var_os("RUMPSTEAK_CORPORA") {
        Some(corpora) => PathBuf::from(corpora).join(name),
        None => panic!("RUMPSTEAK_CORPORA does not name the folder of the corpora"),
    }
}

/// The seeds that a randomised test tries, one random input each: `0..usual`, also if the variable
/// `RUMPSTEAK_FUZZ` of the environment says `all`. For `N` they are `0..N`, or else `FROM..TO`; any
/// other text panics.
pub fn seeds(usual: u64) -> Range<u64> {
    let text = env::var("RUMPSTEAK_FUZZ").unwrap_or_else(|_| "all".into());
    if text == "all" {
        return 0..usual;
    }
    let (from, to) = text.split_once("..").unwrap_or(("0", &text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) => from..to,
        _ => panic!("RUMPSTEAK_FUZZ must be `all`, a number or FROM..TO, not `{text}`"),
    }
}

/// The seeds of a test that takes long: an eighth of [`seeds`], unless the variable is set.
pub fn sample(all: u64) -> Range<u64> {
    seeds(if env::var_os("RUMPSTEAK_FUZZ").is_some() { all } else { all.div_ceil(8) })
}
