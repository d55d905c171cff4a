//! The data dependencies of a role: the received messages that a sent message is made from.
//!
//! The protocol declares them by labels, `value(i32) from k to t; @"depends: value, ready"`, or by
//! payloads of one name, `value(x: i32)` on both sides. If it declares nothing, or labels that the
//! role never receives, then a payload is assumed to be made from all messages that were received
//! before it in the round, provided that one of them has a payload.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_fsm::{Action, Fsm};
use rumpsteak_optimise::{Options, received_before};
use rumpsteak_scribble::{Interaction, InteractionKind, MessageExpr, Projection, Span};

use crate::modules::Module;

#[derive(Debug, Default)]
pub(super) struct Data {
    known: BTreeMap<Action, Known>,
    /// The sends without declared dependencies, and the messages that they may depend on.
    assumed: BTreeMap<Action, BTreeSet<Action>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The labels that it depends on, if they are declared.
    labels: Option<BTreeSet<String>>,
    /// The names of its payloads.
    payloads: BTreeSet<String>,
}

impl Data {
    /// Reads the interactions of a projection. With `independent`, nothing is assumed.
    pub(super) fn new(module: &Module, projection: &Projection, independent: bool) -> Self {
        let protocols = module.contents.modules.iter().flat_map(|found| &found.protocols);
        let all = protocols.flat_map(|protocol| protocol.body.interactions());
        let interactions: BTreeMap<Span, &Interaction> =
            all.map(|(_, interaction)| (interaction.span, interaction)).collect();
        let actions = projection.fsm.transitions().map(|transition| transition.action);
        let received = actions.filter(|action| !action.is_send());
        let received: BTreeSet<&str> =
            received.map(|action| action.message.label.as_str()).collect();
        let mut data = Self::default();
        for transition in projection.fsm.transitions() {
            let known = data.known.entry(transition.action.clone()).or_default();
            for span in projection.origins(transition.id) {
                let Some(interaction) = interactions.get(span) else { continue };
                if let InteractionKind::Message { message, .. } = &interaction.kind
                    && let MessageExpr::Literal { payload, .. } = message
                {
                    let names = payload.iter().filter_map(|element| element.name.as_ref());
                    known.payloads.extend(names.map(ToString::to_string));
                }
                if transition.action.is_send()
                    && let Some(declared) = interaction.dependencies()
                    && declared.iter().all(|(_, label)| received.contains(label))
                {
                    let labels = declared.into_iter().map(|(_, label)| label.to_owned());
                    known.labels.get_or_insert_default().extend(labels);
                }
            }
        }
        if !independent {
            data.assume(&projection.fsm);
        }
        data
    }

    fn assume(&mut self, fsm: &Fsm) {
        // Other orders of a larger machine are not tried.
        if fsm.len() > Options::default().states {
            return;
        }
        let action = |id| fsm.transition(id).action;
        for (send, before) in received_before(fsm) {
            let send = action(send);
            let before: BTreeSet<&Action> = before.into_iter().map(action).collect();
            let carries = |action: &&Action| !action.message.payload.is_empty();
            if carries(&send) && before.iter().any(carries) && !self.is_declared(send) {
                self.assumed.entry(send.clone()).or_default().extend(before.into_iter().cloned());
            }
        }
    }

    /// Returns true if the protocol says what a send is made from: by labels, or by a payload of
    /// the same name as one that is received.
    fn is_declared(&self, send: &Action) -> bool {
        let Some(sent) = self.known.get(send) else { return false };
        let mut received = self.known.iter().filter(|(action, _)| !action.is_send());
        sent.labels.is_some()
            || received.any(|(_, received)| !sent.payloads.is_disjoint(&received.payloads))
    }

    /// The sends whose dependencies are assumed.
    pub(super) fn assumed(&self) -> Vec<&Action> {
        self.assumed.keys().collect()
    }

    /// The label of a received payload that a send with assumed dependencies may be made from.
    pub(super) fn source(&self, send: &Action) -> Option<&str> {
        let carries = |received: &&Action| !received.message.payload.is_empty();
        Some(self.assumed.get(send)?.iter().find(carries)?.message.label.as_str())
    }

    /// Returns true if a send is made from a received message. Of the sends that are `free`,
    /// nothing is assumed.
    pub(super) fn depends(&self, send: &Action, receive: &Action, free: &[&Action]) -> bool {
        let (Some(sent), Some(received)) = (self.known.get(send), self.known.get(receive)) else {
            return false;
        };
        let labels = sent.labels.as_ref();
        labels.is_some_and(|labels| labels.contains(receive.message.label.as_str()))
            || !sent.payloads.is_disjoint(&received.payloads)
            || !free.contains(&send)
                && self.assumed.get(send).is_some_and(|assumed| assumed.contains(receive))
    }
}
