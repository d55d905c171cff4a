//! The corpora: files with known verdicts that are not part of the project.

use std::{env, path::PathBuf};

/// The folder `name` of the corpora.
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
