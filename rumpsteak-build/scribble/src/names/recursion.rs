//! Recursions: which one each `continue` means, which do nothing, and what runs beside an endless
//! one.
//!
//! * `rec X { continue X; }` exchanges no message however often it repeats, and Scribble has always
//!   read it as nothing. Where some branch has a message, a silent repetition is a mistake instead
//!   (S0301).
//! * Behind `rec X { m() from A to B; continue X; }` the interaction `n() from C to D;` never
//!   happens in the order of the text. But it shares no role with the recursion, so the two may as
//!   well be written the other way round: nobody can see the order of interactions without a common
//!   role. So what follows is moved in front if it ends and all its roles are others; anything else
//!   is unreachable (S0302).
//!
//! Costs O(body), with stacks of its own.

use hashbrown::{HashMap, HashSet};

use crate::diagnostics::span::{Name, Span};
use crate::index::{NONE, index};
use crate::syntax::ast::{BlockId, Body, InteractionId, InteractionKind};

/// What is known of the recursions of one protocol before any role is looked at.
pub(super) struct Recursions<'m> {
    /// For each `continue` the recursion that it means, or [`NONE`]; for others [`NONE`].
    pub(super) targets: Vec<u32>,
    pub(super) inert: Vec<bool>,
    /// Each `continue` outside of its recursion, with the recursions around it, innermost first.
    pub(super) unbound: Vec<(&'m Name, Vec<&'m str>)>,
    /// Each `continue` that would leave a `par` or `interruptible`.
    pub(super) leaving: Vec<(Span, &'m Name)>,
    /// The blocks whose interactions are taken in another order.
    orders: HashMap<BlockId, Vec<InteractionId>>,
}

impl<'m> Recursions<'m> {
    pub(super) fn new(body: &'m Body) -> Self {
        let mut recursions = Self {
            targets: vec![NONE; body.interactions.len()],
            inert: vec![false; body.interactions.len()],
            unbound: Vec::new(),
            leaving: Vec::new(),
            orders: HashMap::new(),
        };
        recursions.bind(body);
        recursions.summarise(body);
        recursions
    }

    /// The interactions of a block, in the order in which they are to be understood.
    pub(super) fn items<'a>(&'a self, body: &'a Body, block: BlockId) -> &'a [InteractionId] {
        let order = self.orders.get(&block);
        order.map_or(body.block(block), Vec::as_slice)
    }

    /// Where a block starts: its first interaction, or `next` if it has none.
    pub(super) fn start(&self, body: &Body, block: BlockId, next: u32) -> u32 {
        self.items(body, block).first().map_or(next, |first| first.0)
    }

    fn bind(&mut self, body: &'m Body) {
        enum Task<'m> {
            Enter(BlockId),
            /// The name of a recursion that has ended.
            Leave(&'m Name),
            Rec(InteractionId, &'m Name, BlockId),
            /// A part of a block that no `continue` leaves.
            Part(BlockId),
            LeavePart,
        }
        /// An unbound name lists this many recursions around it at most.
        const MOST_NAMES: usize = 16;
        let mut bound: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut around: Vec<&str> = Vec::new();
        // For each `par` and each `interruptible` around, how many recursions are around it.
        let mut walls: Vec<usize> = vec![0];
        // By recursion that is open, how many recursions are around it.
        let mut depths: HashMap<u32, usize> = HashMap::new();
        let mut tasks = vec![Task::Enter(body.root())];
        while let Some(task) = tasks.pop() {
            let block = match task {
                Task::Enter(block) => block,
                Task::Leave(name) => {
                    around.pop();
                    if let Some(stack) = bound.get_mut(name.as_str()) {
                        stack.pop();
                    }
                    continue;
                }
                Task::Part(block) => {
                    walls.push(around.len());
                    tasks.push(Task::LeavePart);
                    block
                }
                Task::LeavePart => {
                    walls.pop();
                    continue;
                }
                Task::Rec(id, name, block) => {
                    depths.insert(id.0, around.len());
                    around.push(name.as_str());
                    bound.entry(name.as_str()).or_default().push(id.0);
                    tasks.push(Task::Leave(name));
                    block
                }
            };
            // All `continue`s of this block see the same recursions, so the inner blocks can wait.
            for &id in body.block(block) {
                match &body.interaction(id).kind {
                    InteractionKind::Choice { branches, .. } => {
                        tasks.extend(branches.iter().map(|&block| Task::Enter(block)));
                    }
                    InteractionKind::Rec { variable, body } => {
                        tasks.push(Task::Rec(id, variable, *body));
                    }
                    InteractionKind::Continue { variable } => {
                        let found = bound.get(variable.as_str()).and_then(|stack| stack.last());
                        match found {
                            Some(target) if depths.get(target) < walls.last() => {
                                self.leaving.push((body.interaction(id).span, variable));
                            }
                            Some(&target) => self.targets[id.0 as usize] = target,
                            None => {
                                let names = around.iter().rev().take(MOST_NAMES);
                                self.unbound.push((variable, names.copied().collect()));
                            }
                        }
                    }
                    InteractionKind::Par { parts } => {
                        tasks.extend(parts.iter().map(|&block| Task::Part(block)));
                    }
                    InteractionKind::Interruptible { body, .. } => tasks.push(Task::Part(*body)),
                    _ => {}
                }
            }
        }
    }

    /// Finds recursions that do nothing and what runs beside an endless one, from the innermost
    /// blocks outwards: a block has a greater number than those around it.
    fn summarise(&mut self, body: &Body) {
        let mut summaries = vec![Summary::NOTHING; body.blocks.len()];
        // Comparing the roles of nested blocks again and again is not free: no more than this in
        // all.
        let mut budget = 16 * body.interactions.len();
        for number in (0..body.blocks.len()).rev() {
            let items = &body.blocks[number];
            let parts: Vec<Summary> =
                items.iter().map(|&id| self.summary(body, id, &summaries)).collect();
            summaries[number] = Summary::of_all(parts.iter().copied());

            let Some(endless) = parts.iter().position(|part| !part.ends) else { continue };
            let closed = |part: &Summary| part.target == NONE;
            let (before, beside) = items.split_at(endless + 1);
            if !beside.is_empty()
                && closed(&parts[endless])
                && parts[endless + 1..].iter().all(|part| part.ends && closed(part))
                && disjoint(body, before[endless], beside, &mut budget)
            {
                let order = [&before[..endless], beside, &before[endless..]].concat();
                let block = BlockId(index(number));
                self.orders.insert(block, order);
            }
        }
    }

    fn summary(&mut self, body: &Body, id: InteractionId, blocks: &[Summary]) -> Summary {
        let block = |block: BlockId| blocks[block.0 as usize];
        match &body.interaction(id).kind {
            InteractionKind::Continue { .. } if self.targets[id.0 as usize] != NONE => {
                Summary { ends: false, silent: true, target: self.targets[id.0 as usize] }
            }
            InteractionKind::Message { .. }
            | InteractionKind::Do { .. }
            | InteractionKind::Continue { .. }
            | InteractionKind::Invalid => Summary { silent: false, ..Summary::NOTHING },
            InteractionKind::Choice { branches, .. } => {
                let parts = || branches.iter().map(|&branch| block(branch));
                Summary { ends: parts().any(|part| part.ends), ..Summary::of_all(parts()) }
            }
            // No `continue` leaves one.
            InteractionKind::Par { parts } => {
                Summary::of_all(parts.iter().map(|&part| block(part)))
            }
            // An interrupt ends it in any case.
            InteractionKind::Interruptible { .. } => Summary { silent: false, ..Summary::NOTHING },
            InteractionKind::Rec { body, .. } => {
                let inner = block(*body);
                // Recursions further out have smaller numbers.
                let closed = inner.target >= id.0;
                if inner.silent && closed {
                    self.inert[id.0 as usize] = true;
                    return Summary::NOTHING;
                }
                Summary { target: if closed { NONE } else { inner.target }, ..inner }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Summary {
    ends: bool,
    /// Whether it has neither messages nor calls.
    silent: bool,
    /// The outermost recursion that it continues and that is around it, or [`NONE`].
    target: u32,
}

impl Summary {
    const NOTHING: Self = Self { ends: true, silent: true, target: NONE };

    /// That of parts all of which happen.
    fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::NOTHING, |whole, part| Self {
            ends: whole.ends & part.ends,
            silent: whole.silent & part.silent,
            target: whole.target.min(part.target),
        })
    }
}

/// Whether no role of `one` is a role of `others`. `false` when the budget, in interactions, is
/// used up.
fn disjoint(body: &Body, one: InteractionId, others: &[InteractionId], budget: &mut usize) -> bool {
    let (one, others) = (roles(body, &[one], budget), roles(body, others, budget));
    one.zip(others).is_some_and(|(one, others)| one.is_disjoint(&others))
}

fn roles<'b>(
    body: &'b Body,
    items: &[InteractionId],
    budget: &mut usize,
) -> Option<HashSet<&'b str>> {
    let mut roles = HashSet::new();
    let mut work = items.to_vec();
    while let Some(id) = work.pop() {
        *budget = budget.checked_sub(1)?;
        match &body.interaction(id).kind {
            InteractionKind::Message { from, to, .. } => {
                roles.insert(from.as_str());
                roles.extend(to.iter().map(Name::as_str));
            }
            InteractionKind::Choice { at, branches } => {
                roles.insert(at.as_str());
                for &branch in branches {
                    work.extend(body.block(branch));
                }
            }
            InteractionKind::Rec { body: block, .. } => work.extend(body.block(*block)),
            InteractionKind::Par { parts } => {
                work.extend(parts.iter().flat_map(|&part| body.block(part)));
            }
            InteractionKind::Interruptible { body: block, interrupts } => {
                roles.extend(interrupts.iter().map(|interrupt| interrupt.by.as_str()));
                work.extend(body.block(*block));
            }
            InteractionKind::Do { roles: players, .. } => {
                roles.extend(players.iter().map(Name::as_str));
            }
            InteractionKind::Continue { .. } => {}
            InteractionKind::Invalid => return None,
        }
    }
    Some(roles)
}
