//! Replays the runs in the notes of errors: they can happen.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rumpsteak_scribble::{Code, Diagnostic};

/// # Panics
/// If the run of an S0402 or S0409 cannot happen.
pub(crate) fn assert_possible(error: &Diagnostic, source: &str) {
    for note in &error.notes {
        // Of long runs only the end is shown.
        let is_possible = note.contains(" more)")
            || match error.code {
                Code::Overtaken => overtakes(error, note, source),
                Code::UnsafeTogether => happens(note),
                _ => true,
            };
        assert!(is_possible, "{note}\n{source}");
    }
}

/// True if the last message of the second run is sent although the role has not received the
/// message for which it waits first.
fn overtakes(error: &Diagnostic, note: &str, source: &str) -> bool {
    let role = error.message.split('`').nth(1).unwrap();
    let waits = |found: &&(_, String)| found.1.ends_with("waits for this first");
    let awaited = error.secondary.iter().find(waits).unwrap().0;
    let awaited = &source[awaited.range()];
    let run = note.split("  2. ").nth(1).unwrap().replace("\n     ", " ");
    let steps: Vec<(&str, &str, &str)> = run
        .split("; ")
        .map(|step| {
            let Some((message, roles)) = step.split_once(" from ") else { return ("", "", "") };
            let (from, to) = roles.split_once(" to ").unwrap();
            (message, from.trim(), to.trim())
        })
        .collect();
    let (&(_, sender, receiver), before) = steps.split_last().unwrap();
    // A called protocol names the roles differently.
    let is_awaited = |(label, _, to): &(&str, &str, &str)| {
        *to == role && awaited.starts_with(label.split('(').next().unwrap())
    };
    receiver == role
        && (0..before.len()).any(|at| {
            let mut blocked = BTreeSet::from([role]);
            is_awaited(&before[at])
                && before[at + 1..].iter().all(|&(_, from, to)| {
                    let waits = blocked.contains(from);
                    if waits {
                        blocked.insert(to);
                    }
                    // A block is not looked into. Only the first message from the sender counts.
                    !from.is_empty() && (waits || (from, to) != (sender, role))
                })
                && !blocked.contains(sender)
        })
}

/// True if each message in the run is received after those that were sent before it.
fn happens(note: &str) -> bool {
    let mut queues: BTreeMap<(&str, &str), VecDeque<&str>> = BTreeMap::new();
    note.lines().skip(1).all(|line| {
        let (role, action) = line.trim().split_once(": ").unwrap();
        match action.split_once('!') {
            Some((to, message)) => {
                queues.entry((role, to)).or_default().push_back(message);
                true
            }
            None => {
                let (from, message) = action.split_once('?').unwrap();
                queues.entry((from, role)).or_default().pop_front() == Some(message)
            }
        }
    })
}
