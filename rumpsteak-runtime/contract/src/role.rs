//! What a role struct and a message enum say about names.
//!
//! ```text
//! #[derive(Role)]
//! #[protocol(DoubleBuffering::k)]       the protocol, and the role in it
//! #[message(Label)]                     the enum that travels
//! struct K { #[route(S)] s: Channel }   the roles that it talks to
//!
//! #[derive(Message)]
//! enum Label { Ready(Ready), #[label("value")] Item(Value) }
//! ```
//!
//! `#[protocol(DoubleBuffering)]` alone takes the name of the struct for the role, or that of `#[role("…")]`.
//!
//! A role struct has a key to the verdict file as session items have, so that a problem with the link to the protocol
//! is reported at `#[protocol(…)]`. Its tokens are those of the derive's input: of its attributes, `protocol`,
//! `message`, `role` and `route` count, all others are dropped.

use crate::error::{Error, Result};
use crate::parser::{Parser, Path};
use crate::token::{self, Delimiter, Flat, Ident, Key, Span, Token};

/// The attributes that are part of a role's key.
pub const ROLE_ATTRIBUTES: [&str; 4] = ["protocol", "message", "role", "route"];

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
    /// The fields with a `#[route(…)]`, in order.
    pub routes: Vec<Route>,
    /// The canonical tokens.
    key: Key,
}

/// Which role of which protocol a struct plays.
#[derive(Clone, Debug)]
pub struct Link {
    /// The name of the protocol.
    pub protocol: Ident,
    /// The index of its token.
    pub protocol_token: usize,
    /// The name of the role as the user wrote it: the second segment, or `#[role("…")]`, or the name of the struct.
    pub role: String,
    /// The index of the token that names the role.
    pub role_token: usize,
}

/// A field with a `#[route(…)]`.
#[derive(Clone, Debug)]
pub struct Route {
    /// The role at the other end.
    pub peer: Path,
    /// The name of the field, unless it is a tuple's.
    pub field: Option<Ident>,
    /// The position of the field among all fields.
    pub index: usize,
}

impl RoleItem {
    /// Parses the input of `#[derive(Role)]`: the struct with its attributes.
    ///
    /// Generic parameters are stepped over. Attributes other than [`ROLE_ATTRIBUTES`] do not matter.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: &[Token<'_>]) -> Result<Self> {
        let flat = Flat::new(item, &ROLE_ATTRIBUTES);
        let mut parser = Parser::new(&flat.tokens);
        let mut protocol = None;
        let mut role = None;
        let mut message = None;
        while parser.at_punct('#') {
            let attribute = parser.attribute_start()?;
            match attribute.as_str() {
                "protocol" => {
                    once(&attribute, protocol.is_some())?;
                    protocol = Some((parser.path(EXPECTED_LINK)?, attribute.span()));
                }
                "role" => {
                    once(&attribute, role.is_some())?;
                    let token = parser.index();
                    role = Some((
                        parser.string("expected the role's name in quotes: `#[role(\"k\")]`")?,
                        token,
                    ));
                }
                "message" => {
                    once(&attribute, message.is_some())?;
                    message =
                        Some(parser.path("expected the enum of messages: `#[message(Label)]`")?);
                }
                _ => {
                    return Err(Error::new(
                        attribute.span(),
                        "`#[route(…)]` stands on a field",
                    ));
                }
            }
            parser.attribute_end()?;
        }
        parser.visibility();
        if !parser.eat_ident("struct") {
            return Err(parser.error("a role is a struct"));
        }
        let name_token = parser.index();
        let name = parser.ident("expected the name of the struct")?;
        let link = match protocol {
            Some((path, span)) => Some(Link::new(&path, span, role, (&name, name_token))?),
            None => None,
        };
        let routes = parse_routes(&mut parser)?;
        Ok(Self {
            name,
            name_token,
            link,
            message,
            routes,
            key: Key::of(&flat.tokens),
        })
    }

    /// The hash of the canonical tokens: the key to the verdict on the role.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.key.hash()
    }

    /// The place of a token of the item, to report at; the struct's name where there is no such token.
    #[must_use]
    pub fn span_of(&self, token: usize) -> Span {
        self.key.span_of(token, &self.name)
    }
}

impl Link {
    fn new(
        path: &Path,
        span: Span,
        role: Option<(String, usize)>,
        name: (&Ident, usize),
    ) -> Result<Self> {
        let too_long = || Error::new(span, EXPECTED_LINK);
        let (protocol, named) = match &path.segments[..] {
            [protocol] => (protocol, None),
            [protocol, role] => (protocol, Some(role)),
            _ => return Err(too_long()),
        };
        if path.leading_colon {
            return Err(too_long());
        }
        let (role, role_token) = match (named, role) {
            (Some(named), Some(_)) => {
                return Err(Error::new(
                    named.span(),
                    "the role is named twice: here and in `#[role(…)]`",
                ));
            }
            (Some(named), None) => (named.unraw().to_owned(), path.last_token()),
            (None, Some((role, token))) => (role, token),
            // The link stands for the name as well, so that a message about the role points at the attribute.
            (None, None) => (name.0.unraw().to_owned(), path.token),
        };
        Ok(Self {
            protocol: protocol.clone(),
            protocol_token: path.token,
            role,
            role_token,
        })
    }
}

const EXPECTED_LINK: &str =
    "expected the protocol and the role in it: `#[protocol(DoubleBuffering::k)]`";

fn once(attribute: &Ident, seen: bool) -> Result<()> {
    if seen {
        Err(Error::new(
            attribute.span(),
            format_args!("`#[{attribute}(…)]` stands here twice"),
        ))
    } else {
        Ok(())
    }
}

fn parse_routes(parser: &mut Parser<'_, '_>) -> Result<Vec<Route>> {
    parser.skip_generics();
    if parser.at_punct(';') {
        return Ok(Vec::new());
    }
    let named = parser.at_open(Delimiter::Brace);
    if !named {
        parser.open(Delimiter::Parenthesis, "expected the fields of the role")?;
    } else {
        parser.bump();
    }
    let mut routes = Vec::new();
    let mut index = 0;
    while !parser.at_close() && !parser.at_end() {
        let mut peer = None;
        while parser.at_punct('#') {
            let attribute = parser.attribute_start()?;
            if attribute != "route" {
                return Err(Error::new(
                    attribute.span(),
                    format_args!("`#[{attribute}(…)]` stands on the struct"),
                ));
            }
            once(&attribute, peer.is_some())?;
            peer = Some(parser.path("expected the role at the other end: `#[route(S)]`")?);
            parser.attribute_end()?;
        }
        parser.visibility();
        let field = if named {
            Some(parser.ident("expected a field")?)
        } else {
            None
        };
        parser.until_comma();
        if let Some(peer) = peer {
            routes.push(Route { peer, field, index });
        }
        index += 1;
        if !parser.eat_punct(',') {
            break;
        }
    }
    Ok(routes)
}

/// A `#[derive(Message)]` enum, or a struct that is its own only label.
#[derive(Clone, Debug)]
pub struct MessageItem {
    /// The name of the enum or struct.
    pub name: Ident,
    /// The labels, in order. Of a struct it is one, which carries the struct itself.
    pub variants: Vec<MessageVariant>,
}

/// One label of a message enum.
#[derive(Clone, Debug)]
pub struct MessageVariant {
    /// The name of the variant, or of the struct.
    pub name: Ident,
    /// The name of the label: that of `#[label("…")]`, or that of the variant or struct.
    pub label: String,
    /// The type that the variant carries, if it is a path without arguments.
    pub payload: Option<Path>,
    /// The type that the variant carries, as [`token::type_text`] writes it.
    pub payload_text: String,
}

impl MessageItem {
    /// Parses the input of `#[derive(Message)]`: the enum or struct with its attributes.
    ///
    /// Of a struct, what follows its name does not matter.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: &[Token<'_>]) -> Result<Self> {
        let flat = Flat::new(item, &["label"]);
        let mut parser = Parser::new(&flat.tokens);
        let attribute = parser.clone();
        let label = label_attributes(&mut parser)?;
        parser.visibility();
        if parser.eat_ident("struct") {
            let path = parser.path("expected the name of the struct")?;
            let Some(name) = path.as_ident().cloned() else {
                return Err(parser.error("expected the name of the struct"));
            };
            let only = MessageVariant {
                name: name.clone(),
                label: label.unwrap_or_else(|| name.unraw().to_owned()),
                payload_text: name.to_string(),
                payload: Some(path),
            };
            let variants = vec![only];
            return Ok(Self { name, variants });
        }
        if label.is_some() {
            return Err(attribute.error("`#[label(…)]` stands on a variant"));
        }
        if !parser.eat_ident("enum") {
            return Err(parser.error(
                "messages are an enum with one variant for each label, or a struct that is the only label",
            ));
        }
        let name = parser.ident("expected the name of the enum")?;
        parser.skip_generics();
        parser.open(Delimiter::Brace, "expected the labels")?;
        let mut variants = Vec::new();
        while !parser.at_close() && !parser.at_end() {
            variants.push(parse_variant(&mut parser)?);
            if !parser.eat_punct(',') {
                break;
            }
        }
        parser.close("expected `,` or `}` after the label")?;
        Ok(Self { name, variants })
    }
}

fn parse_variant(parser: &mut Parser<'_, '_>) -> Result<MessageVariant> {
    let label = label_attributes(parser)?;
    let name = parser.ident("expected a label: `Ready(Ready)`")?;
    parser.open(
        Delimiter::Parenthesis,
        "a label carries one type: `Ready(Ready)`",
    )?;
    parser.visibility();
    let payload = parser.until_comma();
    let mut inner = Parser::new(payload);
    let path = inner.path("").ok().filter(|_| inner.at_end());
    parser.eat_punct(',');
    parser.close("a label carries one type: put several values into a struct")?;
    let label = label.unwrap_or_else(|| name.unraw().to_owned());
    Ok(MessageVariant {
        name,
        label,
        payload: path,
        payload_text: token::type_text(payload),
    })
}

/// The name in `#[label("…")]`, if it is there.
fn label_attributes(parser: &mut Parser<'_, '_>) -> Result<Option<String>> {
    let mut label = None;
    while parser.at_punct('#') {
        let attribute = parser.attribute_start()?;
        once(&attribute, label.is_some())?;
        label = Some(parser.string("expected the label's name in quotes: `#[label(\"value\")]`")?);
        parser.attribute_end()?;
    }
    Ok(label)
}

impl Parser<'_, '_> {
    /// Steps over `#[name(` and returns the name's last segment.
    pub(crate) fn attribute_start(&mut self) -> Result<Ident> {
        self.punct('#', "expected an attribute")?;
        self.open(Delimiter::Bracket, "expected an attribute")?;
        let path = self.path("expected an attribute")?;
        self.open(
            Delimiter::Parenthesis,
            format_args!("`{path}` takes an argument: `#[{path}(…)]`"),
        )?;
        Ok(path.last().clone())
    }

    /// Steps over `)]`.
    pub(crate) fn attribute_end(&mut self) -> Result<()> {
        self.eat_punct(',');
        self.close("expected nothing more in this attribute")?;
        self.close("expected the end of the attribute")
    }

    /// Steps over generic parameters and a `where` clause before the body of an item.
    fn skip_generics(&mut self) {
        while !self.at_end()
            && !self.at_punct(';')
            && !self.at_open(Delimiter::Brace)
            && !self.at_open(Delimiter::Parenthesis)
        {
            if self.at_punct('<') {
                self.skip_angles();
            } else {
                self.bump();
            }
        }
    }

    /// Steps over `<…>`.
    fn skip_angles(&mut self) {
        let mut depth = 0_usize;
        loop {
            if self.eat_punct('<') {
                depth += 1;
            } else if self.eat_punct('>') {
                depth -= 1;
            } else if self.at_end() || self.at_close() {
                return;
            } else if self.at_open(Delimiter::Brace)
                || self.at_open(Delimiter::Bracket)
                || self.at_open(Delimiter::Parenthesis)
            {
                self.skip_group();
            } else {
                self.bump();
            }
            if depth == 0 {
                return;
            }
        }
    }
}
