//! The table of `README.md`: the verdict on each example.
//!
//! The machines are the ones that the build verified; the protocols are in `protocols/`. With
//! `UPDATE_EXPECT=1` the page is rewritten. Without it, the test fails if the page is stale. The
//! columns of PPoPP'22, Table 1, and COORDINATION'21, Fig. 6, are stated here, and compared.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use rumpsteak::machine::{Machine, Transition};
use rumpsteak_fsm::capacity::{self, Occupancy};
use rumpsteak_fsm::verify::{verify, verify_fair};
use rumpsteak_fsm::{Action, Fsm, Limits, StateId, System, Verdict, kmc};

/// An example: its name, its protocol in `protocols/`, and its sessions.
type Row = (&'static str, &'static str, fn() -> Vec<Machine>);

/// The machines of sessions of a module.
macro_rules! sessions {
    ($module:path: $($session:ident),+) => {{
        use $module as module;
        || vec![$(Machine::of::<module::$session<'_>>()),+]
    }};
}

/// In the order of the paper; the last one is another variant of the one before.
const ROWS: [Row; 18] = [
    ("two_adder", "two_adder", sessions!(crate::two_adder::two_adder: CSession, SSession)),
    (
        "three_adder",
        "three_adder",
        sessions!(crate::three_adder::three_adder: AdderA, AdderB, AdderC),
    ),
    ("streaming", "streaming", sessions!(crate::streaming::streaming: SSession, TSession)),
    (
        "optimised_streaming",
        "streaming",
        sessions!(crate::optimised_streaming::streaming: Source, TSession),
    ),
    ("ring", "ring", sessions!(crate::ring::ring: ASession, BSession, CSession)),
    ("optimised_ring", "ring", sessions!(crate::optimised_ring::ring: ASession, RingB, RingC)),
    (
        "ring_choice",
        "ring_choice",
        sessions!(crate::ring_choice::ring_choice: ASession, BSession, CSession),
    ),
    (
        "optimised_ring_choice",
        "ring_choice",
        sessions!(crate::optimised_ring_choice::ring_choice: ASession, RingB, CSession),
    ),
    (
        "double_buffering",
        "double_buffering",
        sessions!(crate::double_buffering::double_buffering: Source, Kernel, Sink),
    ),
    (
        "optimised_double_buffering",
        "double_buffering",
        sessions!(crate::optimised_double_buffering::double_buffering: SSession, Kernel, TSession),
    ),
    (
        "alternating_bit",
        "alternating_bit",
        sessions!(crate::alternating_bit::alternating_bit: SSession, Receiver),
    ),
    (
        "elevator",
        "elevator",
        sessions!(crate::elevator::elevator: UserSession, Elevates, DoorSession),
    ),
    (
        "fft",
        "fft",
        sessions!(rumpsteak_examples::fft::plain::processes: P0Session, P1Session, P2Session, P3Session, P4Session, P5Session, P6Session, P7Session),
    ),
    (
        "optimised_fft",
        "fft",
        sessions!(rumpsteak_examples::fft::optimised::processes: P0Session, Process1, Process2, Process3, Process4, Process5, Process6, Process7),
    ),
    (
        "authentication",
        "authentication",
        sessions!(crate::authentication::authentication: SSession, CSession, ASession),
    ),
    (
        "client_server_log",
        "client_server_log",
        sessions!(crate::client_server_log::client_server_log: CSession, SSession, LSession),
    ),
    ("hospital", "hospital", sessions!(crate::hospital::hospital: Patient, HSession)),
    (
        "eager_hospital",
        "hospital",
        sessions!(crate::eager_hospital::hospital: EagerPatient, HSession),
    ),
];

/// The columns of a protocol that the papers also have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Features {
    participants: usize,
    choice: bool,
    recursion: bool,
    infinite: bool,
    reordering: bool,
}

/// The verifier on an example.
struct Findings {
    features: Features,
    /// For each role: the largest number of actions that are pending because the role has done
    /// others first. `None` without a bound.
    ahead: Vec<Option<usize>>,
    /// Returns true if a role is safe only if choices are fair.
    fair: bool,
    kmc: kmc::Verdict,
    capacities: Option<Vec<(String, Occupancy, usize)>>,
}

#[test]
fn the_page_is_what_the_verifier_says() {
    expect_test::expect_file!["../README.md"].assert_eq(&page());
}

/// PPoPP'22, Table 1: participants, and the marks for choice, recursion, infinite recursion and
/// reordering.
const TABLE_1: [(&str, usize, [u8; 4]); 17] = [
    ("two_adder", 2, [1, 1, 0, 0]),
    ("three_adder", 3, [0, 0, 0, 0]),
    ("streaming", 2, [1, 1, 0, 0]),
    ("optimised_streaming", 2, [1, 1, 0, 1]),
    ("ring", 3, [0, 1, 1, 0]),
    ("optimised_ring", 3, [0, 1, 1, 1]),
    ("ring_choice", 3, [1, 1, 1, 0]),
    ("optimised_ring_choice", 3, [1, 1, 1, 1]),
    ("double_buffering", 3, [0, 1, 1, 0]),
    ("optimised_double_buffering", 3, [0, 1, 1, 1]),
    ("alternating_bit", 2, [1, 1, 1, 0]),
    ("elevator", 3, [1, 1, 1, 1]),
    ("fft", 8, [0, 0, 0, 0]),
    ("optimised_fft", 8, [0, 0, 0, 1]),
    ("authentication", 3, [1, 0, 0, 0]),
    ("client_server_log", 3, [1, 1, 1, 0]),
    ("hospital", 2, [1, 1, 1, 1]),
];

/// COORDINATION'21, Fig. 6: the marks for choice, recursion, infinite recursion and optimisation.
/// Here the ring and double buffering are recursive, as its note (a) suggests.
const FIG_6: [(&str, [u8; 4]); 11] = [
    ("two_adder", [1, 1, 0, 0]),
    ("three_adder", [0, 0, 0, 0]),
    ("ring", [0, 1, 1, 0]),
    ("optimised_ring", [0, 1, 1, 1]),
    ("ring_choice", [1, 1, 1, 0]),
    ("optimised_ring_choice", [1, 1, 1, 1]),
    ("double_buffering", [0, 1, 1, 0]),
    ("optimised_double_buffering", [0, 1, 1, 1]),
    ("alternating_bit", [1, 1, 1, 1]),
    ("elevator", [1, 1, 1, 1]),
    ("fft", [0, 0, 0, 0]),
];

fn features(participants: usize, marks: [u8; 4]) -> Features {
    let [choice, recursion, infinite, reordering] = marks.map(|mark| mark == 1);
    Features { participants, choice, recursion, infinite, reordering }
}

#[test]
fn the_columns_of_table_1() {
    for (row, (name, participants, marks)) in ROWS.iter().zip(TABLE_1) {
        assert_eq!(row.0, name);
        let found = judge(row).features;
        assert_eq!(found, features(participants, marks), "{name}");
    }
}

/// The papers contradict each other in one mark: is the alternating bit optimised? Here, as in the
/// later paper, it is not.
#[test]
fn the_columns_of_fig_6() {
    for (name, marks) in FIG_6 {
        let row = ROWS.iter().find(|row| row.0 == name).unwrap();
        let found = judge(row).features;
        let mut expected = features(found.participants, marks);
        if name == "alternating_bit" {
            expected.reordering = false;
        }
        assert_eq!(found, expected, "{name}");
    }
}

/// The hospital is in PPoPP'22 only as endpoint types.
#[test]
fn the_hospital_is_verified_and_is_no_k_mc() {
    let [.., hospital, eager] = &ROWS;
    for (row, fair) in [(hospital, false), (eager, true)] {
        let found = judge(row);
        // The patient may be any number of answers behind, the hospital none.
        assert_eq!((found.ahead, found.fair), (vec![None, Some(0)], fair));
        assert!(matches!(found.kmc, kmc::Verdict::Undecided(_)), "{:?}", found.kmc);
        assert_eq!(found.capacities, None);
    }
}

/// Every row is an example of this package, and every example outside of the folders is a row.
#[test]
fn the_rows_are_the_examples() {
    let manifest = include_str!("../Cargo.toml");
    let mut lines = manifest.lines();
    let mut examples = Vec::new();
    while let Some(line) = lines.next() {
        if line == "[[example]]" {
            let name = lines.next().and_then(|line| line.strip_prefix("name = "));
            let is_in_folder = lines.next().is_some_and(|line| line.contains('/'));
            examples.extend(name.filter(|_| !is_in_folder).map(|name| name.trim_matches('"')));
        }
    }
    assert_eq!(examples, ROWS.map(|row| row.0));
}

/// `cargo test` builds the examples before this test, unless it builds this test alone.
#[test]
fn each_program_exits_with_zero() {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap().join("examples");
    for (name, ..) in &ROWS {
        let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
        if !program.exists() {
            println!("skipped: `{name}` was not built");
            continue;
        }
        let output = Command::new(&program).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {text}{output:?}");
        // The examples print the result.
        assert!(text.ends_with("which is right\n"), "{name}: {text}");
        assert!(text.lines().count() > 1, "{name}: {text}");
    }
}

/// Verifies the sessions of an example.
fn judge((name, protocol, sessions): &Row) -> Findings {
    let written: Vec<Fsm> = sessions().iter().map(fsm).collect();
    let projected = projections(protocol);
    let limits = Limits::default();

    assert_eq!(written.len(), projected.len(), "{name}");
    let mut fair = false;
    let ahead: Vec<Option<usize>> = written
        .iter()
        .map(|written| {
            let own = |fsm: &&Fsm| fsm.role() == written.role();
            let others: Vec<Fsm> = projected.iter().filter(|fsm| !own(fsm)).cloned().collect();
            let projected = projected.iter().find(own).unwrap();
            let accepted = match verify(written, projected, &others, &limits).unwrap() {
                Verdict::Safe(accepted) => accepted,
                verdict => verify_fair(written, projected, &others, &limits)
                    .unwrap()
                    .unwrap_or_else(|| panic!("{name}, {}: {verdict:?}", written.role())),
            };
            fair |= accepted.proof.as_ref().is_some_and(|proof| proof.is_fair());
            accepted.proof.and_then(|proof| proof.anticipation)
        })
        .collect();

    let features = Features {
        participants: written.len(),
        choice: written.iter().any(has_choice),
        recursion: written.iter().any(is_recursive),
        infinite: written.iter().any(is_infinite),
        reordering: ahead.iter().any(|&ahead| ahead != Some(0)),
    };
    let system = System::new(written).unwrap();
    let capacities = capacity::find(&capacity::repeated(&system), &limits).ok();
    Findings {
        features,
        ahead,
        fair,
        kmc: kmc::check(&system, &limits).verdict,
        capacities: capacities.map(|capacities| {
            let channels = capacities.channels.into_iter();
            channels
                .filter(|channel| channel.occupancy != Occupancy::AtMost(0))
                .map(|channel| {
                    let ends = format!("{} → {}", channel.from, channel.to);
                    (ends, channel.occupancy, channel.capacity)
                })
                .collect()
        }),
    }
}

fn fsm(machine: &Machine) -> Fsm {
    let mut builder = Fsm::builder(machine.role);
    let states: Vec<StateId> = (0..machine.states).map(|_| builder.add_state()).collect();
    for Transition { source, sends, peer, label, payload, target, .. } in machine.transitions() {
        let action = if sends {
            Action::send(peer, label, payload)
        } else {
            Action::receive(peer, label, payload)
        };
        builder.add_transition(states[source], action, states[target]);
    }
    builder.build(states[machine.initial])
}

/// The machine of each role of a protocol.
fn projections(protocol: &str) -> Vec<Fsm> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols");
    let text = fs::read_to_string(folder.join(protocol).with_extension("scr")).unwrap();
    let checked = rumpsteak_scribble::check(&rumpsteak_scribble::parse(&text).module);
    let [protocol] = &checked.protocols[..] else {
        panic!("{protocol}: one protocol is expected");
    };
    let roles = protocol.roles().iter();
    roles.map(|role| protocol.project(role).unwrap().fsm).collect()
}

/// Returns true if a role chooses, or is told the choice of another role.
fn has_choice(machine: &Fsm) -> bool {
    let mut states = machine.reachable();
    states.any(|state| machine.transitions_from(state).count() > 1)
}

/// Returns true if the machine has a cycle.
fn is_recursive(machine: &Fsm) -> bool {
    let mut states = machine.reachable();
    states.any(|state| after(machine, state).contains(&state))
}

/// Returns true if a role reaches a state from which it never ends.
fn is_infinite(machine: &Fsm) -> bool {
    let ends = |state: &StateId| machine.is_terminal(*state);
    let mut states = machine.reachable();
    states.any(|state| !ends(&state) && !after(machine, state).iter().any(ends))
}

/// The states that one or more actions lead to.
fn after(machine: &Fsm, state: StateId) -> Vec<StateId> {
    let mut found: Vec<StateId> = Vec::new();
    let mut pending = vec![state];
    while let Some(state) = pending.pop() {
        for transition in machine.transitions_from(state) {
            if !found.contains(&transition.target) {
                found.push(transition.target);
                pending.push(transition.target);
            }
        }
    }
    found
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for row in &ROWS {
        let Findings { features, ahead, fair, kmc, capacities } = judge(row);
        let mark = |holds| if holds { "✓" } else { "" };
        let _ = writeln!(
            page,
            "| [`{0}`]({0}.rs) | {1} | {2} | {3} | {4} | {5} | {6} | {7} | {8} |",
            row.0,
            features.participants,
            mark(features.choice),
            mark(features.recursion),
            mark(features.infinite),
            mark(features.reordering),
            safe(&ahead, fair),
            least(&kmc),
            capacities.as_deref().map_or("none".to_owned(), room),
        );
    }
    page + LEGEND
}

/// The verdict: all rows are safe, so how far roles are ahead.
fn safe(ahead: &[Option<usize>], fair: bool) -> String {
    match ahead.iter().copied().reduce(|most, next| Some(most?.max(next?))) {
        Some(Some(0)) => "safe".to_owned(),
        Some(Some(most)) => format!("safe, {most} ahead"),
        _ if fair => "safe if choices are fair, without a bound".to_owned(),
        _ => "safe, without a bound".to_owned(),
    }
}

fn least(verdict: &kmc::Verdict) -> String {
    match verdict {
        kmc::Verdict::Safe(bound) => bound.to_string(),
        kmc::Verdict::Undecided(_) => "none".to_owned(),
        kmc::Verdict::Unsafe(run) => panic!("{run:?}"),
    }
}

fn room(channels: &[(String, Occupancy, usize)]) -> String {
    let text = |(_, occupancy, capacity): &(String, Occupancy, usize)| match occupancy {
        Occupancy::AtMost(most) => most.to_string(),
        Occupancy::Unbounded => format!("{capacity} (waits)"),
        Occupancy::Unknown(_) => format!("{capacity} (may wait)"),
    };
    let first = channels.first().map(text).unwrap_or_default();
    if channels.iter().all(|channel| text(channel) == first) {
        return format!("{first} each");
    }
    let each = channels.iter().map(|channel| format!("{}: {}", channel.0, text(channel)));
    each.collect::<Vec<_>>().join(", ")
}

const INTRODUCTION: &str = "\
# The examples

The protocols of PPoPP'22, Table 1, and of COORDINATION'21, Fig. 6, as programs:

```console
$ cargo run -p rumpsteak-examples --example elevator
```

Each file has the module of a protocol in `protocols/`, the processes, and the expected result. The build verifies the
sessions, and the program exits with 0 only if it computed the result. Most modules are empty, so all of their items are
generated. An `optimised_` example is the same program with another order of a role's actions, and says why that is faster.

The verdicts:

| example | participants | choice | recursion | infinite recursion | AMR | verdict | least k | capacities |
|---|---|---|---|---|---|---|---|---|
";

const LEGEND: &str = "
* **infinite recursion**: a role reaches a state from which it never ends.
* **AMR**, asynchronous message reordering: a role does not keep to the order of its projection. A role is *n ahead* if at
  most n actions of the projection are pending because later ones came first.
* **verdict**: safe in every run, whatever is chosen, unless the verdict says that choices must be fair. The patient of
  `hospital` reads its answers in every run. The patient of `eager_hospital`, as in CONCUR'19 and LMCS'21, may send for ever
  before it reads an answer, but it can always still read all of them. `#[protocol(Hospital, fair(p))]` accepts this.
* **least k**: the least bound for which the roles together are k-multiparty compatible. The hospitals have no such bound:
  with any bound, both queues can be full while both roles have to send. PPoPP'22 could not verify the hospital. Here the
  patients are verified as subtypes of their projection, with invariants as certificates.
* **capacities**: the maximal number of messages in each channel, if a role may begin a session before all roles have ended
  the last one. If the number has no limit, the channel works with this capacity, and the sender *waits* for room.

The papers state the same features for these names. In one mark they contradict each other: Fig. 6 has the alternating bit
as optimised, and Table 1 does not. Here it is as in Table 1.

[`tasks/`](tasks) has programs that are usually written with tasks and channels:

| example | |
|---|---|
| [`worker_pool`](tasks/worker_pool.rs) | a job goes to whichever of three workers is free |
| [`first_answer`](tasks/first_answer.rs) | two mirrors are asked, and the first answer counts |
| [`fastest_mirror`](tasks/fastest_mirror.rs) | two mirrors are asked, the first file wins, and the other mirror is cancelled |
| [`scatter_gather`](tasks/scatter_gather.rs) | a task for each of eight workers, and their results |
| [`lock`](tasks/lock.rs) | the first of two clients to ask gets the lock |
| [`request_timeout`](tasks/request_timeout.rs) | a client gives up, and asks again |
| [`chat_server`](tasks/chat_server.rs) | a chat for any number of clients, over TCP, in a room that holds their sessions |
| [`chat_moderator`](tasks/chat_moderator.rs) | two guests speak in any order; each message is passed on, or the guest is warned |
| [`http_continue`](tasks/http_continue.rs) | HTTP/1.1: `100 (Continue)`, and a connection that either side closes |
| [`smtp_reset`](tasks/smtp_reset.rs) | SMTP: `RSET` while answers are in flight |
| [`raft_timeout`](tasks/raft_timeout.rs) | Raft: a follower that hears nothing asks for votes |
| [`pipeline_cancel`](tasks/pipeline_cancel.rs) | a supervisor cancels an endless pipeline |
| [`sequence_chart`](tasks/sequence_chart.rs) | a tool: turns a log of the feature `tracing` into a sequence chart |

[`applications/`](applications/README.md) has programs whose roles are processes, [`browser/`](browser) has a page as a role, and [`servers/`](servers/README.md) has
verified clients of `redis-server` and PostgreSQL, and an HTTP server that holds sessions. `workflows/` has six of the protocols top-down, hybrid and bottom-up, with
the same processes. `src/fft/` has the processes of the two FFTs.

The test `rows` of this package writes this page if `UPDATE_EXPECT` is set, and fails if the page is stale.
";
