//! A machine as the session items that a person would write for it.
//!
//! ```text
//!   0 ──t?ready──▶ 1 ──t!value──▶ 0        type SSession = Receive<T, Ready, Select<T, SChoice>>;
//!                  └───t!stop───▶ 2        enum SChoice { Value(Value, SSession), Stop(Stop, End) }
//! ```
//!
//! * A state with one action is a `Send` or a `Receive` around what follows; one with several, a
//!   `Select` or a `Branch` of an `enum`, or a `Race` if it both sends and receives; one with none
//!   is `End`. Where a choice has several peers, its options say with whom.
//! * What is written once stands where it is used. The initial state, and a state that several
//!   others lead to, have a name. The name is that of a `struct` where only actions lead from the
//!   state back to it, since Rust knows no recursive `type`s; else of a `type`.
//! * A chain of more than [`LONGEST`] actions is cut by a `struct`, because rustc follows nested
//!   types by recursion.
//!
//! Linear in the machine. Serialising the items gives a machine with the same runs, which the build
//! verifies as it verifies what a person writes; so nothing depends on this module's being right.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rumpsteak_fsm::{Action, Defect, Direction, Fsm, Message, StateId};

use super::choice_names::{Written, state_names};
use super::names::Names;

/// How many actions one type may nest.
const LONGEST: usize = 16;

/// An item of a session.
#[derive(Debug)]
pub(super) enum Item {
    /// `type` or, if it is nominal, `struct`.
    Chain { name: String, nominal: bool, session: String },
    /// `enum`.
    Choice { name: String, end: End, options: Vec<Choosing> },
}

/// With whom a choice is made.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// With this role, by its Rust name.
    One(Direction, String),
    /// With several, or in both directions.
    Several(Option<Direction>),
}

impl End {
    fn constructor(&self) -> &'static str {
        match self {
            Self::One(Direction::Receive, _) | Self::Several(Some(Direction::Receive)) => "Branch",
            Self::One(Direction::Send, _) | Self::Several(Some(Direction::Send)) => "Select",
            Self::Several(None) => "Race",
        }
    }
}

/// An option of a choice.
#[derive(Debug)]
pub(super) struct Choosing {
    pub(super) name: String,
    /// The position of the label.
    pub(super) label: usize,
    pub(super) fields: Vec<String>,
}

/// The items of the machine of a role, the root first, which is called `root` if that is free. The
/// names of the others begin with `base`. `written` is what the machine was projected from or
/// stands for.
///
/// # Errors
///
/// If the machine is no session type, or has an action that no part of the protocol is named for.
pub(super) fn items(
    fsm: &Fsm,
    root: &str,
    base: String,
    names: &mut Names,
    written: Option<Written<'_>>,
) -> Result<Vec<Item>, Unwritable> {
    fsm.check_deterministic().map_err(Unwritable::Defect)?;
    let root = names.numbered(root);
    let (circle, entries) = (circles(fsm), entries(fsm));
    let suffix = |state: StateId| match circle[state.index()] {
        _ if entries[state.index()] < 2 || state == fsm.initial() => None,
        true => Some("Loop"),
        false => Some("Rest"),
    };
    let proposed = state_names(fsm, &base, names, written, &suffix);
    let mut writer = Writer {
        circle,
        entries,
        proposed,
        fsm,
        base,
        names,
        chains: BTreeMap::new(),
        choices: BTreeMap::new(),
        cuts: BTreeSet::new(),
        pending: VecDeque::new(),
    };
    let initial = fsm.initial();
    let mut items = Vec::new();
    if writer.count(initial) == 1 {
        writer.chains.insert(initial, root);
        writer.pending.push_back(Pending::Chain(initial));
    } else {
        let session = writer.session(initial, None)?;
        items.push(Item::Chain { name: root, nominal: false, session });
    }
    while let Some(pending) = writer.pending.pop_front() {
        items.push(match pending {
            Pending::Chain(state) => writer.chain(state)?,
            Pending::Choice(state) => writer.choice(state)?,
        });
    }
    Ok(items)
}

/// Why a machine cannot be written as sessions.
#[derive(Debug)]
pub(super) enum Unwritable {
    Defect(Defect),
    /// A message without a variant in the message type that the module writes.
    NoVariant(Message),
    /// An action with a peer or a message that the protocol does not have.
    Unknown(Action),
}

struct Writer<'a> {
    fsm: &'a Fsm,
    base: String,
    names: &'a mut Names,
    /// The states with one action that have a name, and the `enum`s of those with several.
    chains: BTreeMap<StateId, String>,
    choices: BTreeMap<StateId, String>,
    /// What the latter would be called.
    proposed: BTreeMap<StateId, String>,
    /// How many transitions lead to each state.
    entries: Vec<usize>,
    /// Whether a state is on a circle of states with one action.
    circle: Vec<bool>,
    /// The states at which a long chain was cut.
    cuts: BTreeSet<StateId>,
    pending: VecDeque<Pending>,
}

#[derive(Clone, Copy)]
enum Pending {
    Chain(StateId),
    Choice(StateId),
}

impl Writer<'_> {
    /// How many actions a state has: none, one, or two for several.
    fn count(&self, state: StateId) -> usize {
        self.fsm.transitions_from(state).take(2).count()
    }

    fn is_nominal(&self, state: StateId) -> bool {
        self.circle[state.index()] || self.cuts.contains(&state)
    }

    fn chain(&mut self, state: StateId) -> Result<Item, Unwritable> {
        let nominal = self.is_nominal(state);
        let session = self.actions(state, nominal.then_some(state))?;
        let name = self.chains.get(&state).cloned().unwrap_or_default();
        Ok(Item::Chain { name, nominal, session })
    }

    fn choice(&mut self, state: StateId) -> Result<Item, Unwritable> {
        let (fsm, end) = (self.fsm, self.end(state)?);
        let mut options: Vec<Choosing> = Vec::new();
        for transition in fsm.transitions_from(state) {
            let action = transition.action;
            let label = self.label(action)?;
            let then = self.session(transition.target, Some(state))?;
            let (constructor, peer, path) = self.action(action)?;
            let ty = &self.names.labels[label].ty;
            let has_label = |other: &Action| other.message.label == action.message.label;
            let same = fsm.transitions_from(state).filter(|other| has_label(other.action)).count();
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
                End::Several(_) => vec![wrap(then, (constructor, peer, path))],
            };
            options.push(Choosing { name, label, fields });
        }
        let name = self.choices.get(&state).cloned().unwrap_or_default();
        Ok(Item::Choice { name, end, options })
    }

    /// With whom the choice of a state is made.
    fn end(&self, state: StateId) -> Result<End, Unwritable> {
        let mut ends = BTreeSet::new();
        for transition in self.fsm.transitions_from(state) {
            ends.insert((transition.action.direction, self.peer(transition.action)?));
        }
        let directions: BTreeSet<Direction> =
            ends.iter().map(|(direction, _)| *direction).collect();
        let several = (directions.len() == 1).then(|| directions.first().copied()).flatten();
        Ok(match (ends.len(), ends.pop_first()) {
            (1, Some((direction, peer))) => End::One(direction, peer),
            _ => End::Several(several),
        })
    }

    /// What a state is called where it follows something; `within` is the state of the item that
    /// this is part of, if that item may call itself `Self`.
    fn session(&mut self, state: StateId, within: Option<StateId>) -> Result<String, Unwritable> {
        match self.count(state) {
            0 => Ok("End".to_owned()),
            1 => {
                let named = state == self.fsm.initial()
                    || self.entries[state.index()] > 1
                    || self.cuts.contains(&state);
                if named { Ok(self.named(state, within)) } else { self.actions(state, within) }
            }
            _ => self.select(state, within),
        }
    }

    /// A state with one action, by its name.
    fn named(&mut self, state: StateId, within: Option<StateId>) -> String {
        if within == Some(state) {
            return "Self".to_owned();
        }
        if let Some(name) = self.chains.get(&state) {
            return name.clone();
        }
        let proposed = self.proposed.get(&state).cloned().unwrap_or_else(|| {
            let label = self.fsm.transitions_from(state).next();
            let label = label.and_then(|first| self.names.label(&first.action.message));
            let label = label.map_or("", |label| &self.names.labels[label].ty);
            format!("{}{label}Part", self.base)
        });
        let name = self.names.numbered(&proposed);
        self.chains.insert(state, name.clone());
        self.pending.push_back(Pending::Chain(state));
        name
    }

    /// A state with one action, written out up to the next one with a name.
    fn actions(&mut self, first: StateId, within: Option<StateId>) -> Result<String, Unwritable> {
        let fsm = self.fsm;
        let mut state = first;
        let mut actions = Vec::new();
        let tail = loop {
            let mut transitions = fsm.transitions_from(state);
            let (Some(transition), None) = (transitions.next(), transitions.next()) else {
                break self.session(state, within)?;
            };
            if !actions.is_empty() {
                if actions.len() == LONGEST {
                    self.cuts.insert(state);
                }
                let ends = state == fsm.initial()
                    || self.entries[state.index()] > 1
                    || self.cuts.contains(&state);
                if ends {
                    break self.named(state, within);
                }
            }
            actions.push(self.action(transition.action)?);
            state = transition.target;
        };
        Ok(actions.into_iter().rev().fold(tail, wrap))
    }

    fn action(&self, action: &Action) -> Result<(&'static str, String, String), Unwritable> {
        let constructor = match action.direction {
            Direction::Receive => "Receive",
            Direction::Send => "Send",
        };
        let label = self.names.labels[self.label(action)?].ty.clone();
        Ok((constructor, self.peer(action)?, label))
    }

    /// A state with several actions.
    fn select(&mut self, state: StateId, within: Option<StateId>) -> Result<String, Unwritable> {
        let end = self.end(state)?;
        let choice = match self.choices.get(&state) {
            _ if within == Some(state) => "Self".to_owned(),
            Some(name) => name.clone(),
            None => {
                let proposed = self.proposed.get(&state).map_or("Choice", String::as_str);
                let name = self.names.numbered(proposed);
                self.choices.insert(state, name.clone());
                self.pending.push_back(Pending::Choice(state));
                name
            }
        };
        let constructor = end.constructor();
        Ok(match end {
            End::One(_, peer) => format!("{constructor}<{peer}, {choice}>"),
            End::Several(_) => format!("{constructor}<{choice}>"),
        })
    }

    fn peer(&self, action: &Action) -> Result<String, Unwritable> {
        let position = self.names.role(action.peer.as_str());
        position
            .map(|position| self.names.roles[position].ty.clone())
            .ok_or_else(|| Unwritable::Unknown(action.clone()))
    }

    fn label(&self, action: &Action) -> Result<usize, Unwritable> {
        match self.names.label(&action.message) {
            Some(label) if self.names.labels[label].is_missing => {
                Err(Unwritable::NoVariant(action.message.clone()))
            }
            Some(label) => Ok(label),
            None => Err(Unwritable::Unknown(action.clone())),
        }
    }
}

/// An action around what follows it.
fn wrap(then: String, (constructor, peer, label): (&str, String, String)) -> String {
    format!("{constructor}<{peer}, {label}, {then}>")
}

/// How many transitions lead to each state.
fn entries(fsm: &Fsm) -> Vec<usize> {
    let mut entries = vec![0; fsm.len()];
    for state in fsm.reachable() {
        for transition in fsm.transitions_from(state) {
            entries[transition.target.index()] += 1;
        }
    }
    entries
}

/// Which states are on a circle of states with one action. From each of them only one other can be
/// next, so following that one from every state not yet seen finds all circles in one pass.
fn circles(fsm: &Fsm) -> Vec<bool> {
    let next = |state: StateId| {
        let mut transitions = fsm.transitions_from(state);
        match (transitions.next(), transitions.next()) {
            (Some(only), None) => Some(only.target),
            _ => None,
        }
    };
    let mut round: Vec<Option<StateId>> = vec![None; fsm.len()];
    let mut circle = vec![false; fsm.len()];
    for start in fsm.states() {
        let mut state = start;
        while round[state.index()].is_none() {
            round[state.index()] = Some(start);
            match next(state) {
                Some(target) => state = target,
                None => break,
            }
        }
        // Met again in this same round, by an action of its own: a circle, which is followed once.
        let meets = next(state).is_some() && round[state.index()] == Some(start);
        while meets && !circle[state.index()] {
            circle[state.index()] = true;
            match next(state) {
                Some(target) => state = target,
                None => break,
            }
        }
    }
    circle
}
