//! `check FILE.scr…`: syntax, well-formedness, every projection, and the projections together.

use rumpsteak_fsm::{
    Verdict,
    run::Run,
    system::{Exploration, System, explore},
};
use rumpsteak_scribble::{Projection, Protocol};
use serde_json::{Value, json};

use super::{Arguments, MessageFormat};
use crate::{
    exit::Outcome,
    input::Reader,
    json,
    machines::{marks, split_way_out},
    modules::{self, Module},
    report::{Report, count},
    terminal::{Terminal, plain},
};

/// Checks all files, and goes on after one that is bad.
pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Outcome {
    let mut output = Output {
        arguments,
        terminal,
        files: vec![],
        gravest: None,
    };
    let mut reader = Reader::default();
    let mut outcome = Outcome::Holds;
    for path in &arguments.files {
        let of_file = match modules::read(&mut reader, path) {
            Ok(module) => check_module(&module, &mut output),
            Err(report) => {
                output.open_file(&path.display().to_string());
                output.report(&report);
                let reason = Some(report.message().to_owned());
                output.weigh(
                    Outcome::BadInput,
                    json::verdict(None, None, None, None, reason),
                );
                Outcome::BadInput
            }
        };
        outcome = outcome.max(of_file);
    }
    output.finish(outcome);
    outcome
}

fn check_module(module: &Module, output: &mut Output<'_>) -> Outcome {
    output.open_file(module.name());
    let of_module = modules::outcome(&module.diagnostics);
    if let Some(first) = module.diagnostics.first() {
        let reason = Some(first.message.clone());
        output.weigh(
            of_module,
            json::verdict(of_module.verdict(), None, None, None, reason),
        );
    }
    for report in module.reports(&module.diagnostics) {
        output.report(&report);
    }
    let of_protocols = module
        .protocols
        .iter()
        .map(|protocol| check_protocol(module, protocol, output));
    let outcome = of_protocols.fold(of_module, Outcome::max);
    if outcome == Outcome::Holds && module.protocols.is_empty() {
        output.report(
            &Report::note(format!("`{}` declares no protocol to check", module.name())).help(
                "`aux` protocols and those with parameters are checked where others call them",
            ),
        );
    }
    outcome
}

fn check_protocol(module: &Module, protocol: &Protocol, output: &mut Output<'_>) -> Outcome {
    let mut projections = vec![];
    let mut diagnostics = vec![];
    for role in protocol.roles() {
        match protocol.project(role) {
            Ok(projection) => projections.push(projection),
            Err(found) => diagnostics.extend(found),
        }
    }
    if let Some(first) = diagnostics.first() {
        let reason = first.message.clone();
        for report in module.reports(&diagnostics) {
            output.report(&report);
        }
        let outcome = modules::outcome(&diagnostics);
        let verdict = json::verdict(outcome.verdict(), None, None, None, Some(reason));
        output.verdict(protocol, outcome, verdict, "");
        return outcome;
    }

    for projection in &projections {
        if let Some(note) = undirected(module, protocol, projection) {
            output.report(&note);
        }
    }
    let machines = projections.iter().map(|projection| projection.fsm.clone());
    let system = match System::new(machines.collect()) {
        Ok(system) => system,
        // A well-formed protocol has none of these defects.
        Err(error) => {
            output.report(&Report::error(error.to_string()));
            return Outcome::Fails;
        }
    };
    let limits = output.arguments.limits();
    judge(
        module,
        protocol,
        &projections,
        &explore(&system, &limits),
        output,
    )
}

/// Prints what the exploration of the projections found.
fn judge(
    module: &Module,
    protocol: &Protocol,
    projections: &[Projection],
    exploration: &Exploration,
    output: &mut Output<'_>,
) -> Outcome {
    let name = protocol.name().as_str();
    let bound = exploration.coverage.bound;
    let (outcome, verdict, line) = match &exploration.verdict {
        Verdict::Safe(_) => {
            let line = format!(
                "{}: `{name}` is safe: {}, {}, {}\n",
                plain(module.name()),
                count(protocol.roles().len(), "role"),
                count(exploration.coverage.configurations, "configuration"),
                match bound {
                    0 => "no message ever waits".to_owned(),
                    _ => format!("at most {} in a queue", count(bound, "message")),
                },
            );
            let verdict = json::verdict(Some("safe"), Some(bound), None, None, None);
            (Outcome::Holds, verdict, line)
        }
        Verdict::Unsafe(run) => {
            let reason = run.failure.to_string();
            let title = format!("the projections of `{name}` are not safe together: {reason}");
            output.report(&with_run(Report::error(title), module, projections, run));
            let steps = Some(json::steps(run));
            let mut verdict = json::verdict(Some("unsafe"), None, None, steps, Some(reason));
            verdict["end"] = json::end(run);
            (Outcome::Fails, verdict, String::new())
        }
        Verdict::Undecided(limit) => {
            let report = Report::error(format!("undecided whether `{name}` is safe: {limit}"))
                .remark(format!(
                    "nothing goes wrong as long as no queue holds more than {}",
                    count(bound, "message")
                ))
                .help(format!("raise the limit with `--{}`", limit.setting()));
            output.report(&report);
            let reason = Some(limit.to_string());
            let limit = Some(json::limit(*limit));
            let verdict = json::verdict(Some("undecided"), Some(bound), limit, None, reason);
            (Outcome::Undecided, verdict, String::new())
        }
    };
    let mut verdict = verdict;
    if let Some(run) = &exploration.starvation {
        let title = format!("in `{name}`, {}", run.failure);
        output.report(&with_run(Report::note(title), module, projections, run));
        verdict["starvation"] = json::run(run);
    }
    output.verdict(protocol, outcome, verdict, &line);
    outcome
}

/// Adds where the roles stand at the end of the run, and the run.
fn with_run(report: Report, module: &Module, projections: &[Projection], run: &Run) -> Report {
    let mut report = report;
    for wait in &run.waits {
        let of_role = projections
            .iter()
            .find(|projection| *projection.fsm.role() == wait.role);
        let Some(projection) = of_role else { continue };
        for (transition, action) in &wait.transitions {
            let label = format!("`{}` waits for `{action}`", wait.role);
            // The first place: the others say the same to this role.
            for span in projection.origins(*transition).iter().take(1) {
                report = module.mark(report, *span, &label);
            }
        }
    }
    report.remark(format!(
        "the shortest run that leads there:\n{}",
        run.chart()
    ))
}

/// Says that a role may have to wait for several peers at once, which is safe and cannot be written as a session.
fn undirected(module: &Module, protocol: &Protocol, projection: &Projection) -> Option<Report> {
    let defect = projection.fsm.check_directed().err()?;
    let role = projection.fsm.role();
    let title = format!(
        "`{role}` in `{}` cannot be written as a session type yet: {}",
        protocol.name(),
        split_way_out(&defect.to_string()).0,
    );
    let mut report = Report::note(title);
    for (transition, _) in marks(&projection.fsm, &defect) {
        for span in projection.origins(transition).iter().take(1) {
            report = module.mark(report, *span, "");
        }
    }
    Some(report)
}

/// Where diagnostics and verdicts go, in the form that was asked for.
struct Output<'a> {
    arguments: &'a Arguments,
    terminal: &'a mut Terminal,
    /// What `--json` says of each file so far.
    files: Vec<Value>,
    /// The gravest verdict so far.
    gravest: Option<(Outcome, Value)>,
}

impl Output<'_> {
    fn open_file(&mut self, name: &str) {
        self.files
            .push(json!({"file": name, "protocols": [], "diagnostics": []}));
    }

    /// A diagnostic of the file that was opened last.
    fn report(&mut self, report: &Report) {
        match self.arguments.message_format {
            MessageFormat::Human => self.terminal.report(report),
            MessageFormat::Json => self.line("diagnostic", report.to_json()),
        }
        self.append("diagnostics", report.to_json());
    }

    /// The verdict on a protocol of the file that was opened last; `line` says it to people, if there is anything
    /// to say beyond the diagnostics.
    fn verdict(&mut self, protocol: &Protocol, outcome: Outcome, verdict: Value, line: &str) {
        let roles = protocol.roles().iter().map(|role| role.as_str());
        let mut object = json!({
            "protocol": protocol.name().as_str(),
            "roles": roles.collect::<Vec<_>>(),
        });
        json::extend(&mut object, verdict.clone());
        match self.arguments.message_format {
            MessageFormat::Human if self.arguments.json => {}
            MessageFormat::Human => self.terminal.print(line),
            MessageFormat::Json => self.line("protocol", object.clone()),
        }
        self.append("protocols", object);
        self.weigh(outcome, verdict);
    }

    fn weigh(&mut self, outcome: Outcome, verdict: Value) {
        let graver = match &self.gravest {
            None => true,
            Some((Outcome::Holds, known)) if outcome == Outcome::Holds => {
                verdict["bound"].as_u64() > known["bound"].as_u64()
            }
            Some((known, _)) => outcome > *known,
        };
        if graver {
            self.gravest = Some((outcome, verdict));
        }
    }

    fn append(&mut self, list: &str, value: Value) {
        if let Some(Value::Array(list)) = self.files.last_mut().and_then(|file| file.get_mut(list))
        {
            list.push(value);
        }
    }

    /// One object on a line of its own.
    fn line(&mut self, kind: &str, value: Value) {
        let mut object = json!({"kind": kind});
        if let Some(file) = self.files.last() {
            object["file"] = file["file"].clone();
        }
        json::extend(&mut object, value);
        self.terminal.print(&format!("{object}\n"));
    }

    fn finish(mut self, outcome: Outcome) {
        let mut object = match self.gravest.take() {
            Some((_, verdict)) => verdict,
            None => json::verdict(outcome.verdict(), None, None, None, None),
        };
        match self.arguments.message_format {
            MessageFormat::Human if self.arguments.json => {
                object["files"] = Value::Array(std::mem::take(&mut self.files));
                self.terminal.print(&json::text(&object));
            }
            MessageFormat::Human => {}
            MessageFormat::Json => {
                self.files.clear();
                self.line("finished", object);
            }
        }
    }
}
