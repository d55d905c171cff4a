//! Subtyping where more and more may be pending.

use fastrand::Rng;
use rumpsteak_fsm::verify::certified;
use rumpsteak_fsm::{Action, Direction, Fsm, Limits, Verdict, dot, text};
use rumpsteak_oracle::{self as oracle, Mutation, corpus, mutate, seeds};

use crate::common;
use crate::random::safe_peers;

fn walks(sub: &Fsm, sup: &Fsm) {
    let mut rng = Rng::with_seed(5);
    for _ in 0..20 {
        assert_eq!(walk(sub, sup, 200, &mut rng), Ok(()));
    }
}

#[test]
fn walks_through_accepted_pairs_do_not_get_stuck() {
    let mut walked = 0;
    for pair in common::pairs::pairs() {
        let verdict = pair.check(&pair.limits);
        if matches!(verdict, Verdict::Safe(proof) if proof.anticipation.is_none()) {
            walks(&pair.sub, &pair.sup);
            walked += 1;
        }
    }
    assert!(walked > 15, "{walked}");
}

/// The definition, unfolded along one run: one sequence of pending actions. The subtype does
/// one of them, or a later action of the supertype. It chooses outputs, the supertype chooses
/// inputs. Overtaken outputs must not be a choice.
fn walk(sub: &Fsm, sup: &Fsm, steps: usize, rng: &mut Rng) -> Result<(), String> {
    let mut pending: Vec<Action> = vec![];
    let (mut at, mut behind) = (sub.initial(), sup.initial());
    for _ in 0..steps {
        let own: Vec<_> = sub.transitions_from(at).collect();
        let Some(first) = own.first() else {
            return match pending.is_empty() && sup.is_terminal(behind) {
                true => Ok(()),
                false => Err(format!("{pending:?} is forgotten")),
            };
        };
        let (peer, direction) = (first.action.peer.clone(), first.action.direction);
        let is_due = |action: &Action| action.peer == peer && action.direction == direction;
        while !pending.iter().any(&is_due) {
            let theirs: Vec<_> = sup.transitions_from(behind).collect();
            let Some(next) = theirs.first() else {
                return Err(format!("{} is never due", first.action));
            };
            let chosen = match next.action.direction {
                Direction::Send if is_due(next.action) => break,
                Direction::Send => &theirs[0],
                Direction::Receive => &theirs[rng.usize(..theirs.len())],
            };
            if pending.len() > 100 * (steps + sup.len()) {
                return Err(format!("{} is put off for ever", first.action));
            }
            pending.push(chosen.action.clone());
            behind = chosen.target;
        }
        let Some(place) = pending.iter().position(is_due) else {
            // The supertype sends here what is due.
            let chosen = &own[rng.usize(..own.len())];
            let offered = sup
                .transitions_from(behind)
                .find(|t| t.action == chosen.action)
                .ok_or_else(|| format!("{} is not offered", chosen.action))?;
            (at, behind) = (chosen.target, offered.target);
            continue;
        };
        let due = pending.remove(place);
        if direction == Direction::Receive
            && pending[..place].iter().any(|a| a.direction == Direction::Send)
        {
            return Err(format!("{due} overtakes a send"));
        }
        let taken = match direction {
            Direction::Receive => own.iter().find(|t| *t.action == due),
            Direction::Send => Some(&own[rng.usize(..own.len())]).filter(|t| *t.action == due),
        };
        at = taken.ok_or_else(|| format!("{due} is not done"))?.target;
    }
    Ok(())
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_binary_corpus_is_decided() {
    let folder = corpus("binary");
    let expected = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let read = |name: &str| -> Fsm {
        text::parse(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap().remove(0)
    };
    let (mut accepted, mut unbounded) = (0, vec![]);
    for line in expected.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (sub, sup) = (read(fields[0]), read(fields[1]));
        match certified(&sub, &sup, &Limits::default()).unwrap() {
            Verdict::Safe(proof) => {
                assert_eq!(fields[2], "sub", "{line}");
                accepted += 1;
                walks(&sub, &sup);
                if proof.anticipation.is_none() {
                    unbounded.push(fields[0].to_owned());
                }
            }
            Verdict::Unsafe(_) => assert_eq!(fields[2], "not sub", "{line}"),
            Verdict::Undecided(limit) => panic!("{line}: {limit}"),
        }
    }
    assert_eq!((expected.lines().count() - 1, accepted), (94, 48));
    assert_eq!(
        unbounded,
        [
            "june1.txt",
            "innerloop1-dual.txt",
            "snewex1.txt",
            "july1.txt",
            "september1.txt",
            "decidablilityex1.txt",
            "smallinnerloop1.txt",
            "innerloop1.txt",
            "mario-b.txt",
            "expensive1.txt",
            // Those that the published algorithm leaves undecided.
            "ctxta1.txt",
            "march3testa1.txt",
            "14may2.txt",
            "ex1-ok-loop.txt",
        ]
    );
}

#[test]
fn what_only_this_engine_accepts_is_safe_among_safe_peers() {
    let mut rng = Rng::with_seed(7);
    // By the number of peers: pairs accepted with and without a bound, and explored among safe
    // peers.
    let mut figures = [(0, 0, 0); 4];
    let pairs = seeds(3_000).count();
    for pair in 0..pairs {
        let count = 1 + pair % 3;
        // Without end, since what ends piles up nothing.
        let sup = common::random_machine(&mut rng, count, 0);
        let mut sub = common::random_machine(&mut rng, count, 0);
        if rng.bool() {
            sub = sup.clone();
            for _ in 0..1 + rng.usize(..4) {
                sub = mutate(&sub, Mutation::any(&mut rng), &mut rng).unwrap_or(sub);
            }
            if sub.len() > 30 || sub.check_directed().is_err() {
                continue;
            }
        }
        // With nothing pending allowed to the exact search, this engine is asked alone.
        let limits =
            Limits::default().anticipation(if rng.bool() { 0 } else { 1_000 }).steps(10_000);
        let Verdict::Safe(proof) = certified(&sub, &sup, &limits).unwrap() else { continue };
        let figures = &mut figures[count];
        if proof.anticipation.is_some() {
            figures.0 += 1;
            continue;
        }
        figures.1 += 1;
        let shown = || format!("{}{}", dot::print(&sub), dot::print(&sup));
        for _ in 0..20 {
            assert_eq!(walk(&sub, &sup, 200, &mut rng), Ok(()), "{}", shown());
        }
        let Some(peers) = safe_peers(&sup) else { continue };
        // What the subtype never does may be with a role that is not there.
        if sub.transitions().any(|t| peers.iter().all(|peer| *peer.role() != t.action.peer)) {
            continue;
        }
        figures.2 += 1;
        let chooses = sup.states().any(|state| {
            let sends = |t: &rumpsteak_fsm::Transition<'_>| t.action.direction == Direction::Send;
            sup.transitions_from(state).filter(sends).count() > 1
        });
        let machines = std::iter::once(&sub).chain(&peers).cloned().collect();
        let system = oracle::System::new(machines).unwrap();
        for queue in [1, 3, 6] {
            let limits = oracle::Limits { queue, configurations: 2_000, steps: usize::MAX };
            let report = system.explore(&limits);
            // A choice of the supertype that is narrowed may leave others waiting.
            let unsound = report
                .findings
                .iter()
                .find(|finding| !chooses || finding.fault.kind().is_immediate());
            let peers = text::print(text::Form::Dot, &peers).unwrap();
            assert_eq!(unsound, None, "{}{peers}", shown());
        }
    }
    println!("(bounded, unbounded, explored) for 0 to 3 peers: {figures:?}");
    assert!(figures[1..].iter().all(|figures| figures.2 >= pairs / 3_000), "{figures:?}");
}
