//! What sessions are resolved and judged by.

use crate::fault::Place;
use crate::link::roles::Pairs;
use crate::protocols::Protocols;
use crate::source::crate_tree::Tree;
use crate::source::package_root::PackageRoot;

/// The package, its source, the protocols, and which part of the one stands for which part of the
/// other.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) base: &'a PackageRoot,
    pub(crate) tree: &'a Tree,
    pub(crate) protocols: &'a Protocols,
    pub(crate) pairs: &'a Pairs,
}

impl Context<'_> {
    /// The file and line of a token of a session.
    pub(crate) fn line(self, Place { item, token }: Place) -> String {
        let file = self.base.show(&self.tree.files[self.tree.item(item).file.0].path);
        let session = self.tree.session(item);
        let line = session.map_or(0, |session| session.key.span_of(token).start().line);
        format!("{file}:{line}")
    }
}
