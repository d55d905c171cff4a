//! What stands in one place only: names are looked up in the folder `scope`, and items are parsed
//! by `syn`.

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder of this package, with their texts.
fn files(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut files, mut pending) = (Vec::new(), vec![root.clone()]);
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()).collect::<Vec<PathBuf>>());
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files.sort();
    files
}

/// The names of the files in which one of these texts stands.
fn with(folder: &str, texts: &[&str]) -> Vec<String> {
    let has = |(_, text): &(String, String)| texts.iter().any(|part| text.contains(part));
    files(folder).into_iter().filter(has).map(|(name, _)| name).collect()
}

#[test]
fn names_are_looked_up_in_one_folder() {
    // Private, so that rustc refuses a call from elsewhere.
    let (_, scope) = files("src").into_iter().find(|(name, _)| name == "scope/mod.rs").unwrap();
    assert!(scope.contains("\n    fn find(&self, name: &Ident) -> Option<ItemId> {\n"));
    assert!(scope.contains("\n    names: BTreeMap<String, ItemId>,\n"));
    let outside = with("src", &["scope.find(", "names.get("]).into_iter();
    let outside: Vec<String> = outside.filter(|name| !name.starts_with("scope/")).collect();
    assert_eq!(outside, [""; 0]);
}

#[test]
fn items_are_parsed_by_syn() {
    // These cut tokens into items, take attributes away and count; the others have only `syn`.
    let by_token = with("front/src", &["TokenTree"]);
    assert_eq!(by_token, ["attribute.rs", "cut.rs", "hash.rs", "module.rs"]);
    // Nothing behind `front` reads items: the texts of types and names are all that is parsed
    // there.
    let parsed = with("src", &["syn::Item", "ItemStruct", "ItemEnum", "parse_file", "impl Parse"]);
    assert_eq!(parsed, [""; 0]);
}
