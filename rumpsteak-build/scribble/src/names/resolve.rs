//! Names to what they mean, protocol by protocol.
//!
//! A protocol with an unknown name, or with a part that could not be read, is marked invalid
//! together with all that call it.

use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rumpsteak_fsm::{Label, Message, Sort};

use super::program::{END, Node, NodeKind, Program, ResolvedProtocol, Source, Template};
use super::recursion::Recursions;
use super::scope::Scope;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::{Name, Span};
use crate::diagnostics::{name_errors, rust_types};
use crate::index::{IndexSet, NONE, index, set_of};
use crate::syntax::ast::{
    BlockId, DeclarationKind, Interaction, InteractionId, InteractionKind, Link, MessageExpr,
    Module, Parameter, ParameterKind, Payload, ProtocolDecl,
};

/// Resolves all protocols of all modules. Costs O(text), plus O(names²) for each unknown name.
pub(crate) fn resolve<'m>(
    sources: &[Source<'m>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Program<'m> {
    let mut bases = Vec::with_capacity(sources.len());
    let mut decls = Vec::new();
    for source in sources {
        bases.push(decls.len());
        decls.extend(&source.module.protocols);
        duplicates(source.module, diagnostics);
    }
    let interactions = decls.iter().map(|decl| decl.body.interactions.len());
    let mut messages = set_of(interactions.sum());
    let mut protocols = Vec::with_capacity(decls.len());
    for (own, source) in sources.iter().enumerate() {
        let scope = Scope::new(own, sources, &bases);
        for decl in &source.module.protocols {
            let resolver = Resolver {
                module: source.module,
                decl,
                decls: &decls,
                scope: &scope,
                messages: &mut messages,
                roles: Vec::with_capacity(decl.roles.len()),
                valid: true,
                diagnostics,
            };
            protocols.push(resolver.run());
        }
    }
    let mut program = Program { protocols, messages };
    program.spread_invalid();
    program
}

fn duplicates(module: &Module, diagnostics: &mut Vec<Diagnostic>) {
    let mut protocols = HashMap::new();
    for ProtocolDecl { name, .. } in &module.protocols {
        let first = earlier(&mut protocols, name);
        diagnostics.extend(first.map(|first| name_errors::duplicate("protocol", name, first)));
    }
    // Sorts and messages share their names, since `do P<X>` names either.
    let mut others = HashMap::new();
    for declaration in &module.declarations {
        let what = match declaration.kind {
            DeclarationKind::Payload => "type",
            DeclarationKind::Signature => "message",
        };
        let name = &declaration.name;
        let first = earlier(&mut others, name);
        diagnostics.extend(first.map(|first| name_errors::duplicate(what, name, first)));
    }
}

/// The place of an earlier name with the same text; `None` if this is the first one.
pub(super) fn earlier<'m>(seen: &mut HashMap<&'m str, Span>, name: &'m Name) -> Option<Span> {
    match seen.entry(name.as_str()) {
        Entry::Occupied(first) => Some(*first.get()),
        Entry::Vacant(free) => {
            free.insert(name.span);
            None
        }
    }
}

struct Resolver<'a, 'm> {
    module: &'m Module,
    decl: &'m ProtocolDecl,
    decls: &'a [&'m ProtocolDecl],
    scope: &'a Scope,
    messages: &'a mut IndexSet<Message>,
    /// The names of the roles, in alphabetical order, with their numbers.
    roles: Vec<(&'m str, u32)>,
    valid: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'m> Resolver<'_, 'm> {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.valid = false;
    }

    /// The names to compare an unknown one with. Where there are hundreds of errors already,
    /// suggestions help nobody, and comparing all names with all others takes its time.
    fn known<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        let most = if self.diagnostics.len() > 200 { 0 } else { 256 };
        names.take(most).collect()
    }

    fn run(mut self) -> ResolvedProtocol<'m> {
        self.header();
        let decl = self.decl;
        let body = &decl.body;
        let recursions = Recursions::new(body);
        for (variable, around) in &recursions.unbound {
            let known = self.known(around.iter().copied());
            self.error(name_errors::unknown_recursion(variable, &known));
        }
        for &(span, variable) in &recursions.leaving {
            self.error(name_errors::leaves_block(variable, span));
        }
        let invalid = |interaction: &Interaction| Node {
            kind: NodeKind::Invalid,
            next: END,
            ahead: END,
            span: interaction.span,
        };
        let mut nodes: Vec<Node> = body.interactions.iter().map(invalid).collect();
        // Outside in, so that each block knows what follows it.
        let mut blocks: Vec<(BlockId, u32)> = vec![(body.root(), END)];
        while let Some((block, after)) = blocks.pop() {
            let items = recursions.items(body, block);
            for (position, &id) in items.iter().enumerate() {
                let next = items.get(position + 1).map_or(after, |next| next.0);
                let kind = match self.block(id, &recursions, &mut nodes, &mut blocks) {
                    Some(kind) => kind,
                    None => self.interaction(id, next, &recursions, &mut blocks),
                };
                let node = &mut nodes[id.0 as usize];
                (node.next, node.kind) = (next, kind);
            }
        }
        ResolvedProtocol {
            decl,
            valid: self.valid,
            entry: recursions.start(body, body.root(), END),
            nodes,
        }
    }

    fn header(&mut self) {
        let decl = self.decl;
        let mut roles = HashMap::new();
        for (number, role) in (0..).zip(&decl.roles) {
            for name in [Some(&role.name), role.alias.as_ref()].into_iter().flatten() {
                if let Some(first) = earlier(&mut roles, name) {
                    self.error(name_errors::duplicate("role", name, first));
                }
                self.roles.push((name.as_str(), number));
            }
        }
        self.roles.sort_unstable();
        let mut parameters = HashMap::new();
        for Parameter { name, .. } in &decl.parameters {
            if let Some(first) = earlier(&mut parameters, name) {
                self.error(name_errors::duplicate("parameter", name, first));
            }
        }
    }

    /// The parts of an interaction that is understood as a whole, each with an end of its own.
    /// `None` if it is another one.
    fn block(
        &mut self,
        id: InteractionId,
        recursions: &Recursions<'m>,
        nodes: &mut Vec<Node>,
        blocks: &mut Vec<(BlockId, u32)>,
    ) -> Option<NodeKind> {
        let body = &self.decl.body;
        let Interaction { kind, span, .. } = body.interaction(id);
        let (parts, interrupts) = match kind {
            InteractionKind::Par { parts } => (&parts[..], &[][..]),
            InteractionKind::Interruptible { body, interrupts } => {
                (std::slice::from_ref(body), &interrupts[..])
            }
            _ => return None,
        };
        let mut starts = Vec::with_capacity(parts.len());
        for &part in parts {
            let end = index(nodes.len());
            nodes.push(Node {
                kind: NodeKind::PartEnd { block: id.0 },
                next: END,
                ahead: end,
                span: *span,
            });
            starts.push(recursions.start(body, part, end));
            blocks.push((part, end));
        }
        let mut by = Vec::with_capacity(interrupts.len());
        for interrupt in interrupts {
            let (message, role) = (self.template(&interrupt.message), self.role(&interrupt.by));
            let (Some(message), Some(role)) = (message, role) else {
                return Some(NodeKind::Invalid);
            };
            let span = interrupt.message.span().to(interrupt.by.span);
            by.push((role, message, span));
        }
        Some(NodeKind::Block { parts: starts, interrupts: by })
    }

    /// What an interaction does before `next`. The blocks in it are added to `blocks`, each with
    /// what follows it.
    fn interaction(
        &mut self,
        id: InteractionId,
        next: u32,
        recursions: &Recursions<'m>,
        blocks: &mut Vec<(BlockId, u32)>,
    ) -> NodeKind {
        let body = &self.decl.body;
        let kind = match &body.interaction(id).kind {
            InteractionKind::Invalid => {
                self.valid = false;
                None
            }
            // Understood before.
            InteractionKind::Par { .. } | InteractionKind::Interruptible { .. } => None,
            InteractionKind::Message { message, from, to, link } => {
                self.message(message, (from, to), *link)
            }
            InteractionKind::Choice { at, branches } => {
                blocks.extend(branches.iter().rev().map(|&block| (block, next)));
                let start = |&block: &BlockId| recursions.start(body, block, next);
                self.role(at).map(|at| NodeKind::Choice {
                    at,
                    branches: branches.iter().map(start).collect(),
                })
            }
            InteractionKind::Rec { body: block, .. } => {
                blocks.push((*block, next));
                let inert = recursions.inert[id.0 as usize];
                let start = if inert { next } else { recursions.start(body, *block, next) };
                Some(NodeKind::Rec { body: start })
            }
            InteractionKind::Continue { .. } => match recursions.targets[id.0 as usize] {
                NONE => None,
                target => Some(NodeKind::Continue { target }),
            },
            InteractionKind::Do { protocol, arguments, roles } => {
                self.call(protocol, arguments, roles, body.interaction(id).span)
            }
        };
        kind.unwrap_or(NodeKind::Invalid)
    }

    fn role(&mut self, name: &Name) -> Option<u32> {
        let found = self.roles.binary_search_by_key(&name.as_str(), |role| role.0);
        if found.is_err() {
            self.unknown_role(name, self.decl);
        }
        found.ok().map(|at| self.roles[at].1)
    }

    /// Says of each name once that it is no role, with its first places.
    fn unknown_role(&mut self, name: &Name, decl: &ProtocolDecl) {
        let known = self.known(decl.roles.iter().map(|role| role.name.as_str()));
        let unknown = name_errors::unknown_role(name, &decl.name, &known);
        // Not all of them are looked at, so that many mistakes cost no more than linear time.
        let mut said = self.diagnostics.iter_mut().take(200);
        match said.find(|said| (said.code, &said.message) == (unknown.code, &unknown.message)) {
            None => self.diagnostics.push(unknown),
            Some(said) if said.secondary.len() > 3 => {}
            Some(said) => {
                let later = said.primary.max(name.span);
                said.secondary.push((later, "nor is there one here".to_owned()));
                said.primary = said.primary.min(name.span);
            }
        }
        self.valid = false;
    }

    fn message(
        &mut self,
        message: &MessageExpr,
        (from, to): (&Name, &[Name]),
        link: Link,
    ) -> Option<NodeKind> {
        let message = self.template(message);
        let sender = self.role(from);
        let mut receivers: Vec<u32> = Vec::with_capacity(to.len());
        for name in to {
            let Some(receiver) = self.role(name) else { continue };
            if sender == Some(receiver) {
                self.error(name_errors::self_message(name, from.span));
            } else if let Some(first) = receivers.iter().position(|&other| other == receiver) {
                self.error(name_errors::repeated_receiver(name, to[first].span));
            }
            receivers.push(receiver);
        }
        let (message, from) = (message?, sender?);
        self.valid.then_some(NodeKind::Message { message, from, to: receivers, link })
    }

    fn parameters(&self, kind: ParameterKind) -> impl Iterator<Item = (u32, &'m str)> + use<'m> {
        let parameters = (0..).zip(&self.decl.parameters);
        let parameters = parameters.filter(move |(_, parameter)| parameter.kind == kind);
        parameters.map(|(number, parameter)| (number, parameter.name.as_str()))
    }

    /// The number of the parameter `name`, if it is one of this kind.
    fn parameter(&self, name: &str, kind: ParameterKind) -> Option<Template> {
        let mut parameters = self.parameters(kind);
        let (number, _) = parameters.find(|(_, parameter)| *parameter == name)?;
        Some(Template::Parameter(number))
    }

    fn template(&mut self, message: &MessageExpr) -> Option<Template> {
        let (label, payload) = match message {
            MessageExpr::Named(name) => return self.named_message(name),
            MessageExpr::Literal { label, payload } => (label, payload),
        };
        let mut sorts = Vec::with_capacity(payload.len());
        for element in payload {
            sorts.push(self.sort(element)?);
        }
        let label = Label::from(Arc::clone(&label.text));
        Some(Template::message(label, sorts, self.messages))
    }

    fn named_message(&mut self, name: &Name) -> Option<Template> {
        if let Some(parameter) = self.parameter(name.as_str(), ParameterKind::Signature) {
            return Some(parameter);
        }
        let scope = self.scope;
        let known = scope.signatures.contains(name.as_str());
        // A module that declares no message uses plain labels; where it does, or where there are
        // parameters, another name is a slip.
        let parameters = self.parameters(ParameterKind::Signature);
        let parameters: Vec<&str> = parameters.map(|(_, name)| name).collect();
        let is_plain =
            scope.signatures.is_empty() && !name.as_str().contains('.') && parameters.is_empty();
        if !known && !is_plain && scope.complete {
            let names = scope.signature_names.iter().map(String::as_str);
            let names = self.known(names.chain(parameters));
            self.error(name_errors::unknown_message(name, &names));
            return None;
        }
        // `shop.Base.Cancel` is the message `Cancel`.
        let label = match name.as_str().rsplit_once('.') {
            Some((_, simple)) => Label::from(simple),
            None => Label::from(Arc::clone(&name.text)),
        };
        Some(Template::message(label, Vec::new(), self.messages))
    }

    fn sort(&mut self, element: &Payload) -> Option<Template> {
        let name = element.sort.as_str();
        if name.contains(['<', '(', '[', ':', '&']) {
            let sorts = self.module.declarations.iter();
            let sorts = sorts.filter(|found| found.kind == DeclarationKind::Payload);
            let declared: Vec<(&str, &str)> =
                sorts.map(|found| (found.name.as_str(), found.external.as_str().trim())).collect();
            self.error(rust_types::nameless(&element.sort, &declared));
            return None;
        }
        let sort = if let Some(role) = &element.delegated {
            let decl = self.protocol(&element.sort)?.1;
            if !decl.roles.iter().any(|known| known.name.text == role.text) {
                self.unknown_role(role, decl);
                return None;
            }
            Sort::from(format!("{name}@{role}"))
        } else if let Some(parameter) = self.parameter(name, ParameterKind::Sort) {
            return Some(parameter);
        } else if self.scope.sorts.contains(name)
            && let Some((_, simple)) = name.rsplit_once('.')
        {
            // A sort that is declared in another module goes by its own name here too.
            Sort::from(simple)
        } else {
            Sort::from(Arc::clone(&element.sort.text))
        };
        Some(Template::Sort(sort))
    }

    fn protocol(&mut self, name: &Name) -> Option<(u32, &'m ProtocolDecl)> {
        let number = self.scope.protocols.get(name.as_str()).copied();
        if number.is_none() {
            self.valid = false;
            if self.scope.complete {
                let known = self.known(self.scope.protocol_names.iter().map(String::as_str));
                self.error(name_errors::unknown_protocol(name, &known));
            }
        }
        number.map(|number| (number, self.decls[number as usize]))
    }

    fn call(
        &mut self,
        protocol: &Name,
        arguments: &[MessageExpr],
        players: &[Name],
        span: Span,
    ) -> Option<NodeKind> {
        let (callee, decl) = self.protocol(protocol)?;
        for (what, counts) in [
            ("role", [decl.roles.len(), players.len()]),
            ("argument", [decl.parameters.len(), arguments.len()]),
        ] {
            if counts[0] != counts[1] {
                self.error(name_errors::argument_count(what, &decl.name, counts, span));
            }
        }
        let mut roles: Vec<u32> = Vec::with_capacity(players.len());
        for name in players {
            let role = self.role(name)?;
            if let Some(first) = roles.iter().position(|&other| other == role) {
                self.error(name_errors::repeated_role(name, players[first].span));
            }
            roles.push(role);
        }
        let pairs = decl.parameters.iter().zip(arguments);
        let arguments = pairs.map(|(parameter, argument)| self.argument(parameter, argument));
        let arguments = arguments.collect::<Option<_>>()?;
        self.valid.then_some(NodeKind::Do { callee, roles, arguments })
    }

    fn argument(&mut self, parameter: &Parameter, argument: &MessageExpr) -> Option<Template> {
        let is_sort = |name: &str| {
            self.scope.sorts.contains(name) || self.parameter(name, ParameterKind::Sort).is_some()
        };
        let is_message = |name: &str| {
            self.scope.signatures.contains(name)
                || self.parameter(name, ParameterKind::Signature).is_some()
        };
        let expected = match (parameter.kind, argument) {
            (ParameterKind::Signature, MessageExpr::Named(name)) if is_sort(name.as_str()) => {
                "message"
            }
            (ParameterKind::Signature, _) => return self.template(argument),
            (ParameterKind::Sort, MessageExpr::Named(name)) if !is_message(name.as_str()) => {
                return self.sort(&Payload { name: None, sort: name.clone(), delegated: None });
            }
            (ParameterKind::Sort, _) => "sort",
        };
        let (name, declared) = (argument.to_string(), parameter.name.span);
        self.error(name_errors::argument_kind(&name, expected, argument.span(), declared));
        None
    }
}
