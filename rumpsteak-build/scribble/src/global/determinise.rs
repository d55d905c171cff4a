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
//! Its letters are interactions `m A→B`, and its words are the orders in which the interactions of
//! a run can be written down. While the protocol is [unfolded](super::unfold) into places, the
//! automaton is made deterministic: states are sets of places, closed under choices. Branches that
//! begin with equal messages share their beginning, and the choice is made where they part; if not
//! by the role that the text names, that is a warning. This keeps the words, and it is what the
//! theory of projection asks for.
//!
//! Then each state must have one role that decides (*sender-driven choice* in Li, Stutz, Wies,
//! Zufferey, CAV'23, §2), must not offer the end beside a message (*sink-final*), and must not
//! offer two payloads for one label. The branches of a `choice at` must begin with messages of the
//! role that it names.
//!
//! A *block*, `par` or `interruptible`, is one letter that all its participants see. Its parts are
//! automata of their own. A state with a block offers nothing else.
//!
//! # Cost
//! Linear in places and states if branches begin with different messages. Protocols that call
//! others one after the other can be exponentially larger than their text, and so can the automaton
//! of equal beginnings. Both are stopped by [`Limits::global_states`](crate::Limits).

use std::sync::Arc;

use hashbrown::HashSet;
use rumpsteak_fsm::Role;

use super::automaton::{Block, Edge, Global, Letter};
use super::blocks;
use super::unfold::{self, Step, TooLarge, Unfolding};
use crate::diagnostics::code::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::global_errors;
use crate::diagnostics::span::Span;
use crate::index::{IndexMap, IndexSet, NONE, index, set_of};
use crate::names::program::Program;
use crate::sets::Sets;

/// Builds the automaton of the protocol with number `root`, which is valid and has no parameters,
/// and warns of choices of other roles than the text names. `entered` marks the protocols that are
/// part of it.
///
/// # Errors
/// Everything that is wrong with its choices, or that it is larger than `limit` states.
pub(crate) fn determinise(
    program: &mut Program<'_>,
    root: usize,
    limit: usize,
    entered: &mut [bool],
) -> Result<(Global, Vec<Diagnostic>), Vec<Diagnostic>> {
    let decl = program.protocols[root].decl;
    let roles = decl.roles.iter().map(|role| &role.name.text);
    // No more letters than this, unless calls pass on roles.
    let size = program.protocols[root].nodes.len().min(limit);
    let determiniser = Determiniser {
        unfolding: Unfolding::new(program, root, limit, entered),
        roles: roles.map(|name| Role::from(Arc::clone(name))).collect(),
        letters: set_of(size),
        blocks: IndexMap::default(),
        states: Sets::new(size + 1),
        beginnings: Vec::new(),
        undecided: IndexMap::default(),
        offsets: vec![0],
        edges: Vec::new(),
        origins: Vec::new(),
        epoch: 0,
        seen: Vec::new(),
        stack: Vec::new(),
        diagnostics: Vec::new(),
        warnings: Vec::new(),
        reported: HashSet::new(),
    };
    determiniser.run(root)
}

/// Once a mistake is found, no more than this is spent on looking for others: the automaton of a
/// wrong protocol can be much larger than that of the right one.
const STEPS_AFTER_ERROR: usize = 100_000;

/// A protocol with more blocks than this counts as too large: each is projected by itself.
const MOST_BLOCKS: usize = 1_000;

struct Offer {
    letter: u32,
    origin: Span,
    target: u32,
    /// The choice that it begins a branch of.
    chooser: Option<Chooser>,
}

#[derive(Default)]
struct Offers {
    /// In the order of the text.
    messages: Vec<Offer>,
    /// Whether the end is among it, with the choice that it is a branch of.
    end: Option<Option<Chooser>>,
    /// Whether a branch begins with another role than the one that chooses.
    has_wrong_subject: bool,
}

/// The choice that a place is a branch of.
#[derive(Clone, Copy)]
struct Chooser {
    role: u32,
    choice: u32,
    span: Span,
    branch: usize,
}

/// A choice of which several branches have begun equally, and have not parted yet.
#[derive(Clone, Copy)]
struct Undecided {
    role: u32,
    choice: Span,
    /// The message with which they begin, and the origins of its edge.
    letter: u32,
    equal: (u32, u32),
}

struct Determiniser<'a, 'm> {
    unfolding: Unfolding<'a, 'm>,
    roles: Vec<Role>,
    letters: IndexSet<Letter>,
    /// By the place where it stands.
    blocks: IndexMap<u32, unfold::Block>,
    // Of the automaton that is being built.
    /// The places that each state stands for, before choices are followed.
    states: Sets,
    /// For each state the origins of the edge that led there first.
    beginnings: Vec<(u32, u32)>,
    /// For each state of several places the choices that it was still in when it was found, no two
    /// of one role.
    undecided: IndexMap<u32, Vec<Undecided>>,
    // As in the automaton.
    offsets: Vec<u32>,
    edges: Vec<Edge>,
    origins: Vec<Span>,
    /// The number of states that were looked at, of this automaton and those before it.
    epoch: u32,
    /// What that was when a place was last seen.
    seen: Vec<u32>,
    /// The places still to be looked at in one state.
    stack: Vec<(u32, Option<Chooser>)>,
    diagnostics: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    reported: HashSet<(Code, Span)>,
}

impl Determiniser<'_, '_> {
    fn run(mut self, root: usize) -> Result<(Global, Vec<Diagnostic>), Vec<Diagnostic>> {
        let explored = self.all(root);
        // What is found is worth more than that there may be more.
        if explored.is_err() && self.diagnostics.is_empty() {
            let name = &self.unfolding.program.protocols[root].decl.name;
            let limit = self.unfolding.limit;
            self.diagnostics.push(global_errors::too_large(name.span, limit));
        }
        match explored {
            Ok(mut global) if self.diagnostics.is_empty() => {
                let letters = self.letters.into_iter().collect();
                let messages = &self.unfolding.program.messages;
                blocks::finish(&mut global, letters, messages).map(|()| (global, self.warnings))
            }
            _ => Err(self.diagnostics),
        }
    }

    /// The automaton of the protocol and those of the parts of its blocks.
    fn all(&mut self, root: usize) -> Result<Global, TooLarge> {
        let start = self.unfolding.start(root)?;
        let mut global = self.automaton(start)?;
        while let Some((_, found)) = self.blocks.get_index(global.blocks.len()) {
            if self.blocks.len() > MOST_BLOCKS {
                return Err(TooLarge);
            }
            let (span, interrupts, starts) =
                (found.span, found.interrupts.clone(), found.parts.clone());
            let mut parts = Vec::with_capacity(starts.len());
            for start in starts {
                self.states = Sets::new(0);
                parts.push(self.automaton(start)?);
            }
            global.blocks.push(Block { span, parts, interrupts, ends: true });
        }
        Ok(global)
    }

    /// The automaton from a place on, without what it has in common with others.
    fn automaton(&mut self, start: u32) -> Result<Global, TooLarge> {
        self.explore(start)?;
        Ok(Global {
            roles: self.roles.clone(),
            messages: Arc::default(),
            letters: Vec::new(),
            offsets: std::mem::replace(&mut self.offsets, vec![0]),
            edges: std::mem::take(&mut self.edges),
            origins: std::mem::take(&mut self.origins),
            hops: Vec::new(),
            participants: Arc::default(),
            blocks: Vec::new(),
        })
    }

    fn explore(&mut self, start: u32) -> Result<(), TooLarge> {
        self.beginnings.clear();
        self.undecided.clear();
        let (start, _) = self.states.insert_one(start);
        self.new_state(start, (0, 0))?;
        let mut offers = Offers::default();
        let mut state = 0;
        while (state as usize) < self.states.len() {
            self.offers(state, &mut offers)?;
            self.check(state, &offers);
            self.add_edges(state, &offers.messages)?;
            state += 1;
        }
        Ok(())
    }

    fn offers(&mut self, state: u32, offers: &mut Offers) -> Result<(), TooLarge> {
        offers.messages.clear();
        offers.end = None;
        offers.has_wrong_subject = false;
        self.epoch += 1;
        let epoch = self.epoch;
        let mut stack = std::mem::take(&mut self.stack);
        stack.extend(self.states.get(state).iter().rev().map(|&place| (place, None)));
        while let Some((place, chooser)) = stack.pop() {
            self.unfolding.spend(1)?;
            if place as usize >= self.seen.len() {
                self.seen.resize(self.unfolding.places(), 0);
            }
            if std::mem::replace(&mut self.seen[place as usize], epoch) == epoch {
                continue;
            }
            match self.unfolding.step(place)? {
                Step::End => offers.end = Some(chooser),
                Step::Choice { role, branches, span } => {
                    self.subject(chooser, role, span, offers)?;
                    let chooser = |branch| Some(Chooser { role, choice: place, span, branch });
                    let starts = (1..).zip(branches).map(|(at, start)| (start, chooser(at)));
                    let base = stack.len();
                    stack.extend(starts);
                    stack[base..].reverse();
                }
                Step::Message { letter, target, span } => {
                    self.subject(chooser, letter.from, span, offers)?;
                    let letter = index(self.letters.insert_full(letter).0);
                    offers.messages.push(Offer { letter, origin: span, target, chooser });
                }
                Step::Block(block) => {
                    let (origin, target) = (block.span, block.target);
                    let number = index(self.blocks.insert_full(place, block).0);
                    let letter = Letter::block(number);
                    let letter = index(self.letters.insert_full(letter).0);
                    offers.messages.push(Offer { letter, origin, target, chooser });
                }
            }
        }
        self.stack = stack;
        Ok(())
    }

    /// S0304: `role` acts first in a branch of a choice of somebody else.
    fn subject(
        &mut self,
        chooser: Option<Chooser>,
        role: u32,
        first: Span,
        offers: &mut Offers,
    ) -> Result<(), TooLarge> {
        if let Some(chooser) = chooser
            && chooser.role != role
        {
            offers.has_wrong_subject = true;
            let Chooser { choice, span, branch, .. } = chooser;
            let branch = if self.acts_first(role, choice)? { None } else { Some(branch) };
            let [chooses, acts] =
                [chooser.role, role].map(|role| self.roles[role as usize].as_str());
            self.report(global_errors::choice_subject(chooses, span, first, acts, branch));
        }
        Ok(())
    }

    fn acts_first(&mut self, role: u32, choice: u32) -> Result<bool, TooLarge> {
        let Step::Choice { branches, .. } = self.unfolding.step(choice)? else { return Ok(false) };
        for branch in branches {
            let first = match self.unfolding.step(branch)? {
                Step::Message { letter, .. } => letter.from,
                Step::Choice { role, .. } => role,
                _ => return Ok(false),
            };
            if first != role {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reports a mistake once: it shows in every state that has it.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.code, diagnostic.primary)) {
            self.diagnostics.push(diagnostic);
            self.unfolding.hurry(STEPS_AFTER_ERROR);
        }
    }

    /// S0305, S0306 and S0307: what must hold of each state.
    fn check(&mut self, state: u32, offers: &Offers) {
        let Some(first) = offers.messages.first() else { return };
        if offers.messages.len() == 1 && offers.end.is_none() {
            return;
        }
        let letter = |offer: &Offer| self.letters[offer.letter as usize];
        if let Some(block) = offers.messages.iter().find(|&offer| letter(offer).from == NONE) {
            return self.report(global_errors::block_in_choice(block.origin));
        }
        let sender = letter(first).from;
        let name = |role: u32| self.roles[role as usize].as_str();
        // The messages that led here, if several branches begin with them.
        let (start, end) = self.beginnings[state as usize];
        let equal = &self.origins[start as usize..end as usize];
        let equal = if equal.len() > 1 { equal } else { &[] };

        let mut found = Vec::new();
        if let Some(chooser) = offers.end {
            let choice = chooser.map(|chooser| chooser.span);
            let (origin, sender) = (first.origin, name(sender));
            found.push(global_errors::end_or_continue(origin, sender, choice, equal));
        }
        // Where a `choice at` has said so already, a second sender is an echo.
        let other = offers.messages.iter().find(|&offer| letter(offer).from != sender);
        if let Some(other) = other.filter(|_| !offers.has_wrong_subject) {
            let (one, two) = (name(sender), name(letter(other).from));
            found.push(global_errors::no_subject(first.origin, one, other.origin, two, equal));
        }
        if offers.messages.len() > 1 {
            let messages = &self.unfolding.program.messages;
            let mut labels: Vec<_> = (0..)
                .zip(&offers.messages)
                .map(|(position, offer)| {
                    let Letter { from, to, message, .. } = letter(offer);
                    let label = &messages[message as usize].label;
                    (from, to, label, position, message)
                })
                .collect();
            labels.sort_unstable();
            for pair in labels.windows(2) {
                let (one, other) = (pair[0], pair[1]);
                let same = (one.0, one.1, one.2) == (other.0, other.1, other.2);
                if same && one.4 != other.4 {
                    let text = |message: u32| messages[message as usize].to_string();
                    let origin = |position: usize| offers.messages[position].origin;
                    found.push(global_errors::payload_clash(
                        one.2.as_str(),
                        (&text(one.4), origin(one.3)),
                        (&text(other.4), origin(other.3)),
                    ));
                }
            }
        }
        if found.is_empty() {
            self.warnings.extend(self.other_decides(state, &offers.messages));
        }
        for diagnostic in found {
            self.report(diagnostic);
        }
    }

    /// S0305: the branches of a choice part here, with messages of another role than chooses.
    fn other_decides(&self, state: u32, offers: &[Offer]) -> Option<Diagnostic> {
        let (first, rest) = offers.split_first()?;
        let second = rest.iter().find(|offer| offer.letter != first.letter)?;
        let sender = self.letters[first.letter as usize].from;
        let undecided = self.undecided.get(&state)?;
        let wrong = undecided.first()?;
        if undecided.iter().any(|choice| choice.role == sender) {
            return None;
        }
        let message = self.letters[wrong.letter as usize].message;
        let message = &self.unfolding.program.messages[message as usize];
        let [chooser, sender] = [wrong.role, sender].map(|role| self.roles[role as usize].as_str());
        let equal = &self.origins[wrong.equal.0 as usize..wrong.equal.1 as usize];
        Some(global_errors::other_decides(
            (chooser, wrong.choice),
            (message.label.as_str(), equal),
            (sender, first.origin, second.origin),
        ))
    }

    /// Adds the edges of a state: one for each letter, in the order of the text.
    fn add_edges(&mut self, state: u32, offers: &[Offer]) -> Result<(), TooLarge> {
        if let [offer] = offers {
            self.add_edge(state, offer.letter, &[offer])?;
        } else {
            let mut groups: IndexMap<u32, Vec<&Offer>> = IndexMap::default();
            for offer in offers {
                groups.entry(offer.letter).or_default().push(offer);
            }
            for (letter, group) in groups {
                self.add_edge(state, letter, &group)?;
            }
        }
        self.offsets.push(index(self.edges.len()));
        Ok(())
    }

    fn add_edge(&mut self, state: u32, letter: u32, offers: &[&Offer]) -> Result<(), TooLarge> {
        let (target, is_new) = match offers {
            [offer] => self.states.insert_one(offer.target),
            _ => self.states.insert(offers.iter().map(|offer| offer.target).collect()),
        };
        let start = self.origins.len();
        self.origins.extend(offers.iter().map(|offer| offer.origin));
        self.origins[start..].sort_unstable();
        let origins = (index(start), index(self.origins.len()));
        if is_new {
            self.new_state(target, origins)?;
            if self.states.get(target).len() > 1 {
                let mut undecided = self.undecided.get(&state).cloned().unwrap_or_default();
                for Chooser { role, span, .. } in offers.iter().filter_map(|offer| offer.chooser) {
                    if undecided.iter().all(|choice| choice.role != role) {
                        undecided.push(Undecided { role, choice: span, letter, equal: origins });
                    }
                }
                self.undecided.insert(target, undecided);
            }
        }
        self.edges.push(Edge { letter, target, origins });
        Ok(())
    }

    /// Accounts for a state that was just added, and to which the edge with these origins leads.
    fn new_state(&mut self, state: u32, beginning: (u32, u32)) -> Result<(), TooLarge> {
        let places = self.states.get(state).len();
        if places > 1 {
            self.unfolding.spend(places)?;
        }
        if state as usize > self.unfolding.limit {
            return Err(TooLarge);
        }
        self.beginnings.push(beginning);
        Ok(())
    }
}
