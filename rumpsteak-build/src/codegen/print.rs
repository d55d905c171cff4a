//! The Rust text of roles, messages and session items: structs, aliases, and the enums of choices.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rumpsteak_front::name;
use rumpsteak_fsm::{Action, Direction, Fsm, Message, Role};

use super::machines::Machine;
use super::names::{LabelName, Names, RoleName};
use super::session::{self, Choosing, End, Item};
use crate::protocols::{Loaded, ScrFile};
use crate::words::list;

/// Whether rustc or Clippy would find that these names repeat themselves: three or more that begin
/// or end alike, or one that begins or ends as the type that they are in.
fn repeats(names: &[&str], within: &str) -> bool {
    let words = |name: &&str| name::snake(name).split('_').map(str::to_owned).collect::<Vec<_>>();
    let words: Vec<Vec<String>> = names.iter().map(words).collect();
    let alike = |pick: fn(&Vec<String>) -> Option<&String>| {
        let mut picked = words.iter().map(pick);
        let first = picked.next().flatten();
        names.len() >= 3 && picked.all(|word| word == first)
    };
    let within = name::snake(within);
    alike(|words| words.first())
        || alike(|words| words.last())
        || names.iter().any(|name| {
            let name = name::snake(name);
            name.starts_with(&within) || name.ends_with(&within)
        })
}

/// The set of roles.
pub(super) fn print_set(text: &mut String, protocol: &Loaded, file: &ScrFile, names: &Names) {
    let declared = file
        .modules
        .root()
        .protocols
        .iter()
        .find(|declared| declared.name.as_str() == protocol.name());
    let source = declared
        .and_then(|declared| file.text(declared.span.source()).text.get(declared.span.range()));
    let name = protocol.name();
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n/// The roles of the protocol `{name}`, wired to each other.");
    if let Some(source) = source {
        text.push_str("///\n");
        print_fence(text, "scribble", source);
    }
    text.push_str("#[derive(Roles)]\n");
    let fields: Vec<&str> = names.roles.iter().map(|role| role.field.as_str()).collect();
    if repeats(&fields, "Roles") {
        text.push_str(FIELD_NAMES);
    }
    text.push_str("pub struct Roles {\n");
    for role in &names.roles {
        let _ = writeln!(text, "    /// The role `{}`.", role.scribble);
        let _ = writeln!(text, "    pub {}: {},", role.field, role.ty);
    }
    text.push_str("}\n");
}

const FIELD_NAMES: &str =
    "#[allow(clippy::struct_field_names, reason = \"the names are those of the protocol\")]\n";
const VARIANT_NAMES: &str =
    "#[allow(clippy::enum_variant_names, reason = \"the names are those of the protocol\")]\n";

/// A role with its routes.
pub(super) fn print_role(text: &mut String, protocol: &Loaded, position: usize, names: &Names) {
    let role = &names.roles[position];
    let transitions = || protocol.projections[position].fsm.transitions();
    let is_peer = |other: &&RoleName| {
        transitions().any(|transition| transition.action.peer.as_str() == other.scribble)
    };
    let peers: Vec<&RoleName> = names.roles.iter().filter(is_peer).collect();
    let scribble = &role.scribble;
    let _ = match &peers[..] {
        [] => writeln!(text, "\n/// The role `{scribble}`, which has no peer."),
        _ => {
            let peers = list(peers.iter().map(|peer| &peer.scribble));
            writeln!(text, "\n/// The role `{scribble}`, which talks to {peers}.")
        }
    };
    text.push_str("#[derive(Role)]\n");
    // By its name alone, the struct may play none, or another one.
    if protocol.roles(&role.ty)[..] != [position] {
        let _ = writeln!(text, "#[role({scribble:?})]");
    }
    let _ = writeln!(text, "#[message({})]", names.message);
    if peers.is_empty() {
        let _ = writeln!(text, "pub struct {};", role.ty);
        return;
    }
    let fields: Vec<&str> = peers.iter().map(|peer| peer.field.as_str()).collect();
    if fields.len() >= 3 && repeats(&fields, &role.ty) {
        text.push_str(FIELD_NAMES);
    }
    let _ = writeln!(text, "pub struct {} {{", role.ty);
    let routes = names.routes.as_deref().unwrap_or("Channel");
    for peer in peers {
        let RoleName { scribble, ty, field, .. } = peer;
        let _ = writeln!(text, "    /// The route to `{scribble}`.");
        let _ = writeln!(text, "    #[route({ty})]\n    pub {field}: {routes}<{}>,", names.message);
    }
    text.push_str("}\n");
}

pub(super) fn print_labels(text: &mut String, protocol: &Loaded, names: &Names) {
    let derives = |is_debug: bool, derives: &[&str]| {
        let chosen = names.derives.iter().map(String::as_str);
        let is_chosen = chosen.clone().any(|derive| derive.rsplit("::").next() == Some("Debug"));
        let debug = (is_debug && !is_chosen).then_some("Debug");
        let own = debug.into_iter().chain(derives.iter().copied());
        let all: Vec<&str> = own.chain(chosen).collect();
        match all[..] {
            [] => String::new(),
            _ => format!("#[derive({})]\n", all.join(", ")),
        }
    };
    if names.has_message {
        return;
    }
    // A message type with a mistake is written, and says nothing.
    if !names.has_broken_message {
        print_message(
            text,
            protocol,
            names,
            &derives(names.labels.iter().all(|label| label.is_debug), &["Message"]),
        );
    }
    // Types in messages are told apart by their names: `Job` of `job(Job)`.
    let carried = names.labels.iter().flat_map(|label| &label.payload);
    let carried: BTreeSet<&str> = carried.flat_map(|ty| ty.split(|c| !is_of_name(c))).collect();
    let is_serde = names.derives.iter().any(|path| path.ends_with("erialize"));
    for LabelName { message, ty, payload, is_debug, declared, is_written, .. } in &names.labels {
        if *is_written {
            continue;
        }
        let _ = writeln!(text, "\n/// The message `{message}`.");
        if let Some(path) = declared {
            // What is private in the crate cannot be seen from further away.
            let is_near = path.starts_with("crate::") || path.starts_with("super::");
            let public = if is_near { "pub(crate)" } else { "pub" };
            let renamed = match path.rsplit("::").next() {
                Some(name) if name == ty => String::new(),
                _ => format!(" as {ty}"),
            };
            let _ = writeln!(text, "{public} use {path}{renamed};");
            continue;
        }
        text.push_str(&derives(*is_debug, &[]));
        if is_serde && carried.contains(ty.as_str()) {
            let _ = writeln!(text, "#[serde(rename = \"{ty}Message\")]");
        }
        let head = format!("pub struct {ty}");
        let fields: Vec<String> = payload.iter().map(|ty| format!("pub {ty}")).collect();
        let fields =
            if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
        let _ = write!(text, "{head}{fields};");
        text.push('\n');
    }
}

/// The message type.
fn print_message(text: &mut String, protocol: &Loaded, names: &Names, derives: &str) {
    let _ = writeln!(text, "\n/// The messages of the protocol `{}`.", protocol.name());
    text.push_str(derives);
    let variants: Vec<&str> = names.labels.iter().map(|label| label.ty.as_str()).collect();
    if repeats(&variants, &names.message) {
        text.push_str(VARIANT_NAMES);
    }
    let _ = writeln!(text, "pub enum {} {{", names.message);
    let routes = routes(protocol);
    for LabelName { message, ty, explicit, .. } in &names.labels {
        let _ = writeln!(text, "    /// `{message}`, {}.", routes[message]);
        if *explicit {
            let _ = writeln!(text, "    #[label({:?})]", message.label.as_str());
        }
        let _ = writeln!(text, "    {ty}({ty}),");
    }
    text.push_str("}\n");
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// "from `s` to `k` and from `k` to `t`", for each message.
fn routes(protocol: &Loaded) -> BTreeMap<&Message, String> {
    const MOST: usize = 3;
    let mut routes: BTreeMap<&Message, Vec<String>> = BTreeMap::new();
    for (role, projection) in protocol.protocol.roles().iter().zip(&protocol.projections) {
        for transition in projection.fsm.transitions() {
            let Action { direction, peer, message } = transition.action;
            let of_message = routes.entry(message).or_default();
            let route = format!("from `{role}` to `{peer}`");
            if *direction == Direction::Send
                && of_message.len() <= MOST
                && !of_message.contains(&route)
            {
                of_message.push(route);
            }
        }
    }
    let told = |of_message: Vec<String>| match of_message.len() {
        ..=MOST => of_message.join(" and "),
        _ => "between several roles".to_owned(),
    };
    let routes = routes.into_iter();
    routes.map(|(message, routes)| (message, told(routes))).collect()
}

impl Item {
    fn name(&self) -> &str {
        match self {
            Self::Chain { name, .. } | Self::Choice { name, .. } => name,
        }
    }
}

pub(super) fn print_item(
    text: &mut String,
    item: &Item,
    root: Option<(&Fsm, Option<&Machine>)>,
    role: &RoleName,
    first: &Item,
    names: &Names,
) {
    text.push('\n');
    let session = first.name();
    if let Some((fsm, machine)) = root {
        let order = match machine {
            Some(machine) => format!("`{}`", one_line(machine.file_name())),
            None => "the protocol".to_owned(),
        };
        let when = if fsm.is_on_demand() { " each time that it is asked to begin" } else { "" };
        let _ = writeln!(text, "/// What [`{}`] does{when}, in the order of {order}.", role.ty);
        let _ = writeln!(text, "#[session({})]", role.ty);
    }
    match item {
        Item::Chain { name, nominal, session: ty } => {
            if root.is_none() {
                let _ = writeln!(text, "/// A part of [`{session}`].");
                text.push_str("#[session]\n");
            }
            print_chain(text, "pub ", name, *nominal, ty);
        }
        Item::Choice { name, end, options } => {
            let does = match end {
                End::One(Direction::Receive, peer) => format!("receive from [`{peer}`]"),
                End::One(Direction::Send, peer) => format!("send to [`{peer}`]"),
                End::Several(Some(Direction::Receive)) => "receive, whoever is first".to_owned(),
                End::Several(Some(Direction::Send)) => "send".to_owned(),
                End::Several(None) => "receive or send, whichever is first".to_owned(),
            };
            let _ = writeln!(text, "/// What [`{session}`] may {does}.");
            text.push_str("#[session]\n");
            let variants: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
            if repeats(&variants, name) {
                text.push_str(VARIANT_NAMES);
            }
            let _ = writeln!(text, "pub enum {name} {{");
            for Choosing { name, label, fields } in options {
                let _ = writeln!(text, "    /// `{}`.", names.labels[*label].message);
                let _ = writeln!(text, "    {name}({}),", fields.join(", "));
            }
            text.push_str("}\n");
        }
    }
}

fn print_chain(text: &mut String, public: &str, name: &str, nominal: bool, session: &str) {
    let _ = match nominal {
        true => writeln!(text, "{public}struct {name}({session});"),
        false => writeln!(text, "{public}type {name} = {session};"),
    };
}

/// The session items of a machine for a person to paste into the module of the protocol, which has
/// these roles, the root first. Their names begin with `base`. `None` for a machine that is no
/// session type.
pub(crate) fn session_items(
    fsm: &Fsm,
    base: &str,
    roles: &[Role],
    is_declared: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut names = Names::of_machine(fsm, roles, is_declared);
    let items = session::items(fsm, base, base.to_owned(), &mut names, None).ok()?;
    let mut text = format!("#[session({})]\n", names.roles[0].ty);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str("\n#[session]\n");
        }
        match item {
            Item::Chain { name, nominal, session } => {
                print_chain(&mut text, "", name, *nominal, session)
            }
            Item::Choice { name, options, .. } => {
                let _ = writeln!(text, "enum {name} {{");
                for Choosing { name, fields, .. } in options {
                    let _ = writeln!(text, "    {name}({}),", fields.join(", "));
                }
                text.push_str("}\n");
            }
        }
    }
    Some(text)
}

/// A block of code in a doc comment.
fn print_fence(text: &mut String, language: &str, code: &str) {
    // Longer than any fence inside.
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(text, "/// {fence}{language}");
    for line in code.lines() {
        let line = one_line(line);
        let _ = writeln!(text, "{}", format_args!("/// {line}").to_string().trim_end());
    }
    let _ = writeln!(text, "/// {fence}");
}

/// A text that can stand in a comment: rustc refuses single carriage returns and marks that turn
/// the direction of text.
pub(super) fn one_line(text: &str) -> String {
    let is_harmless = |c: char| {
        !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if is_harmless(c) => c,
            _ => '\u{fffd}',
        })
        .collect()
}
