//! Random modules: sessions of three roles, with a protocol or without, written out, by a macro,
//! included, behind `cfg` and nested.
//!
//! rustc refuses exactly the modules that the explorer finds unsafe, and the others run to their
//! end. A module with a protocol may be refused although it is safe.
//!
//! The sessions are finite, and each receives from one peer at a time. So all interleavings end
//! alike, and one run shows the end. A program finds out by itself that its roles wait forever: no
//! waker was called.
//!
//! Tries 12 modules, or as `RUMPSTEAK_FUZZ` says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fastrand::Rng;
use rumpsteak_fsm::Fsm;
use rumpsteak_oracle::{Coverage, Limits, System, action, seeds};

use super::harness::Package;

const ROLES: [&str; 3] = ["a", "b", "c"];

/// From, to, and the number of the label.
type Message = (usize, usize, usize);

/// An action of a role: true if it sends, the peer, and the number of the label.
type Step = (bool, usize, usize);

struct Random {
    name: String,
    protocol: Option<String>,
    source: String,
    is_safe: bool,
}

impl Random {
    fn new(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let (parts, name) = (parts(rng), format!("m{seed}"));
        let order = merged(&parts, rng);
        let sessions: Vec<Vec<Step>> =
            (0..ROLES.len()).map(|role| session(&parts, &order, role, rng)).collect();
        let machines = sessions.iter().enumerate().map(|(role, steps)| machine(role, steps));
        let system = System::new(machines.collect()).unwrap();
        let limits = Limits { queue: 8, configurations: 100_000, steps: 1_000 };
        let report = system.explore(&limits);
        assert_eq!(report.coverage, Coverage::Complete);
        let has_protocol = rng.bool();
        let protocol = has_protocol.then(|| {
            let parts = parts.iter().map(|part| {
                let message = |(from, to, label): &Message| {
                    format!("m{label}() from {} to {};", ROLES[*from], ROLES[*to])
                };
                part.iter().map(message).collect::<Vec<_>>().join(" ")
            });
            let parts: Vec<String> = parts.collect();
            let roles = "role a, role b, role c";
            format!(
                "global protocol P{seed}({roles}) {{\n  par {{ {} }}\n}}\n",
                parts.join(" } and { ")
            )
        });
        let module = module(seed, &sessions, order.len(), has_protocol, rng);
        let source = format!("{}\n{}", placed(&module, rng), play(&name, &sessions));
        Self { name, protocol, source, is_safe: report.findings.is_empty() }
    }
}

/// The parts of a `par`. The messages of one role to another are in one part.
fn parts(rng: &mut Rng) -> Vec<Vec<Message>> {
    let mut parts = vec![Vec::new(), Vec::new()];
    let part_of: Vec<usize> = (0..9).map(|_| rng.usize(..2)).collect();
    let count = 6 + rng.usize(..3);
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

/// A session of a role: in the order of all sessions, in another one, or with two actions swapped.
fn session(parts: &[Vec<Message>], order: &[Message], role: usize, rng: &mut Rng) -> Vec<Step> {
    let mut steps = match rng.usize(..3) {
        0 => projected(&merged(parts, rng), role),
        _ => projected(order, role),
    };
    for _ in 0..rng.usize(..3).min(steps.len().saturating_sub(1)) {
        let at = rng.usize(..steps.len() - 1);
        // A role sends to each peer in the order of the protocol, and receives so, too.
        if (steps[at].0, steps[at].1) != (steps[at + 1].0, steps[at + 1].1) {
            steps.swap(at, at + 1);
        }
    }
    steps
}

fn merged(parts: &[Vec<Message>], rng: &mut Rng) -> Vec<Message> {
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

fn projected(messages: &[Message], role: usize) -> Vec<Step> {
    let step = |&(from, to, label): &Message| match role {
        _ if from == role => Some((true, to, label)),
        _ if to == role => Some((false, from, label)),
        _ => None,
    };
    messages.iter().filter_map(step).collect()
}

fn machine(role: usize, steps: &[Step]) -> Fsm {
    let mut builder = Fsm::builder(ROLES[role]);
    let initial = builder.add_state();
    let mut state = initial;
    for (sends, peer, label) in steps {
        let next = builder.add_state();
        let action = action(*sends, ROLES[*peer], &format!("m{label}"), &[]);
        builder.add_transition(state, action, next);
        state = next;
    }
    builder.build(initial)
}

/// The module with a session for each role, some of which go on in an item of their own.
fn module(
    seed: u64,
    sessions: &[Vec<Step>],
    labels: usize,
    has_protocol: bool,
    rng: &mut Rng,
) -> String {
    let mut text = match has_protocol {
        true => format!("#[rumpsteak::protocol(P{seed}, accept_closed_system)]\n"),
        false => "#[rumpsteak::closed_system]\n".to_owned(),
    };
    let _ = writeln!(text, "pub mod m{seed} {{");
    for (steps, role) in sessions.iter().zip(["A", "B", "C"]) {
        let chain = |steps: &[Step], end: &str| {
            let heads = steps.iter().map(|(sends, peer, label)| {
                let action = if *sends { "Send" } else { "Receive" };
                format!("{action}<{}, M{label}, ", ROLES[*peer].to_uppercase())
            });
            heads.collect::<String>() + end + &">".repeat(steps.len())
        };
        let at = rng.usize(..steps.len() + 1);
        let (first, rest) = (chain(&steps[..at], "Rest"), chain(&steps[at..], "End"));
        let (first, rest) = (first.replace("Rest", &format!("Rest{role}")), rest);
        let _ = match at > 0 && at < steps.len() {
            true if rng.bool() => writeln!(
                text,
                "#[session({role})] type Session{role} = {first};\nstruct Rest{role}({rest});"
            ),
            true => writeln!(
                text,
                "#[session({role})] type Session{role} = {first};\ntype Rest{role} = {rest};"
            ),
            false => {
                writeln!(text, "#[session({role})] type Session{role} = {};", chain(steps, "End"))
            }
        };
    }
    if !has_protocol {
        (0..labels).for_each(|label| {
            let _ = writeln!(text, "struct M{label};");
        });
    }
    text + "}\n"
}

/// The module in one of the ways in which it can get into a program.
fn placed(module: &str, rng: &mut Rng) -> String {
    match rng.usize(..5) {
        0 => module.to_owned(),
        1 => format!("macro_rules! make {{ () => {{ {module} }} }}\nmake!();\n"),
        2 => format!(
            "macro_rules! make {{ ($($item:item)*) => {{ $($item)* }} }}\nmake! {{ {module} }}\n"
        ),
        3 => format!("#[cfg(not(feature = \"fast\"))]\n{module}"),
        _ => format!("mod inner {{ pub mod deeper {{ {module} }} }}\nuse inner::deeper::*;\n"),
    }
}

fn play(name: &str, sessions: &[Vec<Step>]) -> String {
    let processes = sessions.iter().zip(["A", "B", "C"]).map(|(steps, role)| {
        let steps = steps.iter().map(|(sends, _, label)| match sends {
            true => format!("let s = s.send({name}::M{label}).await?; "),
            false => "let (_, s) = s.receive().await?; ".to_owned(),
        });
        format!("async |s: {name}::Session{role}<'_>| {{ {}s.end(()) }}", steps.collect::<String>())
    });
    let processes: Vec<String> = processes.collect();
    format!(
        "pub fn play() {{ crate::joined({name:?}, {name}::Roles::default().run({})); }}\n",
        processes.join(", ")
    )
}

/// Polls until nothing can happen any more, and says how it ended.
const JOINED: &str = r#"
use std::{pin::pin, sync::{Arc, atomic::{AtomicBool, Ordering}}, task::{Context, Poll, Wake}};

struct Woken(AtomicBool);
impl Wake for Woken {
    fn wake(self: Arc<Self>) { self.0.store(true, Ordering::Relaxed); }
}

fn joined<T>(name: &str, all: impl Future<Output = rumpsteak::Result<T>>) {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = woken.clone().into();
    let mut context = Context::from_waker(&waker);
    let mut all = pin!(all);
    while woken.0.swap(false, Ordering::Relaxed) {
        if let Poll::Ready(result) = all.as_mut().poll(&mut context) {
            return println!("{name} {}", result.map_or_else(|error| format!("{error:?}"), |_| "done".to_owned()));
        }
    }
    println!("{name} waits");
}
"#;

fn write(package: &Package, modules: &[&Random]) {
    let mut root = format!("#![allow(unused_imports)]{JOINED}");
    let mut plays = String::new();
    for Random { name, source, .. } in modules {
        package.write(&format!("src/file_{name}.rs"), source);
        let _ = writeln!(root, "mod file_{name};");
        let _ = writeln!(plays, "    file_{name}::play();");
    }
    package.write("src/main.rs", &format!("{root}fn main() {{\n{plays}}}\n"));
}

#[test]
fn random_modules_are_refused_if_they_are_unsafe_and_run_otherwise() {
    let modules: Vec<Random> = seeds(12).map(Random::new).collect();
    let package = Package::new("random");
    let protocols = modules.iter().filter_map(|module| module.protocol.as_deref());
    package.write("protocols/p.scr", &protocols.collect::<String>());
    write(&package, &modules.iter().collect::<Vec<_>>());
    let outcome = package.check(&[]);
    let errors = outcome.errors();
    let refused: BTreeSet<&str> = errors.iter().map(|error| error.file.as_str()).collect();
    let (passed, refused): (Vec<&Random>, Vec<&Random>) = modules
        .iter()
        .partition(|module| !refused.contains(&*format!("src/file_{}.rs", module.name)));
    let shown = outcome.show();
    for module in &passed {
        assert!(module.is_safe, "{} is unsafe:\n{}\n{shown}", module.name, module.source);
    }
    for module in &refused {
        assert!(!module.is_safe || module.protocol.is_some(), "{} is safe:\n{shown}", module.name);
    }
    let needlessly = refused.iter().filter(|module| module.is_safe).count();
    println!("passed: {}, refused: {}, needlessly: {needlessly}", passed.len(), refused.len());
    assert!(passed.len() > modules.len() / 8 && refused.len() > modules.len() / 8);
    write(&package, &passed);
    let (success, printed, said) = package.run("run", &["-q"]);
    assert!(success, "{said}");
    let expected = passed.iter().map(|module| format!("{} done\n", module.name));
    assert_eq!(printed, expected.collect::<String>());
}
