//! Names to what they mean.
//!
//! The result is one flat table of [`Node`]s per protocol in which every name is an index and every node knows
//! what follows it, so that the later passes follow numbers and need neither names nor recursion.
//!
//! A protocol with an unknown name, or with a part that could not be read, is marked invalid together with
//! all that call it: what the later passes would say about it is an echo.

use std::sync::Arc;

use rumpsteak_fsm::{
    Label, Message, Sort,
    hashed::{self, HashedMap, Index},
};

use crate::{
    diagnostics::code as codes,
    diagnostics::diagnostic::Diagnostic,
    diagnostics::span::Span,
    names::recursion::{self as shape, Shape},
    syntax::ast::*,
    syntax::interner::Texts,
};

/// Behind the last interaction of a protocol.
pub(crate) const END: u32 = u32::MAX;

/// All protocols of the modules, with their names resolved.
pub(crate) struct Program<'m> {
    pub(crate) protocols: Vec<Proto<'m>>,
    pub(crate) messages: Messages,
}

/// One protocol.
pub(crate) struct Proto<'m> {
    pub(crate) decl: &'m ProtocolDecl,
    /// Whether the later passes may look at it.
    pub(crate) valid: bool,
    /// Where it starts: a node, or [`END`].
    pub(crate) entry: u32,
    /// One per interaction, under the same number.
    pub(crate) nodes: Vec<Node>,
}

/// One interaction. Roles and parameters are numbered as the protocol declares them.
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// What follows: a node, or [`END`]. Behind the last node of a branch that is what follows the choice.
    pub(crate) next: u32,
    /// For a recursion and a `continue`, what they come to: a node of another kind, or [`END`]. Following many nested
    /// recursions one by one from each `continue` would be quadratic. Set by the flow checks.
    pub(crate) ahead: u32,
    pub(crate) span: Span,
}

pub(crate) enum NodeKind {
    Message {
        message: Template,
        from: u32,
        to: Vec<u32>,
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
    Do {
        callee: u32,
        roles: Vec<u32>,
        arguments: Vec<Template>,
    },
    /// Reported; the protocol is not valid.
    Invalid,
}

/// A message or sort that may depend on the parameters of its protocol.
#[derive(Clone, Debug)]
pub(crate) enum Template {
    Message(MessageId),
    Sort(SortId),
    /// The parameter with this number.
    Parameter(u32),
    /// A message with parameters among its sorts.
    Literal(LabelId, Vec<Template>),
}

/// What a parameter stands for in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Argument {
    Message(MessageId),
    Sort(SortId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LabelId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SortId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MessageId(pub(crate) u32);

/// Every message that occurs, once; and every name.
#[derive(Default)]
pub(crate) struct Messages {
    texts: Texts,
    ids: Index,
    messages: Vec<Known>,
    /// The payloads of all messages, one after the other.
    sorts: Vec<SortId>,
}

/// A message: its label, and where its payload is.
struct Known {
    label: LabelId,
    start: u32,
    end: u32,
}

impl Messages {
    fn text(&mut self, text: &Arc<str>) -> u32 {
        self.texts.position(text, || text.clone())
    }

    pub(crate) fn intern(&mut self, label: LabelId, payload: &[SortId]) -> MessageId {
        let mut hash = hashed::mix(0, label.0);
        for sort in payload {
            hash = hashed::mix(hash, sort.0);
        }
        let (messages, sorts) = (self.messages.as_slice(), self.sorts.as_slice());
        let is = |id: u32| {
            let known = &messages[id as usize];
            known.label == label && sorts[known.start as usize..known.end as usize] == *payload
        };
        if let Some(id) = self.ids.find(hash, is) {
            return MessageId(id);
        }
        let id = index(self.messages.len());
        let start = index(self.sorts.len());
        self.sorts.extend_from_slice(payload);
        let end = index(self.sorts.len());
        self.messages.push(Known { label, start, end });
        self.ids.add(hash, id);
        MessageId(id)
    }

    /// What a message is called; equal ids are equal labels.
    pub(crate) fn label(&self, message: MessageId) -> LabelId {
        self.messages[message.0 as usize].label
    }

    pub(crate) fn label_text(&self, label: LabelId) -> &str {
        self.texts.get(label.0)
    }

    /// The message as a value.
    pub(crate) fn value(&self, message: MessageId) -> Message {
        let known = &self.messages[message.0 as usize];
        let payload = &self.sorts[known.start as usize..known.end as usize];
        let sort = |sort: &SortId| Sort::from(&**self.texts.get(sort.0));
        Message {
            label: Label::from(self.label_text(known.label)),
            payload: payload.iter().map(sort).collect(),
        }
    }
}

/// A module with the modules that it imports, by position in the list of all.
pub(crate) struct Source<'m> {
    pub(crate) module: &'m Module,
    /// One per import; nothing if it could not be loaded.
    pub(crate) imports: Vec<Option<usize>>,
}

/// What a name of a module can stand for: its own declarations, `alias.Name` and `full.module.Name`.
struct Scope {
    protocols: HashedMap<String, u32>,
    signatures: HashedMap<String, ()>,
    sorts: HashedMap<String, ()>,
    /// For suggestions, in order.
    protocol_names: Vec<String>,
    signature_names: Vec<String>,
    /// Whether everything that can be meant is known.
    complete: bool,
}

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
    let mut messages = Messages::default();
    let mut roles = Vec::new();
    let mut protocols = Vec::with_capacity(decls.len());
    for (own, source) in sources.iter().enumerate() {
        let scope = scope(own, sources, &bases);
        for decl in &source.module.protocols {
            let resolver = Resolver {
                decl,
                decls: &decls,
                scope: &scope,
                messages: &mut messages,
                roles: &mut roles,
                sorts: Vec::new(),
                valid: true,
                diagnostics,
            };
            protocols.push(resolver.run());
        }
    }
    spread_invalid(&mut protocols);
    Program {
        protocols,
        messages,
    }
}

/// Two declarations of one name in a module.
fn duplicates(module: &Module, diagnostics: &mut Vec<Diagnostic>) {
    let mut protocols: HashedMap<&str, Span> = HashedMap::new();
    for protocol in &module.protocols {
        let name = &protocol.name;
        match protocols.get(name.as_str()) {
            Some(&first) => {
                diagnostics.push(codes::duplicate(
                    "protocol",
                    name.as_str(),
                    name.span,
                    first,
                ));
            }
            None => {
                protocols.insert(name.as_str(), name.span);
            }
        }
    }
    // Sorts and messages share their names, since `do P<X>` names either.
    let mut others: HashedMap<&str, Span> = HashedMap::new();
    for declaration in &module.declarations {
        let name = &declaration.name;
        match others.get(name.as_str()) {
            Some(&first) => diagnostics.push(codes::duplicate(
                match declaration.kind {
                    DeclarationKind::Payload => "type",
                    DeclarationKind::Signature => "message",
                },
                name.as_str(),
                name.span,
                first,
            )),
            None => {
                others.insert(name.as_str(), name.span);
            }
        }
    }
}

/// What the names of the module at `own` can stand for.
fn scope(own: usize, sources: &[Source<'_>], bases: &[usize]) -> Scope {
    let source = &sources[own];
    let mut scope = Scope {
        protocols: HashedMap::new(),
        signatures: HashedMap::new(),
        sorts: HashedMap::new(),
        protocol_names: Vec::new(),
        signature_names: Vec::new(),
        complete: source.module.complete,
    };
    // Where a name can come from: a module, and what stands before the name.
    let mut visible = vec![(Some(own), String::new())];
    if let Some(header) = &source.module.header {
        visible.push((Some(own), format!("{header}.")));
    }
    for (import, &position) in source.module.imports.iter().zip(&source.imports) {
        let name = import.alias.as_ref().unwrap_or(&import.module);
        visible.push((position, format!("{name}.")));
    }
    for (position, prefix) in visible {
        let Some(position) = position else {
            scope.complete = false;
            continue;
        };
        let module = sources[position].module;
        scope.complete &= module.complete;
        for (offset, protocol) in module.protocols.iter().enumerate() {
            let name = format!("{prefix}{}", protocol.name);
            if position != own || prefix.is_empty() {
                scope.protocol_names.push(name.clone());
            }
            // The first of two declarations counts; the second is reported.
            let number = index(bases[position] + offset);
            scope.protocols.or_insert_with(name, || number);
        }
        for declaration in &module.declarations {
            let name = format!("{prefix}{}", declaration.name);
            match declaration.kind {
                DeclarationKind::Payload => scope.sorts.insert(name, ()),
                DeclarationKind::Signature => {
                    if position != own || prefix.is_empty() {
                        scope.signature_names.push(name.clone());
                    }
                    scope.signatures.insert(name, ())
                }
            };
        }
    }
    scope
}

/// Marks every caller of an invalid protocol invalid.
pub(crate) fn spread_invalid(protocols: &mut [Proto<'_>]) {
    let mut callers: Vec<Vec<usize>> = protocols.iter().map(|_| Vec::new()).collect();
    for (caller, protocol) in protocols.iter().enumerate() {
        for node in &protocol.nodes {
            if let NodeKind::Do { callee, .. } = node.kind {
                callers[callee as usize].push(caller);
            }
        }
    }
    let mut invalid: Vec<usize> = (0..protocols.len())
        .filter(|&index| !protocols[index].valid)
        .collect();
    while let Some(callee) = invalid.pop() {
        for caller in std::mem::take(&mut callers[callee]) {
            if std::mem::replace(&mut protocols[caller].valid, false) {
                invalid.push(caller);
            }
        }
    }
}

/// The names of one protocol.
struct Resolver<'a, 'm> {
    decl: &'m ProtocolDecl,
    decls: &'a [&'m ProtocolDecl],
    scope: &'a Scope,
    messages: &'a mut Messages,
    /// The role that each name stands for, by the number of the name's text, or [`END`]. Shared by all protocols, and empty
    /// between them.
    roles: &'a mut Vec<u32>,
    /// Scratch space: a payload.
    sorts: Vec<SortId>,
    valid: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'m> Resolver<'_, 'm> {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.valid = false;
    }

    /// How many names are compared with an unknown one. Where there are hundreds of errors already, suggestions
    /// help nobody, and comparing all names with all others takes its time.
    fn most_names(&self) -> usize {
        if self.diagnostics.len() > 200 { 0 } else { 256 }
    }

    fn run(mut self) -> Proto<'m> {
        self.header();
        let decl = self.decl;
        let body = &decl.body;
        let named = |roles: &'m [RoleDecl]| {
            let names = roles.iter().map(|role| (&role.name, role.alias.as_ref()));
            let names = (0..).zip(names);
            names.flat_map(|(index, (name, alias))| {
                [Some(name), alias]
                    .into_iter()
                    .flatten()
                    .map(move |name| (index, name))
            })
        };
        // Of two roles with one name the last counts; the second is reported.
        for (role, name) in named(&decl.roles) {
            let text = self.messages.text(&name.text) as usize;
            if text >= self.roles.len() {
                self.roles.resize(text + 1, END);
            }
            self.roles[text] = role;
        }

        // Walk the blocks outside in, so that each block knows what follows it and which recursions are around.
        let mut nodes: Vec<Node> = body
            .interactions
            .iter()
            .map(|interaction| Node {
                kind: NodeKind::Invalid,
                next: END,
                ahead: END,
                span: interaction.span,
            })
            .collect();
        let shape = Shape::new(body);
        for (variable, around) in &shape.unbound {
            let mut known = around.iter().copied();
            self.error(codes::unknown_recursion(
                variable.as_str(),
                variable.span,
                &mut known,
            ));
        }
        let mut blocks: Vec<(BlockId, u32)> = vec![(body.root(), END)];
        while let Some((block, after)) = blocks.pop() {
            let items = shape.items(body, block);
            for (position, &id) in items.iter().enumerate() {
                let next = items.get(position + 1).map_or(after, |next| next.0);
                let start = |block: BlockId| match shape.items(body, block) {
                    [first, ..] => first.0,
                    [] => next,
                };
                let kind = match &body.interaction(id).kind {
                    InteractionKind::Invalid => {
                        self.valid = false;
                        NodeKind::Invalid
                    }
                    InteractionKind::Message { message, from, to } => {
                        self.message(message, from, to)
                    }
                    InteractionKind::Choice { at, branches } => {
                        let at = self.role(at);
                        blocks.extend(branches.iter().rev().map(|&block| (block, next)));
                        match at {
                            Some(at) => NodeKind::Choice {
                                at,
                                branches: branches.iter().map(|&block| start(block)).collect(),
                            },
                            None => NodeKind::Invalid,
                        }
                    }
                    InteractionKind::Rec { body: block, .. } => {
                        blocks.push((*block, next));
                        let inert = shape.inert[id.0 as usize];
                        NodeKind::Rec {
                            body: if inert { next } else { start(*block) },
                        }
                    }
                    InteractionKind::Continue { .. } => match shape.targets[id.0 as usize] {
                        shape::NONE => NodeKind::Invalid,
                        target => NodeKind::Continue { target },
                    },
                    InteractionKind::Do {
                        protocol,
                        arguments,
                        roles: players,
                    } => self
                        .call(protocol, arguments, players, id)
                        .unwrap_or(NodeKind::Invalid),
                };
                let node = &mut nodes[id.0 as usize];
                node.kind = kind;
                node.next = next;
            }
        }
        for (_, name) in named(&decl.roles) {
            let text = self.messages.text(&name.text) as usize;
            self.roles[text] = END;
        }
        Proto {
            decl,
            valid: self.valid,
            entry: shape
                .items(body, body.root())
                .first()
                .map_or(END, |id| id.0),
            nodes,
        }
    }

    /// Roles and parameters declared twice.
    fn header(&mut self) {
        let decl = self.decl;
        let mut roles: HashedMap<&str, Span> = HashedMap::new();
        for name in decl
            .roles
            .iter()
            .flat_map(|role| [Some(&role.name), role.alias.as_ref()])
            .flatten()
        {
            match roles.get(name.as_str()) {
                Some(&first) => {
                    self.error(codes::duplicate("role", name.as_str(), name.span, first));
                }
                None => {
                    roles.insert(name.as_str(), name.span);
                }
            }
        }
        let mut parameters: HashedMap<&str, Span> = HashedMap::new();
        for Parameter { name, .. } in &decl.parameters {
            match parameters.get(name.as_str()) {
                Some(&first) => {
                    let text = name.as_str();
                    self.error(codes::duplicate("parameter", text, name.span, first));
                }
                None => {
                    parameters.insert(name.as_str(), name.span);
                }
            }
        }
    }

    fn role(&mut self, name: &Name) -> Option<u32> {
        let text = self.messages.text(&name.text) as usize;
        let role = match self.roles.as_slice() {
            roles if text < roles.len() && roles[text] != END => Some(roles[text]),
            _ => None,
        };
        if role.is_none() {
            let decl = self.decl;
            let known = decl.roles.iter().map(|role| role.name.as_str());
            let mut known = known.take(self.most_names());
            self.error(codes::unknown_role(
                name.as_str(),
                name.span,
                decl.name.as_str(),
                decl.name.span,
                &mut known,
            ));
        }
        role
    }

    fn message(&mut self, message: &MessageExpr, from: &Name, to: &[Name]) -> NodeKind {
        let message = self.template(message);
        let sender = self.role(from);
        let mut receivers = Vec::with_capacity(to.len());
        for (position, name) in to.iter().enumerate() {
            let Some(receiver) = self.role(name) else {
                continue;
            };
            if sender == Some(receiver) {
                self.error(codes::self_message(name.as_str(), name.span, from.span));
            } else if let Some(first) = receivers.iter().position(|&other| other == receiver) {
                let first = to[..position]
                    .get(first)
                    .map_or(name.span, |name| name.span);
                self.error(codes::repeated_receiver(name.as_str(), name.span, first));
            }
            receivers.push(receiver);
        }
        match (message, sender) {
            (Some(message), Some(from)) if self.valid => NodeKind::Message {
                message,
                from,
                to: receivers,
            },
            _ => NodeKind::Invalid,
        }
    }

    /// The number of the parameter `name`, if it is one of this kind.
    fn parameter(&self, name: &str, kind: ParameterKind) -> Option<Template> {
        if self.decl.parameters.is_empty() {
            return None;
        }
        let mut parameters = self.decl.parameters.iter().zip(0..);
        let (_, index) = parameters
            .find(|(parameter, _)| parameter.kind == kind && parameter.name.as_str() == name)?;
        Some(Template::Parameter(index))
    }

    fn template(&mut self, message: &MessageExpr) -> Option<Template> {
        match message {
            MessageExpr::Named(name) => {
                if let Some(parameter) = self.parameter(name.as_str(), ParameterKind::Signature) {
                    return Some(parameter);
                }
                let signatures = &self.scope.signatures;
                let known = signatures.contains_key(name.as_str());
                // A module that declares no message uses plain labels; where it does, or where there are
                // parameters, a name that is none of them is a slip.
                let declares = !signatures.is_empty()
                    || self
                        .decl
                        .parameters
                        .iter()
                        .any(|parameter| parameter.kind == ParameterKind::Signature);
                let dotted = name.as_str().contains('.');
                if !known && (declares || dotted) && self.scope.complete {
                    let decl = self.decl;
                    let parameters = decl
                        .parameters
                        .iter()
                        .filter(|parameter| parameter.kind == ParameterKind::Signature)
                        .map(|parameter| parameter.name.as_str());
                    let mut known = self
                        .scope
                        .signature_names
                        .iter()
                        .map(String::as_str)
                        .chain(parameters)
                        .take(self.most_names());
                    self.error(codes::unknown_message(name.as_str(), name.span, &mut known));
                    return None;
                }
                // `shop.Base.Cancel` is the message `Cancel`.
                let label: Arc<str> = match name.as_str().rsplit_once('.') {
                    Some((_, simple)) => simple.into(),
                    None => name.text.clone(),
                };
                let label = LabelId(self.messages.text(&label));
                Some(Template::Message(self.messages.intern(label, &[])))
            }
            MessageExpr::Literal { label, payload } => {
                let label = LabelId(self.messages.text(&label.text));
                let mut sorts = std::mem::take(&mut self.sorts);
                sorts.clear();
                // Everything, once there is a parameter among it.
                let mut templates = Vec::new();
                for element in payload {
                    let sort = self.sort(element)?;
                    match sort {
                        Template::Sort(sort) if templates.is_empty() => sorts.push(sort),
                        sort => {
                            templates.extend(sorts.drain(..).map(Template::Sort));
                            templates.push(sort);
                        }
                    }
                }
                let template = match templates.is_empty() {
                    true => Template::Message(self.messages.intern(label, &sorts)),
                    false => Template::Literal(label, templates),
                };
                self.sorts = sorts;
                Some(template)
            }
        }
    }

    fn sort(&mut self, element: &Payload) -> Option<Template> {
        let name = element.sort.as_str();
        if let Some(role) = &element.delegated {
            let &callee = match self.scope.protocols.get(name) {
                Some(callee) => callee,
                None => {
                    self.unknown_protocol(&element.sort);
                    return None;
                }
            };
            let callee = self.decls[callee as usize];
            let mut names = callee.roles.iter().map(|role| role.name.as_str());
            if !names.any(|name| name == role.as_str()) {
                let known = callee.roles.iter().map(|role| role.name.as_str());
                let mut known = known.take(self.most_names());
                self.error(codes::unknown_role(
                    role.as_str(),
                    role.span,
                    callee.name.as_str(),
                    callee.name.span,
                    &mut known,
                ));
                return None;
            }
            let text: Arc<str> = format!("{name}@{role}").into();
            return Some(Template::Sort(SortId(self.messages.text(&text))));
        }
        if let Some(parameter) = self.parameter(name, ParameterKind::Sort) {
            return Some(parameter);
        }
        // A sort that is declared in another module goes by its own name here too.
        if !self.scope.sorts.is_empty()
            && let Some((_, simple)) = name.rsplit_once('.')
            && self.scope.sorts.contains_key(name)
        {
            return Some(Template::Sort(SortId(self.messages.text(&simple.into()))));
        }
        let text = &element.sort.text;
        Some(Template::Sort(SortId(self.messages.text(text))))
    }

    fn unknown_protocol(&mut self, name: &Name) {
        self.valid = false;
        if self.scope.complete {
            let known = self.scope.protocol_names.iter().map(String::as_str);
            let mut known = known.take(self.most_names());
            self.error(codes::unknown_protocol(
                name.as_str(),
                name.span,
                &mut known,
            ));
        }
    }

    fn call(
        &mut self,
        protocol: &Name,
        arguments: &[MessageExpr],
        players: &[Name],
        id: InteractionId,
    ) -> Option<NodeKind> {
        let Some(&callee) = self.scope.protocols.get(protocol.as_str()) else {
            self.unknown_protocol(protocol);
            return None;
        };
        let decl = self.decls[callee as usize];
        let span = self.decl.body.interaction(id).span;
        let declared = decl.name.span;
        let called = decl.name.as_str();
        if decl.roles.len() != players.len() {
            let (expected, found) = (decl.roles.len(), players.len());
            self.error(codes::argument_count(
                "role", called, expected, found, span, declared,
            ));
        }
        if decl.parameters.len() != arguments.len() {
            let (expected, found) = (decl.parameters.len(), arguments.len());
            self.error(codes::argument_count(
                "argument", called, expected, found, span, declared,
            ));
        }
        let mut resolved = Vec::with_capacity(players.len());
        for (position, name) in players.iter().enumerate() {
            let role = self.role(name)?;
            if let Some(first) = resolved.iter().position(|&other| other == role) {
                let first = players[..position]
                    .get(first)
                    .map_or(name.span, |name| name.span);
                self.error(codes::repeated_role(name.as_str(), name.span, first));
            }
            resolved.push(role);
        }
        let mut bound = Vec::with_capacity(arguments.len());
        for (parameter, argument) in decl.parameters.iter().zip(arguments) {
            bound.push(self.argument(parameter, argument)?);
        }
        self.valid.then_some(NodeKind::Do {
            callee,
            roles: resolved,
            arguments: bound,
        })
    }

    fn argument(&mut self, parameter: &Parameter, argument: &MessageExpr) -> Option<Template> {
        let mismatch = |expected| {
            codes::argument_kind(
                &argument.to_string(),
                expected,
                argument.span(),
                parameter.name.span,
            )
        };
        match (parameter.kind, argument) {
            (ParameterKind::Signature, MessageExpr::Named(name)) => {
                let text = name.as_str();
                let is_sort = self.scope.sorts.contains_key(text)
                    || self.parameter(text, ParameterKind::Sort).is_some();
                if is_sort {
                    self.error(mismatch("message"));
                    return None;
                }
                self.template(argument)
            }
            (ParameterKind::Signature, MessageExpr::Literal { .. }) => self.template(argument),
            (ParameterKind::Sort, MessageExpr::Literal { .. }) => {
                self.error(mismatch("sort"));
                None
            }
            (ParameterKind::Sort, MessageExpr::Named(name)) => {
                let text = name.as_str();
                let is_message = self.scope.signatures.contains_key(text)
                    || self.parameter(text, ParameterKind::Signature).is_some();
                if is_message {
                    self.error(mismatch("sort"));
                    return None;
                }
                self.sort(&Payload {
                    name: None,
                    sort: name.clone(),
                    delegated: None,
                })
            }
        }
    }
}

/// Ids fit: there are fewer of anything than bytes in texts shorter than 4 GiB. With several modules they could
/// run out, and the last id would be shared: 16 GiB of texts would be in memory then.
pub(crate) fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX - 1)
}
