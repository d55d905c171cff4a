#![doc = include_str!("dead_receives.md")]

use fixedbitset::FixedBitSet;
use litemap::LiteMap;

use crate::machine::{Action, Fsm, Message, Role, StateId, Transition, TransitionId};
use crate::system::{Explorer, Failure, InternedSystem, Run, System};
use crate::verdict::{Limit, Limits, Verdict};

/// Judges a machine of a safe system, which stands for its projection, if it has one. Unsafe: a run
/// to a state with a dead receive.
pub fn dead_receives(
    system: &System,
    own: usize,
    projected: Option<&Fsm>,
    limits: &Limits,
) -> Verdict<(), Box<Run>> {
    let fsm = &system.machines()[own];
    let mut open = suspects(fsm, projected);
    if open.is_empty() {
        return Verdict::Safe(());
    }
    let interned = InternedSystem::whole(system);
    let mut bound = 1;
    while !open.is_empty() {
        let explorer = Explorer::all(&interned, &interned.uniform(bound), limits.configurations);
        let moves = explorer.graph.edge_weights().map(|&by| by as usize);
        let moves = moves.filter(|&by| interned.get(by).machine as usize == own);
        let done: FixedBitSet = moves.map(|by| interned.get(by).transition.index()).collect();
        open.retain(|id| !done.contains(id.index()));
        let is_whole = !explorer.is_truncated && !explorer.is_held_back();
        for &id in &open {
            let by = fsm.transition(id);
            let never =
                |more: Option<&Action>| !may_come(system, fsm, by.source, (by.action, more));
            let mut here =
                explorer.nodes().filter(|&node| explorer.own_state(node, own) == by.source);
            let Some(node) = here.next().filter(|_| is_whole || never(None)) else { continue };
            let unlocks = |action: &&Action| action.is_send() && !never(Some(action));
            let after = fsm.transitions().map(|found| found.action).find(unlocks).cloned();
            let after = after.filter(|_| never(None));
            let (role, action) = (fsm.role().clone(), by.action.clone());
            let steps = interned.steps(&explorer.paths.to(node));
            let run = Run::of(system, steps, Failure::Never { role, action, after });
            // Always there: each run that a search finds replays.
            return run.map_or(Verdict::Undecided(Limit::Queue(bound)), |run| {
                Verdict::Unsafe(Box::new(run))
            });
        }
        if is_whole {
            return Verdict::Safe(());
        }
        if explorer.is_truncated || bound >= limits.queue {
            let limit = Limit::Queue(limits.queue);
            let configurations = explorer.limit(limits.configurations, limits);
            return Verdict::Undecided(if explorer.is_truncated { configurations } else { limit });
        }
        bound = bound.saturating_mul(2).min(limits.queue);
    }
    Verdict::Safe(())
}

/// The receives in states that also send, except those that the projection has there too.
fn suspects(fsm: &Fsm, projected: Option<&Fsm>) -> Vec<TransitionId> {
    let sends = |state| fsm.sends_from(state).next().is_some();
    let receives = fsm.transitions().filter(|by| !by.action.is_send() && sends(by.source));
    let mut suspects: Vec<TransitionId> = receives.map(|by| by.id).collect();
    if suspects.is_empty() {
        return suspects;
    }
    let known = projected.into_iter().flat_map(|projected| {
        fsm.in_step(projected).flat_map(move |(own, due)| {
            let is_due = move |by: &Transition<'_>| {
                projected.transitions_from(due).any(|due| due.action == by.action)
            };
            fsm.transitions_from(own).filter(is_due).map(|by| by.id.index())
        })
    });
    let known: FixedBitSet = known.collect();
    let reachable: FixedBitSet = fsm.reachable().map(StateId::index).collect();
    let is_reachable = |id| reachable.contains(fsm.transition(id).source.index());
    suspects.retain(|&id| !known.contains(id.index()) && is_reachable(id));
    suspects
}

/// True if a machine may find a wanted message in a state, after a send, if any.
fn may_come(
    system: &System,
    own: &Fsm,
    state: StateId,
    (wanted, more): (&Action, Option<&Action>),
) -> bool {
    let peers = || system.machines().iter().filter(|peer| peer.role() != own.role());
    let leads_there = |from: StateId| own.reachable_from(from).any(|to| to == state);
    let before = own.transitions().filter(|by| by.action.is_send() && leads_there(by.target));
    let before = before.map(|by| by.action).chain(more);
    let mut sent: LiteMap<(&Role, &Role, &Message), ()> = LiteMap::new();
    before.for_each(|it| _ = sent.insert((own.role(), &it.peer, &it.message), ()));
    let mut reached: Vec<_> = peers().map(|peer| FixedBitSet::with_capacity(peer.len())).collect();
    loop {
        let mut is_new = false;
        for (fsm, reached) in peers().zip(&mut reached) {
            for by in fsm.transitions() {
                let Action { peer, message, .. } = by.action;
                let is_send = by.action.is_send();
                let is_possible = is_send || sent.contains_key(&(peer, fsm.role(), message));
                let is_reached = by.source == fsm.initial() || reached.contains(by.source.index());
                if is_possible && is_reached {
                    is_new |= is_send && sent.insert((fsm.role(), peer, message), ()).is_none();
                    is_new |= !reached.put(by.target.index());
                }
            }
        }
        if !is_new {
            return sent.contains_key(&(&wanted.peer, own.role(), &wanted.message));
        }
    }
}
