//! The file through which the build script answers the macros: `OUT_DIR/rumpsteak/verdicts.txt`.
//!
//! The build script writes one entry for each item that it saw: `#[session]` items, role structs,
//! sets and `protocol!(…)`. A macro looks its own item up by kind, name and token hash. The entry
//! of an item without fault carries its [`Proof`]: the structure that was verified, with all names
//! resolved. The macro makes rustc compare that structure with the one that rustc itself sees, so
//! that a proof holds for no other session, even where the build script and rustc resolve a name
//! differently.
//!
//! The entry of a role carries the capacities of the queues that it sends into, if some were
//! proven. They hold for a [`System`]: roles, and all sessions of each. Its number is in the
//! entries of the roles and of the sessions. The macros make rustc see that both ends of a queue
//! have the same number, and that no session without it runs on such a role: so the capacities hold
//! for no other roles and sessions, either.
//!
//! ```text
//! 0.1.0                                     the version of rumpsteak-build
//! [[["p.scr",…]],…]                         the package: Package
//! ["--@role k\n…"]                          the projections of each protocol
//! role K 1f3c5d6e7a8b9c0d ["src/k.rs",…]    one line for each Entry: the key, then the rest
//! session Kernel 00d2f3a4b5c6d7e8 ["src/k.rs",…]
//! ```
//!
//! The entries are sorted: a macro parses the one that it looks for. Equal values give equal bytes.
//! The macros refuse a file of another version than their own, because both must agree on every
//! detail.

use std::fmt;

use serde_json::Error as JsonError;

/// The path of the file below `OUT_DIR`, with `/`.
pub const PATH: &str = "rumpsteak/verdicts.txt";

/// The variable in which the build script tells rustc the [`stamp`] of the file.
///
/// A file in `OUT_DIR` outlives the build script that wrote it: if the script no longer verifies,
/// old verdicts are still there. The variable is not, because Cargo forgets it with each run of the
/// script.
pub const VARIABLE: &str = "RUMPSTEAK_VERDICTS";

/// The variable in which the build script tells rustc the folder of the package. It is not in the
/// file, which is the same wherever the package lies.
pub const FOLDER: &str = "RUMPSTEAK_PACKAGE";

/// The variable in which the build script tells rustc the name of the runtime's crate, if the
/// package has renamed it.
pub const RENAMED: &str = "RUMPSTEAK_RUNTIME";

/// A hash of 64 bits that identifies the text of a file, in hexadecimal.
///
/// No change of eight bytes in a row leaves it as it was, since each step can be undone. As the
/// hash of an item, it guards against what is stale, not against what is forged.
pub fn stamp(text: &str) -> String {
    let (words, rest) = text.as_bytes().as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    format!("{:016x}", words.fold(text.len() as u64, mix))
}

/// A fingerprint with one part more, as `private::fingerprint` of the runtime has it.
pub const fn mix(hash: u64, part: u64) -> u64 {
    (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// All that the build script has to say to the macros.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// What concerns no single item.
    pub package: Package,
    /// What entries have as [`Proof::projections`], each text once: they are printed with its
    /// position.
    projections: Vec<String>,
    /// One line for each item of each target, sorted when they are printed.
    entries: Vec<String>,
}

/// What the build script says about the package as a whole.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Package {
    /// The files of protocols: the path from the package on, and the [`stamp`] of the text.
    pub protocols: Vec<(String, String)>,
    /// The modules that the build script wrote: the name in `protocol!(…)` and the path of the
    /// runtime, the file below `OUT_DIR`, and the [`stamp`] of its text. `protocol!(…)` includes no
    /// other text, so that the code is never of another build than the verdicts on it.
    pub generated: Vec<(String, String, String)>,
    /// Problems that belong to no item, for `include_protocols!()`: rendered texts.
    pub unanchored: Vec<String>,
    /// The source files that could not be read as Rust, so that no item of them has an entry: the
    /// file, relative to the package, with `/`; its first byte that is no Rust, from 0; and the
    /// line of this byte, from 1.
    pub unreadable: Vec<(String, usize, usize)>,
}

/// The verdict on one item.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Entry {
    /// Which item it is about: see [`key`].
    pub key: String,
    /// The crate of the item, as far as a macro can tell it from others: `lib a`, `bin a` for a
    /// binary or an example, `test a` for a test or a benchmark. Empty for a file that build.rs
    /// names, which any crate may include.
    pub krate: String,
    /// The file of the item, relative to the package, with `/`.
    pub file: String,
    /// The line of the item's name, from 1.
    pub line: usize,
    /// Whether the item, and all that it is made of, is without fault. If not, then nothing was
    /// proven, and what the proof says only keeps rustc from following up the errors with others.
    pub passed: bool,
    /// What is wrong in this item, and where: the index of the token, and the text of the error,
    /// plain, of several lines perhaps. Empty if another item raises the error.
    pub problems: Vec<(usize, String)>,
    /// What the macro emits beside the problems, so that rustc does not follow them up: the
    /// arguments of `stub!` of the runtime, such as `role A, Label`.
    pub stubs: Vec<String>,
    /// What was verified.
    pub proof: Proof,
}

/// What an entry is found by: the kind of the item, its name, and the hash of its tokens.
pub fn key(kind: Kind, name: &str, hash: u64) -> String {
    format!("{kind} {name} {hash:016x} ")
}

/// Which macro an entry is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `protocol!(…)`.
    Protocol,
    /// `#[derive(Role)]`.
    Role,
    /// `#[session]`.
    Session,
    /// `#[derive(Roles)]` with `#[closed_system]`.
    Set,
}

/// What was verified: the structure of an item with all names resolved.
///
/// Roles have the names of the protocol, which `#[derive(Role)]` makes constants of the struct.
/// Labels have those of the Rust source (`#[derive(Message)] enum Label { Ready(…) }`), exactly as
/// written there, which are constants as well.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Proof {
    /// For a root: who plays it; `None` if its role may not, since rustc refuses that by an error
    /// of its own: the role is of another crate, or plays the same type already. For a role: its
    /// own names.
    pub plays: Option<RoleName>,
    /// For a root that was verified together with all sessions of its peers: the k for which they
    /// are k-multiparty compatible.
    pub kmc: Option<usize>,
    /// For a root: the machine that was verified, with the names of the protocol.
    pub machine: Option<Machine>,
    /// For a `struct` or an `enum`: the identity by which other structures refer to it. An item
    /// with a fault has another one than it would have without, so that no proof of a session that
    /// uses it holds unless this entry's errors are raised.
    pub id: Option<u64>,
    /// The structure: the session of a `type` or a `struct`, or the options of an `enum`, in order,
    /// with their labels; without them where the options name their peers. Empty for an item that
    /// no root reaches: no session contains it, so
    /// nothing was verified.
    pub body: Vec<(Option<String>, Chain)>,
    /// For a role: the system in which its queues have proven capacities.
    pub system: System,
    /// For a root: the role structs that were verified with it, each as the number of its system
    /// and the path of its module, `crate::a`. Without a path, the number is enough.
    pub players: Vec<(u64, String)>,
    /// For a role of a protocol: the projections onto all of its roles, as a text, by which
    /// programs that were built apart know whether they follow the same protocol. Otherwise empty.
    pub projections: String,
    /// For a role of a protocol: the roles that play on demand.
    pub on_demand: Vec<String>,
    /// For a role whose sessions are safe with those of its package only: a number for all sessions
    /// of all roles. Otherwise 0.
    pub closed: u64,
}

/// A session with all names resolved and all `type` aliases replaced by what they stand for: its
/// actions, and then what comes after them.
pub type Chain = Vec<Step>;

/// A part of a session: the constructor in small letters, the names in it, and the identity of the
/// struct or the enum that it ends with.
///
/// ```text
/// ("send", ["DoubleBuffering", "s", "Ready"], None)       Send<S, Ready, …>
/// ("branch", ["DoubleBuffering", "s"], Some(7))           Branch<S, Choice>
/// ("branch", [], Some(7))                                 Branch<Choice>
/// ("end", [], None)                                       End
/// ("", [], Some(7))                                       a struct
/// ```
pub type Step = (String, Vec<String>, Option<u64>);

/// A machine as the build script saw it: its role, the number of its states, the one in which it
/// begins, and its transitions.
pub type Machine = (String, usize, usize, Vec<Transition>);

/// Source, whether it sends, peer, label, sorts, target.
pub type Transition = (usize, bool, String, String, Vec<String>, usize);

/// Roles whose queues have capacities that were proven for all their sessions together, as one of
/// them sees it: the number of the system, and the queues that the role sends into, in the order of
/// its routes. A role without proven capacities has no queues here, and a number of its own.
pub type System = (u64, Vec<Queue>);

/// A queue that a role sends into: the position among the fields of the role's struct; the role at
/// the other end, for those who read the file; and how much room it needs, as a `Capacity` of the
/// runtime is written: `AtMost(2)`.
pub type Queue = (usize, String, String);

/// A role of a protocol or of a set.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RoleName {
    /// The protocol.
    pub protocol: String,
    /// The role.
    pub role: String,
}

impl RoleName {
    /// As it is written: without the crate and module of a set, `bin app: jobs::Roles`.
    pub fn written(&self) -> String {
        let protocol = self.protocol.rsplit("::").next().unwrap_or_default();
        format!("{protocol}::{}", self.role)
    }

    /// The name that a role has in proofs if something is wrong with its link to a protocol, as it
    /// is written.
    ///
    /// `#[derive(Role)]` gives the struct this name together with the error, and never without it:
    /// it takes no name from the source. It keeps rustc from following up that error with others.
    pub fn refused(protocol: &str, role: &str) -> Self {
        Self {
            protocol: protocol.to_owned(),
            // No role of a protocol has a blank in its name.
            role: format!("{role} (refused)"),
        }
    }
}

impl Verdicts {
    /// Adds an entry.
    pub fn add(&mut self, entry: &Entry) {
        let text = &entry.proof.projections;
        let projections = (!text.is_empty()).then(|| {
            self.projections.iter().position(|known| known == text).unwrap_or_else(|| {
                self.projections.push(text.clone());
                self.projections.len() - 1
            })
        });
        self.entries.push(entry.print(projections));
    }

    /// All entries.
    ///
    /// # Errors
    ///
    /// If a line is no entry.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry, ParseError>> {
        self.entries.iter().map(|line| Entry::parse(line, &self.projections))
    }

    /// The entry of an item, by its [`key`] and its place: the crate, if it is known, the source
    /// file as rustc has it, relative to the workspace or absolute, and the line of its name. An
    /// item without an entry at its own place has none, even if equal tokens have one elsewhere.
    ///
    /// Several entries have one place if a crate mounts one file in several modules, or if a macro
    /// cannot tell two crates apart. Then the worst counts: the item has the problems of all, and
    /// passes only if all pass.
    ///
    /// Takes the logarithm of the number of entries, if the file is as the build script shows it.
    ///
    /// # Errors
    ///
    /// If the line is no entry.
    pub fn find(
        &self,
        key: &str,
        krate: Option<&str>,
        (file, line): (&str, usize),
    ) -> Result<Option<Entry>, ParseError> {
        // The start of an entry of this very place.
        let exact = json(&(file, line));
        let mut lines = self.with_prefix(&format!("{key}{},", exact.trim_end_matches(']')));
        if lines.is_empty() {
            lines = self.with_prefix(key);
        }
        let is_crate = |of: &str| of.is_empty() || krate.is_none_or(|krate| krate == of);
        let mut found: Option<Entry> = None;
        for text in lines {
            let entry = Entry::parse(text, &self.projections)?;
            if line == entry.line && same_file(file, &entry.file) && is_crate(&entry.krate) {
                match &mut found {
                    Some(found) => found.join(entry),
                    None => found = Some(entry),
                }
            }
        }
        Ok(found)
    }

    fn with_prefix(&self, prefix: &str) -> &[String] {
        let first = self.entries.partition_point(|line| line.as_str() < prefix);
        let rest = &self.entries[first..];
        &rest[..rest.partition_point(|line| line.starts_with(prefix))]
    }

    /// The byte and the line where the given source file, as rustc has it, could not be read;
    /// `None` if it was read.
    pub fn unreadable(&self, file: &str) -> Option<(usize, usize)> {
        let mut unreadable = self.package.unreadable.iter();
        let found = unreadable.find(|(unreadable, ..)| same_file(file, unreadable));
        found.map(|&(_, byte, line)| (byte, line))
    }

    /// The text of the file, as the given version of `rumpsteak-build` writes it.
    pub fn print(&self, version: &str) -> String {
        let mut entries = self.entries.clone();
        entries.sort();
        let lines = [version.to_owned(), self.package.print(), json(&self.projections)];
        let lines: Vec<String> = lines.into_iter().chain(entries).collect();
        lines.join("\n")
    }

    /// Reads the text of the file, which must be of the given version of `rumpsteak-build`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Version`] if another version wrote it, [`ParseError::Malformed`] if what it
    /// says about the package is cut off or was changed.
    pub fn parse(text: &str, version: &str) -> Result<Self, ParseError> {
        let mut lines = text.lines();
        let found = lines.next().unwrap_or_default();
        if found != version {
            return Err(ParseError::Version {
                found: found.to_owned(),
                expected: version.to_owned(),
            });
        }
        Ok(Self {
            package: Package::parse(lines.next().unwrap_or_default())?,
            projections: serde_json::from_str(lines.next().unwrap_or_default())?,
            entries: lines.map(str::to_owned).collect(),
        })
    }
}

impl Package {
    fn print(&self) -> String {
        json(&(&self.protocols, &self.generated, &self.unanchored, &self.unreadable))
    }

    fn parse(line: &str) -> Result<Self, ParseError> {
        let (protocols, generated, unanchored, unreadable) = serde_json::from_str(line)?;
        Ok(Self { protocols, generated, unanchored, unreadable })
    }
}

impl Entry {
    /// Adds another verdict on the same place.
    fn join(&mut self, other: Self) {
        self.passed &= other.passed;
        self.problems.extend(other.problems);
        self.problems.sort();
        self.problems.dedup();
        self.stubs.extend(other.stubs);
        self.stubs.sort();
        self.stubs.dedup();
        self.proof.players.extend(other.proof.players);
    }

    fn print(&self, projections: Option<usize>) -> String {
        let proof = &self.proof;
        let plays = proof.plays.as_ref();
        let proof = (
            plays.map(|name| (&name.protocol, &name.role)),
            proof.kmc,
            &proof.machine,
            proof.id,
            &proof.body,
            &proof.system,
            &proof.players,
            projections,
            &proof.on_demand,
            proof.closed,
        );
        let found = (self.passed, &self.problems, &self.stubs);
        self.key.clone() + &json(&(&self.file, self.line, &self.krate, found, proof))
    }

    fn parse(line: &str, all: &[String]) -> Result<Self, ParseError> {
        let (key, rest) = line.split_at(line.find('[').unwrap_or(line.len()));
        let (file, line, krate, found, proof) = serde_json::from_str(rest)?;
        let (passed, problems, stubs) = found;
        let (plays, kmc, machine, id, body, system, players, projections, on_demand, closed) =
            proof;
        let text = |position: usize| {
            let unknown = || ParseError::Malformed(format!("no projections {position}"));
            all.get(position).cloned().ok_or_else(unknown)
        };
        let projections = Option::map_or(projections, Ok(String::new()), text)?;
        let role_name = |(protocol, role): (String, String)| RoleName { protocol, role };
        Ok(Self {
            key: key.to_owned(),
            krate,
            file,
            line,
            passed,
            problems,
            stubs,
            proof: Proof {
                plays: Option::map(plays, role_name),
                kmc,
                machine,
                id,
                body,
                system,
                players,
                projections,
                on_demand,
                closed,
            },
        })
    }
}

/// JSON of texts, numbers, tuples and lists, which has no way to fail.
fn json(value: &impl serde_core::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// True if one path is the other as seen from a folder further up or down: rustc's paths are
/// relative to the workspace, those of the build script to the package. rustc keeps the `..` of a
/// `#[path]`.
fn same_file(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(|path| {
        let mut parts = Vec::new();
        for part in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")) {
            match parts.last() {
                Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        parts
    });
    left.ends_with(&right) || right.ends_with(&left)
}

/// Why a verdict file is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ParseError {
    /// The file is cut off or was changed.
    Malformed(String),
    /// Another version of `rumpsteak-build` wrote it.
    Version {
        /// The version that wrote it.
        found: String,
        /// The version that reads it.
        expected: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(problem) => {
                write!(f, "the verdict file is damaged: {problem}\n\nhelp: run `cargo clean`")
            }
            Self::Version { found, expected } => write!(
                f,
                "the verdicts were written by rumpsteak-build {found}, but this is rumpsteak-runtime \
                 {expected}: use the same version of both"
            ),
        }
    }
}

impl std::error::Error for ParseError {}

impl From<JsonError> for ParseError {
    fn from(error: JsonError) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.protocol, self.role)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}
