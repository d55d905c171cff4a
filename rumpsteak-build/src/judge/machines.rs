//! Refusals of sessions that are generated from machines beside a `.scr` file, in the words of the
//! machine, and with an error at one of its lines.

use std::sync::Arc;

use rumpsteak_fsm::Fsm;

use crate::codegen::machines::Machine;
use crate::fault::{Cause, Hint, Subject};
use crate::judge::subtype::{self, Blamed};

pub(super) fn subject(machine: &Machine) -> Subject {
    let (roles, labels) = Default::default();
    Subject { name: machine.text.name.clone(), role: machine.role, roles, labels }
}

/// A refusal with the place to blame in the text of the machine. It may be the refusal of the
/// `session` that is generated from the machine.
pub(super) fn marked(mut cause: Cause, machine: &Machine, session: Option<&Fsm>) -> Cause {
    let Machine { fsm, text, actions, .. } = machine;
    if let Cause::Refused(refusal) = &mut cause {
        let judged = session.unwrap_or(fsm);
        let own = refusal.action.as_ref().map(|(id, _)| *id);
        let blame = || subtype::blame(judged, &refusal.refused);
        let blamed = own.or_else(|| match blame().unwrap_or(Blamed::State(judged.initial())) {
            Blamed::Action(id) | Blamed::Behind(id) => Some(id),
            Blamed::State(state) => Some(judged.transitions_from(state).next()?.id),
        });
        let same = |id| {
            let mut transitions = fsm.transitions();
            transitions.find(|own| own.action == judged.transition(id).action).map(|own| own.id)
        };
        let blamed = if session.is_some() { blamed.and_then(same) } else { blamed };
        let span = blamed.and_then(|blamed| actions.get(blamed.index()));
        refusal.machine = span.map(|span| (Arc::clone(text), span.clone()));
        let found = refusal.refused.refusal.as_ref();
        let is_first = found.is_some_and(|found| found.path.is_empty());
        refusal.hint = (is_first && text.name.ends_with(".dot")).then_some(Hint::Begins);
    }
    cause
}
