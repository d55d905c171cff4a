//! Parts of sentences that the build script and the command share.

use std::borrow::Cow;
use std::fmt::Display;

use rumpsteak_scribble::similar;

/// `` `a`, `b` and `c` ``, or "none".
pub fn list(names: impl IntoIterator<Item: Display>) -> String {
    join(names, " and ").unwrap_or_else(|| "none".to_owned())
}

/// `` `a`, `b` or `c` ``.
pub fn either(names: impl IntoIterator<Item: Display>) -> String {
    join(names, " or ").unwrap_or_default()
}

fn join(names: impl IntoIterator<Item: Display>, before_last: &str) -> Option<String> {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let last = names.pop()?;
    Some(if names.is_empty() { last } else { names.join(", ") + before_last + &last })
}

/// `1 message`, `2 messages`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// "did you mean `k`?", if a known name resembles `wanted`.
pub fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    similar(wanted, &known).map(|name| format!("did you mean `{name}`?"))
}

/// "did you mean `k`?", or else all known names after `otherwise`.
pub fn meant(wanted: &str, known: impl IntoIterator<Item: Display>, otherwise: &str) -> String {
    let known: Vec<String> = known.into_iter().map(|name| name.to_string()).collect();
    let all = || match &known[..] {
        [only] if otherwise.ends_with(" are") => format!("there is only `{only}`"),
        known => format!("{otherwise} {}", list(known)),
    };
    did_you_mean(wanted, known.iter().map(String::as_str)).unwrap_or_else(all)
}

/// Escapes control characters, except line breaks and tabs, and characters that change the
/// direction of text: names come from files, which must not control the terminal.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |letter: char| match letter {
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control() && letter != '\n' && letter != '\t',
    };
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for letter in text.chars() {
        if is_hidden(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}

/// Splits `what is wrong; what to do` at the last semicolon outside back-quotes.
#[cfg(feature = "command")]
pub fn split_way_out(message: &str) -> (&str, Option<&str>) {
    let semicolons = message.rmatch_indices("; ");
    let is_quoted = |behind: &str| behind.matches('`').count() % 2 == 1;
    let mut outside = semicolons.map(|(at, _)| (&message[..at], &message[at + 2..]));
    let found = outside.find(|(_, behind)| !is_quoted(behind));
    found.map_or((message, None), |(message, way_out)| (message, Some(way_out)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_and() {
        assert_eq!(list([""; 0]), "none");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
    }

    #[test]
    fn the_closest_name_is_meant_and_a_distant_one_is_not() {
        let best = |wanted, known: &[&str]| {
            did_you_mean(wanted, known.iter().copied())
                .map(|text| text.split('`').nth(1).map(str::to_owned).unwrap_or_default())
        };
        assert_eq!(best("Kernal", &["kernel", "kettle"]).unwrap(), "kernel");
        assert_eq!(best("k", &["s", "k1", "t"]), None);
        assert_eq!(best("k", &["s", "K", "t"]).unwrap(), "K");
        assert_eq!(best("buyer", &["seller", "agency"]), None);
        assert_eq!(best("x", &[]), None);
    }

    #[test]
    fn a_semicolon_in_a_quoted_text_parts_nothing() {
        let whole = "expected `;` after the message, as in `B!a; end`";
        assert_eq!(split_way_out(whole), (whole, None));
        assert_eq!(
            split_way_out("the sort `a; b` is wrong; use DOT"),
            ("the sort `a; b` is wrong", Some("use DOT"))
        );
    }
}
