//! The grammar of sessions.
//!
//! ```text
//! item    ::= #[session(K)] vis type NAME = S ;             a root: the session of the role K
//!           | #[session] vis type NAME = S ;                a name for a part of a session
//!           | #[session] vis struct NAME ( S ) ;            the same, and may call itself: `Self`
//!           | #[session] vis enum NAME { V ( L , S ) , … }  a choice: one variant for each label
//!           | #[session] vis enum NAME { V ( A ) , … }      a choice among peers: each variant names one
//! A       ::= Send < P , L , S > | Receive < P , L , S >    one action, then the rest
//! S       ::= A | Select < P , C > | Branch < P , C >       an internal, an external choice
//!           | Select < C > | Branch < C > | Race < C >      the same among peers; the last one is both
//!           | End | Self | NAME                             the end; this item; another item
//! P, L, C ::= NAME                                          a role, a label, a choice or `Self`
//! ```
//!
//! A struct with a role is a root as well. Every name means the item of the module that has it.
//! Only the last argument of a constructor nests: a session is a *chain* of actions with a tail,
//! and is read and kept as a chain, without recursion.

use std::fmt;

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Error, Result, Visibility};

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

/// The three forms of a session item.
#[derive(Clone)]
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
#[derive(Clone)]
pub struct Variant {
    /// The name of the variant.
    pub name: Ident,
    /// The label or the action with which the option begins.
    pub head: Head,
    /// The session that follows.
    pub then: Chain,
    /// The attributes of the variant.
    pub attributes: Vec<Attribute>,
}

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
        match self {
            Self::Label(_) => None,
            Self::Action(action) => Some(action),
        }
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
    /// peers `Select<C>`, `Branch<C>` and `Race<C>`.
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
}

impl SessionItem {
    /// Returns the session of an alias or a struct.
    pub fn chain(&self) -> Option<&Chain> {
        match &self.form {
            Form::Alias(chain) | Form::Struct(chain) => Some(chain),
            Form::Choice(_) => None,
        }
    }

    /// Returns the options of a choice.
    pub fn variants(&self) -> &[Variant] {
        match &self.form {
            Form::Choice(variants) => variants,
            Form::Alias(_) | Form::Struct(_) => &[],
        }
    }

    /// Iterates over the session of the item, or over the sessions behind its options.
    pub fn chains(&self) -> impl Iterator<Item = &Chain> {
        self.chain().into_iter().chain(self.variants().iter().map(|variant| &variant.then))
    }

    /// Iterates over all actions, those of options first.
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

    /// Parses an item with its attributes.
    ///
    /// # Errors
    ///
    /// At the first token that the grammar does not allow: what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        Err(Error::new_spanned(item, "not yet"))
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
        match &self.tail {
            Tail::Choice { constructor, peer: Some(peer), choice, .. } => {
                write!(f, "{constructor}<{peer}, {choice}>")
            }
            Tail::Choice { constructor, peer: None, choice, .. } => {
                write!(f, "{constructor}<{choice}>")
            }
            tail => tail.ident().fmt(f),
        }
    }
}
