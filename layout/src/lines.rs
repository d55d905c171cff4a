//! How long files and functions are, and which of their lines are for tests.

use std::ops::RangeInclusive;

use syn::{
    Attribute, Block, Expr, ImplItemFn, ItemFn, Lit, Meta, TraitItemFn,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::attributes::{attributes, is_test_only};

/// What the lines of a file are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lines {
    /// Lines that are compiled without `--test`, comments and blank lines included.
    pub product: usize,
    /// Lines of items under `#[cfg(test)]`.
    pub test: usize,
    /// The functions that are compiled without `--test`.
    pub functions: Vec<Function>,
}

/// A function with a body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its first line, from 1.
    pub line: usize,
    /// How many lines it has, its documentation left out.
    pub length: usize,
    /// Whether its documentation has a sentence that begins with "Long because".
    pub has_reason: bool,
}

/// Counts the lines of a file.
pub fn lines(text: &str) -> Lines {
    let file = syn::parse_file(text).expect("the workspace compiles");
    let mut counter = Counter::default();
    counter.visit_file(&file);
    let test = counter
        .tests
        .iter()
        .map(|lines| lines.clone().count())
        .sum();
    Lines {
        product: text.lines().count() - test,
        test,
        functions: counter.functions,
    }
}

/// The lines of comments with more than `columns` characters, as line number and length.
pub fn comment_lines_over(text: &str, columns: usize) -> Vec<(usize, usize)> {
    let lines = text.lines().map(|line| line.chars().count()).zip(1..);
    lines
        .zip(text.lines())
        .filter(|((length, _), line)| *length > columns && line.trim_start().starts_with("//"))
        .map(|((length, number), _)| (number, length))
        .collect()
}

#[derive(Default)]
struct Counter {
    tests: Vec<RangeInclusive<usize>>,
    functions: Vec<Function>,
}

impl Counter {
    fn function(&mut self, attributes: &[Attribute], signature: &syn::Signature, body: &Block) {
        let line = signature.span().start().line;
        let documentation: String = attributes.iter().filter_map(documentation).collect();
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line,
            length: body.span().end().line - line + 1,
            has_reason: documentation.contains("Long because"),
        });
    }

    /// Whether an item is for tests only; its lines are counted then.
    fn is_test(&mut self, attributes: &[Attribute], item: &impl Spanned) -> bool {
        if is_test_only(attributes) {
            let span = item.span();
            self.tests.push(span.start().line..=span.end().line);
            return true;
        }
        false
    }
}

impl<'ast> Visit<'ast> for Counter {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !self.is_test(attributes(item), item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !self.is_test(&item.attrs, item) {
            self.function(&item.attrs, &item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.attrs, &item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// The text of a line of documentation.
fn documentation(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(literal) if meta.path.is_ident("doc") => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
