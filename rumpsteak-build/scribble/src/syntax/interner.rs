//! Texts, each known by a number.

use std::sync::Arc;

use crate::index::{IndexSet, index};

/// Texts, each once.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    texts: IndexSet<Arc<str>>,
}

impl Interner {
    /// The number of `text`. `share` makes the text that is kept, if it is a new one.
    pub(crate) fn number(&mut self, text: &str, share: impl FnOnce() -> Arc<str>) -> u32 {
        let known = self.texts.get_index_of(text);
        index(known.unwrap_or_else(|| self.texts.insert_full(share()).0))
    }

    /// The text with a number that [`number`](Self::number) gave.
    pub(crate) fn text(&self, number: u32) -> &Arc<str> {
        &self.texts[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut texts = Interner::default();
        for (number, text) in [(0, "a"), (1, "b"), (0, "a"), (2, "")] {
            assert_eq!(texts.number(text, || text.into()), number);
            assert_eq!(&**texts.text(number), text);
        }
    }
}
