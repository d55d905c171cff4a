//! What sessions are resolved and judged by.

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
