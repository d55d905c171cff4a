//! The blocks of README and of the guides: each is taken by a test. Those that no other one runs
//! compile here, with what the text around them says.

use std::fs;

use super::harness::{Package, dependency, workspace};
use super::readme::{blocks, example, section};
use rumpsteak_scribble::{Limits, Modules};

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
        .edit("Cargo.toml", "\"rt\", \"sync\"", "\"rt\", \"sync\", \"net\", \"time\"");

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
    let source = format!("{imports}\nmod kernel;\nmod joined;\nmod detached;\nmod parcel;\nmod waits;\nmod watches;\nmod dispatch;\n{before}{label}{behind}{main}")
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
    let process = &net[2];
    package.write(
        "src/joined.rs",
        &format!(
            "use crate::{{Label, Ready, Value}};\nuse rumpsteak_net::{{Host, Net}};\n\
             use rumpsteak_runtime::{{Result, Role, session, try_run}};\n{}{}{}\
             #[session(K)]\ntype Kernel = Loop;\n\
             #[session]\nstruct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);\n\
             async fn kernel(role: &mut K) -> Result<()> {{\n\
             try_run(role, async |s: Kernel<'_>| {{ drop(s); std::future::pending().await }}).await\n}}\n\
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
    write_choices(&package);
    let (success, _, said) = package.run_with("check", &["-q"]);
    assert!(success, "{said}");
}

/// The chapters on choices among peers and on interrupts, with what they leave out.
fn write_choices(package: &Package) {
    let chapter = document("rumpsteak-runtime/guide/interrupts.md");
    let [patience, race, wish, drain, watched, until] = &codes(&chapter)[..] else {
        panic!("six blocks")
    };
    package.write("protocols/patience.scr", patience);
    package.write("protocols/watched.scr", watched);
    let (busy, statements) = until.split_once("\n\n").unwrap();
    package.write(
        "src/watches.rs",
        &format!(
            "#![allow(unused, unused_must_use)]\n\
             use rumpsteak_runtime::{{Result, session, states::{{AnyPeer, Race, Until}}}};\n\
             rumpsteak_runtime::protocol!(Watched);\nuse watched::{{Answer, C, Cancel, Question, S, Thanks, Timeout}};\n{busy}\
             #[session] enum Answered {{ Thanks(Thanks, End), Cancel(Cancel, Send<C, Cancel, End>) }}\n\
             #[session] enum Draining {{\n    Question(Question, Branch<C, Self>),\n    \
             Thanks(Thanks, Branch<C, Self>),\n    Timeout(Timeout, End),\n    Cancel(Cancel, End),\n}}\n\
             async fn works(s: Race<'_, S, AnyPeer, Busy<'_, S>>, work: impl Future<Output = Option<i32>>) -> Result<()> {{\n{statements}Ok(()) }}\n"
        ),
    );
    let (waiting, statements) = race.split_once("\n\n").unwrap();
    package.write(
        "src/waits.rs",
        &format!(
            "#![allow(unused, unused_must_use)]\n\
             use rumpsteak_runtime::{{Result, session, states::{{AnyPeer, Race}}}};\n\
             rumpsteak_runtime::protocol!(Patience);\nuse patience::{{Answer, C, Cancel, Question, S, Thanks}};\n\
             const PATIENCE: std::time::Duration = std::time::Duration::ZERO;\n{waiting}\n{drain}\
             #[session] enum Taken {{ Thanks(Thanks, End), Cancel(Cancel, Branch<S, Drain>) }}\n\
             #[session] enum Working {{\n    Answer(Send<C, Answer, Branch<C, Answered>>),\n    \
             Cancel(Receive<C, Cancel, Send<C, Cancel, End>>),\n}}\n\
             #[session] enum Answered {{ Thanks(Thanks, End), Cancel(Cancel, Send<C, Cancel, End>) }}\n\
             async fn asks(s: Race<'_, C, AnyPeer, Waiting<'_, C>>) -> Result<()> {{\n{statements}Ok(()) }}\n\
             async fn works(s: Race<'_, S, AnyPeer, Working<'_, S>>, work: impl Future<Output = i32>) -> Result<()> {{\n{wish}Ok(()) }}\n"
        ),
    );
    let chapter = codes(&document("rumpsteak-runtime/guide/peers.md"));
    let dispatch = chapter.iter().find(|code| code.contains("Select<Next>")).unwrap();
    let (sessions, statements) = dispatch.split_once("\n\n").unwrap();
    let statements = statements.lines().enumerate();
    let functions = statements.map(|(number, line)| {
        format!(
            "async fn chooses_{number}(s: Dispatcher<'_>) -> Result<()> {{\n{line}\nOk(()) }}\n"
        )
    });
    package.write(
        "protocols/dispatch.scr",
        "global protocol Dispatch(role d, role a, role b) { rec next { choice at d {\n\
         job(i32) from d to a; done() from a to d; continue next;\n} or {\n\
         job(i32) from d to b; done() from b to d; continue next;\n} or {\n\
         stop() from d to a; stop() from d to b;\n} } }\n",
    );
    package.write(
        "src/dispatch.rs",
        &format!(
            "#![allow(unused, unused_must_use)]\nuse rumpsteak_runtime::{{Result, session}};\n\
             rumpsteak_runtime::protocol!(Dispatch);\nuse self::dispatch::{{A, B, D, Done, Job, Stop}};\n{sessions}\n{}",
            functions.collect::<String>()
        ),
    );
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

/// The chapter on generated code has tests of the roles that are generated for README's first
/// program.
#[test]
fn generated_roles_are_tested_as_the_guide_says() {
    let (package, _) = example("guide-generated", &section(&document("README.md"), "Start here"));
    let chapter = codes(&document("rumpsteak-runtime/guide/generated.md"));
    let [helper, local, tests] = &chapter[..] else { panic!("three blocks") };
    package.write("protocols/jobs.worker.local", local);
    package.edit(
        "src/main.rs",
        "let (Done(sum), next) = next.receive().await?;",
        "let (sum, next) = hear(next).await?;",
    );
    package.write("src/main.rs", &format!("{}\n{helper}\n{tests}", package.read("src/main.rs")));
    let (success, printed, said) = package.run_with("test", &["-q"]);
    assert!(success && printed.contains("2 passed"), "{printed}{said}");
}

/// The blocks of a text: the section that each is in, what its fence says, and its lines.
fn fences(text: &str) -> Vec<(&str, &str, String)> {
    let (mut found, mut section) = (Vec::new(), "");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if let Some(fence) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((section, fence, body.join("\n")));
        }
    }
    found
}

const DOCUMENTS: [&str; 6] = [
    "rumpsteak-build/README.md",
    "rumpsteak-build/cli/README.md",
    "rumpsteak-build/fsm/README.md",
    "rumpsteak-build/scribble/README.md",
    "rumpsteak-runtime/README.md",
    "rumpsteak-runtime/net/README.md",
];

/// The documents for users, but for the reference of the dialect, each of whose blocks has a test
/// beside the parser.
fn documents() -> Vec<String> {
    let guides = ["rumpsteak-runtime/guide", "rumpsteak-runtime/net/guide"];
    let chapters = guides.iter().flat_map(|folder| {
        let files = fs::read_dir(workspace().join(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".md")).map(move |name| format!("{folder}/{name}"))
    });
    let mut chapters: Vec<String> = chapters.collect();
    chapters.sort();
    let fixed = ["README.md"].into_iter().chain(DOCUMENTS).map(str::to_owned);
    fixed.chain(chapters).collect()
}

/// The blocks that are no protocol, no command and no test of rustdoc, with the test that takes
/// them: a new one is to be named here.
const OTHERS: &str = "\
README.md: text                                       the_example_of_the_readme_runs_and_its_mistake_is_refused
README.md, Start here: toml                           the_first_example_of_the_readme_runs
README.md, Start here: rust,ignore                    the_first_example_of_the_readme_runs
README.md, Start here: rust,ignore                    the_first_example_of_the_readme_runs
README.md, Start here: text                           the_first_example_of_the_readme_runs
README.md, Start here: rust,ignore                    the_first_example_of_the_readme_runs
README.md, A complete example: toml                   the_example_of_the_readme_runs_and_its_mistake_is_refused
README.md, A complete example: rust,ignore            the_example_of_the_readme_runs_and_its_mistake_is_refused
README.md, A complete example: rust,ignore            the_example_of_the_readme_runs_and_its_mistake_is_refused
README.md, A complete example: text                   the_example_of_the_readme_runs_and_its_mistake_is_refused
README.md, Top-down: let the code be generated: rust,ignore       the_example_runs_in_the_other_workflows
README.md, Top-down: let the code be generated: rust,ignore       the_example_runs_in_the_other_workflows
README.md, Top-down: let the code be generated: dot   the_example_runs_in_the_other_workflows
README.md, Bottom-up: without a protocol: rust,ignore the_example_runs_in_the_other_workflows
README.md, In processes of their own: rust,ignore     blocks_that_no_other_test_runs_compile
README.md, In processes of their own: rust,ignore     blocks_that_no_other_test_runs_compile
README.md, If a safe order is refused: rust,ignore    blocks_that_no_other_test_runs_compile
README.md, If a role may keep others waiting: rust,ignore         blocks_that_no_other_test_runs_compile
rumpsteak-runtime/README.md: rust,ignore              blocks_that_no_other_test_runs_compile
rumpsteak-runtime/net/README.md: rust,ignore          blocks_that_no_other_test_runs_compile
rumpsteak-runtime/net/README.md: rust,ignore          blocks_that_no_other_test_runs_compile
rumpsteak-runtime/guide/generated.md, States in functions: rust,ignore            generated_roles_are_tested_as_the_guide_says
rumpsteak-runtime/guide/generated.md, An order of your own: text                  generated_roles_are_tested_as_the_guide_says
rumpsteak-runtime/guide/generated.md, Testing: rust,ignore        generated_roles_are_tested_as_the_guide_says
rumpsteak-runtime/guide/interrupts.md: rust,ignore    blocks_that_no_other_test_runs_compile
rumpsteak-runtime/guide/interrupts.md: rust,ignore    blocks_that_no_other_test_runs_compile
rumpsteak-runtime/guide/interrupts.md, What crosses: rust,ignore  blocks_that_no_other_test_runs_compile
rumpsteak-runtime/guide/interrupts.md, Several that may interrupt: rust,ignore blocks_that_no_other_test_runs_compile
rumpsteak-runtime/guide/peers.md, Sending to whom you like: rust,ignore           blocks_that_no_other_test_runs_compile
rumpsteak-runtime/net/guide/delegation.md, Within a process: rust,ignore          blocks_that_no_other_test_runs_compile
rumpsteak-runtime/net/guide/delegation.md, To another host: rust,ignore           blocks_that_no_other_test_runs_compile
";

/// Every block is compiled, run or refused by a test, or is a command that there is.
#[test]
fn every_block_is_taken_by_a_test() {
    let included =
        ["", "net/"].map(|part| document(&format!("rumpsteak-runtime/{part}src/guide.rs")));
    let chapters = included.iter().flat_map(|text| text.split("chapters!(").nth(1));
    let chapters: Vec<&str> = chapters.flat_map(|names| names.split([' ', ')'])).collect();
    let (mut others, mut wrong) = (Vec::new(), Vec::new());
    for path in documents() {
        let text = document(&path);
        let stem = path.rsplit('/').next().unwrap().trim_end_matches(".md");
        for (section, fence, body) in fences(&text) {
            let is_right = match fence {
                "scribble" => is_accepted(&body),
                "console" => body.lines().filter_map(|line| line.strip_prefix("$ ")).all(exists),
                "toml" if !body.contains("[package]") => body.contains("= \"0.1\""),
                // Those that are messages are compared with those of `ui-tests` above.
                "text" if stem == "errors" => true,
                "text" if stem == "peers" => {
                    quotes(&body, &["examples/tasks/lock.rs", "protocols/lock.scr"])
                }
                _ if fence.starts_with("rust") && !fence.contains("ignore") => {
                    DOCUMENTS.contains(&&*path) || chapters.contains(&stem)
                }
                _ => {
                    let section = if section.is_empty() { "" } else { &format!(", {section}") };
                    others.push(format!("{path}{section}: {fence}"));
                    true
                }
            };
            if !is_right {
                wrong.push(format!("{path}, {section}: {fence}\n{body}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let table = OTHERS.lines().map(|line| line.rsplit_once(' ').unwrap());
    let known: Vec<&str> = table.clone().map(|(block, _)| block.trim_end()).collect();
    assert_eq!(others, known);
    let tests = document("rumpsteak-build/tests/it/whole_cargo/readme.rs") + &document(file!());
    for (_, test) in table {
        assert!(tests.contains(&format!("\nfn {test}()")), "{test}");
    }
}

/// Whether a text is Scribble, and every role can follow it.
fn is_accepted(text: &str) -> bool {
    let (modules, diagnostics) = Modules::load(text, |_| None);
    let checked = modules.check(&Limits::default());
    let mut protocols = checked.protocols.iter();
    let is_followed = protocols.all(|it| it.roles().iter().all(|role| it.project(role).is_ok()));
    diagnostics.is_empty() && checked.diagnostics.is_empty() && is_followed
}

/// Whether each line stands in one of the files.
fn quotes(text: &str, files: &[&str]) -> bool {
    let quoted: String = files.iter().map(|file| document(file)).collect();
    text.lines().all(|line| line.trim() == "…" || quoted.contains(line))
}

/// Whether a command names what there is.
fn exists(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let there = |path: String| workspace().join(path).exists();
    match words[..] {
        ["cargo", "test"] | ["echo", ..] => true,
        ["cargo", "install", "--path", path] => there(path.to_owned()),
        ["cargo", "rumpsteak", verb, ..] => {
            ["", ".rs"].iter().any(|end| there(format!("rumpsteak-build/cli/src/verb/{verb}{end}")))
        }
        ["cargo", "run", "-p", "rumpsteak-examples", "--example", name, ..] => {
            document("examples/Cargo.toml").contains(&format!("\"{name}\""))
                || there(format!("examples/{name}.rs"))
        }
        ["cargo", "run", "--release", "-p", "rumpsteak-evaluation", .., figure] => {
            document("benches/evaluation/src/main.rs").contains(figure)
                || document("benches/report/README.md").contains(figure)
        }
        _ => false,
    }
}
