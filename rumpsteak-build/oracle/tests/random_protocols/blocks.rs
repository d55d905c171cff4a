//! Random protocols with `par` and `interruptible`: what is accepted is safe.

use rumpsteak_oracle::{Coverage, Shape, System};
use rumpsteak_scribble::{Code, check, parse};

use crate::fuzz::{self, Sample, Tool};

#[derive(Debug, Default)]
struct Tally {
    accepted: bool,
    by_construction: bool,
    /// Explored to the end.
    complete: bool,
    /// The code of the first error.
    code: Option<Code>,
}

#[test]
fn blocks_that_are_accepted_are_safe() {
    let outcome = fuzz::for_each_of(200, "blocks_that_are_accepted", |seed, watch| {
        let mut sample = Sample::new(seed, Shape::blocks);
        while !sample.text.contains("par {") && !sample.text.contains("interruptible {") {
            sample = Sample::next(sample.rng, Shape::blocks);
        }
        let parsed = parse(&sample.text);
        assert_eq!(parsed.diagnostics, [], "{}", sample.text);
        let judged = watch.time(Tool::Project, || {
            let checked = check(&parsed.module);
            match checked.protocols.first() {
                Some(protocol) if checked.diagnostics.is_empty() => {
                    let by_construction = protocol.is_safe_by_construction();
                    protocol.project_all().map(|projections| (projections, by_construction))
                }
                _ => Err(checked.diagnostics),
            }
        });
        let (projections, by_construction) = match judged {
            Ok(projections) => projections,
            Err(errors) => {
                let code = errors.first().map(|error| error.code);
                return Ok(Tally { code, ..Tally::default() });
            }
        };
        let machines = projections.into_iter().map(|found| found.fsm).collect();
        let system = System::new(machines).map_err(|error| error.to_string())?;
        let report = fuzz::explore(&system, 5_000);
        match report.findings.first() {
            None => Ok(Tally {
                accepted: true,
                by_construction,
                complete: report.coverage > Coverage::Partial,
                code: None,
            }),
            Some(finding) => Err(format!(
                "accepted, but {:?}:\n{}{}",
                finding.fault,
                sample.text,
                system.describe(&finding.run)
            )),
        }
    });
    let tallies = &outcome.tallies;
    let count = |is: &dyn Fn(&Tally) -> bool| tallies.iter().filter(|tally| is(tally)).count();
    println!(
        "{} protocols: {} accepted ({} by construction), {} of them explored to the end",
        tallies.len(),
        count(&|tally| tally.accepted),
        count(&|tally| tally.by_construction),
        count(&|tally| tally.complete),
    );
    for code in Code::ALL {
        let refused = count(&|tally| tally.code == Some(*code));
        if refused > 0 {
            println!("{code}: {refused}");
        }
    }
    outcome.assert();
    assert!(count(&|tally| tally.accepted) * 4 > tallies.len(), "few are accepted");
}
