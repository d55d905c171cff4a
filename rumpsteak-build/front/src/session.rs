//! The grammar of sessions.
//!
//! ```text
//! item    ::= #[session(K)] vis type NAME = S ;             a root: the session of the role K
//!           | #[session] vis type NAME = S ;                a name for a part of a session
//!           | #[session] vis struct NAME ( S ) ;            the same, and may call itself: `Self`
//!           | #[session] vis enum NAME { V ( L , S ) , … }  a choice: one variant for each label
//!           | #[session] vis enum NAME { V ( A ) , … }      a choice among peers: each variant names one
//!           | #[session] vis enum NAME { V ( Receive < P , L , Self > ) , … V ( S ) }
//!                                                     a gather: the messages of peers, and what follows all
//! A       ::= Send < P , L , S > | Receive < P , L , S >    one action, then the rest
//! S       ::= A | Select < P , C > | Branch < P , C >       an internal, an external choice
//!           | Select < C > | Branch < C > | Race < C >      the same among peers; the last one is both
//!           | Gather < C >                                  a message of each peer, in any order
//!           | End | Self | NAME                             the end; this item; another item
//! P, L, C ::= NAME                                          a role, a label, a choice or `Self`
//! ```
//!
//! A struct with a role is a root as well. Every name means the item of the module that has it.
//! Only the last argument of a constructor nests: a session is a *chain* of actions with a tail,
//! and is read and kept as a chain, without recursion.

use std::fmt::{self, Display};

use proc_macro2::{Ident, TokenStream};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Lifetime, Meta, Result, Token, Visibility, braced, parenthesized, token,
};

use crate::attribute::{
    argument, ensure, expect, expect_end, ident, name, parse_item, public, refuse, take,
};

/// A session, or a part of one.
#[derive(Clone)]
pub struct SessionItem {
    /// The role in `#[session(K)]`. With a role the item is a root: the session that the role runs.
    pub role: Option<Ident>,
    /// The name of the item.
    pub name: Ident,
    /// The session or the options.
    pub form: Form,
    /// The attributes, without `#[session]`.
    pub attributes: Vec<Attribute>,
    /// The visibility; `pub` if it is inherited.
    pub visibility: Visibility,
}

/// The forms of a session item.
#[derive(Clone)]
pub enum Form {
    /// `type`: transparent, as type aliases are.
    Alias(Chain),
    /// `enum`: the options of a choice; or the messages of a gather, each followed by `Self`, and
    /// what follows all of them.
    Choice(Vec<Variant>, Option<Rest>),
    /// `struct`: nominal, so that it may be recursive.
    Struct(Chain),
}

/// An option of a choice: `Value(Value, Receive<A, Add, RingB>)`, or `Value(Send<A, Value, End>)`
/// in a choice among peers.
#[derive(Clone)]
pub struct Variant<H = Head> {
    /// The name of the variant.
    pub name: Ident,
    /// The label or the action with which the option begins.
    pub head: H,
    /// The session that follows.
    pub then: Chain,
    /// The attributes of the variant.
    pub attributes: Vec<Attribute>,
}

/// The last variant of a gather: `All(Send<A, Done, End>)`.
pub type Rest = Variant<()>;

/// The beginning of an option.
#[derive(Clone)]
pub enum Head {
    /// A label, in a choice towards one peer.
    Label(Ident),
    /// An action, in a choice among peers.
    Action(Action),
}

impl Head {
    /// Returns the label that is sent or received.
    pub fn label(&self) -> &Ident {
        match self {
            Self::Label(label) | Self::Action(Action { label, .. }) => label,
        }
    }

    /// Returns the action, in a choice among peers.
    pub fn action(&self) -> Option<&Action> {
        let Self::Action(action) = self else { return None };
        Some(action)
    }
}

/// A session: actions in sequence, then a tail.
#[derive(Clone)]
pub struct Chain {
    /// The actions, first to last.
    pub actions: Vec<Action>,
    /// The tail after the actions.
    pub tail: Tail,
}

/// One `Send<P, L, …>` or `Receive<P, L, …>`.
#[derive(Clone)]
pub struct Action {
    /// The direction of the message.
    pub direction: Direction,
    /// The constructor as written.
    pub constructor: Ident,
    /// The role at the other end.
    pub peer: Ident,
    /// The label of the message.
    pub label: Ident,
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Direction {
    /// The role of the session receives.
    Receive,
    /// The role of the session sends.
    Send,
}

/// The end of a chain, after its actions.
#[derive(Clone)]
pub enum Tail {
    /// `Select<P, C>`, which sends the chosen label, or `Branch<P, C>`, which receives it; among
    /// peers `Select<C>`, `Branch<C>`, `Race<C>` and `Gather<C>`.
    Choice {
        /// The direction; `None` for a race, which does whichever is first.
        direction: Option<Direction>,
        /// The constructor as written.
        constructor: Ident,
        /// The role at the other end, unless the options name it.
        peer: Option<Ident>,
        /// The `enum` of the options; `Self` in an enum is that enum.
        choice: Ident,
    },
    /// `End`.
    End(Ident),
    /// `Self`: the struct that the chain is the body of.
    Itself(Ident),
    /// Another session item.
    Named(Ident),
}

impl SessionItem {
    /// Returns the session of an alias or a struct.
    pub fn chain(&self) -> Option<&Chain> {
        match &self.form {
            Form::Alias(chain) | Form::Struct(chain) => Some(chain),
            Form::Choice(..) => None,
        }
    }

    /// Returns the options of a choice, or the messages of a gather.
    pub fn variants(&self) -> &[Variant] {
        let Form::Choice(variants, _) = &self.form else { return &[] };
        variants
    }

    /// Returns the last variant of a gather.
    pub fn rest(&self) -> Option<&Rest> {
        let Form::Choice(_, rest) = &self.form else { return None };
        rest.as_ref()
    }

    /// Returns the session behind all options of a choice, except for those that lead back to the
    /// choice; and the peer of those. `None` if several sessions follow, or a gather.
    pub fn way_out(&self) -> Option<(&Chain, Option<&Ident>)> {
        let again = |chain: &Chain| match &chain.tail {
            Tail::Choice { direction: Some(Direction::Receive), choice, .. } => {
                chain.actions.is_empty() && (*choice == "Self" || *choice == self.name)
            }
            _ => false,
        };
        let Form::Choice(variants, None) = &self.form else { return None };
        let (mut out, mut peers) = (None, Vec::new());
        for Variant { then, .. } in variants.iter().filter(|of| of.head.action().is_none()) {
            match &then.tail {
                Tail::Choice { peer, .. } if again(then) => peers.push(peer.as_ref()?),
                _ if out.is_some_and(|known: &Chain| known.to_string() != then.to_string()) => {
                    return None;
                }
                _ => out = Some(then),
            }
        }
        peers.dedup();
        (peers.len() < 2).then_some((out?, peers.first().copied()))
    }

    /// Iterates over the session of the item, or over the sessions behind its options.
    pub fn chains(&self) -> impl Iterator<Item = &Chain> {
        let options = self.variants().iter().map(|variant| &variant.then);
        self.chain().into_iter().chain(options).chain(self.rest().map(|rest| &rest.then))
    }

    /// Iterates over all actions, beginning with the first actions of options.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        let heads = self.variants().iter().filter_map(|variant| variant.head.action());
        heads.chain(self.chains().flat_map(|chain| &chain.actions))
    }

    /// Iterates over the session items that this item goes on as, its choices among them.
    pub fn parts(&self) -> impl Iterator<Item = &Ident> {
        self.chains().filter_map(|chain| match &chain.tail {
            Tail::Choice { choice: part, .. } | Tail::Named(part) => Some(part),
            Tail::End(_) | Tail::Itself(_) => None,
        })
    }

    /// Parses an item with its attributes. An error is at the first token that does not fit.
    pub fn parse(item: TokenStream) -> Result<Self> {
        parse_item(item, &["session"], true, Self::read)
    }

    fn read(input: ParseStream<'_>) -> Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let role = role(&mut attributes)?;
        let visibility = public(input.parse()?, input.span());
        let keyword = ident(input, EXPECTED_ITEM)?;
        let name = ident(input, "expected a name")?;
        ensure(!input.peek(Token![<]), input.span(), NO_GENERICS)?;
        let form = match (keyword.to_string().as_str(), &role) {
            ("type", _) => alias(input)?,
            ("struct", _) => structure(input)?,
            ("enum", None) => choice(input)?,
            ("enum", Some(role)) => return refuse(role.span(), ROLE_ON_CHOICE),
            _ => return refuse(keyword.span(), EXPECTED_ITEM),
        };
        expect_end(input, "expected nothing more in a session")?;
        Ok(Self { role, name, form, attributes, visibility })
    }

    /// Returns the session of an alias or a struct as a text, which is the same for roots that are
    /// written alike.
    pub fn written(&self) -> String {
        self.chain().map(Chain::to_string).unwrap_or_default()
    }
}

impl fmt::Display for Chain {
    /// Writes the session as in source, but for blanks and the closing brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for action in &self.actions {
            write!(f, "{}<{}, {}, ", action.constructor, action.peer, action.label)?;
        }
        let Tail::Choice { constructor, peer, choice, .. } = &self.tail else {
            return self.tail.ident().fmt(f);
        };
        let peer = peer.as_ref().map_or(String::new(), |peer| format!("{peer}, "));
        write!(f, "{constructor}<{peer}{choice}>")
    }
}

/// Takes `#[session(K)]` out of the list, and returns the role.
fn role(attributes: &mut Vec<Attribute>) -> Result<Option<Ident>> {
    let (mut role, ours) = (None, take(attributes, &["session"]));
    if let [_, second, ..] = &ours[..] {
        return Err(Error::new_spanned(second, "`#[session]` stands here twice"));
    }
    for attribute in ours.iter().filter(|attribute| !matches!(attribute.meta, Meta::Path(_))) {
        argument(attribute, &mut role, |input| {
            (!input.is_empty()).then(|| name(input, EXPECTED_ARGUMENTS)).transpose()
        })?;
    }
    Ok(role.flatten())
}

fn alias(input: ParseStream<'_>) -> Result<Form> {
    expect::<Token![=]>(input, "expected `=` and the session that the alias stands for")?;
    let chain = Chain::read(input)?;
    if let Tail::Itself(itself) = &chain.tail {
        return refuse(itself.span(), NO_SELF_IN_ALIAS);
    }
    expect::<Token![;]>(input, "expected `;` after the session")?;
    Ok(Form::Alias(chain))
}

fn structure(input: ParseStream<'_>) -> Result<Form> {
    ensure(input.peek(token::Paren), input.span(), EXPECTED_STRUCT_BODY)?;
    let body;
    parenthesized!(body in input);
    ensure(!body.peek(Token![#]), body.span(), "no attributes inside a session")?;
    // The macro decides over the visibility of the field.
    body.parse::<Visibility>()?;
    let chain = Chain::read(&body)?;
    body.parse::<Option<Token![,]>>()?;
    expect_end(&body, "a session struct has one field: the session")?;
    expect::<Token![;]>(input, "expected `;` after the struct")?;
    match &chain.tail {
        Tail::Itself(itself) if chain.actions.is_empty() => refuse(itself.span(), ONLY_SELF),
        _ => Ok(Form::Struct(chain)),
    }
}

fn choice(input: ParseStream<'_>) -> Result<Form> {
    let options = "expected `{` and the options of the choice";
    ensure(input.peek(token::Brace), input.span(), options)?;
    let body;
    braced!(body in input);
    let read = Punctuated::<_, Token![,]>::parse_terminated_with(&body, Written::read)?;
    let mut read: Vec<Written> = read.into_iter().collect();
    let text = "a choice needs at least one option: `Variant(Label, Session)`";
    ensure(!read.is_empty(), body.span(), text)?;
    if let Some(place) = read.iter().find_map(Written::due).map(Ident::span) {
        let rest = read.pop();
        let are_due = read.iter().all(|it| it.due().is_some());
        let is_due = rest.as_ref().is_some_and(|it| it.due().is_some());
        let text =
            if are_due && is_due && !read.is_empty() { EXPECTED_REST } else { SELF_IS_CHOICE };
        let rest = rest.filter(|_| are_due && !is_due).and_then(Written::rest);
        let rest = rest.ok_or_else(|| Error::new(place, text))?;
        let due = read.into_iter().map(Written::option).collect::<Result<_>>()?;
        return Ok(Form::Choice(due, Some(rest)));
    }
    let variants = read.into_iter().map(Written::option).collect::<Result<Vec<_>>>()?;
    let named = variants.iter().find_map(|it| Some((&it.name, it.head.action()?)));
    let bare = variants.iter().find(|it| it.head.action().is_none());
    if let (Some(bare), Some((named, action))) = (bare, named) {
        let (name, label) = (&bare.name, bare.head.label());
        let Action { constructor, peer, label: first, .. } = action;
        let text = "either all options of a choice name a peer, or none does\n\nhelp: write";
        // An option is mostly named after its label: this one may lack it.
        if named != first {
            let help =
                "first the label, then the session that follows it; or name a peer in the others";
            let text = format!("{text} `{named}({named}, {constructor}<{peer}, …>)` here: {help}");
            return refuse(constructor.span(), text);
        }
        let text = format!(
            "{text} `{name}(Receive<Peer, {label}, …>)` or `{name}(Send<Peer, {label}, …>)` here, or \
             `Variant(Label, Then)` in the others"
        );
        return refuse(label.span(), text);
    }
    Ok(Form::Choice(variants, None))
}

/// A variant as it is written. `head` is an error for a session that does not begin with an action.
type Written = Variant<Result<Head>>;

impl Written {
    fn read(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name = ident(input, "expected an option of the choice: `Variant(Label, Session)`")?;
        ensure(input.peek(token::Paren), input.span(), EXPECTED_OPTION_BODY)?;
        let body;
        parenthesized!(body in input);
        let (head, then) = Self::body(&body)?;
        let option = Self { name, head, then, attributes };
        if let (None, Tail::Itself(itself)) = (option.due(), &option.then.tail) {
            return refuse(itself.span(), SELF_IS_CHOICE);
        }
        body.parse::<Option<Token![,]>>()?;
        let fields = "an option has two fields: first the label, then the session that follows it";
        expect_end(&body, fields)?;
        Ok(option)
    }

    /// Parses the label and the session behind it, or a session.
    fn body(input: ParseStream<'_>) -> Result<(Result<Head>, Chain)> {
        let ahead = input.fork();
        let label = name(&ahead, "expected a label")?;
        if Constructor::of(&label).is_some() && ahead.peek(Token![<]) {
            let mut then = Chain::read(input)?;
            let head = match then.actions.is_empty() {
                true => refuse(label.span(), EXPECTED_ACTION),
                false => Ok(Head::Action(then.actions.remove(0))),
            };
            return Ok((head, then));
        }
        if ahead.is_empty() {
            return Ok((Err(Error::new(ahead.span(), EXPECTED_OPTION_BODY)), Chain::read(input)?));
        }
        let label = name(input, "expected a label")?;
        check_label(input)?;
        expect::<Token![,]>(input, EXPECTED_OPTION_BODY)?;
        Ok((Ok(Head::Label(label)), Chain::read(input)?))
    }

    /// Returns the `Self` of a message of a gather: `A(Receive<A, Vote, Self>)`.
    fn due(&self) -> Option<&Ident> {
        match (&self.head, &self.then.actions[..], &self.then.tail) {
            (Ok(Head::Action(action)), [], Tail::Itself(itself)) => {
                (action.direction == Direction::Receive).then_some(itself)
            }
            _ => None,
        }
    }

    fn option(self) -> Result<Variant> {
        let Self { name, head, then, attributes } = self;
        Ok(Variant { name, head: head?, then, attributes })
    }

    /// Returns the variant as the last one of a gather, unless it begins with a label.
    fn rest(self) -> Option<Rest> {
        let Self { name, head, mut then, attributes } = self;
        match head {
            Ok(Head::Label(_)) => return None,
            Ok(Head::Action(action)) => then.actions.insert(0, action),
            Err(_) => {}
        }
        Some(Rest { name, head: (), then, attributes })
    }
}

impl Chain {
    /// Parses `S`: actions as long as they go on, then the tail, then the `>` of all actions.
    fn read(input: ParseStream<'_>) -> Result<Self> {
        let mut actions = Vec::new();
        let tail = loop {
            let word = name(input, EXPECTED_SESSION)?;
            match Constructor::of(&word) {
                None if input.peek(Token![<]) => {
                    return refuse(input.span(), format!("`{word}` is {NO_CONSTRUCTOR}"));
                }
                None if word == "Self" => break Tail::Itself(word),
                None => break Tail::Named(word),
                Some(Constructor::End) if input.peek(Token![<]) => {
                    return refuse(input.span(), NO_ARGUMENTS_OF_END);
                }
                Some(Constructor::End) => break Tail::End(word),
                Some(Constructor::Choice(direction)) => {
                    break Tail::choice(input, direction, word)?;
                }
                Some(Constructor::Action(_)) if actions.len() == MOST_ACTIONS => {
                    return refuse(word.span(), TOO_MANY_ACTIONS);
                }
                Some(Constructor::Action(direction)) => {
                    actions.push(Action::read(input, direction, word)?);
                }
            }
        };
        for _ in &actions {
            close_angle(input, "expected `>` after the session that follows")?;
        }
        Ok(Self { actions, tail })
    }
}

impl Action {
    /// Parses `<P, L,` after the constructor.
    fn read(input: ParseStream<'_>, direction: Direction, constructor: Ident) -> Result<Self> {
        let usage = format!("{constructor}<Role, Label, Then>");
        expect::<Token![<]>(input, format_args!("`{constructor}` is written `{usage}`"))?;
        let peer = peer(input)?;
        expect::<Token![,]>(input, format_args!("expected `,` and the label: `{usage}`"))?;
        let label = name(input, "expected a label")?;
        if Constructor::of(&label).is_some() {
            let missing =
                format!("the role at the other end is missing in front of `{peer}`: `{usage}`");
            let kept = format!("its variant keeps the protocol's name: `{label}({label}Message)`");
            return Err(reserved(input, &label, ["label", &kept])
                .unwrap_or_else(|| Error::new(label.span(), missing)));
        }
        check_label(input)?;
        let then = format!(
            "expected the role at the other end, the label and what follows, perhaps `End`: `{usage}`"
        );
        expect::<Token![,]>(input, then)?;
        Ok(Self { direction, constructor, peer, label })
    }
}

impl Tail {
    /// Returns the identifier with which the tail begins: the place to report at.
    pub fn ident(&self) -> &Ident {
        match self {
            Self::Choice { constructor: ident, .. }
            | Self::End(ident)
            | Self::Itself(ident)
            | Self::Named(ident) => ident,
        }
    }

    /// Returns true for `Gather<C>`.
    pub fn gathers(&self) -> bool {
        matches!(self, Self::Choice { constructor, .. } if constructor == "Gather")
    }

    fn choice(input: ParseStream<'_>, direction: Option<Direction>, word: Ident) -> Result<Self> {
        let towards = direction.filter(|_| word != "Gather");
        let may_name = towards.is_some();
        let towards = towards.map_or(String::new(), |_| format!("`{word}<Role, Choice>`, or "));
        let usage = format!("`{word}` is written {towards}`{word}<Choice>`");
        expect::<Token![<]>(input, &usage)?;
        let first = peer(input)?;
        let is_choice = Constructor::of(&first).is_some() || input.peek(Token![<]);
        let kept = "its `#[protocol(…)]` keeps the protocol's name";
        if is_choice && let Some(error) = reserved(input, &first, ["role", kept]) {
            return Err(error);
        }
        let mut peer = None;
        let mut choice = first;
        if !is_choice && input.parse::<Option<Token![,]>>()?.is_some() && !input.peek(Token![>]) {
            let options =
                name(input, "expected the name of the `#[session] enum` with the options")?;
            peer = Some(std::mem::replace(&mut choice, options));
        }
        let is_name = Constructor::of(&choice).is_none() && !input.peek(Token![<]);
        ensure(is_name, choice.span(), EXPECTED_CHOICE)?;
        if let (false, Some(peer)) = (may_name, &peer) {
            return refuse(peer.span(), usage);
        }
        let single = match direction {
            Some(Direction::Send) => "`Send<Role, Label, Then>`",
            _ => "`Receive<Role, Label, Then>`",
        };
        let text = format!(
            "{usage}: the options are the variants of that `#[session] enum`, and one message alone is {single}"
        );
        close_angle(input, text)?;
        Ok(Self::Choice { direction, constructor: word, peer, choice })
    }
}

/// Expects `>`, or a trailing comma and `>`.
fn close_angle(input: ParseStream<'_>, message: impl Display) -> Result<Token![>]> {
    input.parse::<Option<Token![,]>>()?;
    expect(input, message)
}

fn peer(input: ParseStream<'_>) -> Result<Ident> {
    let text =
        "expected the role at the other end: `#[session]` adds the lifetime and its own role";
    ensure(!input.peek(Lifetime) && !input.peek(Token![_]), input.span(), text)?;
    name(input, "expected the role at the other end")
}

/// Returns the error for a word of sessions that stands in place of a role or label, with more
/// behind it. `None` if it may be meant as that word.
fn reserved(input: ParseStream<'_>, word: &Ident, [what, kept]: [&str; 2]) -> Option<Error> {
    let is_name = input.parse::<Token![,]>().is_ok() && !input.peek(Token![>]) && !input.is_empty();
    is_name.then(|| {
        let text = format!(
            "`{word}` is a word of sessions, so no {what} can have this name here\n\n\
             help: give the struct another name; {kept}"
        );
        Error::new(word.span(), text)
    })
}

fn check_label(input: ParseStream<'_>) -> Result<()> {
    ensure(!input.peek(Token![<]), input.span(), NO_GENERIC_LABEL)?;
    ensure(!input.peek(token::Paren), input.span(), NO_PAYLOAD)
}

pub(crate) enum Constructor {
    Action(Direction),
    Choice(Option<Direction>),
    End,
}

impl Constructor {
    pub(crate) fn of(word: &Ident) -> Option<Self> {
        Some(match word.to_string().as_str() {
            "Branch" | "Gather" => Self::Choice(Some(Direction::Receive)),
            "End" => Self::End,
            "Race" => Self::Choice(None),
            "Receive" => Self::Action(Direction::Receive),
            "Select" => Self::Choice(Some(Direction::Send)),
            "Send" => Self::Action(Direction::Send),
            _ => return None,
        })
    }
}

const EXPECTED_ITEM: &str = "`#[session]` stands on a `type` alias, on a tuple `struct` with one field, or on an \
                             `enum` of options";
/// The most actions that one item can nest: with more, rustc overflows its stack.
const MOST_ACTIONS: usize = 2_000;

const EXPECTED_ARGUMENTS: &str =
    "expected nothing or the role that plays this session: `#[session(K)]`";
const EXPECTED_SESSION: &str = "expected a session: `Send<…>`, `Receive<…>`, `Select<…>`, `Branch<…>`, `End`, or the \
                                name of another `#[session]` item";
const EXPECTED_STRUCT_BODY: &str =
    "expected the session in parentheses: `struct Name(Send<Role, Label, Self>);`";
const EXPECTED_OPTION_BODY: &str = "an option is written `Variant(Label, Session)`";
const EXPECTED_CHOICE: &str =
    "a choice is the name of a `#[session] enum`: write the options there";
const EXPECTED_ACTION: &str = "an option of a choice among peers begins with the message: `Variant(Send<Role, Label, Then>)` or \
                               `Variant(Receive<Role, Label, Then>)`";
const EXPECTED_REST: &str =
    "the last variant of a gather has the session that follows all its messages: `All(End)`";
const NO_ARGUMENTS_OF_END: &str =
    "`End` is written without arguments: `#[session]` adds what it needs";
const ONLY_SELF: &str = "this session is itself and nothing else: it needs an action before `Self`";
const NO_CONSTRUCTOR: &str = "not `Send`, `Receive`, `Select`, `Branch` or `Race`, and the name of another session is written \
                              without arguments: `#[session]` adds them";
const NO_GENERIC_LABEL: &str =
    "a label is a type without arguments: give this one a name of its own";
const NO_GENERICS: &str =
    "a session is written without parameters: `#[session]` adds the lifetime and the role";
const NO_PAYLOAD: &str = "a session names only the label: its `struct` has the payload";
const NO_SELF_IN_ALIAS: &str = "a `type` alias cannot name itself: below the same attribute, write `struct Name(…);` and `Self`";
const ROLE_ON_CHOICE: &str = "a choice is only a part of a session: put the role on the `type` or \
                              `struct` that selects or branches with it";
const TOO_MANY_ACTIONS: &str = "more than 2,000 actions in one item, which is too deep for rustc: from here on, write another \
                                `#[session] type` and its name here";
const SELF_IS_CHOICE: &str = "`Self` is this choice, which is not a session by itself: write `Select<Role, Self>` or \
                              `Branch<Role, Self>`, or name a session";
