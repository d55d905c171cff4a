//! Choices among peers: sending to one of them, and hearing whoever is first.

#![allow(clippy::unwrap_used, reason = "helpers of a test: a panic is a failure")]

use futures::executor::block_on;
use rumpsteak_runtime::join;
use rumpsteak_ui_tests::{fan_in, pool};

#[test]
fn jobs_go_to_whom_the_dispatcher_likes() {
    let pool::Roles { mut d, mut a, mut b } = pool::Roles::default();
    for _ in 0..3 {
        let jobs = pool::dispatcher(&mut d, &[1, 2, 3, 4]);
        let (sum, first, second) =
            block_on(join((jobs, pool::first(&mut a), pool::second(&mut b))));
        assert_eq!(sum.unwrap(), 3 + 4 + 9 + 8);
        (first.unwrap(), second.unwrap());
    }
}

/// Both have always sent something, so each is heard at every second turn.
#[test]
fn no_peer_starves_another() {
    let fan_in::Roles { mut a, mut b, mut c } = fan_in::Roles::default();
    let all =
        (fan_in::writer_a(&mut a, 50), fan_in::writer_b(&mut b, 50), fan_in::collector(&mut c));
    let (wrote_a, wrote_b, lines) = block_on(join(all));
    (wrote_a.unwrap(), wrote_b.unwrap());
    let lines = lines.unwrap();
    assert_eq!(lines.len(), 100);
    for pair in lines.chunks(2) {
        assert!(pair[0].0 != pair[1].0 && pair[0].1 == pair[1].1, "{lines:?}");
    }
}
