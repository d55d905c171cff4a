//! Capacities and occupancies: stated values, and a simulation of blocking sends over random
//! systems.

use std::collections::{BTreeMap, VecDeque};
use std::fs;

use fastrand::Rng;
use rumpsteak_fsm::capacity::{self, Capacities, Occupancy};
use rumpsteak_fsm::kmc::Verdict;
use rumpsteak_fsm::{Direction, Fsm, Limit, Limits, Message, StateId, System, TransitionId, text};
use rumpsteak_oracle::{action, corpus, seeds};

use crate::common::{dual, leading_to};
use crate::systems::channels;

fn system(source: &str) -> System {
    System::new(text::parse(source).unwrap()).unwrap()
}

#[track_caller]
fn found(source: &str) -> Vec<String> {
    let capacities = capacity::find(&system(source), &Limits::default()).unwrap();
    assert!(capacities.is_minimal);
    channels(&capacities).collect()
}

#[test]
fn one_of_two_long_queues_may_be_short() {
    let both = |x: usize, y: usize| {
        let [sends, receives] = ["b!x; ", "a?x; "].map(|action| action.repeat(x));
        let [answers, answered] = ["a!y; ", "b?y; "].map(|action| action.repeat(y));
        format!("a: rec X . {sends}{answered}X\nb: rec X . {answers}{receives}X")
    };
    assert_eq!(found(&both(8, 8)), ["a▶b 16 1", "b▶a 16 8"]);
    // Eight places each are enough. Then the first queue cannot be shorter.
    assert_eq!(found(&both(8, 9)), ["a▶b 16 8", "b▶a 18 1"]);
}

#[test]
fn repeating_keeps_ids() {
    let once = system("a: {b!x; end, b!y; b?z; end}\nb: {a?x; end, a?y; a!z; end}");
    let repeated = capacity::repeated(&once);
    let show = |machine: &Fsm| format!("{machine:?}");
    assert_eq!(
        repeated.machines().iter().map(show).collect::<Vec<_>>(),
        [
            "a: 3 states from 0, 0 -b!x-> 0, 0 -b!y-> 2, 2 -b?z-> 0",
            "b: 3 states from 0, 0 -a?x-> 0, 0 -a?y-> 2, 2 -a!z-> 0"
        ]
    );
}

#[test]
fn what_is_not_safe_has_no_capacities() {
    let deadlock = capacity::find(&system("a: b?x; end\nb: a?x; end"), &Limits::default());
    assert!(matches!(deadlock, Err(Verdict::Unsafe(_))));
    let grows = system("a: rec X . b!x; b!x; b?y; X\nb: rec X . a!y; a?x; X");
    let grows = capacity::find(&grows, &Limits::default());
    assert!(matches!(grows, Err(Verdict::Undecided(Limit::Queue(64)))));
}

#[test]
fn what_is_not_minimal_says_so() {
    // A budget that suffices for the verdict only.
    let far = system(&format!(
        "a: rec X . {}{}X\nb: rec X . {}{}X",
        "b!x; ".repeat(8),
        "b?y; ".repeat(8),
        "a!y; ".repeat(8),
        "a?x; ".repeat(8)
    ));
    let with =
        |configurations| capacity::find(&far, &Limits::default().configurations(configurations));
    let least = (1..).find(|&configurations| with(configurations).is_ok()).unwrap();
    let capacities = with(least).unwrap();
    assert!(!capacities.is_minimal);
    assert!(capacities.channels.iter().all(|channel| channel.capacity <= 8));
    assert_eq!(capacities.channels[1].occupancy, Occupancy::Unknown(Limit::Configurations(least)));
}

/// The states of the machines, their next messages, and the contents of the queues.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Configuration {
    states: Vec<StateId>,
    decided: Vec<Option<TransitionId>>,
    queues: BTreeMap<Channel, VecDeque<Message>>,
}

/// An ordered pair of roles, by their place in the system.
type Channel = (usize, usize);

/// To where, who completed an action, which channel was received from.
type Edge = (usize, Option<usize>, Option<Channel>);

/// Returns true if all roles can go on for ever or finish although sends block, and the lengths of
/// the channels. `None` if there are too many configurations.
fn simulate(
    system: &System,
    capacity: impl Fn(Channel) -> usize,
) -> Option<(bool, BTreeMap<Channel, usize>)> {
    let machines = system.machines();
    let start = Configuration {
        states: machines.iter().map(Fsm::initial).collect(),
        decided: vec![None; machines.len()],
        queues: BTreeMap::new(),
    };
    let mut numbers = BTreeMap::from([(start.clone(), 0)]);
    let mut all = vec![start];
    let mut edges: Vec<Vec<Edge>> = vec![];
    let mut longest: BTreeMap<Channel, usize> = BTreeMap::new();
    while edges.len() < all.len() {
        let at = all[edges.len()].clone();
        let mut steps = vec![];
        for (own, machine) in machines.iter().enumerate() {
            for transition in machine.transitions_from(at.states[own]) {
                let peer = system.index_of(&transition.action.peer).unwrap();
                let mut next = at.clone();
                match (transition.action.direction, at.decided[own]) {
                    (Direction::Send, None) => {
                        next.decided[own] = Some(transition.id);
                        steps.push((next, None, None));
                    }
                    (Direction::Send, Some(decided)) if decided == transition.id => {
                        let queue = next.queues.entry((own, peer)).or_default();
                        if queue.len() < capacity((own, peer)) {
                            queue.push_back(transition.action.message.clone());
                            let most = longest.entry((own, peer)).or_default();
                            *most = queue.len().max(*most);
                            next.decided[own] = None;
                            next.states[own] = transition.target;
                            steps.push((next, Some(own), None));
                        }
                    }
                    (Direction::Receive, None) => {
                        let Some(queue) = next.queues.get_mut(&(peer, own)) else { continue };
                        if queue.front() == Some(&transition.action.message) {
                            queue.pop_front();
                            if queue.is_empty() {
                                next.queues.remove(&(peer, own));
                            }
                            next.states[own] = transition.target;
                            steps.push((next, Some(own), Some((peer, own))));
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut own_edges = vec![];
        for (next, mover, received) in steps {
            let fresh = all.len();
            let to = *numbers.entry(next.clone()).or_insert(fresh);
            if to == fresh {
                all.push(next);
            }
            own_edges.push((to, mover, received));
        }
        edges.push(own_edges);
        if all.len() > 1_000 {
            return None;
        }
    }

    let targets = |own: &Vec<Edge>| own.iter().map(|(to, ..)| *to).collect();
    let targets: Vec<Vec<usize>> = edges.iter().map(targets).collect();
    let reaches =
        |wanted: &dyn Fn(&Edge) -> bool| leading_to(&targets, |at| edges[at].iter().any(wanted));
    let everybody_goes_on = (0..machines.len()).all(|own| {
        let goes_on = reaches(&|&(_, mover, _)| mover == Some(own));
        (0..all.len()).all(|at| machines[own].is_terminal(all[at].states[own]) || goes_on[at])
    });
    let everything_arrives = longest.keys().all(|&channel| {
        let arrives = reaches(&|&(.., received)| received == Some(channel));
        (0..all.len()).all(|at| !all[at].queues.contains_key(&channel) || arrives[at])
    });
    Some((everybody_goes_on && everything_arrives, longest))
}

fn random_machine(random: &mut Rng, role: &str, peers: &[&str], directed: bool) -> Fsm {
    let mut builder = Fsm::builder(role);
    let count = 1 + random.usize(..4);
    let states: Vec<_> = (0..count).map(|_| builder.add_state()).collect();
    for &state in &states {
        let sends = random.bool();
        let peer = peers[random.usize(..peers.len())];
        let first = random.usize(..2);
        for number in 0..[0, 1, 1, 1, 1, 2][random.usize(..6)] {
            let peer = if directed { peer } else { peers[random.usize(..peers.len())] };
            let action = action(sends, peer, ["x", "y"][(first + number) % 2], &[]);
            builder.add_transition(state, action, states[random.usize(..count)]);
        }
    }
    builder.build(states[0])
}

/// Half of them are two machines that are made for each other, one of which goes ahead a little.
fn random_system(random: &mut Rng, directed: bool) -> System {
    let roles = ["a", "b", "c"];
    let count = 2 + random.usize(..2);
    let peers = |role: usize| -> Vec<&str> {
        (0..count).filter(|&peer| peer != role).map(|peer| roles[peer]).collect()
    };
    let mut machines: Vec<Fsm> = (0..count)
        .map(|role| random_machine(random, roles[role], &peers(role), directed))
        .collect();
    if count == 2 {
        // One is some messages ahead, or both are ahead of each other.
        let [ahead, answers] = [random.usize(..4), random.usize(..4)];
        let ahead_total = ahead + answers;
        let mut one = Fsm::builder("a");
        let mut other = Fsm::builder("b");
        let both = |builder: &mut rumpsteak_fsm::FsmBuilder, n: usize| -> Vec<StateId> {
            (0..n).map(|_| builder.add_state()).collect()
        };
        let model = machines[0].clone();
        let ones = both(&mut one, ahead_total + model.len());
        let others = both(&mut other, ahead_total + model.len());
        for step in 0..ahead_total {
            let (goes, answered) = (step < ahead, step < answers);
            let own = action(goes, "b", if goes { "w" } else { "v" }, &[]);
            one.add_transition(ones[step], own, ones[step + 1]);
            let answer = action(answered, "a", if answered { "v" } else { "w" }, &[]);
            other.add_transition(others[step], answer, others[step + 1]);
        }
        for transition in model.transitions() {
            let (source, target) =
                (ahead_total + transition.source.index(), ahead_total + transition.target.index());
            one.add_transition(ones[source], transition.action.clone(), ones[target]);
            other.add_transition(others[source], dual(transition.action, "a"), others[target]);
        }
        machines = vec![one.build(ones[0]), other.build(others[0])];
    }
    System::new(machines).unwrap()
}

/// The capacities are enough, minimal where they say so, and the occupancies are met and not
/// exceeded.
fn assert_right(system: &System, capacities: &Capacities, context: &str) -> [usize; 3] {
    let index = |role| system.index_of(role).unwrap();
    let enough: BTreeMap<Channel, usize> = capacities
        .channels
        .iter()
        .map(|channel| ((index(&channel.from), index(&channel.to)), channel.capacity))
        .collect();
    let mut checked = [0; 3];
    if let Some((is_fine, _)) = simulate(system, |channel| enough[&channel]) {
        assert!(is_fine, "{context}");
        checked[0] += 1;
    }
    for &shortened in enough.keys().filter(|_| capacities.is_minimal) {
        if enough[&shortened] < 2 {
            continue;
        }
        let less = |channel| enough[&channel] - usize::from(channel == shortened);
        if let Some((is_fine, _)) = simulate(system, less) {
            assert!(!is_fine, "{shortened:?} {context}");
            checked[1] += 1;
        }
    }
    // Long queues for all, as long as that can be explored.
    for length in (4..=6).rev() {
        let Some((_, longest)) = simulate(system, |_| length) else { continue };
        for channel in &capacities.channels {
            let ends = (index(&channel.from), index(&channel.to));
            let held = longest.get(&ends).copied().unwrap_or(0);
            match channel.occupancy {
                Occupancy::AtMost(most) => {
                    assert!(held <= most, "{channel:?} {held} {context}");
                    let all_finite = capacities
                        .channels
                        .iter()
                        .all(|channel| matches!(channel.occupancy, Occupancy::AtMost(most) if most < length));
                    assert!(!all_finite || held == most, "{channel:?} {held} {context}");
                }
                Occupancy::Unbounded => {
                    // It fills up, if what its sender sends to others has room.
                    let room = |other| if other == ends { 3 } else { 9 };
                    if let Some((_, longest)) = simulate(system, room) {
                        assert_eq!(longest.get(&ends), Some(&3), "{channel:?} {context}");
                    }
                }
                Occupancy::Unknown(_) => panic!("{context}"),
            }
            checked[2] += 1;
        }
        break;
    }
    checked
}

#[test]
fn capacities_are_enough_and_minimal_and_occupancies_are_met() {
    let mut checked = [0; 3];
    let mut safe = 0;
    for seed in seeds(250) {
        for directed in [true, false] {
            let mut random = Rng::with_seed(seed);
            let once = random_system(&mut random, directed);
            for system in [capacity::repeated(&once), once] {
                let limits = Limits::default().queue(6).configurations(20_000);
                let Ok(capacities) = capacity::find(&system, &limits) else { continue };
                safe += 1;
                let context = format!("{seed} {directed} {capacities:?} {:#?}", system.machines());
                for (sum, more) in
                    checked.iter_mut().zip(assert_right(&system, &capacities, &context))
                {
                    *sum += more;
                }
            }
        }
    }
    println!("{safe} safe; enough, minimal, occupancies checked: {checked:?}");
    assert!(safe > 100 && checked[0] > 100 && checked[2] > 100, "{safe} {checked:?}");
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpora_have_capacities() {
    let folder = corpus("kmc");
    for (file, expected) in [
        ("double-buffer2.txt", vec!["K▶SO 2 1", "K▶SI 4 1", "SO▶K 2 1", "SI▶K 4 2"]),
        ("stable.txt", vec!["A▶B 3 3", "B▶A 5 1", "C▶A 4 1"]),
    ] {
        assert_eq!(found(&fs::read_to_string(folder.join(file)).unwrap()), expected, "{file}");
    }
    let table = fs::read_to_string(folder.join("expected.csv")).unwrap();
    let mut files: Vec<&str> =
        table.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    files.dedup();
    let mut checked = [0; 3];
    for file in files {
        let source = fs::read_to_string(folder.join(file)).unwrap();
        for system in [system(&source), capacity::repeated(&system(&source))] {
            // The simulation of blocking sends is right except for mixed states, and the corpus has
            // no mixed states.
            if let Ok(capacities) = capacity::find(&system, &Limits::default()) {
                let known = capacities
                    .channels
                    .iter()
                    .all(|channel| !matches!(channel.occupancy, Occupancy::Unknown(_)));
                if known && capacities.channels.len() < 6 {
                    for (sum, more) in
                        checked.iter_mut().zip(assert_right(&system, &capacities, file))
                    {
                        *sum += more;
                    }
                }
            }
        }
    }
    println!("enough, minimal, occupancies checked: {checked:?}");
    assert!(checked.iter().all(|&count| count > 10), "{checked:?}");
}
