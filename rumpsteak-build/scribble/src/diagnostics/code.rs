//! The stable codes of all mistakes.
//!
//! A code that is no longer used is never given to another mistake.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// Which mistake a [`Diagnostic`](crate::Diagnostic) is about. Its
        /// [`Display`](fmt::Display) is the stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
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

            /// Whether the mistake is one of tokens and grammar, so that the text cannot be judged.
            pub fn is_syntax(self) -> bool {
                self.as_str().starts_with("S01")
            }

            /// Whether a limit was met, so that nothing is decided.
            pub fn is_limit(self) -> bool {
                matches!(self, Self::TooLarge | Self::ProjectionTooLarge | Self::UndecidedTogether)
            }

            /// What is behind the mistake, in Markdown, with a protocol that is refused for it and,
            /// where one can be given, the same one mended.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("explain/", $code, ".md")),)+
                }
            }
        }
    };
}

codes! {
    /// Characters that belong to no token.
    UnknownCharacters = "S0101",
    /// A comment without an end.
    OpenComment = "S0102",
    /// A string without a closing quote on its line.
    OpenString = "S0103",
    /// A token where the grammar has no place for it.
    Unexpected = "S0104",
    /// A `{` without its `}`.
    OpenBlock = "S0105",
    /// A text of more than 64 MiB.
    TextTooLong = "S0106",
    /// A `module` line that is not the first, or not the only one.
    LateModule = "S0107",
    /// A construct that is understood and not supported.
    Unsupported = "S0108",

    /// Two protocols, declarations, roles or parameters with one name.
    Duplicate = "S0201",
    /// A role that the protocol does not declare.
    UnknownRole = "S0202",
    /// A protocol that does not exist.
    UnknownProtocol = "S0203",
    /// A `continue` outside of the recursion that it names.
    UnknownRecursion = "S0204",
    /// A message name that is neither declared nor a parameter, in a module that declares its
    /// messages.
    UnknownMessage = "S0205",
    /// `do` with too few or too many roles, or messages and sorts.
    ArgumentCount = "S0206",
    /// `do` with one role in two places.
    RepeatedRole = "S0207",
    /// `do` with a message for a sort, or a sort for a message.
    ArgumentKind = "S0208",
    /// A message from a role to itself.
    SelfMessage = "S0209",
    /// A message to one role twice.
    RepeatedReceiver = "S0210",
    /// A module that cannot be found.
    MissingModule = "S0211",
    /// A module that imports itself.
    SelfImport = "S0212",
    /// A module that calls itself by another name than the one it is imported by, or than its
    /// file's. A warning where only the folder differs.
    OtherModule = "S0213",
    /// A `continue` in a `par` or `interruptible`, of a recursion around it.
    LeavesBlock = "S0214",
    /// A Rust type where the name of a sort should be.
    RustType = "S0215",
    /// An annotation that is nearly called as one with a meaning, or lacks its colon. A warning.
    UnknownAnnotation = "S0216",
    /// An annotation that names a message which the role does not receive. A warning.
    UnknownDependency = "S0217",

    /// A recursion that can repeat without a message.
    Unguarded = "S0301",
    /// Interactions that no run reaches.
    Unreachable = "S0302",
    /// A recursive call with something behind it.
    NestedRecursion = "S0303",
    /// A choice whose branch does not begin with a message of the role that chooses.
    ChoiceSubject = "S0304",
    /// Different roles would have to decide how the protocol goes on. A warning where one decides,
    /// which is not the one that `choice at` names.
    NoSubject = "S0305",
    /// The protocol may be over or go on, and no message says which.
    EndOrContinue = "S0306",
    /// One label with different payloads in one place.
    PayloadClash = "S0307",
    /// A protocol with more states than the limit.
    TooLarge = "S0308",
    /// A branch of a choice that begins with a `par` or `interruptible`.
    BlockInChoice = "S0309",
    /// A label of a `par` or `interruptible` that could be taken for another one.
    SharedLabel = "S0310",
    /// An interrupter that does not tell the others that it will not interrupt any more.
    OpenInterrupt = "S0311",
    /// A message, or the end of a connection, between roles that are not connected.
    Unconnected = "S0313",
    /// A connection that is there already.
    ConnectedTwice = "S0314",
    /// A `par` or `interruptible` in a protocol that connects its roles.
    BlockInExplicit = "S0315",

    /// A role must send without knowing the branch.
    SendUnknown = "S0401",
    /// A role cannot tell a message from one that overtakes it.
    Overtaken = "S0402",
    /// A role may have to send and to receive at once.
    SendOrReceive = "S0403",
    /// A role may wait for ever.
    NeverTold = "S0404",
    /// A role cannot tell payloads apart, since their labels are equal.
    PayloadUnknown = "S0405",
    /// A projection that costs more than the limit.
    ProjectionTooLarge = "S0406",
    /// A role that the protocol does not have.
    NoSuchRole = "S0407",
    /// A role does not know whether a `par` or `interruptible` begins.
    BlockUnknown = "S0408",
    /// The roles together go wrong.
    UnsafeTogether = "S0409",
    /// It was not found out whether the roles together go wrong.
    UndecidedTogether = "S0410",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
