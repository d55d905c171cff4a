//! Random protocols with a family of roles, and the same with each member written as a role.

use fastrand::Rng;

/// A protocol among `m`, `q` and the family `w`, in two texts.
#[derive(Clone, Debug)]
pub struct Family {
    /// The number of members in `written`.
    pub members: usize,
    /// True if the protocol fixes that number.
    pub is_fixed: bool,
    /// True if a step is for one member: `some w`, or its neighbour.
    pub has_indices: bool,
    /// True if some steps are side by side.
    pub has_blocks: bool,
    /// The protocol with `role w[N]`.
    pub text: String,
    /// The protocol with the roles `w0`, `w1`, …
    pub written: String,
}

/// Both texts of some steps.
type Texts = [String; 2];

struct Generator<'a> {
    rng: &'a mut Rng,
    members: usize,
    /// How often, in percent, a step is for one member.
    indices: usize,
    has_indices: bool,
    has_blocks: bool,
    loops: usize,
}

impl Family {
    /// A random protocol. In `indices` percent of its steps a role asks some member, or each member
    /// sends to its neighbour in a ring.
    pub fn random(rng: &mut Rng, indices: usize) -> Self {
        let (members, is_fixed) = (1 + rng.usize(..3), rng.bool());
        let (has_indices, has_blocks, loops) = (false, false, 0);
        let mut generator = Generator { rng, members, indices, has_indices, has_blocks, loops };
        let size = 2 + generator.rng.usize(..4);
        let [body, written] = generator.steps(size, None);
        let Generator { has_indices, has_blocks, .. } = generator;
        let size = if is_fixed { members.to_string() } else { "N".to_owned() };
        let roles: String = (0..members).map(|index| format!(", role w{index}")).collect();
        let text = format!("global protocol P(role m, role q, role w[{size}]) {{\n{body}}}\n");
        let written = format!("global protocol P(role m, role q{roles}) {{\n{written}}}\n");
        Self { members, is_fixed, has_indices, has_blocks, text, written }
    }
}

impl Generator<'_> {
    /// Up to `size` steps; at the end, `again` may continue a loop.
    fn steps(&mut self, size: usize, again: Option<usize>) -> Texts {
        let mut texts = Texts::default();
        for left in (0..size).rev() {
            let step = match self.rng.usize(..100) {
                0..20 if left > 0 => self.choice(left),
                20..30 => self.par(),
                _ => self.step("l"),
            };
            join(&mut texts, step);
        }
        if let Some(name) = again {
            join(&mut texts, both(format!("continue X{name};\n")));
        }
        texts
    }

    /// A choice, once or again and again. Mostly the chooser tells all others; or they tell each
    /// other, or do not hear of it.
    fn choice(&mut self, size: usize) -> Texts {
        let name = self.rng.bool().then_some(self.loops);
        self.loops += 1;
        let (at, other) = self.pair();
        let (kind, is_rotated) = (self.rng.usize(..100), self.rng.bool());
        let mut texts = both(format!("{}choice at {at} ", name.map_or_else(String::new, rec)));
        for branch in 0..2 {
            let label = format!("b{branch}");
            let mut told = vec![both(message(&label, at, other)), self.to_each(&label, at)];
            match kind {
                0..60 if is_rotated => told.rotate_left(1),
                60..75 => told[1] = self.to_each(&label, other),
                75..90 => {
                    told.remove(0);
                    told.push(self.from_each(&label, other));
                }
                90.. => drop(told.remove(usize::from(is_rotated))),
                _ => {}
            }
            let (again, size) = (name.filter(|_| branch == 0), self.rng.usize(..=size));
            join(&mut texts, both(if branch == 0 { "{\n" } else { "} or {\n" }.to_owned()));
            told.into_iter().for_each(|told| join(&mut texts, told));
            let steps = self.steps(size, again);
            join(&mut texts, steps);
        }
        join(&mut texts, both(if name.is_some() { "} }\n" } else { "}\n" }.to_owned()));
        texts
    }

    /// Two steps side by side.
    fn par(&mut self) -> Texts {
        self.has_blocks = true;
        let mut texts = both("par {\n".to_owned());
        let first = self.step("p");
        join(&mut texts, first);
        join(&mut texts, both("} and {\n".to_owned()));
        let second = self.step("l");
        join(&mut texts, second);
        join(&mut texts, both("}\n".to_owned()));
        texts
    }

    /// Both roles that are in no family.
    fn pair(&mut self) -> (&'static str, &'static str) {
        if self.rng.usize(..4) > 0 { ("m", "q") } else { ("q", "m") }
    }

    fn step(&mut self, letter: &str) -> Texts {
        let label = format!("{letter}{}", self.rng.usize(..4));
        let (one, other) = self.pair();
        if self.rng.usize(..100) < self.indices {
            self.has_indices = true;
            return if self.rng.bool() { self.ring(&label) } else { self.some(&label, one) };
        }
        match self.rng.usize(..5) {
            0 => both(message(&label, one, other)),
            1 => self.to_each(&label, one),
            2 => self.from_each(&label, one),
            _ => {
                let mut texts = self.to_each(&label, one);
                join(&mut texts, self.from_each(&label, one));
                texts
            }
        }
    }

    fn to_each(&self, label: &str, from: &str) -> Texts {
        let members: Vec<String> = (0..self.members).map(member).collect();
        [message(label, from, "each w"), message(label, from, &members.join(", "))]
    }

    fn from_each(&self, label: &str, to: &str) -> Texts {
        let answer = |index| message(label, &member(index), to);
        [message(label, "each w", to), self.beside("par", "and", answer)]
    }

    /// A message to some member, and its answer.
    fn some(&mut self, label: &str, from: &str) -> Texts {
        let asked = |to: &str| {
            let answer = format!("a{label}");
            message(label, from, to) + &message(&answer, to, from)
        };
        let choice = format!("choice at {from}");
        [asked("some w"), self.beside(&choice, "or", |index| asked(&member(index)))]
    }

    /// A message of each member to the next one, and of the last one to the first one.
    fn ring(&mut self, label: &str) -> Texts {
        let next = |index| message(label, &member(index), &member((index + 1) % self.members));
        let written = match self.members {
            // A role does not talk to itself.
            1 => String::new(),
            _ if self.rng.bool() => self.beside("par", "and", next),
            count => (0..count).map(next).collect(),
        };
        [message(label, "w[i]", "w[i + 1]"), written]
    }

    /// One block for each member.
    fn beside(&self, word: &str, and: &str, part: impl Fn(usize) -> String) -> String {
        match self.members {
            1 => part(0),
            count => {
                let parts: Vec<String> = (0..count).map(part).collect();
                format!("{word} {{\n{}}}\n", parts.join(&format!("}} {and} {{\n")))
            }
        }
    }
}

fn member(index: usize) -> String {
    format!("w{index}")
}

fn rec(name: usize) -> String {
    format!("rec X{name} {{ ")
}

fn message(label: &str, from: &str, to: &str) -> String {
    format!("{label}() from {from} to {to};\n")
}

fn both(text: String) -> Texts {
    [text.clone(), text]
}

fn join(texts: &mut Texts, more: Texts) {
    texts.iter_mut().zip(more).for_each(|(text, more)| *text += &more);
}
