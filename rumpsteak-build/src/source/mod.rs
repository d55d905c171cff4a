//! What the Rust source of a package says.

pub(crate) mod bare_names;
pub(crate) mod cargo_targets;
pub(crate) mod conditions;
pub(crate) mod crate_tree;
pub(crate) mod declarations;
pub(crate) mod items;
pub(crate) mod names;
pub(crate) mod package_root;
pub(crate) mod text_file;
