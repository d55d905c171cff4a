//! What does not depend on something that happened.
//!
//! A machine depends on an event from when it takes part in it, or receives a message that was sent
//! by a machine that depended on it. What does not depend on it can happen without it: leaving out
//! an event and all that depends on it leaves a run, if queues are unbounded.

use crate::system::explorer::{ExploredStep, Explorer, Node};
use crate::system::interned::MachineIndex;
use crate::system::store::Rows;

/// Configurations together with who depends on something that happened.
///
/// Each machine depends on it or not; of each channel's messages the first ones do not.
pub(crate) struct Causality<'a, 'b> {
    explorer: &'a Explorer<'b>,
    /// The node; for each machine 0 or 1; for each channel how many of its messages do not depend
    /// on the event, if that matters.
    rows: Rows,
    /// By row: where its search began.
    starts: Vec<u32>,
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

    /// Begins in `node`, where only `machine` depends on it.
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

    /// The node of a configuration, if there is one of this number.
    pub(crate) fn node(&self, at: u32) -> Option<Node> {
        ((at as usize) < self.rows.len()).then(|| self.rows.row(at)[0])
    }

    pub(crate) fn depends(&self, at: u32, machine: MachineIndex) -> bool {
        self.rows.row(at)[1 + machine] == 1
    }

    /// Takes an edge of the configuration's node. Returns where it leads and whether that is new,
    /// if the budget allows.
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
            // A sender that depends on it adds a message that does.
            let counts = !depends(machine) && !depends(receiver);
            self.scratch[channel] += u32::from(counts);
        } else if self.scratch[channel] > 0 {
            self.scratch[channel] -= 1;
        } else if !depends(machine) {
            self.scratch[1 + machine] = 1;
            self.forget(machine);
        }
        self.intern(Some(at))
    }

    /// Where the search began that found this first.
    pub(crate) fn start_of(&self, at: u32) -> u32 {
        self.starts[at as usize]
    }

    /// What a machine receives does not matter once it depends on the event.
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
            let start = from.map_or(at, |from| self.starts[from as usize]);
            self.starts.push(start);
        }
        Some((at, is_new))
    }
}
