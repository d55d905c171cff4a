//! A parser that counts canonical tokens, and the pieces that the grammars of items share.

use std::cell::Cell;
use std::fmt;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, LitStr, Result};

use crate::token::{Canonical, Piece, Pieces};

/// A path without generic arguments, as the user wrote it: `S`, `self::roles::S`, `::protocols::S`.
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether the path begins with `::`.
    pub leading_colon: bool,
    /// The segments, at least one. `crate`, `self`, `super` and `Self` are segments as others are.
    pub segments: Vec<Ident>,
    /// The index of the path's first token in the item.
    pub token: usize,
}

impl Path {
    /// The path that these tokens are; `None` if they are something else.
    pub(crate) fn of(tokens: TokenStream) -> Option<Self> {
        let canonical = Canonical::new(tokens, &[]).ok()?;
        let path = |reader: Reader<'_>| {
            let path = reader.path("")?;
            reader.end("")?;
            Ok(path)
        };
        canonical.parse(path).ok()
    }

    /// The last segment.
    #[must_use]
    pub fn last(&self) -> &Ident {
        // The reader is the only one to make paths, and it makes none without a segment.
        &self.segments[self.segments.len() - 1]
    }

    /// The index of the last segment's token, the one that a message about the path points at.
    #[must_use]
    pub fn last_token(&self) -> usize {
        // Each segment before it is three tokens: the name and `::`.
        self.token + usize::from(self.leading_colon) * 2 + (self.segments.len() - 1) * 3
    }

    /// The identifier that the whole path consists of; `None` if it is longer.
    #[must_use]
    pub fn as_ident(&self) -> Option<&Ident> {
        match &self.segments[..] {
            [ident] if !self.leading_colon => Some(ident),
            _ => None,
        }
    }

    /// The place of the last segment, at which a message about the path points.
    #[must_use]
    pub fn span(&self) -> Span {
        self.last().span()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 || self.leading_colon {
                f.write_str("::")?;
            }
            segment.fmt(f)?;
        }
        Ok(())
    }
}

impl ToTokens for Path {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 || self.leading_colon {
                tokens.extend(quote_spanned!(segment.span()=> ::));
            }
            segment.to_tokens(tokens);
        }
    }
}

/// Reads canonical tokens with `syn`, and counts them.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    input: ParseStream<'a>,
    /// How many tokens of the item were read.
    read: &'a Cell<usize>,
}

impl Canonical {
    /// Parses all tokens.
    ///
    /// # Errors
    ///
    /// Those of the grammar.
    pub(crate) fn parse<T>(&self, grammar: impl FnOnce(Reader<'_>) -> Result<T>) -> Result<T> {
        let read = Cell::new(0);
        let parser = |input: ParseStream<'_>| {
            let read = &read;
            grammar(Reader { input, read })
        };
        parser.parse2(self.stream.clone())
    }
}

impl Reader<'_> {
    /// The index of the next token.
    pub(crate) fn index(self) -> usize {
        self.read.get()
    }

    /// The place of the next token; that of the closing bracket at the end of a group.
    pub(crate) fn span(self) -> Span {
        self.input.span()
    }

    pub(crate) fn at_end(self) -> bool {
        self.input.is_empty()
    }

    /// An error at the next token, or at the closing bracket at the end of a group.
    pub(crate) fn error(self, message: impl fmt::Display) -> Error {
        Error::new(self.span(), message)
    }

    /// Whether the next token is this identifier or keyword.
    pub(crate) fn at_ident(self, text: &str) -> bool {
        let next = self.input.cursor().ident();
        next.is_some_and(|(ident, _)| ident == text)
    }

    /// Whether `crate = "…"` follows.
    pub(crate) fn at_crate(self) -> bool {
        self.at_ident("crate") && self.input.peek2(syn::Token![=])
    }

    pub(crate) fn at_punct(self, punct: char) -> bool {
        let next = self.input.cursor().punct();
        next.is_some_and(|(next, _)| next.as_char() == punct)
    }

    pub(crate) fn at_lifetime(self) -> bool {
        self.input.peek(syn::Lifetime)
    }

    pub(crate) fn at_group(self, delimiter: Delimiter) -> bool {
        self.input.cursor().group(delimiter).is_some()
    }

    /// Steps over the next tree, a token or a group, and returns it.
    fn tree(self) -> Result<TokenTree> {
        let tree: TokenTree = self.input.parse()?;
        let tokens = match &tree {
            TokenTree::Group(group) => {
                let visible = |piece: &Piece| !matches!(piece, Piece::Invisible);
                2 + Pieces::new(group.stream()).filter(visible).count()
            }
            _ => 1,
        };
        self.read.set(self.index() + tokens);
        Ok(tree)
    }

    /// Steps over all that is left.
    pub(crate) fn rest(self) -> Result<()> {
        while !self.at_end() {
            self.tree()?;
        }
        Ok(())
    }

    pub(crate) fn eat_ident(self, text: &str) -> bool {
        self.at_ident(text) && self.tree().is_ok()
    }

    pub(crate) fn eat_punct(self, punct: char) -> bool {
        self.at_punct(punct) && self.tree().is_ok()
    }

    /// Expects punctuation.
    pub(crate) fn punct(self, punct: char, message: impl fmt::Display) -> Result<()> {
        if self.eat_punct(punct) {
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    /// Expects the end of the group, or of the item.
    pub(crate) fn end(self, message: impl fmt::Display) -> Result<()> {
        if self.at_end() {
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    /// Expects a group and parses all of its content. `messages` are for what is no such group, and for
    /// what follows the content inside it.
    pub(crate) fn group<T>(
        self,
        delimiter: Delimiter,
        messages: [&str; 2],
        content: impl FnOnce(Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        if !self.at_group(delimiter) {
            return Err(self.error(messages[0]));
        }
        let inner;
        match delimiter {
            Delimiter::Brace => _ = syn::braced!(inner in self.input),
            Delimiter::Bracket => _ = syn::bracketed!(inner in self.input),
            Delimiter::None | Delimiter::Parenthesis => {
                _ = syn::parenthesized!(inner in self.input)
            }
        }
        self.read.set(self.index() + 1);
        let reader = Reader {
            input: &inner,
            read: self.read,
        };
        let result = content(reader)?;
        reader.end(messages[1])?;
        self.read.set(self.index() + 1);
        Ok(result)
    }

    /// Expects an identifier or a keyword.
    pub(crate) fn ident(self, message: impl fmt::Display) -> Result<Ident> {
        let ident = Ident::parse_any(self.input).map_err(|_| self.error(message))?;
        self.read.set(self.index() + 1);
        Ok(ident)
    }

    /// Expects a string literal.
    pub(crate) fn string(self, message: impl fmt::Display) -> Result<LitStr> {
        let literal = self.input.parse().map_err(|_| self.error(message))?;
        self.read.set(self.index() + 1);
        Ok(literal)
    }

    fn eat_path_separator(self) -> bool {
        self.input.peek(syn::Token![::]) && self.tree().is_ok() && self.tree().is_ok()
    }

    /// Expects a path without generic arguments.
    pub(crate) fn path(self, message: impl fmt::Display) -> Result<Path> {
        let token = self.index();
        let leading_colon = self.eat_path_separator();
        let mut segments = vec![self.ident(&message)?];
        while self.eat_path_separator() {
            segments.push(self.ident("a path goes on with a name after `::`")?);
        }
        Ok(Path {
            leading_colon,
            segments,
            token,
        })
    }

    /// Steps over a visibility (`pub`, `pub(crate)`, `pub(in path)`) and returns it; empty if there is none.
    pub(crate) fn visibility(self) -> Result<TokenStream> {
        let mut visibility = TokenStream::new();
        if self.at_ident("pub") {
            visibility.extend([self.tree()?]);
            // `struct S(pub (A, B));` has a parenthesis after `pub` that belongs to the type.
            if let Some((inner, ..)) = self.input.cursor().group(Delimiter::Parenthesis)
                && let Some((word, _)) = inner.ident()
                && ["crate", "self", "super", "in"]
                    .iter()
                    .any(|other| word == other)
            {
                visibility.extend([self.tree()?]);
            }
        }
        Ok(visibility)
    }

    /// Steps over `crate = "…"`, the name of the runtime's crate where it is renamed.
    pub(crate) fn crate_path(self) -> Result<TokenStream> {
        const MESSAGE: &str = "expected the path of the runtime: `crate = \"rumpsteak_runtime\"`";
        if !self.eat_ident("crate") {
            return Err(self.error(MESSAGE));
        }
        self.punct('=', MESSAGE)?;
        let literal = self.string(MESSAGE)?;
        let tokens = literal.value().parse().ok();
        let path = tokens.and_then(Path::of);
        let path = path.ok_or_else(|| Error::new(literal.span(), MESSAGE))?;
        Ok(path.into_token_stream())
    }

    /// Steps over `#[name]`, an attribute without arguments, and returns its name; `None` if none follows.
    pub(crate) fn plain_attribute(self, name: &str) -> Result<Option<Ident>> {
        let fork = self.input.fork();
        let read = &Cell::new(0);
        let ahead = Reader { input: &fork, read };
        let found = ahead.tree().is_ok()
            && fork
                .cursor()
                .group(Delimiter::Bracket)
                .is_some_and(|(inner, ..)| {
                    let path = Path::of(inner.token_stream());
                    path.is_some_and(|path| path.last() == name)
                });
        if !found {
            return Ok(None);
        }
        self.tree()?;
        let messages = ["expected an attribute"; 2];
        let path = self.group(Delimiter::Bracket, messages, |inner| {
            inner.path(messages[0])
        })?;
        Ok(Some(path.last().clone()))
    }

    /// Steps over `#[name(content)]`.
    pub(crate) fn attribute<T>(
        self,
        content: impl FnOnce(Ident, Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        const MESSAGE: &str = "expected an attribute";
        self.punct('#', MESSAGE)?;
        let messages = [MESSAGE, "expected the end of the attribute"];
        self.group(Delimiter::Bracket, messages, |inner| {
            let path = inner.path(MESSAGE)?;
            let takes = format!("`{path}` takes an argument: `#[{path}(…)]`");
            let messages = [&*takes, "expected nothing more in this attribute"];
            inner.group(Delimiter::Parenthesis, messages, |arguments| {
                let result = content(path.last().clone(), arguments)?;
                arguments.eat_punct(',');
                Ok(result)
            })
        })
    }

    /// Steps over generic parameters and a `where` clause before the body of an item, and returns the
    /// place of the first parameter.
    pub(crate) fn generics(self) -> Result<Option<Span>> {
        let (mut first, mut angles, mut after_where) = (None, Angles::default(), false);
        let is_body = |after_where: bool| {
            self.at_punct(';')
                || self.at_group(Delimiter::Brace)
                || self.at_group(Delimiter::Parenthesis) && !after_where
        };
        while !self.at_end() && (angles.depth > 0 || !is_body(after_where)) {
            after_where |= self.at_ident("where");
            angles.step(&self.tree()?);
            if angles.depth == 1 && first.is_none() {
                first = Some(self.span());
            }
        }
        Ok(first)
    }

    /// Steps over a type up to a `,` or `;` outside all brackets, or the end of the group.
    pub(crate) fn ty(self) -> Result<TokenStream> {
        let (mut ty, mut angles) = (TokenStream::new(), Angles::default());
        while !self.at_end() && (angles.depth > 0 || !self.at_punct(',') && !self.at_punct(';')) {
            let tree = self.tree()?;
            angles.step(&tree);
            ty.extend([tree]);
        }
        Ok(ty)
    }

    /// Reads the fields of a struct, named or not; none before a `;`. `attributes` reads those before a field.
    pub(crate) fn fields<A>(
        self,
        message: &str,
        attributes: impl Fn(Reader<'_>) -> Result<A>,
    ) -> Result<Vec<Field<A>>> {
        if self.at_punct(';') {
            return Ok(Vec::new());
        }
        let (delimiter, named) = if self.at_group(Delimiter::Brace) {
            (Delimiter::Brace, true)
        } else {
            (Delimiter::Parenthesis, false)
        };
        let messages = [message, "expected `,` or the end of the fields"];
        self.group(delimiter, messages, |inner| {
            inner.list(|reader| {
                let attributes = attributes(reader)?;
                let span = reader.span();
                reader.visibility()?;
                let mut name = None;
                if named {
                    name = Some(reader.ident("expected a field")?);
                    reader.punct(':', "expected `:`")?;
                }
                let (ty_token, ty_span) = (reader.index(), reader.span());
                let ty = reader.ty()?;
                Ok(Field {
                    attributes,
                    span,
                    name,
                    ty,
                    ty_token,
                    ty_span,
                })
            })
        })
    }

    /// Reads `item , item , …` up to the end of the group.
    pub(crate) fn list<T>(self, item: impl Fn(Self) -> Result<T>) -> Result<Vec<T>> {
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

/// A field of a struct.
pub(crate) struct Field<A> {
    /// What its attributes say.
    pub(crate) attributes: A,
    /// The place of the field.
    pub(crate) span: Span,
    /// The name; `None` in a tuple struct.
    pub(crate) name: Option<Ident>,
    /// The type.
    pub(crate) ty: TokenStream,
    /// The index of the type's first token.
    pub(crate) ty_token: usize,
    /// The place of the type's first token.
    pub(crate) ty_span: Span,
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

/// The path of the runtime where no `crate = "…"` says otherwise.
pub(crate) fn default_crate() -> TokenStream {
    quote!(::rumpsteak_runtime)
}
