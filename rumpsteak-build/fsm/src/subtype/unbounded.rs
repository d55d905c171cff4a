//! Anticipation without a bound: the pending actions grow for ever and are known only roughly.
//!
//! The search word by word ([`search`](super::search)) does not end if a subtype sends more in each
//! round than it receives. Here the pending actions are a *set* of words, widened so that there are
//! finitely many sets. They are written as an [`Invariant`](crate::certificate::invariant). Its
//! page has the judgement, an example, the rules, which have the same names here, and the proof of
//! `T ≤ T′`, which does not depend on this page.
//!
//! # The widening
//!
//! A set of words is a *class* and the *windows* that occur in it, for some length m. A word of at
//! most m letters is a class of its own. A longer one is in the class of its first m and its last m
//! letters; of the letters between, only the set of windows of m + 1 letters is known. A letter is
//! a transition of the supertype and not an action, so that words promised by different parts of it
//! stay apart.
//!
//! ```text
//!   m = 1:   a·a·b, a·b, a·a·a·b, …    class a…b, windows aa ab: any number of a, then b
//! ```
//!
//! Judgements with equal states and classes become one by uniting their windows. So there are
//! finitely many, each grows finitely often, and the search ends. If it gets stuck, perhaps too
//! much was forgotten, and it starts again with the next m; at [`Limits::widening`] it is
//! undecided. It never says "no": the words that get stuck may be words of no run.
//!
//! Each class has empty words only or none, so the loops in which a kind is pending and not done
//! are known in the end. Without such loops, each judgement has a *rank*: how many steps may follow
//! while the kind is pending and not done.
//!
//! # The fair relation
//!
//! The same search, with the rules that a [`FairInvariant`] adds. In place of the loops in which a
//! kind is pending and not done, it looks for judgements from which the subtype cannot choose its
//! outputs so that nothing is pending in the end. Anything that the sets do not say counts as
//! chosen by others.
//!
//! # Limits of the method
//!
//! It finds no invariant for words whose lengths must agree (n questions pending from one peer and
//! n from another), for overtaken choices of outputs, and for inputs done while an output is
//! pending, which need the order between kinds.
//!
//! # Cost
//!
//! For each m the number of judgements times the windows in them, as often as these grow. Both are
//! exponential in m at worst; in practice m ≤ 2 suffices. [`Limits::steps`] bounds all work.
//!
//! Other regular sets of pending actions: Bravetti et al. (LMCS'21), Bocchi et al. (TACAS'24).

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::draining::{Node, Stop, drains};
use super::pair::{Act, Edge, Kind, Pair, State};
use super::proof::Proof;
use super::reachability::heights;
use crate::certificate::invariant::{self as certificate, Between, Invariant, Pending, Step};
use crate::certificate::{Certificate, FairInvariant};
use crate::machine::{StateId, TransitionId};
use crate::verdict::Limits;

/// A transition of the supertype that is pending.
type Letter = TransitionId;

type Word = Vec<Letter>;

/// The windows of `m + 1` letters that may occur in a word. Sorted.
type Windows = Vec<Word>;

/// Adds a window; true if it is new.
fn insert(windows: &mut Windows, window: Word) -> bool {
    let place = windows.binary_search(&window);
    if let Err(place) = place {
        windows.insert(place, window);
    }
    place.is_err()
}

/// The words of one kind, or one word of at most `m` letters.
#[derive(Clone, Debug, Default, Eq)]
struct Words {
    /// The first `m` letters, or the word.
    first: Word,
    /// The last `m` letters, or none.
    last: Word,
    /// The windows on ways from the first to the last letters. Empty for one word.
    windows: Windows,
}

impl Words {
    fn short(word: &[Letter]) -> Self {
        Self { first: word.into(), last: vec![], windows: Windows::new() }
    }

    /// Everything known exactly; true if that is all.
    fn class(&self) -> (&[Letter], &[Letter], bool) {
        (&self.first, &self.last, self.windows.is_empty())
    }

    /// Appends a letter to all words, with windows of `m + 1` letters.
    fn push(&mut self, letter: Letter, m: usize) {
        let Self { first, last, windows } = self;
        if windows.is_empty() {
            first.push(letter);
            if first.len() > m {
                *last = first[1..].into();
                windows.push(first.clone());
                first.pop();
            }
        } else {
            last.push(letter);
            insert(windows, last.clone());
            last.remove(0);
        }
    }

    /// Takes off the possible first letters, each with the words after it. None for the empty word.
    fn pop(&self) -> Vec<(Letter, Self)> {
        let Self { first, last, windows } = self;
        if windows.is_empty() {
            let rest = first.split_first();
            return rest.map(|(&letter, rest)| (letter, Self::short(rest))).into_iter().collect();
        }
        let mut popped = vec![];
        for window in windows.iter().filter(|window| window.starts_with(first)) {
            let (letter, next) = (window[0], &window[1..]);
            if *next == **last {
                popped.push((letter, Self::short(next)));
            }
            let windows = between(windows, next, last);
            if !windows.is_empty() {
                popped.push((letter, Self { first: next.into(), last: last.clone(), windows }));
            }
        }
        popped
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.windows.is_empty()
    }

    /// The greatest cost of a walk over the windows.
    fn size(&self) -> usize {
        1 + self.windows.len()
    }
}

/// Words of one class become one set.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.class() == other.class()
    }
}

impl Hash for Words {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class().hash(state);
    }
}

/// The windows on the ways from some letters to others, each step shifting a window by one.
fn between(windows: &Windows, from: &[Letter], to: &[Letter]) -> Windows {
    let m = from.len();
    let mut ahead: Windows = Windows::new();
    let mut open: Vec<&[Letter]> = vec![from];
    while let Some(at) = open.pop() {
        for window in windows.iter().filter(|window| window[..m] == *at) {
            if insert(&mut ahead, window.clone()) {
                open.push(&window[1..]);
            }
        }
    }
    let mut both = Windows::new();
    let mut open: Vec<&[Letter]> = vec![to];
    while let Some(at) = open.pop() {
        for window in ahead.iter().filter(|window| window[1..] == *at) {
            if insert(&mut both, window.clone()) {
                open.push(&window[..m]);
            }
        }
    }
    both
}

/// The states of both machines, and the pending words. Equal if the classes of words are.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Claim {
    sub: u32,
    sup: u32,
    /// By kind.
    pending: Rc<[Words]>,
}

struct Judgement {
    claim: Claim,
    queued: bool,
}

/// A judgement after a rule, and the kind of the action that the subtype does; none for `Ahead`.
struct Successor {
    done: Option<Kind>,
    claim: Claim,
}

struct Applied {
    rule: Step,
    /// The judgements of its goals, each with the kind of the action that the subtype does.
    next: Vec<(usize, Option<Kind>)>,
}

impl Applied {
    fn steps(&self, id: usize) -> impl Iterator<Item = (usize, usize, Option<Kind>)> {
        self.next.iter().map(move |&(to, done)| (id, to, done))
    }
}

/// Looks for an invariant, or a fair one. Stuck if no precision leads to one, with any budget.
pub(super) fn search(pair: &Pair, limits: &Limits, is_fair: bool) -> Result<Proof, Stop> {
    let mut spent = 0;
    for m in 0..limits.widening {
        let mut search = Search::new(pair, m, is_fair, limits.steps, spent);
        match search.run().and_then(|()| search.written()) {
            Err(Stop::Stuck) => spent = search.spent,
            found => {
                return Ok(Proof::written(search.judgements.len(), None, found?));
            }
        }
    }
    Err(Stop::Stuck)
}

struct Search<'a> {
    pair: &'a Pair,
    /// The number of letters that are known at either end of a word.
    m: usize,
    is_fair: bool,
    /// By transition of the supertype, its action.
    acts: Vec<Act>,
    /// By kind, on demand: the states of the supertype from which it may go on for ever by actions
    /// that `Ahead` passes over for that kind.
    endless: HashMap<Kind, Vec<bool>>,
    ids: HashMap<Claim, usize>,
    judgements: Vec<Judgement>,
    open: VecDeque<usize>,
    spent: usize,
    budget: usize,
}

impl<'a> Search<'a> {
    fn new(pair: &'a Pair, m: usize, is_fair: bool, budget: usize, spent: usize) -> Self {
        let acts = pair.sup.by_transition(|edge| edge.act);
        Self {
            pair,
            m,
            is_fair,
            acts,
            endless: HashMap::new(),
            ids: HashMap::new(),
            judgements: vec![],
            open: VecDeque::new(),
            spent,
            budget,
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        let pair = self.pair;
        let (sub, sup) = (pair.sub.initial, pair.sup.initial);
        let pending = vec![Words::default(); pair.kinds()].into();
        self.join(Claim { sub, sup, pending })?;
        while let Some(id) = self.open.pop_front() {
            self.judgements[id].queued = false;
            let (_, successors) = self.successors(id)?;
            for successor in successors {
                self.join(successor.claim)?;
            }
        }
        Ok(())
    }

    /// Writes the invariant that was found. Stuck if something may be put off for ever.
    fn written(&mut self) -> Result<Certificate, Stop> {
        let rules = self.rules()?;
        if self.is_fair {
            return Ok(Certificate::Fair(self.written_fair(rules)?));
        }
        let kinds = (0..self.pair.kinds() as Kind).map(|kind| self.ranks(&rules, kind));
        let ranks: Vec<Vec<u32>> = kinds.collect::<Option<_>>().ok_or(Stop::Stuck)?;
        Ok(Certificate::Invariant(self.invariant(rules, &ranks)))
    }

    /// Writes the fair invariant that was found. Stuck if something can no longer be done.
    fn written_fair(&self, rules: Vec<Applied>) -> Result<FairInvariant, Stop> {
        let nodes = rules.iter().zip(&self.judgements).map(|(by, judgement)| Node {
            rule: by.rule,
            sends: matches!(self.pair.sub.state(judgement.claim.sub), State::Send(_)),
            is_drained: judgement.claim.pending.iter().all(Words::is_empty),
            next: by.next.iter().map(|&(to, _)| to).collect(),
        });
        let nodes: Vec<Node> = nodes.collect();
        let drains = drains(&nodes, self.budget.saturating_sub(self.spent))?;
        let is_left = |id: usize| {
            let Claim { sub, sup, .. } = self.judgements[id].claim;
            match self.pair.sub.state(sub) {
                State::Send(kind) => self.endless.get(&kind).is_some_and(|of| of[sup as usize]),
                State::Receive(_) | State::End => false,
            }
        };
        let ahead = |&id: &usize| rules[id].rule == Step::Ahead;
        let (left, bounded): (Vec<usize>, Vec<usize>) =
            (0..rules.len()).filter(ahead).partition(|&id| is_left(id));
        let steps = bounded.iter().flat_map(|&id| rules[id].steps(id));
        let unfoldings = heights(rules.len(), steps.map(|(from, to, _)| (from, to)));
        let sup = |id: usize| self.judgements[id].claim.sup as usize;
        let left: FixedBitSet = left.into_iter().map(sup).collect();
        Ok(FairInvariant {
            drains,
            unfoldings: unfoldings.into_iter().collect::<Option<_>>().ok_or(Stop::Stuck)?,
            left: left.ones().map(StateId::from_index).collect(),
            invariant: self
                .invariant(rules, &vec![vec![0; self.judgements.len()]; self.pair.kinds()]),
        })
    }

    fn rules(&mut self) -> Result<Vec<Applied>, Stop> {
        // The rules are applied once more, now to the final sets. It is paid for: they were applied
        // at least as often.
        let left = self.budget.saturating_sub(self.spent);
        self.budget = usize::MAX;
        let mut rules = vec![];
        for from in 0..self.judgements.len() {
            let (rule, successors) = self.successors(from)?;
            let next = successors.iter().map(|successor| {
                let to = *self.ids.get(&successor.claim).ok_or(Stop::Stuck)?;
                Ok((to, successor.done))
            });
            rules.push(Applied { rule, next: next.collect::<Result<_, _>>()? });
        }
        self.budget = self.spent + left;
        Ok(rules)
    }

    /// The judgements; `ranks` are by kind.
    fn invariant(&self, rules: Vec<Applied>, ranks: &[Vec<u32>]) -> Invariant {
        let judgement = |(id, Applied { rule, next }): (usize, Applied)| {
            let Claim { sub, sup, pending } = &self.judgements[id].claim;
            let pending = pending.iter().zip(ranks).filter(|(words, _)| !words.is_empty()).map(
                |(words, ranks)| Pending {
                    words: match words.clone() {
                        Words { first, windows, .. } if windows.is_empty() => {
                            certificate::Words::Exactly(first)
                        }
                        Words { first, last, windows } => {
                            certificate::Words::Between(Between { first, last, windows })
                        }
                    },
                    rank: ranks[id],
                },
            );
            certificate::Judgement {
                sub: StateId::from_index(*sub as usize),
                sup: StateId::from_index(*sup as usize),
                pending: pending.collect(),
                rule,
                next: next.into_iter().map(|(to, _)| to as u32).collect(),
            }
        };
        Invariant { judgements: rules.into_iter().enumerate().map(judgement).collect() }
    }

    /// By judgement, the most successive steps while a kind is pending and not done. None if there
    /// is a loop of them.
    fn ranks(&self, rules: &[Applied], kind: Kind) -> Option<Vec<u32>> {
        let pending = |id: usize| !self.judgements[id].claim.pending[kind as usize].is_empty();
        let steps = rules.iter().enumerate().flat_map(|(id, by)| by.steps(id));
        let steps = steps
            .filter(|&(from, _, done)| done != Some(kind) && pending(from))
            .map(|(from, to, _)| (from, to));
        heights(self.judgements.len(), steps).into_iter().collect()
    }

    fn spend(&mut self, cost: usize) -> Result<(), Stop> {
        self.spent += cost;
        if self.spent > self.budget {
            return Err(Stop::Spent);
        }
        Ok(())
    }

    /// Adds a judgement, or its windows to the one of its class.
    fn join(&mut self, new: Claim) -> Result<(), Stop> {
        self.spend(new.pending.iter().map(Words::size).sum::<usize>() * (self.m + 1))?;
        let next = self.judgements.len();
        let id = match self.ids.entry(new.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                free.insert(next);
                self.judgements.push(Judgement { claim: new, queued: true });
                self.open.push_back(next);
                return Ok(());
            }
        };
        let Judgement { claim, queued } = &mut self.judgements[id];
        let mut grew = false;
        for kind in 0..new.pending.len() {
            for window in &new.pending[kind].windows {
                if claim.pending[kind].windows.binary_search(window).is_err() {
                    let known = &mut Rc::make_mut(&mut claim.pending)[kind].windows;
                    grew |= insert(known, window.clone());
                }
            }
        }
        if grew && !std::mem::replace(queued, true) {
            self.open.push_back(id);
        }
        Ok(())
    }

    /// The rule that applies, and the judgements after it, in the order of
    /// [`invariant::Step`](certificate::Step).
    fn successors(&mut self, id: usize) -> Result<(Step, Vec<Successor>), Stop> {
        let pair = self.pair;
        let claim = &self.judgements[id].claim.clone();
        let Claim { sub, sup, pending } = claim;
        let output = (0..pair.kinds() as Kind)
            .any(|kind| pair.sends(kind) && !pending[kind as usize].is_empty());
        let kind = match (pair.sub.state(*sub), pair.sup.state(*sup)) {
            (State::End, State::End) if pending.iter().all(|words| words.is_empty()) => {
                return Ok((Step::End, vec![]));
            }
            (State::End, _) => return Err(Stop::Stuck),
            (State::Receive(_), _) if output => return Err(Stop::Stuck),
            (State::Send(kind) | State::Receive(kind), _) => kind,
        };
        if !pending[kind as usize].is_empty() {
            return Ok((Step::Take, self.take(claim, kind)?));
        }
        match pair.sup.state(*sup) {
            State::End => Err(Stop::Stuck),
            State::Send(other) | State::Receive(other) if other == kind => {
                Ok((Step::Match, self.matched(claim, kind)?))
            }
            State::Send(other) | State::Receive(other) => {
                Ok((Step::Ahead, self.ahead(claim, kind, other)?))
            }
        }
    }

    fn take(&mut self, claim: &Claim, kind: Kind) -> Result<Vec<Successor>, Stop> {
        let words = &claim.pending[kind as usize];
        self.spend(words.size() * words.size())?;
        let mut successors = vec![];
        for (letter, rest) in words.pop() {
            let act = self.acts[letter.index()];
            let edge = self.pair.sub.edge(claim.sub, act).ok_or(Stop::Stuck)?;
            if self.pair.sends(kind) && self.pair.sub.edges(claim.sub).len() > 1 {
                return Err(Stop::Stuck);
            }
            let mut claim = Claim { sub: edge.target, ..claim.clone() };
            Rc::make_mut(&mut claim.pending)[kind as usize] = rest;
            successors.push(Successor { done: Some(kind), claim });
        }
        Ok(successors)
    }

    fn matched(&self, claim: &Claim, kind: Kind) -> Result<Vec<Successor>, Stop> {
        let (own, theirs) = (&self.pair.sub, &self.pair.sup);
        let (sub, sup) = (own.edges(claim.sub), theirs.edges(claim.sup));
        let is_send = self.pair.sends(kind);
        if is_send && self.is_fair && sub.len() != sup.len() {
            return Err(Stop::Stuck);
        }
        // The subtype chooses among outputs, and its peers among inputs.
        let both = if is_send { sub } else { sup }.iter().map(|edge| {
            let sub = own.edge(claim.sub, edge.act).ok_or(Stop::Stuck)?.target;
            let sup = theirs.edge(claim.sup, edge.act).ok_or(Stop::Stuck)?.target;
            Ok(Successor { done: Some(kind), claim: Claim { sub, sup, ..claim.clone() } })
        });
        both.collect()
    }

    /// Rule `Ahead`: the subtype does `kind`, and the supertype another kind.
    fn ahead(&mut self, claim: &Claim, kind: Kind, other: Kind) -> Result<Vec<Successor>, Stop> {
        let pair = self.pair;
        let theirs = pair.sup.edges(claim.sup);
        let is_single = pair.sends(kind) && theirs.len() == 1 && !self.is_fair;
        let passes = !pair.sends(other) || is_single;
        let may_be_left = self.is_fair && pair.sends(kind);
        let endless = self.endless.entry(kind).or_insert_with(|| endless(pair, kind));
        if !passes || (endless[claim.sup as usize] && !may_be_left) {
            return Err(Stop::Stuck);
        }
        let named = |edge: &Edge| {
            let mut claim = Claim { sup: edge.target, ..claim.clone() };
            Rc::make_mut(&mut claim.pending)[other as usize].push(edge.id, self.m);
            Successor { done: None, claim }
        };
        Ok(theirs.iter().map(named).collect())
    }
}

/// The states of the supertype from which it may go on for ever by actions that are passed over
/// when the subtype does `kind`.
fn endless(pair: &Pair, kind: Kind) -> Vec<bool> {
    let sup = &pair.sup;
    let passed = |state: u32| match sup.state(state) {
        State::End => false,
        State::Receive(other) => other != kind,
        State::Send(other) => other != kind && pair.sends(kind),
    };
    let steps = (0..sup.len() as u32).filter(|&state| passed(state)).flat_map(|state| {
        let edges = sup.edges(state).iter();
        edges.map(move |edge| (state as usize, edge.target as usize))
    });
    heights(sup.len(), steps).iter().map(Option::is_none).collect()
}
