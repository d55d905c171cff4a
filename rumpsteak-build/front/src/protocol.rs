//! What `protocol!(…)` says.
//!
//! ```text
//! protocol!(DoubleBuffering);            mod double_buffering { … }
//! protocol!(pub DoubleBuffering);        pub mod double_buffering { … }
//! protocol!(P, crate = "rt");            the runtime is the crate `rt`
//! protocol!(P, routes = net::Net);       routes are `net::Net<Label>`
//! protocol!(P, derive(Clone));           messages have these derives, too
//! ```

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{LitStr, Result};

use crate::canonical::{Canonical, Key};
use crate::name;
use crate::reader::{Reader, default_runtime};
use crate::verdict::stamp;

/// The arguments of a `protocol!(…)`.
#[derive(Clone, Debug)]
pub struct ProtocolItem {
    /// The protocol.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The attributes of the module.
    pub attributes: TokenStream,
    /// The visibility of the module: without one, the crate sees it.
    pub visibility: TokenStream,
    /// The path of the runtime's crate: that of `crate = "…"`, or `::rumpsteak_runtime`.
    pub krate: TokenStream,
    /// The path of the runtime as it is written there, or `::rumpsteak_runtime`: the same from a
    /// file and from rustc.
    pub runtime: String,
    /// The path of the routes' type, unless they are channels.
    pub routes: Option<String>,
    /// The paths of what messages derive beside `Message`.
    pub derives: Vec<String>,
    /// The key to the verdict on the call.
    pub key: Key,
}

impl ProtocolItem {
    /// Parses the arguments.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(arguments: TokenStream) -> Result<Self> {
        let canonical = Canonical::new(arguments, &[]);
        Reader::new(&canonical).whole(|reader| {
            let visibility = Some(reader.visibility()).filter(|visibility| !visibility.is_empty());
            let name_token = reader.index();
            let name = reader.ident(EXPECTED)?;
            reader.eat_punct(',');
            let krate = reader.runtime()?;
            let runtime = krate.clone().map_or_else(|| RUNTIME.to_owned(), text);
            reader.eat_punct(',');
            let mut routes = None;
            if reader.eat_ident("routes") {
                reader.punct('=', EXPECTED_ROUTES)?;
                routes = Some(text(reader.path(EXPECTED_ROUTES)?.into_token_stream()));
                if reader.at_punct('<') {
                    return Err(reader.error(EXPECTED_ROUTES));
                }
                reader.eat_punct(',');
            }
            let mut derives = Vec::new();
            if reader.eat_ident("derive") {
                let messages = [EXPECTED_DERIVES; 2];
                let path = |inner: &mut Reader<'_>| inner.path(EXPECTED_DERIVES);
                let paths =
                    reader.group(Delimiter::Parenthesis, messages, |inner| inner.list(path))?;
                derives = paths.into_iter().map(|path| text(path.into_token_stream())).collect();
                reader.eat_punct(',');
            }
            reader.end(EXPECTED_END)?;
            Ok(Self {
                key: canonical.key(&name),
                name,
                name_token,
                attributes: canonical.attributes_before(0),
                visibility: visibility.unwrap_or_else(|| quote!(pub(crate))),
                krate: krate.unwrap_or_else(default_runtime),
                runtime,
                routes,
                derives,
            })
        })
    }

    /// What other arguments most likely mean: a protocol in quotes, a file, or more behind the name
    /// than it may have. Its module has the name and the visibility that is meant.
    pub fn meant(arguments: &TokenStream) -> Option<Self> {
        let trees = || arguments.clone().into_iter();
        let mut literals = trees().filter_map(|tree| match tree {
            TokenTree::Literal(literal) => syn::parse2::<LitStr>(literal.into_token_stream()).ok(),
            _ => None,
        });
        let (public, words): (Vec<Ident>, Vec<Ident>) = trees()
            .filter_map(|tree| match tree {
                TokenTree::Ident(word) => Some(word),
                _ => None,
            })
            .partition(|word| word == "pub");
        let text = literals.next().map(|literal| literal.value());
        let text = text.or_else(|| Some(words.first()?.to_string()))?;
        let name = name::snake(text.rsplit('/').next()?.split('.').next()?);
        let mut name = syn::parse_str::<Ident>(&name).ok()?;
        name.set_span(trees().next()?.span());
        let public = public.first();
        Self::parse(quote!(#public #name)).ok()
    }

    /// What tells the code that is asked for from other code of this protocol: one line.
    pub fn variant(&self) -> String {
        let Self { runtime, routes, derives, .. } = self;
        let routes = routes.iter().map(|routes| format!(" routes {routes}"));
        let derives = derives.iter().map(|derive| format!(" derive {derive}"));
        runtime.clone() + &routes.chain(derives).collect::<String>()
    }

    /// What tells the file of the code that is asked for from those of other code of this protocol:
    /// the path of the runtime unless it is the usual one, and a stamp of what else is chosen.
    pub fn suffix(&self) -> String {
        let Self { runtime, routes, derives, .. } = self;
        let mut suffix = match runtime.as_str() {
            RUNTIME => String::new(),
            other => format!(".{}", other.replace("::", ".")),
        };
        if routes.is_some() || !derives.is_empty() {
            suffix = format!("{suffix}.{}", stamp(&format!("{routes:?} {derives:?}")));
        }
        suffix
    }

    /// The name of the module that the macro makes: that of the protocol in snake case.
    pub fn module(&self) -> String {
        name::snake(&self.name.to_string())
    }
}

/// The path of the runtime where no other is asked for.
pub const RUNTIME: &str = "::rumpsteak_runtime";

/// A path as a text, the same from a file and from rustc.
fn text(path: TokenStream) -> String {
    path.to_string().replace(' ', "")
}

const EXPECTED_ROUTES: &str =
    "expected the type of routes, without arguments: `routes = rumpsteak_net::Net`";
const EXPECTED_DERIVES: &str = "expected derives of messages: `derive(Clone, Debug)`";
const EXPECTED: &str = "expected the name of a protocol: `protocol!(DoubleBuffering);`";
const EXPECTED_END: &str = "expected nothing more, or `routes = …` and `derive(…)`, in this order: \
                            `protocol!(DoubleBuffering, routes = rumpsteak_net::Net, derive(Clone))`";
