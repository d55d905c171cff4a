//! Names for the choices and loops of a machine: annotated, or their first label, so that a further
//! option changes no name. Equal names get the labels that lead there: `ClientOkChoiceAfterNd`.
//!
//! ```text
//! submit(Job) from client to worker;                   ClientSubmitChoice, ClientSubmitLoop
//! submit(Job) from client to worker @"name: Ask";      ClientAsk, and ClientAskLoop for a loop
//! ```

use std::collections::BTreeMap;

use litemap::LiteMap;
use rumpsteak_fsm::{Action, Fsm, StateId, Transition};
use rumpsteak_scribble::{InteractionKind, Projection, Span};

use super::names::Names;
use super::payloads::is_ident;
use crate::protocols::ScrFile;

/// The number of labels before a choice that may be added to its name.
const MOST: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) projection: &'a Projection,
    /// True if the machine is the projection; false for a machine beside the protocol.
    pub(super) is_projected: bool,
    /// False in a protocol with a family, from whose members a role receives with one action.
    pub(super) gathers: bool,
    /// The messages of the file, and what else has a name, with the names in their annotations.
    pub(super) named: &'a LiteMap<Span, Option<String>>,
}

impl Origin<'_> {
    /// True if a state belongs to a gather with the next one.
    pub(super) fn gathers(&self, state: StateId) -> bool {
        self.is_projected && self.gathers && self.projection.gathers(state)
    }

    /// True if a role drops messages in a state of its projection, up to an interrupt: all have the
    /// place of the block.
    fn drains(&self, state: StateId) -> bool {
        let place =
            |of: Transition<'_>| (of.action.is_send(), self.projection.origins(of.id).first());
        let places: Vec<_> = self.projection.fsm.transitions_from(state).map(place).collect();
        places.len() > 1 && places.iter().all(|of| *of == (false, places[0].1))
    }
}

/// The messages of a file, and what else has a name, with the names: `@"name: Ask"`.
pub(super) fn named(file: &ScrFile) -> Result<LiteMap<Span, Option<String>>, String> {
    let bodies = file.module.modules.iter().flat_map(|module| &module.protocols);
    let interactions = bodies.flat_map(|protocol| protocol.body.interactions());
    let mut found = LiteMap::new();
    for (_, interaction) in interactions {
        let notes = interaction.annotations.iter();
        let mut names = notes.filter_map(|note| note.as_str().trim().strip_prefix("name:"));
        let name = names.next().map(str::trim);
        if let Some(name) = name.filter(|name| !is_ident(name)) {
            return Err(format!(
                "`{name}` is not a valid name in Rust\n\nhelp: write it in {} as in `@\"name: Work\"`",
                file.shown()
            ));
        }
        if name.is_some() || matches!(interaction.kind, InteractionKind::Message { .. }) {
            found.insert(interaction.span, name.map(str::to_owned));
        }
    }
    Ok(found)
}

/// The names of states with several actions or a `suffix`, by state. Each name begins with `base`.
pub(super) fn state_names(
    fsm: &Fsm,
    base: &str,
    names: &Names,
    written: Option<Origin<'_>>,
    suffix: &dyn Fn(StateId) -> Option<&'static str>,
) -> Vec<Option<String>> {
    let gathers = |state| written.is_some_and(|written| written.gathers(state));
    // The first transition into each state, except for the later states of a gather.
    let mut entries: Vec<Option<Transition<'_>>> = vec![None; fsm.len()];
    for state in fsm.reachable().filter(|&state| !gathers(state)) {
        for transition in fsm.transitions_from(state) {
            entries[transition.target.index()].get_or_insert(transition);
        }
    }
    let is_entered = |state: &StateId| *state == fsm.initial() || entries[state.index()].is_some();
    let named = fsm.reachable().filter(is_entered);
    let named = named.filter_map(|state| match fsm.transitions_from(state).count() {
        0 => None,
        1 => Some((state, suffix(state)?)),
        _ => Some((state, suffix(state).filter(|suffix| *suffix == "Gather").unwrap_or_default())),
    });
    let name =
        |(state, suffix)| (state, format!("{base}{}{suffix}", subject(fsm, state, names, written)));
    let drains = |at: &StateId| written.is_some_and(|of| of.is_projected && of.drains(*at));
    let mut found = vec![None; fsm.len()];
    named.map(name).for_each(|(state, name)| found[state.index()] = Some(name));
    entries[fsm.initial().index()] = None;
    let mut before: Vec<Option<StateId>> = vec![None; fsm.len()];
    // States that drain are the first to give way. Names that are still equal then get a number.
    for round in 0..=MOST {
        let mut users: BTreeMap<String, usize> = BTreeMap::new();
        for name in found.iter().flatten() {
            *users.entry(name.clone()).or_default() += 1;
        }
        for (state, name) in fsm.states().zip(&mut found).filter(|of| round > 0 || drains(&of.0)) {
            let (Some(name), at) = (name, before[state.index()]) else { continue };
            let entry = entries[at.unwrap_or(state).index()].filter(|_| users[&**name] > 1);
            let Some(entry) = entry else { continue };
            name.push_str(if at.is_none() { "After" } else { "" });
            name.push_str(label(names, entry.action));
            before[state.index()] = Some(entry.source);
        }
    }
    found
}

/// The transitions of a choice, or of all states of a gather; and the state behind the gather.
pub(super) fn options<'a>(
    fsm: &'a Fsm,
    gathers: impl Fn(StateId) -> bool,
    mut state: StateId,
) -> (Vec<Transition<'a>>, Option<StateId>) {
    let mut options: Vec<Transition<'a>> = fsm.transitions_from(state).collect();
    let mut behind = None;
    while gathers(state)
        && let Some(last) = options.last()
    {
        state = last.target;
        options.extend(fsm.transitions_from(state));
        behind = options.last().map(|last| last.target);
    }
    (options, behind)
}

/// The part of a name that describes a choice or a loop.
fn subject(fsm: &Fsm, state: StateId, names: &Names, written: Option<Origin<'_>>) -> String {
    let gathers = |state| written.is_some_and(|written| written.gathers(state));
    let (options, _) = options(fsm, gathers, state);
    let mut first = options.first();
    if let Some(Origin { projection, is_projected, named, .. }) = written {
        // In a machine beside the protocol, choices correspond if they have the same actions.
        let states = projection.fsm.states().filter(|of| match is_projected {
            true => *of == state,
            false => projection.fsm.actions_from(*of) == fsm.actions_from(state),
        });
        let same = states.flat_map(|of| projection.fsm.transitions_from(of).collect::<Vec<_>>());
        let mut spans = same.flat_map(|option| projection.origins(option.id));
        if let Some(name) = spans.find_map(|span| named.get(span)?.clone()) {
            return name;
        }
        if is_projected {
            // An interrupt is the same in many choices. Its place is the heading of its block.
            first = options.iter().min_by_key(|option| {
                let place = projection.origins(option.id).iter().min();
                (place.is_none_or(|place| !named.contains_key(place)), place)
            });
        }
    }
    let first = first.map_or("", |option| label(names, option.action));
    let is_choice = fsm.transitions_from(state).count() > 1 && !gathers(state);
    format!("{first}{}", if is_choice { "Choice" } else { "" })
}

fn label<'a>(names: &'a Names, action: &Action) -> &'a str {
    names.label(&action.message).map_or("", |label| names.labels[label].part.as_str())
}
