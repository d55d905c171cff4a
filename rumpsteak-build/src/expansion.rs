//! The interface for the macros of `rumpsteak-runtime`, which may change at any time.
//!
//! The build script stores the verdict of each module without a mistake under the hash of all
//! inputs. A macro looks its module up by that hash, or else verifies the module by the same code.

use std::collections::BTreeSet;
use std::path::PathBuf;

use proc_macro2::{Ident, Span};
use rumpsteak_front::module::{Item, Module};

use crate::findings::Findings;
use crate::package::{self, Package, RUNTIME};

pub use crate::verdict::{
    Expected, Machine, PayloadCheck, RoleFacts, RootFacts, Transition, Verdict,
};

/// A module with its verdict.
#[expect(missing_debug_implementations, reason = "neither has a module")]
pub struct Judged {
    /// The module.
    pub module: Module,
    /// The items that the module leaves to be generated.
    pub generated: Vec<Item>,
    /// The mistakes.
    pub problems: Vec<Problem>,
    /// The sessions that name something that does not exist.
    pub left_out: BTreeSet<String>,
    /// The result.
    pub verdict: Verdict,
    /// The files that the verdict depends on.
    pub files: Vec<PathBuf>,
}

/// A mistake.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The token to blame.
    pub span: Span,
    /// The text of the error, of several lines.
    pub text: String,
}

/// Takes the verdict that the build script has stored, or verifies the module in the macro.
pub fn judge(module: Module) -> Judged {
    let package = match Package::of_macro() {
        Ok(package) => package,
        Err(reason) => return unverified(module, &reason),
    };
    let inputs = package.inputs(&module);
    let files = inputs.as_ref().map(|inputs| inputs.paths().cloned().collect());
    let key = package::key(&module, inputs.as_ref());
    let known = module.errors.is_empty().then(|| package.verdict(key)).flatten();
    let findings = match known {
        Some(verdict) => Findings::known(&module, verdict),
        None => package.judge(&module, inputs.as_ref()),
    };
    let Findings { verdict, generated, told, left_out, .. } = findings;
    let problems = told.into_iter().map(|(span, told)| Problem { span, text: told.with_code() });
    let (problems, files) = (problems.collect(), files.unwrap_or_default());
    Judged { module, generated, problems, left_out, verdict, files }
}

/// The name of the runtime's crate in the package whose code rustc compiles.
pub fn runtime_crate() -> String {
    std::env::var(RUNTIME).unwrap_or_else(|_| "rumpsteak".to_owned())
}

/// A module that could not be verified.
fn unverified(module: Module, reason: &str) -> Judged {
    let at: &Ident = module.arguments.protocol.as_ref().unwrap_or(&module.name);
    let text = format!("`{at}` was not verified: {reason}");
    let problems = vec![Problem { span: at.span(), text }];
    let (generated, left_out, files) = Default::default();
    Judged { module, generated, problems, left_out, verdict: Verdict::default(), files }
}
