#![doc = include_str!("determinise.md")]

use std::sync::Arc;

use hashbrown::HashSet;
use litemap::LiteMap;
use rumpsteak_fsm::Role;

use super::automaton::{Block, Edge, Global, Letter};
use super::blocks;
use super::unfold::{self, Step, TooLarge, Unfolding};
use crate::diagnostics::global_errors::{self, equal_beginning};
use crate::diagnostics::{Code, Diagnostic, Found, Span};
use crate::index::{IndexSet, NONE, Sets, by_number, index, insert_set};
use crate::names::program::Program;

/// Builds the automaton of the protocol with the number `root`, which is valid and has no
/// parameters. Also returns warnings of choices that another role makes than the text names. Marks
/// in `entered` the protocols that take part.
///
/// # Errors
/// Everything that is wrong with its choices; and if it has more than `limit` states.
pub(crate) fn determinise(
    program: &mut Program<'_>,
    root: usize,
    limit: usize,
    entered: &mut [bool],
) -> Found<(Global, Vec<Diagnostic>)> {
    let roles = program.protocols[root].decl.roles.iter().map(|role| &role.name.text);
    let determiniser = Determiniser {
        roles: roles.map(|name| Role::from(Arc::clone(name))).collect(),
        unfolding: Unfolding::new(program, limit, entered),
        letters: IndexSet::default(),
        places: IndexSet::default(),
        blocks: Vec::new(),
        states: Sets::default(),
        beginnings: Vec::new(),
        undecided: LiteMap::default(),
        epoch: 0,
        seen: Vec::new(),
        diagnostics: Vec::new(),
        warnings: Vec::new(),
        reported: HashSet::new(),
    };
    determiniser.run(root)
}

/// The number of steps for finding more mistakes after the first one: the automaton of a wrong
/// protocol can be much larger than the automaton of the corrected one.
const STEPS_AFTER_ERROR: usize = 100_000;

/// A protocol with more blocks than this counts as too large: each is projected separately.
const MOST_BLOCKS: usize = 1_000;

struct Offer {
    letter: u32,
    /// The role that sends the message, or the first message of each part of the block; otherwise
    /// [`NONE`].
    sender: u32,
    origin: Span,
    target: u32,
    /// The choice that has a branch beginning with it.
    chooser: Option<Chooser>,
}

/// The transitions of a state.
#[derive(Default)]
struct Offers {
    /// In the order of the text.
    messages: Vec<Offer>,
    /// If the state can be the end: the choice that has the end as a branch.
    end: Option<Option<Chooser>>,
    /// True if a branch begins with another role than the one that chooses.
    has_wrong_subject: bool,
}

/// A branch of a choice.
#[derive(Clone, Copy)]
struct Chooser {
    role: u32,
    choice: u32,
    span: Span,
    branch: usize,
}

/// A choice with several branches that have begun equally and have not parted yet.
#[derive(Clone)]
struct Undecided {
    role: u32,
    choice: Span,
    /// The message with which they begin, and its places.
    letter: u32,
    equal: Vec<Span>,
}

struct Determiniser<'a, 'm> {
    roles: Vec<Role>,
    unfolding: Unfolding<'a, 'm>,
    letters: IndexSet<Letter>,
    /// The blocks, and the place where each one stands.
    blocks: Vec<unfold::Block>,
    places: IndexSet<u32>,
    // For the automaton that is being built:
    /// The places of each state, before choices are followed.
    states: Sets,
    /// For each state the origins of the edge that first led there.
    beginnings: Vec<Vec<Span>>,
    /// For each state with several places, the undecided choices when the state was found: at most
    /// one per role.
    undecided: LiteMap<u32, Vec<Undecided>>,
    /// The number of states so far, of all automata; and this number when each place was last seen.
    epoch: u32,
    seen: Vec<u32>,
    diagnostics: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    reported: HashSet<(Code, Span)>,
}

impl Determiniser<'_, '_> {
    fn run(mut self, root: usize) -> Found<(Global, Vec<Diagnostic>)> {
        match self.all(root) {
            // Mistakes that were found matter more than the limit.
            _ if !self.diagnostics.is_empty() => Err(self.diagnostics),
            Ok(mut global) => {
                let letters = self.letters.into_iter().collect();
                let messages = &self.unfolding.program.messages;
                blocks::finish(&mut global, letters, messages).map(|()| (global, self.warnings))
            }
            Err(TooLarge) => {
                let name = &self.unfolding.program.protocols[root].decl.name;
                Err(vec![global_errors::too_large(name.span, self.unfolding.limit)])
            }
        }
    }

    /// The automaton of the protocol, with the automata of the parts of its blocks.
    fn all(&mut self, root: usize) -> Result<Global, TooLarge> {
        let start = self.unfolding.start(root)?;
        let mut global = self.automaton(start)?;
        while let Some(found) = self.blocks.get(global.blocks.len()) {
            if self.blocks.len() > MOST_BLOCKS {
                return Err(TooLarge);
            }
            let (span, interrupts, starts) =
                (found.span, found.interrupts.clone(), found.parts.clone());
            let parts = starts.into_iter().map(|start| self.automaton(start));
            let parts = parts.collect::<Result<_, _>>()?;
            global.blocks.push(Block { span, parts, interrupts, ends: true });
        }
        Ok(global)
    }

    /// The automaton that starts in a place, still without letters, messages and participants.
    fn automaton(&mut self, start: u32) -> Result<Global, TooLarge> {
        let mut global = Global { roles: self.roles.clone(), ..Global::default() };
        (self.states, self.undecided) = (Sets::default(), LiteMap::default());
        self.beginnings = vec![Vec::new()];
        insert_set(&mut self.states, vec![start]);
        while global.len() < self.states.len() {
            let state = index(global.len());
            let offers = self.offers(state)?;
            self.check(state, &offers);
            global.states.push(self.edges(state, &offers.messages)?);
        }
        Ok(global)
    }

    fn offers(&mut self, state: u32) -> Result<Offers, TooLarge> {
        let mut offers = Offers::default();
        self.epoch += 1;
        let mut stack: Vec<(u32, Option<Chooser>)> =
            self.states[state as usize].iter().rev().map(|&place| (place, None)).collect();
        while let Some((place, chooser)) = stack.pop() {
            self.unfolding.spend(1)?;
            if place as usize >= self.seen.len() {
                self.seen.resize(2 * place as usize + 1, 0);
            }
            if std::mem::replace(&mut self.seen[place as usize], self.epoch) == self.epoch {
                continue;
            }
            let (letter, sender, origin, target) = match self.unfolding.step(place)? {
                Step::End => {
                    offers.end = Some(chooser);
                    continue;
                }
                Step::Choice { role, branches, span } => {
                    self.subject(chooser, role, span, &mut offers)?;
                    let chooser = |branch| Some(Chooser { role, choice: place, span, branch });
                    let starts = branches.into_iter().enumerate().rev();
                    stack.extend(starts.map(|(at, start)| (start, chooser(at + 1))));
                    continue;
                }
                Step::Message { letter, target, span } => (letter, letter.from, span, target),
                Step::Block(block) => {
                    let (origin, target) = (block.span, block.target);
                    let sender = self.first_sender(block.parts.clone())?;
                    let (number, is_new) = self.places.insert_full(place);
                    self.blocks.extend(is_new.then_some(block));
                    (Letter::block(index(number)), sender, origin, target)
                }
            };
            if sender != NONE {
                self.subject(chooser, sender, origin, &mut offers)?;
            }
            let letter = index(self.letters.insert_full(letter).0);
            offers.messages.push(Offer { letter, sender, origin, target, chooser });
        }
        Ok(offers)
    }

    /// The role that sends the first message from each of these places, or [`NONE`].
    fn first_sender(&mut self, mut places: Vec<u32>) -> Result<u32, TooLarge> {
        let mut senders = Vec::new();
        while let Some(place) = places.pop() {
            self.unfolding.spend(1)?;
            match self.unfolding.step(place)? {
                Step::End => {}
                Step::Choice { branches, .. } => places.extend(branches),
                Step::Message { letter, .. } => senders.push(letter.from),
                Step::Block(block) => places.extend(block.parts),
            }
        }
        let first = senders.first().copied().unwrap_or(NONE);
        Ok(if senders.iter().all(|&sender| sender == first) { first } else { NONE })
    }

    /// S0304: `role` acts first in a branch, and another role chooses.
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

    /// Reports a mistake once, however many states have it.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.code, diagnostic.primary)) {
            self.diagnostics.push(diagnostic);
            self.unfolding.steps = self.unfolding.steps.min(STEPS_AFTER_ERROR);
        }
    }

    /// S0305, S0306 and S0307: the conditions for each state.
    fn check(&mut self, state: u32, offers: &Offers) {
        let Some(first) = offers.messages.first() else { return };
        if offers.messages.len() == 1 && offers.end.is_none() {
            return;
        }
        let letter = |offer: &Offer| self.letters[offer.letter as usize];
        if let Some(block) = offers.messages.iter().find(|offer| offer.sender == NONE) {
            return self.report(global_errors::block_in_choice(block.origin));
        }
        let sender = first.sender;
        let name = |role: u32| self.roles[role as usize].as_str();
        // The messages that led here, if several branches begin with them.
        let equal = &self.beginnings[state as usize][..];
        let equal = if equal.len() > 1 { equal } else { &[] };

        let mut found = Vec::new();
        if let Some(chooser) = offers.end {
            let choice = chooser.map(|chooser| chooser.span);
            let (origin, sender) = (first.origin, name(sender));
            found.push(global_errors::end_or_continue(origin, sender, choice, equal));
        }
        // If a wrong `choice at` is reported already, a second sender follows from it.
        let other = offers.messages.iter().find(|offer| offer.sender != sender);
        if let Some(other) = other.filter(|_| !offers.has_wrong_subject) {
            let (one, two) = (name(sender), name(other.sender));
            let error = global_errors::no_subject(first.origin, one, other.origin, two);
            found.push(equal_beginning(error, equal));
        }
        if offers.messages.len() > 1 {
            let messages = &self.unfolding.program.messages;
            let message = |offer: &Offer| &messages[letter(offer).message as usize];
            let key = |offer: &Offer| (letter(offer).from, letter(offer).to, &message(offer).label);
            let is_message = |offer: &&Offer| letter(offer).from != NONE;
            let mut sorted: Vec<&Offer> = offers.messages.iter().filter(is_message).collect();
            sorted.sort_by(|one, other| key(one).cmp(&key(other)));
            for pair in sorted.windows(2).filter(|pair| key(pair[0]) == key(pair[1])) {
                let [one, other] = [message(pair[0]), message(pair[1])];
                if one != other {
                    let (here, there) = (pair[1].origin, pair[0].origin);
                    found.push(global_errors::payload_clash(&one.label, one, there, other, here));
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

    /// S0305: the branches of a choice part here, and another role than the chooser sends.
    fn other_decides(&self, state: u32, offers: &[Offer]) -> Option<Diagnostic> {
        let (first, rest) = offers.split_first()?;
        let second = rest.iter().find(|offer| offer.letter != first.letter)?;
        let sender = first.sender;
        let undecided = self.undecided.get(&state)?;
        let wrong = undecided.first()?;
        if undecided.iter().any(|choice| choice.role == sender) {
            return None;
        }
        let message = self.letters[wrong.letter as usize].message;
        let message = &self.unfolding.program.messages[message as usize];
        let [chooser, sender] = [wrong.role, sender].map(|role| self.roles[role as usize].as_str());
        let (label, one, two) = (message.label.as_str(), first.origin, second.origin);
        let found = global_errors::other_decides(chooser, wrong.choice, label, sender, one, two);
        Some(equal_beginning(found, &wrong.equal).warning())
    }

    /// The edges of a state: one for each letter, in the order of the text.
    fn edges(&mut self, state: u32, offers: &[Offer]) -> Result<Vec<Edge>, TooLarge> {
        let groups = by_number(offers.iter().map(|offer| (offer.letter, offer)).collect());
        groups.into_iter().map(|(letter, group)| self.edge(state, letter, &group)).collect()
    }

    fn edge(&mut self, state: u32, letter: u32, offers: &[&Offer]) -> Result<Edge, TooLarge> {
        let places = offers.iter().map(|offer| offer.target).collect();
        let (target, is_new) = insert_set(&mut self.states, places);
        let mut origins: Vec<Span> = offers.iter().map(|offer| offer.origin).collect();
        origins.sort_unstable();
        if is_new {
            let places = self.states[target as usize].len();
            if target as usize > self.unfolding.limit {
                return Err(TooLarge);
            }
            self.beginnings.push(origins.clone());
            if places > 1 {
                self.unfolding.spend(places)?;
                let mut undecided = self.undecided.get(&state).cloned().unwrap_or_default();
                for Chooser { role, span, .. } in offers.iter().filter_map(|offer| offer.chooser) {
                    if undecided.iter().all(|choice| choice.role != role) {
                        let equal = origins.clone();
                        undecided.push(Undecided { role, choice: span, letter, equal });
                    }
                }
                self.undecided.insert(target, undecided);
            }
        }
        Ok(Edge { letter, target, origins })
    }
}
