//! The global type of a protocol, as an automaton.
//!
//! ```text
//!   rec X {
//!       choice at A {                              ┌─ more A→B ─┐
//!           more() from A to B; continue X;        ▼            │
//!       } or {                                  ─▶ 0 ───────────┘
//!           done() from A to B;                    └─ done A→B ─▶ 1
//!       }
//!   }
//! ```
//!
//! Its letters are interactions `m A→B`, and its words are the orders in which the interactions of a run can be
//! written down. It is built in two steps that run hand in hand:
//!
//! * **Unfolding.** A *place* is a message with what follows it, or the end: a node of the program under a *frame*.
//!   A frame says who plays the roles of the protocol that the node is in, and where to go on behind it. A call
//!   that is the last thing that happens takes over the frame of its caller, so that recursion is a cycle; the
//!   flow checks have refused every other recursion, so there are finitely many frames. Frames and places are
//!   shared: a protocol that is called twice with the same roles and the same continuation exists once.
//! * **Determinising.** States are sets of places, closed under choices. Branches that begin with equal messages
//!   share their beginning, and the choice is made where they part. This keeps the words, and it is
//!   what the theory of projection asks for.
//!
//! Then each state must have one role that decides (*sender-driven choice* in Li, Stutz, Wies, Zufferey, CAV'23,
//! §2), must not offer the end beside a message (*sink-final*), and must not offer two payloads for one label. For every `choice at`
//! the branches must begin with messages of the role that it names.
//!
//! # Cost
//! Linear in places and states in the usual case that branches begin with different messages; protocols that call
//! others one after the other can be exponentially larger than their text, and so can the determinised
//! automaton of a protocol with equal beginnings. Both are stopped by [`Limits::global_states`](crate::Limits).

use rumpsteak_fsm::{
    Message, Role,
    hashed::{self, HashedMap, Index},
    sorted,
};

use crate::{
    diagnostics::code::{self as codes, Step},
    diagnostics::diagnostic::Diagnostic,
    diagnostics::span::Span,
    names::resolve::{Argument, END, MessageId, NodeKind, Program, Template, index},
};

/// The automaton of one protocol.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub(crate) roles: Vec<Role>,
    pub(crate) messages: Vec<Message>,
    pub(crate) letters: Vec<Letter>,
    /// `edges[offsets[s]..offsets[s + 1]]` leave state `s`; one longer than there are states. State 0 is the
    /// initial one, and a state without edges is an end.
    offsets: Vec<u32>,
    edges: Vec<Edge>,
    origins: Vec<Span>,
    /// For each state the one edge that leaves it.
    pub(crate) hops: Vec<Hop>,
}

/// The only edge of a state; [`Hop::NONE`] stands for a state with none or several. Every projection looks at all of
/// them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) target: u32,
}

impl Hop {
    pub(crate) const NONE: Self = Self {
        from: END,
        to: END,
        target: END,
    };
}

fn hops(offsets: &[u32], edges: &[Edge], letters: &[Letter]) -> Vec<Hop> {
    let mut hops = Vec::with_capacity(offsets.len());
    let mut state = 0;
    while state + 1 < offsets.len() {
        let (start, end) = (offsets[state], offsets[state + 1]);
        hops.push(if end - start == 1 {
            let edge = edges[start as usize];
            let Letter { from, to, .. } = letters[edge.letter as usize];
            let target = edge.target;
            Hop { from, to, target }
        } else {
            Hop::NONE
        });
        state += 1;
    }
    hops
}

/// An interaction `message from→to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Letter {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) message: MessageId,
}

/// A transition of the automaton.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) letter: u32,
    pub(crate) target: u32,
    /// Where it is written: `origins[start..end]`, in order.
    origins: (u32, u32),
}

impl Global {
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        let state = state as usize;
        &self.edges[self.offsets[state] as usize..self.offsets[state + 1] as usize]
    }

    /// Where the interaction is written; more than once if branches begin equally.
    pub(crate) fn origins(&self, edge: &Edge) -> &[Span] {
        &self.origins[edge.origins.0 as usize..edge.origins.1 as usize]
    }

    pub(crate) fn step(&self, edge: &Edge) -> Step {
        Step {
            label: self.label(self.letters[edge.letter as usize]),
            span: self.origins(edge)[0],
        }
    }

    /// `value(i32)`
    fn label(&self, letter: Letter) -> String {
        let Message { label, payload } = &self.messages[letter.message.0 as usize];
        let payload: Vec<_> = payload.iter().map(|sort| sort.as_str()).collect();
        format!("{label}({})", payload.join(", "))
    }

    /// `value(i32) from s to k`
    pub(crate) fn text(&self, edge: &Edge) -> String {
        let letter = self.letters[edge.letter as usize];
        let [from, to] = [letter.from, letter.to].map(|role| &self.roles[role as usize]);
        format!("{} from {from} to {to}", self.label(letter))
    }
}

/// Builds the automaton of the protocol with number `root`, which is valid and has no parameters. `entered`
/// marks the protocols that are part of it.
///
/// # Errors
/// Everything that is wrong with its choices, or that it is larger than `limit` states.
pub(crate) fn build(
    program: &mut Program<'_>,
    root: usize,
    limit: usize,
    entered: &mut [bool],
) -> Result<Global, Vec<Diagnostic>> {
    let decl = program.protocols[root].decl;
    let roles: Vec<Role> = decl
        .roles
        .iter()
        .map(|role| Role::from(role.name.as_str()))
        .collect();
    let mut unfolding = Unfolding {
        limit,
        entered,
        frames: Vec::new(),
        frame_ids: HashedMap::new(),
        places: vec![Place {
            node: END,
            frame: 0,
            receiver: 0,
        }],
        root_ids: vec![END; program.protocols[root].nodes.len()],
        place_ids: HashedMap::new(),
        steps: limit.saturating_mul(STEPS_PER_STATE),
        program,
    };
    let outcome = Determiniser::new(&mut unfolding, roles).run(root);
    outcome.map_err(|mut diagnostics| {
        for diagnostic in &mut diagnostics {
            if diagnostic.code == codes::Code::TooLarge {
                diagnostic.primary = decl.name.span;
            }
        }
        diagnostics
    })
}

/// More frames, places, states or steps than allowed.
struct TooLarge;

/// A state costs a step for each place in it, and a place one for each call on the way there. A protocol that
/// needs more than this per state, on average, is one that is made to.
const STEPS_PER_STATE: usize = 8;

/// Once a mistake is found, no more than this is spent on looking for others: the automaton of a wrong
/// protocol can be much larger than that of the right one.
const STEPS_AFTER_ERROR: usize = 100_000;

/// Who plays the roles of a protocol, and what follows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Frame {
    protocol: u32,
    /// For each role of the protocol the role of the root.
    roles: Vec<u32>,
    arguments: Vec<Argument>,
    /// The node to go on with, and its frame.
    back: Option<(u32, u32)>,
}

/// A message for its `receiver`th receiver, or a choice, under a frame. Place 0 is the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    node: u32,
    frame: u32,
    receiver: u32,
}

const FINAL: u32 = 0;

struct Unfolding<'a, 'm> {
    program: &'a mut Program<'m>,
    limit: usize,
    entered: &'a mut [bool],
    frames: Vec<Frame>,
    frame_ids: HashedMap<Frame, u32>,
    places: Vec<Place>,
    /// The places of the root's own nodes, for their first receiver: most places of most protocols.
    root_ids: Vec<u32>,
    /// How much more may be done before the protocol counts as too large.
    steps: usize,
    /// All others.
    place_ids: HashedMap<Place, u32>,
}

impl Unfolding<'_, '_> {
    fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooLarge)?;
        Ok(())
    }

    fn frame(&mut self, frame: Frame) -> Result<u32, TooLarge> {
        self.spend(frame.roles.len())?;
        if let Some(&id) = self.frame_ids.get(&frame) {
            return Ok(id);
        }
        if self.frames.len() > self.limit {
            return Err(TooLarge);
        }
        self.entered[frame.protocol as usize] = true;
        let id = index(self.frames.len());
        self.frames.push(frame.clone());
        self.frame_ids.insert(frame, id);
        Ok(id)
    }

    fn place(&mut self, place: Place) -> Result<u32, TooLarge> {
        let of_root = place.frame == 0 && place.receiver == 0;
        let known = if of_root {
            self.root_ids[place.node as usize]
        } else {
            self.place_ids.get(&place).copied().unwrap_or(END)
        };
        if known != END {
            return Ok(known);
        }
        // Choices and branches take places too, so there are a few per state.
        if self.places.len() / 4 > self.limit {
            return Err(TooLarge);
        }
        let id = index(self.places.len());
        self.places.push(place);
        if of_root {
            self.root_ids[place.node as usize] = id;
        } else {
            self.place_ids.insert(place, id);
        }
        Ok(id)
    }

    /// The place that `node` under `frame` stands for: follows recursions, calls and returns to the next message
    /// or choice. This ends because a cycle without messages is refused before.
    fn arrive(&mut self, mut node: u32, mut frame: u32) -> Result<u32, TooLarge> {
        loop {
            self.spend(1)?;
            if node == END {
                match self.frames[frame as usize].back {
                    Some(back) => (node, frame) = back,
                    None => return Ok(FINAL),
                }
                continue;
            }
            let current = &self.frames[frame as usize];
            let found = &self.program.protocols[current.protocol as usize].nodes[node as usize];
            match &found.kind {
                NodeKind::Message { .. } | NodeKind::Choice { .. } => {
                    return self.place(Place {
                        node,
                        frame,
                        receiver: 0,
                    });
                }
                NodeKind::Rec { .. } | NodeKind::Continue { .. } => node = found.ahead,
                NodeKind::Do {
                    callee,
                    roles,
                    arguments,
                } => {
                    let callee = *callee;
                    let back = match found.next {
                        // The last thing that happens: no way back is needed.
                        END => current.back,
                        next => Some((next, frame)),
                    };
                    let roles = roles
                        .iter()
                        .map(|&role| current.roles[role as usize])
                        .collect();
                    let given = &current.arguments;
                    let messages = &mut self.program.messages;
                    let arguments = arguments
                        .iter()
                        .map(|template| instantiate(template, given, messages))
                        .collect();
                    node = self.program.protocols[callee as usize].entry;
                    frame = self.frame(Frame {
                        protocol: callee,
                        roles,
                        arguments,
                        back,
                    })?;
                }
                // Unreachable: only valid protocols are built, and they call valid ones only.
                NodeKind::Invalid => node = found.next,
            }
        }
    }
}

/// What a template stands for, given the arguments of its protocol. Resolving has checked their kinds.
fn instantiate(
    template: &Template,
    given: &[Argument],
    messages: &mut crate::names::resolve::Messages,
) -> Argument {
    match template {
        Template::Message(message) => Argument::Message(*message),
        Template::Sort(sort) => Argument::Sort(*sort),
        Template::Parameter(parameter) => given[*parameter as usize],
        Template::Literal(label, sorts) => {
            let sorts: Vec<_> = sorts
                .iter()
                .filter_map(|sort| match sort {
                    Template::Sort(sort) => Some(*sort),
                    Template::Parameter(parameter) => match given[*parameter as usize] {
                        Argument::Sort(sort) => Some(sort),
                        Argument::Message(_) => None,
                    },
                    _ => None,
                })
                .collect();
            Argument::Message(messages.intern(*label, &sorts))
        }
    }
}

/// A message that a state offers.
struct Offer {
    letter: u32,
    origin: Span,
    /// The place behind it.
    target: u32,
}

/// The choice that a place is a branch of.
#[derive(Clone, Copy)]
struct Chooser {
    role: u32,
    /// The heading of the choice.
    span: Span,
    branch: u32,
}

struct Determiniser<'u, 'a, 'm> {
    unfolding: &'u mut Unfolding<'a, 'm>,
    roles: Vec<Role>,
    letters: Vec<Letter>,
    letter_ids: Index,
    /// The places that each state stands for, before choices are followed.
    cores: Vec<Core>,
    /// For each state the origins of the edge that led there first.
    beginnings: Vec<(u32, u32)>,
    /// The state of each single place, or [`END`].
    single: Vec<u32>,
    several: HashedMap<Vec<u32>, u32>,
    /// The state in which a place was last seen, plus one.
    seen: Vec<u32>,
    /// Scratch space: the places still to be looked at in one state.
    stack: Vec<(u32, Option<Chooser>)>,
    diagnostics: Vec<Diagnostic>,
    reported: HashedMap<(codes::Code, Span), ()>,
    /// Whether no choice of the current state was refused.
    clear: bool,
}

enum Core {
    One(u32),
    Several(Vec<u32>),
}

impl<'u, 'a, 'm> Determiniser<'u, 'a, 'm> {
    fn new(unfolding: &'u mut Unfolding<'a, 'm>, roles: Vec<Role>) -> Self {
        Self {
            unfolding,
            roles,
            letters: Vec::new(),
            letter_ids: Index::default(),
            cores: Vec::new(),
            beginnings: Vec::new(),
            single: Vec::new(),
            several: HashedMap::new(),
            seen: Vec::new(),
            stack: Vec::new(),
            diagnostics: Vec::new(),
            reported: HashedMap::new(),
            clear: true,
        }
    }

    fn run(mut self, root: usize) -> Result<Global, Vec<Diagnostic>> {
        match self.explore(root) {
            Ok(global) if self.diagnostics.is_empty() => Ok(global),
            Ok(_) => Err(self.diagnostics),
            // What is found is worth more than that there may be more.
            Err(TooLarge) if !self.diagnostics.is_empty() => Err(self.diagnostics),
            Err(TooLarge) => {
                let span = self.unfolding.program.protocols[root].decl.name.span;
                let limit = self.unfolding.limit;
                self.diagnostics.push(codes::too_large(span, limit));
                Err(self.diagnostics)
            }
        }
    }

    fn explore(&mut self, root: usize) -> Result<Global, TooLarge> {
        let frame = self.unfolding.frame(Frame {
            protocol: index(root),
            roles: (0..index(self.roles.len())).collect(),
            arguments: Vec::new(),
            back: None,
        })?;
        let entry = self.unfolding.program.protocols[root].entry;
        let entry = self.unfolding.arrive(entry, frame)?;
        self.state_of_one(entry)?;

        let mut offsets = vec![0];
        let mut edges: Vec<Edge> = Vec::new();
        let mut origins: Vec<Span> = Vec::new();
        let mut offers = Vec::new();
        let mut state = 0;
        while state < self.cores.len() {
            offers.clear();
            self.clear = true;
            let ends = self.offers(state, &mut offers)?;
            let clear = self.clear;
            let beginning = self.beginnings[state];
            let equal = &origins[beginning.0 as usize..beginning.1 as usize];
            self.check(
                &offers,
                ends,
                clear,
                if equal.len() > 1 { equal } else { &[] },
            );
            self.step(&offers, &mut edges, &mut origins)?;
            offsets.push(index(edges.len()));
            state += 1;
        }
        // Of all messages of the program keep those of this protocol, under numbers of their own.
        let mut letters = std::mem::take(&mut self.letters);
        let mut messages = Vec::new();
        let known = &self.unfolding.program.messages;
        let mut kept: Vec<MessageId> = Vec::new();
        let mut ids = Index::default();
        for letter in &mut letters {
            let message = letter.message;
            let hash = hashed::mix(0, message.0);
            let found = ids.find(hash, |id| kept[id as usize] == message);
            let id = found.unwrap_or_else(|| {
                let id = index(kept.len());
                kept.push(message);
                ids.add(hash, id);
                messages.push(known.value(message));
                id
            });
            letter.message = MessageId(id);
        }
        let hops = hops(&offsets, &edges, &letters);
        Ok(Global {
            roles: std::mem::take(&mut self.roles),
            messages,
            letters,
            offsets,
            edges,
            origins,
            hops,
        })
    }

    fn state_of_one(&mut self, place: u32) -> Result<u32, TooLarge> {
        let at = place as usize;
        if at >= self.single.len() {
            self.single.resize(self.unfolding.places.len(), END);
        }
        if self.single[at] == END {
            self.single[at] = self.add(Core::One(place))?;
        }
        Ok(self.single[at])
    }

    fn state_of_several(&mut self, mut places: Vec<u32>) -> Result<u32, TooLarge> {
        sorted::sort(&mut places);
        places.dedup();
        if let [place] = *places {
            return self.state_of_one(place);
        }
        if let Some(&state) = self.several.get(&places) {
            return Ok(state);
        }
        self.unfolding.spend(places.len())?;
        let state = self.add(Core::Several(places.clone()))?;
        self.several.insert(places, state);
        Ok(state)
    }

    fn add(&mut self, core: Core) -> Result<u32, TooLarge> {
        if self.cores.len() > self.unfolding.limit {
            return Err(TooLarge);
        }
        self.cores.push(core);
        self.beginnings.push((0, 0));
        Ok(index(self.cores.len() - 1))
    }

    /// Collects what `state` offers, in the order of the text, and says whether the end is among it, with the
    /// choice that it is a branch of.
    fn offers(
        &mut self,
        state: usize,
        offers: &mut Vec<Offer>,
    ) -> Result<Option<Option<Chooser>>, TooLarge> {
        let epoch = index(state + 1);
        let mut ends = None;
        let mut stack = std::mem::take(&mut self.stack);
        match &self.cores[state] {
            Core::One(place) => stack.push((*place, None)),
            Core::Several(places) => stack.extend(places.iter().rev().map(|&place| (place, None))),
        }
        while let Some((id, chooser)) = stack.pop() {
            self.unfolding.spend(1)?;
            if id as usize >= self.seen.len() {
                self.seen
                    .resize(self.unfolding.places.len().max(id as usize + 1), 0);
            }
            if std::mem::replace(&mut self.seen[id as usize], epoch) == epoch {
                continue;
            }
            if id == FINAL {
                ends = Some(chooser);
                continue;
            }
            let place = self.unfolding.places[id as usize];
            let frame = &self.unfolding.frames[place.frame as usize];
            let protocol = &self.unfolding.program.protocols[frame.protocol as usize];
            let node = &protocol.nodes[place.node as usize];
            match &node.kind {
                NodeKind::Choice { at, branches } => {
                    let role = frame.roles[*at as usize];
                    let span = node.span;
                    let branches = branches.clone();
                    if let Some(chooser) = chooser {
                        self.subject(chooser, role, span);
                    }
                    let base = stack.len();
                    for (branch, start) in (1..).zip(branches) {
                        let start = self.unfolding.arrive(start, place.frame)?;
                        stack.push((start, Some(Chooser { role, span, branch })));
                    }
                    stack[base..].reverse();
                }
                NodeKind::Message { message, from, to } => {
                    let from = frame.roles[*from as usize];
                    let receiver = to[place.receiver as usize];
                    let to_role = frame.roles[receiver as usize];
                    let more = to.len() > place.receiver as usize + 1;
                    let (next, origin) = (node.next, node.span);
                    let given = &frame.arguments;
                    let message = match message {
                        Template::Message(message) => *message,
                        template => {
                            let messages = &mut self.unfolding.program.messages;
                            match instantiate(template, given, messages) {
                                Argument::Message(message) => message,
                                // Resolving has checked that the parameter is a message.
                                Argument::Sort(_) => continue,
                            }
                        }
                    };
                    if let Some(chooser) = chooser {
                        self.subject(chooser, from, origin);
                    }
                    let target = if more {
                        self.unfolding.place(Place {
                            receiver: place.receiver + 1,
                            ..place
                        })?
                    } else {
                        self.unfolding.arrive(next, place.frame)?
                    };
                    let letter = self.letter(Letter {
                        from,
                        to: to_role,
                        message,
                    });
                    offers.push(Offer {
                        letter,
                        origin,
                        target,
                    });
                }
                // No place is one of these.
                _ => {}
            }
        }
        self.stack = stack;
        Ok(ends)
    }

    fn letter(&mut self, letter: Letter) -> u32 {
        let ends = hashed::mix(hashed::mix(0, letter.from), letter.to);
        let hash = hashed::mix(ends, letter.message.0);
        let letters = self.letters.as_slice();
        let known = self
            .letter_ids
            .find(hash, |id| letters[id as usize] == letter);
        if let Some(id) = known {
            return id;
        }
        let id = index(self.letters.len());
        self.letters.push(letter);
        self.letter_ids.add(hash, id);
        id
    }

    /// S0304: `role` acts first in a branch of a choice of somebody else.
    fn subject(&mut self, chooser: Chooser, role: u32, first: Span) {
        if chooser.role != role {
            self.clear = false;
            let name = |role: u32| self.roles[role as usize].as_str();
            let diagnostic = codes::choice_subject(
                name(chooser.role),
                chooser.span,
                first,
                name(role),
                chooser.branch as usize,
            );
            self.report(diagnostic);
        }
    }

    /// Reports a mistake once: it shows in every state that has it.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self
            .reported
            .insert((diagnostic.code, diagnostic.primary), ())
            .is_none()
        {
            self.diagnostics.push(diagnostic);
            self.unfolding.steps = self.unfolding.steps.min(STEPS_AFTER_ERROR);
        }
    }

    /// What must hold of each state. It is `clear` if no choice in it was refused; `equal` are the
    /// messages that led here if several branches begin with them.
    fn check(
        &mut self,
        offers: &[Offer],
        ends: Option<Option<Chooser>>,
        clear: bool,
        equal: &[Span],
    ) {
        let Some(first) = offers.first() else {
            return;
        };
        let name = |role: u32| self.roles[role as usize].as_str();
        let letter = |offer: &Offer| self.letters[offer.letter as usize];
        let mut found = Vec::new();
        let sender = letter(first).from;
        if let Some(chooser) = ends {
            let choice = chooser.map(|chooser| chooser.span);
            found.push(codes::end_or_continue(
                first.origin,
                name(sender),
                choice,
                equal,
            ));
        }
        // Where a `choice at` has said so already, a second sender is an echo.
        let other = offers.iter().find(|&offer| letter(offer).from != sender);
        if let Some(other) = other
            && clear
        {
            found.push(codes::no_subject(
                first.origin,
                name(sender),
                other.origin,
                name(letter(other).from),
                equal,
            ));
        }
        if offers.len() > 1 {
            let messages = &self.unfolding.program.messages;
            let mut labels: Vec<_> = offers
                .iter()
                .enumerate()
                .map(|(position, offer)| {
                    let Letter { from, to, message } = letter(offer);
                    (from, to, messages.label(message), position, message)
                })
                .collect();
            sorted::sort(&mut labels);
            for pair in labels.windows(2) {
                let (one, other) = (pair[0], pair[1]);
                let same = (one.0, one.1, one.2) == (other.0, other.1, other.2);
                if same && one.4 != other.4 {
                    let text = |message: MessageId| messages.value(message).to_string();
                    found.push(codes::payload_clash(
                        messages.label_text(one.2),
                        &text(one.4),
                        offers[one.3].origin,
                        &text(other.4),
                        offers[other.3].origin,
                    ));
                }
            }
        }
        for diagnostic in found {
            self.report(diagnostic);
        }
    }

    /// Groups the offers of a state by letter and adds its edges.
    fn step(
        &mut self,
        offers: &[Offer],
        edges: &mut Vec<Edge>,
        origins: &mut Vec<Span>,
    ) -> Result<(), TooLarge> {
        // Most states offer one message, and this is not the place to allocate for them.
        if let [offer] = offers {
            let start = index(origins.len());
            origins.push(offer.origin);
            let target = self.state_of_one(offer.target)?;
            self.add_edge(offer.letter, target, (start, start + 1), edges);
            return Ok(());
        }
        let mut order: Vec<usize> = (0..offers.len()).collect();
        // Stable, so that within one letter the order of the text stays.
        sorted::sort_by(&mut order, |&left, &right| {
            offers[left].letter.cmp(&offers[right].letter)
        });
        let mut groups: Vec<&[usize]> = order
            .chunk_by(|&a, &b| offers[a].letter == offers[b].letter)
            .collect();
        sorted::sort_by(&mut groups, |left, right| left[0].cmp(&right[0]));
        for group in groups {
            let letter = offers[group[0]].letter;
            let target = match group {
                [one] => self.state_of_one(offers[*one].target)?,
                _ => {
                    let targets = group.iter().map(|&position| offers[position].target);
                    self.state_of_several(targets.collect())?
                }
            };
            let start = index(origins.len());
            origins.extend(group.iter().map(|&position| offers[position].origin));
            let tail = &mut origins[start as usize..];
            sorted::sort(tail);
            let written = (start, index(origins.len()));
            self.add_edge(letter, target, written, edges);
        }
        Ok(())
    }

    fn add_edge(&mut self, letter: u32, target: u32, origins: (u32, u32), edges: &mut Vec<Edge>) {
        let beginning = &mut self.beginnings[target as usize];
        if *beginning == (0, 0) {
            *beginning = origins;
        }
        edges.push(Edge {
            letter,
            target,
            origins,
        });
    }
}
