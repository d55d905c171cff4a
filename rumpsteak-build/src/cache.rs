//! What the last run of the build script found out at some cost, kept in `OUT_DIR` for the next one.
//!
//! ```text
//! question (the whole of what the answer depends on) ─ asked before, by this very program? ─▶ the answer of then
//! ```
//!
//! # What it is trusted for
//!
//! No proof rests on it. Whether a session, or a set of them, is safe is found out in each run. Kept are
//!
//! * the text of generated code, which is verified like any other code ([`crate::codegen`]);
//! * the capacities of queues ([`crate::judge::capacities`]): a ring that is too short panics by name, or makes its sender wait;
//! * that no role waits for ever, which would be a warning ([`crate::judge::starvation`]).
//!
//! A question is the whole text of all that its answer depends on, and questions are compared byte for byte, so there is
//! nothing that can be stale or collide. What the program itself adds to an answer is covered by the first line: the version, and the
//! size and the time of the build script, which is linked anew whenever this crate changes. A file with another first
//! line, or with a byte changed, is not read.
//!
//! # Cost
//!
//! Linear in the size of the file, and of the questions: they come in the order of the last run, so that each is looked for
//! where it was. What is not asked in a run is not kept.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use rumpsteak_contract::VERSION;
use rumpsteak_contract::verdict::stamp;
use rumpsteak_fsm::{Direction, Fsm, Limits};

/// The path of the file below `OUT_DIR`, with `/`.
pub(crate) const PATH: &str = "rumpsteak/cache.txt";

/// Questions and answers.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The first line; nothing if there is no file to be written.
    head: String,
    /// The file of the last run.
    text: String,
    /// The places of the questions and answers in it.
    known: Vec<[Range<usize>; 2]>,
    /// Where the next question is likely to be found.
    next: Cell<usize>,
    /// What was asked in this run, as records.
    asked: RefCell<String>,
}

impl Cache {
    /// What the last run of this build script left.
    pub(crate) fn open(out_dir: &Path) -> Self {
        match head() {
            Some(head) => Self::of(
                head,
                std::fs::read_to_string(out_dir.join(PATH)).unwrap_or_default(),
            ),
            None => Self::default(),
        }
    }

    /// What the file with this text says to the program with this first line.
    fn of(head: String, text: String) -> Self {
        let known = parse(&text, &head).unwrap_or_default();
        Self {
            head,
            text,
            known,
            ..Self::default()
        }
    }

    /// The answer to a question: that of the last run, or else the one that `find` finds. What it does not find is not kept.
    pub(crate) fn answer(
        &self,
        question: &str,
        find: &mut dyn FnMut() -> Option<String>,
    ) -> Option<String> {
        let count = self.known.len();
        for step in 0..count {
            let at = (self.next.get() + step) % count;
            let [known, answer] = &self.known[at];
            if known.len() == question.len() && self.text[known.clone()] == *question {
                self.next.set(at + 1);
                let answer = self.text[answer.clone()].to_owned();
                self.keep(question, &answer);
                return Some(answer);
            }
        }
        let answer = find()?;
        self.keep(question, &answer);
        Some(answer)
    }

    fn keep(&self, question: &str, answer: &str) {
        let mut asked = self.asked.borrow_mut();
        // Writing to a string does not fail.
        let _ = writeln!(asked, "{} {}", question.len(), answer.len());
        asked.push_str(question);
        asked.push_str(answer);
    }

    /// The file for the next run, if it is to be another one.
    pub(crate) fn print(&self) -> Option<String> {
        let asked = self.asked.borrow();
        let old = self.known.last().map(|[_, last]| last.end);
        let is_old = old.is_some_and(|end| self.text[self.head.len()..end] == **asked);
        if self.head.is_empty() || is_old {
            return None;
        }
        let body = format!("{}{asked}", self.head);
        Some(format!("{body}end {}\n", stamp(&body)))
    }
}

/// The first line: it is that of no other program.
fn head() -> Option<String> {
    let program = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let time = program.modified().ok()?;
    let time = time.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    Some(format!(
        "rumpsteak-cache 1 {VERSION} {} {time}\n",
        program.len()
    ))
}

/// The places of the questions and answers; nothing unless the file is whole and has this first line.
fn parse(text: &str, head: &str) -> Option<Vec<[Range<usize>; 2]>> {
    let (body, end) = text.rsplit_once("end ")?;
    if !body.starts_with(head) || end != format!("{}\n", stamp(body)) {
        return None;
    }
    let mut known = Vec::new();
    let mut at = head.len();
    while at < body.len() {
        let (lengths, _) = body.get(at..)?.split_once('\n')?;
        let (question, answer) = lengths.split_once(' ')?;
        let start = at + lengths.len() + 1;
        let middle = start.checked_add(question.parse().ok()?)?;
        at = middle.checked_add(answer.parse().ok()?)?;
        body.get(start..middle)?;
        body.get(middle..at)?;
        known.push([start..middle, middle..at]);
    }
    Some(known)
}

/// The beginning of a question about machines: what is asked, within which limits, and the machines.
pub(crate) fn about<'a>(
    what: &str,
    limits: &Limits,
    machines: impl Iterator<Item = &'a Fsm>,
) -> String {
    let mut question = format!("{what} {limits:?}\n");
    for fsm in machines {
        machine(&mut question, fsm);
    }
    question
}

/// Appends a machine: equal texts, equal machines.
pub(crate) fn machine(question: &mut String, fsm: &Fsm) {
    text(question, fsm.role().as_str());
    number(question, fsm.len());
    number(question, fsm.initial().index());
    number(question, fsm.transition_count());
    for transition in fsm.transitions() {
        let (action, message) = (transition.action, &transition.action.message);
        question.push(match action.direction {
            Direction::Receive => '?',
            Direction::Send => '!',
        });
        number(question, transition.source.index());
        number(question, transition.target.index());
        text(question, action.peer.as_str());
        text(question, message.label.as_str());
        number(question, message.payload.len());
        for sort in &message.payload {
            text(question, sort.as_str());
        }
    }
    question.push('\n');
}

/// Appends a number, whatever follows. Small ones without `to_string`, which takes ten times as long where nothing is
/// optimised.
fn number(question: &mut String, number: usize) {
    if number < 100 {
        let (tens, ones) = ((number / 10) as u8, (number % 10) as u8);
        if tens > 0 {
            question.push((b'0' + tens) as char);
        }
        question.push((b'0' + ones) as char);
    } else {
        question.push_str(&number.to_string());
    }
    question.push(' ');
}

/// Appends a text, whatever is in it, with its length.
pub(crate) fn text(question: &mut String, text: &str) {
    number(question, text.len());
    question.push_str(text);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap in a test is an assertion")]
mod tests {
    use super::*;

    const HEAD: &str = "program 1\n";

    /// Asks in this order. Returns each answer with whether it was found anew, and the file for the next run.
    fn ask(head: &str, file: &str, questions: &[&str]) -> (Vec<(String, bool)>, Option<String>) {
        let cache = Cache::of(head.to_owned(), file.to_owned());
        let answer = |question: &&str| {
            let mut is_new = false;
            let answer = cache.answer(question, &mut || {
                is_new = true;
                Some(format!("{question}?\nend 0 1\n"))
            });
            (answer.unwrap(), is_new)
        };
        (questions.iter().map(answer).collect(), cache.print())
    }

    fn are_new(head: &str, file: &str, questions: &[&str]) -> Vec<bool> {
        let (answers, _) = ask(head, file, questions);
        for ((answer, _), question) in answers.iter().zip(questions) {
            assert_eq!(*answer, format!("{question}?\nend 0 1\n"));
        }
        answers.into_iter().map(|(_, is_new)| is_new).collect()
    }

    #[test]
    fn an_answer_is_found_once() {
        let file = ask(HEAD, "", &["a", "b", "é\n"]).1.unwrap();
        assert_eq!(are_new(HEAD, &file, &["a", "b", "é\n"]), [false; 3]);
        // In another order, some of them, others between them, twice.
        let other = ["é\n", "a", "ab", "", "a", "b"];
        assert_eq!(
            are_new(HEAD, &file, &other),
            [false, false, true, true, false, false]
        );
        // The same again leaves the file as it is; what was not asked is not kept.
        assert_eq!(ask(HEAD, &file, &["a", "b", "é\n"]).1, None);
        let file = ask(HEAD, &file, &["b"]).1.unwrap();
        assert_eq!(are_new(HEAD, &file, &["a", "b"]), [true, false]);
    }

    #[test]
    fn no_answer_is_not_kept() {
        let cache = Cache::of(HEAD.to_owned(), String::new());
        assert_eq!(cache.answer("a", &mut || None), None);
        let file = cache.print().unwrap();
        assert_eq!(are_new(HEAD, &file, &["a"]), [true]);
    }

    #[test]
    fn another_program_finds_anew() {
        let file = ask(HEAD, "", &["a"]).1.unwrap();
        assert_eq!(are_new("program 2\n", &file, &["a"]), [true]);
        assert_eq!(are_new("program 1\n1 1\n", &file, &["a"]), [true]);
        // Without a program, nothing is kept.
        assert_eq!(ask("", &file, &["a"]).1, None);
    }

    #[test]
    fn a_file_with_any_change_is_not_read() {
        let file = ask(
            HEAD,
            "",
            &["a", "bcd", "a longer question, of more than a word"],
        )
        .1
        .unwrap();
        assert_eq!(are_new(HEAD, &file, &["bcd"]), [false]);
        for at in 0..file.len() {
            let mut bytes = file.clone().into_bytes();
            for change in [1, 2, 16] {
                bytes[at] ^= change;
                let changed = String::from_utf8_lossy(&bytes);
                assert_eq!(are_new(HEAD, &changed, &["bcd"]), [true], "{changed}");
                bytes[at] ^= change;
            }
            assert_eq!(are_new(HEAD, &file[..at], &["bcd"]), [true]);
            assert_eq!(are_new(HEAD, &file[at + 1..], &["bcd"]), [true]);
        }
        assert_eq!(are_new(HEAD, &format!("{file}{file}"), &["bcd"]), [true]);
    }

    #[test]
    fn machines_of_one_text_are_equal() {
        let text = |machines: &str| {
            let machines = rumpsteak_fsm::text::parse(machines).unwrap();
            about("what", &Limits::default(), machines.iter())
        };
        let own = text("a: b!x<i32>; b?y; end");
        assert_eq!(own, text("a: b!x<i32>; b?y; end"));
        let others = [
            "c: b!x<i32>; b?y; end",
            "a: b!x<i32>; b!y; end",
            "a: b!x; b?y; end",
            "a: b!x<i32, i32>; b?y; end",
            "a: b!x<i32>; c?y; end",
            "a: b!x<i32>; b?y; b?y; end",
            "a: rec X . b!x<i32>; b?y; X",
        ];
        for other in others {
            assert_ne!(own, text(other), "{other}");
        }
        // Names may be anything.
        let joined = |texts: [&str; 2]| {
            let mut question = String::new();
            texts
                .iter()
                .for_each(|part| super::text(&mut question, part));
            question
        };
        assert_ne!(joined(["1 a", "b"]), joined(["1", "a1 b"]));
    }
}
