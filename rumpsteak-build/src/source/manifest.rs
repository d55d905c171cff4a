//! The few keys of a `Cargo.toml` that say where a package's targets are.
//!
//! This is a reader for the subset of TOML that manifests are written in: tables, arrays of tables, and values that are
//! strings, Booleans, arrays of these or inline tables of these, on several lines where TOML allows it. What it does
//! not understand, it steps over to the next line: Cargo has read the manifest before a build script runs, so a mistake
//! in it has been reported, and a target that is missed here is refused by the `#[session]` macro.

use rumpsteak_fsm::sorted::SortedMap;

/// A value, as far as manifests need them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Array(Vec<Value>),
    Bool(bool),
    /// A number, a date, or something that is no TOML.
    Other,
    String(String),
    Table(Table),
}

pub(crate) type Table = SortedMap<String, Value>;

/// How deep values and dotted keys may be nested.
const DEPTH: usize = 16;

/// Reads a manifest.
pub(crate) fn parse(text: &str) -> Table {
    let mut reader = Reader { rest: text };
    let mut root = Table::new();
    let mut path: Vec<String> = Vec::new();
    loop {
        reader.skip_blank(true);
        if reader.rest.is_empty() {
            return root;
        }
        if reader.eat("[[") {
            path = reader.key();
            if let Some(table) = descend(&mut root, &path[..path.len().saturating_sub(1)])
                && let Some(name) = path.last()
                && let Value::Array(tables) =
                    table.or_insert_with(name.clone(), || Value::Array(Vec::new()))
            {
                tables.push(Value::Table(Table::new()));
            }
        } else if reader.eat("[") {
            path = reader.key();
        } else {
            let key = reader.key();
            reader.skip_blank(false);
            if reader.eat("=") {
                let value = reader.value(DEPTH);
                let full: Vec<String> = path.iter().chain(&key).cloned().collect();
                if let Some((name, parents)) = full.split_last()
                    && let Some(table) = descend(&mut root, parents)
                {
                    table.insert(name.clone(), value);
                }
            }
        }
        reader.skip_line();
    }
}

/// The table at a path, made where it is missing; of an array of tables, the last one.
fn descend<'a>(mut table: &'a mut Table, path: &[String]) -> Option<&'a mut Table> {
    for name in path {
        let next = table.or_insert_with(name.clone(), || Value::Table(Table::new()));
        table = match next {
            Value::Table(inner) => inner,
            Value::Array(tables) => match tables.last_mut()? {
                Value::Table(inner) => inner,
                _ => return None,
            },
            _ => return None,
        };
    }
    Some(table)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Steps over blanks and comments, and over line ends where these are blanks too.
    fn skip_blank(&mut self, lines: bool) {
        loop {
            let is_blank = |c: char| matches!(c, ' ' | '\t') || (lines && matches!(c, '\r' | '\n'));
            self.rest = self.rest.trim_start_matches(is_blank);
            if !self.rest.starts_with('#') {
                return;
            }
            self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
        }
    }

    fn skip_line(&mut self) {
        self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end + 1..]);
    }

    /// A dotted key, and the brackets after it if it is a table's.
    fn key(&mut self) -> Vec<String> {
        let mut path = Vec::new();
        while path.len() < DEPTH {
            self.skip_blank(false);
            let part = match self.string() {
                Some(part) => part,
                None => {
                    let is_bare = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                    let end = self.rest.find(|c| !is_bare(c)).unwrap_or(self.rest.len());
                    let (part, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    part.to_owned()
                }
            };
            path.push(part);
            self.skip_blank(false);
            if !self.eat(".") {
                break;
            }
        }
        path
    }

    fn value(&mut self, depth: usize) -> Value {
        self.skip_blank(false);
        if let Some(text) = self.string() {
            return Value::String(text);
        }
        if depth > 0 && self.eat("[") {
            let mut values = Vec::new();
            loop {
                self.skip_blank(true);
                if self.eat("]") || self.rest.is_empty() {
                    return Value::Array(values);
                }
                let before = self.rest.len();
                values.push(self.value(depth - 1));
                self.skip_blank(true);
                if !self.eat(",") && self.rest.len() == before {
                    return Value::Other;
                }
            }
        }
        if depth > 0 && self.eat("{") {
            let mut table = Table::new();
            loop {
                self.skip_blank(true);
                if self.eat("}") || self.rest.is_empty() {
                    return Value::Table(table);
                }
                let before = self.rest.len();
                let key = self.key();
                self.skip_blank(false);
                if self.eat("=") {
                    let value = self.value(depth - 1);
                    if let Some((name, parents)) = key.split_last()
                        && let Some(inner) = descend(&mut table, parents)
                    {
                        inner.insert(name.clone(), value);
                    }
                }
                self.skip_blank(true);
                if !self.eat(",") && self.rest.len() == before {
                    return Value::Other;
                }
            }
        }
        let end = self
            .rest
            .find([',', ']', '}', '#', '\n', '\r'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word.trim() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::Other,
        }
    }

    /// A string of any of TOML's four forms.
    fn string(&mut self) -> Option<String> {
        for (quote, escapes) in [("\"\"\"", true), ("'''", false), ("\"", true), ("'", false)] {
            let Some(body) = self.rest.strip_prefix(quote) else {
                continue;
            };
            let body = if quote.len() == 3 {
                body.strip_prefix('\n').unwrap_or(body)
            } else {
                body
            };
            let mut text = String::new();
            let mut characters = body.char_indices();
            while let Some((index, character)) = characters.next() {
                if body[index..].starts_with(quote) {
                    self.rest = &body[index + quote.len()..];
                    return Some(text);
                }
                match character {
                    '\n' if quote.len() == 1 => return None,
                    '\\' if escapes => match characters.next() {
                        Some((_, 'n')) => text.push('\n'),
                        Some((_, 't')) => text.push('\t'),
                        Some((_, other @ ('"' | '\\'))) => text.push(other),
                        Some(_) | None => return None,
                    },
                    other => text.push(other),
                }
            }
            return None;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    #[test]
    fn a_manifest() {
        let table = parse(
            "# A comment.\n[package] # name\nname = \"my-app\"\nversion.workspace = true\nautobins = false\n\n\
             [lib]\npath = 'src/it.rs'\n[[bin]]\nname = \"a\"\n[[bin]]\nname = \"b\"\npath = \"b#.rs\"\n\
             [features]\ndefault = [\n  \"x\", # why\n  \"y\",\n]\n[dependencies]\na = { version = \"1\", features = [\"f\"] }\n",
        );
        let Some(Value::Table(package)) = table.get("package") else {
            panic!()
        };
        assert_eq!(package["name"], string("my-app"));
        assert_eq!(package["autobins"], Value::Bool(false));
        assert_eq!(
            package["version"],
            Value::Table([("workspace".to_owned(), Value::Bool(true))].into())
        );
        let Value::Array(bins) = &table["bin"] else {
            panic!()
        };
        let Value::Table(second) = &bins[1] else {
            panic!()
        };
        assert_eq!((bins.len(), &second["path"]), (2, &string("b#.rs")));
        let Value::Table(features) = &table["features"] else {
            panic!()
        };
        assert_eq!(
            features["default"],
            Value::Array(vec![string("x"), string("y")])
        );
        let Value::Table(dependencies) = &table["dependencies"] else {
            panic!()
        };
        let Value::Table(a) = &dependencies["a"] else {
            panic!()
        };
        assert_eq!(a["features"], Value::Array(vec![string("f")]));
    }

    #[test]
    fn strings_of_all_forms() {
        let table = parse(
            "a = \"q\\\"\\\\\"\nb = 'x\\y'\nc = \"\"\"\none\ntwo\"\"\"\n\"d e\" = '''x'''\nf.g = 1\n",
        );
        assert_eq!(table["a"], string("q\"\\"));
        assert_eq!(table["b"], string("x\\y"));
        assert_eq!(table["c"], string("one\ntwo"));
        assert_eq!(table["d e"], string("x"));
    }

    #[test]
    fn anything_else_is_stepped_over() {
        for text in [
            "",
            "[",
            "[[",
            "=",
            "a",
            "a =",
            "a = [",
            "a = {",
            "a = [,",
            "a = \"",
            "]",
            "}\n}\n",
            "a = {b c}",
            "[[a]]\n[a.b]\nc = 1\n[a]\n",
        ] {
            parse(text);
        }
        parse(&format!("a = {}", "[".repeat(100_000)));
        parse(&format!("a = {}", "{a=".repeat(100_000)));
        parse(&format!("{}b = 1", "a.".repeat(100_000)));
    }
}
