//! Certificates, written down only when somebody asks for one.
//!
//! The search ([`engine`](super::engine)) keeps what makes it fast: ids, shared prefixes, whole looks ahead in one step. A certificate has small
//! steps that are easy to check. So it is derived afterwards, by going once more over the situations that were found, now with the
//! same choices (the ranks and the slack of the search that succeeded) spelled out as rules. This costs about as much as the search did,
//! and costs the search nothing.
//!
//! Nothing here is trusted: [`certificate::check`](crate::certificate::check) is what counts.

use super::{
    ahead::{Ahead, NEVER},
    pair::{Act, Edge, Kind, Pair, State},
    pending::{Item, Spine},
};
use crate::{
    certificate::derivation::{self, Derivation, Rule, Situation},
    hashed::HashedMap,
    machine::{StateId, TransitionId},
};

/// A [`derivation::Tree`] under construction.
#[derive(Clone)]
struct Tree {
    spine: Spine,
    tail: Tail,
}

#[derive(Clone)]
enum Tail {
    /// A state, and how many alternatives that lead no nearer may still be passed over from here in this look ahead.
    State(u32, usize),
    Choice(Vec<(Item, Tree)>),
}

#[derive(Clone)]
struct Goal {
    /// An output that is to be found in the tree.
    own: Option<Act>,
    state: u32,
    tree: Tree,
    /// The kinds that were done since the situation, as a set of bits.
    done: Vec<u64>,
    moved: bool,
}

/// What it takes until an output can be taken from a tree.
enum Need {
    Nothing,
    /// To unfold the state at a path as often as this, without branching.
    Unfold(Vec<u32>, usize),
    /// To unfold a state that branches.
    Branch(Vec<u32>),
    /// To give up an alternative.
    Drop(Vec<u32>),
    /// It cannot be taken.
    Lost,
}

/// An assumption: from one situation to another, having done some kinds.
struct Assumed {
    from: u32,
    to: u32,
    done: Vec<u64>,
}

struct Builder<'a> {
    pair: &'a Pair,
    ahead: Ahead<'a>,
    slack: usize,
    ids: HashedMap<Box<[u32]>, u32>,
    situations: Vec<Situation>,
    starts: Vec<(u32, Tree)>,
    assumed: Vec<Assumed>,
}

/// The certificate for a pair of which a search with `slack` found that it holds; `None` if it does not.
pub(super) fn certificate(pair: &Pair, slack: usize) -> Option<Derivation> {
    let mut builder = Builder {
        pair,
        ahead: Ahead::new(pair, slack, usize::MAX),
        slack,
        ids: HashedMap::new(),
        situations: vec![],
        starts: vec![],
        assumed: vec![],
    };
    let tree = Tree {
        spine: Spine::default(),
        tail: Tail::State(pair.sup.initial, slack),
    };
    builder.meet(pair.sub.initial, &tree);
    let mut next = 0;
    while next < builder.starts.len() {
        builder.derive(next)?;
        next += 1;
    }
    builder.rank()?;
    Some(Derivation {
        situations: builder.situations,
    })
}

impl Builder<'_> {
    /// The number of a situation, which may be new.
    fn meet(&mut self, state: u32, tree: &Tree) -> u32 {
        let mut key = vec![state];
        tree.encode(&mut key);
        if let Some(&id) = self.ids.get(key.as_slice()) {
            return id;
        }
        let id = self.situations.len() as u32;
        self.ids.insert(key.into(), id);
        self.situations.push(Situation {
            state: StateId::from_index(state as usize),
            tree: tree.written(),
            rules: vec![],
            ranks: vec![],
        });
        self.starts.push((state, tree.clone()));
        id
    }

    fn derive(&mut self, index: usize) -> Option<()> {
        let pair = self.pair;
        let (state, tree) = self.starts.get(index)?.clone();
        let mut rules = vec![];
        let mut goals = vec![Goal {
            own: None,
            state,
            tree,
            done: vec![0; pair.kinds().div_ceil(64)],
            moved: false,
        }];
        while let Some(mut goal) = goals.pop() {
            if let Some(act) = goal.own {
                self.output(act, goal, &mut rules, &mut goals)?;
                continue;
            }
            if goal.moved && pair.sub.is_anchor(goal.state) {
                let to = self.meet(goal.state, &goal.tree);
                rules.push(Rule::Assume(to));
                self.assumed.push(Assumed {
                    from: index as u32,
                    to,
                    done: goal.done,
                });
                continue;
            }
            match pair.sub.state(goal.state) {
                State::End => rules.push(Rule::End),
                State::Send(_) => {
                    rules.push(Rule::Choose);
                    let edges = pair.sub.edges(goal.state);
                    for (index, edge) in edges.iter().enumerate().rev() {
                        // The last one in this order needs no copy.
                        let mut next = match index {
                            0 => std::mem::replace(&mut goal, Goal::spare()),
                            _ => goal.clone(),
                        };
                        next.own = Some(edge.act);
                        next.state = edge.target;
                        goals.push(next);
                    }
                }
                State::Receive(kind) => match goal.tree.spine.take(kind) {
                    Some(item) => {
                        goal.state = pair.sub.edge(goal.state, item.act)?.target;
                        goal.does(kind);
                        rules.push(Rule::Take);
                        goals.push(goal);
                    }
                    None => self.unfold(vec![], goal, &mut rules, &mut goals)?,
                },
            }
        }
        self.situations.get_mut(index)?.rules = rules;
        Some(())
    }

    /// The next rules for a goal that looks for an output.
    fn output(
        &mut self,
        act: Act,
        mut goal: Goal,
        rules: &mut Vec<Rule>,
        goals: &mut Vec<Goal>,
    ) -> Option<()> {
        let pair = self.pair;
        match self.need(&goal.tree, act, goal.state, &mut vec![]) {
            Need::Lost => return None,
            Need::Nothing => {
                goal.tree.take(pair, act)?;
                goal.tree.reset(self.slack);
                goal.own = None;
                goal.does(pair.kind(act));
                rules.push(Rule::Take);
                goals.push(goal);
            }
            Need::Drop(path) => {
                goal.tree.drop(pair, &path)?;
                rules.push(Rule::Drop(path));
                goals.push(goal);
            }
            Need::Unfold(path, times) => {
                let branch = goal.tree.at(&path)?;
                for _ in 0..times {
                    let Tail::State(state, slack) = branch.tail else {
                        return None;
                    };
                    let [edge] = pair.sup.edges(state) else {
                        return None;
                    };
                    branch.spine.push(pair.kind(edge.act), item(edge));
                    branch.tail = Tail::State(edge.target, slack);
                    rules.push(Rule::Unfold(path.clone()));
                }
                goals.push(goal);
            }
            Need::Branch(path) => {
                let Tail::State(state, slack) = goal.tree.at(&path)?.tail else {
                    return None;
                };
                match pair.sup.state(state) {
                    State::End => return None,
                    State::Receive(_) => self.unfold(path, goal, rules, goals)?,
                    // The choice that the output is itself.
                    State::Send(kind) if kind == pair.kind(act) => {
                        self.unfold(path, goal, rules, goals)?;
                    }
                    State::Send(_) => {
                        let set = self.ahead.set(goal.state);
                        let ranks = self.ahead.ranks(act, set);
                        rules.push(Rule::Unfold(path.clone()));
                        let edges = pair.sup.edges(state);
                        let mut kept = vec![];
                        let mut dropped = vec![];
                        for (index, edge) in edges.iter().enumerate() {
                            let rank = ranks[edge.target as usize];
                            let nearer = rank < ranks[state as usize];
                            if rank == NEVER
                                || !self.ahead.allows(set, edge.act)
                                || !nearer && slack == 0
                            {
                                dropped.push(index as u32);
                                continue;
                            }
                            let tail = Tail::State(edge.target, slack - usize::from(!nearer));
                            kept.push((
                                item(edge),
                                Tree {
                                    spine: Spine::default(),
                                    tail,
                                },
                            ));
                        }
                        // Backwards, so that the numbers of the others stay.
                        for index in dropped.into_iter().rev() {
                            let at = path.iter().copied().chain([index]).collect();
                            rules.push(Rule::Drop(at));
                        }
                        goal.tree.at(&path)?.choose(pair, kept)?;
                        goals.push(goal);
                    }
                }
            }
        }
        Some(())
    }

    fn unfold(
        &self,
        path: Vec<u32>,
        mut goal: Goal,
        rules: &mut Vec<Rule>,
        goals: &mut Vec<Goal>,
    ) -> Option<()> {
        let Tail::State(state, slack) = goal.tree.at(&path)?.tail else {
            return None;
        };
        let edges = self.pair.sup.edges(state);
        if let (State::Send(_), [_, _, ..]) = (self.pair.sup.state(state), edges) {
            let leaf = |edge: &Edge| {
                let (spine, tail) = (Spine::default(), Tail::State(edge.target, slack));
                (item(edge), Tree { spine, tail })
            };
            goal.tree.at(&path)?.tail = Tail::Choice(edges.iter().map(leaf).collect());
            goals.push(goal);
        } else {
            for (index, edge) in edges.iter().enumerate().rev() {
                // The last one in this order needs no copy.
                let mut next = match index {
                    0 => std::mem::replace(&mut goal, Goal::spare()),
                    _ => goal.clone(),
                };
                let branch = next.tree.at(&path)?;
                branch.spine.push(self.pair.kind(edge.act), item(edge));
                branch.tail = Tail::State(edge.target, slack);
                goals.push(next);
            }
            // A state where nothing is done cannot be unfolded.
            edges.first()?;
        }
        rules.push(Rule::Unfold(path));
        Some(())
    }

    fn need(&mut self, tree: &Tree, act: Act, then: u32, path: &mut Vec<u32>) -> Need {
        let pair = self.pair;
        let kind = pair.kind(act);
        if let Some(item) = tree.spine.first(kind) {
            return match item.act == act {
                true => Need::Nothing,
                false => Need::Lost,
            };
        }
        match &tree.tail {
            Tail::Choice(branches) => {
                if branches
                    .first()
                    .is_some_and(|(item, _)| pair.kind(item.act) == kind)
                {
                    return match branches.iter().any(|(item, _)| item.act == act) {
                        true => Need::Nothing,
                        false => Need::Lost,
                    };
                }
                for (index, (_, branch)) in branches.iter().enumerate() {
                    path.push(index as u32);
                    match self.need(branch, act, then, path) {
                        Need::Nothing => {}
                        Need::Lost => return Need::Drop(path.clone()),
                        need => return need,
                    }
                    path.pop();
                }
                Need::Nothing
            }
            &Tail::State(mut state, _) => {
                let mut times = 0;
                loop {
                    let edges = pair.sup.edges(state);
                    if pair.sup.state(state) == State::Send(kind) {
                        return match (pair.sup.edge(state, act), edges) {
                            (None, _) => Need::Lost,
                            (Some(_), [_]) => Need::Unfold(path.clone(), times + 1),
                            (Some(_), _) if times > 0 => Need::Unfold(path.clone(), times),
                            (Some(_), _) => Need::Branch(path.clone()),
                        };
                    }
                    let [edge] = edges else { break };
                    // A chain longer than there are states is a loop.
                    if times > pair.sup.len() {
                        return Need::Lost;
                    }
                    times += 1;
                    state = edge.target;
                }
                let set = self.ahead.set(then);
                let ranks = self.ahead.ranks(act, set);
                match (ranks[state as usize], times) {
                    (NEVER, _) => Need::Lost,
                    (_, 0) => Need::Branch(path.clone()),
                    (_, times) => Need::Unfold(path.clone(), times),
                }
            }
        }
    }

    /// For each kind, the ranks: how many assumptions may follow each other at most while the kind is pending and not done.
    fn rank(&mut self) -> Option<()> {
        let pair = self.pair;
        for kind in 0..pair.kinds() as Kind {
            let promises: Vec<Option<Item>> = self
                .starts
                .iter()
                .map(|(_, tree)| tree.promise(pair, kind))
                .collect();
            let mut onward = vec![0_usize; promises.len()];
            let mut incoming: Vec<Vec<u32>> = vec![vec![]; promises.len()];
            let mut any = false;
            for &Assumed { from, to, ref done } in &self.assumed {
                if promises[from as usize].is_some() && !has(done, kind) {
                    onward[from as usize] += 1;
                    incoming[to as usize].push(from);
                    any = true;
                }
            }
            if !any {
                continue;
            }
            let mut ranks = vec![0_u32; promises.len()];
            let mut open: Vec<usize> = (0..onward.len()).filter(|&at| onward[at] == 0).collect();
            let mut ranked = open.len();
            while let Some(to) = open.pop() {
                for &from in &incoming[to] {
                    let from = from as usize;
                    ranks[from] = ranks[from].max(ranks[to] + 1);
                    onward[from] -= 1;
                    if onward[from] == 0 {
                        ranked += 1;
                        open.push(from);
                    }
                }
            }
            if ranked < promises.len() {
                return None;
            }
            for (situation, (rank, promise)) in self
                .situations
                .iter_mut()
                .zip(ranks.into_iter().zip(promises))
            {
                if let (1.., Some(item)) = (rank, promise) {
                    situation.ranks.push((item.written(), rank));
                }
            }
        }
        Some(())
    }
}

fn item(edge: &Edge) -> Item {
    Item {
        act: edge.act,
        origin: edge.id.index() as u32,
    }
}

fn has(set: &[u64], kind: Kind) -> bool {
    set.get(kind as usize / 64)
        .is_some_and(|word| word >> (kind % 64) & 1 == 1)
}

impl Item {
    fn written(self) -> TransitionId {
        TransitionId::from_index(self.origin as usize)
    }
}

impl Goal {
    /// What is left of a goal that was moved away.
    fn spare() -> Self {
        Self {
            own: None,
            state: 0,
            tree: Tree {
                spine: Spine::default(),
                tail: Tail::State(0, 0),
            },
            done: vec![],
            moved: false,
        }
    }

    fn does(&mut self, kind: Kind) {
        if let Some(word) = self.done.get_mut(kind as usize / 64) {
            *word |= 1 << (kind % 64);
        }
        self.moved = true;
    }
}

/// The depth of all recursion here is that of open choices, which the search bounds ([`Ahead`]).
impl Tree {
    /// An action of a kind that is pending: on the spine, or in the choice behind it.
    fn promise(&self, pair: &Pair, kind: Kind) -> Option<Item> {
        let first = match &self.tail {
            Tail::Choice(branches) => branches.first().map(|&(item, _)| item),
            Tail::State(..) => None,
        };
        let decides = |item: &Item| pair.kind(item.act) == kind;
        self.spine.first(kind).or(first.filter(decides))
    }

    fn at(&mut self, path: &[u32]) -> Option<&mut Self> {
        path.iter()
            .try_fold(self, |tree, &index| match &mut tree.tail {
                Tail::Choice(branches) => {
                    branches.get_mut(index as usize).map(|(_, branch)| branch)
                }
                Tail::State(..) => None,
            })
    }

    fn take(&mut self, pair: &Pair, act: Act) -> Option<()> {
        if self.spine.take(pair.kind(act)).is_some() {
            return Some(());
        }
        let Tail::Choice(branches) = &mut self.tail else {
            return None;
        };
        if pair.kind(branches.first()?.0.act) != pair.kind(act) {
            return branches
                .iter_mut()
                .try_for_each(|(_, branch)| branch.take(pair, act));
        }
        let made = branches.iter().position(|(item, _)| item.act == act)?;
        let (_, rest) = branches.remove(made);
        self.prolong(pair, rest);
        Some(())
    }

    /// Goes on as `rest` does.
    fn prolong(&mut self, pair: &Pair, rest: Self) {
        for item in rest.spine.items() {
            self.spine.push(pair.kind(item.act), item);
        }
        self.tail = rest.tail;
    }

    fn drop(&mut self, pair: &Pair, path: &[u32]) -> Option<()> {
        let (&last, path) = path.split_last()?;
        let parent = self.at(path)?;
        let Tail::Choice(branches) = &mut parent.tail else {
            return None;
        };
        // The last alternative is never lost, for then the search would have failed.
        if branches.len() < 2 || last as usize >= branches.len() {
            return None;
        }
        branches.remove(last as usize);
        let branches = std::mem::take(branches);
        parent.choose(pair, branches)
    }

    /// Ends in a choice; a choice of one is none.
    fn choose(&mut self, pair: &Pair, mut branches: Vec<(Item, Self)>) -> Option<()> {
        if branches.len() > 1 {
            self.tail = Tail::Choice(branches);
            return Some(());
        }
        let (item, rest) = branches.pop()?;
        self.spine.push(pair.kind(item.act), item);
        self.prolong(pair, rest);
        Some(())
    }

    /// Each look ahead has the whole slack.
    fn reset(&mut self, slack: usize) {
        match &mut self.tail {
            Tail::State(_, left) => *left = slack,
            Tail::Choice(branches) => {
                for (_, branch) in branches {
                    branch.reset(slack);
                }
            }
        }
    }

    /// Equal for equal claims: actions count, transitions do not.
    fn encode(&self, key: &mut Vec<u32>) {
        self.spine.encode(key);
        match &self.tail {
            Tail::State(state, _) => key.extend([0, *state]),
            Tail::Choice(branches) => {
                key.push(branches.len() as u32);
                for (item, branch) in branches {
                    key.push(item.act);
                    branch.encode(key);
                }
            }
        }
    }

    fn written(&self) -> derivation::Tree {
        derivation::Tree {
            spine: self.spine.items().map(Item::written).collect(),
            tail: match &self.tail {
                Tail::State(state, _) => {
                    derivation::Tail::State(StateId::from_index(*state as usize))
                }
                Tail::Choice(branches) => derivation::Tail::Choice(
                    branches
                        .iter()
                        .map(|(item, branch)| (item.written(), branch.written()))
                        .collect(),
                ),
            },
        }
    }
}
