//! Replaces names by numbers, protocol by protocol.
//!
//! A protocol with an unknown name, or with a part that could not be read, is marked invalid, and
//! so are its callers.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rumpsteak_fsm::{Label, Message, Sort};

use super::program::{self, END, Node, NodeKind, Program, ResolvedProtocol, Source, Template};
use super::recursion::Recursions;
use super::scope::Scope;
use crate::diagnostics::{Diagnostic, Name, Span, global_errors, name_errors, rust_types};
use crate::index::{IndexSet, NONE, index};
use crate::syntax::ast::{
    BlockId, Declaration, DeclarationKind, Interaction, InteractionId, InteractionKind, Interrupt,
    Link, MessageExpr, Module, Parameter, Payload, ProtocolDecl, RoleDecl,
};

/// Resolves all protocols of all modules. Costs O(text), plus O(names²) for each unknown name.
pub(crate) fn resolve<'m>(sources: &'m [Source], diagnostics: &mut Vec<Diagnostic>) -> Program<'m> {
    let mut bases = Vec::with_capacity(sources.len());
    let mut decls = Vec::new();
    for Source { module, .. } in sources {
        bases.push(decls.len());
        decls.extend(&module.protocols);
        duplicates(module, diagnostics);
    }
    let mut messages = IndexSet::default();
    let mut protocols = Vec::with_capacity(decls.len());
    for (own, Source { module, .. }) in sources.iter().enumerate() {
        let scope = Scope::new(own, sources, &bases);
        for decl in &module.protocols {
            let resolver = Resolver {
                module,
                decl,
                decls: &decls,
                scope: &scope,
                messages: &mut messages,
                recursions: Recursions::new(&decl.body),
                roles: HashMap::new(),
                nodes: Vec::new(),
                blocks: vec![(decl.body.root(), END)],
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

/// The number of members in a declaration: 0 if the program gives it. `None` for a mistake.
pub(crate) fn family_size(size: &Name) -> Option<u32> {
    match size.as_str() {
        text if text.starts_with(|first: char| first.is_ascii_digit()) => {
            text.parse().ok().filter(|members| (1..=u32::from(u16::MAX)).contains(members))
        }
        _ => Some(0),
    }
}

fn duplicates(module: &Module, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashMap::new();
    for ProtocolDecl { name, .. } in &module.protocols {
        let first = earlier(&mut seen, name);
        diagnostics.extend(first.map(|first| name_errors::duplicate("protocol", name, first)));
    }
    // Sorts and messages share their names, since `do P<X>` names either. A name may be declared
    // once for each language.
    let mut seen: HashMap<&str, Vec<&Declaration>> = HashMap::new();
    for found in &module.declarations {
        let others = seen.entry(found.name.as_str()).or_default();
        let is_same = |other: &&&Declaration| {
            other.kind != found.kind || other.schema.text == found.schema.text
        };
        match others.iter().find(is_same) {
            Some(other) => {
                let what = match found.kind {
                    DeclarationKind::Payload => "type",
                    DeclarationKind::Signature => "message",
                };
                diagnostics.push(name_errors::duplicate(what, &found.name, other.name.span));
            }
            None => others.push(found),
        }
    }
}

/// The place of the first name with the same text, unless `name` is the first.
pub(super) fn earlier<'m>(seen: &mut HashMap<&'m str, Span>, name: &'m Name) -> Option<Span> {
    let first = *seen.entry(name.as_str()).or_insert(name.span);
    (first != name.span).then_some(first)
}

struct Resolver<'a, 'm> {
    module: &'m Module,
    decl: &'m ProtocolDecl,
    decls: &'a [&'m ProtocolDecl],
    scope: &'a Scope,
    messages: &'a mut IndexSet<Message>,
    recursions: Recursions<'m>,
    /// The numbers of the roles by their names and aliases.
    roles: HashMap<&'m str, u32>,
    nodes: Vec<Node>,
    /// The blocks that are not resolved yet, each with the node that follows it.
    blocks: Vec<(BlockId, u32)>,
    valid: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'m> Resolver<'_, 'm> {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.valid = false;
    }

    /// The names to compare an unknown one with. After hundreds of errors there are none: comparing
    /// all names with all others would take too long.
    fn known<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        names.take(if self.diagnostics.len() > 200 { 0 } else { 256 }).collect()
    }

    fn run(mut self) -> ResolvedProtocol<'m> {
        self.header();
        let (decl, body) = (self.decl, &self.decl.body);
        for (variable, around) in std::mem::take(&mut self.recursions.unbound) {
            let known = self.known(around.into_iter());
            self.error(name_errors::unknown_recursion(variable, &known));
        }
        for (span, variable) in std::mem::take(&mut self.recursions.leaving) {
            self.error(name_errors::leaves_block(variable, span));
        }
        for interaction in &body.interactions {
            self.add(NodeKind::Invalid, END, interaction.span);
        }
        // Outside in, so that each block knows what follows it.
        while let Some((block, after)) = self.blocks.pop() {
            let items = self.recursions.items(body, block).to_vec();
            for (position, &id) in items.iter().enumerate() {
                let next = items.get(position + 1).map_or(after, |next| next.0);
                self.nodes[id.0 as usize].next = next;
                if let Some(kind) = self.interaction(id, next) {
                    self.nodes[id.0 as usize].kind = kind;
                }
            }
        }
        if self.valid {
            /// The greatest number of warnings for one protocol.
            const MOST: usize = 16;
            let targets: HashSet<u32> = self.recursions.targets.iter().copied().collect();
            let once = body.interactions().filter_map(|(id, Interaction { kind, span, .. })| {
                let InteractionKind::Rec { variable, .. } = kind else { return None };
                let warning = || global_errors::done_once(*span, variable.as_str()).warning();
                (!targets.contains(&id.0)).then(warning)
            });
            self.diagnostics.extend(once.take(MOST));
        }
        let entry = self.start(body.root(), END);
        ResolvedProtocol { decl, valid: self.valid, entry, nodes: self.nodes }
    }

    fn add(&mut self, kind: NodeKind, next: u32, span: Span) -> u32 {
        self.nodes.push(Node { kind, next, span });
        index(self.nodes.len() - 1)
    }

    /// The first node of a block, or `next` if it is empty.
    fn start(&self, block: BlockId, next: u32) -> u32 {
        self.recursions.start(&self.decl.body, block, next)
    }

    fn header(&mut self) {
        let decl = self.decl;
        let mut roles = HashMap::new();
        for (number, role) in (0..).zip(&decl.roles) {
            for name in [Some(&role.name), role.alias.as_ref()].into_iter().flatten() {
                if let Some(first) = earlier(&mut roles, name) {
                    self.error(name_errors::duplicate("role", name, first));
                }
                self.roles.entry(name.as_str()).or_insert(number);
            }
        }
        for RoleDecl { name, members, .. } in &decl.roles {
            let Some(size) = members else { continue };
            let family = self.ring(name).map(|(_, family)| &family.name);
            if let Some(family) = family.filter(|family| self.family(family).is_none()) {
                self.error(name_errors::each_of_one(size, family.span));
            } else if family.is_none() && family_size(size).is_none() {
                self.error(name_errors::family_size(size));
            } else if decl.explicit {
                self.error(name_errors::of_one_role(name, "connect", name.span));
            }
        }
        let mut parameters = HashMap::new();
        for Parameter { name, .. } in &decl.parameters {
            if let Some(first) = earlier(&mut parameters, name) {
                self.error(name_errors::duplicate("parameter", name, first));
            }
        }
    }

    /// The node for an interaction before `next`; `None` if it is wrong.
    fn interaction(&mut self, id: InteractionId, next: u32) -> Option<NodeKind> {
        let Interaction { kind, span, .. } = self.decl.body.interaction(id);
        match kind {
            InteractionKind::Invalid => {
                self.valid = false;
                None
            }
            InteractionKind::Message { message, from, to, each, link } => {
                self.families(from, to, each, *link);
                let (message, from, to) = self.message(message, from, to)?;
                let (&first, others) = to.split_first()?;
                let is_family = |role: u32| self.decl.roles[role as usize].members.is_some();
                // A message to several roles is sent to one after the other.
                let node = |message, to| {
                    let link = match *link {
                        Link::Asks if !is_family(from) && !is_family(to) => Link::Needs,
                        link => link,
                    };
                    NodeKind::Message { message, from, to, link }
                };
                let next = others
                    .iter()
                    .rev()
                    .fold(next, |next, &to| self.add(node(message.clone(), to), next, *span));
                self.nodes[id.0 as usize].next = next;
                Some(node(message, first))
            }
            InteractionKind::Choice { at, branches } => {
                self.blocks.extend(branches.iter().rev().map(|&block| (block, next)));
                let branches = branches.iter().map(|&block| self.start(block, next)).collect();
                self.one(at, "choose");
                self.role(at).map(|at| NodeKind::Choice { at, branches })
            }
            InteractionKind::Rec { body, .. } => {
                self.blocks.push((*body, next));
                let is_inert = self.recursions.inert[id.0 as usize];
                let target = if is_inert { next } else { self.start(*body, next) };
                Some(NodeKind::Jump { target })
            }
            InteractionKind::Continue { .. } => match self.recursions.targets[id.0 as usize] {
                NONE => None,
                target => {
                    let target = *self.recursions.again.get(&id.0).unwrap_or(&target);
                    Some(NodeKind::Jump { target })
                }
            },
            InteractionKind::Par { parts } => self.block(id, parts, &[]),
            InteractionKind::Interruptible { body, interrupts } => {
                self.block(id, &[*body], interrupts)
            }
            InteractionKind::Do { protocol, arguments, roles } => {
                self.call(protocol, arguments, roles, *span)
            }
        }
    }

    /// A `par` or `interruptible`: each part has an end of its own.
    fn block(
        &mut self,
        id: InteractionId,
        parts: &[BlockId],
        interrupts: &[Interrupt],
    ) -> Option<NodeKind> {
        let mut starts = Vec::with_capacity(parts.len());
        for &part in parts {
            let span = self.decl.body.interaction(id).span;
            let end = self.add(NodeKind::PartEnd { block: id.0 }, END, span);
            starts.push(self.start(part, end));
            self.blocks.push((part, end));
        }
        let interrupts = interrupts.iter().map(|Interrupt { message, by, via, answer }| {
            self.one(by, "interrupt a block");
            via.iter().for_each(|role| self.one(role, "pass on an interrupt"));
            let span = message.span().to(by.span);
            let (message, by, via) = self.message(message, by, via)?;
            let answer = answer.as_ref().map(|answer| self.template(answer));
            let answer = answer.map_or(Some(None), |answer| answer.map(Some))?;
            Some(program::Interrupt { by, message, via, answer, span })
        });
        Some(NodeKind::Block { parts: starts, interrupts: interrupts.collect::<Option<_>>()? })
    }

    fn role(&mut self, name: &Name) -> Option<u32> {
        let found = self.roles.get(name.as_str()).copied();
        if found.is_none() {
            self.unknown_role(name, self.decl);
        }
        found
    }

    fn declared(&self, name: &Name) -> Option<&'m RoleDecl> {
        Some(&self.decl.roles[*self.roles.get(name.as_str())? as usize])
    }

    fn family(&self, name: &Name) -> Option<&'m RoleDecl> {
        self.declared(name).filter(|role| role.members.is_some() && self.ring(name).is_none())
    }

    /// A ring, and the role that it connects.
    fn ring(&self, name: &Name) -> Option<(&'m RoleDecl, &'m RoleDecl)> {
        let ring = self.declared(name)?;
        Some((ring, &self.decl.roles[self.decl.connected_by(ring)?]))
    }

    /// Reports a ring where it has no place. False if the role is not a ring.
    fn misused_ring(&mut self, role: &Name) -> bool {
        let Some((ring, family)) = self.ring(role) else { return false };
        self.error(name_errors::ring(&ring.name, &family.name, role.span));
        true
    }

    /// Reports a family or a ring in the place of one role.
    fn one(&mut self, role: &Name, does: &str) {
        if let (false, Some(family)) = (self.misused_ring(role), self.family(role)) {
            self.error(name_errors::of_one_role(role, does, family.name.span));
        }
    }

    /// Reports one role in the place of a family. An unknown role is reported elsewhere.
    fn several(&mut self, role: &Name) {
        let error = self.declared(role).map(|one| name_errors::each_of_one(role, one.name.span));
        error.into_iter().for_each(|error| self.once(error, "and here"));
    }

    /// Checks that `each` is before all families among the roles of a message, that a ring talks to
    /// its family only, and that members of families do not talk to each other.
    fn families(&mut self, from: &Name, to: &[Name], each: &[Span], link: Link) {
        let roles = || [from].into_iter().chain(to);
        for name in roles() {
            let Some((_, family)) = self.ring(name) else { continue };
            let is_known = |other: &Name| other.text == family.name.text;
            let is_alone = roles().all(|other| other.span == name.span || is_known(other));
            if !is_alone || to.len() > 1 || link != Link::Needs {
                self.misused_ring(name);
                return;
            }
        }
        let to_family = to.iter().find(|name| self.family(name).is_some());
        let only_sends = link.only_sends();
        if let (Some(family), Some(to), true) = (self.family(from), to_family, only_sends) {
            // A role without `each` may be meant as a ring, whose family has another name.
            let (ring, of) = if each.contains(&from.span) { (to, from) } else { (from, to) };
            let size = self.family(ring).unwrap_or(family).members.as_ref().unwrap_or(ring);
            let next = if ring.text == of.text { "next" } else { ring.as_str() };
            self.error(name_errors::family_to_family(to, next, of, size));
            return;
        }
        for name in roles() {
            let is_each = each.contains(&name.span);
            match self.family(name) {
                Some(_) if !only_sends => self.one(name, "connect"),
                Some(family) if !is_each => {
                    self.error(name_errors::without_each(name, family.name.span));
                }
                None if is_each => self.several(name),
                _ => {}
            }
        }
    }

    fn unknown_role(&mut self, name: &Name, decl: &ProtocolDecl) {
        let known = self.known(decl.roles.iter().map(|role| role.name.as_str()));
        let unknown = name_errors::unknown_role(name, &decl.name, &known);
        self.once(unknown, "nor is there one here");
    }

    /// Reports an error once, with its first places, which `again` marks.
    fn once(&mut self, error: Diagnostic, again: &str) {
        let is_same = |said: &&mut Diagnostic| {
            said.message == error.message
                && said.primary.source() == error.primary.source()
                && said.secondary.starts_with(&error.secondary)
        };
        // Looks at a bounded number of errors, so that many mistakes cost linear time only.
        match self.diagnostics.iter_mut().take(200).find(is_same) {
            None => self.diagnostics.push(error),
            Some(said) if said.secondary.len() > 3 => {}
            Some(said) => {
                said.secondary.push((said.primary.max(error.primary), again.to_owned()));
                said.primary = said.primary.min(error.primary);
            }
        }
        self.valid = false;
    }

    /// The message, the sender and the receivers.
    fn message(
        &mut self,
        message: &MessageExpr,
        from: &Name,
        to: &[Name],
    ) -> Option<(Template, u32, Vec<u32>)> {
        let message = self.template(message);
        let sender = self.role(from);
        let mut receivers: Vec<u32> = Vec::with_capacity(to.len());
        for name in to {
            let Some(receiver) = self.role(name) else { continue };
            if sender == Some(receiver) && self.family(name).is_none() {
                self.error(name_errors::self_message(name, from.span));
            } else if let Some(first) = receivers.iter().position(|&other| other == receiver) {
                self.error(name_errors::repeated_receiver(name, to[first].span));
            }
            receivers.push(receiver);
        }
        let (message, sender) = (message?, sender?);
        self.valid.then_some((message, sender, receivers))
    }

    fn parameters(&self, kind: DeclarationKind) -> impl Iterator<Item = (u32, &'m str)> + use<'m> {
        let parameters = (0..).zip(&self.decl.parameters);
        let parameters = parameters.filter(move |(_, parameter)| parameter.kind == kind);
        parameters.map(|(number, parameter)| (number, parameter.name.as_str()))
    }

    /// The number of the parameter `name`, if it is one of this kind.
    fn parameter(&self, name: &str, kind: DeclarationKind) -> Option<Template> {
        let mut parameters = self.parameters(kind);
        let (number, _) = parameters.find(|(_, parameter)| *parameter == name)?;
        Some(Template::Parameter(number))
    }

    fn template(&mut self, message: &MessageExpr) -> Option<Template> {
        let (label, payload) = match message {
            MessageExpr::Named(name) => return self.named_message(name),
            MessageExpr::Literal { label, payload } => (label, payload),
        };
        let (units, rest): (Vec<&Payload>, Vec<_>) =
            payload.iter().partition(|element| element.sort.as_str() == "()");
        if let Some(unit) = units.first() {
            let payload = rest.into_iter().cloned().collect();
            let without = MessageExpr::Literal { label: label.clone(), payload };
            self.error(rust_types::unit(&unit.sort, &without.to_string()));
            return None;
        }
        let sorts = payload.iter().map(|element| self.sort(element)).collect::<Option<_>>()?;
        Some(Template::message(Label::from(Arc::clone(&label.text)), sorts, self.messages))
    }

    fn named_message(&mut self, name: &Name) -> Option<Template> {
        if let Some(parameter) = self.parameter(name.as_str(), DeclarationKind::Signature) {
            return Some(parameter);
        }
        let scope = self.scope;
        let known = scope.signatures.contains(name.as_str());
        // In a module that declares messages, or a protocol with parameters, an unknown name is a
        // mistake. Otherwise it is a label without payload.
        let parameters = self.parameters(DeclarationKind::Signature);
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
            let sorts = sorts.filter(|found| {
                found.kind == DeclarationKind::Payload && found.schema.as_str() == "rust"
            });
            let declared: Vec<(&Name, &str)> =
                sorts.map(|found| (&found.name, found.external.as_str().trim())).collect();
            self.once(rust_types::nameless(&element.sort, &declared), "and here");
            return None;
        }
        let sort = if let Some(role) = &element.delegated {
            let decl = self.protocol(&element.sort)?.1;
            let Some(found) = decl.roles.iter().find(|known| known.name.text == role.text) else {
                self.unknown_role(role, decl);
                return None;
            };
            if found.members.is_some() {
                self.error(name_errors::of_one_role(role, "be delegated", found.name.span));
            }
            Sort::from(format!("{name}@{role}"))
        } else if let Some(parameter) = self.parameter(name, DeclarationKind::Payload) {
            return Some(parameter);
        } else if self.scope.sorts.contains(name)
            && let Some((_, simple)) = name.rsplit_once('.')
        {
            // The sort of another module keeps its own name.
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
        players: &[(Name, Option<Name>)],
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
        // In the order of the callee's roles.
        let mut roles: Vec<Option<(u32, Span)>> = vec![None; decl.roles.len().max(players.len())];
        for (position, (name, part)) in players.iter().enumerate() {
            let role = self.role(name)?;
            if let Some(&(_, first)) = roles.iter().flatten().find(|(other, _)| *other == role) {
                self.error(name_errors::repeated_role(name, first));
            }
            let place = match part {
                Some(part) => {
                    let is_it = |own: &RoleDecl| own.name.text == part.text;
                    let found = decl.roles.iter().position(is_it);
                    if found.is_none() {
                        self.unknown_role(part, decl);
                    }
                    found?
                }
                None => position,
            };
            if let (Some((_, first)), Some(part)) = (roles[place], part) {
                self.error(name_errors::played_twice(part, first));
            }
            roles[place] = Some((role, name.span));
            let wanted = decl.roles.get(place).and_then(|wanted| wanted.members.as_ref());
            match (self.family(name), wanted) {
                _ if self.misused_ring(name) => {}
                // Another number of roles is reported already.
                (Some(_), None) if place < decl.roles.len() => self.one(name, "play one role"),
                (None, Some(_)) => self.several(name),
                (Some(own), Some(wanted)) => {
                    let fixed = family_size(wanted).filter(|&members| members > 0);
                    if fixed.is_some() && own.members.as_ref().and_then(family_size) != fixed {
                        self.error(name_errors::other_size(name, wanted));
                    }
                }
                _ => {}
            }
        }
        let roles: Vec<u32> = roles.into_iter().flatten().map(|(role, _)| role).collect();
        let pairs = decl.parameters.iter().zip(arguments);
        let arguments = pairs.map(|(parameter, argument)| self.argument(parameter, argument));
        let arguments = arguments.collect::<Option<_>>()?;
        self.valid.then_some(NodeKind::Do { callee, roles, arguments })
    }

    fn argument(&mut self, parameter: &Parameter, argument: &MessageExpr) -> Option<Template> {
        let is = |name: &Name, kind: DeclarationKind| {
            let declared = match kind {
                DeclarationKind::Payload => &self.scope.sorts,
                DeclarationKind::Signature => &self.scope.signatures,
            };
            declared.contains(name.as_str()) || self.parameter(name.as_str(), kind).is_some()
        };
        let expected = match (parameter.kind, argument) {
            (DeclarationKind::Signature, MessageExpr::Named(name))
                if is(name, DeclarationKind::Payload) =>
            {
                "message"
            }
            (DeclarationKind::Signature, _) => return self.template(argument),
            (DeclarationKind::Payload, MessageExpr::Named(name))
                if !is(name, DeclarationKind::Signature) =>
            {
                return self.sort(&Payload { name: None, sort: name.clone(), delegated: None });
            }
            (DeclarationKind::Payload, _) => "sort",
        };
        let (name, declared) = (argument.to_string(), parameter.name.span);
        self.error(name_errors::argument_kind(&name, expected, argument.span(), declared));
        None
    }
}
