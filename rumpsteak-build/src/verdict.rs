//! The verdicts that the build script leaves for the macros: one file for each module without a
//! mistake, named after the hash of all that the verdict depends on.

use std::path::{Path, PathBuf};

use rumpsteak_front::Module;
use rumpsteak_front::hash::Hasher;
use serde_json::{Value, json};

use crate::expansion::{Expected, Machine, PayloadCheck, RoleFacts, RootFacts, Verdict};
use crate::package::Place;

/// The hash of all that the verdict on a module depends on.
pub(crate) fn key(module: &Module, place: Option<&Place>) -> u64 {
    let mut hasher = Hasher::new();
    hasher.text(env!("CARGO_PKG_VERSION"));
    hasher.bytes(&module.hash.to_be_bytes());
    for (path, text) in place.into_iter().flat_map(|place| &place.files) {
        // The name of a machine's file says whose it is.
        let name = path.file_name().unwrap_or_default();
        hasher.text(&name.to_string_lossy());
        hasher.text(text);
    }
    hasher.finish()
}

/// The file of a verdict.
pub(crate) fn path(folder: &Path, key: u64) -> PathBuf {
    folder.join(format!("verdicts/{key:016x}.json"))
}

/// Writes a verdict as a text.
pub(crate) fn print(verdict: &Verdict) -> String {
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
pub(crate) fn parse(text: &str) -> Option<Verdict> {
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
