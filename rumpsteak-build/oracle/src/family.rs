//! Random protocols with a family of roles, and the same with each member written as a role.

use fastrand::Rng;

/// A random protocol among `m`, `q` and the family `w` of this size. In `indices` percent of its
/// steps a role asks some member (`one…`), which answers (`its…`); or in all of these steps, each
/// member sends to its neighbour in the ring `r`.
pub fn with_family(rng: &mut Rng, size: &str, indices: usize) -> String {
    let steps = 2 + rng.usize(..4);
    let (with_one, with_ring) = (rng.bool(), rng.usize(..3) == 0);
    let body = Generator { rng, indices, with_one, with_ring, loops: 0 }.steps(steps);
    let ring = if body.contains("to r;") { ", role r[w]" } else { "" };
    format!("global protocol P(role m, role q, role w[{size}]{ring}) {{\n{body}}}\n")
}

/// The protocol with so many single roles in the place of the family, which are named like it and
/// numbered. Each message is on a line of its own, but a question to some member and its answer are
/// on one, and so are both sides of a ring.
pub fn written_singly(text: &str, family: &str, members: usize) -> String {
    let names: Vec<String> = (0..members).map(|index| format!("{family}{index}")).collect();
    let [each, some] = ["each", "some"].map(|word| format!("{word} {family}"));
    let as_each = |word: &str, line: &str| -> Vec<String> {
        names.iter().map(|name| line.replace(word, name)).collect()
    };
    let line = |line: &str| {
        if let Some((before, after)) = line.split_once(&format!("role {family}[")) {
            let after = after.split_once(']').map_or("", |(_, after)| after);
            let after = after.replace(", role r[w]", "");
            return format!("{before}role {}{after}\n", names.join(", role "));
        }
        if let Some((label, _)) = line.split_once(&format!(" from {each} to r;")) {
            // A role does not talk to itself.
            let pairs = names.iter().zip(names.iter().cycle().skip(1)).filter(|(a, b)| a != b);
            let next = pairs.map(|(from, to)| format!("{label} from {from} to {to};"));
            let next: Vec<String> = next.collect();
            return match label.contains(['0', '1']) {
                true => beside("par", "and", &next),
                false => next.concat(),
            };
        }
        if line.contains(&format!("from {each}")) {
            return beside("par", "and", &as_each(&each, line));
        }
        if let Some((_, by)) = line.split_once(&format!("from {some} to ")) {
            let choice = format!("choice at {}", by.trim_end_matches(';'));
            return beside(&choice, "or", &as_each(&some, line));
        }
        line.replace(&each, &names.join(", ")) + "\n"
    };
    text.lines().map(line).collect()
}

fn beside(word: &str, and: &str, parts: &[String]) -> String {
    match parts {
        [] | [_] => parts.concat() + "\n",
        _ => format!("{word} {{ {} }}\n", parts.join(&format!(" }} {and} {{ "))),
    }
}

struct Generator<'a> {
    rng: &'a mut Rng,
    indices: usize,
    /// True if the family talks to `m` only, also in blocks.
    with_one: bool,
    with_ring: bool,
    loops: usize,
}

impl Generator<'_> {
    fn steps(&mut self, size: usize) -> String {
        let step = |left| match self.rng.usize(..100) {
            0..20 if left > 0 => self.choice(left),
            // Neither a ring nor `some` may be beside a block.
            20..30 if !self.with_one && self.indices == 0 => {
                let parts = ['p', 'l'].map(|letter| self.step(letter));
                format!("par {{\n{}}} and {{\n{}}}\n", parts[0], parts[1])
            }
            25..40 if self.with_one && self.indices == 0 => self.block(),
            _ => self.step('l'),
        };
        (0..size).rev().map(step).collect()
    }

    /// A choice, once or again and again. Mostly the chooser tells all others; or they tell each
    /// other, or do not hear of it.
    fn choice(&mut self, size: usize) -> String {
        let (at, other) = self.pair();
        let most = if self.with_one { 60 } else { 100 };
        let (kind, is_loop, name) = (self.rng.usize(..most), self.rng.bool(), self.loops);
        self.loops += 1;
        let branches = [0, 1].map(|branch| {
            let message = |from: &str, to: &str| format!("b{branch}() from {from} to {to};\n");
            let (all, one) = (message(at, "each w"), message(at, other));
            let told = match kind {
                0..30 => one + &all,
                30..60 => all + &one,
                60..75 => one + &message(other, "each w"),
                75..90 => all + &message("each w", other),
                90..95 => all,
                _ => one,
            };
            let size = self.rng.usize(..=size);
            told + &self.steps(size)
        });
        let [go, stop] = branches;
        match is_loop {
            true => format!(
                "rec X{name} {{ choice at {at} {{\n{go}continue X{name};\n}} or {{\n{stop}}} }}\n"
            ),
            false => format!("choice at {at} {{\n{go}}} or {{\n{stop}}}\n"),
        }
    }

    /// A `par` of `m` with the family and with `q`, or steps that `m` may interrupt.
    fn block(&mut self) -> String {
        let (name, is_loop) = (self.loops, self.rng.bool());
        self.loops += 2;
        let part = |name, steps: &str| match is_loop {
            true => format!("rec X{name} {{\n{steps}continue X{name};\n}}\n"),
            false => steps.to_owned(),
        };
        let (to, from) = ("i() from m to each w;\n", "j() from each w to m;\n");
        let (both, others) = ([to, from].concat(), "x() from q to m;\ny() from m to q;\n");
        let own = part(name, [to, from, &both][self.rng.usize(..3)]);
        match self.rng.usize(..3) {
            0 => format!("par {{\n{own}}} and {{\n{}}}\n", part(name + 1, others)),
            1 => format!("interruptible {{\n{own}}} with {{ s{name}() by m; }}\n"),
            _ => format!("interruptible {{\n{own}{others}}} with {{ s{name}() by m; }}\n"),
        }
    }

    /// Both roles that are in no family.
    fn pair(&mut self) -> (&'static str, &'static str) {
        if self.with_one || self.rng.usize(..4) > 0 { ("m", "q") } else { ("q", "m") }
    }

    fn step(&mut self, letter: char) -> String {
        let label = format!("{letter}{}()", self.rng.usize(..4));
        let (one, other) = self.pair();
        if self.rng.usize(..100) < self.indices {
            return match self.with_ring && !self.with_one {
                true => format!("{label} from each w to r; {label} from r to each w;\n"),
                false => {
                    format!("one{label} from {one} to some w; its{label} from some w to {one};\n")
                }
            };
        }
        let (to, from) = (
            format!("{label} from {one} to each w;\n"),
            format!("{label} from each w to {one};\n"),
        );
        match self.rng.usize(..5) {
            0 => format!("{label} from {one} to {other};\n"),
            1 => to,
            2 => from,
            _ => to + &from,
        }
    }
}
