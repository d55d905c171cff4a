//! The verdict on a module, for the macros of `rumpsteak-runtime`. No part of the public face: it
//! may change at any time.
//!
//! A verdict depends on the tokens of the module, on the texts of its protocol, of the modules that
//! the protocol imports and of the machines beside it, and on the version of the verifier; on
//! nothing else. The build script judges each module and keeps the verdicts of those without a
//! mistake under the hash of all these. A macro looks its module up by that hash. If nothing is
//! there, it judges the module itself, by the same code: while an editor expands macros, in tests of
//! documentation, and to raise the mistakes at their tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use proc_macro2::{Ident, Span};
use rumpsteak_front::module::{Item, Module};

use crate::findings::Findings;
use crate::package::{Package, RUNTIME};
use crate::verdict;

/// A module with its verdict.
pub struct Judged {
    /// The module.
    pub module: Module,
    /// The items that the module does not write.
    pub generated: Vec<Item>,
    /// The mistakes, each once.
    pub problems: Vec<Problem>,
    /// The sessions that name something that is not there.
    pub left_out: BTreeSet<String>,
    /// The result.
    pub verdict: Verdict,
    /// The files that the verdict depends on.
    pub files: Vec<PathBuf>,
}

impl fmt::Debug for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judged").field("module", &self.module.name).finish_non_exhaustive()
    }
}

/// A mistake.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The token to blame.
    pub span: Span,
    /// The text of the error, of several lines.
    pub text: String,
}

/// What is known of a role.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RoleFacts {
    /// The protocol, or the name of a module without one.
    pub protocol: String,
    /// The name of the role in the protocol.
    pub role: String,
    /// The queues that the role sends into: the struct of the peer, and the capacity, as a
    /// `Capacity` of the runtime is written.
    pub queues: Vec<(String, String)>,
    /// A number for all sessions of the module; never 0.
    pub system: u64,
    /// The projections of the protocol onto all of its roles, as a text.
    pub projections: String,
    /// The roles of the protocol that play on demand.
    pub on_demand: Vec<String>,
    /// A number for all sessions, if they are safe with one another only; otherwise 0.
    pub closed: u64,
}

/// What is known of a session with a role.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RootFacts {
    /// True if nothing in the module is wrong.
    pub passed: bool,
    /// The machine that was judged.
    pub machine: Option<Machine>,
    /// A picture of the machine for the documentation: SVG, or empty.
    pub picture: String,
}

/// A machine: its role, the number of its states, the one in which it begins, and its transitions.
pub type Machine = (String, usize, usize, Vec<Transition>);

/// Source, true if it sends, peer, label, sorts, target.
pub type Transition = (usize, bool, String, String, Vec<String>, usize);

/// A type in a label that rustc compares with the one in the protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PayloadCheck {
    /// The struct of the label.
    pub label: String,
    /// The position of the field.
    pub field: usize,
    /// The type in the protocol.
    pub expected: Expected,
}

/// The type of a payload in a protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Expected {
    /// A session that changes hands, of this role of this protocol.
    Session {
        /// The protocol.
        protocol: String,
        /// The role.
        role: String,
    },
    /// A type, as the protocol declares it.
    Type(String),
}

/// What was proven of a module, and the items that it does not write.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verdict {
    /// The items that the module does not write.
    pub text: String,
    /// The roles, by the names of their structs.
    pub roles: BTreeMap<String, RoleFacts>,
    /// The sessions with a role, by their names.
    pub roots: BTreeMap<String, RootFacts>,
    /// The types of payloads that rustc compares.
    pub payloads: Vec<PayloadCheck>,
}

/// Judges a module in a macro, or takes the verdict that the build script has left.
pub fn judge(module: Module) -> Judged {
    let package = match Package::of_macro() {
        Ok(package) => package,
        Err(reason) => return unverified(module, &reason),
    };
    let place = package.place(&module);
    let files = place.as_ref().map(|place| place.paths().cloned().collect());
    let key = verdict::key(&module, place.as_ref());
    let known = module.errors.is_empty().then(|| package.verdict(key)).flatten();
    let findings = match known {
        Some(verdict) => Findings::known(&module, verdict),
        None => package.judge(&module, place.as_ref()),
    };
    let Findings { verdict, generated, told, left_out, .. } = findings;
    let problems = told.into_iter();
    let problems = problems.map(|(span, told)| Problem { span, text: told.with_code() });
    let (problems, files) = (problems.collect(), files.unwrap_or_default());
    Judged { module, generated, problems, left_out, verdict, files }
}

/// The name of the runtime's crate in the package whose code rustc compiles.
pub fn runtime_crate() -> String {
    std::env::var(RUNTIME).unwrap_or_else(|_| "rumpsteak".to_owned())
}

/// A module that was not judged, for this reason.
fn unverified(module: Module, reason: &str) -> Judged {
    let at: &Ident = module.arguments.protocol.as_ref().unwrap_or(&module.name);
    let text = format!("`{at}` was not verified: {reason}");
    let problems = vec![Problem { span: at.span(), text }];
    let (generated, left_out, files) = Default::default();
    Judged { module, generated, problems, left_out, verdict: Verdict::default(), files }
}
