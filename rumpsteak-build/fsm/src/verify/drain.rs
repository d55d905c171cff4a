//! Searches for a [certificate](drained) that the queues of a system can always be emptied.
//!
//! First the situations: a worklist over the vectors of states and lengths of queues, which joins
//! the words of each queue until nothing changes. At first only empty queues are told from others.
//! If that knows too little, short queues are known by their lengths. Then the plans, stage by
//! stage. For a queue c, let Z be the greatest set of situations from which some moves that do not
//! send to c lead to a planned situation, or to a receive from c that leads back into Z. All of Z
//! is planned then. This is repeated with each queue, until none adds a situation.
//!
//! Cost: each join is linear in the words, and each stage in the moves of all situations times the
//! number of rounds until Z is found. [`Limits::configurations`] bounds the joins, and an eighth of
//! it the situations.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hashbrown::HashMap;

use crate::certificate::drained::{self, Drained, MANY, Plan, Progress, Situation, Words};
use crate::machine::interned::IndexSet;
use crate::machine::{Fsm, TransitionId};
use crate::system::System;
use crate::system::interned::{InternedSystem, Move};
use crate::verdict::Limits;

/// Returns a certificate that the system is safe and starves no role, if one is found and accepted.
pub fn drain(system: &System, limits: &Limits) -> Option<Drained> {
    if system.machines().iter().any(Fsm::is_on_demand) {
        return None;
    }
    LONGEST
        .iter()
        .find_map(|&(longest, share)| drain_with(system, longest, limits.configurations / share))
}

/// The number of configurations that are tried for a move of each machine from one situation.
const LONGEST_SEARCH: usize = 2_000;

/// The lengths from which on queues are not told apart by their lengths, one after the other; each
/// with its share of the limit.
const LONGEST: [(usize, usize); 2] = [(1, 1), (4, 4)];

fn drain_with(system: &System, longest: usize, budget: usize) -> Option<Drained> {
    let interned = InternedSystem::whole(system);
    let mut search = Search::new(&interned, longest);
    search.reach(budget)?;
    search.options();
    let plans = search.plans()?;
    let situations = search.rows.iter().zip(&search.queues).zip(plans).enumerate();
    let situations = situations.map(|(node, ((row, queues), planned))| {
        let states = row[..interned.machines()].iter().enumerate();
        let states = states.map(|(machine, &state)| interned.own_state(machine, state));
        let filled = queues.iter().enumerate().filter(|(_, words)| !words.first.is_empty());
        Some(Situation {
            states: states.collect(),
            queues: filled.map(|(at, words)| (interned.ends[at], words.clone())).collect(),
            plan: match planned {
                Some((option, progress)) => search.plan(&search.options[option as usize], progress),
                None => Plan::Empty(search.runs(node)?),
            },
        })
    });
    let found = Drained { longest, situations: situations.collect::<Option<_>>()? };
    // A certificate that is not accepted proves nothing.
    drained::check(&found, system.machines()).is_ok().then_some(found)
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
    longest: usize,
    /// The states of the machines, and the lengths of the queues.
    rows: IndexSet<Vec<u32>>,
    /// The words of each queue; none if it is empty.
    queues: Vec<Vec<Words>>,
    options: Vec<Choice>,
}

impl<'a> Search<'a> {
    fn new(system: &'a InternedSystem<'a>, longest: usize) -> Self {
        let moves = (0..system.states()).flat_map(|state| system.all_from(state));
        let messages = moves.map(|by| ((by.machine, by.transition), by.message));
        let mut row = system.initial.clone();
        row.resize(system.machines() + system.channels(), 0);
        let queues = vec![vec![Words::default(); system.channels()]];
        Self {
            system,
            longest,
            messages: messages.collect(),
            rows: IndexSet::from_iter([row]),
            queues,
            options: Vec::new(),
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
                words.first.insert(by.transition);
            }
            words.length = self.longest.min(words.length + 1);
            let (least, most) = words.counts.entry(by.transition).or_default();
            (*least, *most) = (MANY.min(*least + 1), MANY.min(*most + 1));
            let last = std::mem::replace(&mut words.last, BTreeSet::from([by.transition]));
            words.pairs.extend(last.into_iter().map(|last| (last, by.transition)));
            return vec![words];
        }
        let is_taken =
            |&&letter: &&TransitionId| self.letter(by.channel as usize, letter) == by.message;
        let taken = words.first.iter().filter(is_taken);
        let shorter = words.length - usize::from(!words.first.is_empty());
        let lengths = shorter..=if words.length < self.longest { shorter } else { self.longest };
        taken
            .flat_map(|&taken| lengths.clone().filter_map(move |of| self.behind(words, taken, of)))
            .collect()
    }

    /// The words of this length that may be behind a first letter.
    fn behind(&self, words: &Words, taken: TransitionId, length: usize) -> Option<Words> {
        let mut counts = words.counts.clone();
        let (least, most) = counts.entry(taken).or_default();
        *least = least.saturating_sub(1);
        *most -= usize::from(*most < MANY);
        counts.retain(|_, (_, most)| *most > 0);
        if length == 0 {
            let is_last = counts.values().all(|count| count.0 == 0) && words.last.contains(&taken);
            return is_last.then(Words::default);
        }
        let follow = |letters: &BTreeSet<TransitionId>| {
            let follows = |pair: &&(TransitionId, TransitionId)| {
                letters.contains(&pair.0) && counts.contains_key(&pair.1)
            };
            words.pairs.iter().filter(follows).copied().collect::<BTreeSet<_>>()
        };
        let seconds = |pairs: &BTreeSet<(TransitionId, TransitionId)>| {
            pairs.iter().map(|pair| pair.1).collect::<BTreeSet<_>>()
        };
        let first = seconds(&follow(&BTreeSet::from([taken])));
        // The letters at each position; in the end at all that `length` stands for.
        let (mut at, mut pairs, mut position) = (first.clone(), BTreeSet::new(), 1);
        while position < length || length == self.longest {
            let next = follow(&at);
            let mut behind = seconds(&next);
            pairs.extend(next);
            if position >= length {
                behind.extend(&at);
                if behind == at {
                    break;
                }
            }
            (at, position) = (behind, position + 1);
        }
        let last: BTreeSet<_> = words.last.intersection(&at).copied().collect();
        let all = &first | &seconds(&pairs);
        let is_possible = counts.iter().all(|(letter, count)| count.0 == 0 || all.contains(letter));
        counts.retain(|letter, _| all.contains(letter));
        let is_possible = is_possible && !last.is_empty();
        is_possible.then_some(Words { length, first, last, pairs, counts })
    }

    fn row(&self, node: u32, by: &Move, words: &Words) -> Vec<u32> {
        let mut row = self.rows[node as usize].clone();
        row[by.machine as usize] = by.target;
        row[self.system.machines() + by.channel as usize] = words.length as u32;
        row
    }

    fn moves(&self, node: u32) -> impl Iterator<Item = u32> + use<'a> {
        let (system, row) = (self.system, self.rows[node as usize].clone());
        (0..system.machines())
            .flat_map(move |machine| system.moves_from(row[machine]).map(|by| by as u32))
    }

    /// Finds all situations. `None` if there are more than an eighth of `budget`, or more joins.
    fn reach(&mut self, mut budget: usize) -> Option<()> {
        let (mut work, most) = (BTreeSet::from([0]), budget / 8);
        while let Some(node) = work.pop_first() {
            if self.rows.len() > most {
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
                        work.insert(known as u32);
                        continue;
                    }
                    let joined = self.queues[known].iter_mut().zip(queues);
                    let grown = joined.fold(false, |grown, (known, new)| join(known, new) || grown);
                    if grown {
                        work.insert(known as u32);
                    }
                }
            }
        }
        Some(())
    }

    fn options(&mut self) {
        for node in 0..self.rows.len() as u32 {
            let mut received: BTreeMap<u32, Choice> = BTreeMap::new();
            let mut taken = BTreeSet::new();
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
                    taken.insert((by.channel, by.message));
                    let more = choice.next.clone();
                    received.entry(by.channel).or_insert(choice).next.extend(more);
                }
            }
            let first = |channel: u32| self.queues[node as usize][channel as usize].first.iter();
            received.retain(|&channel, choice| {
                !choice.next.is_empty()
                    && first(channel).all(|&letter| {
                        taken.contains(&(channel, self.letter(channel as usize, letter)))
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
        for channel in (0..self.system.channels()).cycle() {
            if done.iter().all(|&done| done) {
                return Some(plans);
            }
            if idle == self.system.channels() {
                return None;
            }
            stage += 1;
            let found = self.stage(channel as u32, &done, &before);
            idle = if found.is_empty() { idle + 1 } else { 0 };
            for (rank, option) in (0..).zip(found) {
                let node = self.options[option as usize].node as usize;
                let progress = Progress { queue: self.system.ends[channel], stage, rank };
                (done[node], plans[node]) = (true, Some((option, progress)));
            }
        }
        done.iter().all(|&done| done).then_some(plans)
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
        let mut waiting: BTreeSet<usize> = (0..states.len()).filter(has_moves).collect();
        let mut runs = Vec::new();
        let queues = vec![VecDeque::new(); self.system.channels()];
        let mut found = IndexSet::from_iter([(states, queues)]);
        // The step to each of them, and from where.
        let mut steps: Vec<Option<(usize, (usize, TransitionId))>> = vec![None];
        let mut at = 0;
        while !waiting.is_empty() {
            let (states, queues) = found.get_index(at).filter(|_| at < LONGEST_SEARCH)?.clone();
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
                    let step = Some((at, (machine, by.transition)));
                    if waiting.remove(&machine) {
                        let back = std::iter::successors(step, |step| steps[step.0]);
                        let mut run: Vec<_> = back.map(|step| step.1).collect();
                        run.reverse();
                        runs.push(run);
                    }
                    if found.insert((states, queues)) {
                        steps.push(step);
                    }
                }
            }
            at += 1;
        }
        Some(runs)
    }
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
    known.first.extend(new.first);
    known.last.extend(new.last);
    known.pairs.extend(new.pairs);
    *known != before
}
