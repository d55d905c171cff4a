//! The messages of a program, each known by a number.

use std::sync::Arc;

use rumpsteak_fsm::{Label, Message, Sort};

use crate::index::{IndexSet, index, set_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LabelId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SortId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MessageId(pub(crate) u32);

/// Every message that occurs, once, and the texts of their labels and sorts.
#[derive(Debug)]
pub(crate) struct Messages {
    texts: IndexSet<Arc<str>>,
    messages: IndexSet<(LabelId, Vec<SortId>)>,
}

impl Messages {
    /// With space for so many messages.
    pub(crate) fn with_capacity(messages: usize) -> Self {
        Self {
            texts: set_of(messages),
            messages: set_of(messages),
        }
    }

    /// The number of a label.
    pub(crate) fn label_id(&mut self, text: &Arc<str>) -> LabelId {
        LabelId(index(self.texts.insert_full(Arc::clone(text)).0))
    }

    /// The number of a sort.
    pub(crate) fn sort_id(&mut self, text: &Arc<str>) -> SortId {
        SortId(index(self.texts.insert_full(Arc::clone(text)).0))
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
        &self.texts[label.0 as usize]
    }

    /// The message as a value.
    pub(crate) fn value(&self, message: MessageId) -> Message {
        let (label, payload) = &self.messages[message.0 as usize];
        let sort = |sort: &SortId| Sort::from(&*self.texts[sort.0 as usize]);
        Message {
            label: Label::from(self.label_text(*label)),
            payload: payload.iter().map(sort).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut messages = Messages::with_capacity(0);
        for (number, text) in [(0, "a"), (1, "b"), (0, "a"), (2, "")] {
            assert_eq!(messages.label_id(&text.into()), LabelId(number));
            assert_eq!(messages.label_text(LabelId(number)), text);
        }
    }
}
