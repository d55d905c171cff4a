//! Finding the verdict on an item, and all that the macros say about verdicts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use rumpsteak_contract::Verdicts;
use rumpsteak_contract::verdict::{Entry, Generated, Kind, PATH, Problem, Site, VARIABLE, stamp};
use syn::Error;

/// What is known about an item.
pub(crate) enum Lookup {
    /// The verdict.
    Found(Box<Entry>),
    /// There are no verdicts at all, for this reason.
    Unverified(String),
    /// There are verdicts, but none for this item as it stands, for this reason.
    Unseen(String),
    /// As `Unseen`, without a message: the item expands without a proof. Either its file cannot be
    /// read, which another item of the file says, or somebody types: rust-analyzer runs macros on
    /// tokens that no build script has seen yet, and gives no positions. `cargo check` has the last
    /// word.
    Silent,
}

/// Looks up the verdict on an item.
pub(crate) fn find(kind: Kind, name: &Ident, hash: u64) -> Lookup {
    let verdicts = match read() {
        Ok(verdicts) => verdicts,
        Err(reason) => return Lookup::Unverified(reason),
    };
    let crate_name = std::env::var("CARGO_CRATE_NAME").ok();
    // Not that of an `Option`: it is the compiler's own span, which every token has while a macro
    // runs.
    let span = name.span().unwrap();
    let file = span.file();
    let known = !file.is_empty();
    let site = Site {
        crate_name: crate_name.as_deref(),
        executable: std::env::var_os("CARGO_BIN_NAME").is_some(),
        file: known.then_some(file.as_str()),
        line: known.then(|| span.line()),
    };
    match verdicts.find(kind, &name.to_string(), hash, &site) {
        Some(entry) => Lookup::Found(Box::new(entry.clone())),
        // That a role has no verdict is no problem: its sessions have none, and say so.
        None if !known || kind == Kind::Role => Lookup::Silent,
        None => unseen(&verdicts, &file),
    }
}

/// Why an item of this file has no verdict although the build script ran.
fn unseen(verdicts: &Verdicts, file: &str) -> Lookup {
    let Some(unreadable) = verdicts.unreadable(file) else {
        return Lookup::Unseen(UNSEEN.to_owned());
    };
    thread_local!(static SAID: RefCell<BTreeSet<String>> = RefCell::default());
    if SAID.with_borrow_mut(|said| said.insert(file.to_owned())) {
        let (byte, line) = (unreadable.byte, unreadable.line);
        Lookup::Unseen(format!(
            "the build script cannot read this file from byte {byte} on, in line {line}\n\n\
             note: no session, role or set of the file was verified"
        ))
    } else {
        Lookup::Silent
    }
}

/// The file below `OUT_DIR` that was generated for a protocol, if there is one.
///
/// # Errors
///
/// Why the file is not that of the verdicts.
pub(crate) fn generated(protocol: &str) -> Result<Option<String>, String> {
    let verdicts = read()?;
    let is_of = |generated: &&Generated| generated.protocol == protocol;
    let Some(Generated {
        file,
        stamp: verified,
        ..
    }) = verdicts.generated.iter().find(is_of)
    else {
        return Ok(None);
    };
    let out_dir = std::env::var_os("OUT_DIR").unwrap_or_default();
    match std::fs::read_to_string(Path::new(&out_dir).join(file)) {
        Ok(text) if stamp(&text) == *verified => Ok(Some(file.clone())),
        Ok(_) => Err(STALE_CODE.to_owned()),
        Err(error) => Err(format!("the code in OUT_DIR cannot be read: {error}")),
    }
}

/// Reads the verdict file.
///
/// Each expansion reads its text, and parses it once: the macro server of rust-analyzer runs on
/// from build to build, so the text decides whether the verdicts are known already.
fn read() -> Result<Rc<Verdicts>, String> {
    thread_local!(static KNOWN: RefCell<Option<(String, Rc<Verdicts>)>> = RefCell::default());
    let Some(out_dir) = std::env::var_os("OUT_DIR") else {
        return Err(NO_BUILD_SCRIPT.to_owned());
    };
    let text =
        std::fs::read_to_string(Path::new(&out_dir).join(PATH)).map_err(|error| {
            match error.kind() {
                std::io::ErrorKind::NotFound => NO_VERDICTS.to_owned(),
                _ => format!("the verdict file in OUT_DIR cannot be read: {error}"),
            }
        })?;
    // A file that an earlier build script left behind proves nothing about the protocols as they
    // are now.
    match std::env::var(VARIABLE) {
        Ok(current) if current == stamp(&text) => {}
        Ok(_) => return Err(STALE_VERDICTS.to_owned()),
        Err(_) => return Err(NO_VERDICTS.to_owned()),
    }
    KNOWN.with_borrow_mut(|known| match known {
        Some((other, verdicts)) if *other == text => Ok(Rc::clone(verdicts)),
        _ => {
            let verdicts = Verdicts::parse(&text, env!("CARGO_PKG_VERSION"));
            let verdicts = Rc::new(verdicts.map_err(|error| error.to_string())?);
            *known = Some((text, Rc::clone(&verdicts)));
            Ok(verdicts)
        }
    })
}

/// One `compile_error!` per problem, at its token.
pub(crate) fn errors(problems: &[Problem], span_of: impl Fn(usize) -> Span) -> TokenStream {
    problems
        .iter()
        .map(|problem| error(span_of(problem.token), &problem.text))
        .collect()
}

/// A `compile_error!` at a span.
fn error(span: Span, text: impl Display) -> TokenStream {
    Error::new(span, text).into_compile_error()
}

/// `include_protocols!()`.
pub(crate) fn include(input: TokenStream) -> TokenStream {
    if !input.is_empty() {
        return Error::new_spanned(input, "expected nothing: `include_protocols!();`")
            .into_compile_error();
    }
    match read() {
        Ok(verdicts) => verdicts
            .unanchored
            .iter()
            .map(|problem| error(Span::call_site(), problem))
            .collect(),
        Err(reason) => error(
            Span::call_site(),
            format_args!("the protocols were not verified: {reason}"),
        ),
    }
}

/// Why a root has no proof.
pub(crate) fn unverified(name: &Ident, reason: &str) -> TokenStream {
    error(
        name.span(),
        format_args!("`{name}` was not verified: {reason}"),
    )
}

const NO_BUILD_SCRIPT: &str = r#"this package has no build script that verifies it

help: add to Cargo.toml
        [build-dependencies]
        rumpsteak-build = "0.1"
      and, beside it, a file build.rs
        fn main() -> Result<(), rumpsteak_build::Report> {
            rumpsteak_build::verify("protocols")?;
            Ok(())
        }"#;

const NO_VERDICTS: &str = r#"the build script of this package left no verdicts

help: write in build.rs
        fn main() -> Result<(), rumpsteak_build::Report> {
            rumpsteak_build::verify("protocols")?;
            Ok(())
        }"#;

const STALE_VERDICTS: &str =
    "the verdicts in OUT_DIR are not those of the last run of the build script

help: build again; if that does not help, run `cargo clean`";

const STALE_CODE: &str = "the code in OUT_DIR is not that of the last run of the build script

help: build again; if that does not help, run `cargo clean`";

pub(crate) const UNSEEN: &str = "the build script did not see this item as it stands here

note: it reads the source files of the package as they are written, following `mod`
      it does not see items that a macro makes, nor those in files that it was not told of
help: write the item out in a module of this package
      for files outside of its targets, name them in build.rs: `rumpsteak_build::configure().sources([…])`";

/// The message of the assertion that rustc resolved an item's names as the build script did.
pub(crate) fn resolved_differently(name: &Ident) -> String {
    format!(
        "`{name}` is not the session that was verified: to rustc, one of the names in it means another item than to the \
         build script, which reads the source files as they are written (look for a name that a macro makes or a `cfg` hides)"
    )
}

/// The message of the assertion that the capacities of a role's queues were proven with this
/// session.
pub(crate) fn not_counted(name: &Ident, role: impl Display) -> String {
    format!(
        "the capacities of `{role}` were proven without `{name}`: to rustc, `{role}` means another item than to the build \
         script, which reads the source files as they are written (look for a name that a macro makes or a `cfg` hides)"
    )
}
