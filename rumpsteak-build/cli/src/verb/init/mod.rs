//! `init`: a package that verifies and runs.
//!
//! A test compares the files with README's first example.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use clap::Args;
use rumpsteak_build::command::Notice;

use super::generate;
use crate::{Answer, Outcome, Reply, Terminal};

/// Makes a package that verifies and runs: a protocol, a build script and a program of two roles
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of the package, which is made if it is not there
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The clone of rumpsteak that the package depends on [default: the clone of this command]
    #[arg(long, value_name = "FOLDER")]
    source: Option<PathBuf>,
    /// A Scribble file for the package, with a program to fill in, instead of the example
    #[arg(long, value_name = "FILE.scr")]
    protocol: Option<PathBuf>,
}

const FILES: [(&str, &str); 3] = [
    ("protocols/jobs.scr", include_str!("jobs.scr")),
    ("build.rs", include_str!("build_script.rs.txt")),
    ("src/main.rs", include_str!("program.rs.txt")),
];

/// The end of a manifest: Cargo compiles dependencies with a path incrementally.
const PROFILE: &str = "
# Dependencies do not change. Not compiled incrementally, they take a fifth less time.
[profile.dev.build-override]
incremental = false
";

/// The program of a package that Cargo has just made.
const HELLO: &str = "fn main() {\n    println!(\"Hello, world!\");\n}\n";

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    let Arguments { folder, source, protocol } = arguments;
    let Some(files) = files(protocol.as_deref(), terminal)? else {
        return Ok(Answer::new(Outcome::Fails));
    };
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = source.clone().unwrap_or_else(own);
    let source = ["rumpsteak-runtime", "rumpsteak-build"].map(|name| source.join(name));
    let is_clone = |path: &PathBuf| path.join("Cargo.toml").is_file();
    if let Some(missing) = source.iter().find(|path| !is_clone(path)) {
        let message = format!("there is no clone of rumpsteak: no {}", missing.display());
        return Err(Notice::error(message).help("say where it is: `--source FOLDER`"));
    }
    for (file, _) in &files {
        let path = folder.join(file);
        let is_free = match fs::read_to_string(&path) {
            Err(error) => error.kind() == ErrorKind::NotFound,
            Ok(text) => text == HELLO,
        };
        if !is_free {
            let notice = Notice::error(format!("{} is there already", path.display()));
            return Err(notice.help("`init` begins a package: give it a new folder"));
        }
    }
    let manifest = folder.join("Cargo.toml");
    let repository = folder.join(".git");
    let is_begun = !manifest.exists();
    let mut absent = vec!["Cargo.toml", "Cargo.lock", ".gitignore"];
    absent.retain(|file| !folder.join(file).exists());
    let is_versioned = repository.exists();
    if is_begun {
        cargo(|command| command.arg("init").arg("--bin").arg(folder))?;
    }
    for (path, kind) in source.iter().zip([["--rename", "rumpsteak"].as_slice(), &["--build"]]) {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        cargo(|command| {
            command.arg("add").arg("--manifest-path").arg(&manifest).args(kind);
            command.arg("--path").arg(path)
        })?;
    }
    cargo(|command| {
        command.arg("add").arg("--manifest-path").arg(&manifest);
        command.args(["tokio", "--features", "macros,rt"])
    })?;
    let root = ["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"];
    let root = cargo(|command| command.args(root).arg(&manifest))?;
    let same = |path: &Path| path.canonicalize().ok();
    // Cargo ignores the profiles of a member of a workspace.
    let is_root = is_begun && same(Path::new(root.trim_end())) == same(&manifest);
    let manifest = fs::read_to_string(&manifest).ok().filter(|_| is_root);
    let manifest = manifest.map(|text| ("Cargo.toml".to_owned(), text + PROFILE));
    for (file, text) in files.iter().chain(&manifest) {
        let path = folder.join(file);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text))
            .map_err(|error| Notice::error(format!("cannot write {}: {error}", path.display())))?;
    }
    let files = files.iter().map(|(file, _)| file.as_str());
    let is_new = !is_versioned && repository.exists();
    let by_cargo = absent.into_iter().filter(|file| folder.join(file).exists());
    let files: Vec<&str> = by_cargo.chain(files).collect();
    let begun = if is_new { ", and began a git repository" } else { "" };
    let next = if protocol.is_some() { "fill in each `todo!()`: " } else { "" };
    terminal.say(&format!(
        "wrote {} in {}{begun}\n{next}`cargo run` verifies the protocol's roles and runs them\n",
        files.join(", "),
        std::path::absolute(folder).as_deref().unwrap_or(folder).display()
    ));
    Ok(Answer::new(Outcome::Holds))
}

/// The files of a package: the example, or those for a protocol, with processes to fill in. `None`
/// if the protocol has a mistake, which is reported.
fn files(
    protocol: Option<&Path>,
    terminal: &mut Terminal,
) -> Result<Option<[(String, String); 3]>, Notice> {
    let [example, script, program] = FILES.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let Some(path) = protocol else { return Ok(Some([example, script, program])) };
    let limits = rumpsteak_build::Limits::default();
    let Some(code) = generate::code(path, None, &limits, terminal)? else { return Ok(None) };
    let unreadable = |error| Notice::error(format!("cannot read `{}`: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some([(format!("protocols/{name}"), text), script, (program.0, code.skeleton().1)]))
}

/// The output of Cargo.
fn cargo(add: impl FnOnce(&mut Command) -> &mut Command) -> Result<String, Notice> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = add(&mut command).arg("--quiet").output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Notice::error(format!("Cargo fails: {}", said.trim())))
        }
        Err(error) => Err(Notice::error(format!("Cargo cannot be run: {error}"))),
    }
}
