//! The messages of a program, each known by a number.

use std::sync::Arc;

use rumpsteak_fsm::{Label, Message, Sort};

use crate::{
    index::{IndexSet, index},
    syntax::interner::Interner,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LabelId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SortId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MessageId(pub(crate) u32);

/// Every message that occurs, once, and the texts of their labels and sorts.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    texts: Interner,
    messages: IndexSet<(LabelId, Vec<SortId>)>,
}

impl Messages {
    /// The number of a label.
    pub(crate) fn label_id(&mut self, text: &Arc<str>) -> LabelId {
        LabelId(self.texts.number(text, || Arc::clone(text)))
    }

    /// The number of a sort.
    pub(crate) fn sort_id(&mut self, text: &Arc<str>) -> SortId {
        SortId(self.texts.number(text, || Arc::clone(text)))
    }

    /// The number of a message.
    pub(crate) fn message_id(&mut self, label: LabelId, payload: Vec<SortId>) -> MessageId {
        MessageId(index(self.messages.insert_full((label, payload)).0))
    }

    /// The label of a message; equal numbers are equal labels.
    pub(crate) fn label(&self, message: MessageId) -> LabelId {
        self.messages[message.0 as usize].0
    }

    pub(crate) fn label_text(&self, label: LabelId) -> &str {
        self.texts.text(label.0)
    }

    /// The message as a value.
    pub(crate) fn value(&self, message: MessageId) -> Message {
        let (label, payload) = &self.messages[message.0 as usize];
        let sort = |sort: &SortId| Sort::from(&**self.texts.text(sort.0));
        Message {
            label: Label::from(self.label_text(*label)),
            payload: payload.iter().map(sort).collect(),
        }
    }
}
