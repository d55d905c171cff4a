//! The object that `--format json` prints.

use rumpsteak_build::command::{Mark, Notice};
use rumpsteak_fsm::bounded::Growth;
use rumpsteak_fsm::run::{Run, Step};
use rumpsteak_fsm::{Action, Fsm, Sort};
use serde_json::{Map, Value, json};

use crate::terminal::paragraph;
use crate::{Answer, Outcome};

pub(crate) fn line(kind: &str, value: Value) -> String {
    format!("{}\n", joined(json!({"kind": kind}), value))
}

pub(crate) fn notice(notice: &Notice) -> Value {
    let span = |(index, mark): (usize, &Mark)| {
        let (line_start, column_start) = mark.text.position(mark.span.start);
        let (line_end, column_end) = mark.text.position(mark.span.end);
        json!({
            "file_name": mark.text.name,
            "byte_start": mark.span.start,
            "byte_end": mark.span.end,
            "line_start": line_start,
            "line_end": line_end,
            "column_start": column_start,
            "column_end": column_end,
            "is_primary": index == 0,
            "label": mark.label,
        })
    };
    let spans = notice.excerpt.marks.iter().enumerate().map(span);
    json!({
        "level": format!("{:?}", notice.severity).to_lowercase(),
        "code": notice.code,
        "message": notice.message,
        "spans": spans.collect::<Vec<_>>(),
        "notes": notice.notes,
        "help": notice.help,
        "rendered": paragraph(notice, false),
    })
}

pub(crate) fn machine(fsm: &Fsm) -> Value {
    let transitions = fsm.transitions().map(|transition| {
        let (from, to) = (transition.source.index(), transition.target.index());
        joined(json!({"from": from, "to": to}), action(transition.action))
    });
    json!({
        "role": fsm.role().as_str(),
        "initial": fsm.initial().index(),
        "states": fsm.len(),
        "transitions": transitions.collect::<Vec<_>>(),
    })
}

pub(crate) fn action(action: &Action) -> Value {
    let payload = action.message.payload.iter().map(Sort::as_str);
    json!({
        "action": action.to_string(),
        "peer": action.peer.as_str(),
        "direction": format!("{:?}", action.direction).to_lowercase(),
        "label": action.message.label.as_str(),
        "payload": payload.collect::<Vec<_>>(),
    })
}

pub(crate) fn joined(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

pub(crate) fn steps(steps: &[Step]) -> Vec<Value> {
    let step = |step: &Step| joined(json!({"role": step.role.as_str()}), action(&step.action));
    steps.iter().map(step).collect()
}

pub(crate) fn growth(growth: &Growth) -> Value {
    let Growth { queue, before, again } = growth;
    json!({"queue": queue.to_string(), "run": steps(before), "again": steps(again)})
}

pub(crate) fn run(run: &Run) -> Value {
    json!({"run": steps(&run.steps), "end": end(run)})
}

pub(crate) fn unsafe_run(run: &Run) -> Answer {
    let answer = Answer::because(Outcome::Fails, run.failure.to_string());
    answer.with("run", steps(&run.steps)).with("end", end(run))
}

fn end(run: &Run) -> Value {
    let states = run.states.iter().map(|(role, state)| (role.to_string(), json!(state.index())));
    let queues = run.queues.iter().map(|queue| {
        let messages: Vec<String> = queue.messages.iter().map(ToString::to_string).collect();
        json!({"from": queue.from.as_str(), "to": queue.to.as_str(), "messages": messages})
    });
    let waits = run.waits.iter().map(|wait| {
        let actions = wait.transitions.iter().map(|(_, action)| action.to_string());
        json!({"role": wait.role.as_str(), "for": actions.collect::<Vec<_>>()})
    });
    json!({
        "failure": run.failure.to_string(),
        "states": states.collect::<Map<_, _>>(),
        "queues": queues.collect::<Vec<_>>(),
        "waits": waits.collect::<Vec<_>>(),
        "chart": run.chart(),
    })
}
