//! The names that can be used in a module.

use hashbrown::{HashMap, HashSet};

use super::program::Source;
use crate::index::index;
use crate::syntax::ast::DeclarationKind;

/// The names that can be used in a module: its own declarations, `alias.Name` and
/// `full.module.Name`.
#[derive(Default)]
pub(super) struct Scope {
    /// The positions of protocols in the list of all protocols.
    pub(super) protocols: HashMap<String, u32>,
    pub(super) signatures: HashSet<String>,
    pub(super) sorts: HashSet<String>,
    /// The names to suggest for unknown ones.
    pub(super) protocol_names: Vec<String>,
    pub(super) signature_names: Vec<String>,
    /// True if all modules were found and read completely.
    pub(super) complete: bool,
}

impl Scope {
    /// The scope of the source at `own`. `bases` has the position of each source's first protocol.
    pub(super) fn new(own: usize, sources: &[Source], bases: &[usize]) -> Self {
        let Source { module, imports } = &sources[own];
        let mut scope = Self { complete: true, ..Self::default() };
        scope.add("", true, &sources[own], bases[own]);
        if let Some(header) = &module.header {
            scope.add(&format!("{header}."), false, &sources[own], bases[own]);
        }
        for (import, &position) in module.imports.iter().zip(imports) {
            let name = import.alias.as_ref().unwrap_or(&import.module);
            match position {
                Some(at) => scope.add(&format!("{name}."), at != own, &sources[at], bases[at]),
                None => scope.complete = false,
            }
        }
        scope
    }

    /// Adds the declarations of a source, each with `prefix` before its name.
    fn add(&mut self, prefix: &str, suggested: bool, Source { module, .. }: &Source, base: usize) {
        self.complete &= module.complete;
        for (position, protocol) in (base..).zip(&module.protocols) {
            let name = format!("{prefix}{}", protocol.name);
            if suggested {
                self.protocol_names.push(name.clone());
            }
            // The first of two declarations counts; the second is reported.
            self.protocols.entry(name).or_insert(index(position));
        }
        for declaration in &module.declarations {
            let name = format!("{prefix}{}", declaration.name);
            let is_sort = declaration.kind == DeclarationKind::Payload;
            if suggested && !is_sort {
                self.signature_names.push(name.clone());
            }
            (if is_sort { &mut self.sorts } else { &mut self.signatures }).insert(name);
        }
    }
}
