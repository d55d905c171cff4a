//! Names: what a session's roles, labels and parts mean, to the build script and to rustc.

use super::harness::{IMPORTS, KERNEL, OTHERS, PROCESS, Package, ROLES, double_buffering};
use crate::support::says;

#[test]
fn paths_imports_renames_and_globs() {
    let package = Package::new("names-paths");
    package.write(
        "src/lib.rs",
        "#![allow(dead_code)]
         pub mod roles; pub mod labels; pub mod parts;
         use rumpsteak_runtime::session;
         use rumpsteak_runtime as rt;
         use labels::{Ready as Go, *};
         use crate::roles::*;
         #[session(self::roles::K)] pub type Kernel = rt::states::Send<crate::roles::S, Go, parts::inner::KernelLoop>;
         #[session(S)] pub type Source = parts::Source;
         #[session(roles::T)] pub type Sink = crate::parts::inner::super_::Sink;",
    );
    package.write(
        "src/roles.rs",
        &format!(
            "use rumpsteak_runtime::{{Channel, Role, Roles}};\nuse super::labels::Label;\n{}",
            ROLES.split("#[derive(Message)]").next().unwrap_or_default()
        ),
    );
    package.write(
        "src/labels.rs",
        "use rumpsteak_runtime::Message;
         #[derive(Message)] pub enum Label { Ready(Ready), Value(Value) }
         pub struct Ready; pub struct Value(pub i32);",
    );
    package.write(
        "src/parts/mod.rs",
        "use rumpsteak_runtime::session;
         use super::{roles::*, labels::*};
         #[session] pub struct Source(Receive<K, Ready, Send<K, Value, Self>>);
         pub mod inner;",
    );
    package.write(
        "src/parts/inner.rs",
        "use super::*;
         #[session] pub struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
         #[path = \"elsewhere.rs\"] pub mod super_;",
    );
    package.write(
        "src/parts/elsewhere.rs",
        "use super::super::{super::{roles, labels as words}, session};
         #[session] pub struct Sink(Send<roles::K, words::Ready, Receive<roles::K, words::Value, Self>>);",
    );
    package.check(&[]).passes();
}

#[test]
fn equal_tokens_in_two_modules_have_their_own_verdicts() {
    let package = Package::new("names-twice");
    // The same alias in both; but in the second module `Part` is another session.
    let alias = "#[session(K)] pub type Kernel = Send<S, Ready, Part>;";
    package.write(
        "src/lib.rs",
        &format!(
            "{}
             pub mod safe {{ use super::*; {alias}
                 #[session] pub struct Part(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>); }}
             pub mod wrong {{ use super::*; {alias}
                 #[session] pub struct Part(Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>); }}
             pub mod unsafe_ {{ use super::*; {alias}
                 #[session] pub struct Part(Receive<S, Value, Receive<S, Value, KernelLoop>>); }}",
            double_buffering(),
        ),
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    let lines: std::collections::BTreeSet<u64> =
        outcome.errors().iter().map(|error| error.line).collect();
    // Only the two wrong parts, each in its own module.
    assert_eq!(lines.len(), 2, "{}", outcome.show());
    for error in outcome.errors() {
        error.is_at("src/lib.rs", &error.token.clone()).says("`Kernel`");
    }
}

#[test]
fn a_pair_of_aliases_under_a_feature() {
    let package = Package::new("names-cfg");
    package.edit(
        "src/lib.rs",
        KERNEL,
        &format!(
            "#[cfg(not(feature = \"unsafe-reordering\"))]\n#[session(K)] pub type Kernel = Send<S, Ready, KernelLoop>;\n\
             #[cfg(feature = \"unsafe-reordering\")]\n#[session(K)] pub type Kernel = Receive<S, Value, KernelLoop>;\n{}",
            KERNEL.lines().nth(1).unwrap_or_default()
        ),
    );
    package.edit("src/lib.rs", PROCESS, "");
    package.check(&[]).passes();
    package.check(&["--features", "fast"]).passes();
    package.check(&["--features", "unsafe-reordering"]).error().is_at("src/lib.rs", "Receive");
    package.check(&[]).passes();
}

#[test]
fn a_role_of_another_protocol() {
    let package = Package::new("names-other");
    package.write(
        "protocols/other.scr",
        "global protocol Other(role a, role b) { ready() from a to b; }",
    );
    package.edit(
        "src/lib.rs",
        PROCESS,
        "pub mod other { use super::*;
            #[derive(Role)] #[protocol(Other::a)] #[message(Label)] pub struct A { #[route(B)] b: Channel<Label> }
            #[derive(Role)] #[protocol(Other::b)] #[message(Label)] pub struct B { #[route(A)] a: Channel<Label> }
            #[session(A)] pub type First = Send<B, Ready, End>;
            #[session(B)] pub type Second = Receive<A, Ready, End>;
         }
         #[session(K)] pub type Wrong = Send<other::A, Ready, KernelLoop>;",
    );
    let outcome = package.check(&[]);
    outcome
        .error()
        .is_at("src/lib.rs", "A")
        .says("it plays `Other::a`, this session plays `DoubleBuffering::k`");
}

#[test]
fn what_the_protocol_does_not_have() {
    let cases = [
        (
            "#[protocol(DoubleBuffering::k)]",
            "#[protocol(DoubleBufering::k)]",
            "DoubleBufering",
            "did you mean `DoubleBuffering`?",
        ),
        (
            "#[protocol(DoubleBuffering::k)]",
            "#[protocol(DoubleBuffering::kernel)]",
            "kernel",
            "the roles are `s`, `k` and `t`",
        ),
        ("Value(Value)", "Valeu(Value)", "Value", "did you mean `value`?"),
        ("struct Value(pub i32)", "struct Value(pub u32)", "Value", "is `value(i32)`"),
    ];
    let package = Package::new("names-unknown");
    for (from, to, token, text) in cases {
        package.write("src/lib.rs", &double_buffering().replace(PROCESS, ""));
        package.edit("src/lib.rs", from, to);
        let outcome = package.check(&[]);
        assert!(!outcome.success);
        let errors = outcome.errors();
        let found = errors.iter().find(|error| error.text.contains(text));
        let Some(found) = found else { panic!("{text:?} is not said in:\n{}", outcome.show()) };
        assert_eq!(found.token, token, "{}", outcome.show());
    }
}

#[test]
fn a_role_with_conditional_fields_is_found_again() {
    let package = Package::new("names-cfg-field");
    package.edit(
        "src/lib.rs",
        "pub struct K { ",
        "pub struct K { #[cfg(feature = \"fast\")] #[route(Missing)] m: Channel<Label>, ",
    );
    package.check(&[]).passes();
    package.edit("src/lib.rs", "DoubleBuffering::k", "DoubleBuffering::kk");
    let outcome = package.check(&[]);
    let errors = outcome.errors();
    assert!(
        errors.iter().any(|error| error.token == "kk" && error.text.contains("has no role `kk`")),
        "{}",
        outcome.show()
    );
}

#[test]
fn names_and_types_that_differ_are_mapped() {
    let package = Package::new("names-mapped");
    package.write(
        "protocols/double_buffering.scr",
        "type <rust> \"std::string::String\" from \"std\" as Str;\n\
         global protocol Double_buffering(role source, role the_kernel) {\n\
           rec loop { value_one(Str, i32) from source to the_kernel; done() from the_kernel to source; continue loop; }\n}",
    );
    package.write(
        "src/lib.rs",
        &format!(
            "{IMPORTS}
            #[derive(Role)] #[protocol(DoubleBuffering)] #[message(Label)] pub struct Source {{ #[route(K)] k: Channel<Label> }}
            #[derive(Role)] #[protocol(DoubleBuffering)] #[role(\"the_kernel\")] #[message(Label)]
            pub struct K {{ #[route(Source)] s: Channel<Label> }}
            #[derive(Message)] pub enum Label {{ ValueOne(Pair), #[label(\"done\")] Finished(Finished) }}
            pub struct Pair {{ pub name: String, pub number: i32 }}
            pub struct Finished;
            #[session(Source)] pub struct Give(Send<K, Pair, Receive<K, Finished, Self>>);
            #[session(K)] pub struct Take(Receive<Source, Pair, Send<Source, Finished, Self>>);"
        ),
    );
    package.check(&[]).passes();
}

#[test]
fn a_message_type_that_is_its_own_only_label() {
    // A ring with one label, and so no enum.
    let package = Package::new("names-only-label");
    package.remove("protocols/double_buffering.scr");
    package.write(
        "protocols/ring.scr",
        "global protocol Ring(role a, role b, role c) {
           rec loop { value(i32) from a to b; value(i32) from b to c; value(i32) from c to a; continue loop; }
         }",
    );
    let role = |name: &str, from: &str, to: &str| {
        let lower = name.to_lowercase();
        format!(
            "#[derive(Role)] #[protocol(Ring::{lower})] #[message(Value)]
             pub struct {name}(#[route({from})] Receiver<Value>, #[route({to})] Sender<Value>);\n"
        )
    };
    let roles = [role("A", "C", "B"), role("B", "A", "C"), role("C", "B", "A")];
    package.write(
        "src/lib.rs",
        &format!(
            "{IMPORTS}
            use rumpsteak_runtime::channel::{{Receiver, Sender}};
            #[derive(Roles)] pub struct Roles {{ pub a: A, pub b: B, pub c: C }}
            {}
            #[derive(Message)] pub struct Value(pub i32);
            #[session(A)] pub struct First(Send<B, Value, Receive<C, Value, Self>>);
            #[session(B)] pub struct Second(Send<C, Value, Receive<A, Value, Self>>);
            #[session(C)] pub struct Third(Receive<B, Value, Send<A, Value, Self>>);
            pub async fn second(role: &mut B) -> Result<std::convert::Infallible> {{
                try_run(role, async |mut s: Second<'_>| {{
                    let mut own = 0;
                    loop {{
                        let (Value(value), next) = s.send(Value(own)).await?.receive().await?;
                        (own, s) = (value, next);
                    }}
                }}).await
            }}",
            roles.concat()
        ),
    );
    package.check(&[]).passes();

    package.edit(
        "src/lib.rs",
        "Third(Receive<B, Value, Send<A, Value, Self>>)",
        "Third(Receive<B, Value, Receive<B, Value, Send<A, Value, Self>>>)",
    );
    package.check(&[]).error().is_at("src/lib.rs", "Receive");
}

#[test]
fn what_the_walk_cannot_see_is_refused() {
    let package = Package::new("names-unseen");
    package.edit(
        "src/lib.rs",
        PROCESS,
        "pub fn f() { #[session(K)] type Inside = Send<S, Ready, Send<S, Ready, KernelLoop>>; }",
    );
    package
        .check(&[])
        .error()
        .is_at("src/lib.rs", "Inside")
        .says("the build script did not see this item");

    package.write("src/lib.rs", &double_buffering());
    package.edit(
        "src/lib.rs",
        PROCESS,
        "macro_rules! make { ($name:ident) => { #[session(K)] pub type $name = Send<S, Ready, Send<S, Ready, KernelLoop>>; } }
         make!(Made);",
    );
    package.check(&[]).error().says("the build script did not see this item");

    // A name that a macro makes.
    package.write("src/lib.rs", &double_buffering());
    package.edit(
        "src/lib.rs",
        PROCESS,
        "macro_rules! make { ($name:ident) => { pub type $name = S; } } make!(Alias);
         #[session(K)] pub type Mine = Send<S, Ready, Send<Alias, Ready, KernelLoop>>;",
    );
    package
        .check(&[])
        .error()
        .is_at("src/lib.rs", "Alias")
        .says("is not declared in the source of this package");
}

#[test]
fn a_name_that_means_something_else_to_rustc_is_refused() {
    let package = Package::new("names-seal");
    // The build script sees `S` through the glob; to rustc, the `S` that the macro makes hides it.
    package.edit(
        "src/lib.rs",
        PROCESS,
        "pub mod mine { use super::*;
            macro_rules! make { ($name:ident = $other:ident) => { pub type $name = super::$other; } }
            make!(S = T);
            #[session(K)] pub type Mine = Send<S, Ready, Send<S, Ready, KernelLoop>>;
         }",
    );
    let outcome = package.check(&[]);
    outcome.error().says("is not the session that was verified");

    // The same for a part of a session …
    package.write("src/lib.rs", &double_buffering());
    package.edit(
        "src/lib.rs",
        PROCESS,
        "pub mod mine { use super::*;
            macro_rules! make { ($name:ident = $other:ident) => { pub use super::$other as $name; } }
            make!(KernelLoop = SinkLoop);
            #[session(K)] pub type Mine = Send<S, Ready, Send<S, Ready, KernelLoop>>;
         }",
    );
    package.check(&[]).error().says("is not the session that was verified");

    // … and for the role that plays it.
    package.write("src/lib.rs", &double_buffering());
    package.edit(
        "src/lib.rs",
        PROCESS,
        "pub mod mine { use super::*;
            macro_rules! make { ($name:ident = $other:ident) => { pub type $name = super::$other; } }
            make!(K = T);
            #[session(K)] pub type Mine = Send<S, Ready, Send<S, Ready, KernelLoop>>;
         }",
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    says(&outcome.show(), "is not the session that was verified");
}

#[test]
fn names_that_are_no_sessions_roles_or_labels() {
    let package = Package::new("names-kinds");
    let cases = [
        ("Send<S, Ready, Ready>", "Ready", "`Ready` is no session"),
        ("Send<Label, Ready, KernelLoop>", "Label", "`Label` is no role"),
        ("Send<S, Label, KernelLoop>", "Label", "`Label` is no message of the role"),
        ("Send<K, Ready, KernelLoop>", "K", "no role talks to itself"),
        ("Select<S, KernelLoop>", "KernelLoop", "is a session, not a choice"),
    ];
    for (session, token, text) in cases {
        package.write(
            "src/lib.rs",
            &[IMPORTS, ROLES, OTHERS, &KERNEL.replace("Send<S, Ready, KernelLoop>", session)]
                .join("\n"),
        );
        let outcome = package.check(&[]);
        assert!(!outcome.success);
        let errors = outcome.errors();
        let Some(found) = errors.iter().find(|error| error.text.contains(text)) else {
            panic!("{session}: {text:?} is not said in:\n{}", outcome.show());
        };
        assert_eq!(found.token, token);
    }
}
