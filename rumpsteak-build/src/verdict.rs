//! The verdicts that the build script stores for the macros: one file for each module without a
//! mistake. Its name is the hash of the verdict's inputs, and its stamp shows later changes.

#![expect(clippy::question_mark, reason = "the code that `nanoserde` derives")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nanoserde::{DeJson, SerJson};
use rumpsteak_front::hash;
use rumpsteak_fsm::{Fsm, dot};

/// Facts about the protocol of a module.
#[derive(Clone, Debug, Default, Eq, PartialEq, SerJson, DeJson)]
pub struct ProtocolFacts {
    /// The protocol, or the module of a closed system.
    pub protocol: String,
    /// A number that identifies the sessions of the module; never 0.
    pub system: u64,
    /// The projections of the protocol onto all roles, as text.
    pub projections: String,
    /// The roles of the protocol that start on demand.
    pub on_demand: Vec<String>,
    /// The senders and receivers of messages that are dropped if they come too late.
    pub late: Vec<(String, String)>,
    /// The labels that go to some member of a family, or come from one.
    pub asked: Vec<String>,
    /// True if the members of families may send different messages.
    pub differ: bool,
    /// True if roles may send where they have heard some of the members.
    pub stops: bool,
    /// The same number as `system` if the sessions are only safe with one another; otherwise 0.
    pub closed: u64,
}

/// Facts about a role.
#[derive(Clone, Debug, Default, Eq, PartialEq, SerJson, DeJson)]
pub struct RoleFacts {
    /// The name of the role in the protocol.
    pub role: String,
    /// The capacity of the queue to each peer: the peer's struct, and the source of a `Capacity`.
    pub queues: Vec<(String, String)>,
    /// The number of members of a family: 0 if the program gives it.
    pub members: Option<u32>,
    /// The family whose members this role connects, if it is a ring.
    pub connects: Option<String>,
    /// True if a message of one peer may come instead of another peer's.
    pub hears_whoever_is_first: bool,
}

/// Facts about a session with a role.
#[derive(Clone, Debug, Default, Eq, PartialEq, SerJson, DeJson)]
pub struct RootFacts {
    /// True if the session is verified and nothing else in the module is wrong.
    pub passed: bool,
    /// The machine that was judged, as DOT; empty if a mistake left none.
    pub machine: String,
}

impl RootFacts {
    /// The machine that was judged.
    pub fn fsm(&self) -> Option<Fsm> {
        dot::parse(&self.machine).ok()?.pop()
    }
}

/// A type in a label that rustc compares with the type in the protocol.
#[derive(Clone, Debug, Eq, PartialEq, SerJson, DeJson)]
pub struct PayloadCheck {
    /// The struct of the label.
    pub label: String,
    /// The position of the field.
    pub field: usize,
    /// The type in the protocol.
    pub expected: Expected,
}

/// The type of a payload in a protocol.
#[derive(Clone, Debug, Eq, PartialEq, SerJson, DeJson)]
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
#[derive(Clone, Debug, Default, Eq, PartialEq, SerJson, DeJson)]
pub struct Verdict {
    /// The generated items.
    #[nserde(skip)]
    pub text: String,
    /// The protocol.
    pub protocol: ProtocolFacts,
    /// The roles, by the names of their structs.
    pub roles: BTreeMap<String, RoleFacts>,
    /// The sessions with a role, by their names.
    pub roots: BTreeMap<String, RootFacts>,
    /// The types of payloads that rustc has to compare.
    pub payloads: Vec<PayloadCheck>,
    /// The lines that declare the types of a label, by its name: "line 1 of protocols/jobs.scr".
    pub declared: BTreeMap<String, String>,
}

impl Verdict {
    /// A number that identifies the sessions, in any order, and the declared capacities: the same
    /// in every build.
    pub(crate) fn number(&self, capacities: &str) -> u64 {
        let mut texts: Vec<&str> = self.roots.values().map(|root| &*root.machine).collect();
        texts.sort_unstable();
        texts.dedup();
        texts.push(capacities);
        // 0 stands for none.
        hash::number(&texts).max(1)
    }
}

pub(crate) fn path(folder: &Path, key: u64) -> PathBuf {
    folder.join(format!("verdicts/{key:016x}.json"))
}

/// The contents of a verdict's file: the stamp, the verdict on one line, and the generated items.
pub(crate) fn seal(key: u64, verdict: &Verdict) -> String {
    let text = format!("{}\n{}", verdict.serialize_json(), verdict.text);
    format!("{}\n{text}", stamp(key, &text))
}

/// The verdict in a file; `None` if the build script did not write exactly this text.
pub(crate) fn unseal(key: u64, text: &str) -> Option<Verdict> {
    let (stamped, text) = text.split_once('\n')?;
    let (verdict, items) = text.split_once('\n').filter(|_| stamped == stamp(key, text))?;
    Some(Verdict { text: items.to_owned(), ..Verdict::deserialize_json(verdict).ok()? })
}

fn stamp(key: u64, text: &str) -> String {
    hash::stamp(&format!("{key:016x}\n{text}"))
}

#[cfg(test)]
mod tests {
    use rumpsteak_fsm::Action;

    use super::*;

    #[test]
    fn a_verdict_counts_for_its_key_and_as_it_was_written() {
        let mut fsm = Fsm::builder("k");
        let [first, last] = [fsm.add_state(), fsm.add_state()];
        fsm.add_transition(first, Action::send("s", "a \"b\"\n", &["é"]), last);
        let fsm = fsm.build(first);
        let root = RootFacts { passed: true, machine: dot::print(&fsm) };
        assert_eq!(root.fsm(), Some(fsm));
        let roots = [("Kernel".into(), root)].into();
        let queues = vec![("S".into(), "Capacity::NONE".into())];
        let roles = [("K".into(), RoleFacts { queues, ..RoleFacts::default() })].into();
        let session = Expected::Session { protocol: "P".into(), role: "s".into() };
        let check = |(field, expected)| PayloadCheck { label: "L".into(), field, expected };
        let payloads = (0..).zip([session, Expected::Type("i32".into())]).map(check).collect();
        let declared = [("L".into(), "line 1 of p.scr".into())].into();
        let (text, system) = ("struct K;".into(), u64::MAX);
        let protocol = ProtocolFacts { system, ..ProtocolFacts::default() };
        let verdict = Verdict { text, protocol, roles, roots, payloads, declared };
        let text = seal(1, &verdict);
        assert_eq!(unseal(1, &text), Some(verdict));
        assert_eq!(unseal(2, &text), None);
        assert_eq!(unseal(1, &text.replace("struct K;", "struct L;")), None);
        assert_eq!(unseal(1, &text[..text.len() - 1]), None);
        assert_eq!(unseal(1, ""), None);
    }
}
