//! The way from rustc's tokens to those of this crate, and back: for macros.

use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

use crate::session::Path;
use crate::token::{Delimiter, Ident, Span, Token, TokenKind};

/// What rustc gave to a macro, as a list of tokens.
///
/// The invisible groups that `macro_rules!` puts around its fragments are gone. Works on a stack of its own, so that the
/// depth of nesting costs memory only.
#[derive(Debug)]
pub struct Input(Vec<(Kind, proc_macro2::Span)>);

#[derive(Debug)]
enum Kind {
    Close(Delimiter),
    Ident(String),
    Literal(String),
    Open(Delimiter),
    Punct(char, bool),
}

impl Input {
    /// Takes a stream.
    #[must_use]
    pub fn new(stream: TokenStream) -> Self {
        let mut tokens = Vec::new();
        let mut open = vec![(stream.into_iter(), None)];
        while let Some((trees, close)) = open.last_mut() {
            let Some(tree) = trees.next() else {
                tokens.extend(close.take());
                open.pop();
                continue;
            };
            let span = tree.span();
            match tree {
                TokenTree::Ident(ident) => tokens.push((Kind::Ident(ident.to_string()), span)),
                TokenTree::Literal(text) => tokens.push((Kind::Literal(text.to_string()), span)),
                TokenTree::Punct(punct) => {
                    let joint = punct.spacing() == Spacing::Joint;
                    tokens.push((Kind::Punct(punct.as_char(), joint), span));
                }
                TokenTree::Group(group) => {
                    let delimiter = match group.delimiter() {
                        proc_macro2::Delimiter::Brace => Some(Delimiter::Brace),
                        proc_macro2::Delimiter::Bracket => Some(Delimiter::Bracket),
                        proc_macro2::Delimiter::Parenthesis => Some(Delimiter::Parenthesis),
                        proc_macro2::Delimiter::None => None,
                    };
                    tokens.extend(delimiter.map(|d| (Kind::Open(d), group.span_open())));
                    let close = delimiter.map(|d| (Kind::Close(d), group.span_close()));
                    open.push((group.stream().into_iter(), close));
                }
            }
        }
        Self(tokens)
    }

    /// The tokens. They have no places in a text.
    #[must_use]
    pub fn tokens(&self) -> Vec<Token<'_>> {
        let mut tokens: Vec<Token<'_>> = Vec::with_capacity(self.0.len());
        let mut open = Vec::new();
        for (kind, rustc) in &self.0 {
            let kind = match kind {
                Kind::Close(delimiter) => TokenKind::Close(*delimiter),
                Kind::Ident(text) => TokenKind::Ident(text),
                Kind::Literal(text) => TokenKind::Literal(text),
                Kind::Open(delimiter) => TokenKind::Open(*delimiter),
                Kind::Punct(punct, joint) => TokenKind::Punct(*punct, *joint),
            };
            let span = Span {
                rustc: Some(*rustc),
                ..Span::default()
            };
            match kind {
                TokenKind::Open(_) => open.push(tokens.len()),
                TokenKind::Close(_) => {
                    if let Some(open) = open.pop() {
                        tokens[open].tree = tokens.len() - open + 1;
                    }
                }
                _ => {}
            }
            tokens.push(Token {
                kind,
                span,
                tree: 1,
            });
        }
        tokens
    }
}

impl Span {
    /// The place as rustc knows it; that of the macro's call for a token that rustc did not give.
    #[must_use]
    pub fn rustc(self) -> proc_macro2::Span {
        self.rustc.unwrap_or_else(proc_macro2::Span::call_site)
    }
}

impl Ident {
    /// The identifier for rustc, at another place.
    #[must_use]
    pub fn located(&self, span: Span) -> proc_macro2::Ident {
        match self.as_str().strip_prefix("r#") {
            Some(name) => proc_macro2::Ident::new_raw(name, span.rustc()),
            None => proc_macro2::Ident::new(self.as_str(), span.rustc()),
        }
    }
}

impl ToTokens for Ident {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend([TokenTree::Ident(self.located(self.span()))]);
    }
}

impl ToTokens for Path {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 || self.leading_colon {
                for spacing in [Spacing::Joint, Spacing::Alone] {
                    let mut colon = Punct::new(':', spacing);
                    colon.set_span(segment.span().rustc());
                    tokens.extend([TokenTree::Punct(colon)]);
                }
            }
            segment.to_tokens(tokens);
        }
    }
}
