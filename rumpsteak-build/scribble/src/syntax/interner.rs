//! Texts, each known by a number.

use std::sync::Arc;

use rumpsteak_fsm::hashed::{self, Index};

/// Texts, each once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    index: Index,
    texts: Vec<Arc<str>>,
}

impl Texts {
    /// The position of `text`. `share` makes the text that is kept, if it is a new one.
    pub(crate) fn position(&mut self, text: &str, share: impl FnOnce() -> Arc<str>) -> u32 {
        let hash = hashed::hash(text);
        let texts = self.texts.as_slice();
        if let Some(found) = self.index.find(hash, |at| *texts[at as usize] == *text) {
            return found;
        }
        let position = crate::names::resolve::index(self.texts.len());
        self.texts.push(share());
        self.index.add(hash, position);
        position
    }

    /// The text at a position.
    pub(crate) fn get(&self, position: u32) -> &Arc<str> {
        &self.texts[position as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_position() {
        let mut texts = Texts::default();
        let names: Vec<String> = (0..10_000).map(|number| format!("m{number}")).collect();
        for _ in 0..2 {
            for (position, name) in (0..).zip(&names) {
                assert_eq!(texts.position(name, || name.as_str().into()), position);
                assert_eq!(&**texts.get(position), name);
            }
        }
        assert_eq!(texts.position("", || "".into()), 10_000);
    }
}
