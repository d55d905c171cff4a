//! Families: a system in which one role has several members, beside the same with one member. The
//! machines are changed at random, so that many systems are unsafe.

use fastrand::Rng;
use rumpsteak_fsm::verify::decide;
use rumpsteak_fsm::{Action, Direction, Fsm, Role, family};
use rumpsteak_oracle::{
    Coverage, Draft, Hangs, Limits, Mutation, Shape, System, equal, mutate, with_family,
    written_singly,
};
use rumpsteak_scribble::{Code, Diagnostic, Projection};

use crate::fuzz::{self, Sample, Tool};
use crate::gathers::{in_any_order, receive};

const CONFIGURATIONS: usize = 2_000;

/// These machines with so many members of a family, which come last. If members may send different
/// messages, a state that drains them receives from each in any order. The ring `r` is queues.
fn with_members(machines: &[Fsm], family: &Role, members: usize) -> Vec<Fsm> {
    let name = |index: usize| Role::from(format!("{family}{index}"));
    let (own, others): (Vec<_>, Vec<_>) = machines.iter().partition(|fsm| fsm.role() == family);
    let (differ, stops) = (differ(machines, family), stops(machines, family));
    // The queue of a single member to itself is the machine of the ring.
    let others = others.into_iter().filter(|fsm| members == 1 || fsm.role().as_str() != "r");
    let others = others.map(|fsm| {
        let mut draft = asking(fsm, family, members);
        for state in 0..draft.states.len() {
            let edges = std::mem::take(&mut draft.states[state]);
            let receives = edges.len();
            if let Some(out) = way_out(state, &edges, family).filter(|_| differ) {
                let (base, all) = (draft.states.len(), (1 << members) - 1);
                draft.states.resize(base + all, Vec::new());
                let number = |due: usize| {
                    [out, state, base + due][(due > 0) as usize + (0 < due && due < all) as usize]
                };
                for (due, index) in (1..=all).flat_map(|due| (0..members).map(move |of| (due, of)))
                {
                    for (action, target) in edges.iter().filter(|_| due >> index & 1 == 1) {
                        let left = if *target == state { due } else { due & !(1 << index) };
                        let action = Action { peer: name(index), ..action.clone() };
                        draft.states[number(due)].push((action, number(left)));
                    }
                }
                continue;
            }
            // The states in which some of the members were heard.
            let mut gathering = Vec::new();
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
                } else if receives == 1 {
                    let messages = (0..members).map(|index| vec![with(index)]).collect::<Vec<_>>();
                    receive(&mut draft, state, &messages, target);
                } else {
                    // The first message decides.
                    for first in 0..members {
                        let others = (0..members).filter(|&index| index != first);
                        let others: Vec<_> = others.map(|index| vec![with(index)]).collect();
                        let next = if others.is_empty() { target } else { draft.states.len() };
                        draft.states.resize(draft.states.len().max(next + 1), Vec::new());
                        draft.states[state].push((with(first), next));
                        if next != target {
                            receive(&mut draft, next, &others, target);
                            gathering.extend(next..draft.states.len());
                        }
                    }
                }
            }
            let sent = draft.states[state].clone().into_iter();
            let sent: Vec<_> = sent.filter(|of| of.0.direction == Direction::Send).collect();
            for heard in gathering.into_iter().filter(|_| stops) {
                draft.states[heard].extend(sent.iter().cloned());
            }
        }
        draft.build().on_demand(fsm.is_on_demand())
    });
    let member = |(index, fsm): (usize, &&Fsm)| {
        let mut draft = Draft { role: name(index), ..Draft::from(*fsm) };
        let actions = draft.states.iter_mut().flatten().map(|(action, _)| action);
        for action in actions.filter(|of| members > 1 && of.peer.as_str() == "r") {
            action.peer = name((index + if action.is_send() { 1 } else { members - 1 }) % members);
        }
        draft
    };
    let own = own.iter().cycle().take(members).enumerate().map(|found| member(found).build());
    others.collect::<Vec<_>>().into_iter().chain(own).collect()
}

/// The machine in which `one…` goes to any of these members, and `its…` comes from the last of
/// them. A state stands for a state of the machine and this member.
fn asking(fsm: &Fsm, family: &Role, members: usize) -> Draft {
    let mut draft = Draft::from(fsm);
    let quotient = std::mem::take(&mut draft.states);
    let states = quotient.len();
    for last in 0..members {
        draft.states.extend(quotient.iter().map(|edges| {
            let copies = edges.iter().flat_map(|(of, target)| {
                let is = |word| of.peer == *family && of.message.label.as_str().starts_with(word);
                let any = if is("one") { 0..members } else { last..last + 1 };
                let is_single = is("one") || is("its");
                any.map(move |index| {
                    let one = is_single.then(|| format!("{family}{index}").into());
                    let peer = one.unwrap_or_else(|| of.peer.clone());
                    (Action { peer, ..of.clone() }, target + states * index)
                })
            });
            copies.collect()
        }));
    }
    draft
}

/// True if a member may send or receive in one state.
fn differ(machines: &[Fsm], family: &Role) -> bool {
    machines.iter().any(|fsm| fsm.role() == family && family::differs(fsm))
}

/// The other state to which a state leads that only receives from the family.
fn way_out(state: usize, edges: &[(Action, usize)], family: &Role) -> Option<usize> {
    let out = edges.iter().map(|of| of.1).find(|&target| target != state)?;
    let is_heard = |of: &Action| of.direction == Direction::Receive && of.peer == *family;
    edges.iter().all(|(of, to)| is_heard(of) && [state, out].contains(to)).then_some(out)
}

/// True if two members of a family decide for any number.
fn two_decide(machines: &[Fsm], family: &Role) -> bool {
    machines.iter().all(|fsm| fsm.role() != family || family::two_decide(fsm))
}

/// True if a gather may be stopped where some of the members were heard.
fn stops(machines: &[Fsm], family: &Role) -> bool {
    two_decide(machines, family)
        && machines.iter().all(|fsm| family::may_stop(fsm, |role| role == family))
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
    /// Members choose for another role, or receive from several.
    is_wide: [bool; 2],
}

/// True if a role learns a choice from the members; if a member receives from several roles.
fn is_wide(machines: &[Fsm], family: &Role) -> [bool; 2] {
    let chooses = |fsm: &&Fsm| {
        fsm.reachable().any(|state| {
            let actions = fsm.transitions_from(state).map(|found| found.action);
            let received =
                actions.filter(|it| it.direction == Direction::Receive && it.peer == *family);
            received.count() > 1
        })
    };
    let (own, others): (Vec<&Fsm>, Vec<_>) = machines.iter().partition(|it| it.role() == family);
    [others.iter().any(chooses), own.iter().any(|fsm| fsm.check_directed().is_err())]
}

/// The machines of a random protocol, some of them changed, and a role that they talk to.
fn changed(seed: u64, is_wanted: impl Fn(&[Fsm], &Role) -> bool) -> (Sample, Vec<Fsm>, Role) {
    const SHAPES: [fn(&mut fastrand::Rng) -> Shape; 4] =
        [Shape::dense, Shape::blocks, Shape::gathers, Shape::scattered];
    let mut sample = Sample::new(seed, SHAPES[seed as usize % 4]);
    loop {
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
            if machines.iter().any(talks) && is_wanted(&machines, &family) {
                return (sample, machines, family);
            }
        }
        sample = Sample::next(sample.rng, SHAPES[seed as usize % 4]);
    }
}

#[test]
fn what_is_safe_with_one_member_is_safe_with_each_number() {
    let outcome = fuzz::for_each_of(100, "what_is_safe_with_one_member", |seed, _| {
        // Half of the systems have one of these.
        let (sample, machines, family) = changed(seed, |machines, family| {
            counts(machines, family) && (seed % 8 < 4 || is_wide(machines, family) != [false; 2])
        });
        let mut rng = sample.rng;
        let one = System::new(with_members(&machines, &family, 1)).map_err(|of| of.to_string())?;
        let first = fuzz::explore(&one, CONFIGURATIONS);
        let is_safe = first.findings.is_empty();
        let mut tally = Tally {
            is_decided: !is_safe || first.coverage > Coverage::Partial,
            is_safe,
            is_wide: is_wide(&machines, &family),
            ..Tally::default()
        };
        let limits = Limits { queue: 4, configurations: CONFIGURATIONS, steps: usize::MAX };
        let short = Limits { queue: 2, ..limits };
        let capacity = 1 + rng.usize(..2);
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
                && !tally.is_wide[1]
                && hangs(machines.clone()).is_some_and(|hangs| hangs != Hangs::Never)
            {
                return Err(told(&format!("hangs at a capacity of {capacity}")));
            }
        }
        Ok(tally)
    });
    let count = |is: &dyn Fn(&Tally) -> bool| outcome.tallies.iter().filter(|of| is(of)).count();
    println!(
        "{} systems with families: {} decided, {} of them safe, {} unsafe with one member only, {} not stuck at small capacities; \
         {} with a choice of the members, {} with members that receive in any order",
        outcome.tallies.len(),
        count(&|of| of.is_decided),
        count(&|of| of.is_decided && of.is_safe),
        count(&|of| of.is_only_one),
        count(&|of| of.moves_on),
        count(&|of| of.is_wide[0]),
        count(&|of| of.is_wide[1]),
    );
    outcome.assert();
    let proven = |kind: usize| count(&|of| of.is_decided && of.is_safe && of.is_wide[kind]);
    assert!(proven(0) * 20 > outcome.tallies.len() && proven(1) >= outcome.tallies.len() / 100);
}

/// The product receives from the members in their order, the runtime in any order.
#[test]
fn what_is_safe_with_members_written_singly_is_safe_in_any_order() {
    let outcome = fuzz::for_each_of(100, "members_written_singly", |seed, _| {
        let (sample, machines, family) = changed(seed, |machines, family| {
            let differ = differ(machines, family);
            let two_decide = two_decide(machines, family);
            let can_run =
                |fsm: &Fsm| family::can_run(fsm, |role| role == family, differ, two_decide);
            // Half of the systems are judged with a number of members only.
            machines.iter().all(can_run)
                && (seed % 8 < 4 || !counts(machines, family))
                && (seed % 4 < 1 || two_decide)
                && (seed % 8 != 5 || differ)
        });
        let (differ, stops) = (differ(&machines, &family), stops(&machines, &family));
        let mut safe = [0; 2];
        for members in 1..=3 {
            let number = |role: &Role| (*role == family).then_some(members);
            let singly = machines.iter().flat_map(|fsm| family::singly(fsm, number, differ, stops));
            let singly = rumpsteak_fsm::System::new(singly.map(|(fsm, _)| fsm).collect());
            let decided = decide(&singly.map_err(|error| error.to_string())?, &fuzz::limits());
            if decided.verdict.is_safe() && decided.exploration.starvation.is_none() {
                let text = format!("{members} of {family}:\n{}\n{machines:?}", sample.text);
                let two_decide = members == 2 && two_decide(&machines, &family);
                for members in if two_decide { 1..=4 } else { members..=members } {
                    let many = with_members(&machines, &family, members as usize);
                    fuzz::safe(many, &text, CONFIGURATIONS)?;
                }
                safe[usize::from(two_decide)] += 1;
            }
        }
        Ok((counts(&machines, &family), safe))
    });
    let safe = |counts, two: usize| -> u32 {
        let of = outcome.tallies.iter().filter(|(own, _)| *own == counts);
        of.map(|(_, safe)| safe[two]).sum()
    };
    let [each, two, fixed] = [safe(true, 0) + safe(true, 1), safe(false, 1), safe(false, 0)];
    println!(
        "{} systems, each with 1 to 3 members: {each} times safe where one counts for all numbers, {two} times \
         where two do, {fixed} times elsewhere",
        outcome.tallies.len()
    );
    outcome.assert();
    assert!(each > 0 && two > 0 && fixed > 0);
}

/// A member that is not heard where `m` stops sends `a` and `b`, and another one `b` only: two
/// members show it.
#[test]
fn a_gather_that_is_stopped_is_judged_with_the_members_that_were_not_heard() {
    let machines = rumpsteak_fsm::text::parse(
        r#"digraph m {
            0 -> 1 [label="w?a"]; 0 -> 2 [label="w!c"]; 1 -> 2 [label="w!c"];
            2 -> 2 [label="w?a"]; 2 -> 3 [label="w?b"];
        }
        digraph w { 0 -> 1 [label="m!a"]; 1 -> 2 [label="m?c"]; 2 -> 3 [label="m!b"]; }"#,
    );
    let machines = machines.unwrap();
    let family = Role::from("w");
    assert!(stops(&machines, &family) && !differ(&machines, &family));
    let is_safe = |stops| {
        let number = |role: &Role| (*role == family).then_some(2);
        let singly = machines.iter().flat_map(|fsm| family::singly(fsm, number, false, stops));
        let system = rumpsteak_fsm::System::new(singly.map(|(fsm, _)| fsm).collect()).unwrap();
        decide(&system, &fuzz::limits()).verdict.is_safe()
    };
    assert_eq!([is_safe(false), is_safe(true)], [true, false]);
}

fn of_family(text: &str, role: &str, size: &str) -> String {
    let text = text.replace(&format!("role {role}"), &format!("role {role}[{size}]"));
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

/// The judgement of a protocol with a family, and of the same with each member written as a role.
#[derive(Debug, Default)]
struct Both {
    is_fixed: bool,
    has_indices: bool,
    has_ring: bool,
    /// The code of the first error of each, or none if it is accepted.
    family: Option<Code>,
    written: Option<Code>,
}

/// A random protocol with a family of this size, and the family's name.
fn family(seed: u64, rng: &mut Rng, size: &str) -> (String, Role) {
    let shape = [Shape::blocks, Shape::random][seed as usize % 2];
    match seed % 4 {
        0 | 1 => {
            let mut sample = Sample::next(rng.fork(), shape);
            while sample.roles > 4 {
                sample = Sample::next(sample.rng, shape);
            }
            let family = ["a", "b", "c", "d"][rng.usize(..sample.roles)];
            (of_family(&sample.text, family, size), Role::from(family))
        }
        2 => (with_family(rng, size, 0), Role::from("w")),
        _ => (with_family(rng, size, 40), Role::from("w")),
    }
}

#[test]
fn families_are_like_members_that_are_written_singly() {
    let outcome = fuzz::for_each_of(800, "families_are_like_members", |seed, watch| {
        let mut rng = Rng::with_seed(seed);
        let (members, is_fixed) = (1 + rng.usize(..3), rng.bool());
        let size = if is_fixed { members.to_string() } else { "N".to_owned() };
        let (text, family) = family(seed, &mut rng, &size);
        let written = written_singly(&text, family.as_str(), members);
        let mut project = |text| watch.time(Tool::Project, || fuzz::project(text));
        let (one, single) = (project(&text), project(&written));
        let code = |of: &Result<_, Vec<Diagnostic>>| Some(of.as_ref().err()?.first()?.code);
        let (has_indices, has_ring) = (text.contains("some w"), text.contains("role r[w]"));
        let mut both = Both { is_fixed, has_indices, has_ring, ..Both::default() };
        (both.family, both.written) = (code(&one), code(&single));
        let machines = |found: &Vec<Projection>| found.iter().map(in_any_order).collect();
        let single: Option<Vec<Fsm>> = single.ok().map(|(_, found)| machines(&found));
        if let Some(machines) = &single {
            fuzz::safe(machines.clone(), &written, 3_000)?;
        }
        let Ok((protocol, found)) = one else { return Ok(both) };
        let size = if is_fixed { members } else { 0 };
        assert_eq!(protocol.members(&family), Some(size as u32));
        let is_judged_singly = !protocol.counts(&found) && !has_ring;
        let machines: Vec<Fsm> = found.into_iter().map(|found| found.fsm).collect();
        let waits_for_one = machines.iter().all(|fsm| family::waits_for_one(fsm).is_ok());
        let two_decide = if has_indices { waits_for_one } else { two_decide(&machines, &family) };
        let is_only_one = is_judged_singly && (!two_decide || size == 1);
        for members in if is_only_one { members..=members } else { 1..=4 } {
            let machines = with_members(&machines, &family, members);
            fuzz::safe(machines, &format!("{members} of {family}:\n{text}"), 3_000)?;
        }
        let machines = with_members(&machines, &family, members);
        let is_equal = |single: Vec<Fsm>| {
            let of = |own: &Fsm| single.iter().find(|single| single.role() == own.role());
            machines.iter().all(|own| of(own).is_some_and(|single| equal(own, single)))
        };
        let has_blocks = ["par {", "interruptible {"].iter().any(|word| text.contains(word));
        // The protocol allows for other members, which may be asked.
        let has_others = has_indices && !is_fixed && members == 1;
        match has_blocks || has_ring || has_others || single.is_some_and(is_equal) {
            true => Ok(both),
            false => Err(format!("{both:?}, or not the same machines:\n{text}{written}")),
        }
    });
    let tallies = &outcome.tallies;
    let count = |is: &dyn Fn(&Both) -> bool| tallies.iter().filter(|of| is(of)).count();
    let accepted = count(&|of| of.family.is_none());
    let refused = count(&|of| of.family == Some(Code::UndecidedFamily) && of.written.is_none());
    let fixed = count(&|of| of.is_fixed && of.family.is_none());
    let asked = count(&|of| of.has_indices && of.family.is_none());
    let rings = count(&|of| of.has_ring && of.family.is_none());
    println!(
        "{} protocols with families: {accepted} accepted, {fixed} with a fixed number, {asked} with some member, \
         {rings} with rings; {refused} accepted only as written singly",
        tallies.len(),
    );
    outcome.assert();
    let are_enough = [accepted, fixed * 2, asked * 8, rings * 20];
    assert!(are_enough.iter().all(|count| count * 5 > tallies.len()), "{are_enough:?}");
    assert!(refused * 24 <= accepted, "only {accepted} of {} are accepted", accepted + refused);
}
