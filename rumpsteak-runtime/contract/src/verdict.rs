//! The file through which the build script answers the macros: `OUT_DIR/rumpsteak/verdicts.txt`.
//!
//! The build script writes one entry for each `#[session]` item and each `#[derive(Role)]` struct that it saw. A macro
//! looks its own item up by kind, name and token hash: other tokens, other entry. The entry of an item without fault
//! carries its [`Proof`]: the structure that was verified, with all names resolved. The macro makes rustc compare that
//! structure with the one that rustc itself sees, so that a proof is worth nothing for any other session, even where
//! the build script and rustc resolve a name differently.
//!
//! The entry of a role carries the capacities of the queues that it sends into, if some were proven. They hold for a
//! [`System`]: roles, and all sessions of each. Its number is in the entries of the roles and of the sessions. The
//! macros make rustc see that both ends of a queue have the same number, and that no session without it runs on such a
//! role: so the capacities are worth nothing for other roles and other sessions, either.
//!
//! ```text
//! rumpsteak-verdicts   2   0.1.0
//! entry   role   K   77d0…   bin   app   src/main.rs   14   passed
//! system   5be2…
//! queue   0   s   at-most   2
//! queue   1   t   at-most   1
//! entry   session   Kernel   6c1f…   bin   app   src/main.rs   27   passed
//! plays   DoubleBuffering   k
//! system   5be2…
//! chain   !   DoubleBuffering   s   Ready   named   93ab…
//! entry   session   KernelLoop   02d4…   bin   app   src/main.rs   30   failed
//! id   93ab…
//! problem   21   unsafe reordering: …\nprotocols/double_buffering.scr …
//! end
//! ```
//!
//! One field per tab, one record per line, `\` escapes: a person can read it, and equal values give equal bytes. The
//! last line says that the file is whole. The first line carries the version of the tool, and a file of another version
//! is refused as a whole: the two halves of the tool must agree on every detail, so there is nothing to migrate.

use std::fmt;

use crate::VERSION;
pub use crate::session::Direction;

/// The path of the file below `OUT_DIR`, with `/`.
pub const PATH: &str = "rumpsteak/verdicts.txt";

/// The variable in which the build script tells rustc the [`stamp`] of the file.
///
/// A file in `OUT_DIR` outlives the build script that wrote it: if the script no longer verifies, the verdicts of an
/// earlier day are still there. The variable is not, because Cargo forgets it with each run of the script.
pub const VARIABLE: &str = "RUMPSTEAK_VERDICTS";

/// What identifies the text of a file: a hash of 64 bits.
///
/// No change of eight bytes in a row leaves it as it was, since each step can be undone. It goes by words, because a build
/// script is not optimised. As the [hash](crate::token::hash) of an item, it guards against what is stale, not against what
/// is forged.
#[must_use]
pub fn stamp(text: &str) -> String {
    let mut hash = text.len() as u64;
    let (words, rest) = text.as_bytes().as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut next = 0;
    while next <= words.len() {
        let word = if next < words.len() {
            words[next]
        } else {
            last
        };
        hash = (hash ^ u64::from_le_bytes(word))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
        next += 1;
    }
    hex(hash)
}

const MAGIC: &str = "rumpsteak-verdicts";
const FORMAT: &str = "2";

/// All that the build script has to say to the macros.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verdicts {
    /// One entry for each item of each target, in the order in which the build script met them.
    pub entries: Vec<Entry>,
    /// The generated modules, by the names of their protocols.
    pub generated: Vec<Generated>,
    /// Problems that belong to no item, for `include_protocols!()`: rendered texts.
    pub unanchored: Vec<String>,
}

/// A module that the build script wrote for a protocol.
///
/// `protocol!(…)` includes the file only if its text has this stamp, so that the code is never of another build than
/// the verdicts on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Generated {
    /// The protocol, by the name in `protocol!(…)`.
    pub protocol: String,
    /// The file below `OUT_DIR`, with `/`.
    pub file: String,
    /// The [`stamp`] of its text.
    pub stamp: String,
}

/// The verdict on one item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Which macro the entry is for.
    pub kind: Kind,
    /// The name of the item.
    pub name: String,
    /// The hash of the item's canonical tokens.
    pub hash: u64,
    /// The target whose module tree the item was found in.
    pub target: Target,
    /// The file of the item, relative to the package, with `/`.
    pub file: String,
    /// The line of the item's name, from 1.
    pub line: usize,
    /// What was found.
    pub outcome: Outcome,
}

/// Which macro an entry is for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// `protocol!(…)`.
    Protocol,
    /// `#[derive(Role)]`.
    Role,
    /// `#[session]`.
    Session,
    /// `#[derive(Roles)]` with `#[system(…)]`.
    Set,
}

/// A target of a package.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Target {
    /// What sort of target it is.
    pub kind: TargetKind,
    /// Its name as Cargo has it, with `-` where the user wrote `-`.
    pub name: String,
}

/// The sorts of targets that hold sessions.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TargetKind {
    /// A benchmark.
    Bench,
    /// A binary.
    Bin,
    /// An example.
    Example,
    /// The library.
    Lib,
    /// A source file that the build script was told to read.
    Source,
    /// An integration test.
    Test,
}

/// What was found out about an item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Something in this item is wrong. The macro raises one error for each problem, and expands the item all the same.
    Failed {
        /// The identity that the item has now: another than it would have without fault, so that no proof of a session
        /// that uses it holds unless this entry's errors are raised.
        id: Option<u64>,
        /// For a root: whether its role may play it, though it failed: then no error follows where it is run. Not where
        /// rustc refuses that by an error of its own: the role is of another crate, or plays the same type already.
        plays: bool,
        /// What is wrong, and where. Never empty.
        problems: Vec<Problem>,
    },
    /// Something is wrong with a session that this item is part of, in another item, which raises the error. The proof
    /// holds only together with that item as it failed.
    FailedElsewhere(Proof),
    /// The item is without fault.
    Passed(Proof),
}

/// An error to raise at a token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The index of the token in the item.
    pub token: usize,
    /// The text of the error, plain, of several lines perhaps.
    pub text: String,
}

/// What was verified: the structure of an item with all names resolved.
///
/// Names are those of the Rust source (`#[protocol(DoubleBuffering::k)]`, `#[derive(Message)] enum Label { Ready(…) }`)
/// exactly as written there, which is what rustc sees as constants of the role and of the message enum.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Proof {
    /// For a root: who plays it.
    pub plays: Option<RoleName>,
    /// For a root that was verified together with all sessions of its peers: the k for which they are k-multiparty
    /// compatible.
    pub kmc: Option<usize>,
    /// For a root: the machine that was verified, with the names of the protocol.
    pub machine: Option<Machine>,
    /// For a `struct` or an `enum`: the identity by which other structures refer to it.
    pub id: Option<u64>,
    /// The structure. Nothing for an item that no root reaches: no session contains it, so nothing was verified.
    pub body: Option<Body>,
    /// For a role, or a root: in which system its queues have proven capacities.
    pub system: Option<System>,
}

/// Roles whose queues have capacities that were proven for all their sessions together, as one of them sees it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct System {
    /// The number of the system: never 0.
    pub id: u64,
    /// For a role: the queues that it sends into, in the order of its routes. Empty for a session.
    pub queues: Vec<Queue>,
}

/// A queue that a role sends into.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Queue {
    /// The position among the fields of the role's struct.
    pub route: usize,
    /// The name of the role at the other end, for those who read the file.
    pub peer: String,
    /// How much room it needs.
    pub capacity: Capacity,
}

/// How much room a queue needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Capacity {
    /// It never holds more than this, in any run of the sessions, repeated for ever.
    AtMost(usize),
    /// As much as there is: no number was proven.
    Growable,
    /// It may hold any number, but with room for this many the senders may wait when it is full: this brings no deadlock.
    Waits(usize),
}

/// A machine as the build script saw it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Machine {
    /// Whose machine it is.
    pub role: String,
    /// How many states it has.
    pub states: usize,
    /// The number of the state in which it begins.
    pub initial: usize,
    /// Its transitions, in order.
    pub transitions: Vec<Transition>,
}

/// A transition of a [`Machine`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transition {
    /// The number of the state from which it leads.
    pub source: usize,
    /// Whether it sends or receives.
    pub direction: Direction,
    /// The role at the other end.
    pub peer: String,
    /// The label of the message.
    pub label: String,
    /// The sorts that the message carries.
    pub payload: Vec<String>,
    /// The number of the state to which it leads.
    pub target: usize,
}

/// The structure of an item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// Of a `type` or a `struct`.
    Chain(Chain),
    /// Of an `enum`: each option's label and what follows, in the order of the variants.
    Choice(Vec<(String, Chain)>),
}

/// A session with all names resolved and all `type` aliases replaced by what they stand for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chain {
    /// The actions, first to last.
    pub actions: Vec<Action>,
    /// What comes after them.
    pub tail: Tail,
}

/// An action with its names resolved.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Action {
    /// Whether it sends or receives.
    pub direction: Direction,
    /// The role at the other end.
    pub peer: RoleName,
    /// The name of the label.
    pub label: String,
}

/// How a resolved session goes on after its actions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tail {
    /// `Select` or `Branch`.
    Choice {
        /// Whether it selects or branches.
        direction: Direction,
        /// The role at the other end.
        peer: RoleName,
        /// The identity of the `enum`.
        id: u64,
    },
    /// `End`.
    End,
    /// A `struct`, by its identity; also for `Self`.
    Named(u64),
}

/// A role of a protocol, by the names in the Rust source.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RoleName {
    /// The protocol.
    pub protocol: String,
    /// The role.
    pub role: String,
}

/// The name that a role has in proofs if something is wrong with its link to a protocol.
///
/// `#[derive(Role)]` gives the struct this name together with the error, and never without it. So a proof that names
/// it holds only in a crate that does not compile; it keeps rustc from following up that error with others.
#[must_use]
pub fn refused(role: &str) -> String {
    // No role of a protocol has a blank in its name.
    format!("{role} (refused)")
}

/// What a macro knows about where its item is. Whatever it does not know is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site<'a> {
    /// `CARGO_CRATE_NAME`.
    pub crate_name: Option<&'a str>,
    /// Whether `CARGO_BIN_NAME` is set, which it is for binaries and examples.
    pub executable: bool,
    /// The source file as rustc has it: relative to the workspace or absolute. Not the empty text.
    pub file: Option<&'a str>,
    /// The line of the item's name.
    pub line: Option<usize>,
}

impl Verdicts {
    /// The entry for an item, if there is one.
    ///
    /// Several entries may have the same key: the same tokens in two modules, or one file in the module trees of two
    /// targets. Those of the site's own target, file and line are preferred as far as these are known. If several are
    /// left, one without fault is taken: under rustc, which knows the place, that happens only if one file is mounted
    /// twice in one crate, and then the proof does not fit the other mount and rustc says so.
    ///
    /// Linear in the number of entries.
    #[must_use]
    pub fn find(&self, kind: Kind, name: &str, hash: u64, site: &Site<'_>) -> Option<&Entry> {
        let of_item =
            |entry: &&Entry| entry.kind == kind && entry.name == name && entry.hash == hash;
        let mut candidates: Vec<&Entry> = self.entries.iter().filter(of_item).collect();
        prefer(&mut candidates, |entry| site.is_in(&entry.target));
        prefer(&mut candidates, |entry| {
            site.file.is_some_and(|file| same_file(file, &entry.file))
                && site.line == Some(entry.line)
        });
        prefer(&mut candidates, |entry| {
            !matches!(entry.outcome, Outcome::Failed { .. })
        });
        candidates.first().copied()
    }

    /// The text of the file.
    #[must_use]
    pub fn print(&self) -> String {
        let mut lines = Lines {
            bytes: Vec::with_capacity(256 * (self.entries.len() + 1)),
        };
        lines.record(&[MAGIC, FORMAT, VERSION]);
        for entry in &self.entries {
            lines.entry(entry);
        }
        for Generated {
            protocol,
            file,
            stamp,
        } in &self.generated
        {
            lines.record(&["generated", protocol, file, stamp]);
        }
        for problem in &self.unanchored {
            lines.record(&["unanchored", problem]);
        }
        lines.record(&["end"]);
        lines.text()
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    ///
    /// [`ParseError::Version`] if another version of the tool wrote it, [`ParseError::Malformed`] if it is cut off or
    /// was changed.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut lines = text.lines().enumerate();
        let header = lines
            .next()
            .map(|(_, line)| fields(line))
            .unwrap_or_default();
        match &header.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [MAGIC, FORMAT, VERSION] => {}
            [MAGIC, _, version] => {
                return Err(ParseError::Version {
                    found: (*version).to_owned(),
                });
            }
            _ => return Err(ParseError::Malformed { line: 1 }),
        }
        let mut verdicts = Self::default();
        let mut ended = false;
        for (index, line) in lines {
            let malformed = ParseError::Malformed { line: index + 1 };
            let fields = fields(line);
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            if ended {
                return Err(malformed);
            }
            match &fields[..] {
                ["end"] => ended = true,
                ["generated", protocol, file, stamp] => verdicts.generated.push(Generated {
                    protocol: (*protocol).to_owned(),
                    file: (*file).to_owned(),
                    stamp: (*stamp).to_owned(),
                }),
                ["unanchored", text] => verdicts.unanchored.push((*text).to_owned()),
                ["entry", rest @ ..] => verdicts.entries.push(parse_entry(rest).ok_or(malformed)?),
                _ => {
                    let entry = verdicts.entries.last_mut();
                    entry
                        .and_then(|entry| parse_detail(&mut entry.outcome, &fields))
                        .ok_or(malformed)?;
                }
            }
        }
        let whole = ended && verdicts.entries.iter().all(Entry::is_whole);
        if whole {
            Ok(verdicts)
        } else {
            Err(ParseError::Malformed {
                line: text.lines().count(),
            })
        }
    }
}

/// Keeps only those candidates that satisfy the predicate, unless none does.
fn prefer(candidates: &mut Vec<&Entry>, predicate: impl Fn(&Entry) -> bool) {
    if candidates.iter().any(|entry| predicate(entry)) {
        candidates.retain(|entry| predicate(entry));
    }
}

/// Whether one path is the other as seen from a folder further up or down: rustc's paths are relative to the
/// workspace, those of the build script to the package.
fn same_file(left: &str, right: &str) -> bool {
    let components = |path: &str| -> Vec<String> {
        path.split(['/', '\\'])
            .filter(|part| !matches!(*part, "" | "."))
            .map(str::to_owned)
            .collect()
    };
    let (left, right) = (components(left), components(right));
    left.ends_with(&right) || right.ends_with(&left)
}

impl Site<'_> {
    fn is_in(&self, target: &Target) -> bool {
        self.crate_name
            .is_some_and(|name| name == target.name.replace('-', "_"))
            && self.executable == matches!(target.kind, TargetKind::Bin | TargetKind::Example)
    }
}

impl Entry {
    /// Whether nothing is missing that an entry must have. A failed entry without a problem would be silent.
    fn is_whole(&self) -> bool {
        match &self.outcome {
            Outcome::Failed { problems, .. } => !problems.is_empty(),
            Outcome::FailedElsewhere(_) | Outcome::Passed(_) => true,
        }
    }
}

/// Why a verdict file is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ParseError {
    /// The file is cut off or was changed.
    Malformed {
        /// The line, from 1.
        line: usize,
    },
    /// Another version of the tool wrote it: `rumpsteak-build` and `rumpsteak-runtime` must be of one version.
    Version {
        /// The version that wrote it.
        found: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { line } => write!(
                f,
                "the verdict file is damaged at line {line}: run `cargo clean`"
            ),
            Self::Version { found } => write!(
                f,
                "the verdicts were written by rumpsteak-build {found}, but this is rumpsteak-runtime {VERSION}: use the \
                 same version of both"
            ),
        }
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.protocol, self.role)
    }
}

/// Names of the enums' variants in the file.
trait Word: Copy + Sized + 'static {
    const WORDS: &'static [(&'static str, Self)];

    fn parse(text: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find_map(|&(word, value)| (word == text).then_some(value))
    }
}

impl Word for Kind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("protocol", Self::Protocol),
        ("role", Self::Role),
        ("session", Self::Session),
        ("set", Self::Set),
    ];
}

impl Word for TargetKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("bench", Self::Bench),
        ("bin", Self::Bin),
        ("example", Self::Example),
        ("lib", Self::Lib),
        ("source", Self::Source),
        ("test", Self::Test),
    ];
}

impl Word for Direction {
    const WORDS: &'static [(&'static str, Self)] = &[("?", Self::Receive), ("!", Self::Send)];
}

fn word<W: Word + PartialEq>(value: W) -> &'static str {
    W::WORDS
        .iter()
        .find_map(|&(word, other)| (value == other).then_some(word))
        .unwrap_or_default()
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word(*self))
    }
}

/// The lines of a file: fields, escaped, with tabs between them.
///
/// Bytes are pushed one by one, which is the cheapest way to append short texts where nothing is optimised.
struct Lines {
    bytes: Vec<u8>,
}

impl Lines {
    fn text(self) -> String {
        // Nothing but whole texts was pushed, and ASCII between their characters.
        String::from_utf8(self.bytes).unwrap_or_default()
    }

    fn record(&mut self, fields: &[&str]) {
        for (index, field) in fields.iter().enumerate() {
            match index {
                0 => self.escaped(field),
                _ => self.field(field),
            }
        }
        self.end();
    }

    fn end(&mut self) {
        self.bytes.push(b'\n');
    }

    fn field(&mut self, field: &str) {
        self.bytes.push(b'\t');
        self.escaped(field);
    }

    fn escaped(&mut self, field: &str) {
        let (field, mut next) = (field.as_bytes(), 0);
        while next < field.len() {
            let byte = field[next];
            if byte >= b' ' && byte != b'\\' {
                self.bytes.push(byte);
            } else {
                self.escape(byte);
            }
            next += 1;
        }
    }

    fn escape(&mut self, byte: u8) {
        let escaped = match byte {
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            // Other control characters stand for themselves.
            _ => return self.bytes.push(byte),
        };
        self.bytes.push(b'\\');
        self.bytes.push(escaped);
    }

    fn number(&mut self, number: usize) {
        if number < 10 {
            self.bytes.push(b'\t');
            // One digit.
            self.bytes.push(b'0' + number as u8);
        } else {
            self.field(&number.to_string());
        }
    }

    fn hex(&mut self, number: u64) {
        self.field(&hex(number));
    }

    fn entry(&mut self, entry: &Entry) {
        let Entry {
            kind,
            name,
            hash,
            target,
            file,
            line,
            outcome,
        } = entry;
        self.escaped("entry");
        self.field(word(*kind));
        self.field(name);
        self.hex(*hash);
        self.field(word(target.kind));
        self.field(&target.name);
        self.field(file);
        self.number(*line);
        self.field(match outcome {
            Outcome::Failed { .. } => "failed",
            Outcome::FailedElsewhere(_) => "elsewhere",
            Outcome::Passed(_) => "passed",
        });
        self.end();
        let id = match outcome {
            Outcome::Failed { id, .. } => id,
            Outcome::FailedElsewhere(proof) | Outcome::Passed(proof) => &proof.id,
        };
        if let Some(id) = id {
            self.escaped("id");
            self.hex(*id);
            self.end();
        }
        match outcome {
            Outcome::Failed {
                plays, problems, ..
            } => {
                if *plays {
                    self.record(&["plays"]);
                }
                for Problem { token, text } in problems {
                    self.escaped("problem");
                    self.number(*token);
                    self.field(text);
                    self.end();
                }
            }
            Outcome::FailedElsewhere(proof) | Outcome::Passed(proof) => self.proof(proof),
        }
    }

    fn proof(&mut self, proof: &Proof) {
        if let Some(RoleName { protocol, role }) = &proof.plays {
            self.record(&["plays", protocol, role]);
        }
        if let Some(system) = &proof.system {
            self.system(system);
        }
        if let Some(machine) = &proof.machine {
            self.machine(machine);
        }
        if let Some(bound) = proof.kmc {
            self.record(&["kmc", &bound.to_string()]);
        }
        match &proof.body {
            Some(Body::Chain(chain)) => {
                self.escaped("chain");
                self.chain(chain);
            }
            Some(Body::Choice(options)) => {
                self.record(&["choice"]);
                for (label, chain) in options {
                    self.escaped("option");
                    self.field(label);
                    self.chain(chain);
                }
            }
            None => {}
        }
    }

    fn system(&mut self, System { id, queues }: &System) {
        self.escaped("system");
        self.hex(*id);
        self.end();
        for Queue {
            route,
            peer,
            capacity,
        } in queues
        {
            self.escaped("queue");
            self.number(*route);
            self.field(peer);
            match capacity {
                Capacity::AtMost(most) => {
                    self.field("at-most");
                    self.number(*most);
                }
                Capacity::Growable => self.field("growable"),
                Capacity::Waits(room) => {
                    self.field("waits");
                    self.number(*room);
                }
            }
            self.end();
        }
    }

    fn machine(&mut self, machine: &Machine) {
        let Machine {
            role,
            states,
            initial,
            transitions,
        } = machine;
        self.escaped("machine");
        self.field(role);
        self.number(*states);
        self.number(*initial);
        self.end();
        for transition in transitions {
            self.escaped("step");
            self.number(transition.source);
            self.number(transition.target);
            self.field(word(transition.direction));
            self.field(&transition.peer);
            self.field(&transition.label);
            for sort in &transition.payload {
                self.field(sort);
            }
            self.end();
        }
    }

    fn chain(&mut self, chain: &Chain) {
        for Action {
            direction,
            peer,
            label,
        } in &chain.actions
        {
            self.field(word(*direction));
            self.field(&peer.protocol);
            self.field(&peer.role);
            self.field(label);
        }
        match &chain.tail {
            Tail::Choice {
                direction,
                peer,
                id,
            } => {
                self.field("choice");
                self.field(word(*direction));
                self.field(&peer.protocol);
                self.field(&peer.role);
                self.hex(*id);
            }
            Tail::End => self.field("end"),
            Tail::Named(id) => {
                self.field("named");
                self.hex(*id);
            }
        }
        self.end();
    }
}

fn parse_entry(fields: &[&str]) -> Option<Entry> {
    let &[kind, name, hash, target_kind, target, file, line, outcome] = fields else {
        return None;
    };
    Some(Entry {
        kind: Kind::parse(kind)?,
        name: name.to_owned(),
        hash: unhex(hash)?,
        target: Target {
            kind: TargetKind::parse(target_kind)?,
            name: target.to_owned(),
        },
        file: file.to_owned(),
        line: line.parse().ok()?,
        outcome: match outcome {
            "failed" => Outcome::Failed {
                id: None,
                plays: false,
                problems: Vec::new(),
            },
            "elsewhere" => Outcome::FailedElsewhere(Proof::default()),
            "passed" => Outcome::Passed(Proof::default()),
            _ => return None,
        },
    })
}

fn parse_detail(outcome: &mut Outcome, fields: &[&str]) -> Option<()> {
    match (fields, outcome) {
        (["id", hex], Outcome::Failed { id, .. } | Outcome::FailedElsewhere(Proof { id, .. }))
        | (["id", hex], Outcome::Passed(Proof { id, .. })) => *id = Some(unhex(hex)?),
        (["plays"], Outcome::Failed { plays, .. }) => *plays = true,
        (["problem", token, text], Outcome::Failed { problems, .. }) => {
            problems.push(Problem {
                token: token.parse().ok()?,
                text: (*text).to_owned(),
            });
        }
        (["plays", protocol, role], Outcome::FailedElsewhere(proof) | Outcome::Passed(proof)) => {
            proof.plays = Some(RoleName {
                protocol: (*protocol).to_owned(),
                role: (*role).to_owned(),
            });
        }
        (["system", id], Outcome::FailedElsewhere(proof) | Outcome::Passed(proof)) => {
            proof.system = Some(System {
                id: unhex(id)?,
                queues: Vec::new(),
            });
        }
        (
            ["queue", route, peer, capacity @ ..],
            Outcome::FailedElsewhere(Proof {
                system: Some(System { queues, .. }),
                ..
            })
            | Outcome::Passed(Proof {
                system: Some(System { queues, .. }),
                ..
            }),
        ) => queues.push(Queue {
            route: route.parse().ok()?,
            peer: (*peer).to_owned(),
            capacity: parse_capacity(capacity)?,
        }),
        (
            ["machine", role, states, initial],
            Outcome::FailedElsewhere(proof) | Outcome::Passed(proof),
        ) => {
            proof.machine = Some(Machine {
                role: (*role).to_owned(),
                states: states.parse().ok()?,
                initial: initial.parse().ok()?,
                transitions: Vec::new(),
            });
        }
        (
            ["step", source, target, direction, peer, label, payload @ ..],
            Outcome::FailedElsewhere(Proof {
                machine: Some(Machine { transitions, .. }),
                ..
            })
            | Outcome::Passed(Proof {
                machine: Some(Machine { transitions, .. }),
                ..
            }),
        ) => transitions.push(Transition {
            source: source.parse().ok()?,
            direction: Direction::parse(direction)?,
            peer: (*peer).to_owned(),
            label: (*label).to_owned(),
            payload: payload.iter().map(|&sort| sort.to_owned()).collect(),
            target: target.parse().ok()?,
        }),
        (["kmc", bound], Outcome::FailedElsewhere(proof) | Outcome::Passed(proof)) => {
            proof.kmc = Some(bound.parse().ok()?);
        }
        (["chain", chain @ ..], Outcome::FailedElsewhere(proof) | Outcome::Passed(proof)) => {
            proof.body = Some(Body::Chain(parse_chain(chain)?));
        }
        (["choice"], Outcome::FailedElsewhere(proof) | Outcome::Passed(proof)) => {
            proof.body = Some(Body::Choice(Vec::new()));
        }
        (
            ["option", label, chain @ ..],
            Outcome::FailedElsewhere(Proof {
                body: Some(Body::Choice(options)),
                ..
            })
            | Outcome::Passed(Proof {
                body: Some(Body::Choice(options)),
                ..
            }),
        ) => options.push(((*label).to_owned(), parse_chain(chain)?)),
        _ => return None,
    }
    Some(())
}

fn parse_capacity(fields: &[&str]) -> Option<Capacity> {
    match fields {
        ["at-most", most] => Some(Capacity::AtMost(most.parse().ok()?)),
        ["growable"] => Some(Capacity::Growable),
        ["waits", room] => Some(Capacity::Waits(room.parse().ok()?)),
        _ => None,
    }
}

fn parse_chain(mut fields: &[&str]) -> Option<Chain> {
    let role = |protocol: &str, role: &str| RoleName {
        protocol: protocol.to_owned(),
        role: role.to_owned(),
    };
    let mut actions = Vec::new();
    loop {
        let tail = match fields {
            ["end"] => Tail::End,
            ["named", id] => Tail::Named(unhex(id)?),
            ["choice", direction, protocol, name, id] => Tail::Choice {
                direction: Direction::parse(direction)?,
                peer: role(protocol, name),
                id: unhex(id)?,
            },
            [direction, protocol, name, label, rest @ ..] => {
                let peer = role(protocol, name);
                actions.push(Action {
                    direction: Direction::parse(direction)?,
                    peer,
                    label: (*label).to_owned(),
                });
                fields = rest;
                continue;
            }
            _ => return None,
        };
        return Some(Chain { actions, tail });
    }
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}

fn unhex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// Reads one line.
fn fields(line: &str) -> Vec<String> {
    let unescape = |field: &str| {
        let mut text = String::new();
        let mut characters = field.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(other) => text.push(other),
                    None => {}
                },
                other => text.push(other),
            }
        }
        text
    };
    line.split('\t').map(unescape).collect()
}

impl fmt::Display for Chain {
    /// The local type of the chain: `s!Ready; s?Value; end`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Action {
            direction,
            peer,
            label,
        } in &self.actions
        {
            write!(f, "{}{}{label}; ", peer.role, word(*direction))?;
        }
        match &self.tail {
            Tail::Choice {
                direction,
                peer,
                id,
            } => write!(f, "{}{}{{{id:016x}}}", peer.role, word(*direction)),
            Tail::End => f.write_str("end"),
            Tail::Named(id) => f.write_fmt(format_args!("{id:016x}")),
        }
    }
}
