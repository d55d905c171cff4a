//! What a set of roles says.
//!
//! ```text
//! #[derive(Roles)]
//! #[closed_system]                      no protocol: the sessions of these roles are checked together
//! struct Roles { s: S, k: K, t: T }
//! ```
//!
//! A set that is a closed system has a key to the verdict file, as role structs have. Of its
//! attributes, those in [`SET_ATTRIBUTES`] count; all others are dropped.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Error, Result};

use crate::canonical::{Canonical, Key};
use crate::path::Path;
use crate::reader::{Field, Reader, default_runtime, path_of};

/// The attributes that are part of a set's key.
pub const SET_ATTRIBUTES: [&str; 2] = ["closed_system", "rumpsteak"];

/// A `#[derive(Roles)]` struct.
#[derive(Clone, Debug)]
pub struct SetItem {
    /// The name of the struct.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The visibility of the struct.
    pub visibility: TokenStream,
    /// Whether the set has `#[closed_system]`: its sessions are verified together, without a
    /// protocol.
    pub is_closed_system: bool,
    /// The place of the first generic parameter, if there is one.
    pub parameters: Option<Span>,
    /// The fields.
    pub fields: Vec<SetField>,
    /// The path of the runtime's crate: that of `#[rumpsteak(crate = "…")]`, or
    /// `::rumpsteak_runtime`.
    pub krate: TokenStream,
    /// The key to the verdict on the set.
    pub key: Key,
}

/// A field of a set.
#[derive(Clone, Debug)]
pub struct SetField {
    /// The name of the field; `None` in a tuple struct.
    pub name: Option<Ident>,
    /// The type of the field.
    pub ty: TokenStream,
    /// The type as a path; `None` if it is another type, which a closed system refuses.
    pub role: Option<Path>,
}

impl SetItem {
    /// Parses the input of `#[derive(Roles)]`.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        let canonical = Canonical::new(item, &SET_ATTRIBUTES);
        Reader::new(&canonical).whole(|reader| {
            let (mut is_closed_system, mut krate) = (false, None);
            reader.attributes(|attribute, inner| {
                if attribute != "closed_system" {
                    return inner.runtime_argument(attribute, &mut krate);
                }
                if is_closed_system {
                    let text = "`#[closed_system]` stands here twice";
                    return Err(Error::new(attribute.span(), text));
                }
                is_closed_system = true;
                inner.end("`#[closed_system]` takes no argument")
            })?;
            let visibility = reader.visibility();
            if !reader.eat_ident("struct") {
                return Err(reader.error(EXPECTED));
            }
            let name_token = reader.index();
            let name = reader.ident("expected the name of the struct")?;
            let parameters = reader.generics();
            let fields = fields(reader, is_closed_system)?;
            reader.rest();
            Ok(Self {
                key: canonical.key(&name),
                name,
                name_token,
                visibility,
                is_closed_system,
                parameters,
                fields,
                krate: krate.unwrap_or_else(default_runtime),
            })
        })
    }

    /// The roles of the set.
    pub fn roles(&self) -> impl Iterator<Item = &Path> {
        self.fields.iter().filter_map(|field| field.role.as_ref())
    }
}

fn fields(reader: &mut Reader<'_>, is_closed_system: bool) -> Result<Vec<SetField>> {
    let fields = reader.fields("expected the roles of the set", |_| Ok(()))?;
    let read = |field: Field<()>| {
        let role = path_of(field.ty.clone(), field.ty_token);
        if role.is_none() && is_closed_system {
            return Err(Error::new(field.ty_span, EXPECTED_ROLE));
        }
        let Field { name, ty, .. } = field;
        Ok(SetField { name, ty, role })
    };
    fields.into_iter().map(read).collect()
}

const EXPECTED: &str =
    "expected a struct with one field for each role: `struct Roles { s: S, k: K }`";
const EXPECTED_ROLE: &str =
    "expected the name of a role, which is the type of a field of a closed system";
