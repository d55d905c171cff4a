//! Protocols in which every name is a number.
//!
//! Each protocol is a flat table of [`Node`]s, and every node knows what follows it. So the later
//! passes follow numbers and need neither names nor recursion.

use rumpsteak_fsm::{Label, Message, Sort};

use crate::diagnostics::Span;
use crate::index::{IndexSet, NONE, index, leads_to};
use crate::syntax::ast::{Link, Module, ProtocolDecl};

/// The node behind the last interaction of a protocol.
pub(crate) const END: u32 = NONE;

#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) module: Module,
    /// The position of each imported module, unless it could not be loaded.
    pub(crate) imports: Vec<Option<usize>>,
}

pub(crate) struct Program<'m> {
    pub(crate) protocols: Vec<ResolvedProtocol<'m>>,
    /// Every message that occurs, once.
    pub(crate) messages: IndexSet<Message>,
}

pub(crate) struct ResolvedProtocol<'m> {
    pub(crate) decl: &'m ProtocolDecl,
    /// False if a mistake was found: later passes skip it.
    pub(crate) valid: bool,
    /// The first node, or [`END`].
    pub(crate) entry: u32,
    /// One per interaction, under the same number; then the second and later receivers of
    /// messages, and the ends of the parts of blocks.
    pub(crate) nodes: Vec<Node>,
}

/// One interaction. Roles and parameters are numbered as the protocol declares them.
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The node that follows, or [`END`]. Behind the last node of a branch, the choice's `next`.
    pub(crate) next: u32,
    pub(crate) span: Span,
}

pub(crate) enum NodeKind {
    Message {
        message: Template,
        from: u32,
        to: u32,
        link: Link,
    },
    Choice {
        at: u32,
        /// The first node of each branch, or [`END`].
        branches: Vec<u32>,
    },
    /// A recursion, which leads to its body, or a `continue`, which leads to its recursion. After
    /// the flow checks, the target is not itself a jump.
    Jump {
        target: u32,
    },
    /// A `par` or `interruptible`.
    Block {
        /// The first node of each part, or its [`NodeKind::PartEnd`].
        parts: Vec<u32>,
        interrupts: Vec<Interrupt<Template>>,
    },
    PartEnd {
        block: u32,
    },
    Do {
        callee: u32,
        roles: Vec<u32>,
        arguments: Vec<Template>,
    },
    /// Reported already; the protocol is not valid.
    Invalid,
}

/// `cancel() by A via B answered cancelled();`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Interrupt<M> {
    pub(crate) by: u32,
    pub(crate) message: M,
    /// The roles that it tells, or none if it tells all others.
    pub(crate) via: Vec<u32>,
    pub(crate) answer: Option<M>,
    pub(crate) span: Span,
}

/// A message or sort that may depend on the parameters of its protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Template {
    Message(u32),
    Sort(Sort),
    Parameter(u32),
    /// A message with parameters among its sorts.
    Literal(Label, Vec<Template>),
}

impl Template {
    /// A message: a numbered one, unless there are parameters among its sorts.
    pub(crate) fn message(label: Label, sorts: Vec<Self>, known: &mut IndexSet<Message>) -> Self {
        let payload = sorts.iter().map(|sort| match sort {
            Self::Sort(sort) => Some(sort.clone()),
            _ => None,
        });
        match payload.collect() {
            Some(payload) => Self::Message(index(known.insert_full(Message { label, payload }).0)),
            None => Self::Literal(label, sorts),
        }
    }

    /// The value, given the arguments of its protocol.
    pub(crate) fn instantiate(&self, given: &[Self], messages: &mut IndexSet<Message>) -> Self {
        match self {
            Self::Message(_) | Self::Sort(_) => self.clone(),
            Self::Parameter(parameter) => given[*parameter as usize].clone(),
            Self::Literal(label, sorts) => {
                let sorts = sorts.iter().map(|sort| sort.instantiate(given, messages)).collect();
                Self::message(label.clone(), sorts, messages)
            }
        }
    }
}

impl Program<'_> {
    /// Marks every caller of an invalid protocol invalid: what the later passes would report about
    /// it only follows from that.
    pub(crate) fn spread_invalid(&mut self) {
        let calls: Vec<(u32, u32)> = self.calls().collect();
        let protocols = (0..).zip(&self.protocols);
        let invalid = protocols.filter(|(_, protocol)| !protocol.valid).map(|(at, _)| at);
        let invalid = leads_to(self.protocols.len(), &calls, invalid.collect());
        for (protocol, invalid) in self.protocols.iter_mut().zip(invalid) {
            protocol.valid &= !invalid;
        }
    }

    /// Each call: the positions of the caller and of the protocol that it calls.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(&self.protocols).flat_map(|(caller, protocol)| {
            protocol.nodes.iter().filter_map(move |node| match node.kind {
                NodeKind::Do { callee, .. } => Some((caller, callee)),
                _ => None,
            })
        })
    }
}
