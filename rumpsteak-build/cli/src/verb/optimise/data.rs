//! The received messages that a sent one is made from, as the protocol declares them.
//!
//! It declares them by labels, `value(i32) from k to t; @"depends: value, ready"`, or by payloads
//! of one name, `value(x: i32)` on both sides.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_build::command::Notice;
use rumpsteak_fsm::{Action, Direction};
use rumpsteak_scribble::{Interaction, InteractionKind, MessageExpr, Projection, Span};

use crate::modules::Module;
use crate::terminal::Terminal;

/// What the actions of one role are made from.
#[derive(Debug, Default)]
pub(super) struct Data {
    known: BTreeMap<Action, Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The labels that it depends on.
    labels: BTreeSet<String>,
    /// The names of its payloads.
    payloads: BTreeSet<String>,
}

impl Data {
    /// Reads the interactions of a projection. A label that the role never receives is warned of.
    pub(super) fn new(module: &Module, projection: &Projection, terminal: &mut Terminal) -> Self {
        let mut interactions: BTreeMap<Span, &Interaction> = BTreeMap::new();
        for found in module.contents.modules.iter() {
            for protocol in &found.protocols {
                let all = protocol.body.interactions();
                interactions.extend(all.map(|(_, interaction)| (interaction.span, interaction)));
            }
        }
        let received: BTreeSet<&str> = projection
            .fsm
            .transitions()
            .filter(|transition| transition.action.direction == Direction::Receive)
            .map(|transition| transition.action.message.label.as_str())
            .collect();
        let mut data = Self::default();
        let mut warned = BTreeSet::new();
        for transition in projection.fsm.transitions() {
            let known = data.known.entry(transition.action.clone()).or_default();
            for span in projection.origins(transition.id) {
                let Some(interaction) = interactions.get(span) else {
                    continue;
                };
                if let InteractionKind::Message {
                    message: MessageExpr::Literal { payload, .. },
                    ..
                } = &interaction.kind
                {
                    let names = payload.iter().filter_map(|element| element.name.as_ref());
                    known.payloads.extend(names.map(ToString::to_string));
                }
                if transition.action.direction == Direction::Receive {
                    continue;
                }
                for annotation in &interaction.annotations {
                    let Some(labels) = annotation.as_str().trim().strip_prefix("depends:") else {
                        continue;
                    };
                    for label in labels.split(',').map(str::trim) {
                        if !received.contains(label) && warned.insert((annotation.span, label)) {
                            let role = projection.fsm.role();
                            let report = Notice::warning(format!(
                                "`{role}` receives no message `{label}` that this could depend on"
                            ));
                            terminal.report(&module.mark(report, annotation.span, ""));
                        }
                        known.labels.insert(label.to_owned());
                    }
                }
            }
        }
        data
    }

    /// A send with a payload of which the protocol does not say what it is made from, if the role
    /// receives payloads at all.
    pub(super) fn undeclared(&self) -> Option<&Action> {
        let carries = |(action, _): &(&Action, &Known)| !action.message.payload.is_empty();
        let mut carrying = self.known.iter().filter(carries);
        carrying.clone().find(|(action, _)| action.direction == Direction::Receive)?;
        let (action, _) = carrying.find(|(action, known)| {
            action.direction == Direction::Send
                && known.labels.is_empty()
                && known.payloads.is_empty()
        })?;
        Some(action)
    }

    /// Whether what is sent is made from what is received.
    pub(super) fn depends(&self, send: &Action, receive: &Action) -> bool {
        let (Some(sent), Some(received)) = (self.known.get(send), self.known.get(receive)) else {
            return false;
        };
        sent.labels.contains(receive.message.label.as_str())
            || !sent.payloads.is_disjoint(&received.payloads)
    }
}
