//! Packages in temporary folders, and what Cargo says about them.
//!
//! A package depends on the crates of this workspace by path, and the real Cargo builds it,
//! offline. All packages have one target folder, which is also that of the recorded messages of
//! rustc, so that the dependencies are built once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;

#[path = "../../../../ui-tests/tests/ui/target_folder.rs"]
mod target_folder;

use crate::support::says;

/// PPoPP'22, Listing 2, with the kernel as in Fig. 4b.
pub(crate) const MODULE: &str = "\
#[rumpsteak::protocol(DoubleBuffering)]
pub mod double_buffering {
    #[session(K)]
    type Kernel = Send<S, Ready, KernelLoop>;
    struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}
";

/// The beginning of the kernel, and one that is unsafe.
pub(crate) const SAFE: &str = "type Kernel = Send<S, Ready, KernelLoop>";
pub(crate) const UNSAFE: &str = "type Kernel = Receive<S, Value, KernelLoop>";

/// The first line of the error for [`UNSAFE`].
pub(crate) const REFUSAL: &str =
    "unsafe reordering: `Kernel` receives `Value` from `S` before it sends `Ready` to `S` [V0407]";

pub(crate) const VERIFIES: &str = "\
fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::verify(\"protocols\").map(drop)
}
";

/// The settings of the profile with which `.ci/run` and fast tests compile the workspace: what both
/// compile is compiled once.
pub(crate) const PROFILE: [(&str, &str); 2] =
    [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "none")];

pub(crate) struct Package {
    folder: PathBuf,
}

/// The target folder of all packages, with what Cargo has compiled for these tests.
static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let own = target.join("tests/trybuild");
    target_folder::take(target, &own);
    own
});

#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) stderr: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) level: String,
    /// True for an error of rustc's own, which has a code, and false for an error of a macro.
    pub(crate) has_code: bool,
    pub(crate) text: String,
    /// The file and the line of the primary span, and the text under it.
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) token: String,
}

impl Package {
    /// A package with a manifest, whose runtime is called `rumpsteak`, and a build script.
    pub(crate) fn new(name: &str) -> Self {
        let package = Self::bare(name);
        package.write("Cargo.toml", &manifest(name));
        package.write("build.rs", VERIFIES);
        package
    }

    /// A folder with a lock file only: the versions in it are the ones that are there offline.
    pub(crate) fn bare(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole-cargo").join(name);
        let package = Self { folder };
        // A file that stays the same keeps its time, so that Cargo has nothing to do.
        for entry in fs::read_dir(&package.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !["Cargo.toml", "Cargo.lock", "build.rs"].iter().any(|kept| name == *kept) {
                let path = entry.path();
                let removed =
                    if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
        }
        package.write("Cargo.lock", &fs::read_to_string(workspace().join("Cargo.lock")).unwrap());
        package
    }

    pub(crate) fn target(&self) -> &Path {
        &TARGET
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.path(file);
        if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            return self;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    pub(crate) fn read(&self, file: &str) -> String {
        let path = self.path(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

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

    pub(crate) fn check(&self, arguments: &[&str]) -> Outcome {
        self.cargo("check", arguments)
    }

    pub(crate) fn cargo(&self, verb: &str, arguments: &[&str]) -> Outcome {
        let arguments = [&["--message-format=json", "-v"], arguments].concat();
        let (success, stdout, stderr) = self.run(verb, &arguments);
        Outcome { success, messages: stdout.lines().filter_map(Message::parse).collect(), stderr }
    }

    /// Runs Cargo as a person does. Returns true if it succeeded, what it printed on standard
    /// output, and what on standard error.
    pub(crate) fn run(&self, verb: &str, arguments: &[&str]) -> (bool, String, String) {
        let output = self.command(verb, arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }

    fn command(&self, verb: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .arg(verb)
            .args(["--offline", "--target-dir"])
            .arg(self.target())
            .args(arguments)
            .current_dir(&self.folder)
            // The variables of the Cargo that runs these tests are not meant for this one.
            .env_remove("OUT_DIR")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("RUST_BACKTRACE", "0")
            .env("CARGO_TERM_COLOR", "never")
            .envs(PROFILE);
        command.output().unwrap_or_else(|error| panic!("cannot run Cargo: {error}"))
    }

    pub(crate) fn out_dir(&self) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let entries = fs::read_dir(self.target().join("debug/build")).unwrap();
        let is_own = |path: &PathBuf| {
            let folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            folder.rsplit_once('-').is_some_and(|(package, _)| package == name)
        };
        let folders = entries.map(|entry| entry.unwrap().path()).filter(is_own);
        let folders = folders.map(|folder| folder.join("out"));
        let folders = folders.filter_map(|folder| {
            let verdicts = fs::metadata(folder.join("rumpsteak/protocols.txt")).ok()?;
            Some((verdicts.modified().unwrap(), folder))
        });
        folders.max().unwrap_or_else(|| panic!("no folder of {name}")).1
    }

    /// The verdicts in `OUT_DIR`: the names of their files, and their texts.
    pub(crate) fn verdicts(&self) -> Vec<(PathBuf, String)> {
        let entries = fs::read_dir(self.out_dir().join("rumpsteak/verdicts")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut verdicts: Vec<(PathBuf, String)> =
            paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
        verdicts.sort();
        verdicts
    }
}

/// The manifest of a package whose runtime is called `rumpsteak`. tokio, whose macros need more
/// features of `syn`, makes the dependencies of all packages the same.
pub(crate) fn manifest(name: &str) -> String {
    let (runtime, build) = (dependency("rumpsteak-runtime"), dependency("rumpsteak-build"));
    let runtime = runtime.replace("{ ", "{ package = \"rumpsteak-runtime\", ");
    format!(
        "[workspace]\n\n[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [features]\nfast = []\n\n[dependencies]\nrumpsteak = {runtime}\n\
         {TOKIO}\n\n[build-dependencies]\nrumpsteak-build = {build}\n"
    )
}

pub(crate) const TOKIO: &str =
    "tokio = { version = \"1\", features = [\"macros\", \"rt\", \"sync\"] }";

impl Outcome {
    pub(crate) fn errors(&self) -> Vec<&Message> {
        let is_error = |message: &&Message| message.level == "error" && message.line > 0;
        self.messages.iter().filter(is_error).collect()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> &Message {
        assert!(!self.success, "the build passed");
        match self.errors()[..] {
            [error] => error,
            _ => panic!("not one error:\n{}", self.show()),
        }
    }

    /// Asserts that the build passed, and rustc said nothing.
    #[track_caller]
    pub(crate) fn passes(&self) -> &Self {
        assert!(self.success && self.messages.is_empty(), "{}", self.show());
        self
    }

    /// True if the build script of the package ran: its last run was not good enough.
    pub(crate) fn ran_script(&self) -> bool {
        let is_run = |line: &str| line.contains("Running `") && line.contains("build-script-build");
        self.stderr.lines().any(is_run)
    }

    pub(crate) fn show(&self) -> String {
        let messages = self.messages.iter().map(|message| {
            let Message { file, line, token, text, .. } = message;
            format!("{file}:{line}: {token}: {text}\n")
        });
        let is_noise = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("Fresh ") || line.contains("rustc --crate-name")
        };
        let stderr: Vec<&str> = self.stderr.lines().filter(|line| !is_noise(line)).collect();
        format!("{}{}", messages.collect::<String>(), stderr.join("\n"))
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
        let token = characters.get(start - 1..(end - 1).min(characters.len()));
        Some(Self {
            level: text(&message["level"]),
            has_code: !message["code"].is_null(),
            text: text(&message["message"]),
            file: text(&primary["file_name"]),
            line: primary["line_start"].as_u64().unwrap_or_default(),
            token: token.unwrap_or_default().iter().collect(),
        })
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        says(&self.text, text);
        self
    }

    #[track_caller]
    pub(crate) fn is_at(&self, file: &str, token: &str) -> &Self {
        assert_eq!((self.file.as_str(), self.token.as_str()), (file, token), "{}", self.text);
        self
    }
}

/// The value in a manifest that depends on a crate of this workspace.
pub(crate) fn dependency(name: &str) -> String {
    format!("{{ path = {:?} }}", workspace().join(name))
}

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
