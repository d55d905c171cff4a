//! Recursions: the target of each `continue`, recursions that do nothing, and interactions beside
//! an endless recursion.
//!
//! * `rec X { continue X; }` exchanges no message however often it repeats. As usual in Scribble,
//!   it means nothing. If some branch has a message, a silent repetition is a mistake (S0301).
//! * `rec X { interruptible { …; continue X; } with … }` tries again: where a block is the first
//!   thing in a recursion, a `continue` in the block goes back to the block's own beginning. There
//!   is nothing to do before that, so the block need not end for it, and an interrupt that is under
//!   way still ends it.
//! * Behind `rec X { m() from A to B; continue X; }`, the interaction `n() from C to D;` never
//!   happens in the order of the text. But it shares no role with the recursion, so the two may as
//!   well be written the other way round: no role can see the order of interactions that it takes
//!   no part in. So the interactions behind are moved to the front, if they end and all their roles
//!   are others. Otherwise they are unreachable (S0302).
//!
//! Costs O(body), with stacks of its own.

use hashbrown::{HashMap, HashSet};

use crate::diagnostics::{Name, Span};
use crate::index::{NONE, index};
use crate::syntax::ast::{BlockId, Body, Interaction, InteractionId, InteractionKind};

#[derive(Default)]
pub(super) struct Recursions<'m> {
    /// The recursion of each `continue`; [`NONE`] for all other interactions.
    pub(super) targets: Vec<u32>,
    /// True for each recursion that does nothing.
    pub(super) inert: Vec<bool>,
    /// Each `continue` outside of its recursion, with the recursions around it, innermost first.
    pub(super) unbound: Vec<(&'m Name, Vec<&'m str>)>,
    /// For each `continue` of a recursion that begins with the block around it the first
    /// interaction in the block.
    pub(super) again: HashMap<u32, u32>,
    /// Each `continue` that would leave a `par` or `interruptible`.
    pub(super) leaving: Vec<(Span, &'m Name)>,
    /// The blocks with another order of interactions than the text.
    orders: HashMap<BlockId, Vec<InteractionId>>,
}

impl<'m> Recursions<'m> {
    pub(super) fn new(body: &'m Body) -> Self {
        let mut recursions = Self {
            targets: vec![NONE; body.interactions.len()],
            inert: vec![false; body.interactions.len()],
            ..Self::default()
        };
        recursions.bind(body);
        recursions.summarise(body);
        recursions
    }

    /// The interactions of a block, with endless recursions last.
    pub(super) fn items<'a>(&'a self, body: &'a Body, block: BlockId) -> &'a [InteractionId] {
        self.orders.get(&block).map_or(body.block(block), Vec::as_slice)
    }

    /// The first interaction of a block, or `next` if it is empty.
    pub(super) fn start(&self, body: &Body, block: BlockId, next: u32) -> u32 {
        self.items(body, block).first().map_or(next, |first| first.0)
    }

    /// Finds the recursion of each `continue`.
    fn bind(&mut self, body: &'m Body) {
        /// An unbound name lists at most this many recursions around it.
        const MOST_NAMES: usize = 16;
        // For each name the recursions around, each with its depth among all of them.
        let mut bound: HashMap<&str, Vec<(u32, usize)>> = HashMap::new();
        let mut around: Vec<&str> = Vec::new();
        let mut tasks = vec![Task::Enter(body.root(), Place { older: 0, wall: 0, again: None })];
        while let Some(task) = tasks.pop() {
            let (block, place) = match task {
                Task::Enter(block, place) => (block, place),
                Task::Rec(id, name) => {
                    bound.entry(name.as_str()).or_default().push((id.0, around.len()));
                    around.push(name.as_str());
                    continue;
                }
                Task::LeaveRec(name) => {
                    around.pop();
                    bound.entry(name.as_str()).or_default().pop();
                    continue;
                }
            };
            // Every `continue` of this block sees the same recursions, so the inner blocks can
            // wait.
            for (position, &id) in body.block(block).iter().enumerate() {
                let Interaction { kind, span, .. } = body.interaction(id);
                // In a choice or a `par`, there is something else beside.
                let is_alone = position == 0 && kind.blocks().len() == 1;
                let older = if is_alone { place.older } else { around.len() };
                for &part in kind.blocks() {
                    let inner = match kind {
                        InteractionKind::Choice { .. } | InteractionKind::Rec { .. } => {
                            Place { older, ..place }
                        }
                        InteractionKind::Interruptible { .. } => {
                            let again = body.block(part).first().map(|first| (older, first.0));
                            Place { older, wall: around.len(), again }
                        }
                        _ => Place { older, wall: around.len(), again: None },
                    };
                    if let InteractionKind::Rec { variable, .. } = kind {
                        let (enter, leave) = (Task::Rec(id, variable), Task::LeaveRec(variable));
                        tasks.extend([leave, Task::Enter(part, inner), enter]);
                    } else {
                        tasks.push(Task::Enter(part, inner));
                    }
                }
                let InteractionKind::Continue { variable } = kind else { continue };
                match bound.get(variable.as_str()).and_then(|stack| stack.last()) {
                    Some(&(target, depth)) if depth < place.wall => match place.again {
                        Some((older, first)) if depth >= older && first != id.0 => {
                            self.targets[id.0 as usize] = target;
                            self.again.insert(id.0, first);
                        }
                        _ => self.leaving.push((*span, variable)),
                    },
                    Some(&(target, _)) => self.targets[id.0 as usize] = target,
                    None => {
                        let names = around.iter().rev().take(MOST_NAMES);
                        self.unbound.push((variable, names.copied().collect()));
                    }
                }
            }
        }
    }

    /// Finds recursions that do nothing and interactions beside an endless one, from the innermost
    /// blocks outwards: a block has a greater number than the blocks around it.
    fn summarise(&mut self, body: &Body) {
        let mut summaries = vec![Summary::NOTHING; body.blocks.len()];
        // Bounds the total work of comparing the roles of nested blocks.
        let mut budget = 16 * body.interactions.len();
        for number in (0..body.blocks.len()).rev() {
            let items = &body.blocks[number];
            let parts = Vec::from_iter(items.iter().map(|&id| self.summary(body, id, &summaries)));
            summaries[number] = Summary::of_all(parts.iter().copied());

            let Some(endless) = parts.iter().position(|part| !part.ends) else { continue };
            let closed = |part: &Summary| part.target == NONE;
            let (before, beside) = items.split_at(endless + 1);
            if !beside.is_empty()
                && closed(&parts[endless])
                && parts[endless + 1..].iter().all(|part| part.ends && closed(part))
                && let Some(own) = roles(body, &[before[endless]], &mut budget)
                && roles(body, beside, &mut budget).is_some_and(|roles| roles.is_disjoint(&own))
            {
                let order = [&before[..endless], beside, &before[endless..]].concat();
                self.orders.insert(BlockId(index(number)), order);
            }
        }
    }

    fn summary(&mut self, body: &Body, id: InteractionId, blocks: &[Summary]) -> Summary {
        let block = |block: BlockId| blocks[block.0 as usize];
        match &body.interaction(id).kind {
            InteractionKind::Continue { .. } if self.targets[id.0 as usize] != NONE => {
                Summary { ends: false, silent: true, target: self.targets[id.0 as usize] }
            }
            InteractionKind::Choice { branches, .. } => {
                let parts = || branches.iter().map(|&branch| block(branch));
                Summary { ends: parts().any(|part| part.ends), ..Summary::of_all(parts()) }
            }
            // No `continue` leaves one.
            InteractionKind::Par { parts } => {
                Summary::of_all(parts.iter().map(|&part| block(part)))
            }
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
            // An `interruptible` ends in any case, by its interrupt.
            _ => Summary { silent: false, ..Summary::NOTHING },
        }
    }
}

/// A step through the blocks of a protocol, in [`Recursions::bind`].
enum Task<'m> {
    Enter(BlockId, Place),
    Rec(InteractionId, &'m Name),
    /// The end of the recursion with this name.
    LeaveRec(&'m Name),
}

#[derive(Clone, Copy)]
struct Place {
    /// The number of recursions around the block that do not begin with it.
    older: usize,
    /// The number of recursions around the innermost part of a `par` or `interruptible` around,
    /// which no `continue` leaves.
    wall: usize,
    /// How many of these do not begin with this part, if it is an `interruptible`, and its first
    /// interaction.
    again: Option<(usize, u32)>,
}

#[derive(Clone, Copy)]
struct Summary {
    ends: bool,
    /// True if it has neither messages nor calls.
    silent: bool,
    /// The outermost recursion around it that it continues, or [`NONE`].
    target: u32,
}

impl Summary {
    const NOTHING: Self = Self { ends: true, silent: true, target: NONE };

    /// The summary of parts that all happen.
    fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::NOTHING, |whole, part| Self {
            ends: whole.ends & part.ends,
            silent: whole.silent & part.silent,
            target: whole.target.min(part.target),
        })
    }
}

/// The roles in these interactions. `None` if the budget, in interactions, is used up.
fn roles<'b>(
    body: &'b Body,
    items: &[InteractionId],
    budget: &mut usize,
) -> Option<HashSet<&'b str>> {
    let mut roles: Vec<&Name> = Vec::new();
    let mut work = items.to_vec();
    while let Some(id) = work.pop() {
        *budget = budget.checked_sub(1)?;
        let kind = &body.interaction(id).kind;
        work.extend(kind.blocks().iter().flat_map(|&block| body.block(block)));
        match kind {
            InteractionKind::Message { from, to, .. } => roles.extend(to.iter().chain([from])),
            InteractionKind::Choice { at, .. } => roles.extend([at]),
            InteractionKind::Interruptible { interrupts, .. } => {
                roles.extend(interrupts.iter().flat_map(|of| of.via.iter().chain([&of.by])));
            }
            InteractionKind::Do { roles: players, .. } => {
                roles.extend(players.iter().map(|(player, _)| player));
            }
            InteractionKind::Invalid => return None,
            _ => {}
        }
    }
    Some(roles.into_iter().map(Name::as_str).collect())
}
