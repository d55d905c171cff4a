//! `check FILE.scr…`: syntax, well-formedness, every projection, and the projections together.

use rumpsteak_build::command::{Notice, count, shortest, unwritable, visible};
use rumpsteak_fsm::Verdict;
use rumpsteak_fsm::run::Run;
use rumpsteak_fsm::system::{EveryRun, System, live_in_every_run};
use rumpsteak_fsm::verify::{Decision, Grounds, decide};
use rumpsteak_scribble::Protocol;
use serde_json::{Value, json};

use super::arguments::{Arguments, Form};
use crate::input::Reader;
use crate::json::{self, Answer};
use crate::liveness::tell;
use crate::machines::{Machine, mark_waits, of_projections};
use crate::modules::{self, Module};
use crate::options::Liveness;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Checks all files, and goes on after one that is bad.
pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Outcome {
    let mut output = Output { arguments, terminal, files: vec![], gravest: None };
    let mut reader = Reader::default();
    let mut outcome = Outcome::Holds;
    for path in &arguments.files {
        let of_file =
            match modules::read(&mut reader, path, &arguments.import_path, &arguments.limits) {
                Ok(module) => check_module(&module, &mut output),
                Err(report) => {
                    output.open_file(&path.display().to_string());
                    output.report(&report);
                    let answer = Answer::because(&report.message);
                    output.weigh(Outcome::BadInput, answer.object(Outcome::BadInput));
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
    let of_module = modules::outcome(&module.contents.diagnostics);
    for report in &module.unreadable {
        output.report(report);
    }
    if let Some(first) = module.contents.diagnostics.first() {
        output.weigh(of_module, Answer::because(&first.message).object(of_module));
    }
    let warnings = module.reports(&module.contents.warnings);
    for report in warnings.chain(module.reports(&module.contents.diagnostics)) {
        output.report(&report);
    }
    let of_protocols =
        module.contents.protocols.iter().map(|protocol| check_protocol(module, protocol, output));
    let outcome = of_protocols.fold(of_module, Outcome::max);
    if outcome == Outcome::Holds && module.contents.protocols.is_empty() {
        output.report(
            &Notice::note(format!("`{}` declares no protocol to check", module.name())).help(
                "`aux` protocols and those with parameters are checked where others call them",
            ),
        );
    }
    outcome
}

fn check_protocol(module: &Module, protocol: &Protocol, output: &mut Output<'_>) -> Outcome {
    let projections = match protocol.project_all() {
        Ok(projections) => projections,
        Err(diagnostics) => {
            for report in module.reports(&diagnostics) {
                output.report(&report);
            }
            let outcome = modules::outcome(&diagnostics);
            let first = diagnostics.first();
            let limit = first.and_then(|first| first.limit);
            let reason = first.map(|first| first.message.clone());
            let verdict = Answer { limit, reason, ..Answer::default() }.object(outcome);
            output.verdict(protocol, outcome, verdict, "");
            return outcome;
        }
    };

    let lines = output.arguments.generated_lines;
    let unwritable = unwritable(&module.contents, protocol, &projections, lines);
    let machines = of_projections(module, projections);
    let fsms = machines.iter().map(|machine| machine.fsm.clone());
    let system = match System::new(fsms.collect()) {
        Ok(system) => system,
        // A well-formed protocol has none of these defects.
        Err(error) => {
            output.report(&Notice::error(error.to_string()));
            return Outcome::Fails;
        }
    };
    let limits = output.arguments.limits.verifier();
    let decision = decide(&system, &limits);
    let for_liveness = match output.arguments.liveness {
        Some(_) => limits,
        None => limits.for_a_warning(machines.len()),
    };
    // Who starves waits in every run.
    let live = match decision.exploration.starvation {
        Some(_) => EveryRun::default(),
        None => live_in_every_run(&system, || decision.exploration.clone(), &for_liveness),
    };
    let judged = Judged { module, protocol, machines, decision, live };
    let outcome = judged.tell(output);
    // Whoever writes the sessions by hand can say more than generated code.
    if let Some(told) = unwritable.filter(|_| outcome == Outcome::Holds) {
        let (message, rest) = told.text.split_once("\n\n").unwrap_or((&told.text, ""));
        let note = Notice::note(message).with_code(told.code);
        output.report(&note.maybe_help(rest.strip_prefix("help: ")));
    }
    outcome
}

/// A protocol with what was found about its projections together.
struct Judged<'a> {
    module: &'a Module,
    protocol: &'a Protocol,
    machines: Vec<Machine>,
    decision: Decision,
    /// The roles that are not served in every run.
    live: EveryRun,
}

impl Judged<'_> {
    fn tell(&self, output: &mut Output<'_>) -> Outcome {
        let Decision { verdict, exploration } = &self.decision;
        let (outcome, mut verdict, line) = match (verdict, &exploration.starvation) {
            (Verdict::Safe(Grounds::Explored(coverage)), _) => {
                let configurations = count(coverage.configurations, "configuration");
                let queues = count(coverage.bound, "message");
                self.safe(
                    coverage.bound,
                    &format!("{configurations} explored with queues of up to {queues}"),
                )
            }
            (Verdict::Safe(Grounds::Compatible { bound }), _) => {
                self.safe(*bound, &format!("{bound}-MC"))
            }
            (Verdict::Unsafe(run), _) => self.refused(run, output),
            (Verdict::Undecided(_), Some(run)) => self.refused(run, output),
            // Other protocols are judged with these limits when they are projected.
            (Verdict::Undecided(_), None) => {
                self.safe(None, "by construction: every role can be projected")
            }
        };
        if let (Some(run), Outcome::Holds) = (&exploration.starvation, outcome) {
            let title = format!("in `{}`, {}", self.protocol.name(), run.failure);
            output.report(&self.with_run(Notice::note(title), run));
            verdict["starvation"] = json::run(run);
        }
        let outcome = outcome.max(self.liveness(output, &mut verdict));
        output.verdict(self.protocol, outcome, verdict, &line);
        outcome
    }

    /// Tells who may wait for ever.
    fn liveness(&self, output: &mut Output<'_>, verdict: &mut Value) -> Outcome {
        let name = Some(self.protocol.name().as_str());
        match output.arguments.liveness {
            Some(Liveness::Fair) => Outcome::Holds,
            Some(Liveness::EveryRun) => {
                tell(&self.live, name, Notice::error, verdict, |error| output.report(&error))
            }
            None => {
                let known = EveryRun { limit: None, ..self.live.clone() };
                let asked = verdict["verdict"].clone();
                tell(&known, name, Notice::warning, verdict, |warning| output.report(&warning));
                verdict["verdict"] = asked;
                Outcome::Holds
            }
        }
    }

    fn safe(&self, bound: impl Into<Option<usize>>, evidence: &str) -> (Outcome, Value, String) {
        let line = format!(
            "{}: `{}` is safe: {}, {evidence}\n",
            visible(self.module.name()),
            self.protocol.name(),
            count(self.protocol.roles().len(), "role"),
        );
        let answer = Answer { bound: bound.into(), ..Answer::default() };
        (Outcome::Holds, answer.object(Outcome::Holds), line)
    }

    fn refused(&self, run: &Run, output: &mut Output<'_>) -> (Outcome, Value, String) {
        let name = self.protocol.name();
        let title = format!("the projections of `{name}` are not safe together: {}", run.failure);
        output.report(&self.with_run(Notice::error(title), run));
        let verdict = json::unsafe_run(run);
        (Outcome::Fails, verdict, String::new())
    }

    fn with_run(&self, report: Notice, run: &Run) -> Notice {
        mark_waits(report, &self.machines, run).remark(shortest(run))
    }
}

/// Where diagnostics and verdicts go, in the form that was asked for.
struct Output<'a> {
    arguments: &'a Arguments,
    terminal: &'a mut Terminal,
    /// The objects of the files so far, for `--format json`.
    files: Vec<Value>,
    /// The gravest verdict so far.
    gravest: Option<(Outcome, Value)>,
}

impl Output<'_> {
    fn open_file(&mut self, name: &str) {
        self.files.push(json!({"file": name, "protocols": [], "diagnostics": []}));
    }

    /// A diagnostic of the file that was opened last.
    fn report(&mut self, report: &Notice) {
        match self.arguments.form() {
            Form::Text | Form::Json => self.terminal.report(report),
            Form::JsonLines => self.line("diagnostic", json::notice(report)),
        }
        self.append("diagnostics", json::notice(report));
    }

    /// The verdict on a protocol of the file that was opened last; `line` says it to people, if
    /// there is anything to say beyond the diagnostics.
    fn verdict(&mut self, protocol: &Protocol, outcome: Outcome, verdict: Value, line: &str) {
        let roles = protocol.roles().iter().map(|role| role.as_str());
        let named = json!({
            "protocol": protocol.name().as_str(),
            "roles": roles.collect::<Vec<_>>(),
        });
        let object = json::joined(named, verdict.clone());
        match self.arguments.form() {
            Form::Text => self.terminal.print(line),
            Form::Json => {}
            Form::JsonLines => self.line("protocol", object.clone()),
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

    fn line(&mut self, kind: &str, value: Value) {
        let mut object = json!({});
        if let Some(file) = self.files.last() {
            object["file"] = file["file"].clone();
        }
        self.terminal.print(&json::line(kind, json::joined(object, value)));
    }

    fn finish(mut self, outcome: Outcome) {
        let mut object = match self.gravest.take() {
            Some((_, verdict)) => verdict,
            None => Answer::default().object(outcome),
        };
        match self.arguments.form() {
            Form::Text => {}
            Form::Json => {
                object["files"] = Value::Array(std::mem::take(&mut self.files));
                self.terminal.print(&json::text(&object));
            }
            Form::JsonLines => {
                self.files.clear();
                self.line("finished", object);
            }
        }
    }
}
