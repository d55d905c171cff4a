//! Types of routes that are known to be none, or to carry the messages of others.

use proc_macro2::TokenTree;
use rumpsteak_contract::Path;
use rumpsteak_contract::canonical::type_text;

use crate::fault::{Cause, Fault};
use crate::source::crate_tree::{ItemId, ItemKind, ModuleId, Tree};
use crate::source::items::is_punct;
use crate::source::names::{self, elsewhere};

/// What the ends of queues are called, in `std`, `tokio`, `futures` and others.
const ENDS: [&str; 5] =
    ["Receiver", "Sender", "SyncSender", "UnboundedReceiver", "UnboundedSender"];

/// A fault for each such route of a role.
pub(crate) fn faults(tree: &Tree, id: ItemId) -> Vec<Fault> {
    let module = tree.item(id).module;
    let Some(role) = tree.role(id) else { return Vec::new() };
    let Some(message) = &role.message else { return Vec::new() };
    let wrong = role.routes.iter().filter_map(|route| {
        let tokens: Vec<TokenTree> = route.ty.clone().into_iter().collect();
        let (is_wrong, is_channel) = match &tokens[..] {
            // Two ends side by side.
            [TokenTree::Group(_)] => (true, false),
            tokens => is_other(tree, module, message, tokens)?,
        };
        let (ty, message) = (type_text(route.ty.clone()), message.to_string());
        let cause = Cause::OtherRoute { ty, message, is_channel };
        is_wrong.then(|| cause.at(id, route.peer.last_token()))
    });
    wrong.collect()
}

/// The path that tokens are, if they are one.
fn path(tokens: &[TokenTree]) -> Option<Path> {
    let segments = tokens.iter().filter(|tree| !is_punct(tree, ':'));
    let segments = segments.map(|tree| match tree {
        TokenTree::Ident(segment) => Some(segment.clone()),
        _ => None,
    });
    let segments: Vec<_> = segments.collect::<Option<_>>()?;
    (!segments.is_empty()).then_some(Path { leading_colon: false, segments, token: 0 })
}

/// Whether the type of a route is none or one of other messages, and whether it is a channel;
/// `None` if that does not show.
fn is_other(
    tree: &Tree,
    module: ModuleId,
    message: &Path,
    tokens: &[TokenTree],
) -> Option<(bool, bool)> {
    let start = tokens.iter().position(|tree| is_punct(tree, '<'))?;
    let ty = path(&tokens[..start])?;
    let package = elsewhere(tree, module, &ty)?;
    let is_of_ours = package.starts_with("rumpsteak");
    if !(is_of_ours && ty.last() == "Channel") {
        return Some((!is_of_ours && ENDS.iter().any(|end| ty.last() == end), false));
    }
    let carried = path(tokens.get(start + 1..tokens.len() - 1)?)?;
    let found = names::item(tree, module, &carried)?;
    let own = names::item(tree, module, message)?;
    // What an alias stands for is not followed.
    let is_alias = matches!(*tree.item(found).kind, ItemKind::Alias(_));
    let is_message = matches!(*tree.item(own).kind, ItemKind::Message(..));
    Some((found != own && is_message && !is_alias, true))
}
