//! Types on lines of at most 100 columns, laid out as `rustfmt` does by default.

/// A type: a name with arguments.
#[derive(Clone, Debug)]
pub(super) struct Type {
    name: String,
    arguments: Vec<Type>,
}

/// How long a line may be.
const WIDTH: usize = 100;

/// How long several fields on one line may be.
const FIELDS: usize = 60;

impl Type {
    pub(super) fn name(name: impl Into<String>) -> Self {
        Self::apply(name, Vec::new())
    }

    pub(super) fn apply(name: impl Into<String>, arguments: Vec<Self>) -> Self {
        let name = name.into();
        Self { name, arguments }
    }

    /// The type on one line.
    pub(super) fn line(&self) -> String {
        if self.arguments.is_empty() {
            return self.name.clone();
        }
        let arguments: Vec<String> = self.arguments.iter().map(Self::line).collect();
        format!("{}<{}>", self.name, arguments.join(", "))
    }

    /// The type behind `before` columns on a line with this indentation, with `after` columns
    /// behind it.
    pub(super) fn print(&self, indent: usize, before: usize, after: usize) -> String {
        let line = self.line();
        if self.arguments.is_empty() || before + line.chars().count() + after <= WIDTH {
            return line;
        }
        format!("{}<\n{}{}>", self.name, rows(&self.arguments, indent + 4), " ".repeat(indent))
    }
}

/// Types on lines of their own with this indentation.
fn rows(types: &[Type], indent: usize) -> String {
    let space = " ".repeat(indent);
    types.iter().map(|ty| format!("{space}{},\n", ty.print(indent, indent, 1))).collect()
}

/// `HEAD = TYPE;`
pub(super) fn alias(head: &str, ty: &Type) -> String {
    let line = format!("{head} = {};", ty.line());
    if line.chars().count() <= WIDTH {
        return line;
    }
    let below = format!("{head} =\n    {};", ty.line());
    if 4 + ty.line().chars().count() < WIDTH {
        return below;
    }
    format!("{head} = {};", ty.print(0, WIDTH, 1))
}

/// `HEAD(TYPE, …)END` with this indentation, where each type may take lines of its own.
pub(super) fn tuple(indent: usize, head: &str, types: &[Type], end: &str) -> String {
    let space = " ".repeat(indent);
    let lines: Vec<String> = types.iter().map(Type::line).collect();
    let fields = lines.join(", ");
    let line = format!("{space}{head}({fields}){end}");
    let short = types.len() == 1 || fields.chars().count() <= FIELDS;
    if short && line.chars().count() <= WIDTH {
        return line;
    }
    format!("{space}{head}(\n{}{space}){end}", rows(types, indent + 4))
}
