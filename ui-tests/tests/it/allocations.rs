//! Messages cost no allocation: neither the channels nor the futures of the actions make one. What
//! roles cost.
//!
//! The counting allocator belongs to this test alone.

use allocation_counter::{AllocationInfo, measure};
use futures::executor::block_on;
use futures::future::try_join;
use rumpsteak::channel::{Capacity, Channel};
use rumpsteak::join;
use rumpsteak_ui_tests::numbers::{Roles, consumer, producer};
use rumpsteak_ui_tests::ring::{self, Stopped, first, second, third};

/// Counts the allocations of one session on roles that were used before.
fn session(roles: &mut Roles, numbers: &[i32]) -> AllocationInfo {
    let Roles(p, q) = roles;
    measure(|| {
        let sums = block_on(try_join(producer(p, numbers), consumer(q)));
        assert_eq!(sums.ok(), Some((numbers.iter().sum(), numbers.iter().sum())));
    })
}

#[test]
fn messages_allocate_nothing() {
    let mut roles = Roles::default();
    // Setup of executors and channels.
    session(&mut roles, &[1, 2, 3]);
    let numbers: Vec<i32> = (0..1_000).collect();
    for many in [0, 1, 10, 1_000] {
        let info = session(&mut roles, &numbers[..many]);
        assert_eq!(info.count_total, 0, "{many} messages: {info:?}");
    }
}

#[test]
fn roles_allocate_once_for_each_queue() {
    // Two queues, and the other end of the route until its role is made.
    assert_eq!(measure(|| drop(Roles::default())).count_total, 3);
    // Here there is room for 256 bytes only.
    let allocations = |room| {
        let capacity = Capacity::AtMost(room);
        measure(|| drop(Channel::<[u64; 4]>::with_capacities(capacity, capacity))).count_total
    };
    assert_eq!([8, 9].map(allocations), [2, 4]);
}

#[test]
fn the_runner_leaves_its_wakers_to_the_next() {
    let mut roles = Roles::default();
    session(&mut roles, &[1, 2, 3]);
    let numbers: Vec<i32> = (0..1_000).collect();
    let Roles(p, q) = &mut roles;
    let mut count = |many: usize| {
        let info = measure(|| {
            let (produced, consumed) = block_on(join((producer(p, &numbers[..many]), consumer(q))));
            assert_eq!(produced.ok(), consumed.ok());
        });
        info.count_total
    };
    // The set of woken processes, two wakers and their list.
    assert_eq!([count(0), count(1_000)], [4, 0]);
}

#[test]
fn a_lap_allocates_nothing() {
    let lap = |hops| {
        let ring::Roles { mut x, mut y, mut z } = ring::Roles::default();
        measure(|| {
            let (x, _, _) = block_on(join((first(&mut x, hops), second(&mut y), third(&mut z))));
            assert!(matches!(x, Err(Stopped::After(after)) if after >= hops));
        })
        .count_total
    };
    // Setup of the executor.
    lap(1);
    // The final errors and the runner: the same number for a hundred times the hops.
    assert_eq!(lap(1_000), lap(100_000));
}
