//! The cases of `cases.md`, for every engine.

use std::sync::LazyLock;

use crate::FaultKind;

/// The relation between two machines, by the definition of asynchronous subtyping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first may replace the second among any peers.
    Subtype,
    /// A subtype, which no finite set of bounded prefixes shows: a bounded search may stop
    /// undecided.
    Unbounded,
    /// Some peers of the second go wrong with the first, not necessarily the peers of the case.
    NotSubtype,
}

/// The behaviour of the rewritten machine among the peers of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing goes wrong.
    Safe,
    /// The first fault.
    Fault(FaultKind),
    /// Nothing goes wrong, but queues grow without bound, so that exploring never ends.
    Unending,
}

/// A role that was rewritten, and its peers. The machines are texts for [`local`](crate::local).
#[derive(Clone, Debug)]
pub struct Case {
    /// The title of the case.
    pub name: &'static str,
    /// The role whose machine was rewritten.
    pub role: &'static str,
    /// The rewritten machine.
    pub sub: &'static str,
    /// The machine of the protocol.
    pub sup: &'static str,
    /// The other roles, which form a safe system with `sup`.
    pub peers: Vec<(&'static str, &'static str)>,
    /// The relation between `sub` and `sup`.
    pub relation: Relation,
    /// The number of visits of a pair of states with which the paper's algorithm proves it, if
    /// there is one.
    pub visits: Option<usize>,
    /// The behaviour of `sub` among `peers`.
    pub outcome: Outcome,
}

/// The cases.
pub static CASES: LazyLock<Vec<Case>> =
    LazyLock::new(|| include_str!("cases.md").split("\n## ").skip(1).map(Case::read).collect());

impl Case {
    /// Reads a section. Panics if `cases.md` is invalid.
    fn read(section: &'static str) -> Self {
        let (name, rest) = section.split_once('\n').unwrap_or((section, ""));
        let machines = rest.lines().filter_map(|line| line.strip_prefix("    "));
        let machines = machines.filter_map(|line| line.split_once(char::is_whitespace));
        let mut machines = machines.map(|(role, text)| (role, text.trim()));
        let facts = rest.lines().rfind(|line| !line.is_empty());
        let facts: Vec<&str> = facts.unwrap_or("").split(", ").collect();
        let (Some((_, sub)), Some((role, sup)), &[relation, visits, outcome]) =
            (machines.next(), machines.next(), &*facts)
        else {
            panic!("{name}: two machines and three facts are missing");
        };
        Self {
            name,
            role,
            sub,
            sup,
            peers: machines.collect(),
            relation: match relation {
                "Subtype" => Relation::Subtype,
                "Unbounded" => Relation::Unbounded,
                "NotSubtype" => Relation::NotSubtype,
                other => panic!("{name}: {other}"),
            },
            visits: visits.strip_prefix("visits ").and_then(|visits| visits.parse().ok()),
            outcome: match outcome {
                "Safe" => Outcome::Safe,
                "Unending" => Outcome::Unending,
                "UnspecifiedReception" => Outcome::Fault(FaultKind::UnspecifiedReception),
                "Deadlock" => Outcome::Fault(FaultKind::Deadlock),
                "Orphan" => Outcome::Fault(FaultKind::Orphan),
                "Abandoned" => Outcome::Fault(FaultKind::Abandoned),
                "Starvation" => Outcome::Fault(FaultKind::Starvation),
                other => panic!("{name}: {other}"),
            },
        }
    }
}
