//! The fair relation against its definition: whatever is fair-safe with the supertype is so with
//! the subtype.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use expect_test::expect_file;
use fastrand::Rng;
use rumpsteak_fsm::certificate::invariant::{Judgement, Step};
use rumpsteak_fsm::certificate::{self, Certificate, FairInvariant, Fault};
use rumpsteak_fsm::subtype::{self, Proof};
use rumpsteak_fsm::system::{System, explore, live_in_every_run};
use rumpsteak_fsm::{Action, Direction, Fsm, Limits, StateId, Verdict, dot};
use rumpsteak_oracle::{self as oracle, Configuration, Coverage, Mutation, mutate, seeds};

use crate::common::{self, leading_to, pairs};
use crate::invariant::tamper;
use crate::peers::shown_to_all;

/// The results of a search among configurations with short queues.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing is wrong with those whose queues hold at most as many messages as asked for.
    Fine,
    Wrong(String),
    /// There are too many.
    Nothing,
}

/// Checks that each message can be received, each role that waits served, and the first machine
/// leaves the states `left`, from each configuration in which no queue holds more than `bound`
/// messages. On the way to that a queue may hold `room`.
fn fair_safe(machines: &[Fsm], left: &[StateId], bound: usize, room: usize) -> Known {
    let system = oracle::System::new(machines.to_vec()).unwrap();
    let longest = |c: &Configuration| c.queues.values().map(|q| q.len()).max().unwrap_or(0);
    let mut ids = HashMap::from([(system.initial(), 0)]);
    let mut nodes = vec![system.initial()];
    let mut steps: Vec<Vec<(oracle::Step, usize)>> = vec![];
    while steps.len() < nodes.len() {
        if nodes.len() > 3_000 {
            return Known::Nothing;
        }
        let mut own = vec![];
        for (step, next) in system.successors(&nodes[steps.len()].clone()) {
            if longest(&next) <= room {
                let id = *ids.entry(next.clone()).or_insert_with(|| {
                    nodes.push(next);
                    nodes.len() - 1
                });
                own.push((step, id));
            }
        }
        steps.push(own);
    }
    let targets = |own: &Vec<(_, usize)>| own.iter().map(|(_, to)| *to).collect();
    let targets: Vec<Vec<usize>> = steps.iter().map(targets).collect();
    let receives = |machine: usize, state: StateId| {
        let mut own = machines[machine].transitions_from(state);
        own.any(|t| t.action.direction == Direction::Receive)
    };
    let near = || (0..nodes.len()).filter(|&node| longest(&nodes[node]) <= bound);
    for node in near() {
        let faults = system.faults(&nodes[node]);
        if let Some(fault) = faults.first() {
            return Known::Wrong(format!("{fault:?} in {:?}", nodes[node]));
        }
    }
    for machine in 0..machines.len() {
        let moves = |node: usize| steps[node].iter().any(|(step, _)| step.machine == machine);
        let moved = leading_to(&targets, moves);
        let waits = |node: &usize| receives(machine, nodes[*node].states[machine]);
        if let Some(node) = near().filter(waits).find(|&node| !moved[node]) {
            return Known::Wrong(format!("{machine} waits in {:?}", nodes[node]));
        }
    }
    let channels: BTreeSet<_> = nodes.iter().flat_map(|n| n.queues.keys().copied()).collect();
    for channel in channels {
        let takes = |node: usize| {
            let length = |node: usize| nodes[node].queues.get(&channel).map_or(0, |q| q.len());
            steps[node].iter().any(|&(_, to)| length(to) < length(node))
        };
        let taken = leading_to(&targets, takes);
        let holds = |node: &usize| nodes[*node].queues.contains_key(&channel);
        if let Some(node) = near().filter(holds).find(|&node| !taken[node]) {
            return Known::Wrong(format!("{channel:?} is not read in {:?}", nodes[node]));
        }
    }
    let leaves = leading_to(&targets, |node| !receives(0, nodes[node].states[0]));
    if let Some(node) = near().find(|&n| left.contains(&nodes[n].states[0]) && !leaves[n]) {
        return Known::Wrong(format!("a loop of receives is not left in {:?}", nodes[node]));
    }
    Known::Fine
}

/// Returns true if a machine is known to be fair-safe with these peers.
fn is_context(machine: &Fsm, peers: &[Fsm], left: &[StateId]) -> bool {
    let machines: Vec<Fsm> = std::iter::once(machine).chain(peers).cloned().collect();
    let Ok(system) = oracle::System::new(machines.clone()) else { return false };
    [1, 2, 4].iter().any(|&queue| {
        let limits = oracle::Limits { queue, configurations: 500, steps: usize::MAX };
        let report = system.explore(&limits);
        report.findings.is_empty()
            && report.coverage > Coverage::Partial
            && fair_safe(&machines, left, queue, queue) == Known::Fine
    })
}

/// The machine among peers that are fair-safe with the supertype.
fn judged(sub: &Fsm, peers: &[Fsm]) -> Known {
    let machines: Vec<Fsm> = std::iter::once(sub).chain(peers).cloned().collect();
    // What the subtype never does may be with a role that is not there.
    match oracle::System::new(machines.clone()) {
        Ok(_) => fair_safe(&machines, &[], 3, 7),
        Err(_) => Known::Nothing,
    }
}

fn proof(sub: &Fsm, sup: &Fsm) -> Option<Proof> {
    let proof = subtype::check_fair(sub, sup, &Limits::default().steps(20_000)).unwrap()?;
    assert_eq!(certificate::check(&proof.certificate(), sub, sup), Ok(()));
    Some(proof)
}

/// All peers that a machine with one peer `p` may have, or be: two states, two labels.
fn small(role: &str, peer: &str) -> Vec<Fsm> {
    // Of a state: nothing, or a direction and the targets of both labels.
    type Of = Option<(bool, [Option<usize>; 2])>;
    let mut states: Vec<Of> = vec![None];
    for send in [false, true] {
        for targets in 1..9 {
            let target = |digit: usize| digit.checked_sub(1);
            states.push(Some((send, [target(targets % 3), target(targets / 3)])));
        }
    }
    let mut machines: BTreeMap<String, Fsm> = BTreeMap::new();
    for first in &states {
        for second in &states {
            let mut builder = Fsm::builder(role);
            let ids = [builder.add_state(), builder.add_state()];
            for (&from, of) in ids.iter().zip([first, second]) {
                let Some((send, targets)) = of else { continue };
                let action = if *send { Action::send } else { Action::receive };
                for (label, target) in ["x", "y"].into_iter().zip(targets) {
                    if let Some(target) = target {
                        builder.add_transition(from, action(peer, label, &[]), ids[*target]);
                    }
                }
            }
            let machine = builder.build(ids[0]);
            if machine.reachable().count() == 2 || second.is_none() {
                machines.insert(dot::print(&machine), machine);
            }
        }
    }
    machines.into_values().collect()
}

#[derive(Debug, Default)]
struct Figures {
    accepted: usize,
    /// Accepted, and not in every run.
    fair_only: usize,
    /// Contexts in which an accepted subtype was tried, with nothing left open.
    tried: usize,
    refused: usize,
    /// Refused, and some context goes wrong.
    shown: usize,
    /// Refused, and nothing goes wrong in any of the contexts, which are finite with the subtype.
    missed: usize,
}

impl Figures {
    /// Judges a pair among contexts that are fair-safe with the supertype.
    fn add<'a>(&mut self, sub: &Fsm, sup: &Fsm, contexts: impl Iterator<Item = &'a Vec<Fsm>>) {
        let proof = proof(sub, sup);
        let (mut wrong, mut fine, mut open) = (0, 0, 0);
        for context in contexts {
            let lets_leave = |proof: &Proof| is_context(sup, context, proof.left());
            if proof.as_ref().is_some_and(|proof| !proof.left().is_empty() && !lets_leave(proof)) {
                continue;
            }
            match judged(sub, context) {
                Known::Wrong(_) if proof.is_none() => {
                    wrong += 1;
                    break;
                }
                Known::Wrong(what) => {
                    let peers: String = context.iter().map(dot::print).collect();
                    panic!("{what}\n{}{}{peers}", dot::print(sub), dot::print(sup));
                }
                Known::Fine => fine += 1,
                Known::Nothing => open += 1,
            }
        }
        let limits = Limits::default().steps(20_000);
        let in_every_run = || subtype::check(sub, sup, &limits).unwrap().is_safe();
        match proof {
            Some(_) => {
                self.accepted += 1;
                self.tried += fine;
                self.fair_only += usize::from(!in_every_run());
            }
            None if wrong + fine == 0 => {}
            None if wrong == 0 && in_every_run() => {}
            None => {
                self.refused += 1;
                self.shown += wrong;
                let is_missed = wrong + open == 0;
                self.missed += usize::from(is_missed);
                if is_missed && self.missed < 20 {
                    println!("{fine} are fine:\n{}{}", dot::print(sub), dot::print(sup));
                }
            }
        }
    }
}

/// Pairs of machines of two states, spread evenly among all, in all contexts of two states.
#[test]
fn small_pairs_are_as_the_definition_says() {
    let (machines, peers) = (small("m", "p"), small("p", "m"));
    let all = machines.len() * machines.len();
    let pairs = seeds(60).count().min(all);
    let mut contexts: BTreeMap<usize, Vec<Vec<Fsm>>> = BTreeMap::new();
    let mut figures = Figures::default();
    for number in 0..pairs {
        let pair = number * 7_919 % all;
        let (sub, sup) = (&machines[pair % machines.len()], &machines[pair / machines.len()]);
        let contexts = contexts.entry(pair / machines.len()).or_insert_with(|| {
            let contexts = peers.iter().map(|peer| vec![peer.clone()]);
            contexts.filter(|context| is_context(sup, context, &[])).collect()
        });
        figures.add(sub, sup, contexts.iter());
    }
    println!("{pairs} pairs of {all}: {figures:?}");
    assert!(figures.accepted >= pairs / 50 && figures.tried >= pairs / 50, "{figures:?}");
}

/// Peers that may not do exactly what the machine shows to them, and tell each other something.
fn random_context(machine: &Fsm, rng: &mut Rng) -> Option<Vec<Fsm>> {
    let mut peers = shown_to_all(machine)?;
    for _ in 0..rng.usize(..3) {
        let peer = rng.choice(&mut peers)?;
        if let Some(mutated) = mutate(peer, Mutation::any(rng), rng) {
            *peer = mutated;
        }
    }
    if peers.len() > 1 && rng.bool() {
        rng.shuffle(&mut peers);
        let (from, to) = (peers[0].role().clone(), peers[1].role().clone());
        peers[0] = with_action(&peers[0], Action::send(to, "sync", &[]), rng);
        peers[1] = with_action(&peers[1], Action::receive(from, "sync", &[]), rng);
    }
    let is_directed = |peer: &Fsm| peer.len() < 12 && peer.check_directed().is_ok();
    peers.iter().all(is_directed).then_some(peers)
}

/// The machine with one more action, before everything that it does after some transition.
fn with_action(machine: &Fsm, action: Action, rng: &mut Rng) -> Fsm {
    let mut builder = Fsm::builder(machine.role().clone());
    let ids: Vec<StateId> = machine.states().map(|_| builder.add_state()).collect();
    let chosen = rng.usize(..machine.transition_count().max(1));
    for t in machine.transitions() {
        let mut target = ids[t.target.index()];
        if t.id.index() == chosen {
            let between = builder.add_state();
            builder.add_transition(between, action.clone(), target);
            target = between;
        }
        builder.add_transition(ids[t.source.index()], t.action.clone(), target);
    }
    builder.build(ids[machine.initial().index()])
}

/// A loop of sends and of receives, out of which some sends lead to a last receive; and the same
/// without some of the receives, which are made up for in the end.
fn put_off(rng: &mut Rng) -> (Fsm, Fsm) {
    let len = 2 + rng.usize(..3);
    let peer = |rng: &mut Rng| ["p", "q"][rng.usize(..8) / 6];
    let again = rng.bool().then_some(0);
    // The actions of each state with their targets; `len` is behind the loop.
    let mut states: Vec<Vec<(Action, usize)>> = vec![];
    let listens = peer(rng);
    for state in 0..len {
        let next = |rng: &mut Rng| match rng.usize(..4) {
            0 => rng.usize(..len),
            _ => (state + 1) % len,
        };
        let to = peer(rng);
        let target = next(rng);
        states.push(match rng.usize(..3) {
            0 => vec![(Action::send(to, "data", &[]), target)],
            1 => {
                vec![(Action::send(to, "more", &[]), target), (Action::send(to, "stop", &[]), len)]
            }
            _ => {
                let other = if rng.usize(..4) > 0 { target } else { next(rng) };
                let ok = (Action::receive(listens, "ok", &[]), target);
                vec![ok, (Action::receive(listens, "ko", &[]), other)]
            }
        });
    }
    let build = |skips: &dyn Fn(usize) -> bool, last: Vec<Action>| {
        let mut builder = Fsm::builder("m");
        let ids: Vec<StateId> = (0..len + 2).map(|_| builder.add_state()).collect();
        // Not for ever round a loop of receives that are all put off.
        let behind = |mut at: usize| {
            for _ in 0..len {
                at = if at < len && skips(at) { states[at][0].1 } else { at };
            }
            at
        };
        for (from, own) in states.iter().enumerate() {
            for (action, target) in own.iter().filter(|_| !skips(from)) {
                builder.add_transition(ids[from], action.clone(), ids[behind(*target)]);
            }
        }
        for action in last {
            builder.add_transition(ids[len], action, ids[len]);
        }
        let end = again.map_or(len + 1, behind);
        builder.add_transition(ids[len], Action::receive(listens, "fin", &[]), ids[end]);
        builder.build(ids[behind(0)])
    };
    let put_off: Vec<bool> = states
        .iter()
        .map(|own| own[0].0.direction == Direction::Receive && rng.usize(..4) > 0)
        .collect();
    let collected = ["ok", "ko"].map(|label| Action::receive(listens, label, &[]));
    (build(&|state| put_off[state], collected.to_vec()), build(&|_| false, vec![]))
}

/// Machines that put off receives until they have sent what they like.
#[test]
fn receives_that_are_put_off_are_as_the_definition_says() {
    let mut rng = Rng::with_seed(13);
    let mut figures = Figures::default();
    let pairs = seeds(60).count();
    for _ in 0..pairs {
        let (mut sub, sup) = put_off(&mut rng);
        if rng.usize(..3) == 0 {
            sub = mutate(&sub, Mutation::any(&mut rng), &mut rng).unwrap_or(sub);
        }
        if sub.check_directed().is_err() {
            continue;
        }
        let contexts: Vec<Vec<Fsm>> =
            (0..6).filter_map(|_| random_context(&sup, &mut rng)).collect();
        figures.add(&sub, &sup, contexts.iter().filter(|context| is_context(&sup, context, &[])));
    }
    println!("{pairs} pairs: {figures:?}");
    assert!(figures.fair_only >= pairs / 20 && figures.tried >= pairs / 20, "{figures:?}");
}

/// Random machines with up to three peers, in contexts that are not only their duals.
#[test]
fn random_pairs_are_as_the_definition_says() {
    let mut rng = Rng::with_seed(11);
    let mut figures = Figures::default();
    let pairs = seeds(100).count();
    for pair in 0..pairs {
        let sup = common::random_machine(&mut rng, 1 + pair % 3, [0, 25][pair % 2]);
        let mut sub = sup.clone();
        for _ in 0..1 + rng.usize(..4) {
            sub = mutate(&sub, Mutation::any(&mut rng), &mut rng).unwrap_or(sub);
        }
        if sub.len() > 12 || sub.check_directed().is_err() {
            continue;
        }
        let contexts: Vec<Vec<Fsm>> =
            (0..6).filter_map(|_| random_context(&sup, &mut rng)).collect();
        figures.add(&sub, &sup, contexts.iter().filter(|context| is_context(&sup, context, &[])));
    }
    println!("{pairs} pairs: {figures:?}");
    assert!(figures.accepted >= pairs / 20 && figures.tried >= pairs / 20, "{figures:?}");
}

/// Subtypes of several roles at once, each proven by itself.
#[test]
fn roles_that_are_replaced_together_are_fair_safe() {
    let mut rng = Rng::with_seed(37);
    let (mut replaced, mut tried) = (0, 0);
    for _ in seeds(100) {
        let (sub, sup) = put_off(&mut rng);
        let Some(proof) = proof(&sub, &sup) else { continue };
        let Some(context) = random_context(&sup, &mut rng) else { continue };
        if !is_context(&sup, &context, proof.left()) {
            continue;
        }
        let mut others = 0;
        let peers: Vec<Fsm> = context
            .into_iter()
            .map(|peer| {
                let mut changed = peer.clone();
                for _ in 0..1 + rng.usize(..3) {
                    changed =
                        mutate(&changed, Mutation::any(&mut rng), &mut rng).unwrap_or(changed);
                }
                let is_small = changed.len() < 12 && changed.check_directed().is_ok();
                let holds = || Some(self::proof(&changed, &peer)?.left().is_empty());
                if !is_small || changed == peer || holds() != Some(true) {
                    return peer;
                }
                others += 1;
                changed
            })
            .collect();
        if others > 0 {
            let known = judged(&sub, &peers);
            let text: String = [&sub, &sup].into_iter().chain(&peers).map(dot::print).collect();
            assert!(!matches!(known, Known::Wrong(_)), "{known:?}\n{text}");
            replaced += others;
            tried += usize::from(known == Known::Fine);
        }
    }
    println!("{replaced} peers replaced beside a machine, {tried} systems tried");
    assert!(tried >= 3, "{replaced} {tried}");
}

/// Liveness in every run against a naive search among configurations with short queues.
#[test]
fn who_is_neglected_is_as_a_naive_search_says() {
    let mut rng = Rng::with_seed(31);
    let (mut live, mut neglects, mut open) = (0, 0, 0);
    for number in seeds(500) {
        let peers = 1 + number as usize % 3;
        let machine = match number % 4 {
            0 => put_off(&mut rng).1,
            _ => common::random_machine(&mut rng, peers, 15),
        };
        let Some(context) = random_context(&machine, &mut rng) else { continue };
        if !is_context(&machine, &context, &[]) {
            continue;
        }
        let machines: Vec<Fsm> = std::iter::once(machine).chain(context).collect();
        let text: String = machines.iter().map(dot::print).collect();
        let naive = oracle::System::new(machines.clone()).unwrap();
        let naive = [1, 3].iter().find_map(|&queue| {
            naive.neglect(&oracle::Limits { queue, configurations: 500, steps: usize::MAX })
        });
        let (system, limits) = (System::new(machines).unwrap(), Limits::default());
        let found = live_in_every_run(&system, || explore(&system, &limits), &limits);
        match (&found.neglected[..], found.limit) {
            ([], None) => {
                live += 1;
                assert_eq!(naive, None, "{text}");
            }
            ([], Some(_)) => open += 1,
            (neglected, _) => {
                neglects += 1;
                assert!(naive.is_some(), "{neglected:?}\n{text}");
            }
        }
    }
    println!("{live} live, {neglects} neglect a role, {open} undecided");
    assert!(live > 20 && neglects >= 2 && open < live, "{live} {neglects} {open}");
}

/// The cases of `cases/fair.md`, with the answers of both relations.
#[test]
fn each_pair_has_both_answers() {
    let path = pairs::path("fair.md");
    let document = fs::read_to_string(&path).unwrap();
    let answered = pairs::answered(&document, |pair| {
        let every_run = match pair.check(&pair.limits) {
            Verdict::Safe(_) => "in every run".to_owned(),
            Verdict::Unsafe(refusal) => format!("not in every run ({:?})", refusal.rule),
            Verdict::Undecided(_) => "undecided in every run".to_owned(),
        };
        let fair = match proof(&pair.sub, &pair.sup) {
            None => "not fair".to_owned(),
            Some(proof) if proof.left().is_empty() => "fair".to_owned(),
            Some(proof) => {
                let left: Vec<_> = proof.left().iter().map(|state| state.index()).collect();
                format!("fair where it can leave {left:?}")
            }
        };
        format!("{every_run}, {fair}")
    });
    expect_file![path].assert_eq(&answered);
}

fn proven() -> Vec<(Fsm, Fsm, FairInvariant)> {
    let pairs = pairs::parse(&fs::read_to_string(pairs::path("fair.md")).unwrap()).into_iter();
    let proven = pairs.filter_map(|pair| {
        let Certificate::Fair(fair) = proof(&pair.sub, &pair.sup)?.certificate() else {
            panic!("a certificate of the fair relation");
        };
        Some((pair.sub, pair.sup, fair))
    });
    proven.collect()
}

/// The ranks are needed: one that does not fall is found out, and what must be left is said.
#[test]
fn ranks_that_do_not_fall_are_found_out() {
    for (sub, sup, fair) in proven() {
        let count = fair.invariant.judgements.len();
        let check =
            |fair: &FairInvariant| certificate::check(&Certificate::Fair(fair.clone()), &sub, &sup);
        let fault = |fair: &FairInvariant| check(fair).map_err(|invalid| invalid.fault);
        let is_pending = fair.invariant.judgements.iter().any(|j| !j.pending.is_empty());
        let flat = FairInvariant { drains: vec![0; count], ..fair.clone() };
        assert_eq!(fault(&flat), if is_pending { Err(Fault::Rank) } else { Ok(()) });
        let is_ahead = |j: &Judgement| j.rule == Step::Ahead && !fair.left.contains(&j.sup);
        let ahead = fair.invariant.judgements.iter().any(is_ahead);
        let flat = FairInvariant { unfoldings: vec![0; count], ..fair.clone() };
        assert_eq!(fault(&flat), if ahead { Err(Fault::Rank) } else { Ok(()) });
        let stays = FairInvariant { left: vec![], ..fair.clone() };
        assert_eq!(fault(&stays), if fair.left.is_empty() { Ok(()) } else { Err(Fault::Rank) });
        for short in [
            FairInvariant { drains: vec![], ..fair.clone() },
            FairInvariant { unfoldings: vec![], ..fair.clone() },
        ] {
            assert_eq!(fault(&short), Err(Fault::Unknown));
        }
    }
}

/// A changed certificate never proves another pair, or a pair that is not fair.
#[test]
fn no_fair_certificate_proves_what_goes_wrong() {
    let mut rng = Rng::with_seed(29);
    let (mut refused, mut unharmed, mut wrong) = (0, 0, 0);
    for (sub, sup, fair) in proven() {
        for _ in seeds(30) {
            // The supertype in place of the subtype leaves out nothing, so both are damaged.
            let (mut bad_sub, mut bad_sup) = (sub.clone(), sup.clone());
            for _ in 0..rng.usize(..2) {
                let side = if rng.bool() { &mut bad_sub } else { &mut bad_sup };
                if let Some(mutated) = mutate(side, Mutation::any(&mut rng), &mut rng) {
                    *side = mutated;
                }
            }
            let mut changed = fair.clone();
            for _ in 0..rng.usize(..3) {
                let place = rng.usize(..changed.drains.len());
                match rng.usize(..6) {
                    0 => changed.drains[place] = rng.u32(..4),
                    1 => changed.unfoldings[place] = rng.u32(..4),
                    2 => changed.left = bad_sup.states().collect(),
                    _ => tamper(&mut changed.invariant, &bad_sub, &bad_sup, &mut rng),
                }
            }
            let left = changed.left.clone();
            if certificate::check(&Certificate::Fair(changed), &bad_sub, &bad_sup).is_err() {
                refused += 1;
                continue;
            }
            unharmed += 1;
            for _ in 0..3 {
                let Some(context) = random_context(&bad_sup, &mut rng) else { continue };
                if is_context(&bad_sup, &context, &left) {
                    let known = judged(&bad_sub, &context);
                    assert!(!matches!(known, Known::Wrong(_)), "{known:?}");
                    wrong += usize::from(known == Known::Fine);
                }
            }
        }
    }
    println!("{refused} refused, {unharmed} still proofs, tried {wrong} times");
    assert!(refused > 100 && unharmed > 80 && wrong > 20, "{refused} {unharmed} {wrong}");
}
