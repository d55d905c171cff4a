//! What the attribute of a module asks for.

use std::collections::BTreeMap;

use rumpsteak_front::Arguments;
use rumpsteak_front::arguments::Liveness;
use rumpsteak_fsm::Role;
use rumpsteak_fsm::verify::together::Part;

use crate::fault::{Cause, Fault};
use crate::limits::Limits;
use crate::protocols::Loaded;

/// The settings of a module.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) accepts_closed_system: bool,
    /// The liveness that is asked of all roles, and of some by their position.
    asked_of_all: Option<Liveness>,
    asked: BTreeMap<usize, Liveness>,
}

/// The limits in the arguments of a module, and what is wrong with them.
pub(crate) fn limits(arguments: &Arguments, mut limits: Limits) -> (Limits, Vec<Fault>) {
    let mut faults = Vec::new();
    for (name, most) in &arguments.limits {
        let known: Vec<String> = limits.by_name().map(|(name, _)| name.to_owned()).collect();
        let mut own = limits.by_name();
        match own.find(|(known, _)| name == known) {
            Some((_, limit)) => *limit = *most,
            None => faults.push(Cause::Setting { name: name.to_string(), known }.at(name.span())),
        }
    }
    (limits, faults)
}

impl Settings {
    /// The settings in the arguments of a module with this protocol, and what is wrong with them.
    pub(crate) fn new(
        arguments: &Arguments,
        given: Limits,
        protocol: Option<&Loaded>,
    ) -> (Self, Vec<Fault>) {
        let (limits, mut faults) = limits(arguments, given);
        let mut settings = Self {
            limits,
            accepts_closed_system: arguments.accepts_closed_system.is_some(),
            asked_of_all: None,
            asked: BTreeMap::new(),
        };
        for asked in &arguments.liveness {
            if asked.roles.is_empty() {
                settings.asked_of_all = Some(asked.liveness);
            }
            for role in &asked.roles {
                let Some(protocol) = protocol else { continue };
                match protocol.roles(&role.to_string())[..] {
                    [position] => _ = settings.asked.insert(position, asked.liveness),
                    _ => {
                        let known = protocol.protocol.roles().iter().map(Role::to_string);
                        let (name, known) = (role.to_string(), known.collect());
                        faults.push(Cause::Setting { name, known }.at(role.span()));
                    }
                }
            }
        }
        (settings, faults)
    }

    /// The liveness that is asked of a role, by its position in the protocol.
    pub(crate) fn asked(&self, role: usize) -> Option<Liveness> {
        self.asked.get(&role).copied().or(self.asked_of_all)
    }

    /// The liveness that is asked of each of so many roles.
    pub(crate) fn asked_of_all(&self, roles: usize) -> Vec<Option<Liveness>> {
        (0..roles).map(|role| self.asked(role)).collect()
    }
}

/// The attribute of a protocol with one more setting.
pub(crate) fn attribute(protocol: &str, setting: &str) -> String {
    format!("#[protocol({protocol}, {setting})]")
}

/// The setting that accepts what holds if choices are fair.
pub(crate) fn fair(role: &Role) -> String {
    format!("fair({role})")
}

/// The setting that raises a limit.
pub(crate) fn raised(limit: &str, value: usize) -> String {
    format!("limits({limit} = {})", value.saturating_mul(10))
}

/// A role of which so much is asked.
pub(crate) fn part(part: Part<'_>, asked: Option<Liveness>) -> Part<'_> {
    match asked {
        Some(Liveness::Fair) => part.fair(),
        Some(Liveness::EveryRun) => part.strict(),
        None => part,
    }
}
