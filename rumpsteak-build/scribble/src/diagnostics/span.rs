//! Places in source texts, and names with their places.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Which source text a [`Span`] is in: [`SourceId::ROOT`] for the module that was asked for, others
/// for the modules that it imports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u16);

impl SourceId {
    /// The module that was asked for.
    pub const ROOT: Self = Self(0);

    /// The position among the sources, the root being 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The source at this position; `None` beyond 65,535.
    pub(crate) fn from_index(index: usize) -> Option<Self> {
        u16::try_from(index).ok().map(Self)
    }
}

/// A range of bytes of one source text. Both ends are character boundaries inside the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    source: SourceId,
    start: u32,
    end: u32,
}

impl Span {
    pub(crate) fn new(source: SourceId, start: u32, end: u32) -> Self {
        Self { source, start, end }
    }

    /// Which text.
    pub fn source(self) -> SourceId {
        self.source
    }

    /// The first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The byte behind the last one.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// `start..end`, to slice the text with.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    pub(crate) fn beginning(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// From the start of `self` to the end of `last`, which stands behind it in the same text.
    pub(crate) fn to(self, last: Self) -> Self {
        let end = last.end.max(self.end);
        Self { end, ..self }
    }
}

/// `12..15`, or `2:12..15` in an imported source.
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source != SourceId::ROOT {
            write!(f, "{}:", self.source.0)?;
        }
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its text, that of a qualified name with the dots: `shop.Base.Order`.
    pub text: Arc<str>,
    /// Where.
    pub span: Span,
}

impl Name {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
