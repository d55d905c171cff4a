//! Messages and their labels.
//!
//! A role exchanges one *message type* with all its peers, usually an enum with one variant per
//! *label*. Each label is a type of its own (PPoPP'22 §2.1, Listing 2): sessions name labels,
//! channels carry messages. Payloads are moved and never cloned.

use crate::seal::{ByMacro, Label};

/// A message that knows its label. The macro of a module implements it.
pub trait Labelled {
    /// The name of the message's label in the protocol.
    fn label(&self) -> &'static str {
        self.labelled().name
    }

    /// The names of all labels in the order of their tags, one per line; `struct name` for a
    /// message type that is a struct.
    #[doc(hidden)]
    const LABELS: &'static str = "";

    #[doc(hidden)]
    fn labelled(&self) -> Label;
}

/// A message type that can carry the label `L`. The macro of a module implements it for each label.
#[diagnostic::on_unimplemented(
    message = "the message type `{Self}` has no label `{L}`",
    label = "`{L}` is not a label of `{Self}`",
    note = "its labels are the types in its variants; send the label as a value, with its payload if it has one"
)]
pub trait Message<L>: Labelled + Sized {
    /// The name of the label in the protocol.
    ///
    /// This is the name of the variant, or the text in its `#[label("…")]`. Names are compared with
    /// the protocol's names ignoring case and `_`.
    const NAME: &'static str = Self::LABEL.0.name;

    #[doc(hidden)]
    const LABEL: ByMacro<Label>;

    /// The members of a family to whom it goes, or from whom it comes.
    #[doc(hidden)]
    type Members;

    /// Wraps a label.
    fn upcast(label: L) -> Self;

    /// Unwraps the label `L`, or returns the message if it carries another label.
    fn downcast(self) -> Result<L, Self>;
}
