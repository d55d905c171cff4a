//! The interface for the macros of `rumpsteak-runtime`, which may change at any time.
//!
//! The build script stores the verdict of each module without a mistake under the hash of all
//! inputs. A macro looks its module up by that hash, or else verifies the module by the same code.

use std::path::PathBuf;
use std::slice;

use rumpsteak_front::module::{Item, Module};
use rumpsteak_fsm::text::{self, Form};

use crate::findings;
use crate::package::{self, Package, RUNTIME};
use crate::report::wording::ErrorText;

pub use crate::findings::Findings;
pub use crate::verdict::{Expected, PayloadCheck, ProtocolFacts, RoleFacts, RootFacts, Verdict};
pub use rumpsteak_fsm::{Direction, Fsm};

/// A module with its findings.
#[expect(missing_debug_implementations, reason = "neither has a module")]
pub struct Judged {
    /// The module.
    pub module: Module,
    /// The result.
    pub findings: Findings,
    /// The items that the module leaves to be generated.
    pub generated: Vec<Item>,
    /// The files that the verdict depends on.
    pub files: Vec<PathBuf>,
}

/// Takes the verdict that the build script has stored, or verifies the module in the macro.
pub fn judge(module: Module) -> Judged {
    let package = match Package::of_macro() {
        Ok(package) => package,
        Err(reason) => {
            let at = module.arguments.protocol.as_ref().unwrap_or(&module.name);
            let text = format!("`{at}` was not verified: {reason}");
            let told = vec![(at.span(), ErrorText { text, code: None })];
            let findings = Findings { told, ..Findings::default() };
            return Judged { module, findings, generated: Vec::new(), files: Vec::new() };
        }
    };
    let inputs = package.inputs(&module);
    let files = inputs.as_ref().map(|inputs| inputs.paths().cloned().collect());
    let key = package::key(&module, inputs.as_ref());
    let findings = match module.errors.is_empty().then(|| package.verdict(key)).flatten() {
        Some(verdict) => Findings { verdict, ..Findings::default() },
        None => package.judge(&module, inputs.as_ref()),
    };
    let generated = findings::parse(&findings.verdict.text);
    Judged { module, findings, generated, files: files.unwrap_or_default() }
}

/// A picture of a machine for documentation, as SVG, if it has at most 100 transitions.
pub fn picture(fsm: &Fsm) -> Option<String> {
    let is_small = fsm.transition_count() <= 100;
    is_small.then(|| text::print(Form::Svg, slice::from_ref(fsm)).ok())?
}

/// The name of the runtime's crate in the package whose code rustc compiles.
pub fn runtime_crate() -> String {
    std::env::var(RUNTIME).unwrap_or_else(|_| "rumpsteak".to_owned())
}
