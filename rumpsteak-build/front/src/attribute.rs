//! Attributes and visibilities of items.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Data, DeriveInput, Error, Meta, Result, Token, Visibility};

use crate::cut::{self, attribute_path, check_depth, end_of, has, is_punct, trees};
use crate::hash::{Piece, Pieces};

/// Returns the visibility of an item or a field: `pub` in place of an inherited one, because the
/// visibility of the module decides. `place` is the token that follows, so that rustc points there.
pub(crate) fn public(visibility: Visibility, place: Span) -> Visibility {
    match visibility {
        Visibility::Inherited => Visibility::Public(Token![pub](place)),
        other => other,
    }
}

/// Takes the attributes with these names out of the list.
pub(crate) fn take(attributes: &mut Vec<Attribute>, names: &[&str]) -> Vec<Attribute> {
    let is_ours = |attribute: &mut Attribute| {
        names.iter().any(|name| attribute.path().segments.last().is_some_and(|it| it.ident == name))
    };
    attributes.extract_if(.., is_ours).collect()
}

/// Returns the last segment of an attribute's path.
pub(crate) fn word(attribute: &Attribute) -> Ident {
    let last = attribute.path().segments.last().map(|segment| segment.ident.clone());
    last.unwrap_or_else(|| Ident::new("_", Span::call_site()))
}

/// Reads the argument, in parentheses, of an attribute that may stand there once.
pub(crate) fn argument<T>(
    attribute: &Attribute,
    value: &mut Option<T>,
    argument: impl FnOnce(ParseStream<'_>) -> Result<T>,
) -> Result<()> {
    let name = word(attribute);
    let Meta::List(list) = &attribute.meta else {
        return refuse(name.span(), format!("`{name}` takes an argument: `#[{name}(…)]`"));
    };
    ensure(value.is_none(), name.span(), format!("`#[{name}(…)]` stands here twice"))?;
    *value = Some(cut::parse(list.tokens.clone(), list.delimiter.span().close(), |input| {
        let argument = argument(input)?;
        input.parse::<Option<Token![,]>>()?;
        expect_end(input, "expected nothing more in this attribute")?;
        Ok(argument)
    })?);
    Ok(())
}

/// Returns an error at a place.
pub(crate) fn refuse<T>(place: Span, text: impl Display) -> Result<T> {
    Err(Error::new(place, text))
}

/// Returns an error at a place unless the condition holds.
pub(crate) fn ensure(holds: bool, place: Span, text: impl Display) -> Result<()> {
    if holds { Ok(()) } else { refuse(place, text) }
}

/// Expects a token such as `Token![,]`.
pub(crate) fn expect<T: Parse>(input: ParseStream<'_>, message: impl Display) -> Result<T> {
    let span = input.span();
    input.parse().map_err(|_| Error::new(span, message))
}

/// Expects an identifier or a keyword.
pub(crate) fn ident(input: ParseStream<'_>, message: &str) -> Result<Ident> {
    input.call(Ident::parse_any).map_err(|_| Error::new(input.span(), message))
}

pub(crate) fn expect_end(input: ParseStream<'_>, message: &str) -> Result<()> {
    ensure(input.is_empty(), input.span(), message)
}

/// Parses a name of an item of the module.
pub(crate) fn name(input: ParseStream<'_>, expected: &str) -> Result<Ident> {
    let start = input.span();
    ensure(!input.peek(Token![_]), start, expected)?;
    if !input.peek(Token![::]) {
        let name = ident(input, expected)?;
        if !input.peek(Token![::]) {
            return Ok(name);
        }
    }
    while input.parse::<Option<Token![::]>>()?.is_some() {
        let last = ident(input, "a path goes on with a name after `::`")?;
        let is_word = has("Branch End Race Receive Select Send", &last.to_string());
        if is_word && !input.peek(Token![::]) {
            let text = format!("`{last}` is a word of sessions, which is written without a path");
            return refuse(start, text);
        }
    }
    refuse(start, NO_PATH)
}

/// Returns the paths in a derive, each with the word that it is, if it is one of ours: `Role` or
/// `rumpsteak::Role`.
fn derives(list: TokenStream) -> Vec<(TokenStream, Option<String>)> {
    let trees = trees(list);
    let paths = trees.split(|tree| is_punct(Some(tree), ',')).filter(|path| !path.is_empty());
    let derive = |path: &[TokenTree]| {
        let words: Vec<String> =
            path.iter().filter_map(cut::word).map(|it| it.to_string()).collect();
        let word = match &words[..] {
            [word] => Some(word),
            [krate, word] if krate.starts_with("rumpsteak") => Some(word),
            _ => None,
        };
        let word = word.filter(|word| ["Message", "Role", "Roles"].contains(&word.as_str()));
        (path.iter().cloned().collect(), word.cloned())
    };
    paths.map(derive).collect()
}

/// Returns the first word of ours in the arguments of a derive.
pub(crate) fn derived(arguments: &[TokenTree]) -> Option<String> {
    let [TokenTree::Group(list)] = arguments else { return None };
    derives(list.stream()).into_iter().find_map(|(_, word)| word)
}

/// Takes a word of ours out of `#[derive(…)]`.
pub(crate) fn take_derive(attributes: &mut Vec<Attribute>, word: &str) {
    attributes.retain_mut(|attribute| match &mut attribute.meta {
        Meta::List(list) if list.path.is_ident("derive") => {
            let mut paths = derives(list.tokens.clone());
            let before = paths.len();
            paths.retain(|(_, own)| own.as_deref() != Some(word));
            if paths.len() == before {
                return true;
            }
            let kept = paths.iter().map(|(path, _)| path);
            list.tokens = quote!(#(#kept),*);
            !paths.is_empty()
        }
        _ => true,
    });
}

/// Parses an item with its attributes: those named in `ours` mean something to the grammar, and
/// the others must be inert.
pub(crate) fn parse_item<T>(
    item: TokenStream,
    ours: &[&str],
    is_session: bool,
    grammar: fn(ParseStream<'_>) -> Result<T>,
) -> Result<T> {
    let pieces: Vec<Piece> = Pieces::new(item.clone()).collect();
    check_depth(&pieces, is_session)?;
    check(&pieces, ours)?;
    let trees = trees(item);
    let end = end_of(&trees);
    cut::parse(trees.into_iter().collect(), end, grammar)
}

/// Parses a struct or an enum as [`parse_item`] does. Inherited visibilities, of the item and of
/// the fields of a struct, become `pub`.
pub(crate) fn derive_input(item: TokenStream, ours: &[&str]) -> Result<DeriveInput> {
    let mut input = parse_item(item, ours, false, DeriveInput::parse)?;
    input.vis = public(input.vis, input.ident.span());
    if let Data::Struct(data) = &mut input.data {
        for field in &mut data.fields {
            let place = field.ident.as_ref().map_or_else(|| first(&field.ty), Ident::span);
            field.vis = public(field.vis.clone(), place);
        }
    }
    Ok(input)
}

/// Refuses generic parameters.
pub(crate) fn check_generics(input: &DeriveInput, text: &str) -> Result<()> {
    match (input.generics.params.first(), &input.generics.where_clause) {
        (Some(parameter), _) => Err(Error::new_spanned(parameter, text)),
        (None, Some(clause)) => refuse(clause.where_token.span, text),
        (None, None) => Ok(()),
    }
}

/// Returns the place of the first token.
pub(crate) fn first(tokens: &impl ToTokens) -> Span {
    tokens.to_token_stream().into_iter().next().map_or_else(Span::call_site, |tree| tree.span())
}

/// Refuses the attributes on and in an item after which rustc may see another item than the one
/// that is verified.
pub(crate) fn check(item: &[Piece], ours: &[&str]) -> Result<()> {
    const INERT: &str = "allow automatically_derived default deny deprecated derive doc expect \
                         forbid must_use non_exhaustive repr warn";
    const TOOLS: &str = "clippy diagnostic rust_analyzer rustfmt";
    let attributes = attributes(item);
    let has_helpers = attributes.iter().any(|(_, attribute, path)| {
        path.len() == 1 && path[0] == "derive" && names_helper(attribute)
    });
    for (mark, attribute, path) in &attributes {
        let Some(first) = path.first().map(Ident::to_string) else { continue };
        let first = first.as_str();
        let error = |text| Err(Error::new_spanned(quote!(#mark #attribute), text));
        if first == "cfg" || first == "cfg_attr" {
            return error(NO_CFG.to_owned());
        }
        let last = path[path.len() - 1].to_string();
        let is_inert = match path.len() {
            1 => has_helpers || has(INERT, first),
            _ => has(TOOLS, first),
        };
        if !is_inert && !ours.contains(&last.as_str()) {
            return error(format!("`#[{last}]` {NOT_INERT}"));
        }
    }
    Ok(())
}

/// Returns true if a `#[derive(…)]` names a macro that may have attributes of its own.
fn names_helper(derive: &Group) -> bool {
    const WITHOUT: &str =
        "derive Clone Copy Debug Eq Hash Message Ord PartialEq PartialOrd Role Roles";
    let mut trees = Pieces::new(derive.stream()).filter_map(Piece::tree);
    trees.any(|tree| cut::word(&tree).is_some_and(|name| !has(WITHOUT, &name.to_string())))
}

/// Returns the attributes on and in an item: the `#`, the brackets and the path.
pub(crate) fn attributes(item: &[Piece]) -> Vec<(&TokenTree, &Group, Vec<Ident>)> {
    let (mut attributes, mut last) = (Vec::new(), None);
    for piece in item {
        last = match (piece, last) {
            (Piece::Open(group), Some(mark)) if group.delimiter() == Delimiter::Bracket => {
                attributes.push((mark, group, attribute_path(group).0));
                None
            }
            (Piece::Tree(tree), _) if is_punct(Some(tree), '#') => Some(tree),
            (Piece::Tree(tree), mark) if is_punct(Some(tree), '!') => mark,
            _ => None,
        };
    }
    attributes
}

const NO_CFG: &str = "a condition cannot stand in a module that is verified: put `#[cfg(…)]` on the whole module, and write the module once for each case";
const NO_PATH: &str = "everything that a session names is an item of the module: import a payload \
                       with `use`, and wrap it in a label";
const NOT_INERT: &str = "may be a macro that changes this item after it was verified: only `#[derive(…)]`, attributes \
                         of a derive, and attributes such as `#[doc]` and `#[allow]` can stand here";
