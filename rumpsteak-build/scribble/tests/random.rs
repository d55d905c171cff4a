//! Random protocols: accepted ones are safe, and all that merging accepts are accepted.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod replay;

use std::collections::BTreeMap;
use std::fmt::Write;

use fastrand::Rng;
use rumpsteak_fsm::system::{System, explore};
use rumpsteak_fsm::{Fsm, Limits as Search, Verdict, dot};
use rumpsteak_oracle::seeds;
use rumpsteak_scribble::{Diagnostic, Limits, Modules};

fn pair(random: &mut Rng, roles: usize) -> (usize, usize) {
    let from = random.usize(..roles);
    (from, (from + 1 + random.usize(..roles - 1)) % roles)
}

fn role(number: usize) -> char {
    char::from(b'A' + number as u8)
}

/// The machines of the only protocol that is not auxiliary, or the errors.
fn project(source: &str) -> Result<Vec<Fsm>, Vec<Diagnostic>> {
    let (modules, errors) = Modules::load(source, |_| None);
    assert_eq!(errors, [], "{source}");
    // Calls with permuted roles unfold to protocols of any size; small ones are enough.
    let checked = modules.check(&Limits {
        global_states: 2_000,
        local_states: 2_000,
        projection_steps: 100_000,
        ..Limits::default()
    });
    if checked.diagnostics.iter().any(|found| found.is_error) {
        return Err(checked.diagnostics);
    }
    let protocol = &checked.protocols[0];
    let projections = protocol.roles().iter().map(|role| protocol.project(role));
    projections.map(|projection| projection.map(|found| found.fsm)).collect()
}

fn assert_safe(source: &str, machines: Vec<Fsm>) {
    let text = machines.iter().map(dot::print).collect::<String>();
    let search = Search::default().configurations(2_000).queue(8);
    let found = explore(&System::new(machines).unwrap(), &search);
    let is_unsafe = matches!(found.verdict, Verdict::Unsafe(_));
    assert!(!is_unsafe, "{source}\n{text}\n{:?}", found.verdict);
    assert_eq!(found.starvation, None, "{source}\n{text}");
}

/// Everything that the grammar allows: sequencing, nested choices and recursions, calls with
/// permuted roles, empty branches, few labels. Most protocols are refused.
struct Anything<'r> {
    random: &'r mut Rng,
    roles: usize,
    text: String,
    loops: Vec<usize>,
    names: usize,
}

impl Anything<'_> {
    fn message(&mut self, from: usize, to: usize) {
        let label = self.random.usize(..3);
        let payload = ["", "", "Int"][self.random.usize(..3)];
        write!(self.text, "m{label}({payload}) from {} to {}; ", role(from), role(to)).unwrap();
    }

    /// Returns true if something can follow.
    fn block(&mut self, size: usize, chooser: Option<usize>) -> bool {
        let mut chooser = chooser;
        for _ in 0..self.random.usize(..size + 1).max(usize::from(chooser.is_some())) {
            let (from, to) = pair(self.random, self.roles);
            let from = chooser.take().unwrap_or(from);
            match self.random.usize(..10) {
                _ if from == to => self.message(from, (to + 1) % self.roles),
                0..5 => self.message(from, to),
                5 | 6 if size > 1 => {
                    write!(self.text, "choice at {} {{ ", role(from)).unwrap();
                    let mut goes_on = false;
                    for branch in 0..2 + self.random.usize(..2) {
                        if branch > 0 {
                            self.text += "} or { ";
                        }
                        let empty = self.random.usize(..12) == 0;
                        goes_on |= empty || self.block(size / 2, Some(from));
                    }
                    self.text += "} ";
                    if !goes_on {
                        return false;
                    }
                }
                7 if size > 1 => {
                    let name = self.names;
                    self.names += 1;
                    write!(self.text, "rec X{name} {{ ").unwrap();
                    self.message(from, to);
                    self.loops.push(name);
                    let goes_on = self.block(size / 2, None);
                    self.loops.pop();
                    self.text += "} ";
                    if !goes_on {
                        return false;
                    }
                }
                8 if !self.loops.is_empty() => {
                    let name = self.loops[self.random.usize(..self.loops.len())];
                    write!(self.text, "continue X{name}; ").unwrap();
                    return false;
                }
                _ => {
                    let mut players: Vec<usize> = (0..self.roles).collect();
                    for at in (1..players.len()).rev() {
                        let other = self.random.usize(..at + 1);
                        players.swap(at, other);
                    }
                    let players: Vec<_> =
                        players.into_iter().map(|p| role(p).to_string()).collect();
                    write!(self.text, "do Q{}({}); ", self.random.usize(..2), players.join(", "))
                        .unwrap();
                }
            }
        }
        true
    }
}

fn anything(random: &mut Rng) -> String {
    let roles = 2 + random.usize(..4);
    let header: Vec<_> = (0..roles).map(|number| format!("role {}", role(number))).collect();
    let header = header.join(", ");
    let mut source = String::new();
    for heading in ["global protocol P", "aux global protocol Q0", "aux global protocol Q1"] {
        let mut anything =
            Anything { random, roles, text: String::new(), loops: Vec::new(), names: 0 };
        anything.block(4, None);
        let text = anything.text;
        writeln!(source, "{heading}({header}) {{ {text}}}").unwrap();
    }
    source
}

#[test]
fn what_is_accepted_is_safe() {
    let mut accepted = 0;
    let seeds = seeds(2_400);
    for seed in seeds.clone() {
        let source = anything(&mut Rng::with_seed(seed));
        match project(&source) {
            Ok(machines) => {
                accepted += 1;
                assert_safe(&source, machines);
            }
            Err(errors) => errors.iter().for_each(|e| replay::assert_possible(e, &source)),
        }
    }
    let tried = seeds.count();
    println!("{accepted} of {tried} accepted");
    assert!(accepted > tried / 32);
}

/// Global types of the papers: choices with one chooser and different labels, tail recursion.
enum Global {
    End,
    Continue(usize),
    Rec(usize, Box<Global>),
    /// Sender; then receiver, label and continuation of each branch.
    Choice(usize, Vec<(usize, usize, Global)>),
}

impl Global {
    fn random(random: &mut Rng, roles: usize, depth: usize, loops: usize) -> Self {
        match random.usize(..if depth == 0 { 2 } else { 8 }) {
            0 => Self::End,
            1 if loops > 0 => Self::Continue(random.usize(..loops)),
            1 => Self::End,
            2 if loops < 3 => {
                let body = Self::choice(random, roles, depth, loops + 1);
                Self::Rec(loops, Box::new(body))
            }
            _ => Self::choice(random, roles, depth, loops),
        }
    }

    fn choice(random: &mut Rng, roles: usize, depth: usize, loops: usize) -> Self {
        let (from, to) = pair(random, roles);
        let branches = 1 + random.usize(..3) / 2 + random.usize(..3) / 2;
        // Often each role is told by the same role in every branch, so that merging can succeed.
        let told = random.usize(..3) > 0;
        let branches = (0..branches)
            .map(|label| {
                let mut then = Self::random(random, roles, depth.saturating_sub(1), loops);
                if told {
                    for other in (0..roles).filter(|&other| other != from && other != to) {
                        then = Self::Choice(to, vec![(other, 10 + label, then)]);
                    }
                }
                (to, label, then)
            })
            .collect();
        Self::Choice(from, branches)
    }

    fn print(&self, text: &mut String) {
        match self {
            Self::End => {}
            Self::Continue(name) => write!(text, "continue X{name}; ").unwrap(),
            Self::Rec(name, body) => {
                write!(text, "rec X{name} {{ ").unwrap();
                body.print(text);
                *text += "} ";
            }
            Self::Choice(from, branches) => {
                let several = branches.len() > 1;
                for (position, (to, label, then)) in branches.iter().enumerate() {
                    if several && position == 0 {
                        write!(text, "choice at {} {{ ", role(*from)).unwrap();
                    } else if several {
                        *text += "} or { ";
                    }
                    write!(text, "l{label}() from {} to {}; ", role(*from), role(*to)).unwrap();
                    then.print(text);
                }
                if several {
                    *text += "} ";
                }
            }
        }
    }

    /// Projection with full merging (as in νScr and PPoPP'22), if it is defined.
    fn merge_project(&self, role: usize) -> Option<Local> {
        Some(match self {
            Self::End => Local::End,
            Self::Continue(name) => Local::Continue(*name),
            Self::Rec(name, body) => match body.merge_project(role)? {
                // The role has no action before the loop repeats.
                Local::Continue(inner) if inner == *name => Local::End,
                body if !body.has_free(*name) => body,
                body => Local::Rec(*name, Box::new(body)),
            },
            Self::Choice(from, branches) => {
                let mut merged: Option<Local> = None;
                for (to, label, then) in branches {
                    let then = then.merge_project(role)?;
                    let one = BTreeMap::from([(*label, then.clone())]);
                    let branch = if role == *from {
                        Local::Send(*to, one)
                    } else if role == *to {
                        Local::Receive(*from, one)
                    } else {
                        then
                    };
                    merged = Some(match (merged, branch) {
                        (None, branch) => branch,
                        // The chooser may do either.
                        (Some(Local::Send(peer, mut all)), Local::Send(_, one))
                            if role == *from =>
                        {
                            all.extend(one);
                            Local::Send(peer, all)
                        }
                        (Some(all), branch) => all.merge(&branch)?,
                    });
                }
                merged?
            }
        })
    }
}

#[derive(Clone, PartialEq)]
enum Local {
    End,
    Continue(usize),
    Rec(usize, Box<Local>),
    Send(usize, BTreeMap<usize, Local>),
    Receive(usize, BTreeMap<usize, Local>),
}

impl Local {
    fn has_free(&self, name: usize) -> bool {
        match self {
            Self::End => false,
            Self::Continue(other) => *other == name,
            Self::Rec(other, body) => *other != name && body.has_free(name),
            Self::Send(_, branches) | Self::Receive(_, branches) => {
                branches.values().any(|then| then.has_free(name))
            }
        }
    }

    fn merge(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (one, other) if one == other => Some(one.clone()),
            (Self::Receive(peer, one), Self::Receive(other_peer, other)) if peer == other_peer => {
                let mut all = one.clone();
                for (label, then) in other {
                    let merged = match one.get(label) {
                        Some(known) => known.merge(then)?,
                        None => then.clone(),
                    };
                    all.insert(*label, merged);
                }
                Some(Self::Receive(*peer, all))
            }
            (Self::Send(peer, one), Self::Send(other_peer, other))
                if peer == other_peer && one.keys().eq(other.keys()) =>
            {
                let merged = one
                    .iter()
                    .zip(other.values())
                    .map(|((label, one), other)| Some((*label, one.merge(other)?)));
                Some(Self::Send(*peer, merged.collect::<Option<_>>()?))
            }
            (Self::Rec(name, one), Self::Rec(other_name, other)) if name == other_name => {
                Some(Self::Rec(*name, Box::new(one.merge(other)?)))
            }
            _ => None,
        }
    }
}

#[test]
fn what_merging_accepts_is_accepted() {
    let (mut merging, mut accepted) = (0, 0);
    let seeds = seeds(1_200);
    for seed in seeds.clone() {
        let random = &mut Rng::with_seed(seed.wrapping_mul(3).wrapping_add(1 << 32));
        let roles = 2 + random.usize(..5);
        let global = Global::random(random, roles, 5, 0);
        let header: Vec<_> = (0..roles).map(|number| format!("role {}", role(number))).collect();
        let mut source = format!("global protocol P({}) {{ ", header.join(", "));
        global.print(&mut source);
        source += "}";
        let merged = (0..roles).all(|role| global.merge_project(role).is_some());
        let outcome = project(&source);
        merging += usize::from(merged);
        accepted += usize::from(outcome.is_ok());
        match outcome {
            Ok(machines) => assert_safe(&source, machines),
            Err(errors) => {
                assert!(!merged, "{source}\n{errors:?}");
                errors.iter().for_each(|error| replay::assert_possible(error, &source));
            }
        }
    }
    let tried = seeds.count();
    println!("{accepted} of {tried} accepted, merging accepts {merging}");
    assert!(merging > tried / 8);
    assert!(accepted > merging);
}
