//! Sets of roles.
//!
//! ```text
//! #[derive(Roles)]
//! struct Roles { s: S, k: K, t: T }
//! ```

use proc_macro2::{Ident, TokenStream};
use syn::{
    Attribute, Data, Error, Field, GenericArgument, Member, PathArguments, PathSegment, Result,
    Type, Visibility, parse_quote_spanned,
};

use crate::attribute::{check_generics, derive_input, ensure, refuse, take, take_derive};

/// A `#[derive(Roles)]` struct.
#[derive(Clone)]
pub struct SetItem {
    /// The name of the struct.
    pub name: Ident,
    /// The attributes, without `Roles` in a derive.
    pub attributes: Vec<Attribute>,
    /// The visibility of the struct; `pub` if it is inherited.
    pub visibility: Visibility,
    /// The fields.
    pub fields: Vec<SetField>,
}

/// A field of a set.
#[derive(Clone)]
pub struct SetField {
    /// The role.
    pub role: Ident,
    /// True for the members of a family: `Vec<Worker>`.
    pub is_family: bool,
    /// The name of the field, or its position in a tuple struct.
    pub member: Member,
    /// The field, with `pub` for an inherited visibility.
    pub field: Field,
}

impl SetItem {
    /// Parses a set with its attributes. An error is at the first token that does not fit.
    pub fn parse(item: TokenStream) -> Result<Self> {
        let mut input = derive_input(item, &["closed_system"])?;
        if let Some(attribute) = take(&mut input.attrs, &["closed_system"]).first() {
            return Err(Error::new_spanned(attribute, "`#[closed_system]` stands on the module"));
        }
        take_derive(&mut input.attrs, "Roles");
        check_generics(&input, "a set of roles has no parameters")?;
        let Data::Struct(data) = input.data else {
            return refuse(input.ident.span(), EXPECTED);
        };
        let mut fields = Vec::<SetField>::new();
        let names: Vec<Member> = data.fields.members().collect();
        for (mut field, member) in data.fields.into_iter().zip(names) {
            let played = members(&field.ty);
            let (role, is_family) = (bare(played.unwrap_or(&field.ty)), played.is_some());
            let role = role.ok_or_else(|| Error::new_spanned(&field.ty, EXPECTED_ROLE))?;
            let is_second = fields.iter().any(|earlier| earlier.role == role);
            let text = format!("a second `{role}`: a set has each role once");
            ensure(!is_second, role.span(), text)?;
            // In the module, `Vec` may be another type.
            if is_family {
                field.ty = parse_quote_spanned!(role.span()=> ::std::vec::Vec<#role>);
            }
            fields.push(SetField { role, is_family, member, field });
        }
        let text = "expected at least one role: `struct Roles { s: S, k: K }`";
        ensure(!fields.is_empty(), input.ident.span(), text)?;
        let (name, attributes, visibility) = (input.ident, input.attrs, input.vis);
        Ok(Self { name, attributes, visibility, fields })
    }
}

/// Returns the type of the elements of a `Vec`.
fn members(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    only_argument(path.path.segments.last().filter(|last| last.ident == "Vec")?)
}

/// Returns the type in `Name<Type>`.
pub(crate) fn only_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let GenericArgument::Type(ty) = arguments.args.first()? else { return None };
    (arguments.args.len() == 1).then_some(ty)
}

/// Returns the identifier that a type consists of.
pub(crate) fn bare(ty: &Type) -> Option<Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident().cloned(),
        // A fragment of a `macro_rules!`.
        Type::Group(group) => bare(&group.elem),
        _ => None,
    }
}

const EXPECTED: &str =
    "expected a struct with one field for each role: `struct Roles { s: S, k: K }`";
const EXPECTED_ROLE: &str = "expected the name of a role, which is the type of a field of a set";
