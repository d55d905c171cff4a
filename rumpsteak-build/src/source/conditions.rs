//! Whether a `#[cfg(…)]` holds, as far as a build script can tell.
//!
//! Cargo gives a build script the features (`CARGO_FEATURE_…`) and rustc's description of the
//! target (`CARGO_CFG_…`), but neither whether this build is for tests or documentation, nor the
//! flags that other build scripts set with `cargo::rustc-cfg`. A predicate therefore has three
//! values. Items whose predicate is unknown are read: to read a session in vain is harmless,
//! whereas a session that was not read cannot be compiled.
//!
//! The crate `cfg-expr` would parse the connectives, but it also turns each `target_…` into an enum
//! of its own, which has to be turned back into the text that `CARGO_CFG_…` holds; it saves
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What is known about the configuration of a build.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    /// The enabled features, as in `CARGO_FEATURE_…`: upper case, `_` for `-`.
    features: BTreeSet<String>,
    /// The values of `CARGO_CFG_…`, by the rest of the variable's name.
    values: BTreeMap<String, Vec<String>>,
}

/// Whether a predicate holds. Of several, all hold as the least of them does, any as the greatest.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum CfgValue {
    False,
    /// A build script cannot tell.
    Unknown,
    #[default]
    True,
}

/// How deep predicates may be nested; a deeper one counts as unknown.
const DEPTH: usize = 64;

impl Cfg {
    /// The configuration that Cargo describes to build scripts in the given environment variables.
    pub fn from_vars(vars: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut cfg = Self::default();
        for (key, value) in vars {
            if let Some(feature) = key.strip_prefix("CARGO_FEATURE_") {
                cfg.features.insert(feature.to_owned());
            } else if let Some(name) = key.strip_prefix("CARGO_CFG_") {
                let values = value.split(',').map(str::to_owned).collect();
                cfg.values.insert(name.to_owned(), values);
            }
        }
        cfg
    }

    /// A configuration of which only the features are known, by their names in `Cargo.toml`.
    pub fn from_features(features: impl IntoIterator<Item = String>) -> Self {
        let features = features.into_iter().map(|feature| variable(&feature)).collect();
        Self { features, values: BTreeMap::new() }
    }

    /// The value of the predicate between the parentheses of `#[cfg(…)]`.
    pub(crate) fn evaluate(&self, predicate: TokenStream) -> CfgValue {
        let predicate: Vec<TokenTree> = predicate.into_iter().collect();
        self.predicate(&predicate, DEPTH)
    }

    fn predicate(&self, predicate: &[TokenTree], depth: usize) -> CfgValue {
        let Some((TokenTree::Ident(name), rest)) = predicate.split_first() else {
            return CfgValue::Unknown;
        };
        if depth == 0 {
            return CfgValue::Unknown;
        }
        let name = &*name.to_string();
        match rest {
            [] => self.flag(name),
            [TokenTree::Punct(equals), TokenTree::Literal(value)] if equals.as_char() == '=' => {
                self.value(name, value.to_string().trim_matches('"'))
            }
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
                let content: Vec<TokenTree> = group.stream().into_iter().collect();
                let operands = split_commas(&content);
                let mut values = operands.into_iter().map(|inner| self.predicate(inner, depth - 1));
                match name {
                    "all" => values.min().unwrap_or(CfgValue::True),
                    "any" => values.max().unwrap_or(CfgValue::False),
                    "not" => match values.next() {
                        Some(CfgValue::True) => CfgValue::False,
                        Some(CfgValue::False) => CfgValue::True,
                        _ => CfgValue::Unknown,
                    },
                    _ => CfgValue::Unknown,
                }
            }
            _ => CfgValue::Unknown,
        }
    }

    fn flag(&self, name: &str) -> CfgValue {
        match name {
            "true" => CfgValue::True,
            "false" => CfgValue::False,
            // These differ between the units of one build, which share one run of the script.
            "test" | "doc" | "doctest" | "debug_assertions" | "overflow_checks" => {
                CfgValue::Unknown
            }
            _ if self.values.contains_key(&variable(name)) => CfgValue::True,
            // rustc says so of every target for which it holds.
            "unix" | "windows" if !self.values.is_empty() => CfgValue::False,
            _ => CfgValue::Unknown,
        }
    }

    fn value(&self, name: &str, value: &str) -> CfgValue {
        if name == "feature" {
            return if self.features.contains(&variable(value)) {
                CfgValue::True
            } else {
                CfgValue::False
            };
        }
        match self.values.get(&variable(name)) {
            Some(values) if values.iter().any(|other| other == value) => CfgValue::True,
            Some(_) if name.starts_with("target_") || name == "panic" => CfgValue::False,
            None if name.starts_with("target_") && !self.values.is_empty() => CfgValue::False,
            _ => CfgValue::Unknown,
        }
    }
}

/// Splits tokens at their top-level commas; a trailing comma gives no empty piece.
fn split_commas(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let is_comma =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let mut pieces: Vec<&[TokenTree]> = tokens.split(is_comma).collect();
    pieces.pop_if(|piece| piece.is_empty());
    pieces
}

/// A name as Cargo writes it in environment variables.
fn variable(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Option<TokenStream> {
        text.parse().ok()
    }

    #[track_caller]
    fn check(predicate: &str, expected: CfgValue) {
        let vars = [
            ("CARGO_FEATURE_UNSAFE_REORDERING", "1"),
            ("CARGO_CFG_UNIX", ""),
            ("CARGO_CFG_TARGET_OS", "linux"),
            ("CARGO_CFG_TARGET_FEATURE", "fxsr,sse2"),
            ("CARGO_CFG_TOKIO_UNSTABLE", ""),
            ("PATH", "/bin"),
        ];
        let cfg = Cfg::from_vars(vars.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let Some(tokens) = lex(predicate) else { panic!("{predicate}") };
        assert_eq!(cfg.evaluate(tokens), expected, "{predicate}");
    }

    #[test]
    fn what_cargo_says_is_known() {
        check("feature = \"unsafe-reordering\"", CfgValue::True);
        check("feature = \"other\"", CfgValue::False);
        check("unix", CfgValue::True);
        check("windows", CfgValue::False);
        check("target_os = \"linux\"", CfgValue::True);
        check("target_os = \"macos\"", CfgValue::False);
        check("target_feature = \"sse2\"", CfgValue::True);
        check("target_feature = \"avx\"", CfgValue::False);
        check("target_vendor = \"apple\"", CfgValue::False);
        check("tokio_unstable", CfgValue::True);
        check("true", CfgValue::True);
        check("false", CfgValue::False);
    }

    #[test]
    fn what_cargo_does_not_say_is_unknown() {
        for predicate in
            ["test", "doc", "debug_assertions", "loom", "backend = \"x\"", "", "all(", "="]
        {
            if lex(predicate).is_some() {
                check(predicate, CfgValue::Unknown);
            }
        }
        let windows = lex("windows").unwrap_or_default();
        assert_eq!(Cfg::default().evaluate(windows), CfgValue::Unknown);
    }

    #[test]
    fn connectives_are_three_valued() {
        check("not(test)", CfgValue::Unknown);
        check("not(unix)", CfgValue::False);
        check("not(feature = \"other\")", CfgValue::True);
        check("all()", CfgValue::True);
        check("any()", CfgValue::False);
        check("all(unix, test)", CfgValue::Unknown);
        check("all(windows, test,)", CfgValue::False);
        check("any(unix, test)", CfgValue::True);
        check("any(windows, test)", CfgValue::Unknown);
        check("any(windows, all(unix, not(windows)))", CfgValue::True);
        check("sometimes(unix)", CfgValue::Unknown);
    }

    #[test]
    fn deep_nesting_is_unknown() {
        check(&format!("{}unix{}", "not(".repeat(62), ")".repeat(62)), CfgValue::True);
        check(&format!("{}unix{}", "not(".repeat(5_000), ")".repeat(5_000)), CfgValue::Unknown);
    }

    #[test]
    fn features_alone() {
        let cfg = Cfg::from_features(["fast-path".to_owned()]);
        let evaluate = |text: &str| lex(text).map(|tokens| cfg.evaluate(tokens));
        assert_eq!(evaluate("feature = \"fast-path\""), Some(CfgValue::True));
        assert_eq!(evaluate("feature = \"slow-path\""), Some(CfgValue::False));
        assert_eq!(evaluate("target_os = \"linux\""), Some(CfgValue::Unknown));
        assert_eq!(evaluate("unix"), Some(CfgValue::Unknown));
    }
}
