//! The build script over whole packages that were damaged: examples, with bytes, words and files
//! changed, files that include and link each other, false manifests, deep nesting. It never panics,
//! and takes neither long nor much memory.
//!
//! The packages are read by one process of their own, whose memory is measured.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use fastrand::Rng;

use crate::support;

/// How long one package may take, in time on a processor, unoptimised.
const TIME: Duration = Duration::from_secs(5);

/// How much memory the process may take, in kilobytes.
const MEMORY: usize = 1 << 20;

/// The snippets to insert; `@` is a file of the package.
const SNIPPETS: &str = r##"
include!("@");
#[path = "@"] mod other;
#[rumpsteak::protocol(DoubleBuffering)] mod again {}
#[rumpsteak::protocol(DoubleBuffering, fair, limits(steps = 3), accept_closed_system)] mod again { }
#[rumpsteak::closed_system] mod closed { #[session(A)] type X = Send<B, Y, X>; }
#[rumpsteak::protocol(
#[cfg(any(unix, not(feature = "x")))]
#[cfg_attr(all(), path = "@")] mod m;
#![cfg(false)]
use super::*; use crate::{self as a, a::a::*};
macro_rules! m { () => { #[rumpsteak::protocol(P)] mod n {} } }
#[session(S)] type T<'s> = Send<S, T, Receive<S, T, T>>;
#[derive(Role)] #[protocol(P::s)] #[message(L)] struct S { #[route(S)] s: S }
#[derive(Roles)] struct All { s: S }
#[derive(Message)] enum Label { Ready(Ready), Value(i32) }
enum Choice { Go(Ready, Self), Stop(Send<K, Value, End>) }
choice at s { } or {
continue loop;
import a.B as C;
aux global protocol Q(role a) { do Q(a); }
"/* r#" 'a // é
"##;

const NESTED: [&str; 10] =
    ["{", "(", "[", "mod a {", "Send<S, T, ", "rec X {", "choice at a {", "not(", "/*", "&'a "];

type Package = BTreeMap<PathBuf, Vec<u8>>;

/// One package for each example, with the protocols that it names.
fn packages() -> Vec<Package> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |folder: &str, ending: &str| {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
        paths.sort();
        paths
    };
    let protocols = [read("protocols", "scr"), read("protocols", "dot")].concat();
    let sources = [
        read("examples", "rs"),
        read("rumpsteak-build/fuzz/src/__fuzz__/rust_sources/corpus", "rs"),
    ];
    let package = |source: &PathBuf| {
        let text = fs::read_to_string(source).unwrap();
        let mut package =
            Package::from([("Cargo.toml".into(), "[package]\nname = \"p\"\n".into())]);
        for protocol in &protocols {
            let name = protocol.file_name().unwrap().to_str().unwrap();
            let (stem, _) = name.split_once('.').unwrap();
            let is_named = text.to_lowercase().contains(&stem.replace('_', ""));
            if is_named || name == "double_buffering.scr" {
                package.insert(Path::new("protocols").join(name), fs::read(protocol).unwrap());
            }
        }
        package.insert("src/lib.rs".into(), text.into());
        package
    };
    sources.concat().iter().map(package).collect()
}

fn change(text: &mut Vec<u8>, names: &[PathBuf], rng: &mut Rng) {
    let at = rng.usize(..=text.len());
    let words: Vec<usize> = (1..text.len())
        .filter(|&at| text[at - 1].is_ascii_alphanumeric() != text[at].is_ascii_alphanumeric())
        .collect();
    if words.len() < 2 {
        return text.push(rng.u8(..));
    }
    let word = |rng: &mut Rng| {
        let first = rng.usize(..words.len());
        let last = (first + 1 + rng.usize(..4)).min(words.len() - 1);
        words[first]..words[last]
    };
    match rng.usize(..8) {
        0 => text.truncate(at),
        1 => text.insert(at, rng.u8(..)),
        2 => drop(text.drain(word(rng))),
        3 | 4 => {
            let (from, to) = (word(rng), word(rng));
            let copy = text[from].to_vec();
            text.splice(to, copy);
        }
        5 => {
            let nested = NESTED[rng.usize(..NESTED.len())];
            let nested = nested.repeat(1 << rng.usize(..16));
            text.splice(at..at, nested.into_bytes());
        }
        6 => {
            let lines = 1 << rng.usize(..8);
            let copy = text[word(rng)].to_vec();
            text.splice(at..at, copy.repeat(lines));
        }
        _ => {
            let snippets: Vec<&str> = SNIPPETS.trim().lines().collect();
            let file = names[rng.usize(..names.len())].display().to_string();
            let file = if rng.bool() { format!("../{file}") } else { file.replace("src/", "") };
            let snippet = snippets[rng.usize(..snippets.len())].replace('@', &file);
            text.splice(at..at, format!("\n{snippet}\n").into_bytes());
        }
    }
}

fn write(package: &Package, folder: &Path, rng: &mut Rng) {
    let names: Vec<PathBuf> = package.keys().cloned().collect();
    let mut package = package.clone();
    let mut links = vec![];
    for _ in 0..1 + rng.usize(..6) {
        let name = names[rng.usize(..names.len())].clone();
        match rng.usize(..20) {
            0 => drop(package.remove(&name)),
            1 => links.push((names[rng.usize(..names.len())].clone(), name)),
            2 => links.push((name.with_extension("d"), PathBuf::from("."))),
            _ => {
                if let Some(text) = package.get_mut(&name) {
                    change(text, &names, rng);
                }
            }
        }
    }
    let _ = fs::remove_dir_all(folder);
    for (name, text) in package {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for (target, name) in links {
        let _ = fs::remove_file(folder.join(&name));
        let _ = symlink(folder.join(target), folder.join(&name));
    }
}

fn processor() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().unwrap_or_default().parse();
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// The folder for damaged packages, which are removed again. It is never a folder of the source.
fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutations")
}

/// Says that this process is the one that reads the packages.
const IS_READER: &str = "RUMPSTEAK_DAMAGED_PACKAGES";

#[test]
fn damaged_packages_are_read_to_the_end() {
    let folder = scratch();
    if env::var_os(IS_READER).is_some() {
        return println!("{}", read_all(&folder.join("package")));
    }
    fs::create_dir_all(&folder).unwrap();
    let run = Command::new(env::current_exe().unwrap())
        .args(["--exact", "mutations::damaged_packages_are_read_to_the_end", "--show-output"])
        .env(IS_READER, "1")
        .output();
    let run = run.unwrap();
    let output = String::from_utf8_lossy(&run.stdout);
    let told: Vec<&str> = output.lines().collect();
    let seed = fs::read_to_string(folder.join("seed")).unwrap_or_default();
    println!("{}", told.join("\n"));
    assert!(run.status.success(), "at seed {seed}: {}", String::from_utf8_lossy(&run.stderr));
}

/// Writes damaged packages into a folder, and checks each. Returns a text with the
/// numbers of packages that were refused and accepted, and with what that took.
fn read_all(folder: &Path) -> String {
    let packages = packages();
    let (mut found, mut slowest) = ([0, 0], (Duration::ZERO, 0));
    for seed in rumpsteak_oracle::seeds(100) {
        let mut rng = Rng::with_seed(seed);
        let package = &packages[rng.usize(..packages.len())];
        write(package, folder, &mut rng);
        fs::write(folder.with_file_name("seed"), seed.to_string()).unwrap();
        let start = processor();
        let check = support::check(folder);
        let time = processor() - start;
        assert!(time < TIME, "seed {seed} takes {time:?}");
        slowest = slowest.max((time, seed));
        found[usize::from(check.holds())] += 1;
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<usize>().ok());
    assert!(peak.is_none_or(|peak| peak < MEMORY), "{peak:?} kB");
    assert!(found.iter().min() > Some(&0), "{found:?}");
    format!("[refused, accepted]: {found:?}; {slowest:?} is the slowest; {peak:?} kB at most")
}
