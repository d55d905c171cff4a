//! Types that would be sessions, and lack `#[session]`. To rustc, each word in them is an error of
//! its own, and none says what to write.

use proc_macro2::{Ident, TokenTree};
use rumpsteak_contract::Path;
use rumpsteak_contract::canonical::{Piece, Pieces};
use rumpsteak_contract::message::FieldType;

use crate::fault::{Cause, Fault};
use crate::link::context::Context;
use crate::source::crate_tree::{Import, Inclusion, ItemId, ItemKind, ModuleId, Tree};
use crate::source::names;

const WORDS: [&str; 5] = ["Send", "Receive", "Select", "Branch", "Race"];

/// A fault for each, at the session item or the role that it names, whose macro can say so.
/// `without` are the roles that have no session.
pub(crate) fn unmarked(context: Context<'_>, without: &[ItemId]) -> Vec<Fault> {
    let Context { base, tree, .. } = context;
    let mut faults = Vec::new();
    for id in tree.item_ids() {
        let item = tree.item(id);
        let types = match &*item.kind {
            ItemKind::Alias(ty) => std::slice::from_ref(ty),
            // A session is a tuple; what has names keeps one.
            ItemKind::Other(Some(fields)) if fields.iter().all(|field| !field.is_named) => fields,
            _ => continue,
        };
        let krate = tree.crate_id(id);
        let named = types.iter().flat_map(|ty| named(tree, item.module, ty));
        let here = named.filter(|(found, _)| tree.crate_id(*found) == krate);
        // Nobody looks into generated code for what is wrong.
        let Some((found, token)) = here.min_by_key(|(found, _)| tree.is_generated(*found)) else {
            continue;
        };
        let is_here = |role: &&ItemId| tree.crate_id(**role) == krate;
        let mut roles = without.iter().filter(is_here).map(|&role| tree.item(role).name.clone());
        let role = roles.next().filter(|_| roles.next().is_none());
        let file = base.show(&tree.files[item.file.0].path);
        let (name, place) = (item.name.clone(), format!("{file}:{}", item.line));
        let leaves_out = tree.inclusions.iter().any(|inclusion| {
            let Inclusion { module, included, .. } = inclusion;
            *module == item.module
                && *included == Some(tree.item(found).file)
                && !is_imported_whole(tree, inclusion)
        });
        faults.push(Cause::Unmarked { name, place, role, leaves_out }.at(found, token));
    }
    faults
}

/// Whether a module that is not beside the code imports all of it, so that rustc misses each name.
fn is_imported_whole(tree: &Tree, inclusion: &Inclusion) -> bool {
    let code = inclusion.item.module();
    let is_it = |import: &Import| import.name.is_none() && import.path.last() == Some(&code);
    let mut others = (0..tree.modules.len()).map(ModuleId).filter(|id| *id != inclusion.module);
    others.any(|id| tree.module(id).imports.iter().any(is_it))
}

/// The session items in a type without arguments, which rustc would ask for; or the role that a
/// word of ours is about. Each with the token of its name.
fn named(tree: &Tree, module: ModuleId, ty: &FieldType) -> Vec<(ItemId, usize)> {
    let mut pieces = Pieces::new(ty.ty.clone()).peekable();
    let mut found = Vec::new();
    // The word that the name before `<` was.
    let mut word = false;
    while let Some(piece) = pieces.next() {
        let Piece::Tree(TokenTree::Ident(name)) = piece else { continue };
        let is_bare = pieces.peek().is_none_or(|next| !next.is_punct('<') && !next.is_punct(':'));
        match item(tree, module, &name) {
            Some(named) if is_bare => match &*tree.item(named).kind {
                ItemKind::Session(session) => found.push((named, session.name_token)),
                ItemKind::Role(role) if word => found.push((named, role.name_token)),
                _ => {}
            },
            None if !is_bare => word = WORDS.iter().any(|word| name == word),
            _ => {}
        }
    }
    // A session item says it better than a role.
    found.sort_by_key(|(id, _)| matches!(*tree.item(*id).kind, ItemKind::Role(_)));
    found
}

fn item(tree: &Tree, module: ModuleId, name: &Ident) -> Option<ItemId> {
    let path = Path { leading_colon: false, segments: vec![name.clone()], token: 0 };
    names::item(tree, module, &path)
}
