//! The grammar of `#[session]` items.
//!
//! ```text
//! item    ::= #[session(PATH)] vis type NAME = S ;          a root: the session of the role PATH
//!           | #[session] vis type NAME = S ;                a name for a part of a session
//!           | #[session] vis struct NAME ( S ) ;            the same, and may call itself: `Self`
//!           | #[session] vis enum NAME { V ( L , S ) , … }  a choice: one variant for each label
//!           | #[session] vis enum NAME { V ( A ) , … }      a choice among peers: each variant names one
//! A       ::= Send < P , L , S > | Receive < P , L , S >    one action, then the rest
//! S       ::= A | Select < P , C > | Branch < P , C >       an internal, an external choice
//!           | Select < C > | Branch < C > | Race < C >      the same among peers; the last one is both
//!           | End | Self | PATH                             the end; this item; another item
//! P, L, C ::= PATH                                          a role, a label, a choice or `Self`
//! ```
//!
//! A struct with a role is a root as well. The arguments may end with `crate = "…"`, the path of
//! the runtime. The constructors are recognised by the last segment of their path, so
//! `rumpsteak_runtime::states::Send<…>` is one. Only the last argument of a constructor nests: a
//! session is a *chain* of actions with a tail, and is read and kept as one, without recursion.
//!
//! Nothing is resolved here. Each constructor and each path has the index of its token in the item
//! (see [`canonical`](crate::canonical)), which is how a verdict points at it.

use std::fmt::{self, Display};

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::{Error, Result};

use crate::canonical::{Canonical, Dropped, Key};
pub use crate::path::Path;
use crate::reader::{Reader, default_runtime};

/// A `#[session]` item.
#[derive(Clone, Debug)]
pub struct SessionItem {
    /// The role in `#[session(K)]`. With it the item is a root: it is verified against the
    /// protocol.
    pub role: Option<Path>,
    /// The item's name.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// What the item is.
    pub form: Form,
    /// The attributes of the item, doc comments among them: no verdict depends on them.
    pub attributes: TokenStream,
    /// The visibility of the item.
    pub visibility: TokenStream,
    /// The path of the runtime's crate: that of `crate = "…"`, or `::rumpsteak_runtime`.
    pub krate: TokenStream,
    /// The key to the verdict on the item.
    pub key: Key,
}

/// The three forms of a session item.
#[derive(Clone, Debug)]
pub enum Form {
    /// `type`: transparent, as type aliases are.
    Alias(Chain),
    /// `enum`: the options of a choice.
    Choice(Vec<Variant>),
    /// `struct`: nominal, so that it may be recursive.
    Struct(Chain),
}

/// An option of a choice: `Value(Value, Receive<A, Add, RingB>)`, or `Value(Send<A, Value, End>)`
/// in a choice among peers.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name of the variant.
    pub name: Ident,
    /// The index of the token that is the name.
    pub token: usize,
    /// How it begins.
    pub head: Head,
    /// The session that follows.
    pub then: Chain,
    /// The attributes of the variant, which are doc comments.
    pub attributes: TokenStream,
}

/// How an option of a choice begins.
#[derive(Clone, Debug)]
pub enum Head {
    /// With this label, in a choice towards one peer.
    Label(Path),
    /// With this action, in a choice among peers.
    Action(Action),
}

impl Head {
    /// The label that is sent or received.
    pub fn label(&self) -> &Path {
        match self {
            Self::Label(label) | Self::Action(Action { label, .. }) => label,
        }
    }

    /// The action, in a choice among peers.
    pub fn action(&self) -> Option<&Action> {
        match self {
            Self::Label(_) => None,
            Self::Action(action) => Some(action),
        }
    }
}

/// A session: actions in sequence, then a tail.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The actions, first to last.
    pub actions: Vec<Action>,
    /// What comes after them.
    pub tail: Tail,
}

/// One `Send<P, L, …>` or `Receive<P, L, …>`.
#[derive(Clone, Debug)]
pub struct Action {
    /// Whether it sends or receives.
    pub direction: Direction,
    /// The constructor as written, whose token is the place to report at.
    pub constructor: Path,
    /// The role at the other end.
    pub peer: Path,
    /// The label of the message.
    pub label: Path,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Direction {
    /// The role of the session receives.
    Receive,
    /// The role of the session sends.
    Send,
}

/// How a chain goes on after its actions.
#[derive(Clone, Debug)]
pub enum Tail {
    /// `Select<P, C>`, which sends the chosen label, or `Branch<P, C>`, which receives it; among
    /// peers `Select<C>`, `Branch<C>` and `Race<C>`.
    Choice {
        /// Whether it selects or branches; `None` if it does either, whichever is first.
        direction: Option<Direction>,
        /// The constructor as written.
        constructor: Path,
        /// The role at the other end, unless the options name it.
        peer: Option<Path>,
        /// The `enum` of the options; `Self` in an enum is that enum.
        choice: Path,
    },
    /// `End`, as written.
    End(Path),
    /// `Self`: the struct that the chain is the body of.
    Itself(Path),
    /// Another session item.
    Named(Path),
}

impl SessionItem {
    /// The session of an alias or a struct.
    pub fn chain(&self) -> Option<&Chain> {
        match &self.form {
            Form::Alias(chain) | Form::Struct(chain) => Some(chain),
            Form::Choice(_) => None,
        }
    }

    /// The options of a choice.
    pub fn variants(&self) -> &[Variant] {
        match &self.form {
            Form::Choice(variants) => variants,
            Form::Alias(_) | Form::Struct(_) => &[],
        }
    }

    /// Its session, or those behind its options.
    pub fn chains(&self) -> impl Iterator<Item = &Chain> {
        self.chain().into_iter().chain(self.variants().iter().map(|variant| &variant.then))
    }

    /// Its actions, those of its options first.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        let heads = self.variants().iter().filter_map(|variant| variant.head.action());
        heads.chain(self.chains().flat_map(|chain| &chain.actions))
    }

    /// Parses the arguments of `#[session(…)]`, without the parentheses, and the item that it
    /// stands on.
    ///
    /// # Errors
    ///
    /// At the first token that the grammar does not allow: what is expected there.
    pub fn parse(arguments: TokenStream, item: TokenStream) -> Result<Self> {
        let canonical = Canonical::of_attribute(arguments, item);
        let reader = Reader::new(&canonical);
        reader.whole(|reader| Self::read(reader, &canonical))
    }

    fn read(reader: &mut Reader<'_>, canonical: &Canonical) -> Result<Self> {
        let messages = ["expected arguments", EXPECTED_ARGUMENTS];
        let (role, krate) = reader.group(Delimiter::Parenthesis, messages, arguments)?;
        let item_start = reader.index();
        let visibility = reader.visibility();
        let keyword = reader.index();
        let form = reader.ident(EXPECTED_ITEM)?;
        if form != "type" && form != "struct" && form != "enum" {
            return Err(Error::new(form.span(), EXPECTED_ITEM));
        }
        let name_token = reader.index();
        let name = reader.ident("expected a name")?;
        if reader.at_punct('<') {
            return Err(reader.error(NO_GENERICS));
        }
        check_attributes(canonical, item_start, keyword)?;
        let form = if form == "type" {
            alias(reader)?
        } else if form == "struct" {
            structure(reader)?
        } else if let Some(role) = &role {
            return Err(Error::new(role.span(), ROLE_ON_CHOICE));
        } else {
            choice(reader, canonical)?
        };
        reader.end("expected nothing more in a session")?;
        Ok(Self {
            key: canonical.key(&name),
            role,
            name,
            name_token,
            form,
            attributes: canonical.attributes_before(item_start),
            visibility,
            krate,
        })
    }

    /// The session of an alias or a struct as a text, which is the same for roots that are written
    /// alike.
    pub fn written(&self) -> String {
        self.chain().map(Chain::to_string).unwrap_or_default()
    }
}

impl fmt::Display for Chain {
    /// The session as it is written in source, but for blanks and the closing brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for action in &self.actions {
            write!(f, "{}<{}, {}, ", action.constructor, action.peer, action.label)?;
        }
        match &self.tail {
            Tail::Choice { peer: Some(peer), choice, .. } => {
                write!(f, "{}<{peer}, {choice}>", self.tail.path())
            }
            Tail::Choice { peer: None, choice, .. } => {
                write!(f, "{}<{choice}>", self.tail.path())
            }
            tail => tail.path().fmt(f),
        }
    }
}

/// The role and the path of the runtime.
fn arguments(reader: &mut Reader<'_>) -> Result<(Option<Path>, TokenStream)> {
    if let Some(krate) = reader.runtime()? {
        return Ok((None, krate));
    }
    if reader.at_end() {
        return Ok((None, default_runtime()));
    }
    let role = reader.path(EXPECTED_ARGUMENTS)?;
    reader.eat_punct(',');
    Ok((Some(role), reader.runtime_or_default()?))
}

/// Refuses attributes inside the item: they would change tokens that were verified. Doc comments do
/// not, and the attributes of the item itself see the same tokens.
fn check_attributes(canonical: &Canonical, item_start: usize, keyword: usize) -> Result<()> {
    let is_inside = |dropped: &&Dropped| {
        dropped.before > item_start && (dropped.before <= keyword || dropped.name != "doc")
            || dropped.before < item_start
    };
    match canonical.dropped.iter().find(is_inside) {
        Some(dropped) => Err(Error::new(dropped.tokens[0].span(), NO_INNER_ATTRIBUTES)),
        None => Ok(()),
    }
}

fn alias(reader: &mut Reader<'_>) -> Result<Form> {
    reader.punct('=', "expected `=` and the session that the alias stands for")?;
    let chain = Chain::read(reader)?;
    if let Tail::Itself(path) = &chain.tail {
        return Err(Error::new(path.span(), NO_SELF_IN_ALIAS));
    }
    reader.punct(';', "expected `;` after the session")?;
    Ok(Form::Alias(chain))
}

fn structure(reader: &mut Reader<'_>) -> Result<Form> {
    let messages = [EXPECTED_STRUCT_BODY, "a session struct has one field: the session"];
    let chain = reader.group(Delimiter::Parenthesis, messages, |reader| {
        let chain = Chain::read(reader)?;
        reader.eat_punct(',');
        Ok(chain)
    })?;
    reader.punct(';', "expected `;` after the struct")?;
    if chain.actions.is_empty() && matches!(chain.tail, Tail::Itself(_)) {
        return Err(Error::new(chain.tail.path().span(), ONLY_SELF));
    }
    Ok(Form::Struct(chain))
}

fn choice(reader: &mut Reader<'_>, canonical: &Canonical) -> Result<Form> {
    let messages =
        ["expected `{` and the options of the choice", "expected `,` or `}` after the option"];
    reader.group(Delimiter::Brace, messages, |reader| {
        let variants = reader.list(|reader| Variant::read(reader, canonical))?;
        if variants.is_empty() {
            return Err(
                reader.error("a choice needs at least one option: `Variant(Label, Session)`")
            );
        }
        let among_peers = variants[0].head.action().is_some();
        if let Some(other) = variants.iter().find(|it| it.head.action().is_some() != among_peers) {
            return Err(Error::new(other.head.label().span(), MIXED_OPTIONS));
        }
        Ok(Form::Choice(variants))
    })
}

impl Variant {
    fn read(reader: &mut Reader<'_>, canonical: &Canonical) -> Result<Self> {
        let token = reader.index();
        let name = reader.ident("expected an option of the choice: `Variant(Label, Session)`")?;
        let messages = [
            EXPECTED_OPTION_BODY,
            "an option has two fields: first the label, then the session that follows it",
        ];
        let (head, then) = reader.group(Delimiter::Parenthesis, messages, |reader| {
            let head = Head::read(reader)?;
            let then = Chain::read(reader)?;
            if let Head::Action(_) = head {
                close_angle(reader, EXPECTED_CLOSE)?;
            }
            if let Tail::Itself(path) = &then.tail {
                return Err(Error::new(path.span(), SELF_IS_CHOICE));
            }
            reader.eat_punct(',');
            Ok((head, then))
        })?;
        Ok(Self { name, token, head, then, attributes: canonical.attributes_before(token) })
    }
}

impl Head {
    /// Parses the label, or the action as far as its label, and the `,` behind it.
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let path = reader.path("expected a label")?;
        match Constructor::of(&path) {
            Some(Constructor::Action(direction)) if reader.at_punct('<') => {
                Ok(Self::Action(Action::read(reader, direction, path)?))
            }
            Some(_) if reader.at_punct('<') => Err(Error::new(path.span(), EXPECTED_ACTION)),
            _ => {
                check_label(reader)?;
                reader.punct(',', EXPECTED_OPTION_BODY)?;
                Ok(Self::Label(path))
            }
        }
    }
}

impl Chain {
    /// Parses `S`: actions as long as they go on, then the tail, then the `>` of all actions.
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut actions = Vec::new();
        let tail = loop {
            let path = reader.path(EXPECTED_SESSION)?;
            match Constructor::of(&path) {
                None => break Tail::named(reader, path)?,
                Some(Constructor::End) if reader.at_punct('<') => {
                    return Err(reader.error(NO_ARGUMENTS_OF_END));
                }
                Some(Constructor::End) => break Tail::End(path),
                Some(Constructor::Choice(direction)) => {
                    break Tail::choice(reader, direction, path)?;
                }
                Some(Constructor::Action(_)) if actions.len() == MOST_ACTIONS => {
                    return Err(Error::new(path.span(), TOO_MANY_ACTIONS));
                }
                Some(Constructor::Action(direction)) => {
                    actions.push(Action::read(reader, direction, path)?);
                }
            }
        };
        for _ in &actions {
            close_angle(reader, EXPECTED_CLOSE)?;
        }
        Ok(Self { actions, tail })
    }
}

impl Action {
    /// Parses `<P, L,` after the constructor.
    fn read(reader: &mut Reader<'_>, direction: Direction, constructor: Path) -> Result<Self> {
        let name = constructor.last();
        let usage = format!("{name}<Role, Label, Then>");
        reader.punct('<', format_args!("`{name}` is written `{usage}`"))?;
        let peer = peer(reader)?;
        reader.punct(',', format_args!("expected `,` and the label: `{usage}`"))?;
        let label = reader.path("expected a label")?;
        if Constructor::of(&label).is_some() {
            let missing =
                format!("the role at the other end is missing in front of `{peer}`: `{usage}`");
            let kept =
                format!("its variant keeps that of the protocol: `{0}({0}Message)`", label.last());
            return Err(reserved(reader, &label, ["label", &kept])
                .unwrap_or_else(|| Error::new(label.span(), missing)));
        }
        check_label(reader)?;
        let then = format!(
            "expected the role at the other end, the label and what follows, perhaps `End`: `{usage}`"
        );
        reader.punct(',', then)?;
        Ok(Self { direction, constructor, peer, label })
    }
}

impl Tail {
    fn named(reader: &mut Reader<'_>, path: Path) -> Result<Self> {
        if reader.at_punct('<') {
            return Err(reader.error(format_args!(
                "`{path}` is none of `Send`, `Receive`, `Select`, `Branch` and `Race`, and the name of another session \
                 stands without arguments: `#[session]` adds those that it needs"
            )));
        }
        Ok(match path.as_ident() {
            Some(ident) if ident == "Self" => Self::Itself(path),
            _ => Self::Named(path),
        })
    }

    fn choice(
        reader: &mut Reader<'_>,
        direction: Option<Direction>,
        constructor: Path,
    ) -> Result<Self> {
        let name = constructor.last();
        let usage = match direction {
            Some(_) => format!("`{name}` is written `{name}<Role, Choice>`, or `{name}<Choice>`"),
            None => format!("`{name}` is written `{name}<Choice>`"),
        };
        reader.punct('<', &usage)?;
        let first = peer(reader)?;
        let is_choice = Constructor::of(&first).is_some() || reader.at_punct('<');
        let kept = "its `#[protocol(…)]` keeps that of the protocol";
        if is_choice && let Some(error) = reserved(reader, &first, ["role", kept]) {
            return Err(error);
        }
        let (peer, choice) = if !is_choice && reader.eat_punct(',') && !reader.at_punct('>') {
            let expected = "expected the name of the `#[session] enum` with the options";
            (Some(first), reader.path(expected)?)
        } else {
            (None, first)
        };
        if Constructor::of(&choice).is_some() || reader.at_punct('<') {
            return Err(Error::new(choice.span(), EXPECTED_CHOICE));
        }
        if let (None, Some(peer)) = (direction, &peer) {
            return Err(Error::new(peer.span(), usage));
        }
        let single = match direction {
            Some(Direction::Send) => "`Send<Role, Label, Then>`",
            _ => "`Receive<Role, Label, Then>`",
        };
        close_angle(
            reader,
            format_args!(
                "{usage}: the options are the variants of that `#[session] enum`, and one message alone is {single}"
            ),
        )?;
        Ok(Self::Choice { direction, constructor, peer, choice })
    }

    /// The path with which the tail begins: the place to report at.
    pub fn path(&self) -> &Path {
        match self {
            Self::Choice { constructor, .. } => constructor,
            Self::End(path) | Self::Itself(path) | Self::Named(path) => path,
        }
    }
}

/// Expects `>`, after a trailing comma perhaps.
fn close_angle(reader: &mut Reader<'_>, message: impl Display) -> Result<()> {
    reader.eat_punct(',');
    reader.punct('>', message)
}

fn peer(reader: &mut Reader<'_>) -> Result<Path> {
    if reader.at_punct('\'') || reader.at_ident("_") {
        return Err(reader.error(
            "expected the role at the other end: `#[session]` adds the lifetime and its own role",
        ));
    }
    reader.path("expected the role at the other end")
}

/// The error for a word of sessions that stands where a role or label does, with more behind it.
/// `None` if it may be meant as that word.
fn reserved(reader: &mut Reader<'_>, word: &Path, [what, kept]: [&str; 2]) -> Option<Error> {
    let is_name = reader.eat_punct(',') && !reader.at_punct('>') && !reader.at_end();
    is_name.then(|| {
        let text = format!(
            "`{word}` is a word of sessions, so no {what} can have this name here\n\n\
             help: give the struct another name; {kept}"
        );
        Error::new(word.span(), text)
    })
}

fn check_label(reader: &Reader<'_>) -> Result<()> {
    if reader.at_punct('<') {
        return Err(reader.error(NO_GENERIC_LABEL));
    }
    if reader.at_group(Delimiter::Parenthesis) {
        return Err(reader.error(NO_PAYLOAD));
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Constructor {
    Action(Direction),
    Choice(Option<Direction>),
    End,
}

impl Constructor {
    fn of(path: &Path) -> Option<Self> {
        Some(match path.last().to_string().as_str() {
            "Branch" => Self::Choice(Some(Direction::Receive)),
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
/// How many actions one item nests: at more, rustc overflows its stack.
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
const EXPECTED_CLOSE: &str = "expected `>` after the session that follows";
const MIXED_OPTIONS: &str = "either all options of a choice name a peer, `Variant(Send<Role, Label, Then>)`, or none does, \
                             `Variant(Label, Then)`";
const NO_ARGUMENTS_OF_END: &str =
    "`End` is written without arguments: `#[session]` adds what it needs";
const ONLY_SELF: &str = "this session is itself and nothing else: it needs an action before `Self`";
const NO_GENERIC_LABEL: &str =
    "a label is a type without arguments: give this one a name of its own";
const NO_GENERICS: &str =
    "a session is written without parameters: `#[session]` adds the lifetime and the role";
const NO_INNER_ATTRIBUTES: &str = "no attributes inside a session: put `#[cfg(…)]` on the whole item, and write the \
                                   item once for each case";
const NO_PAYLOAD: &str = "a session names the label alone: what it carries stands in its `struct`";
const NO_SELF_IN_ALIAS: &str = "a `type` alias cannot name itself: below the same attribute, write `struct Name(…);` and `Self`";
const ROLE_ON_CHOICE: &str = "a choice is a part of a session and no session by itself: put the role on the `type` or \
                              `struct` that selects or branches with it";
const TOO_MANY_ACTIONS: &str = "more than 2,000 actions in one item, which is too deep for rustc: from here on, write another \
                                `#[session] type` and its name here";
const SELF_IS_CHOICE: &str = "`Self` is this choice, which is no session by itself: write `Select<Role, Self>` or \
                              `Branch<Role, Self>`, or name a session";
