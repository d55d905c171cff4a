//! Subtyping where more and more may be pending.
//!
//! `RUMPSTEAK_FUZZ` is the number of random pairs, 12,000 otherwise.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an unwrap in a test is an assertion, and the figures are printed"
)]

mod common;
mod peers;

use std::collections::BTreeSet;

use fastrand::Rng;
use rumpsteak_fsm::{
    Action, Direction, Fsm, Limits, Role, StateId, Verdict, certificate, dot,
    subtype::{self, Proof, Refusal, Rule},
    text,
};
use rumpsteak_oracle::{self as oracle, Coverage, Mutation, corpus, mutate};

use peers::shown_to;

fn check(sub: &str, sup: &str, limits: &Limits) -> Verdict<Proof, Refusal> {
    let (sub, sup) = (common::machine(sub), common::machine(sup));
    walks(&sub, &sup, limits);
    subtype::check(&sub, &sup, limits).unwrap()
}

/// Accepted, and only by this engine.
#[track_caller]
fn accepted(sub: &str, sup: &str) {
    let exact = Limits::default().widening(0).steps(20_000);
    let verdict = check(sub, sup, &exact);
    assert!(matches!(verdict, Verdict::Undecided(_)), "{verdict:?}");
    let Verdict::Safe(proof) = check(sub, sup, &Limits::default()) else {
        panic!("not accepted");
    };
    assert_eq!(proof.anticipation, None);
}

#[track_caller]
fn undecided(sub: &str, sup: &str) {
    let limits = Limits::default().steps(20_000);
    let verdict = check(sub, sup, &limits);
    assert!(matches!(verdict, Verdict::Undecided(_)), "{verdict:?}");
}

#[track_caller]
fn refused(sub: &str, sup: &str, rule: Rule) {
    let verdict = check(sub, sup, &Limits::default());
    let refusal = verdict.refusal().unwrap_or_else(|| panic!("{verdict:?}"));
    assert_eq!(refusal.rule, rule);
    // Nor does this engine accept it when it is asked alone.
    let alone = Limits::default().anticipation(0);
    assert!(!check(sub, sup, &alone).is_safe());
}

/// If the pair is accepted, its certificate is valid, and no walk of the subtype gets stuck.
fn walks(sub: &Fsm, sup: &Fsm, limits: &Limits) {
    if let Verdict::Safe(proof) = subtype::check(sub, sup, limits).unwrap() {
        assert_eq!(certificate::check(&proof.certificate(), sub, sup), Ok(()));
        let mut rng = Rng::with_seed(5);
        for _ in 0..20 {
            assert_eq!(walk(sub, sup, 200, &mut rng), Ok(()));
        }
    }
}

/// The definition, unfolded along one run: one sequence of pending actions, of which the subtype does one or what the supertype does
/// after it. Outputs are the subtype's choice and inputs the supertype's. Only for overtaken outputs that are no choice.
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
            && pending[..place]
                .iter()
                .any(|a| a.direction == Direction::Send)
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
fn a_client_asks_on_before_it_is_answered() {
    // The pair of CONCUR'19, §1 (the conference version of LMCS'21), a client of a video service: it asks for high or for low quality, and is told
    // whether that works out. The subtype asks for high quality first. Where that fails, it asks for low quality and does not wait for the answer.
    accepted(
        "c: 0 s!hq 1, 1 s?ok 0, 1 s?ko 2, 2 s!lq 0",
        "c: 0 s!hq 1, 0 s!lq 1, 1 s?ok 0, 1 s?ko 0",
    );
}

#[test]
fn a_patient_sends_on_before_it_is_answered() {
    // PPoPP'22, Table 1, refers to LMCS'21, §1, which was not at hand: this is the protocol of `protocols/hospital.scr`, with the anticipation of
    // the pair above. After a refusal a patient sends the next data and reads the answer later, so answers pile up.
    accepted(
        "p: 0 h!data 1, 1 h?ok 0, 1 h?ko 2, 2 h!data 0, 0 h!ask 3, 3 h?ok 3, 3 h?ko 3, 3 h?report 0",
        "p: 0 h!data 1, 1 h?ok 0, 1 h?ko 0, 0 h!ask 2, 2 h?report 0",
    );
    // One that does not expect late answers, and one that may send for ever and read nothing.
    let sup = "p: 0 h!data 1, 1 h?ok 0, 1 h?ko 0, 0 h!ask 2, 2 h?report 0";
    refused(
        "p: 0 h!data 1, 1 h?ok 0, 1 h?ko 2, 2 h!data 0, 0 h!ask 3, 3 h?report 0",
        sup,
        Rule::InputsFromOnePeer,
    );
    refused(
        "p: 0 h!data 0, 0 h!ask 1, 1 h?ok 1, 1 h?ko 1, 1 h?report 0",
        sup,
        Rule::Forgotten,
    );
}

#[test]
fn a_hospital_answers_before_it_reads() {
    // The same from the other side: reports on patients come in one by one, and each is answered; answers may be given in advance.
    accepted(
        "hospital: 0 p?data 1, 1 p!ok 0, 0 p?done 2, 2 p!bye 3",
        "hospital: 0 p?data 1, 0 p?done 2, 1 p?data 3, 1 p?done 2, 3 p!ok 0, 2 p!ok 2, 2 p!bye 4",
    );
    // Two answers, and one of them is never given.
    accepted(
        "hospital: 0 p!ok 1, 1 p!ok 2, 2 p?data 0",
        "hospital: 0 p?data 1, 1 p!ok 0, 1 p!ko 0",
    );
    // Whatever the questions are.
    accepted(
        "hospital: 0 p!ok 1, 1 p!ok 2, 2 p?data 0, 2 p?urgent 0",
        "hospital: 0 p?data 1, 0 p?urgent 1, 1 p!ok 0, 1 p!ko 0",
    );
}

#[test]
fn a_third_role_may_have_more_and_more_to_be_read() {
    // The questions come from q, the answers go to p.
    accepted(
        "m: 0 p!ok 1, 1 p!ok 2, 2 q?data 0, 2 q?urgent 0",
        "m: 0 q?data 1, 0 q?urgent 1, 1 p!ok 0, 1 p!ko 0",
    );
    // From two roles in turn: each piles up, and their order among each other is free.
    accepted(
        "m: 0 p!ok 1, 1 p!ok 2, 2 r?x 3, 3 q?data 0, 3 q?urgent 0",
        "m: 0 q?data 1, 0 q?urgent 1, 1 r?x 2, 2 p!ok 0",
    );
    // Outputs pile up as well: what r is told is put off, but not for ever.
    accepted("m: 0 p!ok 1, 1 p!ok 2, 2 r!x 0", "m: 0 r!x 1, 1 p!ok 0");
}

#[test]
fn what_is_pending_is_known_in_its_order() {
    // Pending is a·b·a·b…; the other order is not taken.
    let sup = "m: 0 p?a 1, 1 p!x 2, 2 p?b 3, 3 p!x 0";
    accepted(
        "m: 0 p!x 1, 1 p!x 2, 2 p!x 3, 3 p?a 4, 4 p!x 5, 5 p?b 0",
        sup,
    );
    refused(
        "m: 0 p!x 1, 1 p!x 2, 2 p!x 3, 3 p?b 4, 4 p!x 5, 5 p?a 0",
        sup,
        Rule::InputsFromOnePeer,
    );
}

#[test]
fn nothing_is_put_off_for_ever() {
    // q is never read while p sends, and p may send for ever.
    undecided(
        "m: 0 q?go 0, 0 q?stop 1, 1 p?ok 1, 1 p?end 2",
        "m: 0 q?go 1, 1 p?ok 0, 0 q?stop 2, 2 p?end 3",
    );
    // Nothing is read before what is due has been sent.
    refused(
        "m: 0 p!x 1, 1 r?go 2, 2 p?data 3, 3 q!ok 0",
        "m: 0 r?go 1, 1 p!x 2, 2 q!ok 3, 3 p?data 0",
        Rule::InputBeforeOutput,
    );
    // The data is never read.
    refused("m: 0 p!ok 0", "m: 0 p?data 1, 1 p!ok 0", Rule::Forgotten);
    refused("m: 0 p!ok 0", "m: 0 q?data 1, 1 p!ok 0", Rule::Forgotten);
    refused("m: 0 p!ok 0", "m: 0 q!data 1, 1 p!ok 0", Rule::Forgotten);
    // It may be left unread for ever, if the subtype likes.
    refused(
        "m: 0 p!ok 0, 0 p!ko 1, 1 q?data 0",
        "m: 0 q?data 1, 1 p!ok 0, 1 p!ko 0",
        Rule::Forgotten,
    );
}

#[test]
fn a_receive_does_not_overtake_a_send_that_piles_up() {
    refused(
        "m: 0 p!ok 1, 1 p!ok 2, 2 q?data 3, 3 r!x 0",
        "m: 0 r!x 1, 1 q?data 2, 2 p!ok 0",
        Rule::InputBeforeOutput,
    );
}

#[test]
fn a_send_that_piles_up_is_no_choice() {
    refused(
        "m: 0 p!ok 1, 1 p!ok 2, 2 r!x 0, 2 r!y 0",
        "m: 0 r!x 1, 1 p!ok 0",
        Rule::OutputNotOffered,
    );
}

#[test]
fn a_message_that_is_not_taken_is_refused() {
    refused(
        "m: 0 p!ok 1, 1 p!ok 2, 2 q?data 0",
        "m: 0 q?data 1, 0 q?urgent 1, 1 p!ok 0",
        // What it does take comes later in the protocol, after `urgent`.
        Rule::InputsFromOnePeer,
    );
}

#[test]
fn who_ends_has_done_everything() {
    // With nothing pending allowed to the exact search, this engine is asked alone.
    let alone = Limits::default().anticipation(0);
    let is_safe = |sub: &str, sup: &str| check(sub, sup, &alone).is_safe();
    assert!(is_safe(
        "m: 0 p!ok 1, 1 q?data 2",
        "m: 0 q?data 1, 1 p!ok 2"
    ));
    // Something is pending.
    assert!(!is_safe("m: 0 p!ok 1", "m: 0 q?data 1, 1 p!ok 2"));
    // The supertype goes on, or the subtype does.
    assert!(!is_safe(
        "m: 0 p!ok 1, 1 q?data 2",
        "m: 0 q?data 1, 1 p!ok 2, 2 r?more 3"
    ));
    assert!(!is_safe(
        "m: 0 p!ok 1, 1 q?data 2, 2 r?more 3",
        "m: 0 q?data 1, 1 p!ok 2"
    ));
}

#[test]
fn as_many_letters_are_known_as_it_takes() {
    // What comes next in a·b·a·b… the letter before it tells. Where only a comes, nothing need be known.
    let sup = "m: 0 p?a 1, 1 p!x 2, 2 p?b 3, 3 p!x 0";
    let sub = "m: 0 p!x 1, 1 p!x 2, 2 p!x 3, 3 p?a 4, 4 p!x 5, 5 p?b 0";
    let (twice, once) = ("m: 0 p!x 1, 1 p!x 2, 2 p?a 0", "m: 0 p?a 1, 1 p!x 0");
    for widening in 0..4 {
        let limits = Limits::default().widening(widening).steps(20_000);
        assert_eq!(check(sub, sup, &limits).is_safe(), widening > 1);
        assert_eq!(check(twice, once, &limits).is_safe(), widening > 0);
    }
}

#[test]
fn without_widening_a_bound_is_a_bound() {
    let (sub, sup) = ("m: 0 p!x 1, 1 p!x 2, 2 p?a 0", "m: 0 p?a 1, 1 p!x 0");
    for (widening, safe) in [(0, false), (1, true), (4, true)] {
        let limits = Limits::default().anticipation(5).widening(widening);
        assert_eq!(check(sub, sup, &limits).is_safe(), safe);
    }
    // The budget ends this search as well.
    let limits = Limits::default().steps(10);
    let verdict = check(sub, sup, &limits);
    assert!(matches!(verdict, Verdict::Undecided(_)), "{verdict:?}");
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_binary_corpus_is_decided() {
    let folder = corpus("binary");
    let expected = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let read = |name: &str| -> Fsm {
        text::parse(&std::fs::read_to_string(folder.join(name)).unwrap())
            .unwrap()
            .remove(0)
    };
    let mut unbounded = vec![];
    for line in expected.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (sub, sup) = (read(fields[0]), read(fields[1]));
        match subtype::check(&sub, &sup, &Limits::default()).unwrap() {
            Verdict::Safe(proof) => {
                assert_eq!(fields[2], "sub", "{line}");
                walks(&sub, &sup, &Limits::default());
                if proof.anticipation.is_none() {
                    unbounded.push(fields[0].to_owned());
                }
            }
            Verdict::Unsafe(_) => assert_eq!(fields[2], "not sub", "{line}"),
            Verdict::Undecided(limit) => panic!("{line}: {limit}"),
        }
    }
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

const PEERS: [&str; 3] = ["p", "q", "r"];
const LABELS: [&str; 2] = ["x", "y"];

/// A random directed machine of role `m`, without end, since what ends piles up nothing.
fn machine(rng: &mut Rng, peers: usize) -> Fsm {
    let states = 2 + rng.usize(..3);
    let mut builder = Fsm::builder("m");
    let ids: Vec<StateId> = (0..states).map(|_| builder.add_state()).collect();
    for (index, &state) in ids.iter().enumerate() {
        let peer = PEERS[rng.usize(..peers)];
        let send = rng.bool();
        let choices = if rng.usize(..100) < 30 { 2 } else { 1 };
        for label in &LABELS[..choices] {
            let action = match send {
                true => Action::send(peer, *label, &[]),
                false => Action::receive(peer, *label, &[]),
            };
            let target = match rng.usize(..100) < 60 {
                true => (index + 1) % states,
                false => rng.usize(..states),
            };
            builder.add_transition(state, action, ids[target]);
        }
    }
    builder.build(ids[0])
}

fn explore(machine: &Fsm, peers: &[Fsm], queue: usize, configurations: usize) -> oracle::Report {
    let machines = std::iter::once(machine).chain(peers).cloned().collect();
    oracle::System::new(machines)
        .unwrap()
        .explore(&oracle::Limits {
            queue,
            configurations,
            steps: usize::MAX,
        })
}

/// The machine's peers, if all together are safe.
fn safe_peers(machine: &Fsm) -> Option<Vec<Fsm>> {
    let peers: BTreeSet<&Role> = machine.transitions().map(|t| &t.action.peer).collect();
    let peers: Vec<Fsm> = peers
        .into_iter()
        .map(|p| shown_to(p, machine))
        .collect::<Option<_>>()?;
    [1, 2, 4]
        .iter()
        .map(|&queue| explore(machine, &peers, queue, 500))
        .any(|report| report.findings.is_empty() && report.coverage > Coverage::Partial)
        .then_some(peers)
}

#[test]
fn what_only_this_engine_accepts_is_safe_among_safe_peers() {
    let pairs = std::env::var("RUMPSTEAK_FUZZ").map_or(12_000, |count| count.parse().unwrap());
    let mut rng = Rng::with_seed(7);
    // By the number of peers: pairs accepted with and without a bound, and explored among safe peers.
    let mut figures = [(0, 0, 0); 4];
    for pair in 0..pairs {
        let count = 1 + pair % 3;
        let sup = machine(&mut rng, count);
        let mut sub = machine(&mut rng, count);
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
        let limits = Limits::default()
            .anticipation(if rng.bool() { 0 } else { 1_000 })
            .steps(10_000);
        let Verdict::Safe(proof) = subtype::check(&sub, &sup, &limits).unwrap() else {
            continue;
        };
        let valid = certificate::check(&proof.certificate(), &sub, &sup);
        assert_eq!(valid, Ok(()), "{}{}", dot::print(&sub), dot::print(&sup));
        let figures = &mut figures[count];
        if proof.anticipation.is_some() {
            figures.0 += 1;
            continue;
        }
        figures.1 += 1;
        let shown = || format!("{}{}", dot::print(&sub), dot::print(&sup));
        for _ in 0..20 {
            let walked = walk(&sub, &sup, 200, &mut rng);
            assert_eq!(walked, Ok(()), "{}", shown());
        }
        let Some(peers) = safe_peers(&sup) else {
            continue;
        };
        // What the subtype never does may be with a role that is not there.
        if sub
            .transitions()
            .any(|t| peers.iter().all(|peer| *peer.role() != t.action.peer))
        {
            continue;
        }
        figures.2 += 1;
        let chooses = sup.states().any(|state| {
            let sends = |t: &rumpsteak_fsm::Transition<'_>| t.action.direction == Direction::Send;
            sup.transitions_from(state).filter(sends).count() > 1
        });
        for queue in [1, 3, 6] {
            let report = explore(&sub, &peers, queue, 2_000);
            // A choice of the supertype that is narrowed may leave others waiting.
            let unsound = report
                .findings
                .iter()
                .find(|finding| !chooses || finding.fault.kind().is_immediate());
            assert_eq!(unsound, None, "{}{}", shown(), dot::print_all(&peers));
        }
    }
    println!("(bounded, unbounded, explored) for 0 to 3 peers: {figures:?}");
    assert!(
        figures[1..]
            .iter()
            .all(|figures| figures.2 >= pairs / 3_000),
        "{figures:?}"
    );
}
