//! How much room queues get: from the sessions as they are written, through the verdict file, to
//! the channels.

use super::harness::{IMPORTS, KERNEL, OTHERS, PROCESS, Package, ROLES, double_buffering};

/// The kernel as the protocol has it.
const PLAIN: &str = "\
#[session(K)] pub type Kernel = KernelLoop;
#[session] pub struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
";

/// The queues of each role in the verdict file, with the role: `K 0 s AtMost(2)`.
fn queues(package: &Package) -> Vec<String> {
    let mut queues = vec![];
    for (name, proof) in package.proofs() {
        for (route, peer, room) in proof.system.1 {
            queues.push(format!("{name} {route} {peer} {room}"));
        }
    }
    queues.sort();
    queues
}

/// How many roles have queues with capacities.
fn counted(package: &Package) -> usize {
    let proofs = package.proofs().into_iter();
    proofs.filter(|(_, proof)| !proof.system.1.is_empty()).count()
}

#[test]
fn a_session_decides_how_much_room_its_queues_have() {
    let package = Package::new("capacities-edit");
    package.check(&[]).passes();
    let optimised = ["K 0 s AtMost(2)", "K 1 t AtMost(1)", "S 0 k AtMost(2)", "T 0 k AtMost(1)"];
    assert_eq!(queues(&package), optimised);
    // Three roles, and three roots.
    assert_eq!(counted(&package), 3);

    let edited = double_buffering()
        .replace(KERNEL, PLAIN)
        .replace("let mut s = s.send(Ready).await?;", "let mut s = s.into_session();");
    let edited = edited.replace(
        "s = next.send(Value(value)).await?;",
        "s = next.send(Value(value)).await?.into_session();",
    );
    package.write("src/lib.rs", &edited);
    package.check(&[]).passes();
    let plain = ["K 0 s AtMost(1)", "K 1 t AtMost(1)", "S 0 k AtMost(1)", "T 0 k AtMost(1)"];
    assert_eq!(queues(&package), plain);

    // One more request ahead.
    package.write(
        "src/lib.rs",
        &double_buffering()
            .replace(
                "pub type Kernel = Send<S, Ready, KernelLoop>;",
                "pub type Kernel = Send<S, Ready, Send<S, Ready, KernelLoop>>;",
            )
            .replace("s.send(Ready).await?;\n", "s.send(Ready).await?.send(Ready).await?;\n"),
    );
    package.check(&[]).passes();
    assert_eq!(
        queues(&package),
        ["K 0 s AtMost(3)", "K 1 t AtMost(1)", "S 0 k AtMost(3)", "T 0 k AtMost(1)"]
    );
}

#[test]
fn a_set_without_a_protocol_is_composed_as_well() {
    let package = Package::new("capacities-set");
    package.remove("protocols/double_buffering.scr").write(
        "build.rs",
        "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::configure().verify().map(drop) }\n",
    );
    let source: Vec<String> = double_buffering()
        .lines()
        .filter(|line| !line.starts_with("#[protocol("))
        .map(|line| line.replace("#[derive(Roles)]", "#[derive(Roles)]\n#[closed_system]"))
        .collect();
    package.write("src/lib.rs", &source.join("\n"));
    package.check(&[]).passes();
    assert_eq!(
        queues(&package),
        ["K 0 S AtMost(2)", "K 1 T AtMost(1)", "S 0 K AtMost(2)", "T 0 K AtMost(1)"]
    );
    assert_eq!(counted(&package), 3);
}

#[test]
fn the_channels_have_the_room_that_was_proven() {
    let package = Package::new("capacities-run");
    package.write(
        "src/main.rs",
        &format!(
            "{}\nfn main() {{
                let roles = Roles::default();
                let (to_s, from_s) = roles.k.s.into_inner().unwrap();
                let (to_t, from_t) = roles.k.t.into_inner().unwrap();
                for queue in [to_s.queue(), from_s.queue(), to_t.queue(), from_t.queue()] {{
                    println!(\"{{}} {{}} {{:?}}\", queue.from, queue.to, queue.capacity);
                }}
            }}\n",
            double_buffering()
        ),
    );
    package.remove("src/lib.rs");
    let (success, printed, stderr) = package.run("run");
    assert!(success, "{stderr}");
    assert_eq!(printed, "k s AtMost(2)\ns k AtMost(2)\nk t AtMost(1)\nt k AtMost(1)\n");
}

/// Two roles: `a` does this to `b`, and `b` the same to `a`, in the protocol `P`.
fn two_roles(sessions: &str) -> String {
    format!(
        "{IMPORTS}
#[derive(Roles)] pub struct Roles {{ pub a: A, pub b: B }}
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A {{ #[route(B)] b: Channel<Label> }}
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B {{ #[route(A)] a: Channel<Label> }}
#[derive(Message)] pub enum Label {{ X(X), Y(Y) }}
pub struct X;
pub struct Y;
{sessions}"
    )
}

#[test]
fn where_any_number_is_under_way_senders_wait() {
    let package = Package::new("capacities-waits");
    package.remove("protocols/double_buffering.scr");
    // The next session of `a` has a queue of its own while `b` is still at this one.
    package.write(
        "protocols/p.scr",
        "global protocol P(role a, role b) { x() from a to b; y() from a to b; }",
    );
    package.write(
        "src/lib.rs",
        &two_roles(
            "#[session(A)] pub type Ahead = Send<B, X, Send<B, Y, End>>;
             #[session(B)] pub type Behind = Receive<A, X, Receive<A, Y, End>>;",
        ),
    );
    package.check(&[]).passes();
    assert_eq!(queues(&package), ["A 0 b AtMost(2)", "B 0 a AtMost(0)"]);

    // An answer keeps them together.
    package.write(
        "protocols/p.scr",
        "global protocol P(role a, role b) { x() from a to b; y() from b to a; }",
    );
    package.write(
        "src/lib.rs",
        &two_roles(
            "#[session(A)] pub type Asks = Send<B, X, Receive<B, Y, End>>;
             #[session(B)] pub type Answers = Receive<A, X, Send<A, Y, End>>;",
        ),
    );
    package.check(&[]).passes();
    assert_eq!(queues(&package), ["A 0 b AtMost(1)", "B 0 a AtMost(1)"]);

    // A session without an end and without an answer.
    package.write(
        "protocols/p.scr",
        "global protocol P(role a, role b) { rec loop { x() from a to b; continue loop; } }",
    );
    package.write(
        "src/lib.rs",
        &two_roles(
            "#[session(A)] pub type Source = Sending;
             #[session] pub struct Sending(Send<B, X, Self>);
             #[session(B)] pub type Sink = Receiving;
             #[session] pub struct Receiving(Receive<A, X, Self>);",
        ),
    );
    package.check(&[]).passes();
    assert_eq!(queues(&package), ["A 0 b Waits(16)", "B 0 a AtMost(0)"]);

    // Room for what one session has under way.
    package.write(
        "protocols/p.scr",
        &format!("global protocol P(role a, role b) {{ {} }}", "x() from a to b;".repeat(20)),
    );
    let chain = |action: &str| format!("{}End{}", action.repeat(20), ">".repeat(20));
    package.write(
        "src/lib.rs",
        &two_roles(&format!(
            "#[session(A)] pub type Ahead = {};
             #[session(B)] pub type Behind = {};",
            chain("Send<B, X, "),
            chain("Receive<A, X, ")
        )),
    );
    package.check(&[]).passes();
    assert_eq!(queues(&package), ["A 0 b AtMost(20)", "B 0 a AtMost(0)"]);
}

#[test]
fn what_cannot_be_composed_grows() {
    let package = Package::new("capacities-grow");
    // Two sessions of one role that differ.
    package.write(
        "src/lib.rs",
        &format!(
            "{}\n{}",
            double_buffering(),
            PLAIN.replace("Kernel ", "Plain ").replace("KernelLoop", "PlainLoop")
        ),
    );
    package.check(&[]).passes();
    assert_eq!((queues(&package), counted(&package)), (vec![], 0));

    // The same session under two names.
    package.write(
        "src/lib.rs",
        &format!(
            "{}\n{}",
            double_buffering(),
            KERNEL.replace("Kernel ", "Again ").replace("KernelLoop", "AgainLoop")
        ),
    );
    package.check(&[]).passes();
    assert_eq!((queues(&package).len(), counted(&package)), (4, 3));

    // A role without a session.
    package.write("src/lib.rs", &[IMPORTS, ROLES, KERNEL, PROCESS].join("\n"));
    package.check(&[]).passes();
    assert_eq!((queues(&package), counted(&package)), (vec![], 0));

    // A peer that is not here: its sessions, and its way back, are somewhere else.
    let without_t = ROLES
        .replace("#[derive(Roles)]\npub struct Roles { pub s: S, pub k: K, pub t: T }\n", "")
        .replace("pub struct T { #[route(K)] k: Channel<Label> }", "pub struct T {}");
    let sessions = OTHERS.replace("#[session(T)] pub type Sink = SinkLoop;\n", "");
    let sessions = sessions
        .replace("#[session] pub struct SinkLoop(Send<K, Ready, Receive<K, Value, Self>>);\n", "");
    package.write("src/lib.rs", &[IMPORTS, &without_t, &sessions, KERNEL, PROCESS].join("\n"));
    package.check(&[]).passes();
    assert_eq!((queues(&package), counted(&package)), (vec![], 0));
}

#[test]
fn a_limit_leaves_the_queues_growing() {
    let package = Package::new("capacities-limit");
    // Subtyping compares actions, and needs no configurations.
    package.write(
        "build.rs",
        "fn main() -> Result<(), rumpsteak_build::Report> {
            rumpsteak_build::configure()
                .protocols(\"protocols\")
                .limits(rumpsteak_build::Limits::default().configurations(2))
                .verify()
                .map(drop)
        }",
    );
    let outcome = package.check(&[]);
    outcome.passes();
    assert_eq!((queues(&package), counted(&package)), (vec![], 0));
}

/// Two sets of roles, of which the second plays as the first does.
#[test]
fn a_session_that_was_not_counted_does_not_run() {
    let package = Package::new("capacities-sealed");
    let set = |name: &str| {
        let body = double_buffering().replace("#![allow(dead_code, unused_imports)]\n", "");
        format!("pub mod {name} {{\n{body}\n}}\n")
    };
    let source = |hidden: &str| {
        format!(
            "{IMPORTS}
{}{}
pub use first::*;
macro_rules! hidden {{ ($($item:item)*) => {{ $($item)* }} }}
hidden! {{ {hidden} }}
#[session(K)] pub type Extra = Send<S, Ready, Looping>;
#[session] pub struct Looping(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
",
            set("first"),
            set("second"),
        )
    };
    package.write("src/lib.rs", &source(""));
    package.check(&[]).passes();
    // To rustc, the session is one of the second set; the build script cannot know.
    package.write("src/lib.rs", &source("pub use second::{K, S, T, Ready, Value};"));
    let outcome = package.check(&[]);
    assert!(!outcome.success, "{}", outcome.show());
    assert!(
        outcome
            .errors()
            .iter()
            .any(|error| error.text.contains("`Extra` is not the session that was verified")),
        "{}",
        outcome.show()
    );
}
