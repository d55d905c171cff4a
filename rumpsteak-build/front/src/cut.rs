//! Cuts tokens into items, before anything parses them.

use proc_macro2::TokenStream;

use crate::module::ModuleKind;

/// Finds the modules of protocols in the tokens of a whole file: each `mod name { … }` with
/// `#[protocol(…)]` or `#[closed_system(…)]`, at any depth of braces.
///
/// Returns the arguments of the attribute, and the module with its other attributes.
pub fn modules(_file: TokenStream) -> Vec<(ModuleKind, TokenStream, TokenStream)> {
    Vec::new()
}
