//! All sessions of a module: first each by itself, then all together.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};
use rumpsteak_front::arguments::Liveness;
use rumpsteak_front::module::Item;
use rumpsteak_fsm::system::{self, EveryRun, Neglected};
use rumpsteak_fsm::{Message, Role, System, family};

use crate::codegen::machines::Machine;
use crate::fault::{Cause, Fault, Gap, Hint, Note};
use crate::judge::closed_system::{self, Session};
use crate::judge::together::{self, Combined};
use crate::judge::{Root, machines, subtype, wrong_part};
use crate::protocols::Loaded;
use crate::scope::session::SessionMachine;
use crate::scope::{ItemId, Place, Scope};
use crate::settings::Settings;

#[derive(Default)]
pub(crate) struct Judgement {
    pub(crate) faults: Vec<Fault>,
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
}

impl Judgement {
    /// The sessions of each role of the module. `None` if a role has none, or one with a mistake,
    /// or if the number of members of a family matters.
    pub(crate) fn sessions(&self, scope: &Scope<'_>) -> Option<Vec<Vec<Session<'_>>>> {
        let mut sessions = vec![Vec::new(); scope.roles.len()];
        for root in &self.roots {
            sessions[root.role].push((root.item, root.machine.as_ref()?));
        }
        let is_complete = sessions.iter().all(|of_role| !of_role.is_empty());
        let counts = scope.loaded().is_none_or(|(protocol, _)| protocol.counts());
        (is_complete && counts).then_some(sessions)
    }
}

/// Judges all sessions of a module, some of which are generated from machines beside its protocol.
pub(crate) fn judge(scope: &Scope<'_>, settings: &Settings, machines: &[Machine]) -> Judgement {
    let mut judge = Judge { scope, settings, machines, found: Judgement::default() };
    judge.found.faults.extend(scope.faults.iter().cloned());
    for (id, _, role) in scope.roots() {
        judge.root(id, role);
    }
    let Judgement { roots, faults, .. } = &mut judge.found;
    for index in 0..roots.len() {
        let other = wrong_part::fault(scope, roots, index, settings);
        let root = &mut roots[index];
        match other {
            Some(fault) => {
                root.refusal = None;
                faults.push(fault);
            }
            // The role of a generated session may be meant for a struct with a mistake.
            None if scope.is_generated(root.item) && !scope.faults.is_empty() => {}
            None => faults.append(&mut root.faults),
        }
    }
    match scope.loaded() {
        Some((protocol, _)) => {
            // Another version is compared with one member of each family.
            judge.found.is_closed = !protocol.counts();
            let is_accepted = judge.protocol(protocol);
            judge.liveness(protocol);
            if !is_accepted {
                judge.together(protocol);
            }
        }
        None => judge.set(),
    }
    judge.found
}

struct Judge<'a> {
    scope: &'a Scope<'a>,
    settings: &'a Settings,
    machines: &'a [Machine],
    found: Judgement,
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
        let (items, faults, machine) = scope.resolve(id, role);
        let mut root = Root { item: id, role: position, items, faults, ..Root::default() };
        let Some(mut machine) = machine else {
            root.refused = true;
            self.found.left_out.extend(&root.items);
            self.found.roots.push(root);
            return;
        };
        if let (Some((protocol, _)), Some(own)) = (scope.loaded(), role.position) {
            machine.fsm = machine.fsm.played_like(&protocol.projections[own].fsm);
            match subtype::judge(scope, (protocol, own), (id, role), &machine, self.settings) {
                Ok(accepted) => root.accepted = Some(accepted),
                Err(refusal) => root.refusal = Some(*refusal),
            }
            root.refused = root.refusal.is_some();
            let fault = self.family(protocol, &root, &machine);
            root.refused |= fault.is_some();
            self.found.faults.extend(fault);
        }
        root.machine = Some(machine);
        self.found.roots.push(root);
    }

    /// The machine beside the protocol that a session is generated from.
    fn machine(&self, root: &Root) -> Option<&Machine> {
        let role = self.played(root).filter(|_| self.scope.is_generated(root.item))?;
        self.machines.iter().find(|machine| machine.role == role)
    }

    /// The mistake of a session that is safe with one member of a family, and perhaps with no other
    /// number. A session that does what the protocol says is as safe as the projections.
    fn family(&self, protocol: &Loaded, root: &Root, machine: &SessionMachine) -> Option<Fault> {
        let is_family = |role: &Role| protocol.protocol.members(role).is_some();
        let fsm = &machine.fsm;
        let accepted = root.accepted.as_ref();
        let is_plain = accepted.is_some_and(|(found, order)| together::is_plain(found, *order));
        let is_safe = is_plain && protocol.protocol.can_run(&protocol.projections, fsm);
        let judged = if is_safe { Ok(()) } else { family::check(fsm, is_family) };
        let of_role = |root: &&Root| self.scope.roles[root.role].role == *fsm.role();
        let earlier = self.found.roots.iter().find(of_role).filter(|_| is_family(fsm.role()));
        let (role, reason, span) = match (judged, earlier) {
            (Ok(()), None) if is_plain || accepted.is_none() || protocol.counts() => return None,
            (Ok(()), None) => {
                let role = protocol.protocol.roles().iter().find(|role| is_family(role))?;
                (role, "its members are judged in the protocol's order".to_owned(), None)
            }
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
        let (name, role) = (self.scope.name_of(root.item), role.to_string());
        let span = span.filter(|_| !self.scope.is_generated(root.item));
        Some(Cause::Family { name, role, reason }.at(span.unwrap_or_else(|| self.place(root.item))))
    }

    /// The position in the protocol of the role of a session.
    fn played(&self, root: &Root) -> Option<usize> {
        self.scope.roles[root.role].position
    }

    /// Judges the sessions of the protocol as a closed system if one of them is refused. Returns
    /// true if they are an accepted one.
    fn protocol(&mut self, protocol: &Loaded) -> bool {
        let refusals = || self.found.roots.iter().filter_map(|root| root.refusal.as_ref());
        if refusals().next().is_none() {
            return false;
        }
        // A closed system may have another order, but not other messages.
        let is_advised = refusals().all(|(_, cause)| !cause.is_wrong_anywhere());
        let sessions = self.found.sessions(self.scope);
        let sessions = sessions.filter(|of| of.len() == protocol.projections.len());
        let judged = sessions.map(|sessions| {
            closed_system::judge(self.scope, &sessions, Some(protocol), self.settings)
        });
        let is_accepted = self.settings.accepts_closed_system;
        let note = match judged {
            Some(Ok(_)) if is_accepted => {
                self.found.is_closed = true;
                for root in &mut self.found.roots {
                    root.refused &= root.refusal.take().is_none();
                }
                return true;
            }
            Some(Ok(bound)) if is_advised => Some(Note::Acceptable(bound)),
            Some(Err((gap, _))) if is_accepted => Some(Note::Useless(gap)),
            // A module that did not ask for a closed system is not told that it is useless.
            _ => None,
        };
        self.refuse_all(protocol, note.as_ref());
        false
    }

    /// Reports the refused sessions of the protocol, with a note about all of them.
    fn refuse_all(&mut self, protocol: &Loaded, note: Option<&Note>) {
        let scope = self.scope;
        // A message that no session knows is one mistake.
        let mut said: Vec<&Message> = Vec::new();
        let mut refused: Vec<(Place, Cause)> = Vec::new();
        // The numbers of written sessions, by the positions of their roles.
        let mut written = vec![0; protocol.projections.len()];
        let own = self.found.roots.iter().filter(|root| !scope.is_generated(root.item));
        own.filter_map(|root| self.played(root)).for_each(|role| written[role] += 1);
        for index in 0..self.found.roots.len() {
            let Some((place, mut cause)) = self.found.roots[index].refusal.take() else { continue };
            let root = &self.found.roots[index];
            let Some(role) = self.played(root) else { continue };
            if let Some(machine) = self.machine(root) {
                let place = Place { span: scope.anchor(), ..place };
                let (own, subject) = ((&machine.fsm, &[][..]), || machines::subject(machine));
                let judged = subtype::judge_machine(protocol, subject, role, own, self.settings);
                let in_machine = |cause: Box<_>| machines::marked(*cause, machine, None);
                refused.push((place, judged.err().map_or(cause, in_machine)));
                continue;
            }
            if let Cause::Refused(refusal) = &mut cause
                && written[role] > 1
            {
                refusal.hint.get_or_insert(Hint::Sibling);
            }
            if let Some(unknown) = cause.unknown_message() {
                let action = protocol.projections[role].fsm.transition(unknown).action;
                if said.contains(&&action.message) {
                    continue;
                }
                said.push(&action.message);
            }
            let place = wrong_part::leave_part(scope, &self.found.roots, index, place, &mut cause);
            refused.push((place, cause));
        }
        // If the order of the protocol itself is undecided, its generated sessions are one mistake.
        let is_plain = |place: &Place, cause: &Cause| {
            let of_session =
                matches!(cause, Cause::Undecided { subject, .. } if !subject.roles.is_empty());
            of_session && scope.is_generated(place.item)
        };
        let mut is_said = refused.iter().any(|(place, cause)| !is_plain(place, cause));
        refused.retain(|(place, cause)| {
            !is_plain(place, cause) || !std::mem::replace(&mut is_said, true)
        });
        // Two refusals are enough. The second one names the others.
        let names = refused.iter().filter_map(|(_, cause)| match cause {
            Cause::Refused(refusal) => Some(refusal.subject.name.clone()),
            _ => None,
        });
        let others: Vec<String> = names.skip(2).collect();
        let mut refusals = 0;
        for (place, mut cause) in refused {
            if let Cause::Refused(refusal) = &mut cause {
                refusals += 1;
                match refusals {
                    1 => {}
                    2 => refusal.others = Some(others.clone()),
                    _ => continue,
                }
            }
            self.found.faults.push(Fault { note: note.cloned(), ..cause.at(place.span) });
        }
    }

    /// Refuses the sessions of roles that may wait for ever if others choose so and the attribute
    /// requires liveness, or else warns of them.
    fn liveness(&mut self, protocol: &Loaded) {
        let required = &self.settings.required;
        let is_strict = |role: &usize| required[*role] == Some(Liveness::EveryRun);
        let mut strict: BTreeSet<usize> = (0..required.len()).filter(is_strict).collect();
        let is_fair = |required: &Option<Liveness>| *required == Some(Liveness::Fair);
        if self.found.roots.is_empty() || required.iter().all(is_fair) {
            return;
        }
        let mut limits = self.settings.limits.scribble.verifier;
        if strict.is_empty() {
            limits = limits.for_a_warning(protocol.projections.len());
        }
        let judged = protocol.protocol.judged(protocol.projections.clone()).into_iter();
        let Ok(system) = System::new(judged.map(|of| of.fsm).collect()) else { return };
        let explore = || system::explore(&system, &limits);
        let EveryRun { neglected, limit } = system::live_in_every_run(&system, explore, &limits);
        for one in neglected {
            let mut roles = protocol.protocol.roles().iter();
            // A member of a family is named by its index, too.
            let name = one.role.as_str().split('[').next();
            let Some(role) = roles.position(|role| Some(role.as_str()) == name) else { continue };
            match required[role] {
                Some(Liveness::EveryRun) => {
                    strict.remove(&role);
                    self.refuse_live(role, one.to_string());
                }
                None if !one.is_idle => self.found.neglected.push(one),
                _ => {}
            }
        }
        if let Some(limit) = limit {
            strict.into_iter().for_each(|role| self.refuse_live(role, limit.to_string()));
        }
    }

    /// Refuses the session of a role that has to be live and is not, for this reason.
    fn refuse_live(&mut self, role: usize, reason: String) {
        // If the role has no session, the first session is marked.
        let own = self.found.roots.iter().position(|root| self.played(root) == Some(role));
        let root = &mut self.found.roots[own.unwrap_or(0)];
        root.refused = true;
        let item = root.item;
        let cause = Cause::NotLive { name: self.scope.name_of(item), reason };
        self.found.faults.push(cause.at(self.place(item)));
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
        let scope = self.scope;
        let subject = |index: usize| {
            let root = &self.found.roots[index];
            let session = || subtype::subject(scope, root.item, &scope.roles[root.role]);
            self.machine(root).map_or_else(session, machines::subject)
        };
        let mut combined = together::judge(protocol, &sessions, self.settings, &subject);
        self.found.is_closed |= combined.alone;
        for (root, cause) in std::mem::take(&mut combined.refused) {
            self.refuse(root, cause);
        }
        if self.settings.accepts_closed_system {
            combined.closed = None;
        }
        self.found.combined = Some(combined);
    }

    /// Refuses a session because of its peers' sessions.
    fn refuse(&mut self, index: usize, mut cause: Cause) {
        let scope = self.scope;
        self.found.roots[index].refused = true;
        let root = &self.found.roots[index];
        let place = match (&cause, &root.machine) {
            (Cause::Refused(refusal), Some(machine)) => {
                subtype::blamed_at(machine, &refusal.refused)
            }
            _ => None,
        };
        let place = place.filter(|place| !scope.is_generated(place.item));
        let span = place.map_or_else(|| self.place(root.item), |place| place.span);
        if let Some(machine) = self.machine(root) {
            let session = root.machine.as_ref().map(|machine| &machine.fsm);
            cause = machines::marked(cause, machine, session);
        }
        self.found.faults.push(cause.at(span));
    }

    /// Judges the sessions of a module without a protocol together.
    fn set(&mut self) {
        let faults = self.set_faults();
        self.found.is_closed = faults.as_ref().is_some_and(Vec::is_empty);
        if !self.found.is_closed {
            self.found.faults.extend(faults.into_iter().flatten());
            self.found.roots.iter_mut().for_each(|root| root.refused = true);
        }
    }

    /// The mistakes of all sessions together. `None` if they cannot be judged.
    fn set_faults(&self) -> Option<Vec<Fault>> {
        let (scope, found) = (self.scope, &self.found);
        if !found.faults.is_empty() || scope.items().any(|item| matches!(item, Item::Broken { .. }))
        {
            return None;
        }
        let (set, at) = (scope.module.name.to_string(), scope.module.name.span());
        let has_session = |role: &usize| found.roots.iter().any(|root| root.role == *role);
        if let Some(silent) = (0..scope.roles.len()).find(|role| !has_session(role)) {
            let name = &scope.roles[silent].item.name;
            return Some(vec![Cause::SilentRole { set, role: name.to_string() }.at(name.span())]);
        }
        let sessions = found.sessions(scope)?;
        let fault = match closed_system::judge(scope, &sessions, None, self.settings) {
            Ok(_) => return Some(Vec::new()),
            Err((Gap::Undecided(reason), _)) => Cause::UndecidedSystem { set, reason }.at(at),
            Err((Gap::Unsafe(run, with), blamed)) => {
                let first = blamed.as_ref().and_then(|(_, places)| places.first().copied());
                let told = |place: &Place| (scope.name_of(place.item), place.span.start().line);
                let blamed = blamed.map(|(what, places)| (what, places.iter().map(told).collect()));
                let cause = Cause::UnsafeSystem { set, run, blamed, with };
                cause.at(first.map_or(at, |place| place.span))
            }
        };
        Some(vec![fault])
    }
}
