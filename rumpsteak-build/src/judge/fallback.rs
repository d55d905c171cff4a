//! A protocol one of whose sessions is refused: are the sessions of all its roles safe together?
//!
//! ```text
//! one session ≤ its projection       safe with every peer that keeps to the protocol: what is asked for
//! all sessions together, k-MC        safe with one another, and with nobody else: the fallback
//! ```
//!
//! Subtyping knows nothing about the peers but the protocol. So it refuses orders that only these peers can bear, and
//! leaves some undecided. The system of all sessions as they are written may be safe all the same. That is a proof only if
//! nobody else takes part, which no build can see. So it is accepted only if the build script says so, protocol by
//! protocol; and never if a role has no session in the package, since then somebody else must play it.
//!
//! Sessions of all targets of the package count, and every combination of them: a role of one target may be
//! wired with roles of another. Cost: that of [`set`](crate::judge::closed_system).

use std::collections::BTreeSet;

use rumpsteak_fsm::Fsm;
use rumpsteak_fsm::sorted::SortedMap;

use crate::judge::closed_system::{self, Obstacle};
use crate::limits::Limits;
use crate::protocols::{Loaded, Lookup, Protocols};

/// A session of a protocol.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) name: &'a str,
    /// The role that plays it, by position, and its machine; nothing if it was not read.
    pub(crate) machine: Option<(usize, &'a Fsm)>,
}

/// Why all sessions together are no proof.
#[derive(Debug)]
pub(crate) enum Gap {
    /// This role has none.
    Silent(String),
    /// This one was not read.
    Unread(String),
    /// They are not safe, or it is not known.
    Obstacle(Obstacle),
}

/// Judges all sessions of a protocol together: the least k for which each combination is k-MC.
pub(crate) fn judge(
    protocol: &Loaded,
    sessions: &[Session<'_>],
    limits: &Limits,
) -> Result<usize, Gap> {
    let mut machines: Vec<Vec<&Fsm>> = vec![Vec::new(); protocol.projections.len()];
    for session in sessions {
        match session.machine {
            Some((role, machine)) => machines[role].push(machine),
            None => return Err(Gap::Unread(session.name.to_owned())),
        }
    }
    if let Some(role) = machines.iter().position(Vec::is_empty) {
        return Err(Gap::Silent(protocol.role_at(role).to_string()));
    }
    closed_system::combine(&machines, limits).map_err(Gap::Obstacle)
}

/// What is said about a machine that its projection refuses, by protocol: what to add to the error, or nothing if it is
/// accepted together with all others.
pub(crate) type Notes = SortedMap<usize, Option<String>>;

/// What to add to the error of a session that its projection refuses.
pub(crate) fn note(protocol: &Loaded, judgement: &Result<usize, Gap>, is_accepted: bool) -> String {
    let name = protocol.name();
    match judgement {
        Ok(bound) if !is_accepted => format!(
            "\n\nnote: together with the sessions of all other roles as they are written here, it is safe ({bound}-multiparty \
             compatible)\n\
             help: if no other program plays a role of `{name}`, accept that in build.rs:\n      \
             rumpsteak_build::configure().protocols(…).accept_closed_system({name:?}).verify()"
        ),
        // What was not asked for is no news if it is no help either.
        Ok(_) => String::new(),
        Err(_) if !is_accepted => String::new(),
        Err(gap) => {
            let reason = match gap {
                Gap::Silent(role) => format!(
                    "the role `{role}` has no session in this package, so that it is not known what the others meet"
                ),
                Gap::Unread(session) => {
                    format!(
                        "the session `{session}` has an error, so that it is not known what the others meet"
                    )
                }
                Gap::Obstacle(Obstacle::Unsafe { run, .. }) => format!(
                    "the system of all sessions as they are written {}:\n\n{}",
                    closed_system::failure(run),
                    run.chart().trim_end()
                ),
                Gap::Obstacle(Obstacle::Undecided(reason)) => {
                    format!("it is not known whether all sessions together are safe: {reason}")
                }
            };
            format!("\n\nnote: `accept_closed_system({name:?})` does not help: {reason}")
        }
    }
}

/// Whether a name in build.rs stands for the protocol at a position.
pub(crate) fn names(protocols: &Protocols, name: &str, position: usize) -> bool {
    matches!(protocols.lookup(name), Lookup::Found(found) if found == position)
}

/// One line for each name in build.rs that stands for no protocol.
pub(crate) fn unknown(protocols: &Protocols, accepted: &BTreeSet<String>) -> Vec<String> {
    let is_unknown =
        |name: &&String| !matches!(protocols.lookup(name), Lookup::Broken(_) | Lookup::Found(_));
    let unknown = accepted.iter().filter(is_unknown);
    unknown
        .map(|name| {
            format!(
                "build.rs: `accept_closed_system({name:?})` names no protocol that roles can play"
            )
        })
        .collect()
}
