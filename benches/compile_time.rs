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
//! | `original` | the same over `rumpsteak` 0.1, whose cost grows too fast for more than 60 actions |
//! | `channels` | as many awaits of tokio's bounded channels |
//! | `bare` | as many awaits of a state that borrows and is dropped, without sessions: the least |
//! | `linear` | the same where each state is of a type of its own, so that nothing is done twice |
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

/// How many actions `rumpsteak` 0.1 is measured with: 200 took more than eight minutes.
const MOST_ORIGINAL: usize = 60;

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

const LINEAR: &str = "
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
pub struct State<'s>(&'s mut i32);
impl Drop for State<'_> { fn drop(&mut self) { *self.0 += 1; } }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
pub trait Then<'s> { fn then(state: State<'s>) -> Self; }
pub struct Sending<'s, C>(Option<State<'s>>, Option<Ping>, PhantomData<fn() -> C>);
impl<'s, C: Then<'s>> Future for Sending<'s, C> {
    type Output = Result<C, ()>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<C, ()>> {
        let Self(state, ping, _) = self.get_mut();
        Poll::Ready(take(state, ping.take().map_or(0, |ping| ping.0)).map(|state| C::then(state)))
    }
}
pub struct Receiving<'s, C>(Option<State<'s>>, PhantomData<fn() -> C>);
impl<'s, C: Then<'s>> Future for Receiving<'s, C> {
    type Output = Result<(Pong, C), ()>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(Pong, C), ()>> {
        Poll::Ready(take(&mut self.get_mut().0, 0).map(|state| (Pong(*state.0), C::then(state))))
    }
}
fn take<'s>(state: &mut Option<State<'s>>, ping: i32) -> Result<State<'s>, ()> {
    state.take().ok_or(()).inspect(|state| assert!(*state.0 != ping))
}
macro_rules! state {
    ($State:ident $Then:ident) => {
        pub struct $State<'s>(State<'s>);
        impl<'s> Then<'s> for $State<'s> { fn then(state: State<'s>) -> Self { Self(state) } }
        impl<'s> $State<'s> {
            pub fn send(self, ping: Ping) -> Sending<'s, $Then<'s>> { Sending(Some(self.0), Some(ping), PhantomData) }
            pub fn receive(self) -> Receiving<'s, $Then<'s>> { Receiving(Some(self.0), PhantomData) }
        }
    };
}
";

const ORIGINAL: &str = "#![recursion_limit = \"4096\"]
use rumpsteak::role::{Role, Roles, ToFrom};
use rumpsteak::{End, Label, Receive, Result, Send, try_session};
#[derive(Roles)] pub struct Roles(pub A, pub B);
#[derive(Role)] #[message(Message)] pub struct A(#[route(B)] ToFrom<B>);
#[derive(Role)] #[message(Message)] pub struct B(#[route(A)] ToFrom<A>);
#[derive(Label)] pub enum Message { Ping(Ping), Pong(Pong) }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
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

/// The session of `a` or, with the directions exchanged, of `b`; `end` ends it.
fn session(actions: usize, peer: &str, [ping, pong]: [&str; 2], end: &str) -> String {
    let mut text = String::new();
    for number in 0..actions {
        text += &[format!("{ping}<{peer}, Ping, "), format!("{pong}<{peer}, Pong, ")][number % 2];
    }
    format!("{text}{end}{}", ">".repeat(actions))
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
    if row == "linear" {
        let (steps, mut text) = (actions(count, SENDS), LINEAR.to_owned());
        for role in ["A", "B"] {
            let name = role.to_lowercase();
            for number in 0..=count {
                let _ = writeln!(text, "state!({role}{number} {role}{});", count.min(number + 1));
            }
            let _ = writeln!(
                text,
                "pub async fn {name}(role: &mut i32) -> Result<(), ()> {{ let s = {role}0(State(role)); {steps} drop(s); Ok(()) }}"
            );
        }
        return text + "fn main() { let _ = (a(&mut 1), b(&mut 2)); }\n";
    }
    if row == "channels" {
        let steps = ["tx.send(1).await.ok()?;\n", "rx.recv().await?;\n"];
        let (a, b) = (actions(count, steps), actions(count, [steps[1], steps[0]]));
        return format!(
            "use tokio::sync::mpsc::{{Receiver, Sender, channel}};
pub async fn a(tx: Sender<i32>, mut rx: Receiver<i32>) -> Option<()> {{ {a} Some(()) }}
pub async fn b(tx: Sender<i32>, mut rx: Receiver<i32>) -> Option<()> {{ {b} Some(()) }}
fn main() {{ let (tx, rx) = channel(1); let (far, near) = channel(1); let _ = (a(tx, near), b(far, rx)); }}
"
        );
    }
    if row == "original" {
        let mut text = ORIGINAL.to_owned();
        for (role, peer, steps, [ping, pong]) in
            [("A", "B", SENDS, ["Send", "Receive"]), ("B", "A", RECEIVES, ["Receive", "Send"])]
        {
            let words = [format!("{ping}<'s, {role},"), format!("{pong}<'s, {role},")];
            let ty = session(count, peer, [&words[0], &words[1]], "End<'s>").replace(",<", ", ");
            let steps = actions(count, steps).replace(")).await?", "))?");
            let name = role.to_lowercase();
            let _ = write!(
                text,
                "type {role}Session<'s> = {ty};
pub async fn {name}(role: &mut {role}) -> Result<()> {{
    try_session(role, |s: {role}Session<'_>| async {{ {steps} Ok(((), s)) }}).await
}}
"
            );
        }
        return text
            + "fn main() { let Roles(mut a, mut b) = Roles::default(); let _ = (crate::a(&mut a), crate::b(&mut b)); }\n";
    }
    let mut text = match row {
        "generated" => "rumpsteak_runtime::protocol!(pub Many);\nuse many::*;\n".to_owned(),
        _ => format!(
            "{ROLES}
#[rumpsteak_runtime::session(A)] pub type ASession = {};
#[rumpsteak_runtime::session(B)] pub type BSession = {};
",
            session(count, "B", ["Send", "Receive"], "End"),
            session(count, "A", ["Receive", "Send"], "End")
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
             [dependencies]\nrumpsteak = \"=0.1.0\"\nrumpsteak-runtime = {{ path = {:?} }}\n\
             tokio = {{ version = \"1\", features = [\"sync\"] }}\n\n\
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
    for row in ["types", "session", "generated", "original", "channels", "bare", "linear"] {
        for &count in chosen.iter().filter(|&&count| row != "original" || count <= MOST_ORIGINAL) {
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
