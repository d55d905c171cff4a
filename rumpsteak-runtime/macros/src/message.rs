//! `#[derive(Message)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use rumpsteak_contract::name::same;
use rumpsteak_contract::{Input, MessageItem};
use syn::spanned::Spanned as _;
use syn::{Data, DataEnum, DeriveInput, Error, LitStr, Result};

use crate::verdict;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    derive(input).unwrap_or_else(Error::into_compile_error)
}

/// One label: its name, its type, and how it becomes a message and back.
struct Label {
    name: String,
    ty: TokenStream,
    variant: Option<Ident>,
}

fn derive(input: TokenStream) -> Result<TokenStream> {
    let derive: DeriveInput = syn::parse2(input.clone())?;
    if let Some(parameter) = derive.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            "a message type has no parameters: the build script compares its labels with those of the protocol",
        ));
    }
    let labels = match &derive.data {
        Data::Enum(data) => variants(input, data)?,
        Data::Struct(_) => vec![only_label(&derive)?],
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "expected an enum with one variant for each label, or a struct that is the only label",
            ));
        }
    };
    Ok(implement(&derive.ident, &labels))
}

fn variants(input: TokenStream, data: &DataEnum) -> Result<Vec<Label>> {
    let item = MessageItem::parse(&Input::new(input).tokens()).map_err(verdict::spanned)?;
    if item.variants.is_empty() {
        return Err(Error::new(
            item.name.span().rustc(),
            "expected at least one label: `Ready(Ready)`",
        ));
    }
    let mut labels: Vec<Label> = Vec::new();
    for (variant, syn::Variant { ident, fields, .. }) in
        item.variants.into_iter().zip(&data.variants)
    {
        // The grammar is that of one field.
        let ty: TokenStream = fields
            .iter()
            .map(|field| field.ty.to_token_stream())
            .collect();
        for earlier in &labels {
            if same(&earlier.name, &variant.label) {
                return Err(Error::new(
                    ident.span(),
                    format_args!("the label `{}` exists already", variant.label),
                ));
            }
            if earlier.ty.to_string() == ty.to_string() {
                return Err(Error::new(
                    ty.span(),
                    format_args!(
                        "`{ty}` already stands for the label `{}`: give each label a type of its own",
                        earlier.name
                    ),
                ));
            }
        }
        labels.push(Label {
            name: variant.label,
            ty,
            variant: Some(ident.clone()),
        });
    }
    Ok(labels)
}

fn only_label(derive: &DeriveInput) -> Result<Label> {
    let mut name = None;
    for attribute in &derive.attrs {
        if attribute.path().is_ident("label") {
            if name.is_some() {
                return Err(Error::new(
                    attribute.span(),
                    "`#[label(…)]` stands here twice",
                ));
            }
            name = Some(attribute.parse_args::<LitStr>()?.value());
        }
    }
    let ident = &derive.ident;
    Ok(Label {
        name: name.unwrap_or_else(|| unraw(ident)),
        ty: ident.to_token_stream(),
        variant: None,
    })
}

fn unraw(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

fn implement(message: &Ident, labels: &[Label]) -> TokenStream {
    let arms = labels
        .iter()
        .map(|Label { name, variant, .. }| match variant {
            Some(variant) => quote!(Self::#variant(_) => #name),
            None => quote!(_ => #name),
        });
    let tags = labels
        .iter()
        .enumerate()
        .map(|(tag, Label { variant, .. })| match variant {
            Some(variant) => quote!(Self::#variant(_) => #tag),
            None => quote!(_ => #tag),
        });
    let conversions = labels
        .iter()
        .enumerate()
        .map(|(tag, Label { name, ty, variant })| {
            let (upcast, downcast) = match variant {
                Some(variant) => (
                    quote!(Self::#variant(label)),
                    quote! {
                        match self {
                            Self::#variant(label) => ::core::result::Result::Ok(label),
                            #[allow(unreachable_patterns, reason = "the only label")]
                            other => ::core::result::Result::Err(other),
                        }
                    },
                ),
                None => (quote!(label), quote!(::core::result::Result::Ok(self))),
            };
            quote_spanned! {ty.span()=>
                #[automatically_derived]
                impl ::rumpsteak_runtime::Message<#ty> for #message {
                    const NAME: &'static str = #name;
                    const TAG: usize = #tag;

                    #[inline]
                    fn upcast(label: #ty) -> Self {
                        #upcast
                    }

                    #[inline]
                    fn downcast(self) -> ::core::result::Result<#ty, Self> {
                        #downcast
                    }
                }
            }
        });
    quote! {
        #[automatically_derived]
        impl ::rumpsteak_runtime::Labelled for #message {
            #[inline]
            fn label(&self) -> &'static str {
                match self {
                    #(#arms,)*
                }
            }

            #[inline]
            fn tag(&self) -> usize {
                match self {
                    #(#tags,)*
                }
            }
        }
        #(#conversions)*
    }
}
