//! The subset construction (CAV'23, §4): a local state is the set of all global states that a role
//! must take for possible.
//!
//! Contraction removes states with one ε-move beforehand: they are possible exactly when their
//! successor is, and can do exactly what it can.

use hashbrown::HashMap;
use indexmap::IndexMap;

use crate::{
    global::automaton::{Edge, Global, Letter},
    index::{NONE, index},
    limits::Limits,
};

/// An edge of the global automaton: its source, and its position among the edges of the source.
pub(super) type EdgeAt = (u32, u32);

/// A transition of a local state, before states are merged.
#[derive(Clone, Copy)]
pub(super) struct LocalEdge {
    pub(super) letter: u32,
    pub(super) target: u32,
    /// The global edges that it stands for: `written[written.0..written.1]`.
    written: (u32, u32),
}

/// The global edges of one letter that leave a local state.
pub(super) struct Group {
    pub(super) letter: u32,
    pub(super) edges: Vec<EdgeAt>,
}

struct LocalState {
    /// The global states after the visible action, before ε: `cores[core.0..core.1]`.
    core: (u32, u32),
    /// The state and letter from which this one was reached first; [`NONE`] twice for the initial
    /// one.
    parent: (u32, u32),
    /// Its transitions: `edges[edges.0..edges.1]`.
    edges: (u32, u32),
}

/// The name of the limit that was met, and its value.
pub(super) struct TooLarge {
    pub(super) limit: &'static str,
    pub(super) value: usize,
}

pub(super) struct Subsets<'g> {
    pub(super) global: &'g Global,
    pub(super) role: u32,
    limits: &'g Limits,
    /// The global state that stands for each one: the next that is not left by a single ε.
    representative: Vec<u32>,
    states: Vec<LocalState>,
    // What the states are made of, in tables that all of them share: most have one of each.
    cores: Vec<u32>,
    edges: Vec<LocalEdge>,
    written: Vec<EdgeAt>,
    /// The local state of each single global state, and those of several.
    single: Vec<u32>,
    several: HashMap<Box<[u32]>, u32>,
    /// How many steps are left.
    steps: usize,

    /// All global states of the local state that was [closed](Self::close) last.
    members: Vec<u32>,
    /// The position of a global state in `members`, if `seen` is the current epoch.
    slots: Vec<u32>,
    seen: Vec<u32>,
    epoch: u32,
}

impl<'g> Subsets<'g> {
    /// With the initial state.
    pub(super) fn new(global: &'g Global, role: u32, limits: &'g Limits) -> Result<Self, TooLarge> {
        let mut subsets = Self {
            global,
            role,
            limits,
            representative: contract(global, role),
            states: Vec::new(),
            cores: Vec::new(),
            edges: Vec::new(),
            written: Vec::new(),
            single: vec![NONE; global.len()],
            several: HashMap::new(),
            steps: limits.projection_steps,
            members: Vec::new(),
            slots: vec![0; global.len()],
            seen: vec![0; global.len()],
            epoch: 0,
        };
        subsets.state(&[0], (NONE, NONE))?;
        Ok(subsets)
    }

    /// The number of states that were found so far.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn letter(&self, letter: u32) -> Letter {
        self.global.letters[letter as usize]
    }

    /// Whether the role takes part.
    pub(super) fn sees(&self, letter: u32) -> bool {
        let Letter { from, to, .. } = self.letter(letter);
        from == self.role || to == self.role
    }

    pub(super) fn sends(&self, letter: u32) -> bool {
        self.letter(letter).from == self.role
    }

    pub(super) fn edge(&self, (source, at): EdgeAt) -> &'g Edge {
        &self.global.edges(source)[at as usize]
    }

    /// The transitions of a state.
    pub(super) fn edges(&self, state: u32) -> &[LocalEdge] {
        let (start, end) = self.states[state as usize].edges;
        &self.edges[start as usize..end as usize]
    }

    /// The global edges that a transition stands for.
    pub(super) fn written(&self, edge: &LocalEdge) -> &[EdgeAt] {
        &self.written[edge.written.0 as usize..edge.written.1 as usize]
    }

    /// The letters on the way by which a state was reached first.
    pub(super) fn word(&self, state: u32) -> Vec<u32> {
        let parent = |state: u32| Some(self.states[state as usize].parent);
        let has_parent = |&(parent, _): &(u32, u32)| parent != NONE;
        let steps = std::iter::successors(parent(state).filter(has_parent), |step| {
            parent(step.0).filter(has_parent)
        });
        let mut word: Vec<u32> = steps.map(|(_, letter)| letter).collect();
        word.reverse();
        word
    }

    /// All global states of the local state that was [closed](Self::close) last.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    /// The position of one of the members.
    pub(super) fn slot(&self, member: u32) -> u32 {
        self.slots[member as usize]
    }

    /// The positions of the members to which a member has an ε-edge.
    pub(super) fn silent(&self, member: u32) -> impl Iterator<Item = u32> {
        let edges = self
            .global
            .edges(member)
            .iter()
            .filter(|edge| !self.sees(edge.letter));
        edges.map(|edge| self.slot(self.representative[edge.target as usize]))
    }

    /// Takes so many steps.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        let value = self.limits.projection_steps;
        let left = self.steps.checked_sub(steps);
        self.steps = left.ok_or(TooLarge {
            limit: "projection_steps",
            value,
        })?;
        Ok(())
    }

    /// The only edge of a local state that stands for one global state with one edge, which the role
    /// sees. Every check holds there, and most states are like this.
    pub(super) fn only_edge(&self, state: u32) -> Option<Group> {
        let (start, end) = self.states[state as usize].core;
        let source = self.cores[start as usize];
        match self.global.edges(source) {
            // An edge out of sight has been contracted, or is a cycle out of sight.
            [edge] if end - start == 1 && self.sees(edge.letter) => Some(Group {
                letter: edge.letter,
                edges: vec![(source, 0)],
            }),
            _ => None,
        }
    }

    /// Finds all global states of a local state, first visit first, and gives their visible edges by
    /// letter, first seen first.
    pub(super) fn close(&mut self, state: u32) -> Result<Vec<Group>, TooLarge> {
        self.epoch += 1;
        self.members.clear();
        let (start, end) = self.states[state as usize].core;
        let core = &self.cores[start as usize..end as usize];
        let mut stack: Vec<u32> = core.iter().rev().copied().collect();
        while let Some(found) = stack.pop() {
            if std::mem::replace(&mut self.seen[found as usize], self.epoch) == self.epoch {
                continue;
            }
            self.slots[found as usize] = index(self.members.len());
            self.members.push(found);
            for edge in self.global.edges(found).iter().rev() {
                if !self.sees(edge.letter) {
                    stack.push(self.representative[edge.target as usize]);
                }
            }
        }
        self.spend(self.members.len())?;

        let mut groups: IndexMap<u32, Vec<EdgeAt>> = IndexMap::new();
        for &member in &self.members {
            for (at, edge) in (0..).zip(self.global.edges(member)) {
                if self.sees(edge.letter) {
                    groups.entry(edge.letter).or_default().push((member, at));
                }
            }
        }
        self.spend(groups.values().map(Vec::len).sum())?;
        Ok(groups
            .into_iter()
            .map(|(letter, edges)| Group { letter, edges })
            .collect())
    }

    /// Adds the transitions of a state, one for each group, and the states to which they lead.
    pub(super) fn expand(&mut self, state: u32, groups: &[Group]) -> Result<(), TooLarge> {
        let first = index(self.edges.len());
        for Group { letter, edges } in groups {
            let targets: Vec<u32> = edges.iter().map(|&edge| self.edge(edge).target).collect();
            let target = self.state(&targets, (state, *letter))?;
            let start = index(self.written.len());
            self.written.extend(edges);
            let written = (start, index(self.written.len()));
            self.edges.push(LocalEdge {
                letter: *letter,
                target,
                written,
            });
        }
        self.states[state as usize].edges = (first, index(self.edges.len()));
        Ok(())
    }

    /// The local state that stands for some global states.
    fn state(&mut self, targets: &[u32], parent: (u32, u32)) -> Result<u32, TooLarge> {
        let representatives = targets
            .iter()
            .map(|&target| self.representative[target as usize]);
        let mut core: Vec<u32> = representatives.collect();
        core.sort_unstable();
        core.dedup();
        let known = match *core {
            [one] => self.single[one as usize],
            _ => self.several.get(&*core).copied().unwrap_or(NONE),
        };
        if known != NONE {
            return Ok(known);
        }
        if self.states.len() >= self.limits.local_states {
            let value = self.limits.local_states;
            return Err(TooLarge {
                limit: "local_states",
                value,
            });
        }
        self.spend(core.len())?;
        let id = index(self.states.len());
        let start = index(self.cores.len());
        self.cores.extend(&core);
        match *core {
            [one] => self.single[one as usize] = id,
            _ => drop(self.several.insert(core.into(), id)),
        }
        let core = (start, index(self.cores.len()));
        self.states.push(LocalState {
            core,
            parent,
            edges: (0, 0),
        });
        Ok(id)
    }
}

/// For each state the next one that is not left by a single ε: long stretches without the role become
/// one state. A state on a cycle of single ε stands for itself and for all that lead to it.
fn contract(global: &Global, role: u32) -> Vec<u32> {
    let silent_target = |state: u32| match global.edges(state) {
        [edge] => {
            let Letter { from, to, .. } = global.letter(edge);
            (from != role && to != role).then_some(edge.target)
        }
        _ => None,
    };
    let mut representative = vec![NONE; global.len()];
    let mut path = Vec::new();
    // Backwards: most edges lead to a state with a greater number, which is known by then.
    for start in (0..index(global.len())).rev() {
        let mut at = start;
        let end = loop {
            let known = &mut representative[at as usize];
            if *known != NONE {
                break *known;
            }
            // Until the end of the path is known, a state stands for itself: a cycle ends here.
            *known = at;
            match silent_target(at) {
                Some(target) => path.push(std::mem::replace(&mut at, target)),
                None => break at,
            }
        };
        for at in path.drain(..) {
            representative[at as usize] = end;
        }
    }
    representative
}
