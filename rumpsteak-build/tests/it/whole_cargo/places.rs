//! A proof belongs to one place and one set of roles: equal tokens elsewhere have none.

use super::harness::{Outcome, Package, TESTED, VERIFIES};

/// `c` hears two roles in any order, so its order is safe with some sessions of `a` only.
const PROTOCOL: &str = "\
global protocol P(role c, role a, role b) {
  par { x() from a to c; } and { y() from b to c; k() from c to b; l() from b to a; }
}
";

const LABELS: &str = "\
#![allow(dead_code, unused_imports, unexpected_cfgs)]
pub mod labels {
    pub use rumpsteak_runtime::{Channel, Message, Role, Roles, session};
    #[derive(Message)] pub enum Label { X(X), Y(Y), K(K), L(L) }
    pub struct X; pub struct Y; pub struct K; pub struct L;
}
";

const ROLES: &str = "\
#[derive(Roles)] pub struct All { pub a: A, pub b: B, pub c: C }
#[derive(Role)] #[protocol(P::a)] #[message(Label)]
pub struct A { #[route(B)] b: Channel<Label>, #[route(C)] c: Channel<Label> }
#[derive(Role)] #[protocol(P::b)] #[message(Label)]
pub struct B { #[route(A)] a: Channel<Label>, #[route(C)] c: Channel<Label> }
#[derive(Role)] #[protocol(P::c)] #[message(Label)]
pub struct C { #[route(A)] a: Channel<Label>, #[route(B)] b: Channel<Label> }
";

const EARLY: &str = "#[session(A)] pub type Early = Send<C, X, Receive<B, L, End>>;\n";
const LATE: &str = "#[session(A)] pub type Late = Receive<B, L, Send<C, X, End>>;\n";
const MIDDLE: &str =
    "#[session(B)] pub type Middle = Send<C, Y, Receive<C, K, Send<A, L, End>>>;\n";
/// Safe with `Late`.
const GOOD: &str = "#[session(C)] pub type Good = Receive<B, Y, Send<B, K, Receive<A, X, End>>>;\n";
/// Safe with `Early`; with `Late`, all wait.
const ORDER: &str =
    "#[session(C)] pub type Order = Receive<A, X, Receive<B, Y, Send<B, K, End>>>;\n";

const MACRO: &str = "macro_rules! order { () => { include!(\"order.inc\"); } }\n";
const PATH: &str = "#[path = \"../order.rs\"] pub mod order;\n";
const INCLUDE: &str = "include!(\"order.inc\");\n";

fn set(name: &str, parts: &[&str]) -> String {
    format!("pub mod {name} {{\npub use super::labels::*;\n{}{ROLES}}}\n", parts.concat())
}

/// The first set: the order of `c` is right there.
fn one(order: &str) -> String {
    set("one", &[EARLY, MIDDLE, order])
}

/// The second set: it is wrong there.
fn two(order: &str) -> String {
    set("two", &[LATE, MIDDLE, GOOD, order])
}

fn package(name: &str, parts: &[&str]) -> Package {
    let package = Package::with_script(&format!("places-{name}"), VERIFIES);
    package
        .write("protocols/p.scr", PROTOCOL)
        .write("src/lib.rs", &[LABELS, MACRO, &parts.concat()].concat())
        .write("src/order.inc", ORDER)
        // rustc looks for the `..` of a `#[path]` in a folder that is there.
        .write("src/one/.keep", "")
        .write("src/two/.keep", "")
        .write("tests/two/.keep", "")
        .write("src/order.rs", &format!("use super::*;\n{ORDER}"));
    package
}

/// All errors are the one that `Order` is unsafe, at each place where the file is mounted.
#[track_caller]
fn is_refused(outcome: &Outcome, places: usize) {
    assert!(!outcome.success, "the build passed");
    assert_eq!(outcome.errors().len(), places, "{}", outcome.show());
    for error in outcome.errors() {
        assert_eq!(error.token, "Order", "{}", outcome.show());
        error.says("unsafe order: `Order`").says("[V0412]");
        assert!(error.file.contains("order."), "{}", error.file);
    }
}

const UNSEEN: &str =
    "`Order` was not verified: the build script did not see this item as it stands here";

#[test]
fn a_session_of_a_macro_has_no_proof() {
    let order = format!("macro_rules! order {{ () => {{ {ORDER} }} }}\n");
    package("macro", &[&order, &one(ORDER), &two("")]).check(&[]).passes();
    let package = package("macro", &[&order, &one(ORDER), &two("order!();")]);
    let outcome = package.check(&[]);
    outcome.error().says(UNSEEN).says("help: write the item out in a module of this package");
}

#[test]
fn a_session_inside_a_function_has_no_proof() {
    let inside = format!("fn inside() {{ {ORDER} }}");
    let outcome = package("function", &[&one(ORDER), &two(&inside)]).check(&[]);
    outcome.error().says(UNSEEN).says("help: write the item out in a module of this package");
}

/// Its place has an entry, and that is about the other set.
#[test]
fn a_file_that_a_macro_includes_has_the_proof_of_its_set_only() {
    let outcome = package("include", &[&one(INCLUDE), &two("order!();")]).check(&[]);
    outcome.error().says("`Order` is not the session that was verified").says("`include!`");
    // Nor are the sets taken for one because their roles are of one file.
    let roles = |name, parts: &[&str]| {
        set(name, parts).replace(ROLES, "#[path = \"../roles.rs\"] mod roles; pub use roles::*;\n")
    };
    let package = package(
        "include-roles",
        &[&roles("one", &[EARLY, MIDDLE, INCLUDE]), &roles("two", &[LATE, MIDDLE, "order!();"])],
    );
    package.write("src/roles.rs", &format!("use super::*;\n{ROLES}"));
    let outcome = package.check(&[]);
    outcome.error().says("`Order` is not the session that was verified");
    package.edit("src/lib.rs", "order!();", GOOD);
    package.check(&[]).passes();
    // Nor because their modules have one name.
    let one = one(INCLUDE).replace("pub mod one", "#[cfg(unknown)] pub mod two");
    let two = format!("#[cfg(not(unknown))] {}", two("order!();"));
    let outcome = self::package("include-cfg", &[&one, &two]).check(&[]);
    outcome.error().says("`Order` is not the session that was verified");
}

#[test]
fn of_one_file_in_two_modules_each_has_to_pass() {
    // rustc says once what is equal.
    for (name, mounted, errors) in [("path", PATH, 2), ("twice", INCLUDE, 1)] {
        let right = set("two", &[EARLY, MIDDLE, GOOD, mounted]);
        package(name, &[&one(mounted), &right]).check(&[]).passes();
        for [first, second] in [[one(mounted), two(mounted)], [two(mounted), one(mounted)]] {
            is_refused(&package(name, &[&first, &second]).check(&[]), errors);
        }
    }
}

#[test]
fn a_part_of_a_session_in_two_modules() {
    let part = ORDER.replace("Receive<B, Y, Send<B, K, End>>", "Rest");
    let part = format!("{part}#[session] pub type Rest = Receive<B, Y, Send<B, K, End>>;\n");
    let package = package("part", &[&one(PATH), &two(PATH)]);
    package.write("src/order.rs", &format!("use super::*;\n{part}"));
    is_refused(&package.check(&[]), 2);
    package.edit(
        "src/order.rs",
        "pub type Rest = Receive<B, Y, Send<B, K, End>>",
        "pub struct Rest(Receive<B, Y, Send<B, K, End>>)",
    );
    is_refused(&package.check(&[]), 2);
    package.edit("src/lib.rs", LATE, EARLY);
    package.check(&[]).passes();
}

#[test]
fn a_library_and_its_test_of_one_name_are_told_apart() {
    let package = package("test", &[&one(PATH)]);
    let test = format!("tests/{TESTED}.rs");
    let mounted = PATH.replace("..", "../../src");
    package.write(&test, &[LABELS, &two(&mounted)].concat());
    package.check(&["--lib"]).passes();
    is_refused(&package.check(&["--tests"]), 1);
    package.write(
        &test,
        &[LABELS, &two("").replace("pub mod two {", "pub mod two { order!();")].concat(),
    );
    package.edit(&test, LABELS, &format!("{LABELS}macro_rules! order {{ () => {{ #[path = \"../../src/order.rs\"] mod order; }} }}\n"));
    let outcome = package.check(&["--tests"]);
    outcome.error().says(UNSEEN);
}

/// A macro cannot tell them apart.
#[test]
fn a_binary_and_an_example_of_one_name() {
    let package = package("example", &[]);
    let roles = format!("pub use super::labels::*;\n{ROLES}");
    package.write("src/roles.rs", &roles).write("src/order.rs", &format!("use super::*;\n{ORDER}"));
    let of = |folder: &str, sessions: &str| {
        let mounted = format!(
            "#[path = \"{folder}roles.rs\"] mod roles; #[path = \"{folder}order.rs\"] mod order; use roles::*;"
        );
        [LABELS, &mounted, "use labels::*;\n", MIDDLE, sessions, "fn main() {}\n"].concat()
    };
    let example = format!("examples/{TESTED}.rs");
    package.write("src/main.rs", &of("", EARLY)).write(&example, &of("../src/", EARLY));
    let targets = ["--bin", TESTED, "--example", TESTED];
    package.check(&targets).passes();
    // What is wrong in the one is said in both.
    package.write(&example, &of("../src/", LATE));
    is_refused(&package.check(&targets[..2]), 1);
    is_refused(&package.check(&targets[2..]), 1);
}

/// rustc counts the lines of a documentation test from its own first one.
#[test]
fn a_test_in_documentation_has_no_proof() {
    let package = package("documentation", &[&one(ORDER)]);
    let text = package.read("src/lib.rs");
    let line = text.lines().position(|line| ORDER.starts_with(line) && !line.is_empty()).unwrap();
    // With the lines that rustdoc adds, the session is where that of the library is.
    for added in 0..8 {
        let hidden = "//! #\n".repeat(line - added);
        let test = format!(
            "//! ```\n{hidden}//! {ORDER}//! use tested::{{labels::*, one::*}}; fn main() {{}}\n//! ```\n"
        );
        package.write("src/documented.rs", &test);
        package.write("src/lib.rs", &format!("{text}mod documented;\n"));
        let (success, said, _) = package.run_with("test", &["--doc"]);
        assert!(!success && said.contains("`Order` was not verified"), "{said}");
    }
}

#[test]
fn a_module_may_have_a_raw_name() {
    let raw = |name: &str| set(name, &[EARLY, MIDDLE, ORDER]);
    let package = package("raw", &[&raw("r#loop"), &raw("r#plain")]);
    package.check(&[]).passes();
    let nested = format!("pub mod outer {{ pub use super::labels; {} }}\n", raw("r#type"));
    package.write("src/lib.rs", &[LABELS, &nested].concat());
    package.check(&[]).passes();
}
