//! The names that can be used in a module.

use hashbrown::{HashMap, HashSet};

use super::program::Source;
use crate::index::index;
use crate::syntax::ast::DeclarationKind;

/// What a name of a module can stand for: its own declarations, `alias.Name` and
/// `full.module.Name`.
#[derive(Default)]
pub(super) struct Scope {
    /// Names to positions in the list of all protocols.
    pub(super) protocols: HashMap<String, u32>,
    pub(super) signatures: HashSet<String>,
    pub(super) sorts: HashSet<String>,
    pub(super) protocol_names: Vec<String>,
    pub(super) signature_names: Vec<String>,
    /// Whether everything that can be meant is known.
    pub(super) complete: bool,
}

impl Scope {
    /// The names of the source at `own`. The protocols of each source start at its number of
    /// `bases`.
    pub(super) fn new(own: usize, sources: &[Source<'_>], bases: &[usize]) -> Self {
        let source = &sources[own];
        let mut scope = Self { complete: true, ..Self::default() };
        scope.add(own, "", true, sources, bases);
        if let Some(header) = &source.module.header {
            scope.add(own, &format!("{header}."), false, sources, bases);
        }
        for (import, &position) in source.module.imports.iter().zip(&source.imports) {
            let name = import.alias.as_ref().unwrap_or(&import.module);
            match position {
                Some(position) => {
                    let suggested = position != own;
                    scope.add(position, &format!("{name}."), suggested, sources, bases);
                }
                None => scope.complete = false,
            }
        }
        scope
    }

    /// Adds the declarations of the source at `position`, each with `prefix` before its name.
    fn add(
        &mut self,
        position: usize,
        prefix: &str,
        suggested: bool,
        sources: &[Source<'_>],
        bases: &[usize],
    ) {
        let module = sources[position].module;
        self.complete &= module.complete;
        for (offset, protocol) in module.protocols.iter().enumerate() {
            let name = format!("{prefix}{}", protocol.name);
            if suggested {
                self.protocol_names.push(name.clone());
            }
            // The first of two declarations counts; the second is reported.
            self.protocols.entry(name).or_insert(index(bases[position] + offset));
        }
        for declaration in &module.declarations {
            let name = format!("{prefix}{}", declaration.name);
            match declaration.kind {
                DeclarationKind::Payload => {
                    self.sorts.insert(name);
                }
                DeclarationKind::Signature => {
                    if suggested {
                        self.signature_names.push(name.clone());
                    }
                    self.signatures.insert(name);
                }
            }
        }
    }
}
