//! When a Scribble name and a Rust name are the same name.
//!
//! Scribble protocols are written in lower case (`ready`, `value_one`), Rust types in camel case (`Ready`,
//! `ValueOne`). The two are compared without regard to case, to `_` and to the `r#` of raw identifiers; everything
//! else must agree. `#[role("…")]` and `#[label("…")]` name the Scribble side literally where that is not enough.

/// The form under which two names are compared: no `r#`, no `_`, lower case.
///
/// A name of underscores only is kept as it is, so that it equals itself alone.
///
/// ```
/// use rumpsteak_syntax::name::normalise;
/// assert_eq!(normalise("value_one"), normalise("ValueOne"));
/// assert_eq!(normalise("r#type"), "type");
/// assert_ne!(normalise("__"), normalise("_"));
/// ```
#[must_use]
pub fn normalise(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let kept: String = name
        .chars()
        .filter(|&c| c != '_')
        .flat_map(char::to_lowercase)
        .collect();
    if kept.is_empty() {
        name.to_owned()
    } else {
        kept
    }
}

/// Whether two names are the same name in the sense of this module.
///
/// ```
/// assert!(rumpsteak_syntax::name::same("ready", "Ready"));
/// assert!(!rumpsteak_syntax::name::same("ready", "Steady"));
/// ```
#[must_use]
pub fn same(left: &str, right: &str) -> bool {
    normalise(left) == normalise(right)
}
