//! The stable codes of all mistakes.
//!
//! A code that is no longer used is never given to another mistake.

use std::fmt;

macro_rules! codes {
    ($($name:ident = $code:literal,)+) => {
        /// The kind of mistake of a [`Diagnostic`](crate::Diagnostic). Its
        /// [`Display`](fmt::Display) is the stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = include_str!(concat!("explain/", $code, ".md"))] $name,)+
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable code, such as `S0203`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// Returns true for a mistake in tokens or grammar: the text cannot be judged.
            pub fn is_syntax(self) -> bool {
                self.as_str().starts_with("S01")
            }

            /// Returns true if a limit was met: nothing is decided.
            pub fn is_limit(self) -> bool {
                matches!(
                    self,
                    Self::TooLarge
                        | Self::ProjectionTooLarge
                        | Self::UndecidedTogether
                        | Self::UndecidedFamily
                )
            }

            /// An explanation of the mistake in Markdown. It has a protocol that is refused for the
            /// mistake and, if possible, the corrected protocol.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("explain/", $code, ".md")),)+
                }
            }
        }
    };
}

// A variant is documented by its explanation, `explain/S….md`.
codes! {
    UnknownCharacters = "S0101",
    OpenComment = "S0102",
    OpenString = "S0103",
    Unexpected = "S0104",
    OpenBlock = "S0105",
    TextTooLong = "S0106",
    LateModule = "S0107",
    Unsupported = "S0108",

    Duplicate = "S0201",
    UnknownRole = "S0202",
    UnknownProtocol = "S0203",
    UnknownRecursion = "S0204",
    UnknownMessage = "S0205",
    ArgumentCount = "S0206",
    RepeatedRole = "S0207",
    ArgumentKind = "S0208",
    SelfMessage = "S0209",
    RepeatedReceiver = "S0210",
    MissingModule = "S0211",
    SelfImport = "S0212",
    OtherModule = "S0213",
    LeavesBlock = "S0214",
    RustType = "S0215",
    UnknownAnnotation = "S0216",
    UnknownDependency = "S0217",
    Family = "S0218",

    Unguarded = "S0301",
    Unreachable = "S0302",
    NestedRecursion = "S0303",
    ChoiceSubject = "S0304",
    NoSubject = "S0305",
    EndOrContinue = "S0306",
    PayloadClash = "S0307",
    TooLarge = "S0308",
    BlockInChoice = "S0309",
    SharedLabel = "S0310",
    OpenInterrupt = "S0311",
    Unconnected = "S0313",
    ConnectedTwice = "S0314",
    BlockInExplicit = "S0315",
    DoneOnce = "S0316",

    SendUnknown = "S0401",
    Overtaken = "S0402",
    SendOrReceive = "S0403",
    NeverTold = "S0404",
    PayloadUnknown = "S0405",
    ProjectionTooLarge = "S0406",
    NoSuchRole = "S0407",
    BlockUnknown = "S0408",
    UnsafeTogether = "S0409",
    UndecidedTogether = "S0410",
    UndecidedFamily = "S0411",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
