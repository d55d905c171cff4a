//! Machines that lie beside a `.scr` file, to be generated instead of projections.
//!
//! ```text
//! protocols/double_buffering.scr
//! protocols/double_buffering.k.dot                      the role k, as DOT
//! protocols/double_buffering.DoubleBuffering.k.local    the same as a local type, with the protocol's name
//! ```
//!
//! The longer name is there for files of several protocols in which a role of this name takes part. Each machine is
//! verified against the projection; what is wrong is said with its line in the machine and its line in the protocol.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rumpsteak_fsm::sorted::{self, SortedMap};
use rumpsteak_fsm::subtype::Refusal;
use rumpsteak_fsm::text::{Form, Named, parse_named};
use rumpsteak_fsm::{Fsm, Limits};

use super::Problem;
use crate::fault::{Cause, Subject};
use crate::judge::subtype;
use crate::named_text::NamedText;
use crate::protocols::{ProtocolRole, Protocols};
use crate::report::excerpt::Excerpt;

use crate::source::package_root::PackageRoot;

/// A machine to be generated instead of a projection.
#[derive(Debug)]
pub(crate) struct Optimised {
    pub(crate) fsm: Fsm,
    /// The name of its file.
    pub(crate) file_name: String,
}

/// A file that may hold a machine.
#[derive(Debug)]
struct Candidate {
    path: PathBuf,
    form: Form,
    /// The parts of the name between that of the `.scr` file and the ending.
    parts: Vec<String>,
}

/// The folders of protocols, each read once: what may be a machine in them, by name.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    machines: RefCell<SortedMap<PathBuf, Rc<Vec<PathBuf>>>>,
}

impl Folders {
    fn machines(&self, folder: &Path) -> Rc<Vec<PathBuf>> {
        if let Some(known) = self.machines.borrow().get(folder) {
            return Rc::clone(known);
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut found: Vec<PathBuf> = paths
            .filter(|path| {
                let ending = path.extension().and_then(|ending| ending.to_str());
                matches!(ending, Some("dot" | "local"))
            })
            .collect();
        sorted::sort(&mut found);
        let found = Rc::new(found);
        let mut machines = self.machines.borrow_mut();
        machines.insert(folder.to_owned(), Rc::clone(&found));
        found
    }
}

/// The machines of a protocol, in the order of its roles, and what is wrong with them.
pub(crate) fn load(
    folders: &Folders,
    protocols: &Protocols,
    position: usize,
    base: &PackageRoot,
    limits: &Limits,
) -> (Vec<Option<Optimised>>, Vec<Problem>) {
    let protocol = &protocols.protocols[position];
    let candidates = candidates(folders, &protocols.files[protocol.file].path);
    let mut problems = Vec::new();
    let mut machines = Vec::new();
    for role in 0..protocol.projections.len() {
        let linked = ProtocolRole {
            protocol: position,
            role,
        };
        let mut own = candidates
            .iter()
            .filter(|candidate| is_for(candidate, protocols, linked));
        let machine = match (own.next(), own.next()) {
            (None, _) => Ok(None),
            (Some(candidate), None) => {
                let (machine, problem) = read(candidate, protocols, linked, base, limits);
                problems.extend(problem);
                Ok(machine)
            }
            (Some(first), Some(second)) => Err(format!(
                "two machines for the role `{}`: {} and {}\n\nhelp: remove one of the two",
                protocol.role_at(role),
                base.show(&first.path),
                base.show(&second.path)
            )),
        };
        machines.push(machine.unwrap_or_else(|problem| {
            problems.push(Problem::fails(problem));
            None
        }));
    }
    (machines, problems)
}

/// One line for each machine beside a `.scr` file that is not generated.
pub(crate) fn unused(
    folders: &Folders,
    protocols: &Protocols,
    base: &PackageRoot,
    is_generated: &dyn Fn(usize) -> bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for file in &protocols.files {
        for candidate in candidates(folders, &file.path) {
            let roles = protocols
                .protocols
                .iter()
                .enumerate()
                .flat_map(|(protocol, loaded)| {
                    (0..loaded.projections.len()).map(move |role| ProtocolRole { protocol, role })
                });
            let own: Vec<ProtocolRole> = roles
                .filter(|&linked| {
                    let loaded = &protocols.protocols[linked.protocol];
                    protocols.files[loaded.file].path == file.path
                        && is_for(&candidate, protocols, linked)
                })
                .collect();
            let shown = base.show(&candidate.path);
            match own.first() {
                Some(linked) if is_generated(linked.protocol) => {}
                Some(linked) => warnings.push(format!(
                    "{shown}: the machine is not used, because nothing includes `protocol!({})`",
                    protocols.protocols[linked.protocol].name()
                )),
                None if !file.diagnostics.is_empty() => {}
                None => warnings.push(format!(
                    "{shown}: the machine is not used, because no protocol of {} has such a role, or several have",
                    file.shown()
                )),
            }
        }
    }
    warnings
}

/// The files beside a `.scr` file that may hold machines, by name.
fn candidates(folders: &Folders, scr: &Path) -> Vec<Candidate> {
    let (Some(folder), Some(stem)) = (scr.parent(), scr.file_stem().and_then(|stem| stem.to_str()))
    else {
        return Vec::new();
    };
    let candidate = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        let rest = name.strip_prefix(stem)?.strip_prefix('.')?;
        let (middle, ending) = rest.rsplit_once('.')?;
        let form = match ending {
            "dot" => Form::Dot,
            "local" => Form::Local,
            _ => return None,
        };
        let parts = middle.split('.').map(str::to_owned).collect();
        let path = path.clone();
        Some(Candidate { form, parts, path })
    };
    folders
        .machines(folder)
        .iter()
        .filter_map(candidate)
        .collect()
}

fn is_for(candidate: &Candidate, protocols: &Protocols, linked: ProtocolRole) -> bool {
    let loaded = &protocols.protocols[linked.protocol];
    let role = loaded.role_at(linked.role);
    match &candidate.parts[..] {
        [named] => {
            let has_role = |other: &&crate::protocols::Loaded| {
                other.file == loaded.file && other.protocol.roles().contains(role)
            };
            named == role.as_str() && protocols.protocols.iter().filter(has_role).count() == 1
        }
        [protocol, named] => protocol == loaded.name() && named == role.as_str(),
        _ => false,
    }
}

fn read(
    candidate: &Candidate,
    protocols: &Protocols,
    linked: ProtocolRole,
    base: &PackageRoot,
    limits: &Limits,
) -> (Option<Optimised>, Option<Problem>) {
    let protocol = &protocols.protocols[linked.protocol];
    let role = protocol.role_at(linked.role);
    let shown = base.show(&candidate.path);
    let fails = |text| (None, Some(Problem::fails(text)));
    let source = match std::fs::read_to_string(&candidate.path) {
        Ok(source) => source,
        Err(error) => return fails(format!("cannot read {shown}: {error}")),
    };
    let text = Arc::new(NamedText::new(shown.clone(), source));
    let excerpt = |span: Range<usize>, label: &str| Excerpt::of_place(&text, span, label);
    let machines = match parse_named(&text.text, candidate.form) {
        Ok(machines) => machines,
        Err(error) => {
            let text = format!(
                "{shown} is no machine\n\n{}",
                excerpt(error.span.clone(), &error.message)
            );
            return fails(text);
        }
    };
    let [Named { fsm, actions, .. }] = &machines[..] else {
        let text = format!(
            "{shown} holds {} machines\n\nhelp: keep the machine of `{role}` there, and nothing else",
            machines.len()
        );
        return fails(text);
    };
    if fsm.role() != role {
        let text = format!(
            "the machine in {shown} is that of `{}`, but the file is named after `{role}`\n\n\
             help: rename one of the two",
            fsm.role()
        );
        return fails(text);
    }
    let file_name = candidate
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let optimised = Optimised {
        fsm: fsm.clone(),
        file_name,
    };
    let subject = || Subject {
        name: shown.clone(),
        linked,
        roles: Vec::new(),
        labels: BTreeMap::new(),
    };
    let problem = match subtype::judge_machine(protocols, subject, linked, fsm, limits) {
        None => None,
        Some((_, Some(defect))) => {
            let text = format!("the machine in {shown} is no session type: {defect}");
            Some(Problem::fails(text))
        }
        Some((mut cause, None)) => {
            if let Cause::Refused(refusal) = &mut cause {
                let found = refusal.refused.refusal.as_ref();
                let span = found.and_then(|found| actions.get(place(found, fsm)?));
                refusal.machine = span.map(|span| (Arc::clone(&text), span.clone()));
            }
            let is_judged = matches!(cause, Cause::Refused(_) | Cause::Undecided { .. });
            let refused = is_judged.then_some(linked.protocol);
            Some(Problem { cause, refused })
        }
    };
    (Some(optimised), problem)
}

/// The transition to blame: the action that comes too early or should not be, or else one before the place where an
/// action is missing.
fn place(refusal: &Refusal, fsm: &Fsm) -> Option<usize> {
    let blamed = refusal.sub.or(refusal.cycle.first().copied());
    let before = || {
        fsm.transitions()
            .find(|transition| transition.target == refusal.sub_state)
            .map(|transition| transition.id)
    };
    let after = || {
        fsm.transitions_from(refusal.sub_state)
            .next()
            .map(|transition| transition.id)
    };
    blamed.or_else(after).or_else(before).map(|id| id.index())
}
