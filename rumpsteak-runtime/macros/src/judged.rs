//! The facts about a module with which it is expanded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proc_macro2::Span;
use rumpsteak_front::Module;
use rumpsteak_front::module::Item;

pub(crate) struct Judged {
    pub(crate) module: Module,
    pub(crate) generated: Vec<Item>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) left_out: BTreeSet<String>,
    pub(crate) verdict: Verdict,
    pub(crate) files: Vec<PathBuf>,
}

pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) text: String,
}

#[derive(Default)]
pub(crate) struct Verdict {
    pub(crate) roles: BTreeMap<String, RoleFacts>,
    pub(crate) roots: BTreeMap<String, RootFacts>,
    pub(crate) payloads: Vec<PayloadCheck>,
}

pub(crate) struct RoleFacts {
    pub(crate) protocol: String,
    pub(crate) role: String,
    pub(crate) queues: Vec<(String, String)>,
    pub(crate) system: u64,
    pub(crate) projections: String,
    pub(crate) on_demand: Vec<String>,
    pub(crate) closed: u64,
}

#[derive(Default)]
pub(crate) struct RootFacts {
    pub(crate) passed: bool,
    pub(crate) machine: Option<Machine>,
}

pub(crate) type Machine = (String, usize, usize, Vec<Transition>);

pub(crate) type Transition = (usize, bool, String, String, Vec<String>, usize);

pub(crate) struct PayloadCheck {
    pub(crate) label: String,
    pub(crate) field: usize,
    pub(crate) expected: Expected,
}

pub(crate) enum Expected {
    Session { protocol: String, role: String },
    Type(String),
}

pub(crate) fn judge(module: Module) -> Judged {
    Judged {
        module,
        generated: Vec::new(),
        problems: Vec::new(),
        left_out: BTreeSet::new(),
        verdict: Verdict::default(),
        files: Vec::new(),
    }
}
