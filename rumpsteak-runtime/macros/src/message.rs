//! `#[derive(Message)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rumpsteak_contract::MessageItem;
use rumpsteak_contract::canonical::number;
use rumpsteak_contract::message::MessageVariant;
use rumpsteak_contract::name::same;
use syn::spanned::Spanned as _;
use syn::{Error, Result};

use crate::tokens::{at, declared};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    derive(input.clone()).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        let stub = declared(input);
        let stub = stub.map(|name| quote!(::rumpsteak_runtime::private::stub!(message #name);));
        quote!(#error #stub)
    })
}

fn derive(input: TokenStream) -> Result<TokenStream> {
    let item = MessageItem::parse(input)?;
    if let Some(parameter) = item.parameters {
        return Err(Error::new(
            parameter,
            "a message type has no parameters: the build script compares its labels with those of the protocol",
        ));
    }
    if item.variants.is_empty() {
        return Err(Error::new(item.name.span(), "expected at least one label: `Ready(Ready)`"));
    }
    for index in 0..item.variants.len() {
        check_label(&item.variants, index)?;
    }
    Ok(implement(&item))
}

/// Refuses a label whose name or type an earlier one has.
fn check_label(all: &[MessageVariant], index: usize) -> Result<()> {
    let MessageVariant { name, label, ty, .. } = &all[index];
    let text = ty.to_string();
    for earlier in &all[..index] {
        if same(&earlier.label, label) {
            return Err(Error::new(
                name.span(),
                format_args!("the label `{label}` exists already"),
            ));
        }
        if earlier.ty.to_string() == text {
            let bare = all.iter().filter(|other| other.ty.to_string() == text);
            let bare = bare.map(|other| &other.name).filter(|name| *name != &text);
            // A label that has its own name is a struct, and so is most likely the other one.
            let is_copied = all.iter().any(|other| other.name == text);
            let own = bare.map(|name| match is_copied {
                true => format!(
                    "\n      {name}({name}), and declare `struct {name}` if it is not there"
                ),
                false => format!("\n      {name}({name}), with `struct {name}({ty});`"),
            });
            return Err(Error::new(
                ty.span(),
                format_args!(
                    "`{ty}` already stands for the label `{}`\n\nhelp: give each label a type of its own:{}",
                    earlier.label,
                    own.collect::<String>()
                ),
            ));
        }
    }
    Ok(())
}

fn implement(item: &MessageItem) -> TokenStream {
    let MessageItem { name: message, variants, krate, .. } = item;
    let pattern = |variant: &MessageVariant| {
        let name = &variant.name;
        if item.is_struct { quote!(_) } else { quote!(Self::#name(_)) }
    };
    let patterns: Vec<_> = variants.iter().map(pattern).collect();
    let types = variants.iter().map(|variant| &variant.ty);
    // The label of a struct has no number before it when it travels.
    let labels = variants.iter().map(|variant| match item.is_struct {
        true => format!("struct {}", variant.label),
        false => variant.label.clone(),
    });
    let labels = labels.collect::<Vec<_>>().join("\n");
    let conversions = variants.iter().enumerate();
    let conversions = conversions.map(|(tag, variant)| conversion(item, tag, variant));
    quote! {
        #[automatically_derived]
        impl #krate::transport::Labelled for #message {
            const LABELS: &'static str = #labels;

            #[inline]
            fn labelled(&self) -> #krate::private::Label {
                match self {
                    #(#patterns => <Self as #krate::Message<#types>>::LABEL.0,)*
                }
            }
        }
        #(#conversions)*
    }
}

/// How a label becomes a message, and back.
fn conversion(item: &MessageItem, tag: usize, variant: &MessageVariant) -> TokenStream {
    let MessageVariant { name, label, ty, .. } = variant;
    let (upcast, downcast) = if item.is_struct {
        (quote!(label), quote!(::core::result::Result::Ok(self)))
    } else {
        (
            quote!(Self::#name(label)),
            quote! {
                match self {
                    Self::#name(label) => ::core::result::Result::Ok(label),
                    #[allow(unreachable_patterns, reason = "the only label")]
                    other => ::core::result::Result::Err(other),
                }
            },
        )
    };
    let (message, krate) = (&item.name, at(&item.krate, ty.span()));
    let number = number(&[label]);
    quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl #krate::Message<#ty> for #message {
            const LABEL: #krate::private::ByMacro<#krate::private::Label> =
                #krate::private::ByMacro(#krate::private::Label {
                    name: #label,
                    number: #number,
                    tag: #tag,
                });

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
}
