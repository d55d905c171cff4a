//! The file through which the build script answers the macros: `OUT_DIR/rumpsteak/verdicts.json`.
//!
//! The build script writes one entry for each item that it saw: `#[session]` items, role structs,
//! sets and `protocol!(…)`. A macro looks its own item up by kind, name and token hash. The entry
//! of an item without fault carries its [`Proof`]: the structure that was verified, with all names
//! resolved. The macro makes rustc compare that structure with the one that rustc itself sees, so
//! that a proof holds for no other session, even where the build script and rustc resolve a name
//! differently.
//!
//! The entry of a role carries the capacities of the queues that it sends into, if some were
//! proven. They hold for a [`System`]: roles, and all sessions of each. Its number is in the
//! entries of the roles and of the sessions. The macros make rustc see that both ends of a queue
//! have the same number, and that no session without it runs on such a role: so the capacities hold
//! for no other roles and sessions, either.
//!
//! The file is JSON, and equal values give equal bytes. It carries the version of
//! `rumpsteak-build`; the macros refuse a file of another version than their own, because both must
//! agree on every detail.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::session::Direction;

/// The path of the file below `OUT_DIR`, with `/`.
pub const PATH: &str = "rumpsteak/verdicts.json";

/// The variable in which the build script tells rustc the [`stamp`] of the file.
///
/// A file in `OUT_DIR` outlives the build script that wrote it: if the script no longer verifies,
/// old verdicts are still there. The variable is not, because Cargo forgets it with each run of the
/// script.
pub const VARIABLE: &str = "RUMPSTEAK_VERDICTS";

/// A hash of 64 bits that identifies the text of a file, in hexadecimal.
///
/// No change of eight bytes in a row leaves it as it was, since each step can be undone. As the
/// hash of an item, it guards against what is stale, not against what is forged.
#[must_use]
pub fn stamp(text: &str) -> String {
    let (words, rest) = text.as_bytes().as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let step = |hash: u64, word: &[u8; 8]| {
        (hash ^ u64::from_le_bytes(*word))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let hash = words.iter().chain([&last]).fold(text.len() as u64, step);
    format!("{hash:016x}")
}

/// The part of the file that every version understands.
#[derive(Deserialize)]
struct Version {
    version: String,
}

/// All that the build script has to say to the macros.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// The version of `rumpsteak-build` that wrote the file.
    pub version: String,
    /// One entry for each item of each target, in the order in which the build script met them.
    pub entries: Vec<Entry>,
    /// The generated modules, by the names of their protocols.
    pub generated: Vec<Generated>,
    /// Problems that belong to no item, for `include_protocols!()`: rendered texts.
    pub unanchored: Vec<String>,
    /// The source files that could not be read as Rust.
    pub unreadable: Vec<Unreadable>,
}

/// A source file that could not be read as Rust: no item of it has an entry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Unreadable {
    /// The file, relative to the package, with `/`.
    pub file: String,
    /// The first byte that is no Rust, from 0.
    pub byte: usize,
    /// The line of this byte, from 1.
    pub line: usize,
}

/// A module that the build script wrote for a protocol.
///
/// `protocol!(…)` includes the file only if its text has this stamp, so that the code is never of
/// another build than the verdicts on it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// The protocol, by the name in `protocol!(…)`.
    pub protocol: String,
    /// The file below `OUT_DIR`, with `/`.
    pub file: String,
    /// The [`stamp`] of its text.
    pub stamp: String,
}

/// The verdict on one item.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which macro the entry is for.
    pub kind: Kind,
    /// The name of the item.
    pub name: String,
    /// The hash of the item's canonical tokens.
    pub hash: u64,
    /// The target whose module tree the item was found in.
    pub target: Target,
    /// The file of the item, relative to the package, with `/`.
    pub file: String,
    /// The line of the item's name, from 1.
    pub line: usize,
    /// What was found.
    pub outcome: Outcome,
}

/// Which macro an entry is for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Kind {
    /// `protocol!(…)`.
    Protocol,
    /// `#[derive(Role)]`.
    Role,
    /// `#[session]`.
    Session,
    /// `#[derive(Roles)]` with `#[closed_system]`.
    Set,
}

/// A target of a package.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// What sort of target it is.
    pub kind: TargetKind,
    /// Its name as Cargo has it, with `-` where the user wrote `-`.
    pub name: String,
}

/// The sorts of targets that hold sessions.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum TargetKind {
    /// A benchmark.
    Bench,
    /// A binary.
    Bin,
    /// An example.
    Example,
    /// The library.
    Lib,
    /// A source file that the build script was told to read.
    Source,
    /// An integration test.
    Test,
}

/// What was found out about an item.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Outcome {
    /// Something in this item is wrong. The macro raises one error for each problem, and expands
    /// the item all the same.
    Failed {
        /// The identity that the item has now: another than it would have without fault, so that no
        /// proof of a session that uses it holds unless this entry's errors are raised.
        id: Option<u64>,
        /// For a root: whether its role may play it, though it failed: then no error follows where
        /// it is run. Not where rustc refuses that by an error of its own: the role is of another
        /// crate, or plays the same type already.
        plays: bool,
        /// What is wrong, and where. Never empty.
        problems: Vec<Problem>,
    },
    /// Something is wrong with a session that this item is part of, in another item, which raises
    /// the error. The proof holds only together with that item as it failed.
    FailedElsewhere(Proof),
    /// The item is without fault.
    Passed(Proof),
}

/// An error to raise at a token.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The index of the token in the item.
    pub token: usize,
    /// The text of the error, plain, of several lines perhaps.
    pub text: String,
}

/// What was verified: the structure of an item with all names resolved.
///
/// Names are those of the Rust source (`#[protocol(DoubleBuffering::k)]`, `#[derive(Message)] enum
/// Label { Ready(…) }`) exactly as written there, which is what rustc sees as constants of the role
/// and of the message enum.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// For a root: who plays it.
    pub plays: Option<RoleName>,
    /// For a root that was verified together with all sessions of its peers: the k for which they
    /// are k-multiparty compatible.
    pub kmc: Option<usize>,
    /// For a root: the machine that was verified, with the names of the protocol.
    pub machine: Option<Machine>,
    /// For a `struct` or an `enum`: the identity by which other structures refer to it.
    pub id: Option<u64>,
    /// The structure. Nothing for an item that no root reaches: no session contains it, so nothing
    /// was verified.
    pub body: Option<Body>,
    /// For a role, or a root: in which system its queues have proven capacities.
    pub system: Option<System>,
}

/// Roles whose queues have capacities that were proven for all their sessions together, as one of
/// them sees it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The number of the system: never 0.
    pub id: u64,
    /// For a role: the queues that it sends into, in the order of its routes. Empty for a session.
    pub queues: Vec<Queue>,
}

/// A queue that a role sends into.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// The position among the fields of the role's struct.
    pub route: usize,
    /// The name of the role at the other end, for those who read the file.
    pub peer: String,
    /// How much room it needs.
    pub capacity: Capacity,
}

/// How much room a queue needs.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Capacity {
    /// It never holds more than this, in any run of the sessions, repeated for ever.
    AtMost(usize),
    /// As much as there is: no number was proven.
    Growable,
    /// It may hold any number, but with room for this many the senders may wait when it is full:
    /// this brings no deadlock.
    Waits(usize),
}

/// A machine as the build script saw it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Whose machine it is.
    pub role: String,
    /// How many states it has.
    pub states: usize,
    /// The number of the state in which it begins.
    pub initial: usize,
    /// Its transitions, in order.
    pub transitions: Vec<Transition>,
}

/// A transition of a [`Machine`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The number of the state from which it leads.
    pub source: usize,
    /// Whether it sends or receives.
    pub direction: Direction,
    /// The role at the other end.
    pub peer: String,
    /// The label of the message.
    pub label: String,
    /// The sorts that the message carries.
    pub payload: Vec<String>,
    /// The number of the state to which it leads.
    pub target: usize,
}

/// The structure of an item.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Body {
    /// Of a `type` or a `struct`.
    Chain(Chain),
    /// Of an `enum`: each option's label and what follows, in the order of the variants.
    Choice(Vec<(String, Chain)>),
}

/// A session with all names resolved and all `type` aliases replaced by what they stand for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The actions, first to last.
    pub actions: Vec<Action>,
    /// What comes after them.
    pub tail: Tail,
}

/// An action with its names resolved.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Whether it sends or receives.
    pub direction: Direction,
    /// The role at the other end.
    pub peer: RoleName,
    /// The name of the label.
    pub label: String,
}

/// How a resolved session goes on after its actions.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Tail {
    /// `Select` or `Branch`.
    Choice {
        /// Whether it selects or branches.
        direction: Direction,
        /// The role at the other end.
        peer: RoleName,
        /// The identity of the `enum`.
        id: u64,
    },
    /// `End`.
    End,
    /// A `struct`, by its identity; also for `Self`.
    Named(u64),
}

/// A role of a protocol, by the names in the Rust source.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RoleName {
    /// The protocol.
    pub protocol: String,
    /// The role.
    pub role: String,
}

/// The name that a role has in proofs if something is wrong with its link to a protocol.
///
/// `#[derive(Role)]` gives the struct this name together with the error, and never without it. So a
/// proof that names it holds only in a crate that does not compile; it keeps rustc from following
/// up that error with others.
#[must_use]
pub fn refused(role: &str) -> String {
    // No role of a protocol has a blank in its name.
    format!("{role} (refused)")
}

/// What a macro knows about where its item is. Whatever it does not know is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site<'a> {
    /// `CARGO_CRATE_NAME`.
    pub crate_name: Option<&'a str>,
    /// Whether `CARGO_BIN_NAME` is set, which it is for binaries and examples.
    pub executable: bool,
    /// The source file as rustc has it: relative to the workspace or absolute. Not the empty text.
    pub file: Option<&'a str>,
    /// The line of the item's name.
    pub line: Option<usize>,
}

impl Verdicts {
    /// The entry for an item, if there is one.
    ///
    /// Several entries may have the same key: the same tokens in two modules, or one file in the
    /// module trees of two targets. Those of the site's own target, file and line are preferred as
    /// far as these are known. If several are left, one without fault is taken: under rustc, which
    /// knows the place, that happens only if one file is mounted twice in one crate, and then the
    /// proof does not fit the other mount and rustc says so.
    ///
    /// Linear in the number of entries.
    #[must_use]
    pub fn find(&self, kind: Kind, name: &str, hash: u64, site: &Site<'_>) -> Option<&Entry> {
        let of_item =
            |entry: &&Entry| entry.kind == kind && entry.name == name && entry.hash == hash;
        let mut candidates: Vec<&Entry> = self.entries.iter().filter(of_item).collect();
        prefer(&mut candidates, |entry| site.is_in(&entry.target));
        prefer(&mut candidates, |entry| {
            site.file.is_some_and(|file| same_file(file, &entry.file))
                && site.line == Some(entry.line)
        });
        prefer(&mut candidates, |entry| {
            !matches!(entry.outcome, Outcome::Failed { .. })
        });
        candidates.first().copied()
    }

    /// Where the given source file, as rustc has it, could not be read; `None` if it was read.
    #[must_use]
    pub fn unreadable(&self, file: &str) -> Option<&Unreadable> {
        let mut unreadable = self.unreadable.iter();
        unreadable.find(|unreadable| same_file(file, &unreadable.file))
    }

    /// The text of the file.
    ///
    /// # Errors
    ///
    /// None that these types can cause: they have no keys but texts.
    pub fn print(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Reads the text of the file, which must be of the given version of `rumpsteak-build`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Version`] if another version wrote it, [`ParseError::Malformed`] if it is cut
    /// off or was changed.
    pub fn parse(text: &str, version: &str) -> Result<Self, ParseError> {
        let malformed = |error: serde_json::Error| ParseError::Malformed(error.to_string());
        let Version { version: found } = serde_json::from_str(text).map_err(malformed)?;
        if found != version {
            let expected = version.to_owned();
            return Err(ParseError::Version { found, expected });
        }
        let verdicts: Self = serde_json::from_str(text).map_err(malformed)?;
        // A failed entry without a problem would be silent.
        let is_silent = |entry: &&Entry| matches!(&entry.outcome, Outcome::Failed { problems, .. } if problems.is_empty());
        match verdicts.entries.iter().find(is_silent) {
            Some(entry) => Err(ParseError::Malformed(format!(
                "`{}` failed without a problem",
                entry.name
            ))),
            None => Ok(verdicts),
        }
    }
}

/// Keeps only those candidates that satisfy the predicate, unless none does.
fn prefer(candidates: &mut Vec<&Entry>, predicate: impl Fn(&Entry) -> bool) {
    if candidates.iter().any(|entry| predicate(entry)) {
        candidates.retain(|entry| predicate(entry));
    }
}

/// Whether one path is the other as seen from a folder further up or down: rustc's paths are
/// relative to the workspace, those of the build script to the package.
fn same_file(left: &str, right: &str) -> bool {
    let components = |path: &str| -> Vec<String> {
        path.split(['/', '\\'])
            .filter(|part| !matches!(*part, "" | "."))
            .map(str::to_owned)
            .collect()
    };
    let (left, right) = (components(left), components(right));
    left.ends_with(&right) || right.ends_with(&left)
}

impl Site<'_> {
    fn is_in(&self, target: &Target) -> bool {
        self.crate_name
            .is_some_and(|name| name == target.name.replace('-', "_"))
            && self.executable == matches!(target.kind, TargetKind::Bin | TargetKind::Example)
    }
}

/// Why a verdict file is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ParseError {
    /// The file is cut off or was changed.
    Malformed(String),
    /// Another version of `rumpsteak-build` wrote it.
    Version {
        /// The version that wrote it.
        found: String,
        /// The version that reads it.
        expected: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(problem) => {
                write!(
                    f,
                    "the verdict file is damaged: {problem}\n\nhelp: run `cargo clean`"
                )
            }
            Self::Version { found, expected } => write!(
                f,
                "the verdicts were written by rumpsteak-build {found}, but this is rumpsteak-runtime \
                 {expected}: use the same version of both"
            ),
        }
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.protocol, self.role)
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bench => "bench",
            Self::Bin => "bin",
            Self::Example => "example",
            Self::Lib => "lib",
            Self::Source => "source",
            Self::Test => "test",
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Receive => "?",
            Self::Send => "!",
        })
    }
}

impl fmt::Display for Chain {
    /// The local type of the chain: `s!Ready; s?Value; end`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Action {
            direction,
            peer,
            label,
        } in &self.actions
        {
            write!(f, "{}{}{label}; ", peer.role, direction)?;
        }
        match &self.tail {
            Tail::Choice {
                direction,
                peer,
                id,
            } => write!(f, "{}{}{{{id:016x}}}", peer.role, direction),
            Tail::End => f.write_str("end"),
            Tail::Named(id) => f.write_fmt(format_args!("{id:016x}")),
        }
    }
}
