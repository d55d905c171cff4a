//! The sessions of a protocol together, if subtyping alone is not enough.
//!
//! Subtyping does not cover an option that a session never takes, nor an early send to a peer that
//! receives from several roles at once; see [`rumpsteak_fsm::verify::together`]:
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
//! A role that waits for ever is only a warning, because it may be intended. A message that is
//! never received, or anything worse, is a mistake of the session that deviates.
//!
//! Every combination of sessions is judged, up to a [limit](crate::Limits::combinations). A role
//! without a session does what the protocol says, and so do sessions without any reordering.

use rumpsteak_front::arguments::Liveness;
use rumpsteak_fsm::verify::together::{Condition, Part, Together, together};
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused};
use rumpsteak_fsm::{Fsm, Run, Verdict};

use crate::fault::{Cause, Refusal, Subject};
use crate::judge::closed_system;
use crate::protocols::Loaded;
use crate::settings::Settings;

/// A session that its projection accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'a> {
    pub(crate) root: usize,
    pub(crate) fsm: &'a Fsm,
    pub(crate) accepted: &'a Accepted,
    /// True if the projection is the one whose parts come in any order.
    pub(crate) in_any_order: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Combined {
    /// A run after which a role waits for ever.
    pub(crate) starvation: Option<Run>,
    /// A session that is proven only with the sessions of this package, and the reason.
    pub(crate) closed: Option<(usize, Condition)>,
    /// True if some sessions are proven only with the sessions of this package.
    pub(crate) alone: bool,
    /// The sessions that are not known to be safe with the others, and why.
    pub(crate) refused: Vec<(usize, Cause)>,
}

/// Judges every combination of the roles' sessions. `subject` names a session and what it uses.
pub(crate) fn judge(
    protocol: &Loaded,
    sessions: &[Vec<Session<'_>>],
    settings: &Settings,
    subject: &impl Fn(usize) -> Subject,
) -> Combined {
    let mut combined = Combined::default();
    // A proof in the fair relation relies on peers to take some options now and then.
    let asks = |session: &Session<'_>| {
        let proof = session.accepted.proof.as_ref();
        proof.is_some_and(|proof| !proof.left().is_empty())
    };
    combined.alone = sessions.iter().flatten().any(asks);
    let is_undirected = |fsm: &Fsm| fsm.check_directed().is_err();
    let conditioned =
        |session: &&Session<'_>| session.accepted.condition.is_some() || is_undirected(session.fsm);
    let first = sessions.iter().flatten().find(conditioned).or_else(|| {
        let hears_several = protocol.projections.iter().any(|found| is_undirected(&found.fsm));
        sessions.iter().flatten().next().filter(|_| hears_several)
    });
    let Some(first) = first.map(|session| session.root) else { return combined };
    let choices: Vec<Vec<Option<Session<'_>>>> = sessions.iter().map(|of| choices(of)).collect();
    match closed_system::combinations(&choices, &settings.limits) {
        Ok(combinations) => {
            combinations.for_each(|chosen| combined.add(protocol, &chosen, settings, subject));
        }
        Err(reason) => {
            let set = subject(first).name;
            combined.refused.push((first, Cause::UndecidedSystem { set, reason }));
        }
    }
    combined
}

/// True if each step of a session is a step of its projection, whatever the other roles do.
pub(super) fn is_plain(accepted: &Accepted, in_any_order: bool) -> bool {
    let is_in_turn = accepted.proof.as_ref().is_some_and(|it| it.anticipation == Some(0));
    accepted.condition.is_none() && is_in_turn && !in_any_order
}

/// The choices of a role: its sessions, or `None` for what the protocol says.
fn choices<'a>(sessions: &[Session<'a>]) -> Vec<Option<Session<'a>>> {
    let own = sessions.iter().filter(|of| !is_plain(of.accepted, of.in_any_order));
    let mut choices: Vec<_> = own.copied().map(Some).collect();
    if choices.len() < sessions.len() || sessions.is_empty() {
        choices.push(None);
    }
    choices
}

impl Combined {
    fn add(
        &mut self,
        protocol: &Loaded,
        chosen: &[Option<Session<'_>>],
        settings: &Settings,
        subject: &impl Fn(usize) -> Subject,
    ) {
        let is_refused = |session: &Session<'_>| {
            let mut refused = self.refused.iter();
            refused.any(|(root, _)| *root == session.root)
        };
        // A refused session never runs.
        if chosen.iter().flatten().any(is_refused) {
            return;
        }
        let parts = chosen.iter().enumerate().map(|(role, session)| match session {
            Some(Session { fsm, accepted, in_any_order, .. }) => {
                Part::new(fsm, protocol.due(role, *in_any_order), accepted.proof.as_ref())
            }
            None => Part::projection(protocol.due(role, false)),
        });
        let parts = parts.zip(&settings.required).map(|(part, required)| match required {
            Some(Liveness::Fair) => part.fair(),
            Some(Liveness::EveryRun) => part.strict(),
            None => part,
        });
        let parts: Vec<Part<'_>> = parts.collect();
        let found = match together(&parts, &settings.limits.scribble.verifier) {
            Ok(found) => found,
            Err(error) => {
                let first = chosen.iter().flatten().next().map(|session| session.root);
                let cause = |root| Cause::Unjudged { subject: Box::new(subject(root)), error };
                self.refused.extend(first.map(|root| (root, cause(root))));
                return;
            }
        };
        let Together { verdict, starvation, condition, alone } = found;
        self.alone |= alone;
        // Without a condition, subtyping is enough. A projection never causes a condition.
        let Some((position, condition)) = condition else { return };
        let Some(Session { root, .. }) = chosen[position] else { return };
        match verdict {
            Verdict::Safe(()) => {
                if !matches!(condition, Condition::NarrowedChoice(..)) {
                    self.closed.get_or_insert((root, condition));
                }
                self.starvation = self.starvation.take().or(starvation);
            }
            Verdict::Unsafe(run) => {
                let others = chosen.iter().flatten().map(|session| session.root);
                let with =
                    others.filter(|&other| other != root).map(|root| subject(root).name).collect();
                let condition = Some(condition);
                let refused = Refused { refusal: None, condition, evidence: Evidence::Run(run) };
                let fair = refused.neglected().is_some();
                let refusal = Refusal { with, fair, ..Refusal::new(subject(root), refused) };
                self.refused.push((root, Cause::Refused(Box::new(refusal))));
            }
            Verdict::Undecided(limit) => {
                let subject = Box::new(subject(root));
                self.refused.push((root, Cause::Undecided { subject, limit, fair: false }));
            }
        }
    }
}
