//! All judges on the same systems: no judge refuses, with a run, a system that another accepts.
//!
//! "What each judgement relies on" in `ARCHITECTURE.md` lists the judges.
//!
//! A fifth of the systems each: directed roles; roles that hear several roles at once; roles that
//! choose among peers; roles that leave out options; roles that are rounds ahead of their loops.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, fs, process};

use fastrand::Rng;
use rumpsteak_build::configure;
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::system::{self, explore};
use rumpsteak_fsm::verify::together::{Condition, Part, Together, together};
use rumpsteak_fsm::verify::{
    Accepted, Evidence, VerifyError, certified, drain, verify, verify_fair,
};
use rumpsteak_fsm::{
    Action, Direction, Fsm, Limits, Role, Run, StateId, Verdict, certificate, dot, kmc,
};
use rumpsteak_optimise::{Costs, Options, anticipate, propose, propose_together};
use rumpsteak_oracle::{Coverage, FaultKind, Mutation, Report, Shape, System};
use rumpsteak_oracle::{mutate, put_off, scatter, shift};

use crate::fuzz::{self, Sample, Tool, Watch, limits};
use crate::runs::confirm;

/// How many configurations the oracle's explorer may visit.
const CONFIGURATIONS: usize = 4_000;

/// Limits that leave subtyping one engine: that which knows what is pending word by word, and that
/// which knows a set of words.
fn engines() -> [Limits; 3] {
    [limits().widening(0), limits().anticipation(1), limits().anticipation(0).widening(1)]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Directed,
    /// A role hears several roles at once.
    Receivers,
    /// A role chooses among peers.
    Senders,
    /// A role leaves out an option.
    Narrowed,
    /// A role is some rounds ahead, or behind, or receives after its loop.
    Rounds,
    /// Blocks run in parallel, or are interrupted.
    Blocks,
}

const KINDS: [Kind; 6] =
    [Kind::Directed, Kind::Receivers, Kind::Senders, Kind::Narrowed, Kind::Rounds, Kind::Blocks];

impl Kind {
    fn sample(self, seed: u64, watch: &mut Watch) -> (Sample, Vec<Fsm>) {
        let any = |direction: Direction| {
            move |found: &[Fsm]| found.iter().any(|machine| several(machine, direction))
        };
        match self {
            Self::Directed | Self::Rounds => Sample::projected(seed, Shape::dense, watch),
            Self::Narrowed => Sample::projected_where(seed, Shape::random, |_| true, watch),
            Self::Receivers => {
                Sample::projected_where(seed, Shape::untold, any(Direction::Receive), watch)
            }
            Self::Blocks => {
                let is_directed = |found: &[Fsm]| found.iter().all(is_directed);
                Sample::projected_where(seed, Shape::blocks, |found| !is_directed(found), watch)
            }
            // Or it does so as it is written.
            Self::Senders if seed.is_multiple_of(2) => {
                Sample::projected_where(seed, Shape::random, |_| true, watch)
            }
            Self::Senders => {
                Sample::projected_where(seed, Shape::scattered, any(Direction::Send), watch)
            }
        }
    }

    fn rewrite(self, machine: &Fsm, rng: &mut Rng) -> Option<Fsm> {
        let late = if self == Self::Rounds { put_off(machine, rng) } else { None };
        let first = match self {
            _ if late.is_some() => late,
            Self::Directed | Self::Receivers | Self::Blocks => Some(machine.clone()),
            Self::Senders => scatter(machine, rng).or_else(|| Some(machine.clone())),
            Self::Narrowed => mutate(machine, Mutation::Narrow, rng),
            Self::Rounds if rng.bool() => shift(machine, 1 + rng.usize(..3), rng),
            Self::Rounds => {
                let peers: BTreeMap<&Role, usize> =
                    machine.transitions().map(|t| (&t.action.peer, rng.usize(..4))).collect();
                let windows: Vec<_> = peers.into_iter().map(|(p, w)| (p.clone(), w)).collect();
                anticipate(machine, &windows, &|_, _| false, 60)
            }
        };
        let mut written = first?;
        let more = usize::from(matches!(self, Self::Directed | Self::Receivers));
        for _ in 0..more + rng.usize(..3) {
            let mutated = mutate(&written, Mutation::daring(rng), rng);
            written = mutated.filter(|mutated| mutated.len() <= 30).unwrap_or(written);
        }
        Some(written)
    }
}

fn is_directed(machine: &Fsm) -> bool {
    machine.check_directed().is_ok()
}

/// Returns true if some state has transitions of this direction with several peers.
fn several(machine: &Fsm, direction: Direction) -> bool {
    machine.states().any(|state| {
        let found = machine.transitions_from(state).map(|transition| transition.action);
        let mut peers = found.filter(|a| a.direction == direction).map(|action| &action.peer);
        peers.next().is_some_and(|first| peers.any(|peer| peer != first))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    /// The protocol itself.
    Projection,
    /// Each role by itself, and then all of them together: the gate.
    Together,
    Exploration,
    Kmc,
    /// All queues can be emptied, however long they are.
    Drained,
    /// Each role by itself, among the projections of the others: `compat`.
    Alone,
    /// The same in the fair relation, where it is not accepted in every run.
    Fair,
    /// Some of the roles that are accepted alone: `compat`, which allows any order.
    Mix,
    /// All roles that are accepted alone and ask nothing of others: packages that do not see each
    /// other.
    Apart,
    /// One role among the projections of the others, or all: `optimise`.
    Optimise,
    /// The machines beside the `.scr` file of a package.
    Package,
}

#[derive(Debug)]
struct Tally {
    kind: Kind,
    /// Nothing goes wrong, and all of the system was seen.
    is_safe: bool,
    /// All of it is finite, whatever the bound on queues.
    is_finite: bool,
    accepted: Vec<Judge>,
    alone: usize,
    fair: usize,
    proposals: usize,
}

struct Known {
    system: System,
    report: Report,
}

impl Known {
    fn of(machines: Vec<Fsm>) -> Result<Self, String> {
        let system = System::new(machines).map_err(|error| error.to_string())?;
        let report = fuzz::explore(&system, CONFIGURATIONS);
        Ok(Self { system, report })
    }

    fn is_safe(&self) -> bool {
        self.report.findings.is_empty() && self.report.coverage > Coverage::Partial
    }

    /// The disagreement, if some judge accepts a faulty system. A role that leaves out an option
    /// may make another wait for ever.
    fn check(&self, judge: Judge, may_starve: bool) -> Result<(), String> {
        let counts = |kind: FaultKind| kind != FaultKind::Starvation || !may_starve;
        let mut faults = self.report.findings.iter();
        match faults.find(|finding| counts(finding.fault.kind())) {
            None => Ok(()),
            Some(finding) => Err(format!(
                "{judge:?} accepts, but {:?}:\n{}",
                finding.fault,
                self.system.describe(&finding.run)
            )),
        }
    }

    /// The disagreement, if some judge refuses a safe system, or refuses with an invalid run. The
    /// runs of directed systems are replayed in `verdicts`.
    fn replay(&self, judge: Judge, run: &Run) -> Result<(), String> {
        match &run.failure {
            Failure::Neglect(_) if self.neglects_at_any(CONFIGURATIONS) => return Ok(()),
            Failure::Never { role, action, .. } => return self.never(role, action, run),
            _ => {}
        }
        if self.is_safe() {
            return Err(format!("{judge:?} refuses what is safe, with {run:?}"));
        }
        if self.system.machines().iter().all(is_directed) {
            return Ok(());
        }
        confirm(&self.system, run).map(|_| ()).map_err(|what| format!("{judge:?}: {what}"))
    }
}

impl Known {
    /// True if some endless run neglects a role, with queues of this length.
    fn neglects(&self, queue: usize, configurations: usize) -> bool {
        self.system
            .neglect(&rumpsteak_oracle::Limits { queue, configurations, steps: usize::MAX })
            .is_some()
    }

    /// The same with queues of several lengths: each may find what another one is too large for.
    fn neglects_at_any(&self, configurations: usize) -> bool {
        [1, 2, 6].iter().any(|&queue| self.neglects(queue, configurations))
    }

    /// The disagreement, if a receive happens that is reported as impossible: after it, the role is
    /// stuck here.
    fn never(&self, role: &Role, action: &Action, run: &Run) -> Result<(), String> {
        let machines = self.system.machines().iter();
        let stuck = machines.map(|machine| {
            if machine.role() != role {
                return machine.clone();
            }
            let dead = run.never(machine).expect("the receive is one of the machine");
            let mut builder = Fsm::builder(role.clone());
            let states: Vec<StateId> = machine.states().map(|_| builder.add_state()).collect();
            let (trap, end) = (builder.add_state(), builder.add_state());
            builder.add_transition(trap, Action::receive(action.peer.clone(), "never", &[]), end);
            for by in machine.transitions() {
                let target = if by.id == dead { trap } else { states[by.target.index()] };
                builder.add_transition(states[by.source.index()], by.action.clone(), target);
            }
            builder.build(states[machine.initial().index()]).played_like(machine)
        });
        let mut stuck = Self::of(stuck.collect())?;
        // What goes wrong here anyway shows nothing about the receive.
        let known: Vec<_> = self.report.findings.iter().map(|finding| finding.fault).collect();
        stuck.report.findings.retain(|finding| !known.contains(&finding.fault));
        stuck.check(Judge::Alone, false).map_err(|error| format!("{run:?} is none: {error}"))
    }
}

/// The roles of a protocol, as it projects them and as they are written.
struct Written<'a> {
    projected: &'a [Fsm],
    written: &'a [Fsm],
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (projected, written) in self.projected.iter().zip(self.written) {
            writeln!(f, "projected {projected:?}")?;
            if written != projected {
                writeln!(f, "written   {written:?}")?;
            }
        }
        Ok(())
    }
}

#[test]
fn judgements_agree() {
    let outcome = fuzz::for_each_seed("judgements_agree", |seed, watch| {
        let kind = KINDS[(seed % 6) as usize];
        let (mut sample, projected) = kind.sample(seed, watch);
        let mut written = projected.clone();
        for machine in &mut written {
            if sample.rng.usize(..100) < 60 {
                *machine = kind.rewrite(machine, &mut sample.rng).unwrap_or(machine.clone());
            }
        }
        let (is_safe, is_finite, accepted) = (false, false, vec![]);
        let mut tally =
            Tally { kind, is_safe, is_finite, accepted, alone: 0, fair: 0, proposals: 0 };
        let of = Written { projected: &projected, written: &written };
        let shown = |error: String| format!("{error}\n{}{of}", sample.text);
        let known = Known::of(projected.clone())?;
        known.check(Judge::Projection, false).map_err(shown)?;
        judge_written(&mut tally, &of, &mut sample.rng, watch).map_err(shown)?;
        // These are many, and most are alike.
        if seed % 48 < 6 {
            judge_proposals(&mut tally, &projected, &mut sample.rng).map_err(shown)?;
        } else if seed % 48 < 12 {
            judge_package(&mut tally, &sample.text, &of).map_err(shown)?;
            let plain = Written { projected: &projected, written: &projected };
            let refused = judge_package(&mut tally, &sample.text, &plain).map_err(shown)?;
            // What can be projected can be generated, and is verified as it is generated; but for
            // the next session, which `check` refuses, too.
            let is_known =
                |text: &String| ["next session", "S0410"].iter().any(|known| text.contains(known));
            if let Some(refused) = refused.filter(|text| !is_known(text)) {
                return Err(shown(format!("refused as it is generated: {refused}")));
            }
        }
        Ok(tally)
    });
    report(&outcome.tallies);
    outcome.assert();
}

fn judge_written(
    tally: &mut Tally,
    of: &Written<'_>,
    rng: &mut Rng,
    watch: &mut Watch,
) -> Result<(), String> {
    let mut accepted = Vec::new();
    for role in 0..of.written.len() {
        accepted.push(judge_alone(of, role, watch)?);
    }
    tally.alone += accepted.iter().flatten().count();
    let proofs = accepted.iter().flatten().filter_map(|accepted| accepted.proof.as_ref());
    tally.fair += proofs.filter(|proof| proof.is_fair()).count();
    judge_apart(of, &accepted)?;
    let changed = |role: usize| of.written[role] != of.projected[role];
    let mut roles = 0..of.written.len();
    let is_each_accepted = roles.all(|role| accepted[role].is_some() || !changed(role));

    let Ok(composed) = system::System::new(of.written.to_vec()) else {
        return match is_each_accepted {
            true => Err("each is accepted, but they are no system".to_owned()),
            false => Ok(()),
        };
    };
    let known = Known::of(of.written.to_vec())?;
    tally.is_safe = known.is_safe();
    tally.is_finite = known.report.coverage == Coverage::Complete;
    let mut refused = vec![];
    if is_each_accepted {
        let (mix, found) = judge_mix(of, &accepted, || rng.bool())?;
        if found.verdict.is_safe() {
            Known::of(mix)?.check(Judge::Mix, found.starvation.is_some())?;
        }
        let (_, found) = judge_mix(of, &accepted, || true)?;
        match found.verdict {
            Verdict::Safe(()) => {
                known.check(Judge::Together, found.starvation.is_some())?;
                let proofs = accepted.iter().flatten().filter_map(|of| of.proof.as_ref());
                let is_promised =
                    found.starvation.is_none() && proofs.clone().all(|of| !of.is_fair());
                // Without a limit in the way. The projections are looked at further, since a run
                // that is not found proves nothing.
                if is_promised && known.neglects(2, 1_000) && is_kept_for_sure(of, &accepted)? {
                    return Err("accepted, but a role is neglected in some run".to_owned());
                }
                tally.accepted.push(Judge::Together);
            }
            Verdict::Unsafe(run) => refused.push((Judge::Together, *run)),
            Verdict::Undecided(_) => {}
        }
    }
    let explored = watch.time(Tool::Explore, || explore(&composed, &limits()));
    let is_exhaustive = explored.coverage.exhaustive;
    match explored.verdict {
        Verdict::Safe(()) => {
            known.check(Judge::Exploration, explored.starvation.is_some())?;
            tally.accepted.push(Judge::Exploration);
        }
        Verdict::Unsafe(run) => refused.push((Judge::Exploration, run)),
        Verdict::Undecided(_) => {}
    }
    match watch.time(Tool::Kmc, || kmc::check(&composed, &limits())).verdict {
        kmc::Verdict::Safe(bound) => {
            known.check(Judge::Kmc, false)?;
            tally.accepted.push(Judge::Kmc);
            let whole = kmc::check_at(&composed, bound, kmc::Reduction::None, &limits());
            let may_hold = |property: &kmc::Property| property.holds() != Some(false);
            let is_independent =
                || may_hold(&whole.obi) && (may_hold(&whole.sibi) || may_hold(&whole.cibi));
            let is_proven = may_hold(&whole.progress)
                && may_hold(&whole.reception)
                && may_hold(&whole.exhaustive)
                && (whole.is_directed() || is_independent());
            // Where the bound never mattered, all there is was seen.
            let is_finite = known.report.coverage == Coverage::Complete || is_exhaustive;
            if !is_proven && !is_finite {
                return Err(format!("{bound}-MC without what that takes: {whole:?}"));
            }
        }
        kmc::Verdict::Unsafe(run) => refused.push((Judge::Kmc, *run)),
        kmc::Verdict::Undecided(_) => {}
    }
    if watch.time(Tool::Kmc, || drain(&composed, &limits())).is_some() {
        known.check(Judge::Drained, false)?;
        tally.accepted.push(Judge::Drained);
    }
    for (judge, run) in refused {
        known.replay(judge, &run)?;
        // No other test asks for these.
        if matches!(run.failure, Failure::Neglect(_) | Failure::Never { .. }) {
            continue;
        }
        // That a role waits for ever is a warning to some.
        let starves = matches!(run.failure, Failure::Starvation(_));
        let other = tally
            .accepted
            .iter()
            .find(|other| !starves || matches!(other, Judge::Kmc | Judge::Drained));
        if let Some(other) = other {
            return Err(format!("{judge:?} refuses what {other:?} accepts, with {run:?}"));
        }
    }
    Ok(())
}

/// Judges roles that are accepted, those that are in, with the projections of the others.
fn judge_mix(
    of: &Written<'_>,
    accepted: &[Option<Accepted>],
    mut is_in: impl FnMut() -> bool,
) -> Result<(Vec<Fsm>, Together), String> {
    let mut machines = of.projected.to_vec();
    let mut parts: Vec<Part<'_>> = of.projected.iter().map(Part::projection).collect();
    for (role, accepted) in accepted.iter().enumerate() {
        let Some(accepted) = accepted.as_ref().filter(|_| is_in()) else { continue };
        let written = &of.written[role];
        parts[role] = Part::new(written, &of.projected[role], accepted.proof.as_ref());
        machines[role] = written.clone();
    }
    let found = together(&parts, &limits()).map_err(|error| error.to_string())?;
    Ok((machines, found))
}

/// Judges roles together that are only known by themselves, and safe with all that are.
fn judge_apart(of: &Written<'_>, accepted: &[Option<Accepted>]) -> Result<(), String> {
    let mut machines = of.projected.to_vec();
    for (number, (role, found)) in
        accepted.iter().enumerate().filter(|(_, found)| found.is_some()).enumerate()
    {
        let mut others = 0..;
        let (_, judged) = judge_mix(of, accepted, || others.next() == Some(number))?;
        let asks = found.iter().flat_map(|found| &found.proof).any(|by| !by.left().is_empty());
        if judged.verdict.is_safe() && !judged.alone && !asks {
            machines[role] = of.written[role].clone();
        }
    }
    Known::of(machines)?.check(Judge::Apart, false)
}

/// True if the roles are known to receive in every run what the projections receive in every run,
/// and these are not known to neglect a role.
fn is_kept_for_sure(of: &Written<'_>, accepted: &[Option<Accepted>]) -> Result<bool, String> {
    let parts = of.written.iter().zip(of.projected).zip(accepted);
    let parts = parts.map(|((written, projected), accepted)| match accepted {
        Some(accepted) => Part::new(written, projected, accepted.proof.as_ref()).strict(),
        None => Part::projection(projected).strict(),
    });
    let found =
        together(&parts.collect::<Vec<_>>(), &limits()).map_err(|error| error.to_string())?;
    let projected = Known::of(of.projected.to_vec())?;
    Ok(found.verdict.is_safe() && !projected.neglects_at_any(100_000))
}

/// Judges one role among the projections of the others, in every run and then in the fair relation.
/// `None` if it is as its projection is, or not accepted.
fn judge_alone(
    of: &Written<'_>,
    role: usize,
    watch: &mut Watch,
) -> Result<Option<Accepted>, String> {
    let (machine, own) = (&of.written[role], &of.projected[role]);
    if machine == own {
        return Ok(None);
    }
    let mut peers = of.projected.to_vec();
    peers.remove(role);
    let mut system = of.projected.to_vec();
    system[role] = machine.clone();
    let verdict = watch.time(Tool::Verify, || verify(machine, own, &peers, &limits()));
    let is_asked = is_directed(machine) && is_directed(own);
    let verdict = match verdict {
        // Two actions of a state are alike.
        Err(VerifyError::Machine(_)) if !is_asked => return Ok(None),
        verdict => verdict.map_err(|error| error.to_string())?,
    };
    let mut answers = vec![];
    // Of machines that are not directed subtyping knows little, and the run or its absence decides.
    for limits in engines().into_iter().filter(|_| is_asked) {
        answers.push(certified(machine, own, &limits).map_err(|error| error.to_string())?);
    }
    let holds = answers.iter().any(Verdict::is_safe);
    let fails = answers.iter().any(|answer| answer.refusal().is_some());
    match verdict {
        Verdict::Safe(Accepted { proof, condition }) => {
            if fails {
                return Err(format!("one engine refuses {machine:?}"));
            }
            if let Some(proof) = &proof {
                let valid = certificate::check(&proof.certificate(), machine, own);
                valid.map_err(|invalid| invalid.to_string())?;
            } else if is_asked {
                return Err(format!("subtyping does not judge {machine:?}"));
            }
            let may_starve = matches!(condition, Some(Condition::NarrowedChoice(..)));
            Known::of(system)?.check(Judge::Alone, may_starve)?;
            return Ok(Some(Accepted { proof, condition }));
        }
        Verdict::Unsafe(refused) => {
            if holds && refused.refusal.is_some() {
                return Err(format!("one engine accepts {machine:?}"));
            }
            if let Evidence::Run(run) = refused.evidence {
                Known::of(system.clone())?.replay(Judge::Alone, &run)?;
            }
        }
        Verdict::Undecided(_) => {}
    }
    let fair = verify_fair(machine, own, &peers, &limits()).map_err(|error| error.to_string())?;
    if let Some(Accepted { proof, condition }) = &fair {
        if let Some(proof) = proof {
            let valid = certificate::check(&proof.certificate(), machine, own);
            valid.map_err(|invalid| invalid.to_string())?;
        }
        let may_starve = matches!(condition, Some(Condition::NarrowedChoice(..)));
        Known::of(system)?.check(Judge::Fair, may_starve)?;
    }
    Ok(fair)
}

fn judge_proposals(tally: &mut Tally, projected: &[Fsm], rng: &mut Rng) -> Result<(), String> {
    let options = Options { window: 2, candidates: 6, states: 60, limits: limits() };
    let equal = Costs { latency: &|_, _| 1, work: 1 };
    // Some messages are made from others.
    let modulus = 1 + rng.usize(..5);
    let depends = |send: &Action, receive: &Action| {
        let labels =
            [&send.message.label, &receive.message.label].map(|label| label.as_str().len());
        modulus > 1 && (labels[0] + labels[1] + receive.peer.as_str().len()).is_multiple_of(modulus)
    };
    for (role, machine) in projected.iter().enumerate() {
        let found = propose(projected, machine.role(), &depends, &equal, &options);
        if !is_directed(machine) {
            match found {
                Err(VerifyError::Machine(_)) => continue,
                found => return Err(format!("proposals for {machine:?}: {found:?}")),
            }
        }
        let found = found.map_err(|error| error.to_string())?;
        for proposal in found.proposals {
            assert!(proposal.time <= found.time, "{machine:?}");
            let mut machines = projected.to_vec();
            machines[role] = proposal.fsm;
            Known::of(machines)?.check(Judge::Optimise, false)?;
            tally.proposals += 1;
        }
    }
    if projected.iter().all(is_directed) {
        let depends = |_: usize, send: &Action, receive: &Action| depends(send, receive);
        let found = propose_together(projected, &depends, &equal, &options);
        let found = found.map_err(|error| error.to_string())?;
        assert!(found.after <= found.before, "{projected:?}");
        let pairs = found.proposals.into_iter().zip(projected);
        let machines = pairs.map(|(found, own)| found.map_or_else(|| own.clone(), |p| p.fsm));
        Known::of(machines.collect())?.check(Judge::Optimise, false)?;
    }
    Ok(())
}

/// A package of the protocol, with the machines that were changed beside it: what is wrong with it.
fn judge_package(
    tally: &mut Tally,
    text: &str,
    of: &Written<'_>,
) -> Result<Option<String>, String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("judgements-{}-{number}", process::id()));
    let mut files = vec![
        ("Cargo.toml".to_owned(), "[package]\nname = \"p\"\n".to_owned()),
        ("src/lib.rs".to_owned(), "#[rumpsteak::protocol(P)] mod p {}\n".to_owned()),
        ("protocols/p.scr".to_owned(), text.to_owned()),
    ];
    for (written, projected) in of.written.iter().zip(of.projected) {
        if written != projected {
            files.push((format!("protocols/p.{}.dot", written.role()), dot::print(written)));
        }
    }
    for (path, mut text) in files {
        // A label has one payload in Rust.
        for sort in ["i32", "u8", "bool"] {
            text = text.replace(&format!("({sort})"), &format!("_{sort}({sort})"));
        }
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&folder)).map_err(|e| e.to_string())?;
        fs::write(path, text).map_err(|e| e.to_string())?;
    }
    let mut of_build = rumpsteak_build::Limits::default();
    of_build.scribble.verifier = limits();
    let check = configure().protocols("protocols").check(&folder, &of_build);
    fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    if check.holds() {
        let known = Known::of(of.written.to_vec())?;
        let may_starve = check.warnings.iter().any(|warning| warning.contains("for ever"));
        known.check(Judge::Package, may_starve)?;
        tally.accepted.push(Judge::Package);
        return Ok(None);
    }
    let problems = check.problems.iter().map(|problem| problem.text.clone());
    let reports = check.reports.iter().map(ToString::to_string);
    Ok(Some(problems.chain(reports).collect::<Vec<_>>().join("\n")))
}

fn report(tallies: &[Tally]) {
    for kind in KINDS {
        let of_kind = || tallies.iter().filter(|tally| tally.kind == kind);
        let count = |is: &dyn Fn(&Tally) -> bool| of_kind().filter(|tally| is(tally)).count();
        let by = |judge| count(&|tally| tally.accepted.contains(&judge));
        let safe = count(&|tally| tally.is_safe);
        let accepted = count(&|tally| tally.is_safe && !tally.accepted.is_empty());
        println!(
            "{kind:?}: {} systems, {safe} safe, {accepted} of them accepted by somebody; accepted {} \
             together, {} by exploration, {} by k-MC, {} drained, {} packages; {} roles alone, {} of them fair; {} proposals",
            of_kind().count(),
            by(Judge::Together),
            by(Judge::Exploration),
            by(Judge::Kmc),
            by(Judge::Drained),
            by(Judge::Package),
            of_kind().map(|tally| tally.alone).sum::<usize>(),
            of_kind().map(|tally| tally.fair).sum::<usize>(),
            of_kind().map(|tally| tally.proposals).sum::<usize>(),
        );
        assert!(accepted * 10 >= safe * 9, "{kind:?}: {accepted} of {safe}");
    }
    let finite = || tallies.iter().filter(|tally| tally.is_safe && tally.is_finite);
    let accepted = finite().filter(|tally| !tally.accepted.is_empty()).count();
    let by = |judge| finite().filter(|tally| tally.accepted.contains(&judge)).count();
    println!(
        "{} finite safe systems, {accepted} accepted: {} together, {} by exploration, {} by k-MC, {} drained",
        finite().count(),
        by(Judge::Together),
        by(Judge::Exploration),
        by(Judge::Kmc),
        by(Judge::Drained),
    );
    assert!(accepted * 100 >= finite().count() * 95, "{accepted} of {}", finite().count());
}
