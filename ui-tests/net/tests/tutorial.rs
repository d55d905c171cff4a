//! The tutorial, followed as its pages say: each file is written, each change is made, and each
//! command prints what stands below it.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rumpsteak_fsm::text::{Form, print};
use rumpsteak_scribble::{Limits, Modules};

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// The package of the reader.
struct Chat {
    folder: PathBuf,
    /// A file before its last change, and its text then.
    undo: (String, String),
    /// The program in the first terminal.
    server: Option<(Child, BufReader<ChildStdout>)>,
    /// In the place of the port in the pages, 4000.
    port: String,
}

#[test]
fn the_tutorial_can_be_followed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole-cargo/tutorial");
    let _ = fs::remove_dir_all(folder.join("src"));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut chat =
        Chat { folder, undo: Default::default(), server: None, port: free.port().to_string() };
    let file = |path: &str| fs::read_to_string(format!("{WORKSPACE}{path}")).unwrap();
    // The manifest that `cargo rumpsteak init` writes.
    let mistakes = file("rumpsteak-build/tests/it/whole_cargo/mistakes.md");
    let manifest = mistakes.split("```toml\n").nth(2).unwrap().split("```").next().unwrap();
    chat.write("Cargo.toml", &format!("{}\n[workspace]\n", manifest.replace("mistakes", "chat")));
    chat.write("Cargo.lock", &file("Cargo.lock"));
    chat.write("build.rs", &file("rumpsteak-build/cli/src/verb/init/build_script.rs.txt"));
    let index = file("rumpsteak-runtime/guide/tutorial/README.md");
    for page in index.split("](").skip(1).take(8).map(|link| link.split(')').next().unwrap()) {
        chat.follow(&file(&format!("rumpsteak-runtime/guide/tutorial/{page}")));
    }
    let program = fs::read_to_string(chat.folder.join("src/main.rs")).unwrap();
    let program = format!("```rust\n{}```\n", program.replace(&chat.port, "4000"));
    let whole = file("rumpsteak-runtime/guide/tutorial/whole-program.md");
    assert!(whole.ends_with(&program), "whole-program.md:\n{program}");
}

impl Drop for Chat {
    fn drop(&mut self) {
        if let Some((server, _)) = &mut self.server {
            let _ = server.kill();
        }
    }
}

impl Chat {
    fn follow(&mut self, page: &str) {
        let (mut file, mut command, mut told) = ("", "", "");
        for (number, part) in page.split("\n```").enumerate() {
            if number % 2 == 0 {
                // The file of a block is the last one that is named before it.
                let names = part.split('`').skip(1).step_by(2);
                let is_file = |name: &&str| name.ends_with(".rs") || name.ends_with(".scr");
                file = names.filter(is_file).last().unwrap_or(file);
                if part.contains("Undo the change") {
                    let (file, text) = self.undo.clone();
                    self.write(&file, &text);
                }
                told = part;
                continue;
            }
            let (fence, body) = part.split_once('\n').unwrap();
            match fence {
                "scribble" | "rust" => self.place(file, told, &format!("{body}\n")),
                "diff" => self.change(file, body),
                "mermaid" => assert_eq!(body, self.picture(command).trim()),
                "console" => {
                    for block in body.trim_start_matches("$ ").split("\n$ ") {
                        let printed;
                        (command, printed) = block.split_once('\n').unwrap_or((block, ""));
                        self.run(command, printed);
                    }
                }
                _ => panic!("a block of {fence:?}"),
            }
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = text
            .replace("../rumpsteak/", WORKSPACE)
            .replace(":4000\"", &format!(":{}\"", self.port));
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(path, text).unwrap();
        }
    }

    /// Puts a block where the text before it says: in the place of items, above an item, or at the
    /// end of a file. Otherwise the block is the whole file.
    fn place(&self, file: &str, told: &str, block: &str) {
        let told = told.replace('\n', " ");
        let replaced = told.rsplit_once("Replace the ");
        let Some((_, place)) = replaced.or_else(|| told.rsplit_once("Put this ")) else {
            return self.write(file, block);
        };
        let text = fs::read_to_string(self.folder.join(file)).unwrap();
        let names = place.split('`').skip(1).step_by(2).filter(|name| *name != file);
        let items: Vec<_> = names.map(|name| item(&text, name)).collect();
        let text = match &*items {
            [] => format!("{text}\n{block}"),
            [first, .., last] | [first @ last] if replaced.is_some() => {
                format!("{}{block}{}", &text[..first.start], &text[last.end..])
            }
            [above, ..] => format!("{}{block}\n{}", &text[..above.start], &text[above.start..]),
        };
        self.write(file, &text);
    }

    fn change(&mut self, file: &str, diff: &str) {
        let without = |sign: char| -> String {
            let kept = diff.lines().filter(|line| !line.starts_with(sign));
            kept.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
        };
        let text = fs::read_to_string(self.folder.join(file)).unwrap();
        let (old, new) = (without('+'), without('-'));
        assert_eq!(text.matches(&old).count(), 1, "{file}:\n{old}\nis not once in\n{text}");
        self.write(file, &text.replace(&old, &new));
        self.undo = (file.to_owned(), text);
    }

    /// The output of `cargo rumpsteak project FILE --role ROLE --format mermaid`.
    fn picture(&self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let text = fs::read_to_string(self.folder.join(words[3])).unwrap();
        let checked = Modules::load(&text, |_| None).0.check(&Limits::default());
        let projection = checked.protocols[0].project(&words[5].into()).unwrap();
        print(Form::Mermaid, &[projection.fsm]).unwrap()
    }

    /// Runs a command. It prints the lines that are shown; `…` is any number of lines.
    fn run(&mut self, command: &str, shown: &str) {
        let shown = shown.lines().map(|line| format!("{line}\n")).collect::<String>();
        let command = command.replace("../rumpsteak/", WORKSPACE);
        let mut words: Vec<&str> = command.split(' ').collect();
        let target = self.folder.with_file_name("target");
        if words[1] == "rumpsteak" {
            return;
        }
        if command.ends_with("server") {
            // It was built before, and goes on: wait for its first line only.
            let mut server = Command::new(target.join("debug/chat"));
            server.arg("server").current_dir(&self.folder).stdout(Stdio::piped());
            let mut server = server.spawn().unwrap();
            let mut printed = BufReader::new(server.stdout.take().unwrap());
            let line = printed.by_ref().lines().next().unwrap().unwrap();
            self.server = Some((server, printed));
            return assert_eq!(line.replace(&self.port, "4000"), shown.trim());
        }
        words.insert(2, "--offline");
        // `--quiet` hides the warnings of build scripts.
        let hides = ["add", "run"].contains(&words[1]);
        words.insert(3, if hides { "--quiet" } else { "--color=never" });
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(&words[1..]).current_dir(&self.folder).env("CARGO_TARGET_DIR", target);
        cargo.env_remove("OUT_DIR"); // of this package
        cargo.envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "none")]);
        let output = cargo.output().unwrap();
        let printed = [output.stderr, output.stdout].concat();
        let lines = String::from_utf8_lossy(&printed).into_owned();
        let printed: String = lines.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let is_right = !shown.contains("error") && !shown.contains("panicked");
        assert_eq!(output.status.success(), is_right, "`{command}`:\n{printed}");
        let mut rest = printed.as_str();
        for (number, part) in shown.split("…\n").enumerate() {
            let at = rest.find(part).filter(|at| number > 0 || *at == 0);
            rest = &rest[at.unwrap_or_else(|| panic!("`{command}`:\n{printed}")) + part.len()..];
        }
        assert!(rest.is_empty() || shown.ends_with("…\n"), "`{command}`:\n{printed}");
    }
}

/// The place of an item in a program, with what stands above it up to an empty line.
fn item(program: &str, name: &str) -> Range<usize> {
    let is_head = |kind: &str| {
        let head = format!("{kind} {name}");
        program.match_indices(&head).map(|(at, _)| at).find(|at| {
            let line = program[..*at].rsplit('\n').next().unwrap();
            ["", "async "].contains(&line)
        })
    };
    let head = ["fn", "struct", "mod"].iter().find_map(|kind| is_head(kind)).unwrap();
    let line = program[head..].find('\n').unwrap() + head;
    let is_empty = program[..line].ends_with("{}");
    let end = if is_empty { line + 1 } else { program[head..].find("\n}\n").unwrap() + head + 3 };
    program[..head].rfind("\n\n").map_or(0, |at| at + 2)..end
}
