//! Leaving out of a run what its fault does not need.
//!
//! A run that was found one machine at a time does much that has nothing to do with what is wrong at its end. What
//! counts is how the machines came to wait that wait for each other, and the messages that they cannot take. What
//! these moves depend on is a run by itself, if queues are unbounded: each move comes after those of its machine, and
//! each reception after its send. Whether the fault is there at its end is looked at once more.

use std::collections::VecDeque;

use super::{
    graph::Node,
    net::{Channel, Machine, Net},
    space::{Fault, Space},
};

/// A part of the run with a fault at its end, no longer than the run; the fault may be another one of the same kind.
pub(crate) fn prune(net: &Net, path: &[u32]) -> Option<(Vec<u32>, Fault)> {
    let bounds = vec![u32::MAX; net.channels()];
    let end = |path: &[u32]| {
        let mut space = Space::new(net, &bounds, path.len().saturating_add(2));
        let node = space.walk(path)?;
        Some((space.definite_fault(node)?, space, node))
    };
    let (_, space, node) = end(path)?;

    let fewest = concerned(&space, node)
        .iter()
        .map(|concerned| needed(net, path, concerned))
        .min_by_key(|needed| needed.iter().filter(|&&needed| needed).count())?;
    let pruned: Vec<u32> = path
        .iter()
        .zip(fewest)
        .filter_map(|(&by, needed)| needed.then_some(by))
        .collect();
    let (fault, ..) = end(&pruned)?;
    Some((pruned, fault))
}

/// What a fault is about.
struct Concerned {
    /// The machines whose moves all count.
    machines: Vec<bool>,
    /// The channels whose next message counts.
    channels: Vec<bool>,
}

/// Each fault of a configuration: for a machine that is stuck, the machines that it waits for.
fn concerned(space: &Space<'_>, node: Node) -> Vec<Concerned> {
    let net = space.net;
    let nothing = || Concerned {
        machines: vec![false; net.machines()],
        channels: vec![false; net.channels()],
    };
    let stuck = space.stuck(node);
    let mut all = vec![];
    for machine in (0..net.machines()).filter(|&machine| stuck[machine]) {
        let mut concerned = nothing();
        concerned.machines[machine] = true;
        let mut open = vec![machine];
        while let Some(waits) = open.pop() {
            for by in space.moves(node, waits) {
                let channel = net.get(by).channel as Channel;
                let sender = net.ends[channel].0;
                // A channel stays empty because its sender is stuck, too, or finished.
                if space.held(node, channel) > 0 {
                    concerned.channels[channel] = true;
                } else if !std::mem::replace(&mut concerned.machines[sender], true) {
                    open.push(sender);
                }
            }
        }
        all.push(concerned);
    }
    if all.is_empty()
        && let Some(Fault::Lost(channel)) = space.definite_fault(node)
    {
        let mut concerned = nothing();
        concerned.machines[net.ends[channel].1] = true;
        concerned.channels[channel] = true;
        all.push(concerned);
    }
    all
}

/// Which moves these depend on.
fn needed(net: &Net, path: &[u32], concerned: &Concerned) -> Vec<bool> {
    // The send that each reception takes its message from, and the sends whose messages are left.
    let mut under_way: Vec<VecDeque<usize>> = vec![VecDeque::new(); net.channels()];
    let mut sent_by = vec![None; path.len()];
    for (index, &by) in path.iter().enumerate() {
        let by = net.get(by as usize);
        let queue = &mut under_way[by.channel as Channel];
        match by.is_send {
            true => queue.push_back(index),
            false => sent_by[index] = queue.pop_front(),
        }
    }
    let mut needed = vec![false; path.len()];
    for (queue, &counts) in under_way.iter().zip(&concerned.channels) {
        if let (Some(&head), true) = (queue.front(), counts) {
            needed[head] = true;
        }
    }
    let mut machines = concerned.machines.clone();
    for index in (0..path.len()).rev() {
        let machine = net.get(path[index] as usize).machine as Machine;
        machines[machine] |= needed[index];
        needed[index] |= machines[machine];
        if let (true, Some(send)) = (needed[index], sent_by[index]) {
            needed[send] = true;
        }
    }
    needed
}
