//! The sentence and the advice for each refused reordering: for each broken rule of subtyping, for
//! sessions and machines.

use rumpsteak_fsm::repair::Misfit;
use rumpsteak_fsm::subtype::{Refusal, Rule};
use rumpsteak_fsm::{Action, Direction, Fsm, StateId, TransitionId};

use crate::words::either;

/// A broken rule, in the reader's names.
pub(super) struct BrokenRule<'a> {
    pub(super) rule: Rule,
    /// A simpler cause, and the words for actions of `sup`.
    pub(super) misfit: Option<(&'a Misfit, &'a dyn Fn(TransitionId) -> ActionText)>,
    /// The subtype: "`Kernel`", or "it".
    pub(super) subject: &'a str,
    pub(super) sup: &'a Fsm,
    pub(super) refusal: &'a Refusal,
    pub(super) action: Option<&'a Action>,
    /// The supertype: "the protocol", or "`old.scr`".
    pub(super) place: &'a str,
    pub(super) role: &'a str,
    /// True for a machine in a file, which has no `End` or `Branch`.
    pub(super) is_machine: bool,
    /// True if the state of the protocol can recur.
    pub(super) comes_again: bool,
    /// The action that is done, and the one that is due; `None` for an end.
    pub(super) done: Option<ActionText>,
    pub(super) due: Option<ActionText>,
}

pub(super) struct ActionText {
    pub(super) direction: Direction,
    pub(super) message: String,
    pub(super) peer: String,
}

impl ActionText {
    /// The text of an action with these names.
    pub(super) fn new(action: &Action, message: String, peer: &str) -> Self {
        Self { direction: action.direction, message, peer: peer.to_owned() }
    }

    /// "receives `Value` from `S`"
    pub(super) fn told(&self) -> String {
        let Self { message, peer, .. } = self;
        match self.direction {
            Direction::Receive => format!("receives `{message}` from `{peer}`"),
            Direction::Send => format!("sends `{message}` to `{peer}`"),
        }
    }

    /// "receive `Value` from `S`"
    fn order(&self) -> String {
        self.told().replacen("s ", " ", 1)
    }
}

pub(super) fn one_of(ids: &[TransitionId], of: &dyn Fn(TransitionId) -> ActionText) -> ActionText {
    let messages = either(ids.iter().map(|id| of(*id).message));
    // The remaining quotes enclose each message.
    ActionText { message: messages.trim_matches('`').to_owned(), ..of(ids[0]) }
}

fn verb(action: Option<&Action>) -> &'static str {
    match action.map(|action| action.direction) {
        Some(Direction::Send) => "send",
        _ => "receive",
    }
}

/// The nearest transition with an action, from a state on.
fn next(fsm: &Fsm, from: StateId, wanted: &Action) -> Option<TransitionId> {
    let mut after = fsm.reachable_from(from).flat_map(|state| fsm.transitions_from(state));
    after.find(|transition| transition.action == wanted).map(|transition| transition.id)
}

impl BrokenRule<'_> {
    /// The sentence, and the advice.
    pub(super) fn texts(&self) -> [String; 2] {
        let Self { subject, place, role, .. } = self;
        let told =
            |deed: &Option<ActionText>| deed.as_ref().map_or("ends".to_owned(), ActionText::told);
        let (done, due) = (told(&self.done), told(&self.due));
        if let Some((misfit, deed)) = self.misfit {
            let [clause, help] = self.told(misfit, deed);
            let sentence = match (misfit, &self.done) {
                (Misfit::Missing(..), None) => format!("{subject}{clause} at its beginning"),
                _ => format!("{subject} {done}{clause}"),
            };
            return [sentence, help];
        }
        let first = self.due.as_ref().map_or("end".to_owned(), ActionText::order);
        let reordered = |why| {
            [format!("{subject} {done} before it {due}"), format!("{first} before this; {why}")]
        };
        match self.rule {
            Rule::InputBeforeOutput => {
                reordered("a send may move ahead of a receive, never a receive ahead of a send")
            }
            Rule::InputsFromOnePeer => {
                reordered("messages from one role arrive in the order in which it sends them")
            }
            Rule::OutputsToOnePeer => {
                reordered("the other role takes messages in the order of the protocol")
            }
            Rule::Forgotten if !self.refusal.cycle.is_empty() => [
                format!("{subject} repeats itself and never {due}"),
                format!("{first} somewhere in the loop"),
            ],
            Rule::Forgotten => {
                let (end, again) = match self.is_machine {
                    true => ("the end", ""),
                    false => ("`End`", ", by `Self` or the name of the loop"),
                };
                let help = match self.comes_again {
                    true => format!("{first} before {end}, or begin again here{again}"),
                    false => format!("{first} before {end}"),
                };
                [format!("{subject} ends, but {place} goes on: `{role}` still {due}"), help]
            }
            Rule::InputNotHandled => {
                let due = self.due.as_ref();
                let (message, peer) = due.map_or(("", ""), |due| (&due.message, &due.peer));
                let branch = if self.is_machine { "" } else { " (`Branch`)" };
                [
                    format!("{subject} does not handle `{message}`, which `{peer}` may send here"),
                    format!(
                        "handle it: a choice that is received{branch} needs an option for every message that may come"
                    ),
                ]
            }
            Rule::InputNotReached | Rule::OutputNotReached if self.due.is_some() => [
                format!(
                    "{subject} {done} too early: {place} has not decided yet, and may go on with another message"
                ),
                "do this only after the message that decides".to_owned(),
            ],
            Rule::InputNotReached | Rule::OutputNotReached => [
                format!("{subject} {done}, but {place} of `{role}` has ended here"),
                "end here, or extend the protocol: is `continue` missing there?".to_owned(),
            ],
            Rule::OutputNotOffered => [
                format!(
                    "{subject} {done}, but here {place} has `{role}` do something else: it {due}"
                ),
                format!("{first} here, or extend the protocol"),
            ],
            Rule::PayloadDiffers => [
                format!("{subject} {done} with another payload than {place} has"),
                "use the label whose payload is that of the protocol".to_owned(),
            ],
            other => [format!("{subject} {done}, but {place} {due}: {other}"), other.to_string()],
        }
    }

    /// The end of a sentence like "it sends `Value` to `S`" for a simple cause, and the advice.
    fn told(&self, misfit: &Misfit, deed: &dyn Fn(TransitionId) -> ActionText) -> [String; 2] {
        let Self { place, role, .. } = self;
        let message = self.done.as_ref().map_or("", |done| &done.message);
        let names = |ids: &[TransitionId]| either(ids.iter().map(|id| deed(*id).message));
        let (here, instead) = match &self.due {
            Some(due) => {
                (due.told(), format!("{} here, or extend this branch of {place}", due.order()))
            }
            None => (
                "is done".to_owned(),
                format!("end here, or extend this branch of {place}: is `continue` missing there?"),
            ),
        };
        match misfit {
            Misfit::OtherPeer(id) => {
                let peer = deed(*id).peer;
                let help = format!("name `{peer}` as its peer, or change {place}");
                [format!(", but the peer of `{message}` is `{peer}`"), help]
            }
            Misfit::OtherPayload(id) => [
                format!(" with another payload than {place} has"),
                format!(
                    "the message there is `{}`: change the one or the other",
                    self.sup.transition(*id).action.message
                ),
            ],
            Misfit::OtherDirection(id) | Misfit::Unknown(Some(id)) => {
                let (ActionText { message, .. }, order) = (deed(*id), deed(*id).order());
                let help = match misfit {
                    Misfit::Unknown(_) => {
                        format!("did you mean `{message}`? Or is that misspelled in {place}?")
                    }
                    _ => format!("{order} instead, or turn the message round in {place}"),
                };
                [format!(", but {place} has `{role}` {order}"), help]
            }
            Misfit::Unknown(None) => [
                format!(", which {place} never has `{role}` do"),
                format!("take it out, or add it to {place}"),
            ],
            Misfit::NoOption(due) => {
                let ActionText { message, peer, .. } = one_of(due, deed);
                let help = format!("add an option for `{message}`, or take it out of {place}");
                [format!(", but never `{message}` from `{peer}`, which may come instead"), help]
            }
            Misfit::Missing(due, _) => {
                let order = one_of(due, deed).order();
                let then = if self.done.is_some() { ", but then" } else { "" };
                let help = format!("{order} here, or take that out of {place}");
                [format!("{then} does not {order}"), help]
            }
            Misfit::Elsewhere(_, due) => [
                ", but then goes on as the wrong part of itself".to_owned(),
                format!("go on behind it where it can {}", one_of(due, deed).order()),
            ],
            Misfit::Superfluous(why) => {
                let told = why.as_ref().map(|why| self.told(why, deed)[0].clone());
                let clause = match (why.as_deref(), told) {
                    // Alone, this sounds as if a later place would do.
                    (Some(Misfit::Undecided(..)), Some(told)) => format!(" once too often,{told}"),
                    (_, told) => told.unwrap_or_else(|| format!(" once more than {place}")),
                };
                [clause, format!("take it out here, or change {place}")]
            }
            Misfit::Undecided(options, after) => {
                let clause = match options.first().map(|id| deed(*id).direction) {
                    Some(Direction::Send) => format!(" before it has chosen {}", names(options)),
                    _ => format!(" before it knows whether {} comes", names(options)),
                };
                [clause, format!("do this only after {}", names(after))]
            }
            Misfit::OtherBranch(_) => {
                [format!(", which {place} has in another branch: here `{role}` {here}"), instead]
            }
            Misfit::Repeated(_) => {
                [format!(" once more than {place}: here `{role}` {here}"), instead]
            }
        }
    }

    /// The actions of `sup` that show the mistake, and their labels.
    pub(super) fn marks(&self) -> Vec<(TransitionId, String)> {
        if let Some((misfit, _)) = self.misfit {
            return self.marks_of(misfit);
        }
        let Self { place, role, sup, refusal, action, .. } = self;
        let due = refusal.sup.map(|id| verb(Some(sup.transition(id).action)));
        let after = action.and_then(|action| next(sup, refusal.sup_state, action));
        let mut marks = Vec::new();
        if let (Some(id), Some(due)) = (refusal.sup, due) {
            let label = match (refusal.rule, after) {
                (_, Some(_)) => format!("{place} has `{role}` {due} this first …"),
                (Rule::InputNotHandled, _) => {
                    format!("this may come, and `{role}` has to receive it")
                }
                (Rule::Forgotten, _) => format!("`{role}` has to {due} this"),
                _ => format!("here {place} has `{role}` {due} this"),
            };
            marks.push((id, label));
        }
        if let Some(id) = after.filter(|id| Some(*id) != refusal.sup) {
            let verb = verb(*action);
            let label = match due {
                Some(_) => format!("… and {verb} this afterwards"),
                None => format!("{place} has it {verb} this afterwards"),
            };
            marks.push((id, label));
        }
        marks
    }

    /// The actions of `sup` that show a simple cause, and their labels.
    fn marks_of(&self, misfit: &Misfit) -> Vec<(TransitionId, String)> {
        let Self { place, role, sup, action, .. } = self;
        let verb_of = |id: TransitionId| verb(Some(sup.transition(id).action));
        let here =
            |id: TransitionId| (id, format!("here {place} has `{role}` {} this", verb_of(id)));
        let due = self.refusal.sup.into_iter().map(here);
        match misfit {
            Misfit::Missing(due, _) | Misfit::NoOption(due) => {
                due.iter().copied().map(here).collect()
            }
            Misfit::OtherPeer(id)
            | Misfit::OtherDirection(id)
            | Misfit::OtherPayload(id)
            | Misfit::Unknown(Some(id)) => vec![here(*id)],
            Misfit::Elsewhere(..) | Misfit::Unknown(None) | Misfit::Superfluous(None) => {
                due.collect()
            }
            Misfit::Superfluous(Some(why)) => self.marks_of(why),
            Misfit::Undecided(options, after) => {
                let option = |id: &TransitionId| match after.contains(id) {
                    true => (*id, "only after this …".to_owned()),
                    false => (*id, "not after this".to_owned()),
                };
                let from = after.first().map(|id| sup.transition(*id).target);
                let then = from.and_then(|from| next(sup, from, (*action)?));
                let then = then.map(|id| (id, format!("… `{role}` has to {} this", verb(*action))));
                options.iter().map(option).chain(then).collect()
            }
            Misfit::OtherBranch(id) | Misfit::Repeated(id) => {
                let only = format!("`{role}` has to {} this here only", verb_of(*id));
                due.chain([(*id, only)]).collect()
            }
        }
    }
}
