//! Random packages: sets of roles and their sessions, written out, in shared files, behind `cfg`,
//! by macros and inside functions, in a library, a binary and a test of one name.
//!
//! The real build script judges each package. rustc compiles it by the commands that Cargo ran for
//! a first package. Every crate that compiles is run: every set, with every combination of the
//! sessions that the set has to rustc. Each combination must be safe to the explorer, and must end.
//!
//! The sessions are finite, and each receives from one peer at a time. So all interleavings of a
//! combination end alike, and one run shows the end. A program finds out by itself that its roles
//! wait for ever: none of them was woken.
//!
//! Tries twelve packages, or as `RUMPSTEAK_FUZZ` says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use fastrand::Rng;
use rumpsteak_fsm::{Action, Fsm};
use rumpsteak_oracle::{Coverage, Limits, System, seeds};

use super::harness::{Package, TESTED, VERIFIES};

const ROLES: [&str; 3] = ["a", "b", "c"];

/// An action of a role: whether it sends, the peer, and the number of the message.
type Step = (bool, usize, usize);

/// A session of a role, which has one name wherever it stands.
#[derive(Clone, Debug)]
struct Session {
    role: usize,
    name: String,
    steps: Vec<Step>,
    /// The action from which on it goes on in an item of its own, and whether that is a struct.
    cut: Option<(usize, bool)>,
}

/// The way in which a session gets into a set.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Way {
    Written,
    Nested,
    Path,
    Include,
    /// Behind a `cfg` that holds.
    Cfg,
    Macro,
    MacroInclude,
    Function,
}

const SEEN: [Way; 5] = [Way::Written, Way::Nested, Way::Path, Way::Include, Way::Cfg];
const UNSEEN: [Way; 3] = [Way::Macro, Way::MacroInclude, Way::Function];

/// A set of roles in a module, with the sessions that it has: positions in the pool.
#[derive(Debug)]
struct Set {
    module: String,
    sessions: Vec<(usize, Way)>,
    /// True if its roles are in a file that others have, too.
    shares_roles: bool,
    /// The sessions of a module of its name behind a `cfg` that does not hold, which the build
    /// script cannot know.
    twin: Option<Vec<usize>>,
}

/// A package: the parts of its protocol, the sessions, and the sets of each of its crates.
#[derive(Debug)]
struct Random {
    /// The roles as the protocol lists them: of sessions that do not fit, the first is refused.
    order: [usize; 3],
    parts: Vec<Vec<(usize, usize, usize)>>,
    pool: Vec<Session>,
    crates: Vec<(Crate, Vec<Set>)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Crate {
    Library,
    Binary,
    Test,
}

impl Crate {
    fn root(self) -> String {
        match self {
            Self::Library => "src/lib.rs".to_owned(),
            Self::Binary => "src/main.rs".to_owned(),
            Self::Test => format!("tests/{TESTED}.rs"),
        }
    }

    /// The arguments that only the command that compiles it has.
    fn command(self) -> &'static str {
        match self {
            Self::Library => "--crate-type lib",
            Self::Binary => " CARGO_BIN_NAME=",
            Self::Test => " CARGO_TARGET_TMPDIR=",
        }
    }
}

impl Set {
    fn chosen(&self) -> Vec<usize> {
        self.sessions.iter().map(|(session, _)| *session).collect()
    }

    fn has(&self, session: usize) -> bool {
        self.sessions.iter().any(|(own, _)| *own == session)
    }
}

impl Random {
    fn new(rng: &mut Rng) -> Self {
        let parts = parts(rng);
        let pool = pool(&parts, rng);
        let mut order = [0, 1, 2];
        rng.shuffle(&mut order);
        let mut random = Self { order, parts, pool, crates: Vec::new() };
        let mut crates = vec![Crate::Library, Crate::Binary, Crate::Test];
        crates.remove(rng.usize(..3));
        let kind = rng.usize(..4);
        let trap = if kind < 2 { random.trap(rng) } else { None };
        let is_sound = trap.is_some() || kind == 2;
        for krate in crates {
            let modules = ["one", "two"].into_iter().take(1 + rng.usize(..2));
            let sets = modules.map(|module| random.set(module, is_sound, rng)).collect();
            random.crates.push((krate, sets));
        }
        if let Some([one, two]) = trap {
            // In one crate or in two.
            let first = rng.usize(..2);
            random.crates[first].1 = vec![one];
            random.crates[rng.usize(..2)].1.truncate(1);
            let second = rng.usize(..2);
            random.crates[second].1.truncate(1);
            random.crates[second].1.push(two);
        }
        random
    }

    /// A set that is safe, and another one that is safe but for one session of the first: equal
    /// tokens, of which only those of the first set are right.
    fn trap(&mut self, rng: &mut Rng) -> Option<[Set; 2]> {
        let sets = (0..100).find_map(|_| {
            let (mut one, mut two) = (self.set("one", true, rng), self.set("two", true, rng));
            let at = rng.usize(..one.sessions.len());
            let session = one.sessions[at].0;
            let copied = [Way::Path, Way::Include, Way::Macro, Way::MacroInclude, Way::Function]
                [rng.usize(..5)];
            one.sessions[at].1 = match copied {
                Way::MacroInclude => Way::Include,
                Way::Path | Way::Include => copied,
                _ => one.sessions[at].1,
            };
            let is_trap = !two.has(session) && {
                two.sessions.push((session, copied));
                !self.is_safe_set(&two.chosen())
            };
            is_trap.then_some(([one, two], session))
        });
        let (sets, session) = sets?;
        // Of sessions that do not fit, that of the first role is refused.
        let first = self.order.iter().position(|role| *role == self.pool[session].role);
        self.order.swap(0, first.unwrap_or_default());
        Some(sets)
    }

    /// A set with at least one session of each role. If it is `sound`, it should build.
    fn set(&self, module: &str, is_sound: bool, rng: &mut Rng) -> Set {
        let is_safe = is_sound || rng.bool();
        let unseen = !is_sound && rng.bool();
        let chosen = |rng: &mut Rng| {
            let mut chosen = BTreeSet::new();
            for role in 0..ROLES.len() {
                let of_role: Vec<usize> =
                    (0..self.pool.len()).filter(|&at| self.pool[at].role == role).collect();
                chosen.extend((0..1 + rng.usize(..2)).map(|_| of_role[rng.usize(..of_role.len())]));
            }
            chosen.into_iter().collect::<Vec<usize>>()
        };
        let sessions = |rng: &mut Rng| loop {
            let sessions = chosen(rng);
            if !is_safe || self.is_safe_set(&sessions) {
                return sessions;
            }
        };
        let way = |rng: &mut Rng| match unseen && rng.usize(..4) == 0 {
            true => UNSEEN[rng.usize(..UNSEEN.len())],
            false => SEEN[rng.usize(..SEEN.len())],
        };
        Set {
            module: module.to_owned(),
            sessions: sessions(rng).into_iter().map(|session| (session, way(rng))).collect(),
            shares_roles: rng.usize(..4) == 0,
            twin: (rng.usize(..8) == 0).then(|| sessions(rng)),
        }
    }

    /// True if every combination of sessions is safe.
    fn is_safe_set(&self, sessions: &[usize]) -> bool {
        self.combinations(sessions).iter().all(|of| self.is_safe(of))
    }

    /// Every way to take a session of each role.
    fn combinations(&self, sessions: &[usize]) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for role in 0..ROLES.len() {
            let of_role = sessions.iter().filter(|&&session| self.pool[session].role == role);
            let longer = |known: &Vec<usize>| {
                let of_role = of_role.clone();
                of_role.map(|&session| [&known[..], &[session]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// The explorer's verdict on a combination.
    fn is_safe(&self, combination: &[usize]) -> bool {
        let machines = combination.iter().map(|&session| self.pool[session].machine());
        let system = System::new(machines.collect()).unwrap();
        let limits = Limits { queue: 8, configurations: 100_000, steps: 1_000 };
        let report = system.explore(&limits);
        assert_eq!(report.coverage, Coverage::Complete);
        report.findings.is_empty()
    }

    /// True if every combination of a crate is safe, and the build script sees every session.
    fn should_build(&self, sets: &[Set]) -> bool {
        sets.iter().all(|set| {
            set.sessions.iter().all(|(_, way)| SEEN.contains(way))
                && self.is_safe_set(&set.chosen())
                && set.twin.as_ref().is_none_or(|twin| self.is_safe_set(twin))
        })
    }

    /// The files of the package.
    fn files(&self) -> Vec<(String, String)> {
        let parts = self.parts.iter().map(|part| {
            let message = |(from, to, label): &(usize, usize, usize)| {
                format!("m{label}() from {} to {};", ROLES[*from], ROLES[*to])
            };
            part.iter().map(message).collect::<Vec<_>>().join(" ")
        });
        let protocol = format!(
            "global protocol P({}) {{\n  par {{ {} }}\n}}\n",
            self.order.map(|role| format!("role {}", ROLES[role])).join(", "),
            parts.collect::<Vec<_>>().join(" } and { "),
        );
        let mut files = vec![
            ("protocols/p.scr".to_owned(), protocol),
            ("shared/roles.rs".to_owned(), format!("use super::*;\n{}", roles())),
        ];
        for session in &self.pool {
            let (name, item) = (session.name.to_lowercase(), session.item());
            files.push((format!("shared/{name}.rs"), format!("use super::*;\n{item}")));
            files.push((format!("shared/{name}.inc"), item));
        }
        let mut runs_library = self.crates[0].0 == Crate::Library;
        for (krate, sets) in &self.crates {
            let mut text = self.prelude();
            for set in sets {
                text += &self.module(set);
            }
            let plays = sets.iter().map(|set| format!("{}::play();", set.module));
            let mut plays: String = plays.collect();
            let head = match krate {
                Crate::Library => "pub fn play()",
                Crate::Binary | Crate::Test => {
                    if std::mem::take(&mut runs_library) {
                        plays += PLAYS_LIBRARY;
                    }
                    "fn main()"
                }
            };
            let _ = writeln!(text, "{head} {{ {plays} }}");
            files.push((krate.root(), text));
        }
        files
    }

    /// The part that all sets of a crate have in common.
    fn prelude(&self) -> String {
        let labels = 0..self.parts.iter().map(Vec::len).sum();
        let names: Vec<String> = labels.map(|label: usize| format!("M{label}")).collect();
        let variants: Vec<String> = names.iter().map(|name| format!("{name}({name})")).collect();
        let structs: String = names.iter().map(|name| format!("pub struct {name};\n")).collect();
        let macros = self.pool.iter().map(|session| {
            let (name, item) = (session.name.to_lowercase(), session.item());
            format!(
                "macro_rules! make_{name} {{ () => {{ {item} }} }}\n\
                 macro_rules! include_{name} {{ () => {{ include!(\"../shared/{name}.inc\"); }} }}\n"
            )
        });
        let macros: String = macros.collect();
        format!(
            "{PRELUDE}{macros}pub mod labels {{
use rumpsteak_runtime::Message;
#[derive(Message)] pub enum Label {{ {} }}
{structs}}}\n",
            variants.join(", "),
        )
    }

    /// The module of a set.
    fn module(&self, set: &Set) -> String {
        let mut text = String::new();
        let module = &set.module;
        let head = "pub use super::{labels::*, joined};\nuse rumpsteak_runtime::{Channel, Result, Role, Roles, session, try_run};\n";
        let roles = match set.shares_roles {
            true => {
                "#[path = \"../../shared/roles.rs\"] pub mod roles; pub use roles::*;\n".to_owned()
            }
            false => roles(),
        };
        if let Some(twin) = &set.twin {
            let _ = writeln!(text, "#[cfg(unknown)] pub mod {module} {{\n{head}{roles}");
            for &session in twin {
                text += &self.pool[session].item();
            }
            text += "}\n#[cfg(not(unknown))]\n";
        }
        let _ = writeln!(text, "pub mod {module} {{\n{head}{roles}");
        for &(session, way) in &set.sessions {
            text += &self.pool[session].placed(way);
        }
        text += "pub fn play() {\n";
        for combination in self.combinations(&set.chosen()) {
            let name = self.name(set, &combination);
            let runs = combination.iter().map(|&session| {
                let Session { role, name, .. } = &self.pool[session];
                format!("Box::pin(run_{}(&mut all.{}))", name.to_lowercase(), ROLES[*role])
            });
            let runs: Vec<String> = runs.collect();
            let _ = writeln!(
                text,
                "{{ let mut all = All::default(); joined({name:?}, vec![{}]); }}",
                runs.join(", ")
            );
        }
        text + "}\n}\n"
    }

    fn name(&self, set: &Set, combination: &[usize]) -> String {
        let names = combination.iter().map(|&session| self.pool[session].name.as_str());
        format!("{}:{}", set.module, names.collect::<Vec<_>>().join("+"))
    }
}

/// The parts of a `par`: from, to and the number of each message. The messages of one role to
/// another are in one part.
fn parts(rng: &mut Rng) -> Vec<Vec<(usize, usize, usize)>> {
    let mut parts = vec![Vec::new(), Vec::new()];
    let part_of: Vec<usize> = (0..9).map(|_| rng.usize(..2)).collect();
    let count = 4 + rng.usize(..2);
    let mut label = 0;
    while label < count {
        let (from, to) = (rng.usize(..3), rng.usize(..3));
        if from != to {
            parts[part_of[from * 3 + to]].push((from, to, label));
            label += 1;
        }
    }
    parts.retain(|part| !part.is_empty());
    let is_idle = |role| projected(&parts.concat(), role).is_empty();
    if (0..ROLES.len()).any(is_idle) { self::parts(rng) } else { parts }
}

/// Sessions of each role: two that follow an order of all messages, and two that may swap two of
/// their actions.
fn pool(parts: &[Vec<(usize, usize, usize)>], rng: &mut Rng) -> Vec<Session> {
    let mut pool = Vec::new();
    let first = merged(parts, rng);
    for (role, role_name) in ROLES.iter().enumerate() {
        let mut known: Vec<Vec<Step>> = Vec::new();
        for number in 0..4 {
            // Of each role one session, so that there is a safe combination.
            let messages = if number == 0 { first.clone() } else { merged(parts, rng) };
            let mut steps = projected(&messages, role);
            if number > 1 && steps.len() > 1 {
                let at = rng.usize(..steps.len() - 1);
                // A role sends to each peer in the order of the protocol, and receives so, too.
                let is_free = (steps[at].0, steps[at].1) != (steps[at + 1].0, steps[at + 1].1);
                if is_free {
                    steps.swap(at, at + 1);
                }
            }
            if steps.is_empty() || known.contains(&steps) {
                continue;
            }
            let cut = (steps.len() > 1 && rng.usize(..3) == 0)
                .then(|| (1 + rng.usize(..steps.len() - 1), rng.bool()));
            let name = format!("S{role_name}{}", known.len());
            known.push(steps.clone());
            pool.push(Session { role, name, steps, cut });
        }
    }
    pool
}

/// The messages of all parts in one order.
fn merged(parts: &[Vec<(usize, usize, usize)>], rng: &mut Rng) -> Vec<(usize, usize, usize)> {
    let mut rest: Vec<&[_]> = parts.iter().map(|part| &part[..]).collect();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let at = rng.usize(..rest.len());
        match rest[at] {
            [first, others @ ..] => {
                all.push(*first);
                rest[at] = others;
            }
            [] => drop(rest.remove(at)),
        }
    }
    all
}

fn projected(messages: &[(usize, usize, usize)], role: usize) -> Vec<Step> {
    let step = |&(from, to, label): &(usize, usize, usize)| match role {
        _ if from == role => Some((true, to, label)),
        _ if to == role => Some((false, from, label)),
        _ => None,
    };
    messages.iter().filter_map(step).collect()
}

/// The roles of a set.
fn roles() -> String {
    let mut text = "#[derive(Roles)] pub struct All { pub a: A, pub b: B, pub c: C }\n".to_owned();
    for role in ROLES {
        let routes = ROLES.iter().filter(|peer| **peer != role);
        let routes =
            routes.map(|peer| format!("#[route({})] {peer}: Channel<Label>", peer.to_uppercase()));
        let _ = writeln!(
            text,
            "#[derive(Role)] #[protocol(P::{role})] #[message(Label)] pub struct {} {{ {} }}",
            role.to_uppercase(),
            routes.collect::<Vec<_>>().join(", "),
        );
    }
    text
}

impl Session {
    fn machine(&self) -> Fsm {
        let mut builder = Fsm::builder(ROLES[self.role]);
        let initial = builder.add_state();
        let mut state = initial;
        for (sends, peer, label) in &self.steps {
            let (peer, label, next) = (ROLES[*peer], format!("m{label}"), builder.add_state());
            let action = match sends {
                true => Action::send(peer, label.as_str(), &[]),
                false => Action::receive(peer, label.as_str(), &[]),
            };
            builder.add_transition(state, action, next);
            state = next;
        }
        builder.build(initial)
    }

    /// The item, and the one in which it goes on.
    fn item(&self) -> String {
        let (name, role) = (&self.name, ROLES[self.role].to_uppercase());
        let chain = |steps: &[Step], end: &str| {
            let heads = steps.iter().map(|(sends, peer, label)| {
                let action = if *sends { "Send" } else { "Receive" };
                format!("{action}<{}, M{label}, ", ROLES[*peer].to_uppercase())
            });
            heads.collect::<String>() + end + &">".repeat(steps.len())
        };
        let Some((at, is_struct)) = self.cut else {
            return format!(
                "#[session({role})] pub type {name} = {};\n",
                chain(&self.steps, "End")
            );
        };
        let (first, rest) =
            (chain(&self.steps[..at], &format!("{name}Rest")), chain(&self.steps[at..], "End"));
        let rest = match is_struct {
            true => format!("#[session] pub struct {name}Rest({rest});"),
            false => format!("#[session] pub type {name}Rest = {rest};"),
        };
        format!("#[session({role})] pub type {name} = {first};\n{rest}\n")
    }

    /// The item where it is in a set, and its process.
    fn placed(&self, way: Way) -> String {
        let (lower, item) = (self.name.to_lowercase(), self.item());
        let (before, inside, module) = match way {
            Way::Written => (item, String::new(), ""),
            Way::Cfg => {
                let item = item.replace("#[session", "#[cfg(not(unknown))] #[session");
                (item, String::new(), "")
            }
            Way::Nested => {
                (format!("pub mod {lower} {{ use super::*;\n{item}}}\n"), String::new(), "module")
            }
            Way::Path => {
                let path = format!("#[path = \"../../shared/{lower}.rs\"] pub mod {lower};\n");
                (path, String::new(), "module")
            }
            Way::Include => (format!("include!(\"../shared/{lower}.inc\");\n"), String::new(), ""),
            Way::Macro => (format!("make_{lower}!();\n"), String::new(), ""),
            Way::MacroInclude => (format!("include_{lower}!();\n"), String::new(), ""),
            Way::Function => (String::new(), item, ""),
        };
        let path = if module.is_empty() { String::new() } else { format!("{lower}::") };
        let mut steps = String::new();
        for (sends, _, label) in &self.steps {
            steps += &match sends {
                true => format!("let s = s.send(M{label}).await?; "),
                false => "let (_, s) = s.receive().await?; ".to_owned(),
            };
        }
        format!(
            "{before}pub async fn run_{lower}(role: &mut {}) -> Result<()> {{\n{inside}\
             try_run(role, async |s: {path}{}<'_>| {{ {steps}Ok(((), s)) }}).await\n}}\n",
            ROLES[self.role].to_uppercase(),
            self.name,
        )
    }
}

/// Runs the sets of the library.
const PLAYS_LIBRARY: &str = "tested::play();";

/// Polls all roles of a set until nothing can happen any more, and says how it ended.
const PRELUDE: &str = r#"
#![allow(dead_code, unused_imports, unused_macros, unexpected_cfgs, unused_must_use)]
use std::{future::Future, pin::Pin, sync::{Arc, atomic::{AtomicBool, Ordering}}, task::{Context, Poll, Wake}};

struct Woken(AtomicBool);
impl Wake for Woken {
    fn wake(self: Arc<Self>) { self.0.store(true, Ordering::Relaxed); }
}

pub fn joined(name: &str, mut all: Vec<Pin<Box<dyn Future<Output = rumpsteak_runtime::Result<()>> + '_>>>) {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = woken.clone().into();
    let mut context = Context::from_waker(&waker);
    let mut failed = None;
    while woken.0.swap(false, Ordering::Relaxed) {
        all.retain_mut(|role| match role.as_mut().poll(&mut context) {
            Poll::Pending => true,
            Poll::Ready(result) => { failed = failed.take().or(result.err()); false }
        });
    }
    let end = match failed {
        Some(error) => format!("failed: {error:?}"),
        None if all.is_empty() => "done".to_owned(),
        None => "waits".to_owned(),
    };
    println!("{}:{name} {end}", file!());
}
"#;

/// The commands by which Cargo builds a package: the build script, and rustc for each crate.
struct Commands {
    folder: String,
    target: String,
    lines: Vec<String>,
}

impl Commands {
    /// Those of a first package, which Cargo builds.
    fn new() -> Self {
        let package = Package::with_script("random-packages", VERIFIES);
        package
            .write("protocols/p.scr", "global protocol P(role a, role b) { m() from a to b; }\n")
            .write("src/lib.rs", "rumpsteak_runtime::include_protocols!();")
            .write("src/main.rs", "fn main() {}")
            .write(&format!("tests/{TESTED}.rs"), "fn main() {}");
        let manifest = package.read("Cargo.toml");
        let test = format!("\n[[test]]\nname = {TESTED:?}\nharness = false\n");
        package.write("Cargo.toml", &(manifest + &test));
        let targets = ["-vv", "--lib", "--bin", TESTED, "--test", TESTED];
        let (success, _, said) = package.run_with("build", &targets);
        assert!(success, "{said}");
        let lines = said.lines().filter_map(|line| line.trim().strip_prefix("Running `"));
        let lines = lines.filter_map(|line| line.strip_suffix('`'));
        let lines = lines.filter(|line| line.contains(&format!("CARGO_PKG_NAME={TESTED} ")));
        Self {
            folder: package.path("").display().to_string().trim_end_matches('/').to_owned(),
            target: package.target().display().to_string(),
            lines: lines.map(str::to_owned).collect(),
        }
    }

    /// Runs the command that has this in it, for the package in a folder, with further variables.
    fn run(&self, part: &str, folder: &Path, variables: &str) -> Output {
        let line = self.line(part);
        let (_, out) = line.split_once(" OUT_DIR=").unwrap();
        let out = out.split(' ').next().unwrap();
        let (target, own) = (&self.target, folder.display().to_string());
        let built = format!("{target}/debug/deps");
        let mut line = line
            .replace(out, &format!("{own}/out"))
            .replace(&format!("--out-dir {built}"), &format!("--out-dir {own}"))
            .replace(&format!("={built}/lib{TESTED}-"), &format!("={own}/lib{TESTED}-"))
            .replace(&self.folder, &own);
        // The last value of a variable holds.
        if let Some(arguments) = line.find(" --crate-name") {
            let program = line[..arguments].rfind(' ').unwrap();
            line.insert_str(program, &format!(" {variables}"));
        }
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder).output();
        output.unwrap_or_else(|error| panic!("{error}"))
    }

    fn line(&self, part: &str) -> &str {
        let mut lines = self.lines.iter().filter(|line| line.contains(part));
        let (Some(line), None) = (lines.next(), lines.next()) else {
            panic!("not one command with {part}: {:#?}", self.lines)
        };
        line
    }

    /// The program that a command makes.
    fn program(&self, part: &str, folder: &Path) -> PathBuf {
        let (_, name) = self.line(part).split_once("extra-filename=").unwrap();
        folder.join(format!("{TESTED}{}", name.split(' ').next().unwrap()))
    }
}

/// The outcomes of all crates.
#[derive(Debug, Default)]
struct Tally {
    packages: usize,
    /// Crates that were run.
    ran: usize,
    combinations: usize,
    refused: usize,
    /// Crates that were refused though every combination is safe and no session is hidden.
    needlessly: usize,
    /// Libraries that no program runs, because it was refused.
    idle: usize,
    /// Combinations that ran and are not safe, and others that did not end as they should.
    wrong: Vec<String>,
}

impl Tally {
    /// Builds a package, and runs what builds.
    fn add(&mut self, seed: u64, commands: &Commands, folder: &Path) {
        let random = Random::new(&mut Rng::with_seed(seed));
        let _ = fs::remove_dir_all(folder);
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (file, text) in random.files() {
            write(&file, &text);
        }
        // rustc looks for the `..` of a `#[path]` in a folder that is there.
        for kept in ["src/one/.keep", "src/two/.keep", "tests/one/.keep", "tests/two/.keep"] {
            write(kept, "");
        }
        for file in ["Cargo.toml", "build.rs"] {
            fs::copy(Path::new(&commands.folder).join(file), folder.join(file)).unwrap();
        }
        fs::create_dir_all(folder.join("out")).unwrap();
        let script = commands.run("/build-script-build", folder, "");
        let said = String::from_utf8_lossy(&script.stdout).into_owned();
        assert!(script.status.success(), "{seed}: {said}{:?}", script.stderr);
        let variables = said.lines().filter_map(|line| line.strip_prefix("cargo::rustc-env="));
        let variables: String = variables.map(|set| format!("{set} ")).collect();
        self.packages += 1;

        let mut library = None;
        let mut printed = String::new();
        let mut ran = Vec::new();
        for (krate, sets) in &random.crates {
            let root = krate.root();
            let text = fs::read_to_string(folder.join(&root)).unwrap();
            let plays_library = text.contains(PLAYS_LIBRARY);
            if plays_library && library.is_none() {
                write(&root, &text.replace(PLAYS_LIBRARY, ""));
            }
            let built = commands.run(krate.command(), folder, &variables);
            if !built.status.success() {
                self.refused += 1;
                self.needlessly += usize::from(random.should_build(sets));
                let said = String::from_utf8_lossy(&built.stderr);
                assert!(said.contains("[V0"), "{seed}: {root} is refused by another error: {said}");
                continue;
            }
            if *krate == Crate::Library {
                library = Some((root, sets));
                continue;
            }
            let output = Command::new(commands.program(krate.command(), folder)).output().unwrap();
            assert!(output.status.success(), "{seed}: {output:?}");
            printed += &String::from_utf8_lossy(&output.stdout);
            ran.extend(library.take_if(|_| plays_library));
            ran.push((root, sets));
        }
        self.idle += usize::from(library.is_some());
        self.ran += ran.len();
        for (root, sets) in ran {
            for set in sets {
                for combination in random.combinations(&set.chosen()) {
                    let name = format!("{root}:{}", random.name(set, &combination));
                    let mut lines = printed.lines();
                    let end = lines.find_map(|line| line.strip_prefix(&format!("{name} ")));
                    self.combinations += 1;
                    match (random.is_safe(&combination), end) {
                        (true, Some("done")) => {}
                        (is_safe, end) => self.wrong.push(format!(
                            "{seed}: {name}: safe: {is_safe}, but {end:?}; {:?}",
                            set.sessions
                        )),
                    }
                }
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }

    fn join(&mut self, other: Self) {
        self.packages += other.packages;
        self.ran += other.ran;
        self.combinations += other.combinations;
        self.refused += other.refused;
        self.needlessly += other.needlessly;
        self.idle += other.idle;
        self.wrong.extend(other.wrong);
    }
}

#[test]
fn random_packages_that_build_behave_as_explored() {
    let commands = Commands::new();
    let seeds = Mutex::new(seeds(12));
    let all = Mutex::new(Tally::default());
    let base = Path::new(&commands.folder).with_file_name("random");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (seeds, all, commands) = (&seeds, &all, &commands);
            let folder = base.join(worker.to_string());
            scope.spawn(move || {
                while let Some(seed) = { seeds.lock().unwrap().next() } {
                    let mut tally = Tally::default();
                    tally.add(seed, commands, &folder);
                    all.lock().unwrap().join(tally);
                }
            });
        }
    });
    let tally = all.into_inner().unwrap();
    println!("{tally:#?}");
    assert_eq!(tally.wrong, Vec::<String>::new());
    assert!(tally.ran > tally.packages / 4 && tally.refused > tally.packages / 4);
}
