//! The cost of the build script for a package of fifty protocols with five roles each.
//!
//! `cargo bench -p rumpsteak-benches --bench build_script --profile build-script`
//!
//! A build script and its dependencies are not optimised, hence the profile. The whole process is
//! measured, as Cargo starts it.
//!
//! | row | the script |
//! |---|---|
//! | `first` | finds an empty `OUT_DIR`: generates, verifies and composes everything |
//! | `touched` | runs again because a `.rs` file has another time, or has changed where no session is |
//! | `one_protocol_changed` | runs again with one of the protocols changed |
//!
//! The modules of forty protocols are empty, and their items are generated. The other ten are
//! written with all of their items, as if by hand.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use criterion::Criterion;

/// The number of protocols, and of empty modules.
const PROTOCOLS: usize = 50;
const GENERATED: usize = 40;

/// Double buffering over three stages.
const BUFFERS: &str = "rec loop {
    ready() from b to a; value(i32) from a to b;
    ready() from c to b; value(i32) from b to c;
    ready() from d to c; value(i32) from c to d;
    ready() from e to d; value(i32) from d to e;
    continue loop;
  }";

/// An order that several services have a part in.
const ORDERS: &str = "login(String) from a to b;
  choice at b {
    accept() from b to a;
    open(u64) from b to c; open(u64) from b to d; open(u64) from b to e;
    rec work {
      choice at a {
        order(u32, String) from a to b;
        reserve(u32) from b to c; reserved(bool) from c to b;
        pay(u32) from b to d; paid(bool) from d to b;
        log(String) from b to e;
        done(String) from b to a;
        continue work;
      } or {
        bye() from a to b;
        close() from b to c; close() from b to d; close() from b to e;
      }
    }
  } or {
    refuse(String) from b to a;
    close() from b to c; close() from b to d; close() from b to e;
  }";

/// A pipeline with credits.
const PIPELINE: &str = "rec loop {
    choice at a {
      item(String) from a to b; item(String) from b to c; item(String) from c to d; item(String) from d to e;
      credit() from e to a;
      continue loop;
    } or {
      flush() from a to b; flush() from b to c; flush() from c to d; flush() from d to e;
      flushed(u32) from e to a;
      continue loop;
    } or {
      end() from a to b; end() from b to c; end() from c to d; end() from d to e;
    }
  }";

/// A value goes round, and an acknowledgement goes back.
const RING: &str = "rec loop {
    value(i32) from a to b; value(i32) from b to c; value(i32) from c to d;
    value(i32) from d to e; value(i32) from e to a;
    ack() from a to e; ack() from e to d; ack() from d to c; ack() from c to b; ack() from b to a;
    continue loop;
  }";

/// A ring with a choice.
const RING_CHOICE: &str = "rec loop {
    value(i32) from a to b;
    choice at b {
      add(i32) from b to c; add(i32) from c to d; add(i32) from d to e; add(i32) from e to a;
      continue loop;
    } or {
      sub(i32) from b to c; sub(i32) from c to d; sub(i32) from d to e; sub(i32) from e to a;
      continue loop;
    } or {
      stop() from b to c; stop() from c to d; stop() from d to e; stop() from e to a;
    }
  }";

fn protocol(number: usize) -> String {
    let body = [RING, RING_CHOICE, ORDERS, PIPELINE, BUFFERS][number % 5];
    format!("global protocol P{number}(role a, role b, role c, role d, role e) {{\n  {body}\n}}\n")
}

/// The package, in a folder of its own.
struct Package {
    folder: PathBuf,
}

impl Package {
    fn new(folder: PathBuf) -> Self {
        let package = Self { folder };
        package.write("Cargo.toml", MANIFEST);
        package.write("build.rs", "fn main() {}\n");
        let mut modules = String::new();
        for number in 0..PROTOCOLS {
            package.write(&format!("protocols/p{number}.scr"), &protocol(number));
            modules += &match number < GENERATED {
                true => {
                    format!("#[rumpsteak::protocol(P{number})]\npub mod m{number} {{}}\n")
                }
                false => format!("pub mod m{number};\n"),
            };
        }
        package.write("src/lib.rs", &modules);
        let configuration = rumpsteak_build::configure().protocols("protocols");
        let limits = rumpsteak_build::Limits::default();
        for code in done(configuration.code(&package.folder, &limits)) {
            assert_eq!(code.problems, []);
            let number = code.protocol.trim_start_matches('P');
            if number.parse().is_ok_and(|number: usize| number >= GENERATED) {
                let text = code.text.unwrap_or_default();
                package.write(&format!("src/m{number}.rs"), &text);
            }
        }
        package
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        if let Some(folder) = path.parent() {
            done(fs::create_dir_all(folder));
        }
        done(fs::write(path, text));
    }

    /// Measures the build script, which is this program, after some preparation.
    fn run(&self, count: u64, prepare: &dyn Fn(u64)) -> Duration {
        let mut total = Duration::ZERO;
        for number in 0..count {
            prepare(number);
            let mut script = Command::new(done(env::current_exe()));
            script
                .env(CHILD, "1")
                .env("CARGO_MANIFEST_DIR", &self.folder)
                .env("OUT_DIR", self.folder.join("out"))
                .stdout(Stdio::null());
            let start = Instant::now();
            let status = done(script.status());
            total += start.elapsed();
            assert!(status.success());
        }
        total
    }
}

/// The manifest, which only shows the dependency on the runtime: the package is not compiled.
const MANIFEST: &str = "\
[package]
name = \"fifty\"
version = \"0.0.0\"
edition = \"2024\"

[dependencies]
rumpsteak = { package = \"rumpsteak-runtime\", version = \"0.1\" }

[workspace]
";

/// Set for the process that is measured.
const CHILD: &str = "RUMPSTEAK_BENCH_BUILD_SCRIPT";

fn done<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

fn build_script() {
    let configuration = rumpsteak_build::configure().protocols("protocols");
    let summary = done(configuration.verify());
    assert_eq!(
        (summary.protocols, summary.sessions, summary.verified),
        (PROTOCOLS, 5 * PROTOCOLS, 5 * PROTOCOLS)
    );
}

fn main() {
    if env::var_os(CHILD).is_some() {
        return build_script();
    }
    let package = Package::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("build_script"));
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("build_script");
    group.sample_size(10);
    let mut row = |name: &str, prepare: &dyn Fn(u64)| {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|count| package.run(count, prepare));
        });
    };
    row("first", &|_| {
        // The folder does not exist before the first run.
        let _ = fs::remove_dir_all(package.folder.join("out"));
    });
    let module = format!("src/m{GENERATED}.rs");
    let text = done(fs::read_to_string(package.folder.join(&module)));
    row("touched", &|number| {
        package.write(&module, &format!("{text}\nfn f() -> u64 {{ {number} }}\n"));
    });
    row("one_protocol_changed", &|number| {
        let changed = protocol(0).replace("value", &format!("value{number}"));
        package.write("protocols/p0.scr", &changed);
    });
    group.finish();
    criterion.final_summary();
}
