//! Ways past the proof, which are closed.

use std::fs::File;
use std::time::{Duration, SystemTime};

use super::harness::{IMPORTS, KERNEL, OTHERS, PROCESS, Package, ROLES, TESTED, double_buffering};

/// The protocol of [`Package::new`], in which the source does not wait to be asked.
fn unasked(package: &Package) -> String {
    let text = package.read("protocols/double_buffering.scr");
    text.replacen("    ready() from k to s;\n", "", 1)
}

/// A file that Cargo takes for older than anything that it has done.
fn write_old(package: &Package, file: &str, text: &str) {
    package.write(file, text);
    let file = File::options().append(true).open(package.path(file));
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    file.unwrap().set_modified(an_hour_ago).unwrap();
}

#[test]
fn a_protocol_that_is_replaced_by_an_older_one_is_seen() {
    let package = Package::new("attack-older");
    package.check(&[]).passes();
    write_old(&package, "protocols/double_buffering.scr", &unasked(&package));
    // Cargo compiles the tests for the first time, with the verdicts that are there.
    let outcome = package.check(&["--tests"]);
    assert!(!outcome.success && !outcome.ran_script(), "{}", outcome.show());
    for error in outcome.errors() {
        error.says("the verdicts are not about protocols/double_buffering.scr as it is now");
    }
    assert!(!outcome.errors().is_empty());
}

#[test]
fn a_second_checkout_does_not_get_the_verdicts_of_the_first() {
    let package = Package::bare("attack-checkouts");
    let sound = Package::new("attack-checkout-source");
    let manifest = sound.read("Cargo.toml");
    let lock = package.read("Cargo.lock");
    // The second one lies inside of the first, as worktrees may.
    for (folder, protocol) in
        [("a", sound.read("protocols/double_buffering.scr")), ("a/b", unasked(&sound))]
    {
        let write = |file: &str, text: &str| write_old(&package, &format!("{folder}/{file}"), text);
        write("Cargo.toml", &manifest);
        write("Cargo.lock", &lock);
        write("build.rs", &sound.read("build.rs"));
        write("protocols/double_buffering.scr", &protocol);
        write("src/lib.rs", &double_buffering());
    }
    package.check(&["--manifest-path", "a/Cargo.toml"]).passes();
    let outcome = package.check(&["--manifest-path", "a/b/Cargo.toml", "--tests"]);
    assert!(!outcome.success, "{}", outcome.show());
    if !outcome.ran_script() {
        for error in outcome.errors() {
            error.says("the verdicts are about the package in ");
        }
        assert!(!outcome.errors().is_empty());
    }
}

#[test]
fn the_name_of_a_refused_role_opens_nothing() {
    let package = Package::new("attack-refused");
    // What the build script sees is a role that no protocol has; rustc sees what a macro makes.
    let hidden = "\
#[cfg(no_such_cfg)] #[derive(Role)] #[protocol(DoubleBuffering::nobody)] #[message(Label)]
pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }
macro_rules! hidden { ($($item:item)*) => { $($item)* } }
hidden! {
    #[derive(Role)] #[protocol(DoubleBuffering)] #[role(\"NAME\")] #[message(Label)]
    pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }
}
";
    let (before, rest) =
        ROLES.split_once("#[derive(Role)]\n#[protocol(DoubleBuffering::k)]").unwrap();
    let (_, after) = rest.split_once("}\n").unwrap();
    for name in ["nobody (refused)", "nobody", "k"] {
        let hidden = hidden.replace("NAME", name);
        let roles = format!("{before}{hidden}{after}");
        let source = ["#![allow(unexpected_cfgs)]", IMPORTS, &roles, OTHERS, KERNEL, PROCESS];
        package.write("src/lib.rs", &source.join("\n"));
        let outcome = package.check(&[]);
        assert!(!outcome.success, "{name}: {}", outcome.show());
        let errors = outcome.errors();
        let is_sealed = |text: &str| text.contains("is not the session that was verified");
        assert!(errors.iter().any(|error| is_sealed(&error.text)), "{}", outcome.show());
    }
}

#[test]
fn a_session_that_failed_elsewhere_proves_nothing() {
    let package = Package::new("attack-elsewhere");
    // The only item that says that the file is broken is one that rustc never compiles.
    package.write("protocols/double_buffering.scr", "global protocol DoubleBuffering { no }");
    package.edit("src/lib.rs", "#[derive(Role)]\n#[protocol(DoubleBuffering::s)]", "DECOY");
    package.edit(
        "src/lib.rs",
        "DECOY",
        "#[cfg(no_such_cfg)] mod decoy {
            use super::*;
            #[derive(Role)] #[protocol(DoubleBuffering::s)] #[message(Label)]
            pub struct D { #[route(K)] k: Channel<Label> }
        }
        #[derive(Role)]\n#[protocol(DoubleBuffering::s)]",
    );
    package.edit("src/lib.rs", IMPORTS, &format!("#![allow(unexpected_cfgs)]\n{IMPORTS}"));
    package.write(
        "src/main.rs",
        "fn main() { drop(NAME::kernel(&mut NAME::Roles::default().k)); }"
            .replace("NAME", TESTED)
            .as_str(),
    );
    let outcome = package.cargo("build", &[]);
    assert!(!outcome.success, "{}", outcome.show());
}

#[test]
fn include_protocols_that_may_be_left_out_hides_nothing() {
    let package = Package::new("attack-include");
    package.write("protocols/broken.scr", "global protocol Broken { no }");
    package.write("src/x.inc", "rumpsteak_runtime::include_protocols!();");
    let whole = double_buffering().replace(IMPORTS, "");
    for hidden in [
        "#[cfg(no_such_cfg)] mod m { rumpsteak_runtime::include_protocols!(); }",
        "mod m { #![cfg(no_such_cfg)] rumpsteak_runtime::include_protocols!(); }",
        "#[cfg(no_such_cfg)] include!(\"x.inc\");",
    ] {
        let allow = "#![allow(unexpected_cfgs)]";
        package.write("src/lib.rs", &[allow, IMPORTS, &whole, hidden].join("\n"));
        let outcome = package.check(&[]);
        assert!(!outcome.success, "{hidden}: {}", outcome.show());
        assert!(outcome.stderr.contains("broken.scr"), "{hidden}: {}", outcome.show());
    }
}

/// A package whose roles `a` and `b` send each other so many messages in a row; `b` as given.
fn many_actions(package: &Package, count: usize, b: &str) {
    let (mut protocol, mut a, mut b_as_due) = (String::new(), String::new(), String::new());
    for number in 0..count {
        let (label, from, to) = [("ping", "a", "b"), ("pong", "b", "a")][number % 2];
        protocol += &format!("    {label}() from {from} to {to};\n");
        let actions = [("Send", "Receive", "Ping"), ("Receive", "Send", "Pong")][number % 2];
        a += &format!("{}<B, {}, ", actions.0, actions.2);
        b_as_due += &format!("{}<A, {}, ", actions.1, actions.2);
    }
    let close = ">".repeat(count);
    let b = b.replace("DUE", &format!("{b_as_due}End{close}"));
    package.write(
        "protocols/many.scr",
        &format!("module many;\n\nglobal protocol Many(role a, role b) {{\n{protocol}}}\n"),
    );
    package.write(
        "src/lib.rs",
        &format!(
            "{IMPORTS}
#[derive(Roles)] pub struct Roles {{ pub a: A, pub b: B }}
#[derive(Role)] #[protocol(Many::a)] #[message(Label)] pub struct A {{ #[route(B)] b: Channel<Label> }}
#[derive(Role)] #[protocol(Many::b)] #[message(Label)] pub struct B {{ #[route(A)] a: Channel<Label> }}
#[derive(Message)] pub enum Label {{ Ping(Ping), Pong(Pong) }}
pub struct Ping;
pub struct Pong;
#[session(A)] pub type Many = {a}End{close};
{b}
pub async fn first(role: &mut A) -> Result<()> {{
    try_run(role, async |s: Many<'_>| {{
        let (Pong, s) = s.send(Ping).await?.receive().await?;
        panic!(\"{{s:?}}\")
    }}).await
}}
"
        ),
    );
}

#[test]
fn a_session_of_many_actions_needs_no_deeper_recursion() {
    let package = Package::new("attack-many-actions");
    many_actions(&package, 400, "#[session(B)] pub type Other = DUE;");
    package.check(&[]).passes();
    many_actions(&package, 2_001, "#[session(B)] pub struct Other(DUE);");
    let outcome = package.check(&[]);
    assert!(!outcome.success, "{}", outcome.show());
    outcome.errors()[0].says("more than 2,000 actions in one item");
}
