//! Modules to text.

use std::fmt::{self, Display, Formatter};

use super::ast::{
    Body, Declaration, DeclarationKind, Import, InteractionId, InteractionKind, MessageExpr,
    Module, Parameter, ParameterKind, Payload, ProtocolDecl, RoleDecl,
};
use crate::diagnostics::span::Name;

/// Blocks deeper than this are not indented further, or a file of 100,000 nested blocks would print
/// as gigabytes of blanks.
const DEEPEST_INDENT: usize = 16;

/// The module as text in one uniform layout.
///
/// Parsing the text gives the same module, but for spans and comments. A construct that is not
/// supported is not kept in a [`Module`] and hence not printed: print modules that
/// [`parse`](crate::parse) had no errors for. Costs O(module), without recursion.
impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut groups = Vec::new();
        groups.extend(
            self.header
                .iter()
                .map(|header| format!("module {header};\n")),
        );
        groups.push(
            self.imports
                .iter()
                .map(|import| format!("{import}\n"))
                .collect(),
        );
        groups.push(
            self.declarations
                .iter()
                .map(|sort| format!("{sort}\n"))
                .collect(),
        );
        groups.extend(self.protocols.iter().map(ToString::to_string));
        groups.retain(|group: &String| !group.is_empty());
        f.write_str(&groups.join("\n"))
    }
}

/// Its source text: `import shop.Base as B;`
impl Display for Import {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "import {}{};", self.module, Alias(self.alias.as_ref()))
    }
}

/// Its source text: `type <rust> "std::string::String" from "std" as Str;`
impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            schema,
            external,
            from,
            name,
            ..
        } = self;
        let kind = match kind {
            DeclarationKind::Payload => "type",
            DeclarationKind::Signature => "sig",
        };
        write!(f, "{kind} <{schema}> \"{external}\" ")?;
        if let Some(from) = from {
            write!(f, "from \"{from}\" ")?;
        }
        write!(f, "as {name};")
    }
}

/// Its source text, of several lines.
impl Display for ProtocolDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let auxiliary = if self.auxiliary { "aux " } else { "" };
        write!(f, "{auxiliary}global protocol {}", self.name)?;
        if !self.parameters.is_empty() {
            write!(f, "<{}>", Separated(&self.parameters))?;
        }
        let Self {
            roles, annotations, ..
        } = self;
        writeln!(f, "({}){} {{", Separated(roles), Annotations(annotations))?;
        print_body(&self.body, f)?;
        f.write_str("}\n")
    }
}

fn print_body(body: &Body, f: &mut Formatter<'_>) -> fmt::Result {
    /// What is left to print, last first.
    enum Task<'a> {
        Items(&'a [InteractionId], usize),
        Line(&'static str, usize),
    }
    let indent = |depth: usize| "    ".repeat(depth.min(DEEPEST_INDENT));
    let items = |block| &*body.block(block).items;
    let mut tasks = vec![Task::Items(items(body.root()), 1)];
    while let Some(task) = tasks.pop() {
        let (id, depth) = match task {
            Task::Line(text, depth) => {
                writeln!(f, "{}{text}", indent(depth))?;
                continue;
            }
            Task::Items([], _) => continue,
            Task::Items([first, rest @ ..], depth) => {
                tasks.push(Task::Items(rest, depth));
                (*first, depth)
            }
        };
        let interaction = body.interaction(id);
        let margin = indent(depth);
        match &interaction.kind {
            InteractionKind::Choice { at, branches } => {
                writeln!(f, "{margin}choice at {at} {{")?;
                tasks.push(Task::Line("}", depth));
                for (position, &branch) in branches.iter().enumerate().rev() {
                    tasks.push(Task::Items(items(branch), depth + 1));
                    if position > 0 {
                        tasks.push(Task::Line("} or {", depth));
                    }
                }
                continue;
            }
            InteractionKind::Rec { variable, body } => {
                writeln!(f, "{margin}rec {variable} {{")?;
                tasks.push(Task::Line("}", depth));
                tasks.push(Task::Items(items(*body), depth + 1));
                continue;
            }
            InteractionKind::Invalid => continue,
            InteractionKind::Message { message, from, to } => {
                write!(f, "{margin}{message} from {from} to {}", Separated(to))?;
            }
            InteractionKind::Continue { variable } => write!(f, "{margin}continue {variable}")?,
            InteractionKind::Do {
                protocol,
                arguments,
                roles,
            } => {
                write!(f, "{margin}do {protocol}")?;
                if !arguments.is_empty() {
                    write!(f, "<{}>", Separated(arguments))?;
                }
                write!(f, "({})", Separated(roles))?;
            }
        }
        writeln!(f, ";{}", Annotations(&interaction.annotations))?;
    }
    Ok(())
}

/// Its source text: `role A as B`
impl Display for RoleDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "role {}{}", self.name, Alias(self.alias.as_ref()))
    }
}

/// Its source text: `sig M`
impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ParameterKind::Sort => "type",
            ParameterKind::Signature => "sig",
        };
        write!(f, "{kind} {}", self.name)
    }
}

/// Its source text: `buy(x: Int, P@A)`, `Cancel`
impl Display for MessageExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "{name}"),
            Self::Literal { label, payload } => write!(f, "{label}({})", Separated(payload)),
        }
    }
}

/// Its source text: `Int`, `x: Int`, `P@A`
impl Display for Payload {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
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

/// `a, b, c`
struct Separated<'a, T>(&'a [T]);

impl<T: Display> Display for Separated<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, element) in self.0.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            write!(f, "{comma}{element}")?;
        }
        Ok(())
    }
}

/// ` @"text"`, any number of times.
struct Annotations<'a>(&'a [Name]);

impl Display for Annotations<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|text| write!(f, " @\"{text}\""))
    }
}

/// ` as name`, or nothing.
struct Alias<'a>(Option<&'a Name>);

impl Display for Alias<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |name| write!(f, " as {name}"))
    }
}
