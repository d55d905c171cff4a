//! `check`, `generate`, the build, `optimise` and `compat` agree on the protocols that can be
//! built: what one of them accepts, the others accept, too.
//!
//! | `check` says | `generate` | the build of that code | `optimise` of each role | `compat` with itself |
//! |---|---|---|---|---|
//! | safe | gives code | accepts it | a proposal that the build accepts, or a reason against it | all roles are the same |
//! | safe, and a note V0604 | says the same | says the same | the same | the same |
//! | unsafe or undecided | fails | refuses | fails | fails |

#![allow(clippy::print_stdout, reason = "a test prints its figures")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::{process, thread};

use fastrand::Rng;
use rumpsteak_build::command::Check;
use rumpsteak_build::{Limits, configure};
use rumpsteak_oracle::{Global, Shape, sample, with_family};
use serde_json::Value;

use crate::common::{Folder, Run};

/// The counts of protocols and roles, and the disagreements.
#[derive(Debug, Default)]
struct Tally {
    files: usize,
    /// Protocols, by what `check` says of them.
    verdicts: BTreeMap<String, usize>,
    /// Protocols that are safe, but cannot be generated.
    unwritable: usize,
    /// Roles, by what `optimise` says of them.
    roles: BTreeMap<String, usize>,
    proposals: usize,
    /// The disagreements.
    failures: Vec<String>,
}

impl Tally {
    fn count(&mut self, of: impl FnOnce(&mut Self) -> &mut BTreeMap<String, usize>, value: &Value) {
        *of(self).entry(value.as_str().unwrap_or("bad input").to_owned()).or_default() += 1;
    }

    fn assert(&self) {
        let Self { files, verdicts, unwritable, roles, proposals, failures } = self;
        println!(
            "{files} files, protocols {verdicts:?}, {unwritable} safe ones cannot be written in Rust; \
             roles alone and together {roles:?}, {proposals} proposals"
        );
        let first = failures[..failures.len().min(5)].join("\n\n");
        assert!(failures.is_empty(), "{} of {files} do not agree:\n\n{first}", failures.len());
    }
}

/// A file of protocols in a folder of its own, and the answer of `check`.
struct File<'a> {
    folder: &'a Folder,
    /// From the folder on, below `protocols`.
    path: &'a Path,
    holds: bool,
    /// The protocols that cannot be generated: the text says so.
    unwritable: Vec<String>,
}

impl File<'_> {
    fn call(&self, verb: &str, more: &str) -> Run {
        self.folder.call(&format!("{verb} {} {more}", self.path.display()))
    }

    fn is_unwritable(&self, protocol: &str) -> bool {
        let text = format!("no code can be generated for `{protocol}`:");
        self.unwritable.iter().any(|told| told.starts_with(&text))
    }

    /// The answer of the build to a package with a module for each of these protocols.
    fn gate(&self, protocols: &[&str]) -> Check {
        let modules = protocols.iter().enumerate().map(|(number, name)| {
            format!("#[rumpsteak::protocol({name})]\nmod protocol_{number} {{}}\n")
        });
        let source = self.folder.path().join("src");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("lib.rs"), modules.collect::<String>()).unwrap();
        // A module that is imported has protocols of its own, which may have the same names.
        configure().protocols(self.path).check(self.folder.path(), &Limits::default())
    }

    /// Puts machines that `optimise` proposes beside the protocol. Returns the errors of the build
    /// or of `generate` against them.
    fn refused(&self, protocol: &str, proposals: &[&Value]) -> Option<String> {
        let stem = self.path.file_stem().unwrap().to_str().unwrap();
        let place = |proposal: &Value| {
            let role = proposal["role"].as_str().unwrap();
            let path = self.folder.path().join(self.path);
            path.with_file_name(format!("{stem}.{protocol}.{role}.dot"))
        };
        for proposal in proposals {
            fs::write(place(proposal), proposal["dot"].as_str().unwrap()).unwrap();
        }
        let check = self.gate(&[protocol]);
        let generated = self.call("generate", &format!("--protocol {protocol}"));
        for proposal in proposals {
            fs::remove_file(place(proposal)).unwrap();
        }
        (!check.holds() || generated.status != Some(0)).then(|| {
            let machines: Vec<&Value> = proposals.iter().map(|proposal| &proposal["dot"]).collect();
            format!("of {machines:#?} the gate says {}, and {generated:?}", texts(&check))
        })
    }

    /// Asks all verbs about a protocol to which `check` gives this answer.
    fn protocol(&self, name: &str, verdict: &Value, tally: &mut Tally) -> Result<(), String> {
        tally.count(|tally| &mut tally.verdicts, &verdict["verdict"]);
        let is_safe = self.holds && verdict["verdict"] == "safe";
        let is_written = is_safe && !self.is_unwritable(name);
        tally.unwritable += usize::from(is_safe && !is_written);
        let generated = self.call("generate", &format!("--protocol {name}"));
        if (generated.status == Some(0)) != is_written {
            return Err(format!("check: {verdict}, generate: {generated:?}"));
        }
        let told = self.unwritable.iter().find(|_| is_safe && !is_written);
        // `generate` names the file from the workspace on.
        let is_told = |told: &String| told.split(" (").all(|part| generated.stderr.contains(part));
        if told.is_some() && !self.unwritable.iter().any(is_told) {
            return Err(format!("check: {told:?}, generate: {generated:?}"));
        }
        let path = self.path.display();
        let compared = self.folder.call(&format!("compat {path} {path} --protocol {name}"));
        let is_same = compared.stdout.lines().all(|line| line.ends_with(" is the same in both"));
        if is_safe != (compared.status == Some(0)) || (is_safe && !is_same) {
            return Err(format!("check: {verdict}, compat: {compared:?}"));
        }
        // If one protocol of a file is wrong, the package has none of them.
        if !self.holds && verdict["verdict"] == "safe" {
            return Ok(());
        }
        let roles = verdict["roles"].as_array().unwrap().iter().map(|role| role.as_str().unwrap());
        let calls = roles.map(|role| format!("--role {role}"));
        for call in calls.chain(["--all-roles".to_owned()]) {
            let more = "--assume-independent --budget 6 --window 2 --format json";
            let answer = self.call("optimise", &format!("--protocol {name} {call} {more}"));
            let object: Option<Value> = serde_json::from_str(&answer.stdout).ok();
            let found = object.as_ref().and_then(|object| object["proposals"].as_array());
            let (Some(object), Some(found), true) = (&object, found, is_safe) else {
                let is_like_check = answer.status.is_some_and(|status| (1..=3).contains(&status))
                    && object.is_some_and(|object| object["verdict"] == verdict["verdict"]);
                // Nothing is tried for a role that is not directed, or with members judged singly.
                let is_one =
                    call != "--all-roles" || answer.stdout.contains("in the protocol's order");
                let is_undirected = is_safe && answer.status == Some(3) && is_one;
                if is_undirected || (!is_safe && is_like_check) {
                    continue;
                }
                return Err(format!("check: {verdict}, optimise {call}: {answer:?}"));
            };
            for of_role in object["roles"].as_array().into_iter().flatten() {
                tally.count(|tally| &mut tally.roles, &of_role["verdict"]);
            }
            if call == "--all-roles"
                && object["roles"].as_array().map(Vec::len)
                    != verdict["roles"].as_array().map(Vec::len)
            {
                return Err(format!("optimise {call} does not speak of all roles: {object}"));
            }
            if !is_written {
                continue;
            }
            tally.proposals += found.len();
            let alternatives = if call == "--all-roles" { found.len().max(1) } else { 1 };
            for proposals in found.chunks(alternatives) {
                let proposals: Vec<&Value> = proposals.iter().collect();
                if let Some(refused) = self.refused(name, &proposals) {
                    return Err(refused);
                }
            }
        }
        Ok(())
    }
}

fn texts(check: &Check) -> String {
    let problems =
        check.problems.iter().map(|problem| format!("{:?} {}", problem.code, problem.text));
    problems.chain(check.reports.iter().map(ToString::to_string)).collect::<Vec<_>>().join("\n")
}

/// Checks that all agree on a file below `protocols`.
fn agree(folder: &Folder, path: &Path, tally: &mut Tally) -> Result<(), String> {
    tally.files += 1;
    let checked = folder.call(&format!("check {} --format json", path.display()));
    let object = checked.json();
    let file = &object["files"][0];
    let diagnostics = file["diagnostics"].as_array().unwrap();
    let codes = |level: &str| -> BTreeSet<String> {
        let of_level = diagnostics.iter().filter(|found| found["level"] == level);
        of_level.filter_map(|found| found["code"].as_str()).map(str::to_owned).collect()
    };
    let unwritable = diagnostics.iter().filter(|found| found["code"] == "V0604");
    let unwritable = unwritable.map(|found| found["message"].as_str().unwrap().to_owned());
    let holds = checked.status == Some(0);
    let file = File { folder, path, holds, unwritable: unwritable.collect() };
    let protocols = object["files"][0]["protocols"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = protocols.iter().map(|of| of["protocol"].as_str().unwrap()).collect();

    let gate = file.gate(&names);
    let found: BTreeSet<String> =
        gate.problems.iter().filter_map(|problem| problem.code).map(str::to_owned).collect();
    let is_expected = match (holds, file.unwritable.is_empty()) {
        (true, true) => gate.holds(),
        (true, false) => gate.reports.is_empty() && found == BTreeSet::from(["V0604".to_owned()]),
        // Errors of a file have no code of the build. A protocol that cannot be generated has no
        // session.
        (false, _) => {
            let mut errors = codes("error");
            errors.insert("V0604".to_owned());
            !gate.holds() && found.is_subset(&errors)
        }
    };
    if !is_expected {
        return Err(format!("check: {checked:?}\ngate: {}", texts(&gate)));
    }
    for (name, verdict) in names.iter().zip(&protocols) {
        file.protocol(name, verdict, tally)?;
    }
    Ok(())
}

/// Asks about a file, which is `path` in a folder of its own beside those that it imports.
fn ask(name: &str, path: &str, texts: &[(String, String)], tally: &mut Tally) {
    let thread = thread::current().id();
    let folder = Folder::new(&format!("agreement_{}_{thread:?}", process::id()))
        .with("Cargo.toml", "[package]\nname = \"p\"\n");
    let folder = texts
        .iter()
        .fold(folder, |folder, (path, text)| folder.with(&format!("protocols/{path}"), text));
    if let Err(failure) = agree(&folder, &Path::new("protocols").join(path), tally) {
        let text = texts.iter().map(|(path, text)| format!("{path}:\n{text}\n"));
        tally.failures.push(format!("{name}: {failure}\n{}", text.collect::<String>()));
    }
    fs::remove_dir_all(folder.path()).unwrap();
}

fn random(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let shapes = [
        Shape::random,
        Shape::dense,
        Shape::untold,
        Shape::scattered,
        Shape::blocks,
        Shape::gathers,
        Shape::absent,
    ];
    let Some(shape) = shapes.get(seed as usize % 8).map(|shape| shape(&mut rng)) else {
        let indices = if seed.is_multiple_of(5) { 20 } else { 0 };
        let size = if rng.bool() { "N" } else { "3" };
        return with_family(&mut rng, size, indices);
    };
    let global = Global::random(&mut rng, &shape);
    let text = match seed % 8 {
        6 => global.explicit(&mut rng, "P", shape.roles),
        _ => global.scribble("P", shape.roles),
    };
    // Without the last messages of interrupters, interrupts may be late.
    let is_kept = |line: &&str| !seed.is_multiple_of(3) || !line.trim().starts_with("done");
    let text: String = text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
    // A label has one payload in Rust, but in Scribble it may have several.
    match seed % 9 {
        0 => text,
        _ => ["i32", "u8", "bool"].iter().fold(text, |text, sort| {
            text.replace(&format!("({sort})"), &format!("_{sort}({sort})"))
        }),
    }
}

#[test]
fn random_protocols_are_agreed_on() {
    let mut tally = Tally::default();
    for seed in sample(60) {
        ask(&format!("seed {seed}"), "p.scr", &[("p.scr".to_owned(), random(seed))], &mut tally);
    }
    tally.assert();
    assert!(tally.verdicts["safe"] * 3 > tally.files && tally.proposals * 4 > tally.files);
}

#[test]
fn the_protocols_of_this_repository_are_agreed_on() {
    let mut tally = Tally::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "scr"));
    files.sort();
    for file in files.iter().take(sample(files.len() as u64).count()) {
        let path = file.file_name().unwrap().to_str().unwrap().to_owned();
        let name = file.file_stem().unwrap().to_str().unwrap();
        ask(name, &path, &with_imports(&folder, &path), &mut tally);
    }
    tally.assert();
    assert_eq!(tally.verdicts, BTreeMap::from([("safe".to_owned(), tally.files)]));
}

/// The texts of a module and of all its imports, by their paths below `root`.
fn with_imports(root: &Path, file: &str) -> Vec<(String, String)> {
    let (mut texts, mut work) = (BTreeMap::new(), vec![file.to_owned()]);
    while let Some(path) = work.pop() {
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let imports = text.lines().filter_map(|line| line.trim_start().strip_prefix("import "));
        let names = imports.filter_map(|rest| rest.split([';', ' ']).next());
        let paths = names.map(|name| name.replace('.', "/") + ".scr");
        work.extend(paths.filter(|path| !texts.contains_key(path)));
        texts.insert(path, text);
    }
    texts.into_iter().collect()
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpora_are_agreed_on() {
    let root = rumpsteak_oracle::corpus("scribble");
    let table = fs::read_to_string(root.join("expected.csv")).unwrap();
    let mut tally = Tally::default();
    for line in table.lines().skip(1) {
        let file = line.split(',').next().unwrap();
        // Each demo has its own import root.
        let (root, path) = match file.split_once("/src/") {
            Some((demo, path)) if file.starts_with("demos/") => (root.join(demo).join("src"), path),
            _ => (root.clone(), file),
        };
        let name = file.trim_end_matches(".scr").replace('/', "_");
        ask(&name, path, &with_imports(&root, path), &mut tally);
    }
    tally.assert();
}
