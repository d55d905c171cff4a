//! A run as a sequence chart.
//!
//! Each role is a lifeline in its own column, each step a line. A send is an arrow between
//! lifelines with the message on it; a receive is a dot on its receiver's lifeline with the message
//! to its right. An arrow ends where the message waits in its queue, not where it is taken.

use litemap::LiteMap;

use super::run::Queue;
use super::{Run, Step};
use crate::machine::{Direction, Message, Role};

const WIDTH: usize = 80;
/// The columns of the step's number, before the first lifeline.
const MARGIN: usize = 6;
/// With more roles, a column is too narrow for a message.
const MOST_ROLES: usize = 7;
const WIDEST: usize = 24;

impl Run {
    /// The run as a sequence chart of at most 80 columns, as drawn at [`Run`].
    ///
    /// Roles that take no part are left out. More than seven roles are listed rather than drawn.
    /// Long names and labels are cut with `…`, and stay different.
    pub fn chart(&self) -> String {
        let roles = participants(self);
        let mut lines = match roles.len() {
            0..=MOST_ROLES => lifelines(self, &roles),
            _ => list(self),
        };
        lines.extend(self.waits.iter().map(|wait| format!("  {wait}")));
        for Queue { from, to, messages } in &self.queues {
            let messages: Vec<String> = messages.iter().map(Message::to_string).collect();
            let messages = messages.join(", ");
            lines.push(format!("  in the queue from {from} to {to}: {messages}"));
        }
        lines.push(format!("  {}", self.failure));
        let cut = |line: &String| cut(line, WIDTH).trim_end().to_owned() + "\n";
        lines.iter().map(cut).collect()
    }
}

/// The roles that take part in the run, in the order of the system.
fn participants(run: &Run) -> Vec<&Role> {
    let takes_part = |role: &Role| {
        run.steps.iter().any(|step| step.role == *role || step.action.peer == *role)
            || run.waits.iter().any(|wait| wait.role == *role)
            || run.queues.iter().any(|queue| queue.from == *role || queue.to == *role)
    };
    run.states.iter().map(|(role, _)| role).filter(|role| takes_part(role)).collect()
}

fn lifelines(run: &Run, roles: &[&Role]) -> Vec<String> {
    let gap = ((WIDTH - MARGIN) / roles.len().max(1)).min(WIDEST);
    let column = |role: &Role| {
        let index = roles.iter().position(|&other| other == role);
        MARGIN - 1 + gap * index.unwrap_or(0)
    };

    let messages = |direction| {
        let steps = run.steps.iter().filter(move |step| step.action.direction == direction);
        steps.map(|step| step.action.message.to_string())
    };
    let sent = shortened(messages(Direction::Send), gap.saturating_sub(4).max(1));
    let received = shortened(messages(Direction::Receive), gap - 3);
    let names = shortened(roles.iter().map(|role| role.to_string()), gap - 1);
    let (mut head, mut bare) = ([' '; WIDTH], [' '; WIDTH]);
    for role in roles {
        write(&mut head, column(role), &names[&role.to_string()]);
        write(&mut bare, column(role), "│");
    }

    let mut lines = vec![head];
    for (index, step) in run.steps.iter().enumerate() {
        let mut line = bare;
        let mut write = |position, text: &str| write(&mut line, position, text);
        write(0, &cut(&format!("{:>3}", index + 1), MARGIN - 2));
        let (own, peer) = (column(&step.role), column(&step.action.peer));
        let message = step.action.message.to_string();
        match step.action.direction {
            Direction::Receive => {
                write(own, "●");
                write(own + 2, &received[&message]);
            }
            Direction::Send => {
                let (left, right) = (own.min(peer), own.max(peer));
                for position in left + 1..right {
                    write(position, if bare.get(position) == Some(&'│') { "┼" } else { "─" });
                }
                let (start, end, tip) = match own < peer {
                    true => ("├", right - 1, "▷"),
                    false => ("┤", left + 1, "◁"),
                };
                write(own, start);
                write(end, tip);
                // The message stands next to its sender, so that it never hides a crossing.
                let near = if own < peer { own + 1 } else { own + 1 - gap };
                let message = &sent[&message];
                let spare = (gap - 1).saturating_sub(message.chars().count());
                write(near + spare / 2, message);
            }
        }
        lines.push(line);
    }
    if !roles.is_empty() {
        lines.push(bare);
    }
    lines.into_iter().map(String::from_iter).collect()
}

fn list(run: &Run) -> Vec<String> {
    let line = |(index, step): (usize, &Step)| {
        let Step { role, action, .. } = step;
        let number = index + 1;
        match action.direction {
            Direction::Send => format!("{number:>3}  {role} ▷ {}  {}", action.peer, action.message),
            Direction::Receive => {
                format!("{number:>3}  {role} ● {}  from {}", action.message, action.peer)
            }
        }
    };
    run.steps.iter().enumerate().map(line).collect()
}

/// Writes text at a position; text beyond the width is lost.
fn write(line: &mut [char; WIDTH], position: usize, text: &str) {
    for (cell, c) in line.iter_mut().skip(position).zip(text.chars()) {
        *cell = if c.is_control() { ' ' } else { c };
    }
}

/// A short form of each text. Texts that would be cut to equal ones lose their common beginning:
/// `…RevenueN…` and `…ExpenseN…`, or `B…Request` and `S…Request`.
fn shortened(texts: impl Iterator<Item = String>, width: usize) -> LiteMap<String, String> {
    /// In each round, texts that are still equal lose a longer beginning.
    const ROUNDS: usize = 8;
    let shown = |text: &str, (head, start): (usize, usize)| {
        let head = text.chars().take(head).chain((start > 0).then_some('…'));
        cut(&head.chain(text.chars().skip(start)).collect::<String>(), width)
    };
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts.dedup();
    let mut starts = vec![(0, 0); texts.len()];
    for _ in 0..ROUNDS {
        let cut = texts.iter().zip(&starts).map(|(text, &start)| shown(text, start));
        let cut: Vec<String> = cut.collect();
        for (at, text) in texts.iter().enumerate() {
            // Their order is alphabetical, so the first and the last have the least in common.
            let mut equal = texts.iter().zip(&cut).filter(|of| *of.1 == cut[at]).map(|of| of.0);
            let (Some(first), Some(last)) = (equal.next(), equal.next_back()) else { continue };
            let common = first.chars().zip(last.chars()).take_while(|(a, b)| a == b).count();
            let letters: Vec<char> = text.chars().collect();
            let begins = |&at: &usize| {
                letters.get(at).is_some_and(|it| it.is_uppercase()) || letters[at - 1] == '_'
            };
            // A word stays whole, unless the texts would stay equal.
            let (head, start) = starts[at];
            let word = (start + 1..=common).rev().find(begins).unwrap_or(common);
            // A text may be the beginning of another, or have another beginning.
            let tail = (head, word.min(letters.len().saturating_sub(1)));
            starts[at] = if common < start { (common + 1, start) } else { tail };
        }
    }
    let mut short = LiteMap::new();
    texts.iter().zip(starts).for_each(|(it, at)| _ = short.insert(it.clone(), shown(it, at)));
    short
}

/// At most `width` characters; the last one is `…` if some were cut.
fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn what_is_cut_can_be_told_apart() {
        for (texts, width, expected) in [
            (&["ping", "pong(String)"][..], 10, &["ping", "pong(Stri…"][..]),
            // A report among five roles.
            (
                &[
                    "StandardExpenseNotification(String)",
                    "StandardRevenueApproval(String)",
                    "StandardRevenueNotification(String)",
                    "StandardSpecialistReview(String)",
                ],
                10,
                &["StandardE…", "…Approval…", "…Notifica…", "StandardS…"],
            ),
            // IMAP's states, and an FTP reply.
            (
                &["authenticated_login", "authenticated_logout", "authenticated_select"],
                8,
                &["…login", "…logout", "…select"],
            ),
            (&["reply_pending", "reply_pending_more"], 8, &["…pending", "…pendin…"]),
            (&["aaaaaaaaaaaab", "aaaaaaaaaaaac"], 4, &["…b", "…c"]),
        ] {
            let short = shortened(texts.iter().map(|text| (*text).to_owned()), width);
            assert_eq!(short.values().collect::<Vec<_>>(), expected);
        }
    }
}
