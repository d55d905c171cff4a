//! A root and all that it reaches, as a machine.
//!
//! ```text
//! #[session(K)] type Kernel = Send<S, Ready, KernelLoop>;
//! #[session] struct KernelLoop(Receive<S, Value, Send<S, Ready, Self>>);
//!
//!   0 ──s!ready──▶ 1 ──s?value──▶ 2
//!                  ▲              │
//!                  └───s!ready────┘
//! ```
//!
//! This happens in two steps. First the names of each item that the root reaches are resolved, once per item
//! ([`Reached`]): paths to items, roles to those of the protocol, labels to its messages. Whatever is wrong with a name
//! is a problem at its token, and then there is no machine. Then the resolved chains become states and transitions;
//! the side table [`Written::origins`] gives for each transition the item and the token that it comes from.
//!
//! Linear in the tokens of the items reached, times the imports per name.

use rumpsteak_contract::Path;
use rumpsteak_contract::session::{self, Chain, Form, SessionItem, Tail};
use rumpsteak_contract::verdict::{self, RoleName};
use rumpsteak_fsm::sorted::{SortedMap, SortedSet};
use rumpsteak_fsm::{Action, Direction, Fsm, FsmBuilder, Message, StateId};

use crate::link::{LabelMatch, LabelPair, LinkError, Linked, Pairs, RolePair, match_label};
use crate::protocols::Protocols;
use crate::report::text;
use crate::source::crate_tree::{ItemId, ItemKind, Meaning, Tree};
use crate::source::names::{Resolution, resolve};

/// What all of this module reads.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) protocols: &'a Protocols,
    pub(crate) pairs: &'a Pairs,
}

/// A place in the source: a token of an item.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) item: ItemId,
    pub(crate) token: usize,
}

/// Something wrong with an item.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// A root with all names resolved.
#[derive(Debug)]
pub(crate) struct Reached {
    /// The items that the root reaches, itself among them, with their chains: one for a `type` or a `struct`, one for
    /// each option of an `enum`; none for an item that has a fault.
    pub(crate) items: SortedMap<ItemId, Vec<ResolvedChain>>,
    /// Whether all roles are linked to the protocol. If not, then there is no machine, but each name is known to the
    /// proof: under the name of a role whose link is wrong, which holds only together with that role's own error.
    pub(crate) linked: bool,
}

#[derive(Debug)]
pub(crate) struct ResolvedChain {
    /// For an option of a choice: its label, and the token that is its name.
    pub(crate) option: Option<(ResolvedLabel, usize)>,
    pub(crate) actions: Vec<ResolvedAction>,
    pub(crate) tail: ResolvedTail,
}

#[derive(Debug)]
pub(crate) struct ResolvedAction {
    pub(crate) direction: session::Direction,
    pub(crate) token: usize,
    pub(crate) peer: Peer,
    pub(crate) label: ResolvedLabel,
}

#[derive(Clone, Debug)]
pub(crate) struct ResolvedLabel {
    /// The position among the labels of the role.
    pub(crate) index: usize,
    /// The name on the Rust side.
    pub(crate) name: String,
    pub(crate) message: Message,
}

/// The role at the other end.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The struct.
    pub(crate) item: ItemId,
    /// The names on the Rust side.
    pub(crate) name: RoleName,
    pub(crate) role: rumpsteak_fsm::Role,
}

#[derive(Debug)]
pub(crate) enum ResolvedTail {
    Choice {
        direction: session::Direction,
        token: usize,
        peer: Peer,
        choice: ItemId,
    },
    End {
        token: usize,
    },
    /// A `type` or a `struct`, and the token that names it.
    Named {
        item: ItemId,
        token: usize,
    },
}

/// What tells the types of two roots of one role apart.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Outline {
    actions: Vec<(session::Direction, ItemId, usize)>,
    choice: Option<(session::Direction, ItemId)>,
    then: Option<ItemId>,
}

/// A root as a machine.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) fsm: Fsm,
    /// Where each transition is written: the constructor of an action, the variant of an option.
    pub(crate) origins: Vec<Place>,
    /// Where each state is written: the token that the next action would stand at.
    pub(crate) states: Vec<Place>,
}

/// Resolves all names of `root`, which `role` plays, and returns with them everything that is wrong with one. Without a
/// link to a protocol, names are not compared with those of any.
pub(crate) fn reach(
    context: Context<'_>,
    root: ItemId,
    role: &RolePair,
    linked: Option<Linked>,
    most_items: usize,
) -> (Reached, SortedSet<Fault>) {
    let mut reader = Reader {
        context,
        role,
        linked,
        peers_linked: true,
        faults: SortedSet::new(),
        pending: vec![root],
    };
    let mut items = SortedMap::new();
    while let Some(id) = reader.pending.pop() {
        if items.contains_key(&id) {
            continue;
        }
        if items.len() == most_items {
            reader.fault(root, 0, text::too_many_items(most_items));
            break;
        }
        if let ItemKind::Session(session) = &*context.tree.item(id).kind {
            let chains = reader.item(id, session);
            items.insert(id, chains);
        }
    }
    let linked = (linked.is_some() || role.set().is_some()) && reader.peers_linked;
    let mut reached = Reached { items, linked };
    let mut faults = reader.faults;
    faults.extend(reached.circles(context.tree));
    for fault in &faults {
        reached.items.insert(fault.place.item, Vec::new());
    }
    (reached, faults)
}

struct Reader<'a> {
    context: Context<'a>,
    role: &'a RolePair,
    linked: Option<Linked>,
    peers_linked: bool,
    faults: SortedSet<Fault>,
    pending: Vec<ItemId>,
}

impl Reader<'_> {
    fn item(&mut self, id: ItemId, session: &SessionItem) -> Vec<ResolvedChain> {
        match &session.form {
            Form::Alias(chain) | Form::Struct(chain) => {
                self.chain(id, chain, None).into_iter().collect()
            }
            Form::Choice(variants) => variants
                .iter()
                .filter_map(|variant| {
                    let label = self.label(id, &variant.label)?;
                    self.chain(id, &variant.then, Some((label, variant.token)))
                })
                .collect(),
        }
    }

    /// Resolves a chain, looking at all of it even if something is wrong.
    fn chain(
        &mut self,
        id: ItemId,
        chain: &Chain,
        option: Option<(ResolvedLabel, usize)>,
    ) -> Option<ResolvedChain> {
        let actions: Vec<_> = chain
            .actions
            .iter()
            .map(|action| {
                let peer = self.peer(id, &action.peer);
                let label = self.label(id, &action.label);
                let (direction, token) = (action.direction, action.token);
                Some(ResolvedAction {
                    direction,
                    token,
                    peer: peer?,
                    label: label?,
                })
            })
            .collect();
        let tail = match &chain.tail {
            Tail::Choice {
                direction,
                token,
                peer,
                choice,
                ..
            } => {
                let peer = self.peer(id, peer);
                let choice = self.session(id, choice, true);
                let (direction, token) = (*direction, *token);
                ResolvedTail::Choice {
                    direction,
                    token,
                    peer: peer?,
                    choice: choice?,
                }
            }
            Tail::End { token, .. } => ResolvedTail::End { token: *token },
            Tail::Itself { token, .. } => ResolvedTail::Named {
                item: id,
                token: *token,
            },
            Tail::Named(path) => {
                let item = self.session(id, path, false)?;
                ResolvedTail::Named {
                    item,
                    token: path.last_token(),
                }
            }
        };
        Some(ResolvedChain {
            option,
            actions: actions.into_iter().collect::<Option<_>>()?,
            tail,
        })
    }

    fn fault(&mut self, item: ItemId, token: usize, text: String) {
        self.faults.insert(Fault {
            place: Place { item, token },
            text,
        });
    }

    /// The item that a path in `id` stands for, or a fault.
    fn resolve(&mut self, id: ItemId, path: &Path) -> Option<ItemId> {
        let tree = self.context.tree;
        let text = match resolve(tree, tree.item(id).module, path) {
            Resolution::Found(Meaning::Item(found)) => return Some(found),
            Resolution::Found(Meaning::Module(_)) => text::is_module(path),
            Resolution::Ambiguous(_) => text::ambiguous(path),
            Resolution::Nothing => text::unresolved(path),
        };
        self.fault(id, path.last_token(), text);
        None
    }

    /// The session item, or the choice, that a path in `id` stands for.
    fn session(&mut self, id: ItemId, path: &Path, choice: bool) -> Option<ItemId> {
        let found = if path.as_ident().is_some_and(|ident| ident == "Self") {
            id
        } else {
            self.resolve(id, path)?
        };
        let text = match &*self.context.tree.item(found).kind {
            ItemKind::Session(session) => match (&session.form, choice) {
                (Form::Choice(_), true) | (Form::Alias(_) | Form::Struct(_), false) => {
                    self.pending.push(found);
                    return Some(found);
                }
                (Form::Choice(_), false) => text::choice_as_session(path),
                (Form::Alias(_) | Form::Struct(_), true) => text::session_as_choice(path),
            },
            // Its own macro says what is wrong with it.
            ItemKind::Broken => text::depends_on(path.last().as_str()),
            _ => text::no_session(path),
        };
        self.fault(id, path.last_token(), text);
        None
    }

    fn peer(&mut self, id: ItemId, path: &Path) -> Option<Peer> {
        let found = self.resolve(id, path)?;
        let Context {
            tree,
            protocols,
            pairs,
        } = self.context;
        let text = match (&*tree.item(found).kind, pairs.roles.get(&found)) {
            (_, Some(pair)) => match (&pair.link, self.linked) {
                (Ok(linked), Some(own)) if linked.protocol != own.protocol => {
                    text::other_protocol(path, &pair.name, &self.role.name)
                }
                (Ok(_), None) if self.role.set().is_some() => {
                    text::other_protocol(path, &pair.name, &self.role.name)
                }
                (Ok(linked), Some(own)) if linked.role == own.role => text::talks_to_itself(path),
                (Ok(linked), _) => {
                    let protocol = &protocols.protocols[linked.protocol];
                    return Some(Peer {
                        item: found,
                        name: pair.name.clone(),
                        role: protocol.role_at(linked.role).clone(),
                    });
                }
                // Its own derive says what is wrong.
                (Err(LinkError::Wrong { .. }), _) => {
                    self.peers_linked = false;
                    return Some(Peer {
                        item: found,
                        name: pair.sealed_name(),
                        role: pair.name.role.as_str().into(),
                    });
                }
                (Err(LinkError::Set { set }), _) if self.role.set() != Some(*set) => {
                    text::other_protocol(path, &pair.name, &self.role.name)
                }
                (Err(LinkError::Set { .. }), _) if pair.name == self.role.name => {
                    text::talks_to_itself(path)
                }
                (Err(LinkError::Set { .. }), _) => {
                    return Some(Peer {
                        item: found,
                        name: pair.name.clone(),
                        role: pair.name.role.as_str().into(),
                    });
                }
                (Err(LinkError::Broken { .. }), _) => text::depends_on(path.last().as_str()),
            },
            (ItemKind::Role(_), None) => text::role_without_link(path),
            (ItemKind::Broken, None) => text::depends_on(path.last().as_str()),
            _ => text::no_role(path),
        };
        self.fault(id, path.last_token(), text);
        None
    }

    fn label(&mut self, id: ItemId, path: &Path) -> Option<ResolvedLabel> {
        let Context {
            tree, protocols, ..
        } = self.context;
        // A label type may be of another package: then the enum names it as the session does.
        let item = match resolve(tree, tree.item(id).module, path) {
            Resolution::Found(Meaning::Item(found)) => Some(found),
            Resolution::Found(Meaning::Module(_)) | Resolution::Nothing => None,
            Resolution::Ambiguous(_) => {
                self.fault(id, path.last_token(), text::ambiguous(path));
                return None;
            }
        };
        let is_this = |label: &LabelPair| match item {
            Some(item) => label.item == Some(item),
            None => label.item.is_none() && path.last() == label.written.as_str(),
        };
        let mut labels = self.role.labels.iter().enumerate();
        let text = match labels.find(|(_, label)| is_this(label)) {
            Some((index, label)) => {
                let resolved = |message| ResolvedLabel {
                    index,
                    name: label.name.clone(),
                    message,
                };
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
                match match_label(label, linked.protocol, protocol, file) {
                    LabelMatch::Found(message) => return Some(resolved(message.clone())),
                    LabelMatch::OtherPayload(messages) => {
                        let text = text::other_payload(path, label, &messages, protocol);
                        // Once in each item: it is the label that is wrong, and not its uses.
                        let is_this = |fault: &Fault| fault.place.item == id && fault.text == text;
                        if self.faults.iter().any(is_this) {
                            return None;
                        }
                        text
                    }
                    LabelMatch::Unknown => text::unknown_label(path, label, protocol, file),
                }
            }
            None => text::no_label(path, &self.role.name),
        };
        self.fault(id, path.last_token(), text);
        None
    }
}

impl Reached {
    /// What a root reaches that was not read.
    pub(crate) fn nothing(root: ItemId) -> Self {
        Self {
            items: SortedMap::from([(root, Vec::new())]),
            linked: false,
        }
    }

    /// Items that lead back to themselves where a session cannot: without ever doing anything, or by `type`s alone.
    fn circles(&self, tree: &Tree) -> Vec<Fault> {
        let mut faults = Vec::new();
        let idle = |_: ItemId, chain: &ResolvedChain| chain.actions.is_empty();
        for (item, token) in self.circle(idle) {
            let text = text::idle(&tree.item(item).name);
            faults.push(Fault {
                place: Place { item, token },
                text,
            });
        }
        let alias = |item: ItemId, _: &ResolvedChain| !is_nominal(tree, item);
        for (item, token) in self.circle(alias) {
            let text = text::recursive_alias(&tree.item(item).name);
            faults.push(Fault {
                place: Place { item, token },
                text,
            });
        }
        faults
    }

    /// One item, with the token that names the next one, of each circle of items that satisfy the predicate.
    ///
    /// Every item names at most one other at its end, so each is visited once.
    fn circle(&self, follow: impl Fn(ItemId, &ResolvedChain) -> bool) -> Vec<(ItemId, usize)> {
        let mut rounds: SortedMap<ItemId, ItemId> = SortedMap::new();
        let mut found = Vec::new();
        for &start in self.items.keys() {
            let mut next = start;
            while !rounds.contains_key(&next) {
                rounds.insert(next, start);
                let Some([chain]) = self.items.get(&next).map(Vec::as_slice) else {
                    break;
                };
                let ResolvedTail::Named { item, token } = chain.tail else {
                    break;
                };
                if chain.option.is_some() || !follow(next, chain) {
                    break;
                }
                if rounds.get(&item) == Some(&start) {
                    found.push((next, token));
                }
                next = item;
            }
        }
        found
    }

    /// The chain that an item begins with, through items that only name another one, and its item.
    ///
    /// This ends, because there are no [`circles`](Self::circles).
    fn first(&self, mut item: ItemId) -> Option<(ItemId, &ResolvedChain)> {
        loop {
            let chain = self.items.get(&item)?.first()?;
            match chain.tail {
                ResolvedTail::Named { item: next, .. } if chain.actions.is_empty() => item = next,
                _ => return Some((item, chain)),
            }
        }
    }

    /// The machine of `root`, to be played by `role`.
    pub(crate) fn machine(&self, root: ItemId, role: &rumpsteak_fsm::Role) -> Written {
        let mut machine = Machine {
            reached: self,
            fsm: Fsm::builder(role.clone()),
            origins: Vec::new(),
            states: Vec::new(),
            chains: SortedMap::new(),
            choices: SortedMap::new(),
            end: None,
            pending: Vec::new(),
        };
        let initial = machine.enter(
            root,
            Place {
                item: root,
                token: 0,
            },
        );
        while let Some(pending) = machine.pending.pop() {
            match pending {
                Pending::Chain(item, state) => {
                    if let Some((item, chain)) = self.first(item) {
                        machine.chain(item, chain, state);
                    }
                }
                Pending::Choice(choice, direction, peer, state) => {
                    machine.choice(choice, direction, &peer, state);
                }
            }
        }
        let Machine {
            fsm,
            origins,
            states,
            ..
        } = machine;
        Written {
            fsm: fsm.build(initial),
            origins,
            states,
        }
    }

    /// The type that `root` is to rustc: two roots of one role with equal outlines are one type.
    pub(crate) fn outline(&self, tree: &Tree, root: ItemId) -> Option<Outline> {
        let mut outline = Outline::default();
        let mut item = root;
        while !is_nominal(tree, item) {
            let chain = self.items.get(&item)?.first()?;
            outline.actions.extend(
                chain
                    .actions
                    .iter()
                    .map(|action| (action.direction, action.peer.item, action.label.index)),
            );
            match &chain.tail {
                ResolvedTail::Choice {
                    direction,
                    peer,
                    choice,
                    ..
                } => {
                    outline.choice = Some((*direction, peer.item));
                    item = *choice;
                }
                ResolvedTail::End { .. } => return Some(outline),
                ResolvedTail::Named { item: next, .. } => item = *next,
            }
        }
        outline.then = Some(item);
        Some(outline)
    }

    /// The structure of an item for its proof: `type`s replaced by what they stand for, other items by their identity.
    pub(crate) fn body(
        &self,
        tree: &Tree,
        item: ItemId,
        identity: &impl Fn(ItemId) -> u64,
    ) -> Option<verdict::Body> {
        let chains = self.items.get(&item)?;
        let expand = |chain| self.expand(tree, chain, identity);
        if is_choice(tree, item) {
            let options = chains.iter().map(|chain| {
                let label = chain.option.as_ref().map(|(label, _)| label.name.clone());
                Some((label?, expand(chain)?))
            });
            return options.collect::<Option<_>>().map(verdict::Body::Choice);
        }
        Some(verdict::Body::Chain(expand(chains.first()?)?))
    }

    fn expand(
        &self,
        tree: &Tree,
        chain: &ResolvedChain,
        identity: &impl Fn(ItemId) -> u64,
    ) -> Option<verdict::Chain> {
        let mut actions = Vec::new();
        let mut chain = chain;
        loop {
            actions.extend(chain.actions.iter().map(|action| verdict::Action {
                direction: action.direction,
                peer: action.peer.name.clone(),
                label: action.label.name.clone(),
            }));
            let tail = match &chain.tail {
                ResolvedTail::Choice {
                    direction,
                    peer,
                    choice,
                    ..
                } => verdict::Tail::Choice {
                    direction: *direction,
                    peer: peer.name.clone(),
                    id: identity(*choice),
                },
                ResolvedTail::End { .. } => verdict::Tail::End,
                ResolvedTail::Named { item, .. } if is_nominal(tree, *item) => {
                    verdict::Tail::Named(identity(*item))
                }
                // This ends, because there are no circles.
                ResolvedTail::Named { item, .. } => {
                    chain = self.items.get(item)?.first()?;
                    continue;
                }
            };
            return Some(verdict::Chain { actions, tail });
        }
    }
}

/// Whether an item has an identity of its own, as `struct` and `enum` have.
pub(crate) fn is_nominal(tree: &Tree, item: ItemId) -> bool {
    match &*tree.item(item).kind {
        ItemKind::Session(session) => !matches!(session.form, Form::Alias(_)),
        _ => false,
    }
}

fn is_choice(tree: &Tree, item: ItemId) -> bool {
    match &*tree.item(item).kind {
        ItemKind::Session(session) => matches!(session.form, Form::Choice(_)),
        _ => false,
    }
}

struct Machine<'a> {
    reached: &'a Reached,
    fsm: FsmBuilder,
    origins: Vec<Place>,
    states: Vec<Place>,
    /// The states at which items begin.
    chains: SortedMap<ItemId, StateId>,
    /// The states of choices: one for each enum, direction and peer.
    choices: SortedMap<(ItemId, session::Direction, String), StateId>,
    end: Option<StateId>,
    pending: Vec<Pending>,
}

enum Pending {
    Chain(ItemId, StateId),
    Choice(ItemId, session::Direction, Peer, StateId),
}

impl Machine<'_> {
    fn state(&mut self, place: Place) -> StateId {
        self.states.push(place);
        self.fsm.add_state()
    }

    /// The state at which an item begins.
    fn enter(&mut self, item: ItemId, from: Place) -> StateId {
        let Some((item, chain)) = self.reached.first(item) else {
            return self.end(from);
        };
        let Some(action) = chain.actions.first() else {
            return self.tail(item, &chain.tail);
        };
        if let Some(&state) = self.chains.get(&item) {
            return state;
        }
        let state = self.state(Place {
            item,
            token: action.token,
        });
        self.chains.insert(item, state);
        self.pending.push(Pending::Chain(item, state));
        state
    }

    fn end(&mut self, from: Place) -> StateId {
        match self.end {
            Some(state) => state,
            None => {
                let state = self.state(from);
                self.end = Some(state);
                state
            }
        }
    }

    /// The state at which a chain is done with its actions.
    fn tail(&mut self, item: ItemId, tail: &ResolvedTail) -> StateId {
        match tail {
            ResolvedTail::Choice {
                direction,
                token,
                peer,
                choice,
            } => {
                let key = (*choice, *direction, peer.role.to_string());
                if let Some(&state) = self.choices.get(&key) {
                    return state;
                }
                let state = self.state(Place {
                    item,
                    token: *token,
                });
                self.choices.insert(key, state);
                self.pending
                    .push(Pending::Choice(*choice, *direction, peer.clone(), state));
                state
            }
            ResolvedTail::End { token } => self.end(Place {
                item,
                token: *token,
            }),
            ResolvedTail::Named { item: next, token } => self.enter(
                *next,
                Place {
                    item,
                    token: *token,
                },
            ),
        }
    }

    fn transition(
        &mut self,
        from: StateId,
        (direction, peer, message): (session::Direction, &Peer, &Message),
        to: StateId,
        origin: Place,
    ) {
        let direction = match direction {
            session::Direction::Receive => Direction::Receive,
            session::Direction::Send => Direction::Send,
        };
        let action = Action {
            peer: peer.role.clone(),
            direction,
            message: message.clone(),
        };
        self.fsm.add_transition(from, action, to);
        self.origins.push(origin);
    }

    /// Adds the actions of a chain, the first of which happens in `state`.
    fn chain(&mut self, item: ItemId, chain: &ResolvedChain, mut state: StateId) {
        for (index, action) in chain.actions.iter().enumerate() {
            let next = match chain.actions.get(index + 1) {
                Some(following) => self.state(Place {
                    item,
                    token: following.token,
                }),
                None => self.tail(item, &chain.tail),
            };
            let what = (action.direction, &action.peer, &action.label.message);
            self.transition(
                state,
                what,
                next,
                Place {
                    item,
                    token: action.token,
                },
            );
            state = next;
        }
    }

    /// Adds the options of a choice, which is made in `state`.
    fn choice(
        &mut self,
        choice: ItemId,
        direction: session::Direction,
        peer: &Peer,
        state: StateId,
    ) {
        let reached = self.reached;
        for chain in reached.items.get(&choice).into_iter().flatten() {
            let Some((label, token)) = &chain.option else {
                continue;
            };
            let next = match chain.actions.first() {
                Some(action) => self.state(Place {
                    item: choice,
                    token: action.token,
                }),
                None => self.tail(choice, &chain.tail),
            };
            let origin = Place {
                item: choice,
                token: *token,
            };
            self.transition(state, (direction, peer, &label.message), next, origin);
            self.chain(choice, chain, next);
        }
    }
}
