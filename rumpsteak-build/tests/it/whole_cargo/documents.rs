//! The blocks of README and of the guides that no other test runs: with what the text around them
//! says, they compile.

use std::fs;

use super::harness::{dependency, workspace};
use super::readme::{blocks, example, section};

/// A document of this workspace.
fn document(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

/// The blocks of code of a text, in order.
fn codes(text: &str) -> Vec<String> {
    blocks(text).into_iter().map(|(_, code)| code).collect()
}

/// Roles for the guide on delegation, over routes of any kind.
const PORTAL: &str = "
#[derive(Role)] #[protocol(Portal::user)] #[message(Talk)]
pub struct User(#[route(Portal)] ROUTE<Talk>);
#[derive(Role)] #[protocol(Portal::portal)] #[message(Talk)]
pub struct Portal(#[route(User)] ROUTE<Talk>);
#[derive(Message, Serialize, Deserialize)] pub enum Talk { Name(Name), Ask(Ask), Answer(Answer) }
#[derive(Serialize, Deserialize)] pub struct Name(pub String);
#[derive(Serialize, Deserialize)] pub struct Ask(pub u64);
#[derive(Serialize, Deserialize)] pub struct Answer(pub u64);

#[derive(Role)] #[protocol(Hire::portal)] #[message(Work)]
pub struct Agency(#[route(Server)] Channel<Work>);
#[derive(Role)] #[protocol(Hire::server)] #[message(Work)]
pub struct Server(#[route(Agency)] Channel<Work>);
#[derive(Message)] pub enum Work { Job(Job) }
#[session(Agency)] type Hires = Send<Server, Job, End>;
";

#[test]
fn blocks_that_no_other_test_runs_compile() {
    let readme = document("README.md");
    let (package, _) = example("documents", &section(&readme, "A complete example"));
    package
        .edit(
            "Cargo.toml",
            "\n[build-dependencies]",
            &format!(
                "rumpsteak-net = {}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n[build-dependencies]",
                dependency("rumpsteak-runtime/net")
            ),
        )
        .edit("Cargo.toml", "\"rt\", \"sync\"", "\"rt\", \"sync\", \"net\"");

    // What build.rs may say.
    let statements = ["If a safe order is refused", "If a role may keep others waiting"]
        .map(|title| codes(&section(&readme, title)).swap_remove(0));
    let functions = ["closed", "fair"].iter().zip(&statements);
    let functions = functions.map(|(name, statement)| {
        format!("#[allow(dead_code)]\nfn {name}() -> Result<(), rumpsteak_build::Report> {{\n{statement}Ok(())\n}}\n")
    });
    package.write(
        "build.rs",
        &format!(
            "use rumpsteak_build::Liveness;\n\
             fn main() -> Result<(), rumpsteak_build::Report> {{\n    \
             rumpsteak_build::configure().protocols(\"protocols\").generate().verify()?;\n    Ok(())\n}}\n{}",
            functions.collect::<String>()
        ),
    );

    // Roles in processes of their own.
    let [network, main] = &codes(&section(&readme, "In processes of their own"))[..2] else {
        panic!("two blocks")
    };
    let (imports, label) = network.split_once("\n\n").unwrap();
    let source = package.read("src/main.rs");
    let (source, _) = source.split_once("#[tokio::main").unwrap();
    let (before, behind) = source.split_once("#[derive(Message)]\nenum Label").unwrap();
    let (_, behind) = behind.split_once("}\n").unwrap();
    let source = format!("{imports}\nmod kernel;\nmod joined;\nmod detached;\nmod parcel;\n{before}{label}{behind}{main}")
        .replace("Channel<Label>", "Net<Label>")
        .replace("{Channel, ", "{")
        .replace("struct Ready;", "#[derive(Serialize, Deserialize)]\nstruct Ready;")
        .replace("struct Value(", "#[derive(Serialize, Deserialize)]\nstruct Value(");
    package.write("src/main.rs", &source);

    // The first pages of the crates.
    let kernel = &codes(&document("rumpsteak-runtime/README.md"))[1];
    package.write(
        "protocols/single.scr",
        "global protocol Single(role s, role k) { ready() from k to s; value(i32) from s to k; }\n",
    );
    package.write(
        "src/kernel.rs",
        &format!(
            "use rumpsteak_runtime::{{Result, session, try_run}};\nrumpsteak_runtime::protocol!(Single);\n\
             use single::{{K, Ready, S, Value}};\n{kernel}"
        ),
    );
    let net = codes(&document("rumpsteak-runtime/net/README.md"));
    let peer = |role: &str, name: &str| {
        format!(
            "#[derive(Role)]\n#[protocol(DoubleBuffering::{name})]\n#[message(Label)]\nstruct {role}(#[route(K)] Net<Label>);\n"
        )
    };
    let process = net[2].replace(
        "{ … }",
        "{\n    drop(session);\n    std::future::pending::<Result<((), _)>>().await\n}",
    );
    package.write(
        "src/joined.rs",
        &format!(
            "use crate::{{Label, Ready, Value}};\nuse rumpsteak_net::{{Host, Net}};\n\
             use rumpsteak_runtime::{{Result, Role, session, try_run}};\n{}{}{}\
             #[session(K)]\ntype Kernel = Loop;\n\
             #[session]\nstruct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);\n\
             async fn join() -> std::result::Result<(), Box<dyn std::error::Error>> {{\n{process}Ok(())\n}}\n",
            peer("S", "s"),
            peer("T", "t"),
            net[1],
        ),
    );

    // Sessions that change hands.
    let [protocol, detached, parcel] =
        &codes(&document("rumpsteak-runtime/net/guide/delegation.md"))[..]
    else {
        panic!("three blocks")
    };
    package.write("protocols/portal.scr", protocol);
    let (sessions, _) = detached.split_once("\nstruct Job").unwrap();
    let imports = "use rumpsteak_runtime::{Channel, Detached, Message, Result, Role, session, try_run};\n\
                   use serde::{Deserialize, Serialize};\n";
    let local = PORTAL.replace("ROUTE", "Channel");
    package.write("src/detached.rs", &format!("{imports}{local}{detached}"));
    let (job, statements) = parcel.split_once("\n\n").unwrap();
    let statements =
        statements.replace("{ /* … */ }", "std::future::pending::<Result<((), _)>>().await");
    package.write(
        "src/parcel.rs",
        &format!(
            "{imports}use rumpsteak_net::{{Host, Joined, Net, Parcel}};\n{}{sessions}\n{job}\n\
             async fn move_on(joined: Joined<Portal>, rest: Detached<Serving<'static, Portal>>, host: Host)\n    \
             -> std::result::Result<(), Box<dyn std::error::Error>> {{\n{statements}Ok(())\n}}\n",
            PORTAL.replace("ROUTE", "Net")
        ),
    );
    let (success, _, said) = package.run_with("check", &["-q"]);
    assert!(success, "{said}");
}

/// A line of rustc without the modules before names, which it leaves out where no other item has
/// the name.
fn plain(line: &str) -> String {
    let parts: Vec<&str> = line.trim().split("::").collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let Some((last, before)) = parts.split_last() else { return String::new() };
    before.iter().map(|part| part.trim_end_matches(is_word)).chain([*last]).collect()
}

/// The messages in the chapter on errors are those that rustc prints for the mistakes in
/// `ui-tests/ui`.
#[test]
fn the_chapter_on_errors_quotes_what_is_printed() {
    let folder = workspace().join("ui-tests/ui");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let printed = files.filter(|file| file.extension().is_some_and(|end| end == "stderr"));
    let printed: Vec<String> = printed.map(|file| fs::read_to_string(file).unwrap()).collect();
    let printed: Vec<String> = printed.iter().flat_map(|text| text.lines()).map(plain).collect();
    let chapter = codes(&document("rumpsteak-runtime/guide/errors.md"));
    let quoted = chapter.iter().flat_map(|block| block.lines()).map(plain);
    let missing: Vec<String> = quoted.filter(|line| !printed.contains(line)).collect();
    assert_eq!(missing, [""; 0]);
}
