//! Gathers: a machine that receives in the order of the parts, beside one that receives in any
//! order. The machines of the other roles are changed at random, so that many systems are unsafe.

use rumpsteak_fsm::{Action, Fsm, StateId};
use rumpsteak_oracle::{Coverage, Draft, Hangs, Limits, Mutation, Shape, System, mutate};
use rumpsteak_scribble::Projection;

use crate::fuzz::{self, Sample, Tool};

const CONFIGURATIONS: usize = 20_000;

/// Adds that from `first` on one of each of these messages is received, in any order: a state for
/// each set of messages that are due.
pub(crate) fn receive(draft: &mut Draft, first: usize, messages: &[Vec<Action>], end: usize) {
    let (base, all) = (draft.states.len(), (1 << messages.len()) - 1);
    let number = |due: usize| match due {
        0 => end,
        _ if due == all => first,
        _ => base + due,
    };
    draft.states.resize(base + all, Vec::new());
    draft.states[first].clear();
    for due in 1..=all {
        for (bit, actions) in messages.iter().enumerate().filter(|(bit, _)| due >> bit & 1 == 1) {
            let edges = actions.iter().map(|it| (it.clone(), number(due & !(1 << bit))));
            draft.states[number(due)].extend(edges);
        }
    }
}

/// The machine that receives the messages of gathers in any order.
pub(crate) fn in_any_order(projection: &Projection) -> Fsm {
    let fsm = &projection.fsm;
    let mut draft = Draft::from(fsm);
    let fixed = draft.states.clone();
    for first in fsm.states().filter(|&state| projection.gathers(state)) {
        let mut members = vec![first];
        while let Some(&last) = members.last().filter(|&&last| projection.gathers(last)) {
            members.extend(fsm.transitions_from(last).next().map(|found| found.target));
        }
        let end = fixed[members[members.len() - 1].index()][0].1;
        let edges = |member: &StateId| fixed[member.index()].iter();
        let messages =
            members.iter().map(|it| edges(it).map(|(action, _)| action.clone()).collect());
        receive(&mut draft, first.index(), &messages.collect::<Vec<_>>(), end);
    }
    draft.build()
}

#[derive(Debug, Default)]
struct Tally {
    is_safe: bool,
    is_decided: bool,
    /// Not stuck with the capacities that were tried.
    moves_on: bool,
}

#[test]
fn a_fixed_order_is_as_safe_as_any_order() {
    let outcome = fuzz::for_each_of(150, "gathers", |seed, watch| {
        let mut sample = Sample::new(seed, Shape::gathers);
        let projections = loop {
            let projected = watch.time(Tool::Project, || fuzz::project(&sample.text));
            let projected = projected.map(|(_, projections)| projections).unwrap_or_default();
            let gathers = |found: &Projection| found.fsm.states().any(|state| found.gathers(state));
            if projected.iter().any(gathers) {
                break projected;
            }
            sample = Sample::next(sample.rng, Shape::gathers);
        };
        let mut fixed: Vec<Fsm> = projections.iter().map(|found| found.fsm.clone()).collect();
        let mut any: Vec<Fsm> = projections.iter().map(in_any_order).collect();
        for role in 0..fixed.len() {
            // A role that gathers is changed only if it is not: a mutation moves its marks.
            if fixed[role] == any[role]
                && sample.rng.bool()
                && let Some(mutated) =
                    mutate(&fixed[role], Mutation::any(&mut sample.rng), &mut sample.rng)
            {
                fixed[role] = mutated.clone();
                any[role] = mutated;
            }
        }
        let (Ok(one), Ok(other)) = (System::new(fixed.clone()), System::new(any.clone())) else {
            return Ok(Tally::default());
        };
        let reports = [&one, &other].map(|system| fuzz::explore(system, CONFIGURATIONS));
        let told = |what: &str| format!("{what}\n{}\n{fixed:?}", sample.text);
        let is_safe = reports.each_ref().map(|report| report.findings.is_empty());
        let is_decided =
            reports.iter().all(|of| !of.findings.is_empty() || of.coverage > Coverage::Partial);
        if is_decided && is_safe[0] != is_safe[1] {
            let texts = [&one, &other].into_iter().zip(&reports).map(|(system, report)| {
                report.findings.first().map(|found| system.describe(&found.run))
            });
            return Err(told(&format!("{is_safe:?} {:?}", texts.collect::<Vec<_>>())));
        }
        let limits = Limits { queue: 4, configurations: CONFIGURATIONS, steps: usize::MAX };
        if let (Some(most), Some(less)) = (one.occupancies(&limits), other.occupancies(&limits))
            && less.iter().any(|(channel, length)| *length > most[channel])
        {
            return Err(told("a longer queue"));
        }
        let capacity = 1 + sample.rng.usize(..2);
        let hangs =
            [fixed.clone(), any].map(|machines| fuzz::hangs(machines, capacity, CONFIGURATIONS));
        let moves_on = hangs[0] == Some(Hangs::Never);
        if moves_on && is_safe[0] && hangs[1].is_some_and(|hangs| hangs != Hangs::Never) {
            return Err(told(&format!("{hangs:?} at a capacity of {capacity}")));
        }
        Ok(Tally { is_safe: is_safe[0], is_decided, moves_on })
    });
    let count = |is: &dyn Fn(&Tally) -> bool| outcome.tallies.iter().filter(|of| is(of)).count();
    println!(
        "{} systems with gathers: {} decided, {} of them safe, {} not stuck at small capacities",
        outcome.tallies.len(),
        count(&|of| of.is_decided),
        count(&|of| of.is_decided && of.is_safe),
        count(&|of| of.moves_on),
    );
    outcome.assert();
}
