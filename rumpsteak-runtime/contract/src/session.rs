//! The grammar of `#[session]` items.
//!
//! ```text
//! item    ::= #[session(PATH)] vis type NAME = S ;            a root: the session that the role PATH plays
//!           | #[session] vis type NAME = S ;                  a name for a part of a session
//!           | #[session] vis struct NAME ( S ) ;              the same, and may call itself: `Self`
//!           | #[session] vis enum NAME { V ( L , S ) , … }    a choice: one variant for each label
//! S       ::= Send < P , L , S > | Receive < P , L , S >      one action, then the rest
//!           | Select < P , C > | Branch < P , C >             an internal, an external choice
//!           | End | Self | PATH                               no more; from the start; as the other alias says
//! P, L, C ::= PATH                                            a role, a label, a choice (also `Self` in an enum)
//! ```
//!
//! A role may be given to a struct as well, which then is a root. The constructors are recognised by the last segment
//! of their path, so `rumpsteak_runtime::Send<…>` is one. Only the last argument of a constructor nests: a session is
//! a *chain* of actions with a tail, and is read and kept as one, without recursion whatever its length.
//!
//! Nothing is resolved here. Each constructor and each path knows the index of its token in the item
//! (see [`token`](crate::token)), which is how a verdict points at it.

use crate::error::{Error, Result};
use crate::parser::Parser;
pub use crate::parser::Path;
use crate::token::{Delimiter, Dropped, Flat, Ident, Key, Span, Token};

/// A `#[session]` item.
#[derive(Clone, Debug)]
pub struct SessionItem {
    /// The role in `#[session(K)]`: the item is a root, to be verified against what the protocol asks of this role.
    pub role: Option<Path>,
    /// The item's name.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// What the item is.
    pub form: Form,
    /// The canonical tokens, starting with the arguments of the attribute.
    key: Key,
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

/// An option of a choice: `Value(Value, Receive<A, Add, RingB>)`.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name of the variant.
    pub name: Ident,
    /// The index of the token that is the name.
    pub token: usize,
    /// The label that is sent or received.
    pub label: Path,
    /// The session that follows.
    pub then: Chain,
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
    /// The index of the constructor's last segment.
    pub token: usize,
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
    /// `Select<P, C>` (the role sends the label that it chooses) or `Branch<P, C>` (it receives what `P` chose).
    Choice {
        /// Whether it selects or branches.
        direction: Direction,
        /// The constructor as written.
        constructor: Path,
        /// The index of the constructor's last segment.
        token: usize,
        /// The role at the other end.
        peer: Path,
        /// The `enum` of the options; `Self` in an enum is that enum.
        choice: Path,
    },
    /// `End`.
    End {
        /// `End` as written.
        constructor: Path,
        /// The index of its last segment.
        token: usize,
    },
    /// `Self`: the struct that the chain is the body of.
    Itself {
        /// The index of the token.
        token: usize,
        /// Where it stands.
        span: Span,
    },
    /// Another session item.
    Named(Path),
}

impl SessionItem {
    /// Parses the arguments of `#[session(…)]`, without the parentheses, and the item that it stands on.
    ///
    /// # Errors
    ///
    /// At the first token that the grammar does not allow, with what is expected there and what to write instead.
    pub fn parse(arguments: &[Token<'_>], item: &[Token<'_>]) -> Result<Self> {
        let flat = Flat::of_attribute(arguments, item);
        let mut parser = Parser::new(&flat.tokens);
        let role = parse_arguments(&mut parser)?;
        let item_start = parser.index();

        parser.visibility();
        let keyword = parser.index();
        let form = match parser.ident(EXPECTED_ITEM)? {
            ident if ident == "type" => Keyword::Type,
            ident if ident == "struct" => Keyword::Struct,
            ident if ident == "enum" => Keyword::Enum,
            ident => return Err(Error::new(ident.span(), EXPECTED_ITEM)),
        };
        let name_token = parser.index();
        let name = parser.ident("expected a name")?;
        if parser.at_punct('<') {
            return Err(parser.error(NO_GENERICS));
        }

        check_attributes(&flat.dropped, item_start, keyword)?;
        let form = match form {
            Keyword::Type => parse_alias(&mut parser)?,
            Keyword::Struct => parse_struct(&mut parser)?,
            Keyword::Enum => {
                if let Some(role) = &role {
                    return Err(Error::new(role.span(), ROLE_ON_CHOICE));
                }
                parse_choice(&mut parser)?
            }
        };
        if !parser.at_end() {
            return Err(parser.error("expected nothing more in a session"));
        }
        Ok(Self {
            role,
            name,
            name_token,
            form,
            key: Key::of(&flat.tokens),
        })
    }

    /// The hash of the canonical tokens: the key to the item's verdict.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.key.hash()
    }

    /// What the item stands for as a text: two roots with one text are written alike, but for their names.
    #[must_use]
    pub fn written(&self) -> String {
        let (Form::Alias(chain) | Form::Struct(chain)) = &self.form else {
            return String::new();
        };
        let mut text = String::new();
        for action in &chain.actions {
            let Action {
                constructor,
                peer,
                label,
                ..
            } = action;
            text.push_str(&format!("{constructor}<{peer}, {label}, "));
        }
        text.push_str(&match &chain.tail {
            Tail::Choice {
                constructor,
                peer,
                choice,
                ..
            } => format!("{constructor}<{peer}, {choice}>"),
            Tail::End { constructor, .. } => constructor.to_string(),
            Tail::Itself { .. } => "Self".to_owned(),
            Tail::Named(path) => path.to_string(),
        });
        text
    }

    /// The place of a token of the item, to report at; the item's name where there is no such token.
    #[must_use]
    pub fn span_of(&self, token: usize) -> Span {
        self.key.span_of(token, &self.name)
    }
}

#[derive(Clone, Copy)]
enum Keyword {
    Enum,
    Struct,
    Type,
}

fn parse_arguments(parser: &mut Parser<'_, '_>) -> Result<Option<Path>> {
    parser.open(Delimiter::Parenthesis, "expected arguments")?;
    let role = if parser.at_close() {
        None
    } else {
        Some(parser.path(EXPECTED_ROLE_ARGUMENT)?)
    };
    parser.close(EXPECTED_ROLE_ARGUMENT)?;
    Ok(role)
}

/// The attributes of the item itself; those of variants are checked where the variant is.
fn check_attributes(dropped: &[Dropped<'_>], item_start: usize, keyword: usize) -> Result<()> {
    for attribute in dropped
        .iter()
        .take_while(|attribute| attribute.before <= keyword)
    {
        if attribute.before > item_start {
            return Err(Error::new(attribute.span, NO_INNER_ATTRIBUTES));
        }
    }
    // Whatever an attribute inside the item does, it would do it to tokens other than those that were verified. Doc
    // comments do nothing.
    match dropped
        .iter()
        .find(|attribute| attribute.before > keyword && attribute.name != "doc")
    {
        Some(attribute) => Err(Error::new(attribute.span, NO_INNER_ATTRIBUTES)),
        None => Ok(()),
    }
}

fn parse_alias(parser: &mut Parser<'_, '_>) -> Result<Form> {
    parser.punct(
        '=',
        "expected `=` and the session that the alias stands for",
    )?;
    let chain = parse_chain(parser)?;
    if let Tail::Itself { span, .. } = chain.tail {
        return Err(Error::new(span, NO_SELF_IN_ALIAS));
    }
    parser.punct(';', "expected `;` after the session")?;
    Ok(Form::Alias(chain))
}

fn parse_struct(parser: &mut Parser<'_, '_>) -> Result<Form> {
    parser.open(Delimiter::Parenthesis, EXPECTED_STRUCT_BODY)?;
    let chain = parse_chain(parser)?;
    parser.eat_punct(',');
    parser.close("a session struct has one field: the session")?;
    parser.punct(';', "expected `;` after the struct")?;
    if chain.actions.is_empty() && matches!(chain.tail, Tail::Itself { .. }) {
        let span = chain.tail.span();
        return Err(Error::new(
            span,
            "this session is itself and nothing else: it needs an action before `Self`",
        ));
    }
    Ok(Form::Struct(chain))
}

fn parse_choice(parser: &mut Parser<'_, '_>) -> Result<Form> {
    parser.open(
        Delimiter::Brace,
        "expected `{` and the options of the choice",
    )?;
    let mut variants = Vec::new();
    while !parser.at_close() {
        let token = parser.index();
        let name = parser.ident("expected an option of the choice: `Variant(Label, Session)`")?;
        parser.open(Delimiter::Parenthesis, EXPECTED_OPTION_BODY)?;
        let label = parse_label(parser)?;
        parser.punct(',', EXPECTED_OPTION_BODY)?;
        let then = parse_chain(parser)?;
        if let Tail::Itself { span, .. } = then.tail {
            return Err(Error::new(span, SELF_IS_CHOICE));
        }
        parser.eat_punct(',');
        parser.close("an option has two fields: the label and the session that follows it")?;
        variants.push(Variant {
            name,
            token,
            label,
            then,
        });
        if !parser.eat_punct(',') {
            break;
        }
    }
    if variants.is_empty() {
        return Err(parser.error("a choice needs at least one option: `Variant(Label, Session)`"));
    }
    parser.close("expected `,` or `}` after the option")?;
    Ok(Form::Choice(variants))
}

/// Parses `S`: actions as long as they go on, then the tail, then the `>` of all actions.
fn parse_chain(parser: &mut Parser<'_, '_>) -> Result<Chain> {
    let mut actions = Vec::new();
    let tail = loop {
        let path = parser.path(EXPECTED_SESSION)?;
        let token = last_token(&path);
        let Some(constructor) = Constructor::of(&path) else {
            if parser.at_punct('<') {
                return Err(parser.error(format_args!(
                    "`{path}` is written without arguments here: `#[session]` adds those that it needs"
                )));
            }
            match path.as_ident() {
                Some(ident) if ident == "Self" => {
                    break Tail::Itself {
                        token,
                        span: ident.span(),
                    };
                }
                _ => break Tail::Named(path),
            }
        };
        match constructor {
            Constructor::End => {
                if parser.at_punct('<') {
                    return Err(parser.error(
                        "`End` is written without arguments: `#[session]` adds what it needs",
                    ));
                }
                break Tail::End {
                    constructor: path,
                    token,
                };
            }
            Constructor::Action(direction) => {
                parser.punct(
                    '<',
                    format_args!("`{0}` is written `{0}<Role, Label, Then>`", path.last()),
                )?;
                let peer = parse_peer(parser)?;
                parser.punct(
                    ',',
                    format_args!(
                        "expected `,` and the label: `{}<Role, Label, Then>`",
                        path.last()
                    ),
                )?;
                let label = parse_label(parser)?;
                parser.punct(
                    ',',
                    format_args!(
                        "expected `,` and what follows: `{}<Role, Label, Then>`, perhaps `End`",
                        path.last()
                    ),
                )?;
                actions.push(Action {
                    direction,
                    constructor: path,
                    token,
                    peer,
                    label,
                });
            }
            Constructor::Choice(direction) => {
                parser.punct(
                    '<',
                    format_args!("`{0}` is written `{0}<Role, Choice>`", path.last()),
                )?;
                let peer = parse_peer(parser)?;
                parser.punct(
                    ',',
                    format_args!(
                        "expected `,` and the choice: `{}<Role, Choice>`",
                        path.last()
                    ),
                )?;
                let choice =
                    parser.path("expected the name of the `#[session] enum` with the options")?;
                if Constructor::of(&choice).is_some() || parser.at_punct('<') {
                    return Err(Error::new(choice.span(), EXPECTED_CHOICE));
                }
                close_angle(parser, "expected `>` after the choice")?;
                break Tail::Choice {
                    direction,
                    constructor: path,
                    token,
                    peer,
                    choice,
                };
            }
        }
    };
    for _ in &actions {
        close_angle(parser, "expected `>` after the session that follows")?;
    }
    Ok(Chain { actions, tail })
}

/// Expects `>`, after a trailing comma perhaps.
fn close_angle(parser: &mut Parser<'_, '_>, message: &str) -> Result<()> {
    parser.eat_punct(',');
    parser.punct('>', message)
}

fn parse_peer(parser: &mut Parser<'_, '_>) -> Result<Path> {
    if parser.at_punct('\'') || parser.at_ident("_") {
        return Err(parser.error(
            "expected the role at the other end: `#[session]` adds the lifetime and its own role",
        ));
    }
    parser.path("expected the role at the other end")
}

fn parse_label(parser: &mut Parser<'_, '_>) -> Result<Path> {
    let label = parser.path("expected a label")?;
    if parser.at_punct('<') {
        return Err(
            parser.error("a label is a type without arguments: give this one a name of its own")
        );
    }
    Ok(label)
}

/// The index of a path's last segment: each segment before it is three tokens, `name`, `:` and `:`.
fn last_token(path: &Path) -> usize {
    path.token + usize::from(path.leading_colon) * 2 + (path.segments.len() - 1) * 3
}

impl Path {
    /// The index of the last segment's token, the one that a message about the path points at.
    #[must_use]
    pub fn last_token(&self) -> usize {
        last_token(self)
    }
}

impl Chain {
    /// The index of the token with which the chain begins to say something: its first constructor, or its tail.
    #[must_use]
    pub fn first_token(&self) -> usize {
        self.actions
            .first()
            .map_or_else(|| self.tail.token(), |action| action.token)
    }
}

impl Tail {
    /// The index of the token to report at.
    #[must_use]
    pub fn token(&self) -> usize {
        match self {
            Self::Choice { token, .. } | Self::End { token, .. } | Self::Itself { token, .. } => {
                *token
            }
            Self::Named(path) => path.last_token(),
        }
    }

    /// The place to report at.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Choice { constructor, .. } | Self::End { constructor, .. } => constructor.span(),
            Self::Itself { span, .. } => *span,
            Self::Named(path) => path.span(),
        }
    }
}

#[derive(Clone, Copy)]
enum Constructor {
    Action(Direction),
    Choice(Direction),
    End,
}

impl Constructor {
    fn of(path: &Path) -> Option<Self> {
        let name = path.last();
        [
            ("Branch", Self::Choice(Direction::Receive)),
            ("End", Self::End),
            ("Receive", Self::Action(Direction::Receive)),
            ("Select", Self::Choice(Direction::Send)),
            ("Send", Self::Action(Direction::Send)),
        ]
        .into_iter()
        .find_map(|(text, constructor)| (name == text).then_some(constructor))
    }
}

const EXPECTED_ITEM: &str = "`#[session]` stands on a `type` alias, on a tuple `struct` with one field, or on an \
                             `enum` of options";
const EXPECTED_ROLE_ARGUMENT: &str =
    "expected nothing or the role that plays this session: `#[session(K)]`";
const EXPECTED_SESSION: &str = "expected a session: `Send<…>`, `Receive<…>`, `Select<…>`, `Branch<…>`, `End`, or the \
                                name of another `#[session]` item";
const EXPECTED_STRUCT_BODY: &str =
    "expected the session in parentheses: `struct Name(Send<Role, Label, Self>);`";
const EXPECTED_OPTION_BODY: &str = "an option is written `Variant(Label, Session)`";
const EXPECTED_CHOICE: &str =
    "a choice is the name of a `#[session] enum`: write the options there";
const NO_GENERICS: &str =
    "a session is written without parameters: `#[session]` adds the lifetime and the role";
const NO_INNER_ATTRIBUTES: &str = "no attributes inside a session: put `#[cfg(…)]` on the whole item, and write the \
                                   item once for each case";
const NO_SELF_IN_ALIAS: &str =
    "a `type` alias cannot name itself: write `#[session] struct Name(…);` and `Self`";
const ROLE_ON_CHOICE: &str = "a choice is a part of a session and no session by itself: put the role on the `type` or \
                              `struct` that selects or branches with it";
const SELF_IS_CHOICE: &str = "`Self` is this choice, which is no session by itself: write `Select<Role, Self>` or \
                              `Branch<Role, Self>`, or name a session";
