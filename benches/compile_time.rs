//! The cost of rustc for a program whose session has many actions in a row.
//!
//! `cargo bench -p rumpsteak-benches --bench compile_time [-- 20 60 120 200]`
//!
//! In the measured program, two roles send each other messages in turns, as many as the arguments
//! say. It is built unoptimised after its source was touched. The figures are the processor time of
//! Cargo and rustc, user and system, without the dependencies, and the size of the program. The
//! rows are [`Program`].
//!
//! rustc's work for one `async` function grows faster than its number of awaits, whatever they
//! await. `Bare` measures that.

#![allow(clippy::print_stdout, reason = "the report of a benchmark")]

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use rumpsteak_benches::programs::Program;

/// How many actions there are, unless arguments say otherwise.
const ACTIONS: [usize; 4] = [20, 60, 120, 200];

fn done<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

/// The processor time of all processes that this one has waited for, in seconds; 0 where there is
/// no `/proc`.
fn processor() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() {
    let chosen: Vec<usize> = env::args().filter_map(|argument| argument.parse().ok()).collect();
    let chosen = if chosen.is_empty() { ACTIONS.to_vec() } else { chosen };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ours = |name: &str| {
        format!("{{ package = {name:?}, path = {:?} }}", root.join(name).display().to_string())
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    let target = folder.join("target");
    println!("{:<10} {:>7} {:>9} {:>9}", "", "actions", "seconds", "kB");
    for program in Program::ALL {
        let package = folder.join(format!("{program:?}"));
        let write = |file: &str, text: &str| {
            let file: PathBuf = package.join(file);
            // Cargo takes what is written for changed, and would compile the build script again.
            if fs::read_to_string(&file).is_ok_and(|before| before == text) {
                return;
            }
            done(fs::create_dir_all(file.parent().unwrap_or(&package)));
            done(fs::write(file, text));
        };
        let build = |files: Vec<(&str, String)>| {
            files.iter().for_each(|(file, text)| write(file, text));
            let mut cargo = Command::new(env!("CARGO"));
            let folders = [("CARGO_TARGET_DIR", &target), ("PWD", &package)];
            let status = cargo.args(["build", "-q"]).current_dir(&package).envs(folders).status();
            assert!(done(status).success(), "the program does not build");
        };
        let manifest = "[package]\nname = \"many\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
        let dependencies = program.dependencies(ours);
        write("Cargo.toml", &format!("{manifest}\n[workspace]\n\n{dependencies}"));
        done(fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")));
        for &count in chosen.iter().filter(|&&count| count <= program.most()) {
            build(program.files(2));
            let _ = fs::remove_dir_all(target.join("debug/incremental"));
            let before = processor();
            build(program.files(count));
            let seconds = processor() - before;
            let size = fs::metadata(target.join("debug/many")).map_or(0, |it| it.len());
            let name = format!("{program:?}");
            println!("{name:<10} {count:>7} {seconds:>9.2} {:>9}", size / 1000);
        }
    }
}
