//! Random protocols with `par` and `interruptible`, and some with several interrupters: what is
//! accepted is safe.

use rumpsteak_oracle::{Coverage, Shape, System};
use rumpsteak_scribble::{Code, Projection, check, parse};

use crate::fuzz::{self, Sample, Tool};
use crate::gathers::in_any_order;

#[derive(Debug, Default)]
struct Tally {
    accepted: bool,
    by_construction: bool,
    /// It has a block whose interrupts may be late.
    is_late: bool,
    /// An interrupt is passed on, or answered by another label.
    is_routed: bool,
    is_answered: bool,
    /// Some roles have the machine in which parts come in any order.
    is_mixed: bool,
    /// Explored to the end.
    complete: bool,
    /// Without interrupts, and safe and finite by the projection of the oracle.
    is_finite: bool,
    /// The code of the first error.
    code: Option<Code>,
}

/// Returns true if the machines of the oracle are safe together, and finite.
fn is_safe_and_finite(sample: &Sample) -> Result<bool, String> {
    if sample.text.contains("interruptible {") {
        return Ok(false);
    }
    let machines = (0..sample.roles).map(|role| sample.global.machine(role)).collect();
    let Some(machines) = machines else { return Ok(false) };
    let system = System::new(machines).map_err(|error| error.to_string())?;
    let report = fuzz::explore(&system, 5_000);
    Ok(report.findings.is_empty() && report.coverage == Coverage::Complete)
}

#[test]
fn blocks_that_are_accepted_are_safe() {
    let outcome = fuzz::for_each_of(150, "blocks_that_are_accepted", |seed, watch| {
        let mut sample = Sample::new(seed, Shape::blocks);
        while !sample.text.contains("par {") && !sample.text.contains("interruptible {") {
            sample = Sample::next(sample.rng, Shape::blocks);
        }
        // Without the last messages of interrupters, interrupts may be late.
        let is_late = seed % 3 == 0 && sample.text.contains("interruptible {");
        if is_late {
            let lines = sample.text.lines().filter(|line| !line.trim().starts_with("done"));
            sample.text = lines.map(|line| format!("{line}\n")).collect();
        }
        let is_routed = sample.text.contains(" via ");
        let is_answered = sample.text.contains(" answered ");
        if is_routed && seed % 5 > 0 {
            // So each role knows the last message of the others.
            let lines = sample.text.lines().zip(0..);
            let lines = lines.map(|(line, number)| match line.split_once('(') {
                Some((label, rest)) if rest.contains(" from ") => {
                    format!("{label}x{number}({rest}\n")
                }
                _ => format!("{line}\n"),
            });
            sample.text = lines.collect();
        }
        let is_finite = is_safe_and_finite(&sample)?;
        let judged = watch.time(Tool::Project, || fuzz::project(&sample.text));
        let (projections, by_construction) = match judged {
            Ok((protocol, projections)) => (projections, protocol.is_safe_by_construction()),
            Err(errors) => {
                let code = errors.first().map(|error| error.code);
                let tally = Tally { code, is_finite, is_late, ..Tally::default() };
                return Ok(Tally { is_routed, is_answered, ..tally });
            }
        };
        // The machines that are judged, and those that run.
        let machines = projections.iter().map(|found| found.fsm.clone()).collect();
        let gathered = projections.iter().map(in_any_order).collect();
        // What some roles are compared with, if they are written.
        let compared = |(bit, found): (usize, &Projection)| {
            let other = found.in_any_order.as_ref().filter(|_| seed >> (bit % 8) & 1 == 1);
            other.unwrap_or(&found.fsm).clone()
        };
        let mixed: Vec<_> = projections.iter().enumerate().map(compared).collect();
        let is_mixed = mixed.iter().zip(&projections).any(|(own, found)| *own != found.fsm);
        let mut complete = true;
        for machines in [machines, gathered, mixed] {
            complete = fuzz::safe(machines, &sample.text, 5_000)?;
        }
        let (accepted, code) = (true, None);
        let tally =
            Tally { accepted, is_finite, by_construction, complete, code, ..Tally::default() };
        Ok(Tally { is_late, is_routed, is_answered, is_mixed, ..tally })
    });
    let tallies = &outcome.tallies;
    let count = |is: &dyn Fn(&Tally) -> bool| tallies.iter().filter(|tally| is(tally)).count();
    println!(
        "{} protocols: {} accepted ({} by construction, {} with late interrupts, {} of {} with `via`, {} answered, {} with other orders), {} of them explored to the end",
        tallies.len(),
        count(&|tally| tally.accepted),
        count(&|tally| tally.by_construction),
        count(&|tally| tally.accepted && tally.is_late),
        count(&|tally| tally.accepted && tally.is_routed),
        count(&|tally| tally.is_routed),
        count(&|tally| tally.accepted && tally.is_answered),
        count(&|tally| tally.is_mixed),
        count(&|tally| tally.complete),
    );
    for code in Code::ALL {
        let refused = count(&|tally| tally.code == Some(*code));
        if refused > 0 {
            let routed = count(&|tally| tally.code == Some(*code) && tally.is_routed);
            println!("{code}: {refused}, {routed} with `via`");
        }
    }
    // The error S0302 is about interactions that never happen, so these protocols are safe, too.
    let is_asked = |tally: &Tally| tally.is_finite && tally.code != Some(Code::Unreachable);
    let (finite, asked) = (count(&|tally| tally.is_finite), count(&is_asked));
    let accepted = count(&|tally| tally.is_finite && tally.accepted);
    println!("{finite} are safe and finite: {accepted} accepted, {} S0302", finite - asked);
    for code in Code::ALL {
        let refused = count(&|tally| tally.is_finite && tally.code == Some(*code));
        if refused > 0 {
            println!("{code}: {refused} of them");
        }
    }
    outcome.assert();
    assert!(count(&|tally| tally.accepted) * 4 > tallies.len(), "few are accepted");
    assert!(accepted * 30 >= tallies.len(), "few are known to be safe");
    assert!(accepted * 100 >= asked.saturating_sub(2) * 97, "{accepted} of {asked}");
}

/// Blocks that several roles may interrupt, with whether the queues stay short.
const INTERRUPTERS: &[(&str, bool)] = &[
    // The last message is from another role.
    (
        "global protocol P(role c, role s) {
  interruptible { question(i32) from c to s; answer(i32) from s to c; thanks() from c to s; }
  with { cancel() by c; timeout() by s; }
}",
        true,
    ),
    // In a loop, by the same message.
    (
        "global protocol P(role c, role s) {
  rec X {
    interruptible { rec Y { choice at c { x() from c to s; y() from s to c; continue Y; }
      or { last() from c to s; bye() from s to c; fin() from c to s; } } }
    with { close() by c; close() by s; }
    choice at s { again() from s to c; continue X; } or { stop() from s to c; }
  }
}",
        true,
    ),
    // A role in between hears of both; an interrupter may do nothing else.
    (
        "global protocol P(role a, role b, role w, role o) {
  interruptible {
    job() from a to w; part() from w to b; seen() from b to w; result() from w to a;
    done() from a to b, w, o; done() from b to a, w, o; done() from o to a, b, w;
  } with { cancel(i32) by a; timeout() by b; off() by o; stop() by a; }
  report() from w to a;
}",
        true,
    ),
    // Around another block, and in one.
    (
        "global protocol P(role a, role b) {
  interruptible {
    interruptible { x() from a to b; y() from b to a; z() from a to b; } with { one() by a; two() by b; }
    end() from b to a; end() from a to b;
  } with { three() by a; four() by b; }
}",
        true,
    ),
    // Only an interrupt ends it.
    (
        "global protocol P(role a, role b, role c, role d) {
  interruptible { rec X { item() from b to c; value() from c to d; continue X; } }
  with { cancel() by a; failed() by d; failed() by c; }
  report() from d to a;
}",
        false,
    ),
    // One interrupter, which does not know whether `r` is done before `x` says it.
    (
        "global protocol P(role c, role r, role x) {
  interruptible {
    choice at r { a() from r to x; m() from c to r; a() from x to c; done() from c to x; }
    or { b() from r to x; m() from c to r; b() from x to c; n() from c to r; done() from c to x; }
  } with { cancel() by c; }
}",
        true,
    ),
];

#[test]
fn interrupts_of_several_roles_cross_and_nothing_is_left() {
    for &(text, is_short) in INTERRUPTERS {
        let parsed = parse(text);
        let checked = check(&parsed.module);
        assert_eq!(checked.diagnostics, [], "{text}");
        let protocol = &checked.protocols[0];
        assert_eq!(protocol.is_safe_by_construction(), !text.contains("three()"), "{text}");
        let projections = protocol.project_all().expect(text);
        let machines = projections.into_iter().map(|found| found.fsm).collect();
        let system = System::new(machines).expect(text);
        let report = fuzz::explore(&system, if is_short { 200_000 } else { 20_000 });
        assert_eq!(report.findings, [], "{text}");
        assert_eq!(report.coverage > Coverage::Partial, is_short, "{text}");
    }
}
