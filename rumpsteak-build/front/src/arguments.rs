//! The arguments of `#[protocol(…)]` and `#[closed_system(…)]`.
//!
//! ```text
//! #[protocol(Hospital)]                               the protocol
//! #[protocol(Hospital, routes = rumpsteak_net::Net)]  generated routes are `Net<Label>`
//! #[protocol(Hospital, capacity = 4)]                 a send waits for room in a queue for 4,
//! #[protocol(Hospital, unbounded)]                    or never waits
//! #[protocol(Hospital, derive(Clone))]                generated messages have these derives, too
//! #[protocol(Hospital, fair)]                         asks less liveness of all roles,
//! #[protocol(Hospital, fair(p, q), every_run(r))]     or of these roles
//! #[protocol(Hospital, accept_closed_system)]         its sessions may be proven together
//! #[protocol(Hospital, limits(queue = 128))]           the verifier gives up later
//! #[protocol(Hospital, crate = "rt")]                 the runtime is the crate `rt`
//! #[closed_system]                                    a system without a protocol
//! ```

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitInt, LitStr, Path, Result, Token, parenthesized, token};

use crate::attribute::{ensure, expect, ident, refuse};
use crate::cut::{ModuleKind, check_depth, parse};
use crate::hash::Pieces;
use crate::name;

/// The arguments of the attribute.
#[derive(Default)]
pub struct Arguments {
    /// The protocol; `None` for a closed system without one.
    pub protocol: Option<Ident>,
    /// The type of generated routes, unless they are channels.
    pub routes: Option<Path>,
    /// The room of routes that do not declare their own.
    pub room: Option<Room>,
    /// The derives of generated messages, beside `Message`.
    pub derives: Vec<Path>,
    /// The liveness that is asked, each with the roles of the protocol that must have it: none for
    /// all of them.
    pub liveness: Vec<(Liveness, Vec<Ident>)>,
    /// True if the word `accept_closed_system` is there.
    pub accepts_closed_system: bool,
    /// The limits of the verifier: each the name of a setting of `Limits`, and its value.
    pub limits: Vec<(Ident, usize)>,
    /// The path of the runtime's crate in `crate = "…"`, if it is there.
    pub krate: Option<Path>,
}

/// The condition under which a waiting message is received, and a waiting role is served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Liveness {
    /// `every_run`: in every run, whatever the roles choose, if each role that can act does so
    /// sooner or later.
    EveryRun,
    /// `fair`: if choices are fair. In every state, the roles can still choose so that it happens.
    /// A role may choose for ever so that others wait, and messages pile up.
    Fair,
}

impl Arguments {
    /// Parses the arguments, without the parentheses. An error is at the first token that does not
    /// fit, or at `end`.
    pub fn parse(kind: ModuleKind, arguments: TokenStream, end: Span) -> Result<Self> {
        check_depth(&Pieces::new(arguments.clone()).collect::<Vec<_>>(), false)?;
        parse(arguments, end, |input| {
            let mut this = Self::default();
            if kind == ModuleKind::Protocol {
                this.protocol = Some(protocol(input)?);
                if !input.is_empty() {
                    expect::<Token![,]>(input, EXPECTED_OPTION)?;
                }
            }
            let mut seen = Vec::new();
            while !input.is_empty() {
                let word = ident(input, this.expected())?;
                ensure(!seen.contains(&word), word.span(), format!("`{word}` stands here twice"))?;
                this.option(input, &word)?;
                seen.push(word);
                if !input.is_empty() {
                    expect::<Token![,]>(input, this.expected())?;
                }
            }
            Ok(this)
        })
    }

    fn expected(&self) -> &'static str {
        if self.protocol.is_some() { EXPECTED_OPTION } else { EXPECTED_OPTION_OF_SYSTEM }
    }

    fn option(&mut self, input: ParseStream<'_>, word: &Ident) -> Result<()> {
        let of_protocol = self.protocol.is_some();
        match word.to_string().as_str() {
            "capacity" | "unbounded" if self.room.is_some() => {
                return refuse(word.span(), "`capacity` and `unbounded` exclude each other");
            }
            "capacity" | "unbounded" => self.room = Some(Room::of(word, input)?),
            "crate" => self.krate = Some(runtime(input)?),
            "derive" => self.derives = list(input, EXPECTED_DERIVES, Path::parse_mod_style)?,
            "limits" => {
                self.limits = list(input, EXPECTED_LIMITS, |input| {
                    let name = input.call(Ident::parse_any)?;
                    input.parse::<Token![=]>()?;
                    Ok((name, input.parse::<LitInt>()?.base10_parse()?))
                })?;
            }
            "routes" if of_protocol => self.routes = Some(routes(input)?),
            "fair" | "every_run" if of_protocol => {
                let liveness = if word == "fair" { Liveness::Fair } else { Liveness::EveryRun };
                let mut roles = Vec::new();
                if input.peek(token::Paren) {
                    roles = list(input, EXPECTED_ROLES, Ident::parse_any)?;
                    ensure(!roles.is_empty(), word.span(), EXPECTED_ROLES)?;
                }
                self.liveness.push((liveness, roles));
            }
            "accept_closed_system" if of_protocol => self.accepts_closed_system = true,
            _ => return refuse(word.span(), self.expected()),
        }
        Ok(())
    }
}

/// The room of a queue, as a module or a route declares it.
#[derive(Clone, Copy)]
pub enum Room {
    /// `capacity = 4`, with the place of the number: a send waits for room.
    Capacity(usize, Span),
    /// `unbounded`: a send never waits for room.
    Unbounded,
}

impl Room {
    /// Parses the declaration after the peer of a route, if there is one.
    pub(crate) fn after_peer(input: ParseStream<'_>) -> Result<Option<Self>> {
        if !(input.peek(Token![,]) && input.peek2(Ident::peek_any)) {
            return Ok(None);
        }
        input.parse::<Token![,]>()?;
        Self::of(&ident(input, EXPECTED_ROOM)?, input).map(Some)
    }

    /// Parses what follows the word.
    fn of(word: &Ident, input: ParseStream<'_>) -> Result<Self> {
        if word == "unbounded" {
            return Ok(Self::Unbounded);
        }
        ensure(word == "capacity", word.span(), EXPECTED_ROOM)?;
        expect::<Token![=]>(input, EXPECTED_CAPACITY)?;
        let place = input.span();
        match input.parse::<LitInt>().and_then(|literal| literal.base10_parse::<u32>()) {
            Ok(most @ 1..) => Ok(Self::Capacity(most as usize, place)),
            _ => refuse(place, EXPECTED_CAPACITY),
        }
    }
}

fn protocol(input: ParseStream<'_>) -> Result<Ident> {
    if let Ok(file) = input.fork().parse::<LitStr>() {
        let file = file.value();
        let name = file.rsplit('/').next().and_then(|name| name.split('.').next());
        let name = name.map(name::camel).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "DoubleBuffering".to_owned());
        let text = format!(
            "expected the name of the protocol, without quotes: `#[rumpsteak::protocol({name})]`"
        );
        return refuse(input.span(), text);
    }
    let is_option = input.peek2(Token![=]) || input.peek2(token::Paren);
    ensure(!is_option && input.peek(Ident), input.span(), EXPECTED)?;
    input.parse()
}

/// Parses a list in parentheses.
fn list<T>(
    input: ParseStream<'_>,
    expected: &str,
    element: fn(ParseStream<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let list = |input: ParseStream<'_>| {
        let content;
        parenthesized!(content in input);
        Punctuated::<T, Token![,]>::parse_terminated_with(&content, element)
    };
    Ok(list(input).map_err(|error| Error::new(error.span(), expected))?.into_iter().collect())
}

/// Parses `= rumpsteak_net::Net`.
fn routes(input: ParseStream<'_>) -> Result<Path> {
    expect::<Token![=]>(input, EXPECTED_ROUTES)?;
    let path = Path::parse_mod_style(input).ok();
    let path = path.filter(|_| !input.peek(Token![<]) && !input.peek(Token![::]));
    path.ok_or_else(|| Error::new(input.span(), EXPECTED_ROUTES))
}

/// Parses `= "rumpsteak_runtime"`.
fn runtime(input: ParseStream<'_>) -> Result<Path> {
    expect::<Token![=]>(input, EXPECTED_RUNTIME)?;
    let literal = expect::<LitStr>(input, EXPECTED_RUNTIME)?;
    // syn reads brackets with recursion.
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '#' | ' ');
    ensure(literal.value().chars().all(is_path), literal.span(), EXPECTED_RUNTIME)?;
    let path = literal.parse_with(Path::parse_mod_style);
    path.map_err(|_| Error::new(literal.span(), EXPECTED_RUNTIME))
}

const EXPECTED: &str =
    "expected the name of the protocol first: `#[rumpsteak::protocol(DoubleBuffering)]`";
const EXPECTED_CAPACITY: &str =
    "expected the number of messages that a queue has room for, at least 1: `capacity = 4`";
const EXPECTED_DERIVES: &str = "expected derives of messages: `derive(Clone, Debug)`";
const EXPECTED_LIMITS: &str = "expected limits of the verifier: `limits(queue = 128)`";
const EXPECTED_OPTION: &str = "expected nothing more, or one of these, after a comma: `routes = rumpsteak_net::Net`, `capacity = 4`, `unbounded`, \
                               `derive(Clone)`, `fair`, `every_run`, `accept_closed_system`, `limits(queue = 128)`, `crate = \"rumpsteak_runtime\"`";
const EXPECTED_OPTION_OF_SYSTEM: &str = "a closed system has no protocol: expected nothing, or one of these: `capacity = 4`, `unbounded`, \
                                         `derive(Clone)`, `limits(queue = 128)`, `crate = \"rumpsteak_runtime\"`";
const EXPECTED_ROLES: &str =
    "expected roles of the protocol: `fair(p, q)`, or `fair` for all of them";
const EXPECTED_ROOM: &str =
    "expected nothing more in this attribute, or after a comma `capacity = 4` or `unbounded`";
const EXPECTED_ROUTES: &str =
    "expected the type of routes, without arguments: `routes = rumpsteak_net::Net`";
const EXPECTED_RUNTIME: &str = "expected the path of the runtime: `crate = \"rumpsteak_runtime\"`";
