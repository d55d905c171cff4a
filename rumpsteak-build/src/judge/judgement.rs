//! All sessions of a package, judged: first each by itself, then the closed systems.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::Path;
use rumpsteak_contract::verdict::RoleName;
use rumpsteak_fsm::system::Neglected;
use rumpsteak_fsm::{Message, Role};
use rumpsteak_scribble::Projection;

use crate::configuration::Configuration;
use crate::fault::{Cause, Fault, Gap, NameProblem, Note, NoteKind, Place, Refusal};
use crate::judge::closed_system::{self, Member, Session};
use crate::judge::liveness::{self, Neglects};
use crate::judge::root::Root;
use crate::judge::together::{self, Combined, CombinedFault};
use crate::judge::{capacities, subtype, wrong_part};
use crate::limits::Limits;
use crate::link::closed_sets::ClosedSet;
use crate::link::context::Context;
use crate::link::roles::{LinkError, RolePair, peers};
use crate::link::routes;
use crate::protocols::{Lookup, ProtocolRole, Protocols};
use crate::sessions::machine::number;
use crate::sessions::parts::parts;
use crate::sessions::resolve::{no_role, resolve_session};
use crate::sessions::unmarked::unmarked;
use crate::source::conditions::CfgValue;
use crate::source::crate_tree::{CrateId, ItemId, ItemKind, Meaning, Tree};
use crate::source::names::{self, Resolution, resolve};

/// What was found out about the sessions of a package.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) faults: Faults,
    /// The sessions with a role that is known.
    pub(crate) roots: BTreeMap<ItemId, Root>,
    /// The protocols of which a session is refused, by position: what the closed system of all
    /// their sessions is worth.
    pub(crate) closed_systems: BTreeMap<usize, ClosedSystem>,
    /// What is known of sessions together, with the position of their protocol.
    pub(crate) combined: Vec<(usize, Combined)>,
    /// For each role whose sessions are safe only with those of this package: a number for all
    /// sessions of all roles.
    pub(crate) closed: BTreeMap<ItemId, u64>,
    /// The roles that a protocol neglects, with its position, where build.rs says nothing of it.
    pub(crate) neglected: Vec<(usize, Neglected)>,
    /// What is wrong at each `protocol!(…)`, in the order of the source.
    pub(crate) inclusions: Vec<Vec<(Cause, Option<Note>)>>,
}

/// What is wrong, by item.
#[derive(Debug, Default)]
pub(crate) struct Faults(BTreeMap<ItemId, Vec<Fault>>);

/// The closed system of all sessions of a protocol.
#[derive(Debug)]
pub(crate) struct ClosedSystem {
    /// Whether it is safe, and the build script accepts that.
    pub(crate) is_accepted: bool,
    /// What to add to what its projection refuses.
    pub(crate) note: Option<Note>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        let known = self.0.entry(fault.place.item).or_default();
        if !known.contains(&fault) {
            known.push(fault);
        }
    }

    pub(crate) fn contains(&self, item: ItemId) -> bool {
        self.0.contains_key(&item)
    }

    pub(crate) fn of(&self, item: ItemId) -> &[Fault] {
        self.0.get(&item).map_or(&[], Vec::as_slice)
    }

    /// The faults of all items, to be changed.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = (ItemId, &mut Vec<Fault>)> {
        self.0.iter_mut().map(|(&item, faults)| (item, faults))
    }

    /// The items with faults.
    pub(crate) fn items(&self) -> impl Iterator<Item = ItemId> {
        self.0.keys().copied()
    }
}

/// Judges all sessions.
pub(crate) fn judge(context: Context<'_>, configuration: &Configuration) -> Judgement {
    let limits = &configuration.limits;
    let mut judge = Judge { context, configuration, limits, found: Judgement::default() };
    let tree = context.tree;
    let seconds = tree.item_ids().map(|id| tree.item(id)).filter(|item| item.is_second);
    let twice: BTreeSet<_> = seconds.map(|item| (item.module, &item.name)).collect();
    for id in tree.item_ids() {
        let item = tree.item(id);
        let ItemKind::Session(session) = &*item.kind else { continue };
        let name = item.name.clone();
        if item.is_second {
            judge.found.faults.add(Cause::DeclaredTwice { name }.at(id, session.name_token));
        } else if twice.contains(&(item.module, &name)) {
            // Nobody knows which of the two is meant.
            let echo = Cause::SaidOf { name }.at(id, session.name_token);
            judge.found.faults.add(Fault { stub: Some("nothing".to_owned()), ..echo });
        } else if let Some(path) = &session.role {
            judge.root(id, path);
        }
    }
    let positions = 0..context.protocols.protocols.len();
    let closed = positions.filter(|&position| judge.is_closed(position)).collect();
    let named = wrong_part::faults(context, &mut judge.found.roots, &closed);
    named.into_iter().for_each(|fault| judge.found.faults.add(fault));
    let routes = context.tree.item_ids().flat_map(|id| routes::faults(context.tree, id));
    routes.for_each(|fault| judge.found.faults.add(fault));
    let linked = judge.linked();
    for (position, roots) in linked.iter().enumerate() {
        judge.protocol(position, roots, judge.is_closed(position));
        judge.liveness(position, roots);
    }
    judge.together(&linked);
    for set in &context.pairs.sets {
        judge.set(set);
    }
    judge.unmarked();
    judge.found
}

/// Leaves the refusals of a protocol's sessions in a crate at those of two roles, of which the
/// second names the others: more of them are most likely for one change of the protocol.
fn of_two_roles(tree: &Tree, refused: Vec<(usize, Fault)>) -> Vec<Fault> {
    let mut of_crate: BTreeMap<CrateId, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (position, (role, fault)) in refused.iter().enumerate() {
        let item = fault.place.item;
        if matches!(fault.cause, Cause::Refused(_)) && !tree.is_generated(item) {
            let of_role = of_crate.entry(tree.crate_id(item)).or_default();
            of_role.entry(*role).or_default().push(position);
        }
    }
    let mut faults: Vec<Fault> = refused.into_iter().map(|(_, fault)| fault).collect();
    for roles in of_crate.into_values() {
        let roles: Vec<Vec<usize>> = roles.into_values().collect();
        let [first, second, rest @ ..] = &roles[..] else { continue };
        let name = |position: &usize| match &faults[*position].cause {
            Cause::Refused(refusal) => refusal.subject.name.clone(),
            _ => String::new(),
        };
        let (first, others) = (name(&first[0]), rest.iter().flatten().map(name).collect());
        if let Cause::Refused(refusal) = &mut faults[second[0]].cause {
            refusal.others = Some(others);
        }
        for &position in rest.iter().flatten() {
            faults[position].cause = Cause::SaidOf { name: first.clone() };
        }
    }
    faults
}

/// Whether a name in build.rs stands for the protocol at a position.
fn is_named(protocols: &Protocols, name: &str, position: usize) -> bool {
    matches!(protocols.lookup(name), Lookup::Found(found) if found == position)
}

struct Judge<'a> {
    context: Context<'a>,
    configuration: &'a Configuration,
    limits: &'a Limits,
    found: Judgement,
}

impl<'a> Judge<'a> {
    /// Whether build.rs accepts a protocol as a closed system.
    fn is_closed(&self, position: usize) -> bool {
        let names = |name: &String| is_named(self.context.protocols, name, position);
        self.configuration.closed_systems.iter().any(names)
    }

    /// Judges a session by itself.
    fn root(&mut self, id: ItemId, path: &Path) {
        let Context { tree, protocols, .. } = self.context;
        let (role_id, role) = match self.role(id, path) {
            Ok(found) => found,
            Err(cause) => return self.roleless(id, path, cause),
        };
        let mut root = Root::refused(id, role_id, role.sealed_name());
        let linked = match &role.link {
            Ok(linked) => Some(*linked),
            Err(LinkError::Set { .. } | LinkError::Wrong { .. }) => None,
            Err(LinkError::Broken { file }) => {
                let name = tree.item(id).name.clone();
                let cause = Cause::DependsOnFile { name, file: *file };
                self.found.faults.add(cause.at(id, path.last_token()));
                self.found.roots.insert(id, root);
                return;
            }
        };
        let (session, faults) =
            resolve_session(self.context, (id, role_id), role, linked, self.limits.items);
        root.refused = !faults.is_empty();
        root.faults = faults;
        if session.linked && !root.refused {
            let own = linked.map(|ProtocolRole { protocol, role }| {
                protocols.protocols[protocol].role_at(role).clone()
            });
            let own = own.unwrap_or_else(|| role.name.role.as_str().into());
            let mut machine = session.machine(id, &own);
            if let Some(linked) = linked {
                let projection = &protocols.protocols[linked.protocol].projections[linked.role];
                machine.fsm = machine.fsm.on_demand(projection.fsm.is_on_demand());
                let (ids, asked) = ((id, role_id), self.configuration);
                match subtype::judge(self.context, ids, linked, &machine, asked) {
                    Ok(accepted) => root.accepted = Some(accepted),
                    Err(fault) => root.refusal = Some(*fault),
                }
                root.refused = root.refusal.is_some();
            }
            root.machine = Some(machine);
        }
        root.session = session;
        self.found.roots.insert(id, root);
    }

    /// Says of types that lack `#[session]` what they lack, and of parts that no role runs.
    fn unmarked(&mut self) {
        let Context { tree, pairs, .. } = self.context;
        let with: BTreeSet<ItemId> = self.found.roots.values().map(|root| root.role).collect();
        let roles = pairs.roles.iter().filter(|(id, role)| role.link.is_ok() && !with.contains(id));
        let without: Vec<ItemId> = roles.map(|(&id, _)| id).collect();
        let mut faults = unmarked(self.context, &without);
        // A part has a parameter for its role, which the type of a process does not give it.
        let run: BTreeSet<ItemId> =
            self.found.roots.values().flat_map(|root| root.session.items.keys().copied()).collect();
        faults.extend(parts(self.context, &run, &faults, self.limits.items));
        faults.into_iter().for_each(|fault| self.found.faults.add(fault));
        for id in tree.item_ids().filter(|id| !run.contains(id)) {
            let item = tree.item(id);
            if let Some(session) = tree.session(id)
                && session.role.is_none()
                && tree.module(item.module).run.contains(&item.name)
            {
                let (path, problem) = (item.name.clone(), NameProblem::Roleless);
                let cause = Cause::Name { path, problem, meant: None };
                self.found.faults.add(cause.at(id, session.name_token));
            }
        }
    }

    /// A session of what is no role, or of none that a protocol has.
    fn roleless(&mut self, id: ItemId, path: &Path, cause: Cause) {
        let tree = self.context.tree;
        // A struct of this crate may stand in for a role, and then rustc has no more to say.
        if let Some(role) = names::item(tree, tree.item(id).module, path)
            && tree.crate_id(role) == tree.crate_id(id)
            && matches!(
                *tree.item(role).kind,
                ItemKind::Role(_) | ItemKind::Other(Some(_)) | ItemKind::Broken
            )
        {
            let name = RoleName::refused("", &tree.item(role).name);
            let root = Root::refused(id, role, name);
            self.found.roots.insert(id, root);
        }
        self.found.faults.add(cause.at(id, path.last_token()));
    }

    /// The role that the argument of `#[session(…)]` names.
    fn role(&self, id: ItemId, path: &Path) -> Result<(ItemId, &'a RolePair), Cause> {
        let Context { tree, pairs, .. } = self.context;
        let name = |problem| Cause::Name { path: path.to_string(), problem, meant: None };
        let found = match resolve(tree, tree.item(id).module, path) {
            Resolution::Found(Meaning::Item(found)) => found,
            Resolution::Found(Meaning::Module(_)) => return Err(name(NameProblem::Module)),
            Resolution::Ambiguous(_) => return Err(name(NameProblem::Ambiguous)),
            Resolution::Nothing => return Err(no_role(tree, tree.item(id).module, path)),
        };
        match (&*tree.item(found).kind, pairs.roles.get(&found)) {
            // The proof is an implementation for the role, which Rust allows beside the role only.
            (_, Some(_)) if tree.crate_id(found) != tree.crate_id(id) => {
                Err(name(NameProblem::ForeignRole))
            }
            (_, Some(role)) => Ok((found, role)),
            (ItemKind::Role(_), None) => Err(name(NameProblem::RoleWithoutLink(found))),
            (ItemKind::Broken, None) => Err(Cause::SaidOf { name: path.last().to_string() }),
            (ItemKind::Other(Some(_)), _) => Err(name(NameProblem::PlainStruct(found))),
            _ => Err(name(NameProblem::NoRole)),
        }
    }

    /// By protocol, the sessions of its roles, each with the position of the role.
    fn linked(&self) -> Vec<Vec<(ItemId, usize)>> {
        let mut linked = vec![Vec::new(); self.context.protocols.protocols.len()];
        for (&id, root) in &self.found.roots {
            let pair = self.context.pairs.roles.get(&root.role);
            if let Some(Ok(role)) = pair.map(|pair| &pair.link) {
                linked[role.protocol].push((id, role.role));
            }
        }
        linked
    }

    /// Judges the sessions of a protocol as a closed system if one of them is refused.
    fn protocol(&mut self, position: usize, roots: &[(ItemId, usize)], is_accepted: bool) {
        let Context { tree, protocols, .. } = self.context;
        let protocol = &protocols.protocols[position];
        let member = |role: &Role| Member { name: role.to_string(), sessions: Vec::new() };
        let mut members: Vec<Member<'_>> = protocol.protocol.roles().iter().map(member).collect();
        let refusal = |(id, _): &(ItemId, usize)| self.found.roots[id].refusal.as_ref();
        let mut refusals = roots.iter().filter_map(refusal).peekable();
        if refusals.peek().is_none() {
            return;
        }
        // A closed system is about another order: where a name matches nothing, it is no way out.
        let is_advised = refusals.all(|fault| !fault.cause.is_wrong_anywhere());
        for &(id, role) in roots {
            let session = session(&tree.item(id).name, &self.found.roots[&id]);
            members[role].sessions.push(session);
        }
        let asked = liveness::asked_of_all(self.configuration, protocols, position);
        let judged =
            closed_system::judge(&members, Some((&protocol.projections, &asked)), self.limits);
        let note = match &judged {
            Ok(bound) if !is_accepted && is_advised => Some(NoteKind::Acceptable(*bound)),
            // What nobody asked for is no news if it is no help either.
            Ok(_) => None,
            Err(_) if !is_accepted => None,
            Err((gap, _)) => Some(NoteKind::Useless(gap.clone())),
        };
        let note = note.map(|found| Note { protocol: protocol.name().to_owned(), found });
        let bound = judged.ok().filter(|_| is_accepted);
        // A message of the protocol that no session knows is one mistake.
        let mut said: BTreeMap<&Message, String> = BTreeMap::new();
        let mut refused = Vec::new();
        for (id, role) in roots {
            let Some(root) = self.found.roots.get_mut(id) else { continue };
            let refusal = root.refusal.take();
            if bound.is_some() {
                root.bound = bound;
                root.refused = false;
            } else if let Some(mut fault) = refusal {
                fault.note.clone_from(&note);
                if let Cause::Refused(refusal) = &mut fault.cause {
                    refusal.has_siblings =
                        roots.iter().any(|(other, of)| of == role && other != id);
                    let idle = |other: &usize| roots.iter().all(|(_, role)| role != other);
                    let machine = root.machine.as_ref().filter(|_| refusal.has_siblings);
                    let fits = machine.and_then(|machine| {
                        let others = (0..protocol.projections.len()).filter(idle);
                        subtype::fits(&machine.fsm, protocol, others)
                    });
                    refusal.fits = fits.map(|other| refusal.subject.roles[other].clone());
                }
                if let Some(unknown) = fault.cause.unknown_message() {
                    let action = protocol.projections[*role].fsm.transition(unknown).action;
                    let name = || tree.item(*id).name.clone();
                    match said.entry(&action.message) {
                        Entry::Vacant(first) => _ = first.insert(name()),
                        Entry::Occupied(first) => {
                            fault.cause = Cause::SaidOf { name: first.get().clone() };
                        }
                    }
                }
                wrong_part::leave_part(self.context, &self.found.roots, *id, &mut fault);
                let echo = self.routeless(*id, &fault);
                echo.into_iter().for_each(|echo| self.found.faults.add(echo));
                refused.push((*role, fault));
            }
        }
        self.report(position, roots, refused);
        let is_accepted = bound.is_some();
        if is_accepted {
            let plays = |pair: &RolePair| {
                pair.link.as_ref().is_ok_and(|linked| linked.protocol == position)
            };
            let roles = self.context.pairs.roles.iter().filter(|(_, pair)| plays(pair));
            self.close(roles.map(|(&id, _)| id).collect());
        }
        self.found.closed_systems.insert(position, ClosedSystem { is_accepted, note });
    }

    /// Says why sessions of a protocol are refused. If two structs of their crate have the names of
    /// each other's roles, they say so instead: the refusals would blame others for that.
    fn report(
        &mut self,
        position: usize,
        roots: &[(ItemId, usize)],
        mut refused: Vec<(usize, Fault)>,
    ) {
        let Context { tree, protocols, pairs, .. } = self.context;
        for (_, fault) in &mut refused {
            let krate = tree.crate_id(fault.place.item);
            let found = pairs.exchanged(tree, protocols, krate, position);
            let Some(found) = found else { continue };
            let link = tree.role(found[0]).and_then(|role| role.link.as_ref());
            let token = link.map_or(0, |link| link.role_token);
            let structs =
                found.map(|id| (tree.item(id).name.clone(), pairs.roles[&id].name.clone()));
            fault.cause = Cause::SaidOf { name: structs[0].0.clone() };
            self.found.faults.add(Cause::Exchanged(Box::new(structs)).at(found[0], token));
        }
        self.discontinued(position, roots, &mut refused);
        for fault in of_two_roles(tree, refused) {
            self.found.faults.add(fault);
        }
    }

    /// Says once in each crate that a protocol lacks `continue`, if sessions of several roles are
    /// refused and all of the protocol fit with that.
    fn discontinued(
        &self,
        position: usize,
        roots: &[(ItemId, usize)],
        refused: &mut [(usize, Fault)],
    ) {
        let Context { tree, protocols, .. } = self.context;
        let is_compiled = |fault: &Fault| tree.item(fault.place.item).condition == CfgValue::True;
        let name = |(_, fault): &(usize, Fault)| match &fault.cause {
            Cause::Refused(refusal) if is_compiled(fault) => Some(refusal.subject.name.clone()),
            _ => None,
        };
        let names: Option<Vec<String>> = refused.iter().map(name).collect();
        let of_several = refused.iter().any(|(role, _)| *role != refused[0].0);
        let Some(sessions) = names.filter(|_| of_several) else { return };
        let protocol = &protocols.protocols[position];
        let fits = |(id, role): &(ItemId, usize), projections: &[Projection]| {
            let machine = self.found.roots[id].machine.as_ref();
            tree.is_generated(*id)
                || machine.is_some_and(|own| subtype::is_one(&own.fsm, &projections[*role].fsm))
        };
        let modules = &protocols.files[protocol.file].modules;
        let limits = self.limits.scribble();
        let mut continued = modules.continued(protocol.name(), &limits);
        let found = continued.find(|(_, _, found)| roots.iter().all(|root| fits(root, found)));
        let Some((variable, behind, _)) = found else { return };
        let mut said = BTreeSet::new();
        for (_, fault) in refused {
            let (variable, sessions) = (variable.to_string(), sessions.clone());
            fault.note = None;
            fault.cause = if said.insert(tree.crate_id(fault.place.item)) {
                Cause::Discontinued { protocol: position, sessions, variable, behind }
            } else {
                Cause::SaidOf { name: sessions[0].clone() }
            };
        }
    }

    /// What keeps rustc quiet about the role of a session that is refused, if the session has a
    /// peer to which the role has no route: the protocol has no such peer either.
    fn routeless(&self, id: ItemId, refused: &Fault) -> Option<Fault> {
        let Context { tree, protocols, pairs, .. } = self.context;
        let Cause::Refused(refusal) = &refused.cause else { return None };
        let root = &self.found.roots[&id];
        let protocol = &protocols.protocols[refusal.subject.linked.protocol];
        let routes = peers(tree, root.role).filter_map(|(_, peer)| {
            let linked = pairs.roles.get(&peer?)?.link.as_ref().ok()?;
            Some(protocol.role_at(linked.role))
        });
        let routes: Vec<&Role> = routes.collect();
        let mut actions = root.machine.as_ref()?.fsm.transitions();
        actions.find(|found| !routes.contains(&&found.action.peer))?;
        // The role fails only beside the error of the session, which a `cfg` may leave out.
        let is_compiled = |id| tree.item(id).condition == CfgValue::True;
        let role = tree.role(root.role).filter(|_| is_compiled(refused.place.item))?;
        let stub = format!("instead {}", role.message.as_ref()?);
        let echo = Cause::SaidOf { name: tree.item(id).name.clone() };
        Some(Fault { stub: Some(stub), ..echo.at(root.role, role.name_token) })
    }

    /// Refuses the sessions of roles that their protocol neglects, if build.rs says so.
    fn liveness(&mut self, position: usize, roots: &[(ItemId, usize)]) {
        if roots.is_empty() {
            return;
        }
        let Context { tree, protocols, .. } = self.context;
        let Neglects { refused, warned } =
            liveness::neglects(self.configuration, protocols, position);
        for (role, reason) in refused {
            let of_role = |of: &&(ItemId, usize)| of.1 == role;
            // Where the role has no session, its peers must say so.
            let is_played = roots.iter().any(|of| of_role(&of));
            for &(id, _) in roots.iter().filter(|of| !is_played || of_role(of)) {
                let Some(root) = self.found.roots.get_mut(&id) else { continue };
                // One reason is enough where it stands for others.
                if std::mem::replace(&mut root.refused, true) && !is_played {
                    continue;
                }
                let place = subtype::name(tree, id);
                let name = tree.item(id).name.clone();
                let cause = Cause::NotLive { name, protocol: position, reason: reason.clone() };
                self.found.faults.add(cause.at(place.item, place.token));
            }
        }
        self.found.neglected.extend(warned.into_iter().map(|found| (position, found)));
    }

    /// Judges the sessions together that a protocol accepts one by one: those of role structs that
    /// can be wired with each other.
    fn together(&mut self, roots: &[Vec<(ItemId, usize)>]) {
        let Context { tree, protocols, pairs, .. } = self.context;
        let mut wired = BTreeSet::new();
        for (&start, role) in &pairs.roles {
            let Ok(linked) = role.link else { continue };
            let system = self.found.closed_systems.get(&linked.protocol);
            if wired.contains(&start) || system.is_some_and(|system| system.is_accepted) {
                continue;
            }
            let (members, _) = capacities::members(tree, pairs, start);
            let protocol = &protocols.protocols[linked.protocol];
            let mut sessions = vec![Vec::new(); protocol.projections.len()];
            for &(root, role) in &roots[linked.protocol] {
                let found = &self.found.roots[&root];
                if members.contains(&found.role)
                    && let Some(accepted) = &found.accepted
                    && let Some(machine) = &found.machine
                {
                    let session = together::Session { root, machine, accepted };
                    sessions[role].push(session);
                }
            }
            let asked = liveness::asked_of_all(self.configuration, protocols, linked.protocol);
            let mut combined = together::judge(protocol, &sessions, &asked, self.limits);
            if combined.alone {
                self.close(members.clone());
            }
            wired.extend(members);
            for (root, found) in std::mem::take(&mut combined.refused) {
                self.refuse(root, found);
            }
            if self.is_closed(linked.protocol) {
                combined.closed = None;
            }
            self.found.combined.push((linked.protocol, combined));
        }
    }

    /// Notes that the sessions of these roles are safe with one another only.
    fn close(&mut self, roles: BTreeSet<ItemId>) {
        let own = self.found.roots.values().filter(|root| roles.contains(&root.role));
        let number = number(own.filter_map(|root| Some(&root.machine.as_ref()?.fsm)));
        self.found.closed.extend(roles.into_iter().map(|role| (role, number)));
    }

    /// Refuses a session for what it does with others.
    fn refuse(&mut self, id: ItemId, found: CombinedFault) {
        let Context { tree, pairs, .. } = self.context;
        let Some(root) = self.found.roots.get_mut(&id) else {
            return;
        };
        root.refused = true;
        let link = pairs.roles.get(&root.role).map(|role| &role.link);
        let Some(&Ok(linked)) = link else { return };
        let subject = || subtype::subject(self.context, id, root.role, linked);
        let mut place = subtype::name(tree, id);
        let cause = match found {
            CombinedFault::Unsafe { refused, with } => {
                if let Some(machine) = &root.machine {
                    place = subtype::blame(machine, &refused).unwrap_or(place);
                }
                let with = with.iter().map(|&id| tree.item(id).name.clone());
                let with = with.collect();
                let fair = refused.neglected().is_some();
                let refusal = Refusal { with, fair, ..Refusal::new(subject(), refused) };
                Cause::Refused(Box::new(refusal))
            }
            CombinedFault::Undecided(limit) => {
                Cause::Undecided { subject: Box::new(subject()), limit, fair: false }
            }
            CombinedFault::Unjudged(error) => {
                Cause::Unjudged { subject: Box::new(subject()), error }
            }
            CombinedFault::Combinations(reason) => {
                Cause::UndecidedSystem { set: tree.item(id).name.clone(), reason }
            }
        };
        self.found.faults.add(cause.at(place.item, place.token));
    }

    /// Judges the sessions of a set without a protocol together.
    fn set(&mut self, set: &ClosedSet) {
        let tree = self.context.tree;
        let mut members: Vec<Member<'_>> = Vec::new();
        let mut own = Vec::new();
        for &role in set.roles.iter().flatten() {
            let roots = self.found.roots.iter().filter(|(_, root)| root.role == role);
            let (ids, roots): (Vec<ItemId>, Vec<&Root>) = roots.unzip();
            own.extend(&ids);
            let names = ids.iter().map(|&id| tree.item(id).name.as_str());
            members.push(Member {
                name: tree.item(role).name.clone(),
                sessions: names.zip(roots).map(|(name, root)| session(name, root)).collect(),
            });
        }
        let judged = self.judge_set(set, &members);
        for fault in judged.as_ref().err().into_iter().flatten() {
            self.found.faults.add(fault.clone());
        }
        for id in own {
            let Some(root) = self.found.roots.get_mut(&id) else {
                continue;
            };
            root.bound = judged.as_ref().ok().copied();
            root.refused |= judged.is_err();
            // A session that contains an item with an error is refused together with it. Any other
            // may be as it should be by itself: it is refused all the same, and says where to look.
            let has_fault = |&item: &ItemId| self.found.faults.contains(item);
            if judged.is_err()
                && !root.session.items.keys().any(has_fault)
                && let Some(item) = tree.session(id)
            {
                let cause = Cause::SaidOf { name: tree.item(set.item).name.clone() };
                self.found.faults.add(cause.at(id, item.name_token));
            }
        }
    }

    /// Whether any item was found wrong so far, here or by its own macro.
    fn has_errors(&self) -> bool {
        let tree = self.context.tree;
        let is_broken = |id: ItemId| matches!(*tree.item(id).kind, ItemKind::Broken);
        self.found.faults.items().next().is_some() || tree.item_ids().any(is_broken)
    }

    /// The bound for which the system of a set is safe, or what is wrong with the set. Nothing is
    /// wrong with the set itself where one of its sessions has a fault already.
    fn judge_set(&self, set: &ClosedSet, members: &[Member<'_>]) -> Result<usize, Vec<Fault>> {
        let tree = self.context.tree;
        if !set.faults.is_empty() {
            return Err(set.faults.clone());
        }
        let (gap, blamed) = match closed_system::judge(members, None, self.limits) {
            Ok(bound) => return Ok(bound),
            Err(refusal) => refusal,
        };
        let token = match &*tree.item(set.item).kind {
            ItemKind::Set(item) => item.name_token,
            _ => 0,
        };
        let name = tree.item(set.item).name.clone();
        Err(match gap {
            // Its session may be among the items that have an error.
            Gap::Silent(_) if self.has_errors() => Vec::new(),
            Gap::Silent(role) => vec![Cause::SilentRole { set: name, role }.at(set.item, token)],
            Gap::Unread(_) => Vec::new(),
            Gap::Undecided(reason) => {
                vec![Cause::UndecidedSystem { set: name, reason }.at(set.item, token)]
            }
            Gap::Unsafe(run, with) => {
                let first = blamed.as_ref().and_then(|(_, places)| places.first().copied());
                let at = first.unwrap_or(Place::new(set.item, token));
                let told = |place: &Place| {
                    let line = self.context.line(*place);
                    [tree.item(place.item).name.clone(), line]
                };
                let blamed = blamed.map(|(what, places)| (what, places.iter().map(told).collect()));
                let cause = Cause::UnsafeSystem { set: name, run, blamed, with };
                vec![cause.at(at.item, at.token)]
            }
        })
    }
}

fn session<'a>(name: &'a str, root: &'a Root) -> Session<'a> {
    let machine = root.machine.as_ref();
    Session { name, machine }
}
