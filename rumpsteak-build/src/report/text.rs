//! All wording about names, on one page.
//!
//! Each text is that of one `compile_error!`: plain, the first line says what is wrong in the words of the user's
//! source, lines after it say what is so in the protocol, and the last one what to do. What rustc draws itself (the
//! place) is not repeated.

use std::fmt::Display;

use rumpsteak_contract::Path;
use rumpsteak_contract::verdict::RoleName;
use rumpsteak_fsm::Message;
use rumpsteak_scribble::similar;

use super::excerpt::Excerpt;
use crate::link::LabelPair;
use crate::protocols::{Loaded, Protocols, ScrFile};

// Links of roles to protocols.

pub(crate) fn unknown_protocol(wanted: &str, protocols: &Protocols) -> String {
    let known: Vec<&str> = protocols.names().collect();
    let advice = match (similar(wanted, &known), protocols.files.is_empty()) {
        (Some(name), _) => format!("did you mean `{name}`?"),
        (None, true) => {
            "the build script was given no `.scr` file: write the protocol, and name its folder \
                         in build.rs"
                .to_owned()
        }
        (None, false) => format!("the protocols are {}", list(&known)),
    };
    format!("no `.scr` file declares a protocol `{wanted}`\n\nhelp: {advice}")
}

pub(crate) fn protocol_declared_twice(wanted: &str, files: [&str; 2]) -> String {
    let place = match files {
        [first, second] if first == second => format!("twice in {first}"),
        [first, second] => format!("in {first} and in {second}"),
    };
    format!("the protocol `{wanted}` is declared {place}\n\nhelp: rename one of the two")
}

pub(crate) fn unplayable_protocol(wanted: &str) -> String {
    format!(
        "the protocol `{wanted}` is there to be called by others: it is `aux` or has parameters\n\n\
         help: link the role to a protocol that calls it"
    )
}

pub(crate) fn included_twice(name: &str) -> String {
    format!(
        "a second `protocol!({name})` in this crate: its roles would be other types than those of the first\n\n\
         help: import the module of the first one"
    )
}

/// The text at a generated session whose machine is wrong.
pub(crate) fn see_inclusion(name: &str, protocol: &str) -> String {
    format!("`{name}` is not verified: the error at `protocol!({protocol})` says why")
}

pub(crate) fn unknown_role(wanted: &str, protocol: &Loaded, protocols: &Protocols) -> String {
    let roles: Vec<&str> = protocol
        .protocol
        .roles()
        .iter()
        .map(|role| role.as_str())
        .collect();
    let advice = match similar(wanted, &roles) {
        Some(role) => format!("did you mean `{}::{role}`?", protocol.name()),
        None => format!("the roles are {}", list(&roles)),
    };
    let file = &protocols.files[protocol.file];
    let declared = protocol.protocol.name().span;
    let excerpt = Excerpt::of_spans(&file.texts, &[(declared, "declared here".to_owned())]);
    format!(
        "the protocol `{}` has no role `{wanted}`\n\n{excerpt}\n\nhelp: {advice}",
        protocol.name()
    )
}

// Names in sessions.

pub(crate) fn unresolved(path: &Path) -> String {
    format!(
        "`{path}` is not declared in the source of this package\n\n\
         note: the build script reads the source as it is written; it knows neither items that a macro makes nor those of \
         other packages\n\
         help: declare `{}` in this package, or import it by `use`",
        path.last()
    )
}

pub(crate) fn ambiguous(path: &Path) -> String {
    format!(
        "`{path}` is declared more than once, under conditions that the build script cannot tell apart\n\n\
         note: it knows features and the target (`cfg(feature = …)`, `cfg(target_os = …)`), but not `cfg(test)` and the like\n\
         help: give the two different names, or put the condition on a feature"
    )
}

pub(crate) fn is_module(path: &Path) -> String {
    format!("`{path}` is a module, not a type")
}

pub(crate) fn no_session(path: &Path) -> String {
    format!(
        "`{path}` is no session\n\nhelp: put `#[session]` on it if it is a part of one; `End` ends a session"
    )
}

pub(crate) fn choice_as_session(path: &Path) -> String {
    format!(
        "`{path}` is a choice, which is no session by itself\n\n\
         help: write `Select<Role, {path}>` if this role chooses, `Branch<Role, {path}>` if the other one does"
    )
}

pub(crate) fn session_as_choice(path: &Path) -> String {
    format!(
        "`{path}` is a session, not a choice\n\nhelp: a choice is a `#[session] enum` with one variant for each label"
    )
}

pub(crate) fn no_role(path: &Path) -> String {
    format!(
        "`{path}` is no role\n\nhelp: a role is a struct with `#[derive(Role)]` and `#[protocol(…)]`"
    )
}

pub(crate) fn role_without_link(path: &Path) -> String {
    format!(
        "the role `{path}` is linked to no protocol\n\n\
         help: put `#[protocol(Protocol::role)]` on the struct, with the names of the `.scr` file"
    )
}

pub(crate) fn foreign_role(path: &Path) -> String {
    format!(
        "the role `{path}` is declared in another target of this package, and a role's sessions stand beside it\n\n\
         help: declare this session there and use it here, or declare a role of this target's own"
    )
}

pub(crate) fn other_protocol(path: &Path, peer: &RoleName, role: &RoleName) -> String {
    format!(
        "`{path}` is a role of another protocol: it plays `{peer}`, this session plays `{role}`\n\n\
         help: name the struct that plays a role of `{}`",
        role.protocol
    )
}

pub(crate) fn talks_to_itself(path: &Path) -> String {
    format!(
        "`{path}` plays the role that this session is of, and no role talks to itself\n\n\
         help: name the role at the other end"
    )
}

pub(crate) fn no_label(path: &Path, role: &RoleName) -> String {
    format!(
        "`{path}` is no message of the role that plays `{role}`\n\n\
         help: add a variant with the label to the enum in its `#[message(…)]`: `{0}({0})`",
        path.last()
    )
}

pub(crate) fn unknown_label(
    path: &Path,
    label: &LabelPair,
    protocol: &Loaded,
    file: &ScrFile,
) -> String {
    let mut known: Vec<&str> = protocol
        .messages
        .iter()
        .map(|message| message.label.as_str())
        .collect();
    known.dedup();
    let advice = match similar(&label.name, &known) {
        Some(name) => format!(
            "did you mean `{name}`? A label is named by its variant, or by `#[label(\"{name}\")]` on the variant"
        ),
        None => format!("the messages of the protocol are {}", list(&known)),
    };
    let name = if path.last() == label.name.as_str() {
        String::new()
    } else {
        format!(" (of the variant `{}`)", label.name)
    };
    let declared = protocol.protocol.name().span;
    let excerpt = Excerpt::of_spans(&file.texts, &[(declared, "declared here".to_owned())]);
    format!(
        "the protocol `{}` has no message `{path}`{name}\n\n{excerpt}\n\nhelp: {advice}",
        protocol.name()
    )
}

pub(crate) fn other_payload(
    path: &Path,
    label: &LabelPair,
    messages: &[&Message],
    protocol: &Loaded,
) -> String {
    let carried = match label.payloads.first() {
        Some(payload) if payload.is_empty() => "carries nothing".to_owned(),
        Some(payload) => format!("carries `{}`", payload.join(", ")),
        None => "carries something else".to_owned(),
    };
    let wanted: Vec<String> = messages.iter().map(|message| message.to_string()).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    format!(
        "`{path}` {carried}, but the message of the protocol `{}` is {}\n\n\
         help: change the one or the other; `type <rust> \"path::Type\" from \"crate\" as Name;` in the `.scr` file gives a \
         Rust type a name there",
        protocol.name(),
        list(&wanted)
    )
}

pub(crate) fn idle(name: &str) -> String {
    format!(
        "the session `{name}` never does anything: the items that it names lead back to it\n\n\
         help: end it with `End`, or give it an action"
    )
}

pub(crate) fn recursive_alias(name: &str) -> String {
    format!(
        "the `type` alias `{name}` contains itself\n\n\
         help: a session that repeats itself is a struct: `#[session] struct {name}(…);` with `Self` where it starts again"
    )
}

pub(crate) fn too_many_items(limit: usize) -> String {
    format!(
        "this session consists of more than {limit} items, which is more than the build script reads\n\n\
         help: split it, or raise `Limits::items` in build.rs"
    )
}

pub(crate) fn two_meanings(name: &str) -> String {
    format!(
        "`{name}` is a part of sessions for which its names have different meanings\n\n\
         note: a label has the name that the message enum of the role gives it, and the roles that use `{name}` have \
         different enums\n\
         help: write the item once for each role"
    )
}

// Errors that are reported elsewhere.

/// The reason why an item is not verified is an error of another item.
pub(crate) fn depends_on(name: &str) -> String {
    format!("not verified, because `{name}` has an error of its own")
}

pub(crate) fn file_has_errors(name: &str, file: &ScrFile) -> String {
    format!(
        "`{name}` is not verified, because {} has errors",
        file.shown()
    )
}

// Warnings: one line each.

pub(crate) fn unplayed_protocol(protocol: &Loaded, file: &ScrFile) -> String {
    format!(
        "{}: no role plays the protocol `{}`",
        file.shown(),
        protocol.name()
    )
}

pub(crate) fn role_without_session(name: &str, role: &RoleName, place: impl Display) -> String {
    format!("{place}: no session of the role `{name}` ({role}): `#[session({name})] type … = …;`")
}

pub(crate) fn starving(protocol: &Loaded, file: &ScrFile, role: &str, awaited: &str) -> String {
    format!(
        "{}: with the sessions as they are, the role `{role}` of `{}` may wait for ever for {awaited}",
        file.shown(),
        protocol.name()
    )
}

/// `a`, `b` and `c`, in quotes.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [name] => format!("`{name}`"),
        [names @ .., last] => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("{} and `{last}`", names.join(", "))
        }
    }
}
