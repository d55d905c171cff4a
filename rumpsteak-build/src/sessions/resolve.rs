//! The names in a session: items, roles of the protocol, messages.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::canonical::type_text;
use rumpsteak_contract::session::{Action, Chain, Direction, SessionItem, Tail, Variant};
use rumpsteak_contract::{Path, name};
use rumpsteak_fsm::{self as fsm, Message};
use rumpsteak_scribble::similar;

use crate::fault::{Cause, Fault, LabelHint, NameProblem};
use crate::link::context::Context;
use crate::link::labels::{
    LabelMatch, LabelPair, match_label, payload_matches, rust_type, successor,
};
use crate::link::roles::{LinkError, RolePair, peers};
use crate::protocols::ProtocolRole;
use crate::sessions::resolved::{
    Peer, ResolvedAction, ResolvedChain, ResolvedLabel, ResolvedOption, ResolvedSession,
    ResolvedTail,
};
use crate::source::crate_tree::{ItemId, ItemKind, Meaning, ModuleId, Tree};
use crate::source::names::{self, Resolution, elsewhere, resolve};

/// Resolves all names of `root`, which `role` plays, and returns with them everything that is wrong
/// with one. Without a link to a protocol, names are not compared with those of any.
pub(crate) fn resolve_session(
    context: Context<'_>,
    (root, role_id): (ItemId, ItemId),
    role: &RolePair,
    linked: Option<ProtocolRole>,
    most_items: usize,
) -> (ResolvedSession, Vec<Fault>) {
    let mut labels = BTreeMap::new();
    for (index, label) in role.labels.iter().enumerate() {
        let key = label.item.ok_or(&*label.written);
        labels.entry(key).or_insert(index);
    }
    let mut resolver = Resolver {
        context,
        role_id,
        role,
        labels,
        linked,
        peers_linked: true,
        faults: Vec::new(),
        pending: vec![root],
    };
    let mut items = BTreeMap::new();
    while let Some(id) = resolver.pending.pop() {
        if items.contains_key(&id) {
            continue;
        }
        if items.len() == most_items {
            resolver.fault(root, 0, Cause::TooManyItems { most: most_items });
            break;
        }
        if let Some(session) = context.tree.session(id) {
            let chains = resolver.item(id, session);
            items.insert(id, chains);
        }
    }
    let linked = (linked.is_some() || role.set().is_some()) && resolver.peers_linked;
    let mut session = ResolvedSession { items, linked };
    let mut faults = resolver.faults;
    faults.extend(session.cycles(context.tree));
    for fault in &faults {
        session.items.insert(fault.place.item, Vec::new());
    }
    (session, faults)
}

struct Resolver<'a> {
    context: Context<'a>,
    role_id: ItemId,
    role: &'a RolePair,
    /// The positions of the role's labels, by item, or as they are written.
    labels: BTreeMap<Result<ItemId, &'a str>, usize>,
    linked: Option<ProtocolRole>,
    peers_linked: bool,
    faults: Vec<Fault>,
    pending: Vec<ItemId>,
}

impl Resolver<'_> {
    fn item(&mut self, id: ItemId, session: &SessionItem) -> Vec<ResolvedChain> {
        let own = session.chain().and_then(|chain| self.chain(id, chain, None));
        let options = session.variants().iter().filter_map(|variant| {
            let option = self.option(id, variant)?;
            self.chain(id, &variant.then, Some(option))
        });
        own.into_iter().chain(options).collect()
    }

    fn option(&mut self, id: ItemId, variant: &Variant) -> Option<ResolvedOption> {
        let label = self.label(id, variant.head.label());
        let end = match variant.head.action() {
            Some(action) => Some((action.direction, self.peer(id, &action.peer)?)),
            None => None,
        };
        Some(ResolvedOption { token: variant.token, label: label?, end })
    }

    /// Resolves a chain, looking at all of it even if something is wrong.
    fn chain(
        &mut self,
        id: ItemId,
        chain: &Chain,
        option: Option<ResolvedOption>,
    ) -> Option<ResolvedChain> {
        let actions: Vec<_> = chain
            .actions
            .iter()
            .map(|action| {
                if self.is_swapped(id, action) {
                    return None;
                }
                let peer = self.peer(id, &action.peer);
                let label = self.label(id, &action.label);
                let (direction, token) = (action.direction, action.constructor.last_token());
                Some(ResolvedAction { direction, token, peer: peer?, label: label? })
            })
            .collect();
        let token = chain.tail.path().last_token();
        let tail = match &chain.tail {
            Tail::Choice { direction, peer, choice, .. } => {
                let choice = self.choice(id, choice, *direction, peer.is_some());
                let peer = match peer {
                    Some(peer) => Some(self.peer(id, peer)?),
                    None => None,
                };
                ResolvedTail::Choice { direction: *direction, token, peer, choice: choice? }
            }
            Tail::End(_) => ResolvedTail::End { token },
            Tail::Itself(_) => ResolvedTail::Named { item: id, token },
            Tail::Named(path) => {
                ResolvedTail::Named { item: self.session(id, path, false)?, token }
            }
        };
        Some(ResolvedChain { option, actions: actions.into_iter().collect::<Option<_>>()?, tail })
    }

    /// Whether an action has its label where the role belongs, which is a fault then.
    fn is_swapped(&mut self, id: ItemId, action: &Action) -> bool {
        let Context { tree, pairs, .. } = self.context;
        let is_role = |path: &Path| {
            let found = names::item(tree, tree.item(id).module, path);
            found.is_some_and(|found| pairs.roles.contains_key(&found))
        };
        let Action { constructor, peer, label, .. } = action;
        let is_swapped = is_role(label) && !is_role(peer);
        if is_swapped {
            let (path, problem) = (peer.to_string(), NameProblem::Swapped);
            let meant = Some(format!("{constructor}<{label}, {peer}, …>"));
            self.fault(id, peer.last_token(), Cause::Name { path, problem, meant });
        }
        is_swapped
    }

    fn fault(&mut self, item: ItemId, token: usize, cause: Cause) {
        self.faults.push(cause.at(item, token));
    }

    fn name_fault(&mut self, item: ItemId, path: &Path, problem: NameProblem) {
        let token = path.last_token();
        let path = path.to_string();
        self.fault(item, token, Cause::Name { path, problem, meant: None });
    }

    /// The item that a path in `id` stands for, or a fault: `nothing` is that of a name that stands
    /// for none.
    fn resolve(
        &mut self,
        id: ItemId,
        path: &Path,
        nothing: fn(&Tree, ModuleId, &Path) -> Cause,
    ) -> Option<ItemId> {
        let tree = self.context.tree;
        let problem = match resolve(tree, tree.item(id).module, path) {
            Resolution::Found(Meaning::Item(found)) => return Some(found),
            Resolution::Found(Meaning::Module(_)) => NameProblem::Module,
            Resolution::Ambiguous(_) => NameProblem::Ambiguous,
            Resolution::Nothing => {
                let cause = nothing(tree, tree.item(id).module, path);
                self.fault(id, path.last_token(), cause);
                return None;
            }
        };
        self.name_fault(id, path, problem);
        None
    }

    /// The session item, or the choice, that a path in `id` stands for.
    fn session(&mut self, id: ItemId, path: &Path, choice: bool) -> Option<ItemId> {
        let found = if path.as_ident().is_some_and(|ident| ident == "Self") {
            id
        } else {
            self.resolve(id, path, nothing)?
        };
        let problem = match &*self.context.tree.item(found).kind {
            ItemKind::Session(session) if session.chain().is_none() == choice => {
                self.pending.push(found);
                return Some(found);
            }
            ItemKind::Session(_) if choice => NameProblem::Session,
            ItemKind::Session(_) => NameProblem::Choice,
            ItemKind::Broken => {
                self.fault(id, path.last_token(), broken_item(path));
                return None;
            }
            _ if choice && self.labels.contains_key(&Ok(found)) => NameProblem::Label,
            _ => NameProblem::NoSession,
        };
        self.name_fault(id, path, problem);
        None
    }

    /// The choice that a path in `id` stands for, or a fault; also if its options do not fit what
    /// it is used for.
    fn choice(
        &mut self,
        id: ItemId,
        path: &Path,
        direction: Option<Direction>,
        names_peer: bool,
    ) -> Option<ItemId> {
        let found = self.session(id, path, true)?;
        let misfit = |variant: &Variant| match variant.head.action() {
            Some(_) if names_peer => Some(NameProblem::ChoiceAmongPeers),
            Some(action) => direction
                .filter(|direction| action.direction != *direction)
                .map(NameProblem::OtherDirection),
            None if !names_peer => Some(NameProblem::ChoiceOfOnePeer),
            _ => None,
        };
        if let Some(problem) = self.context.tree.session(found)?.variants().iter().find_map(misfit)
        {
            self.name_fault(id, path, problem);
            return None;
        }
        Some(found)
    }

    fn peer(&mut self, id: ItemId, path: &Path) -> Option<Peer> {
        let found = self.resolve(id, path, no_role)?;
        let Context { tree, protocols, pairs, .. } = self.context;
        let name = |problem| Cause::Name { path: path.to_string(), problem, meant: None };
        let pair = pairs.roles.get(&found);
        let known = |name, role: &str| Some(Peer { item: found, name, role: role.into() });
        let other_protocol = |pair: &RolePair| Cause::OtherProtocol {
            path: path.to_string(),
            peer: pair.name.written(),
            role: self.role.name.clone(),
        };
        let cause = match (&*tree.item(found).kind, pair) {
            (_, Some(pair)) => match (&pair.link, self.linked) {
                (Ok(linked), Some(own)) if linked.protocol != own.protocol => other_protocol(pair),
                (Ok(_), None) if self.role.set().is_some() => other_protocol(pair),
                (Ok(linked), Some(own)) if linked.role == own.role => name(NameProblem::OwnRole),
                (Ok(linked), _) => {
                    self.check_route(found);
                    let role = protocols.protocols[linked.protocol].role_at(linked.role);
                    return known(pair.name.clone(), role.as_str());
                }
                // Its own derive says what is wrong.
                (Err(LinkError::Wrong { .. }), _) => {
                    self.peers_linked = false;
                    return known(pair.sealed_name(), &pair.name.role);
                }
                (Err(LinkError::Set { set }), _) if self.role.set() != Some(*set) => {
                    other_protocol(pair)
                }
                (Err(LinkError::Set { .. }), _) if pair.name == self.role.name => {
                    name(NameProblem::OwnRole)
                }
                (Err(LinkError::Set { .. }), _) => {
                    self.check_route(found);
                    return known(pair.name.clone(), &pair.name.role);
                }
                (Err(LinkError::Broken { .. }), _) => broken_item(path),
            },
            (ItemKind::Role(_), None) => name(NameProblem::RoleWithoutLink(found)),
            (ItemKind::Broken, None) => broken_item(path),
            (ItemKind::Other(Some(_)), None) => name(NameProblem::PlainStruct(found)),
            _ => name(NameProblem::NoRole),
        };
        self.fault(id, path.last_token(), cause);
        None
    }

    fn label(&mut self, id: ItemId, path: &Path) -> Option<ResolvedLabel> {
        let Context { tree, protocols, .. } = self.context;
        // A label type may be of another package: then the enum names it as the session does.
        let item = match resolve(tree, tree.item(id).module, path) {
            Resolution::Found(Meaning::Item(found)) => Some(found),
            Resolution::Found(Meaning::Module(_)) | Resolution::Nothing => None,
            Resolution::Ambiguous(_) => {
                self.name_fault(id, path, NameProblem::Ambiguous);
                return None;
            }
        };
        let session = item.and_then(|found| tree.session(found));
        if session.is_some_and(|session| session.chain().is_none()) {
            self.name_fault(id, path, NameProblem::ChoiceAsLabel);
            return None;
        }
        let written = path.last().to_string();
        if item.is_none()
            && let Some(declaration) = self.declaration(id, path, &written)
        {
            let cause = Cause::Undeclared { path: written, declaration };
            self.fault(id, path.last_token(), cause);
            return None;
        }
        let cause = match self.labels.get(&item.ok_or(&*written)) {
            Some(&index) => {
                let label = &self.role.labels[index];
                let resolved = |message| ResolvedLabel { index, name: label.name.clone(), message };
                let Some(linked) = self.linked else {
                    // Without a protocol, the types are what the message carries.
                    let payload = label.payloads.first().into_iter().flatten();
                    return Some(resolved(Message {
                        label: label.name.as_str().into(),
                        payload: payload.map(|ty| ty.as_str().into()).collect(),
                    }));
                };
                let protocol = &protocols.protocols[linked.protocol];
                let file = &protocols.files[protocol.file];
                match match_label(label, protocol, file) {
                    LabelMatch::Found(message) => return Some(resolved(message.clone())),
                    LabelMatch::OtherPayload(messages) => {
                        let cause = Cause::OtherPayload {
                            path: path.to_string(),
                            carried: label.payloads.first().cloned(),
                            messages: messages.into_iter().cloned().collect(),
                            protocol: linked.protocol,
                        };
                        // Once in each item: it is the label that is wrong, and not its uses.
                        let is_this =
                            |fault: &Fault| fault.place.item == id && fault.cause == cause;
                        if self.faults.iter().any(is_this) {
                            return None;
                        }
                        cause
                    }
                    LabelMatch::Unknown => Cause::UnknownLabel {
                        path: path.to_string(),
                        label: label.name.clone(),
                        meant: successor(label, &self.role.labels, (protocol, file)),
                        protocol: linked.protocol,
                    },
                }
            }
            None if self.role.labels.is_empty() => {
                self.no_message();
                broken_item(path)
            }
            None => self.no_label(id, path, item.is_some()),
        };
        self.fault(id, path.last_token(), cause);
        None
    }

    /// Why a path stands for no label of the role.
    fn no_label(&self, id: ItemId, path: &Path, is_item: bool) -> Cause {
        let tree = self.context.tree;
        let (text, written) = (path.to_string(), path.last().to_string());
        let known = self.role.labels.iter().map(|label| label.written.as_str());
        let known: Vec<&str> = known.collect();
        // It is a label, and this module does not see it.
        if path.as_ident().is_some()
            && known.contains(&&*written)
            && !is_item
            && elsewhere(tree, tree.item(id).module, path).is_none()
        {
            return Cause::Name { path: text, problem: NameProblem::Unresolved, meant: None };
        }
        let start = format!("{written}<");
        let generic = known.iter().find(|label| label.starts_with(&start));
        if let Some(&label) = generic {
            return Cause::GenericLabel { path: text, label: label.to_owned() };
        }
        // Something else here has the name of a label.
        let is_other = known.contains(&&*written);
        let other = || LabelHint::Similar(tree.path_in(tree.item(self.role_id).module, &written));
        let is_nowhere = !is_item
            && path.as_ident().is_some()
            && !names::is_known(tree, tree.item(id).module, &written);
        let hint =
            is_other.then(other).or_else(|| self.variant_hint(&written, (is_item, is_nowhere)));
        let hint = hint.or_else(|| self.carrier(id, path));
        let hint = hint.unwrap_or_else(|| match similar(&written, &known) {
            Some(label) => LabelHint::Similar(label.to_owned()),
            None if tree.is_generated(self.role_id) => {
                LabelHint::AnyOf(known.iter().map(|&label| label.to_owned()).collect())
            }
            None => self.added(),
        });
        if let LabelHint::Bare(carried) | LabelHint::Other(carried) | LabelHint::Renamed(carried) =
            &hint
            && known.iter().filter(|label| *label == carried).nth(1).is_some()
            && self.message_module() == Some(tree.item(id).module)
        {
            // Two labels have this type: the derive of the message type says what to do.
            return Cause::SaidOf { name: carried.clone() };
        }
        Cause::NoLabel { path: text, role: self.role.name.clone(), hint }
    }

    /// The message type of the role lacks a variant. It has one: a role without is an error of its
    /// derive.
    fn added(&self) -> LabelHint {
        let role = self.context.tree.role(self.role_id);
        let message = role.and_then(|role| role.message.as_ref());
        LabelHint::Added(message.map_or_else(|| "…".to_owned(), ToString::to_string))
    }

    /// Where the message type of the role is.
    fn message_module(&self) -> Option<ModuleId> {
        let tree = self.context.tree;
        let path = tree.role(self.role_id)?.message.as_ref()?;
        let found = names::item(tree, tree.item(self.role_id).module, path)?;
        Some(tree.item(found).module)
    }

    /// What was meant by a name, as far as the message type and the protocol say so; it may be that
    /// of an item, or of nothing at all.
    fn variant_hint(
        &self,
        written: &str,
        (is_item, is_nowhere): (bool, bool),
    ) -> Option<LabelHint> {
        let labels = &self.role.labels;
        let message = format!("{written}Message");
        if labels.iter().any(|label| label.written == message) {
            return Some(LabelHint::Similar(message));
        }
        let normal = name::normalise(written);
        let loaded = self.linked.map(|linked| {
            let protocol = &self.context.protocols.protocols[linked.protocol];
            (protocol, &self.context.protocols.files[protocol.file])
        });
        if let Some(label) = labels.iter().find(|label| name::same(&label.name, written)) {
            let fits = loaded.is_none_or(|(protocol, file)| {
                matches!(match_label(label, protocol, file), LabelMatch::Found(_))
            });
            let carried = label.written.clone();
            return Some(match label.item {
                _ if is_item => LabelHint::Other(carried),
                Some(_) if fits => LabelHint::Renamed(carried),
                _ => LabelHint::Bare(carried),
            });
        }
        if let Some((protocol, file)) = loaded
            && let Some(message) = protocol.labels.get(&normal).and_then(BTreeSet::first)
        {
            // The one label that nothing in the protocol is for, and that would do for this.
            let carried = &protocol.messages[message];
            let mut unused = labels.iter().filter(|label| {
                matches!(match_label(label, protocol, file), LabelMatch::Unknown)
                    && carried.iter().any(|message| payload_matches(label, message, file))
            });
            let renamed = unused.next().filter(|_| is_nowhere && unused.next().is_none());
            return Some(renamed.map_or_else(
                || self.added(),
                |label| LabelHint::RenamedLabel(Box::new([label.written.clone(), message.clone()])),
            ));
        }
        None
    }

    /// The label that carries a type: the one that the variant is named after, or else one that the
    /// role sends or receives, as it is written here; or any.
    fn carrier(&self, id: ItemId, path: &Path) -> Option<LabelHint> {
        let Context { tree, protocols, .. } = self.context;
        let session = tree.session(id)?;
        let is_it = |label: &Path| label.last_token() == path.last_token();
        let variant = session.variants().iter().find(|variant| is_it(variant.head.label()));
        let sends = session.actions().find(|action| is_it(&action.label));
        let sends = sends.map(|action| action.direction == Direction::Send);
        let own = self.linked.map(|own| &protocols.protocols[own.protocol].projections[own.role]);
        let is_due = |label: &LabelPair, sends: Option<bool>| {
            own.is_some_and(|own| {
                own.fsm.transitions().map(|due| due.action).any(|due| {
                    sends.is_none_or(|sends| sends == (due.direction == fsm::Direction::Send))
                        && name::same(due.message.label.as_str(), &label.name)
                })
            })
        };
        let is_named = |label: &LabelPair| {
            variant.is_some_and(|variant| name::same(&variant.name.to_string(), &label.name))
        };
        let carries = |label: &&LabelPair| {
            let payload = label.payloads.first().map(Vec::as_slice);
            matches!(payload, Some([ty]) if ty.rsplit("::").next() == Some(&*path.last().to_string()))
        };
        let carriers = self.role.labels.iter().filter(carries);
        let best = carriers
            .min_by_key(|label| (!is_named(label), !is_due(label, sends), !is_due(label, None)));
        best.map(|label| LabelHint::CarriedBy(label.written.clone()))
    }

    /// The struct that a label of the message type beside an item lacks, if nothing has its name.
    fn declaration(&self, id: ItemId, path: &Path, written: &str) -> Option<String> {
        let Context { tree, protocols, .. } = self.context;
        path.as_ident().filter(|_| !names::is_known(tree, tree.item(id).module, written))?;
        let linked = self.linked?;
        let protocol = &protocols.protocols[linked.protocol];
        if self.message_module()? != tree.item(id).module {
            return None;
        }
        let label = self.role.labels.iter().find(|label| label.written == written)?;
        let file = &protocols.files[protocol.file];
        let LabelMatch::Found(message) = match_label(label, protocol, file) else { return None };
        let types = message.payload.iter().map(|sort| rust_type(sort, file));
        let types = types.collect::<Option<Vec<_>>>()?.join(", ");
        Some(match types.is_empty() {
            true => format!("struct {written};"),
            false => format!("struct {written}({types});"),
        })
    }

    /// What stands in for a message type that is none: that of another role of the module, if there
    /// is one, which the routes most likely carry.
    fn other_message(&self, path: &Path) -> String {
        let Context { tree, pairs, .. } = self.context;
        let module = tree.item(self.role_id).module;
        let others = pairs
            .roles
            .iter()
            .filter(|(id, role)| tree.item(**id).module == module && !role.labels.is_empty());
        let mut messages = others.filter_map(|(&id, _)| tree.role(id)?.message.as_ref());
        let message = messages.next();
        message.map_or_else(|| format!("message {path}"), |message| format!("instead {message}"))
    }

    /// Says at the role that it lacks a route to a peer, if the peer has one to it, or they talk to
    /// each other in the protocol.
    fn check_route(&mut self, peer: ItemId) {
        let Context { tree, protocols, pairs, .. } = self.context;
        let leads = |from, to| peers(tree, from).any(|(_, found)| found == Some(to));
        let role = tree.role(self.role_id);
        let other = pairs.roles.get(&peer).and_then(|pair| pair.link.as_ref().ok());
        let talk = self.linked.zip(other).is_some_and(|(own, other)| {
            let protocol = &protocols.protocols[own.protocol];
            let mut talks = protocol.projections[own.role].fsm.transitions();
            own.protocol == other.protocol
                && talks.any(|found| found.action.peer == *protocol.role_at(other.role))
        });
        if leads(self.role_id, peer) || !talk && !leads(peer, self.role_id) {
            return;
        }
        let Some((role, message)) = role.and_then(|role| Some((role, role.message.as_ref()?)))
        else {
            return;
        };
        let message = message.to_string();
        // A route of another type may not fit the other end.
        let routes = tree.role(peer).into_iter().chain([role]).flat_map(|role| &role.routes);
        let mut types: BTreeSet<String> = routes.map(|route| type_text(route.ty.clone())).collect();
        let ty = types.pop_first().filter(|_| types.is_empty());
        let ty = ty.unwrap_or_else(|| format!("Channel<{message}>"));
        let [name, peer] = [self.role_id, peer].map(|id| tree.item(id).name.clone());
        let field = name::snake(&peer);
        let mut routes = role.routes.iter();
        let other = routes.find(|route| route.field.as_ref().is_some_and(|own| *own == field));
        let other = other.map(|route| route.peer.to_string());
        let added = other.map_or(Ok(ty), Err);
        let cause = Cause::NoRoute { role: name, peer, message, added };
        let fault = cause.at(self.role_id, role.name_token);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Says at the role why its labels are not known, unless its own macro does.
    fn no_message(&mut self) {
        let tree = self.context.tree;
        let item = tree.item(self.role_id);
        let path = tree.role(self.role_id).and_then(|role| role.message.as_ref());
        let Some(path) = path else { return };
        let (cause, stub) = match resolve(tree, item.module, path) {
            Resolution::Found(Meaning::Item(found))
                if !matches!(*tree.item(found).kind, ItemKind::Broken) =>
            {
                (Cause::NoMessage { path: path.to_string() }, Some(self.other_message(path)))
            }
            Resolution::Found(_) | Resolution::Ambiguous(_) => return,
            Resolution::Nothing => {
                let (path, problem) = (path.to_string(), NameProblem::Unresolved);
                (Cause::Name { path, problem, meant: None }, None)
            }
        };
        let mut fault = cause.at(self.role_id, path.last_token());
        fault.stub = stub;
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

/// Why a path stands for nothing.
pub(crate) fn nothing(tree: &Tree, module: ModuleId, path: &Path) -> Cause {
    let text = path.to_string();
    if let Some(within) = tree.without_code(tree.module(module).krate) {
        return Cause::SaidOf { name: within };
    }
    let problem = match elsewhere(tree, module, path) {
        Some(_) => NameProblem::OtherPackage,
        None => NameProblem::Unresolved,
    };
    Cause::Name { path: text, problem, meant: None }
}

/// Why a path that should name a role stands for nothing.
pub(crate) fn no_role(tree: &Tree, module: ModuleId, path: &Path) -> Cause {
    let krate = tree.module(module).krate;
    let ids = tree.item_ids().filter(|&id| tree.crate_id(id) == krate && tree.role(id).is_some());
    let roles: Vec<String> = ids.map(|id| tree.item(id).name.clone()).collect();
    match nothing(tree, module, path) {
        Cause::Name { path, problem: NameProblem::Unresolved, .. } if !roles.is_empty() => {
            Cause::UndeclaredRole { path, roles }
        }
        cause => cause,
    }
}

/// The item that a path stands for has an error, which its own macro raises.
fn broken_item(path: &Path) -> Cause {
    Cause::SaidOf { name: path.last().to_string() }
}
