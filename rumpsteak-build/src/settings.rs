//! The settings in the attribute of a module.

use rumpsteak_front::Arguments;
use rumpsteak_front::arguments::Liveness;
use rumpsteak_fsm::Role;

use crate::fault::{Cause, Fault};
use crate::limits::Limits;
use crate::protocols::Loaded;

pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) accepts_closed_system: bool,
    /// The liveness that the attribute requires of each role of the protocol.
    pub(crate) required: Vec<Option<Liveness>>,
}

/// The limits of a module, and the mistakes in the arguments that set them.
pub(crate) fn limits(arguments: &Arguments, mut limits: Limits) -> (Limits, Vec<Fault>) {
    let mut faults = Vec::new();
    for (name, most) in &arguments.limits {
        let known = limits.by_name().map(|(name, _)| name.to_owned()).to_vec();
        match limits.by_name().into_iter().find(|(known, _)| name == known) {
            Some((_, limit)) => *limit = *most,
            None => faults.push(Cause::Setting { name: name.to_string(), known }.at(name.span())),
        }
    }
    (limits, faults)
}

impl Settings {
    /// The settings of a module with this protocol, and the mistakes in its arguments.
    pub(crate) fn new(
        arguments: &Arguments,
        given: Limits,
        protocol: Option<&Loaded>,
    ) -> (Self, Vec<Fault>) {
        let (limits, mut faults) = limits(arguments, given);
        let roles = protocol.map_or(&[][..], |protocol| protocol.protocol.roles());
        let of_all = arguments.liveness.iter().rfind(|(_, roles)| roles.is_empty());
        let mut required = vec![of_all.map(|(liveness, _)| *liveness); roles.len()];
        for (liveness, named) in &arguments.liveness {
            for role in named {
                let Some(protocol) = protocol else { continue };
                if let [position] = protocol.roles(&role.to_string())[..] {
                    required[position] = Some(*liveness);
                } else {
                    let known = roles.iter().map(Role::to_string).collect();
                    faults.push(Cause::Setting { name: role.to_string(), known }.at(role.span()));
                }
            }
        }
        (Self { limits, accepts_closed_system: arguments.accepts_closed_system, required }, faults)
    }
}

/// The attribute of a module with one more setting.
pub(crate) fn attribute(protocol: &str, setting: &str) -> String {
    format!("#[rumpsteak::protocol({protocol}, {setting})]")
}
