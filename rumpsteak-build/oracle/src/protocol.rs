//! Random global protocols, as Scribble text.

use std::fmt;

use fastrand::Rng;

/// A global protocol, as Scribble writes it. Roles and loops are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Global {
    /// The end.
    End,
    /// `label(payload) from a to b;` and the continuation.
    Message {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The label.
        label: String,
        /// The sort of its only payload, if it has one.
        payload: Option<&'static str>,
        /// The continuation.
        then: Box<Self>,
    },
    /// `choice at a { … } or { … }`; each branch starts with a message from the chooser.
    Choice {
        /// The role that chooses.
        at: usize,
        /// The alternatives.
        branches: Vec<Self>,
    },
    /// `rec X { … }`
    Rec {
        /// The number of the loop.
        name: usize,
        /// The body.
        body: Box<Self>,
    },
    /// `continue X;`
    Continue(usize),
    /// `par { … } and { … }`, or `interruptible { … } with { … }`.
    Block {
        /// The parts, or the only one.
        parts: Vec<Self>,
        /// The roles that may interrupt it.
        interrupts: Vec<Interrupt>,
        /// The continuation.
        then: Box<Self>,
    },
}

/// `label() by by via … answered ok()`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// The label of the interrupt.
    pub label: String,
    /// The roles that may interrupt.
    pub by: usize,
    /// The roles that it tells, or none if it tells all others.
    pub via: Vec<usize>,
    /// True if the answer has a label of its own.
    pub is_answered: bool,
    /// The messages at the end: each with its sender and its receiver.
    pub last: Vec<(usize, usize)>,
}

/// The shape of random protocols.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of roles, from 2 to 6.
    pub roles: usize,
    /// The approximate number of messages and choices on the longest path to the end.
    pub size: usize,
    /// The number of different labels, at least as many as a choice has branches (3). With few
    /// labels, messages are easy to confuse.
    pub labels: usize,
    /// How often, in percent, the others are told which branch was taken. Otherwise most protocols
    /// have no projection, or one that may leave a role waiting for ever.
    pub told: usize,
    /// How often, in percent, the branches of a choice start with different receivers, so that the
    /// chooser chooses among peers.
    pub scattered: usize,
    /// How often, in percent, a `par` or `interruptible` takes the place of a message.
    pub blocks: usize,
    /// How often, in percent, a block is a `par` in which a role hears from each of several others.
    pub gathers: usize,
}

impl Shape {
    /// A random shape that is hard on a verifier of single roles: few roles, so that many actions
    /// of a role touch each other, few labels, so that wrong messages look right, loops in loops,
    /// and choices that all roles are told.
    pub fn dense(rng: &mut Rng) -> Self {
        Self {
            roles: [2, 2, 3, 3, 3, 4][rng.usize(..6)],
            size: 4 + rng.usize(..6),
            labels: 3,
            told: 100,
            scattered: 0,
            blocks: 0,
            gathers: 0,
        }
    }

    /// A random shape with `par` and interrupts, in loops, behind choices, and at the beginning of
    /// branches.
    pub fn blocks(rng: &mut Rng) -> Self {
        Self {
            roles: 2 + rng.usize(..3),
            size: 3 + rng.usize(..5),
            labels: 3 + rng.usize(..3),
            told: [60, 95, 100][rng.usize(..3)],
            scattered: [0, 0, 60][rng.usize(..3)],
            blocks: 25,
            gathers: 20,
        }
    }

    /// A random shape of a few roles that gather messages of others, between messages and choices.
    pub fn gathers(rng: &mut Rng) -> Self {
        let size = 2 + rng.usize(..4);
        Self { roles: 3 + rng.usize(..3), size, gathers: 90, blocks: 50, ..Self::blocks(rng) }
    }

    /// A random shape in which roles are often not told of a choice, so that some of them hear of
    /// it from one role or from another.
    pub fn untold(rng: &mut Rng) -> Self {
        Self {
            roles: 3 + rng.usize(..2),
            size: 4 + rng.usize(..5),
            labels: 3 + rng.usize(..3),
            told: 30,
            scattered: 0,
            blocks: 0,
            gathers: 0,
        }
    }

    /// A random shape in which a role often chooses to whom it sends.
    pub fn scattered(rng: &mut Rng) -> Self {
        Self { told: 60 + rng.usize(..40), scattered: 60, ..Self::untold(rng) }
    }

    /// A random shape in which some roles are told only the choices that concern them.
    pub fn absent(rng: &mut Rng) -> Self {
        Self {
            roles: 3 + rng.usize(..2),
            size: 3 + rng.usize(..4),
            labels: 3 + rng.usize(..4),
            told: 20 + rng.usize(..60),
            scattered: [0, 60][rng.usize(..2)],
            blocks: 0,
            gathers: 0,
        }
    }

    /// A random shape of 2 to 6 roles, small ones more often.
    pub fn random(rng: &mut Rng) -> Self {
        let roles = [2, 2, 3, 3, 3, 3, 4, 4, 5, 6][rng.usize(..10)];
        Self {
            roles,
            size: 2 + rng.usize(..if roles > 4 { 5 } else { 8 }),
            labels: 3 + rng.usize(..4),
            told: [60, 90, 100, 100][rng.usize(..4)],
            scattered: 0,
            blocks: 0,
            gathers: 0,
        }
    }
}

/// The name of a role by its number: `a`, `b`, …
pub(crate) fn role_name(role: usize) -> char {
    char::from(b'a' + (role % 26) as u8)
}

impl Global {
    /// A random protocol of this shape.
    ///
    /// Every choice starts with a message to one receiver, with a different label per branch. Then,
    /// mostly, a role that knows the branch tells each other role in play: in every branch the same
    /// role, with a different label. So most protocols have projections.
    pub fn random(rng: &mut Rng, shape: &Shape) -> Self {
        let roles: Vec<usize> = (0..shape.roles).collect();
        Generator { rng, shape, loops: 0, side: "", depth: 0 }.global(&roles, &[], shape.size)
    }

    /// Returns true if it can end, so that something may follow.
    fn ends(&self) -> bool {
        match self {
            Self::End => true,
            Self::Continue(_) => false,
            Self::Message { then, .. } => then.ends(),
            Self::Choice { branches, .. } => branches.iter().any(Self::ends),
            Self::Rec { body, .. } => body.ends(),
            Self::Block { parts, interrupts, then } => {
                (!interrupts.is_empty() || parts.iter().all(Self::ends)) && then.ends()
            }
        }
    }

    /// The roles `a`, `b`, … of a protocol of this shape, in the order of the text.
    pub fn scribble(&self, name: &str, roles: usize) -> String {
        let roles: Vec<String> =
            (0..roles).map(|role| format!("role {}", role_name(role))).collect();
        format!("global protocol {name}({}) {{\n{}}}\n", roles.join(", "), Body(self, 1))
    }
}

struct Generator<'a> {
    rng: &'a mut Rng,
    shape: &'a Shape,
    loops: usize,
    /// The prefix of labels, so that the labels of the parts of a block differ.
    side: &'static str,
    /// The number of blocks around the current place.
    depth: usize,
}

const SORTS: [&str; 3] = ["i32", "u8", "bool"];

impl Generator<'_> {
    /// A protocol among `scope`, inside `loops`, each with the roles that were in scope at its
    /// start.
    fn global(&mut self, scope: &[usize], loops: &[(usize, Vec<usize>)], size: usize) -> Global {
        if size == 0 {
            return self.tail(scope, loops);
        }
        let blocks = if self.depth < 2 { self.shape.blocks } else { 0 };
        if blocks > 0 && self.rng.usize(..100) < blocks {
            return self.block(scope, loops, size);
        }
        match self.rng.usize(..100) {
            0..45 => {
                let (from, to) = self.pair(scope);
                let label = self.rng.usize(..self.shape.labels);
                let then = self.global(scope, loops, size - 1);
                self.message(from, to, label, then)
            }
            45..75 => self.choice(scope, loops, size),
            75..93 if loops.len() < 3 => {
                let name = self.loops;
                self.loops += 1;
                let mut inner = loops.to_vec();
                inner.push((name, scope.to_vec()));
                // A message or a choice guards the loop.
                let body = match self.rng.bool() {
                    true => self.choice(scope, &inner, size),
                    false => {
                        let (from, to) = self.pair(scope);
                        let label = self.rng.usize(..self.shape.labels);
                        let then = self.global(scope, &inner, size - 1);
                        self.message(from, to, label, then)
                    }
                };
                Global::Rec { name, body: Box::new(body) }
            }
            // Some roles end here.
            93..97 if scope.len() > 2 => {
                let mut rest = scope.to_vec();
                self.rng.shuffle(&mut rest);
                rest.truncate(2 + self.rng.usize(..scope.len() - 2));
                rest.sort_unstable();
                self.global(&rest, loops, size)
            }
            _ => self.tail(scope, loops),
        }
    }

    /// Two parts, mostly with different labels; or one that may be interrupted, mostly with a
    /// message to all others at the end.
    fn block(&mut self, scope: &[usize], loops: &[(usize, Vec<usize>)], size: usize) -> Global {
        let outer = self.side;
        self.depth += 1;
        let gathers = scope.len() > 2 && self.rng.usize(..100) < self.shape.gathers;
        let (parts, interrupts) = if gathers {
            (self.gather(scope), Vec::new())
        } else if self.rng.bool() {
            let part = |side: &'static str, generator: &mut Self| {
                if generator.rng.usize(..100) < 85 {
                    generator.side = side;
                }
                let mut roles = scope.to_vec();
                generator.rng.shuffle(&mut roles);
                roles.truncate(2 + generator.rng.usize(..scope.len() - 1));
                roles.sort_unstable();
                let part = generator.global(&roles, &[], (size / 2).max(1));
                generator.side = outer;
                part
            };
            let sides = if self.depth == 1 { ["p", "q"] } else { ["r", "s"] };
            (sides.map(|side| part(side, self)).into(), Vec::new())
        } else {
            let interrupts = self.interrupts(scope);
            (vec![self.global(scope, &[], size / 2)], interrupts)
        };
        self.depth -= 1;
        let then = Box::new(self.global(scope, loops, size - 1 - size / 3));
        Global::Block { parts, interrupts, then }
    }

    /// A message from each of several roles to one, which mostly does nothing else. It may begin by
    /// asking them.
    fn gather(&mut self, scope: &[usize]) -> Vec<Global> {
        let mut others = scope.to_vec();
        self.rng.shuffle(&mut others);
        let at = others.remove(0);
        others.truncate(2 + self.rng.usize(..3));
        let part = |&from: &usize| {
            let mut part = Global::End;
            for (percent, is_asked) in [(8, true), (15, false), (100, false), (40, true)] {
                let (from, to) = if is_asked { (at, from) } else { (from, at) };
                if self.rng.usize(..100) >= percent {
                    continue;
                }
                let label = self.rng.usize(..self.shape.labels);
                part = match self.rng.usize(..100) {
                    0..25 => {
                        let branches = [label, (label + 1) % self.shape.labels];
                        let branch = |label| self.message(from, to, label, part.clone());
                        Global::Choice { at: from, branches: branches.map(branch).into() }
                    }
                    _ => self.message(from, to, label, part),
                };
            }
            part
        };
        others.iter().map(part).collect()
    }

    /// One role that may interrupt a block, and sometimes others. Some of these need not say at the
    /// end that they did not interrupt, or say it with the same message.
    fn interrupts(&mut self, scope: &[usize]) -> Vec<Interrupt> {
        let mut interrupters = scope.to_vec();
        self.rng.shuffle(&mut interrupters);
        let first = interrupters[0];
        interrupters.retain(|&by| by == first || self.rng.usize(..100) < 30);
        let interrupt = |(position, by): (usize, usize)| {
            let mut told: Vec<usize> = scope.iter().copied().filter(|&role| role != by).collect();
            match self.rng.usize(..100) {
                0..5 => told.truncate(1),
                5..30 if position > 0 => told.clear(),
                _ => {}
            }
            let number = if self.rng.usize(..100) < 20 { 0 } else { position };
            let label = format!("cancel{}n{number}", self.depth);
            let mut last: Vec<(usize, usize)> = told.iter().map(|&to| (by, to)).collect();
            let mut via = Vec::new();
            if self.rng.usize(..100) < 40 {
                via = scope.iter().copied().filter(|&role| role != by).collect();
                self.rng.shuffle(&mut via);
                via.truncate(1 + self.rng.usize(..4) / 3);
                last.retain(|(_, to)| via.contains(to));
                let others = scope.iter().filter(|&role| *role != by && !via.contains(role));
                let others = others.filter(|_| self.rng.usize(..100) < 70).map(|&to| (via[0], to));
                last.extend(others);
            }
            Interrupt { label, by, via, is_answered: self.rng.usize(..100) < 25, last }
        };
        interrupters.into_iter().enumerate().map(interrupt).collect()
    }

    fn tail(&mut self, scope: &[usize], loops: &[(usize, Vec<usize>)]) -> Global {
        // A role that left the scope cannot know that the loop continues, so it mostly does not.
        let wild = self.rng.usize(..100) < 3;
        let targets: Vec<usize> = loops
            .iter()
            .filter(|(_, roles)| wild || roles == scope)
            .map(|(name, _)| *name)
            .collect();
        match self.rng.choice(&targets) {
            Some(&name) if self.rng.usize(..100) < 75 => Global::Continue(name),
            _ => Global::End,
        }
    }

    fn choice(&mut self, scope: &[usize], loops: &[(usize, Vec<usize>)], size: usize) -> Global {
        let (at, first) = self.pair(scope);
        // The roles that tell each other, mostly the same in every branch.
        let common = self.telling((at, first), scope);
        let scattered = self.shape.scattered;
        let scatters = scattered > 0 && self.rng.usize(..100) < scattered;

        let count = if self.rng.usize(..100) < 80 { 2 } else { 3 };
        let offset = self.rng.usize(..self.shape.labels);
        // Sometimes all branches go on equally: a role may collect what it receives before.
        let is_equal = scatters && self.rng.usize(..100) < 30;
        let mut rest: Option<Global> = None;
        let branches = (0..count)
            .map(|branch| {
                let known = rest.take().filter(|_| is_equal);
                let mut global = known
                    .unwrap_or_else(|| self.global(scope, loops, (size - 1).min(size * 2 / 3)));
                rest = Some(global.clone());
                let blocks = if self.depth < 2 { self.shape.blocks } else { 0 };
                if blocks > 0 && self.rng.usize(..100) < blocks {
                    return self.par_first(
                        at,
                        scope,
                        (branch + offset) % self.shape.labels,
                        global,
                    );
                }
                let telling = if scatters {
                    let receivers: Vec<usize> =
                        scope.iter().copied().filter(|&role| role != at).collect();
                    let first = receivers[self.rng.usize(..receivers.len())];
                    self.telling((at, first), scope)
                } else {
                    common.clone()
                };
                for &(from, to) in telling.iter().rev() {
                    // Sometimes the roles that know already talk meanwhile, unless the first
                    // message is next.
                    global = self.message(from, to, (branch + offset) % self.shape.labels, global);
                    if (from, to) != telling[0] && self.rng.usize(..100) < 8 {
                        let (from, to) = telling[0];
                        let (from, to) = if self.rng.bool() { (from, to) } else { (to, from) };
                        let label = self.rng.usize(..self.shape.labels);
                        global = self.message(from, to, label, global);
                    }
                }
                global
            })
            .collect();
        Global::Choice { at, branches }
    }

    /// A branch that begins with a `par`, whose parts mostly begin with messages of the chooser.
    /// The roles that it does not tell may hear of the branch from the others, or send something.
    fn par_first(&mut self, at: usize, scope: &[usize], label: usize, then: Global) -> Global {
        let mut others: Vec<usize> = scope.iter().copied().filter(|&role| role != at).collect();
        self.rng.shuffle(&mut others);
        let told = others.len().min(1 + self.rng.usize(..3));
        let (told, untold) = others.split_at(told);
        let part = |&to: &usize| {
            let mut part = Global::End;
            if self.rng.usize(..100) < 40 {
                part = self.message(to, at, label, part);
            }
            for &other in untold {
                let (from, to) = if self.rng.usize(..100) < 85 { (to, other) } else { (other, to) };
                part = self.message(from, to, label, part);
            }
            if self.rng.usize(..100) < 97 { self.message(at, to, label, part) } else { part }
        };
        let parts = told.iter().map(part).collect();
        Global::Block { parts, interrupts: Vec::new(), then: Box::new(then) }
    }

    /// The pairs of roles that tell each other of a choice: first the chooser, then the roles that
    /// know.
    fn telling(&mut self, first: (usize, usize), scope: &[usize]) -> Vec<(usize, usize)> {
        let is_other = |role: &usize| *role != first.0 && *role != first.1;
        let mut others: Vec<usize> = scope.iter().copied().filter(is_other).collect();
        self.rng.shuffle(&mut others);
        let mut telling = vec![first];
        for other in others {
            if self.rng.usize(..100) < self.shape.told {
                let teller = telling[self.rng.usize(..telling.len())];
                let teller = if self.rng.bool() { teller.0 } else { teller.1 };
                telling.push((teller, other));
            }
        }
        telling
    }

    fn message(&mut self, from: usize, to: usize, label: usize, then: Global) -> Global {
        let payload = if self.rng.usize(..100) < 80 { None } else { self.rng.choice(SORTS) };
        let label = format!("{}l{label}", self.side);
        Global::Message { from, to, label, payload, then: Box::new(then) }
    }

    fn pair(&mut self, scope: &[usize]) -> (usize, usize) {
        let from = self.rng.usize(..scope.len());
        let to = (from + 1 + self.rng.usize(..scope.len() - 1)) % scope.len();
        (scope[from], scope[to])
    }
}

struct Body<'a>(&'a Global, usize);

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(global, depth) = *self;
        let indent = "  ".repeat(depth);
        match global {
            Global::End => Ok(()),
            Global::Message { from, to, label, payload, then } => {
                let (from, to) = (role_name(*from), role_name(*to));
                let payload = payload.unwrap_or_default();
                writeln!(f, "{indent}{label}({payload}) from {from} to {to};")?;
                Body(then, depth).fmt(f)
            }
            Global::Choice { at, branches } => {
                write!(f, "{indent}choice at {} ", role_name(*at))?;
                for (index, branch) in branches.iter().enumerate() {
                    let or = if index == 0 { "" } else { " or " };
                    write!(f, "{or}{{\n{}{indent}}}", Body(branch, depth + 1))?;
                }
                writeln!(f)
            }
            Global::Rec { name, body } => {
                writeln!(f, "{indent}rec X{name} {{\n{}{indent}}}", Body(body, depth + 1))
            }
            Global::Continue(name) => writeln!(f, "{indent}continue X{name};"),
            Global::Block { parts, interrupts, then } => {
                let word = if interrupts.is_empty() { "par" } else { "interruptible" };
                write!(f, "{indent}{word} ")?;
                for (index, part) in parts.iter().enumerate() {
                    let and = if index == 0 { "" } else { " and " };
                    write!(f, "{and}{{\n{}", Body(part, depth + 1))?;
                    for Interrupt { last, .. } in interrupts.iter().filter(|_| part.ends()) {
                        for (from, to) in last {
                            let (from, to) = (role_name(*from), role_name(*to));
                            writeln!(f, "{indent}  done{depth}() from {from} to {to};")?;
                        }
                    }
                    write!(f, "{indent}}}")?;
                }
                if !interrupts.is_empty() {
                    write!(f, " with {{")?;
                    for Interrupt { label, by, via, is_answered, .. } in interrupts {
                        write!(f, " {label}() by {}", role_name(*by))?;
                        for (position, via) in via.iter().enumerate() {
                            let word = if position == 0 { " via" } else { "," };
                            write!(f, "{word} {}", role_name(*via))?;
                        }
                        let answer = if *is_answered {
                            format!(" answered ok{label}()")
                        } else {
                            String::new()
                        };
                        write!(f, "{answer};")?;
                    }
                    write!(f, " }}")?;
                }
                writeln!(f)?;
                Body(then, depth).fmt(f)
            }
        }
    }
}

/// A block of so many roles in a ring. Each of them may interrupt it, and sends all a last message.
pub fn interrupters(count: usize) -> String {
    let roles: Vec<String> = (0..count).map(|role| format!("r{role}")).collect();
    let (mut ring, mut last, mut interrupts) = (String::new(), String::new(), String::new());
    for (number, role) in roles.iter().enumerate() {
        let next = &roles[(number + 1) % count];
        let others = roles.iter().filter(|other| *other != role).cloned().collect::<Vec<_>>();
        ring += &format!("m{number}() from {role} to {next}; ");
        last += &format!("d{number}() from {role} to {}; ", others.join(", "));
        interrupts += &format!("i{number}() by {role}; ");
    }
    let roles = roles.join(", role ");
    format!(
        "global protocol P(role {roles}) {{ interruptible {{ {ring}{last}}} with {{ {interrupts}}} }}"
    )
}
