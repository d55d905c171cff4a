//! How long files and functions are, and which of their lines are for tests.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, TraitItemFn};

use crate::tree::{attributes, is_for_tests};

/// The numbers of lines of a file.
#[derive(Default)]
pub(crate) struct Lines {
    /// Lines that are compiled without `--test`, comments and blank lines included.
    pub(crate) product: usize,
    /// Lines of items under `#[cfg(test)]`.
    pub(crate) test: usize,
    /// The functions that are compiled without `--test` and give no reason for their length: the
    /// name, the first line, and the number of lines without the documentation.
    pub(crate) functions: Vec<(String, usize, usize)>,
}

impl Lines {
    /// Counts the lines of a file with this text.
    pub(crate) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        lines.visit_file(&syn::parse_file(text).unwrap());
        lines.product = text.lines().count() - lines.test;
        lines
    }

    fn function(&mut self, attributes: &str, signature: &syn::Signature, body: &Block) {
        if !attributes.contains("Long because") {
            let line = signature.span().start().line;
            let length = body.span().end().line - line + 1;
            self.functions.push((signature.ident.to_string(), line, length));
        }
    }
}

impl<'ast> Visit<'ast> for Lines {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_for_tests(item) {
            let span = item.span();
            self.test += span.end().line - span.start().line + 1;
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&attributes(item), &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&attributes(item), &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&attributes(item), &item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}
