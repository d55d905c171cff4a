//! Patterns of hard English in comments and in Markdown.

use std::fs;
use std::path::Path;

/// Phrases that make a sentence hard to read, and how often they may occur: the numbers only fall.
const PHRASES: [(&[&str], usize); 4] = [
    (
        &[", of which", ", in which", ", with which", ", to which", ", from which", ", for which"],
        40,
    ),
    (&["that of", "those of"], 40),
    (&["is no", "is none", "are no", "are none"], 40),
    (&["nobody", "somebody", "whoever"], 40),
];

/// The words with which no documentation of an item begins.
const HEADLESS: [&str; 5] = ["What", "Whether", "Who", "Whom", "Where"];

/// Returns what occurs more often than agreed, and where a headless clause documents an item.
pub(crate) fn wrong(folder: &Path) -> Vec<String> {
    let mut text = String::new();
    let mut wrong = Vec::new();
    read(folder, &mut text, &mut wrong);
    let text = text.to_lowercase();
    for (phrases, most) in PHRASES {
        let count: usize = phrases.iter().map(|phrase| occurrences(&text, phrase)).sum();
        println!("{count:>4} of at most {most:>4}: {phrases:?}");
        if count > most {
            wrong.push(format!("{phrases:?}: {count} times, at most {most} are agreed"));
        }
    }
    wrong
}

/// Collects the comments and the Markdown below a folder.
fn read(folder: &Path, text: &mut String, wrong: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_left_out = name.starts_with('.') || ["target", "corpus"].contains(&&*name);
        if path.is_dir() && !is_left_out {
            read(&path, text, wrong);
        } else if name.ends_with(".md") {
            text.push_str(&fs::read_to_string(&path).unwrap());
        } else if name.ends_with(".rs") {
            let mut before = "";
            for (line, number) in fs::read_to_string(&path).unwrap().lines().zip(1..) {
                let line = line.trim();
                if line.starts_with("//") {
                    text.push_str(line);
                    text.push('\n');
                }
                let documented = line.strip_prefix("/// ").filter(|_| !before.starts_with("///"));
                if documented.is_some_and(|it| HEADLESS.contains(&it.split(' ').next().unwrap())) {
                    wrong.push(format!("{}:{number}: {line}", path.display()));
                }
                before = line;
            }
        }
    }
}

/// Counts the places where a phrase stands between words.
fn occurrences(text: &str, phrase: &str) -> usize {
    let is_apart = |(at, _): &(usize, &str)| {
        let is_letter = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
        let before = phrase.starts_with(',') || !is_letter(text[..*at].chars().next_back());
        before && !is_letter(text[at + phrase.len()..].chars().next())
    };
    text.match_indices(phrase).filter(is_apart).count()
}
