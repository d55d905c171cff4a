//! Roles.
//!
//! ```text
//! #[derive(Role)]
//! #[protocol(DoubleBuffering::k)]       the protocol, and the role in it
//! #[message(Label)]                     the enum of messages
//! struct K { #[route(S)] s: Channel }   the roles that it talks to
//! ```
//!
//! `#[route(S, capacity = 4)]` declares a queue in which a send waits for room, and
//! `#[route(S, unbounded)]` one in which it never does.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, Error, Field, Fields, LitStr, Member, Result, Token, Type, Visibility};

pub use crate::arguments::Room;
use crate::attribute::{
    argument, check_generics, derive_input, ensure, expect, first, name, refuse, take, take_derive,
    word,
};
use crate::cut::has;
use crate::set::only_argument;

/// A `#[derive(Role)]` struct.
#[derive(Clone)]
pub struct RoleItem {
    /// The name of the struct.
    pub name: Ident,
    /// The attributes, without the attributes of roles and without `Role` in a derive.
    pub attributes: Vec<Attribute>,
    /// The visibility of the struct; `pub` if it is inherited.
    pub visibility: Visibility,
    /// The role that the struct plays, if an attribute says so. Otherwise it plays the role of its
    /// name.
    pub link: Option<Link>,
    /// The message type in `#[message(…)]`, if it is there.
    pub message: Option<Ident>,
    /// The fields, in order. A role without fields is a unit struct.
    pub routes: Vec<Route>,
}

/// The role of a protocol that a struct plays.
#[derive(Clone)]
pub struct Link {
    /// The protocol in `#[protocol(…)]`; `None` for `#[role("…")]` alone.
    pub protocol: Option<Ident>,
    /// The name of the role in `#[protocol(P::k)]` or `#[role("k")]`, or else of the struct.
    pub role: String,
    /// The place that names the role.
    pub span: Span,
}

/// A field with its `#[route(…)]`.
#[derive(Clone)]
pub struct Route {
    /// The role at the other end.
    pub peer: Ident,
    /// The declared room of the queue to the peer, if there is a declaration.
    pub room: Option<Room>,
    /// The name of the field, or its position in a tuple struct.
    pub member: Member,
    /// The field, without `#[route(…)]`, and with `pub` for an inherited visibility.
    pub field: Field,
}

/// The attributes of a role and of its fields.
const ROLE_ATTRIBUTES: [&str; 4] = ["message", "protocol", "role", "route"];

impl RoleItem {
    /// Parses a role with its attributes. An error is at the first token that does not fit.
    pub fn parse(item: TokenStream) -> Result<Self> {
        let mut input = derive_input(item, &ROLE_ATTRIBUTES)?;
        let name = input.ident.clone();
        let Data::Struct(data) = &mut input.data else {
            return refuse(name.span(), "a role is a struct");
        };
        let fields = std::mem::replace(&mut data.fields, Fields::Unit);
        let (link, message) = attributes(&mut input.attrs, &name)?;
        check_generics(&input, "a role has no parameters: it is one participant of one protocol")?;
        let mut routes = Vec::<Route>::new();
        let members: Vec<Member> = fields.members().collect();
        for (field, member) in fields.into_iter().zip(members) {
            let route = Route::new(field, member)?;
            let peer = &route.peer;
            ensure(*peer != name, peer.span(), "a role has no route to itself")?;
            let is_second = routes.iter().any(|earlier| earlier.peer == *peer);
            let text = format!("a second route to `{peer}`: the role has one route for each peer");
            ensure(!is_second, peer.span(), text)?;
            if let Some(text) = misfit(&route.field.ty, message.as_ref()) {
                return Err(Error::new_spanned(&route.field.ty, text));
            }
            routes.push(route);
        }
        let (attributes, visibility) = (input.attrs, input.vis);
        Ok(Self { name, attributes, visibility, link, message, routes })
    }
}

/// The reason why a type cannot be a route of a role with these messages, if its tokens show it.
fn misfit(ty: &Type, message: Option<&Ident>) -> Option<String> {
    const HALVES: &str = "QueueReceiver QueueSender SyncSender UnboundedReceiver UnboundedSender";
    let text = ty.to_token_stream().to_string().replace(' ', "");
    let no_route = format!(
        "`{text}` is not a route: a route both sends and receives, as `Channel<Label>` does"
    );
    let path = match ty {
        Type::Path(of) => &of.path,
        Type::Tuple(_) => return Some(no_route),
        _ => return None,
    };
    let mut segments = path.segments.iter().rev();
    let last = segments.next()?;
    if has(HALVES, &last.ident.to_string()) {
        return Some(NO_HALF.to_owned());
    }
    if segments.any(|segment| segment.ident == "mpsc" || segment.ident == "oneshot") {
        return Some(no_route);
    }
    let Type::Path(carried) = only_argument(last)? else { return None };
    let (carried, message) = (carried.path.get_ident()?, message?);
    let is_route = last.ident == "Channel" || last.ident == "Net";
    (is_route && carried != message).then(|| {
        format!("`{text}` carries other messages than `{message}`, the messages of the role")
    })
}

/// Takes the attributes of a role out of the list, and `Role` out of a derive.
fn attributes(list: &mut Vec<Attribute>, own: &Ident) -> Result<(Option<Link>, Option<Ident>)> {
    take_derive(list, "Role");
    let (mut protocol, mut role, mut message) = (None, None, None);
    for attribute in &take(list, &ROLE_ATTRIBUTES) {
        let word = word(attribute);
        match word.to_string().as_str() {
            "message" => argument(attribute, &mut message, |input| {
                name(input, "expected the enum of messages: `#[message(Label)]`")
            }),
            "protocol" => argument(attribute, &mut protocol, link),
            "role" => {
                argument(attribute, &mut role, |input| expect::<LitStr>(input, EXPECTED_ROLE))
            }
            _ => refuse(word.span(), "`#[route(…)]` stands on a field"),
        }?;
    }
    let (named, protocol) = protocol.map_or((None, None), |(it, named)| (named, Some(it)));
    let (role, span) = match (named, role, &protocol) {
        (Some(named), Some(_), _) => {
            return refuse(named.span(), "the role is named twice: here and in `#[role(…)]`");
        }
        (Some(named), None, _) => (named.unraw().to_string(), named.span()),
        (None, Some(role), _) => (role.value(), role.span()),
        (None, None, Some(protocol)) => (own.unraw().to_string(), protocol.span()),
        (None, None, None) => return Ok((None, message)),
    };
    Ok((Some(Link { protocol, role, span }), message))
}

/// Parses the protocol and the role in `#[protocol(P::k)]`.
fn link(input: ParseStream<'_>) -> Result<(Ident, Option<Ident>)> {
    let path = Punctuated::<_, Token![::]>::parse_separated_nonempty_with(input, Ident::parse_any);
    let path = path.map_err(|error| Error::new(error.span(), EXPECTED_LINK))?;
    let mut path = path.into_iter();
    match (path.next(), path.next(), path.next()) {
        (Some(protocol), role, None) if !input.peek(Token![.]) => Ok((protocol, role)),
        (.., third) => refuse(third.map_or(input.span(), |third| third.span()), EXPECTED_LINK),
    }
}

impl Route {
    fn new(mut field: Field, member: Member) -> Result<Self> {
        let mut peer = None;
        for attribute in &take(&mut field.attrs, &ROLE_ATTRIBUTES) {
            let word = word(attribute);
            ensure(word == "route", word.span(), format!("`#[{word}(…)]` stands on the struct"))?;
            argument(attribute, &mut peer, |input| {
                let peer = name(input, "expected the role at the other end: `#[route(S)]`")?;
                Ok((peer, Room::after_peer(input)?))
            })?;
        }
        let (peer, room) = peer.ok_or_else(|| Error::new(first(&field.vis), NO_ROUTE))?;
        Ok(Self { peer, room, member, field })
    }
}

const NO_HALF: &str = "this is not a route: a route both sends and receives, by itself\n\n\
                       help: use `Channel<Label>`, or wrap a sink and a stream: `Bidirectional<Tx, Rx>`, with `Nil` for a \
                       half that is not needed";
const EXPECTED_LINK: &str =
    "expected the protocol and the role in it: `#[protocol(DoubleBuffering::k)]`";
const EXPECTED_ROLE: &str = "expected the role's name in quotes: `#[role(\"k\")]`";
const NO_ROUTE: &str = "expected the role at the other end: `#[route(S)]`. Each field of a role is a route; keep other \
                        data beside the role";
