//! Top-down: the Rust code of a protocol.
//!
//! ```text
//! double_buffering.scr ── project ─┐
//! double_buffering.k.dot ── read ──┴─ session ─ layout ─▶ OUT_DIR/rumpsteak/double_buffering.rs
//! ```
//!
//! The code is what a person would write by hand, in the hybrid workflow: a set of roles, a type
//! for each message, and session items. Nothing about it is taken on trust: it is grafted where
//! `protocol!(…)` includes it and read as all source is, and its sessions are verified against the
//! protocol as all sessions are. A fault in this module makes a build fail, and no proof. A machine
//! beside the `.scr` file is judged twice, therefore: by itself, for an error at a line of the
//! machine, and as the session that it becomes.
//!
//! The text depends on the protocol's file and the machines beside it, on nothing else; it names no
//! path.

mod layout;
pub(crate) mod machines;
mod names;
mod session;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use rumpsteak_contract::verdict::stamp;
use rumpsteak_contract::{ProtocolItem, name};
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Action, Direction, Fsm, Message};
use syn::ext::IdentExt as _;

use self::layout::Type;
use self::machines::{Folders, Machine};
use self::names::{LabelName, Names, RUNTIME, RoleName, is_ident};
use self::session::{Item, Unwritable};
use crate::fault::Cause;
use crate::protocols::{Loaded, Protocols, ScrFile};
use crate::source::crate_tree::GeneratedFile;
use crate::source::package_root::PackageRoot;
use crate::words::list;

/// Generates the code of protocols as it is asked for.
#[derive(Debug)]
pub(crate) struct Generator<'a> {
    protocols: &'a Protocols,
    base: &'a PackageRoot,
    /// Whether the build script said that it wants code.
    enabled: bool,
    /// The code that was asked for, by protocol and path of the runtime.
    known: BTreeMap<(usize, String), Rc<Generated>>,
    /// The names of the protocols as those of modules, in the same order.
    names: Vec<String>,
    folders: Folders,
}

/// The code of a protocol, or why there is none.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    /// The code. There may be some although there are problems, so that there is one error and no
    /// flood of them.
    pub(crate) file: Option<Rc<GeneratedFile>>,
    /// The machines beside the protocol's file.
    pub(crate) machines: Vec<Machine>,
    /// What is wrong with the files of machines, or with the name of the protocol.
    pub(crate) problems: Vec<Cause>,
    /// Why no code can be written.
    pub(crate) unwritable: Option<Cause>,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(protocols: &'a Protocols, base: &'a PackageRoot, enabled: bool) -> Self {
        let names = protocols.protocols.iter();
        Self {
            protocols,
            base,
            enabled,
            known: BTreeMap::new(),
            names: names.map(|loaded| name::snake(loaded.name())).collect(),
            folders: Folders::default(),
        }
    }

    /// The code that a `protocol!(…)` includes.
    pub(crate) fn generate(&mut self, item: &ProtocolItem) -> Rc<Generated> {
        let wanted = &*item.name.unraw().to_string();
        let cause = match Cause::unless_found(self.protocols.lookup(wanted), wanted) {
            Ok(position) if self.enabled => {
                let key = (position, item.runtime());
                if let Some(known) = self.known.get(&key) {
                    return Rc::clone(known);
                }
                let generated = Rc::new(self.code(position, &key.1));
                self.known.insert(key, Rc::clone(&generated));
                return generated;
            }
            Ok(_) => Cause::NotGenerated { wanted: wanted.to_owned() },
            Err(cause) => cause,
        };
        Rc::new(Generated { problems: vec![cause], ..Generated::default() })
    }

    /// The code of all protocols, in the order of their files.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, Generated)> {
        let protocols = self.protocols.protocols.iter().enumerate();
        protocols.map(|(position, protocol)| (protocol.name(), self.code(position, RUNTIME)))
    }

    /// One line for each machine beside a `.scr` file that nothing includes, or that is of no role.
    pub(crate) fn warnings(&self) -> Vec<String> {
        if !self.enabled {
            return Vec::new();
        }
        let is_generated = |protocol: usize| self.known.keys().any(|(known, _)| *known == protocol);
        machines::unused(&self.folders, self.protocols, self.base, &is_generated)
    }

    fn code(&self, position: usize, krate: &str) -> Generated {
        let protocol = &self.protocols.protocols[position];
        let file = &self.protocols.files[protocol.file];
        let (machines, problems) =
            machines::load(&self.folders, self.protocols, position, self.base);
        let mut generated = Generated { file: None, unwritable: None, problems, machines };
        match code(protocol, file, &generated.machines, krate) {
            Ok(text) => {
                let path = format!("rumpsteak/{}.rs", self.file_name(position, krate));
                generated.file = Some(Rc::new(GeneratedFile { path, text }));
            }
            Err(reason) => {
                let protocol = protocol.name().to_owned();
                generated.unwritable = Some(Cause::Unwritable { protocol, reason });
            }
        }
        generated
    }

    /// The protocol's name as that of a file, with a number if an earlier protocol has the same,
    /// and with the path of the runtime unless it is the usual one.
    fn file_name(&self, position: usize, krate: &str) -> String {
        let own = &self.names[position];
        let mut earlier = 0;
        for name in &self.names[..position] {
            earlier += usize::from(name == own);
        }
        let mut name = match earlier {
            0 => own.clone(),
            number => format!("{own}_{}", number + 1),
        };
        if krate != RUNTIME {
            name = format!("{name}.{}", krate.replace("::", "."));
        }
        name
    }
}

/// The code of a protocol, where `machines` are generated instead of projections.
///
/// # Errors
///
/// What cannot be said in Rust, and what to do about it.
fn code(
    protocol: &Loaded,
    file: &ScrFile,
    machines: &[Machine],
    krate: &str,
) -> Result<String, String> {
    if !is_ident(protocol.name()) {
        return Err(format!(
            "`{}` is no name in Rust\n\nhelp: rename the protocol in {}",
            protocol.name(),
            file.shown()
        ));
    }
    let mut names = Names::new(protocol, file, krate)?;
    let mut sessions = String::new();
    for (role, projection) in protocol.projections.iter().enumerate() {
        let machine = machines.iter().find(|machine| machine.linked.role == role);
        let fsm = machine.map_or(&projection.fsm, |machine| &machine.fsm);
        let base = names.roles[role].ty.clone();
        let items = session::items(fsm, &format!("{base}Session"), base, &mut names)
            .map_err(|error| unwritable(protocol, role, &error))?;
        for (index, item) in items.iter().enumerate() {
            let root = (index == 0).then_some((fsm, machine));
            print_item(&mut sessions, item, root, &names.roles[role], &items[0], &names);
        }
    }
    let used = ["Channel", "Message", "Role", "Roles", "session"];
    let mut body = format!(
        "{}\n",
        layout::import(&format!("use {}::", krate.trim_start_matches("::")), &used)
    );
    print_roles(&mut body, protocol, file, &names);
    print_labels(&mut body, protocol, &names);
    body.push_str(&sessions);
    let from = file.shown().rsplit('/').next().unwrap_or_default();
    let from = one_line(from);
    Ok(format!(
        "// Generated by rumpsteak-build {} from {from} ({}).\n\
         // Change the protocol, not this file.\n\n{body}",
        env!("CARGO_PKG_VERSION"),
        stamp(&body)
    ))
}

/// Whether a generated text is as it was when it was generated.
pub(crate) fn is_untouched(text: &str) -> bool {
    let parts = || {
        let (head, body) = text.split_once("\n\n")?;
        let (_, stamped) = head.lines().next()?.strip_suffix(").")?.rsplit_once(" (")?;
        Some((stamped, body))
    };
    parts().is_some_and(|(stamped, body)| stamp(body) == stamped)
}

fn unwritable(protocol: &Loaded, role: usize, error: &Unwritable) -> String {
    let role = protocol.role_at(role);
    match error {
        Unwritable::Defect(defect) => format!(
            "the machine of `{role}`: {defect}\n\nhelp: let one role decide, and the others tell `{role}` after it"
        ),
        Unwritable::Unknown(action) => {
            format!("the machine of `{role}`: the protocol has no `{action}`")
        }
    }
}

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

fn print_roles(text: &mut String, protocol: &Loaded, file: &ScrFile, names: &Names) {
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
    text.push_str(&names.derive_attribute());
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
    for (position, role) in names.roles.iter().enumerate() {
        print_role(text, protocol, position, role, names);
    }
}

const FIELD_NAMES: &str =
    "#[allow(clippy::struct_field_names, reason = \"the names are those of the protocol\")]\n";
const VARIANT_NAMES: &str =
    "#[allow(clippy::enum_variant_names, reason = \"the names are those of the protocol\")]\n";

fn print_role(
    text: &mut String,
    protocol: &Loaded,
    position: usize,
    role: &RoleName,
    names: &Names,
) {
    let transitions = || protocol.projections[position].fsm.transitions();
    let is_peer = |other: &&RoleName| {
        transitions().any(|transition| transition.action.peer.as_str() == other.scribble)
    };
    let peers: Vec<&RoleName> = names.roles.iter().filter(is_peer).collect();
    let scribble = &role.scribble;
    let _ = match &peers[..] {
        [] => writeln!(text, "\n/// The role `{scribble}`, which talks to nobody."),
        _ => {
            let peers: Vec<&str> = peers.iter().map(|peer| peer.scribble.as_str()).collect();
            writeln!(text, "\n/// The role `{scribble}`, which talks to {}.", list(peers))
        }
    };
    let name = protocol.name();
    text.push_str("#[derive(Role)]\n");
    text.push_str(&names.derive_attribute());
    let _ = if role.is_ident {
        writeln!(text, "#[protocol({name}::{scribble})]")
    } else {
        writeln!(text, "#[protocol({name})]\n#[role({scribble:?})]")
    };
    text.push_str("#[message(Label)]\n");
    if peers.is_empty() {
        let _ = writeln!(text, "pub struct {};", role.ty);
        return;
    }
    let fields: Vec<&str> = peers.iter().map(|peer| peer.field.as_str()).collect();
    if repeats(&fields, &role.ty) && fields.len() >= 3 {
        text.push_str(FIELD_NAMES);
    }
    let _ = writeln!(text, "pub struct {} {{", role.ty);
    for peer in peers {
        let _ = writeln!(text, "    #[route({})]\n    {}: Channel<Label>,", peer.ty, peer.field);
    }
    text.push_str("}\n");
}

fn print_labels(text: &mut String, protocol: &Loaded, names: &Names) {
    let derives = |is_debug: bool, derives: &[&str]| {
        let debug = is_debug.then_some("Debug");
        let all: Vec<&str> = debug.into_iter().chain(derives.iter().copied()).collect();
        match all[..] {
            [] => String::new(),
            _ => format!("#[derive({})]\n", all.join(", ")),
        }
    };
    let _ = writeln!(text, "\n/// The messages of the protocol `{}`.", protocol.name());
    text.push_str(&derives(names.labels.iter().all(|label| label.is_debug), &["Message"]));
    text.push_str(&names.derive_attribute());
    let variants: Vec<&str> = names.labels.iter().map(|label| label.ty.as_str()).collect();
    if repeats(&variants, "Label") {
        text.push_str(VARIANT_NAMES);
    }
    text.push_str("pub enum Label {\n");
    let routes = routes(protocol);
    for LabelName { message, ty, explicit, .. } in &names.labels {
        let _ = writeln!(text, "    /// `{message}`, {}.", routes[message]);
        if *explicit {
            let _ = writeln!(text, "    #[label({:?})]", message.label.as_str());
        }
        let _ = writeln!(text, "    {ty}({ty}),");
    }
    text.push_str("}\n");
    for LabelName { message, ty, payload, is_debug, .. } in &names.labels {
        let _ = writeln!(text, "\n/// The message `{message}`.");
        text.push_str(&derives(*is_debug, &[]));
        let head = format!("pub struct {ty}");
        let fields: Vec<Type> = payload.iter().map(|ty| Type::name(format!("pub {ty}"))).collect();
        match &fields[..] {
            [] => text.push_str(&format!("{head};")),
            fields => text.push_str(&layout::tuple(0, &head, fields, ";")),
        }
        text.push('\n');
    }
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

fn print_item(
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
        let _ = writeln!(text, "/// What [`{}`] does, in the order of {order}.", role.ty);
        // Mermaid has words for every machine.
        if let Ok(diagram) = text::print(Form::Mermaid, std::slice::from_ref(fsm)) {
            text.push_str("///\n");
            print_fence(text, "mermaid", &diagram);
        }
        text.push_str(&names.session_attribute(Some(&role.ty)));
    }
    match item {
        Item::Chain { name, nominal, session: ty } => {
            if root.is_none() {
                let _ = writeln!(text, "/// A part of [`{session}`].");
                text.push_str(&names.session_attribute(None));
            }
            print_chain(text, "pub ", name, *nominal, ty);
        }
        Item::Choice { name, direction, peer, options } => {
            let peer = names.role(peer).map_or("", |peer| names.roles[peer].ty.as_str());
            let _ = match direction {
                Direction::Receive => {
                    writeln!(text, "/// What [`{session}`] may receive from [`{peer}`].")
                }
                Direction::Send => writeln!(text, "/// What [`{session}`] may send to [`{peer}`]."),
            };
            text.push_str(&names.session_attribute(None));
            let label = |option: &(usize, Type)| &names.labels[option.0];
            let variants: Vec<&str> =
                options.iter().map(|option| label(option).ty.as_str()).collect();
            if repeats(&variants, name) {
                text.push_str(VARIANT_NAMES);
            }
            let _ = writeln!(text, "pub enum {name} {{");
            for option in options {
                let LabelName { message, ty, .. } = label(option);
                let _ = writeln!(text, "    /// `{message}`.");
                let types = [Type::name(ty), option.1.clone()];
                let _ = writeln!(text, "{}", layout::tuple(4, ty, &types, ","));
            }
            text.push_str("}\n");
        }
    }
}

fn print_chain(text: &mut String, public: &str, name: &str, nominal: bool, session: &Type) {
    let item = if nominal {
        let session = std::slice::from_ref(session);
        layout::tuple(0, &format!("{public}struct {name}"), session, ";")
    } else {
        layout::alias(&format!("{public}type {name}"), session)
    };
    let _ = writeln!(text, "{item}");
}

/// The session items of a machine for a person to paste beside its role, the root first. Their
/// names begin with `base`. `None` for a machine that is no session type.
pub(crate) fn session_items(fsm: &Fsm, base: &str) -> Option<String> {
    let mut names = Names::of_machine(fsm);
    let items = session::items(fsm, base, base.to_owned(), &mut names).ok()?;
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
                for (label, then) in options {
                    let ty = &names.labels[*label].ty;
                    let types = [Type::name(ty), then.clone()];
                    let _ = writeln!(text, "{}", layout::tuple(4, ty, &types, ","));
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
fn one_line(text: &str) -> String {
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
