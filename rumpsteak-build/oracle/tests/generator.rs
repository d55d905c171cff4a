//! Random protocols and mutations: reproducible, well-formed, varied.

#![allow(clippy::expect_used, reason = "a test states what holds")]

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use rumpsteak_oracle::{Draft, Global, Mutation, Shape, local, mutate};

#[test]
fn protocols_are_reproducible_and_differ() {
    let text = |seed| {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape::random(&mut rng);
        Global::random(&mut rng, &shape).scribble("P", shape.roles)
    };
    let texts: BTreeSet<String> = (0..200).map(text).collect();
    assert_eq!(text(7), text(7));
    assert!(texts.len() > 150, "{} of 200 differ", texts.len());
    for word in ["rec X0 {", "continue X0;", "choice at", "} or {", "(i32)", "role f"] {
        assert!(texts.iter().any(|text| text.contains(word)), "no {word}");
    }
}

fn message(from: usize, to: usize, label: &str, then: Global) -> Global {
    Global::Message { from, to, label: label.into(), payload: None, then: Box::new(then) }
}

#[test]
fn scribble_text() {
    let protocol = Global::Rec {
        name: 0,
        body: Box::new(Global::Choice {
            at: 0,
            branches: vec![
                message(0, 1, "go", message(1, 2, "x", Global::Continue(0))),
                message(0, 1, "stop", message(1, 2, "y", Global::End)),
            ],
        }),
    };
    assert_eq!(
        protocol.scribble("P", 3),
        "global protocol P(role a, role b, role c) {\n\
        \x20 rec X0 {\n\
        \x20   choice at a {\n\
        \x20     go() from a to b;\n\
        \x20     x() from b to c;\n\
        \x20     continue X0;\n\
        \x20   } or {\n\
        \x20     stop() from a to b;\n\
        \x20     y() from b to c;\n\
        \x20   }\n\
        \x20 }\n\
        }\n"
    );
}

#[test]
fn balance() {
    let looping = |lap: Global, exit: Global| Global::Rec {
        name: 0,
        body: Box::new(Global::Choice {
            at: 0,
            branches: vec![message(0, 1, "go", lap), message(0, 1, "stop", exit)],
        }),
    };
    // c is served in every lap, or never.
    let told = looping(message(1, 2, "x", Global::Continue(0)), message(1, 2, "y", Global::End));
    assert!(told.is_balanced());
    assert!(looping(Global::Continue(0), Global::End).is_balanced());
    // c waits while the others go round.
    let untold = looping(Global::Continue(0), message(1, 2, "y", Global::End));
    assert!(!untold.is_balanced());
    // Once c has been served it leaves for good.
    assert!(message(0, 2, "x", looping(Global::Continue(0), Global::End)).is_balanced());
}

#[test]
fn mutations_give_directed_machines() {
    let text = "rec X . b!{go.c?{x.b?y.X, z.b!w.X}, stop.c!done.b?y.end}";
    let machine = local("a", text).expect("a local type");
    let mut rng = Rng::with_seed(3);
    let mut made: BTreeMap<Mutation, BTreeSet<String>> = BTreeMap::new();
    for _ in 0..300 {
        for mutation in Mutation::ALL {
            if let Some(mutated) = mutate(&machine, mutation, &mut rng) {
                assert_eq!(mutated.check_directed(), Ok(()));
                assert_eq!(mutated.role(), machine.role());
                assert_eq!(mutated.reachable().count(), mutated.len());
                made.entry(mutation).or_default().insert(format!("{mutated:?}"));
            }
        }
    }
    for mutation in Mutation::ALL {
        assert!(made.contains_key(&mutation), "{mutation:?} was never possible");
    }
    // Only `c!done` and `b?y` are single actions in a row.
    assert_eq!(made[&Mutation::Swap].len(), 1, "{:?}", made[&Mutation::Swap]);
}

#[test]
fn a_swap_and_a_hoist() {
    let mut rng = Rng::with_seed(0);
    let mut mutated = |text: &str, mutation| {
        let machine = local("a", text).expect("a local type");
        let mutated = (0..100).find_map(|_| mutate(&machine, mutation, &mut rng));
        mutated.expect("it is possible")
    };
    let expect = |text: &str| local("a", text).expect("a local type");
    assert_eq!(mutated("b!x.c?y.end", Mutation::Swap), expect("c?y.b!x.end"));
    assert_eq!(
        mutated("b?{l.c!x.end, r.c!x.end}", Mutation::Hoist),
        expect("c!x.b?{l.end, r.end}")
    );
    assert_eq!(
        mutated("b?x.c!{l.end, r.end}", Mutation::Hoist),
        expect("c!{l.b?x.end, r.b?x.end}")
    );
    assert_eq!(mutated("b!{x.end, y.end}", Mutation::Narrow).transition_count(), 1);
    // An unrolled loop is the same loop; the copy leads back to the original.
    let unrolled = mutated("rec X . b!x . X", Mutation::Unroll);
    assert_eq!(format!("{unrolled:?}"), "a: 2 states from 0, 0 -b!x-> 1, 1 -b!x-> 0");
}

#[test]
fn a_draft_gives_its_machine_back() {
    let machine = local("a", "rec X . b!{go.c?x.X, stop.end}").expect("a local type");
    assert_eq!(Draft::from(&machine).build(), machine);
}
