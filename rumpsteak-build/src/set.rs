//! Bottom-up: sets of roles without a protocol, and the sessions of all of them together.
//!
//! ```text
//! #[derive(Roles)] #[system(kmc)] struct Roles { s: S, k: K, t: T }
//!
//!   sessions of S ─┐
//!   sessions of K ─┼─ a system for each choice of one session per role ─ k-MC
//!   sessions of T ─┘
//! ```
//!
//! A role may have several sessions and begin any of them. So every combination is judged, and the largest of the least
//! bounds k is the answer. A set holds as a whole or not at all: each of its sessions is refused where one combination is
//! not safe, since a proof about one of them is a proof about its peers.
//!
//! Why sessions that follow one another do no harm: in a system that is k-MC, whoever ends a session has received all
//! that was sent to it, and its own messages will be received. Messages of the next session stand behind those of this
//! one in every queue.
//!
//! At most [`COMBINATIONS`] systems are judged, each within the limits of the build.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;

use rumpsteak_fsm::kmc::{self, Verdict};
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::{Fsm, Limits, Run, System};
use rumpsteak_syntax::verdict::RoleName;

use crate::resolve::{Resolution, resolve};
use crate::serialise::{Fault, Place, Written};
use crate::walk::{ItemId, ItemKind, Meaning, Tree};

/// How many combinations of sessions are judged.
pub(crate) const COMBINATIONS: usize = 256;

/// A set of roles that is verified as a whole.
#[derive(Debug)]
pub(crate) struct Set {
    /// The struct.
    pub(crate) item: ItemId,
    /// Its roles, in the order of the fields; nothing for a field that is none.
    pub(crate) roles: Vec<Option<ItemId>>,
    /// What is wrong with the fields.
    faults: Vec<Fault>,
}

/// The sets of a package, and for each role in one the position of that set and the names that proofs have for it.
pub(crate) fn sets(tree: &Tree) -> (Vec<Set>, BTreeMap<ItemId, (usize, RoleName)>) {
    let mut sets = Vec::new();
    let mut members: BTreeMap<ItemId, (usize, RoleName)> = BTreeMap::new();
    for id in tree.item_ids() {
        let item = tree.item(id);
        let ItemKind::Set(set) = &item.kind else {
            continue;
        };
        let krate = tree.module(item.module).krate;
        let target = &tree.crate_of(id).target;
        let path = tree.module_path(item.module);
        // The blank keeps it apart from the names of protocols.
        let name = format!("{} {}: {path}::{}", target.kind, target.name, item.name);
        let mut faults = Vec::new();
        let mut roles = Vec::new();
        for path in &set.roles {
            let found = match resolve(tree, item.module, path) {
                Resolution::Found(Meaning::Item(found)) => Some(found),
                _ => None,
            };
            let problem = match found.map(|found| (found, &tree.item(found).kind)) {
                Some((found, ItemKind::Role(role))) => {
                    if role.link.is_some() {
                        Some(format!(
                            "`{path}` plays a role of a protocol, and this set has none\n\n\
                             help: take `#[system(kmc)]` off the set, or `#[protocol(…)]` off its roles"
                        ))
                    } else if tree.module(tree.item(found).module).krate != krate {
                        Some(format!(
                            "`{path}` is of another crate\n\n\
                             help: keep the set, its roles and their sessions in one crate, so that all of them are seen"
                        ))
                    } else if let Entry::Vacant(member) = members.entry(found) {
                        let role = RoleName {
                            protocol: name.clone(),
                            role: tree.item(found).name.clone(),
                        };
                        member.insert((sets.len(), role));
                        None
                    } else {
                        Some(format!(
                            "`{path}` is in a set already\n\nhelp: verify a role with one set of peers"
                        ))
                    }
                }
                // Its own macro says what is wrong with it.
                Some((_, ItemKind::Broken)) => {
                    Some(format!("`{path}` has an error, so the set is not verified"))
                }
                _ => Some(format!(
                    "`{path}` is no role that the build script knows\n\n\
                     help: a role is a struct with `#[derive(Role)]` in a module of this crate"
                )),
            };
            roles.push(found.filter(|_| problem.is_none()));
            faults.extend(problem.map(|text| Fault {
                place: Place {
                    item: id,
                    token: path.last_token(),
                },
                text,
            }));
        }
        sets.push(Set {
            item: id,
            roles,
            faults,
        });
    }
    (sets, members)
}

/// A role with its sessions.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    /// The struct.
    pub(crate) name: &'a str,
    /// The roots with their machines; nothing for one with a fault of its own.
    pub(crate) sessions: Vec<(ItemId, Option<&'a Written>)>,
}

/// Judges a set: the bound for which all its combinations are k-MC, or what is wrong. Nothing is wrong with the set
/// itself where one of its sessions has a fault already.
pub(crate) fn judge(
    tree: &Tree,
    set: &Set,
    members: &[Member<'_>],
    limits: &Limits,
) -> Result<usize, Vec<Fault>> {
    let token = match &tree.item(set.item).kind {
        ItemKind::Set(item) => item.name_token,
        _ => 0,
    };
    let at_set = |text: String| {
        vec![Fault {
            place: Place {
                item: set.item,
                token,
            },
            text,
        }]
    };
    if !set.faults.is_empty() {
        return Err(set.faults.clone());
    }
    let name = &tree.item(set.item).name;
    if let Some(silent) = members.iter().find(|member| member.sessions.is_empty()) {
        return Err(at_set(format!(
            "`{name}` could not be verified: its role `{0}` has no session\n\n\
             help: write one, `#[session({0})] type …`; without it, nobody knows what its peers may rely on",
            silent.name
        )));
    }
    match combine(members, limits) {
        Ok(bound) => Ok(bound),
        Err(Obstacle::Broken) => Err(Vec::new()),
        Err(Obstacle::Unsafe { run, place }) => {
            let text = unsafe_run(tree, name, &run, place);
            Err(match place {
                Some(place) => vec![Fault { place, text }],
                None => at_set(text),
            })
        }
        Err(Obstacle::Undecided(reason)) => Err(at_set(format!(
            "`{name}` could not be verified: {reason}\n\n\
             help: let a role wait for an answer where it runs ahead without bound, or write the protocol in Scribble and let \
             each role be verified by itself"
        ))),
    }
}

/// Why sessions together are not known to be safe.
#[derive(Debug)]
pub(crate) enum Obstacle {
    /// One of them was not read.
    Broken,
    /// They are not: a run, and where its last step is written.
    Unsafe { run: Box<Run>, place: Option<Place> },
    /// It was not found out, and why.
    Undecided(String),
}

/// Judges every combination of one session for each role: the least bound for which all of them are k-MC.
pub(crate) fn combine(members: &[Member<'_>], limits: &Limits) -> Result<usize, Obstacle> {
    let mut sessions: Vec<Vec<&Written>> = Vec::new();
    let mut count = 1_usize;
    for member in members {
        let all: Option<Vec<&Written>> = member
            .sessions
            .iter()
            .map(|(_, written)| *written)
            .collect();
        let all = all.ok_or(Obstacle::Broken)?;
        count = count.saturating_mul(all.len());
        sessions.push(all);
    }
    if count > COMBINATIONS {
        return Err(Obstacle::Undecided(format!(
            "its roles have {count} combinations of sessions, and at most {COMBINATIONS} are looked at"
        )));
    }
    let mut bound = 0;
    for number in 0..count {
        let mut rest = number;
        let mut chosen = Vec::new();
        for all in &sessions {
            // No role is without a session: `count` would be 0.
            chosen.push(all[rest % all.len()]);
            rest /= all.len();
        }
        bound = bound.max(check(&chosen, limits)?);
    }
    Ok(bound)
}

fn check(chosen: &[&Written], limits: &Limits) -> Result<usize, Obstacle> {
    let machines: Vec<Fsm> = chosen.iter().map(|written| written.fsm.clone()).collect();
    let system = System::new(machines).map_err(|error| Obstacle::Undecided(error.to_string()))?;
    match kmc::check(&system, limits).verdict {
        Verdict::Safe { bound } => Ok(bound),
        Verdict::Unsafe(run) => {
            let place = run.steps.last().and_then(|step| {
                let own = chosen
                    .iter()
                    .find(|written| *written.fsm.role() == step.role)?;
                own.origins.get(step.transition.index()).copied()
            });
            Err(Obstacle::Unsafe { run, place })
        }
        Verdict::Undecided { limit, obstacle } => Err(Obstacle::Undecided(match obstacle {
            Some(obstacle) => format!("{limit}: {obstacle}"),
            None => limit.to_string(),
        })),
    }
}

fn unsafe_run(tree: &Tree, set: &str, run: &Run, place: Option<Place>) -> String {
    let failure = failure(run);
    let mut text = match (run.steps.last(), place) {
        (Some(step), Some(place)) => {
            let verb = match step.action.direction {
                rumpsteak_fsm::Direction::Receive => "receives",
                rumpsteak_fsm::Direction::Send => "sends",
            };
            let preposition = match step.action.direction {
                rumpsteak_fsm::Direction::Receive => "from",
                rumpsteak_fsm::Direction::Send => "to",
            };
            format!(
                "`{}` {verb} `{}` {preposition} `{}`, and the system of `{set}` {failure}",
                tree.item(place.item).name,
                step.action.message.label,
                step.action.peer
            )
        }
        _ => format!("the system of `{set}` {failure}"),
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n\nthe shortest run that does, with the sessions of all roles as they are written:\n\n{}\n\n\
         help: a role that waits must wait for what another one sends, and what is sent must be received in the order in \
         which it comes",
        run.chart().trim_end()
    );
    text
}

pub(crate) fn failure(run: &Run) -> String {
    match &run.failure {
        Failure::Deadlock => "gets stuck".to_owned(),
        Failure::Orphan { from, to } => format!("leaves a message from `{from}` to `{to}` behind"),
        Failure::Starvation { role } => format!("leaves `{role}` waiting for ever"),
        Failure::UnspecifiedReception { from, to } => {
            format!("brings `{to}` a message from `{from}` that it cannot take")
        }
    }
}

/// The text at a session with whose set something is wrong elsewhere.
pub(crate) fn depends(session: &str, set: &str) -> String {
    format!("`{session}` is not verified, because the sessions of `{set}` are not safe together")
}
