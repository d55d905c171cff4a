//! Random protocols through `rumpsteak-scribble`: its projections against projections made without
//! it, and against the explorer.

use rumpsteak_fsm::Fsm;
use rumpsteak_oracle::{Coverage, Shape, System, equal};

use crate::fuzz::{self, Sample, Tool};

#[derive(Debug, Default)]
struct Tally {
    projected: usize,
    /// Projected, but some role would have to listen to several peers.
    undirected: usize,
    refused: usize,
    /// Refused although each role alone knows what to do, because they do not get along.
    refused_together: usize,
    /// Projected, but the explorer does not know everything.
    partial: usize,
}

#[test]
fn projections_are_those_of_the_protocol_and_safe() {
    let outcome = fuzz::for_each_seed("projections_are_those", |seed, watch| {
        let shape = [Shape::random, Shape::random, Shape::untold, Shape::scattered];
        let sample = Sample::new(seed, shape[seed as usize % 4]);
        let mut tally = Tally::default();
        let ours: Option<Vec<Fsm>> = (0..sample.roles).map(|r| sample.global.project(r)).collect();
        let theirs = match watch.time(Tool::Project, || sample.project()) {
            Ok(machines) => machines,
            Err(message) => {
                tally.refused += 1;
                let Some(machines) = ours else { return Ok(tally) };
                tally.refused_together += 1;
                let system = System::new(machines).map_err(|e| e.to_string())?;
                let report = fuzz::explore(&system, 3_000);
                let known = report.findings.is_empty() && report.coverage > Coverage::Partial;
                return match known {
                    true => Err(format!("refused ({message}), but safe:\n{}", sample.text)),
                    false => Ok(tally),
                };
            }
        };
        tally.projected += 1;
        match ours {
            Some(ours) => {
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    if !equal(ours, theirs) {
                        return Err(format!("{theirs:?}\nis not\n{ours:?}\n{}", sample.text));
                    }
                }
            }
            None if theirs.iter().any(|m| m.check_directed().is_err()) => tally.undirected += 1,
            None => {
                return Err(format!(
                    "projected, but a role does not know what to do:\n{}",
                    sample.text
                ));
            }
        }
        // A role that collects messages of several peers may prefer one of them for ever.
        let is_directed = theirs.iter().all(|m| m.check_directed().is_ok());
        let system = System::new(theirs).map_err(|e| e.to_string())?;
        let report = fuzz::explore(&system, 3_000);
        tally.partial += usize::from(report.coverage == Coverage::Partial);
        let neglect = is_directed.then(|| fuzz::neglect(&sample.global, &system, 1_000));
        if let Some(neglect) = neglect.flatten() {
            return Err(format!("projected, but {neglect}{}", sample.text));
        }
        match report.findings.first() {
            None => Ok(tally),
            Some(finding) => Err(format!(
                "projected, but {:?}:\n{}{}",
                finding.fault,
                sample.text,
                system.describe(&finding.run)
            )),
        }
    });

    let tallies = &outcome.tallies;
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    println!(
        "{} protocols: {} projected ({} listening to several peers, {} not fully explored), {} refused ({} only together)",
        tallies.len(),
        sum(|t| t.projected),
        sum(|t| t.undirected),
        sum(|t| t.partial),
        sum(|t| t.refused),
        sum(|t| t.refused_together),
    );
    outcome.assert();
    // Most project, or the other tests would try little.
    assert!(tallies.len() < 1_000 || sum(|t| t.projected) * 2 > tallies.len());
}
