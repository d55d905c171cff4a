//! From a package to its verdicts.
//!
//! For each root, in order:
//!
//! 1. the role that plays it and the role's projection ([`crate::link`]);
//! 2. all names that it reaches ([`crate::sessions`]);
//! 3. asynchronous subtyping of the written machine against the projection ([`crate::judge`]).
//!
//! Whatever is wrong is a *fault* at a token of an item. When all roots are done, the faults decide what each item's
//! entry says:
//!
//! * An item with a fault is *failed*: its macro raises the error.
//! * A `type` with a fault spoils every item that contains it on the way from a root that is refused for it, since a
//!   `type` leaves no trace in what rustc sees: those items are failed as well, and refer to it. If the `type` is that
//!   root itself, its own error is enough, and other roots that contain it have a judgement of their own.
//! * A `struct` or `enum` with a fault takes another identity. Items that contain it are *failed elsewhere*: their
//!   proofs name that other identity, and hold only if the failed item's macro has run and raised its error.
//! * A role whose link to a protocol is wrong takes [another name](rumpsteak_contract::verdict::refused) in the same way,
//!   and sessions that name it are failed elsewhere.
//!
//! So each mistake is one error at its token, with as few others as soundness allows.

mod inclusion;
pub(crate) mod verdict_file;

use std::collections::BTreeSet;

use rumpsteak_contract::token::{Hasher, Span};
use rumpsteak_contract::verdict::{
    self, Body, Entry, Kind, Outcome, Problem, Proof, TargetKind, Verdicts,
};
use rumpsteak_fsm::Fsm;
use rumpsteak_fsm::sorted::{self, SortedMap, SortedSet};

use crate::judge::capacities;
use crate::judge::fallback;
use crate::limits::Limits;
use crate::source::cfg::Truth;

use crate::judge::closed_system::{self, Member};
use crate::judge::starvation;
use crate::judge::subtype::{self, Setting};
use crate::link::{LinkError, Linked, Pairs, RolePair};
use crate::protocols::{Loaded, Protocols};
use crate::report::{self, text};
use crate::sessions::{
    Context, Fault, Outline, Place, Reached, ResolvedTail, Written, is_nominal, reach,
};
use crate::source::crate_tree::{CrateId, ItemId, ItemKind, Meaning, ModuleId, Tree};
use crate::source::names::{Resolution, resolve};
use crate::source::package_root::Base;

/// What was found out about a package.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) verdicts: Verdicts,
    /// Every problem with its place, in the order of the entries.
    pub(crate) problems: Vec<Located>,
    /// Files of protocols whose errors no item of the Rust source can show, by position.
    pub(crate) unanchored: Vec<usize>,
    /// Whether the Rust source shows what no item can show, by `include_protocols!()`.
    pub(crate) includes_protocols: bool,
    /// One line each.
    pub(crate) warnings: Vec<String>,
    /// What the texts of problems mean, for those that are no failures.
    pub(crate) kinds: SortedMap<String, report::Kind>,
    /// The texts of problems that say no more than that a file has errors: those that an error of the file itself says better.
    pub(crate) echoes: SortedSet<String>,
    /// How many roots there are, and how many of them hold.
    pub(crate) roots: usize,
    pub(crate) passed: usize,
}

impl Findings {
    /// What a problem with this text means.
    pub(crate) fn kind(&self, text: &str) -> report::Kind {
        let known = self.kinds.get(text).copied();
        known.unwrap_or(report::Kind::Fails)
    }
}

/// A problem with its place.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) file: crate::source::crate_tree::FileId,
    pub(crate) span: Span,
    pub(crate) text: String,
}

/// Verifies every root.
///
/// The protocols named in `kmc` may be proven by all of their sessions together.
pub(crate) fn verify(
    tree: &Tree,
    protocols: &Protocols,
    base: &Base,
    limits: &Limits,
    kmc: &BTreeSet<String>,
) -> Findings {
    let pairs = Pairs::new(tree, protocols);
    let context = Context {
        tree,
        protocols,
        pairs: &pairs,
    };
    let mut state = State {
        context,
        limits,
        faults: SortedMap::new(),
        kinds: SortedMap::new(),
        echoes: SortedSet::new(),
        roots: SortedMap::new(),
        notes: SortedMap::new(),
    };
    for id in tree.item_ids() {
        state.root(id);
    }
    state.sets();
    state.fall_back(kmc);
    state.spoil();
    state.compare();
    let mut findings = state.findings(base);
    findings.warnings.extend(fallback::unknown(protocols, kmc));
    findings
}

struct State<'a> {
    context: Context<'a>,
    limits: &'a Limits,
    faults: SortedMap<ItemId, SortedSet<(usize, String)>>,
    /// What the texts of faults mean, for those that are no failures.
    kinds: SortedMap<String, report::Kind>,
    /// The texts that only say that a file has errors.
    echoes: SortedSet<String>,
    roots: SortedMap<ItemId, Root>,
    /// What is known of the protocols of which a session is refused.
    notes: fallback::Notes,
}

/// What two roots of one role have in common if they are one type: the outline, or the module and what is written.
type SameType = Result<Outline, (ModuleId, String)>;

/// A root whose role is known.
struct Root {
    role: ItemId,
    plays: verdict::RoleName,
    reached: Reached,
    /// Whether something was wrong with it, wherever that is reported.
    refused: bool,
    /// What it was judged by: the role that it plays, and its machine.
    judged: Option<(Linked, Fsm)>,
    /// Why it is refused by its projection, if it is.
    refusal: Option<(Fault, report::Kind)>,
    /// The set that it is to be judged with, and its machine.
    in_set: Option<(usize, Written)>,
    /// The bound for which it is safe with all sessions of its peers, if it was judged so.
    kmc: Option<usize>,
}

impl Root {
    /// The machine that was judged, for those who ask at run time.
    fn machine(&self) -> Option<verdict::Machine> {
        let judged = self.judged.as_ref().map(|(_, fsm)| fsm);
        let fsm = judged.or(self.in_set.as_ref().map(|(_, written)| &written.fsm))?;
        let transitions = fsm.transitions().map(|transition| verdict::Transition {
            source: transition.source.index(),
            direction: match transition.action.direction {
                rumpsteak_fsm::Direction::Receive => verdict::Direction::Receive,
                rumpsteak_fsm::Direction::Send => verdict::Direction::Send,
            },
            peer: transition.action.peer.to_string(),
            label: transition.action.message.label.to_string(),
            payload: transition
                .action
                .message
                .payload
                .iter()
                .map(ToString::to_string)
                .collect(),
            target: transition.target.index(),
        });
        Some(verdict::Machine {
            role: fsm.role().to_string(),
            states: fsm.len(),
            initial: fsm.initial().index(),
            transitions: transitions.collect(),
        })
    }
}

impl<'a> State<'a> {
    fn fault(&mut self, item: ItemId, token: usize, text: String) {
        self.faults.or_default(item).insert((token, text));
    }

    /// Verifies the sets of roles without a protocol.
    fn sets(&mut self) {
        let Context { tree, pairs, .. } = self.context;
        for set in &pairs.sets {
            let mut members: Vec<Member<'_>> = Vec::new();
            for &role in set.roles.iter().flatten() {
                let roots = self.roots.iter().filter(|(_, root)| root.role == role);
                let sessions = roots.map(|(&id, root)| match &root.in_set {
                    Some((_, written)) => (id, Some(written)),
                    None => (id, None),
                });
                members.push(Member {
                    name: &tree.item(role).name,
                    sessions: sessions.collect(),
                });
            }
            let judgement = closed_system::judge(tree, set, &members, self.limits);
            let roots: Vec<ItemId> = members
                .iter()
                .flat_map(|member| member.sessions.iter().map(|(id, _)| *id))
                .collect();
            // Each session alone may be as it should: it is refused all the same, and says where to look.
            if let Err(faults) = &judgement {
                for (Fault { place, text }, kind) in faults {
                    self.kinds.insert(text.clone(), *kind);
                    self.fault(place.item, place.token, text.clone());
                }
            }
            for id in roots {
                let Some(root) = self.roots.get_mut(&id) else {
                    continue;
                };
                match judgement {
                    Ok(bound) => root.kmc = Some(bound),
                    Err(_) => root.refused = true,
                }
                // A session that contains the item with the error is refused together with it.
                let is_silent = judgement.is_err()
                    && !root
                        .reached
                        .items
                        .keys()
                        .any(|item| self.faults.contains_key(item));
                if is_silent && let ItemKind::Session(session) = &*tree.item(id).kind {
                    let text =
                        closed_system::depends(&tree.item(id).name, &tree.item(set.item).name);
                    self.kinds.insert(text.clone(), report::Kind::Undecided);
                    self.fault(id, session.name_token, text);
                }
            }
        }
    }

    /// Looks at all sessions of each protocol of which one is refused: they may be safe together. See [`fallback`].
    fn fall_back(&mut self, accepted: &BTreeSet<String>) {
        let Context {
            tree,
            protocols,
            pairs,
        } = self.context;
        if self.roots.values().all(|root| root.refusal.is_none()) {
            return;
        }
        for position in 0..protocols.protocols.len() {
            let protocol = &protocols.protocols[position];
            let is_own = |root: &Root| {
                let link = pairs.roles.get(&root.role).map(|role| &role.link);
                matches!(link, Some(Ok(linked)) if linked.protocol == position)
            };
            let own: Vec<(&ItemId, &Root)> =
                self.roots.iter().filter(|(_, root)| is_own(root)).collect();
            if own.iter().all(|(_, root)| root.refusal.is_none()) {
                continue;
            }
            let sessions = own.iter().map(|(id, root)| fallback::Session {
                name: &tree.item(**id).name,
                machine: root.judged.as_ref().map(|(linked, fsm)| (linked.role, fsm)),
            });
            let sessions: Vec<fallback::Session<'_>> = sessions.collect();
            let is_accepted = accepted
                .iter()
                .any(|name| fallback::names(protocols, name, position));
            let judgement = fallback::judge(protocol, &sessions, self.limits);
            let note = fallback::note(protocol, &judgement, is_accepted);
            let is_proven = judgement.is_ok() && is_accepted;
            let noted = (!is_proven).then(|| note.clone());
            self.notes.insert(position, noted);
            let own: Vec<ItemId> = own.into_iter().map(|(&id, _)| id).collect();
            for id in own {
                let Some(root) = self.roots.get_mut(&id) else {
                    continue;
                };
                let refusal = root.refusal.take();
                let bound = judgement.as_ref().ok().filter(|_| is_accepted);
                if let Some(&bound) = bound {
                    root.kmc = Some(bound);
                    root.refused = false;
                }
                let is_proven = bound.is_some();
                if let Some((Fault { place, text }, kind)) = refusal {
                    self.withdraw(place, &text);
                    if !is_proven {
                        let text = format!("{text}{note}");
                        self.kinds.insert(text.clone(), kind);
                        self.fault(place.item, place.token, text);
                    }
                }
            }
        }
    }

    /// Takes a fault back.
    fn withdraw(&mut self, place: Place, text: &str) {
        if let Some(faults) = self.faults.get_mut(&place.item) {
            faults.remove(&(place.token, text.to_owned()));
            if faults.is_empty() {
                self.faults.remove(&place.item);
            }
        }
    }

    /// Verifies an item if it is a root.
    fn root(&mut self, id: ItemId) {
        let Context {
            tree,
            protocols,
            pairs,
        } = self.context;
        let ItemKind::Session(session) = &*tree.item(id).kind else {
            return;
        };
        let Some(path) = &session.role else { return };
        let (role_id, role) = match self.role(id, path) {
            Ok(found) => found,
            Err(text) => return self.fault(id, path.last_token(), text),
        };
        let linked = match &role.link {
            Ok(linked) => Some(*linked),
            Err(LinkError::Set { .. } | LinkError::Wrong { .. }) => None,
            Err(LinkError::Broken { file }) => {
                let text = text::file_has_errors(&tree.item(id).name, &protocols.files[*file]);
                self.kinds.insert(text.clone(), report::Kind::Undecided);
                self.echoes.insert(text.clone());
                self.fault(id, path.last_token(), text);
                let root = Root {
                    role: role_id,
                    plays: role.sealed_name(),
                    reached: Reached::nothing(id),
                    refused: true,
                    judged: None,
                    refusal: None,
                    in_set: None,
                    kmc: None,
                };
                self.roots.insert(id, root);
                return;
            }
        };
        let (reached, faults) = reach(self.context, id, role, linked, self.limits.items);
        let mut refused = !faults.is_empty();
        let mut judged = None;
        let mut refusal = None;
        for Fault { place, text } in faults {
            self.fault(place.item, place.token, text);
        }
        if let Some(linked) = linked
            && reached.linked
            && !refused
        {
            let protocol = &protocols.protocols[linked.protocol];
            let written = reached.machine(id, protocol.role_at(linked.role));
            let setting = Setting {
                tree,
                pairs,
                protocol,
                file: &protocols.files[protocol.file],
                linked,
                root: id,
                role: role_id,
                machine: None,
            };
            refusal = subtype::judge(&setting, &written, &self.limits.verifier);
            if let Some((Fault { place, text }, kind)) = refusal.clone() {
                refused = true;
                self.kinds.insert(text.clone(), kind);
                self.fault(place.item, place.token, text);
            }
            judged = Some((linked, written.fsm));
        }
        let mut in_set = None;
        if let Some(set) = role.set()
            && reached.linked
            && !refused
        {
            let own = role.name.role.as_str().into();
            in_set = Some((set, reached.machine(id, &own)));
        }
        self.roots.insert(
            id,
            Root {
                role: role_id,
                plays: role.sealed_name(),
                reached,
                refused,
                judged,
                refusal,
                in_set,
                kmc: None,
            },
        );
    }

    /// The role that the argument of `#[session(…)]` names, whatever its link.
    fn role(
        &self,
        id: ItemId,
        path: &rumpsteak_contract::Path,
    ) -> Result<(ItemId, &'a RolePair), String> {
        let Context { tree, pairs, .. } = self.context;
        let found = match resolve(tree, tree.item(id).module, path) {
            Resolution::Found(Meaning::Item(found)) => found,
            Resolution::Found(Meaning::Module(_)) => return Err(text::is_module(path)),
            Resolution::Ambiguous(_) => return Err(text::ambiguous(path)),
            Resolution::Nothing => return Err(text::unresolved(path)),
        };
        let krate = |item: ItemId| tree.module(tree.item(item).module).krate;
        match (&*tree.item(found).kind, pairs.roles.get(&found)) {
            // The proof is an implementation for the role, which Rust allows beside the role only.
            (_, Some(_)) if krate(found) != krate(id) => Err(text::foreign_role(path)),
            (_, Some(role)) => Ok((found, role)),
            (ItemKind::Role(_), None) => Err(text::role_without_link(path)),
            (ItemKind::Broken, None) => Err(text::depends_on(path.last().as_str())),
            _ => Err(text::no_role(path)),
        }
    }

    /// Marks the items that contain a `type` with a fault, as far as a refused root has no error of its own yet.
    fn spoil(&mut self) {
        let tree = self.context.tree;
        // Who names an item at the end of a chain, and at which token.
        let mut users: SortedMap<ItemId, SortedSet<Place>> = SortedMap::new();
        let silent = |(id, root): &(&ItemId, &Root)| root.refused && !self.faults.contains_key(id);
        for (_, Root { reached, .. }) in self.roots.iter().filter(silent) {
            for (&item, chains) in &reached.items {
                for chain in chains {
                    if let ResolvedTail::Named { item: named, token } = chain.tail {
                        users.or_default(named).insert(Place { item, token });
                    }
                }
            }
        }
        let mut pending: Vec<ItemId> = self.faults.keys().copied().collect();
        while let Some(failed) = pending.pop() {
            if is_nominal(tree, failed) {
                continue;
            }
            let ItemKind::Session(session) = &*tree.item(failed).kind else {
                continue;
            };
            for &Place { item, token } in users.get(&failed).into_iter().flatten() {
                if !self.faults.contains_key(&item) {
                    let text = text::depends_on(session.name.as_str());
                    self.kinds.insert(text.clone(), report::Kind::Undecided);
                    self.fault(item, token, text);
                    pending.push(item);
                }
            }
        }
    }

    /// Refuses items that mean different things to different roots.
    fn compare(&mut self) {
        let tree = self.context.tree;
        let identity = |item: ItemId| item.0 as u64;
        let mut bodies: SortedMap<ItemId, Body> = SortedMap::new();
        let mut differing = SortedSet::new();
        for Root { reached, .. } in self.roots.values() {
            for &item in reached.items.keys().filter(|&&item| is_nominal(tree, item)) {
                let Some(body) = reached.body(tree, item, &identity) else {
                    continue;
                };
                if *bodies.or_insert_with(item, || body.clone()) != body {
                    differing.insert(item);
                }
            }
        }
        for item in differing {
            let ItemKind::Session(session) = &*tree.item(item).kind else {
                continue;
            };
            self.fault(
                item,
                session.name_token,
                text::two_meanings(&tree.item(item).name),
            );
        }
    }

    /// The identity of an item, which is another one if the item has a fault.
    fn identity(&self, id: ItemId) -> u64 {
        let tree = self.context.tree;
        let item = tree.item(id);
        let target = &tree.crate_of(id).target;
        let ItemKind::Session(session) = &*item.kind else {
            return 0;
        };
        let mut hasher = Hasher::new();
        hasher.text(&target.kind.to_string());
        hasher.text(&target.name);
        hasher.text(&tree.module_path(item.module));
        hasher.text(&item.name);
        hasher.bytes(&session.hash().to_be_bytes());
        if self.faults.contains_key(&id) {
            hasher.text("failed");
        }
        hasher.finish()
    }

    fn findings(&self, base: &Base) -> Findings {
        let tree = self.context.tree;
        let identities: SortedMap<ItemId, u64> = tree
            .item_ids()
            .filter(|&id| is_nominal(tree, id))
            .map(|id| (id, self.identity(id)))
            .collect();
        let identity = |id: ItemId| identities.get(&id).copied().unwrap_or_default();
        let repeated = self.repeated();

        // The structure of each item, from the first root that reaches it: they agree, or the item has a fault.
        let mut bodies: SortedMap<ItemId, Option<Body>> = SortedMap::new();
        let mut in_failed_root: SortedSet<ItemId> = SortedSet::new();
        for (&root, Root { reached, .. }) in &self.roots {
            let failed = !reached.linked
                || reached
                    .items
                    .keys()
                    .any(|item| self.faults.contains_key(item));
            for &item in reached.items.keys() {
                if (is_nominal(tree, item) || item == root)
                    && !bodies.contains_key(&item)
                    && let Some(body) = reached.body(tree, item, &identity)
                {
                    bodies.insert(item, Some(body));
                }
                if failed {
                    in_failed_root.insert(item);
                }
            }
        }

        let mut findings = Findings {
            verdicts: Verdicts::default(),
            problems: Vec::new(),
            unanchored: Vec::new(),
            includes_protocols: self.includes_protocols(),
            warnings: Vec::new(),
            kinds: self.kinds.clone(),
            echoes: self.echoes.clone(),
            roots: 0,
            passed: 0,
        };
        let anchors = self.anchors(&mut findings.unanchored);
        for &file in anchors.values() {
            let file = &self.context.protocols.files[file];
            findings.kinds.insert(report::file(file), file.kind());
            findings.echoes.insert(report::file(file));
        }
        let systems = self.systems();
        let shown: Vec<String> = tree
            .files
            .iter()
            .map(|file| base.show(&file.path))
            .collect();
        for id in tree.item_ids() {
            let item = tree.item(id);
            let (kind, name, hash, outcome) = match &*item.kind {
                ItemKind::Role(role) => {
                    let mut outcome = self.role_outcome(id, &anchors);
                    if let Outcome::Passed(proof) = &mut outcome {
                        proof.system = systems.get(&id).cloned();
                    }
                    (Kind::Role, &role.name, role.hash(), outcome)
                }
                ItemKind::Session(session) => {
                    let id_of_item = is_nominal(tree, id).then(|| identity(id));
                    let proof = Proof {
                        plays: match self.roots.get(&id) {
                            Some(root) if !repeated.contains(&id) => Some(root.plays.clone()),
                            _ => None,
                        },
                        id: id_of_item,
                        body: bodies.get_mut(&id).and_then(Option::take),
                        system: self.roots.get(&id).and_then(|root| {
                            systems.get(&root.role).map(|system| verdict::System {
                                id: system.id,
                                queues: Vec::new(),
                            })
                        }),
                        kmc: self.roots.get(&id).and_then(|root| root.kmc),
                        machine: self.roots.get(&id).and_then(Root::machine),
                    };
                    let outcome = match self.faults.get(&id) {
                        Some(faults) => Outcome::Failed {
                            id: id_of_item,
                            plays: self.roots.contains_key(&id) && !repeated.contains(&id),
                            problems: match inclusion::failed(tree, &self.notes, id) {
                                Some(protocol) => vec![Problem {
                                    token: session.name_token,
                                    text: text::see_inclusion(&item.name, &protocol),
                                }],
                                None => faults.iter().map(problem).collect(),
                            },
                        },
                        None if in_failed_root.contains(&id) => Outcome::FailedElsewhere(proof),
                        None => Outcome::Passed(proof),
                    };
                    if session.role.is_some() {
                        findings.roots += 1;
                        findings.passed += usize::from(matches!(outcome, Outcome::Passed(_)));
                    }
                    (Kind::Session, &session.name, session.hash(), outcome)
                }
                ItemKind::Set(set) => {
                    let outcome = match self.faults.get(&id) {
                        Some(faults) => Outcome::Failed {
                            id: None,
                            plays: false,
                            problems: faults.iter().map(problem).collect(),
                        },
                        None => Outcome::Passed(Proof::default()),
                    };
                    (Kind::Set, &set.name, set.hash(), outcome)
                }
                _ => continue,
            };
            if let Outcome::Failed { problems, .. } = &outcome
                && inclusion::failed(tree, &self.notes, id).is_none()
            {
                findings
                    .problems
                    .extend(problems.iter().map(|problem| Located {
                        file: item.file,
                        span: span_of(&item.kind, problem.token),
                        text: problem.text.clone(),
                    }));
            }
            findings.verdicts.entries.push(Entry {
                kind,
                name: name.to_string(),
                hash,
                target: tree.crate_of(id).target.clone(),
                file: shown[item.file.0].clone(),
                line: item.line,
                outcome,
            });
        }
        inclusion::findings(tree, base, &self.notes, &mut findings);
        sorted::sort_by(&mut findings.verdicts.entries, |left, right| {
            let at = |entry: &Entry| (entry.line, entry.kind);
            (left.target.cmp(&right.target))
                .then_with(|| left.file.cmp(&right.file))
                .then_with(|| at(left).cmp(&at(right)))
                .then_with(|| left.name.cmp(&right.name))
        });
        findings.warnings = self.warnings(base);
        findings
    }

    /// What is known about the queues of the roles of targets with which nothing is wrong.
    fn systems(&self) -> SortedMap<ItemId, verdict::System> {
        let Context { tree, .. } = self.context;
        let krate = |id: ItemId| tree.module(tree.item(id).module).krate;
        let faulty: SortedSet<CrateId> = self.faults.keys().map(|&id| krate(id)).collect();
        let mut sessions: SortedMap<ItemId, Vec<&Fsm>> = SortedMap::new();
        let mut unknown: SortedSet<ItemId> = SortedSet::new();
        for root in self.roots.values() {
            let machine = match (&root.judged, &root.in_set) {
                (Some((_, machine)), _) => Some(machine),
                (None, Some((_, written))) => Some(&written.fsm),
                (None, None) => None,
            };
            match machine {
                Some(machine) if !root.refused && !faulty.contains(&krate(root.role)) => {
                    sessions.or_default(root.role).push(machine);
                }
                _ => {
                    unknown.insert(root.role);
                }
            }
        }
        // A file that is mounted twice in one crate has two roles at one place, and a macro cannot tell which it expands.
        let place = |id: &ItemId| {
            let item = tree.item(*id);
            let target = &tree.crate_of(*id).target;
            (target, item.file, item.line, &item.name)
        };
        let mut places: SortedMap<_, Vec<ItemId>> = SortedMap::new();
        for id in self.context.pairs.roles.keys() {
            places.or_default(place(id)).push(*id);
        }
        unknown.extend(places.into_values().filter(|ids| ids.len() > 1).flatten());
        sessions.retain(|role, _| !unknown.contains(role));
        capacities::find(self.context, &sessions, &self.limits.verifier)
    }

    /// The roots whose type another root of the same role has as well: one proof serves both, and rustc allows only one.
    ///
    /// The other one is part of every build, so that the proof is there.
    fn repeated(&self) -> SortedSet<ItemId> {
        let tree = self.context.tree;
        let mut roots: Vec<(ItemId, &Root)> = self.roots.iter().map(|(&id, r)| (id, r)).collect();
        let unknown = |id: ItemId| tree.item(id).condition != Truth::True;
        sorted::sort_by(&mut roots, |(left, _), (right, _)| {
            (unknown(*left), *left).cmp(&(unknown(*right), *right))
        });
        // Without an outline, for want of a name, types that are written alike in one module are the same.
        let alike = |id: ItemId| match &*tree.item(id).kind {
            ItemKind::Session(session) => session.written(),
            _ => String::new(),
        };
        let mut seen: SortedSet<(ItemId, SameType)> = SortedSet::new();
        let mut repeated = SortedSet::new();
        for (id, Root { role, reached, .. }) in roots {
            let outline = reached.outline(tree, id);
            let key = (
                *role,
                outline.ok_or_else(|| (tree.item(id).module, alike(id))),
            );
            if seen.contains(&key) {
                repeated.insert(id);
            } else if !unknown(id) {
                seen.insert(key);
            }
        }
        repeated
    }

    /// Whether some module that every build compiles calls `include_protocols!()`: one of the library, or one of the
    /// binaries of a package without one.
    fn includes_protocols(&self) -> bool {
        let crates = &self.context.tree.crates;
        let has_library = crates
            .iter()
            .any(|krate| krate.target.kind == TargetKind::Lib);
        let is_compiled = |kind| match kind {
            TargetKind::Lib | TargetKind::Source => true,
            TargetKind::Bin => !has_library,
            TargetKind::Bench | TargetKind::Example | TargetKind::Test => false,
        };
        crates
            .iter()
            .any(|krate| krate.includes_protocols && is_compiled(krate.target.kind))
    }

    /// For each file with errors the roles to report them at: the first one of each target that is linked to it. Files
    /// that no role is linked to are added to `unanchored`.
    fn anchors(&self, unanchored: &mut Vec<usize>) -> SortedMap<ItemId, usize> {
        let Context {
            tree,
            protocols,
            pairs,
        } = self.context;
        if self.includes_protocols() {
            let broken = |file: &usize| !protocols.files[*file].diagnostics.is_empty();
            unanchored.extend((0..protocols.files.len()).filter(broken));
            return SortedMap::new();
        }
        let mut anchors = SortedMap::new();
        let mut seen: SortedSet<(usize, CrateId)> = SortedSet::new();
        for (&id, role) in &pairs.roles {
            if let Err(LinkError::Broken { file }) = role.link
                && seen.insert((file, tree.module(tree.item(id).module).krate))
            {
                anchors.insert(id, file);
            }
        }
        let anchored: SortedSet<usize> = anchors.values().copied().collect();
        for (file, scr) in protocols.files.iter().enumerate() {
            if !scr.diagnostics.is_empty() && !anchored.contains(&file) {
                unanchored.push(file);
            }
        }
        anchors
    }

    fn role_outcome(&self, id: ItemId, anchors: &SortedMap<ItemId, usize>) -> Outcome {
        let Context {
            tree,
            protocols,
            pairs,
        } = self.context;
        let failed = |token, text| Outcome::Failed {
            id: None,
            plays: false,
            problems: vec![Problem { token, text }],
        };
        let (Some(role), ItemKind::Role(item)) = (pairs.roles.get(&id), &*tree.item(id).kind)
        else {
            return Outcome::Passed(Proof::default());
        };
        if role.set().is_some() {
            // The name by which proofs know the role: that of its set, which the struct does not say.
            return Outcome::Passed(Proof {
                plays: Some(role.name.clone()),
                ..Proof::default()
            });
        }
        match (&role.link, anchors.get(&id)) {
            (Err(LinkError::Wrong { token, text }), _) => failed(*token, text.clone()),
            (Err(LinkError::Broken { .. }), Some(&file)) => {
                let token = item
                    .link
                    .as_ref()
                    .map_or(item.name_token, |link| link.protocol_token);
                failed(token, report::file(&protocols.files[file]))
            }
            _ => Outcome::Passed(Proof::default()),
        }
    }

    /// What was not verified because nothing asked for it.
    fn warnings(&self, base: &Base) -> Vec<String> {
        let Context {
            tree,
            protocols,
            pairs,
        } = self.context;
        let mut warnings = Vec::new();
        for (position, protocol) in protocols.protocols.iter().enumerate() {
            let plays = |role: &RolePair| role.link.as_ref().is_ok_and(|l| l.protocol == position);
            if !pairs.roles.values().any(plays) {
                warnings.push(text::unplayed_protocol(
                    protocol,
                    &protocols.files[protocol.file],
                ));
            }
        }
        warnings.extend(self.starving());
        let with_session: SortedSet<ItemId> = self.roots.values().map(|root| root.role).collect();
        for (&id, role) in &pairs.roles {
            if role.link.is_ok() && !with_session.contains(&id) && !self.has_failed_root(id) {
                let item = tree.item(id);
                let file = base.show(&tree.files[item.file.0].path);
                let place = format!("{file}:{}", item.line);
                warnings.push(text::role_without_session(&item.name, &role.name, place));
            }
        }
        sorted::sort(&mut warnings);
        warnings.dedup();
        warnings
    }

    /// One line for each protocol whose sessions all passed and leave a role waiting.
    fn starving(&self) -> Vec<String> {
        let protocols = self.context.protocols;
        if !self.faults.is_empty() {
            return Vec::new();
        }
        // By protocol and role.
        let none = |protocol: &Loaded| vec![Vec::new(); protocol.projections.len()];
        let mut machines: Vec<Vec<Vec<&Fsm>>> = protocols.protocols.iter().map(none).collect();
        for (linked, machine) in self.roots.values().filter_map(|root| root.judged.as_ref()) {
            machines[linked.protocol][linked.role].push(machine);
        }
        let waits = |(position, protocol): (usize, &Loaded)| {
            let only = |of: &Vec<_>| match of[..] {
                [machine] => Some(machine),
                _ => None,
            };
            let written: Vec<Option<&Fsm>> = machines[position].iter().map(only).collect();
            let run = starvation::find(protocol, &written, &self.limits.verifier)?;
            let (role, awaited) = starvation::describe(&run)?;
            let file = &protocols.files[protocol.file];
            Some(text::starving(protocol, file, &role, &awaited))
        };
        protocols
            .protocols
            .iter()
            .enumerate()
            .filter_map(waits)
            .collect()
    }

    /// Whether some session that could not be read further names the role.
    fn has_failed_root(&self, role: ItemId) -> bool {
        let tree = self.context.tree;
        self.faults.keys().any(|&id| match &*tree.item(id).kind {
            ItemKind::Session(session) => session.role.as_ref().is_some_and(|path| {
                resolve(tree, tree.item(id).module, path) == Resolution::Found(Meaning::Item(role))
            }),
            _ => false,
        })
    }
}

fn problem((token, text): &(usize, String)) -> Problem {
    Problem {
        token: *token,
        text: text.clone(),
    }
}

fn span_of(kind: &ItemKind, token: usize) -> Span {
    match kind {
        ItemKind::Role(role) => role.span_of(token),
        ItemKind::Session(session) => session.span_of(token),
        ItemKind::Set(set) => set.span_of(token),
        _ => Span::default(),
    }
}
