//! What is found out about a package.

use proc_macro2::Span;
use rumpsteak_contract::verdict::{Entry, Verdicts};

use crate::fault::{Cause, Note};
use crate::gravity::Gravity;
use crate::source::crate_tree::FileId;

/// What is written about a package.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) verdicts: Verdicts,
    /// Every problem with its place, in the order of the items.
    pub(crate) problems: Vec<Located>,
    /// Files of protocols whose errors no item of the Rust source can show, by position.
    pub(crate) unanchored: Vec<usize>,
    /// Whether the Rust source shows by `include_protocols!()` what no item can show.
    pub(crate) includes_protocols: bool,
    /// How many roots there are, and how many of them hold.
    pub(crate) roots: usize,
    pub(crate) passed: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) file: FileId,
    /// The token of the item, and where it stands.
    pub(crate) token: usize,
    pub(crate) span: Span,
    pub(crate) told: Told,
    pub(crate) gravity: Gravity,
    /// Whether a file of protocols is wrong, whose errors are reported.
    pub(crate) is_of_file: bool,
    /// Whether the macro of another item says it.
    pub(crate) is_echo: bool,
    /// What stands in for the item that it is about.
    pub(crate) stub: Option<String>,
}

/// What is said of a problem.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Told {
    /// Without colours, of several lines.
    pub text: String,
    /// What `cargo rumpsteak explain` knows it by.
    pub code: Option<&'static str>,
}

impl Told {
    /// The text with the code behind its first line, where rustc has no other place for it.
    fn with_code(&self) -> String {
        let Some(code) = self.code else { return self.text.clone() };
        let headline = self.text.lines().next().unwrap_or_default();
        format!("{headline} [{code}]{}", &self.text[headline.len()..])
    }
}

/// The words for what is wrong.
pub(crate) type Word<'a> = dyn Fn(&Cause, Option<&Note>) -> Told + 'a;

/// The errors that the macro of an item raises: tokens and texts. Where the reason is the error of
/// another item, the macro of that one raises it.
pub(crate) fn raised(problems: &[Located]) -> Vec<(usize, String)> {
    let raised = problems.iter().filter(|problem| !problem.is_echo);
    let raised = raised.map(|problem| (problem.token, problem.told.with_code()));
    let mut raised: Vec<_> = raised.collect();
    raised.dedup();
    raised
}

impl Findings {
    /// Adds the entry of an item, and what is wrong with it.
    pub(crate) fn add(&mut self, entry: &Entry, problems: Vec<Located>) {
        self.verdicts.add(entry);
        self.problems.extend(problems);
    }
}
