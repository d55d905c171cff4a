//! The sessions of a protocol together, where subtyping, session by session, is not enough.
//!
//! Subtyping says nothing about an option that a session never takes, nor about a send that is done
//! early where a peer hears several roles at once; see [`rumpsteak_fsm::verify::together`]. Whether
//! that does harm is a matter of all roles:
//!
//! ```text
//! rec loop {
//!   choice at a { more() from a to b; continue loop; }
//!   or { stop() from a to b; done() from b to c; }
//! }
//!
//! a as written: rec X. b!more. X         c waits for `done`, which never comes
//! ```
//!
//! No session is to blame for a role that waits, and it may be meant; so it is a warning. A message
//! that is never received, or anything worse, is a fault of the session that leaves out the option
//! or does something early.
//!
//! A role may have several sessions and begin any of them, so every combination is judged. A role
//! without a session does what the protocol says. Judged are the sessions of role structs that name
//! each other in their routes: those can be wired. At most
//! [`Limits::combinations`](crate::Limits::combinations) are judged, each within the limits of the
//! verifier; sessions that do what the protocol says, each action at its turn, count as one.

use rumpsteak_fsm::verify::together::{Condition, Part, Together, together};
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused, VerifyError};
use rumpsteak_fsm::{Fsm, Limit, Role, Run, Verdict};

use rumpsteak_front::arguments::Liveness;

use crate::judge::closed_system;
use crate::limits::Limits;
use crate::protocols::Loaded;
use crate::scope::machine::SessionMachine;
use crate::settings;

/// A session that its projection accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'a> {
    /// The position of the session among those of the module.
    pub(crate) root: usize,
    pub(crate) machine: &'a SessionMachine,
    pub(crate) accepted: &'a Accepted,
}

/// What is known of the sessions of a protocol together.
#[derive(Debug, Default)]
pub(crate) struct Combined {
    /// A run to where a role waits for ever.
    pub(crate) starvation: Option<Run>,
    /// A session that is proven for the sessions of this package alone, because this role hears
    /// several at once; or, without a role, because it has such a state itself. `None`, too, where
    /// build.rs accepts that.
    pub(crate) closed: Option<(usize, Option<Role>)>,
    /// Whether some sessions are proven with those of this package only.
    pub(crate) alone: bool,
    /// The sessions that are not safe, or not known to be, with others.
    pub(crate) refused: Vec<(usize, CombinedFault)>,
}

/// What a session does with others.
#[derive(Debug)]
pub(crate) enum CombinedFault {
    /// It goes wrong with the sessions of the other roles that have these roots.
    Unsafe { refused: Refused, with: Vec<usize> },
    /// It is not known.
    Undecided(Limit),
    /// There are too many combinations.
    Combinations(String),
    /// The machines are not judged, and why.
    Unjudged(VerifyError),
}

/// Judges every combination of sessions; `sessions` has those of each role of the protocol.
///
/// `asked` has the liveness that build.rs asks for, by role.
pub(crate) fn judge(
    protocol: &Loaded,
    sessions: &[Vec<Session<'_>>],
    asked: &[Option<Liveness>],
    limits: &Limits,
) -> Combined {
    let mut combined = Combined::default();
    // A proof in the fair relation takes it that its peers take some options now and then.
    let asks = |session: &Session<'_>| {
        let proof = session.accepted.proof.as_ref();
        proof.is_some_and(|proof| !proof.left().is_empty())
    };
    combined.alone = sessions.iter().flatten().any(asks);
    let is_undirected = |fsm: &Fsm| fsm.check_directed().is_err();
    let conditioned = |session: &&Session<'_>| {
        session.accepted.condition.is_some() || is_undirected(&session.machine.fsm)
    };
    let first = sessions.iter().flatten().find(conditioned).or_else(|| {
        let hears_several = protocol.projections.iter().any(|found| is_undirected(&found.fsm));
        sessions.iter().flatten().next().filter(|_| hears_several)
    });
    let Some(first) = first.map(|session| session.root) else { return combined };
    let choices: Vec<Vec<Option<Session<'_>>>> = sessions.iter().map(|of| choices(of)).collect();
    match closed_system::combinations(&choices, limits) {
        Ok(combinations) => combinations.for_each(|chosen| {
            combined.add(protocol, &chosen, asked, limits);
        }),
        Err(reason) => combined.refused.push((first, CombinedFault::Combinations(reason))),
    }
    combined
}

/// What a role may do: each session, or what the protocol says if that is what one of them does, or
/// if there is none.
fn choices<'a>(sessions: &[Session<'a>]) -> Vec<Option<Session<'a>>> {
    let is_plain = |session: &Session<'_>| {
        let proof = session.accepted.proof.as_ref();
        let is_in_turn = proof.is_some_and(|proof| proof.anticipation == Some(0));
        session.accepted.condition.is_none() && is_in_turn
    };
    let own = sessions.iter().filter(|session| !is_plain(session));
    let mut choices: Vec<_> = own.copied().map(Some).collect();
    if choices.len() < sessions.len() || sessions.is_empty() {
        choices.push(None);
    }
    choices
}

impl Combined {
    /// Judges one combination.
    fn add(
        &mut self,
        protocol: &Loaded,
        chosen: &[Option<Session<'_>>],
        asked: &[Option<Liveness>],
        limits: &Limits,
    ) {
        let is_refused = |session: &Session<'_>| {
            let mut refused = self.refused.iter();
            refused.any(|(root, _)| *root == session.root)
        };
        // With a session that is refused nothing runs.
        if chosen.iter().flatten().any(is_refused) {
            return;
        }
        let parts = chosen.iter().zip(&protocol.projections);
        let parts = parts.map(|(session, projection)| match session {
            Some(Session { machine, accepted, .. }) => {
                Part::new(&machine.fsm, &projection.fsm, accepted.proof.as_ref())
            }
            None => Part::projection(&projection.fsm),
        });
        let parts = parts.zip(asked).map(|(part, &asked)| settings::part(part, asked));
        let parts: Vec<Part<'_>> = parts.collect();
        let found = match together(&parts, &limits.verifier) {
            Ok(found) => found,
            Err(error) => {
                let first = chosen.iter().flatten().next().map(|session| session.root);
                self.refused.extend(first.map(|root| (root, CombinedFault::Unjudged(error))));
                return;
            }
        };
        let Together { verdict, starvation, condition, alone } = found;
        self.alone |= alone;
        // Where subtyping is enough, nothing more is known. A projection is never the reason.
        let Some((position, condition)) = condition else { return };
        let Some(Session { root, .. }) = chosen[position] else { return };
        match verdict {
            Verdict::Safe(()) => {
                match condition {
                    Condition::UndirectedPeer { peer, .. } => {
                        self.closed.get_or_insert((root, Some(peer)));
                    }
                    Condition::Undirected { .. } => {
                        self.closed.get_or_insert((root, None));
                    }
                    Condition::NarrowedChoice { .. } => {}
                }
                self.starvation = self.starvation.take().or(starvation);
            }
            Verdict::Unsafe(run) => {
                let others = chosen.iter().flatten().map(|session| session.root);
                let with = others.filter(|&other| other != root).collect();
                let condition = Some(condition);
                let refused = Refused { refusal: None, condition, evidence: Evidence::Run(run) };
                self.refused.push((root, CombinedFault::Unsafe { refused, with }));
            }
            Verdict::Undecided(limit) => {
                self.refused.push((root, CombinedFault::Undecided(limit)));
            }
        }
    }
}
