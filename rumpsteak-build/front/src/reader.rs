//! A cursor over canonical tokens, and the pieces that the grammars of items share.

use std::fmt::Display;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Error, LitStr, Result};

use crate::canonical::{Canonical, Piece};
use crate::path::Path;
use crate::verdict::RENAMED;

/// A cursor over canonical tokens. It looks at each token without a copy, and steps over it once.
pub(crate) struct Reader<'a> {
    tokens: &'a [Piece],
    /// The index of the next token.
    next: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(canonical: &'a Canonical) -> Self {
        let tokens = &canonical.tokens;
        Self { tokens, next: 0 }
    }

    pub(crate) fn whole<T>(mut self, grammar: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let parsed = grammar(&mut self)?;
        self.end("expected nothing more")?;
        Ok(parsed)
    }

    pub(crate) fn index(&self) -> usize {
        self.next
    }

    fn peek(&self) -> Option<&'a Piece> {
        self.tokens.get(self.next)
    }

    /// The place of the next token; that of the closing bracket at the end of a group.
    pub(crate) fn span(&self) -> Span {
        self.peek().map_or_else(Span::call_site, Piece::span)
    }

    /// Whether this is the end of the group, or of the item.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self.peek(), None | Some(Piece::Close(_)))
    }

    /// An error at the next token, or at the closing bracket at the end of a group.
    pub(crate) fn error(&self, message: impl Display) -> Error {
        Error::new(self.span(), message)
    }

    /// Whether the next token is this identifier or keyword.
    pub(crate) fn at_ident(&self, text: &str) -> bool {
        matches!(self.peek(), Some(Piece::Tree(TokenTree::Ident(ident))) if ident == text)
    }

    pub(crate) fn at_punct(&self, punct: char) -> bool {
        self.peek().is_some_and(|next| next.is_punct(punct))
    }

    pub(crate) fn at_group(&self, delimiter: Delimiter) -> bool {
        matches!(self.peek(), Some(Piece::Open(group)) if group.delimiter() == delimiter)
    }

    /// Steps over the next tree, a token or a group, and returns it; `None` at the end.
    fn tree(&mut self) -> Option<TokenTree> {
        let tree = match self.peek()? {
            Piece::Close(_) => return None,
            Piece::Open(group) => {
                let mut depth = 0_usize;
                let ends = self.tokens[self.next..].iter().position(|piece| {
                    match piece {
                        Piece::Close(_) => depth -= 1,
                        Piece::Open(_) => depth += 1,
                        Piece::Tree(_) => {}
                    }
                    depth == 0
                });
                self.next += ends.unwrap_or(0);
                TokenTree::Group(group.clone())
            }
            Piece::Tree(tree) => tree.clone(),
        };
        self.next += 1;
        Some(tree)
    }

    /// Steps over all that is left.
    pub(crate) fn rest(&mut self) {
        while self.tree().is_some() {}
    }

    fn eat(&mut self, found: bool) -> bool {
        self.next += usize::from(found);
        found
    }

    pub(crate) fn eat_ident(&mut self, text: &str) -> bool {
        self.eat(self.at_ident(text))
    }

    pub(crate) fn eat_punct(&mut self, punct: char) -> bool {
        self.eat(self.at_punct(punct))
    }

    pub(crate) fn punct(&mut self, punct: char, message: impl Display) -> Result<()> {
        let found = self.eat_punct(punct);
        found.then_some(()).ok_or_else(|| self.error(message))
    }

    /// Expects the end of the group, or of the item.
    pub(crate) fn end(&self, message: impl Display) -> Result<()> {
        let found = self.at_end();
        found.then_some(()).ok_or_else(|| self.error(message))
    }

    /// Expects a group and parses all of its content. `messages` are for what is no such group, and
    /// for what follows the content inside it.
    pub(crate) fn group<T>(
        &mut self,
        delimiter: Delimiter,
        messages: [&str; 2],
        content: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if !self.at_group(delimiter) {
            return Err(self.error(messages[0]));
        }
        self.next += 1;
        let result = content(self)?;
        self.end(messages[1])?;
        self.next += 1;
        Ok(result)
    }

    /// Expects an identifier or a keyword.
    pub(crate) fn ident(&mut self, message: impl Display) -> Result<Ident> {
        match self.peek() {
            Some(Piece::Tree(TokenTree::Ident(ident))) => {
                self.next += 1;
                Ok(ident.clone())
            }
            _ => Err(self.error(message)),
        }
    }

    pub(crate) fn string(&mut self, message: impl Display) -> Result<LitStr> {
        if let Some(Piece::Tree(tree @ TokenTree::Literal(_))) = self.peek()
            && let Ok(literal) = syn::parse2(tree.to_token_stream())
        {
            self.next += 1;
            return Ok(literal);
        }
        Err(self.error(message))
    }

    fn eat_path_separator(&mut self) -> bool {
        let next = self.tokens.get(self.next..self.next + 2);
        let found = next.is_some_and(|next| next.iter().all(|token| token.is_punct(':')));
        self.next += if found { 2 } else { 0 };
        found
    }

    /// Expects a path without generic arguments.
    pub(crate) fn path(&mut self, message: impl Display) -> Result<Path> {
        let token = self.next;
        let leading_colon = self.eat_path_separator();
        let mut segments = vec![self.ident(message)?];
        while self.eat_path_separator() {
            segments.push(self.ident("a path goes on with a name after `::`")?);
        }
        Ok(Path { leading_colon, segments, token })
    }

    /// Steps over a visibility (`pub`, `pub(crate)`, `pub(in path)`) and returns it; empty if there
    /// is none.
    pub(crate) fn visibility(&mut self) -> TokenStream {
        let mut visibility = TokenStream::new();
        if self.at_ident("pub") {
            visibility.extend(self.tree());
            // `struct S(pub (A, B));` has a parenthesis after `pub` that belongs to the type.
            let restrictions = ["crate", "self", "super", "in"];
            if self.at_group(Delimiter::Parenthesis)
                && let Some(Piece::Tree(word)) = self.tokens.get(self.next + 1)
                && restrictions.contains(&word.to_string().as_str())
            {
                visibility.extend(self.tree());
            }
        }
        visibility
    }

    /// Steps over `crate = "…"` if it is there, and returns the path; `None` if it is not.
    pub(crate) fn runtime(&mut self) -> Result<Option<TokenStream>> {
        let equals = self.tokens.get(self.next + 1);
        if !self.at_ident("crate") || !equals.is_some_and(|next| next.is_punct('=')) {
            return Ok(None);
        }
        self.next += 2;
        let literal = self.string(EXPECTED_RUNTIME)?;
        let tokens = literal.value().parse().ok();
        let path = tokens.and_then(|tokens| path_of(tokens, 0));
        let path = path.ok_or_else(|| Error::new(literal.span(), EXPECTED_RUNTIME))?;
        Ok(Some(path.into_token_stream()))
    }

    /// Steps over `crate = "…"` if it is there, and returns the path of the runtime.
    pub(crate) fn runtime_or_default(&mut self) -> Result<TokenStream> {
        Ok(self.runtime()?.unwrap_or_else(default_runtime))
    }

    /// Steps over attributes. `read` gets the name of each, and reads what follows in the brackets.
    pub(crate) fn attributes(
        &mut self,
        mut read: impl FnMut(&Ident, &mut Self) -> Result<()>,
    ) -> Result<()> {
        const MESSAGE: &str = "expected an attribute";
        while self.eat_punct('#') {
            let messages = [MESSAGE, "expected the end of the attribute"];
            self.group(Delimiter::Bracket, messages, |inner| {
                let path = inner.path(MESSAGE)?;
                read(path.last(), inner)
            })?;
        }
        Ok(())
    }

    /// Steps over the argument, in parentheses, of an attribute that may stand there once.
    pub(crate) fn argument<T>(
        &mut self,
        attribute: &Ident,
        value: &mut Option<T>,
        argument: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<()> {
        if value.is_some() {
            let text = format!("`#[{attribute}(…)]` stands here twice");
            return Err(Error::new(attribute.span(), text));
        }
        let takes = format!("`{attribute}` takes an argument: `#[{attribute}(…)]`");
        let messages = [&*takes, "expected nothing more in this attribute"];
        *value = Some(self.group(Delimiter::Parenthesis, messages, |inner| {
            let argument = argument(inner)?;
            inner.eat_punct(',');
            Ok(argument)
        })?);
        Ok(())
    }

    /// Steps over the argument of `#[rumpsteak(crate = "…")]`.
    pub(crate) fn runtime_argument(
        &mut self,
        attribute: &Ident,
        value: &mut Option<TokenStream>,
    ) -> Result<()> {
        self.argument(attribute, value, |inner| {
            inner.runtime()?.ok_or_else(|| inner.error(EXPECTED_RUNTIME))
        })
    }

    /// Steps over generic parameters and a `where` clause before the body of an item, and returns
    /// the place of the first parameter.
    pub(crate) fn generics(&mut self) -> Option<Span> {
        let (mut first, mut angles, mut after_where) = (None, Angles::default(), false);
        loop {
            let is_body = self.at_punct(';')
                || self.at_group(Delimiter::Brace)
                || self.at_group(Delimiter::Parenthesis) && !after_where;
            if is_body && angles.depth == 0 {
                return first;
            }
            after_where |= self.at_ident("where");
            let Some(tree) = self.tree() else { return first };
            angles.step(&tree);
            if angles.depth == 1 && first.is_none() {
                first = Some(self.span());
            }
        }
    }

    /// Steps over a type up to a `,` or `;` outside all brackets, or the end of the group.
    pub(crate) fn ty(&mut self) -> TokenStream {
        let (mut ty, mut angles) = (TokenStream::new(), Angles::default());
        while (angles.depth > 0 || !self.at_punct(',') && !self.at_punct(';'))
            && let Some(tree) = self.tree()
        {
            angles.step(&tree);
            ty.extend([tree]);
        }
        ty
    }

    /// Reads the fields of a struct, named or not; none before a `;`. `attributes` reads those
    /// before a field.
    pub(crate) fn fields<A>(
        &mut self,
        message: &str,
        attributes: impl Fn(&mut Self) -> Result<A>,
    ) -> Result<Vec<Field<A>>> {
        if self.at_punct(';') {
            return Ok(Vec::new());
        }
        let named = self.at_group(Delimiter::Brace);
        let delimiter = if named { Delimiter::Brace } else { Delimiter::Parenthesis };
        let messages = [message, "expected `,` or the end of the fields"];
        self.group(delimiter, messages, |inner| {
            inner.list(|reader| {
                let attributes = attributes(reader)?;
                let span = reader.span();
                reader.visibility();
                let mut name = None;
                if named {
                    name = Some(reader.ident("expected a field")?);
                    reader.punct(':', "expected `:`")?;
                }
                Ok(Field {
                    attributes,
                    span,
                    name,
                    ty_token: reader.index(),
                    ty_span: reader.span(),
                    ty: reader.ty(),
                })
            })
        })
    }

    /// Reads `item , item , …` up to the end of the group.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.at_end() {
            items.push(item(self)?);
            if !self.eat_punct(',') {
                break;
            }
        }
        Ok(items)
    }
}

pub(crate) struct Field<A> {
    /// What its attributes say.
    pub(crate) attributes: A,
    pub(crate) span: Span,
    /// The name; `None` in a tuple struct.
    pub(crate) name: Option<Ident>,
    /// The index of the type's first token.
    pub(crate) ty_token: usize,
    /// The place of the type's first token.
    pub(crate) ty_span: Span,
    pub(crate) ty: TokenStream,
}

/// How many angle brackets are open.
#[derive(Debug, Default)]
pub struct Angles {
    /// The number.
    pub depth: usize,
    /// Whether the last token was a `-`, so that a `>` is the rest of an arrow.
    after_minus: bool,
}

impl Angles {
    /// Takes the next token.
    pub fn step(&mut self, tree: &TokenTree) {
        let punct = match tree {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match punct {
            '<' => self.depth += 1,
            '>' if !self.after_minus => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.after_minus = punct == '-';
    }
}

/// The path that tokens are, the first of which has the given index in the item; `None` if they are
/// something else.
pub(crate) fn path_of(tokens: TokenStream, token: usize) -> Option<Path> {
    let canonical = Canonical::new(tokens, &[]);
    let path = Reader::new(&canonical).whole(|reader| reader.path(""));
    path.ok().map(|path| Path { token, ..path })
}

/// The path of the runtime where no `crate = "…"` says otherwise.
pub(crate) fn default_runtime() -> TokenStream {
    let renamed = std::env::var(RENAMED).ok().and_then(|name| name.parse::<TokenStream>().ok());
    renamed.map_or_else(|| quote!(::rumpsteak_runtime), |name| quote!(::#name))
}

const EXPECTED_RUNTIME: &str = "expected the path of the runtime: `crate = \"rumpsteak_runtime\"`";
