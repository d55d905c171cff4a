//! Leaving out of a run what its fault does not need.
//!
//! A run that was found one machine at a time does much that has nothing to do with what is wrong
//! at its end. What counts is how the machines came to wait that wait for each other, and the
//! messages that they cannot take. What these moves depend on is a run by itself, if queues are
//! unbounded: each move comes after those of its machine, and each reception after its send.
//! Whether the fault is there at its end is looked at once more.

use std::collections::VecDeque;

use super::violation::{Violation, definite, stuck};
use crate::system::explorer::{Explorer, Node};
use crate::system::interned::{ChannelIndex, InternedSystem, MachineIndex};

/// A part of the run with a fault at its end, no longer than the run; the fault may be another one
/// of the same kind.
pub(crate) fn slice(system: &InternedSystem, path: &[u32]) -> Option<(Vec<u32>, Violation)> {
    let bounds = vec![u32::MAX; system.channels()];
    let end = |path: &[u32]| {
        let mut explorer = Explorer::new(system, &bounds, path.len().saturating_add(2));
        let node = explorer.walk(path)?;
        Some((definite(&explorer, node)?, explorer, node))
    };
    let (_, explorer, node) = end(path)?;

    let fewest = concerned(&explorer, node)
        .iter()
        .map(|concerned| needed(system, path, concerned))
        .min_by_key(|needed| needed.iter().filter(|&&needed| needed).count())?;
    let sliced: Vec<u32> =
        path.iter().zip(fewest).filter_map(|(&by, needed)| needed.then_some(by)).collect();
    let (fault, ..) = end(&sliced)?;
    Some((sliced, fault))
}

struct Concerned {
    /// The machines whose moves all count.
    machines: Vec<bool>,
    /// The channels whose next message counts.
    channels: Vec<bool>,
}

/// Each fault of a configuration: for a machine that is stuck, the machines that it waits for.
fn concerned(explorer: &Explorer<'_>, node: Node) -> Vec<Concerned> {
    let system = explorer.system;
    let nothing = || Concerned {
        machines: vec![false; system.machines()],
        channels: vec![false; system.channels()],
    };
    let stuck = stuck(explorer, node);
    let mut all = vec![];
    for machine in (0..system.machines()).filter(|&machine| stuck[machine]) {
        let mut concerned = nothing();
        concerned.machines[machine] = true;
        let mut open = vec![machine];
        while let Some(waits) = open.pop() {
            for by in explorer.moves(node, waits) {
                let channel = system.get(by).channel as ChannelIndex;
                let sender = system.ends[channel].0;
                // A channel stays empty because its sender is stuck, too, or finished.
                if explorer.held(node, channel) > 0 {
                    concerned.channels[channel] = true;
                } else if !std::mem::replace(&mut concerned.machines[sender], true) {
                    open.push(sender);
                }
            }
        }
        all.push(concerned);
    }
    if all.is_empty()
        && let Some(Violation::Lost(channel)) = definite(explorer, node)
    {
        let mut concerned = nothing();
        concerned.machines[system.ends[channel].1] = true;
        concerned.channels[channel] = true;
        all.push(concerned);
    }
    all
}

/// Which moves these depend on.
fn needed(system: &InternedSystem, path: &[u32], concerned: &Concerned) -> Vec<bool> {
    // The send that each reception takes its message from, and the sends whose messages are left.
    let mut under_way: Vec<VecDeque<usize>> = vec![VecDeque::new(); system.channels()];
    let mut sent_by = vec![None; path.len()];
    for (index, &by) in path.iter().enumerate() {
        let by = system.get(by as usize);
        let queue = &mut under_way[by.channel as ChannelIndex];
        if by.is_send { queue.push_back(index) } else { sent_by[index] = queue.pop_front() }
    }
    let mut needed = vec![false; path.len()];
    for (queue, &counts) in under_way.iter().zip(&concerned.channels) {
        if let (Some(&head), true) = (queue.front(), counts) {
            needed[head] = true;
        }
    }
    let mut machines = concerned.machines.clone();
    for index in (0..path.len()).rev() {
        let machine = system.get(path[index] as usize).machine as MachineIndex;
        machines[machine] |= needed[index];
        needed[index] |= machines[machine];
        if let (true, Some(send)) = (needed[index], sent_by[index]) {
            needed[send] = true;
        }
    }
    needed
}
