//! The texts of the command for comparing two machines: the result of subtyping, and the run among
//! the peers. Actions have the names of the machines.

use rumpsteak_front::name::snake;
use rumpsteak_fsm::subtype::{Proof, Refusal, Rule, Side};
use rumpsteak_fsm::verify::together::Condition;
use rumpsteak_fsm::verify::{Accepted, Evidence};
use rumpsteak_fsm::{Action, Fsm, TransitionId, repair};

use super::beyond_subtyping;
use super::code::of_rule;
use super::refusal::without_run;
use super::reordering::{ActionText, BrokenRule};
use crate::words::{count, list};

/// The note about a run among the peers that decides the comparison.
pub fn decided_by_run(condition: Option<&Condition>) -> String {
    match condition {
        None => "whether it is a subtype is undecided, but this run decides it".to_owned(),
        Some(condition @ Condition::Undirected(_)) => beyond_subtyping(condition),
        Some(condition) => format!("it is a subtype, but {}", beyond_subtyping(condition)),
    }
}

/// A refusal, in words.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The rule in JSON, such as `input-not-handled`.
    pub rule: String,
    /// The code that `cargo rumpsteak explain` knows.
    pub code: &'static str,
    /// The mistake, with "it" for the subtype.
    pub sentence: String,
    /// The relevant actions and their labels: the action to blame, and then those that are due.
    pub marks: Vec<(Side, TransitionId, String)>,
    /// The actions before the mistake.
    pub notes: Vec<String>,
    /// The advice.
    pub help: String,
}

/// The reason why a subtype may not replace a supertype of this name.
pub fn explain(sub: &Fsm, (sup, name): (&Fsm, &str), refusal: &Refusal) -> Explanation {
    let mut refusal = refusal.clone();
    let misfit = repair::find((sub, &[]), sup, &mut refusal);
    // A message that the subtype never receives is a missing option.
    let is_missing = |id: TransitionId| {
        let action = sup.transition(id).action;
        sub.transitions().all(|own| own.action != action)
    };
    let rule = match refusal.rule {
        Rule::InputsFromOnePeer if refusal.sup.is_some_and(is_missing) => Rule::InputNotHandled,
        rule => rule,
    };
    let own = match rule {
        Rule::Forgotten if misfit.is_none() => refusal.cycle.first().copied(),
        Rule::InputNotHandled if misfit.is_none() => {
            let mut offered = sub.transitions_from(refusal.sub_state);
            refusal.sub.or_else(|| offered.next().map(|other| other.id))
        }
        _ => refusal.sub,
    };
    // If the subtype does nothing, its last action is shown.
    let last = || Some((*refusal.path.last()?, "nothing more is done behind this"));
    let told =
        |what, path: &[_]| (!path.is_empty()).then(|| format!("{what} {}", actions(sub, path)));
    let notes = [
        refusal.sup.is_none().then(|| "its peers may have finished then".to_owned()),
        told("this is after", &refusal.path),
        told("the loop is", &refusal.cycle),
    ];
    let deed =
        |action: &Action| ActionText::new(action, action.message.to_string(), action.peer.as_str());
    let due = |id: TransitionId| deed(sup.transition(id).action);
    let broken = BrokenRule {
        rule,
        misfit: misfit.as_ref().map(|misfit| (misfit, &due as &dyn Fn(TransitionId) -> ActionText)),
        subject: "it",
        sup,
        refusal: &refusal,
        action: refusal.sub.map(|id| sub.transition(id).action),
        place: &format!("`{name}`"),
        role: sup.role().as_str(),
        is_machine: true,
        comes_again: false,
        done: refusal.sub.map(|id| deed(sub.transition(id).action)),
        due: refusal.sup.map(due),
    };
    let own = own.map(|id| (id, "here")).or_else(last);
    let own = own.map(|(id, label)| (Side::Sub, id, label.to_owned()));
    let due = broken.marks().into_iter().map(|(id, label)| (Side::Sup, id, label));
    let [sentence, help] = broken.texts();
    Explanation {
        rule: snake(&format!("{rule:?}")).replace('_', "-"),
        code: of_rule(rule, refusal.sup.is_some(), misfit.as_ref()),
        sentence,
        marks: own.into_iter().chain(due).collect(),
        notes: notes.into_iter().flatten().collect(),
        help,
    }
}

/// `` `s!ready`, `t?value` ``: at most the last twelve.
fn actions(fsm: &Fsm, path: &[TransitionId]) -> String {
    const MOST: usize = 12;
    let (skipped, shown) = path.split_at(path.len().saturating_sub(MOST));
    let shown: Vec<String> =
        shown.iter().map(|&id| format!("`{}`", fsm.transition(id).action)).collect();
    let shown = shown.join(", ");
    match skipped.len() {
        0 => shown,
        more => format!("{} and {shown}", count(more, "other action")),
    }
}

/// The size of a proof, the number of actions that the subtype does early, and the peers that the
/// proof is about, if it is not about all peers.
pub fn proven(Accepted { proof, condition }: &Accepted) -> String {
    let among = condition.as_ref().map_or_else(String::new, |condition| {
        let why = beyond_subtyping(condition);
        format!("; proven for peers that are exactly these, because {why}")
    });
    let Some(proof) = proof else { return format!("explored with its peers{among}") };
    let ahead = match proof.anticipation {
        _ if proof.is_fair() => {
            "what is put off can always still be done, if choices are fair".to_owned()
        }
        Some(0) => "nothing is done early".to_owned(),
        Some(pending) => format!("at most {} pending", count(pending, "action")),
        None => "more and more actions may be pending".to_owned(),
    };
    format!("{} compared, {ahead}{among}", count(proof.situations, "situation"))
}

/// The peers that the fair relation is about, if only the two machines are known.
pub fn fair_among(proof: &Proof, sup: &Fsm) -> String {
    let Some(state) = proof.left().first() else { return String::new() };
    let actions = list(sup.transitions_from(*state).map(|found| found.action));
    format!("; among peers with which it cannot be kept for ever at {actions}")
}

/// The behaviour with these peers.
pub fn among_peers(evidence: &Evidence) -> String {
    without_run(evidence, "among these very peers")
}
