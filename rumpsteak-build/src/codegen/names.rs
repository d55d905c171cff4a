//! What the parts of a protocol are called in generated code.
//!
//! ```text
//! role k            struct K, field k
//! value(i32)        struct Value(i32), variant Value
//! SYN, a', self     Syn, A, SelfRole with #[role("self")]
//! ```
//!
//! A name takes a suffix where it would hide one that the code needs: that of the runtime, of the
//! prelude, or of a role. Where case and `_` alone no longer lead back to the Scribble name,
//! `#[label("…")]` does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeFrom;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use rumpsteak_contract::canonical::{Piece, Pieces};
use rumpsteak_contract::protocol::RUNTIME;
use rumpsteak_contract::{ProtocolItem, name};
use rumpsteak_fsm::{Action, Fsm, Message, Role, Sort};
use rumpsteak_scribble::{DeclarationKind, Span, similar};

use crate::protocols::{Loaded, ScrFile};
use crate::source::cargo_targets::TargetKind;
use crate::source::crate_tree::{Crate, File, Inclusion, ItemId, ItemKind, Tree};
use crate::source::names::{PRIMITIVES, lost, module, types_at};
use crate::words::{did_you_mean, list};

/// Where the types of payloads may be.
pub(crate) type Homes<'a> = Option<&'a Tree>;

/// What a `protocol!(…)` chooses.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// The path of the runtime.
    pub(super) krate: String,
    /// The path of the routes' type, unless they are channels.
    pub(super) routes: Option<String>,
    /// What messages derive beside `Message`.
    pub(super) derives: Vec<String>,
    /// What tells its file from others.
    pub(super) suffix: String,
}

impl Choices {
    pub(super) fn of(item: &ProtocolItem) -> Self {
        let (routes, derives) = (item.routes.clone(), item.derives.clone());
        Self { krate: item.runtime.clone(), routes, derives, suffix: item.suffix() }
    }

    /// Of what messages derive, the traits of serde.
    pub(super) fn serde(&self) -> impl Iterator<Item = &str> {
        let paths = self.derives.iter().map(String::as_str);
        paths.filter(|path| path.ends_with("Serialize") || path.ends_with("Deserialize"))
    }
}

impl Default for Choices {
    fn default() -> Self {
        let suffix = String::new();
        Self { krate: RUNTIME.to_owned(), routes: None, derives: Vec::new(), suffix }
    }
}

/// The names of a protocol, and of what its code uses.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) choices: Choices,
    /// In the order of the protocol's roles.
    pub(super) roles: Vec<RoleName>,
    /// In the order in which a reader of the protocol meets them.
    pub(super) labels: Vec<LabelName>,
    /// The position of each message among the labels.
    positions: BTreeMap<Message, usize>,
    /// What no further type may be called.
    taken: BTreeSet<String>,
    /// The numbers that are left for a name.
    numbers: BTreeMap<String, RangeFrom<usize>>,
}

/// A role.
#[derive(Debug)]
pub(super) struct RoleName {
    /// In the protocol.
    pub(super) scribble: String,
    /// The struct.
    pub(super) ty: String,
    /// The field of the set of roles, and of the routes that lead to it.
    pub(super) field: String,
    /// Whether the name in the protocol can be written as a path.
    pub(super) is_ident: bool,
}

/// A message.
#[derive(Debug)]
pub(super) struct LabelName {
    pub(super) message: Message,
    /// The struct, and the variant of the message type.
    pub(super) ty: String,
    /// What sessions call the struct.
    pub(super) path: String,
    /// Whether the variant must say the label.
    pub(super) explicit: bool,
    /// The types of the payload.
    pub(super) payload: Vec<String>,
    /// The path of the type, if a `sig` says that there is one.
    pub(super) declared: Option<String>,
    /// Whether each of them has `Debug`.
    pub(super) is_debug: bool,
}

/// Names that a type of the module may not hide: those that the code uses, and those of the
/// prelude, which the payloads and the macros use.
const RESERVED: &str = "\
    AsMut AsRef Box Branch Channel Clone Copy Debug Default DoubleEndedIterator Drop End Eq Err \
    ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Hash Into IntoFuture \
    IntoIterator Iterator Label Message None Ok Option Ord PartialEq PartialOrd Race Receive \
    Result Role Roles Select Self Send Sized Some String Sync ToOwned ToString TryFrom TryInto Vec";

impl Names {
    /// What names the runtime in an attribute, unless it has the usual name.
    fn crate_argument(&self) -> Option<String> {
        let krate = &self.choices.krate;
        (krate != RUNTIME).then(|| format!("crate = {krate:?}"))
    }

    /// The attribute of a derive's input that names the runtime.
    pub(super) fn derive_attribute(&self) -> String {
        let argument = self.crate_argument();
        argument.map_or(String::new(), |argument| format!("#[rumpsteak({argument})]\n"))
    }

    /// `#[session(K)]`, with the role if there is one.
    pub(super) fn session_attribute(&self, role: Option<&str>) -> String {
        let arguments = role.map(str::to_owned).into_iter();
        let arguments: Vec<String> = arguments.chain(self.crate_argument()).collect();
        match &arguments[..] {
            [] => "#[session]\n".to_owned(),
            _ => format!("#[session({})]\n", arguments.join(", ")),
        }
    }

    /// Names all parts of a protocol.
    ///
    /// # Errors
    ///
    /// What has no name in Rust, and what to do about it.
    pub(super) fn new(
        protocol: &Loaded,
        file: &ScrFile,
        choices: &Choices,
        homes: Homes<'_>,
    ) -> Result<Self, String> {
        let messages = messages(protocol);
        let mut payloads = Vec::new();
        let mut taken = reserved();
        // With the place of the declaration or the message behind the first line.
        let placed = |reason: String, span: Span| {
            let text = file.text(span.source());
            let (line, _) = text.position(span.start());
            reason.replacen("\n\n", &format!(" ({}:{line})\n\n", text.name), 1)
        };
        for (message, span) in &messages {
            let types = message.payload.iter().map(|sort| {
                let declared = file.modules.sort(sort.as_str()).map(|found| found.name.span);
                let reason = |reason| placed(reason, declared.unwrap_or(*span));
                payload(sort.as_str(), file, homes).map_err(reason)
            });
            let types = types.collect::<Result<Vec<Payload>, _>>()?;
            taken.extend(types.iter().flat_map(|payload| payload.names.clone()));
            payloads.push(types);
        }
        let texts = payloads.iter().flatten().map(|payload| &*payload.text).collect();
        let without_serde = |tree| {
            let refused = unknown_derive(choices).or_else(|| unlinked(tree, choices));
            let refused = refused.or_else(|| underived(tree, protocol, choices));
            refused.or_else(|| without_serde(tree, texts, choices))
        };
        if let Some(refused) = homes.and_then(without_serde) {
            return Err(refused);
        }
        let mut names = Self { choices: choices.clone(), taken, ..Self::default() };
        let mut fields = BTreeSet::new();
        for role in protocol.protocol.roles() {
            names.add_role(role, &mut fields);
        }
        let mut normal = BTreeMap::new();
        for (position, ((message, span), payload)) in messages.into_iter().zip(payloads).enumerate()
        {
            let label = message.label.as_str();
            if let Some(earlier) = normal.insert(name::normalise(label), position) {
                let reason = repeated(&names.labels[earlier].message, &message, file);
                return Err(placed(reason, span));
            }
            let declared = declared(&message, file)?;
            names.add_label(message, &payload, declared);
        }
        if names.labels.is_empty() {
            return Err(format!(
                "`{}` has no messages\n\nhelp: there is nothing to generate; take `protocol!` out",
                protocol.name()
            ));
        }
        Ok(names)
    }

    /// Names what a machine speaks of, its own role first, for a person who has the types of
    /// payloads in scope: a label that is called as one of them is that of the module `generated`.
    pub(super) fn of_machine(fsm: &Fsm, generated: &str) -> Self {
        let mut names = Self { taken: reserved(), ..Self::default() };
        let mut fields = BTreeSet::new();
        names.add_role(fsm.role(), &mut fields);
        for transition in fsm.transitions() {
            let Action { peer, message, .. } = transition.action;
            if names.role(peer.as_str()).is_none() {
                names.add_role(peer, &mut fields);
            }
            if !names.positions.contains_key(message) {
                names.add_label(message.clone(), &[], None);
            }
        }
        let payloads = fsm.transitions().flat_map(|by| &by.action.message.payload);
        let payloads: BTreeSet<&str> = payloads.map(Sort::as_str).collect();
        for label in names.labels.iter_mut().filter(|label| payloads.contains(&*label.ty)) {
            label.path = format!("{generated}::{}", label.ty);
        }
        names
    }

    fn add_role(&mut self, role: &Role, fields: &mut BTreeSet<String>) {
        let scribble = role.as_str().to_owned();
        let ty = self.fresh(&name::camel(&scribble), "Role");
        let field = field(&scribble, fields);
        let is_ident = is_ident(&scribble);
        self.roles.push(RoleName { scribble, ty, field, is_ident });
    }

    fn add_label(&mut self, message: Message, payload: &[Payload], declared: Option<String>) {
        let label = message.label.as_str();
        let ty = self.fresh(&name::camel(label), "Message");
        self.positions.insert(message.clone(), self.labels.len());
        self.labels.push(LabelName {
            explicit: !name::same(label, &ty),
            path: ty.clone(),
            ty,
            payload: payload.iter().map(|payload| payload.text.clone()).collect(),
            is_debug: declared.is_none() && payload.iter().all(|payload| payload.is_debug),
            declared,
            message,
        });
    }

    /// A name for a type: the proposed one, or that with the suffix, or that with a number.
    pub(super) fn fresh(&mut self, proposed: &str, suffix: &str) -> String {
        let plain = (is_ident(proposed)).then(|| proposed.to_owned());
        let suffixed = format!("{proposed}{suffix}");
        let suffixed = if is_ident(&suffixed) { suffixed } else { suffix.to_owned() };
        let numbers = self.numbers.entry(suffixed.clone()).or_insert(2..);
        let numbered = numbers.map(|number| format!("{suffixed}{number}"));
        let candidates = plain.into_iter().chain([suffixed.clone()]).chain(numbered);
        // There are more numbers than names.
        let free = { candidates }.find(|name| !self.taken.contains(name));
        let free = free.unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }

    /// The name of a further type: the proposed one, or that with a number.
    pub(super) fn numbered(&mut self, proposed: &str) -> String {
        self.fresh(proposed, "")
    }

    /// The position of a message among the labels.
    pub(super) fn label(&self, message: &Message) -> Option<usize> {
        self.positions.get(message).copied()
    }

    /// The position of a role.
    pub(super) fn role(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|name| name.scribble == role)
    }
}

fn reserved() -> BTreeSet<String> {
    RESERVED.split(' ').map(str::to_owned).collect()
}

/// That a package which the code would name is certainly no dependency of this one.
fn unlinked(tree: &Tree, choices: &Choices) -> Option<String> {
    let paths = choices.routes.iter().chain(&choices.derives);
    let packages = paths.filter_map(|path| path.trim_start_matches("::").split_once("::"));
    let is_known =
        |package: &str| tree.dependencies.is_empty() || tree.dependencies.contains(package);
    let (package, _) = packages
        .filter(|(package, _)| ["rumpsteak_net", "serde"].contains(package))
        .find(|(package, _)| !is_known(package))?;
    let line = match package {
        "serde" => "`serde = { version = \"1\", features = [\"derive\"] }`",
        _ => "`rumpsteak-net`, from where `rumpsteak-runtime` is,",
    };
    Some(format!(
        "`{package}` is no dependency of this package\n\n\
         help: add {line} to Cargo.toml under `[dependencies]`"
    ))
}

/// That a derive of messages is certainly none that the module of the code knows.
fn unknown_derive(choices: &Choices) -> Option<String> {
    const KNOWN: [&str; 9] =
        ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];
    let bare = choices.derives.iter().filter(|path| !path.contains("::"));
    let mut unknown = bare.filter(|name| !KNOWN.contains(&name.as_str()));
    unknown.find_map(|name| {
        let help = match name.as_str() {
            "Deserialize" | "Serialize" => Some(format!("write its path: `serde::{name}`")),
            _ => did_you_mean(name, KNOWN),
        };
        Some(format!("the module of the code has no derive `{name}`\n\nhelp: {}", help?))
    })
}

/// That messages certainly lack what routes across processes ask of them.
fn underived(tree: &Tree, protocol: &Loaded, choices: &Choices) -> Option<String> {
    let routes = choices.routes.as_ref().filter(|path| path.ends_with("rumpsteak_net::Net"))?;
    if choices.serde().next().is_some() || is_implemented(tree) {
        return None;
    }
    Some(format!(
        "a `{routes}` writes and reads messages by serde, whose traits they do not derive\n\n\
         help: `protocol!({}, routes = {routes}, derive(serde::Serialize, serde::Deserialize))`",
        protocol.name()
    ))
}

/// Whether traits of serde may be implemented by hand, or by the call of a macro.
fn is_implemented(tree: &Tree) -> bool {
    let implements = |file: &File| {
        let text = std::fs::read_to_string(&file.path).unwrap_or_default();
        ["Serialize for", "Deserialize<"].iter().any(|of| text.contains(of))
    };
    tree.modules.iter().any(|module| module.is_opaque) || tree.files.iter().any(implements)
}

/// That types of payloads certainly lack the derives of serde which those of messages ask for:
/// rustc would say so of each type and each message, in the generated code.
fn without_serde(tree: &Tree, payloads: BTreeSet<&str>, choices: &Choices) -> Option<String> {
    let asked: Vec<&str> = choices.serde().collect();
    let lacking = payloads.into_iter().filter(|path| {
        let found = paths(path).next().map_or(Vec::new(), |path| types_at(tree, path));
        let is_bare = |id: &ItemId| matches!(&*tree.item(*id).kind, ItemKind::Other(_, facts) if facts.is_bare);
        !found.is_empty() && found.iter().all(is_bare)
    });
    let lacking: Vec<&str> = lacking.collect();
    if asked.is_empty() || lacking.is_empty() || is_implemented(tree) {
        return None;
    }
    let derive = asked.join(", ");
    let (do_not, each) = if lacking.len() == 1 { ("does not", "it") } else { ("do not", "each") };
    Some(format!(
        "{} {do_not} derive {}, which `derive(…)` asks of payloads\n\nhelp: put `#[derive({derive})]` on {each}",
        list(lacking),
        list(asked)
    ))
}

/// That a crate cannot include the code of a protocol, because another crate of the package
/// declares a payload and this one does not.
pub(super) fn misplaced(
    protocol: &Loaded,
    file: &ScrFile,
    tree: &Tree,
    inclusion: &Inclusion,
) -> Option<String> {
    let here = &tree.crates[tree.module(inclusion.module).krate.0];
    let messages = messages(protocol);
    let sorts = messages.iter().flat_map(|(message, _)| &message.payload);
    let texts = sorts.filter_map(|sort| Some(file.modules.sort(sort.as_str())?.external.as_str()));
    texts.flat_map(paths).find_map(|path| {
        let lost = lost(tree, here, path)?;
        let mut declaring = types_at(tree, path).into_iter().map(|id| tree.crate_of(id));
        let other = declaring.find(|krate| krate.root != here.root)?;
        let [other, here] = [other, here].map(|of| format!("{} `{}`", of.target.kind, of.target.name));
        Some(format!(
            "`{lost}` is declared in another crate of this package, {other}, and not in this one, {here}\n\n\
             help: keep the protocol and its payloads in the library, as `protocol!(pub {})`, from where the others import",
            protocol.name()
        ))
    })
}

/// The paths and names in the text of a type.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && !"_:#".contains(c);
    text.split(is_end).map(|path| path.trim_end_matches("::"))
}

/// The messages of a protocol with the first place of each, in the order of its text.
fn messages(protocol: &Loaded) -> Vec<(Message, Span)> {
    let mut first: BTreeMap<&Message, Span> = BTreeMap::new();
    for projection in &protocol.projections {
        for transition in projection.fsm.transitions() {
            let message = &transition.action.message;
            let Some(&span) = projection.origins(transition.id).iter().min() else { continue };
            let known = first.entry(message).or_insert(span);
            *known = span.min(*known);
        }
    }
    let messages = first.into_iter().map(|(message, span)| (message.clone(), span));
    let mut messages: Vec<(Message, Span)> = messages.collect();
    messages.sort_by_key(|(_, span)| *span);
    messages
}

/// The name of a field for a role.
fn field(scribble: &str, taken: &mut BTreeSet<String>) -> String {
    let snake = name::snake(scribble);
    let candidates = [snake.clone(), format!("{snake}_role"), format!("r#{snake}")];
    let mut plain = candidates.iter().take(2).filter(|name| is_ident(name));
    let proposed = plain.next().cloned().unwrap_or_else(|| "role".to_owned());
    let numbered = (2..).map(|number| format!("{proposed}_{number}"));
    let mut names = [proposed.clone()].into_iter().chain(numbered);
    // There are more numbers than names.
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// A type of a payload.
struct Payload {
    text: String,
    /// The names that it uses without a path.
    names: Vec<String>,
    is_debug: bool,
}

/// The path of the type that a `sig` declares for a message.
fn declared(message: &Message, file: &ScrFile) -> Result<Option<String>, String> {
    let mut declarations = file.modules.iter().flat_map(|module| &module.declarations);
    let declared = declarations.find(|found| {
        found.kind == DeclarationKind::Signature
            && found.schema.as_str() == "rust"
            && found.name.as_str() == message.label.as_str()
    });
    let Some(declared) = declared else { return Ok(None) };
    let path = declared.external.as_str().trim();
    let is_segment = |segment: &str| ["crate", "super"].contains(&segment) || is_ident(segment);
    match path.contains("::") && path.split("::").all(is_segment) {
        true => Ok(Some(path.to_owned())),
        false => Err(format!(
            "`{path}` is no path of a type\n\nhelp: write the declaration of `{}` in {} as in a `use`: `crate::{path}`",
            declared.name,
            file.shown()
        )),
    }
}

fn payload(sort: &str, file: &ScrFile, homes: Homes<'_>) -> Result<Payload, String> {
    if sort.contains('@') {
        return Err(format!(
            "the payload `{sort}` is a session that changes hands, and only its type in Rust says in which state\n\n\
             help: write the roles of this protocol by hand"
        ));
    }
    let refused = |(example, from): (String, &str)| {
        let sorts = file.modules.iter().flat_map(|module| &module.declarations);
        let sorts = sorts.filter(|found| found.kind == DeclarationKind::Payload);
        let known: Vec<&str> = sorts.map(|found| found.name.as_str()).chain(PRIMITIVES).collect();
        let meant = did_you_mean(sort, known);
        let meant = meant.map_or(String::new(), |meant| format!("help: {meant}\n"));
        format!(
            "the sort `{sort}` stands for no Rust type\n\n{meant}\
             help: declare it in {}: `type <rust> \"{example}\" from \"{from}\" as {sort};`",
            file.shown()
        )
    };
    let text = match file.modules.sort(sort) {
        Some(declaration) if declaration.schema.as_str() == "rust" => {
            declaration.external.as_str().trim()
        }
        Some(_) => return Err(refused(example(sort, homes))),
        None if PRIMITIVES.contains(&sort) && sort != "str" => sort,
        None => return Err(refused(example(sort, homes))),
    };
    let lost_in = |tree: &Tree, path| tree.crates.iter().all(|of| lost(tree, of, path).is_some());
    let lost_path = |tree| Some((tree, paths(text).find(|path| lost_in(tree, path))?));
    if let Some((tree, path)) = homes.and_then(lost_path) {
        let (name, mut homes) = (path.rsplit("::").next().unwrap_or(path), tree.homes());
        let home = homes.remove(name).map(|home| format!("write `{home}`"));
        let known: Vec<&str> = homes.keys().map(String::as_str).collect();
        let meant =
            || similar(name, &known).map(|found| format!("did you mean `{}`?", homes[found]));
        let within = if path == text { String::new() } else { format!(" in `{text}`") };
        return Err(format!(
            "`{path}`{within}, which {} calls `{sort}`, is not declared in the source of this package\n\nhelp: {}",
            file.shown(),
            home.or_else(meant)
                .unwrap_or_else(|| "declare it, or write its path as in a `use`".to_owned())
        ));
    }
    if let Some(borrowed) = borrowed(text, homes) {
        return Err(format!(
            "{borrowed} has a lifetime, and a payload owns its data, since the role that receives it may outlive the one that sends it\n\n\
             help: give it fields that own what they hold: a `String` where there is a `&str`"
        ));
    }
    let Some(names) = names_of(text) else {
        return Err(format!(
            "`{text}` is no type\n\nhelp: write the declaration of `{sort}` in {} as in Rust: `std::vec::Vec<u8>`",
            file.shown()
        ));
    };
    let mut wrong = names.iter().filter_map(|name| rootless(homes?, text, name));
    if let Some((found, path)) = wrong.next() {
        return Err(format!("{found}\n\nhelp: write `{path}`"));
    }
    let is_debug = names.iter().all(|name| PRIMITIVES.contains(&&**name)) && !text.contains("::")
        || ["std::vec::Vec<u8>", "std::string::String"].contains(&text);
    Ok(Payload { text: text.to_owned(), names, is_debug })
}

/// What a type begins with that is declared in this package and has no path from its root, which it
/// needs in the module of the code; and what to write.
fn rootless(tree: &Tree, text: &str, name: &str) -> Option<(String, String)> {
    let Some(at) = text.find(&format!("{name}::")) else {
        let is_known = PRIMITIVES.contains(&name) || reserved().contains(name);
        let home = tree.homes().remove(name).filter(|_| !is_known)?;
        return Some((format!("`{name}` is a type of this package without its path"), home));
    };
    let is_other = |of: &Crate| of.target.kind == TargetKind::Lib && of.name == name;
    let is_module = |of: &Crate| module(tree, of.root, &[name.to_owned()]).is_some();
    let is_package = tree.dependencies.contains(name)
        || tree.crates.iter().any(is_other)
        || ["alloc", "core", "crate", "std"].contains(&name);
    if is_package || !tree.crates.iter().any(is_module) {
        return None;
    }
    let written = paths(&text[at..]).next()?;
    let (found, path) = match written.strip_prefix("self::") {
        Some(path) => ("`self` is the module of the generated code here".to_owned(), path),
        None => (format!("`{name}` is a module of this package"), written),
    };
    let home = tree.homes().remove(path).unwrap_or_else(|| format!("crate::{path}"));
    Some((found, text.replacen(written, &home, 1)))
}

/// What of a payload is borrowed: a type of this package with a lifetime, or the whole text.
fn borrowed(text: &str, homes: Homes<'_>) -> Option<String> {
    let borrows = |id: &ItemId, tree: &Tree| matches!(&*tree.item(*id).kind, ItemKind::Other(_, facts) if facts.borrows);
    let is_declared = |tree: &Tree| types_at(tree, text).iter().any(|id| borrows(id, tree));
    let owned = text.replace("'static", "");
    (owned.contains('\'') || homes.is_some_and(is_declared)).then(|| format!("`{text}`"))
}

/// What a sort of this name most likely means, and where that is from.
fn example(sort: &str, homes: Homes<'_>) -> (String, &'static str) {
    if let Some(home) = homes.and_then(|tree| tree.homes().remove(sort)) {
        return (home, "crate");
    }
    let standard = match &*sort.to_lowercase() {
        "int" | "integer" => "i32",
        "long" => "i64",
        "bool" | "boolean" => "bool",
        "float" | "double" => "f64",
        "bytes" if homes.is_some_and(|tree| tree.dependencies.contains("bytes")) => {
            return ("bytes::Bytes".to_owned(), "bytes");
        }
        "bytes" => "std::vec::Vec<u8>",
        "str" | "string" => "std::string::String",
        _ => return (format!("crate::{sort}"), "crate"),
    };
    (standard.to_owned(), "std")
}

/// The names that a type uses and that no `::` leads to; `None` if the text is no type, as far as
/// that shows.
fn names_of(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let (mut colons, mut depth) = (0, 0_usize);
    let tokens: TokenStream = text.parse().ok()?;
    let is_empty = tokens.is_empty();
    for piece in Pieces::new(tokens) {
        match piece {
            Piece::Open(group) if group.delimiter() == Delimiter::Brace => return None,
            Piece::Open(_) => depth += 1,
            Piece::Close(_) => depth = depth.saturating_sub(1),
            Piece::Tree(TokenTree::Ident(ident)) if colons < 2 => names.push(ident.to_string()),
            Piece::Tree(TokenTree::Punct(punct)) => match punct.as_char() {
                ':' => {
                    colons += 1;
                    continue;
                }
                ';' if depth > 0 => {}
                punct if !"<>,&'+-*!=".contains(punct) => return None,
                _ => {}
            },
            Piece::Tree(_) => {}
        }
        colons = 0;
    }
    (!is_empty).then_some(names)
}

/// Whether a text is an identifier, and no keyword.
pub(super) fn is_ident(text: &str) -> bool {
    // `syn` knows the keywords of the editions before 2024. It accepts blanks around the
    // identifier.
    text != "gen" && syn::parse_str::<Ident>(text).is_ok_and(|ident| ident == text)
}

fn repeated(earlier: &Message, later: &Message, file: &ScrFile) -> String {
    let text = if earlier.label == later.label {
        format!("the label `{}` carries two payloads: `{earlier}` and `{later}`", later.label)
    } else {
        format!("the labels `{}` and `{}` differ in case and `_` only", earlier.label, later.label)
    };
    format!(
        "{text}\n\nhelp: rename one of the two in {}: in Rust each label is a type of its own",
        file.shown()
    )
}

#[cfg(test)]
mod tests {
    use super::{is_ident, names_of};

    #[test]
    fn identifiers() {
        for (text, expected) in [
            ("Ready", true),
            ("r", true),
            ("type", false),
            ("Self", false),
            ("_", false),
            ("", false),
            ("a'", false),
            ("1a", false),
            ("a b", false),
        ] {
            assert_eq!(is_ident(text), expected, "{text:?}");
        }
    }

    #[test]
    fn names_in_types() {
        let names = |text| names_of(text).map(|names| names.join(" "));
        assert_eq!(names("std::vec::Vec<u8>").as_deref(), Some("std u8"));
        assert_eq!(names("(u64, [u8; 32])").as_deref(), Some("u64 u8"));
        assert_eq!(names("Order"), Some("Order".to_owned()));
        for text in ["", "u8; fn main() {}", "{", "u8)"] {
            assert_eq!(names(text), None, "{text:?}");
        }
    }
}
