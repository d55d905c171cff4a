//! The verdicts that the build script stores for the macros: one file for each module without a
//! mistake. Its name is the hash of the verdict's inputs, and its stamp shows later changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rumpsteak_front::hash;

/// Facts about a role.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RoleFacts {
    /// The protocol, or the module of a closed system.
    pub protocol: String,
    /// The name of the role in the protocol.
    pub role: String,
    /// The capacity of the queue to each peer: the peer's struct, and the source of a `Capacity`.
    pub queues: Vec<(String, String)>,
    /// A number that identifies the sessions of the module; never 0.
    pub system: u64,
    /// The projections of the protocol onto all roles, as text.
    pub projections: String,
    /// The roles of the protocol that start on demand.
    pub on_demand: Vec<String>,
    /// The same number as `system` if the sessions are only safe with one another; otherwise 0.
    pub closed: u64,
    /// The number of members of a family: 0 if the program gives it.
    pub members: Option<u32>,
}

impl RoleFacts {
    /// A number that identifies the role of the protocol.
    pub fn number(&self) -> u64 {
        hash::number(&[&self.protocol, &self.role])
    }
}

/// Facts about a session with a role.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RootFacts {
    /// True if the session is verified and nothing else in the module is wrong.
    pub passed: bool,
    /// The machine that was judged.
    pub machine: Option<Machine>,
    /// A picture of the machine for the documentation: SVG, or empty.
    pub picture: String,
}

/// A machine: its role, the number of its states, its initial state, and its transitions.
pub type Machine = (String, usize, usize, Vec<Transition>);

/// The source, true for a send, the peer, the label, the sorts, and the target.
pub type Transition = (usize, bool, String, String, Vec<String>, usize);

/// A type in a label that rustc compares with the type in the protocol.
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
    /// A session that changes hands.
    Session {
        /// The protocol.
        protocol: String,
        /// The role.
        role: String,
    },
    /// A type that the protocol declares.
    Type(String),
}

/// The proofs of a module, and its generated items.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verdict {
    /// The generated items.
    pub text: String,
    /// The roles, by the names of their structs.
    pub roles: BTreeMap<String, RoleFacts>,
    /// The sessions with a role, by their names.
    pub roots: BTreeMap<String, RootFacts>,
    /// The types of payloads that rustc has to compare.
    pub payloads: Vec<PayloadCheck>,
}

pub(crate) fn path(folder: &Path, key: u64) -> PathBuf {
    folder.join(format!("verdicts/{key:016x}.json"))
}

/// The contents of a verdict's file: the stamp, and the verdict.
pub(crate) fn seal(key: u64, verdict: &Verdict) -> String {
    let text = print(verdict);
    format!("{}\n{text}", stamp(key, &text))
}

/// The verdict in a file; `None` if the build script did not write exactly this text.
pub(crate) fn unseal(key: u64, text: &str) -> Option<Verdict> {
    let (stamped, text) = text.split_once('\n')?;
    (stamped == stamp(key, text)).then(|| parse(text))?
}

fn stamp(key: u64, text: &str) -> String {
    hash::stamp(&format!("{key:016x}\n{text}"))
}

/// A verdict as tuples, which `serde_json` writes and reads without derived code.
type Stored = (Vec<StoredRole>, Vec<StoredRoot>, Vec<StoredPayload>, String);
/// The number of members, the name of the struct, and the other facts.
type StoredRole =
    (Option<u32>, String, String, String, Vec<(String, String)>, u64, String, Vec<String>, u64);
type StoredRoot = (String, bool, Option<Machine>, String);
/// The label, the field, and the type, or the protocol and the role.
type StoredPayload = (String, usize, String, Option<String>);

fn print(verdict: &Verdict) -> String {
    let Verdict { text, roles, roots, payloads } = verdict.clone();
    let roles = roles.into_iter().map(|(name, facts)| {
        let RoleFacts { protocol, role, queues, system, projections, on_demand, closed, members } =
            facts;
        (members, name, protocol, role, queues, system, projections, on_demand, closed)
    });
    let roots = roots.into_iter();
    let roots = roots.map(|(name, facts)| (name, facts.passed, facts.machine, facts.picture));
    let payloads =
        payloads.into_iter().map(|PayloadCheck { label, field, expected }| match expected {
            Expected::Session { protocol, role } => (label, field, protocol, Some(role)),
            Expected::Type(ty) => (label, field, ty, None),
        });
    let stored: Stored = (roles.collect(), roots.collect(), payloads.collect(), text);
    // Strings and numbers in tuples can always be written.
    serde_json::to_string(&stored).unwrap_or_default()
}

fn parse(text: &str) -> Option<Verdict> {
    let (roles, roots, payloads, text): Stored = serde_json::from_str(text).ok()?;
    let roles = roles.into_iter().map(|role| {
        let (members, name, protocol, role, queues, system, projections, on_demand, closed) = role;
        let facts =
            RoleFacts { protocol, role, queues, system, projections, on_demand, closed, members };
        (name, facts)
    });
    let roots = roots.into_iter();
    let roots = roots
        .map(|(name, passed, machine, picture)| (name, RootFacts { passed, machine, picture }));
    let payloads = payloads.into_iter().map(|(label, field, first, role)| {
        let expected = match role {
            Some(role) => Expected::Session { protocol: first, role },
            None => Expected::Type(first),
        };
        PayloadCheck { label, field, expected }
    });
    let (roles, roots, payloads) = (roles.collect(), roots.collect(), payloads.collect());
    Some(Verdict { text, roles, roots, payloads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_counts_for_its_key_and_as_it_was_written() {
        let root = RootFacts { passed: true, ..RootFacts::default() };
        let roots = BTreeMap::from([("Kernel".to_owned(), root)]);
        let verdict = Verdict { text: "struct K;".to_owned(), roots, ..Verdict::default() };
        let text = seal(1, &verdict);
        assert_eq!(unseal(1, &text), Some(verdict));
        assert_eq!(unseal(2, &text), None);
        assert_eq!(unseal(1, &text.replace("struct K;", "struct L;")), None);
        assert_eq!(unseal(1, &text[..text.len() - 1]), None);
        assert_eq!(unseal(1, ""), None);
    }
}
