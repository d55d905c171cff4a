//! Every error: its code, and all wording.
//!
//! One function per mistake, so that the texts can be read, compared and changed on one page. Codes are stable:
//! a code that is no longer used is never given to another mistake. `S01..` are about tokens and grammar,
//! `S02..` about names, `S03..` about the protocol as a whole, `S04..` about the projection onto one role.

use std::{error::Error, fmt, str::FromStr};

use crate::{diagnostics::diagnostic::Diagnostic, diagnostics::span::Span};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// Which mistake a [`Diagnostic`] is about. [`Display`](fmt::Display) gives the stable code.
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

            /// What is behind the mistake, in Markdown, with a protocol that is refused for it and, where one can
            /// be given, the same one mended.
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
    /// A message name that is neither declared nor a parameter, in a module that declares its messages.
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
    /// A module that calls itself by another name than the one it is imported by, or than its file's.
    OtherModule = "S0213",

    /// A recursion that can repeat without a message.
    Unguarded = "S0301",
    /// Interactions that no run reaches.
    Unreachable = "S0302",
    /// A recursive call with something behind it.
    NestedRecursion = "S0303",
    /// A choice whose branch does not begin with a message of the role that chooses.
    ChoiceSubject = "S0304",
    /// Different roles would have to decide how the protocol goes on.
    NoSubject = "S0305",
    /// The protocol may be over or go on, and no message says which.
    EndOrContinue = "S0306",
    /// One label with different payloads in one place.
    PayloadClash = "S0307",
    /// A protocol with more states than the limit.
    TooLarge = "S0308",

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
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads `S0203`, in either case.
impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let found = Self::ALL
            .iter()
            .find(|code| code.as_str().eq_ignore_ascii_case(text));
        found.copied().ok_or(UnknownCode)
    }
}

/// A text that is not the code of any mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = Code::ALL.last().map_or("", |code| code.as_str());
        write!(f, "there is no such code; codes are written `{last}`")
    }
}

impl Error for UnknownCode {}

/// A construct of the language that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Construct {
    Connection,
    Explicit,
    Import,
    Interruptible,
    LocalProtocol,
    NestedProtocol,
    Par,
    RecursionParameters,
    Refinement,
    Wrap,
}

// Tokens and grammar.

pub(crate) fn unknown_characters(span: Span, text: &str) -> Diagnostic {
    let mut shown: String = text.chars().take(8).flat_map(char::escape_debug).collect();
    if text.chars().nth(8).is_some() {
        shown.push('…');
    }
    Diagnostic::new(
        Code::UnknownCharacters,
        format!("`{shown}` has no meaning here"),
        span,
        "not a part of any token",
    )
    .help("remove it; comments are written `// …` or `/* … */`")
}

pub(crate) fn open_comment(span: Span, end: &str) -> Diagnostic {
    Diagnostic::new(
        Code::OpenComment,
        "the comment has no end",
        span,
        "it starts here and takes the rest of the file",
    )
    .help(format!("close it with `{end}`"))
}

pub(crate) fn open_string(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::OpenString,
        "the string has no closing quote",
        span,
        "it starts here and must end on this line",
    )
    .help("close it with `\"`")
}

pub(crate) fn unexpected(
    span: Span,
    found: Option<&str>,
    expected: &str,
    before: Option<Span>,
) -> Diagnostic {
    let (message, label) = match found {
        Some(found) => {
            let mut shown: String = found
                .chars()
                .take(24)
                .flat_map(char::escape_debug)
                .collect();
            if found.chars().nth(24).is_some() {
                shown.push('…');
            }
            (
                format!("expected {expected}, found `{shown}`"),
                format!("expected {expected}"),
            )
        }
        None => (
            format!("expected {expected}, found the end of the file"),
            format!("expected {expected}"),
        ),
    };
    let diagnostic = Diagnostic::new(Code::Unexpected, message, span, label);
    match (expected, before) {
        ("`;`" | "`)`" | "`,` or `)`", Some(before)) => {
            diagnostic.with(before, format!("{expected} may be missing behind this"))
        }
        _ => diagnostic,
    }
}

pub(crate) fn open_block(span: Span, brace: Span) -> Diagnostic {
    Diagnostic::new(
        Code::OpenBlock,
        "a block is not closed",
        span,
        "expected `}` before this",
    )
    .with(brace, "this brace is not closed")
    .help("add the missing `}`")
}

pub(crate) fn text_too_long(span: Span, mebibytes: usize) -> Diagnostic {
    Diagnostic::new(
        Code::TextTooLong,
        format!("the file has more than {mebibytes} MiB"),
        span,
        "not read any further",
    )
    .help("is it a protocol? If so, split it over several files")
}

pub(crate) fn late_module(span: Span, first: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::LateModule,
        "the `module` line must be the first and the only one",
        span,
        "not the first declaration",
    );
    match first {
        Some(first) => diagnostic
            .with(first, "the module is named here already")
            .help("remove one of the two"),
        None => diagnostic.help("move it to the top of the file, or remove it: it is optional"),
    }
}

pub(crate) fn unsupported(construct: Construct, span: Span) -> Diagnostic {
    let (what, way_out) = match construct {
        Construct::Connection => (
            "`connect` and `disconnect`",
            "remove them: all roles are connected from the start",
        ),
        Construct::Explicit => (
            "`explicit` protocols",
            "remove `explicit`: all roles are connected from the start",
        ),
        Construct::Import => (
            "imports, in a text that is read alone,",
            "load the text with `Modules::load`, which follows imports",
        ),
        Construct::Interruptible => (
            "`interruptible` blocks",
            "offer the interrupt as a branch of each `choice` in the block",
        ),
        Construct::LocalProtocol => (
            "`local` protocols",
            "write the `global protocol`: local protocols are computed from it",
        ),
        Construct::NestedProtocol => (
            "`nested` protocols and `calls`",
            "use an `aux global protocol` and `do`",
        ),
        Construct::Par => (
            "`par` and `unordered` blocks",
            "write one after the other: interactions of different roles overlap",
        ),
        Construct::RecursionParameters => ("recursion parameters", "remove the brackets"),
        Construct::Refinement => (
            "refinements of payloads",
            "remove the condition, and check the value in the process",
        ),
        Construct::Wrap => (
            "`wrap`",
            "remove it: transports are chosen where the roles are connected",
        ),
    };
    Diagnostic::new(
        Code::Unsupported,
        format!("{what} are not supported").replace("`wrap` are", "`wrap` is"),
        span,
        "not supported",
    )
    .help(way_out)
}

// Names.

/// "did you mean" for a name that is not known, and else what there is.
fn suggest(name: &str, known: &mut dyn Iterator<Item = &str>) -> Option<String> {
    let known: Vec<&str> = known.collect();
    if let Some(similar) = crate::diagnostics::similar::similar(name, &known) {
        return Some(format!("did you mean `{similar}`?"));
    }
    let known: Vec<_> = known
        .iter()
        .take(7)
        .map(|name| format!("`{name}`"))
        .collect();
    match &*known {
        [] => None,
        [one] => Some(format!("there is {one}")),
        [first @ .., last] if known.len() < 7 => {
            Some(format!("there are {} and {last}", first.join(", ")))
        }
        _ => None,
    }
}

pub(crate) fn duplicate(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::Duplicate,
        format!("the {what} `{name}` is declared twice"),
        span,
        "declared again",
    )
    .with(first, "first declared here")
    .help("rename one of the two, or remove it")
}

pub(crate) fn module_clash(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::Duplicate,
        format!("two modules are visible as `{name}`"),
        span,
        "the second one",
    )
    .with(first, "the first one")
    .help("give the import another alias, or remove it")
}

pub(crate) fn unknown_role(
    name: &str,
    span: Span,
    protocol: &str,
    declared: Span,
    known: &mut dyn Iterator<Item = &str>,
) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownRole,
        format!("the protocol `{protocol}` has no role `{name}`"),
        span,
        "no such role",
    )
    .with(declared, "the protocol is declared here")
    .maybe_help(suggest(name, known))
}

pub(crate) fn unknown_protocol(
    name: &str,
    span: Span,
    known: &mut dyn Iterator<Item = &str>,
) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownProtocol,
        format!("there is no protocol `{name}`"),
        span,
        "no such protocol",
    )
    .maybe_help(suggest(name, known))
}

pub(crate) fn unknown_recursion(
    name: &str,
    span: Span,
    known: &mut dyn Iterator<Item = &str>,
) -> Diagnostic {
    let mut known = known.peekable();
    let none = known.peek().is_none();
    Diagnostic::new(
        Code::UnknownRecursion,
        format!("`continue {name}` is not inside of a `rec {name}`"),
        span,
        "no recursion of this name around it",
    )
    .maybe_help(suggest(name, &mut known))
    .maybe_help(none.then(|| format!("put `rec {name} {{ … }}` around what repeats")))
}

pub(crate) fn unknown_message(
    name: &str,
    span: Span,
    known: &mut dyn Iterator<Item = &str>,
) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownMessage,
        format!("there is no message `{name}`"),
        span,
        "neither declared by `sig` nor a parameter",
    )
    .help(
        match crate::diagnostics::similar::similar(name, &known.collect::<Vec<_>>()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("write `{name}()` for a message without a declaration"),
        },
    )
}

pub(crate) fn argument_count(
    what: &str,
    protocol: &str,
    expected: usize,
    found: usize,
    span: Span,
    declared: Span,
) -> Diagnostic {
    let takes = match expected {
        0 => format!("takes no {what}s"),
        1 => format!("takes one {what}"),
        _ => format!("takes {expected} {what}s"),
    };
    let given = match found {
        0 => "none is given".to_owned(),
        1 => "one is given".to_owned(),
        _ => format!("{found} are given"),
    };
    Diagnostic::new(
        Code::ArgumentCount,
        format!("`{protocol}` {takes}, and {given}"),
        span,
        given,
    )
    .with(declared, takes)
}

pub(crate) fn repeated_role(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::RepeatedRole,
        format!("`{name}` plays two roles of the protocol that is called"),
        span,
        "again",
    )
    .with(first, "it plays this one already")
    .help("name a different role in each place")
}

pub(crate) fn argument_kind(name: &str, expected: &str, span: Span, parameter: Span) -> Diagnostic {
    Diagnostic::new(
        Code::ArgumentKind,
        format!("`{name}` is no {expected}"),
        span,
        format!("expected a {expected}"),
    )
    .with(parameter, "for this parameter")
}

pub(crate) fn self_message(role: &str, span: Span, from: Span) -> Diagnostic {
    Diagnostic::new(
        Code::SelfMessage,
        format!("`{role}` sends a message to itself"),
        span,
        "the receiver is the sender",
    )
    .with(from, "the sender")
    .help("name another role on one side")
}

pub(crate) fn repeated_receiver(role: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::RepeatedReceiver,
        format!("`{role}` receives the message twice"),
        span,
        "again",
    )
    .with(first, "it receives it already")
    .help("remove one of the two, or write two interactions")
}

pub(crate) fn missing_module(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MissingModule,
        format!("there is no module `{name}`"),
        span,
        "not found",
    )
    .help(format!(
        "it is looked for as `{}.scr` below the import path",
        name.replace('.', "/")
    ))
}

pub(crate) fn self_import(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::SelfImport,
        format!("the module `{name}` imports itself"),
        span,
        "this is the module itself",
    )
    .help("remove the import: its own protocols are visible already")
}

pub(crate) fn other_module(name: &str, import: Span, header: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::OtherModule,
        format!("the module that is imported as `{name}` calls itself `{header}`"),
        span,
        format!("expected `{name}`"),
    )
    .with(import, "imported here")
    .help("correct one of the two names; the `module` line may be left out")
}

pub(crate) fn misplaced_module(
    header: &str,
    span: Span,
    file: &str,
    expected: Option<&str>,
) -> Diagnostic {
    let label = match expected {
        Some(expected) => format!("expected `{expected}`"),
        None => "not the name of the file".to_owned(),
    };
    Diagnostic::new(
        Code::OtherModule,
        format!("the module in `{file}.scr` calls itself `{header}`"),
        span,
        label,
    )
    .help(format!(
        "correct or remove the line, or move the file to `{}.scr`",
        header.replace('.', "/")
    ))
}

// The protocol as a whole.

pub(crate) fn unguarded(what: &str, span: Span, again: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::Unguarded,
        format!("{what} can repeat without a message"),
        span,
        "it comes back here without any message in between",
    );
    match again {
        Some(again) => diagnostic.with(again, "from here"),
        None => diagnostic,
    }
    .help("let a role send a message before it repeats")
}

pub(crate) fn unreachable(span: Span, after: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::Unreachable,
        "no run of the protocol comes here",
        span,
        "never happens",
    );
    match after {
        Some(after) => diagnostic.with(after, "what stands before never ends"),
        None => diagnostic,
    }
    .help("remove it, or let a branch of what stands before end")
}

pub(crate) fn nested_recursion(protocol: &str, span: Span, behind: Span) -> Diagnostic {
    Diagnostic::new(
        Code::NestedRecursion,
        format!("the recursive call of `{protocol}` is not the last thing that happens"),
        span,
        "calls itself, and must come back",
    )
    .with(behind, "to do this after the call")
    .help("let the call be last: else each round leaves one more thing to do")
}

pub(crate) fn choice_subject(
    chooser: &str,
    choice: Span,
    first: Span,
    sender: &str,
    branch: usize,
) -> Diagnostic {
    Diagnostic::new(
        Code::ChoiceSubject,
        format!("`{chooser}` chooses, and branch {branch} begins with a message of `{sender}`"),
        first,
        format!("`{sender}` sends first"),
    )
    .with(choice, format!("`{chooser}` chooses here"))
    .help(format!(
        "begin every branch with a message of `{chooser}`: nobody else knows the choice"
    ))
}

/// Marks the messages with which the branches of a choice begin equally.
fn equal_beginning(mut diagnostic: Diagnostic, equal: &[Span]) -> Diagnostic {
    for (position, &span) in equal.iter().enumerate() {
        let label = match position {
            0 => "the branches begin equally, with this",
            _ => "and with this",
        };
        diagnostic = diagnostic.with(span, label);
    }
    diagnostic.help("begin the branches with different messages")
}

pub(crate) fn no_subject(
    first: Span,
    one: &str,
    second: Span,
    other: &str,
    equal: &[Span],
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::NoSubject,
        format!("`{one}` and `{other}` would both have to decide"),
        second,
        format!("in this branch `{other}` goes on"),
    )
    .with(first, format!("in this one `{one}` does"));
    equal_beginning(diagnostic, equal)
}

pub(crate) fn end_or_continue(
    next: Span,
    sender: &str,
    choice: Option<Span>,
    equal: &[Span],
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::EndOrContinue,
        "the protocol may be over here, and nobody is told",
        next,
        format!("`{sender}` sends this, or the protocol is over"),
    );
    match choice {
        Some(choice) => diagnostic
            .with(choice, "one branch of this choice ends instead")
            .help("let the branch that ends begin with a message of its own"),
        None => equal_beginning(diagnostic, equal),
    }
}

pub(crate) fn payload_clash(
    label: &str,
    one: &str,
    first: Span,
    other: &str,
    second: Span,
) -> Diagnostic {
    Diagnostic::new(
        Code::PayloadClash,
        format!("the label `{label}` has different payloads in one choice"),
        second,
        format!("`{other}`"),
    )
    .with(first, format!("`{one}`"))
    .help("give the messages different labels: a receiver goes by the label alone")
}

pub(crate) fn too_large(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::new(
        Code::TooLarge,
        format!("the protocol has more than {limit} states"),
        span,
        "too large to be checked",
    )
    .help("call fewer protocols in sequence, or raise `Limits::global_states`")
}

// Projection.

/// How two runs that look the same to a role part.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    /// Who decides.
    pub(crate) chooser: String,
    /// The interaction that one run takes and the other does not.
    pub(crate) one: Step,
    pub(crate) other: Option<Step>,
    /// The shortest two runs that look the same to the role, interaction by interaction.
    pub(crate) runs: [Vec<String>; 2],
}

/// An interaction in words.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `value(i32)`
    pub(crate) label: String,
    pub(crate) span: Span,
}

impl Branches {
    /// Shows where the runs part, and the runs.
    fn mark(&self, diagnostic: Diagnostic, role: &str) -> Diagnostic {
        let mut diagnostic = diagnostic;
        let primary = diagnostic.primary;
        if self.one.span != primary {
            let label = format!("`{}` chooses this branch…", self.chooser);
            diagnostic = diagnostic.with(self.one.span, label);
        }
        if let Some(other) = &self.other
            && other.span != primary
        {
            let label = format!("…or this one, and `{role}` cannot tell");
            diagnostic = diagnostic.with(other.span, label);
        }
        let [one, other] = self.runs.each_ref().map(|run| line(run));
        diagnostic.note(format!(
            "these runs look the same to `{role}`:\n  1. {one}\n  2. {other}"
        ))
    }
}

/// A run on one line of a terminal: where it is too long, its end.
fn line(run: &[String]) -> String {
    const WIDTH: usize = 64;
    if run.is_empty() {
        return "nothing has happened yet".to_owned();
    }
    let mut width = 0;
    let shown = run.iter().rev().take_while(|step| {
        width += step.chars().count() + 2;
        width <= WIDTH
    });
    // The last step is shown even if it is too long alone.
    let shown = shown.count().max(1);
    let left_out = run.len() - shown;
    let text = run[left_out..].join("; ");
    if left_out == 0 {
        text
    } else {
        format!("({left_out} more); {text}")
    }
}

/// With the branches, if two runs were found, and the way out.
fn branching(
    diagnostic: Diagnostic,
    role: &str,
    branches: Option<&Branches>,
    help: String,
) -> Diagnostic {
    match branches {
        Some(branches) => branches.mark(diagnostic, role),
        None => diagnostic,
    }
    .help(help)
}

pub(crate) fn send_unknown(role: &str, step: &Step, branches: Option<&Branches>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::SendUnknown,
        format!(
            "`{role}` must send `{}` without knowing the branch",
            step.label
        ),
        step.span,
        format!("`{role}` sends this in one branch, and not in another"),
    );
    let help = format!("first tell `{role}` the branch, by a different message in each");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn overtaken(
    role: &str,
    awaited: &Step,
    taken: &Step,
    branches: Option<&Branches>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::Overtaken,
        format!("`{role}` cannot tell branches apart, since messages may overtake"),
        awaited.span,
        "this can arrive first in both branches",
    )
    .with(
        taken.span,
        format!("in one of them `{role}` waits for this first"),
    );
    let help = format!("give the messages to `{role}` other labels in one of the branches");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn send_or_receive(
    role: &str,
    sends: &Step,
    receives: &Step,
    branches: Option<&Branches>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::SendOrReceive,
        format!("`{role}` does not know whether to send or to wait"),
        sends.span,
        format!("in one branch `{role}` sends this"),
    )
    .with(receives.span, "in another it waits for this");
    let help = format!("first tell `{role}` the branch, by a different message in each");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn never_told(
    role: &str,
    awaited: &Step,
    branches: Option<&Branches>,
    ends: bool,
) -> Diagnostic {
    let happens = if ends {
        "the protocol may be over without it"
    } else {
        "the others may go on without it"
    };
    let diagnostic = Diagnostic::new(
        Code::NeverTold,
        format!("`{role}` may wait for `{}` for ever", awaited.label),
        awaited.span,
        format!("`{role}` waits, but {happens}"),
    );
    let help = format!("tell `{role}` in the other branch too");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn payload_unknown(
    role: &str,
    one: &Step,
    other: &Step,
    branches: Option<&Branches>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::PayloadUnknown,
        format!(
            "`{role}` cannot tell `{}` from `{}`",
            other.label, one.label
        ),
        other.span,
        "this one",
    )
    .with(one.span, "or this one, under the same label");
    let help = "give the messages different labels: a receiver goes by the label alone";
    branching(diagnostic, role, branches, help.to_owned())
}

pub(crate) fn projection_too_large(
    role: &str,
    span: Span,
    limit: &str,
    value: usize,
) -> Diagnostic {
    Diagnostic::new(
        Code::ProjectionTooLarge,
        format!("the projection onto `{role}` meets the limit {value} of `{limit}`"),
        span,
        "too large to be projected",
    )
    .help(format!(
        "simplify the choices that `{role}` does not see, or raise `Limits::{limit}`"
    ))
}

pub(crate) fn no_such_role(
    role: &str,
    protocol: &str,
    span: Span,
    known: &mut dyn Iterator<Item = &str>,
) -> Diagnostic {
    Diagnostic::new(
        Code::NoSuchRole,
        format!("the protocol `{protocol}` has no role `{role}`"),
        span,
        "declared here",
    )
    .maybe_help(suggest(role, known))
}
