//! The verdict file: what is written is what is read, and nothing else is.
#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use rumpsteak_contract::verdict::{
    Entry, Kind, Package, ParseError, Proof, RoleName, Step, Verdicts, key, stamp,
};

const VERSION: &str = "0.1.0";
const FILE: &str = "src/main.rs";

fn step(constructor: &str, names: &[&str], id: Option<u64>) -> Step {
    let names = names.iter().map(|&name| name.to_owned());
    (constructor.to_owned(), names.collect(), id)
}

fn my_app(is_executable: bool) -> &'static str {
    if is_executable { "bin my_app" } else { "lib my_app" }
}

fn entry(kind: Kind, name: &str, is_executable: bool, place: (&str, usize), proof: Proof) -> Entry {
    Entry {
        key: key(kind, name, 0xfeed),
        krate: my_app(is_executable).to_owned(),
        file: place.0.to_owned(),
        line: place.1,
        passed: true,
        problems: vec![],
        stubs: vec!["role A, Label".to_owned()],
        proof,
    }
}

fn failed(mut entry: Entry, token: usize, text: &str) -> Entry {
    entry.passed = false;
    entry.problems.push((token, text.to_owned()));
    entry
}

fn entries() -> [Entry; 4] {
    let kernel = Proof {
        plays: Some(RoleName { protocol: "DoubleBuffering".to_owned(), role: "k".to_owned() }),
        id: None,
        body: vec![(
            None,
            vec![
                step("send", &["DoubleBuffering", "s", "Ready"], None),
                step("", &[], Some(0x93ab)),
            ],
        )],
        kmc: Some(12),
        machine: Some((
            "k".to_owned(),
            2,
            1,
            vec![(
                1,
                false,
                "s".to_owned(),
                "Value".to_owned(),
                vec!["i32".to_owned(), "Vec<u8>".to_owned()],
                0,
            )],
        )),
        players: vec![(0x5be2, "crate::a".to_owned())],
        ..Proof::default()
    };
    let player = Proof {
        kmc: None,
        machine: None,
        system: (
            0x5be2,
            vec![
                (0, "s".to_owned(), "AtMost(2)".to_owned()),
                (1, "t".to_owned(), "Growable".to_owned()),
            ],
        ),
        projections: "--@role k\n.outputs \u{1f}".to_owned(),
        on_demand: vec!["t".to_owned()],
        closed: u64::MAX,
        ..kernel.clone()
    };
    let choice = Proof {
        id: Some(3),
        body: vec![
            (Some("Stop".to_owned()), vec![step("end", &[], None)]),
            (
                Some("Go\ton".to_owned()),
                vec![step("branch", &["DoubleBuffering", "t"], Some(u64::MAX))],
            ),
        ],
        ..Proof::default()
    };
    [
        entry(Kind::Role, "K", true, (FILE, 1), player),
        entry(Kind::Session, "Choice", false, ("src/lib.rs", 3), choice),
        Entry { passed: false, ..entry(Kind::Session, "Kernel", true, (FILE, 27), kernel) },
        failed(
            entry(Kind::Session, "Loop", true, (FILE, 30), Proof::default()),
            21,
            "unsafe:\n\tat \\ “here”\r\n [x]",
        ),
    ]
}

fn sample() -> Verdicts {
    let texts = |texts: [&str; 3]| texts.map(str::to_owned).into();
    let mut verdicts = Verdicts::default();
    verdicts.package = Package {
        protocols: vec![("protocols/p.scr".to_owned(), "00fe".to_owned())],
        generated: vec![texts(["DoubleBuffering", "rumpsteak/d.rs", "00ff"])],
        unanchored: vec!["first\nline".to_owned()],
        unreadable: vec![("src/half.rs".to_owned(), 7, 2)],
    };
    for entry in entries().iter().rev() {
        verdicts.add(entry);
    }
    verdicts
}

fn parsed() -> Verdicts {
    Verdicts::parse(&sample().print(VERSION), VERSION).unwrap()
}

#[test]
fn what_is_printed_is_what_is_parsed() {
    let verdicts = parsed();
    assert_eq!(verdicts.package, sample().package);
    let read: Result<Vec<Entry>, ParseError> = verdicts.entries().collect();
    assert_eq!(read, Ok(entries().to_vec()));
    assert_eq!(verdicts.print(VERSION), sample().print(VERSION));
}

#[test]
fn projections_are_written_once_for_all_roles_of_a_protocol() {
    let role = |name, text: &str| {
        let proof = Proof { projections: text.to_owned(), ..Proof::default() };
        entry(Kind::Role, name, false, (FILE, 1), proof)
    };
    let entries = [role("A", "--@role a"), role("B", "--@role a"), role("C", "--@role c")];
    let mut verdicts = Verdicts::default();
    entries.iter().for_each(|entry| verdicts.add(entry));
    let text = verdicts.print(VERSION);
    assert_eq!(text.lines().nth(2), Some("[\"--@role a\",\"--@role c\"]"));
    let read = Verdicts::parse(&text, VERSION).unwrap();
    let read: Result<Vec<Entry>, ParseError> = read.entries().collect();
    assert_eq!(read, Ok(entries.to_vec()));
}

#[test]
fn another_version_is_refused_by_name() {
    // Of another version, nothing but the version need be as it is here.
    for text in [sample().print("99.0.0"), "99.0.0\n{\"news\": []}".to_owned()] {
        let error = Verdicts::parse(&text, VERSION).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the verdicts were written by rumpsteak-build 99.0.0, but this is rumpsteak-runtime 0.1.0: \
             use the same version of both"
        );
    }
}

#[test]
fn no_damaged_file_is_accepted() {
    let text = sample().print(VERSION);
    let is_whole = |text: &str| {
        let read = Verdicts::parse(text, VERSION);
        read.is_ok_and(|verdicts| verdicts.entries().all(|entry| entry.is_ok()))
    };
    assert!(is_whole(&text));
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        // The stamp tells where a line is missing.
        let cut = &text[..end];
        assert!(stamp(cut) != stamp(&text), "cut at {end}");
        assert!(
            !is_whole(cut) || text[end..].starts_with('\n') || cut.ends_with('\n'),
            "cut at {end}"
        );
    }
    for (from, to) in [
        ("true", "certainly"),
        ("\",27,", "\",-27,"),
        ("[\"send\",", "["),
        ("null", "0.5"),
        ("[[\"src/half.rs\",7,2]]", "[]]"),
        ("]],0,[\"t\"]", "]],1,[\"t\"]"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(!is_whole(&text.replacen(from, to, 1)), "{from}");
    }
}

#[test]
fn an_unreadable_file_is_found_by_its_path() {
    let verdicts = parsed();
    assert_eq!(verdicts.unreadable("crates/app/src/half.rs"), Some((7, 2)));
    assert_eq!(verdicts.unreadable("src/whole.rs"), None);
}

#[test]
fn an_entry_is_found_by_kind_name_hash_and_place_only() {
    let verdicts = parsed();
    let found = |kind, name, hash, line| {
        let entry = verdicts.find(&key(kind, name, hash), None, (FILE, line));
        entry.unwrap().is_some()
    };
    assert!(found(Kind::Session, "Kernel", 0xfeed, 27));
    assert!(!found(Kind::Session, "Kernel", 0xfeee, 27));
    assert!(!found(Kind::Session, "Kern", 0xfeed, 27));
    assert!(!found(Kind::Session, "K", 0xfeed, 1));
    assert!(found(Kind::Role, "K", 0xfeed, 1));
}

#[test]
fn the_place_decides_between_equal_tokens() {
    let a = |is_executable, file, line| {
        let place = (file, line);
        entry(Kind::Session, "A", is_executable, place, Proof::default())
    };
    let mut verdicts = Verdicts::default();
    verdicts.add(&failed(a(false, "src/a.rs", 3), 1, "one"));
    verdicts.add(&a(false, "src/b.rs", 3));
    verdicts.add(&failed(a(true, "src/b.rs", 3), 1, "two"));
    verdicts.add(&failed(a(false, "src/b.rs", 9), 1, "three"));
    let verdicts = Verdicts::parse(&verdicts.print(VERSION), VERSION).unwrap();
    let at = |is_executable, file, line| said_at(&verdicts, my_app(is_executable), file, line);
    assert_eq!(at(false, "crates/app/src/a.rs", 3), ["one"]);
    assert_eq!(at(false, "crates/app/src/b.rs", 3), ["passed"]);
    assert_eq!(at(true, "crates/app/src/b.rs", 3), ["two"]);
    assert_eq!(at(false, "/abs/app/src/b.rs", 9), ["three"]);
    // rustc keeps the `..` of a `#[path]`.
    assert_eq!(at(false, "src/one/../b.rs", 3), ["passed"]);
    // Equal tokens elsewhere prove nothing: in another line, file or crate, or without a place.
    assert_eq!(at(false, "src/b.rs", 4), NONE);
    assert_eq!(at(true, "src/a.rs", 3), NONE);
    assert_eq!(at(false, "src/c.rs", 3), NONE);
    assert_eq!(at(false, "", 0), NONE);
    // `notsrc/a.rs` does not end in the components of `src/a.rs`.
    assert_eq!(at(false, "notsrc/a.rs", 3), NONE);
    assert_eq!(said_at(&verdicts, "lib my_lib", "src/b.rs", 3), NONE);
}

/// No entry was found.
const NONE: [&str; 0] = [];

/// The problems of the entry of `A` at a place; that it passed, if it has none.
fn said_at(verdicts: &Verdicts, krate: &str, file: &str, line: usize) -> Vec<String> {
    let found = verdicts.find(&key(Kind::Session, "A", 0xfeed), Some(krate), (file, line));
    let found = found.unwrap();
    let Some(entry) = found else { return Vec::new() };
    assert_eq!(entry.passed, entry.problems.is_empty());
    let problems = entry.problems.into_iter().map(|(_, text)| text);
    problems.chain(entry.passed.then(|| "passed".to_owned())).collect()
}

#[test]
fn of_several_entries_of_one_place_the_worst_counts() {
    let mut verdicts = Verdicts::default();
    let mut add = |krate: &str, problem: Option<&str>, player: (u64, &str)| {
        let proof = Proof { players: vec![(player.0, player.1.to_owned())], ..Proof::default() };
        let mut entry = entry(Kind::Session, "A", false, ("src/a.rs", 3), proof);
        if let Some(problem) = problem {
            entry = failed(entry, 1, problem);
        }
        entry.krate = krate.to_owned();
        verdicts.add(&entry);
    };
    add(my_app(false), None, (7, "crate::one"));
    add(my_app(false), Some("unsafe"), (8, "crate::two"));
    add(my_app(false), Some("unsafe"), (8, "crate::three"));
    add(my_app(false), Some("undecided"), (9, "crate::four"));
    // A test of the name of the library.
    add("test my_app", None, (5, "crate"));
    // A file that build.rs names.
    add("", None, (6, ""));
    let verdicts = Verdicts::parse(&verdicts.print(VERSION), VERSION).unwrap();
    assert_eq!(said_at(&verdicts, my_app(false), "src/a.rs", 3), ["undecided", "unsafe"]);
    assert_eq!(said_at(&verdicts, "test my_app", "src/a.rs", 3), ["passed"]);
    let key = key(Kind::Session, "A", 0xfeed);
    let found = verdicts.find(&key, Some("test my_app"), ("src/a.rs", 3)).unwrap();
    let mut players = found.unwrap().proof.players;
    players.sort();
    assert_eq!(players, [(5, "crate".to_owned()), (6, String::new())]);
    assert_eq!(said_at(&verdicts, my_app(true), "src/a.rs", 3), ["passed"]);
}
