use fastrand::Rng;
use rumpsteak_oracle::{Draft, Global, Shape, seeds};

use super::{Edit, Search, single, walk};
use crate::machine::{Fsm, StateId};
use crate::{Limits, dot, subtype};

/// The projection of a random protocol onto a role.
fn projection(rng: &mut Rng) -> Option<Fsm> {
    let shape = Shape::random(rng);
    let fsm = Global::random(rng, &shape).project(rng.usize(..shape.roles))?;
    let mut text = "digraph p { 0;".to_owned();
    for (source, transitions) in Draft::from(&fsm).states.iter().enumerate() {
        for (action, target) in transitions {
            text += &format!("{source} -> {target} [label=\"{action}\"];");
        }
    }
    Some(dot::parse(&(text + "}")).ok()?.remove(0))
}

/// A random edit of a projection, and what it costs at most to take it back. `action` is another
/// machine, of one action.
fn edit<'a>(sup: &'a Fsm, action: &'a Fsm, rng: &mut Rng) -> Option<(Edit<'a>, usize)> {
    let own = rng.choice(sup.transitions().collect::<Vec<_>>())?;
    let due = action.transitions().next()?;
    let (edge, between) = (Some(own.id), (due.source, due.target));
    let (done, wanted) = (own.action, due.action);
    let is_end = (&done.peer, done.direction) == (&wanted.peer, wanted.direction);
    let is_only = sup.transitions().filter(|edge| edge.target == own.target).count() == 1;
    let is_alike = is_end || done.message == wanted.message;
    Some(match rng.usize(..4) {
        0 => (Edit::Replace { own, due }, is_alike.then_some(1)?),
        1 => (Edit::Insert { edge, is_of_state: false, between }, 2),
        2 => (Edit::Delete(single(sup, own.target).filter(|_| is_only)?), 3),
        _ if sup.is_terminal(own.target) => return None,
        _ => (Edit::Jump { edge, to: rng.choice(sup.states().collect::<Vec<_>>())? }, 4),
    })
}

/// The kinds of edits in the order in which they are tried.
fn cost(edit: Edit<'_>) -> usize {
    match edit {
        Edit::Later { .. } => 0,
        Edit::Replace { .. } => 1,
        Edit::Delete(_) => 2,
        Edit::Insert { .. } => 3,
        Edit::Jump { .. } => 4,
    }
}

/// A session that ends early, and one that begins in the middle, have a rule of their own.
#[test]
fn a_random_edit_is_taken_back_by_one_that_costs_no_more() {
    let mut number = 0;
    for seed in seeds(2_000) {
        let mut rng = Rng::with_seed(seed);
        let Some(sup) = projection(&mut rng) else { continue };
        let actions: Vec<_> = sup.transitions().map(|due| due.action.clone()).collect();
        let Some(mut action) = rng.choice(actions) else { continue };
        if rng.bool() {
            action.message.label = "x".into();
        }
        let mut other = Fsm::builder("p");
        let (from, to) = (other.add_state(), other.add_state());
        other.add_transition(from, action, to);
        let other = other.build(from);
        let Some((edit, most)) = edit(&sup, &other, &mut rng) else { continue };
        let sub = edit.apply(&sup, &other);
        let verdict = subtype::check(&sub, &sup, &Limits::default());
        let Some(refusal) = verdict.as_ref().ok().and_then(|verdict| verdict.refusal()) else {
            continue;
        };
        let (path, walk) = (&refusal.path, walk(&sub, &sup, &refusal.path));
        let is_left_out = |state| matches!(edit, Edit::Delete(only) if only.source == state);
        let parts: Vec<StateId> = sub.states().filter(|state| !is_left_out(*state)).collect();
        let last = walk.len() - 1;
        let (sub, sup, parts, walk) = (&sub, &sup, &*parts, &*walk);
        let search = Search { sub, parts, sup, refusal, path, walk, last, most: 1_000 };
        if !path.is_empty() && !sub.is_terminal(search.at(last).1) {
            number += 1;
            let found = search.answer().or_else(|| search.cheapest());
            let is_cheap = found.is_some_and(|(_, edit)| cost(edit) <= most);
            assert!(is_cheap, "seed {seed}: {edit:?} is taken back by {found:?}\n{sup:?}");
        }
    }
    assert!(number > 100, "{number}");
}
