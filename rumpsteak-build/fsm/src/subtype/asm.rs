//! Rule ASM of PPoPP'22, Fig. 5: the situations that were met (Σ), and the act check.
//!
//! ```text
//!   ⟨q, π′, T′⟩ was met before, and did ρ′ since        it holds if act(ρ′) ⊇ act(π′)
//! ```
//!
//! Loops of situations share parts, so they are not checked one by one. When all situations are
//! known, [`Assumptions::forgotten`] checks for each kind of action (`p?` or `p!`) that every loop
//! on which an action of the kind is pending does one, in O(kinds · steps · lengths).

use std::ops::Range;

use hashbrown::HashMap;

use super::pair::{Kind, Pair};
use super::reachability::{NEVER, heights, inevitable, is_near};
use super::record::{Done, Record, Then};
use super::refusal::{Blame, Refusal, Rule};
use super::rules::Situation;
use crate::machine::{StateId, TransitionId, lasso};

pub(super) struct Assumptions<'a> {
    pair: &'a Pair,
    kind_of: Vec<Kind>,
    /// By kind, the states from which it is [inevitable].
    inevitable: Vec<Option<Vec<u32>>>,
    nodes: Vec<Node>,
    steps: Vec<Step>,
    /// For each node and each kind that is pending there, the first promise.
    promises: Vec<(Kind, u32)>,
    pub(super) record: Record,
}

struct Node {
    state: u32,
    parent: Option<u32>,
    /// A range of [`Assumptions::promises`].
    promises: Range<usize>,
}

struct Step {
    from: u32,
    to: u32,
    /// The actions of the subtype, a range of [`Record::trails`].
    trail: (u32, u32),
}

/// The part of a way since the last situation.
pub(super) struct Way {
    /// The situation before it.
    from: Option<u32>,
    pub(super) trail: Vec<Done>,
    /// The fragment of the actions from position `recorded` on.
    fragment: u32,
    recorded: u32,
    /// The number of unfoldings since the last action.
    pub(super) unfolded: u32,
}

impl Way {
    pub(super) fn start() -> Self {
        Self { from: None, trail: vec![], fragment: 0, recorded: 0, unfolded: 0 }
    }

    pub(super) fn done(&mut self, transition: u32) {
        self.trail.push(Done::after(transition, std::mem::take(&mut self.unfolded)));
    }
}

impl<'a> Assumptions<'a> {
    pub(super) fn new(pair: &'a Pair) -> Self {
        Self {
            pair,
            kind_of: pair.sub.by_transition(|edge| pair.kind(edge.act)),
            inevitable: vec![None; pair.kinds()],
            nodes: vec![],
            steps: vec![],
            promises: vec![],
            record: Record::new(pair),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Ends a way at a situation with this [key](super::record::encode). `None` if the situation
    /// was met before (rule ASM), otherwise its number and the way that starts from it.
    pub(super) fn meet(&mut self, key: &[u32], at: &Situation, way: Way) -> Option<(u32, Way)> {
        let trail = self.record.append(&way.trail);
        let (to, new) = self.record.intern(key);
        let parent = way.from.map(|from| {
            let own = (trail.0 + way.recorded, trail.1);
            self.record.close(way.fragment, own, Then::Assume(to));
            self.steps.push(Step { from, to, trail });
            self.steps.len() as u32 - 1
        });
        if !new {
            return None;
        }

        let promise = |kind| Some((kind, at.prefix.promise(self.pair, kind)?.origin));
        let start = self.promises.len();
        self.promises.extend((0..self.pair.kinds() as Kind).filter_map(promise));
        let promises = start..self.promises.len();
        self.nodes.push(Node { state: at.state, parent, promises });
        let mut trail = way.trail;
        trail.clear();
        let way = Way { from: Some(to), trail, fragment: self.record.root(), ..Way::start() };
        Some((to, way))
    }

    pub(super) fn end(&mut self, way: &Way) {
        let own = self.record.append(&way.trail[way.recorded as usize..]);
        self.record.close(way.fragment, own, Then::End(way.unfolded));
    }

    pub(super) fn branch(&mut self, way: Way, count: usize) -> Vec<Way> {
        let own = self.record.append(&way.trail[way.recorded as usize..]);
        let first = self.record.open(count);
        self.record.close(way.fragment, own, Then::Branch(first, count as u32));
        let branch = |nth: u32| {
            // Each is prolonged at once.
            let mut trail = Vec::with_capacity(way.trail.len() + 1);
            trail.extend_from_slice(&way.trail);
            Way {
                from: way.from,
                trail,
                fragment: first + nth,
                recorded: way.trail.len() as u32,
                // They come before the rules of the first.
                unfolded: if nth == 0 { way.unfolded } else { 0 },
            }
        };
        (0..count as u32).map(branch).collect()
    }

    pub(super) fn path(&self, way: &Way) -> Vec<TransitionId> {
        let mut node = way.from;
        let mut path: Vec<Done> = way.trail.iter().rev().copied().collect();
        while let Some(step) = node.and_then(|node| self.nodes[node as usize].parent) {
            let step = &self.steps[step as usize];
            path.extend(self.trail(step).iter().rev());
            node = Some(step.from);
        }
        path.into_iter().rev().map(transition).collect()
    }

    fn trail(&self, step: &Step) -> &[Done] {
        &self.record.trails[step.trail.0 as usize..step.trail.1 as usize]
    }

    /// Refuses a situation from which the subtype need never do a promised action: whatever inputs
    /// come, it can choose its outputs so that the action stays pending. Without this, an
    /// anticipation that grows in each round of such a loop would end at a limit instead.
    pub(super) fn avoided(&mut self, node: u32) -> Option<Refusal> {
        let Self { pair, nodes, promises, inevitable: known, .. } = self;
        let Node { state, promises: own, .. } = &nodes[node as usize];
        let is_avoided = |&&(kind, _): &&(Kind, u32)| {
            let known = &mut known[kind as usize];
            let ranks = || inevitable(pair, kind);
            !is_near(pair, kind, *state)
                && known.get_or_insert_with(ranks)[*state as usize] == NEVER
        };
        let &(kind, origin) = promises[own.clone()].iter().find(is_avoided)?;
        let ranks = self.inevitable[kind as usize].as_ref()?;
        // Follows such a choice to the end or around a loop.
        let onward = |at| {
            let mut edges = self.pair.sub.edges(at).iter();
            let edge = edges.find(|edge| ranks[edge.target as usize] == NEVER)?;
            Some((edge.id, edge.target))
        };
        let (walk, cycle, at) = lasso(self.nodes[node as usize].state, onward);
        let mut path = self.path(&Way { from: Some(node), ..Way::start() });
        path.extend(walk);
        Some(forgotten(origin, path, at, cycle))
    }

    /// The act check: finds a loop in which an action is pending that the loop never does. Without
    /// such a loop, the ranks are recorded: for each kind, the most successive steps while it is
    /// pending and not done.
    pub(super) fn forgotten(&mut self) -> Option<Refusal> {
        (0..self.pair.kinds() as Kind).find_map(|kind| self.forgotten_kind(kind))
    }

    fn forgotten_kind(&mut self, kind: Kind) -> Option<Refusal> {
        let origin = |node: &Node| {
            let mut promises = self.promises[node.promises.clone()].iter();
            let own = promises.find(|(own, _)| *own == kind);
            own.map(|&(_, origin)| origin)
        };
        let promised: Vec<Option<u32>> = self.nodes.iter().map(origin).collect();
        if promised.iter().all(Option::is_none) {
            return None;
        }
        // The steps between situations where the kind is pending that do not do it: is there a
        // loop?
        let is_pending = |node: u32| promised[node as usize].is_some();
        let does = |done: &Done| self.kind_of[done.transition as usize] == kind;
        let is_put_off = |step: &&Step| {
            is_pending(step.from) && is_pending(step.to) && !self.trail(step).iter().any(does)
        };
        let steps: Vec<&Step> = self.steps.iter().filter(is_put_off).collect();
        if steps.is_empty() {
            return None;
        }
        let ends = steps.iter().map(|step| (step.from as usize, step.to as usize));
        let ranks = heights(self.nodes.len(), ends);
        if let Some(first) = ranks.iter().position(Option::is_none) {
            let endless = steps.into_iter().filter(|step| ranks[step.to as usize].is_none());
            return Some(self.forgetting(first as u32, endless, &promised));
        }
        for (node, (rank, origin)) in ranks.into_iter().zip(promised).enumerate() {
            if let (Some(rank @ 1..), Some(origin)) = (rank, origin) {
                self.record.ranks.push((node as u32, origin, rank));
            }
        }
        None
    }

    /// The loop to which steps lead from a node. Each node that they reach has a step onward.
    fn forgetting<'s>(
        &'s self,
        node: u32,
        steps: impl Iterator<Item = &'s Step>,
        promised: &[Option<u32>],
    ) -> Refusal {
        let mut onward: HashMap<u32, &Step> = HashMap::new();
        for step in steps {
            let known = onward.entry(step.from).or_insert(step);
            if step.to < known.to {
                *known = step;
            }
        }
        let (_, cycle, node) = lasso(node, |at| onward.get(&at).map(|&step| (step, step.to)));
        let cycle = cycle.into_iter().flat_map(|step| self.trail(step));
        let cycle = cycle.copied().map(transition).collect();
        let origin = promised[node as usize].unwrap_or_default();
        let path = self.path(&Way { from: Some(node), ..Way::start() });
        forgotten(origin, path, self.nodes[node as usize].state, cycle)
    }
}

fn transition(done: Done) -> TransitionId {
    TransitionId::from_index(done.transition as usize)
}

fn forgotten(origin: u32, path: Vec<TransitionId>, sub: u32, cycle: Vec<TransitionId>) -> Refusal {
    let refusal = Refusal::of(Rule::Forgotten, Blame::Transition(origin), None);
    let sub_state = StateId::from_index(sub as usize);
    Refusal { path, sub_state, cycle, ..refusal }
}
