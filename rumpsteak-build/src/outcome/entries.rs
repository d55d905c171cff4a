//! The entries of the verdict file, and the problems that they raise.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use rumpsteak_contract::SessionItem;
use rumpsteak_contract::canonical::Hasher;
use rumpsteak_contract::verdict::{self, Chain, Entry, Kind, Proof, key};
use rumpsteak_fsm::Fsm;

use crate::fault::{Cause, Note};
use crate::judge::capacities;
use crate::judge::judgement::Judgement;
use crate::judge::root::Root;
use crate::limits::Limits;
use crate::link::context::Context;
use crate::link::roles::{LinkError, RolePair};
use crate::outcome::findings::{Findings, Located, Word, raised};
use crate::outcome::inclusion;
use crate::protocols::Loaded;
use crate::sessions::outline::Outline;
use crate::sessions::resolved::is_nominal;
use crate::source::conditions::CfgValue;
use crate::source::crate_tree::{CrateId, FileId, Item, ItemId, ItemKind, ModuleId, Tree};

/// The entry of each item and each `protocol!(…)`, by target and place.
pub(crate) fn entries(
    context: Context<'_>,
    judgement: &Judgement,
    limits: &Limits,
    word: &Word<'_>,
) -> Findings {
    let Context { base, tree, .. } = context;
    let mut findings =
        Findings { includes_protocols: includes_protocols(context), ..Findings::default() };
    let mut entries = Entries {
        context,
        judgement,
        word,
        identities: BTreeMap::new(),
        bodies: BTreeMap::new(),
        in_failed_root: BTreeSet::new(),
        repeated: repeated(context, judgement),
        anchors: anchors(context, judgement, findings.includes_protocols, &mut findings.unanchored),
        systems: systems(context, judgement, limits),
    };
    entries.find_bodies();
    let shown: Vec<String> = tree.files.iter().map(|file| base.show(&file.path)).collect();
    for id in tree.item_ids() {
        let item = tree.item(id);
        let mut problems = entries.problems(id);
        let raised = raised(&problems);
        let stubs = problems.iter().filter_map(|problem| problem.stub.clone()).collect();
        let (kind, name, tokens, passed, proof) = match &*item.kind {
            ItemKind::Role(role) => {
                let (passed, proof) = (problems.is_empty(), entries.role(id));
                (Kind::Role, &role.name, &role.key, passed, proof)
            }
            ItemKind::Session(session) => {
                let (passed, proof) = entries.session(id);
                if session.role.is_some() {
                    findings.roots += 1;
                    findings.passed += usize::from(passed);
                }
                (Kind::Session, &session.name, &session.key, passed, proof)
            }
            ItemKind::Set(set) => {
                let (passed, proof) = (problems.is_empty(), Proof::default());
                (Kind::Set, &set.name, &set.key, passed, proof)
            }
            _ => continue,
        };
        let entry = Entry {
            key: key(kind, &name.to_string(), tokens.hash()),
            krate: tree.crate_of(id).site(),
            file: shown[item.file.0].clone(),
            line: item.line,
            passed,
            problems: raised,
            stubs,
            proof,
        };
        // The problems of an item that is generated are raised at `protocol!(…)`.
        if inclusion::failed(tree, judgement, id).is_some() {
            problems.clear();
        }
        findings.add(&entry, problems);
    }
    inclusion::findings(tree, base, judgement, word, &mut findings);
    findings
}

struct Entries<'a> {
    context: Context<'a>,
    judgement: &'a Judgement,
    word: &'a Word<'a>,
    /// The identities of nominal items, which are other ones for items with a fault.
    identities: BTreeMap<ItemId, u64>,
    /// The structure of each item, from the first root that reaches it: the roots agree, or the
    /// item has a fault.
    bodies: BTreeMap<ItemId, Vec<(Option<String>, Chain)>>,
    /// The items that a root reaches which does not hold.
    in_failed_root: BTreeSet<ItemId>,
    repeated: BTreeSet<ItemId>,
    anchors: BTreeMap<ItemId, usize>,
    systems: BTreeMap<ItemId, verdict::System>,
}

impl Entries<'_> {
    fn find_bodies(&mut self) {
        let tree = self.context.tree;
        let mut sessions: BTreeMap<ItemId, u64> = BTreeMap::new();
        for Root { session, .. } in self.judgement.roots.values() {
            let mut hasher = Hasher::new();
            for item in session.items.keys().filter_map(|&item| tree.session(item)) {
                hasher.bytes(&item.key.hash().to_be_bytes());
            }
            let whole = hasher.finish();
            for &item in session.items.keys() {
                sessions.entry(item).or_insert(whole);
            }
        }
        let mut places: BTreeMap<Place<'_>, Vec<ItemId>> = BTreeMap::new();
        for id in tree.item_ids().filter(|&id| is_nominal(tree, id)) {
            places.entry(place(tree, id)).or_default().push(id);
        }
        for ids in places.into_values() {
            let whole = sessions.get(&ids[0]).copied().unwrap_or_default();
            let identity = self.identity(&ids, whole);
            self.identities.extend(ids.into_iter().map(|id| (id, identity)));
        }
        let identity = |id: ItemId| self.identities.get(&id).copied().unwrap_or_default();
        for (&root, Root { session, .. }) in &self.judgement.roots {
            let has_fault = |&item: &ItemId| self.judgement.faults.contains(item);
            let failed = !session.linked || session.items.keys().any(has_fault);
            for &item in session.items.keys() {
                if (is_nominal(tree, item) || item == root)
                    && !self.bodies.contains_key(&item)
                    && let Some(body) = session.body(tree, item, &identity)
                {
                    self.bodies.insert(item, body);
                }
                if failed {
                    self.in_failed_root.insert(item);
                }
            }
        }
    }

    /// A number for the items at a place, unlike the number of any other place. It changes with
    /// the whole session, since a session may go from one build to another; and with a fault.
    fn identity(&self, ids: &[ItemId], whole: u64) -> u64 {
        let tree = self.context.tree;
        let Some(session) = tree.session(ids[0]) else { return 0 };
        let mut hasher = Hasher::new();
        tree.hash_place(ids[0], &mut hasher);
        hasher.bytes(&session.key.hash().to_be_bytes());
        hasher.bytes(&whole.to_be_bytes());
        if ids.iter().any(|&id| self.judgement.faults.contains(id)) {
            hasher.text("failed");
        }
        hasher.finish()
    }

    /// What is wrong with a role: its link, or the file of its protocol if it is the one to say so.
    fn role_cause(&self, id: ItemId) -> Option<(usize, Cause)> {
        let role = self.context.tree.role(id)?;
        let pairs = &self.context.pairs.roles;
        match &pairs.get(&id)?.link {
            // Roles of a protocol that is not there: the first one of a crate says so.
            Err(LinkError::Wrong { token, cause }) => {
                let tree = self.context.tree;
                let mut earlier = pairs.range(..id).filter(|(other, pair)| {
                    let link = pair.link.as_ref();
                    tree.crate_id(**other) == tree.crate_id(id)
                        && matches!(link, Err(LinkError::Wrong { cause: said, .. }) if said == cause)
                });
                let cause = match (earlier.next(), &role.link) {
                    (Some(_), Some(link)) => Cause::SaidOf { name: link.protocol.to_string() },
                    _ => cause.clone(),
                };
                Some((*token, cause))
            }
            Err(LinkError::Broken { .. }) => {
                let file = *self.anchors.get(&id)?;
                let link = role.link.as_ref();
                let token = link.map_or(role.name_token, |link| link.protocol_token);
                Some((token, Cause::BrokenFile { file }))
            }
            _ => None,
        }
    }

    fn role(&self, id: ItemId) -> Proof {
        let pair = self.context.pairs.roles.get(&id);
        let linked = pair.and_then(|pair| pair.link.as_ref().ok());
        let protocol = linked.map(|linked| &self.context.protocols.protocols[linked.protocol]);
        Proof {
            plays: pair.map(RolePair::sealed_name),
            projections: protocol.map(|of| of.text().to_owned()).unwrap_or_default(),
            on_demand: protocol.map(Loaded::on_demand).unwrap_or_default(),
            system: self.systems.get(&id).cloned().unwrap_or_default(),
            closed: self.judgement.closed.get(&id).copied().unwrap_or_default(),
            ..Proof::default()
        }
    }

    /// A role struct as rustc knows it: see [`Proof::players`].
    fn player(&self, role: ItemId) -> (u64, String) {
        let tree = self.context.tree;
        // The tree has generated code once, and a file that build.rs names may be in any module.
        let is_known = !tree.is_generated(role) && !tree.crate_of(role).site().is_empty();
        let module = is_known.then(|| tree.path_in(tree.item(role).module, ""));
        let system = self.systems.get(&role).map_or(0, |(system, _)| *system);
        (system, module.unwrap_or_default())
    }

    /// Whether a session passed, and what was verified.
    fn session(&self, id: ItemId) -> (bool, Proof) {
        let root = self.judgement.roots.get(&id);
        let own = root.filter(|_| !self.repeated.contains(&id));
        let named = Proof {
            plays: own.map(|root| root.plays.clone()),
            id: self.identities.get(&id).copied(),
            ..Proof::default()
        };
        if self.judgement.faults.contains(id) {
            return (false, named);
        }
        let proof = Proof {
            body: self.bodies.get(&id).cloned().unwrap_or_default(),
            players: root.map(|root| self.player(root.role)).into_iter().collect(),
            kmc: root.and_then(|root| root.bound),
            machine: root.and_then(|root| Some(machine(&root.machine.as_ref()?.fsm))),
            ..named
        };
        (!self.in_failed_root.contains(&id), proof)
    }

    /// What is wrong with an item, by token and text.
    fn problems(&self, id: ItemId) -> Vec<Located> {
        let tree = self.context.tree;
        let item = tree.item(id);
        let located = |token, cause: &Cause, note: Option<&Note>, stub: Option<String>| Located {
            file: item.file,
            token,
            span: span_of(item, token),
            told: (self.word)(cause, note),
            gravity: cause.gravity(),
            is_of_file: cause.is_of_file(),
            is_echo: cause.is_echo(),
            stub,
        };
        if let Some((token, cause)) = self.role_cause(id) {
            return vec![located(token, &cause, None, None)];
        }
        let faults = self.judgement.faults.of(id);
        if let [first, ..] = faults
            && let Some(protocol) = inclusion::failed(tree, self.judgement, id)
        {
            let cause = Cause::SaidOf { name: format!("protocol!({protocol})") };
            return vec![located(first.place.token, &cause, None, None)];
        }
        let faults = faults.iter();
        let located =
            faults.map(|f| located(f.place.token, &f.cause, f.note.as_ref(), f.stub.clone()));
        let mut problems: Vec<Located> = located.collect();
        problems.sort_by(|left, right| (left.token, &left.told).cmp(&(right.token, &right.told)));
        problems
    }
}

/// A machine that was judged, for programs that ask at run time.
fn machine(fsm: &Fsm) -> verdict::Machine {
    let transitions = fsm.transitions().map(|transition| {
        let action = &transition.action;
        let payload = action.message.payload.iter();
        (
            transition.source.index(),
            action.direction == rumpsteak_fsm::Direction::Send,
            action.peer.to_string(),
            action.message.label.to_string(),
            payload.map(ToString::to_string).collect(),
            transition.target.index(),
        )
    });
    (fsm.role().to_string(), fsm.len(), fsm.initial().index(), transitions.collect())
}

/// What two roots of one role have in common if they are one type: the outline, or the module and
/// what is written.
type SameType = Result<Outline, (ModuleId, String)>;

/// A place in the source of a crate, as macros know it. A file that is mounted twice has two items
/// at each, and a macro cannot tell which it expands.
type Place<'a> = (String, FileId, usize, &'a str);

fn place(tree: &Tree, id: ItemId) -> Place<'_> {
    let item = tree.item(id);
    (tree.crate_of(id).site(), item.file, item.line, &item.name)
}

/// The system of each role. Queues have capacities only in a target without a fault.
fn systems(
    context: Context<'_>,
    judgement: &Judgement,
    limits: &Limits,
) -> BTreeMap<ItemId, verdict::System> {
    let Context { tree, pairs, .. } = context;
    let faulty: BTreeSet<CrateId> = judgement.faults.items().map(|id| tree.crate_id(id)).collect();
    let mut sessions: BTreeMap<ItemId, Vec<&Fsm>> = BTreeMap::new();
    let mut unknown: BTreeSet<ItemId> = BTreeSet::new();
    for root in judgement.roots.values() {
        match &root.machine {
            Some(machine) if !root.refused && !faulty.contains(&tree.crate_id(root.role)) => {
                sessions.entry(root.role).or_default().push(&machine.fsm);
            }
            _ => {
                unknown.insert(root.role);
            }
        }
    }
    let mut places: BTreeMap<Place<'_>, Vec<ItemId>> = BTreeMap::new();
    for &id in pairs.roles.keys() {
        places.entry(place(tree, id)).or_default().push(id);
    }
    unknown.extend(places.values().filter(|ids| ids.len() > 1).flatten());
    sessions.retain(|role, _| !unknown.contains(role));
    // Two structs of one path, each behind its own `cfg`, are not at one place.
    let numbered = (1..).zip(places.into_values());
    let numbered = numbered.flat_map(|(number, ids)| ids.into_iter().map(move |id| (id, number)));
    let mut found: BTreeMap<_, _> =
        numbered.map(|(id, number)| (id, (number, Vec::new()))).collect();
    found.extend(capacities::find(context, &sessions, &limits.verifier));
    found
}

/// The roots whose type another root of the same role has as well: one proof serves both, and rustc
/// allows only one. The other root is part of every build, so that the proof is there.
fn repeated(context: Context<'_>, judgement: &Judgement) -> BTreeSet<ItemId> {
    let tree = context.tree;
    let mut roots: Vec<(ItemId, &Root)> = judgement.roots.iter().map(|(&id, r)| (id, r)).collect();
    let unknown = |id: ItemId| tree.item(id).condition != CfgValue::True;
    roots.sort_by_key(|(id, _)| (unknown(*id), *id));
    // Without an outline, for want of a name, types that are written alike in one module are the
    // same.
    let alike = |id: ItemId| tree.session(id).map(SessionItem::written).unwrap_or_default();
    let mut seen: BTreeSet<(ItemId, SameType)> = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for (id, Root { role, session, .. }) in roots {
        let outline = session.outline(tree, id);
        let key = (*role, outline.ok_or_else(|| (tree.item(id).module, alike(id))));
        if seen.contains(&key) {
            repeated.insert(id);
        } else if !unknown(id) {
            seen.insert(key);
        }
    }
    repeated
}

/// Whether some module that every build compiles calls `include_protocols!()`: one of the library,
/// or one of the binaries of a package without one.
fn includes_protocols(context: Context<'_>) -> bool {
    let mut crates = context.tree.crates.iter();
    crates.any(|krate| krate.includes_protocols && context.tree.is_always_compiled(krate))
}

/// For each file with errors the roles to report them at: the first one of each target that is
/// linked to it. Files that neither a role is linked to nor a `protocol!(…)`, which says so itself,
/// are added to `unanchored`.
fn anchors(
    context: Context<'_>,
    judgement: &Judgement,
    includes_protocols: bool,
    unanchored: &mut Vec<usize>,
) -> BTreeMap<ItemId, usize> {
    let Context { tree, protocols, pairs, .. } = context;
    if includes_protocols {
        let broken = |file: &usize| !protocols.files[*file].diagnostics.is_empty();
        unanchored.extend((0..protocols.files.len()).filter(broken));
        return BTreeMap::new();
    }
    let mut anchors = BTreeMap::new();
    let mut seen: BTreeSet<(usize, CrateId)> = BTreeSet::new();
    for (&id, role) in &pairs.roles {
        if let Err(LinkError::Broken { file }) = role.link
            && seen.insert((file, tree.crate_id(id)))
        {
            anchors.insert(id, file);
        }
    }
    let included = tree.inclusions.iter().zip(&judgement.inclusions);
    let included = included.filter(|(inclusion, _)| {
        tree.is_always_compiled(&tree.crates[tree.module(inclusion.module).krate.0])
    });
    let included = included.flat_map(|(_, causes)| causes).filter_map(|(cause, _)| match cause {
        Cause::BrokenFile { file } => Some(*file),
        _ => None,
    });
    let anchored: BTreeSet<usize> = anchors.values().copied().chain(included).collect();
    for (file, scr) in protocols.files.iter().enumerate() {
        if !scr.diagnostics.is_empty() && !anchored.contains(&file) {
            unanchored.push(file);
        }
    }
    anchors
}

fn span_of(item: &Item, token: usize) -> Span {
    match &*item.kind {
        ItemKind::Role(role) => role.key.span_of(token),
        ItemKind::Session(session) => session.key.span_of(token),
        ItemKind::Set(set) => set.key.span_of(token),
        _ => Span::call_site(),
    }
}
