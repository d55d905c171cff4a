//! Diagnostics: codes, places and all wording.
//!
//! There is one page for each series of codes: `S01..` in `syntax_errors`, `S02..` in
//! `name_errors`, `S03..` in `global_errors`, `S04..` in `projection_errors`.

/// A table of errors. Each line defines a function that returns one:
///
/// ```text
/// name(parameter: Type) = Code at place, "message", "label"
///     [other_place => "its label"]
///     help "advice";
/// ```
///
/// `suggest name, known;` is the advice for an unknown name.
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $type:ty),*) = $code:ident at $place:expr,
        $message:literal, $label:literal $([$other:expr => $there:literal])* $(help $help:literal)? $(suggest $unknown:expr, $known:expr)?;)+
    ) => {
        $($(#[$doc])*
        pub(crate) fn $name($($parameter: $type),*) -> Diagnostic {
            Diagnostic::new(Code::$code, format!($message), $place, format!($label))
                $(.with($other, format!($there)))*
                $(.help(format!($help)))?
                $(.maybe_help(suggest($unknown, $known)))?
        })+
    };
}

mod code;
pub(crate) mod diagnostic;
pub(crate) mod global_errors;
pub(crate) mod name_errors;
pub(crate) mod projection_errors;
pub(crate) mod rust_types;
mod similar;
mod span;
pub(crate) mod syntax_errors;

pub use self::code::Code;
pub use self::diagnostic::Diagnostic;
pub(crate) use self::diagnostic::{Found, all};
pub use self::similar::similar;
pub use self::span::{Name, SourceId, Span};
pub(crate) use self::syntax_errors::Construct;
