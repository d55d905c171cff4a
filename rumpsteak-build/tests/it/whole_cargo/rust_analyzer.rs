//! Diagnostics in an editor while one types, by rust-analyzer over its protocol.
//!
//! It expands macros by itself. So after each edit of Rust source it shows the errors of the macros
//! that `cargo check` has, verdicts included, and no others. After an edit of a protocol it keeps
//! its expansion until the next edit of the module; `cargo check` on save decides.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::{PROFILE, Package};
use super::mistakes::jobs;
use super::readme::start;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

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
        for (name, value) in PROFILE {
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
        errors
            .map(|item| (line(item), item["message"].as_str().unwrap_or_default().to_owned()))
            .collect()
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

    /// Returns the first line of each error of a macro that `cargo check` has, and asserts that
    /// rust-analyzer has no error besides.
    fn agrees(&mut self, file: &str, step: &str) -> (bool, Vec<(u64, String)>) {
        let outcome = self.package.check(&[]);
        let lines: Vec<u64> = outcome.errors().iter().map(|error| error.line).collect();
        let errors = self.errors(file);
        // The parser of rust-analyzer goes on where rustc's stops.
        let is_parsed = errors.iter().all(|(_, text)| !text.starts_with("Syntax Error"));
        let is_besides = |(line, _): &&(u64, String)| is_parsed && !lines.contains(line);
        let besides: Vec<_> = errors.iter().filter(is_besides).collect();
        assert!(besides.is_empty(), "{step}: {besides:?}\n{}", outcome.show());
        let of_macros = outcome.errors().into_iter().filter(|error| !error.has_code);
        let headline = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let of_macros = of_macros.map(|error| (error.line, headline(&error.text)));
        (outcome.success, of_macros.collect())
    }

    /// Asserts that both have the same errors of macros, and returns their first lines.
    fn shows(&mut self, file: &str, step: &str) -> Vec<String> {
        let (_, of_macros) = self.agrees(file, step);
        let shown = self.errors(file);
        if shown.iter().any(|(_, text)| text.starts_with("Syntax Error")) {
            return vec!["Syntax Error".to_owned()];
        }
        for (line, headline) in &of_macros {
            let is_shown = |(at, text): &(u64, String)| at == line && text.contains(&**headline);
            assert!(shown.iter().any(is_shown), "{step}: {line}: {headline}\n{shown:#?}");
        }
        of_macros.into_iter().map(|(_, headline)| headline).collect()
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

/// Twenty edits of the module: the text that stands there once, what takes its place, and the
/// beginning of each error.
const EDITS: [(&str, &str, &[&str]); 20] = [
    (
        "type Asking = Select<Dispatcher, Ask>;",
        "\n\n    type Asking = Select<Dispatcher, Ask>;",
        &[],
    ),
    ("Run(Run, Send<Client, Done, BetaWork>)", "Run(Run, BetaWork)", &["`BetaWork` "]),
    (
        "Run(Run, Send<Client, Done, BetaWork>)",
        "Run(Run, Send<Client, Done, End>)",
        &["`BetaWork` ends"],
    ),
    (
        "Receive<Dispatcher, Accepted, Receive<Alpha, Done, Receive<Beta, Done, Asking>>>",
        "Receive<Alpha, Done, Receive<Dispatcher, Accepted, Receive<Beta, Done, Asking>>>",
        &[],
    ),
    (
        "type AlphaWork = Branch<Dispatcher, AlphaTask>;",
        "type AlphaWork = Branch<Dispatcher, AlphaTsak>;",
        &["`AlphaTsak` "],
    ),
    (
        "type AlphaWork = Branch<Dispatcher, AlphaTask>;",
        "type AlphaWork = Branch<Dispatchr, AlphaTask>;",
        &["`Dispatchr` "],
    ),
    (
        "type AlphaWork = Branch<Dispatcher, AlphaTask>;",
        "type AlphaWork = Branch<Dispatcher, ",
        &["Syntax Error"],
    ),
    ("type AlphaWork = Branch<Dispatcher, AlphaTask>;", "type AlphaWork =", &["Syntax Error"]),
    ("#[session(Alpha)]", "#[session(Alhpa)]", &["`Alhpa` "]),
    ("#[session(Alpha)]", "#[sess]\n    #[session(Alpha)]", &["`#[sess]` may be a macro"]),
    ("Receive<Dispatcher, Accepted,", "Receive<Dispatcher, Acepted,", &["`Acepted` is not"]),
    (
        "Send<Client, Accepted, Send<Alpha, Run,",
        "Send<Client, Done, Send<Alpha, Run,",
        &["`Dispatching` sends `Done`"],
    ),
    ("struct Accepted(u32);", "struct Accepted(i64);", &["`Accepted` carries `i64`"]),
    ("        Accepted(Accepted),\n", "", &["`Accepted` is not"]),
    (
        "        #[route(Dispatcher)]\n        dispatcher: Channel<Label>,\n        #[route(Alpha)]",
        "        #[route(Alpha)]",
        &["a session of `Client` has `Dispatcher` as a peer"],
    ),
    (
        "#[rumpsteak::protocol(Jobs)]",
        "#[rumpsteak::protocol(Jbos)]",
        &["no `.scr` file declares a protocol `Jbos`"],
    ),
    ("#[rumpsteak::protocol(Jobs)]", "#[rumpsteak::protocol(Jobs, fiar)]", &["expected "]),
    ("    #[session(Beta)]", "    #[cfg(test)]\n    #[session(Beta)]", &["a condition cannot"]),
    (
        "Quit(Quit, Send<Alpha, Stop, Send<Beta, Stop, End>>)",
        "Quit(Quit, Send<Alpha, Stop, End>)",
        &["`Dispatching` ends"],
    ),
    ("    struct Quit;", "    struct Quit(u32);", &["`Quit` carries `u32`"]),
];

#[test]
#[ignore = "needs `rustup component add rust-analyzer rust-src`"]
fn an_editor_shows_the_verdicts_of_cargo_check_and_nothing_else() {
    let package = jobs("editor-hybrid");
    let right = package.read(MAIN);
    let mut editor = Editor::open(&package, MAIN);
    assert_eq!(editor.shows(MAIN, "at first"), [""; 0]);
    let mut wrong = Vec::new();
    for (from, to, expected) in EDITS {
        assert_eq!(right.matches(from).count(), 1, "{from}");
        editor.write(MAIN, &right.replace(from, to));
        let shown = editor.shows(MAIN, to);
        let pairs = shown.iter().zip(expected);
        let is_expected = pairs.clone().all(|(text, start)| text.starts_with(start));
        if !is_expected || shown.len() != expected.len() {
            wrong.push(format!("{to}: {shown:#?}"));
        }
    }
    editor.write(MAIN, &right);
    assert_eq!(editor.shows(MAIN, "at the end"), [""; 0]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let text = package.read(MAIN);
    let completions = editor.at("textDocument/completion", MAIN, "let next = session.");
    assert_eq!(actions(&completions), ["select", "select_or_return"]);
    let hover = editor.at("textDocument/hover", MAIN, "async |mut session: Ask").to_string();
    assert!(hover.contains("Asking") && hover.contains("Select"), "{hover}");
    let definition = editor.at("textDocument/definition", MAIN, "async |mut session: Ask");
    let line = text.lines().position(|line| line.trim_start().starts_with("type Asking")).unwrap();
    let found = &definition[0];
    let range = found.get("range").or(found.get("targetSelectionRange")).unwrap_or(found);
    assert_eq!(range["start"]["line"], line, "{definition}");
}

#[test]
#[ignore = "needs `rustup component add rust-analyzer rust-src`"]
fn cargo_check_decides_after_an_edit_of_the_protocol() {
    const SCR: &str = "protocols/jobs.scr";
    let package = start("editor-generated");
    let mut editor = Editor::open(&package, MAIN);
    for (step, file, from, to, passes) in [
        ("insert blank lines", MAIN, "async fn worker", "\n\n\nasync fn worker", true),
        ("rename a variable", MAIN, "total", "all", true),
        ("comment the protocol", SCR, "  rec next {", "  // again\n  rec next {", true),
        ("break the protocol", SCR, "continue next;", "continue next", false),
        ("mend the protocol", SCR, "continue next", "continue next;", true),
        ("another payload", SCR, "done(u64)", "done(i64)", false),
        ("and back", SCR, "done(i64)", "done(u64)", true),
        ("another order", MAIN, "Done(sum), next) = next", "Stop, next) = next", false),
        ("and back", MAIN, "Stop, next) = next", "Done(sum), next) = next", true),
    ] {
        let text = package.read(file);
        assert!(text.contains(from), "{step}: {from}");
        editor.write(file, &text.replace(from, to));
        assert_eq!(editor.agrees(MAIN, step).0, passes, "{step}");
    }
    let hover = editor.at("textDocument/hover", MAIN, "mut session: ClientSess").to_string();
    assert!(hover.contains("ClientSession"), "{hover}");
}
