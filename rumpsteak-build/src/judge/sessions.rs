//! All sessions of a module: first each by itself, then all together.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};
use rumpsteak_front::arguments::Liveness;
use rumpsteak_front::hash;
use rumpsteak_front::module::Item;
use rumpsteak_fsm::system::{self, EveryRun, Neglected};
use rumpsteak_fsm::{Message, Role, System, family};
use rumpsteak_scribble::{Projection, Protocol};

use crate::fault::{Cause, Fault, Gap, Hint, Note};
use crate::judge::Root;
use crate::judge::closed_system::{self, Member};
use crate::judge::together::{self, Combined, CombinedFault};
use crate::judge::{subtype, wrong_part};
use crate::protocols::Loaded;
use crate::scope::machine::{SessionMachine, number};
use crate::scope::{ItemId, Place, Scope};
use crate::settings::Settings;

#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) faults: Vec<Fault>,
    pub(crate) of_machines: Vec<Fault>,
    /// The sessions with a known role.
    pub(crate) roots: Vec<Root>,
    /// The sessions that name something that does not exist.
    pub(crate) left_out: BTreeSet<ItemId>,
    /// The joint result for sessions that were accepted one by one.
    pub(crate) combined: Option<Combined>,
    /// True if the sessions are safe with one another only.
    pub(crate) is_closed: bool,
    /// The capacities that routes declare, as text.
    pub(crate) capacities: String,
    /// The roles that may wait for ever, if the attribute does not mention that.
    pub(crate) neglected: Vec<Neglected>,
    /// True if a projection refuses a session, but the sessions are an accepted closed system.
    pub(crate) is_accepted: bool,
    /// The result for the closed system, otherwise.
    pub(crate) note: Option<Note>,
}

impl Judgement {
    /// A number that identifies the sessions that were read, and the declared capacities: the same
    /// in every build.
    pub(crate) fn number(&self) -> u64 {
        let machines = self.roots.iter().filter_map(|root| Some(&root.machine.as_ref()?.fsm));
        match (number(machines), &*self.capacities) {
            (number, "") => number,
            (number, capacities) => hash::number(&[&number.to_string(), capacities]).max(1),
        }
    }
}

/// Judges all sessions of a module. The roles in `machines_of` have machines beside the protocol.
pub(crate) fn judge(
    scope: &Scope<'_>,
    settings: &Settings,
    machines_of: &BTreeSet<usize>,
) -> Judgement {
    let (found, postponed) = Default::default();
    let mut judge = Judge { scope, settings, machines_of, found, postponed };
    judge.found.faults.extend(scope.faults.iter().cloned());
    for (id, _, role) in scope.roots() {
        judge.root(id, role);
    }
    judge.found.faults.extend(wrong_part::faults(scope, &mut judge.found.roots, settings));
    for (index, faults) in std::mem::take(&mut judge.postponed) {
        match wrong_part::of_other(scope, &judge.found.roots, index) {
            Some(fault) => judge.found.faults.push(fault),
            None => judge.add_once(judge.found.roots[index].item, faults),
        }
    }
    match scope.loaded() {
        Some((protocol, _)) => {
            judge.protocol(protocol);
            judge.liveness(protocol);
            judge.together(protocol);
        }
        None => judge.set(),
    }
    judge.found
}

struct Judge<'a> {
    scope: &'a Scope<'a>,
    settings: &'a Settings,
    machines_of: &'a BTreeSet<usize>,
    found: Judgement,
    /// The mistakes of a session that may go on as another role's session.
    postponed: Vec<(usize, Vec<Fault>)>,
}

impl Judge<'_> {
    fn root(&mut self, id: ItemId, role_name: &Ident) {
        let scope = self.scope;
        let position = scope.roles.iter().position(|role| role.item.name == *role_name);
        let Some(position) = position else {
            self.found.left_out.insert(id);
            self.found.faults.extend(scope.roleless(role_name));
            return;
        };
        let role = &scope.roles[position];
        let reached = scope.reach(id, role);
        let mut root = Root {
            item: id,
            role: position,
            items: reached.items,
            refused: reached.is_broken || !reached.faults.is_empty(),
            machine: None,
            accepted: None,
            refusal: None,
        };
        if root.refused {
            if reached.faults.iter().any(Fault::is_of_role) {
                self.postponed.push((self.found.roots.len(), reached.faults));
            } else {
                self.add_once(id, reached.faults);
            }
            self.found.left_out.extend(&root.items);
            self.found.roots.push(root);
            return;
        }
        let mut machine = scope.machine(id, role);
        if let (Some((protocol, _)), Some(own)) = (scope.loaded(), role.position) {
            let on_demand = protocol.projections[own].fsm.is_on_demand();
            machine.fsm = machine.fsm.on_demand(on_demand);
            match subtype::judge(scope, (id, role), &machine, self.settings) {
                Ok(accepted) => root.accepted = Some(accepted),
                Err(refusal) => root.refusal = Some(*refusal),
            }
            root.refused = root.refusal.is_some();
            let fault = self.family(id, &protocol.protocol, &machine);
            root.refused |= fault.is_some();
            self.found.faults.extend(fault);
        }
        root.machine = Some(machine);
        self.found.roots.push(root);
    }

    /// The mistake of a session that is safe with one member of a family, and perhaps with no other
    /// number.
    fn family(&self, id: ItemId, protocol: &Protocol, machine: &SessionMachine) -> Option<Fault> {
        let is_family = |role: &Role| protocol.members(role).is_some();
        let fsm = &machine.fsm;
        let of_role = |root: &&Root| self.scope.roles[root.role].role == *fsm.role();
        let earlier = self.found.roots.iter().find(of_role).filter(|_| is_family(fsm.role()));
        let (role, reason, span) = match (family::check(fsm, is_family), earlier) {
            (Ok(()), None) => return None,
            (Ok(()), Some(earlier)) => {
                let earlier = self.scope.name_of(earlier.item);
                (fsm.role(), format!("its members have the session `{earlier}`"), None)
            }
            (Err((state, obstacle)), _) => {
                let first = fsm.transitions_from(state).next()?;
                let of = if is_family(fsm.role()) { fsm.role() } else { &first.action.peer };
                let place = machine.origins.get(first.id.index());
                (of, obstacle.to_owned(), place.map(|place| place.span))
            }
        };
        let (name, role) = (self.scope.name_of(id), role.to_string());
        let span = span.filter(|_| !self.scope.is_generated(id));
        Some(Cause::Family { name, role, reason }.at(span.unwrap_or_else(|| self.place(id))))
    }

    /// Adds the mistakes of a session, except those that another session with the same part has.
    fn add_once(&mut self, session: ItemId, faults: Vec<Fault>) {
        // The role of a generated session may be meant for a struct with a mistake.
        if self.scope.is_generated(session) && !self.scope.faults.is_empty() {
            return;
        }
        Fault::add_once(&mut self.found.faults, faults);
    }

    /// The position in the protocol of the role of a session.
    fn played(&self, root: &Root) -> Option<usize> {
        self.scope.roles[root.role].position
    }

    /// These roles with their sessions. `position` finds the role of a session.
    fn members(
        &self,
        roles: impl Iterator<Item = String>,
        position: impl Fn(&Root) -> Option<usize>,
    ) -> Vec<Member<'_>> {
        let mut members: Vec<Member<'_>> = roles.map(|role| (role, Vec::new())).collect();
        for root in &self.found.roots {
            if let Some(role) = position(root) {
                members[role].1.push((self.scope.name_of(root.item), root.machine.as_ref()));
            }
        }
        members
    }

    /// Judges the sessions of the protocol as a closed system if one of them is refused.
    fn protocol(&mut self, protocol: &Loaded) {
        let refusals = || self.found.roots.iter().filter_map(|root| root.refusal.as_ref());
        if refusals().next().is_none() {
            return;
        }
        // A closed system may have another order, but not other messages.
        let is_advised = refusals().all(|(_, cause)| !cause.is_wrong_anywhere());
        let roles = protocol.protocol.roles().iter().map(ToString::to_string);
        let members = self.members(roles, |root| self.played(root));
        let promised = Some((&*protocol.projections, &*self.settings.required));
        let judged = closed_system::judge(&members, promised, &self.settings.limits);
        let is_accepted = self.settings.accepts_closed_system;
        self.found.note = match judged {
            Ok(_) if is_accepted => {
                (self.found.is_accepted, self.found.is_closed) = (true, true);
                for root in &mut self.found.roots {
                    root.refused &= root.refusal.take().is_none();
                }
                return;
            }
            Ok(bound) if is_advised => {
                Some(Note::Acceptable { protocol: protocol.name().to_owned(), bound })
            }
            Err((gap, _)) if is_accepted => Some(Note::Useless(gap)),
            // A module that did not ask for a closed system is not told that it is useless.
            _ => None,
        };
        self.refuse_all(protocol);
    }

    /// Reports the refused sessions of the protocol.
    fn refuse_all(&mut self, protocol: &Loaded) {
        let scope = self.scope;
        let note = self.found.note.clone();
        // A message that no session knows is one mistake.
        let mut said: BTreeSet<&Message> = BTreeSet::new();
        let mut refused: Vec<(usize, Place, Cause)> = Vec::new();
        // The numbers of written sessions, by the positions of their roles.
        let mut written: BTreeMap<usize, usize> = BTreeMap::new();
        let own = self.found.roots.iter().filter(|root| !scope.is_generated(root.item));
        own.filter_map(|root| self.played(root))
            .for_each(|role| *written.entry(role).or_default() += 1);
        for index in 0..self.found.roots.len() {
            let Some((place, mut cause)) = self.found.roots[index].refusal.take() else { continue };
            let root = &self.found.roots[index];
            let Some(role) = self.played(root) else { continue };
            if scope.is_generated(root.item) && self.machines_of.contains(&role) {
                let note = note.clone();
                self.found.of_machines.push(Fault { note, ..cause.at(place.span) });
                continue;
            }
            if let Cause::Refused(refusal) = &mut cause
                && written.get(&role).is_some_and(|number| *number > 1)
            {
                let others = 0..protocol.projections.len();
                let idle = others.filter(|role| !written.contains_key(role));
                let fsm = root.machine.as_ref().map(|machine| &machine.fsm);
                let fits = fsm.and_then(|fsm| subtype::fits(fsm, protocol, idle));
                let fits = fits.map(|other| {
                    let other = protocol.role_at(other);
                    Hint::Fits(refusal.subject.role(other).to_owned())
                });
                refusal.hint = fits.or(refusal.hint.take()).or(Some(Hint::Sibling));
            }
            if let Some(unknown) = cause.unknown_message() {
                let action = protocol.projections[role].fsm.transition(unknown).action;
                if !said.insert(&action.message) {
                    continue;
                }
            }
            let place = wrong_part::leave_part(scope, &self.found.roots, index, place, &mut cause);
            // rustc would also report a peer to which the role has no route.
            if scope.is_routeless(&self.found.roots[index]) {
                self.found.left_out.insert(self.found.roots[index].item);
            }
            refused.push((role, place, cause));
        }
        // If the order of the protocol itself is undecided, its generated sessions are one mistake.
        let mut is_said = !self.found.of_machines.is_empty();
        let is_plain = |place: &Place, cause: &Cause| {
            scope.is_generated(place.item) && matches!(cause, Cause::Undecided { .. })
        };
        is_said |= refused.iter().any(|(_, place, cause)| !is_plain(place, cause));
        refused.retain(|(_, place, cause)| {
            !is_plain(place, cause) || !std::mem::replace(&mut is_said, true)
        });
        if let Some(fault) = self.exchanged(protocol, &refused) {
            return self.found.faults.push(fault);
        }
        if let Some(fault) = self.discontinued(protocol, &refused) {
            return self.found.faults.push(fault);
        }
        for (place, cause) in of_two_roles(refused) {
            let note = note.clone();
            self.found.faults.push(Fault { note, ..cause.at(place.span) });
        }
    }

    /// The mistake of two structs that are named after each other's roles.
    fn exchanged(&self, protocol: &Loaded, refused: &[(usize, Place, Cause)]) -> Option<Fault> {
        refused.first()?;
        let misnamed = self.scope.roles.iter().filter_map(|role| {
            let [named] = protocol.roles(&role.item.name.to_string())[..] else { return None };
            let plays = role.position?;
            (named != plays).then_some((role, plays, named))
        });
        let misnamed: Vec<_> = misnamed.collect();
        misnamed.iter().find_map(|&(first, plays, named)| {
            let mut others = misnamed.iter();
            let (second, ..) = others.find(|&&(_, other, of)| (other, of) == (named, plays))?;
            let structs = [first, *second];
            let structs = structs.map(|role| (role.item.name.to_string(), role.role.to_string()));
            let span = first.item.link.as_ref().map_or(first.item.name.span(), |link| link.span);
            Some(Cause::Exchanged(Box::new(structs)).at(span))
        })
    }

    /// The mistake of a protocol that lacks a `continue` with which all sessions would fit.
    fn discontinued(&self, protocol: &Loaded, refused: &[(usize, Place, Cause)]) -> Option<Fault> {
        let name = |(_, _, cause): &(usize, Place, Cause)| match cause {
            Cause::Refused(refusal) => Some(refusal.subject.name.clone()),
            _ => None,
        };
        let sessions: Vec<String> = refused.iter().map(name).collect::<Option<_>>()?;
        let (first, place, _) = refused.first()?;
        refused.iter().find(|(role, ..)| role != first)?;
        let fits =
            |root: &Root, projections: &[Projection]| {
                self.scope.is_generated(root.item)
                    || root.machine.as_ref().zip(self.played(root)).is_some_and(|(own, role)| {
                        subtype::is_one(&own.fsm, &projections[role].fsm)
                    })
            };
        let modules = &self.scope.loaded()?.1.modules;
        let limits = self.settings.limits.scribble();
        let mut continued = modules.continued(protocol.protocol.name().as_str(), &limits);
        let roots = &self.found.roots;
        let (variable, behind, _) =
            continued.find(|(_, _, found)| roots.iter().all(|root| fits(root, found)))?;
        let (variable, protocol) = (variable.to_string(), self.scope.protocol?);
        Some(Cause::Discontinued { protocol, sessions, variable, behind }.at(place.span))
    }

    /// Refuses the sessions of roles that may wait for ever, if the attribute requires liveness.
    fn liveness(&mut self, protocol: &Loaded) {
        if self.found.roots.is_empty() {
            return;
        }
        let (refused, warned) = neglected_roles(self.settings, protocol);
        for (role, reason) in refused {
            // If the role has no session, the first session is marked.
            let own = self.found.roots.iter().position(|root| self.played(root) == Some(role));
            let root = &mut self.found.roots[own.unwrap_or(0)];
            root.refused = true;
            let (item, protocol) = (root.item, self.scope.protocol.unwrap_or_default());
            let cause = Cause::NotLive { name: self.scope.name_of(item), protocol, reason };
            self.found.faults.push(cause.at(self.place(item)));
        }
        self.found.neglected = warned;
    }

    /// The token of an item, or the attribute for a generated item.
    fn place(&self, item: ItemId) -> Span {
        match self.scope.is_generated(item) {
            true => self.scope.anchor(),
            false => subtype::name(self.scope, item).span,
        }
    }

    /// Judges together the sessions that the protocol accepts one by one.
    fn together(&mut self, protocol: &Loaded) {
        if self.found.is_accepted {
            return;
        }
        let mut sessions = vec![Vec::new(); protocol.projections.len()];
        for (index, root) in self.found.roots.iter().enumerate() {
            if let Some(role) = self.played(root)
                && let Some((accepted, in_any_order)) = &root.accepted
                && let Some(machine) = &root.machine
            {
                let (root, fsm, in_any_order) = (index, &machine.fsm, *in_any_order);
                sessions[role].push(together::Session { root, fsm, accepted, in_any_order });
            }
        }
        let (required, limits) = (&self.settings.required, &self.settings.limits);
        let mut combined = together::judge(protocol, &sessions, required, limits);
        self.found.is_closed |= combined.alone;
        for (root, found) in std::mem::take(&mut combined.refused) {
            self.refuse(root, found);
        }
        if self.settings.accepts_closed_system {
            combined.closed = None;
        }
        self.found.combined = Some(combined);
    }

    /// Refuses a session because of its peers' sessions.
    fn refuse(&mut self, index: usize, found: CombinedFault) {
        let scope = self.scope;
        self.found.roots[index].refused = true;
        let root = &self.found.roots[index];
        let role = &scope.roles[root.role];
        let Some(own) = role.position else { return };
        let place = match (&found, &root.machine) {
            (CombinedFault::Unsafe { refused, .. }, Some(machine)) => {
                subtype::blame(machine, refused)
            }
            _ => None,
        };
        let place = place.filter(|place| !scope.is_generated(place.item));
        let span = place.map_or_else(|| self.place(root.item), |place| place.span);
        let subject = subtype::subject(scope, root.item, role);
        let name = |other: usize| scope.name_of(self.found.roots[other].item);
        let fault = found.cause(subject, name).at(span);
        match scope.is_generated(root.item) && self.machines_of.contains(&own) {
            true => self.found.of_machines.push(fault),
            false => self.found.faults.push(fault),
        }
    }

    /// Judges the sessions of a module without a protocol together.
    fn set(&mut self) {
        let scope = self.scope;
        let is_broken = |item: &Item| matches!(item, Item::Broken(_));
        if !self.found.faults.is_empty() || scope.items().any(is_broken) {
            self.found.roots.iter_mut().for_each(|root| root.refused = true);
            return;
        }
        let roles = scope.roles.iter().map(|role| role.item.name.to_string());
        let members = self.members(roles, |root| Some(root.role));
        let (gap, blamed) = match closed_system::judge(&members, None, &self.settings.limits) {
            Ok(_) => return self.found.is_closed = true,
            Err(refusal) => refusal,
        };
        let set = scope.module.name.to_string();
        let at = scope.module.name.span();
        let fault = match gap {
            Gap::Silent(role) => {
                let own = scope.roles.iter().find(|own| own.item.name == role);
                let at = own.map_or(at, |own| own.item.name.span());
                Some(Cause::SilentRole { set, role }.at(at))
            }
            Gap::Unread(_) => None,
            Gap::Undecided(reason) => Some(Cause::UndecidedSystem { set, reason }.at(at)),
            Gap::Unsafe(run, with) => {
                let first = blamed.as_ref().and_then(|(_, places)| places.first().copied());
                let told = |place: &Place| (scope.name_of(place.item), place.span.start().line);
                let blamed = blamed.map(|(what, places)| (what, places.iter().map(told).collect()));
                let cause = Cause::UnsafeSystem { set, run, blamed, with };
                Some(cause.at(first.map_or(at, |place| place.span)))
            }
        };
        self.found.faults.extend(fault);
        self.found.roots.iter_mut().for_each(|root| root.refused = true);
    }
}

impl Scope<'_> {
    /// True if a session talks to a peer to which its role has no route.
    fn is_routeless(&self, root: &Root) -> bool {
        let role = &self.roles[root.role];
        let routes =
            role.item.routes.iter().filter_map(|route| Some(&self.role(&route.peer)?.role));
        let routes: Vec<_> = routes.collect();
        let mut actions = root.machine.iter().flat_map(|machine| machine.fsm.transitions());
        actions.any(|found| !routes.contains(&&found.action.peer))
    }
}

/// Keeps the refusals of two roles. The second one lists the remaining sessions.
fn of_two_roles(refused: Vec<(usize, Place, Cause)>) -> Vec<(Place, Cause)> {
    let mut of_role: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (position, (role, _, cause)) in refused.iter().enumerate() {
        if matches!(cause, Cause::Refused(_)) {
            of_role.entry(*role).or_default().push(position);
        }
    }
    let roles: Vec<Vec<usize>> = of_role.into_values().collect();
    let mut faults: Vec<Option<(Place, Cause)>> =
        refused.into_iter().map(|(_, place, cause)| Some((place, cause))).collect();
    if let [_, second, rest @ ..] = &roles[..] {
        let taken = rest.iter().flatten().filter_map(|&position| faults[position].take());
        let names = taken.filter_map(|(_, cause)| match cause {
            Cause::Refused(refusal) => Some(refusal.subject.name),
            _ => None,
        });
        let others: Vec<String> = names.collect();
        if let Some((_, Cause::Refused(refusal))) = &mut faults[second[0]] {
            refusal.others = Some(others);
        }
    }
    faults.into_iter().flatten().collect()
}

/// The roles that may wait for ever if others choose so: refused, with reasons, or warned of.
fn neglected_roles(
    settings: &Settings,
    protocol: &Loaded,
) -> (Vec<(usize, String)>, Vec<Neglected>) {
    let (mut refused, mut warned) = (Vec::new(), Vec::new());
    let required = &settings.required;
    let is_strict = |role: &usize| required[*role] == Some(Liveness::EveryRun);
    let strict: Vec<usize> = (0..required.len()).filter(is_strict).collect();
    if required.iter().all(|required| *required == Some(Liveness::Fair)) {
        return (refused, warned);
    }
    let mut limits = settings.limits.verifier;
    if strict.is_empty() {
        limits = limits.for_a_warning(protocol.projections.len());
    }
    let machines = protocol.projections.iter().map(|projection| projection.fsm.clone());
    let Ok(system) = System::new(machines.collect()) else { return (refused, warned) };
    let explore = || system::explore(&system, &limits);
    let EveryRun { neglected, limit } = system::live_in_every_run(&system, explore, &limits);
    let of = |one: &Neglected| protocol.protocol.roles().iter().position(|role| *role == one.role);
    for one in &neglected {
        let Some(role) = of(one) else { continue };
        match required[role] {
            Some(Liveness::EveryRun) => refused.push((role, one.to_string())),
            Some(Liveness::Fair) => {}
            None if one.is_idle => {}
            None => warned.push(one.clone()),
        }
    }
    if let Some(limit) = limit {
        let is_unknown = |role: &usize| neglected.iter().all(|one| of(one) != Some(*role));
        let unknown = strict.into_iter().filter(is_unknown);
        refused.extend(unknown.map(|role| (role, limit.to_string())));
    }
    (refused, warned)
}
