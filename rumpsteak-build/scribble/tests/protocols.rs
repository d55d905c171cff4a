//! Every protocol of the folder `protocols` can be projected, and its roles are safe in every
//! interleaving.
//!
//! `SIZES` lists all of them with their sizes.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::fs;
use std::path::PathBuf;

use rumpsteak_fsm::system::{System, explore};
use rumpsteak_fsm::{Limits as Search, Verdict};
use rumpsteak_scribble::Modules;

/// The file, the number of states of the global automaton (a block is one step), and of each role's
/// machine in the order of the roles.
const SIZES: &[(&str, usize, &[usize])] = &[
    ("alternating_bit", 4, &[3, 3]),
    ("authentication", 5, &[3, 4, 3]),
    ("block_fetch", 4, &[4, 4]),
    ("build_cache", 7, &[4, 7, 4]),
    ("chain_sync", 5, &[5, 5]),
    ("chat_listening", 2, &[2, 2]),
    ("chat_moderator", 2, &[13, 4, 4]),
    ("chat_private", 3, &[3, 3]),
    ("chat_speaking", 2, &[2, 2]),
    ("client_server_log", 4, &[2, 4, 1]),
    ("double_buffering", 4, &[2, 4, 2]),
    ("elevator", 14, &[5, 13, 7]),
    ("fastest_mirror", 2, &[25, 5, 5]),
    ("fft", 25, &[7, 7, 7, 7, 7, 7, 7, 7]),
    ("file_transfer", 4, &[4, 4]),
    ("first_answer", 4, &[5, 3, 3]),
    ("hospital", 3, &[3, 3]),
    ("http_continue", 2, &[7, 7]),
    ("http_pipelining", 5, &[5, 5]),
    ("jacobi", 14, &[14, 7, 7]),
    ("jacobi_workers", 7, &[7, 7]),
    ("kafka_fetch", 11, &[11, 5, 6]),
    ("lock", 2, &[4, 4, 16]),
    ("log_beside", 2, &[6, 3, 2]),
    ("mqtt_qos2", 10, &[5, 10, 5]),
    ("n_body", 8, &[5, 6, 5]),
    ("n_body_workers", 3, &[3, 3]),
    ("oauth2_code", 18, &[11, 10, 8, 3]),
    ("pipeline_cancel", 3, &[5, 3, 7, 5]),
    ("pop3", 13, &[13, 13]),
    ("postgres_extended_query", 13, &[11, 11]),
    ("raft_election", 9, &[9, 5, 5]),
    ("raft_timeout", 5, &[7, 5, 3]),
    ("redis_pipelining", 5, &[5, 5]),
    ("request_timeout", 3, &[6, 6]),
    ("ring", 3, &[2, 2, 2]),
    ("ring_choice", 4, &[2, 2, 3]),
    ("scatter_gather", 10, &[17, 3, 3, 3, 3, 3, 3, 3, 3]),
    ("sip_invite", 13, &[8, 10, 7]),
    ("smtp", 16, &[13, 13]),
    ("smtp_reset", 4, &[9, 9]),
    ("streaming", 3, &[3, 3]),
    ("three_adder", 7, &[5, 5, 5]),
    ("three_buyers", 14, &[5, 12, 3, 7]),
    ("tls13_handshake", 19, &[19, 19]),
    ("travel_agency", 8, &[6, 5, 5]),
    ("two_adder", 5, &[5, 5]),
    ("two_phase_commit", 17, &[14, 5, 5]),
    ("worker_pool", 2, &[27, 3, 3, 3]),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols")
}

/// The names of the files without `.scr`, sorted. Machines may lie beside them.
fn files() -> Vec<String> {
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "dot"))
        .inspect(|path| assert_eq!(path.extension().unwrap(), "scr", "{}", path.display()))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    files
}

fn text(file: &str) -> String {
    fs::read_to_string(folder().join(file).with_extension("scr")).unwrap()
}

#[test]
fn every_protocol_is_safe_and_of_the_known_size() {
    let mut sizes = Vec::new();
    for file in files() {
        let source = text(&file);
        assert!(source.starts_with("// "), "{file} does not say where it is from");
        let wide = source.lines().find(|line| line.chars().count() > 90);
        assert_eq!(wide, None, "{file}");
        let find = |module: &str| fs::read_to_string(folder().join(module).with_extension("scr"));
        let (modules, diagnostics) = Modules::load(&source, |module| find(module).ok());
        assert_eq!(diagnostics, [], "{file}");
        let checked = modules.check(&Default::default());
        assert_eq!(checked.diagnostics, [], "{file}");
        let [protocol] = &checked.protocols[..] else {
            panic!("{file}: one protocol is expected that is not auxiliary");
        };
        // `two_phase_commit` is `TwoPhaseCommit`.
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        assert_eq!(protocol.name().as_str(), file.split('_').map(capital).collect::<String>());

        let mut machines = Vec::new();
        for role in protocol.roles() {
            let fsm = protocol.project(role).unwrap().fsm;
            assert_eq!(fsm.check_deterministic(), Ok(()), "{file}, {role}");
            machines.push(fsm);
        }
        let states: Vec<usize> = machines.iter().map(|fsm| fsm.len()).collect();
        sizes.push((file.clone(), protocol.states(), states));

        let search = Search::default().queue(8);
        let found = explore(&System::new(machines).unwrap(), &search);
        assert_eq!(found.starvation, None, "{file}");
        match found.verdict {
            Verdict::Safe(()) => assert!(found.coverage.exhaustive, "{file}: {:?}", found.coverage),
            // Queues without a bound.
            Verdict::Undecided(_) => assert!(protocol.is_safe_by_construction(), "{file}"),
            Verdict::Unsafe(run) => panic!("{file}: {run:?}"),
        }
    }
    let known: Vec<_> = SIZES
        .iter()
        .map(|&(file, global, local)| (file.to_owned(), global, local.to_owned()))
        .collect();
    assert_eq!(sizes, known);
}
