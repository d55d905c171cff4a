//! The items that a module with `#[closed_system]` lacks: roles, messages, and the set.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quote::ToTokens as _;
use rumpsteak_front::name;
use rumpsteak_front::session::Tail;

use super::print::print_block;
use crate::scope::{ItemId, Scope};
use crate::short_map::entry;

pub(crate) fn closed(scope: &Scope<'_>) -> String {
    // The roles, in the order of their sessions, with their peers.
    let mut roles: Vec<(String, BTreeSet<String>)> = Vec::new();
    scope.roots().for_each(|(_, _, role)| _ = entry(&mut roles, role.to_string()));
    let mut connect = |role: &Ident, peer: &Ident| {
        entry(&mut roles, role.to_string()).insert(peer.to_string());
        entry(&mut roles, peer.to_string()).insert(role.to_string());
    };
    let (mut labels, mut seen) = (Vec::new(), BTreeSet::new());
    for (id, _, role) in scope.roots() {
        for item in reached(scope, id) {
            let Some(session) = scope.session(item) else { continue };
            for action in session.actions() {
                connect(role, &action.peer);
            }
            let own = session.actions().map(|action| &action.label);
            let own = own.chain(session.variants().iter().map(|of| of.head.label()));
            labels.extend(own.map(Ident::to_string).filter(|label| seen.insert(label.clone())));
            for chain in session.chains() {
                if let Tail::Choice { peer: Some(peer), .. } = &chain.tail {
                    connect(role, peer);
                }
            }
        }
    }
    let message = scope.roles.first().map(|role| scope.message_of(role.item));
    let message = message.or_else(|| scope.messages().next()).unwrap_or_else(|| "Label".to_owned());
    let is_known = |name: &str| scope.names().any(|known| known == name);
    let mut text = String::new();
    for (role, peers) in roles.iter().filter(|(role, _)| !is_known(role)) {
        text.push_str("/// A role of the closed system.\n");
        let head = format!("#[derive(Role)]\n#[message({message})]\npub struct {role}");
        let routes = peers.iter().map(|peer| {
            let (doc, route) =
                (format!("/// The route to [`{peer}`]."), format!("#[route({peer})]"));
            [doc, route, format!("pub {}: Channel<{message}>,", name::snake(peer))]
        });
        print_block(&mut text, &head, routes);
    }
    if scope.lacks_set() && !roles.is_empty() {
        text.push_str("/// The roles, wired to each other.\n");
        let roles = roles.iter().map(|(role, _)| {
            let field = format!("pub {}: {role},", name::snake(role));
            [format!("/// The role [`{role}`]."), String::new(), field]
        });
        print_block(&mut text, "#[derive(Roles)]\npub struct Roles", roles);
    }
    if !scope.has_message() && !labels.is_empty() {
        let derives = scope.module.arguments.derives.iter();
        let derives: String = derives.map(|path| format!(", {}", path.to_token_stream())).collect();
        text.push_str("/// The messages.\n");
        let head = format!("#[derive(Message{derives})]\npub enum {message}");
        let variants = labels.iter().map(|label| {
            [format!("/// The message [`{label}`]."), String::new(), format!("{label}({label}),")]
        });
        print_block(&mut text, &head, variants);
    }
    text
}

fn reached(scope: &Scope<'_>, root: ItemId) -> BTreeSet<ItemId> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(id) = pending.pop() {
        if found.insert(id) {
            pending.extend(scope.parts(id).map(|(part, _)| part));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use rumpsteak_front::module::{Module, ModuleKind};

    use super::closed;
    use crate::protocols::Protocols;
    use crate::scope::Scope;

    #[test]
    fn what_is_written_with_a_mistake_is_not_generated() -> syn::Result<()> {
        let sessions = "#[session(C)] type Client = Send<S, Ping, End>; struct Ping;";
        for (written, lacks) in [
            ("#[derive(Roles)] struct Roles(C, C);", "pub struct Roles"),
            ("#[derive(Message)] enum Label { Ping(Ping, u8) }", "pub enum Label"),
        ] {
            let source = format!("mod ping {{ {sessions} {written} }}").parse()?;
            let module = Module::parse(ModuleKind::ClosedSystem, TokenStream::new(), source)?;
            let protocols = Protocols::default();
            let text = closed(&Scope::new(&module, None, &protocols, None));
            assert!(!text.contains(lacks) && text.contains("pub struct C"), "{text}");
        }
        Ok(())
    }

    #[test]
    fn a_set_is_for_routes_that_it_can_connect() -> syn::Result<()> {
        let routes =
            [("Channel<Label>", true), ("channel::Sender<Label>", true), ("Line<Label>", false)];
        for (route, has_set) in routes {
            let source = format!(
                "mod ping {{
                    #[derive(Role)] struct C {{ #[route(S)] s: {route} }}
                    #[session(C)] type Client = Send<S, Ping, End>;
                    #[session(S)] type Server = Receive<C, Ping, End>;
                    struct Ping;
                }}"
            );
            let module =
                Module::parse(ModuleKind::ClosedSystem, TokenStream::new(), source.parse()?)?;
            let protocols = Protocols::default();
            let text = closed(&Scope::new(&module, None, &protocols, None));
            assert_eq!(text.contains("pub struct Roles"), has_set, "{route}");
        }
        Ok(())
    }
}
