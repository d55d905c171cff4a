//! Systems: one machine per role, composed over queues, and every way in which they can go wrong.
//!
//! # Meaning
//!
//! A [`System`] has an unbounded FIFO queue for each ordered pair of roles. A *configuration* is a state for
//! each machine and a content for each queue; at first all machines are in their initial states and all queues
//! are empty. A send puts its message into the queue to its peer; a receive takes it from the head of the queue from its peer.
//!
//! The system is **unsafe** if it can reach
//!
//! * a *deadlock*: nobody can move, somebody is not finished (a machine is finished in a terminal state);
//! * an *unspecified reception*: a role waits, and the head of each queue that it listens to is a message that it
//!   cannot take in this state;
//! * an *orphan message*: a message that can never be received from here on, because its receiver is
//!   finished, has no receive from this sender ahead of it, or never gets there whatever happens.
//!
//! It **starves** a role if from some reachable configuration on, the role waits for a message that can
//! never come. A deadlock starves too; so starvation is looked for only in systems that are otherwise safe.
//!
//! # How it is explored
//!
//! Breadth first, so that the first bad configuration met has the shortest run; each configuration is stored once,
//! as one flat slice. Orphans and starvation that concern all continuations are found afterwards by going backwards through the
//! explored graph from the configurations where the message is received, or the role moves. A configuration whose successors
//! were not all explored counts as one where anything may still happen, so a failure that is reported is always real.
//!
//! Queues of a safe system need not be bounded, and then there are infinitely many configurations. So the search has a bound k that no queue may
//! exceed, which is 1, 2, 4, … in turn. It settles the matter if no send was held back by the bound; or if each send that was can be made after others
//! moved first, and all machines are directed. The latter is k-exhaustivity (Lange and Yoshida, CAV'19): every run is then a reordering of
//! one within the bound, and goes wrong if that one does. `a: rec X. b!x. X` with `b: rec X. a?x. X` is settled by k = 1, although
//! the queue may grow for ever.
//!
//! A failure is found with the shortest run under the bound. A run of n steps needs no queue longer than n, so a second
//! search, as deep as n, looks for a shorter one under that bound, if the budget allows.
//!
//! Cost: O(configurations · machines · branching) time, and O(configurations · (machines + messages in queues)) memory.

use std::{error::Error, fmt, rc::Rc};

use crate::{
    hashed::HashedMap,
    machine::{Direction, Fsm, Message, Role, TransitionId},
    run::{Failure, Run, Step},
    sorted::{SortedMap, SortedSet},
    verdict::{Limit, Limits, Verdict},
};

/// The machines of all roles of a protocol.
///
/// Roles are pairwise distinct, and every peer of a transition is one of them.
#[derive(Clone, Debug)]
pub struct System {
    machines: Vec<Fsm>,
    indices: SortedMap<Role, usize>,
}

impl System {
    /// Composes the machines. They need not be directed.
    ///
    /// # Errors
    /// Two machines of one role, and a transition whose peer has no machine or is its own role.
    pub fn new(machines: Vec<Fsm>) -> Result<Self, SystemError> {
        let mut indices = SortedMap::new();
        for (index, machine) in machines.iter().enumerate() {
            if indices.insert(machine.role().clone(), index).is_some() {
                return Err(SystemError::Duplicate {
                    role: machine.role().clone(),
                });
            }
        }
        for machine in &machines {
            for transition in machine.transitions() {
                let (role, peer) = (machine.role().clone(), transition.action.peer.clone());
                let transition = transition.id;
                if peer == role {
                    return Err(SystemError::SelfMessage { role, transition });
                }
                if !indices.contains_key(&peer) {
                    return Err(SystemError::UnknownPeer {
                        role,
                        transition,
                        peer,
                    });
                }
            }
        }
        Ok(Self { machines, indices })
    }

    /// The machines, in the order in which they were given.
    pub fn machines(&self) -> &[Fsm] {
        &self.machines
    }

    /// Which machine plays `role`.
    pub fn index_of(&self, role: &Role) -> Option<usize> {
        self.indices.get(role).copied()
    }
}

/// Machines that make no system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemError {
    /// Two machines have one role.
    Duplicate {
        /// The role.
        role: Role,
    },
    /// A machine exchanges a message with itself.
    SelfMessage {
        /// Its role.
        role: Role,
        /// The transition.
        transition: TransitionId,
    },
    /// A machine's peer has no machine.
    UnknownPeer {
        /// The machine's role.
        role: Role,
        /// The transition that names the peer.
        transition: TransitionId,
        /// The peer.
        peer: Role,
    },
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { role } => {
                write!(
                    f,
                    "there are two machines of `{role}`; a system has one for each role"
                )
            }
            Self::SelfMessage { role, .. } => {
                write!(
                    f,
                    "`{role}` exchanges a message with itself; name another role as its peer"
                )
            }
            Self::UnknownPeer { role, peer, .. } => {
                write!(
                    f,
                    "`{role}` talks to `{peer}`, which has no machine; add it to the system"
                )
            }
        }
    }
}

impl Error for SystemError {}

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Safe: every configuration was explored. Unsafe: the run that shows it. Undecided: nothing bad was found in what
    /// [`coverage`](Self::coverage) describes.
    pub verdict: Verdict<(), Run>,
    /// A shortest run to where a role starves, if one was found and the system is not unsafe.
    pub starvation: Option<Run>,
    /// How far the exploration went.
    pub coverage: Coverage,
}

/// How much of a system was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Whether nothing that can happen was left out.
    pub exhaustive: bool,
    /// All runs in which no queue ever holds more messages were explored. If the exploration was exhaustive,
    /// every run is one of those or a reordering of one.
    pub bound: usize,
    /// The number of configurations met, those of the last search only.
    pub configurations: usize,
}

/// Explores a system until something is wrong, everything is explored or a limit is reached.
///
/// ```
/// use rumpsteak_fsm::{Limits, dot, system::{System, explore}};
///
/// let machines = dot::parse(r#"
///     digraph a { 0 -> 1 [label="b?x"]; 1 -> 2 [label="b!y"] }
///     digraph b { 0 -> 1 [label="a?y"]; 1 -> 2 [label="a!x"] }
/// "#)?;
/// let system = System::new(machines)?;
/// let exploration = explore(&system, &Limits::default());
/// let run = exploration.verdict.refusal().ok_or("a deadlock is expected")?;
/// assert_eq!(run.steps, []);
/// assert_eq!(run.failure.to_string(), "nobody can move");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explore(system: &System, limits: &Limits) -> Exploration {
    let compiled = Compiled::new(system);
    let mut remaining = limits.configurations;
    let mut bound = limits.queue.min(1);
    let mut done = Coverage {
        exhaustive: false,
        bound: 0,
        configurations: 0,
    };
    let mut starvation = None;
    loop {
        let mut search = Search::new(&compiled, remaining, bound, usize::MAX);
        remaining -= search.nodes.len().min(remaining);
        let settled = search.settle(&compiled);
        let coverage = Coverage {
            exhaustive: settled,
            bound: if search.held_back.is_empty() {
                search.longest
            } else {
                bound
            },
            configurations: search.nodes.len(),
        };

        if let Some((at, flaw)) = search.flaw.or_else(|| search.lost_message(&compiled)) {
            let run = search
                .shorter(&compiled, at, remaining, limits.queue)
                .unwrap_or((search, at, flaw));
            let (search, at, flaw) = run;
            if let Some(run) = search.run(system, &compiled, at, flaw) {
                return Exploration {
                    verdict: Verdict::Unsafe(run),
                    starvation: None,
                    coverage,
                };
            }
            // Not reached: what a search finds, replays.
            return undecided(
                Limit::Configurations(limits.configurations),
                starvation,
                done,
            );
        }
        let starved = search.starved(&compiled);
        starvation =
            starvation.or(starved.and_then(|(at, flaw)| search.run(system, &compiled, at, flaw)));
        if settled {
            return Exploration {
                verdict: Verdict::Safe(()),
                starvation,
                coverage,
            };
        }
        if !search.complete {
            return undecided(
                Limit::Configurations(limits.configurations),
                starvation,
                done,
            );
        }
        done = coverage;
        if bound >= limits.queue {
            return undecided(Limit::Queue(limits.queue), starvation, done);
        }
        bound = bound.saturating_mul(2).min(limits.queue);
    }
}

fn undecided(limit: Limit, starvation: Option<Run>, coverage: Coverage) -> Exploration {
    Exploration {
        verdict: Verdict::Undecided(limit),
        starvation,
        coverage,
    }
}

/// A [`Failure`] with everything interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Flaw {
    UnspecifiedReception { channel: usize },
    Orphan { channel: usize },
    Deadlock,
    Starvation { machine: usize },
}

/// An ordered pair of machines between which messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Channel {
    from: usize,
    to: usize,
}

/// A transition with everything interned.
#[derive(Clone, Copy, Debug)]
struct Edge {
    direction: Direction,
    channel: usize,
    message: u32,
    target: u32,
    transition: TransitionId,
}

/// A system with everything interned.
struct Compiled {
    channels: Vec<Channel>,
    /// Whether all machines are directed.
    directed: bool,
    /// By machine and state.
    edges: Vec<Vec<Vec<Edge>>>,
    initial: Vec<u32>,
    /// By machine and state, the channels from which the machine may receive at any time from there on.
    listens: Vec<Vec<Vec<bool>>>,
}

impl Compiled {
    fn new(system: &System) -> Self {
        let mut channel_ids: SortedMap<Channel, usize> = SortedMap::new();
        let mut messages: HashedMap<&Message, u32> = HashedMap::new();
        let mut edges: Vec<Vec<Vec<Edge>>> = vec![];
        for (own, machine) in system.machines.iter().enumerate() {
            let mut states = vec![vec![]; machine.len()];
            for transition in machine.transitions() {
                let action = transition.action;
                // `System::new` has seen that every peer has a machine.
                let Some(peer) = system.index_of(&action.peer) else {
                    continue;
                };
                let channel = match action.direction {
                    Direction::Send => Channel {
                        from: own,
                        to: peer,
                    },
                    Direction::Receive => Channel {
                        from: peer,
                        to: own,
                    },
                };
                let next = channel_ids.len();
                let channel = *channel_ids.or_insert_with(channel, || next);
                let next = messages.len() as u32;
                let message = *messages.or_insert_with(&action.message, || next);
                states[transition.source.index()].push(Edge {
                    direction: action.direction,
                    channel,
                    message,
                    target: transition.target.index() as u32,
                    transition: transition.id,
                });
            }
            edges.push(states);
        }

        let mut channels = vec![Channel { from: 0, to: 0 }; channel_ids.len()];
        for (channel, id) in channel_ids {
            channels[id] = channel;
        }
        let listens = edges
            .iter()
            .map(|states| listens(states, channels.len()))
            .collect();
        let initial = system
            .machines
            .iter()
            .map(|m| m.initial().index() as u32)
            .collect();
        let directed = system
            .machines
            .iter()
            .all(|machine| machine.check_directed().is_ok());
        Self {
            channels,
            directed,
            edges,
            initial,
            listens,
        }
    }

    fn edges(&self, machine: usize, state: u32) -> &[Edge] {
        &self.edges[machine][state as usize]
    }

    /// What is wrong in the configuration itself, deadlock excepted. `head` gives the next message of a channel.
    fn flaw(&self, key: &[u32], head: impl Fn(usize) -> Option<u32>) -> Option<Flaw> {
        for (edges, &state) in self.edges.iter().zip(key) {
            let edges = &edges[state as usize];
            let refused = |edge: &Edge| {
                edge.direction == Direction::Receive
                    && head(edge.channel).is_some_and(|message| message != edge.message)
            };
            if let Some(first) = edges.first().filter(|_| edges.iter().all(refused)) {
                return Some(Flaw::UnspecifiedReception {
                    channel: first.channel,
                });
            }
        }
        let orphan = |&channel: &usize| {
            let to = self.channels[channel].to;
            head(channel).is_some() && !self.listens[to][key[to] as usize][channel]
        };
        (0..self.channels.len())
            .find(orphan)
            .map(|channel| Flaw::Orphan { channel })
    }
}

/// By state, the channels that some transition reachable from it receives from.
fn listens(states: &[Vec<Edge>], channels: usize) -> Vec<Vec<bool>> {
    let mut predecessors = vec![vec![]; states.len()];
    for (state, edges) in states.iter().enumerate() {
        for edge in edges {
            predecessors[edge.target as usize].push(state);
        }
    }
    let mut listens = vec![vec![false; channels]; states.len()];
    // One search per channel, so the states that listen to it are marked one by one.
    #[expect(clippy::needless_range_loop, reason = "the channel is the inner index")]
    for channel in 0..channels {
        let receives =
            |edge: &Edge| edge.direction == Direction::Receive && edge.channel == channel;
        let mut open: Vec<usize> = (0..states.len())
            .filter(|&s| states[s].iter().any(receives))
            .collect();
        for &state in &open {
            listens[state][channel] = true;
        }
        while let Some(state) = open.pop() {
            for &predecessor in &predecessors[state] {
                if !std::mem::replace(&mut listens[predecessor][channel], true) {
                    open.push(predecessor);
                }
            }
        }
    }
    listens
}

/// A configuration: the machines' states, then for each channel its length and its messages, oldest first.
type Key = Rc<[u32]>;

/// A step of an explored graph.
#[derive(Clone, Copy, Debug)]
struct Arc {
    from: u32,
    to: u32,
    machine: u32,
    channel: u32,
    direction: Direction,
}

/// An explored graph. Configurations are numbered in breadth-first order.
struct Search {
    nodes: Vec<Key>,
    /// How each configuration was met first: from which one, by which machine's edge. The first has none.
    parents: Vec<Option<(u32, u32, Edge)>>,
    depths: Vec<u32>,
    steps: Vec<Arc>,
    /// Whether a configuration has successors that were not explored.
    truncated: Vec<bool>,
    /// Sends that the bound held back: in which configuration, into which channel.
    held_back: Vec<(u32, u32)>,
    flaw: Option<(u32, Flaw)>,
    /// Whether the budget sufficed.
    complete: bool,
    longest: usize,
}

impl Search {
    fn new(compiled: &Compiled, budget: usize, bound: usize, deepest: usize) -> Self {
        let mut search = Self {
            nodes: vec![],
            parents: vec![],
            depths: vec![],
            steps: vec![],
            truncated: vec![],
            held_back: vec![],
            flaw: None,
            complete: true,
            longest: 0,
        };
        // Ids have 32 bits; memory ends long before.
        let budget = budget.min(u32::MAX as usize);
        let mut ids: HashedMap<Key, u32> = HashedMap::new();
        let mut first = compiled.initial.clone();
        first.resize(first.len() + compiled.channels.len(), 0);
        search.insert(&mut ids, first.into(), None);

        let mut next = 0;
        while next < search.nodes.len() {
            let open = (search.depths[next] as usize) < deepest;
            search.expand(
                compiled,
                &mut ids,
                next as u32,
                if open { budget } else { 0 },
                bound,
            );
            if search.flaw.is_some() {
                break;
            }
            next += 1;
        }
        search
    }

    fn insert(
        &mut self,
        ids: &mut HashedMap<Key, u32>,
        key: Key,
        parent: Option<(u32, u32, Edge)>,
    ) -> u32 {
        let id = self.nodes.len() as u32;
        ids.insert(Rc::clone(&key), id);
        self.nodes.push(key);
        let depth = parent.map_or(0, |(parent, ..)| self.depths[parent as usize] + 1);
        self.depths.push(depth);
        self.parents.push(parent);
        self.truncated.push(false);
        id
    }

    /// Judges configuration `at` and meets its successors.
    fn expand(
        &mut self,
        compiled: &Compiled,
        ids: &mut HashedMap<Key, u32>,
        at: u32,
        budget: usize,
        bound: usize,
    ) {
        let key = Rc::clone(&self.nodes[at as usize]);
        let queues = queues(compiled, &key);
        for &(_, length) in &queues {
            self.longest = self.longest.max(length);
        }
        let head = |channel: usize| {
            let (start, length) = queues[channel];
            (length > 0).then(|| key[start])
        };
        if let Some(flaw) = compiled.flaw(&key, head) {
            self.flaw = Some((at, flaw));
            return;
        }

        let mut moved = false;
        for machine in 0..compiled.initial.len() {
            for edge in compiled.edges(machine, key[machine]) {
                let (start, length) = queues[edge.channel];
                let mut successor: Vec<u32>;
                match edge.direction {
                    Direction::Send => {
                        moved = true;
                        if length >= bound {
                            self.truncated[at as usize] = true;
                            self.held_back.push((at, edge.channel as u32));
                            continue;
                        }
                        successor = Vec::with_capacity(key.len() + 1);
                        successor.extend_from_slice(&key[..start + length]);
                        successor.push(edge.message);
                        successor.extend_from_slice(&key[start + length..]);
                        successor[start - 1] += 1;
                    }
                    Direction::Receive if head(edge.channel) == Some(edge.message) => {
                        moved = true;
                        successor = Vec::with_capacity(key.len() - 1);
                        successor.extend_from_slice(&key[..start]);
                        successor.extend_from_slice(&key[start + 1..]);
                        successor[start - 1] -= 1;
                    }
                    Direction::Receive => continue,
                }
                successor[machine] = edge.target;
                let to = match ids.get(successor.as_slice()) {
                    Some(&id) => id,
                    None if self.nodes.len() >= budget => {
                        self.complete = false;
                        self.truncated[at as usize] = true;
                        continue;
                    }
                    None => self.insert(ids, successor.into(), Some((at, machine as u32, *edge))),
                };
                self.steps.push(Arc {
                    from: at,
                    to,
                    machine: machine as u32,
                    channel: edge.channel as u32,
                    direction: edge.direction,
                });
            }
        }

        let finished = |machine: usize| compiled.edges(machine, key[machine]).is_empty();
        if !moved && !(0..compiled.initial.len()).all(finished) {
            self.flaw = Some((at, Flaw::Deadlock));
        }
    }

    /// The run to configuration `at`.
    fn run(&self, system: &System, compiled: &Compiled, at: u32, flaw: Flaw) -> Option<Run> {
        let mut steps = vec![];
        let mut node = at;
        while let Some((parent, machine, edge)) = self.parents[node as usize] {
            let machine = &system.machines[machine as usize];
            steps.push(Step {
                role: machine.role().clone(),
                transition: edge.transition,
                action: machine.transition(edge.transition).action.clone(),
            });
            node = parent;
        }
        steps.reverse();

        let role = |machine: usize| system.machines[machine].role().clone();
        let ends = |channel: usize| {
            let Channel { from, to } = compiled.channels[channel];
            (role(from), role(to))
        };
        let failure = match flaw {
            Flaw::Deadlock => Failure::Deadlock,
            Flaw::Starvation { machine } => Failure::Starvation {
                role: role(machine),
            },
            Flaw::Orphan { channel } => {
                let (from, to) = ends(channel);
                Failure::Orphan { from, to }
            }
            Flaw::UnspecifiedReception { channel } => {
                let (from, to) = ends(channel);
                Failure::UnspecifiedReception { from, to }
            }
        };
        let run = Run::of(system, steps, failure);
        debug_assert!(
            run.is_ok(),
            "the exploration and the replay disagree: {run:?}"
        );
        run.ok()
    }

    /// Whether what was explored says all about the system; see the module's documentation.
    fn settle(&mut self, compiled: &Compiled) -> bool {
        if !self.complete || self.flaw.is_some() {
            return false;
        }
        if !self.held_back.is_empty() {
            if !compiled.directed {
                return false;
            }
            let reverse = self.reverse();
            let channels: SortedSet<u32> =
                self.held_back.iter().map(|&(_, channel)| channel).collect();
            for channel in channels {
                let sender = compiled.channels[channel as usize].from as u32;
                let nothing = vec![false; self.nodes.len()];
                let sends = |arc: &Arc| arc.channel == channel && arc.direction == Direction::Send;
                // The sender is directed: where one of its sends is possible, all are.
                let possible =
                    self.backwards(&reverse, nothing, sends, |arc| arc.machine != sender);
                if self
                    .held_back
                    .iter()
                    .any(|&(at, own)| own == channel && !possible[at as usize])
                {
                    return false;
                }
            }
        }
        self.truncated.fill(false);
        true
    }

    /// A search that comes to a flaw in fewer steps than this one comes to `at`, if there is one within the budget.
    fn shorter(
        &self,
        compiled: &Compiled,
        at: u32,
        budget: usize,
        queue: usize,
    ) -> Option<(Self, u32, Flaw)> {
        let steps = self.depths[at as usize] as usize;
        if self.held_back.is_empty() || steps == 0 {
            return None;
        }
        let search = Self::new(compiled, budget, steps.min(queue), steps - 1);
        let (at, flaw) = search.flaw?;
        Some((search, at, flaw))
    }

    /// The first configuration with a message at the head of a queue that is received in no continuation.
    fn lost_message(&self, compiled: &Compiled) -> Option<(u32, Flaw)> {
        let reverse = self.reverse();
        (0..compiled.channels.len())
            .filter_map(|channel| {
                let possible = {
                    let received = |arc: &Arc| {
                        arc.channel == channel as u32 && arc.direction == Direction::Receive
                    };
                    self.backwards(&reverse, self.truncated.clone(), received, |_| true)
                };
                let lost = |&at: &u32| {
                    !possible[at as usize]
                        && queues(compiled, &self.nodes[at as usize])[channel].1 > 0
                };
                let first = (0..self.nodes.len() as u32).find(lost)?;
                Some((first, Flaw::Orphan { channel }))
            })
            .min()
    }

    /// The first configuration where a machine waits and moves in no continuation.
    fn starved(&self, compiled: &Compiled) -> Option<(u32, Flaw)> {
        let reverse = self.reverse();
        (0..compiled.initial.len())
            .filter_map(|machine| {
                let possible = {
                    let moves = |arc: &Arc| arc.machine == machine as u32;
                    self.backwards(&reverse, self.truncated.clone(), moves, |_| true)
                };
                let starved = |&at: &u32| {
                    let state = self.nodes[at as usize][machine];
                    !possible[at as usize] && !compiled.edges(machine, state).is_empty()
                };
                let first = (0..self.nodes.len() as u32).find(starved)?;
                Some((first, Flaw::Starvation { machine }))
            })
            .min()
    }

    /// The steps grouped by where they lead: offsets, and indices into `steps`.
    fn reverse(&self) -> (Vec<u32>, Vec<u32>) {
        let mut offsets = vec![0_u32; self.nodes.len() + 1];
        for arc in &self.steps {
            offsets[arc.to as usize + 1] += 1;
        }
        for index in 1..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        let mut fill = offsets.clone();
        let mut grouped = vec![0; self.steps.len()];
        for (index, arc) in self.steps.iter().enumerate() {
            grouped[fill[arc.to as usize] as usize] = index as u32;
            fill[arc.to as usize] += 1;
        }
        (offsets, grouped)
    }

    /// The configurations in `possible`, and those from which a `wanted` step may be taken after none but `allowed` ones.
    fn backwards(
        &self,
        (offsets, grouped): &(Vec<u32>, Vec<u32>),
        mut possible: Vec<bool>,
        wanted: impl Fn(&Arc) -> bool,
        allowed: impl Fn(&Arc) -> bool,
    ) -> Vec<bool> {
        for arc in self.steps.iter().filter(|arc| wanted(arc)) {
            possible[arc.from as usize] = true;
        }
        let mut open: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|&at| possible[at as usize])
            .collect();
        while let Some(at) = open.pop() {
            let range = offsets[at as usize] as usize..offsets[at as usize + 1] as usize;
            for &step in &grouped[range] {
                let arc = &self.steps[step as usize];
                if allowed(arc) && !std::mem::replace(&mut possible[arc.from as usize], true) {
                    open.push(arc.from);
                }
            }
        }
        possible
    }
}

/// Where each channel's messages stand in a configuration, and how many they are.
fn queues(compiled: &Compiled, key: &[u32]) -> Vec<(usize, usize)> {
    let mut position = compiled.initial.len();
    let mut queues = Vec::with_capacity(compiled.channels.len());
    for _ in &compiled.channels {
        let length = key[position] as usize;
        queues.push((position + 1, length));
        position += 1 + length;
    }
    queues
}
