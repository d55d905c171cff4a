//! The verdicts that the build script leaves for the macros: one file for each module without a
//! mistake, named after the hash of all that the verdict depends on. A file that was changed, or
//! that has the name of another one, does not count.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rumpsteak_front::hash;
use serde_json::{Value, json};

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

impl RoleFacts {
    /// A number for the names of the protocol and of the role.
    pub fn number(&self) -> u64 {
        hash::number(&[&self.protocol, &self.role])
    }
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

/// The file of a verdict.
pub(crate) fn path(folder: &Path, key: u64) -> PathBuf {
    folder.join(format!("verdicts/{key:016x}.json"))
}

/// The text of a file with a verdict: the stamp, and the verdict.
pub(crate) fn seal(key: u64, verdict: &Verdict) -> String {
    let text = print(verdict);
    format!("{}\n{text}", stamp(key, &text))
}

/// The verdict in the text of a file; `None` if the build script did not write this text.
pub(crate) fn unseal(key: u64, text: &str) -> Option<Verdict> {
    let (stamped, text) = text.split_once('\n')?;
    (stamped == stamp(key, text)).then(|| parse(text))?
}

fn stamp(key: u64, text: &str) -> String {
    hash::stamp(&format!("{key:016x}\n{text}"))
}

/// Writes a verdict as a text.
fn print(verdict: &Verdict) -> String {
    let Verdict { text, roles, roots, payloads } = verdict;
    let roles = roles.iter().map(|(name, facts)| {
        let RoleFacts { protocol, role, queues, system, projections, on_demand, closed } = facts;
        json!([name, protocol, role, queues, system, projections, on_demand, closed])
    });
    let roots =
        roots.iter().map(|(name, facts)| json!([name, facts.passed, facts.machine, facts.picture]));
    let payloads = payloads.iter().map(|PayloadCheck { label, field, expected }| match expected {
        Expected::Session { protocol, role } => json!([label, field, protocol, role]),
        Expected::Type(ty) => json!([label, field, ty]),
    });
    json!({
        "roles": roles.collect::<Value>(),
        "roots": roots.collect::<Value>(),
        "payloads": payloads.collect::<Value>(),
        "text": text,
    })
    .to_string()
}

/// Reads a verdict; `None` if the text is none.
fn parse(text: &str) -> Option<Verdict> {
    let value: Value = serde_json::from_str(text).ok()?;
    let roles = value["roles"].as_array()?.iter().map(|role| {
        let facts = RoleFacts {
            protocol: string(&role[1])?,
            role: string(&role[2])?,
            queues: list(&role[3], |queue| Some((string(&queue[0])?, string(&queue[1])?)))?,
            system: role[4].as_u64()?,
            projections: string(&role[5])?,
            on_demand: list(&role[6], string)?,
            closed: role[7].as_u64()?,
        };
        Some((string(&role[0])?, facts))
    });
    let roots = value["roots"].as_array()?.iter().map(|root| {
        let machine = match &root[2] {
            Value::Null => None,
            of => Some(machine(of)?),
        };
        Some((
            string(&root[0])?,
            RootFacts { passed: root[1].as_bool()?, machine, picture: string(&root[3])? },
        ))
    });
    let payload = |payload: &Value| {
        let expected = match &payload[3] {
            Value::Null => Expected::Type(string(&payload[2])?),
            role => Expected::Session { protocol: string(&payload[2])?, role: string(role)? },
        };
        Some(PayloadCheck { label: string(&payload[0])?, field: number(&payload[1])?, expected })
    };
    Some(Verdict {
        roles: roles.collect::<Option<_>>()?,
        roots: roots.collect::<Option<_>>()?,
        payloads: list(&value["payloads"], payload)?,
        text: string(&value["text"])?,
    })
}

fn machine(value: &Value) -> Option<Machine> {
    let transition = |of: &Value| {
        Some((
            number(&of[0])?,
            of[1].as_bool()?,
            string(&of[2])?,
            string(&of[3])?,
            list(&of[4], string)?,
            number(&of[5])?,
        ))
    };
    let transitions = list(&value[3], transition)?;
    Some((string(&value[0])?, number(&value[1])?, number(&value[2])?, transitions))
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(item).collect()
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
