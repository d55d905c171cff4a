//! The cost of a build for a user: the dependency tree of the build script, packages with some
//! protocols, and processes of many actions.
//!
//! Everything happens in scratch packages in a temporary folder, each with a target folder of its
//! own, and is removed afterwards. Downloads happen first and are not timed; the timed builds are
//! offline.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use std::{env, fs};

use rumpsteak_benches::programs::Program;

use crate::{Case, Error, Figure, Mode, Of, Result, Sample, Series, Unit, XAxis, YAxis};

const TREE_TIME: &str = "build-dependency-time";
const TREE_CRATES: &str = "build-dependency-crates";
const PROTOCOLS: &str = "build-protocols";
const ACTIONS: &str = "build-actions";

const CLEAN: &str = "clean";
const SOURCE: &str = "one `.rs` changed";
const PROTOCOL: &str = "one `.scr` changed";
const NOTHING: &str = "nothing changed";

/// The compared build-dependency trees: the crate, its version on the registry, its kind.
const TOOLS: [(&str, Option<&str>, Of); 4] = [
    ("rumpsteak-build", None, Of::Ours),
    ("cxx-build", Some("=1.0.205"), Of::Peer),
    ("prost-build", Some("=0.14.4"), Of::Peer),
    ("lalrpop", Some("=0.23.2"), Of::Peer),
];

/// The programs whose actions rustc compiles, each with its series.
const PROGRAMS: [(Program, &str, Of, &str); 7] = [
    (Program::Session, "by hand", Of::Ours, "the session types written by hand"),
    (Program::Generated, "generated", Of::Ours, "an empty module: all sessions are generated"),
    (Program::Original, "rumpsteak 0.1", Of::Peer, "the same actions"),
    (Program::Ferrite, "ferrite-session", Of::Peer, "the same actions"),
    (Program::Channels, "tokio's channels", Of::Floor, "as many awaits, without states"),
    (Program::Bare, "bare", Of::Floor, "as many awaits of a state that is dropped"),
    (Program::Linear, "bare, linear", Of::Floor, "the same with a type for each state"),
];

/// The four pictures.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let tree = |name, title, y: YAxis, cases, about| Figure {
        name,
        title,
        about,
        x: XAxis { label: "", log: false, names: &["a package with this build-dependency"] },
        y,
        series: TOOLS
            .iter()
            .map(|(tool, version, of)| Series {
                name: tool,
                of: of.clone(),
                about: match version {
                    None => "this project, with its default features",
                    Some(_) => "with its default features; versions are in the notes",
                },
            })
            .collect(),
        points: |mode| match mode {
            Mode::Quick => vec![],
            Mode::Full => vec![0],
        },
        cases,
        notes: "cxx-build 1.0.205, prost-build 0.14.4, lalrpop 0.23.2; what these depend on is as new as the registry has it on the day.",
    };
    vec![
        tree(
            TREE_TIME,
            "Build cost: the dependency tree, in time",
            YAxis { label: "CPU-seconds of a clean build", log: false, scale: 1.0 },
            time_cases,
            "A package with a `build.rs` that does nothing, and one build-dependency: all CPU-seconds, user and system, of `cargo build` in the \
             development profile, not incremental. Linking and running the build script are included.",
        ),
        tree(
            TREE_CRATES,
            "Build cost: the dependency tree, in crates",
            YAxis { label: "crates", log: false, scale: 1.0 },
            crates_cases,
            "How many crates `cargo tree` shows below these packages, the build-dependency itself included.",
        ),
        Figure {
            name: PROTOCOLS,
            title: "Build cost: a package with some protocols",
            about: "A package with 1, 10 and 50 protocols, each with three roles whose sessions are written by hand, as in \
                    `examples/workflows/hybrid/double_buffering.rs`: seconds of `cargo build` in the development profile.",
            x: XAxis { label: "protocols", log: false, names: &[] },
            y: YAxis { label: "seconds", log: true, scale: 1.0 },
            series: [
                (CLEAN, "with all dependencies, the runtime included; not incremental"),
                (SOURCE, "again, with one source file changed; incremental"),
                (PROTOCOL, "again, with one protocol changed; incremental"),
                (NOTHING, "again: what cargo takes by itself"),
            ]
            .into_iter()
            .map(|(name, about)| Series {
                name,
                of: if name == NOTHING { Of::Floor } else { Of::Ours },
                about,
            })
            .collect(),
            points: |mode| match mode {
                Mode::Quick => vec![],
                Mode::Full => vec![1, 10, 50],
            },
            cases: protocols_cases,
            notes: "",
        },
        Figure {
            name: ACTIONS,
            title: "Build cost: processes of many actions",
            about: "Two roles send each other so many messages in turns, each in one `async` function: CPU-seconds, user and system, of `cargo build` in the \
                    development profile when these functions have changed, not incremental.",
            x: XAxis { label: "actions of each role", log: false, names: &[] },
            y: YAxis { label: "CPU-seconds", log: true, scale: 1.0 },
            series: PROGRAMS.map(|(_, name, of, about)| Series { name, of, about }).into(),
            points: |mode| match mode {
                Mode::Quick => vec![],
                Mode::Full => vec![20, 60, 200],
            },
            cases: actions_cases,
            notes: "What is missing took too long: in one run before this one, `rumpsteak` 0.1 took more than eight minutes for 200 actions, `ferrite-session` 31 s and \
                    4 GB for 60. rustc's work for one `async` function grows faster than its number of awaits.",
        },
    ]
}

fn time_cases(x: u64, _: Mode) -> Result<Vec<Case>> {
    let case = |(tool, version, _): (&'static str, Option<&'static str>, Of)| {
        let mut package = Lazy::new(move || Package::with_build_dependency(tool, version));
        Case::new(TREE_TIME, tool, x, Unit::CpuSeconds, move || {
            let package = package.get()?;
            package.clean()?;
            let start = children_cpu()?;
            package.build(false)?;
            Ok(Sample::of(children_cpu()? - start))
        })
        .samples(2)
    };
    Ok(TOOLS.into_iter().map(case).collect())
}

fn crates_cases(x: u64, _: Mode) -> Result<Vec<Case>> {
    let case = |(tool, version, _): (&'static str, Option<&'static str>, Of)| {
        Case::new(TREE_CRATES, tool, x, Unit::Count, move || {
            let package = Package::with_build_dependency(tool, version)?;
            Ok(Sample::of(package.crates()? as f64))
        })
        .samples(1)
    };
    Ok(TOOLS.into_iter().map(case).collect())
}

fn protocols_cases(x: u64, _: Mode) -> Result<Vec<Case>> {
    let fresh = move || Package::with_protocols(x);
    let mut clean = Lazy::new(fresh);
    let mut cases = vec![
        Case::new(PROTOCOLS, CLEAN, x, Unit::Seconds, move || {
            let package = clean.get()?;
            package.clean()?;
            let start = Instant::now();
            package.build(false)?;
            Ok(Sample::of(start.elapsed().as_secs_f64()))
        })
        .samples(2),
    ];
    // These change one package, which is built first.
    let warm = Rc::new(RefCell::new(Lazy::new(move || {
        let package = fresh()?;
        package.build(true)?;
        Ok(package)
    })));
    for (series, file) in
        [(SOURCE, Some("src/p0.rs")), (PROTOCOL, Some("protocols/p0.scr")), (NOTHING, None)]
    {
        let warm = Rc::clone(&warm);
        cases.push(
            Case::new(PROTOCOLS, series, x, Unit::Seconds, move || {
                let mut warm = warm.borrow_mut();
                let package = warm.get()?;
                if let Some(file) = file {
                    package.append(file, "// One more line.\n")?;
                }
                let start = Instant::now();
                package.build(true)?;
                Ok(Sample::of(start.elapsed().as_secs_f64()))
            })
            .samples(5),
        );
    }
    Ok(cases)
}

fn actions_cases(x: u64, _: Mode) -> Result<Vec<Case>> {
    let count = usize::try_from(x).map_err(Error::wrong)?;
    // One target folder for all, so that their dependencies are built once.
    let package = Rc::new(RefCell::new(Lazy::new(|| Package::new(""))));
    let measured = PROGRAMS.into_iter().filter(|(program, ..)| count <= program.most());
    let cases = measured.map(|(program, series, ..)| {
        let package = Rc::clone(&package);
        Case::new(ACTIONS, series, x, Unit::CpuSeconds, move || {
            let mut package = package.borrow_mut();
            let package = package.get()?;
            package.become_program(program, 2)?;
            package.build(false)?;
            package.become_program(program, count)?;
            let start = children_cpu()?;
            package.build(false)?;
            Ok(Sample::of(children_cpu()? - start))
        })
        .samples(2)
    });
    Ok(cases.collect())
}

/// The sessions of a protocol, written by hand in the order of the protocol but for the kernel.
const SESSIONS: &str = "\
#[rumpsteak::protocol(DoubleBuffering)]
pub mod double_buffering {
    #[session(S)]
    struct SSession(Receive<K, Ready, Send<K, Value, Self>>);
    #[session(K)]
    type KSession = Send<S, Ready, KLoop>;
    struct KLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
    #[session(T)]
    struct TSession(Send<K, Ready, Receive<K, Value, Self>>);
}
";

/// Something that is made when it is needed first.
struct Lazy<T, F> {
    make: F,
    made: Option<T>,
}

impl<T, F: FnMut() -> Result<T>> Lazy<T, F> {
    fn new(make: F) -> Self {
        Self { make, made: None }
    }

    fn get(&mut self) -> Result<&T> {
        match &mut self.made {
            Some(made) => Ok(made),
            made @ None => Ok(made.insert((self.make)()?)),
        }
    }
}

/// A scratch package, which is removed when it is dropped.
#[derive(Debug)]
pub struct Package {
    folder: PathBuf,
    target: PathBuf,
}

impl Package {
    /// A package with one build-dependency: this project's crate of that name, or that version of
    /// the registry's.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Wrong`] if cargo cannot get what it needs.
    pub fn with_build_dependency(name: &str, version: Option<&str>) -> Result<Self> {
        let dependency = match version {
            Some(version) => format!("{name} = \"{version}\""),
            None => format!("{name} = {}", ours("rumpsteak-build")?),
        };
        let package = Self::new(&format!("[build-dependencies]\n{dependency}\n"))?;
        if version.is_none() {
            package.lock()?;
        }
        let uses = name.replace('-', "_");
        package.write("build.rs", &format!("use {uses} as _;\n\nfn main() {{}}\n"))?;
        package.write("src/lib.rs", "")?;
        package.fetch()?;
        Ok(package)
    }

    /// A package with so many protocols, the sessions of which are verified when it is built.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Wrong`] if cargo cannot get what it needs.
    pub fn with_protocols(count: u64) -> Result<Self> {
        const NAME: &str = "DoubleBuffering";
        let protocol = include_str!("../../../protocols/double_buffering.scr");
        let package = Self::new(&format!(
            "[dependencies]\nrumpsteak = {}\n\n[build-dependencies]\nrumpsteak-build = {}\n",
            ours("rumpsteak-runtime")?,
            ours("rumpsteak-build")?,
        ))?;
        package.lock()?;
        package.write(
            "build.rs",
            "fn main() -> Result<(), rumpsteak_build::Report> {\n    rumpsteak_build::verify(\"protocols\").map(drop)\n}\n",
        )?;
        let mut modules = String::new();
        for index in 0..count {
            let name = format!("{NAME}{index}");
            modules += &format!("pub mod p{index};\n");
            package.write(&format!("protocols/p{index}.scr"), &protocol.replace(NAME, &name))?;
            package.write(&format!("src/p{index}.rs"), &SESSIONS.replace(NAME, &name))?;
        }
        package.write("src/lib.rs", &modules)?;
        package.fetch()?;
        Ok(package)
    }

    /// A package with a manifest that ends like this.
    fn new(dependencies: &str) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "rumpsteak-evaluation-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = env::temp_dir().join(name);
        let package = Self { target: folder.join("target"), folder };
        package.write_manifest(dependencies)?;
        Ok(package)
    }

    fn write_manifest(&self, dependencies: &str) -> Result<()> {
        let manifest = format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{dependencies}\n[workspace]\n"
        );
        self.write("Cargo.toml", &manifest)
    }

    /// Replaces all files by a program whose roles do so many actions each.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Wrong`] if cargo cannot get what it needs.
    pub fn become_program(&self, program: Program, actions: usize) -> Result<()> {
        let [runtime, build] = ["rumpsteak-runtime", "rumpsteak-build"].map(ours);
        let (runtime, build) = (runtime?, build?);
        let ours = |name: &str| if name == "rumpsteak-build" { &build } else { &runtime }.clone();
        self.write_manifest(&program.dependencies(ours))?;
        self.lock()?;
        let files = program.files(actions);
        let others = ["build.rs", "protocols/many.scr", "src/lib.rs"].into_iter();
        for old in others.filter(|old| files.iter().all(|(file, _)| file != old)) {
            let old = self.folder.join(old);
            match fs::remove_file(&old) {
                Err(error) if old.exists() => return Err(Error::io(&old)(error)),
                _ => {}
            }
        }
        files.iter().try_for_each(|(file, text)| self.write(file, text))?;
        self.fetch()
    }

    /// The versions with which this project is tested.
    fn lock(&self) -> Result<()> {
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        let text = fs::read_to_string(&lock).map_err(Error::io(&lock))?;
        self.write("Cargo.lock", &text)
    }

    /// Writes a file, unless it has this text already: cargo considers a written file changed.
    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder.join(file);
        if fs::read_to_string(&path).is_ok_and(|before| before == text) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        fs::write(&path, text).map_err(Error::io(&path))
    }

    /// Puts a text at the end of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn append(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder.join(file);
        let before = fs::read_to_string(&path).map_err(Error::io(&path))?;
        fs::write(&path, before + text).map_err(Error::io(&path))
    }

    /// Gets all that a build needs: offline if it is there already.
    fn fetch(&self) -> Result<()> {
        match self.cargo(&["fetch", "--offline"]) {
            Ok(_) => Ok(()),
            Err(_) => self.cargo(&["fetch"]).map(drop),
        }
    }

    /// Builds into this folder from now on, which stays.
    pub fn share(&mut self, target: PathBuf) {
        self.target = target;
    }

    /// Builds it.
    ///
    /// # Errors
    ///
    /// [`Error::Wrong`] with the output of the compiler; [`Error::Io`] if cargo is missing.
    pub fn build(&self, incremental: bool) -> Result<()> {
        let setting = format!("build.incremental={incremental}");
        self.cargo(&["build", "--offline", "--config", &setting]).map(drop)
    }

    /// Removes what was built.
    fn clean(&self) -> Result<()> {
        match fs::remove_dir_all(&self.target) {
            Err(error) if self.target.exists() => Err(Error::io(&self.target)(error)),
            _ => Ok(()),
        }
    }

    /// How many crates a build compiles, without the package itself.
    ///
    /// # Errors
    ///
    /// [`Error::Wrong`] with the output of cargo; [`Error::Io`] if cargo is missing.
    pub fn crates(&self) -> Result<usize> {
        let tree = self.cargo(&[
            "tree",
            "--offline",
            "--edges=normal,build",
            "--prefix=none",
            "--format={p}",
        ])?;
        let crates: BTreeSet<_> = tree
            .lines()
            .map(|line| line.trim_end_matches(" (*)"))
            .filter(|line| !line.is_empty())
            .collect();
        Ok(crates.len().saturating_sub(1))
    }

    /// The output of cargo.
    fn cargo(&self, arguments: &[&str]) -> Result<String> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let run = Command::new(&cargo)
            .args(arguments)
            .arg("--quiet")
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            // A user's build does not have the environment of this program.
            .env_remove("CARGO_INCREMENTAL")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("GLIBC_TUNABLES")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTFLAGS")
            .stdin(Stdio::null())
            .output()
            .map_err(Error::io(Path::new(&cargo)))?;
        match run.status.success() {
            true => Ok(String::from_utf8_lossy(&run.stdout).into_owned()),
            false => Err(Error::wrong(format!(
                "cargo {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&run.stderr)
            ))),
        }
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        // If this fails, the folder is still a temporary one.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A dependency on a crate of this project, as a manifest has it.
fn ours(folder: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let path = path.canonicalize().map_err(Error::io(&path))?;
    // A basic string of TOML escapes as Rust does what may be in a path.
    Ok(format!("{{ package = {folder:?}, path = {:?} }}", path.display().to_string()))
}

/// The CPU-seconds, user and system, of all processes that this one has waited for, including their
/// children.
///
/// # Errors
///
/// [`Error::Wrong`] if the system does not report it, as Linux does.
fn children_cpu() -> Result<f64> {
    /// Ticks per second: the same on all platforms, whatever the kernel's own clock is.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may have blanks and parentheses; the state, which is the third field,
    // comes behind it.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = |field: usize| -> Option<u64> {
        let mut fields = fields.split(' ');
        fields.nth(field - 3)?.parse().ok()
    };
    match (ticks(16), ticks(17)) {
        (Some(user), Some(system)) => Ok((user + system) as f64 / TICKS),
        _ => Err(Error::wrong("the system does not tell how long processes ran")),
    }
}
