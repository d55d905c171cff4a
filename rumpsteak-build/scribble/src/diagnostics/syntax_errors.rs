//! `S01..`: tokens and grammar.

use super::{Code, Diagnostic, Span};

/// A construct of the language that is not supported: its name with a verb, and advice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Construct(&'static str, &'static str);

impl Construct {
    pub(crate) const IMPORT: Self = Self(
        "imports, in a text that is read alone, are",
        "load the text with `Modules::load`, which follows imports",
    );
    pub(crate) const LOCAL_PROTOCOL: Self = Self(
        "`local` protocols are",
        "write the `global protocol`: local protocols are computed from it",
    );
    pub(crate) const NESTED_PROTOCOL: Self =
        Self("`nested` protocols and `calls` are", "use an `aux global protocol` and `do`");
    pub(crate) const UNORDERED: Self =
        Self("`unordered` blocks are", "put each interaction into a part of a `par`");
    pub(crate) const REPEAT: Self =
        Self("`loop` and `repeat` are", "write `rec X { … continue X; }`");
    pub(crate) const GOTO: Self = Self("`goto` is", "write `continue X;`");
    pub(crate) const PARALLEL: Self = Self("`parallel` is", "write `par { … } and { … }`");
    pub(crate) const SPAWN: Self = Self("`run` and `spawn` are", "write `do P(A, B);`");
    pub(crate) const INTRODUCES: Self =
        Self("`introduces` is", "remove it, or write `connect A to B;` in an `explicit` protocol");
    pub(crate) const FAMILY: Self = Self(
        "indices as in `worker[1..N]` are",
        "write `role worker[N]`, `each worker`, `some worker`, or a ring",
    );
    pub(crate) const TIME: Self = Self(
        "times and clocks (`timed`, `within`) are",
        "remove them, and use a timer in the process",
    );
    pub(crate) const RELIABLE: Self =
        Self("`reliable` roles are", "remove the word: a lost peer is an error in the process");
    pub(crate) const CONDITION: Self =
        Self("conditions in brackets are", "remove them, and check them in the process");
    pub(crate) const RECURSION_PARAMETERS: Self =
        Self("recursion parameters are", "remove the brackets");
    pub(crate) const REFINEMENT: Self = Self(
        "refinements of payloads are",
        "remove the condition, and check the value in the process",
    );
    pub(crate) const WRAP: Self =
        Self("`wrap` is", "remove it: transports are chosen where the roles are connected");
}

errors! {
    open_comment(span: Span, end: &str) = OpenComment at span,
        "the comment is not closed", "it starts here and takes the rest of the file"
        help "close it with `{end}`";

    open_string(span: Span) = OpenString at span,
        "the string has no closing quote", "it starts here and must end on this line"
        help "close it with `\"`";

    open_block(span: Span, brace: Span) = OpenBlock at span,
        "a block is not closed", "expected `}}` before this"
        [brace => "this brace is not closed"]
        help "add the missing `}}`";

    text_too_long(span: Span, mebibytes: usize) = TextTooLong at span,
        "the file has more than {mebibytes} MiB", "not read any further"
        help "is it a protocol? If so, split it over several files";
}

/// At most `most` characters of a text, escaped except for quotes.
fn shorten(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).flat_map(char::escape_debug).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown.replace("\\'", "'").replace("\\\"", "\"")
}

pub(crate) fn unknown_characters(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{}` has no meaning here", shorten(text, 8));
    let help = match text.starts_with('\'') {
        true => "write the text in double quotes: `\"…\"`",
        false => "remove it; comments are written `// …` or `/* … */`",
    };
    Diagnostic::new(Code::UnknownCharacters, message, span, "not a part of any token").help(help)
}

/// `found` is `None` at the end of the file; `before` is the token in front.
pub(crate) fn unexpected(
    span: Span,
    found: Option<&str>,
    expected: &str,
    before: Option<Span>,
) -> Diagnostic {
    let end = || "the end of the file".to_owned();
    let found = found.map_or_else(end, |found| format!("`{}`", shorten(found, 24)));
    let message = format!("expected {expected}, found {found}");
    let label = format!("expected {expected}");
    let diagnostic = Diagnostic::new(Code::Unexpected, message, span, label);
    match (expected, before) {
        ("`;`" | "`)`" | "`]`" | "`,` or `)`", Some(before)) => {
            diagnostic.with(before, format!("{expected} may be missing behind this"))
        }
        ("`by`", _) if found == "`from`" => {
            diagnostic.help("write an interrupt as `Label() by A;`: it goes to all others")
        }
        ("`<`", _) if found.starts_with("`\"") => diagnostic
            .help("write `<rust>` in front of it: `type <rust> \"…\" from \"…\" as Name;`"),
        _ => diagnostic,
    }
}

/// `first` is the name in the first `module` line, if there is one.
pub(crate) fn late_module(span: Span, first: Option<Span>) -> Diagnostic {
    let message = "the `module` line must be the first and the only one";
    let diagnostic = Diagnostic::new(Code::LateModule, message, span, "not the first declaration");
    match first {
        Some(first) => {
            diagnostic.with(first, "the module is named here already").help("remove one of the two")
        }
        None => diagnostic.help("move it to the top of the file, or remove it: it is optional"),
    }
}

pub(crate) fn unsupported(Construct(what, advice): Construct, span: Span) -> Diagnostic {
    let message = format!("{what} not supported");
    Diagnostic::new(Code::Unsupported, message, span, "not supported").help(advice)
}
