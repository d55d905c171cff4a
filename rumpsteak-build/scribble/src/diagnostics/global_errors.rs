//! `S03..`: the protocol as a whole.

use std::iter;

use rumpsteak_fsm::{Label, Message};

use super::{Code, Diagnostic, Name, Span};

errors! {
    /// `again` is the interaction that leads back to the start.
    unguarded(what: &str, span: Span, again: Span) = Unguarded at span,
        "{what} can repeat without a message", "it comes back here without any message in between"
        [again => "from here"]
        help "let a role send a message before it repeats";

    unreachable(span: Span, before: Span) = Unreachable at span,
        "no run reaches this interaction", "never happens"
        [before => "this never ends"]
        help "remove the interaction, or add a branch that ends before it";

    nested_recursion(protocol: &str, span: Span, behind: Span) = NestedRecursion at span,
        "the recursive call of `{protocol}` must come last", "calls itself, and must come back"
        [behind => "to do this after the call"]
        help "put the call last: otherwise each round leaves one more thing to do";

    no_subject(first: Span, one: &str, second: Span, other: &str) = NoSubject at second,
        "branches begin equally: `{one}` and `{other}` both have to decide",
        "in this branch `{other}` goes on"
        [first => "in this one `{one}` does"];

    payload_clash(label: &Label, one: &Message, there: Span, other: &Message, here: Span) =
        PayloadClash at here,
        "the label `{label}` has different payloads in one choice", "`{other}`"
        [there => "`{one}`"]
        help "give the messages different labels: a receiver sees only the label";

    block_in_choice(block: Span) = BlockInChoice at block,
        "a branch begins with a block that several roles begin",
        "no message tells all roles that this begins"
        help "begin the branch, or each part, with a message of the chooser";

    /// `to` is a role in backticks, or several roles in words.
    shared_label(label: &str, from: &str, to: &str, here: Span, there: Span) = SharedLabel at here,
        "two messages `{label}` from `{from}` to {to} can be confused", "this one"
        [there => "and this one, which may be under way at the same time"]
        help "give the messages different labels";

    unconnected(span: Span, from: &str, to: &str) = Unconnected at span,
        "`{from}` and `{to}` are not connected", "in some run they are not connected here"
        help "connect them first: `connect {from} to {to};`";

    connected_twice(span: Span, from: &str, to: &str) = ConnectedTwice at span,
        "`{from}` and `{to}` are connected already", "in some run they are connected here"
        help "end the connection before: `disconnect {from} and {to};`";

    silent_branch(span: Span, from: &str) = ChoiceSubject at span,
        "a branch begins with the end of a connection", "no message tells which branch this is"
        help "let `{from}` send a message first, which says what was chosen";

    block_in_explicit(block: Span) = BlockInExplicit at block,
        "blocks and connections are not supported together",
        "parts that run side by side need their connections throughout"
        help "connect all roles from the start: remove `explicit` and `connect`";

    block_beside_ring(block: Span, ring: &Name) = UndecidedFamily at block,
        "blocks and rings are not supported together", "this block"
        [ring.span => "a ring"]
        help "do what is in the block before or after what is in the other parts";

    /// `by` interrupts, and `role` may hear of it when this label means something else.
    late_interrupt(block: Span, by: &str, role: &str, label: &str) = OpenInterrupt at block,
        "`{role}` cannot tell a late `{label}` of `{by}` from a new one",
        "`{by}` may interrupt this while `{role}` is done"
        help "end the block with a message of a new label from `{by}` to `{role}`";

    unclear_last(block: Span, from: &str, to: &str) = OpenInterrupt at block,
        "`{to}` does not know the last message of `{from}`",
        "`{to}` has to drop what `{from}` sends in this block, up to its last message"
        help "let the last message of `{from}` to `{to}` have a label of its own";

    via_without_effect(block: Span) = OpenInterrupt at block,
        "an interrupt with `via` has no effect here",
        "the role that interrupts takes no part in this block"
        help "let it take part in this block";

    /// A recursion without a `continue`.
    done_once(rec: Span, name: &str) = DoneOnce at rec,
        "`rec {name}` is done once", "without a `continue {name}`, not needed"
        help "add `continue {name};` where it repeats";

    /// `label` is the label with which the branches begin; `first` and `second` are messages of
    /// `sender` with which they part. The protocol is safe.
    other_decides(
        chooser: &str, choice: Span, label: &str, sender: &str, first: Span, second: Span
    ) = NoSubject at choice,
        "branches begin with the same `{label}`: `{sender}` decides, not `{chooser}`",
        "`{chooser}` chooses here"
        [first => "`{sender}` decides: it sends this"] [second => "or this"]
        help "use different labels, or write `{label}` once and then `choice at {sender}`";

    too_large(span: Span, limit: usize) = TooLarge at span,
        "the protocol has more than {limit} states", "too large to be checked"
        help "call fewer protocols in sequence, or raise the limit `global_states`";
}

/// `branch` is the number of the branch, or `None` if all of them begin with that role.
pub(crate) fn choice_subject(
    chooser: &str,
    choice: Span,
    first: Span,
    sender: &str,
    branch: Option<usize>,
) -> Diagnostic {
    let which = branch.map_or("every branch".to_owned(), |branch| format!("branch {branch}"));
    let message = format!("`{chooser}` chooses, but {which} begins with a message of `{sender}`");
    let (sends, chooses) = (format!("`{sender}` sends first"), format!("`{chooser}` chooses here"));
    let other = format!("begin every branch with a message of `{chooser}`");
    match branch {
        Some(_) => Diagnostic::new(Code::ChoiceSubject, message, first, sends)
            .with(choice, chooses)
            .help(format!("{other}: only `{chooser}` knows the choice")),
        None => Diagnostic::new(Code::ChoiceSubject, message, choice, chooses)
            .with(first, sends)
            .help(format!("write `choice at {sender}`, or {other}")),
    }
}

/// Marks the messages with which the branches of a choice begin equally.
pub(crate) fn equal_beginning(mut diagnostic: Diagnostic, equal: &[Span]) -> Diagnostic {
    let first = iter::once("the branches begin equally, with this");
    for (&span, label) in equal.iter().zip(first.chain(iter::repeat("and with this"))) {
        diagnostic = diagnostic.with(span, label);
    }
    let help = diagnostic.help.take();
    diagnostic.help(help.as_deref().unwrap_or("begin the branches with different messages"))
}

pub(crate) fn end_or_continue(
    next: Span,
    sender: &str,
    choice: Option<Span>,
    equal: &[Span],
) -> Diagnostic {
    let message = "the protocol may end here, and no message says so";
    let label = format!("`{sender}` sends this, or the protocol is over");
    let diagnostic = Diagnostic::new(Code::EndOrContinue, message, next, label);
    match choice {
        Some(choice) => diagnostic
            .with(choice, "one branch of this choice ends instead")
            .help("let the branch that ends begin with a message of its own"),
        None => equal_beginning(diagnostic, equal),
    }
}

/// `others` are the roles that take part in the block, except for `by`.
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
        diagnostic = diagnostic.with(last, format!("the last action of `{role}`"));
    }
    diagnostic.help(match others {
        [] => format!("remove the block: only `{by}` takes part in it"),
        _ => {
            let others = others.join("`, `");
            format!("end the block with a message of a new label from `{by}` to `{others}`")
        }
    })
}
