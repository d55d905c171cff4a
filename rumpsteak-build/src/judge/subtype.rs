//! One root against its protocol.
//!
//! The judgement itself is that of [`rumpsteak_fsm::verify()`]: the written machine must be an asynchronous subtype of the
//! projection onto its role. This module finds the token to blame and the names to blame it with.

use rumpsteak_fsm::subtype::Side;
use rumpsteak_fsm::verify::VerifyError;
use rumpsteak_fsm::{Action, Defect, Limits, Role, Verdict, verify};

use crate::link::{LabelMatch, Linked, Pairs, match_label};
use crate::protocols::{Loaded, ScrFile};
use crate::report::{Kind, refusal};
use crate::sessions::{Fault, Place, Written};
use crate::source::crate_tree::{ItemId, ItemKind, Tree};

/// What a root is judged by.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) pairs: &'a Pairs,
    pub(crate) protocol: &'a Loaded,
    pub(crate) file: &'a ScrFile,
    pub(crate) linked: Linked,
    /// The root.
    pub(crate) root: ItemId,
    /// The struct that plays it.
    pub(crate) role: ItemId,
    /// The file of the machine, for one that is no root: it names roles and messages as the protocol does.
    pub(crate) machine: Option<&'a str>,
}

/// Judges a root; what is wrong is at the token to blame.
pub(crate) fn judge(
    setting: &Setting<'_>,
    written: &Written,
    limits: &Limits,
) -> Option<(Fault, Kind)> {
    let projection = &setting.protocol.projections[setting.linked.role];
    let peers = setting.protocol.peers(setting.linked.role);
    let mut kind = Kind::Fails;
    let (place, text) = match verify(&written.fsm, &projection.fsm, &peers, limits) {
        Ok(Verdict::Safe(_)) => return None,
        Ok(Verdict::Unsafe(refused)) => {
            let place = blame(setting, written, &refused);
            (place, refusal::refused(setting, written, &refused))
        }
        Ok(Verdict::Undecided(limit)) => {
            kind = Kind::Undecided;
            (setting.name(), refusal::undecided(setting, limit))
        }
        Err(VerifyError::Machine(error)) if error.side == Side::Sub => {
            let place = match &error.defect {
                Defect::Nondeterministic {
                    transitions: [_, second],
                    ..
                } => written.origins[second.index()],
                _ => setting.name(),
            };
            (place, refusal::ambiguous_choice(setting, &error.defect))
        }
        Err(VerifyError::Machine(error)) => (
            setting.name(),
            refusal::unsupported_protocol(setting, &error.defect),
        ),
        Err(error) => (setting.name(), refusal::unjudged(setting, &error)),
    };
    Some((Fault { place, text }, kind))
}

/// The token to report a refusal at: the action that comes too early or should not be, or else the place where an action
/// is missing.
fn blame(
    setting: &Setting<'_>,
    written: &Written,
    refused: &rumpsteak_fsm::verify::Refused,
) -> Place {
    match &refused.refusal {
        Some(refusal) => match (refusal.sub, refusal.cycle.first()) {
            (Some(transition), _) | (None, Some(&transition)) => {
                written.origins[transition.index()]
            }
            (None, None) => written.states[refusal.sub_state.index()],
        },
        None => setting.name(),
    }
}

impl Setting<'_> {
    /// The root's own name.
    fn name(&self) -> Place {
        let token = match &*self.tree.item(self.root).kind {
            ItemKind::Session(session) => session.name_token,
            _ => 0,
        };
        Place {
            item: self.root,
            token,
        }
    }

    /// What the user calls a role of the protocol: the struct that plays it, in the root's own crate if there is one.
    pub(crate) fn rust_role(&self, role: &Role) -> String {
        if self.machine.is_some() {
            return role.to_string();
        }
        let plays = |(_, pair): &(&ItemId, &crate::link::RolePair)| {
            pair.link.as_ref().is_ok_and(|linked| {
                linked.protocol == self.linked.protocol
                    && self.protocol.role_at(linked.role) == role
            })
        };
        let krate = |id: ItemId| self.tree.module(self.tree.item(id).module).krate;
        let own = krate(self.root);
        let played = self.pairs.roles.iter().filter(plays).map(|(&id, _)| id);
        // Of several in one crate, the one nearest to the root in the source.
        let distance = |id: &ItemId| (krate(*id) != own, id.0.abs_diff(self.root.0));
        match played.min_by_key(distance) {
            Some(id) => self.tree.item(id).name.clone(),
            None => role.to_string(),
        }
    }

    /// What the user calls the message of an action.
    pub(crate) fn rust_label(&self, action: &Action) -> String {
        if self.machine.is_some() {
            return action.message.to_string();
        }
        let labels = self
            .pairs
            .roles
            .get(&self.role)
            .map_or(&[][..], |role| &role.labels);
        let found = labels.iter().find(|label| {
            matches!(match_label(label, self.linked.protocol, self.protocol, self.file),
                LabelMatch::Found(message) if *message == action.message)
        });
        match found {
            Some(label) => label.written.clone(),
            None => action.message.label.to_string(),
        }
    }

    /// The name of the root.
    pub(crate) fn root_name(&self) -> &str {
        if let Some(machine) = self.machine {
            return machine;
        }
        &self.tree.item(self.root).name
    }
}
