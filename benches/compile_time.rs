//! What rustc costs a program whose session has many actions in a row.
//!
//! `cargo bench -p rumpsteak-benches --bench compile_time [-- 20 60 120 200]`
//!
//! A program of two roles that send each other as many messages in turns as the arguments say, is
//! built unoptimised after its source was touched: processor time of Cargo and rustc, user and
//! system, without the dependencies, and the size of the program.
//!
//! | row | program |
//! |---|---|
//! | `types` | the session types alone, entered by processes that do nothing |
//! | `session` | the processes as well, in one `async` function each |
//! | `generated` | the same with the types that `protocol!` makes |
//! | `bare` | as many awaits of a state that borrows and is dropped, without sessions: the least |
//!
//! rustc's work for one `async` function grows faster than its number of awaits, whatever they
//! await: that is in `bare`.

#![allow(clippy::print_stdout, reason = "the report of a benchmark")]

use std::fmt::{Debug, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// How many actions there are, unless arguments say otherwise.
const ACTIONS: [usize; 4] = [20, 60, 120, 200];

const ROLES: &str = "
#[derive(rumpsteak_runtime::Roles)] pub struct Roles { pub a: A, pub b: B }
#[derive(rumpsteak_runtime::Role)] #[protocol(Many::a)] #[message(Label)]
pub struct A { #[route(B)] b: rumpsteak_runtime::Channel<Label> }
#[derive(rumpsteak_runtime::Role)] #[protocol(Many::b)] #[message(Label)]
pub struct B { #[route(A)] a: rumpsteak_runtime::Channel<Label> }
#[derive(rumpsteak_runtime::Message)] pub enum Label { Ping(Ping), Pong(Pong) }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
";

const BARE: &str = "
pub struct State<'s>(&'s mut i32);
impl Drop for State<'_> { fn drop(&mut self) { *self.0 += 1; } }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
async fn send(state: State<'_>, ping: Ping) -> Result<State<'_>, ()> { *state.0 += ping.0; Ok(state) }
async fn receive(state: State<'_>) -> Result<(Pong, State<'_>), ()> { Ok((Pong(*state.0), state)) }
";

fn protocol(actions: usize) -> String {
    let mut text = "module many;\ndata <rust> \"i32\" from \"std\" as i32;\n\
                    global protocol Many(role a, role b) {\n"
        .to_owned();
    for number in 0..actions {
        text += ["  ping(i32) from a to b;\n", "  pong(i32) from b to a;\n"][number % 2];
    }
    text + "}\n"
}

/// The session of `a` or, with the directions exchanged, of `b`.
fn session(actions: usize, peer: &str, [ping, pong]: [&str; 2]) -> String {
    let mut text = String::new();
    for number in 0..actions {
        text += &[format!("{ping}<{peer}, Ping, "), format!("{pong}<{peer}, Pong, ")][number % 2];
    }
    format!("{text}End{}", ">".repeat(actions))
}

/// The actions of the role that does `first` where `a` sends.
fn actions(count: usize, [ping, pong]: [&str; 2]) -> String {
    (0..count).map(|number| [ping, pong][number % 2]).collect()
}

const SENDS: [&str; 2] =
    ["let s = s.send(Ping(1)).await?;\n", "let (Pong(_), s) = s.receive().await?;\n"];
const RECEIVES: [&str; 2] =
    ["let (Ping(_), s) = s.receive().await?;\n", "let s = s.send(Pong(1)).await?;\n"];
const STEPS: [&str; 2] =
    ["let s = send(s, Ping(1)).await?;\n", "let (Pong(_), s) = receive(s).await?;\n"];

fn program(row: &str, count: usize) -> String {
    if row == "bare" {
        let steps = actions(count, STEPS);
        return format!(
            "{BARE}
pub async fn a(role: &mut i32) -> Result<(), ()> {{ let s = State(role); {steps} drop(s); Ok(()) }}
pub async fn b(role: &mut i32) -> Result<(), ()> {{ let s = State(role); {steps} drop(s); Ok(()) }}
fn main() {{ let _ = (a(&mut 1), b(&mut 2)); }}
"
        );
    }
    let mut text = match row {
        "generated" => "rumpsteak_runtime::protocol!(pub Many);\nuse many::*;\n".to_owned(),
        _ => format!(
            "{ROLES}
#[rumpsteak_runtime::session(A)] pub type ASession = {};
#[rumpsteak_runtime::session(B)] pub type BSession = {};
",
            session(count, "B", ["Send", "Receive"]),
            session(count, "A", ["Receive", "Send"])
        ),
    };
    for (role, steps) in [("A", SENDS), ("B", RECEIVES)] {
        let (name, steps) = (role.to_lowercase(), actions(count, steps));
        let body = match row {
            "types" => "panic!(\"{s:?}\")".to_owned(),
            _ => format!("{steps} Ok(((), s))"),
        };
        let _ = write!(
            text,
            "pub async fn {name}(role: &mut {role}) -> rumpsteak_runtime::Result<()> {{
    rumpsteak_runtime::try_run(role, async |s: {role}Session<'_>| {{ {body} }}).await
}}
"
        );
    }
    text + "fn main() { let Roles { mut a, mut b } = Roles::default(); let _ = (crate::a(&mut a), crate::b(&mut b)); }\n"
}

fn done<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

/// The processor time of all processes that this one has waited for, in seconds; 0 where there is
/// no `/proc`.
fn processor() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() {
    let chosen: Vec<usize> = env::args().filter_map(|argument| argument.parse().ok()).collect();
    let chosen = if chosen.is_empty() { ACTIONS.to_vec() } else { chosen };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    let path = |package: &str| root.join(package).display().to_string();
    let write = |file: &str, text: &str| {
        let file: PathBuf = folder.join(file);
        done(fs::create_dir_all(file.parent().unwrap_or(&folder)));
        done(fs::write(file, text));
    };
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"many\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nrumpsteak-runtime = {{ path = {:?} }}\n\n\
             [build-dependencies]\nrumpsteak-build = {{ path = {:?} }}\n",
            path("rumpsteak-runtime"),
            path("rumpsteak-build")
        ),
    );
    done(fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")));
    write(
        "build.rs",
        "fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure().protocols(\"protocols\").generate().verify()?;
    Ok(())
}
",
    );
    let build = || {
        let mut cargo = Command::new(env!("CARGO"));
        let folders = [("CARGO_TARGET_DIR", folder.join("target")), ("PWD", folder.clone())];
        let status = cargo.args(["build", "-q"]).current_dir(&folder).envs(folders).status();
        assert!(done(status).success(), "the program does not build");
    };
    println!("{:<10} {:>7} {:>9} {:>9}", "", "actions", "seconds", "kB");
    for row in ["types", "session", "generated", "bare"] {
        for &count in &chosen {
            write("protocols/many.scr", &protocol(2));
            write("src/main.rs", "fn main() {}\n");
            build();
            let _ = fs::remove_dir_all(folder.join("target/debug/incremental"));
            write("protocols/many.scr", &protocol(count));
            write("src/main.rs", &program(row, count));
            let before = processor();
            build();
            let seconds = processor() - before;
            let size = fs::metadata(folder.join("target/debug/many")).map_or(0, |it| it.len());
            println!("{row:<10} {count:>7} {seconds:>9.2} {:>9}", size / 1000);
        }
    }
}
