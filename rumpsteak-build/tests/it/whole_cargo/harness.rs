//! Packages in temporary folders, and what Cargo says about them.
//!
//! Each test writes a package of its own, which depends on the crates of this workspace by path,
//! and runs the real Cargo on it, offline. The dependencies are built once; each package has a
//! target folder of its own, with links to them, so that no Cargo waits for another one.
//!
//! Most packages have one of two build scripts. Cargo knows a package at the root of its workspace
//! by its name and version, wherever it is: so those packages have one name, and each begins with
//! the program that Cargo has once made of its build script, as if it had been built there before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::SystemTime;

use rumpsteak_contract::Verdicts;
use rumpsteak_contract::verdict::Proof;
use serde_json::Value;

use super::target_folder::{TargetFolder, modified, set_modified};
use crate::support::{PROTOCOL, says};

/// PPoPP'22, Listing 2, for all three roles.
pub(crate) const ROLES: &str = "\
#[derive(Roles)]
pub struct Roles { pub s: S, pub k: K, pub t: T }

#[derive(Role)]
#[protocol(DoubleBuffering::s)]
#[message(Label)]
pub struct S { #[route(K)] k: Channel<Label> }

#[derive(Role)]
#[protocol(DoubleBuffering::k)]
#[message(Label)]
pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }

#[derive(Role)]
#[protocol(DoubleBuffering::t)]
#[message(Label)]
pub struct T { #[route(K)] k: Channel<Label> }

#[derive(Message)]
pub enum Label { Ready(Ready), Value(Value) }

pub struct Ready;
pub struct Value(pub i32);
";

/// The sessions of the source and the sink.
pub(crate) const OTHERS: &str = "\
#[session(S)] pub type Source = SourceLoop;
#[session] pub struct SourceLoop(Receive<K, Ready, Send<K, Value, Self>>);
#[session(T)] pub type Sink = SinkLoop;
#[session] pub struct SinkLoop(Send<K, Ready, Receive<K, Value, Self>>);
";

/// The session of the kernel, optimised as in the paper.
pub(crate) const KERNEL: &str = "\
#[session(K)] pub type Kernel = Send<S, Ready, KernelLoop>;
#[session] pub struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
";

/// The process of the kernel, which needs the proof.
pub(crate) const PROCESS: &str = "\
pub async fn kernel(role: &mut K) -> Result<std::convert::Infallible> {
    try_run(role, async |s: Kernel<'_>| {
        let mut s = s.send(Ready).await?;
        loop {
            let (Value(value), next) = s.send(Ready).await?.receive().await?;
            let (Ready, next) = next.receive().await?;
            s = next.send(Value(value)).await?;
        }
    })
    .await
}
";

/// All that a file with sessions needs.
pub(crate) const IMPORTS: &str = "\
#![allow(dead_code, unused_imports)]
use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run, states::{Branch, End, Receive, Select, Send}};
";

/// A library with the whole of double buffering.
pub(crate) fn double_buffering() -> String {
    [IMPORTS, ROLES, OTHERS, KERNEL, PROCESS].join("\n")
}

/// A build script that verifies the package.
pub(crate) const VERIFIES: &str = "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::verify(\"protocols\").map(drop) }\n";

/// A build script that generates code for the protocols, too.
pub(crate) const GENERATES: &str = "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::configure().protocols(\"protocols\").generate().verify().map(drop) }\n";

/// What the dependencies are compiled with in this workspace, too.
pub(crate) const AS_THE_WORKSPACE: [(&str, &str); 2] =
    [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "none")];

/// The name of the packages that share their build scripts.
pub(crate) const TESTED: &str = "tested";

/// A package in a temporary folder.
pub(crate) struct Package {
    folder: PathBuf,
    name: String,
}

/// What Cargo said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) stderr: String,
}

/// A message of rustc.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) level: String,
    pub(crate) text: String,
    /// The file and the line of the primary span, and the text under it.
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) token: String,
}

impl Package {
    /// A package with double buffering as its library, its protocol and its build script.
    pub(crate) fn new(name: &str) -> Self {
        Self::double_buffering(name, VERIFIES)
    }

    /// The same, with one of the build scripts above.
    pub(crate) fn double_buffering(name: &str, script: &str) -> Self {
        let package = Self::with_script(name, script);
        package.write("protocols/double_buffering.scr", PROTOCOL);
        package.write("src/lib.rs", &double_buffering());
        package
    }

    /// A package with a manifest and one of the build scripts above.
    pub(crate) fn with_script(name: &str, text: &str) -> Self {
        let package = Self::empty(name);
        package.write("build.rs", text);
        let built = DEPENDENCIES.scripts.iter().find(|script| script.text == text);
        let Some(built) = built else { panic!("{text}") };
        TargetFolder::new(package.target()).take(&built.target);
        // As old as what Cargo has made of it. Whoever writes the file again gives it a newer time.
        set_modified(&package.path("build.rs"), built.modified);
        package
    }

    /// A package with a manifest only.
    pub(crate) fn empty(name: &str) -> Self {
        let package = Self { name: TESTED.to_owned(), ..Self::bare(name) };
        package.write_manifest("");
        package
    }

    /// Writes a manifest with further dependencies, each a line. What else its build script names
    /// has the features that `tokio-macros` asks for, so that the build script and the macros are
    /// the same with tokio and without.
    fn write_manifest(&self, dependencies: &str) {
        let name = self.name();
        self.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [features]\nfast = []\nunsafe-reordering = []\n\n\
                 [dependencies]\n{dependencies}rumpsteak-runtime = {}\n\n\
                 [build-dependencies]\nproc-macro2 = \"1\"\nquote = \"1\"\n\
                 syn = {{ version = \"3\", features = [\"full\"] }}\n\
                 rumpsteak-build = {}\n\n[workspace]\n",
                dependency("rumpsteak-runtime"),
                dependency("rumpsteak-build"),
            ),
        );
    }

    /// A folder with a lock file only.
    pub(crate) fn bare(name: &str) -> Self {
        LazyLock::force(&DEPENDENCIES);
        let package = Self::alone(name);
        let target = TargetFolder::new(package.target());
        target.clear();
        target.share(&DEPENDENCIES.dependencies);
        package
    }

    /// The same, with the target folder as it is.
    fn alone(name: &str) -> Self {
        let folder = temporary().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let package = Self { folder, name };
        package.lock();
        package
    }

    /// The versions that this workspace was built with are the ones that are there offline. Cargo
    /// takes out of the file what the manifest does not need.
    fn lock(&self) {
        let copied = fs::copy(workspace().join("Cargo.lock"), self.path("Cargo.lock"));
        copied.unwrap_or_else(|error| panic!("{error}"));
    }

    pub(crate) fn target(&self) -> PathBuf {
        let path = self.folder.strip_prefix(temporary());
        temporary().join("target").join(path.unwrap_or(&self.folder))
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> &Self {
        self.write_bytes(file, text.as_bytes())
    }

    /// Writes a file that need not be text.
    pub(crate) fn write_bytes(&self, file: &str, text: &[u8]) -> &Self {
        let path = self.path(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    pub(crate) fn read(&self, file: &str) -> String {
        let path = self.path(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Replaces a text that is in the file.
    #[track_caller]
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) -> &Self {
        let text = self.read(file);
        says(&text, from);
        self.write(file, &text.replace(from, to))
    }

    pub(crate) fn remove(&self, file: &str) -> &Self {
        fs::remove_file(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        self
    }

    /// Runs `cargo check` with further arguments.
    pub(crate) fn check(&self, arguments: &[&str]) -> Outcome {
        self.cargo("check", arguments)
    }

    /// Runs Cargo.
    pub(crate) fn cargo(&self, verb: &str, arguments: &[&str]) -> Outcome {
        let mut command = self.command(verb);
        command.args(["--message-format=json", "-v"]).args(arguments);
        let output = command.output().unwrap_or_else(|error| panic!("cannot run Cargo: {error}"));
        let stdout = String::from_utf8_lossy(&output.stdout);
        Outcome {
            success: output.status.success(),
            messages: stdout.lines().filter_map(Message::parse).collect(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs Cargo as a person does: whether it succeeded, what it printed on standard output, and
    /// what on standard error.
    pub(crate) fn run(&self, verb: &str) -> (bool, String, String) {
        self.run_with(verb, &[])
    }

    /// The same, with further arguments.
    pub(crate) fn run_with(&self, verb: &str, arguments: &[&str]) -> (bool, String, String) {
        let output = self.command(verb).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("cannot run Cargo: {error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .arg(verb)
            .args(["--offline", "--target-dir"])
            .arg(self.target())
            .current_dir(&self.folder)
            // What the Cargo that runs these tests says to them is not meant for another one.
            .env_remove("OUT_DIR")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("RUST_BACKTRACE", "0")
            .env("CARGO_TERM_COLOR", "never")
            .envs(AS_THE_WORKSPACE);
        command
    }

    /// The verdict file of the last build.
    pub(crate) fn verdicts(&self) -> String {
        let file = self.out("rumpsteak/verdicts.txt");
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// The proofs in the verdict file, each with the name of its item.
    pub(crate) fn proofs(&self) -> Vec<(String, Proof)> {
        let verdicts = Verdicts::parse(&self.verdicts(), env!("CARGO_PKG_VERSION"));
        let verdicts = verdicts.unwrap_or_else(|error| panic!("{error}"));
        let entries = verdicts.entries().map(|entry| entry.unwrap());
        let proofs = entries.filter(|entry| entry.problems.is_empty());
        let proofs = proofs.map(|entry| {
            let name = entry.key.split(' ').nth(1);
            (name.unwrap_or_default().to_owned(), entry.proof)
        });
        proofs.collect()
    }

    /// The name in the manifest.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A file in the newest `OUT_DIR` of the package that has it.
    pub(crate) fn out(&self, path: &str) -> PathBuf {
        let build = self.target().join("debug/build");
        let entries =
            fs::read_dir(&build).unwrap_or_else(|error| panic!("{}: {error}", build.display()));
        let files = entries.flatten().map(|entry| entry.path()).filter(|path| {
            let folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            folder.rsplit_once('-').is_some_and(|(package, _)| package == self.name)
        });
        let newest = files
            .map(|folder| folder.join("out").join(path))
            .filter_map(|file| Some((fs::metadata(&file).ok()?.modified().ok()?, file)))
            .max();
        let Some((_, file)) = newest else { panic!("no {path} of {}", self.name) };
        file
    }
}

impl Outcome {
    /// The errors, without the summary at the end.
    pub(crate) fn errors(&self) -> Vec<&Message> {
        self.messages
            .iter()
            .filter(|message| message.level == "error" && message.line > 0)
            .collect()
    }

    /// The only error.
    #[track_caller]
    pub(crate) fn error(&self) -> &Message {
        assert!(!self.success, "the build passed");
        match self.errors()[..] {
            [error] => error,
            _ => panic!("not one error:\n{}", self.show()),
        }
    }

    #[track_caller]
    pub(crate) fn passes(&self) -> &Self {
        assert!(self.success, "{}", self.show());
        assert!(self.errors().is_empty());
        self
    }

    /// Whether the build script of the package ran, rather than its last run being good enough.
    pub(crate) fn ran_script(&self) -> bool {
        self.stderr
            .lines()
            .any(|line| line.contains("Running `") && line.contains("build-script-build"))
    }

    pub(crate) fn show(&self) -> String {
        let messages: Vec<String> = self
            .messages
            .iter()
            .map(|message| {
                format!("{}:{}: {}: {}", message.file, message.line, message.token, message.text)
            })
            .collect();
        format!("{}\n{}", messages.join("\n"), self.stderr)
    }
}

impl Message {
    fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        if value["reason"] != "compiler-message" {
            return None;
        }
        let message = &value["message"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spans = message["spans"].as_array().cloned().unwrap_or_default();
        let primary = spans.into_iter().find(|span| span["is_primary"] == true).unwrap_or_default();
        let source = &primary["text"][0];
        let column = |name: &str| {
            source[name].as_u64().and_then(|column| usize::try_from(column).ok()).unwrap_or(1)
        };
        let characters = text(&source["text"]).chars().collect::<Vec<_>>();
        let (start, end) = (column("highlight_start"), column("highlight_end"));
        let token = characters
            .get(start - 1..(end - 1).min(characters.len()))
            .unwrap_or_default()
            .iter()
            .collect();
        Some(Self {
            level: text(&message["level"]),
            text: text(&message["message"]),
            file: text(&primary["file_name"]),
            line: primary["line_start"].as_u64().unwrap_or_default(),
            token,
        })
    }

    /// Asserts that the message says something.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        says(&self.text, text);
        self
    }

    /// Asserts where the message is.
    #[track_caller]
    pub(crate) fn is_at(&self, file: &str, token: &str) -> &Self {
        assert_eq!((self.file.as_str(), self.token.as_str()), (file, token), "{}", self.text);
        self
    }
}

/// What a manifest says to depend on a crate of this workspace.
pub(crate) fn dependency(name: &str) -> String {
    format!("{{ path = {:?} }}", workspace().join(name))
}

/// The folder of this workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What has been built once, for all packages.
struct Built {
    dependencies: TargetFolder,
    scripts: Vec<Script>,
}

/// A build script of the packages with one name.
struct Script {
    text: &'static str,
    /// A target folder with nothing but its program, and what Cargo remembers of that.
    target: TargetFolder,
    /// When the text was written.
    modified: SystemTime,
}

/// The dependencies that most packages have: without tokio, and with what the examples of the
/// documents ask of it, since the features of what both depend on differ. The build scripts are
/// the same for all. What `cargo test` has just compiled with the same features, as most of what
/// build scripts and macros depend on, is taken from there.
static DEPENDENCIES: LazyLock<Built> = LazyLock::new(|| {
    let package = Package { name: TESTED.to_owned(), ..Package::alone("dependencies") };
    // What the last run of the tests has left there is as good, where nothing has changed.
    let target = TargetFolder::new(package.target());
    target.take(&TargetFolder::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("..")));
    package.write("protocols/double_buffering.scr", PROTOCOL);
    package.write("src/lib.rs", "");
    package.write_manifest("");
    let told = Mutex::new(String::new());
    let cargo = |verb| {
        let (success, printed, said) = package.run_with(verb, &["--message-format=json"]);
        assert!(success, "{said}{printed}");
        *told.lock().unwrap() += &printed;
    };
    let scripts = [VERIFIES, GENERATES].into_iter().enumerate().map(|(number, text)| {
        package.write("build.rs", text);
        cargo("check");
        let own = TargetFolder::new(temporary().join(format!("scripts/{number}")));
        own.clear();
        target.move_script(TESTED, &own);
        Script { text, target: own, modified: modified(&package.path("build.rs")) }
    });
    let scripts: Vec<Script> = scripts.collect();
    package.write("build.rs", "fn main() {}\n");
    let tokio = |features| format!("tokio = {{ version = \"1\", features = {features:?} }}\n");
    let least = ["macros", "rt"].as_slice();
    cargo("build");
    for dependencies in [tokio(least), tokio(&["macros", "rt", "sync"])] {
        package.lock();
        package.write_manifest(&dependencies);
        for verb in ["check", "build"] {
            cargo(verb);
        }
    }
    // Sessions across processes are checked only.
    let net = dependency("rumpsteak-runtime/net");
    let serde = "serde = { version = \"1\", features = [\"derive\"] }\n";
    package.lock();
    package.write_manifest(&format!("{}{serde}rumpsteak-net = {net}\n", tokio(least)));
    cargo("check");
    target.keep(&told.into_inner().unwrap(), TESTED);
    Built { dependencies: target, scripts }
});

fn temporary() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole-cargo")
}
