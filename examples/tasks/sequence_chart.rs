//! Turns a log of the feature `tracing` into a sequence chart for Mermaid, one arrow per message
//! and one note per wait. The last note of a role that hangs says what it waits for.
//!
//! `cargo run -p rumpsteak-examples --example sequence_chart < log.txt`
//!
//! The log has one event per line, as `tracing_subscriber::fmt()` writes it at level TRACE. An
//! argument, such as `3.0`, selects the events of one session.

use std::process::ExitCode;
use std::{env, io};

/// The lines of the chart of a session, or of all sessions.
fn chart(log: &str, session: Option<&str>) -> Vec<String> {
    let mut chart = vec!["sequenceDiagram".to_owned()];
    for line in log.lines().filter(|line| line.contains(" rumpsteak: ")) {
        if session.is_some_and(|session| field(line, "session=") != Some(session)) {
            continue;
        }
        let event = line.rsplit(" rumpsteak: ").next().unwrap_or_default();
        let fields = ["role=", "peer=", "label="].map(|name| field(event, name));
        let [Some(role), Some(peer), Some(label)] = fields else { continue };
        if event.starts_with("send ") {
            chart.push(format!("  {role}->>{peer}: {label}"));
        } else if event.starts_with("waits to receive ") {
            chart.push(format!("  Note over {role}: waits for {label} from {peer}"));
        } else if event.starts_with("waits to send ") {
            chart.push(format!("  Note over {role}: waits for room for {label} to {peer}"));
        }
    }
    chart
}

/// The value of a field, with or without quotes.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = text.split_once(name)?;
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split([' ', '}']).next(),
    }
}

fn main() -> ExitCode {
    match io::read_to_string(io::stdin()) {
        Ok(log) => {
            println!("{}", chart(&log, env::args().nth(1).as_deref()).join("\n"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot read the log: {error}");
            ExitCode::FAILURE
        }
    }
}

#[test]
fn a_log_becomes_a_chart() {
    let log = r#"
TRACE session{protocol="Ping" role="c" session=0.0}: rumpsteak: send protocol="Ping" role="c" peer="s" label="Ping"
TRACE session{protocol="Ping" role="c" session=0.0}: rumpsteak: waits to receive protocol="Ping" role="c" peer="s" label="Pong"
TRACE session{protocol="Ping" role="s" session=0.0}: rumpsteak: receive protocol="Ping" role="s" peer="c" label="Ping"
TRACE session{protocol="Ping" role="c" session=1.0}: rumpsteak: send protocol="Ping" role="c" peer="s" label="Ping"
"#;
    let expected = ["sequenceDiagram", "  c->>s: Ping", "  Note over c: waits for Pong from s"];
    assert_eq!(chart(log, Some("0.0")), expected);
    assert_eq!(chart(log, None).len(), 4);
}
