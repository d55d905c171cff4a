//! Protocols in which every name is a number.
//!
//! Each protocol is one flat table of [`Node`]s, and every node knows what follows it, so that the
//! later passes follow numbers and need neither names nor recursion.

use rumpsteak_fsm::{Label, Message, Sort};

use crate::diagnostics::span::Span;
use crate::index::{IndexSet, NONE, index};
use crate::syntax::ast::{Link, Module, ProtocolDecl};

/// Behind the last interaction of a protocol.
pub(crate) const END: u32 = NONE;

/// A module with the modules that it imports, by position in the list of all.
pub(crate) struct Source<'m> {
    pub(crate) module: &'m Module,
    /// One per import; `None` if it could not be loaded.
    pub(crate) imports: Vec<Option<usize>>,
}

pub(crate) struct Program<'m> {
    pub(crate) protocols: Vec<ResolvedProtocol<'m>>,
    /// Every message that occurs, once.
    pub(crate) messages: IndexSet<Message>,
}

pub(crate) struct ResolvedProtocol<'m> {
    pub(crate) decl: &'m ProtocolDecl,
    /// Whether the later passes may look at it.
    pub(crate) valid: bool,
    /// Where it starts: a node, or [`END`].
    pub(crate) entry: u32,
    /// One per interaction, under the same number; behind them the ends of the parts of blocks.
    pub(crate) nodes: Vec<Node>,
}

/// One interaction. Roles and parameters are numbered as the protocol declares them.
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// What follows: a node, or [`END`]. Behind the last node of a branch that is what follows the
    /// choice.
    pub(crate) next: u32,
    /// For a recursion and a `continue`, the first node behind it of another kind, or [`END`]; for
    /// others the node itself. Following many nested recursions one by one from each `continue`
    /// would be quadratic. Set by the flow checks.
    pub(crate) ahead: u32,
    pub(crate) span: Span,
}

pub(crate) enum NodeKind {
    Message {
        message: Template,
        from: u32,
        to: Vec<u32>,
        link: Link,
    },
    Choice {
        at: u32,
        /// Where each branch starts: a node, or [`END`].
        branches: Vec<u32>,
    },
    Rec {
        /// Where the body starts: a node, or [`END`].
        body: u32,
    },
    Continue {
        target: u32,
    },
    /// What is understood as a whole: `par`, `interruptible`.
    Block {
        /// Where each part starts: a node of the part, or its [`NodeKind::PartEnd`].
        parts: Vec<u32>,
        /// Who may end it, with which message, and where that is written.
        interrupts: Vec<(u32, Template, Span)>,
    },
    PartEnd {
        block: u32,
    },
    Do {
        callee: u32,
        roles: Vec<u32>,
        arguments: Vec<Template>,
    },
    /// Reported; the protocol is not valid.
    Invalid,
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
    /// A message: one with a number, unless there are parameters among its sorts.
    pub(crate) fn message(
        label: Label,
        sorts: Vec<Self>,
        messages: &mut IndexSet<Message>,
    ) -> Self {
        let mut payload = Vec::with_capacity(sorts.len());
        for sort in &sorts {
            match sort {
                Self::Sort(sort) => payload.push(sort.clone()),
                _ => return Self::Literal(label, sorts),
            }
        }
        let (number, _) = messages.insert_full(Message { label, payload });
        Self::Message(index(number))
    }

    /// What it stands for, given the arguments of its protocol.
    pub(crate) fn instantiate(&self, given: &[Self], messages: &mut IndexSet<Message>) -> Self {
        match self {
            Self::Message(_) | Self::Sort(_) => self.clone(),
            Self::Parameter(parameter) => given[*parameter as usize].clone(),
            Self::Literal(label, sorts) => {
                let sorts = sorts.iter();
                let sorts = sorts.map(|sort| sort.instantiate(given, messages)).collect();
                Self::message(label.clone(), sorts, messages)
            }
        }
    }
}

impl Program<'_> {
    /// Marks every caller of an invalid protocol invalid: what the later passes would say about it
    /// is an echo.
    pub(crate) fn spread_invalid(&mut self) {
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); self.protocols.len()];
        for (caller, protocol) in self.protocols.iter().enumerate() {
            for callee in protocol.callees() {
                callers[callee].push(caller);
            }
        }
        let all = 0..self.protocols.len();
        let mut invalid: Vec<usize> = all.filter(|&at| !self.protocols[at].valid).collect();
        while let Some(callee) = invalid.pop() {
            for caller in std::mem::take(&mut callers[callee]) {
                if std::mem::replace(&mut self.protocols[caller].valid, false) {
                    invalid.push(caller);
                }
            }
        }
    }
}

impl ResolvedProtocol<'_> {
    pub(crate) fn callees(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Do { callee, .. } => Some(callee as usize),
            _ => None,
        })
    }
}
