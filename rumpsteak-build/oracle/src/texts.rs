//! Assertions about texts, which show the whole text, and the text of a protocol.

/// PPoPP'22, Listing 1.
pub const DOUBLE_BUFFERING: &str = "\
global protocol DoubleBuffering(role s, role k, role t) {
  rec loop {
    ready() from k to s;
    value(i32) from s to k;
    ready() from t to k;
    value(i32) from k to t;
    continue loop;
  }
}
";

/// Asserts that a text has this part.
#[track_caller]
pub fn says(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}

/// Asserts that a text begins like this.
#[track_caller]
pub fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "not {start:?}:\n{text}");
}

/// Asserts that a text ends like this.
#[track_caller]
pub fn ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "not {end:?}:\n{text}");
}
