#![doc = include_str!("drain.md")]

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;
use litemap::LiteMap;

use crate::certificate::drained::{self, Drained, MANY, Plan, Progress, Situation, Words};
use crate::machine::{Fsm, IndexSet, StateId, Transition, TransitionId};
use crate::system::{InternedSystem, Move, Node, Paths, System, components};
use crate::verdict::Limits;

/// Returns a certificate that the system is safe and starves no role, if one is found and accepted.
pub fn drain(system: &System, limits: &Limits) -> Option<Drained> {
    let machines = system.machines();
    if machines.iter().any(Fsm::is_on_demand) {
        return None;
    }
    let in_rounds = || System::new(machines.iter().map(in_rounds).collect()).ok();
    let found = find(system, limits).or_else(|| find(&in_rounds()?, limits));
    // A certificate that is not accepted proves nothing.
    found.filter(|found| drained::check(found, machines).is_ok())
}

/// Writes a machine twice. It changes to the other copy when it comes back to a state by which it
/// enters a component of its graph, except by a loop of one action.
fn in_rounds(fsm: &Fsm) -> Fsm {
    let (_, component) = components(&fsm.graph());
    let is_inside =
        |of: &Transition<'_>| component[of.source.index()] == component[of.target.index()];
    let entries = fsm.transitions().filter(|of| !is_inside(of)).map(|of| of.target.index());
    let entries: FixedBitSet = entries.chain([fsm.initial().index()]).collect();
    let mut machine = Fsm::builder(fsm.role().clone());
    let states: Vec<StateId> = (0..2 * fsm.len()).map(|_| machine.add_state()).collect();
    for copy in [0, 1] {
        for of in fsm.transitions() {
            let is_entry = entries.contains(of.target.index());
            let again = is_inside(&of) && of.source != of.target && is_entry;
            let place = |state: StateId, copy: usize| states[state.index() + copy * fsm.len()];
            let to = place(of.target, copy ^ usize::from(again));
            machine.add_transition(place(of.source, copy), of.action.clone(), to);
        }
    }
    machine.build(fsm.initial())
}

/// The number of configurations that are tried for a move of each machine from one situation.
const LONGEST_SEARCH: usize = 2_000;

fn find(system: &System, limits: &Limits) -> Option<Drained> {
    let interned = InternedSystem::whole(system);
    let mut search = Search::new(&interned);
    search.reach(limits.configurations)?;
    search.options();
    let situations = search.rows.iter().zip(&search.queues).zip(search.plans()?).enumerate();
    let situations = situations.map(|(node, ((row, queues), planned))| {
        let states = row[..interned.machines()].iter().enumerate();
        let states = states.map(|(machine, &state)| interned.own_state(machine, state));
        let filled = queues.iter().enumerate().filter(|(_, words)| !words.first.is_empty());
        let mut queues = LiteMap::new();
        filled.for_each(|(at, words)| _ = queues.insert(interned.ends[at], words.clone()));
        Some(Situation {
            states: states.collect(),
            queues,
            plan: match planned {
                Some((option, progress)) => search.plan(&search.options[option as usize], progress),
                None => Plan::Empty(search.runs(node)?),
            },
        })
    });
    let machines = system.machines().to_vec();
    Some(Drained { machines, situations: situations.collect::<Option<_>>()? })
}

/// A move that is possible in all configurations of a situation: a send, or a receive from a queue.
struct Choice {
    node: u32,
    /// The move, or one of the moves that receive.
    by: u32,
    /// The situations behind it.
    next: Vec<u32>,
}

struct Search<'a> {
    system: &'a InternedSystem<'a>,
    /// The message of each transition of a machine.
    messages: HashMap<(u32, TransitionId), u32>,
    /// The states of the machines, and 1 for each queue that is not empty.
    rows: IndexSet<Vec<u32>>,
    /// The words of each queue; none if it is empty.
    queues: Vec<Vec<Words>>,
    options: Vec<Choice>,
    /// The words behind a first letter, if asked for before.
    behind: RefCell<HashMap<(Words, TransitionId), Vec<Words>>>,
}

impl<'a> Search<'a> {
    fn new(system: &'a InternedSystem<'a>) -> Self {
        let moves = (0..system.states()).flat_map(|state| system.all_from(state));
        let messages = moves.map(|by| ((by.machine, by.transition), by.message));
        let mut row = system.initial.clone();
        row.resize(system.machines() + system.channels(), 0);
        let queues = vec![vec![Words::default(); system.channels()]];
        Self {
            system,
            messages: messages.collect(),
            rows: IndexSet::from_iter([row]),
            queues,
            options: Vec::new(),
            behind: RefCell::default(),
        }
    }

    fn letter(&self, channel: usize, letter: TransitionId) -> u32 {
        self.messages[&(self.system.ends[channel].0 as u32, letter)]
    }

    /// The words that a move may leave in its queue: for a receive, with each first letter.
    fn after(&self, node: u32, by: &Move) -> Vec<Words> {
        let words = &self.queues[node as usize][by.channel as usize];
        if by.is_send {
            let mut words = words.clone();
            if words.first.is_empty() {
                words.first.insert(by.transition, ());
            }
            let (least, most) = words.counts.entry(by.transition).or_default();
            (*least, *most) = (MANY.min(*least + 1), MANY.min(*most + 1));
            for (last, ()) in std::mem::take(&mut words.last) {
                words.pairs.insert((last, by.transition), ());
            }
            words.last.insert(by.transition, ());
            return vec![words];
        }
        let is_taken =
            |&&letter: &&TransitionId| self.letter(by.channel as usize, letter) == by.message;
        let taken = words.first.keys().filter(is_taken);
        let mut behind = self.behind.borrow_mut();
        let taken = taken.flat_map(|&taken| {
            let known = behind.entry((words.clone(), taken));
            known.or_insert_with(|| self::behind(words, taken)).clone()
        });
        taken.collect()
    }

    fn row(&self, node: u32, by: &Move, words: &Words) -> Vec<u32> {
        let mut row = self.rows[node as usize].clone();
        row[by.machine as usize] = by.target;
        row[self.system.machines() + by.channel as usize] = u32::from(!words.first.is_empty());
        row
    }

    fn moves(&self, node: u32) -> impl Iterator<Item = u32> + use<'a> {
        let (system, row) = (self.system, self.rows[node as usize].clone());
        (0..system.machines())
            .flat_map(move |machine| system.moves_from(row[machine]).map(|by| by as u32))
    }

    /// Finds all situations. `None` at a limit: see the module.
    fn reach(&mut self, mut budget: usize) -> Option<()> {
        let (mut work, most) = (BinaryHeap::from([Reverse(0)]), budget / 8);
        while let Some(Reverse(node)) = work.pop() {
            while work.peek() == Some(&Reverse(node)) {
                work.pop();
            }
            if self.rows.len() > most || self.behind.borrow().len() > most / 4 {
                return None;
            }
            for by in self.moves(node) {
                let by = *self.system.get(by as usize);
                for words in self.after(node, &by) {
                    budget = budget.checked_sub(1)?;
                    let row = self.row(node, &by, &words);
                    let mut queues = self.queues[node as usize].clone();
                    queues[by.channel as usize] = words;
                    let (known, is_new) = self.rows.insert_full(row);
                    if is_new {
                        self.queues.push(queues);
                        work.push(Reverse(known as u32));
                        continue;
                    }
                    let joined = self.queues[known].iter_mut().zip(queues);
                    let grown = joined.fold(false, |grown, (known, new)| join(known, new) || grown);
                    if grown {
                        work.push(Reverse(known as u32));
                    }
                }
            }
        }
        Some(())
    }

    fn options(&mut self) {
        for node in 0..self.rows.len() as u32 {
            let mut received: LiteMap<u32, Choice> = LiteMap::new();
            let mut taken = LiteMap::new_vec();
            for number in self.moves(node) {
                let by = self.system.get(number as usize);
                let next = self.after(node, by);
                let next = next.iter().filter_map(|words| {
                    // All situations are found.
                    self.rows.get_index_of(&self.row(node, by, words)).map(|next| next as u32)
                });
                let choice = Choice { node, by: number, next: next.collect() };
                if by.is_send {
                    self.options.push(choice);
                } else {
                    taken.insert((by.channel, by.message), ());
                    let more = choice.next.clone();
                    received.entry(by.channel).or_insert(choice).next.extend(more);
                }
            }
            let first = |channel: u32| self.queues[node as usize][channel as usize].first.keys();
            received.retain(|&channel, choice| {
                !choice.next.is_empty()
                    && first(channel).all(|&letter| {
                        taken.contains_key(&(channel, self.letter(channel as usize, letter)))
                    })
            });
            for (_, mut choice) in received {
                choice.next.sort_unstable();
                choice.next.dedup();
                self.options.push(choice);
            }
        }
    }

    /// For each situation the option that is planned. `None` if some situation has no plan.
    fn plans(&self) -> Option<Vec<Option<(u32, Progress)>>> {
        let is_empty =
            |row: &Vec<u32>| row[self.system.machines()..].iter().all(|&queue| queue == 0);
        let mut plans: Vec<Option<(u32, Progress)>> = vec![None; self.rows.len()];
        let mut done: Vec<bool> = self.rows.iter().map(is_empty).collect();
        // The options that lead to each situation.
        let mut before = vec![Vec::new(); self.rows.len()];
        for (number, choice) in (0..).zip(&self.options) {
            choice.next.iter().for_each(|&next| before[next as usize].push(number));
        }
        let (mut stage, mut idle) = (0, 0);
        while done.contains(&false) {
            if idle == self.system.channels() {
                return None;
            }
            let channel = stage as usize % self.system.channels();
            stage += 1;
            let found = self.stage(channel as u32, &done, &before);
            idle = if found.is_empty() { idle + 1 } else { 0 };
            for (rank, option) in (0..).zip(found) {
                let node = self.options[option as usize].node as usize;
                let progress = Progress { queue: self.system.ends[channel], stage, rank };
                (done[node], plans[node]) = (true, Some((option, progress)));
            }
        }
        Some(plans)
    }

    /// The options by which situations that are not `done` get there without a send to a queue, or
    /// by receives from it back to such situations; by their ranks.
    fn stage(&self, channel: u32, done: &[bool], before: &[Vec<u32>]) -> Vec<u32> {
        let mut within: Vec<bool> = done.iter().map(|done| !done).collect();
        loop {
            let mut open: Vec<usize> = vec![0; self.options.len()];
            let mut work = VecDeque::new();
            for (number, choice) in (0..).zip(&self.options) {
                let by = self.system.get(choice.by as usize);
                let is_own = by.channel == channel;
                let counts =
                    |&&next: &&u32| !(done[next as usize] || is_own && within[next as usize]);
                open[number as usize] = choice.next.iter().filter(counts).count();
                if is_own && by.is_send {
                    open[number as usize] = usize::MAX;
                } else if open[number as usize] == 0 {
                    work.push_back(number);
                }
            }
            let (mut chosen, mut reached) = (Vec::new(), vec![false; done.len()]);
            while let Some(option) = work.pop_front() {
                let node = self.options[option as usize].node as usize;
                if !within[node] || std::mem::replace(&mut reached[node], true) {
                    continue;
                }
                chosen.push(option);
                for &option in &before[node] {
                    let by = self.system.get(self.options[option as usize].by as usize);
                    if by.channel != channel {
                        open[option as usize] -= 1;
                        if open[option as usize] == 0 {
                            work.push_back(option);
                        }
                    }
                }
            }
            if reached == within {
                return chosen;
            }
            within = reached;
        }
    }

    fn plan(&self, choice: &Choice, progress: Progress) -> Plan {
        let by = self.system.get(choice.by as usize);
        if by.is_send {
            Plan::Send(by.machine as usize, by.transition, progress)
        } else {
            Plan::Receive(self.system.ends[by.channel as usize], progress)
        }
    }

    /// A run to a move of each machine that has not ended, from a situation with empty queues.
    fn runs(&self, node: usize) -> Option<Vec<Vec<(usize, TransitionId)>>> {
        let states = self.rows[node][..self.system.machines()].to_vec();
        let has_moves = |&machine: &usize| !self.system.moves_from(states[machine]).is_empty();
        let mut waiting: FixedBitSet = (0..states.len()).filter(has_moves).collect();
        let mut runs = Vec::new();
        let queues = vec![VecDeque::new(); self.system.channels()];
        let mut found = IndexSet::from_iter([(states, queues)]);
        let mut paths = Paths(vec![None]);
        // Those with the shortest queues first.
        let (mut work, mut tried) = (BinaryHeap::from([Reverse((0, 0))]), 0);
        while !waiting.is_clear() {
            let Reverse((_, at)) = work.pop().filter(|_| tried < LONGEST_SEARCH)?;
            let (states, queues) = found[at as usize].clone();
            tried += 1;
            for machine in 0..states.len() {
                for by in self.system.all_from(states[machine]) {
                    let (mut states, mut queues) = (states.clone(), queues.clone());
                    let queue: &mut VecDeque<u32> = &mut queues[by.channel as usize];
                    if by.is_send {
                        queue.push_back(by.message);
                    } else if queue.pop_front() != Some(by.message) {
                        continue;
                    }
                    states[machine] = by.target;
                    let step = (machine, by.transition);
                    if waiting.contains(machine) {
                        waiting.remove(machine);
                        runs.push([paths.to(at), vec![step]].concat());
                    }
                    let messages = queues.iter().map(VecDeque::len).sum::<usize>();
                    if found.insert((states, queues)) {
                        work.push(Reverse((messages, paths.0.len() as Node)));
                        paths.0.push(Some((at, step)));
                    }
                }
            }
        }
        Some(runs)
    }
}

/// The words that may be behind a first letter: the empty word, and all longer ones.
fn behind(words: &Words, taken: TransitionId) -> Vec<Words> {
    let mut counts = words.counts.clone();
    let (least, most) = counts.entry(taken).or_default();
    *least = least.saturating_sub(1);
    *most = most.saturating_sub(usize::from(*most < MANY));
    counts.retain(|_, (_, most)| *most > 0);
    let is_last = words.last.contains_key(&taken) && counts.values().all(|count| count.0 == 0);
    let mut after: Vec<Words> = is_last.then(Words::default).into_iter().collect();
    let mut rest = Words { first: LiteMap::new(), counts, ..words.clone() };
    following(words, taken).for_each(|pair| _ = rest.first.insert(pair.1, ()));
    let bounds: Vec<_> = rest.counts.iter().map(|(&it, &bounds)| (Some(it), bounds)).collect();
    for (letter, bounds) in bounds.into_iter().filter(|of| of.1 != (0, MANY)) {
        rest = keep(&rest, letter, bounds);
    }
    rest = keep(&rest, None, (0, 0));
    after.extend(Some(rest).filter(|rest| !rest.last.is_empty()));
    after
}

/// The pairs that begin with a letter.
fn following(
    of: &Words,
    first: TransitionId,
) -> impl Iterator<Item = &(TransitionId, TransitionId)> {
    let pairs = of.pairs.as_slice();
    let start = pairs.partition_point(|(pair, ())| pair.0 < first);
    pairs[start..].iter().map(|(pair, ())| pair).take_while(move |pair| pair.0 == first)
}

/// The words in which this letter occurs so often, at least and at most.
fn keep(words: &Words, counted: Option<TransitionId>, (least, most): (usize, usize)) -> Words {
    const COUNTS: usize = MANY + 1;
    let letters = words.counts.as_slice();
    // A node is a letter, with the number of those that are counted up to it.
    let place = |letter: &TransitionId| words.counts.find_index(letter).ok().map(|at| at * COUNTS);
    let node = |before: usize, letter: &TransitionId| {
        Some(place(letter)? + MANY.min(before + usize::from(Some(*letter) == counted)))
    };
    let mut work: Vec<usize> = words.first.keys().filter_map(|letter| node(0, letter)).collect();
    let nodes = letters.len() * COUNTS;
    let (mut reached, mut before) = (FixedBitSet::with_capacity(nodes), vec![vec![]; nodes]);
    while let Some(at) = work.pop() {
        let count = at % COUNTS;
        if count <= most && !reached.put(at) {
            for (_, next) in following(words, letters[at / COUNTS].0) {
                if let Some(next) = node(count, next) {
                    before[next].push(at);
                    work.push(next);
                }
            }
        }
    }
    let is_last =
        |&at: &usize| at % COUNTS >= least && words.last.contains_key(&letters[at / COUNTS].0);
    let last: FixedBitSet = reached.ones().filter(is_last).collect();
    let mut kept = FixedBitSet::with_capacity(nodes);
    work.extend(last.ones());
    while let Some(at) = work.pop() {
        if !kept.put(at) {
            work.append(&mut before[at]);
        }
    }
    let is_kept = |at: Option<usize>| at.is_some_and(|at| kept.contains(at));
    let any = |of: &FixedBitSet, letter: &TransitionId| {
        place(letter).is_some_and(|at| (at..at + COUNTS).any(|at| of.contains(at)))
    };
    let mut rest = words.clone();
    rest.first.retain(|letter, ()| is_kept(node(0, letter)));
    rest.last.retain(|letter, ()| any(&last, letter));
    rest.pairs.retain(|(letter, next), ()| {
        let is_at = |at, count| kept.contains(at + count) && is_kept(node(count, next));
        place(letter).is_some_and(|at| (0..COUNTS).any(|count| is_at(at, count)))
    });
    rest.counts.retain(|letter, _| any(&kept, letter));
    rest
}

/// Adds words. Returns true if some were not known.
fn join(known: &mut Words, new: Words) -> bool {
    let before = known.clone();
    for (letter, (least, _)) in &mut known.counts {
        *least = new.counts.get(letter).map_or(0, |count| count.0.min(*least));
    }
    for (letter, (_, count)) in new.counts {
        let most = &mut known.counts.entry(letter).or_default().1;
        *most = count.max(*most);
    }
    new.first.into_iter().for_each(|(letter, ())| _ = known.first.insert(letter, ()));
    new.last.into_iter().for_each(|(letter, ())| _ = known.last.insert(letter, ()));
    new.pairs.into_iter().for_each(|(pair, ())| _ = known.pairs.insert(pair, ()));
    *known != before
}
