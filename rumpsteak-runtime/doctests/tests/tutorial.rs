//! The tutorial, followed as its pages say: each file is written, each change is made, and each
//! command prints what stands below it.

#![allow(missing_docs, reason = "a test")]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, fs};

use rumpsteak_fsm::text::{Form, print};
use rumpsteak_scribble::{Limits, Modules};

/// As `cargo rumpsteak init` writes it.
const MANIFEST: &str = r#"[package]
name = "chat"
version = "0.1.0"
edition = "2024"

[dependencies]
rumpsteak = { package = "rumpsteak-runtime", path = "../rumpsteak/rumpsteak-runtime" }
tokio = { version = "1", features = ["macros", "rt"] }

[build-dependencies]
rumpsteak-build = { path = "../rumpsteak/rumpsteak-build" }

[workspace]
"#;

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// The package of the reader.
struct Chat {
    folder: PathBuf,
    /// The program that goes on in another terminal.
    server: Option<(Child, BufReader<ChildStdout>)>,
    /// In the place of the port in the pages.
    port: String,
}

#[test]
fn the_tutorial_can_be_followed() {
    let workspace = Path::new(WORKSPACE);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole-cargo/tutorial");
    let _ = fs::remove_dir_all(folder.join("src"));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut chat = Chat { folder, server: None, port: free.port().to_string() };
    let script = workspace.join("rumpsteak-build/cli/src/verb/init/build_script.rs.txt");
    chat.write("build.rs", &fs::read_to_string(script).unwrap());
    chat.write("Cargo.lock", &fs::read_to_string(workspace.join("Cargo.lock")).unwrap());
    chat.write("Cargo.toml", MANIFEST);
    let pages = workspace.join("rumpsteak-runtime/guide/tutorial");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(pages).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| !page.ends_with("README.md"));
    pages.sort();
    assert_eq!(pages.len(), 8);
    for page in pages {
        chat.follow(&fs::read_to_string(page).unwrap());
    }
    assert!(chat.server.is_some());
}

impl Drop for Chat {
    fn drop(&mut self) {
        if let Some((server, _)) = &mut self.server {
            server.kill().unwrap();
        }
    }
}

impl Chat {
    fn follow(&mut self, page: &str) {
        let (mut file, mut command) = (String::new(), String::new());
        for (number, part) in page.split("\n```").enumerate() {
            let Some((fence, body)) = part.split_once('\n').filter(|_| number % 2 == 1) else {
                // The file of a block is the last one that is named before it.
                let ends =
                    |name: &&str| [".rs", ".scr", ".toml"].iter().any(|it| name.ends_with(it));
                file = part
                    .split('`')
                    .skip(1)
                    .step_by(2)
                    .filter(ends)
                    .last()
                    .map_or(file, str::to_owned);
                continue;
            };
            let body = format!("{body}\n");
            match fence {
                "scribble" | "rust" => self.write(&file, &body),
                "diff" => self.change(&file, &body),
                "mermaid" => assert_eq!(body.trim(), self.picture(&command).trim()),
                "console" => {
                    for block in format!("\n{body}").split("\n$ ").skip(1) {
                        let block = format!("{}\n", block.trim_end());
                        let (line, printed) = block.split_once('\n').unwrap();
                        command = line.to_owned();
                        self.run(line, printed);
                    }
                }
                _ => panic!("a block of {fence:?}"),
            }
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = text.replace("../rumpsteak/", WORKSPACE).replace("4000", &self.port);
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(path, text).unwrap();
        }
    }

    fn change(&self, file: &str, diff: &str) {
        let lines = |without: char| -> String {
            let kept = diff.lines().filter(|line| !line.starts_with(without));
            kept.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
        };
        let text = fs::read_to_string(self.folder.join(file)).unwrap();
        let (old, new) = (lines('+'), lines('-'));
        assert_eq!(text.matches(&old).count(), 1, "{file}:\n{old}\nis not once in\n{text}");
        self.write(file, &text.replace(&old, &new));
    }

    fn picture(&self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let ["cargo", "rumpsteak", "project", file, "--role", role, "--format", "mermaid"] =
            words[..]
        else {
            panic!("{command}")
        };
        let (modules, _) =
            Modules::load(&fs::read_to_string(self.folder.join(file)).unwrap(), |_| None);
        let checked = modules.check(&Limits::default());
        print(Form::Mermaid, &[checked.protocols[0].project(&role.into()).unwrap().fsm]).unwrap()
    }

    /// Runs a command. What it prints has the lines that are shown; `…` is any number of lines.
    fn run(&mut self, command: &str, shown: &str) {
        let command = command.replace("../rumpsteak/", WORKSPACE);
        let mut words: Vec<&str> = command.split(' ').collect();
        if words[..2] == ["cargo", "rumpsteak"] {
            return;
        }
        words.insert(2, "--offline");
        let target = self.folder.with_file_name("target");
        if command.ends_with("server") {
            // It was built before, and goes on: wait for its first line only.
            let mut server = Command::new(target.join("debug/chat"));
            server.arg("server").current_dir(&self.folder).stdout(Stdio::piped());
            let mut server = server.spawn().unwrap();
            let mut printed = BufReader::new(server.stdout.take().unwrap());
            let mut line = String::new();
            printed.read_line(&mut line).unwrap();
            self.server = Some((server, printed));
            assert_eq!(line.replace(&self.port, "4000"), shown);
            return;
        }
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| words[0].into()));
        // The variables of the Cargo that runs this test are not meant for this one.
        for name in ["OUT_DIR", "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            cargo.env_remove(name);
        }
        cargo.args(&words[1..]).current_dir(&self.folder).env("CARGO_TARGET_DIR", target);
        cargo.envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "none")]);
        cargo.envs([("RUST_BACKTRACE", "0"), ("CARGO_TERM_COLOR", "never")]);
        let output = cargo.output().unwrap();
        let text = |bytes: &[u8]| -> String {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
        };
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        let is_right = !shown.contains("error") && !shown.contains("panicked");
        assert_eq!(output.status.success(), is_right, "`{command}`:\n{printed}\n{said}");
        // What Cargo says of a program that runs is left out.
        let is_run = is_right && words[1] == "run";
        let printed = if is_run { printed } else { said + &printed };
        let mut rest = printed.as_str();
        for (number, part) in shown.split("…\n").enumerate() {
            let at = rest.find(part).filter(|at| !is_run || number > 0 || *at == 0);
            let at = at.unwrap_or_else(|| panic!("`{command}` prints\n{printed}\nand not\n{part}"));
            rest = &rest[at + part.len()..];
        }
        assert!(!is_run || rest.is_empty() || shown.ends_with("…\n"), "`{command}` prints {rest}");
    }
}
