//! Modules to text.

use std::fmt::{self, Write as _};

use crate::syntax::ast::*;

/// Blocks deeper than this are not indented further, or a file of 100,000 nested blocks would print as
/// gigabytes of blanks.
const DEEPEST_INDENT: usize = 16;

/// The module as text in one uniform layout.
///
/// Parsing the text gives the same module, but for spans and comments. A construct that is not supported is not
/// kept in a [`Module`] and hence not printed: print modules that [`parse`](crate::parse) had no errors for.
/// Costs O(module), without recursion.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        if let Some(header) = &self.header {
            printer.line(0, format_args!("module {header};"));
        }
        printer.group();
        for Import { module, alias, .. } in &self.imports {
            match alias {
                Some(alias) => printer.line(0, format_args!("import {module} as {alias};")),
                None => printer.line(0, format_args!("import {module};")),
            }
        }
        printer.group();
        for declaration in &self.declarations {
            printer.declaration(declaration);
        }
        for protocol in &self.protocols {
            printer.group();
            printer.protocol(protocol);
        }
        f.write_str(&printer.text)
    }
}

#[derive(Default)]
struct Printer {
    text: String,
}

impl Printer {
    fn write(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth.min(DEEPEST_INDENT) {
            self.text.push_str("    ");
        }
    }

    fn line(&mut self, depth: usize, text: fmt::Arguments<'_>) {
        self.indent(depth);
        self.write(text);
        self.text.push('\n');
    }

    /// An empty line between what was printed and what follows.
    fn group(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let Declaration {
            kind,
            schema,
            external,
            from,
            name,
            ..
        } = declaration;
        let kind = match kind {
            DeclarationKind::Payload => "type",
            DeclarationKind::Signature => "sig",
        };
        self.write(format_args!("{kind} <{schema}> \"{external}\" "));
        if let Some(from) = from {
            self.write(format_args!("from \"{from}\" "));
        }
        self.write(format_args!("as {name};\n"));
    }

    fn protocol(&mut self, protocol: &ProtocolDecl) {
        if protocol.auxiliary {
            self.text.push_str("aux ");
        }
        self.write(format_args!("global protocol {}", protocol.name));
        if !protocol.parameters.is_empty() {
            self.separated("<", &protocol.parameters, ">", |printer, parameter| {
                let kind = match parameter.kind {
                    ParameterKind::Sort => "type",
                    ParameterKind::Signature => "sig",
                };
                printer.write(format_args!("{kind} {}", parameter.name));
            });
        }
        self.separated("(", &protocol.roles, ")", |printer, role| {
            printer.write(format_args!("role {}", role.name));
            if let Some(alias) = &role.alias {
                printer.write(format_args!(" as {alias}"));
            }
        });
        self.annotations(&protocol.annotations);
        self.text.push_str(" {\n");
        self.body(&protocol.body);
        self.text.push_str("}\n");
    }

    fn body(&mut self, body: &Body) {
        /// What is left to print, last first.
        enum Task<'a> {
            Items(&'a [InteractionId], usize),
            Line(&'static str, usize),
        }
        let items = |block| &*body.block(block).items;
        let mut tasks = vec![Task::Items(items(body.root()), 1)];
        while let Some(task) = tasks.pop() {
            let (id, depth) = match task {
                Task::Line(text, depth) => {
                    self.line(depth, format_args!("{text}"));
                    continue;
                }
                Task::Items([], _) => continue,
                Task::Items([first, rest @ ..], depth) => {
                    tasks.push(Task::Items(rest, depth));
                    (*first, depth)
                }
            };
            let interaction = body.interaction(id);
            match &interaction.kind {
                InteractionKind::Choice { at, branches } => {
                    self.line(depth, format_args!("choice at {at} {{"));
                    tasks.push(Task::Line("}", depth));
                    for (index, &branch) in branches.iter().enumerate().rev() {
                        tasks.push(Task::Items(items(branch), depth + 1));
                        if index > 0 {
                            tasks.push(Task::Line("} or {", depth));
                        }
                    }
                }
                InteractionKind::Rec {
                    variable,
                    body: block,
                } => {
                    self.line(depth, format_args!("rec {variable} {{"));
                    tasks.push(Task::Line("}", depth));
                    tasks.push(Task::Items(items(*block), depth + 1));
                }
                InteractionKind::Invalid => {}
                _ => {
                    self.indent(depth);
                    self.leaf(&interaction.kind);
                    self.text.push(';');
                    self.annotations(&interaction.annotations);
                    self.text.push('\n');
                }
            }
        }
    }

    fn leaf(&mut self, kind: &InteractionKind) {
        match kind {
            InteractionKind::Message { message, from, to } => {
                self.message(message);
                self.write(format_args!(" from {from} to "));
                self.separated("", to, "", |printer, role| {
                    printer.write(format_args!("{role}"));
                });
            }
            InteractionKind::Continue { variable } => {
                self.write(format_args!("continue {variable}"));
            }
            InteractionKind::Do {
                protocol,
                arguments,
                roles,
            } => {
                self.write(format_args!("do {protocol}"));
                if !arguments.is_empty() {
                    self.separated("<", arguments, ">", Self::message);
                }
                self.separated("(", roles, ")", |printer, role| {
                    printer.write(format_args!("{role}"));
                });
            }
            InteractionKind::Choice { .. }
            | InteractionKind::Rec { .. }
            | InteractionKind::Invalid => {}
        }
    }

    fn message(&mut self, message: &MessageExpr) {
        self.write(format_args!("{message}"));
    }

    fn annotations(&mut self, annotations: &[Name]) {
        for annotation in annotations {
            self.write(format_args!(" @\"{annotation}\""));
        }
    }

    fn separated<T>(
        &mut self,
        open: &str,
        elements: &[T],
        close: &str,
        mut print: impl FnMut(&mut Self, &T),
    ) {
        self.text.push_str(open);
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            print(self, element);
        }
        self.text.push_str(close);
    }
}

/// As it is written: `buy(x: Int, P@A)`, `Cancel`.
impl fmt::Display for MessageExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "{name}"),
            Self::Literal { label, payload } => {
                write!(f, "{label}(")?;
                for (index, element) in payload.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{element}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// As it is written: `Int`, `x: Int`, `P@A`.
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        write!(f, "{}", self.sort)?;
        match &self.delegated {
            Some(role) => write!(f, "@{role}"),
            None => Ok(()),
        }
    }
}
