//! The blocks of README and of the guides: each is taken by a test.

use std::fs;

use super::harness::workspace;
use super::readme::{Block, blocks, start};
use rumpsteak_scribble::{Limits, Modules};

fn document(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

fn codes(text: &str) -> Vec<String> {
    blocks(text).into_iter().map(|block| block.code).collect()
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

/// The machine in the chapter on modules takes the place of the kernel's order.
#[test]
fn a_machine_beside_the_protocol_is_as_the_guide_says() {
    let package = start("guide-machine");
    let chapter = codes(&document("rumpsteak-runtime/guide/module.md"));
    let [protocol, _, machine, ..] = &chapter[..] else { panic!("three blocks") };
    let frame = "type <rust> \"Vec<u8>\" as Frame;\n";
    package.write("protocols/double_buffering.scr", &format!("{frame}{protocol}"));
    package.write("protocols/double_buffering.k.local", machine);
    let kernel = "
        #[rumpsteak::protocol(DoubleBuffering)]
        pub mod double_buffering {}
        pub async fn kernel(s: double_buffering::KSession<'_>) -> Result<()> {
            use double_buffering::Ready;
            s.send(Ready).await?.send(Ready).await?.receive().await?;
            Ok(())
        }
    ";
    package.write("src/main.rs", &format!("{}{kernel}", package.read("src/main.rs")));
    let (success, _, said) = package.run("check", &["-q"]);
    assert!(success, "{said}");
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

/// The blocks other than protocols, commands and tests of rustdoc, with the test that takes
/// them: a new one is to be named here.
const OTHERS: &str = "\
README.md: scribble S0404                       the_protocol_of_the_readme_is_refused_and_its_repair_is_accepted
README.md: text                                 the_protocol_of_the_readme_is_refused_and_its_repair_is_accepted
README.md, Start here: rust,ignore              the_program_of_the_readme_runs
README.md, Start here: text                     the_program_of_the_readme_runs
README.md, Make it faster: rust,ignore          the_faster_order_of_the_readme_runs_and_its_mistake_is_refused
README.md, Make it faster: text                 the_faster_order_of_the_readme_runs_and_its_mistake_is_refused
rumpsteak-runtime/guide/module.md, An order of your own: text a_machine_beside_the_protocol_is_as_the_guide_says
rumpsteak-runtime/net/guide/browser.md, The role: rust,ignore the_guide_shows_this_page
rumpsteak-runtime/net/guide/browser.md, The role: html the_guide_shows_this_page
";

/// Every block is compiled, run or refused by a test, or is a command that there is.
#[test]
fn every_block_is_taken_by_a_test() {
    let tested = document("rumpsteak-runtime/doctests/src/lib.rs");
    let (mut others, mut wrong) = (Vec::new(), Vec::new());
    for path in documents() {
        let text = document(&path);
        let stem = path.rsplit('/').next().unwrap().trim_end_matches(".md");
        for Block { section, fence, code, .. } in blocks(&text) {
            let is_right = match fence {
                "scribble" => is_accepted(&code),
                "console" => code.lines().filter_map(|line| line.strip_prefix("$ ")).all(exists),
                "toml" if !code.contains("[package]") => code.contains("= \"0.1\""),
                // The messages are compared with `ui-tests` above.
                "text" if stem == "errors" => true,
                // The tests of the command run these.
                "text" if ["channels", "papers"].contains(&stem) => true,
                // The example behind it compares these lines with the report.
                "text" if stem == "testing" => true,
                "text" if stem == "peers" => {
                    quotes(&code, &["examples/tasks/lock.rs", "protocols/lock.scr"])
                }
                _ if fence.starts_with("rust") && !fence.contains("ignore") => {
                    // The libraries below `rumpsteak-build` test their READMEs themselves.
                    let path = path.trim_start_matches("rumpsteak-runtime/");
                    path.starts_with("rumpsteak-build/") || tested.contains(&format!("{path:?}"))
                }
                _ => {
                    let section = if section.is_empty() { "" } else { &format!(", {section}") };
                    others.push(format!("{path}{section}: {fence}"));
                    true
                }
            };
            if !is_right {
                wrong.push(format!("{path}, {section}: {fence}\n{code}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let table = OTHERS.lines().map(|line| line.rsplit_once(' ').unwrap());
    let known: Vec<&str> = table.clone().map(|(block, _)| block.trim_end()).collect();
    assert_eq!(others, known);
    let tests = ["rumpsteak-build/tests/it/whole_cargo/readme.rs", file!()];
    let tests = tests.into_iter().chain(["examples/browser/tests/browser.rs"]);
    let tests: String = tests.map(document).collect();
    for (_, test) in table {
        assert!(tests.contains(&format!("\nfn {test}()")), "{test}");
    }
}

/// True if a text is Scribble, and every role can follow it.
fn is_accepted(text: &str) -> bool {
    let (modules, diagnostics) = Modules::load(text, |_| None);
    let checked = modules.check(&Limits::default());
    let mut protocols = checked.protocols.iter();
    let is_followed = protocols.all(|it| it.roles().iter().all(|role| it.project(role).is_ok()));
    diagnostics.is_empty() && checked.diagnostics.is_empty() && is_followed
}

fn quotes(text: &str, files: &[&str]) -> bool {
    let quoted: String = files.iter().map(|file| document(file)).collect();
    text.lines().all(|line| line.trim() == "…" || quoted.contains(line))
}

/// True if a command refers to existing files, options and tests.
fn exists(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let there = |path: String| workspace().join(path).exists();
    match words[..] {
        ["cargo", "test"] | ["apt-get" | "echo" | "nats-server" | "wasm-bindgen", ..] => true,
        ["cargo", "build", "--release", "--target", target] => target == "wasm32-unknown-unknown",
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
