//! Families: a system in which one role has several members, beside the same with one member. The
//! machines are changed at random, so that many systems are unsafe.

use std::ops::RangeInclusive;

use fastrand::Rng;
use rumpsteak_fsm::{Action, Direction, Fsm, Role, family};
use rumpsteak_oracle::{
    Coverage, Draft, Family, Hangs, Limits, Mutation, Shape, System, equal, mutate,
};
use rumpsteak_scribble::{Code, Diagnostic, Projection};

use crate::fuzz::{self, Sample, Tool};
use crate::gathers::in_any_order;

/// How many configurations the explorers may visit.
const CONFIGURATIONS: usize = 2_000;

/// These machines with so many members of a family, which come last.
fn with_members(machines: &[Fsm], family: &Role, members: usize) -> Vec<Fsm> {
    let name = |index: usize| Role::from(format!("{family}{index}"));
    let (own, others): (Vec<_>, Vec<_>) = machines.iter().partition(|fsm| fsm.role() == family);
    let others = others.into_iter().map(|fsm| {
        let mut draft = Draft::from(fsm);
        for state in 0..draft.states.len() {
            let edges = std::mem::take(&mut draft.states[state]);
            for (action, target) in edges {
                let with = |index| Action { peer: name(index), ..action.clone() };
                if action.peer != *family {
                    draft.states[state].push((action, target));
                } else if action.direction == Direction::Send {
                    // To one member after the other.
                    let mut source = state;
                    for index in 0..members {
                        let last = index + 1 == members;
                        let next = if last { target } else { draft.states.len() };
                        draft.states.resize(draft.states.len().max(next + 1), Vec::new());
                        draft.states[source].push((with(index), next));
                        source = next;
                    }
                } else {
                    // In any order: a state for each set of members that are due.
                    let (base, all) = (draft.states.len(), (1 << members) - 1);
                    let number = |due: usize| match due {
                        0 => target,
                        _ if due == all => state,
                        _ => base + due,
                    };
                    draft.states.resize(base + all, Vec::new());
                    for due in 1..=all {
                        let due_members = (0..members).filter(|index| due >> index & 1 == 1);
                        let edges =
                            due_members.map(|index| (with(index), number(due & !(1 << index))));
                        draft.states[number(due)].extend(edges);
                    }
                }
            }
        }
        draft.build()
    });
    let member = |(index, fsm): (usize, &&Fsm)| Draft { role: name(index), ..Draft::from(*fsm) };
    let own = own.iter().cycle().take(members).enumerate().map(|found| member(found).build());
    others.collect::<Vec<_>>().into_iter().chain(own).collect()
}

/// True if the result for one member counts for all numbers.
fn counts(machines: &[Fsm], family: &Role) -> bool {
    machines.iter().all(|fsm| family::check(fsm, |role| role == family).is_ok())
}

#[derive(Debug, Default)]
struct Tally {
    is_decided: bool,
    is_safe: bool,
    /// Unsafe with one member, and safe with another number.
    is_only_one: bool,
    moves_on: bool,
}

#[test]
fn what_is_safe_with_one_member_is_safe_with_each_number() {
    const SHAPES: [fn(&mut fastrand::Rng) -> Shape; 4] =
        [Shape::dense, Shape::blocks, Shape::gathers, Shape::scattered];
    let outcome = fuzz::for_each_of(100, "what_is_safe_with_one_member", |seed, _| {
        let mut sample = Sample::new(seed, SHAPES[seed as usize % 4]);
        let (machines, family) = loop {
            if sample.roles < 5
                && let Ok(mut machines) = sample.project()
            {
                let family = machines[sample.rng.usize(..machines.len())].role().clone();
                for machine in &mut machines {
                    if sample.rng.usize(..3) == 0
                        && let Some(mutated) =
                            mutate(machine, Mutation::any(&mut sample.rng), &mut sample.rng)
                    {
                        *machine = mutated;
                    }
                }
                let talks = |fsm: &Fsm| fsm.transitions().any(|it| it.action.peer == family);
                if machines.iter().any(talks) && counts(&machines, &family) {
                    break (machines, family);
                }
            }
            sample = Sample::next(sample.rng, SHAPES[seed as usize % 4]);
        };
        let one = System::new(with_members(&machines, &family, 1)).map_err(|of| of.to_string())?;
        let first = fuzz::explore(&one, CONFIGURATIONS);
        let is_safe = first.findings.is_empty();
        let mut tally = Tally {
            is_decided: !is_safe || first.coverage > Coverage::Partial,
            is_safe,
            ..Tally::default()
        };
        let limits = Limits { queue: 4, configurations: CONFIGURATIONS, steps: usize::MAX };
        let short = Limits { queue: 2, ..limits };
        let capacity = 1 + sample.rng.usize(..2);
        let hangs = |machines| fuzz::hangs(machines, capacity, CONFIGURATIONS);
        tally.moves_on = hangs(with_members(&machines, &family, 1)) == Some(Hangs::Never);
        let is_live = tally.is_decided && is_safe && one.neglect(&short).is_none();
        let first_member = one.machines().len() - 1;
        for members in 2..=4 {
            let machines = with_members(&machines, &family, members);
            let many = System::new(machines.clone()).map_err(|error| error.to_string())?;
            let report = fuzz::explore(&many, CONFIGURATIONS);
            let told = |what: &str| {
                format!("{members} of {family}: {what}\n{}\n{machines:?}", sample.text)
            };
            match report.findings.first() {
                Some(found) if tally.is_decided && is_safe => {
                    return Err(told(&many.describe(&found.run)));
                }
                None => tally.is_only_one |= !is_safe && report.coverage > Coverage::Partial,
                _ => {}
            }
            if is_live && many.neglect(&short).is_some() {
                return Err(told("neglected"));
            }
            if is_safe
                && let (Some(most), Some(less)) =
                    (one.occupancies(&limits), many.occupancies(&limits))
                && less.iter().any(|(&(from, to), length)| {
                    let channel = (from.min(first_member), to.min(first_member));
                    *length > most[&channel]
                })
            {
                return Err(told("a longer queue"));
            }
            if tally.moves_on
                && is_safe
                && hangs(machines.clone()).is_some_and(|hangs| hangs != Hangs::Never)
            {
                return Err(told(&format!("hangs at a capacity of {capacity}")));
            }
        }
        Ok(tally)
    });
    let count = |is: &dyn Fn(&Tally) -> bool| outcome.tallies.iter().filter(|of| is(of)).count();
    println!(
        "{} systems with families: {} decided, {} of them safe, {} unsafe with one member only, {} not stuck at small capacities",
        outcome.tallies.len(),
        count(&|of| of.is_decided),
        count(&|of| of.is_decided && of.is_safe),
        count(&|of| of.is_only_one),
        count(&|of| of.moves_on),
    );
    outcome.assert();
}

/// A protocol in which a role is a family.
fn of_family(text: &str, role: &str) -> String {
    let text = text.replace(&format!("role {role}"), &format!("role {role}[N]"));
    let lines = text.lines().map(|line| match line.split_once(" from ") {
        Some((label, roles)) => {
            let roles = roles.trim_end_matches(';').replace(" to ", ", ");
            let named = roles.split(", ").map(|name| match name == role {
                true => format!("each {name}"),
                false => name.to_owned(),
            });
            let named: Vec<String> = named.collect();
            format!("{label} from {} to {};\n", named[0], named[1..].join(", "))
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Explores a protocol that is accepted, with each of these numbers of members.
fn safe_members(
    projections: &[Projection],
    family: &Role,
    numbers: RangeInclusive<usize>,
    text: &str,
) -> Result<(), String> {
    let machines: Vec<Fsm> = projections.iter().map(|found| found.fsm.clone()).collect();
    for members in numbers {
        let machines = with_members(&machines, family, members);
        fuzz::safe(machines, &format!("{members} of {family}:\n{text}"), 3_000)?;
    }
    Ok(())
}

#[test]
fn protocols_with_families_that_are_accepted_are_safe() {
    let outcome = fuzz::for_each_of(150, "protocols_with_families", |seed, _| {
        let shape = if seed % 2 == 0 { Shape::blocks } else { Shape::random };
        let mut sample = Sample::new(seed, shape);
        while sample.roles > 4 {
            sample = Sample::next(sample.rng, shape);
        }
        let family = Role::from(["a", "b", "c", "d"][sample.rng.usize(..sample.roles)]);
        let text = of_family(&sample.text, family.as_str());
        match fuzz::project(&text) {
            Ok((_, found)) => safe_members(&found, &family, 1..=4, &text).map(|()| None),
            Err(errors) => Ok(errors.first().map(|error| error.code)),
        }
    });
    let count = |code: Option<Code>| outcome.tallies.iter().filter(|of| **of == code).count();
    println!(
        "{} protocols with families: {} accepted, {} undecided, {} with another mistake of the family",
        outcome.tallies.len(),
        count(None),
        count(Some(Code::UndecidedFamily)),
        count(Some(Code::Family)),
    );
    outcome.assert();
}

/// The judgement of a protocol with a family, and of the same with each member written as a role.
#[derive(Debug)]
struct Both {
    is_fixed: bool,
    has_indices: bool,
    /// The code of the first error of each, or none if it is accepted.
    family: Option<Code>,
    written: Option<Code>,
}

#[test]
fn families_are_like_members_that_are_written_singly() {
    let outcome = fuzz::for_each_of(400, "families_are_like_members", |seed, watch| {
        let sample = Family::random(&mut Rng::with_seed(seed), [0, 40][seed as usize % 2]);
        let Family { members, is_fixed, has_indices, has_blocks, text, written } = &sample;
        let mut project = |text| watch.time(Tool::Project, || fuzz::project(text));
        let (one, single) = (project(text), project(written));
        let code = |of: &Result<_, Vec<Diagnostic>>| Some(of.as_ref().err()?.first()?.code);
        let both = Both {
            is_fixed: *is_fixed,
            has_indices: *has_indices,
            family: code(&one),
            written: code(&single),
        };
        // The language has no messages to one member.
        if *has_indices != (both.family == Some(Code::Unsupported)) {
            return Err(format!("{both:?}:\n{text}"));
        }
        let single = single.map(|(_, found)| found);
        let single: Option<Vec<Fsm>> =
            single.ok().map(|found| found.iter().map(in_any_order).collect());
        if let Some(machines) = &single {
            fuzz::safe(machines.clone(), written, 3_000)?;
        }
        let Ok((protocol, found)) = one else { return Ok(both) };
        let family = Role::from("w");
        let (size, numbers) = if *is_fixed { (*members, *members..=*members) } else { (0, 1..=4) };
        assert_eq!(protocol.members(&family), Some(size as u32));
        safe_members(&found, &family, numbers, text)?;
        let machines: Vec<Fsm> = found.into_iter().map(|found| found.fsm).collect();
        let machines = with_members(&machines, &family, *members);
        let is_equal = |single: &Vec<Fsm>| {
            *has_blocks || machines.iter().zip(single).all(|(own, single)| equal(own, single))
        };
        match single.is_some_and(|single| is_equal(&single)) {
            true => Ok(both),
            false => Err(format!("{both:?}, or not the same machines:\n{text}{written}")),
        }
    });
    let tallies = &outcome.tallies;
    let count = |is: &dyn Fn(&Both) -> bool| tallies.iter().filter(|of| is(of)).count();
    let of = |has, code| count(&|of| of.has_indices == has && of.family == code);
    let accepted = of(false, None);
    let undecided = of(false, Some(Code::UndecidedFamily));
    let refused = count(&|of| of.family == Some(Code::UndecidedFamily) && of.written.is_none());
    let indices = of(true, Some(Code::Unsupported));
    let singly = count(&|of| of.has_indices && of.written.is_none());
    let fixed = count(&|of| of.is_fixed && of.family.is_none());
    println!(
        "{} protocols with families: {accepted} accepted ({fixed} with a fixed number), {undecided} undecided \
         ({refused} safe as written singly); {indices} with indices, {singly} of them accepted as written singly",
        tallies.len(),
    );
    outcome.assert();
    let are_enough = [accepted, fixed * 2, singly * 2, (indices - singly) * 3, undecided * 4];
    assert!(are_enough.iter().all(|count| count * 5 > tallies.len()), "{are_enough:?}");
}
