//! `cargo run --release -p rumpsteak-evaluation -- run|report`.

#![allow(clippy::print_stderr, reason = "the messages of a command")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    match rumpsteak_evaluation::command::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
