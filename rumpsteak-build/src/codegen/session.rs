//! Converts a machine to session items.
//!
//! ```text
//!   0 ──t?ready──▶ 1 ──t!value──▶ 0        type SSession = Receive<T, Ready, Select<T, SChoice>>;
//!                  └───t!stop───▶ 2        enum SChoice { Value(Value, SSession), Stop(Stop, End) }
//! ```
//!
//! * A state with one action becomes `Send` or `Receive`. A state with several becomes `Select`,
//!   `Branch`, or `Race` if it both sends and receives, of an `enum`. A state without actions is
//!   `End`. If a choice has several peers, its options name them. The states of a gather become one
//!   `Gather` of an `enum`.
//! * The initial state, and states with several predecessors, have a name. It is the name of a
//!   `struct` if only actions lead from the state back to it, since a `type` cannot be recursive.
//! * A `struct` cuts chains of more than [`LONGEST`] actions: rustc recurses into nested types.
//!
//! The result is judged like a hand-written session, so soundness does not depend on this module.

use std::collections::VecDeque;

use rumpsteak_fsm::{Action, Direction, Fsm, StateId};

use super::choice_names::{Origin, options, state_names};
use super::names::Names;
use crate::scope::session::cycles;

/// The number of actions that one type may nest.
const LONGEST: usize = 16;

#[derive(Debug)]
pub(super) enum Item {
    /// A `type` or, if it is nominal, a `struct`.
    Chain { name: String, nominal: bool, session: String },
    /// An `enum`.
    Choice { name: String, end: End, options: Vec<Choosing> },
}

/// The peers of a choice.
#[derive(Clone, Debug)]
pub(super) enum End {
    One(Direction, String),
    Several(Option<Direction>),
    Gather,
}

impl End {
    fn constructor(&self) -> &'static str {
        match self {
            Self::One(Direction::Receive, _) | Self::Several(Some(Direction::Receive)) => "Branch",
            Self::One(Direction::Send, _) | Self::Several(Some(Direction::Send)) => "Select",
            Self::Several(None) => "Race",
            Self::Gather => "Gather",
        }
    }
}

#[derive(Debug)]
pub(super) struct Choosing {
    pub(super) name: String,
    /// The position of the label; `None` for what follows a gather.
    pub(super) label: Option<usize>,
    pub(super) fields: Vec<String>,
}

/// The items of a role's machine, first `root`, or the reason why the machine cannot be written.
/// The names of other items begin with `base`.
pub(super) fn items(
    fsm: &Fsm,
    root: &str,
    base: String,
    names: &mut Names,
    written: Option<Origin<'_>>,
) -> Result<Vec<Item>, String> {
    let role = fsm.role();
    fsm.check_deterministic().map_err(|defect| {
        format!("the machine of `{role}`: {defect}\n\nhelp: let one role decide, and the others tell `{role}` after it")
    })?;
    let root = names.fresh(root, "");
    let gathers = |state| written.is_some_and(|written| written.gathers(state));
    let gathered: Vec<bool> = fsm.states().map(gathers).collect();
    let circle = circles(fsm, &gathered);
    let mut entries = vec![0; fsm.len()];
    let transitions = fsm.reachable().flat_map(|state| fsm.transitions_from(state));
    transitions.for_each(|transition| entries[transition.target.index()] += 1);
    let suffix = |state: StateId| match circle[state.index()] {
        _ if gathered[state.index()] => Some("Gather"),
        _ if entries[state.index()] < 2 || state == fsm.initial() => None,
        true => Some("Loop"),
        false => Some("Rest"),
    };
    let proposed = state_names(fsm, &base, names, written, &suffix);
    let (items, cuts, pending) = (vec![None; fsm.len()], vec![false; fsm.len()], VecDeque::new());
    let mut writer =
        Writer { circle, gathered, entries, proposed, fsm, base, names, items, cuts, pending };
    let initial = fsm.initial();
    let mut items = Vec::new();
    if writer.is_chain(initial) {
        writer.items[initial.index()] = Some(root);
        writer.pending.push_back(initial);
    } else {
        let session = writer.session(initial, None)?;
        items.push(Item::Chain { name: root, nominal: false, session });
    }
    while let Some(state) = writer.pending.pop_front() {
        items.push(match writer.is_chain(state) {
            true => writer.chain(state)?,
            false => writer.choice(state)?,
        });
    }
    Ok(items)
}

struct Writer<'a> {
    fsm: &'a Fsm,
    base: String,
    names: &'a mut Names,
    /// The names of the items, by their states.
    items: Vec<Option<String>>,
    proposed: Vec<Option<String>>,
    /// The number of transitions into each state.
    entries: Vec<usize>,
    /// True for a state on a circle of states with one action.
    circle: Vec<bool>,
    /// True for a state of a gather, unless it is the last one.
    gathered: Vec<bool>,
    /// True for a state at which a long chain is cut.
    cuts: Vec<bool>,
    /// The named states whose items are still to be written.
    pending: VecDeque<StateId>,
}

impl Writer<'_> {
    /// True for a state with one action, unless it begins a gather.
    fn is_chain(&self, state: StateId) -> bool {
        self.fsm.transitions_from(state).take(2).count() == 1 && !self.gathered[state.index()]
    }

    fn chain(&mut self, state: StateId) -> Result<Item, String> {
        let nominal = self.circle[state.index()] || self.cuts[state.index()];
        let session = self.actions(state, nominal.then_some(state))?;
        let name = self.items[state.index()].clone().unwrap_or_default();
        Ok(Item::Chain { name, nominal, session })
    }

    fn choice(&mut self, state: StateId) -> Result<Item, String> {
        let (fsm, end) = (self.fsm, self.end(state));
        let (transitions, behind) = options(fsm, |state| self.gathered[state.index()], state);
        let mut options: Vec<Choosing> = Vec::new();
        for transition in &transitions {
            let action = transition.action;
            let label = self.label(action)?;
            let then = match behind {
                Some(_) => "Self".to_owned(),
                None => self.session(transition.target, Some(state))?,
            };
            let (constructor, peer, path) = self.action(action)?;
            let ty = &self.names.labels[label].ty;
            let same = transitions.iter().filter(|it| it.action.message == action.message).count();
            let preposition = match action.direction {
                Direction::Receive => "From",
                Direction::Send => "To",
            };
            let mut name = match same {
                1 => ty.clone(),
                _ => format!("{ty}{preposition}{peer}"),
            };
            while options.iter().any(|option| option.name == name) {
                name.push('_');
            }
            let fields = match end {
                End::One(..) => vec![path, then],
                _ => vec![wrap(then, (constructor, peer, path))],
            };
            options.push(Choosing { name, label: Some(label), fields });
        }
        if let Some(behind) = behind {
            let mut name = "All".to_owned();
            while options.iter().any(|option| option.name == name) {
                name.push('_');
            }
            // Another gather with the same beginning cannot follow: `Self` is what is due.
            let fields = vec![self.session(behind, None)?];
            options.push(Choosing { name, label: None, fields });
        }
        let name = self.items[state.index()].clone().unwrap_or_default();
        Ok(Item::Choice { name, end, options })
    }

    fn end(&self, state: StateId) -> End {
        if self.gathered[state.index()] {
            return End::Gather;
        }
        let actions = self.fsm.transitions_from(state).map(|transition| transition.action);
        let mut ends = actions.map(|action| (action.direction, self.peer(action)));
        let Some((direction, peer)) = ends.next() else { return End::Several(None) };
        let others: Vec<(Direction, String)> = ends.collect();
        if others.iter().all(|end| (end.0, &end.1) == (direction, &peer)) {
            return End::One(direction, peer);
        }
        End::Several(others.iter().all(|end| end.0 == direction).then_some(direction))
    }

    /// The session type of a state. In the item of the state `within`, `Self` refers to that state.
    fn session(&mut self, state: StateId, within: Option<StateId>) -> Result<String, String> {
        match self.is_chain(state) {
            _ if self.fsm.is_terminal(state) => Ok("End".to_owned()),
            true if self.has_name(state) => Ok(self.named(state, within)),
            true => self.actions(state, within),
            false => {
                let (end, choice) = (self.end(state), self.named(state, within));
                let constructor = end.constructor();
                Ok(match end {
                    End::One(_, peer) => format!("{constructor}<{peer}, {choice}>"),
                    _ => format!("{constructor}<{choice}>"),
                })
            }
        }
    }

    /// True if a state with one action is an item of its own.
    fn has_name(&self, state: StateId) -> bool {
        self.cuts[state.index()] || state == self.fsm.initial() || self.entries[state.index()] > 1
    }

    /// The name of a state's item, or `Self` within that item.
    fn named(&mut self, state: StateId, within: Option<StateId>) -> String {
        if within == Some(state) {
            return "Self".to_owned();
        }
        if let Some(name) = &self.items[state.index()] {
            return name.clone();
        }
        let proposed = self.proposed[state.index()].clone().unwrap_or_else(|| {
            let label = self.fsm.transitions_from(state).next();
            let label = label.and_then(|first| self.names.label(&first.action.message));
            let label = label.map_or("", |label| &self.names.labels[label].ty);
            format!("{}{label}Part", self.base)
        });
        let name = self.names.fresh(&proposed, "");
        self.items[state.index()] = Some(name.clone());
        self.pending.push_back(state);
        name
    }

    /// The actions from a state with one action up to the next state with a name.
    fn actions(&mut self, first: StateId, within: Option<StateId>) -> Result<String, String> {
        let fsm = self.fsm;
        let mut state = first;
        let mut actions = Vec::new();
        let tail = loop {
            let Some(transition) =
                fsm.transitions_from(state).next().filter(|_| self.is_chain(state))
            else {
                break self.session(state, within)?;
            };
            if !actions.is_empty() {
                if actions.len() == LONGEST {
                    self.cuts[state.index()] = true;
                }
                if self.has_name(state) {
                    break self.named(state, within);
                }
            }
            actions.push(self.action(transition.action)?);
            state = transition.target;
        };
        Ok(actions.into_iter().rev().fold(tail, wrap))
    }

    fn action(&self, action: &Action) -> Result<(&'static str, String, String), String> {
        let constructor = match action.direction {
            Direction::Receive => "Receive",
            Direction::Send => "Send",
        };
        Ok((constructor, self.peer(action), self.names.labels[self.label(action)?].ty.clone()))
    }

    /// The struct of a peer. Protocols and machines have only known roles.
    fn peer(&self, action: &Action) -> String {
        let peer = action.peer.as_str();
        self.names.role(peer).map_or(peer, |role| &self.names.roles[role].ty).to_owned()
    }

    fn label(&self, action: &Action) -> Result<usize, String> {
        match self.names.label(&action.message) {
            Some(label) if self.names.labels[label].is_missing => Err(format!(
                "no variant of the message type is for `{}`, which the session of `{}` has\n\n\
                 help: add the variant, or leave the message type out: it is generated then",
                action.message,
                self.fsm.role()
            )),
            Some(label) => Ok(label),
            None => Err(format!("the protocol has no `{action}`")),
        }
    }
}

fn wrap(then: String, (constructor, peer, label): (&str, String, String)) -> String {
    format!("{constructor}<{peer}, {label}, {then}>")
}

/// The states on a circle of states with one action, which no gather is.
fn circles(fsm: &Fsm, gathered: &[bool]) -> Vec<bool> {
    let next = |state: StateId| {
        let mut transitions = fsm.transitions_from(state).filter(|_| !gathered[state.index()]);
        let (Some(only), None) = (transitions.next(), transitions.next()) else { return None };
        Some(only.target)
    };
    let mut circle = vec![false; fsm.len()];
    for mut state in cycles(fsm.states(), fsm.len(), StateId::index, next) {
        while !circle[state.index()] {
            circle[state.index()] = true;
            state = next(state).unwrap_or(state);
        }
    }
    circle
}
