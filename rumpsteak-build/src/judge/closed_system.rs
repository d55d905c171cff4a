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
//! At most [`Limits::combinations`] systems are judged, each within the limits of the build.

use std::fmt::Write as _;

use rumpsteak_contract::verdict::RoleName;
use rumpsteak_fsm::kmc::{self, Verdict};
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::sorted::SortedMap;
use rumpsteak_fsm::{Fsm, Run, System};

use crate::limits::Limits;
use crate::report::Kind;
use crate::sessions::{Fault, Place, Written};
use crate::source::crate_tree::{ItemId, ItemKind, Meaning, Tree};
use crate::source::names::{Resolution, resolve};

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
pub(crate) fn sets(tree: &Tree) -> (Vec<Set>, SortedMap<ItemId, (usize, RoleName)>) {
    let mut sets = Vec::new();
    let mut members: SortedMap<ItemId, (usize, RoleName)> = SortedMap::new();
    for id in tree.item_ids() {
        let item = tree.item(id);
        let ItemKind::Set(set) = &*item.kind else {
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
            let problem = match found.map(|found| (found, &*tree.item(found).kind)) {
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
                    } else if !members.contains_key(&found) {
                        let role = RoleName {
                            protocol: name.clone(),
                            role: tree.item(found).name.clone(),
                        };
                        members.insert(found, (sets.len(), role));
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
) -> Result<usize, Vec<(Fault, Kind)>> {
    let token = match &*tree.item(set.item).kind {
        ItemKind::Set(item) => item.name_token,
        _ => 0,
    };
    let at_set = |text: String, kind| {
        let place = Place {
            item: set.item,
            token,
        };
        vec![(Fault { place, text }, kind)]
    };
    if !set.faults.is_empty() {
        let faults = set.faults.iter().cloned();
        return Err(faults.map(|fault| (fault, Kind::Fails)).collect());
    }
    let name = &tree.item(set.item).name;
    if let Some(silent) = members.iter().find(|member| member.sessions.is_empty()) {
        return Err(at_set(
            format!(
                "`{name}` could not be verified: its role `{0}` has no session\n\n\
             help: write one, `#[session({0})] type …`; without it, nobody knows what its peers may rely on",
                silent.name
            ),
            Kind::Fails,
        ));
    }
    let mut machines: Vec<Vec<&Written>> = Vec::new();
    for member in members {
        let all = member.sessions.iter().map(|(_, written)| *written);
        match all.collect::<Option<Vec<&Written>>>() {
            Some(all) => machines.push(all),
            None => return Err(Vec::new()),
        }
    }
    let fsms: Vec<Vec<&Fsm>> = machines
        .iter()
        .map(|all| all.iter().map(|written| &written.fsm).collect())
        .collect();
    match combine(&fsms, limits) {
        Ok(bound) => Ok(bound),
        Err(Obstacle::Unsafe { run, chosen }) => {
            let place = run.steps.last().and_then(|step| {
                let own = machines
                    .iter()
                    .zip(&chosen)
                    .filter_map(|(all, &index)| all.get(index))
                    .find(|written| *written.fsm.role() == step.role)?;
                own.origins.get(step.transition.index()).copied()
            });
            let text = unsafe_run(tree, name, &run, place);
            Err(match place {
                Some(place) => vec![(Fault { place, text }, Kind::Fails)],
                None => at_set(text, Kind::Fails),
            })
        }
        Err(Obstacle::Undecided(reason)) => Err(at_set(
            format!(
                "`{name}` could not be verified: {reason}\n\n\
             help: let a role wait for an answer where it runs ahead without bound, or write the protocol in Scribble and let \
             each role be verified by itself"
            ),
            Kind::Undecided,
        )),
    }
}

/// Why sessions together are not known to be safe.
#[derive(Debug)]
pub(crate) enum Obstacle {
    /// They are not: a run, and which session each role has in it.
    Unsafe { run: Box<Run>, chosen: Vec<usize> },
    /// It was not found out, and why.
    Undecided(String),
}

/// Judges every combination of one machine for each role, of which each has at least one: the least bound for which all of
/// them are k-MC.
pub(crate) fn combine(machines: &[Vec<&Fsm>], limits: &Limits) -> Result<usize, Obstacle> {
    let count = machines
        .iter()
        .fold(1_usize, |count, all| count.saturating_mul(all.len()));
    if count > limits.combinations {
        return Err(Obstacle::Undecided(format!(
            "the roles have {count} combinations of sessions, and at most {} are judged (`Limits::combinations`)",
            limits.combinations
        )));
    }
    let mut bound = 0;
    for number in 0..count {
        let mut rest = number;
        let mut chosen = Vec::new();
        let mut system = Vec::new();
        for all in machines {
            // No role is without a machine: `count` would be 0.
            chosen.push(rest % all.len());
            system.push(all[rest % all.len()].clone());
            rest /= all.len();
        }
        let system = System::new(system).map_err(|error| Obstacle::Undecided(error.to_string()))?;
        match kmc::check(&system, &limits.verifier).verdict {
            Verdict::Safe { bound: least } => bound = bound.max(least),
            Verdict::Unsafe(run) => return Err(Obstacle::Unsafe { run, chosen }),
            Verdict::Undecided { limit, obstacle } => {
                return Err(Obstacle::Undecided(match obstacle {
                    Some(obstacle) => format!("{limit}: {obstacle}"),
                    None => limit.to_string(),
                }));
            }
        }
    }
    Ok(bound)
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
