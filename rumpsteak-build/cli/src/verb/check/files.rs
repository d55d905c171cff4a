//! `check FILE.scr…`: syntax, well-formedness, every projection, and the projections together.

use rumpsteak_build::command::{Notice, ScrModule, count, gravest, shortest, unwritable, visible};
use rumpsteak_fsm::system::{EveryRun, System, live_in_every_run};
use rumpsteak_fsm::verify::{Decision, Grounds, decide};
use rumpsteak_fsm::{Run, Verdict};
use rumpsteak_scribble::Protocol;
use serde_json::{Value, json};

use super::arguments::{Arguments, Form};
use crate::liveness::tell;
use crate::machines::{Machine, mark_waits, of_projections};
use crate::modules::{self, Module};
use crate::{Answer, Liveness, Outcome, Reader, Terminal, json};

/// Checks all files, and goes on after one that is bad.
pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Answer {
    let mut output = Output { arguments, terminal, files: vec![], gravest: None };
    let mut reader = Reader::default();
    for path in &arguments.files {
        match modules::read(&mut reader, path, &arguments.reading) {
            Ok(module) => check_module(&module, &mut output),
            Err(report) => {
                output.open_file(&path.display().to_string());
                output.report(&report);
                output.weigh(Answer::because(Outcome::BadInput, &report.message));
            }
        }
    }
    output.finish()
}

fn check_module(module: &Module, output: &mut Output<'_>) {
    output.open_file(module.name());
    let ScrModule { diagnostics, warnings, protocols, .. } = &module.contents;
    let unreadable = module.unreadable.iter().cloned();
    let reports = unreadable.chain(module.reports(warnings)).chain(module.reports(diagnostics));
    reports.for_each(|report| output.report(&report));
    if let Some(first) = diagnostics.first() {
        output.weigh(Answer::because(gravest(diagnostics), &first.message));
    } else if protocols.is_empty() {
        let note = Notice::note(format!("`{}` declares no protocol to check", module.name()));
        let help = "`aux` protocols and those with parameters are checked when others call them";
        output.report(&note.help(help));
    }
    protocols.iter().for_each(|protocol| check_protocol(module, protocol, output));
}

fn check_protocol(module: &Module, protocol: &Protocol, output: &mut Output<'_>) {
    let projections = match protocol.project_all() {
        Ok(projections) => projections,
        Err(diagnostics) => {
            module.reports(&diagnostics).for_each(|report| output.report(&report));
            let first = diagnostics.first();
            let limit = first.and_then(|first| first.limit);
            let limit = limit.map(|(name, value)| json!({"setting": name, "value": value}));
            let reason = first.map(|first| first.message.clone());
            let answer = Answer::new(gravest(&diagnostics)).with("limit", limit);
            return output.verdict(protocol, answer.with("reason", reason), "");
        }
    };
    let limits = output.arguments.reading.limits.build(output.arguments.generated_lines);
    let unwritable = unwritable(&module.contents, protocol, &projections, &limits);
    let machines = of_projections(module, protocol.judged(projections));
    let system = match System::new(machines.iter().map(|machine| machine.fsm.clone()).collect()) {
        Ok(system) => system,
        // This does not happen to a well-formed protocol.
        Err(error) => {
            output.report(&Notice::error(error.to_string()));
            let answer = Answer::because(Outcome::Fails, error.to_string());
            return output.verdict(protocol, answer, "");
        }
    };
    let outcome = judge(module, protocol, &machines, &system, output);
    // A line with a mistake may say more, and so may sessions that are written by hand.
    let is_read = module.contents.diagnostics.is_empty() && outcome == Outcome::Holds;
    if let Some(told) = unwritable.filter(|_| is_read) {
        let (message, rest) = told.text.split_once("\n\n").unwrap_or((&told.text, ""));
        let note = Notice::note(message).with_code(told.code);
        output.report(&note.maybe_help(rest.strip_prefix("help: ")));
    }
}

/// Judges the projections of a protocol together.
fn judge(
    module: &Module,
    protocol: &Protocol,
    machines: &[Machine],
    system: &System,
    output: &mut Output<'_>,
) -> Outcome {
    let limits = output.arguments.reading.limits.verifier();
    let Decision { verdict, exploration } = decide(system, &limits);
    let name = protocol.name();
    let with_run = |notice, run: &Run| mark_waits(notice, machines, run).remark(shortest(run));
    let found = match verdict {
        Verdict::Safe(Grounds::Explored(coverage)) => {
            let configurations = count(coverage.configurations, "configuration");
            let queues = count(coverage.bound, "message");
            let evidence = format!("{configurations} explored with queues of up to {queues}");
            Ok((Some(coverage.bound), evidence))
        }
        Verdict::Safe(Grounds::Compatible(bound)) => Ok((Some(bound), format!("{bound}-MC"))),
        Verdict::Safe(Grounds::Drained(_)) => {
            Ok((None, "queues of any length can always be emptied".to_owned()))
        }
        Verdict::Unsafe(run) => Err(*run),
        // The projection of such a protocol has judged it with these limits.
        Verdict::Undecided(_) => match exploration.starvation.clone() {
            Some(run) => Err(run),
            None => Ok((None, "by construction: every role can be projected".to_owned())),
        },
    };
    let (mut answer, line) = match found {
        Ok((bound, evidence)) => {
            let file = visible(module.name());
            let roles = count(protocol.roles().len(), "role");
            (Answer::holds(bound), format!("{file}: `{name}` is safe: {roles}, {evidence}\n"))
        }
        Err(run) => {
            let title =
                format!("the projections of `{name}` are not safe together: {}", run.failure);
            output.report(&with_run(Notice::error(title), &run));
            (json::unsafe_run(&run), String::new())
        }
    };
    if let (Some(run), Outcome::Holds) = (&exploration.starvation, answer.outcome) {
        output.report(&with_run(Notice::note(format!("in `{name}`, {}", run.failure)), run));
        answer = answer.with("starvation", json::run(run));
    }
    let asked = output.arguments.liveness;
    let live = match (asked, &exploration.starvation) {
        // A role that starves waits in every run.
        (_, Some(_)) | (Some(Liveness::Fair), _) => EveryRun::default(),
        (Some(Liveness::EveryRun), None) => live_in_every_run(system, || exploration, &limits),
        (None, None) => {
            let limits = limits.for_a_warning(machines.len());
            let mut live = live_in_every_run(system, || exploration, &limits);
            live.neglected.retain(|found| !found.is_idle);
            EveryRun { limit: None, ..live }
        }
    };
    tell(&live, Some(name.as_str()), asked.is_some(), &mut answer, |it| output.report(&it));
    let outcome = answer.outcome;
    output.verdict(protocol, answer, &line);
    outcome
}

/// The diagnostics and verdicts of all files, in the form that was asked for.
struct Output<'a> {
    arguments: &'a Arguments,
    terminal: &'a mut Terminal,
    /// The objects of the files so far, for `--format json`.
    files: Vec<Value>,
    /// The gravest verdict so far.
    gravest: Option<Answer>,
}

impl Output<'_> {
    fn open_file(&mut self, name: &str) {
        self.files.push(json!({"file": name, "protocols": [], "diagnostics": []}));
    }

    /// A diagnostic of the file that was opened last.
    fn report(&mut self, report: &Notice) {
        match self.arguments.format {
            Form::Text | Form::Json => self.terminal.report(report),
            Form::JsonLines => self.line("diagnostic", json::notice(report)),
        }
        self.append("diagnostics", json::notice(report));
    }

    /// The verdict on a protocol of the file that was opened last; `line` says it to people, if
    /// there is anything to say beyond the diagnostics.
    fn verdict(&mut self, protocol: &Protocol, answer: Answer, line: &str) {
        let roles: Vec<&str> = protocol.roles().iter().map(|role| role.as_str()).collect();
        let named = json!({"protocol": protocol.name().as_str(), "roles": roles});
        let object = json::joined(named, answer.object.clone());
        match self.arguments.format {
            Form::Text => self.terminal.print(line),
            Form::Json => {}
            Form::JsonLines => self.line("protocol", object.clone()),
        }
        self.append("protocols", object);
        self.weigh(answer);
    }

    fn weigh(&mut self, answer: Answer) {
        // Of two that hold, the one with the larger bound.
        let weight = |of: &Answer| {
            (of.outcome, of.object["bound"].as_u64().filter(|_| of.outcome == Outcome::Holds))
        };
        if self.gravest.as_ref().is_none_or(|known| weight(&answer) > weight(known)) {
            self.gravest = Some(answer);
        }
    }

    fn append(&mut self, list: &str, value: Value) {
        if let Some(Value::Array(list)) = self.files.last_mut().and_then(|file| file.get_mut(list))
        {
            list.push(value);
        }
    }

    fn line(&mut self, kind: &str, value: Value) {
        let file = self.files.last().map(|file| &file["file"]);
        self.terminal.print(&json::line(kind, json::joined(json!({"file": file}), value)));
    }

    /// The gravest verdict, with the objects of all files.
    fn finish(self) -> Answer {
        let answer = self.gravest.unwrap_or(Answer::new(Outcome::Holds));
        if self.arguments.format == Form::JsonLines {
            self.terminal.print(&json::line("finished", answer.object.clone()));
        }
        answer.with("files", self.files)
    }
}
