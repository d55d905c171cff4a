//! The tools that the forms of `--format` are for read what is printed.

use crate::common::{Folder, begins};
use rumpsteak_fsm::text::{self, Form};

const RING: &str = "\
global protocol Ring(role a, role b, role c) {
  rec lap { value(i32) from a to b; value(i32) from b to c; value(i32) from c to a; continue lap; }
}
";

fn folder(test: &str) -> Folder {
    Folder::new(test).with("ring.scr", RING).with(
        "ring.dot",
        "digraph a { 0 -> 1 [label=\"b!value(i32)\"]; 1 -> 0 [label=\"c?value(i32)\"]; }",
    )
}

#[test]
fn machines_are_read_back() {
    let folder = folder("formats_machines");
    for (line, form, machines) in [
        ("project ring.scr --format dot", Form::Dot, 3),
        ("project ring.scr --format local", Form::Local, 3),
        ("project ring.scr --format cfsm", Form::Cfsm, 3),
        ("optimise ring.scr --assume-independent --role b --format dot", Form::Dot, 1),
        ("optimise ring.scr --assume-independent --role b --format dot --show 3", Form::Dot, 3),
        ("optimise ring.scr --assume-independent --all-roles --format dot", Form::Dot, 3),
    ] {
        let text = folder.call(line).exits(0).stdout;
        assert_eq!(Form::detect(&text), form, "{line}:\n{text}");
        assert_eq!(text::parse(&text).unwrap().len(), machines, "{line}");
    }
}

#[test]
fn session_types_are_rust() {
    let folder = folder("formats_rust");
    for (line, most) in [
        ("optimise ring.scr --assume-independent --role b --format alias", 1),
        ("optimise ring.scr --assume-independent --role b --format alias --show 3", 3),
        ("optimise ring.scr --assume-independent --all-roles --format alias", 3),
    ] {
        let text = folder.call(line).exits(0).stdout;
        let file = syn::parse_file(&text).unwrap();
        let mut names: Vec<String> = file
            .items
            .iter()
            .map(|item| match item {
                syn::Item::Enum(item) => item.ident.to_string(),
                syn::Item::Struct(item) => item.ident.to_string(),
                syn::Item::Type(item) => item.ident.to_string(),
                _ => panic!("{line}: no session\n{text}"),
            })
            .collect();
        assert!(names.len() >= most, "{line}:\n{text}");
        // All of them fit into one module.
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{line}:\n{text}");
    }
}

/// An empty answer is a valid file, too.
#[test]
fn where_no_order_is_faster_the_file_is_empty() {
    let folder = Folder::new("formats_empty")
        .with("p.scr", "global protocol P(role a, role b) { x() from a to b; }");
    for form in ["dot", "alias"] {
        let run =
            folder.call(&format!("optimise p.scr --role a --format {form}")).exits(1).prints("");
        begins(&run.stderr, "no order of `a` is faster");
    }
}

#[test]
fn json_is_one_object() {
    let folder = folder("formats_json");
    for line in [
        "check ring.scr",
        "compat ring.scr ring.scr",
        "explain S0404",
        "kmc ring.scr",
        "optimise ring.scr --assume-independent --role b",
        "project ring.scr",
        "subtype ring.dot ring.scr --role a",
    ] {
        folder.call(&format!("{line} --format json")).exits(0).json();
    }
    // `check` prints one object on each line, too.
    let lines = folder.call("check ring.scr --format json-lines").exits(0);
    for line in lines.stdout.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["kind"].is_string(), "{line}");
    }
}
