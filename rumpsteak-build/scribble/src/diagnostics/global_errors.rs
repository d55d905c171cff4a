//! `S03..`: the protocol as a whole.

use std::iter;

use rumpsteak_fsm::{Label, Message};

use super::code::Code;
use super::diagnostic::{Diagnostic, Severity};
use super::span::Span;

/// `again` is the interaction from which it comes back.
pub(crate) fn unguarded(what: &str, span: Span, again: Span) -> Diagnostic {
    let message = format!("{what} can repeat without a message");
    let label = "it comes back here without any message in between";
    Diagnostic::new(Code::Unguarded, message, span, label)
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
    let message = format!("the recursive call of `{protocol}` is not the last thing that happens");
    let label = "calls itself, and must come back";
    Diagnostic::new(Code::NestedRecursion, message, span, label)
        .with(behind, "to do this after the call")
        .help("let the call be last: else each round leaves one more thing to do")
}

/// `branch` is the number of the branch, or none if all of them begin with that role.
pub(crate) fn choice_subject(
    chooser: &str,
    choice: Span,
    first: Span,
    sender: &str,
    branch: Option<usize>,
) -> Diagnostic {
    let which = branch.map_or("every branch".to_owned(), |branch| format!("branch {branch}"));
    let message = format!("`{chooser}` chooses, and {which} begins with a message of `{sender}`");
    let (sends, chooses) = (format!("`{sender}` sends first"), format!("`{chooser}` chooses here"));
    let other = format!("begin every branch with a message of `{chooser}`");
    match branch {
        Some(_) => Diagnostic::new(Code::ChoiceSubject, message, first, sends)
            .with(choice, chooses)
            .help(format!("{other}: nobody else knows the choice")),
        None => Diagnostic::new(Code::ChoiceSubject, message, choice, chooses)
            .with(first, sends)
            .help(format!("write `choice at {sender}`, or {other}")),
    }
}

/// Marks the messages with which the branches of a choice begin equally.
pub(super) fn equal_beginning(mut diagnostic: Diagnostic, equal: &[Span]) -> Diagnostic {
    let first = iter::once("the branches begin equally, with this");
    for (&span, label) in equal.iter().zip(first.chain(iter::repeat("and with this"))) {
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
    let message = format!("`{one}` and `{other}` would both have to decide");
    let label = format!("in this branch `{other}` goes on");
    let diagnostic = Diagnostic::new(Code::NoSubject, message, second, label)
        .with(first, format!("in this one `{one}` does"));
    equal_beginning(diagnostic, equal)
}

/// `equal` is the label with which the branches begin, and where; `first` and `second` are messages
/// of `sender` with which they part. A warning: what the roles do is safe.
pub(crate) fn other_decides(
    (chooser, choice): (&str, Span),
    (label, equal): (&str, &[Span]),
    (sender, first, second): (&str, Span, Span),
) -> Diagnostic {
    let message =
        format!("branches begin with the same `{label}`: `{sender}` decides, not `{chooser}`");
    let diagnostic =
        Diagnostic::new(Code::NoSubject, message, choice, format!("`{chooser}` chooses here"))
            .with(first, format!("`{sender}` decides: it sends this"))
            .with(second, "or this");
    let help =
        format!("use different labels, or write `{label}` once and then `choice at {sender}`");
    let mut diagnostic = equal_beginning(diagnostic, equal).help(help);
    diagnostic.severity = Severity::Warning;
    diagnostic
}

pub(crate) fn end_or_continue(
    next: Span,
    sender: &str,
    choice: Option<Span>,
    equal: &[Span],
) -> Diagnostic {
    let message = "the protocol may be over here, and nobody is told";
    let label = format!("`{sender}` sends this, or the protocol is over");
    let diagnostic = Diagnostic::new(Code::EndOrContinue, message, next, label);
    match choice {
        Some(choice) => diagnostic
            .with(choice, "one branch of this choice ends instead")
            .help("let the branch that ends begin with a message of its own"),
        None => equal_beginning(diagnostic, equal),
    }
}

/// Each message is given as text, with its place.
pub(crate) fn payload_clash(
    label: &Label,
    one: &Message,
    there: Span,
    other: &Message,
    here: Span,
) -> Diagnostic {
    let message = format!("the label `{label}` has different payloads in one choice");
    Diagnostic::new(Code::PayloadClash, message, here, format!("`{other}`"))
        .with(there, format!("`{one}`"))
        .help("give the messages different labels: a receiver goes by the label alone")
}

pub(crate) fn block_in_choice(block: Span) -> Diagnostic {
    let message = "a branch of a choice begins with a block";
    let label = "nobody is told that this begins";
    Diagnostic::new(Code::BlockInChoice, message, block, label)
        .help("begin the branch with a message of the role that chooses")
}

/// `what` is what the label is for, and `where_else` where it is used as well.
pub(crate) fn shared_label(
    label: &str,
    from: &str,
    to: &str,
    here: Span,
    there: Span,
) -> Diagnostic {
    let message = format!("`{label}` from `{from}` to `{to}` may be one or the other");
    Diagnostic::new(Code::SharedLabel, message, here, "this one")
        .with(there, "or this one, which may be under way at the same time")
        .help("give the messages different labels")
}

/// `others` are the roles that take part in the block, but for `by`.
pub(crate) fn open_interrupt(
    block: Span,
    (by, others): (&str, &[&str]),
    role: &str,
    last: Option<Span>,
) -> Diagnostic {
    let message = format!("`{role}` may be done while `{by}` may still interrupt");
    let label = format!("`{by}` may interrupt this");
    let mut diagnostic = Diagnostic::new(Code::OpenInterrupt, message, block, label);
    if let Some(last) = last {
        diagnostic = diagnostic.with(last, format!("the last that `{role}` does"));
    }
    diagnostic.help(match others {
        [] => format!("remove the block: nobody but `{by}` takes part in it"),
        _ => format!("end the block with `done() from {by} to {};`", others.join(", ")),
    })
}

pub(crate) fn unconnected(span: Span, from: &str, to: &str) -> Diagnostic {
    let message = format!("`{from}` and `{to}` are not connected");
    let label = "in some run they are not connected here";
    Diagnostic::new(Code::Unconnected, message, span, label)
        .help(format!("connect them first: `connect {from} to {to};`"))
}

pub(crate) fn connected_twice(span: Span, from: &str, to: &str, explicit: bool) -> Diagnostic {
    let message = format!("`{from}` and `{to}` are connected already");
    let label = "in some run they are connected here";
    Diagnostic::new(Code::ConnectedTwice, message, span, label).help(if explicit {
        format!("end the connection before: `disconnect {from} and {to};`")
    } else {
        "all roles are connected unless it is an `explicit global protocol`".to_owned()
    })
}

/// Nobody hears that this branch was taken.
pub(crate) fn silent_branch(span: Span, from: &str) -> Diagnostic {
    let message = "a branch begins with the end of a connection";
    Diagnostic::new(Code::ChoiceSubject, message, span, "nobody is told")
        .help(format!("let `{from}` send a message first, which says what was chosen"))
}

pub(crate) fn block_in_explicit(block: Span) -> Diagnostic {
    let message = "blocks and connections are not supported together";
    let label = "what happens side by side needs its connections all the time";
    Diagnostic::new(Code::BlockInExplicit, message, block, label)
        .help("connect all roles from the start: remove `explicit` and `connect`")
}

pub(crate) fn too_large(span: Span, limit: usize) -> Diagnostic {
    let message = format!("the protocol has more than {limit} states");
    Diagnostic::new(Code::TooLarge, message, span, "too large to be checked")
        .help("call fewer protocols in sequence, or raise the limit `global_states`")
}
