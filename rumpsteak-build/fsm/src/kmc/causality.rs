//! Causal dependence on an event.
//!
//! A machine depends on an event once it takes part in it, or receives a message from a machine
//! that depended on it. A run stays a run, with unbounded queues, if an event and all that depends
//! on it are left out.

use crate::system::store::Rows;
use crate::system::{ExploredStep, Explorer, MachineIndex, Node};

/// Configurations together with the machines that depend on an event. In each channel, the messages
/// that do not depend on it come first.
pub(crate) struct Causality<'a, 'b> {
    explorer: &'a Explorer<'b>,
    /// The node; for each machine 1 if it depends on the event; for each channel the number of
    /// messages that do not, if that matters.
    rows: Rows,
    /// By row, the start of the search that found it first.
    pub(crate) starts: Vec<u32>,
    scratch: Vec<u32>,
    pub(crate) is_truncated: bool,
}

impl<'a, 'b> Causality<'a, 'b> {
    pub(crate) fn new(explorer: &'a Explorer<'b>, budget: usize) -> Self {
        let width = 1 + explorer.system.machines() + explorer.system.channels();
        Self {
            explorer,
            rows: Rows::new(width, budget, 2 * explorer.len()),
            starts: vec![],
            scratch: vec![],
            is_truncated: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Starts in `node`, where only `machine` depends on the event.
    pub(crate) fn start(&mut self, node: Node, machine: MachineIndex) -> Option<(u32, bool)> {
        let system = self.explorer.system;
        self.scratch.clear();
        self.scratch.push(node);
        self.scratch.extend((0..system.machines()).map(|other| u32::from(other == machine)));
        self.scratch
            .extend((0..system.channels()).map(|channel| self.explorer.held(node, channel)));
        self.forget(machine);
        self.intern(None)
    }

    pub(crate) fn node(&self, at: u32) -> Option<Node> {
        ((at as usize) < self.rows.len()).then(|| self.rows.row(at)[0])
    }

    pub(crate) fn depends(&self, at: u32, machine: MachineIndex) -> bool {
        self.rows.row(at)[1 + machine] == 1
    }

    /// Takes a step of the node. Returns its target and true if that is new. `None` if the budget
    /// is used up.
    pub(crate) fn step(&mut self, at: u32, step: ExploredStep) -> Option<(u32, bool)> {
        let system = self.explorer.system;
        let by = system.get(step.by as usize);
        self.scratch.clear();
        self.scratch.extend_from_slice(self.rows.row(at));
        self.scratch[0] = step.to;
        let depends = |machine: usize| self.scratch[1 + machine] == 1;
        let (_, receiver) = system.ends[by.channel as usize];
        let machine = by.machine as usize;
        let channel = 1 + system.machines() + by.channel as usize;
        if by.is_send {
            // A dependent sender adds a dependent message.
            self.scratch[channel] += u32::from(!depends(machine) && !depends(receiver));
        } else if self.scratch[channel] > 0 {
            self.scratch[channel] -= 1;
        } else if !depends(machine) {
            self.scratch[1 + machine] = 1;
            self.forget(machine);
        }
        self.intern(Some(at))
    }

    /// Forgets the channels to a machine that depends on the event.
    fn forget(&mut self, machine: MachineIndex) {
        let system = self.explorer.system;
        for (channel, &(_, receiver)) in system.ends.iter().enumerate() {
            if receiver == machine {
                self.scratch[1 + system.machines() + channel] = 0;
            }
        }
    }

    fn intern(&mut self, from: Option<u32>) -> Option<(u32, bool)> {
        let Some((at, is_new)) = self.rows.intern(&self.scratch) else {
            self.is_truncated = true;
            return None;
        };
        if is_new {
            self.starts.push(from.map_or(at, |from| self.starts[from as usize]));
        }
        Some((at, is_new))
    }
}
