//! The search: every situation in which a subtype and what is pending of its supertype can be.
//!
//! PPoPP'22, Fig. 5, rule by rule. Its judgement is ρ; Σ ⊢ₖ ⟨π, T, n⟩ ≤ ⟨π′, T′, n′⟩. Here π is empty between steps, π′ and T′ are a
//! [`Pending`], ρ is the path from the first situation, and Σ is the table of situations.
//!
//! | rule | where | what is different, and why that is sound |
//! |---|---|---|
//! | INIT | [`Search::new`] | There are no bounds n and k. [`Limits`] end a search with "undecided", which claims nothing. |
//! | END | [`State::End`] in `successors` | Nothing. |
//! | ASM | `arrive` finds T, π′ and T′ again; `forgotten` is the check act(ρ′) ⊇ act(π′) | Fig. 5 checks each return by itself. Here all returns are known first, and each loop of them is checked, kind by kind: an action of the kind must be done on it if one is pending all along it. A single return is such a loop, so this asks at least as much. |
//! | | `never` | Not in Fig. 5. It only refuses, and only where the subtype can choose to leave out for ever what is pending. |
//! | SUB with \[)I], \[)O], \[)A], \[)B] | `take` of the spine in `direct` and `successors` | The action of the subtype that a rule below would push on π is reduced at once, at any depth of π′ that A(p) or B(p) allows. Fig. 5 may do the same: π is in order, and \[)A] and \[)B] leave the rest of π′ as it is. |
//! | OI, OO | [`State::Send`] in `successors`; [`Ahead::take`] | ∀i is a situation each, and so is ∀j (inputs of the supertype on the way). For ∃j no j is guessed: the outputs on the way stay an open choice that the subtype's own later output decides. Every way to decide it is one choice of j, made later; W′ may depend on all of U. |
//! | II | [`State::Receive`] in `successors`; `inputs` | ∀j is a situation each. For ∃i the label is that of the supertype's next p?, which is known by then. |
//! | IO | [`State::Receive`] in `successors` | It is refused at once: a p? at the front of π is never reduced over the q! that IO puts into π′. |
//! | µL, µR | the edges of the machines | A machine is its type up to unfolding. |
//! | TRA | nowhere | Fewer rules prove less. |
//!
//! The argument for all of it together is in [`subtype`](super).
//!
//! # What a dropped alternative may be to blame for
//!
//! Where a look ahead gives up alternatives of an output choice ([`Ahead::lossy`]), a "yes" needs no more care: it found a W′. A "no" may be the fault of
//! the dropping, but only while the choice is *open*, and only if it is about an output. Let q! be the kind of the choice. Messages to one
//! peer stay in order, so W′ has no freedom there: its label must be that of the subtype's q! with the same number. So once the subtype does that q!, either it does a dropped
//! label, which fails there and then as a mismatch (`lossy`), or nothing that it could use was dropped, and what is pending is what would be pending without any dropping. As long
//! as the choice is open, a q! is pending in every alternative, in front of all that the alternatives promise. So a "no" is final, whatever was dropped,
//!
//! * at the end of the subtype: something is pending, of an open choice at least the q!;
//! * at an input: only what is in front of all pending outputs can be received, and no alternative has a part in that;
//! * in a loop that forgets: either the q! of an open choice is never done on it, and is pending in every alternative, or all choices are made on the way, as W′ must make them;
//! * where no output is pending: no choice is open.
//!
//! What is left is an output that is not found or is another than the promised one, and what the subtype may avoid ([`Search::never`]): there another alternative may
//! help, and the search is repeated with more slack.

use std::collections::VecDeque;

use super::{
    Rule,
    ahead::{Ahead, Place, Stop, Why, may_avoid, mismatch},
    pair::{Edge, Kind, Pair, State},
    pending::{Item, Pending, Segment, Tail},
};
use crate::{
    hashed::HashedMap,
    machine::TransitionId,
    verdict::{Limit, Limits},
};

/// How a search ends.
pub(super) enum Outcome {
    Holds {
        situations: usize,
        anticipation: usize,
    },
    /// There is no derivation.
    Fails(Failure),
    /// There is none among those that were tried; a dropped alternative may be to blame.
    Lossy,
    Limited(Limit),
}

/// Where there is no derivation.
pub(super) struct Failure {
    pub(super) rule: Rule,
    /// What the subtype did until then.
    pub(super) path: Vec<TransitionId>,
    pub(super) sub_state: u32,
    /// What it does then, if that is the trouble.
    pub(super) sub: Option<TransitionId>,
    pub(super) sup: Place,
    /// The loop in which an action is forgotten.
    pub(super) cycle: Vec<TransitionId>,
}

/// An edge of the derivation: from and to, and what the subtype did in between, as a range of `Search::trails`.
struct Step {
    from: u32,
    to: u32,
    trail: (u32, u32),
}

struct Node {
    state: u32,
    /// The step by which it was met first.
    parent: Option<u32>,
    /// What is promised, as a range of `Search::promises`.
    promises: (u32, u32),
    lossy: bool,
}

/// A situation between two nodes.
struct Task {
    /// The last node before it.
    from: Option<u32>,
    /// What the subtype did since.
    trail: Vec<u32>,
    state: u32,
    pending: Pending,
    /// Whether a choice may be open of which an alternative was dropped that might have been right.
    lossy: bool,
}

pub(super) struct Search<'a> {
    pair: &'a Pair,
    limits: &'a Limits,
    ahead: Ahead<'a>,
    /// The kind of each transition of the subtype.
    kind_of: Vec<Kind>,
    /// By kind, in which states the subtype may never do it any more.
    avoids: Vec<Option<Vec<bool>>>,
    ids: HashedMap<Box<[u32]>, u32>,
    nodes: Vec<Node>,
    steps: Vec<Step>,
    trails: Vec<u32>,
    /// For each node and each kind that is pending there, the first promise.
    promises: Vec<(Kind, u32)>,
    tasks: VecDeque<Task>,
    longest: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(pair: &'a Pair, limits: &'a Limits, slack: usize) -> Self {
        let first = Task {
            from: None,
            trail: vec![],
            state: pair.sub.initial,
            pending: Pending::new(pair.sup.initial),
            lossy: false,
        };
        Self {
            pair,
            limits,
            ahead: Ahead::new(pair, slack, limits.steps),
            kind_of: pair.sub.kinds(),
            avoids: vec![None; pair.kinds()],
            ids: HashedMap::new(),
            nodes: vec![],
            steps: vec![],
            trails: vec![],
            promises: vec![],
            tasks: VecDeque::from([first]),
            longest: 0,
        }
    }

    pub(super) fn run(mut self) -> Outcome {
        let mut lossy = false;
        let mut limit = None;
        while let Some(task) = self.tasks.pop_front() {
            match self.follow(task) {
                Ok(()) => {}
                Err(Halt::Limited(reached)) => {
                    limit.get_or_insert(reached);
                    if matches!(reached, Limit::Steps(_)) {
                        break;
                    }
                }
                Err(Halt::Failed(true, _)) => lossy = true,
                Err(Halt::Failed(false, failure)) => return Outcome::Fails(failure),
            }
        }
        // The graph may be incomplete, but its loops are loops.
        if let Some(failure) = self.forgotten() {
            return Outcome::Fails(failure);
        }
        match (limit, lossy) {
            (Some(limit), _) => Outcome::Limited(limit),
            (None, true) => Outcome::Lossy,
            (None, false) => Outcome::Holds {
                situations: self.nodes.len(),
                anticipation: self.longest,
            },
        }
    }

    /// Goes on from a situation to the next node or branching.
    fn follow(&mut self, mut task: Task) -> Result<(), Halt> {
        loop {
            // Situations are compared where several transitions meet. What lies between is passed without storing anything.
            if self.pair.sub.is_anchor(task.state) && self.arrive(&mut task)? {
                return Ok(());
            }
            self.spend(1)?;
            let pending = task.pending.spine.len() + task.pending.tail.size();
            if pending > self.limits.anticipation {
                return Err(Halt::Limited(Limit::Anticipation(self.limits.anticipation)));
            }
            self.longest = self.longest.max(pending);

            if self.direct(&mut task) {
                continue;
            }
            let (from, state) = (task.from, task.state);
            let mut trail = task.trail;
            let mut successors = self.successors(from, &trail, state, task.pending, task.lossy)?;
            match successors.len() {
                0 => return Ok(()),
                1 => {
                    let Successor {
                        transition,
                        state,
                        pending,
                        lossy,
                    } = successors.remove(0);
                    trail.push(transition);
                    task = Task {
                        from,
                        trail,
                        state,
                        pending,
                        lossy,
                    };
                }
                _ => {
                    for Successor {
                        transition,
                        state,
                        pending,
                        lossy,
                    } in successors
                    {
                        let mut trail = trail.clone();
                        trail.push(transition);
                        self.spend(trail.len() + pending.spine.len())?;
                        self.tasks.push_back(Task {
                            from,
                            trail,
                            state,
                            pending,
                            lossy,
                        });
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Does the next action of the subtype in place where there is nothing to choose, as there is most often. Where it returns `false`, the
    /// situation is still the same, and [`successors`](Self::successors) finds all ways on, or why there is none.
    fn direct(&self, task: &mut Task) -> bool {
        let pair = self.pair;
        let pending = &mut task.pending;
        let edges = pair.sub.edges(task.state);
        let edge = match pair.sub.state(task.state) {
            State::End => return false,
            State::Send(kind) => {
                let [edge] = edges else { return false };
                match pending.spine.first(kind) {
                    Some(item) if item.act == edge.act => {
                        pending.spine.take(kind);
                    }
                    Some(_) => return false,
                    None => {
                        pending.stretch(pair, kind, false);
                        let Tail::State(state) = pending.tail else {
                            return false;
                        };
                        if pair.sup.state(state) != State::Send(kind) {
                            return false;
                        }
                        let Some(other) = pair.sup.edge(state, edge.act) else {
                            return false;
                        };
                        pending.tail = Tail::State(other.target);
                    }
                }
                edge
            }
            State::Receive(kind) => {
                let send = pending.spine.first_send(pair).map(|(position, _)| position);
                let own = |act| edges.iter().find(|edge| edge.act == act);
                match (pending.spine.first(kind), pending.spine.position(kind)) {
                    (Some(item), Some(position)) if send.is_none_or(|send| position < send) => {
                        let Some(edge) = own(item.act) else {
                            return false;
                        };
                        pending.spine.take(kind);
                        edge
                    }
                    (None, _) if send.is_none() => {
                        pending.stretch(pair, kind, true);
                        let Tail::State(state) = pending.tail else {
                            return false;
                        };
                        let [other] = pair.sup.edges(state) else {
                            return false;
                        };
                        if pair.sup.state(state) != State::Receive(kind) {
                            return false;
                        }
                        let Some(edge) = own(other.act) else {
                            return false;
                        };
                        pending.tail = Tail::State(other.target);
                        edge
                    }
                    _ => return false,
                }
            }
        };
        task.trail.push(edge.id.index() as u32);
        task.state = edge.target;
        true
    }

    /// Pays for comparing or copying so many actions. What looking ahead costs is paid there, from the same budget.
    fn spend(&mut self, cost: usize) -> Result<(), Halt> {
        self.ahead.spend(cost).map_err(Halt::Limited)
    }

    /// Rule ASM: compares the situation with earlier ones and adds a step to it. `true` if it is not new; otherwise the task
    /// starts from the new node.
    fn arrive(&mut self, task: &mut Task) -> Result<bool, Halt> {
        // Where no output is pending, every choice is made.
        task.lossy &= task.pending.awaits_send(self.pair);
        let mut key = Vec::with_capacity(task.pending.spine.len() + 4);
        key.push(task.state << 1 | u32::from(task.lossy));
        task.pending.encode(&mut key);
        self.spend(key.len())?;

        let trail = (
            self.trails.len() as u32,
            (self.trails.len() + task.trail.len()) as u32,
        );
        self.trails.append(&mut task.trail);
        let next = self.nodes.len() as u32;
        let (to, known) = match self.ids.get(key.as_slice()) {
            Some(&id) => (id, true),
            None => (next, false),
        };
        let parent = task.from.map(|from| {
            self.steps.push(Step { from, to, trail });
            self.steps.len() as u32 - 1
        });
        if known {
            return Ok(true);
        }

        self.ids.insert(key.into(), next);
        let start = self.promises.len() as u32;
        for kind in 0..self.pair.kinds() as Kind {
            if let Some(item) = task.pending.promise(self.pair, kind) {
                self.promises.push((kind, item.origin));
            }
        }
        let promises = (start, self.promises.len() as u32);
        self.nodes.push(Node {
            state: task.state,
            parent,
            promises,
            lossy: task.lossy,
        });
        task.from = Some(next);
        self.never(next)?;
        Ok(false)
    }

    /// Refuses a situation from which the subtype may never do something that is promised.
    ///
    /// Whatever inputs come, the subtype can choose its outputs so that what is pending of some kind stays pending; then it is forgotten, or
    /// there is no derivation for another reason. Without this, an anticipation that grows in each round of a loop which
    /// forgets would end at a limit instead.
    fn never(&mut self, node: u32) -> Result<(), Halt> {
        let Node {
            state,
            promises: (start, end),
            lossy,
            ..
        } = self.nodes[node as usize];
        for index in start as usize..end as usize {
            let (kind, origin) = self.promises[index];
            let pair = self.pair;
            let avoids = self.avoids[kind as usize].get_or_insert_with(|| may_avoid(pair, kind));
            if !avoids[state as usize] {
                continue;
            }
            // Follow such a choice to the end or around a loop.
            let mut walk: Vec<TransitionId> = vec![];
            let mut met: HashedMap<u32, usize> = HashedMap::new();
            let mut at = state;
            while !met.contains_key(&at) {
                met.insert(at, walk.len());
                let edges = pair.sub.edges(at);
                let Some(edge) = edges.iter().find(|edge| avoids[edge.target as usize]) else {
                    break;
                };
                walk.push(edge.id);
                at = edge.target;
            }
            let start = match pair.sub.state(at) {
                State::End => walk.len(),
                State::Receive(_) | State::Send(_) => met[&at],
            };
            let cycle = walk.split_off(start);
            let mut path = self.path(Some(node), &[]);
            path.append(&mut walk);
            let (rule, sup) = (Rule::Forgotten, Place::Transition(origin));
            let failure = Failure {
                rule,
                path,
                sub_state: at,
                sub: None,
                sup,
                cycle,
            };
            return Err(Halt::Failed(lossy, failure));
        }
        Ok(())
    }

    /// The situations after the subtype's next action.
    fn successors(
        &mut self,
        from: Option<u32>,
        trail: &[u32],
        state: u32,
        mut pending: Pending,
        lossy: bool,
    ) -> Result<Vec<Successor>, Halt> {
        let pair = self.pair;
        let fail = |search: &Self, lossy, sub: Option<TransitionId>, why: Why| {
            let (path, cycle) = (search.path(from, trail), vec![]);
            let Why { rule, sup } = why;
            Halt::Failed(
                lossy,
                Failure {
                    rule,
                    path,
                    sub_state: state,
                    sub,
                    sup,
                    cycle,
                },
            )
        };
        let edges = pair.sub.edges(state);
        match pair.sub.state(state) {
            // Rule END.
            State::End => {
                let sup = match (pending.head(), &pending.tail) {
                    (Some(item), _) => Place::Transition(item.origin),
                    (None, &Tail::State(end)) => match pair.sup.edges(end).first() {
                        None => return Ok(vec![]),
                        Some(edge) => Place::Transition(edge.id.index() as u32),
                    },
                    // A choice has a head.
                    (None, Tail::Choice(..)) => Place::State(pair.sup.initial),
                };
                Err(fail(
                    self,
                    false,
                    None,
                    Why {
                        rule: Rule::Forgotten,
                        sup,
                    },
                ))
            }

            // Rules OI and OO: all outputs of the subtype.
            State::Send(kind) => {
                let mut successors = vec![];
                for (index, edge) in edges.iter().enumerate() {
                    let last = index + 1 == edges.len();
                    let (transition, state) = (edge.id.index() as u32, edge.target);
                    if let Some(item) = pending.spine.first(kind) {
                        if item.act != edge.act {
                            let why = mismatch(item);
                            return Err(fail(self, lossy, Some(edge.id), why));
                        }
                        let mut pending = self.copy(&mut pending, last)?;
                        // Reduction by [)O] or [)B].
                        pending.spine.take(kind);
                        successors.push(Successor {
                            transition,
                            state,
                            pending,
                            lossy,
                        });
                        continue;
                    }
                    self.ahead.lossy = false;
                    let found = self.ahead.take(&pending.tail, edge.act, edge.target);
                    let lossy = lossy || self.ahead.lossy;
                    let segments = match found {
                        Ok(segments) => segments,
                        Err(Stop::Limited(limit)) => return Err(Halt::Limited(limit)),
                        Err(Stop::Refused(why)) => {
                            return Err(fail(self, lossy, Some(edge.id), why));
                        }
                    };
                    let count = segments.len();
                    for (nth, segment) in segments.into_iter().enumerate() {
                        let mut pending = self.copy(&mut pending, last && nth + 1 == count)?;
                        self.spend(segment.items.len())?;
                        pending.extend(pair, segment);
                        successors.push(Successor {
                            transition,
                            state,
                            pending,
                            lossy,
                        });
                    }
                }
                Ok(successors)
            }

            // Rules II and IO: the inputs of the supertype, as its peers choose them.
            State::Receive(kind) => {
                let own = |act| edges.iter().find(|edge| edge.act == act);
                let blocking = pending.spine.first_send(pair);
                if let Some(position) = pending.spine.position(kind) {
                    let item = pending
                        .spine
                        .first(kind)
                        .filter(|_| blocking.is_none_or(|(send, _)| position < send));
                    let Some(item) = item else {
                        let sup =
                            Place::Transition(blocking.map_or(NEVER, |(_, item)| item.origin));
                        let sub = pending
                            .spine
                            .first(kind)
                            .and_then(|item| own(item.act))
                            .unwrap_or(&edges[0]);
                        return Err(fail(
                            self,
                            false,
                            Some(sub.id),
                            Why {
                                rule: Rule::InputBeforeOutput,
                                sup,
                            },
                        ));
                    };
                    let Some(edge) = own(item.act) else {
                        let sup = Place::Transition(item.origin);
                        return Err(fail(
                            self,
                            false,
                            None,
                            Why {
                                rule: Rule::InputNotHandled,
                                sup,
                            },
                        ));
                    };
                    // Reduction by [)I] or [)A].
                    pending.spine.take(kind);
                    let (transition, state) = (edge.id.index() as u32, edge.target);
                    return Ok(vec![Successor {
                        transition,
                        state,
                        pending,
                        lossy,
                    }]);
                }
                let blocking = blocking.map(|(_, item)| item).or(match &pending.tail {
                    Tail::Choice(branches, _) => Some(branches[0].item),
                    Tail::State(_) => None,
                });
                if let Some(item) = blocking {
                    let why = Why {
                        rule: Rule::InputBeforeOutput,
                        sup: Place::Transition(item.origin),
                    };
                    return Err(fail(self, false, Some(edges[0].id), why));
                }
                let Tail::State(start) = pending.tail else {
                    return Ok(vec![]);
                };
                let inputs = match self.inputs(start, kind)? {
                    Ok(inputs) => inputs,
                    Err(why) => return Err(fail(self, false, Some(edges[0].id), why)),
                };
                let mut successors = vec![];
                let count = inputs.len();
                for (nth, (item, segment)) in inputs.into_iter().enumerate() {
                    let Some(edge) = own(item.act) else {
                        let sup = Place::Transition(item.origin);
                        return Err(fail(
                            self,
                            false,
                            None,
                            Why {
                                rule: Rule::InputNotHandled,
                                sup,
                            },
                        ));
                    };
                    let mut pending = self.copy(&mut pending, nth + 1 == count)?;
                    self.spend(segment.items.len())?;
                    pending.extend(pair, segment);
                    let (transition, state) = (edge.id.index() as u32, edge.target);
                    successors.push(Successor {
                        transition,
                        state,
                        pending,
                        lossy,
                    });
                }
                Ok(successors)
            }
        }
    }

    /// All ways on which the supertype comes from `start` to an input of `kind` over an A(p): inputs of other kinds. Each is that input
    /// and what comes before it, with the state after it.
    fn inputs(
        &mut self,
        start: u32,
        kind: Kind,
    ) -> Result<Result<Vec<(Item, Segment)>, Why>, Halt> {
        let sup = &self.pair.sup;
        let mut found = vec![];
        let mut open: Vec<(u32, Vec<Item>)> = vec![(start, vec![])];
        while let Some((state, items)) = open.pop() {
            self.spend(1 + items.len())?;
            let refused = |rule, sup| Ok(Err(Why { rule, sup }));
            let edges = sup.edges(state);
            match sup.state(state) {
                State::End => return refused(Rule::InputNotReached, Place::State(state)),
                State::Send(_) => {
                    let sup = Place::Transition(edges[0].id.index() as u32);
                    return refused(Rule::InputBeforeOutput, sup);
                }
                State::Receive(own) => {
                    // A path longer than there are states has a loop, and peers may stay in it.
                    if items.len() > sup.len() {
                        let sup = Place::Transition(edges[0].id.index() as u32);
                        return refused(Rule::InputNotReached, sup);
                    }
                    let item = |edge: &Edge| Item {
                        act: edge.act,
                        origin: edge.id.index() as u32,
                    };
                    if own == kind {
                        for edge in edges {
                            let tail = Tail::State(edge.target);
                            found.push((
                                item(edge),
                                Segment {
                                    items: items.clone(),
                                    tail,
                                },
                            ));
                        }
                        continue;
                    }
                    // Backwards, so that the first alternative is looked at first.
                    for edge in edges.iter().rev() {
                        let mut items = items.clone();
                        items.push(item(edge));
                        open.push((edge.target, items));
                    }
                }
            }
        }
        Ok(Ok(found))
    }

    /// A copy that is paid for, or the original if it is not needed any more.
    fn copy(&mut self, pending: &mut Pending, last: bool) -> Result<Pending, Halt> {
        if last {
            let spare = Pending::new(self.pair.sup.initial);
            return Ok(std::mem::replace(pending, spare));
        }
        self.spend(1 + pending.spine.len())?;
        Ok(pending.clone())
    }

    /// What the subtype did to come to a node, and then along a trail.
    fn path(&self, mut node: Option<u32>, trail: &[u32]) -> Vec<TransitionId> {
        let mut path: Vec<u32> = trail.iter().rev().copied().collect();
        while let Some(step) = node.and_then(|node| self.nodes[node as usize].parent) {
            let step = &self.steps[step as usize];
            path.extend(self.trail(step).iter().rev());
            node = Some(step.from);
        }
        path.into_iter()
            .rev()
            .map(|id| TransitionId::from_index(id as usize))
            .collect()
    }

    fn trail(&self, step: &Step) -> &[u32] {
        &self.trails[step.trail.0 as usize..step.trail.1 as usize]
    }

    /// The act check: a loop in which something is pending that the loop never does.
    fn forgotten(&self) -> Option<Failure> {
        (0..self.pair.kinds() as Kind).find_map(|kind| self.forgotten_kind(kind))
    }

    fn forgotten_kind(&self, kind: Kind) -> Option<Failure> {
        let promise = |node: u32| {
            let (start, end) = self.nodes[node as usize].promises;
            let promises = &self.promises[start as usize..end as usize];
            promises
                .iter()
                .find(|(own, _)| *own == kind)
                .map(|&(_, origin)| origin)
        };
        let concerned: Vec<bool> = (0..self.nodes.len() as u32)
            .map(|node| promise(node).is_some())
            .collect();
        if !concerned.contains(&true) {
            return None;
        }

        // The steps between situations where the kind is pending that do nothing of the kind: is there a loop of them?
        // Take away what has no step onward, as long as there is something.
        let mut onward = vec![0_usize; self.nodes.len()];
        let mut incoming: Vec<Vec<u32>> = vec![vec![]; self.nodes.len()];
        for (index, step) in self.steps.iter().enumerate() {
            if concerned[step.from as usize]
                && concerned[step.to as usize]
                && !self.does(step, kind)
            {
                onward[step.from as usize] += 1;
                incoming[step.to as usize].push(index as u32);
            }
        }
        let mut open: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|&node| onward[node as usize] == 0)
            .collect();
        while let Some(node) = open.pop() {
            for &step in &incoming[node as usize] {
                let from = self.steps[step as usize].from;
                onward[from as usize] -= 1;
                if onward[from as usize] == 0 {
                    open.push(from);
                }
            }
        }
        let first = (0..self.nodes.len() as u32).find(|&node| onward[node as usize] > 0)?;

        // Whatever is left has a step onward to something that is left, so walking ends in a loop.
        let mut out: HashedMap<u32, u32> = HashedMap::new();
        for (to, steps) in incoming
            .iter()
            .enumerate()
            .filter(|&(to, _)| onward[to] > 0)
        {
            debug_assert!(concerned[to]);
            for &step in steps {
                out.or_insert_with(self.steps[step as usize].from, || step);
            }
        }
        let mut walked: Vec<u32> = vec![];
        let mut met: HashedMap<u32, usize> = HashedMap::new();
        let mut node = first;
        while let Some(&step) = out.get(&node) {
            if met.contains_key(&node) {
                break;
            }
            met.insert(node, walked.len());
            walked.push(step);
            node = self.steps[step as usize].to;
        }
        let start = met.get(&node).copied().unwrap_or(0).min(walked.len());
        let cycle = walked[start..]
            .iter()
            .flat_map(|&step| self.trail(&self.steps[step as usize]))
            .map(|&id| TransitionId::from_index(id as usize))
            .collect();
        Some(Failure {
            rule: Rule::Forgotten,
            path: self.path(Some(node), &[]),
            sub_state: self.nodes[node as usize].state,
            sub: None,
            sup: Place::Transition(promise(node)?),
            cycle,
        })
    }

    /// Whether the subtype does an action of `kind` on a step.
    fn does(&self, step: &Step, kind: Kind) -> bool {
        self.trail(step)
            .iter()
            .any(|&id| self.kind_of[id as usize] == kind)
    }
}

const NEVER: u32 = u32::MAX;

struct Successor {
    transition: u32,
    state: u32,
    pending: Pending,
    /// As in [`Task`].
    lossy: bool,
}

enum Halt {
    Limited(Limit),
    /// The flag says whether a dropped choice may be to blame.
    Failed(bool, Failure),
}
