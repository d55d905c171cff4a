//! The syntax tree of a module.
//!
//! All interactions of a protocol are in one table, [`Body`], and blocks refer to them by id. A
//! file may nest a hundred thousand choices; dropping or comparing a tree of boxes would overflow
//! the stack.

use std::fmt;

use crate::diagnostics::{Name, Span};
use crate::index::index;

/// One source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// `module shop.Orders;`
    pub header: Option<Name>,
    /// `import shop.Base as B;`, in order.
    pub imports: Vec<Import>,
    /// `type`, `data` and `sig` declarations, in order.
    pub declarations: Vec<Declaration>,
    /// Protocols, in order.
    pub protocols: Vec<ProtocolDecl>,
    /// True if all declarations could be read. Otherwise an unknown name may be declared in the
    /// part that was lost.
    pub complete: bool,
    /// The whole text.
    pub span: Span,
}

impl Module {
    /// Finds the declaration of the sort `name`. For example `type <rust> "String" from "std" as
    /// Str;` declares `Str`. A sort without a declaration is the Rust type of the same name. If
    /// several languages declare the sort, the declaration for Rust is found.
    pub fn sort(&self, name: &str) -> Option<&Declaration> {
        let sorts = self.declarations.iter();
        let of_name = |found: &&Declaration| {
            found.kind == DeclarationKind::Payload && found.name.as_str() == name
        };
        sorts.filter(of_name).min_by_key(|found| found.schema.as_str() != "rust")
    }
}

/// `import shop.Base as B;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The full name of the module.
    pub module: Name,
    /// Its name here.
    pub alias: Option<Name>,
    /// The whole import.
    pub span: Span,
}

/// The kind of a [`Declaration`] or a [`Parameter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclarationKind {
    /// `type` or `data`: a sort.
    Payload,
    /// `sig`: a message.
    Signature,
}

/// `type <rust> "std::string::String" from "std" as Str;`, or the same with `data` or `sig`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// A sort or a message.
    pub kind: DeclarationKind,
    /// The language of the external name: `rust`.
    pub schema: Name,
    /// The external name without its quotes: `std::string::String`.
    pub external: Name,
    /// The source of the external name, without quotes.
    pub from: Option<Name>,
    /// Its name in protocols.
    pub name: Name,
    /// The whole declaration.
    pub span: Span,
}

/// `global protocol P(role A, role B) { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolDecl {
    /// Its name.
    pub name: Name,
    /// `aux`: only called by others.
    pub auxiliary: bool,
    /// `explicit`: no roles are connected at first.
    pub explicit: bool,
    /// `<sig M, type T>`
    pub parameters: Vec<Parameter>,
    /// The roles, in order.
    pub roles: Vec<RoleDecl>,
    /// Its interactions.
    pub body: Body,
    /// From the first modifier to the last brace.
    pub span: Span,
}

/// `role A`, `role A as B`, the family `role A[N]`, or the ring `role B[A]` of that family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleDecl {
    /// The name of the role.
    pub name: Name,
    /// A second name for it in the body.
    pub alias: Option<Name>,
    /// The number of members of a family: `4`, or a name such as `N` for a number that is given
    /// when the roles are made. For a ring, the name of its family.
    pub members: Option<Name>,
}

impl ProtocolDecl {
    /// The position of the role that is connected by a ring: `role next[worker]`.
    pub(crate) fn connected_by(&self, ring: &RoleDecl) -> Option<usize> {
        let name = ring.members.as_ref()?;
        self.roles.iter().position(|role| role.name.text == name.text)
    }
}

/// `sig M`, `type T`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// A message or a sort.
    pub kind: DeclarationKind,
    /// Its name.
    pub name: Name,
}

/// An [`Interaction`] of one [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InteractionId(pub(crate) u32);

/// A block `{ … }` of one [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(crate) u32);

/// The interactions of a protocol: a forest in two tables. Each interaction belongs to exactly one
/// block. Each block except the root belongs to exactly one interaction, with a smaller number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub(crate) interactions: Vec<Interaction>,
    /// The root first.
    pub(crate) blocks: Vec<Vec<InteractionId>>,
}

impl Body {
    /// The outermost block.
    pub fn root(&self) -> BlockId {
        BlockId(0)
    }

    /// The interactions of a block, in order.
    ///
    /// # Panics
    /// If `id` belongs to another body.
    pub fn block(&self, id: BlockId) -> &[InteractionId] {
        &self.blocks[id.0 as usize]
    }

    /// Looks up an interaction.
    ///
    /// # Panics
    /// If `id` belongs to another body.
    pub fn interaction(&self, id: InteractionId) -> &Interaction {
        &self.interactions[id.0 as usize]
    }

    pub(crate) fn push(&mut self, block: BlockId, interaction: Interaction) -> InteractionId {
        let id = InteractionId(index(self.interactions.len()));
        self.blocks[block.0 as usize].push(id);
        self.interactions.push(interaction);
        id
    }

    /// The branches in recursions that end with a message, in the order of the text: once for each
    /// of the recursions around a branch, the innermost first.
    pub(crate) fn endings(&self) -> Vec<Ending> {
        /// The greatest number of recursions around one branch that are listed.
        const MOST: usize = 4;
        let (mut again, mut around) =
            (vec![None; self.blocks.len()], vec![None; self.blocks.len()]);
        let (mut ends, mut work) = (Vec::new(), vec![(self.root(), None)]);
        while let Some((block, within)) = work.pop() {
            let mut last = None;
            for &id in self.block(block) {
                let Interaction { kind, span, .. } = self.interaction(id);
                match (kind, within) {
                    (InteractionKind::Choice { branches, .. }, _) => {
                        work.extend(branches.iter().map(|&branch| (branch, within)));
                    }
                    (InteractionKind::Rec { variable, body }, _) => {
                        around[body.0 as usize] = within;
                        work.push((*body, Some((*body, variable))));
                    }
                    (InteractionKind::Continue { variable }, Some((body, name)))
                        if variable.text == name.text =>
                    {
                        again[body.0 as usize] = last.or(again[body.0 as usize]);
                    }
                    _ => {}
                }
                last = matches!(kind, InteractionKind::Message { .. }).then_some(*span);
            }
            let outer = |(body, _): &(BlockId, &Name)| around[body.0 as usize];
            let all = std::iter::successors(within, outer).take(MOST);
            ends.extend(last.into_iter().flat_map(|last| all.clone().map(move |rec| (rec, last))));
        }
        ends.sort_by_key(|&(_, last)| last);
        let ending = |((body, name), last): ((BlockId, &Name), Span)| Ending {
            variable: name.clone(),
            again: again[body.0 as usize],
            last,
        };
        ends.into_iter().map(ending).collect()
    }

    /// All interactions, in the order of the text.
    pub fn interactions(&self) -> impl Iterator<Item = (InteractionId, &Interaction)> {
        (0..).map(InteractionId).zip(&self.interactions)
    }
}

/// A branch in a recursion that ends with a message.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) variable: Name,
    /// The message before a `continue` of the recursion, if there is one.
    pub(crate) again: Option<Span>,
    pub(crate) last: Span,
}

/// One interaction, with its annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interaction {
    /// Its kind.
    pub kind: InteractionKind,
    /// The texts of `@"text"` behind it, without the quotes.
    pub annotations: Vec<Name>,
    /// From its first token to its `;`, or its heading if it has blocks.
    pub span: Span,
}

impl Interaction {
    /// The labels in `@"depends: a, b"`, each with its annotation. `None` without such an
    /// annotation.
    pub fn dependencies(&self) -> Option<Vec<(&Name, &str)>> {
        let mut found = None;
        for annotation in &self.annotations {
            let Some(labels) = annotation.as_str().trim().strip_prefix("depends:") else {
                continue;
            };
            let labels = labels.split(',').map(str::trim).filter(|label| !label.is_empty());
            found.get_or_insert_with(Vec::new).extend(labels.map(|label| (annotation, label)));
        }
        found
    }
}

/// The kinds of an [`Interaction`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InteractionKind {
    /// `buy(Int) from A to B, C;`, `buy(Int) from each W to A;`, `buy(Int) connect A to B;`,
    /// `disconnect A and B;`
    Message {
        /// `buy(Int)`; without a message of its own, `connect()` or `disconnect()`.
        message: MessageExpr,
        /// `A`
        from: Name,
        /// `B, C`: at least one.
        to: Vec<Name>,
        /// The places of the names above that have `each` or `some` before them.
        each: Vec<Span>,
        /// The effect on the connection of the two.
        link: Link,
    },
    /// `choice at A { … } or { … }`
    Choice {
        /// The role that decides.
        at: Name,
        /// At least one.
        branches: Vec<BlockId>,
    },
    /// `rec X { … }`
    Rec {
        /// Its name for `continue`.
        variable: Name,
        /// The block that repeats.
        body: BlockId,
    },
    /// `continue X;`
    Continue {
        /// The name of the recursion.
        variable: Name,
    },
    /// `do P<…>(A, B);`, or `do P(A as X, B as Y);`
    Do {
        /// The protocol that is called.
        protocol: Name,
        /// Messages and sorts.
        arguments: Vec<MessageExpr>,
        /// The roles of this protocol that play its roles, each with the role that it plays if
        /// that is written.
        roles: Vec<(Name, Option<Name>)>,
    },
    /// `par { … } and { … }`
    Par {
        /// At least one.
        parts: Vec<BlockId>,
    },
    /// `interruptible { … } with { cancel() by A; }`
    Interruptible {
        /// The block that may be interrupted.
        body: BlockId,
        /// The roles that may interrupt it, with their messages: at least one.
        interrupts: Vec<Interrupt>,
    },
    /// A part that could not be read or is not supported. [`parse`](crate::parse) has reported it.
    Invalid,
}

impl InteractionKind {
    pub(crate) fn blocks(&self) -> &[BlockId] {
        match self {
            Self::Choice { branches: blocks, .. } | Self::Par { parts: blocks } => blocks,
            Self::Rec { body, .. } | Self::Interruptible { body, .. } => std::slice::from_ref(body),
            _ => &[],
        }
    }
}

/// The effect of an interaction on the connection of its two roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// `from A to B`: needs a connection.
    Needs,
    /// `from A to some W`: with the member that `A` chooses. `from some W to A`: with that member.
    Asks,
    /// `connect A to B`: makes a connection.
    Opens,
    /// `disconnect A and B`: ends a connection, and sends nothing.
    Closes,
}

impl Link {
    /// True if it neither makes a connection nor ends one.
    pub(crate) fn only_sends(self) -> bool {
        matches!(self, Self::Needs | Self::Asks)
    }
}

/// `cancel() by A via B, C answered cancelled();`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// `cancel()`
    pub message: MessageExpr,
    /// `A`
    pub by: Name,
    /// `B, C`: the roles that `A` tells. Empty if it tells all others.
    pub via: Vec<Name>,
    /// `cancelled()`, or `None` if the answer is the interrupt itself.
    pub answer: Option<MessageExpr>,
}

/// A message that is sent, or an argument of `do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageExpr {
    /// `buy(Int, String)`, `ok()`, `(Int)`.
    Literal {
        /// The label; empty for `(Int)`.
        label: Name,
        /// Its payload.
        payload: Vec<Payload>,
    },
    /// `Cancel`: a declared message, a parameter, or a label without a payload.
    Named(Name),
}

impl MessageExpr {
    /// The whole expression.
    pub fn span(&self) -> Span {
        match self {
            Self::Literal { label, payload } => {
                payload.last().map_or(label.span, |last| label.span.to(last.span()))
            }
            Self::Named(name) => name.span,
        }
    }
}

/// Its source text: `buy(x: Int, P@A)`, `Cancel`
impl fmt::Display for MessageExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "{name}"),
            Self::Literal { label, payload } => {
                let payload: Vec<String> = payload.iter().map(Payload::to_string).collect();
                write!(f, "{label}({})", payload.join(", "))
            }
        }
    }
}

/// `Int`, `x: Int`, or the delegation of a session `P@A`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// `x`, which only documents.
    pub name: Option<Name>,
    /// `Int`, or the protocol `P` of a delegation.
    pub sort: Name,
    /// The role `A` of a delegation.
    pub delegated: Option<Name>,
}

impl Payload {
    /// The whole element.
    pub fn span(&self) -> Span {
        let first = self.name.as_ref().unwrap_or(&self.sort);
        first.span.to(self.delegated.as_ref().unwrap_or(&self.sort).span)
    }
}

/// Its source text: `Int`, `x: Int`, `P@A`
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.iter().try_for_each(|name| write!(f, "{name}: "))?;
        write!(f, "{}", self.sort)?;
        self.delegated.iter().try_for_each(|role| write!(f, "@{role}"))
    }
}
