//! Projection: what one role does in a protocol.
//!
//! ```text
//!                     Global ⊢ p ▷ Fsm
//! ```
//! The judgement holds if every role can follow its own machine, seeing only its own messages, and the roles
//! together do exactly what the protocol says.
//!
//! # Source
//! Li, Stutz, Wies, Zufferey, *Complete Multiparty Session Type Projection with Automata* (CAV'23). Syntactic
//! merging compares the branches that a role does not choose as texts; here they are compared as languages. So
//! branches may differ in their first receiver, in the sender that tells a role, in how far loops are unrolled, and a
//! role may learn the branch late.
//!
//! # Construction (CAV'23, §4)
//! Erase from the global automaton what `p` does not see: an interaction becomes `q!m`, `q?m` or ε. Determinise:
//! a state `s` of the result is the set of all global states that `p` must take for possible.
//!
//! ```text
//!    choice at A { l() from A to B; x() from B to C; }       global       0 ─l A→B─▶ 1 ─x B→C─▶ 3
//!             or { r() from A to B; y() from B to C; }                    0 ─r A→B─▶ 2 ─y B→C─▶ 3
//!
//!    C does not see l and r:                                 C    {0,1,2} ─B?x─▶ {3},  {0,1,2} ─B?y─▶ {3}
//! ```
//!
//! # Checks
//! The machine is right if in each of its states `s`:
//!
//! * **send validity** (CAV'23, Def. 5.1; code S0401): each send is possible, after some ε, from *every* global
//!   state in `s`. Otherwise `p` sends although the others may be in a branch where nobody expects it.
//! * **receive validity** (CAV'23, Def. 5.3; S0402): for receives `q1?m1` and `q2?m2` with `q1` ≠ `q2`, the message `m1`
//!   can not be the first in the queue from `q1` once the protocol has taken a branch with `q2?m2`, however far the
//!   others run ahead without `p`. Otherwise `p` takes one branch for the other. [`available`] is their set `M`.
//! * **no mixed choice** (Li, Stutz, Wies, Zufferey, OOPSLA'25, "No Mixed Choice"; S0403): not both a send and
//!   a receive.
//! * **progress** (ours; S0404): if `p` has an action in `s`, then from *every* global state in `s` some action of
//!   `p` is reachable by ε. A CSM may stop in a final state that still has receives, an `async fn` that waits
//!   may not: a role that was never told would hang. Together with fairness this is enough: whoever may be
//!   told again and again, is told.
//! * **labels** (ours; S0405): one peer, direction and label have one payload, since receivers go by the label.
//!
//! # Why it is sound
//! The theorem of the paper is for global types that are deterministic, sender-driven and sink-final, which
//! [`global`](crate::global::determinise) has ensured; it uses nothing else of their syntax. Sequencing and calls only make other
//! automata of this kind. Contraction (below) removes states with one ε-move, which are possible exactly when
//! their successor is, and can do exactly what it can.
//!
//! # Cost
//! Linear in the automaton if few states look the same to a role; the subsets can be exponentially many, and
//! the set `M` too (the problem is PSPACE-complete). [`Limits`](crate::Limits) stop both.
//!
//! # Roads not taken
//! Full merging of local types accepts less and is no faster: it walks every branch once per role too. Deciding
//! by exploring the composed system alone accepts everything, but points at a run where this points at a line.

use rumpsteak_fsm::{
    Action, Direction, Fsm, Role, StateId, TransitionId, hashed::HashedMap, sorted,
};

use crate::{
    check::Limits,
    diagnostics::code::{self as codes, Branches},
    diagnostics::diagnostic::{self, Diagnostic},
    diagnostics::span::Span,
    global::determinise::{Edge, Global, Hop, Letter},
    names::resolve::index,
    project::minimise::{self, Move},
};

/// The machine of one role, and where its transitions come from.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The machine: as small as possible, its states in the order in which a reader of the protocol meets them.
    ///
    /// A state may receive from several peers; [`Fsm::check_directed`] tells.
    pub fsm: Fsm,
    /// For each transition where its origins end; they start where those of the one before end.
    ends: Vec<u32>,
    origins: Vec<Span>,
}

impl Projection {
    /// The interactions that a transition stands for, in the order of the text: at least one, and several where
    /// branches look the same to the role.
    ///
    /// # Panics
    /// If `transition` is of another machine.
    pub fn origins(&self, transition: TransitionId) -> &[Span] {
        let at = transition.index();
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.origins[start as usize..self.ends[at] as usize]
    }
}

/// Reports no more than this many errors for one role.
const MOST_ERRORS: usize = 10;

/// Stops looking after this many problems: most of them have one reason, and explaining takes its time.
const MOST_PROBLEMS: usize = 100;

/// Looks no further than this for a run that explains a problem.
const LONGEST_SEARCH: usize = 1_000_000;

pub(crate) fn project(
    global: &Global,
    role: u32,
    declared: Span,
    limits: &Limits,
) -> Result<Projection, Vec<Diagnostic>> {
    let mut local = Local::new(global, role, limits);
    match local.explore() {
        Ok(()) if local.problems.is_empty() => Ok(local.finish()),
        Ok(()) => Err(local.explain()),
        Err(TooLarge { limit, value }) => {
            let role = &global.roles[role as usize];
            let diagnostic = codes::projection_too_large(role.as_str(), declared, limit, value);
            Err(vec![diagnostic])
        }
    }
}

/// The name of the limit that was met, and its value.
struct TooLarge {
    limit: &'static str,
    value: usize,
}

const NONE: u32 = u32::MAX;

/// An edge of the global automaton: its source, and its position among the edges of the source.
type EdgeAt = (u32, u32);

/// A transition of a local state, before states are merged.
#[derive(Clone, Copy)]
struct LocalEdge {
    letter: u32,
    target: u32,
    /// The global edges that it stands for: `written[written.0..written.1]`.
    written: (u32, u32),
}

struct LocalState {
    /// The global states after the visible action, before ε: `cores[core.0..core.1]`.
    core: (u32, u32),
    /// The state and letter from which this one was reached first; [`NONE`] twice for the initial one.
    parent: (u32, u32),
    /// Its transitions: `edges[edges.0..edges.1]`.
    edges: (u32, u32),
}

/// Why a local state is wrong.
enum Problem {
    SendUnknown { edge: usize, stuck: u32 },
    SendOrReceive { send: usize, receive: usize },
    NeverTold { edge: usize, stuck: u32 },
    Overtaken { awaited: usize, taken: EdgeAt },
    PayloadUnknown { one: usize, other: usize },
}

struct Local<'g> {
    global: &'g Global,
    role: u32,
    limits: &'g Limits,
    /// The global state that stands for each one: the next that is not left by a single ε.
    rep: Vec<u32>,
    states: Vec<LocalState>,
    // What the states are made of, in tables that all of them share: most have one of each.
    cores: Vec<u32>,
    edges: Vec<LocalEdge>,
    written: Vec<EdgeAt>,
    /// The local state of each single global state.
    single: Vec<u32>,
    several: HashedMap<Box<[u32]>, u32>,
    problems: Vec<(u32, Problem)>,

    /// How many steps are left.
    steps: usize,

    // Scratch space for one local state.
    members: Vec<u32>,
    /// The position of a global state in `members`, if `seen` is the current epoch.
    slot: Vec<u32>,
    seen: Vec<u32>,
    epoch: u32,
}

impl<'g> Local<'g> {
    fn new(global: &'g Global, role: u32, limits: &'g Limits) -> Self {
        Self {
            global,
            role,
            limits,
            rep: contract(global, role),
            states: Vec::new(),
            cores: Vec::new(),
            edges: Vec::new(),
            written: Vec::new(),
            single: vec![NONE; global.len()],
            several: HashedMap::new(),
            problems: Vec::new(),
            steps: limits.steps,
            members: Vec::new(),
            slot: vec![0; global.len()],
            seen: vec![0; global.len()],
            epoch: 0,
        }
    }

    fn sees(&self, letter: u32) -> bool {
        sees(self.global, self.role, letter)
    }

    fn sends(&self, letter: u32) -> bool {
        self.global.letters[letter as usize].from == self.role
    }

    fn explore(&mut self) -> Result<(), TooLarge> {
        self.cores.push(self.rep[0]);
        self.state(0, (NONE, NONE))?;
        let mut at = 0;
        while at < self.states.len() && self.problems.len() < MOST_PROBLEMS {
            let first = index(self.edges.len());
            if !self.only(at)? {
                self.general(at)?;
            }
            self.states[at].edges = (first, index(self.edges.len()));
            at += 1;
        }
        Ok(())
    }

    /// The state's one edge, if it stands for one global state with one edge, and the role sees it: every check holds then, and
    /// most states are like this.
    fn only(&mut self, at: usize) -> Result<bool, TooLarge> {
        let (start, end) = self.states[at].core;
        if end - start != 1 {
            return Ok(false);
        }
        let source = self.cores[start as usize];
        let [edge] = self.global.edges(source) else {
            return Ok(false);
        };
        // An edge out of sight has been contracted, or is a cycle out of sight.
        let letter = edge.letter;
        if !self.sees(letter) {
            return Ok(false);
        }
        self.spend(2)?;
        let core = self.cores.len();
        self.cores.push(self.rep[edge.target as usize]);
        let target = self.state(core, (index(at), letter))?;
        self.edge_to(letter, target, &[(source, 0)]);
        Ok(true)
    }

    /// Any other state.
    fn general(&mut self, at: usize) -> Result<(), TooLarge> {
        let state = index(at);
        self.close(at);
        self.spend(self.members.len())?;
        let groups = self.group();
        self.spend(groups.iter().map(|group| group.1.len()).sum())?;
        self.check(state, &groups)?;
        for (letter, found) in groups {
            let core = self.cores.len();
            for &(source, at) in &found {
                let target = self.global.edges(source)[at as usize].target;
                self.cores.push(self.rep[target as usize]);
            }
            let target = self.state(core, (state, letter))?;
            self.edge_to(letter, target, &found);
        }
        Ok(())
    }

    fn edge_to(&mut self, letter: u32, target: u32, edges: &[EdgeAt]) {
        let start = index(self.written.len());
        self.written.extend_from_slice(edges);
        self.edges.push(LocalEdge {
            letter,
            target,
            written: (start, index(self.written.len())),
        });
    }

    /// Takes so many steps.
    fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(TooLarge {
                limit: "steps",
                value: self.limits.steps,
            }),
        }
    }

    /// The local state that stands for `cores[core..]`, which is taken.
    fn state(&mut self, core: usize, parent: (u32, u32)) -> Result<u32, TooLarge> {
        if self.cores.len() - core > 1 {
            let mut several = self.cores.split_off(core);
            sorted::sort(&mut several);
            several.dedup();
            self.cores.extend(several);
        }
        let known = match self.cores[core..] {
            [one] => self.single[one as usize],
            ref several => self.several.get(several).copied().unwrap_or(NONE),
        };
        if known != NONE {
            self.cores.truncate(core);
            return Ok(known);
        }
        if self.states.len() >= self.limits.local_states {
            return Err(TooLarge {
                limit: "local_states",
                value: self.limits.local_states,
            });
        }
        self.spend(self.cores.len() - core)?;
        let id = index(self.states.len());
        match self.cores[core..] {
            [one] => self.single[one as usize] = id,
            ref several => {
                self.several.insert(several.into(), id);
            }
        }
        self.states.push(LocalState {
            core: (index(core), index(self.cores.len())),
            parent,
            edges: (0, 0),
        });
        Ok(id)
    }

    fn edges_of(&self, state: u32) -> &[LocalEdge] {
        let (start, end) = self.states[state as usize].edges;
        &self.edges[start as usize..end as usize]
    }

    fn written(&self, edge: &LocalEdge) -> &[EdgeAt] {
        &self.written[edge.written.0 as usize..edge.written.1 as usize]
    }

    /// Fills `members` with all global states of a local state, first visit first.
    fn close(&mut self, state: usize) {
        self.epoch += 1;
        self.members.clear();
        let (start, end) = self.states[state].core;
        let core = &self.cores[start as usize..end as usize];
        let mut stack: Vec<u32> = core.iter().rev().copied().collect();
        while let Some(found) = stack.pop() {
            if self.seen[found as usize] == self.epoch {
                continue;
            }
            self.seen[found as usize] = self.epoch;
            self.slot[found as usize] = index(self.members.len());
            self.members.push(found);
            for edge in self.global.edges(found).iter().rev() {
                if !sees(self.global, self.role, edge.letter) {
                    stack.push(self.rep[edge.target as usize]);
                }
            }
        }
    }

    /// The visible edges of all members by letter, first seen first.
    fn group(&self) -> Vec<(u32, Vec<EdgeAt>)> {
        let mut groups: Vec<(u32, Vec<EdgeAt>)> = Vec::new();
        // A list is searched while it is short.
        let mut positions: HashedMap<u32, usize> = HashedMap::new();
        for &member in &self.members {
            for (at, edge) in (0..).zip(self.global.edges(member)) {
                if !self.sees(edge.letter) {
                    continue;
                }
                let known = if groups.len() <= 8 {
                    groups.iter().position(|group| group.0 == edge.letter)
                } else {
                    if positions.len() < groups.len() {
                        for (position, group) in groups.iter().enumerate() {
                            positions.insert(group.0, position);
                        }
                    }
                    positions.get(&edge.letter).copied()
                };
                match known {
                    Some(known) => groups[known].1.push((member, at)),
                    None => groups.push((edge.letter, vec![(member, at)])),
                }
            }
        }
        groups
    }

    fn check(&mut self, state: u32, groups: &[(u32, Vec<EdgeAt>)]) -> Result<(), TooLarge> {
        let Some((first, _)) = groups.first() else {
            return Ok(());
        };
        if groups.len() == 1 && self.members.len() == 1 {
            // One action, possible from the one global state: every check holds.
            return Ok(());
        }
        let problem = if groups.len() > 1
            && let Some((one, other)) = self.same_label(groups)
        {
            Some(Problem::PayloadUnknown { one, other })
        } else if let Some(other) = groups
            .iter()
            .position(|(letter, _)| self.sends(*letter) != self.sends(*first))
        {
            let (send, receive) = if self.sends(*first) {
                (0, other)
            } else {
                (other, 0)
            };
            Some(Problem::SendOrReceive { send, receive })
        } else if self.sends(*first) {
            for (edge, group) in groups.iter().enumerate() {
                self.spend(self.members.len())?;
                if let Some(stuck) = self.stuck(group.1.iter()) {
                    self.problems
                        .push((state, Problem::SendUnknown { edge, stuck }));
                }
            }
            None
        } else if let Some(stuck) = self.stuck(groups.iter().flat_map(|group| &group.1)) {
            Some(Problem::NeverTold { edge: 0, stuck })
        } else {
            self.receive_validity(groups)?
        };
        self.problems
            .extend(problem.map(|problem| (state, problem)));
        Ok(())
    }

    /// Two groups with one peer and label that differ in their payload.
    fn same_label(&self, groups: &[(u32, Vec<EdgeAt>)]) -> Option<(usize, usize)> {
        let mut keys: Vec<_> = groups
            .iter()
            .enumerate()
            .map(|(position, (letter, _))| {
                let Letter { from, to, message } = self.global.letters[*letter as usize];
                let label = &self.global.messages[message.0 as usize].label;
                (from, to, label, position)
            })
            .collect();
        sorted::sort(&mut keys);
        keys.windows(2)
            .find(|pair| (pair[0].0, pair[0].1, pair[0].2) == (pair[1].0, pair[1].1, pair[1].2))
            .map(|pair| (pair[0].3, pair[1].3))
    }

    /// A member from which none of `sources` is reachable by ε.
    fn stuck<'e>(&self, sources: impl Iterator<Item = &'e EdgeAt>) -> Option<u32> {
        let mut reaches = vec![false; self.members.len()];
        let mut work = Vec::new();
        let mut missing = self.members.len();
        for &(source, _) in sources {
            let slot = self.slot[source as usize];
            if !std::mem::replace(&mut reaches[slot as usize], true) {
                work.push(slot);
                missing -= 1;
            }
        }
        if missing == 0 {
            return None;
        }
        let (offsets, before) = self.backwards();
        while let Some(slot) = work.pop() {
            let slot = slot as usize;
            for &from in &before[offsets[slot] as usize..offsets[slot + 1] as usize] {
                if !std::mem::replace(&mut reaches[from as usize], true) {
                    work.push(from);
                }
            }
        }
        let stuck = reaches.iter().position(|&reaches| !reaches)?;
        Some(self.members[stuck])
    }

    /// The ε-edges between members, backwards: `before[offsets[s]..offsets[s + 1]]` lead to slot `s`.
    fn backwards(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut targets, mut slots) = (Vec::new(), Vec::new());
        for (slot, &member) in (0..).zip(&self.members) {
            for edge in self.global.edges(member) {
                if !self.sees(edge.letter) {
                    let target = self.rep[edge.target as usize];
                    targets.push(self.slot[target as usize]);
                    slots.push(slot);
                }
            }
        }
        let (offsets, order) = sorted::grouped(&targets, self.members.len());
        let before = order.into_iter().map(|at| slots[at as usize]);
        (offsets, before.collect())
    }

    fn receive_validity(
        &mut self,
        groups: &[(u32, Vec<EdgeAt>)],
    ) -> Result<Option<Problem>, TooLarge> {
        let sender = |letter: u32| self.global.letters[letter as usize].from;
        let mut senders: Vec<u32> = groups.iter().map(|group| sender(group.0)).collect();
        sorted::sort(&mut senders);
        senders.dedup();
        if senders.len() < 2 {
            return Ok(None);
        }
        for (letter, edges) in groups {
            for &other in senders.iter().filter(|&&other| other != sender(*letter)) {
                for &(source, at) in edges {
                    let target = self.global.edges(source)[at as usize].target;
                    let first = self.available(target, other)?;
                    let awaited = groups.iter().position(|group| first.contains(&group.0));
                    if let Some(awaited) = awaited {
                        let taken = (source, at);
                        return Ok(Some(Problem::Overtaken { awaited, taken }));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The letters that can be first in the queue from `sender` to this role when the protocol goes on from `start`
    /// without this role: the set `M` of CAV'23, Def. 5.2, for one sender.
    ///
    /// Whoever waits for a blocked role is blocked; at first this role is. A path is followed until `sender` is
    /// blocked or has sent to this role: only its first message matters.
    fn available(&mut self, start: u32, sender: u32) -> Result<Vec<u32>, TooLarge> {
        let words = self.global.roles.len().div_ceil(64);
        let mut blocked = vec![0_u64; words];
        block(&mut blocked, self.role);
        let mut found = Vec::new();
        let mut visited: HashedMap<(u32, Vec<u64>), ()> = HashedMap::new();
        let mut work = vec![(start, blocked)];
        while let Some((state, blocked)) = work.pop() {
            if visited.contains_key(&(state, blocked.clone())) {
                continue;
            }
            self.spend(words)?;
            for edge in self.global.edges(state) {
                let Letter { from, to, .. } = self.global.letters[edge.letter as usize];
                let mut after = blocked.clone();
                if is_blocked(&blocked, from) {
                    block(&mut after, to);
                } else if from == sender && to == self.role {
                    found.push(edge.letter);
                    continue;
                }
                if !is_blocked(&after, sender) {
                    work.push((edge.target, after));
                }
            }
            visited.insert((state, blocked), ());
        }
        sorted::sort(&mut found);
        found.dedup();
        Ok(found)
    }

    /// Merges equivalent states and numbers them depth first, in the order of the text.
    fn finish(self) -> Projection {
        let mut moves: Vec<Move> = Vec::with_capacity(self.edges.len());
        for (source, state) in (0..).zip(&self.states) {
            for edge in &self.edges[state.edges.0 as usize..state.edges.1 as usize] {
                moves.push(Move {
                    source,
                    letter: edge.letter,
                    target: edge.target,
                });
            }
        }
        let classes = minimise::classes(self.states.len(), self.global.letters.len(), &moves);
        let classes = classes.as_slice();
        let class_count = classes.iter().max().map_or(0, |&class| class as usize + 1);
        // `members[first[c]..first[c + 1]]` are the states of class `c`, in order.
        let mut first = vec![0_u32; class_count + 1];
        for &class in classes {
            first[class as usize + 1] += 1;
        }
        for class in 0..class_count {
            first[class + 1] += first[class];
        }
        let mut members = vec![0_u32; classes.len()];
        let mut free = first.clone();
        for (state, &class) in (0..).zip(classes) {
            let slot = &mut free[class as usize];
            members[*slot as usize] = state;
            *slot += 1;
        }

        let mut order: Vec<u32> = Vec::with_capacity(class_count);
        let mut number = vec![NONE; class_count];
        let mut stack = vec![classes[0]];
        while let Some(class) = stack.pop() {
            if number[class as usize] != NONE {
                continue;
            }
            number[class as usize] = index(order.len());
            order.push(class);
            let edges = self.edges_of(members[first[class as usize] as usize]);
            if let [edge] = edges {
                stack.push(classes[edge.target as usize]);
            } else {
                stack.extend(edges.iter().rev().map(|edge| classes[edge.target as usize]));
            }
        }

        let role = &self.global.roles[self.role as usize];
        let mut builder = Fsm::builder(role.clone());
        let states: Vec<StateId> = order.iter().map(|_| builder.add_state()).collect();
        let mut ends = Vec::with_capacity(moves.len());
        let mut origins: Vec<Span> = Vec::with_capacity(moves.len());
        for (source, &class) in order.iter().enumerate() {
            let (from, to) = (first[class as usize], first[class as usize + 1]);
            let members = &members[from as usize..to as usize];
            for edge in self.edges_of(members[0]) {
                let target = number[classes[edge.target as usize] as usize];
                let action = action(self.global, self.role, edge.letter);
                builder.add_transition(states[source], action, states[target as usize]);

                let start = origins.len();
                if members.len() == 1 {
                    self.origins(edge, &mut origins);
                } else {
                    for &member in members {
                        // Equivalent states have the same letters.
                        let same = self.edges_of(member).iter();
                        for other in same.filter(|other| other.letter == edge.letter) {
                            self.origins(other, &mut origins);
                        }
                    }
                }
                if origins.len() > start + 1 {
                    let mut tail = origins.split_off(start);
                    sorted::sort(&mut tail);
                    tail.dedup();
                    origins.extend(tail);
                }
                ends.push(index(origins.len()));
            }
        }
        Projection {
            fsm: builder.build(states[0]),
            ends,
            origins,
        }
    }

    /// Appends where a local edge is written.
    fn origins(&self, edge: &LocalEdge, origins: &mut Vec<Span>) {
        for &(source, at) in self.written(edge) {
            let edge = &self.global.edges(source)[at as usize];
            origins.extend_from_slice(self.global.origins(edge));
        }
    }

    // Explanations: only made when there is something to explain.

    fn explain(&self) -> Vec<Diagnostic> {
        let name = self.global.roles[self.role as usize].as_str();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        // The choices that are explained already: what follows from them is an echo.
        let mut explained = Vec::new();
        for (state, problem) in &self.problems {
            if diagnostics.len() >= MOST_ERRORS {
                break;
            }
            let edges = self.edges_of(*state);
            let global_edge = |edge: usize| self.written(&edges[edge])[0];
            let (branches, diagnostic) = match *problem {
                Problem::SendUnknown { edge, stuck } => {
                    let sent = global_edge(edge);
                    let branches = self.branches(*state, sent, (stuck, NONE));
                    let marks = branches.as_ref().map(|found| &found.1);
                    let diagnostic = codes::send_unknown(name, &self.step(sent), marks);
                    (branches, diagnostic)
                }
                Problem::NeverTold { edge, stuck } => {
                    let awaited = global_edge(edge);
                    let branches = self.branches(*state, awaited, (stuck, NONE));
                    let marks = branches.as_ref().map(|found| &found.1);
                    let ends = self.can_end(stuck);
                    let diagnostic = codes::never_told(name, &self.step(awaited), marks, ends);
                    (branches, diagnostic)
                }
                Problem::SendOrReceive { send, receive } => {
                    let (send, receive) = (global_edge(send), global_edge(receive));
                    let branches = self.branches(*state, send, receive);
                    let marks = branches.as_ref().map(|found| &found.1);
                    let (send, receive) = (self.step(send), self.step(receive));
                    let diagnostic = codes::send_or_receive(name, &send, &receive, marks);
                    (branches, diagnostic)
                }
                Problem::Overtaken { awaited, taken } => {
                    let awaited = global_edge(awaited);
                    let branches = self.branches(*state, awaited, taken);
                    let marks = branches.as_ref().map(|found| &found.1);
                    let (awaited, taken) = (self.step(awaited), self.step(taken));
                    let diagnostic = codes::overtaken(name, &awaited, &taken, marks);
                    (branches, diagnostic)
                }
                Problem::PayloadUnknown { one, other } => {
                    let (one, other) = (global_edge(one), global_edge(other));
                    let branches = self.branches(*state, one, other);
                    let marks = branches.as_ref().map(|found| &found.1);
                    let (one, other) = (self.step(one), self.step(other));
                    let diagnostic = codes::payload_unknown(name, &one, &other, marks);
                    (branches, diagnostic)
                }
            };
            let choice = branches.map(|(choice, _)| choice);
            if choice.is_some() && explained.contains(&choice) {
                continue;
            }
            explained.push(choice);
            diagnostics.push(diagnostic);
        }
        diagnostic::sort(&mut diagnostics);
        diagnostics
    }

    fn edge(&self, (source, at): EdgeAt) -> &'g Edge {
        &self.global.edges(source)[at as usize]
    }

    fn step(&self, edge: EdgeAt) -> codes::Step {
        self.global.step(self.edge(edge))
    }

    /// Whether the protocol can end from `state`.
    fn can_end(&self, state: u32) -> bool {
        let mut seen = vec![false; self.global.len()];
        let mut work = vec![state];
        while let Some(state) = work.pop() {
            if std::mem::replace(&mut seen[state as usize], true) {
                continue;
            }
            let edges = self.global.edges(state);
            if edges.is_empty() {
                return true;
            }
            work.extend(edges.iter().map(|edge| edge.target));
        }
        false
    }

    /// Two runs that look the same to the role, one to each of two edges (or states, where the second
    /// number is [`NONE`]): the global state where they part, and the two ways there.
    fn branches(&self, state: u32, one: EdgeAt, other: EdgeAt) -> Option<(u32, Branches)> {
        let word = self.word(state);
        let runs = [self.run(&word, one.0)?, self.run(&word, other.0)?];
        // Where they part is found with the next step, what looks the same is shown without.
        let next = |run: &[EdgeAt], edge: EdgeAt| {
            let more = (edge.1 != NONE).then_some(edge);
            run.iter().copied().chain(more).collect::<Vec<_>>()
        };
        let (one, other) = (next(&runs[0], one), next(&runs[1], other));
        let part = one
            .iter()
            .zip(&other)
            .position(|(one, other)| one != other)
            .unwrap_or(one.len().min(other.len()));
        let first = *one.get(part)?;
        let letter = self.global.letters[self.edge(first).letter as usize];
        let branches = Branches {
            chooser: self.global.roles[letter.from as usize].to_string(),
            one: self.step(first),
            other: other.get(part).map(|&edge| self.step(edge)),
            runs: runs.map(|run| {
                let steps = run.iter().map(|&at| self.global.text(self.edge(at)));
                steps.collect()
            }),
        };
        Some((first.0, branches))
    }

    /// What the role has seen when it comes to a local state for the first time.
    fn word(&self, state: u32) -> Vec<u32> {
        let mut word = Vec::new();
        let mut at = state;
        loop {
            let (parent, letter) = self.states[at as usize].parent;
            if parent == NONE {
                break;
            }
            word.push(letter);
            at = parent;
        }
        word.reverse();
        word
    }

    /// The shortest run of the protocol to `goal` of which the role sees exactly `word`, as edges. Breadth first over
    /// pairs of a global state and how much of the word is seen: O(word · edges), and nothing if that is too long.
    fn run(&self, word: &[u32], goal: u32) -> Option<Vec<EdgeAt>> {
        /// The entry of the queue before, and the edge from there.
        type Back = (usize, EdgeAt);
        let mut found: HashedMap<(u32, u32), usize> = HashedMap::new();
        // The state, how much is seen, and how it was reached.
        let mut queue: Vec<(u32, u32, Option<Back>)> = vec![(0, 0, None)];
        found.insert((0, 0), 0);
        let mut at = 0;
        while at < queue.len() && queue.len() < LONGEST_SEARCH {
            let (state, seen, _) = queue[at];
            if state == goal && seen as usize == word.len() {
                let mut run = Vec::new();
                let mut back = at;
                while let Some((before, edge)) = queue[back].2 {
                    run.push(edge);
                    back = before;
                }
                run.reverse();
                return Some(run);
            }
            for (position, edge) in (0..).zip(self.global.edges(state)) {
                let seen = match self.sees(edge.letter) {
                    false => seen,
                    true if word.get(seen as usize) == Some(&edge.letter) => seen + 1,
                    true => continue,
                };
                if !found.contains_key(&(edge.target, seen)) {
                    found.insert((edge.target, seen), queue.len());
                    queue.push((edge.target, seen, Some((at, (state, position)))));
                }
            }
            at += 1;
        }
        None
    }
}

fn sees(global: &Global, role: u32, letter: u32) -> bool {
    let letter = &global.letters[letter as usize];
    letter.from == role || letter.to == role
}

fn is_blocked(blocked: &[u64], role: u32) -> bool {
    blocked[role as usize / 64] >> (role % 64) & 1 == 1
}

fn block(blocked: &mut [u64], role: u32) {
    blocked[role as usize / 64] |= 1 << (role % 64);
}

fn action(global: &Global, role: u32, letter: u32) -> Action {
    let Letter { from, to, message } = global.letters[letter as usize];
    let (peer, direction) = if from == role {
        (to, Direction::Send)
    } else {
        (from, Direction::Receive)
    };
    Action {
        peer: Role::clone(&global.roles[peer as usize]),
        direction,
        message: global.messages[message.0 as usize].clone(),
    }
}

/// For each state the next one that is not left by a single ε: long stretches without the role become one
/// state. A state on a cycle of single ε stands for itself and for all that lead to it.
///
/// It is done for every role over all states, so its loops are such that they cost little where nothing is inlined.
fn contract(global: &Global, role: u32) -> Vec<u32> {
    let hops = global.hops.as_slice();
    let silent = |hop: Hop| hop.target != NONE && hop.from != role && hop.to != role;
    let mut table = vec![NONE; hops.len()];
    let rep = table.as_mut_slice();
    let mut path = Vec::new();
    // Backwards: most edges lead to a state with a greater number, which is known by then.
    let mut start = hops.len();
    while start > 0 {
        start -= 1;
        let hop = hops[start];
        if !silent(hop) {
            rep[start] = index(start);
            continue;
        }
        let next = rep[hop.target as usize];
        if next != NONE && rep[start] == NONE {
            rep[start] = next;
            continue;
        }
        let mut at = start;
        let end = loop {
            if rep[at] != NONE {
                break rep[at];
            }
            // Until the end of the path is known, a state stands for itself: a cycle ends here.
            rep[at] = index(at);
            if !silent(hops[at]) {
                break rep[at];
            }
            path.push(at);
            at = hops[at].target as usize;
        };
        for at in path.drain(..) {
            rep[at] = end;
        }
    }
    table
}
