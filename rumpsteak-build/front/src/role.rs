//! What a role struct says.
//!
//! ```text
//! #[derive(Role)]
//! #[protocol(DoubleBuffering::k)]       the protocol, and the role in it
//! #[message(Label)]                     the enum of messages
//! struct K { #[route(S)] s: Channel }   the roles that it talks to
//! ```
//!
//! `#[protocol(DoubleBuffering)]` alone takes the name of the struct for the role, or that of
//! `#[role("…")]`.
//!
//! A role struct has a key to the verdict file as session items have, so that a problem with the
//! link to the protocol is reported at `#[protocol(…)]`. Its tokens are those of the derive's
//! input: of its attributes, those in [`ROLE_ATTRIBUTES`] count; all others are dropped.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::{Error, Result};

use crate::canonical::{Canonical, Key};
use crate::path::Path;
use crate::reader::{Reader, default_runtime};

/// The attributes that are part of a role's key.
pub const ROLE_ATTRIBUTES: [&str; 5] = ["protocol", "message", "role", "route", "rumpsteak"];

/// A `#[derive(Role)]` struct.
#[derive(Clone, Debug)]
pub struct RoleItem {
    /// The name of the struct.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The link to a protocol, if there is one.
    pub link: Option<Link>,
    /// The enum in `#[message(…)]`, if it is there.
    pub message: Option<Path>,
    /// The place of the first generic parameter, if there is one.
    pub parameters: Option<Span>,
    /// The fields with a `#[route(…)]`, in order.
    pub routes: Vec<Route>,
    /// The place of the first field without a `#[route(…)]`, if there is one.
    pub other_field: Option<Span>,
    /// The path of the runtime's crate: that of `#[rumpsteak(crate = "…")]`, or
    /// `::rumpsteak_runtime`.
    pub krate: TokenStream,
    /// The key to the verdict on the role.
    pub key: Key,
}

/// Which role of which protocol a struct plays.
#[derive(Clone, Debug)]
pub struct Link {
    /// The name of the protocol.
    pub protocol: Ident,
    /// The index of its token.
    pub protocol_token: usize,
    /// The name of the role: the second segment, or that of `#[role("…")]`, or that of the struct.
    pub role: String,
    /// The index of the token that names the role.
    pub role_token: usize,
}

/// A field with a `#[route(…)]`.
#[derive(Clone, Debug)]
pub struct Route {
    /// The role at the other end.
    pub peer: Path,
    /// The name of the field; `None` in a tuple struct.
    pub field: Option<Ident>,
    /// The position of the field among all fields.
    pub index: usize,
    /// The type of the field.
    pub ty: TokenStream,
}

#[derive(Default)]
struct Attributes {
    protocol: Option<(Path, Span)>,
    role: Option<(String, usize, Span)>,
    message: Option<Path>,
    krate: Option<TokenStream>,
}

impl RoleItem {
    /// Parses the input of `#[derive(Role)]`: the struct with its attributes.
    ///
    /// Attributes other than [`ROLE_ATTRIBUTES`] do not matter.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        let canonical = Canonical::new(item, &ROLE_ATTRIBUTES);
        Reader::new(&canonical).whole(|reader| {
            let attributes = Attributes::read(reader)?;
            reader.visibility();
            if !reader.eat_ident("struct") {
                return Err(reader.error("a role is a struct"));
            }
            let name_token = reader.index();
            let name = reader.ident("expected the name of the struct")?;
            let link = Link::new(attributes.protocol, attributes.role, &name)?;
            let parameters = reader.generics();
            let (routes, other_field) = routes(reader)?;
            reader.rest();
            Ok(Self {
                key: canonical.key(&name),
                name,
                name_token,
                link,
                message: attributes.message,
                parameters,
                routes,
                other_field,
                krate: attributes.krate.unwrap_or_else(default_runtime),
            })
        })
    }
}

impl Attributes {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut attributes = Self::default();
        let Self { protocol, role, message, krate } = &mut attributes;
        reader.attributes(|attribute, inner| {
            let span = attribute.span();
            match attribute.to_string().as_str() {
                "protocol" => inner.argument(attribute, protocol, |inner| {
                    let path = inner.path(EXPECTED_LINK)?;
                    if inner.at_punct('.') {
                        return Err(inner.error(EXPECTED_LINK));
                    }
                    Ok((path, span))
                }),
                "role" => inner.argument(attribute, role, |inner| {
                    let token = inner.index();
                    Ok((inner.string(EXPECTED_ROLE)?.value(), token, span))
                }),
                "message" => inner.argument(attribute, message, |inner| {
                    inner.path("expected the enum of messages: `#[message(Label)]`")
                }),
                "rumpsteak" => inner.runtime_argument(attribute, krate),
                _ => Err(Error::new(span, "`#[route(…)]` stands on a field")),
            }
        })?;
        Ok(attributes)
    }
}

impl Link {
    fn new(
        protocol: Option<(Path, Span)>,
        role: Option<(String, usize, Span)>,
        name: &Ident,
    ) -> Result<Option<Self>> {
        let (path, span) = match (protocol, &role) {
            (Some(protocol), _) => protocol,
            (None, Some((.., span))) => return Err(Error::new(*span, ROLE_WITHOUT_PROTOCOL)),
            (None, None) => return Ok(None),
        };
        let (protocol, named) = match &path.segments[..] {
            [protocol] if !path.leading_colon => (protocol, None),
            [protocol, role] if !path.leading_colon => (protocol, Some(role)),
            _ => return Err(Error::new(span, EXPECTED_LINK)),
        };
        let (role, role_token) = match (named, role) {
            (Some(named), Some(_)) => {
                return Err(Error::new(
                    named.span(),
                    "the role is named twice: here and in `#[role(…)]`",
                ));
            }
            (Some(named), None) => (named.unraw().to_string(), path.last_token()),
            (None, Some((role, token, _))) => (role, token),
            // A message about the role points at the link, which stands for the name as well.
            (None, None) => (name.unraw().to_string(), path.token),
        };
        Ok(Some(Self { protocol: protocol.clone(), protocol_token: path.token, role, role_token }))
    }
}

/// The routes, and the place of the first field that is none.
fn routes(reader: &mut Reader<'_>) -> Result<(Vec<Route>, Option<Span>)> {
    let (mut routes, mut other) = (Vec::new(), None);
    let fields = reader.fields("expected the fields of the role", route)?;
    for (index, field) in fields.into_iter().enumerate() {
        match field.attributes {
            Some(peer) => routes.push(Route { peer, field: field.name, index, ty: field.ty }),
            None => other = other.or(Some(field.span)),
        }
    }
    Ok((routes, other))
}

/// The role in `#[route(…)]`, if it is there.
fn route(reader: &mut Reader<'_>) -> Result<Option<Path>> {
    let mut peer = None;
    reader.attributes(|attribute, inner| {
        if attribute != "route" {
            let text = format!("`#[{attribute}(…)]` stands on the struct");
            return Err(Error::new(attribute.span(), text));
        }
        inner.argument(attribute, &mut peer, |inner| {
            inner.path("expected the role at the other end: `#[route(S)]`")
        })
    })?;
    Ok(peer)
}

const EXPECTED_LINK: &str =
    "expected the protocol and the role in it: `#[protocol(DoubleBuffering::k)]`";
const EXPECTED_ROLE: &str = "expected the role's name in quotes: `#[role(\"k\")]`";
const ROLE_WITHOUT_PROTOCOL: &str = "`#[role(…)]` names a role of a protocol: add `#[protocol(…)]`";
