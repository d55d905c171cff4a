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

mod choice_names;
mod layout;
pub(crate) mod machines;
mod names;
mod payloads;
mod print;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rumpsteak_contract::name;
use rumpsteak_contract::verdict::stamp;
use syn::ext::IdentExt as _;

use self::choice_names::{Written, annotated};
use self::machines::{Folders, Machine};
use self::names::{Choices, Names};
use self::payloads::is_ident;
use self::print::{one_line, print_item, print_labels, print_roles};
use self::session::Unwritable;
use crate::configuration::Configuration;
use crate::fault::Cause;
use crate::protocols::{DoneOnce, Loaded, Protocols, ScrFile};
use crate::source::crate_tree::{GeneratedFile, Inclusion};
use crate::source::package_root::PackageRoot;

pub(crate) use self::print::session_items;

/// Generates the code of protocols as it is asked for.
#[derive(Debug)]
pub(crate) struct Generator<'a> {
    protocols: &'a Protocols,
    base: &'a PackageRoot,
    configuration: &'a Configuration,
    /// The code that was asked for, by protocol and
    /// [variant](rumpsteak_contract::ProtocolItem::variant).
    known: BTreeMap<(usize, String), Rc<Generated>>,
    /// The modules that the source includes, whether there is code for them or not.
    included: BTreeSet<String>,
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
    pub(crate) fn new(
        protocols: &'a Protocols,
        base: &'a PackageRoot,
        configuration: &'a Configuration,
    ) -> Self {
        let names = protocols.protocols.iter();
        Self {
            protocols,
            base,
            configuration,
            known: BTreeMap::new(),
            included: BTreeSet::new(),
            names: names.map(|loaded| name::snake(loaded.name())).collect(),
            folders: Folders::default(),
        }
    }

    /// The code that a `protocol!(…)` includes.
    pub(crate) fn generate(&mut self, inclusion: &Inclusion) -> Rc<Generated> {
        let item = &inclusion.item;
        let wanted = &*item.name.unraw().to_string();
        self.included.insert(name::snake(wanted));
        let lookup = self.protocols.lookup(wanted);
        let cause = match Cause::unless_found(self.protocols, lookup, wanted) {
            // The module would have another name than the one that the protocol's leads to.
            Ok(position) if name::snake(wanted) != self.names[position] => {
                let meant = self.protocols.protocols[position].name().to_owned();
                Cause::UnknownProtocol { wanted: wanted.to_owned(), meant: Some(meant) }
            }
            Ok(position) if self.configuration.generate => {
                let key = (position, item.variant());
                let known = self.known.get(&key).map(Rc::clone);
                let generated =
                    known.unwrap_or_else(|| Rc::new(self.code(position, &Choices::of(item))));
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
        protocols
            .map(|(position, protocol)| (protocol.name(), self.code(position, &Choices::default())))
    }

    /// One line for each machine beside a `.scr` file that nothing includes, that is of no role,
    /// that is not one piece, or that races where the protocol does not.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let is_included = |protocol: usize| self.included.contains(&self.names[protocol]);
        let mut warnings = machines::unused(&self.folders, self.protocols, self.base, &is_included);
        for machine in self.known.values().flat_map(|generated| &generated.machines) {
            warnings.extend(machine.cut_off().into_iter().chain(machine.raced(self.protocols)));
        }
        warnings
    }

    fn code(&self, position: usize, choices: &Choices) -> Generated {
        let protocol = &self.protocols.protocols[position];
        let file = &self.protocols.files[protocol.file];
        let (machines, problems) =
            machines::load(&self.folders, self.protocols, position, self.base);
        let mut generated = Generated { file: None, unwritable: None, problems, machines };
        let most = self.configuration.limits.generated_lines;
        let write = |machines: &_| write(protocol, file, machines, choices, most);
        match write(&generated.machines) {
            Ok(text) => {
                let path = format!("rumpsteak/{}.rs", self.file_name(position, choices));
                generated.file = Some(Rc::new(GeneratedFile { path, text }));
            }
            Err(reason) => {
                // What the protocol itself lacks its machines need not follow.
                if write(&Vec::new()).is_err() {
                    (generated.machines, generated.problems) = (Vec::new(), Vec::new());
                }
                generated.unwritable = Some(no_code(protocol, reason));
            }
        }
        generated
    }

    /// The protocol's name as that of a file, with a number if an earlier protocol has the same.
    fn file_name(&self, position: usize, choices: &Choices) -> String {
        let own = &self.names[position];
        let earlier = self.names[..position].iter().filter(|name| *name == own).count();
        let number = if earlier == 0 { String::new() } else { format!("_{}", earlier + 1) };
        format!("{own}{number}{}", choices.suffix)
    }
}

/// Why a protocol has no code as it is written, if it has none. `most` is the limit on its lines.
pub(crate) fn unwritable(protocol: &Loaded, file: &ScrFile, most: usize) -> Option<Cause> {
    let written = write(protocol, file, &[], &Choices::default(), most);
    written.err().map(|reason| no_code(protocol, reason))
}

fn no_code(protocol: &Loaded, reason: String) -> Cause {
    Cause::Unwritable { protocol: protocol.name().to_owned(), reason }
}

/// The code of a protocol, where `machines` are generated instead of projections.
///
/// # Errors
///
/// What cannot be said in Rust, and what to do about it.
fn write(
    protocol: &Loaded,
    file: &ScrFile,
    machines: &[Machine],
    choices: &Choices,
    most: usize,
) -> Result<String, String> {
    if !is_ident(protocol.name()) {
        return Err(format!(
            "`{}` is no name in Rust\n\nhelp: rename the protocol in {}",
            protocol.name(),
            file.shown()
        ));
    }
    // A protocol in which nothing is done again, though it says `rec`: most likely its processes
    // repeat, and would not fit. One that repeats otherwise is only warned of.
    let mut done_once = file.done_once().into_iter();
    if let Some(DoneOnce { variable, line, .. }) =
        done_once.find(|once| once.protocol == protocol.name() && !once.others_repeat)
    {
        return Err(format!(
            "`rec {variable}` is done once ({}:{line})\n\n\
             help: write `continue {variable};` where it begins again, or take out `rec {variable}`",
            file.shown()
        ));
    }
    let mut names = Names::new(protocol, file, choices)?;
    let annotated = annotated(file)?;
    let (mut sessions, mut lines) = (String::new(), 0);
    for (role, projection) in protocol.projections.iter().enumerate() {
        let machine = machines.iter().find(|machine| machine.linked.role == role);
        let fsm = machine.map_or(&projection.fsm, |machine| &machine.fsm);
        let base = names.roles[role].ty.clone();
        let is_projected = machine.is_none();
        let written = Some(Written { projection, is_projected, annotated: &annotated });
        let items = session::items(fsm, &format!("{base}Session"), base, &mut names, written)
            .map_err(|error| no_session(protocol, role, &error))?;
        let before = sessions.len();
        for (index, item) in items.iter().enumerate() {
            let root = (index == 0).then_some((fsm, machine));
            print_item(&mut sessions, item, root, &names.roles[role], &items[0], &names);
        }
        lines += sessions[before..].matches('\n').count();
        if lines > most {
            return Err(too_long(most));
        }
    }
    let used = ["Channel", "Message", "Role", "Roles", "session"];
    let used = &used[usize::from(choices.routes.is_some())..];
    let krate = choices.krate.trim_start_matches("::");
    let mut body = format!("{}\n", layout::import(&format!("use {krate}::"), used));
    print_roles(&mut body, protocol, file, &names);
    print_labels(&mut body, protocol, &names);
    body.push_str(&sessions);
    let from = one_line(file.shown().rsplit('/').next().unwrap_or_default());
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

fn too_long(most: usize) -> String {
    format!(
        "it would have more than {most} lines\n\nhelp: let fewer roles interrupt a block, let a `par` have fewer parts, or raise \
         `Limits::generated_lines`"
    )
}

fn no_session(protocol: &Loaded, role: usize, error: &Unwritable) -> String {
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
