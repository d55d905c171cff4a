//! The cases of `cases.md`, for every engine.

use std::sync::LazyLock;

use crate::FaultKind;

/// Whether one machine is an asynchronous subtype of another, by definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first may replace the second among any peers.
    Subtype,
    /// A subtype, which no finite set of bounded prefixes shows: a bounded search may stop
    /// undecided.
    Unbounded,
    /// Some peers of the second go wrong with the first, not necessarily those of the case.
    NotSubtype,
}

/// What the rewritten machine does among the peers of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing goes wrong.
    Safe,
    /// This goes wrong first.
    Fault(FaultKind),
    /// Nothing goes wrong, but queues grow without bound, so that exploring never ends.
    Unending,
}

/// A role that was rewritten, and its peers. The machines are texts for [`local`](crate::local).
#[derive(Clone, Debug)]
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// Whose machine was rewritten.
    pub role: &'static str,
    /// The rewritten machine.
    pub sub: &'static str,
    /// The machine of the protocol.
    pub sup: &'static str,
    /// The other roles, which form a safe system with `sup`.
    pub peers: Vec<(&'static str, &'static str)>,
    /// Whether `sub` is a subtype of `sup`.
    pub relation: Relation,
    /// With how many visits of a pair of states the paper's algorithm shows it, if with any number.
    pub visits: Option<usize>,
    /// What `sub` does among `peers`.
    pub outcome: Outcome,
}

/// The cases.
pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let sections = include_str!("cases.md").split("\n## ").skip(1);
    sections.map(Case::read).collect()
});

impl Case {
    /// Reads a section; panics where `cases.md` is wrong.
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
