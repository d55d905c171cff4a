//! Places in source texts, and names with their places.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The source text of a [`Span`]: [`SourceId::ROOT`] for the loaded module, others for its imports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u16);

impl SourceId {
    /// The loaded module.
    pub const ROOT: Self = Self(0);

    /// The position among the sources; the root is 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The source at this position; `None` above 65,535.
    pub(crate) fn from_index(index: usize) -> Option<Self> {
        u16::try_from(index).ok().map(Self)
    }
}

/// A range of bytes of one source text. Both ends are character boundaries inside the text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    source: SourceId,
    start: u32,
    end: u32,
}

impl Span {
    pub(crate) fn new(source: SourceId, start: u32, end: u32) -> Self {
        Self { source, start, end }
    }

    /// The source text.
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

    /// `start..end`, for slicing the text.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    pub(crate) fn beginning(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// From the start of `self` to the end of `last`, which follows it in the same text.
    pub(crate) fn to(self, last: Self) -> Self {
        Self { end: last.end.max(self.end), ..self }
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

/// A name in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its text; a qualified name has dots: `shop.Base.Order`.
    pub text: Arc<str>,
    /// Its place.
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
