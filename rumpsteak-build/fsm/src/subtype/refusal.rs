//! The answer "no".

use std::error::Error;
use std::fmt;

use hashbrown::HashSet;

use super::pair::Edge;
use crate::machine::{Action, Defect, Fsm, StateId, Transition, TransitionId};
use crate::verdict::Limit;

/// Why a machine is not a subtype: the two actions that may not change places, and the way to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The broken rule; it determines which other fields are set.
    pub rule: Rule,
    /// The actions of the subtype before, from its initial state: a shortest way, or nearly so.
    pub path: Vec<TransitionId>,
    /// The state of the subtype after `path`.
    pub sub_state: StateId,
    /// The action of the subtype.
    pub sub: Option<TransitionId>,
    /// The source of `sup`, or the state in which the supertype ends.
    pub sup_state: StateId,
    /// The action of the supertype.
    pub sup: Option<TransitionId>,
    /// For [`Rule::Forgotten`] in a loop, the loop of the subtype; otherwise empty.
    pub cycle: Vec<TransitionId>,
}

/// A rule that a subtype must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The subtype never does the supertype's action `sup`: it ends or goes round `cycle` without
    /// it. Do it, or take it out of the protocol.
    Forgotten,
    /// The subtype receives (`sub`) before the supertype's send `sup`. Send first.
    InputBeforeOutput,
    /// The peer may send the message of `sup`, which `sub_state` does not receive. Handle it.
    InputNotHandled,
    /// The supertype need not receive the message of `sub`, because it ends in `sup_state` or may
    /// go on through `sup`. Receive it only where the protocol has decided that it comes.
    InputNotReached,
    /// The subtype receives (`sub`) before an earlier message from the same peer (`sup`).
    InputsFromOnePeer,
    /// The supertype need not send the message of `sub`, because it ends in `sup_state` or may go
    /// on through `sup`. Send it only where the protocol has decided on it.
    OutputNotReached,
    /// The subtype sends a label (`sub`) to a peer to which the supertype sends another (`sup`).
    OutputNotOffered,
    /// The subtype sends (`sub`) before an earlier message to the same peer (`sup`).
    OutputsToOnePeer,
    /// The messages of `sub` and `sup` have one label and different payloads. Make the sorts equal.
    PayloadDiffers,
}

/// The rule in a clause.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forgotten => "every action of the protocol must be done sooner or later",
            Self::InputBeforeOutput => "a receive may not overtake a send",
            Self::InputNotHandled => "every message that a peer may send must be handled",
            Self::InputNotReached => {
                "a receive may be done early only if its message comes whatever the peers choose"
            }
            Self::InputsFromOnePeer => "messages from one peer are received in order",
            Self::OutputNotOffered => "a message must be one that the protocol offers",
            Self::OutputNotReached => {
                "a send may be done early only if it is due whatever the peers choose"
            }
            Self::OutputsToOnePeer => "messages to one peer are sent in order",
            Self::PayloadDiffers => "a message has the payload of the protocol",
        })
    }
}

/// The part of the supertype that a refusal names.
pub(super) enum Blame {
    State(u32),
    Transition(u32),
}

impl Blame {
    pub(super) fn of(edge: &Edge) -> Self {
        Self::Transition(edge.id.index() as u32)
    }
}

pub(super) type Result<T, E = Stop> = std::result::Result<T, E>;

pub(super) enum Stop {
    Limited(Limit),
    Refused(Refusal),
    /// No inference rule applies, and a dropped alternative may be the reason.
    Lossy,
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Self::Limited(limit)
    }
}

impl Refusal {
    /// No inference rule applies. The search adds the path and the state of the subtype.
    pub(super) fn of(rule: Rule, sup: Blame, sub: Option<&Edge>) -> Self {
        let (sub_state, sub) = (StateId::from_index(0), sub.map(|edge| edge.id));
        let (sup_state, sup) = match sup {
            Blame::State(state) => (StateId::from_index(state as usize), None),
            Blame::Transition(id) => (sub_state, Some(TransitionId::from_index(id as usize))),
        };
        Self { rule, path: vec![], sub_state, sub, sup_state, sup, cycle: vec![] }
    }

    /// Adds the source of `sup`, and distinguishes a wrong order, a wrong label and a wrong
    /// payload, which are one to the search.
    pub(super) fn classify(&mut self, sub: &Fsm, sup: &Fsm) {
        let Some(promised) = self.sup.map(|id| sup.transition(id)) else { return };
        self.sup_state = promised.source;
        let candidates: Vec<_> = match (self.rule, self.sub) {
            (Rule::OutputsToOnePeer, Some(id)) => vec![sub.transition(id)],
            (Rule::InputNotHandled, _) => sub.transitions_from(self.sub_state).collect(),
            _ => return,
        };
        let alternatives: Vec<_> = sup.transitions_from(promised.source).collect();
        let same_label = |candidate: &&Transition<'_>| {
            let own = &candidate.action.message.label;
            if self.rule == Rule::InputNotHandled {
                return *own == promised.action.message.label;
            }
            alternatives.iter().any(|other| {
                let (other, action) = (other.action, candidate.action);
                other.peer == action.peer && other.message.label == *own && other != action
            })
        };
        if let Some(candidate) = candidates.iter().find(same_label) {
            let own = &candidate.action.message.label;
            let alternative = alternatives.iter().find(|it| it.action.message.label == *own);
            self.sub = Some(candidate.id);
            self.sup = alternative.map(|other| other.id).or(self.sup);
            self.rule = Rule::PayloadDiffers;
            return;
        }

        let later = sup.reachable_from(promised.target);
        let later = later.flat_map(|state| sup.transitions_from(state));
        let later: HashSet<&Action> = later.map(|transition| transition.action).collect();
        let early = candidates.iter().find(|candidate| later.contains(candidate.action));
        match (self.rule, early) {
            (Rule::InputNotHandled, Some(candidate)) => {
                self.rule = Rule::InputsFromOnePeer;
                self.sub = Some(candidate.id);
            }
            (Rule::OutputsToOnePeer, None) => self.rule = Rule::OutputNotOffered,
            _ => {}
        }
    }
}

/// One of the two machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The subtype.
    Sub,
    /// The supertype.
    Sup,
}

/// A machine that does not stand for a local type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The machine.
    pub side: Side,
    /// Its defect.
    pub defect: Defect,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Sub => "subtype",
            Side::Sup => "supertype",
        };
        write!(f, "the {side} is not a local type: {}", self.defect)
    }
}

impl Error for InputError {}
