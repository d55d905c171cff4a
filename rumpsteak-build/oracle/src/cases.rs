//! One table of cases with known verdicts, for every engine.

use crate::FaultKind;

/// What holds between two machines by the definition of asynchronous subtyping, whatever an algorithm finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first may replace the second among any peers.
    Subtype,
    /// It is a subtype, but no finite set of bounded prefixes shows it, so that a bounded search may stop
    /// undecided.
    Unbounded,
    /// It is none. Some peers of the second go wrong with the first, not necessarily those of the case.
    NotSubtype,
}

/// What the optimised machine does among the peers of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing goes wrong.
    Safe,
    /// This goes wrong first.
    Fault(FaultKind),
    /// Nothing goes wrong, but queues grow without bound, so that exploring never ends.
    Unending,
}

/// A role that was rewritten, and the peers that it runs with.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// Whose machine was rewritten.
    pub role: &'static str,
    /// The machine as rewritten, as [`local`](crate::local) reads it.
    pub sub: &'static str,
    /// The machine as the protocol has it.
    pub sup: &'static str,
    /// The other roles, which form a safe system with `sup`.
    pub peers: &'static [(&'static str, &'static str)],
    /// Whether `sub` is a subtype of `sup`.
    pub relation: Relation,
    /// With how many visits of a pair of states the paper's algorithm shows it; `None` if with no number.
    pub visits: Option<usize>,
    /// What `sub` does among `peers`.
    pub outcome: Outcome,
}

use FaultKind::{Abandoned, Deadlock, Orphan, Starvation, UnspecifiedReception};
use Outcome::{Fault, Safe, Unending};
use Relation::{NotSubtype, Subtype, Unbounded};

const KERNEL: &str = "rec X . s!ready . s?value(i32) . t?ready . t!value(i32) . X";
const BUFFERS: &[(&str, &str)] = &[
    ("s", "rec X . k?ready . k!value(i32) . X"),
    ("t", "rec X . k!ready . k?value(i32) . X"),
];
const SOURCE: &str = "rec X . t?ready . t!{value.X, stop.end}";
const SINK: &[(&str, &str)] = &[("t", "rec X . s!ready . s?{value.X, stop.end}")];

/// The cases.
pub const CASES: &[Case] = &[
    Case {
        name: "nothing changed",
        role: "k",
        sub: KERNEL,
        sup: KERNEL,
        peers: BUFFERS,
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "double buffering: one more ready ahead (PPoPP'22, Fig. 4b)",
        role: "k",
        sub: "s!ready . rec X . s!ready . s?value(i32) . t?ready . t!value(i32) . X",
        sup: KERNEL,
        peers: BUFFERS,
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "four buffers",
        role: "k",
        sub: "s!ready . s!ready . s!ready . rec X . s!ready . s?value(i32) . t?ready . t!value(i32) . X",
        sup: KERNEL,
        peers: BUFFERS,
        relation: Subtype,
        visits: Some(3),
        outcome: Safe,
    },
    Case {
        name: "double buffering: the kernel waits for a value that it did not ask for",
        role: "k",
        sub: "rec X . s?value(i32) . s!ready . t?ready . t!value(i32) . X",
        sup: KERNEL,
        peers: BUFFERS,
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Deadlock),
    },
    Case {
        name: "double buffering: the kernel waits for the sink first, which asks by itself",
        role: "k",
        sub: "rec X . t?ready . s!ready . s?value(i32) . t!value(i32) . X",
        sup: KERNEL,
        peers: BUFFERS,
        // A receive may not overtake a send: another sink might ask only once the source was asked.
        relation: NotSubtype,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "double buffering: the kernel never takes the sink's ready",
        role: "k",
        sub: "rec X . s!ready . s?value(i32) . t!value(i32) . X",
        sup: KERNEL,
        peers: BUFFERS,
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Abandoned),
    },
    Case {
        name: "double buffering: two values for one ready",
        role: "k",
        sub: "rec X . s!ready . s?value(i32) . t?ready . t!value(i32) . t!value(i32) . X",
        sup: KERNEL,
        peers: BUFFERS,
        // Each value comes after finitely many other actions, so nothing is forgotten; but they run ahead without end.
        relation: Unbounded,
        visits: None,
        // The sink takes what comes: the queue of values grows for ever.
        outcome: Unending,
    },
    Case {
        name: "streaming: two values ahead (PPoPP'22, section 4.1)",
        role: "s",
        sub: "t!value . t!value . rec X . t?ready . t!{value.X, stop.t?ready.t?ready.end}",
        sup: SOURCE,
        peers: SINK,
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "streaming: a value ahead, and the sink's last ready is left",
        role: "s",
        sub: "t!value . rec X . t?ready . t!{value.X, stop.end}",
        sup: SOURCE,
        peers: SINK,
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "streaming: the source never asks whether the sink is ready",
        role: "s",
        sub: "rec X . t!{value.X, stop.end}",
        sup: SOURCE,
        peers: SINK,
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "streaming: the source never stops",
        role: "s",
        sub: "rec X . t?ready . t!value . X",
        sup: SOURCE,
        peers: SINK,
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "streaming: the source sends without end, and takes what is due at the end",
        role: "s",
        sub: "rec X . t!{value.X, stop.rec Y . t?{ready.Y, done.end}}",
        sup: "rec X . t!{value.t?ready.X, stop.t?done.end}",
        peers: &[("t", "rec X . s?{value.s!ready.X, stop.s!done.end}")],
        // Should it never stop, each ready waits for ever; act(W) differs.
        relation: NotSubtype,
        visits: None,
        outcome: Unending,
    },
    Case {
        name: "ring with choice: choose before receiving (PPoPP'22, App. B.4)",
        role: "b",
        sub: "rec X . c!{add.a?add.X, sub.a?add.X}",
        sup: "rec X . a?add . c!{add.X, sub.X}",
        peers: &[
            ("a", "rec X . b!add . c?{add.X, sub.X}"),
            ("c", "rec X . b?{add.a!add.X, sub.a!sub.X}"),
        ],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "ring: everybody but the first waits for the first, which waits as well",
        role: "a",
        sub: "rec X . c?{add.b!add.X, sub.b!add.X}",
        sup: "rec X . b!add . c?{add.X, sub.X}",
        peers: &[
            ("b", "rec X . a?add . c!{add.X, sub.X}"),
            ("c", "rec X . b?{add.a!add.X, sub.a!sub.X}"),
        ],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Deadlock),
    },
    Case {
        name: "alternating bit: the receiver acknowledges what it gets (PPoPP'22, App. B.4)",
        role: "r",
        sub: "rec X . s?{d0.s!a0.X, d1.s!a1.X}",
        sup: "rec X . s?d0 . s!{a0.rec Y . s?d1 . s!{a0.Y, a1.X}, a1.X}",
        peers: &[(
            "s",
            "rec X . r!d0 . r?{a0.rec Y . r!d1 . r?{a0.Y, a1.X}, a1.X}",
        )],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "alternating bit: the receiver acknowledges the other bit for ever",
        role: "r",
        sub: "rec X . s?{d0.s!a1.X, d1.s!a0.X}",
        sup: "rec X . s?d0 . s!{a0.rec Y . s?d1 . s!{a0.Y, a1.X}, a1.X}",
        peers: &[(
            "s",
            "rec X . r!d0 . r?{a0.rec Y . r!d1 . r?{a0.Y, a1.X}, a1.X}",
        )],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "elevator: the door closes without looking whether it is open",
        role: "e",
        sub: "rec X . u?{open.d!open.d?opened.X, close.d!close.d?{closed.X, opened.d?closed.X}}",
        sup: "rec X . u?{open.d!open.d?opened.X, close.d!close.d?closed.X}",
        peers: &[
            ("u", "rec X . e!{open.X, close.X}"),
            ("d", "rec X . e?{open.e!opened.X, close.e!closed.X}"),
        ],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "elevator: the next order is taken before the door has answered",
        role: "e",
        sub: "u?{open.d!open.rec X . u?{open.d!open.d?done.X, close.d!close.d?done.X}, \
              close.d!close.rec Y . u?{open.d!open.d?done.Y, close.d!close.d?done.Y}}",
        sup: "rec X . u?{open.d!open.d?done.X, close.d!close.d?done.X}",
        peers: &[
            ("u", "rec X . e!{open.X, close.X}"),
            ("d", "rec X . e?{open.e!done.X, close.e!done.X}"),
        ],
        // The paper's rule `ii` picks which order the subtype reads before the supertype's order is known, so it
        // finds no derivation at any bound.
        relation: Subtype,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "reports without end, whose answers are read after the last",
        role: "p",
        sub: "rec X . h!{data.X, stop.rec Y . h?{ok.Y, ko.Y, bye.end}}",
        sup: "rec X . h!{data.h?{ok.X, ko.X}, stop.h?bye.end}",
        peers: &[("h", "rec X . p?{data.p!{ok.X, ko.X}, stop.p!bye.end}")],
        // As above: the last report need not come.
        relation: NotSubtype,
        visits: None,
        outcome: Unending,
    },
    Case {
        name: "one report more in each lap than is asked for",
        role: "p",
        sub: "rec X . h?{more.h!data.h!data.X, stop.rec Y . h!bye.end}",
        sup: "rec X . h?{more.h!data.X, stop.h!bye.end}",
        peers: &[("h", "rec X . p!{more.p?data.X, stop.p?bye.end}")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "starvation: the chooser never stops, and a third role waits for the end",
        role: "a",
        sub: "rec X . b!go . X",
        sup: "rec X . b!{go.X, stop.end}",
        peers: &[
            ("b", "rec X . a?{go.X, stop.c!bye.end}"),
            ("c", "b?bye.end"),
        ],
        relation: Subtype,
        visits: Some(1),
        outcome: Fault(Starvation),
    },
    Case {
        name: "starvation: a message waits for the choice that is never made",
        role: "a",
        sub: "rec X . b!go . X",
        sup: "rec X . b!{go.X, stop.end}",
        peers: &[
            ("b", "rec X . a?{go.X, stop.c?bye.end}"),
            ("c", "b!bye.end"),
        ],
        relation: Subtype,
        visits: Some(1),
        outcome: Fault(Abandoned),
    },
    Case {
        name: "infinitely many sends to one peer are overtaken by one to another",
        role: "a",
        sub: "rec X . b!x . c!t . X",
        sup: "rec X . b!{x.X, y.c!t.X}",
        peers: &[("b", "rec X . a?{x.X, y.X}"), ("c", "rec X . a?t . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "a receive is forgotten in every lap",
        role: "a",
        sub: "rec X . b!x . X",
        sup: "rec X . c?y . b!x . X",
        peers: &[("b", "rec X . a?x . X"), ("c", "rec X . a!y . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Abandoned),
    },
    Case {
        name: "a receive before a loop is forgotten",
        role: "a",
        sub: "rec X . c?x . X",
        sup: "b?y . rec X . c?x . X",
        peers: &[("b", "a!y.end"), ("c", "rec X . a!x . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Abandoned),
    },
    Case {
        name: "a receive before a loop is put off for ever by one of two loops",
        role: "a",
        sub: "rec X . c?{x.X, z.b?y.end}",
        sup: "b?y . rec X . c?{x.X, z.end}",
        peers: &[("b", "a!y.end"), ("c", "rec X . a!{x.X, z.end}")],
        // While x comes, y waits; it is received only if c stops.
        relation: NotSubtype,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "a send before a loop is forgotten",
        role: "a",
        sub: "rec X . c?x . X",
        sup: "b!y . rec X . c?x . X",
        peers: &[("b", "a?y.end"), ("c", "rec X . a!x . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Starvation),
    },
    Case {
        name: "a finite receive is forgotten",
        role: "a",
        sub: "b!x.end",
        sup: "b?y . b!x.end",
        peers: &[("b", "a!y . a?x.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "two sends to one peer change places",
        role: "a",
        sub: "b!y . b!x.end",
        sup: "b!x . b!y.end",
        peers: &[("b", "a?x . a?y.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "two sends to one peer change places across laps",
        role: "a",
        sub: "b!y . rec X . b!x . b!y . X",
        sup: "rec X . b!x . b!y . X",
        peers: &[("b", "rec X . a?x . a?y . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "two sends to two peers change places",
        role: "a",
        sub: "rec X . c!y . b!x . X",
        sup: "rec X . b!x . c!y . X",
        peers: &[("b", "rec X . a?x . X"), ("c", "rec X . a?y . X")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "two receives from one peer change places",
        role: "a",
        sub: "b?y . b?x.end",
        sup: "b?x . b?y.end",
        peers: &[("b", "a!x . a!y.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "two receives from two peers change places",
        role: "a",
        sub: "c?y . b?x.end",
        sup: "b?x . c?y.end",
        peers: &[("b", "a!x.end"), ("c", "a!y.end")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "a receive goes before a send (PPoPP'22, Example 2, T'_P)",
        role: "p",
        sub: "q?y . q!x.end",
        sup: "q!x . q?y.end",
        peers: &[("q", "p?x . p!y.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Deadlock),
    },
    Case {
        name: "a send goes before a receive (PPoPP'22, Example 2, T'_Q)",
        role: "q",
        sub: "p!y . p?x.end",
        sup: "p?x . p!y.end",
        peers: &[("p", "q!x . q?y.end")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "a receive goes before a send that its sender waits for through a third role",
        role: "a",
        sub: "b?y . c!x.end",
        sup: "c!x . b?y.end",
        peers: &[("b", "c?go . a!y.end"), ("c", "a?x . b!go.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Deadlock),
    },
    Case {
        name: "a receive goes before a send that has nothing to do with it",
        role: "a",
        sub: "b?y . c!x.end",
        sup: "c!x . b?y.end",
        peers: &[("b", "a!y.end"), ("c", "a?x.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "a superfluous send in every lap",
        role: "a",
        sub: "rec X . b!x . c!y . X",
        sup: "rec X . b!x . X",
        peers: &[("b", "rec X . a?x . X"), ("c", "end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "a send that no lap of the protocol has goes before an infinite loop",
        role: "a",
        sub: "b!x . rec X . c?y . X",
        sup: "rec X . c?y . X",
        peers: &[("b", "end"), ("c", "rec X . a!y . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "more to choose from than the protocol has",
        role: "a",
        sub: "b!{x.end, y.end}",
        sup: "b!x.end",
        peers: &[("b", "a?x.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "less to choose from",
        role: "a",
        sub: "b!x.end",
        sup: "b!{x.end, y.end}",
        peers: &[("b", "a?{x.end, y.end}")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "fewer messages understood",
        role: "a",
        sub: "b?x.end",
        sup: "b?{x.end, y.end}",
        peers: &[("b", "a!{x.end, y.end}")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "more messages understood",
        role: "a",
        sub: "b?{x.end, y.rec X . b!z . X}",
        sup: "b?x.end",
        peers: &[("b", "a!x.end")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "the same label with another payload",
        role: "a",
        sub: "b!x(u8).end",
        sup: "b!x(i32).end",
        peers: &[("b", "a?x(i32).end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "a send goes before a choice, all of whose branches have it",
        role: "a",
        sub: "c!x . b?{l.end, r.end}",
        sup: "b?{l.c!x.end, r.c!x.end}",
        peers: &[("b", "a!{l.end, r.end}"), ("c", "a?x.end")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "a send goes before a choice, one of whose branches lacks it",
        role: "a",
        sub: "c!x . b?{l.end, r.end}",
        sup: "b?{l.c!x.end, r.end}",
        peers: &[
            ("b", "a!{l.c!l.end, r.c!r.end}"),
            ("c", "b?{l.a?x.end, r.end}"),
        ],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "a send goes before a choice that decides its label",
        role: "a",
        sub: "c!x . b?{l.end, r.end}",
        sup: "b?{l.c!x.end, r.c!y.end}",
        peers: &[
            ("b", "a!{l.c!l.end, r.c!r.end}"),
            ("c", "b?{l.a?x.end, r.a?y.end}"),
        ],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(UnspecifiedReception),
    },
    Case {
        name: "a choice goes before a receive",
        role: "a",
        sub: "c!{l.b?x.end, r.b?x.end}",
        sup: "b?x . c!{l.end, r.end}",
        peers: &[("b", "a!x.end"), ("c", "a?{l.end, r.end}")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "a receive goes before a choice, one of whose branches lacks it",
        role: "a",
        sub: "c?y . b?{l.end, r.end}",
        sup: "b?{l.c?y.end, r.end}",
        peers: &[
            ("b", "a!{l.c!l.end, r.c!r.end}"),
            ("c", "b?{l.a!y.end, r.end}"),
        ],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Deadlock),
    },
    Case {
        name: "the send of every lap goes before the question whether there is a lap",
        role: "a",
        sub: "rec X . c!x . b?{go.X, stop.end}",
        sup: "rec X . b?{go.c!x.X, stop.c!x.end}",
        peers: &[
            ("b", "rec X . a!{go.c!go.X, stop.c!stop.end}"),
            ("c", "rec X . b?{go.a?x.X, stop.a?x.end}"),
        ],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "two loops interleaved otherwise",
        role: "a",
        sub: "rec X . b!x . b!x . c!y . c!y . X",
        sup: "rec X . b!x . c!y . X",
        peers: &[("b", "rec X . a?x . X"), ("c", "rec X . a?y . X")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "laps of three against laps of two",
        role: "a",
        sub: "rec X . b!x . b!x . b!x . X",
        sup: "rec X . b!x . b!x . X",
        peers: &[("b", "rec X . a?x . X")],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "one receive of three goes last",
        role: "a",
        sub: "rec X . c?y . d?z . b?x . X",
        sup: "rec X . b?x . c?y . d?z . X",
        peers: &[
            ("b", "rec X . a!x . X"),
            ("c", "rec X . a!y . X"),
            ("d", "rec X . a!z . X"),
        ],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "one send to a peer runs ahead of the other without end",
        role: "a",
        sub: "rec X . b!x . b!x . c!y . X",
        sup: "rec X . b!x . c!y . X",
        peers: &[("b", "rec X . a?x . X"), ("c", "rec X . a?y . X")],
        // Each action comes after finitely many others, so the relation holds: it forgets nothing for ever. But
        // what is pending grows without bound.
        relation: Unbounded,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "one receive runs ahead of the other without end",
        role: "a",
        sub: "rec X . b?x . b?x . c?y . X",
        sup: "rec X . b?x . c?y . X",
        peers: &[("b", "rec X . a!x . X"), ("c", "rec X . a!y . X")],
        relation: Unbounded,
        visits: None,
        outcome: Safe,
    },
    Case {
        name: "nested choice, n = 2 (PPoPP'22, section 4.2)",
        role: "a",
        sub: "b!{m.b?{r.b!{m.b?{r.end, s.end, u.end}, p.b?{r.end, s.end}}, \
              s.b!{m.b?{r.end, s.end, u.end}, p.b?{r.end, s.end}}, \
              u.b!{m.b?{r.end, s.end, u.end}, p.b?{r.end, s.end}}}, \
              p.b?{r.b!{m.b?{r.end, s.end, u.end}, p.b?{r.end, s.end}}, \
              s.b!{m.b?{r.end, s.end, u.end}, p.b?{r.end, s.end}}}}",
        sup: "b?{r.b!{m.b?{r.b!{m.end, p.end, q.end}, s.b!{m.end, p.end}}, \
              p.b?{r.b!{m.end, p.end, q.end}, s.b!{m.end, p.end}}, \
              q.b?{r.b!{m.end, p.end, q.end}, s.b!{m.end, p.end}}}, \
              s.b!{m.b?{r.b!{m.end, p.end, q.end}, s.b!{m.end, p.end}}, \
              p.b?{r.b!{m.end, p.end, q.end}, s.b!{m.end, p.end}}}}",
        peers: &[(
            "b",
            "a!{r.a?{m.a!{r.a?{m.end, p.end, q.end}, s.a?{m.end, p.end}}, \
             p.a!{r.a?{m.end, p.end, q.end}, s.a?{m.end, p.end}}, \
             q.a!{r.a?{m.end, p.end, q.end}, s.a?{m.end, p.end}}}, \
             s.a?{m.a!{r.a?{m.end, p.end, q.end}, s.a?{m.end, p.end}}, \
             p.a!{r.a?{m.end, p.end, q.end}, s.a?{m.end, p.end}}}}",
        )],
        relation: Subtype,
        visits: Some(1),
        outcome: Safe,
    },
    Case {
        name: "an endless loop replaces the end",
        role: "a",
        sub: "rec X . b!x . X",
        sup: "b!x.end",
        peers: &[("b", "a?x.end")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Orphan),
    },
    Case {
        name: "the end replaces a lap",
        role: "a",
        sub: "b!x.end",
        sup: "rec X . b!x . X",
        peers: &[("b", "rec X . a?x . X")],
        relation: NotSubtype,
        visits: None,
        outcome: Fault(Deadlock),
    },
];
