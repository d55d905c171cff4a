//! Random protocols in which a role hears from several peers: what is accepted is safe.

use std::fmt::Write;

use fastrand::Rng;
use rumpsteak_scribble::Code;

use crate::fuzz::{self, Tool};

/// `a` chooses, again and again or once, and `d` hears from those that know. Sometimes it answers.
fn fan_in(rng: &mut Rng) -> String {
    let is_loop = rng.usize(..3) > 0;
    let mut text = "global protocol P(role a, role b, role c, role d) { ".to_owned();
    text += if is_loop { "rec X { choice at a { " } else { "choice at a { " };
    for branch in 0..2 + rng.usize(..2) {
        text += if branch > 0 { "} or { " } else { "" };
        write!(text, "s{branch}() from a to b; ").expect("a string");
        let mut senders = vec!["a", "b"];
        if rng.bool() {
            write!(text, "s{branch}() from b to c; ").expect("a string");
            senders.push("c");
        }
        for _ in 0..1 + rng.usize(..3) {
            let sender = senders[rng.usize(..senders.len())];
            write!(text, "m{}() from {sender} to d; ", rng.usize(..2)).expect("a string");
        }
        if rng.usize(..5) == 0 {
            let receiver = senders[rng.usize(..senders.len())];
            write!(text, "r{}() from d to {receiver}; ", rng.usize(..2)).expect("a string");
        }
        if is_loop && rng.usize(..8) > 0 {
            text += "continue X; ";
        }
    }
    text += if is_loop { "} } }" } else { "} last() from d to a; }" };
    text
}

#[test]
fn roles_that_collect_are_safe() {
    let outcome = fuzz::for_each_of(400, "roles_that_collect", |seed, watch| {
        let text = fan_in(&mut Rng::with_seed(seed));
        let projections = match watch.time(Tool::Project, || fuzz::project(&text)) {
            Ok((_, projections)) => projections,
            Err(errors) => {
                return Ok((false, errors.iter().all(|error| error.code == Code::Overtaken)));
            }
        };
        let machines: Vec<_> = projections.into_iter().map(|found| found.fsm).collect();
        let is_undirected = machines.iter().any(|machine| machine.check_directed().is_err());
        fuzz::safe(machines, &text, 5_000).map(|_| (is_undirected, false))
    });
    let collecting = outcome.tallies.iter().filter(|tally| tally.0).count();
    let refused = outcome.tallies.iter().filter(|tally| tally.1).count();
    println!("{collecting} hear from several peers, {refused} are refused by S0402");
    outcome.assert();
    assert!(outcome.tallies.len() < 400 || collecting * 20 > outcome.tallies.len());
}
