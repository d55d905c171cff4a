#![doc = include_str!("drained.md")]

use std::collections::{HashMap, VecDeque};

use fixedbitset::FixedBitSet;
use litemap::LiteMap;

use super::fault::{Fault, Invalid};
use crate::machine::{Action, Fsm, Message, StateId, TransitionId};

/// A queue: its sender and its receiver, as positions of machines.
pub type Channel = (usize, usize);

/// The evidence that a system is safe with queues of any length, if [`check`] accepts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// The machines, each with all its states once or several times.
    pub machines: Vec<Fsm>,
    /// No two with the same states and the same queues that are not empty.
    pub situations: Vec<Situation>,
}

/// A set of configurations, and how to empty their queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The state of each machine.
    pub states: Vec<StateId>,
    /// The queues that are not empty.
    pub queues: LiteMap<Channel, Words>,
    /// The next move.
    pub plan: Plan,
}

/// A set of words of one letter or more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Words {
    /// The letters with which they begin.
    pub first: LiteMap<TransitionId, ()>,
    /// The letters with which they end.
    pub last: LiteMap<TransitionId, ()>,
    /// The letters that may follow one another.
    pub pairs: LiteMap<(TransitionId, TransitionId), ()>,
    /// The least and the greatest number of times that each letter occurs. From [`MANY`] on, the
    /// greatest number means any number. Other letters do not occur.
    pub counts: LiteMap<TransitionId, (usize, usize)>,
}

/// The number from which on letters are not counted.
pub const MANY: usize = 3;

/// The next move on the way to empty queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// All queues are empty. For each machine that has not ended a run that it ends with a move,
    /// as machines and their transitions.
    Empty(Vec<Vec<(usize, TransitionId)>>),
    /// A machine sends.
    Send(usize, TransitionId, Progress),
    /// The receiver takes the first message of a queue.
    Receive(Channel, Progress),
}

/// Why a plan comes to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The queue that is not sent to in this stage.
    pub queue: Channel,
    /// Falls, or stays.
    pub stage: u32,
    /// Falls within a stage, unless the move takes from the queue.
    pub rank: u32,
}

type Queues = LiteMap<Channel, Words>;

/// Checks that `drained` proves that these machines are safe, and that none starves. They are the
/// machines of a system, and none of them plays on demand.
///
/// # Errors
/// The first claim that is wrong.
pub fn check(drained: &Drained, machines: &[Fsm]) -> Result<(), Invalid> {
    let fault = |at: usize| move |fault| Invalid::at(at, 0, fault);
    let are_these =
        drained.machines.iter().zip(machines).all(|(found, fsm)| is_written(found, fsm));
    let are_all = drained.machines.len() == machines.len();
    if machines.iter().any(Fsm::is_on_demand) || !are_these || !are_all {
        return Err(fault(0)(Fault::WrongRule));
    }
    let checker = Checker::new(drained);
    let initial = drained.machines.iter().map(Fsm::initial).collect();
    checker.find(&(initial, Queues::new())).map_err(|_| fault(0)(Fault::Initial))?;
    for (at, situation) in drained.situations.iter().enumerate() {
        checker.is_closed(situation).map_err(fault(at))?;
        checker.plan(situation).map_err(fault(at))?;
    }
    Ok(())
}

/// True if the first machine is the second one, with all states once or several times, in order.
fn is_written(found: &Fsm, fsm: &Fsm) -> bool {
    let place = |state: StateId| state.index() % fsm.len();
    let moves = |of: &Fsm, state| {
        let moves = of.transitions_from(state).map(|by| (by.action.clone(), place(by.target)));
        let mut moves: Vec<(Action, usize)> = moves.collect();
        moves.sort_unstable();
        moves.dedup();
        moves
    };
    let does_the_same =
        |state| moves(found, state) == moves(fsm, StateId::from_index(place(state)));
    found.role() == fsm.role()
        && place(found.initial()) == fsm.initial().index()
        && found.states().all(does_the_same)
}

/// States, and the queues that are not empty.
type Goal = (Vec<StateId>, Queues);

struct Checker<'a> {
    machines: &'a [Fsm],
    index: HashMap<(&'a [StateId], Vec<Channel>), &'a Situation>,
}

impl<'a> Checker<'a> {
    fn new(drained: &'a Drained) -> Self {
        let key = |found: &'a Situation| {
            ((&found.states[..], found.queues.keys().copied().collect()), found)
        };
        Self { machines: &drained.machines, index: drained.situations.iter().map(key).collect() }
    }

    /// The situation that contains the goal.
    fn find(&self, (states, queues): &Goal) -> Result<&'a Situation, Fault> {
        let key = (&states[..], queues.keys().copied().collect());
        let found = *self.index.get(&key).ok_or(Fault::OpenGoal)?;
        let contains = |(known, words): (&Words, &Words)| {
            words.first.keys().all(|letter| known.first.contains_key(letter))
                && words.last.keys().all(|letter| known.last.contains_key(letter))
                && words.pairs.keys().all(|pair| known.pairs.contains_key(pair))
                && words.counts.keys().chain(known.counts.keys()).all(|letter| {
                    let (all, new) = (known.counts.get(letter), words.counts.get(letter));
                    let (all, new) = (all.unwrap_or(&(0, 0)), new.unwrap_or(&(0, 0)));
                    all.0 <= new.0 && all.1 >= new.1
                })
        };
        let contains = found.queues.values().zip(queues.values()).all(contains);
        contains.then_some(found).ok_or(Fault::OtherClaim)
    }

    /// The position of the peer of a transition, true if the transition sends, and its target.
    fn action(&self, machine: usize, by: TransitionId) -> Result<(usize, bool, StateId), Fault> {
        let fsm = self.machines.get(machine).filter(|fsm| by.index() < fsm.transition_count());
        let found = fsm.ok_or(Fault::Unknown)?.transition(by);
        let is_peer = |fsm: &Fsm| *fsm.role() == found.action.peer;
        let peer = self.machines.iter().position(is_peer).ok_or(Fault::Unknown)?;
        Ok((peer, found.action.is_send(), found.target))
    }

    fn message(&self, machine: usize, by: TransitionId) -> &Message {
        &self.machines[machine].transition(by).action.message
    }

    /// The goals behind a move, for each first letter that it can take.
    fn goals(&self, at: &Situation, machine: usize, by: TransitionId) -> Result<Vec<Goal>, Fault> {
        let (peer, is_send, target) = self.action(machine, by)?;
        let mut states = at.states.clone();
        states[machine] = target;
        let goal = |channel: Channel, words: Option<Words>| {
            let mut queues = at.queues.clone();
            queues.remove(&channel);
            words.map(|words| queues.insert(channel, words));
            (states.clone(), queues)
        };
        if is_send {
            let channel = (machine, peer);
            let mut words = at.queues.get(&channel).cloned().unwrap_or_default();
            if words.first.is_empty() {
                words.first.insert(by, ());
            }
            for (last, ()) in std::mem::take(&mut words.last) {
                words.pairs.insert((last, by), ());
            }
            words.last.insert(by, ());
            let (least, most) = words.counts.entry(by).or_default();
            (*least, *most) = (MANY.min(*least + 1), MANY.min(*most + 1));
            return Ok(vec![goal(channel, Some(words))]);
        }
        let channel = (peer, machine);
        let Some(words) = at.queues.get(&channel) else { return Ok(Vec::new()) };
        let mut goals = Vec::new();
        for &first in words.first.keys() {
            self.action(peer, first)?;
            if self.message(peer, first) == self.message(machine, by) {
                let is_left = |(letter, count): (&TransitionId, &(usize, usize))| {
                    count.0 > usize::from(*letter == first)
                };
                if words.last.contains_key(&first) && !words.counts.iter().any(is_left) {
                    goals.push(goal(channel, None));
                }
                goals.extend(words.behind(first).map(|words| goal(channel, Some(words))));
            }
        }
        Ok(goals)
    }

    /// Checks that every move leads to a situation.
    fn is_closed(&self, at: &Situation) -> Result<(), Fault> {
        if at.states.len() != self.machines.len() {
            return Err(Fault::Unknown);
        }
        if at.queues.values().any(|words| words.first.is_empty()) {
            return Err(Fault::NoWords);
        }
        for (machine, fsm) in self.machines.iter().enumerate() {
            let state = at.states[machine];
            if state.index() >= fsm.len() {
                return Err(Fault::Unknown);
            }
            for by in fsm.transitions_from(state) {
                for goal in self.goals(at, machine, by.id)? {
                    self.find(&goal)?;
                }
            }
        }
        Ok(())
    }

    fn plan(&self, at: &Situation) -> Result<(), Fault> {
        let (progress, taken, goals) = match &at.plan {
            Plan::Empty(runs) => return self.goes_on(at, runs),
            &Plan::Send(machine, by, progress) => {
                let (peer, is_send, _) = self.action(machine, by)?;
                let source = self.machines[machine].transition(by).source;
                if !is_send || source != at.states[machine] {
                    return Err(Fault::WrongRule);
                }
                if (machine, peer) == progress.queue {
                    return Err(Fault::Rank);
                }
                (progress, None, self.goals(at, machine, by)?)
            }
            &Plan::Receive((from, to), progress) => {
                let words = at.queues.get(&(from, to)).ok_or(Fault::WrongRule)?;
                let receives = || {
                    self.machines[to].transitions_from(at.states[to]).filter(|by| {
                        !by.action.is_send() && by.action.peer == *self.machines[from].role()
                    })
                };
                let is_taken = |&letter: &TransitionId| {
                    receives().any(|by| by.action.message == *self.message(from, letter))
                };
                if words.first.is_empty() || !words.first.keys().all(is_taken) {
                    return Err(Fault::NotHandled);
                }
                let goals = receives().map(|by| self.goals(at, to, by.id));
                let goals: Vec<Vec<Goal>> = goals.collect::<Result<_, _>>()?;
                (progress, Some((from, to)), goals.concat())
            }
        };
        let comes_to_an_end = |goal: &Goal| match self.find(goal)?.plan {
            Plan::Empty(_) => Ok(true),
            Plan::Send(_, _, next) | Plan::Receive(_, next) => Ok(next.stage < progress.stage
                || (next.stage, next.queue) == (progress.stage, progress.queue)
                    && (taken == Some(progress.queue) || next.rank < progress.rank)),
        };
        let ends = goals.iter().map(comes_to_an_end).collect::<Result<Vec<_>, _>>()?;
        if ends.contains(&false) { Err(Fault::Rank) } else { Ok(()) }
    }

    /// Checks that all queues are empty, and that each machine has a run to a move of its own.
    fn goes_on(&self, at: &Situation, runs: &[Vec<(usize, TransitionId)>]) -> Result<(), Fault> {
        if !at.queues.is_empty() {
            return Err(Fault::WrongRule);
        }
        let mut moved = FixedBitSet::new();
        for run in runs {
            let mut states = at.states.clone();
            let mut queues: HashMap<Channel, VecDeque<TransitionId>> = HashMap::new();
            for &(machine, by) in run {
                let (peer, is_send, target) = self.action(machine, by)?;
                if self.machines[machine].transition(by).source != states[machine] {
                    return Err(Fault::WrongRule);
                }
                if is_send {
                    queues.entry((machine, peer)).or_default().push_back(by);
                } else {
                    let sent = queues.get_mut(&(peer, machine)).and_then(VecDeque::pop_front);
                    let sent = sent.ok_or(Fault::WrongRule)?;
                    if self.message(peer, sent) != self.message(machine, by) {
                        return Err(Fault::WrongRule);
                    }
                }
                states[machine] = target;
            }
            moved.extend(run.last().map(|last| last.0));
        }
        let ended = |machine: &usize| self.machines[*machine].is_terminal(at.states[*machine]);
        let all =
            (0..self.machines.len()).all(|machine| moved.contains(machine) || ended(&machine));
        all.then_some(()).ok_or(Fault::OpenGoal)
    }
}

impl Words {
    /// The words of one letter or more that are left when a letter is taken off.
    fn behind(&self, taken: TransitionId) -> Option<Self> {
        let mut counts = self.counts.clone();
        let (least, most) = counts.remove(&taken)?;
        if most > 1 {
            let most = if most < MANY { most - 1 } else { most };
            counts.insert(taken, (least.saturating_sub(1), most));
        }
        let mut rest = Self { first: LiteMap::new(), counts, ..self.clone() };
        let next = self.pairs.keys().filter(|pair| pair.0 == taken);
        next.for_each(|pair| _ = rest.first.insert(pair.1, ()));
        for (letter, bounds) in rest.counts.clone() {
            if bounds != (0, MANY) {
                rest.restrict(Some(letter), bounds);
            }
        }
        rest.restrict(None, (0, 0));
        (!rest.last.is_empty()).then_some(rest)
    }

    /// Leaves out what is in no word with so many of this letter, at least and at most.
    fn restrict(&mut self, counted: Option<TransitionId>, (least, most): (usize, usize)) {
        // A letter of a word, and how often the counted one occurs up to it.
        let place = |letter: TransitionId, count: usize| letter.index() * (MANY + 1) + count;
        let next = |before: usize, letter: TransitionId| {
            let count = MANY.min(before + usize::from(Some(letter) == counted));
            let is_possible = count <= most && self.counts.contains_key(&letter);
            is_possible.then(|| place(letter, count))
        };
        let mut pairs = Vec::new();
        for &(letter, second) in self.pairs.keys() {
            for before in 0..=most.min(MANY) {
                pairs.extend(next(before, second).map(|next| (place(letter, before), next)));
            }
        }
        let first = self.first.keys().filter_map(|&letter| next(0, letter)).collect();
        let reached = closure(first, &pairs);
        let counts = |letter, least| (least..=MANY).map(move |count| place(letter, count));
        let last = self.last.keys().flat_map(|&letter| counts(letter, least));
        let last: FixedBitSet = last.filter(|&at| reached.contains(at)).collect();
        pairs.iter_mut().for_each(|(at, next)| std::mem::swap(at, next));
        let mut kept = closure(last.clone(), &pairs);
        kept.intersect_with(&reached);
        self.first.retain(|&letter, ()| next(0, letter).is_some_and(|at| kept.contains(at)));
        self.last.retain(|&letter, ()| counts(letter, 0).any(|at| last.contains(at)));
        self.pairs.retain(|&(letter, second), ()| {
            let is_kept = |at| kept.contains(at);
            let mut before = 0..=most.min(MANY);
            before.any(|it| is_kept(place(letter, it)) && next(it, second).is_some_and(is_kept))
        });
        self.counts.retain(|&letter, _| counts(letter, 0).any(|at| kept.contains(at)));
    }
}

/// All that is reached over the pairs.
fn closure(mut reached: FixedBitSet, pairs: &[(usize, usize)]) -> FixedBitSet {
    loop {
        let before = reached.count_ones(..);
        for &(at, next) in pairs {
            if reached.contains(at) {
                reached.grow_and_insert(next);
            }
        }
        if reached.count_ones(..) == before {
            return reached;
        }
    }
}
