//! `S02..`: names.

use std::collections::BTreeSet;

use rumpsteak_fsm::Role;

use super::code::Code;
use super::diagnostic::{Diagnostic, Severity};
use super::similar::similar;
use super::span::{Name, Span};

/// "Did you mean" for an unknown name, or else the names that there are.
pub(crate) fn suggest(name: &str, known: &[&str]) -> Option<String> {
    const MOST: usize = 6;
    if let Some(similar) = similar(name, known) {
        return Some(format!("did you mean `{similar}`?"));
    }
    let quoted = known.iter().take(MOST + 1);
    let quoted: Vec<_> = quoted.map(|name| format!("`{name}`")).collect();
    match &*quoted {
        [] => None,
        [one] => Some(format!("there is {one}")),
        [first @ .., last] if quoted.len() <= MOST => {
            Some(format!("there are {} and {last}", first.join(", ")))
        }
        _ => None,
    }
}

pub(crate) fn duplicate(what: &str, name: &Name, first: Span) -> Diagnostic {
    let message = format!("the {what} `{name}` is declared twice");
    Diagnostic::new(Code::Duplicate, message, name.span, "declared again")
        .with(first, "first declared here")
        .help("rename one of the two, or remove it")
}

pub(crate) fn module_clash(name: &Name, first: Span) -> Diagnostic {
    let message = format!("two modules are visible as `{name}`");
    Diagnostic::new(Code::Duplicate, message, name.span, "the second one")
        .with(first, "the first one")
        .help("give the import another alias, or remove it")
}

pub(crate) fn unknown_role(name: &Name, protocol: &Name, known: &[&str]) -> Diagnostic {
    let message = format!("the protocol `{protocol}` has no role `{name}`");
    Diagnostic::new(Code::UnknownRole, message, name.span, "no such role")
        .with(protocol.span, "the protocol is declared here")
        .maybe_help(suggest(name.as_str(), known))
}

pub(crate) fn unknown_protocol(name: &Name, known: &[&str]) -> Diagnostic {
    let message = format!("there is no protocol `{name}`");
    let label = "no such protocol";
    Diagnostic::new(Code::UnknownProtocol, message, name.span, label)
        .maybe_help(suggest(name.as_str(), known))
}

pub(crate) fn unknown_recursion(name: &Name, known: &[&str]) -> Diagnostic {
    let help = if known.is_empty() {
        Some(format!("put `rec {name} {{ … }}` around what repeats"))
    } else {
        suggest(name.as_str(), known)
    };
    let message = format!("`continue {name}` is not inside of a `rec {name}`");
    let label = "no recursion of this name around it";
    Diagnostic::new(Code::UnknownRecursion, message, name.span, label).maybe_help(help)
}

/// A `continue` in a block, of a recursion around it.
pub(crate) fn leaves_block(name: &Name, span: Span) -> Diagnostic {
    let message = format!("`continue {name}` would leave the block that it is in");
    let label = "this is not its end";
    Diagnostic::new(Code::LeavesBlock, message, span, label)
        .help("put the `continue` behind the block, or the `rec` into it")
}

pub(crate) fn unknown_message(name: &Name, known: &[&str]) -> Diagnostic {
    let message = format!("there is no message `{name}`");
    let label = "neither declared by `sig` nor a parameter";
    Diagnostic::new(Code::UnknownMessage, message, name.span, label).help(
        match similar(name.as_str(), known) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("write `{name}()` for a message without a declaration"),
        },
    )
}

/// `what` is `role` or `argument`; `counts` are the expected and the given numbers of them.
pub(crate) fn argument_count(
    what: &str,
    protocol: &Name,
    counts: [usize; 2],
    span: Span,
) -> Diagnostic {
    let takes = match counts[0] {
        0 => format!("takes no {what}s"),
        1 => format!("takes one {what}"),
        expected => format!("takes {expected} {what}s"),
    };
    let given = match counts[1] {
        0 => "none is given".to_owned(),
        1 => "one is given".to_owned(),
        given => format!("{given} are given"),
    };
    let message = format!("`{protocol}` {takes}, and {given}");
    Diagnostic::new(Code::ArgumentCount, message, span, given).with(protocol.span, takes)
}

pub(crate) fn repeated_role(name: &Name, first: Span) -> Diagnostic {
    let message = format!("`{name}` plays two roles of the protocol that is called");
    Diagnostic::new(Code::RepeatedRole, message, name.span, "again")
        .with(first, "it plays this one already")
        .help("name a different role in each place")
}

/// `expected` is `message` or `sort`.
pub(crate) fn argument_kind(name: &str, expected: &str, span: Span, parameter: Span) -> Diagnostic {
    let message = format!("`{name}` is no {expected}");
    let label = format!("expected a {expected}");
    Diagnostic::new(Code::ArgumentKind, message, span, label).with(parameter, "for this parameter")
}

pub(crate) fn self_message(role: &Name, sender: Span) -> Diagnostic {
    let message = format!("`{role}` sends a message to itself");
    let label = "the receiver is the sender";
    Diagnostic::new(Code::SelfMessage, message, role.span, label)
        .with(sender, "the sender")
        .help("name another role on one side")
}

pub(crate) fn repeated_receiver(role: &Name, first: Span) -> Diagnostic {
    let message = format!("`{role}` receives the message twice");
    Diagnostic::new(Code::RepeatedReceiver, message, role.span, "again")
        .with(first, "it receives it already")
        .help("remove one of the two, or write two interactions")
}

/// `file` is where the module is looked for.
pub(crate) fn missing_module(name: &Name, file: &str) -> Diagnostic {
    let message = format!("there is no module `{name}`");
    Diagnostic::new(Code::MissingModule, message, name.span, "not found")
        .help(format!("it is looked for as `{file}` below the import path"))
}

pub(crate) fn self_import(name: &Name) -> Diagnostic {
    let message = format!("the module `{name}` imports itself");
    let label = "this is the module itself";
    Diagnostic::new(Code::SelfImport, message, name.span, label)
        .help("remove the import: its own protocols are visible already")
}

pub(crate) fn other_module(import: &Name, header: &Name) -> Diagnostic {
    let message = format!("the module that is imported as `{import}` calls itself `{header}`");
    let label = format!("expected `{import}`");
    Diagnostic::new(Code::OtherModule, message, header.span, label)
        .with(import.span, "imported here")
        .help("correct one of the two names; the `module` line may be left out")
}

pub(crate) fn unknown_annotation(at: &Name, keyword: &str, meant: &str) -> Diagnostic {
    let message = format!("unknown annotation `{keyword}:`");
    meaningless(at, message).help(format!("did you mean `{meant}:`?"))
}

pub(crate) fn annotation_without_colon(at: &Name, keyword: &str, names: &str) -> Diagnostic {
    let names = names.trim_matches([' ', '=']);
    let message = format!("`{keyword}` without `:`");
    meaningless(at, message).help(format!("write `@\"{keyword}: {names}\"`"))
}

fn meaningless(at: &Name, message: String) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::new(Code::UnknownAnnotation, message, at.span, "it means nothing");
    diagnostic.severity = Severity::Warning;
    diagnostic
}

/// `received` are the labels that `role`, which sends the message at `sent`, receives.
pub(crate) fn unknown_dependency(
    at: &Name,
    label: &str,
    (role, sent): (&Role, Span),
    received: &BTreeSet<&str>,
) -> Diagnostic {
    // Comparing all of them with all others takes its time.
    let known: Vec<&str> = received.iter().copied().take(256).collect();
    let message = format!("unknown label in `depends: {label}`");
    let here = format!("`{role}` receives no `{label}`");
    let mut diagnostic = Diagnostic::new(Code::UnknownDependency, message, at.span, here);
    diagnostic.severity = Severity::Warning;
    diagnostic.with(sent, format!("`{role}` sends this")).maybe_help(suggest(label, &known))
}

/// `file` is the name of the file without its ending, and `right` the file that fits the module's
/// name.
pub(crate) fn misplaced_module(header: &Name, file: &str, label: &str, right: &str) -> Diagnostic {
    let message = format!("the module in `{file}.scr` calls itself `{header}`");
    Diagnostic::new(Code::OtherModule, message, header.span, label)
        .help(format!("correct or remove the line, or move the file to `{right}`"))
}
