//! Can a system hang at given capacities? Stated answers, and random systems against the naive
//! explorer.

use fastrand::Rng;
use rumpsteak_fsm::bounded::{Bounded, Hang, Queue, Safe, Topology, TopologyError, growth};
use rumpsteak_fsm::run::{Step, fold};
use rumpsteak_fsm::{Action, Direction, Fsm, Limit, Limits, Role, System, Verdict, text};
use rumpsteak_oracle::{self as oracle, Hangs, action, seeds};

const CHROMA: &str = "C: rec X . D!task;X
    D: rec X . {C?task;W!job;X, W?request;X}
    W: rec X . D?job;D!request;X";
const FREENET: &str = "L: rec X . {P!bcast;X, P?note;X}  P: rec X . L?bcast;L!note;X";
const HYDROLOOP: &str = "A: rec X . {B!x;X, B!last; rec Y . {B?y;Y, B?end;end}}
    B: rec X . {A?x;A!y;X, A?last;A!end;end}";
const TONIC: &str = "C: S?headers;S!msg;end  S: C?msg;C!headers;end";
const PING: &str = "A: rec X . B!ping;B?pong;X  B: rec X . A?ping;A!pong;X";

fn bounded(machines: &str, topology: &Topology) -> Bounded {
    Bounded::new(text::parse(machines).unwrap(), topology).unwrap()
}

fn check(machines: &str, topology: &Topology) -> Verdict<Safe, Box<Hang>> {
    bounded(machines, topology).check(&Limits::default())
}

#[track_caller]
fn hang(machines: &str, topology: &Topology) -> Hang {
    match check(machines, topology) {
        Verdict::Unsafe(hang) => *hang,
        other => panic!("{other:?}"),
    }
}

fn places(capacity: usize) -> Topology {
    Topology::default().capacity(capacity)
}

fn queue(text: &str) -> Queue {
    text.parse().unwrap()
}

#[test]
fn event_loops_block_each_other_at_every_capacity() {
    for (machines, each, more) in [(CHROMA, 8, 6), (FREENET, 4, 2), (HYDROLOOP, 4, 2)] {
        for n in [1, 2, 8] {
            let hang = hang(machines, &places(n));
            assert_eq!((hang.steps.len(), hang.is_shortest), (each * n + more, true), "{n}");
            assert_eq!((hang.cycle, hang.every_capacity_from), (2, Some(0)), "{n}");
        }
        // A long run is made of repetitions.
        let long = hang(machines, &places(1_000));
        assert_eq!((long.cycle, long.is_shortest), (2, false));
        let (_, least) = bounded(machines, &places(1)).least(&Limits::default());
        assert!(matches!(least, Verdict::Unsafe(_)));
    }
    let waits: Vec<String> = hang(CHROMA, &places(2)).waits.iter().map(|w| w.to_string()).collect();
    assert_eq!(
        waits,
        [
            "D waits for room in the queue from D to W, which is full (2)",
            "W waits for room in the queue from W to D, which is full (2)"
        ]
    );
    assert_eq!(
        fold(&hang(FREENET, &places(2)).steps),
        "`L`: `P!bcast` ×2, (`P`: `L?bcast`, `L`: `P!bcast`, `P`: `L!note`) ×2, `P`: `L?bcast`, `L`: `P!bcast`"
    );
}

#[test]
fn who_races_does_not_commit() {
    let topology = places(3).race("L");
    assert_eq!(check(FREENET, &topology), Verdict::Safe(Safe::Explored(32)));
    assert_eq!(bounded(FREENET, &places(3)).committing(), ["L".into()]);
    assert_eq!(bounded(FREENET, &topology).committing(), []);
}

#[test]
fn deadlocks_of_any_capacity_are_found() {
    assert_eq!(hang(TONIC, &places(64)).steps.len(), 0);
    assert_eq!(hang(TONIC, &places(64)).every_capacity_from, Some(0));
    assert_eq!(hang(TONIC, &Topology::default()).to_string(), "C and S wait for each other");
    // It waits for room for its own message, which nobody else takes.
    let own = "a: rec X . {b?go; a!later; a!later; a?later; a?later; X}  b: rec X . a!go; X";
    let blocked = hang(own, &places(1));
    assert_eq!((blocked.cycle, blocked.to_string()), (1, "a waits for ever".to_owned()));
    assert!(check(own, &places(2)).is_safe());
    // A message that is left over.
    let orphan = "a: b!x; b!y; end  b: a?x; end";
    assert_eq!(hang(orphan, &places(2)).to_string(), "b never receives the message from a");
}

#[test]
fn cut_offs_hold_at_all_larger_capacities() {
    assert_eq!(check(PING, &places(1)), Verdict::Safe(Safe::AndLarger));
    assert_eq!(check(PING, &places(1_000_000)), Verdict::Safe(Safe::AndLarger));
    // A rendezvous is judged as such.
    assert_eq!(check(PING, &places(0)), Verdict::Safe(Safe::Explored(2)));
    let twice = "A: B!x; B!x; B?y; B?y; end  B: A!y; A!y; A?x; A?x; end";
    let least = |machines, topology| bounded(machines, &topology).least(&Limits::default());
    assert_eq!(least(twice, places(0)), (2, Verdict::Safe(Safe::AndLarger)));
    // One long queue is enough.
    let uneven = places(1).bound(queue("A->B"), 2);
    assert_eq!(check(twice, &uneven), Verdict::Safe(Safe::Explored(13)));
}

#[test]
fn a_mailbox_is_received_at_its_head() {
    let any = "a: c!x; end  b: c!y; end  c: a?x; b?y; end";
    assert!(check(any, &places(1)).is_safe());
    let hang = hang(any, &places(1).mailbox("c"));
    assert_eq!((hang.steps.len(), hang.cycle), (1, 0));
    assert_eq!(hang.heads[0].0.to_string(), "the mailbox of c");
    let either = "a: c!x; end  b: c!y; end  c: {a?x; b?y; end, b?y; a?x; end}";
    assert!(check(either, &places(1).mailbox("c")).is_safe());
}

#[test]
fn labels_may_have_a_queue_of_their_own_and_full_queues_may_drop() {
    let urgent = "a: b!data; b!data; b!stop; end  b: a?stop; a?data; a?data; end";
    assert!(!check(urgent, &places(9)).is_safe());
    assert!(check(urgent, &places(2).bound(queue("a->b:stop"), 1)).is_safe());
    assert!(!check(urgent, &places(1).bound(queue("a->b:stop"), 1)).is_safe());
    let stream = "a: rec X . b!tick; X  b: rec X . c?go; {a?tick; X}  c: rec X . b!go; X";
    assert!(check(stream, &places(1).drops(queue("a->b"))).is_safe());
    let counted = "a: b!tick; b!tick; end  b: a?tick; a?tick; end";
    assert!(!check(counted, &places(1).drops(queue("a->b"))).is_safe());
}

#[test]
fn an_unbounded_queue_that_grows_is_undecided() {
    let stream = "a: rec X . {b!x; X, c!x; X}  b: rec X . a?x; X  c: rec X . a?x; X";
    assert_eq!(check(stream, &Topology::default()), Verdict::Undecided(Limit::Queue(64)));
}

#[test]
fn names_that_are_not_there_are_errors() {
    let error = |topology: Topology| {
        Bounded::new(text::parse(PING).unwrap(), &topology).unwrap_err().to_string()
    };
    assert_eq!(error(places(1).mailbox("C")), "there is no machine of `C`");
    assert_eq!(error(places(1).race("C")), "there is no machine of `C`");
    let unused = error(places(1).bound(queue("A->A"), 1));
    assert!(unused.starts_with("no message uses the queue from A to A"));
    let both = places(1).mailbox("B").bound(queue("A->B"), 1);
    assert!(error(both).ends_with("if `B` has a mailbox, its name is `B`"));
    assert!(error(Topology::default().drops(queue("A->B"))).contains("capacity of 1 or more"));
    assert!("a->b->c".parse::<Queue>().is_err() && "a->".parse::<Queue>().is_err());
    let twice = Bounded::new([PING, PING].map(|p| text::parse(p).unwrap()).concat(), &places(1));
    assert!(matches!(twice, Err(TopologyError::System(_))));
}

#[test]
fn the_queue_that_grows_is_named() {
    let growth = |machines| growth(&System::new(text::parse(machines).unwrap()).unwrap());
    let found = growth(HYDROLOOP).unwrap();
    assert_eq!(found.queue, queue("A->B"));
    assert_eq!((fold(&found.before), fold(&found.again)), (String::new(), "`A`: `B!x`".into()));
    assert_eq!(growth(PING), None);
}

const ROLES: [&str; 3] = ["a", "b", "c"];

/// Machines that follow one of two lists of messages, which one of them chooses; half of them with
/// a change or two.
fn random(rng: &mut Rng) -> Vec<Fsm> {
    let count = rng.usize(1..=ROLES.len());
    let lists: Vec<Vec<(usize, usize, &str)>> = (0..rng.usize(1..=2))
        .map(|list| {
            let first = (0, rng.usize(..count), ["x", "y"][list]);
            let message = |rng: &mut Rng| {
                (rng.usize(..count), rng.usize(..count), *rng.choice(&["x", "y"]).unwrap())
            };
            let more = rng.usize(..4);
            [first].into_iter().chain((0..more).map(|_| message(rng)).collect::<Vec<_>>()).collect()
        })
        .collect();
    let loops: Vec<bool> = lists.iter().map(|_| rng.usize(..3) > 0).collect();
    let changes = if rng.bool() { rng.usize(1..=2) } else { 0 };
    let changed: Vec<usize> = (0..changes).map(|_| rng.usize(..count)).collect();
    let machine = |role: usize, rng: &mut Rng| {
        let mut edges: Vec<(usize, Action, usize)> = vec![];
        let mut states = 2;
        for (list, loops) in lists.iter().zip(&loops) {
            let mut own: Vec<Action> = vec![];
            for &(from, to, label) in list {
                let ends = [(from, true), (to, false)].into_iter().filter(|end| end.0 == role);
                let peer = |sends: bool| ROLES[if sends { to } else { from }];
                own.extend(ends.map(|(_, sends)| action(sends, peer(sends), label, &[])));
            }
            let mut at = 0;
            let last = own.len();
            for (number, action) in own.into_iter().enumerate() {
                let end = if *loops { 0 } else { 1 };
                let to = if number + 1 == last { end } else { states };
                states += usize::from(number + 1 < last);
                edges.push((at, action, to));
                at = to;
            }
        }
        for _ in changed.iter().filter(|&&changed| changed == role) {
            match (rng.usize(..4), rng.usize(..edges.len().max(1))) {
                _ if edges.is_empty() => {}
                (0, at) => edges[at].2 = rng.usize(..states),
                (1, at) => edges[at].0 = rng.usize(..states),
                (2, at) => drop(edges.remove(at)),
                (_, at) => {
                    let other = rng.usize(..edges.len());
                    let action = edges[at].1.clone();
                    edges[at].1 = std::mem::replace(&mut edges[other].1, action);
                }
            }
        }
        let mut builder = Fsm::builder(ROLES[role]);
        let numbers: Vec<_> = (0..states).map(|_| builder.add_state()).collect();
        for (from, action, to) in edges {
            builder.add_transition(numbers[from], action, numbers[to]);
        }
        builder.build(numbers[0])
    };
    (0..count).map(|role| machine(role, rng)).collect()
}

/// The same random capacities for both explorers; those of all other queues are given.
fn capacities(machines: &[Fsm], all: usize, mut rng: Rng) -> (Topology, oracle::Bounded) {
    let count = machines.len();
    let mut topology = places(all);
    let mut naive = oracle::Bounded {
        machines: machines.to_vec(),
        capacities: vec![vec![all; count]; count],
        mailboxes: vec![None; count],
        drops: vec![false; count],
        races: vec![false; count],
    };
    for (to, &name) in ROLES.iter().enumerate().take(count) {
        let role = Role::from(name);
        let senders: Vec<usize> = (0..count)
            .filter(|&from| {
                let sends = |own: usize, peer: usize, direction| {
                    machines[own].transitions().any(|by| {
                        by.action.direction == direction && by.action.peer.as_str() == ROLES[peer]
                    })
                };
                sends(from, to, Direction::Send) || sends(to, from, Direction::Receive)
            })
            .collect();
        if rng.usize(..4) == 0 && !senders.is_empty() {
            let capacity = rng.usize(..=3);
            let mailbox = queue(name);
            naive.mailboxes[to] = Some(capacity);
            topology = topology.bound(mailbox.clone(), capacity);
            if capacity > 0 && rng.usize(..4) == 0 {
                naive.drops[to] = true;
                topology = topology.drops(mailbox.clone());
            }
        } else {
            for from in senders {
                if rng.usize(..3) == 0 {
                    naive.capacities[from][to] = rng.usize(..=3);
                    let own = queue(&format!("{}->{name}", ROLES[from]));
                    topology = topology.bound(own, naive.capacities[from][to]);
                }
            }
        }
        if rng.usize(..3) == 0 {
            naive.races[to] = true;
            topology = topology.race(role);
        }
    }
    (topology, naive)
}

#[test]
fn random_systems_agree_with_the_naive_explorer() {
    let most = 600;
    let (mut safe, mut stuck, mut lost, mut skipped, mut proven, mut cut) = (0, 0, 0, 0, 0, 0);
    for seed in seeds(1_000) {
        let mut rng = Rng::with_seed(seed);
        let machines = random(&mut rng);
        let all = rng.usize(..=3);
        let (topology, naive) = capacities(&machines, all, rng.clone());
        let expected = naive.explore(most);
        let found = Bounded::new(machines.clone(), &topology).unwrap();
        let found = found.check(&Limits::default().configurations(20_000));
        let context = || format!("seed {seed}: {expected:?} {found:?}\n{naive:?}");
        let position = |role: &Role| ROLES.iter().position(|&name| name == role.as_str()).unwrap();
        let run = |steps: &[Step]| {
            let steps = steps.iter();
            steps.map(|step| (position(&step.role), step.transition)).collect::<Vec<_>>()
        };
        match (expected, &found) {
            (None, _) => skipped += 1,
            (Some(Hangs::Never), Verdict::Safe(Safe::Explored(_))) => safe += 1,
            (Some(Hangs::Never), Verdict::Safe(Safe::AndLarger)) => {
                let mut larger = naive.clone();
                larger.capacities.iter_mut().flatten().for_each(|most| *most += rng.usize(..2));
                assert!(matches!(larger.explore(most), None | Some(Hangs::Never)), "{}", context());
                cut += 1;
            }
            (Some(Hangs::Lost), Verdict::Unsafe(hang)) if !hang.is_shortest => lost += 1,
            (Some(Hangs::Stuck(events)), Verdict::Unsafe(hang)) if hang.is_shortest => {
                let is_met = |step: &&Step| {
                    let (own, peer) = (position(&step.role), position(&step.action.peer));
                    let capacity = naive.mailboxes[own].unwrap_or(naive.capacities[peer][own]);
                    step.action.direction == Direction::Receive && capacity == 0
                };
                let met = hang.steps.iter().filter(is_met).count();
                assert_eq!(hang.steps.len() - met, events, "{}", context());
                assert!(naive.gets_stuck(&run(&hang.steps)), "{}", context());
                stuck += 1;
                if let Some(from) = hang.every_capacity_from {
                    proven += 1;
                    for capacity in from..from + 3 {
                        let (_, larger) = capacities(&machines, capacity, rng.clone());
                        let hangs = larger.explore(most) != Some(Hangs::Never);
                        assert!(hangs, "{capacity} {}", context());
                    }
                }
            }
            _ => panic!("{}", context()),
        }
    }
    println!(
        "{safe} safe, {cut} at all larger capacities, {stuck} stuck, {proven} at every capacity, {lost} lost, {skipped} skipped"
    );
    let all = safe + cut + stuck + lost + skipped;
    assert!([safe, cut, stuck, proven, lost].iter().all(|kind| kind * 100 > all), "too few");
}
