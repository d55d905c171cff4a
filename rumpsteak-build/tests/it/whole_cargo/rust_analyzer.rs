//! What an editor shows while somebody types: rust-analyzer itself, over its protocol.
//!
//! `cargo check` has the last word. So after each edit rust-analyzer may show no error of its own
//! that `cargo check` does not have, although it keeps the verdicts of its own last run of the
//! build script.

use std::fs;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::{AS_THE_WORKSPACE, Package, workspace};
use super::mistakes::jobs;
use super::readme::{example, section};

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// rust-analyzer with one package.
struct Editor<'a> {
    package: &'a Package,
    server: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    version: u64,
}

impl<'a> Editor<'a> {
    fn open(package: &'a Package, file: &str) -> Self {
        let mut server = Command::new("rust-analyzer")
            .current_dir(package.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = server.stdin.take().unwrap();
        let mut from = BufReader::new(server.stdout.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut from) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut editor = Self { package, server, to, from: receiver, next: 0, version: 0 };
        // Not offline: it asks for the dependencies of the standard library.
        let mut environment = json!({"CARGO_TARGET_DIR": package.target()});
        for (name, value) in AS_THE_WORKSPACE {
            environment[name] = json!(value);
        }
        let capabilities = json!({
            "textDocument": {
                "completion": {"completionItem": {"snippetSupport": true}},
                "definition": {},
                "diagnostic": {},
                "hover": {},
            },
            "experimental": {"serverStatusNotification": true},
        });
        editor.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": uri(&package.path("")),
                "capabilities": capabilities,
                "initializationOptions": {
                    "cargo": {"extraEnv": environment},
                    "cachePriming": {"enable": false},
                    "checkOnSave": false,
                    "files": {"watcher": "server"},
                    "numThreads": 1,
                },
            }),
        );
        editor.notify("initialized", json!({}));
        let document = json!({
            "uri": uri(&package.path(file)),
            "languageId": "rust",
            "version": 0,
            "text": package.read(file),
        });
        editor.notify("textDocument/didOpen", json!({"textDocument": document}));
        editor.until(|message| {
            message["method"] == "experimental/serverStatus"
                && message["params"]["quiescent"] == true
        });
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The first message that is wanted. What rust-analyzer asks meanwhile is answered by nothing.
    fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).unwrap();
            if is_wanted(&message) {
                return message;
            }
            if message.get("method").is_some() && message.get("id").is_some() {
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": null}));
            }
        }
    }

    /// The answer to a request, asked again while rust-analyzer is at the state before the last
    /// edit.
    fn request(&mut self, method: &str, params: Value) -> Value {
        loop {
            self.next += 1;
            let id = self.next;
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            self.send(&request);
            let answer =
                self.until(|message| message["id"] == id && message.get("method").is_none());
            match answer["error"]["code"].as_i64() {
                None => return answer["result"].clone(),
                // The content was modified, or the request was cancelled for it.
                Some(-32802..=-32800) => {}
                Some(_) => panic!("{answer}"),
            }
        }
    }

    /// Writes a text into the file that is open, and saves it.
    fn write(&mut self, file: &str, text: &str) {
        self.package.write(file, text);
        let uri = uri(&self.package.path(file));
        if file.ends_with(".rs") {
            self.version += 1;
            let document = json!({"uri": uri, "version": self.version});
            let changes = json!({"textDocument": document, "contentChanges": [{"text": text}]});
            self.notify("textDocument/didChange", changes);
            self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
        }
    }

    /// rust-analyzer's own errors in a file: line, from 1, and text.
    fn errors(&mut self, file: &str) -> Vec<(u64, String)> {
        let uri = uri(&self.package.path(file));
        let answer = self.request("textDocument/diagnostic", json!({"textDocument": {"uri": uri}}));
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        let errors = items.iter().filter(|item| item["severity"] == 1);
        let line = |item: &Value| item["range"]["start"]["line"].as_u64().unwrap_or_default() + 1;
        errors.map(|item| (line(item), item["message"].to_string())).collect()
    }

    /// A request about the place behind a text that stands once in a file.
    fn at(&mut self, method: &str, file: &str, text: &str) -> Value {
        let source = self.package.read(file);
        let (before, _) = source.split_once(text).unwrap_or_else(|| panic!("no {text}"));
        let before = format!("{before}{text}");
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap_or_default().len();
        let document = json!({"uri": uri(&self.package.path(file))});
        let position = json!({"line": line, "character": character});
        self.request(method, json!({"textDocument": document, "position": position}))
    }

    /// What `cargo check` says, and that rust-analyzer has no error besides.
    fn agrees(&mut self, file: &str, step: &str) -> bool {
        let outcome = self.package.check(&[]);
        let lines: Vec<u64> = outcome.errors().iter().map(|error| error.line).collect();
        let errors = self.errors(file);
        let is_besides = |(line, _): &&(u64, String)| !lines.contains(line);
        let besides: Vec<_> = errors.iter().filter(is_besides).collect();
        assert!(besides.is_empty(), "{step}: {besides:?}\n{}", outcome.show());
        outcome.success
    }
}

impl Drop for Editor<'_> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn read(from: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn uri(path: &Path) -> String {
    let path: PathBuf = path.components().collect();
    format!("file://{}", path.display())
}

/// An edit: what it is called, the file, what is replaced everywhere in it, and by what; and
/// whether the package passes then.
type Edit = (&'static str, &'static str, &'static str, &'static str, bool);

/// Makes the edits one after the other, and takes all of them back at the end.
fn type_in(editor: &mut Editor<'_>, main: &str, edits: &[Edit]) {
    assert!(editor.agrees(main, "at first"));
    let files = [main, edits.iter().map(|edit| edit.1).find(|file| *file != main).unwrap()];
    let right = files.map(|file| editor.package.read(file));
    for (step, file, from, to, passes) in edits {
        let text = editor.package.read(file);
        assert!(text.contains(from), "{step}: {from}");
        editor.write(file, &text.replace(from, to));
        assert_eq!(editor.agrees(main, step), *passes, "{step}");
    }
    for (file, text) in files.iter().zip(right) {
        editor.write(file, &text);
    }
    assert!(editor.agrees(main, "at the end"));
}

/// The methods that are offered and are actions of a session.
fn actions(completions: &Value) -> Vec<String> {
    let items = completions["items"].as_array().or(completions.as_array());
    let labels = items.into_iter().flatten().filter_map(|item| item["label"].as_str());
    let names = labels.map(|label| label.split('(').next().unwrap_or(label).to_owned());
    let of_sessions = ["send", "receive", "select", "branch", "send_or_return", "select_or_return"];
    let mut names: Vec<String> = names.filter(|name| of_sessions.contains(&&**name)).collect();
    names.sort();
    names
}

const MAIN: &str = "src/main.rs";

#[test]
#[ignore = "needs `rustup component add rust-analyzer rust-src`"]
fn an_editor_shows_no_error_that_cargo_check_does_not_have() {
    const SCR: &str = "protocols/jobs.scr";
    let package = jobs("editor-hybrid");
    let mut editor = Editor::open(&package, MAIN);
    type_in(
        &mut editor,
        MAIN,
        &[
            ("rename a choice and its sessions", MAIN, "Ask", "Demand", true),
            ("insert blank lines", MAIN, "#[derive(Clone)]", "\n\n\n#[derive(Clone)]", true),
            ("rename a process", MAIN, "dispatch(", "work(", true),
            ("comment the protocol", SCR, "    rec next {", "    // again\n    rec next {", true),
            ("break the protocol", SCR, "quit() from", "quit() form", false),
            ("mend the protocol", SCR, "quit() form", "quit() from", true),
            ("a session is refused", MAIN, "Send<Client, Done, BetaWork>", "BetaWork", false),
            (
                "and mended",
                MAIN,
                "Run(Run, BetaWork)",
                "Run(Run, Send<Client, Done, BetaWork>)",
                true,
            ),
            ("rename a label", MAIN, "Accepted", "Taken", false),
            ("in the protocol, too", SCR, "accepted", "taken", true),
        ],
    );

    let text = package.read(MAIN);
    let completions = editor.at("textDocument/completion", MAIN, "let next = session.");
    assert_eq!(actions(&completions), ["select", "select_or_return"]);
    let hover = editor.at("textDocument/hover", MAIN, "async |mut session: Ask").to_string();
    assert!(hover.contains("Asking") && hover.contains("Select"), "{hover}");
    let definition = editor.at("textDocument/definition", MAIN, "async |mut session: Ask");
    let line = text.lines().position(|line| line.starts_with("type Asking")).unwrap();
    let found = &definition[0];
    let range = found.get("range").or(found.get("targetSelectionRange")).unwrap_or(found);
    assert_eq!(range["start"]["line"], line, "{definition}");
}

#[test]
#[ignore = "needs `rustup component add rust-analyzer rust-src`"]
fn generated_code_is_followed_while_somebody_types() {
    const SCR: &str = "protocols/jobs.scr";
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let (package, _) = example("editor-generated", &section(&readme, "Start here"));
    let mut editor = Editor::open(&package, MAIN);
    type_in(
        &mut editor,
        MAIN,
        &[
            ("insert blank lines", MAIN, "async fn worker", "\n\n\nasync fn worker", true),
            ("rename a variable", MAIN, "total", "all", true),
            ("comment the protocol", SCR, "  rec next {", "  // again\n  rec next {", true),
            ("break the protocol", SCR, "continue next;", "continue next", false),
            ("mend the protocol", SCR, "continue next", "continue next;", true),
            ("another payload", SCR, "done(u64)", "done(i64)", false),
            ("and back", SCR, "done(i64)", "done(u64)", true),
            ("another order", MAIN, "Done(sum), next) = next", "Stop, next) = next", false),
            ("and back", MAIN, "Stop, next) = next", "Done(sum), next) = next", true),
        ],
    );
    let hover = editor.at("textDocument/hover", MAIN, "mut session: ClientSess").to_string();
    assert!(hover.contains("ClientSession"), "{hover}");
}
