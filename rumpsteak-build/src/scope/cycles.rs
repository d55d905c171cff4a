//! Cycles of items without an action, or of `type` aliases alone, which no session may have.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use rumpsteak_front::session::{Chain, Form, Tail};

use super::{ItemId, Scope};
use crate::fault::{Cause, Fault};

/// The faults of such cycles, at the names that close them.
pub(super) fn faults(scope: &Scope<'_>, items: &BTreeSet<ItemId>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let idle = |_: ItemId, chain: &Chain| chain.actions.is_empty();
    for (item, next) in find(scope, items, idle) {
        let name = scope.name_of(item);
        faults.push(Cause::Idle { name }.at(next.span()));
    }
    let is_alias = |item: ItemId, _: &Chain| {
        scope.session(item).is_some_and(|session| matches!(session.form, Form::Alias(_)))
    };
    for (item, next) in find(scope, items, is_alias) {
        let name = scope.name_of(item);
        faults.push(Cause::RecursiveAlias { name }.at(next.span()));
    }
    faults
}

/// One item of each cycle of items that satisfy the predicate, with the name of the next item. Each
/// item is visited once, because it names at most one other item at its end.
fn find<'a>(
    scope: &Scope<'a>,
    items: &BTreeSet<ItemId>,
    follow: impl Fn(ItemId, &Chain) -> bool,
) -> Vec<(ItemId, &'a Ident)> {
    let mut rounds: BTreeMap<ItemId, ItemId> = BTreeMap::new();
    let mut found = Vec::new();
    for &start in items {
        let mut next = start;
        while !rounds.contains_key(&next) {
            rounds.insert(next, start);
            let Some(chain) = scope.session(next).and_then(|session| session.chain()) else {
                break;
            };
            let (item, name) = match &chain.tail {
                Tail::Itself(name) => (Some(next), name),
                Tail::Named(name) => (scope.find(name), name),
                _ => break,
            };
            let Some(item) = item.filter(|_| follow(next, chain)) else { break };
            if rounds.get(&item) == Some(&start) {
                found.push((next, name));
            }
            next = item;
        }
    }
    found
}
