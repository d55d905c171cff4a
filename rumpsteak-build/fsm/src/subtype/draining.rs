//! The ranks of a [fair invariant](crate::certificate::invariant::fair): from which judgements a
//! subtype can choose its outputs so that nothing is pending in the end.

use crate::certificate::invariant::Step;

/// A judgement, and the judgements of its goals.
pub(super) struct Node {
    pub(super) rule: Step,
    pub(super) sends: bool,
    pub(super) is_drained: bool,
    pub(super) next: Vec<usize>,
}

pub(super) enum Stop {
    /// No rule applies, or something may be put off for ever.
    Stuck,
    /// The budget is spent.
    Spent,
}

/// By judgement, how often both must do an action until nothing is pending. Stuck if the subtype's
/// peers can prevent that. The budget counts judgements and goals.
pub(super) fn drains(nodes: &[Node], budget: usize) -> Result<Vec<u32>, Stop> {
    let ranks = nodes.iter().map(|node| node.is_drained.then_some(0));
    let mut draining = Draining { nodes, ranks: ranks.collect(), budget };
    while !draining.ranks.iter().all(Option::is_some) {
        if !draining.settle()? && !draining.leave_loops()? {
            return Err(Stop::Stuck);
        }
    }
    Ok(draining.ranks.into_iter().flatten().collect())
}

struct Draining<'a> {
    nodes: &'a [Node],
    ranks: Vec<Option<u32>>,
    budget: usize,
}

impl Draining<'_> {
    /// The judgements without a rank, the last ones first, since those that follow have greater
    /// numbers. Each pass is paid for.
    fn open(&mut self) -> Result<Vec<usize>, Stop> {
        let open = (0..self.nodes.len()).rev().filter(|&id| self.ranks[id].is_none());
        let open: Vec<usize> = open.collect();
        let cost: usize = open.iter().map(|&id| 1 + self.nodes[id].next.len()).sum();
        self.budget = self.budget.checked_sub(cost).ok_or(Stop::Spent)?;
        Ok(open)
    }

    /// Ranks judgements whose goals are ranked; true if there was one.
    fn settle(&mut self) -> Result<bool, Stop> {
        let mut grew = false;
        for id in self.open()? {
            let Node { rule, sends, next, .. } = &self.nodes[id];
            let mut next = next.iter().map(|&to| self.ranks[to]);
            self.ranks[id] = match (rule, sends) {
                (Step::Match, true) => next.flatten().min().map(|least| least + 1),
                (Step::Match, false) => next.try_fold(0, |most, rank| Some(most.max(rank? + 1))),
                _ => next.try_fold(0, |most, rank| Some(most.max(rank?))),
            };
            grew |= self.ranks[id].is_some();
        }
        Ok(grew)
    }

    /// Ranks judgements on loops of `Take`, which end because what is pending gets shorter, and of
    /// `Ahead`, which are left, if all ways out are ranked; true if there was one.
    fn leave_loops(&mut self) -> Result<bool, Stop> {
        // `inside` leads only to loops and ranked judgements; `ends` are those that reach a ranked
        // one.
        let mut inside: Vec<bool> = self.nodes.iter().map(|by| by.rule != Step::Match).collect();
        loop {
            let mut ends = vec![false; self.nodes.len()];
            let mut changed = true;
            while std::mem::take(&mut changed) {
                for id in self.open()? {
                    let mut next = self.nodes[id].next.iter();
                    let is_met = |&to: &usize| self.ranks[to].is_some() || ends[to];
                    let ending = next.clone().any(is_met);
                    let known = |&to: &usize| self.ranks[to].is_some() || inside[to];
                    let stays = inside[id] && next.all(known);
                    changed |= stays != inside[id] || (stays && ending) != ends[id];
                    (inside[id], ends[id]) = (stays, stays && ending);
                }
            }
            let open = self.open()?;
            if open.iter().all(|&id| inside[id] == ends[id]) {
                let members: Vec<usize> = open.into_iter().filter(|&id| inside[id]).collect();
                let next = members.iter().flat_map(|&id| &self.nodes[id].next);
                let most = next.filter_map(|&to| self.ranks[to]).max();
                members.iter().for_each(|&id| self.ranks[id] = most);
                return Ok(!members.is_empty());
            }
            inside = ends;
        }
    }
}
