//! What the tests share.

pub(crate) mod pairs;

use rumpsteak_fsm::Fsm;

/// Machines from lines `role: 0 s!ready 1, 1 t?value(i32) 0`; a role without transitions is
/// `role:`.
pub(crate) fn machines(lines: &str) -> Vec<Fsm> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(machine).collect()
}

/// One such line. State 0 is the initial one.
pub(crate) fn machine(line: &str) -> Fsm {
    let (role, transitions) = line.split_once(':').unwrap();
    // Commas inside payloads are followed by no state number, so the text is read word by word.
    let mut text = format!("digraph \"{}\" {{ 0;", role.trim());
    let mut rest = transitions.trim();
    while !rest.is_empty() {
        let (from, after) = rest.split_once(' ').unwrap();
        // The target is the first number that ends a transition.
        let (action, to, next) = after
            .match_indices(", ")
            .map(|(at, _)| at)
            .chain([after.len()])
            .find_map(|end| {
                let (action, to) = after[..end].rsplit_once(' ')?;
                to.parse::<u32>().ok()?;
                Some((action, to, end))
            })
            .unwrap();
        text.push_str(&format!("{from} -> {to} [label=\"{action}\"];"));
        rest = after[next..].trim_start_matches(',').trim();
    }
    text.push('}');
    rumpsteak_fsm::dot::parse(&text).unwrap().remove(0)
}
