//! Random systems: the engine against the definitions, the reduction against the engine.

use fastrand::Rng;
use rumpsteak_fsm::kmc::{self, Properties, Property, Reduction, Verdict};
use rumpsteak_fsm::system::explore;
use rumpsteak_fsm::{Fsm, Limits, StateId, System};
use rumpsteak_oracle::{action, seeds};

use super::reference::{Kind, Reference};
use crate::common::{changed, dual};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// No state both sends and receives.
    Csa,
    /// Each state sends to one peer or receives from one peer, under distinct labels.
    Directed,
}

pub(crate) fn random_system(random: &mut Rng, shape: Shape) -> System {
    let roles = ["a", "b", "c"];
    let roles =
        &roles[..2 + usize::from(random.usize(..100) < if shape == Shape::Csa { 90 } else { 50 })];
    // Two machines are often made for each other.
    if roles.len() == 2 && random.bool() {
        let one = random_machine(random, "a", &["b"], shape);
        let other = changed(&one, "b", |by| (dual(by.action, "a"), by.target));
        let broken = if random.bool() { with_one_change(random, &other) } else { other };
        return System::new(vec![one, broken]).unwrap();
    }
    let machines = roles
        .iter()
        .map(|&role| {
            let peers: Vec<&str> = roles.iter().copied().filter(|&peer| peer != role).collect();
            random_machine(random, role, &peers, shape)
        })
        .collect();
    System::new(machines).unwrap()
}

fn random_machine(random: &mut Rng, role: &str, peers: &[&str], shape: Shape) -> Fsm {
    let mut builder = Fsm::builder(role);
    let count = 1 + random.usize(..4);
    let states: Vec<_> = (0..count).map(|_| builder.add_state()).collect();
    for &state in &states {
        // Competing messages need a role that listens to two others.
        let sends = random.usize(..100) < if role == "c" { 15 } else { 60 };
        let peer = peers[random.usize(..peers.len())];
        let labels = ["x", "y"];
        let first = random.usize(..labels.len());
        let counts = match shape {
            Shape::Csa => [0, 1, 2, 2, 3, 3],
            _ => [0, 1, 1, 1, 2, 2],
        };
        for number in 0..counts[random.usize(..counts.len())] {
            let (sends, peer, label) = match shape {
                Shape::Any => {
                    (random.bool(), peers[random.usize(..peers.len())], labels[random.usize(..2)])
                }
                Shape::Csa => {
                    (sends, peers[random.usize(..peers.len())], labels[random.usize(..2)])
                }
                Shape::Directed => (sends, peer, labels[(first + number) % 2]),
            };
            let action = action(sends, peer, label, &[]);
            builder.add_transition(state, action, states[random.usize(..count)]);
        }
    }
    builder.build(states[0])
}

fn with_one_change(random: &mut Rng, machine: &Fsm) -> Fsm {
    let chosen = random.usize(..machine.transition_count().max(1));
    changed(machine, "b", |transition| {
        let target = match transition.id.index() == chosen {
            true => StateId::from_index(random.usize(..machine.len())),
            false => transition.target,
        };
        (transition.action.clone(), target)
    })
}

fn of(properties: &Properties) -> [(Kind, &Property); 7] {
    [
        (Kind::Exhaustive, &properties.exhaustive),
        (Kind::Progress, &properties.progress),
        (Kind::Reception, &properties.reception),
        (Kind::Obi, &properties.obi),
        (Kind::Ibi, &properties.ibi),
        (Kind::Sibi, &properties.sibi),
        (Kind::Cibi, &properties.cibi),
    ]
}

#[test]
fn every_property_is_as_defined() {
    let mut compared = 0;
    let mut fails = [0; 7];
    for seed in seeds(300) {
        for shape in [Shape::Any, Shape::Csa, Shape::Directed] {
            let mut random = Rng::with_seed(seed);
            let system = random_system(&mut random, shape);
            for bound in 1..=2 {
                let Some(reference) = Reference::new(&system, bound, 120) else { continue };
                compared += 1;
                let full = kmc::check_at(&system, bound, Reduction::None, &Limits::default());
                let reduced =
                    kmc::check_at(&system, bound, Reduction::PartialOrder, &Limits::default());
                for (index, ((kind, is), (_, reduced))) in
                    of(&full).into_iter().zip(of(&reduced)).enumerate()
                {
                    let context =
                        || format!("{shape:?} {seed} k={bound} {kind:?} {:#?}", system.machines());
                    let expected = reference.violation(kind);
                    assert_eq!(is.holds(), Some(expected.is_none()), "{}", context());
                    assert_eq!(reduced.holds(), is.holds(), "{}", context());
                    fails[index] += usize::from(expected.is_some());
                    if let Property::Fails(witness) = is {
                        assert!(
                            reference.shows(kind, &witness.steps, &witness.flaw),
                            "{witness:?} {}",
                            context()
                        );
                        // Parts are judged apart, so that the shortest run of one may not be that
                        // of all.
                        if kind != Kind::Cibi {
                            assert!(witness.steps.len() >= expected.unwrap(), "{}", context());
                        }
                    }
                    if let Property::Fails(witness) = reduced {
                        assert!(
                            reference.shows(kind, &witness.steps, &witness.flaw),
                            "{witness:?} {}",
                            context()
                        );
                    }
                }
            }
        }
    }
    println!("{compared} compared, violations {fails:?}");
    assert!(compared > 600 && fails.iter().all(|&count| count > 10), "{compared} {fails:?}");
}

#[test]
fn a_verdict_is_right_at_every_bound() {
    let mut tally = [0; 3];
    for seed in seeds(300) {
        for shape in [Shape::Any, Shape::Csa, Shape::Directed] {
            let mut random = Rng::with_seed(seed ^ 0x5eed_0000);
            let system = random_system(&mut random, shape);
            let limits = Limits::default().queue(6);
            let report = kmc::check(&system, &limits);
            let context =
                || format!("{shape:?} {seed} {:?} {:#?}", report.verdict, system.machines());
            match &report.verdict {
                Verdict::Safe(bound) => {
                    tally[0] += 1;
                    // Another engine, which stops where its budget ends, finds nothing wrong.
                    let explored = explore(&system, &limits);
                    let wrong = explored.verdict.refusal().or(explored.starvation.as_ref());
                    assert_eq!(wrong, None, "{}", context());
                    for larger in [*bound, bound + 1, bound + 3] {
                        let at = kmc::check_at(&system, larger, Reduction::None, &limits);
                        // Under a larger bound, only what was blocked by the bound may not come
                        // about.
                        if at.exhaustive.holds() == Some(true) {
                            let safe = (at.progress.holds(), at.reception.holds());
                            assert_eq!(safe, (Some(true), Some(true)), "{larger} {}", context());
                        }
                    }
                    for smaller in 1..*bound {
                        let at = kmc::check_at(&system, smaller, Reduction::None, &limits);
                        let compatible = at.exhaustive.holds() == Some(true)
                            && at.progress.holds() == Some(true)
                            && at.reception.holds() == Some(true)
                            && at.obi.holds() == Some(true)
                            && at.cibi.holds() == Some(true)
                            && at.mixed.is_none()
                            && at.nondeterministic.is_none();
                        assert!(!compatible, "{smaller} {}", context());
                    }
                }
                Verdict::Unsafe(run) => {
                    tally[1] += 1;
                    assert!(run.replay(&system), "{}", context());
                }
                Verdict::Undecided(_) => {
                    tally[2] += 1;
                    // Everything seen would have been an answer.
                    if let Some(reference) = Reference::new(&system, 6, 200) {
                        assert!(reference.hits_bound(), "{}", context());
                    }
                }
            }
        }
    }
    println!("safe, unsafe, undecided: {tally:?}");
    assert!(tally.iter().all(|&count| count > 50), "{tally:?}");
}
