//! Prints roles, messages and sessions as Rust source.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rumpsteak_fsm::{Action, Direction, Fsm, Role};

use super::machines::Machine;
use super::names::{LabelName, Names, RoleName};
use super::session::{Choosing, End, Item};
use crate::protocols::{Loaded, ScrFile};
use crate::scope::Scope;
use crate::scope::labels::is_of_name;
use crate::words::{list, visible};

/// Prints a struct or an enum. A member has three lines: its documentation, its attribute, which
/// may be empty, and the member itself.
pub(super) fn print_block(text: &mut String, head: &str, lines: impl Iterator<Item = [String; 3]>) {
    text.push_str(&format!("{head} {{\n"));
    for line in lines.flatten().filter(|line| !line.is_empty()) {
        text.push_str(&format!("    {line}\n"));
    }
    text.push_str("}\n");
}

pub(super) fn print_set(text: &mut String, protocol: &Loaded, file: &ScrFile, names: &Names) {
    let name = protocol.name();
    let mut declared = file.module.modules.root().protocols.iter();
    let declared = declared.find(|declared| declared.name.as_str() == name);
    let source = declared.and_then(|declared| {
        file.module.text(declared.span.source()).text.get(declared.span.range())
    });
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n/// The roles of the protocol `{name}`, wired to each other.");
    if let Some(source) = source {
        text.push_str("///\n");
        print_fence(text, "scribble", source);
    }
    text.push_str("#[derive(Roles)]\n");
    let roles = names.roles.iter().filter(|role| role.has_process);
    let roles = roles.map(|RoleName { scribble, ty, field, is_family, .. }| {
        let (what, ty) = match is_family {
            true => ("members of the family", format!("Vec<{ty}>")),
            false => ("role", ty.clone()),
        };
        [format!("/// The {what} `{scribble}`."), String::new(), format!("pub {field}: {ty},")]
    });
    print_block(text, "pub struct Roles", roles);
}

pub(super) fn print_role(text: &mut String, protocol: &Loaded, position: usize, names: &Names) {
    let role = &names.roles[position];
    let transitions = || protocol.projections[position].fsm.transitions();
    let is_peer = |other: &&RoleName| {
        transitions().any(|transition| transition.action.peer.as_str() == other.scribble)
    };
    let peers: Vec<&RoleName> = names.roles.iter().filter(is_peer).collect();
    let scribble = &role.scribble;
    let _ = match &peers[..] {
        [family] if !role.has_process => {
            let family = &family.scribble;
            writeln!(text, "\n/// The ring `{scribble}`, from each `{family}` to the next one.")
        }
        [] => writeln!(text, "\n/// The role `{scribble}`, which has no peer."),
        _ => {
            let peers = list(peers.iter().map(|peer| &peer.scribble));
            writeln!(text, "\n/// The role `{scribble}`, which talks to {peers}.")
        }
    };
    if let Some(of) = names.labels.iter().find(|of| of.part == role.ty && of.ty != of.part) {
        let _ = writeln!(text, "///\n/// The message `{}` is [`{}`].", of.message, of.ty);
    }
    text.push_str("#[derive(Role)]\n");
    // The struct's own name may stand for another role.
    if protocol.roles(&role.ty)[..] != [position] {
        let _ = writeln!(text, "#[role({scribble:?})]");
    }
    let _ = writeln!(text, "#[message({})]", names.message);
    if peers.is_empty() {
        let _ = writeln!(text, "pub struct {};", role.ty);
        return;
    }
    let routes = names.routes.as_deref().unwrap_or("Channel");
    let fields = peers.iter().map(|RoleName { scribble, ty, field, is_family, .. }| {
        let (routes, s) =
            (format!("{routes}<{}>", names.message), if *is_family { "s" } else { "" });
        let link = if *is_family { format!("Members<{routes}>") } else { routes };
        let doc = format!("/// The route{s} to `{scribble}`.");
        [doc, format!("#[route({ty})]"), format!("pub {field}: {link},")]
    });
    print_block(text, &format!("pub struct {}", role.ty), fields);
}

/// Prints the message type and the types of the labels.
pub(super) fn print_labels(text: &mut String, scope: &Scope<'_>, protocol: &Loaded, names: &Names) {
    let derives = |is_debug: bool, derives: &[&str]| {
        let chosen = names.derives.iter().map(String::as_str);
        let is_chosen = chosen.clone().any(|derive| derive.rsplit("::").next() == Some("Debug"));
        let debug = (is_debug && !is_chosen).then_some("Debug");
        let own = debug.into_iter().chain(derives.iter().copied());
        let all: Vec<&str> = own.chain(chosen).collect();
        if all.is_empty() { String::new() } else { format!("#[derive({})]\n", all.join(", ")) }
    };
    if names.has_message {
        return;
    }
    // If the message type has a mistake, the module writes it.
    if !scope.has_message() {
        let is_debug = names.labels.iter().all(|label| label.is_debug);
        print_message(text, protocol, names, &derives(is_debug, &["Message"]));
    }
    // serde distinguishes types in messages by their names: `Job` in `job(Job)`.
    let carried = names.labels.iter().flat_map(|label| &label.payload);
    let carried = carried.flat_map(|ty| ty.split(|c| !is_of_name(c)));
    let carried: BTreeSet<String> = carried.map(str::to_owned).collect();
    let is_serde = names.derives.iter().any(|path| path.ends_with("erialize"));
    for LabelName { message, ty, payload, is_debug, declared, is_written, .. } in &names.labels {
        if *is_written {
            continue;
        }
        let _ = writeln!(text, "\n/// The message `{message}`.");
        if let Some(path) = declared {
            // A path in the crate may be private.
            let is_near = path.starts_with("crate::") || path.starts_with("super::");
            let public = if is_near { "pub(crate)" } else { "pub" };
            let is_same = path.rsplit("::").next() == Some(ty);
            let renamed = if is_same { String::new() } else { format!(" as {ty}") };
            let _ = writeln!(text, "{public} use {path}{renamed};");
            continue;
        }
        text.push_str(&derives(*is_debug, &[]));
        if is_serde && carried.contains(ty.as_str()) {
            let _ = writeln!(text, "#[serde(rename = \"{ty}Message\")]");
        }
        let fields: Vec<String> = payload.iter().map(|ty| format!("pub {ty}")).collect();
        let _ = match fields.is_empty() {
            true => writeln!(text, "pub struct {ty};"),
            false => writeln!(text, "pub struct {ty}({});", fields.join(", ")),
        };
    }
}

fn print_message(text: &mut String, protocol: &Loaded, names: &Names, derives: &str) {
    let _ = writeln!(text, "\n/// The messages of the protocol `{}`.", protocol.name());
    text.push_str(derives);
    let mut routes = routes(protocol, names).into_iter();
    let variants = names.labels.iter().map(|LabelName { message, ty, explicit, .. }| {
        let label = explicit.then(|| format!("#[label({:?})]", message.label.as_str()));
        // The answer to an interrupt may be expected where it never comes.
        let routes = routes.next().unwrap_or_default();
        let route = match routes.len() {
            0 => "never sent".to_owned(),
            1..=3 => routes.join(" and "),
            _ => "between several roles".to_owned(),
        };
        [format!("/// `{message}`, {route}."), label.unwrap_or_default(), format!("{ty}({ty}),")]
    });
    print_block(text, &format!("pub enum {}", names.message), variants);
}

/// The routes of each message: "from `s` to `k`", "from `k` to `t`".
fn routes(protocol: &Loaded, names: &Names) -> Vec<Vec<String>> {
    let mut routes: Vec<Vec<String>> = vec![Vec::new(); names.labels.len()];
    let is_family = |role: &Role| protocol.protocol.members(role).is_some();
    for (role, projection) in protocol.protocol.roles().iter().zip(&protocol.projections) {
        for transition in projection.fsm.transitions() {
            let Action { direction, peer, message } = transition.action;
            let is_for_one = protocol.protocol.asked().any(|label| *label == message.label);
            let some = |role| if is_for_one && is_family(role) { "some " } else { "" };
            if *direction == Direction::Send {
                let (from, to) = (some(role), some(peer));
                let route = format!("from {from}`{role}` to {to}`{peer}`");
                let label = names.label(message);
                if let Some(label) = label.filter(|of| !routes[*of].contains(&route)) {
                    routes[label].push(route);
                }
            }
        }
    }
    routes
}

/// Prints an item of a session. `root` is the machine of the session, for its first item.
pub(super) fn print_item(
    text: &mut String,
    item: &Item,
    root: Option<(&Fsm, Option<&Machine>)>,
    role: &RoleName,
    first: &Item,
    names: &Names,
) {
    let (Item::Chain { name: session, .. } | Item::Choice { name: session, .. }) = first;
    text.push('\n');
    if let Some((fsm, machine)) = root {
        let order = match machine {
            Some(Machine { text, .. }) => {
                format!("`{}`", visible(text.name.rsplit('/').next().unwrap_or_default()))
            }
            None => "the protocol".to_owned(),
        };
        let when = if fsm.is_on_demand() { ", each time a peer starts it" } else { "" };
        let _ =
            writeln!(text, "/// The session of [`{}`]{when}, in the order of {order}.", role.ty);
        let _ = writeln!(text, "#[session({})]", role.ty);
    }
    match item {
        Item::Chain { .. } if root.is_some() => {}
        Item::Chain { .. } => {
            let _ = writeln!(text, "/// A part of [`{session}`].\n#[session]");
        }
        Item::Choice { end, .. } => {
            let does = match end {
                End::One(Direction::Receive, peer) => format!("receive from [`{peer}`]"),
                End::One(Direction::Send, peer) => format!("send to [`{peer}`]"),
                End::Several(Some(Direction::Receive)) => {
                    "receive from the first peer that sends".to_owned()
                }
                End::Several(Some(Direction::Send)) => "send".to_owned(),
                End::Several(None) => "receive or send, whichever is possible first".to_owned(),
                End::Gather => "receive from each peer, in any order".to_owned(),
            };
            let what = if matches!(end, End::Gather) { "gather" } else { "choice" };
            let _ = writeln!(text, "/// A {what} in [`{session}`]: {does}.\n#[session]");
        }
    }
    print_bare(text, item, "pub ", Some(names));
}

/// Prints an item of a session without its attributes. With `names`, its options are documented.
pub(super) fn print_bare(text: &mut String, item: &Item, public: &str, names: Option<&Names>) {
    let _ = match item {
        Item::Chain { name, nominal: true, session } => {
            writeln!(text, "{public}struct {name}({session});")
        }
        Item::Chain { name, session, .. } => writeln!(text, "{public}type {name} = {session};"),
        Item::Choice { name, options, .. } => {
            let options = options.iter().map(|Choosing { name, label, fields }| {
                let doc = names.map_or_else(String::new, |names| match label {
                    Some(label) => format!("/// `{}`.", names.labels[*label].message),
                    None => "/// All have come.".to_owned(),
                });
                [doc, String::new(), format!("{name}({}),", fields.join(", "))]
            });
            print_block(text, &format!("{public}enum {name}"), options);
            Ok(())
        }
    };
}

fn print_fence(text: &mut String, language: &str, code: &str) {
    // The fence must be longer than any fence inside.
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(text, "/// {fence}{language}");
    for line in code.lines() {
        // rustc refuses changes of direction in comments.
        let _ = writeln!(text, "{}", format!("/// {}", visible(line)).trim_end());
    }
    let _ = writeln!(text, "/// {fence}");
}
