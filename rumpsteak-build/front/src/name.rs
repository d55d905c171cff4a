//! When a Scribble name and a Rust name are the same name.
//!
//! Scribble protocols are written in lower case (`ready`, `value_one`), Rust types in camel case
//! (`Ready`, `ValueOne`). The two are compared without regard to case, to `_` and to the `r#` of
//! raw identifiers; everything else must agree. `#[role("…")]` and `#[label("…")]` name the
//! Scribble side literally where that is not enough.

/// The form under which two names are compared: no `r#`, no `_`, lower case.
///
/// A name of underscores only is kept as it is, so that it equals itself alone.
///
/// ```
/// use rumpsteak_front::name::normalise;
/// assert_eq!(normalise("value_one"), normalise("ValueOne"));
/// assert_eq!(normalise("r#type"), "type");
/// assert_ne!(normalise("__"), normalise("_"));
/// ```
pub fn normalise(name: &str) -> String {
    let kept: String = kept(name).collect();
    if kept.is_empty() { plain(name).to_owned() } else { kept }
}

/// The name without `r#`.
fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// The letters that count.
fn kept(name: &str) -> impl Iterator<Item = char> {
    plain(name).chars().filter(|&c| c != '_').flat_map(char::to_lowercase)
}

/// Returns true if two names are the same name in the sense of this module.
///
/// ```
/// assert!(rumpsteak_front::name::same("ready", "Ready"));
/// assert!(!rumpsteak_front::name::same("ready", "Steady"));
/// assert!(!rumpsteak_front::name::same("r#_", "__"));
/// ```
pub fn same(left: &str, right: &str) -> bool {
    kept(left).eq(kept(right)) && (kept(left).next().is_some() || plain(left) == plain(right))
}

/// The elements with exactly this name, or else those with the [`same`] one.
pub fn find<T>(wanted: &str, mut all: Vec<T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let is_exact = all.iter().any(|element| name(element) == wanted);
    all.retain(|element| match is_exact {
        true => name(element) == wanted,
        false => same(name(element), wanted),
    });
    all
}

/// The name of a Rust type for a Scribble name: `value_one` is `ValueOne`, `SYN` is `Syn`.
///
/// Empty if the name has no letter and no digit.
///
/// ```
/// use rumpsteak_front::name::camel;
/// assert_eq!(camel("value_one"), "ValueOne");
/// assert_eq!(camel("DoubleBuffering"), "DoubleBuffering");
/// assert_eq!(camel("MAIL_FROM"), "MailFrom");
/// assert_eq!(camel("d0"), "D0");
/// ```
pub fn camel(name: &str) -> String {
    let word = |word: &String| {
        let is_shouted = word.chars().count() > 1 && !word.chars().any(char::is_lowercase);
        let mut letters = word.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        first + &if is_shouted { lower(letters.as_str()) } else { letters.collect() }
    };
    words(name).iter().map(word).collect()
}

/// The name of a Rust module, field or function for a Scribble name: `DoubleBuffering` is
/// `double_buffering`.
///
/// Empty if the name has no letter and no digit.
///
/// ```
/// use rumpsteak_front::name::snake;
/// assert_eq!(snake("DoubleBuffering"), "double_buffering");
/// assert_eq!(snake("HTTPRequest"), "http_request");
/// assert_eq!(snake("Tls13Handshake"), "tls13_handshake");
/// assert_eq!(snake("k"), "k");
/// ```
pub fn snake(name: &str) -> String {
    words(name).iter().map(|word| lower(word)).collect::<Vec<_>>().join("_")
}

fn lower(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

/// The words of a name: parted by what is neither letter nor digit, and where the case says so, as
/// in `fooBar` and `ABCode`.
fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = plain(name).chars().collect();
    let mut parted = String::new();
    for (index, &character) in characters.iter().enumerate() {
        let is_end = characters.get(index + 1).is_some_and(|next| next.is_lowercase());
        let begins = |before: char| {
            before.is_lowercase() || before.is_numeric() || before.is_uppercase() && is_end
        };
        let before = index.checked_sub(1).map(|index| characters[index]);
        if character.is_uppercase() && before.is_some_and(begins) {
            parted.push(' ');
        }
        parted.push(if character.is_alphanumeric() { character } else { ' ' });
    }
    parted.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
