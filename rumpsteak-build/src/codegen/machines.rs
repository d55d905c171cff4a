//! Machines beside a `.scr` file, which replace projections in generated code.
//!
//! ```text
//! protocols/double_buffering.scr
//! protocols/double_buffering.k.dot                    the role k, as DOT
//! protocols/double_buffering.DoubleBuffering.k.local  as a local type, with the protocol's name
//! ```
//!
//! The longer name is for files in which several protocols have a role of this name. This module
//! only reads the files; whether a machine may replace the projection is judged later.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use litemap::LiteMap;
use rumpsteak_fsm::text::{Form, Named, parse_named};
use rumpsteak_fsm::{Defect, Fsm, Message, Role, StateId, Transition, TransitionId};
use rumpsteak_scribble::similar;

use crate::fault::Cause;
use crate::named_text::NamedText;
use crate::package_root;
use crate::protocols::{Loaded, Protocols, form_of, role_part};
use crate::words::{list, meant};

#[derive(Debug)]
pub(crate) struct Machine {
    /// The position of the role in its protocol.
    pub(crate) role: usize,
    pub(crate) fsm: Fsm,
    pub(crate) text: Arc<NamedText>,
    /// The place of each transition in the text.
    pub(crate) actions: Vec<Range<usize>>,
    pub(crate) states: Vec<String>,
}

impl Machine {
    /// A warning if an edge begins in an unreachable state, whose name probably has a typo.
    pub(crate) fn cut_off(&self) -> Option<String> {
        let Self { fsm, states, .. } = self;
        let mut entered = vec![false; fsm.len()];
        fsm.transitions().for_each(|of| entered[of.target.index()] = true);
        let named = |of: &dyn Fn(&StateId) -> bool| {
            let found = fsm.states().filter(of).filter_map(|state| states.get(state.index()));
            found.collect::<Vec<_>>()
        };
        let is_entered = |state: &StateId| *state == fsm.initial() || entered[state.index()];
        let cut_off = named(&|state| !is_entered(state) && !fsm.is_terminal(*state));
        let ends = named(&|state| is_entered(state) && fsm.is_terminal(*state));
        (!cut_off.is_empty()).then(|| {
            let (file, from, ends) = (&self.text.name, list(cut_off), list(ends));
            format!("{file}: no edge leads to {from}; without an edge that leads on: {ends}")
        })
    }

    /// A warning if the machine races, but not the protocol: probably a receive is too early.
    pub(crate) fn raced(&self, protocol: &Loaded) -> Option<String> {
        let Self { role, fsm, text, actions, .. } = self;
        let projection = &protocol.projections[*role].fsm;
        let is_raced = matches!(projection.check_directed(), Err(Defect::Mixed { .. }));
        let Err(Defect::Mixed { send, receive, .. }) = fsm.check_directed() else { return None };
        let (line, _) = text.position(actions.get(receive.index())?.start);
        let [send, receive] = [send, receive].map(|id| &fsm.transition(id).action.message);
        (!is_raced).then(|| {
            format!(
                "{}:{line}: `{}` receives `{receive}` or sends `{send}` here, whichever is first, which is a race, and \
                 it has none in the protocol; if it is to send first, write the receive behind that",
                text.name,
                fsm.role()
            )
        })
    }
}

/// The machines of a protocol, in the order of its roles, and the mistakes in their files.
pub(crate) fn load(protocols: &Protocols, position: usize) -> (Vec<Machine>, Vec<Cause>) {
    let protocol = &protocols.protocols[position];
    let (mut machines, mut problems) = (Vec::new(), Vec::new());
    let mut owned: LiteMap<usize, Vec<_>> = LiteMap::new();
    for (path, text) in &protocols.files[protocol.file].machines {
        match owner(path, protocols, protocol.file) {
            Ok((protocol, role)) if protocol == position => {
                owned.entry(role).or_default().push((path, text));
            }
            Err(Misnamed { reason, help, is_machine: true }) => {
                let file = protocols.base.show(path);
                let headline = format!("the machine in {file} is not used, because {reason}");
                problems.push(Cause::Machine { headline, place: None, help: Some(help) });
            }
            _ => {}
        }
    }
    for (role, own) in owned {
        let read = if let [first, second, ..] = &own[..] {
            let role = protocol.role_at(role);
            let [first, second] = [first, second].map(|(path, _)| protocols.base.show(path));
            let headline = format!("two machines for the role `{role}`: {first} and {second}");
            let help = Some("remove one of the two".to_owned());
            Err(Cause::Machine { headline, place: None, help })
        } else {
            let (path, text) = own[0];
            read(path, text, protocols, (protocol, role))
        };
        match read {
            Ok(machine) => machines.push(machine),
            Err(problem) => problems.push(problem),
        }
    }
    (machines, problems)
}

/// A warning for each machine in a folder of `.scr` files that is not used.
pub(crate) fn unused(protocols: &Protocols, is_included: &dyn Fn(usize) -> bool) -> Vec<String> {
    let mut warnings = strays(protocols);
    for (position, file) in protocols.files.iter().enumerate() {
        if !file.module.diagnostics.is_empty() {
            continue;
        }
        // Each module of a file reports the errors of the file.
        let mut own = (0..).zip(&protocols.protocols).filter(|(_, of)| of.file == position);
        let is_said = own.any(|(protocol, _)| is_included(protocol));
        for (path, _) in &file.machines {
            let reason = match owner(path, protocols, position) {
                Ok((protocol, _)) if is_included(protocol) => continue,
                Ok((protocol, _)) => format!(
                    "no module is for the protocol `{0}`: `#[rumpsteak::protocol({0})] mod …`",
                    protocols.protocols[protocol].name()
                ),
                Err(Misnamed { is_machine: true, .. }) if is_said => continue,
                Err(Misnamed { reason, help, .. }) => format!("{reason}; {help}"),
            };
            let shown = protocols.base.show(path);
            warnings.push(format!("{shown}: the machine is not used, because {reason}"));
        }
    }
    warnings
}

/// A warning for each machine without a `.scr` file. A picture in DOT is not a machine.
fn strays(protocols: &Protocols) -> Vec<String> {
    let is_stray = |path: &&PathBuf| {
        let text = || package_root::read(path).unwrap_or_default();
        let is_machine = || match form_of(path) {
            Some(Form::Dot) => parse_named(&text(), Form::Dot).is_ok_and(|found| !found.is_empty()),
            form => form.is_some(),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut stems = name.match_indices('.').map(|(stop, _)| &name[..stop]);
        let mut has_scr = || stems.any(|stem| path.with_file_name(format!("{stem}.scr")).is_file());
        is_machine() && !has_scr()
    };
    let strays = protocols.machines.values().flatten().filter(is_stray);
    let warning = |path: &PathBuf| {
        let shown = protocols.base.show(path);
        format!(
            "{shown}: the machine is not used, because it is named after no `.scr` file; its name is that of the `.scr` \
             file, a dot, that of the role, and the ending"
        )
    };
    strays.map(warning).collect()
}

/// The reason why a file belongs to no role.
struct Misnamed {
    reason: String,
    help: String,
    /// True if the file is certainly meant to be a machine, and not a draft or a picture.
    is_machine: bool,
}

/// The positions of the protocol and of the role that a file beside a `.scr` file belongs to.
fn owner(path: &Path, protocols: &Protocols, file: usize) -> Result<(usize, usize), Misnamed> {
    let mut known: LiteMap<String, Option<(usize, usize)>> = LiteMap::new();
    let own = protocols.protocols.iter().enumerate().filter(|(_, loaded)| loaded.file == file);
    for (protocol, loaded) in own {
        for (role, name) in loaded.protocol.roles().iter().enumerate() {
            let linked = Some((protocol, role));
            known.insert(format!("{}.{name}", loaded.name()), linked);
            // The role of several protocols needs the longer name.
            known.entry(name.to_string()).and_modify(|linked| *linked = None).or_insert(linked);
        }
    }
    let wanted = role_part(&protocols.files[file].path, path).unwrap_or_default();
    if let Some(Some(linked)) = known.get(wanted) {
        return Ok(*linked);
    }
    let is_role = wanted.rsplit('.').next().is_some_and(|role| known.contains_key(role));
    let known: Vec<&str> =
        known.keys().map(String::as_str).filter(|name| *name != wanted).collect();
    Err(Misnamed {
        reason: format!("{} has no role `{wanted}`", protocols.files[file].shown()),
        help: meant(wanted, &known, "the roles are"),
        is_machine: is_role || similar(wanted, &known).is_some(),
    })
}

fn read(
    path: &Path,
    text: &io::Result<Arc<NamedText>>,
    protocols: &Protocols,
    (loaded, position): (&Loaded, usize),
) -> Result<Machine, Cause> {
    let role = loaded.role_at(position);
    let file = protocols.base.show(path);
    let wrong = |headline, help| Cause::Machine { headline, place: None, help };
    let text =
        text.as_ref().map_err(|error| wrong(format!("cannot read {file}: {error}"), None))?;
    // Only files with such an ending are read.
    let form = form_of(path).unwrap_or(Form::Local);
    let mut machines = parse_named(&text.text, form).map_err(|error| {
        let headline = format!("cannot read {file} as {form}: {}", error.message);
        let place = Some((Arc::clone(text), error.span.clone()));
        Cause::Machine { headline, place, help: None }
    })?;
    let number = machines.len();
    let (Some(Named { fsm, actions, states }), 1) = (machines.pop(), number) else {
        let help = format!("keep the machine of `{role}` there, and nothing else");
        return Err(wrong(format!("{file} holds {number} machines"), Some(help)));
    };
    let own = fsm.role();
    if own != role {
        let headline = format!(
            "the machine in {file} is that of `{own}`, but the file is named after `{role}`"
        );
        return Err(wrong(headline, Some("rename one of the two".to_owned())));
    }
    if let Err(defect) = fsm.check_deterministic() {
        return Err(wrong(format!("the machine in {file} is not a session type: {defect}"), None));
    }
    let lacks = |kind: &str, wanted: &str, known: &BTreeSet<String>, id: TransitionId| {
        let headline =
            format!("the machine in {file}: `{}` has no {kind}`{wanted}`", loaded.name());
        let help = Some(meant(wanted, known, "there are"));
        let place = Some((Arc::clone(text), actions[id.index()].clone()));
        Err(Cause::Machine { headline, place, help })
    };
    let roles: BTreeSet<String> = loaded.protocol.roles().iter().map(Role::to_string).collect();
    let messages = loaded.messages.values().flatten();
    let messages: BTreeSet<String> = messages.map(Message::to_string).collect();
    for Transition { id, action, .. } in fsm.transitions() {
        let [peer, message] = [action.peer.to_string(), action.message.to_string()];
        if !roles.contains(&peer) {
            return lacks("role ", &peer, &roles, id);
        }
        if !messages.contains(&message) {
            return lacks("", &message, &messages, id);
        }
    }
    Ok(Machine { role: position, fsm, text: Arc::clone(text), actions, states })
}
