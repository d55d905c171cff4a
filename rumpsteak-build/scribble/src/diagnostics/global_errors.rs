//! `S03..`: the protocol as a whole.

use super::{code::Code, diagnostic::Diagnostic, span::Span};

/// `again` is the interaction from which it comes back.
pub(crate) fn unguarded(what: &str, span: Span, again: Span) -> Diagnostic {
    Diagnostic::new(
        Code::Unguarded,
        format!("{what} can repeat without a message"),
        span,
        "it comes back here without any message in between",
    )
    .with(again, "from here")
    .help("let a role send a message before it repeats")
}

pub(crate) fn unreachable(span: Span, before: Span) -> Diagnostic {
    let message = "no run of the protocol comes here";
    Diagnostic::new(Code::Unreachable, message, span, "never happens")
        .with(before, "what stands before never ends")
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
        let first = "the branches begin equally, with this";
        let label = if position == 0 {
            first
        } else {
            "and with this"
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

/// Each message is given as text, with its place.
pub(crate) fn payload_clash(label: &str, one: (&str, Span), other: (&str, Span)) -> Diagnostic {
    Diagnostic::new(
        Code::PayloadClash,
        format!("the label `{label}` has different payloads in one choice"),
        other.1,
        format!("`{}`", other.0),
    )
    .with(one.1, format!("`{}`", one.0))
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
