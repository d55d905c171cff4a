//! Finding the verdict on an item, and all that the macros say about verdicts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use rumpsteak_contract::canonical::Key;
use rumpsteak_contract::verdict::{
    Entry, FOLDER, Kind, PATH, Package, Proof, VARIABLE, key, stamp,
};
use rumpsteak_contract::{ProtocolItem, Verdicts};
use syn::Error;

/// The verdict on an item.
#[derive(Default)]
pub(crate) struct Verdict {
    /// What is wrong: `compile_error!`s.
    pub(crate) problems: TokenStream,
    /// Whether the build script found nothing wrong with the item and all that it is made of.
    pub(crate) passed: bool,
    /// What takes the place of a session beside its error, so that rustc has nothing to follow up:
    /// a name without a meaning, which may be imported; or nothing, where a type without
    /// `#[session]` names it, for which it would lack parameters.
    pub(crate) left_out: Option<bool>,
    /// The message type of what stands in for a role, if something has to.
    pub(crate) instead: Option<TokenStream>,
    /// What was verified, if something was.
    pub(crate) proof: Proof,
}

/// Why an item has no verdict.
pub(crate) enum Missing {
    /// There are no verdicts at all, for this reason, which one item says.
    Unverified(String),
    /// There are verdicts, but none for this item as it stands, for this reason.
    Unseen(String),
    /// As `Unseen`, without a message: another item says it, or somebody [types](is_typing).
    Silent,
}

/// Looks up the verdict on an item.
pub(crate) fn find(
    kind: Kind,
    name: &Ident,
    tokens: &Key,
    runtime: &TokenStream,
) -> Result<Verdict, Missing> {
    if is_typing(name.span()) {
        return Err(Missing::Silent);
    }
    let verdicts = read(name.span()).map_err(Missing::Unverified)?;
    let is_set = |variable| std::env::var_os(variable).is_some();
    let of = match is_set("CARGO_BIN_NAME") {
        true => "bin",
        false if is_set("CARGO_TARGET_TMPDIR") => "test",
        false => "lib",
    };
    let krate = std::env::var("CARGO_CRATE_NAME").map(|name| format!("{of} {name}")).ok();
    // As in `is_typing`.
    let span = name.span().unwrap();
    let file = span.file();
    // Generated code is known by its place below `OUT_DIR`.
    let shown = Path::new(&file).strip_prefix(folder("OUT_DIR")).ok();
    let shown = shown.and_then(Path::to_str).unwrap_or(&file);
    let key = key(kind, &name.to_string(), tokens.hash());
    match verdicts.find(&key, krate.as_deref(), (shown, span.line())) {
        Ok(Some(entry)) => Ok(Verdict {
            problems: problems_of(&entry, tokens, runtime),
            passed: entry.passed,
            left_out: entry.stubs.iter().find_map(|stub| match &**stub {
                "nothing" => Some(true),
                "unmarked" => Some(false),
                _ => None,
            }),
            instead: entry
                .stubs
                .iter()
                .find_map(|stub| stub.strip_prefix("instead ")?.parse().ok()),
            proof: entry.proof,
        }),
        // That a role has no verdict is no problem: its sessions have none, and say so.
        Ok(None) if kind == Kind::Role => Err(Missing::Silent),
        Ok(None) => Err(unseen(&verdicts, &file)),
        Err(error) => Err(Missing::Unverified(error.to_string())),
    }
}

/// The errors of an item, and what stands in for other items that they are about.
fn problems_of(entry: &Entry, tokens: &Key, runtime: &TokenStream) -> TokenStream {
    let problems = entry.problems.iter();
    let problems = problems.map(|(token, text)| error(tokens.span_of(*token), text));
    let stubs = entry.stubs.iter().filter_map(|stub| stub.parse::<TokenStream>().ok());
    problems.chain(stubs.map(|stub| quote!(#runtime::private::stub!(#stub);))).collect()
}

/// Whether somebody types: rust-analyzer runs macros on tokens that no build script has seen yet,
/// with the `OUT_DIR` and the environment of its own last run of the build script, and keeps what
/// they expanded to while protocols change. It gives no positions. `cargo check`, which it runs
/// when a file is saved, has the last word.
pub(crate) fn is_typing(span: Span) -> bool {
    // Not that of an `Option`: it is the compiler's own span, which every token has while a macro
    // runs. rustc may be told to show no file, but no name of an item is the first token of one.
    let span = span.unwrap();
    span.file().is_empty() && (span.line(), span.column()) == (1, 1)
}

pub(crate) fn problems(
    kind: Kind,
    name: &Ident,
    tokens: &Key,
    runtime: &TokenStream,
) -> TokenStream {
    match find(kind, name, tokens, runtime) {
        Ok(verdict) => verdict.problems,
        Err(missing) => missing.error(name),
    }
}

impl Missing {
    /// The same of a `protocol!(…)`, whose module needs an error: short where it was said before.
    pub(crate) fn of_protocol(&self, name: &Ident) -> TokenStream {
        match self {
            Self::Unverified(reason) if is_news(reason) => {
                let verify = [".verify()", ".generate().verify()"];
                let reason = reason.replace(IF_GENERATED, "").replace(IF_ELSEWHERE, "");
                unverified(name, &reason.replace(verify[0], verify[1]))
            }
            Self::Unverified(reason) => unverified(name, reason.lines().next().unwrap_or_default()),
            _ => self.error(name),
        }
    }

    /// That the item was not verified.
    pub(crate) fn error(&self, name: &Ident) -> TokenStream {
        match self {
            Self::Unverified(reason) if is_news(reason) => unverified(name, reason),
            Self::Unseen(reason) => unverified(name, reason),
            _ => TokenStream::new(),
        }
    }
}

/// Whether no item of this crate said yet what is to be said once, for this file or this reason.
fn is_news(reason: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(reason.to_owned())
}

/// Why an item of this file has no verdict although the build script ran.
fn unseen(verdicts: &Verdicts, file: &str) -> Missing {
    let Some((byte, line)) = verdicts.unreadable(file) else {
        return Missing::Unseen(UNSEEN.to_owned());
    };
    if !is_news(file) {
        return Missing::Silent;
    }
    Missing::Unseen(format!(
        "the build script cannot read this file from byte {byte} on, in line {line}\n\n\
         note: no session, role or set of the file was verified"
    ))
}

/// The file below `OUT_DIR` that was generated for a protocol, if there is one.
///
/// # Errors
///
/// Why the file is not that of the verdicts.
pub(crate) fn generated(item: &ProtocolItem) -> Result<Option<String>, String> {
    let is_typing = is_typing(item.name.span());
    let verdicts = match is_typing {
        true => Arc::new(parse(&read_text()?)?),
        false => read(item.name.span())?,
    };
    let asked = format!("{} {}", item.name, item.variant());
    let mut generated = verdicts.package.generated.iter();
    let Some((_, file, verified)) = generated.find(|(known, ..)| *known == asked) else {
        // What was generated before the protocol was broken is there still.
        let file = format!("rumpsteak/{}{}.rs", item.module(), item.suffix());
        let is_kept = is_typing && folder("OUT_DIR").join(&file).is_file();
        return Ok(is_kept.then_some(file));
    };
    match std::fs::read_to_string(folder("OUT_DIR").join(file)) {
        Ok(text) if is_typing || stamp(&text) == *verified => Ok(Some(file.clone())),
        Ok(_) => Err(STALE_CODE.to_owned()),
        Err(error) => Err(format!("the code in OUT_DIR cannot be read: {error}")),
    }
}

/// The verdicts of a build, and what tells it from others: `OUT_DIR`, and the stamp of the
/// verdicts.
type Build = ([Option<OsString>; 2], Arc<Verdicts>);

/// The verdicts on what stands at a place.
fn read(span: Span) -> Result<Arc<Verdicts>, String> {
    let verdicts = read_once()?;
    check_folder(span)?;
    Ok(verdicts)
}

/// Reads the verdict file, once in each build: the macro server of rust-analyzer runs on from one
/// to the next.
fn read_once() -> Result<Arc<Verdicts>, String> {
    static KNOWN: Mutex<Option<Build>> = Mutex::new(None);
    let build = ["OUT_DIR", VARIABLE].map(std::env::var_os);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((other, verdicts)) if *other == build => Ok(Arc::clone(verdicts)),
        _ => {
            let verdicts = Arc::new(read_file()?);
            *known = Some((build, Arc::clone(&verdicts)));
            Ok(verdicts)
        }
    }
}

fn read_file() -> Result<Verdicts, String> {
    let text = read_text()?;
    // A file that an earlier build script left behind proves nothing about the protocols as they
    // are now.
    match std::env::var(VARIABLE) {
        Ok(current) if current == stamp(&text) => {}
        Ok(_) => return Err(STALE_VERDICTS.to_owned()),
        Err(_) => return Err(NO_VERDICTS.to_owned()),
    }
    let verdicts = parse(&text)?;
    check_protocols(&verdicts.package)?;
    Ok(verdicts)
}

/// Whether Cargo.toml says that the build script beside it is none.
fn is_switched_off() -> bool {
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        return false;
    };
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let is_false = |line: &str| line.replace(' ', "").starts_with("build=false");
    manifest.lines().any(is_false) && folder.join("build.rs").is_file()
}

fn read_text() -> Result<String, String> {
    let Some(out_dir) = std::env::var_os("OUT_DIR") else {
        let reason = if is_switched_off() { SWITCHED_OFF } else { NO_BUILD_SCRIPT };
        return Err(reason.to_owned());
    };
    let text = std::fs::read_to_string(Path::new(&out_dir).join(PATH));
    text.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => NO_VERDICTS.to_owned(),
        _ => format!("the verdict file in OUT_DIR cannot be read: {error}"),
    })
}

fn parse(text: &str) -> Result<Verdicts, String> {
    let verdicts = Verdicts::parse(text, env!("CARGO_PKG_VERSION"));
    verdicts.map_err(|error| error.to_string())
}

/// Whether the verdicts are about the package that the code at a place is of.
///
/// Cargo takes two checkouts with one target folder for one package, and does not run the build
/// script for the second. A test of compiler messages has a package of its own, for files of the
/// one that was verified: then the package counts in which the file is.
fn check_folder(span: Span) -> Result<(), String> {
    let [folder, verified] = ["CARGO_MANIFEST_DIR", FOLDER].map(folder);
    let is_verified = |other: &Path| match (other.canonicalize(), verified.canonicalize()) {
        (Ok(other), Ok(verified)) => other == verified,
        _ => false,
    };
    if folder == verified || is_verified(&folder) {
        return Ok(());
    }
    let file = span.unwrap().local_file();
    let file = file.and_then(|file| file.canonicalize().ok());
    let has_manifest = |folder: &&Path| folder.join("Cargo.toml").is_file();
    let is_of_verified =
        |file: PathBuf| file.ancestors().find(has_manifest).is_some_and(is_verified);
    if file.is_some_and(is_of_verified) {
        return Ok(());
    }
    let (verified, folder) = (verified.display(), folder.display());
    Err(format!(
        "the verdicts are about the package in {verified}, and this is {folder}\n\n\
         note: Cargo takes two checkouts with one target folder for the same package\n\
         help: touch build.rs and build again, or use another target folder"
    ))
}

/// Whether the verdicts are about the protocols as they are: Cargo goes by times, and does not run
/// the build script for a file that is replaced by an older one.
fn check_protocols(package: &Package) -> Result<(), String> {
    let is_changed = |(path, verified): &&(String, String)| {
        let text = std::fs::read_to_string(folder(FOLDER).join(path));
        !text.is_ok_and(|text| stamp(&text) == *verified)
    };
    match package.protocols.iter().find(is_changed) {
        Some((path, _)) => Err(format!(
            "the verdicts are not about {path} as it is now\n\n\
             note: Cargo does not see that a file is replaced by an older one\n\
             help: touch build.rs and build again"
        )),
        None => Ok(()),
    }
}

pub(crate) fn folder(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).unwrap_or_default())
}

pub(crate) fn error(span: Span, text: impl Display) -> TokenStream {
    Error::new(span, text).into_compile_error()
}

/// `include_protocols!()`.
pub(crate) fn include(input: TokenStream) -> TokenStream {
    if !input.is_empty() {
        return Error::new_spanned(input, "expected nothing: `include_protocols!();`")
            .into_compile_error();
    }
    match read(Span::call_site()) {
        _ if is_typing(Span::call_site()) => TokenStream::new(),
        Ok(verdicts) => verdicts
            .package
            .unanchored
            .iter()
            .map(|problem| error(Span::call_site(), problem))
            .collect(),
        Err(reason) => {
            error(Span::call_site(), format_args!("the protocols were not verified: {reason}"))
        }
    }
}

/// Why a root has no proof.
pub(crate) fn unverified(name: &Ident, reason: &str) -> TokenStream {
    if is_typing(name.span()) {
        return TokenStream::new();
    }
    let (headline, rest) = reason.split_at(reason.find('\n').unwrap_or(reason.len()));
    let code = if reason == UNSEEN { "V0701" } else { "V0702" };
    error(name.span(), format_args!("`{name}` was not verified: {headline} [{code}]{rest}"))
}

/// What these say to an item that is no `protocol!(…)`.
const IF_GENERATED: &str = ", with `.generate()` before `.verify()` if there is a `protocol!`";

/// What these say to a session that is no `protocol!(…)`.
const IF_ELSEWHERE: &str = "\nhelp: or, if its role is of another package, write the session there: roles and their sessions are of one package";

const NO_BUILD_SCRIPT: &str = r#"this package has no build script that verifies it

help: add `rumpsteak-build` to Cargo.toml under `[build-dependencies]`, from where `rumpsteak-runtime` is,
      and, beside it, a file build.rs, with `.generate()` before `.verify()` if there is a `protocol!`
        fn main() -> Result<(), rumpsteak_build::Report> {
            rumpsteak_build::configure().protocols("protocols").verify()?;
            Ok(())
        }
help: or, if its role is of another package, write the session there: roles and their sessions are of one package"#;

const SWITCHED_OFF: &str = "its build script is not run, since Cargo.toml says `build = false`

help: take out `build = false`";

const NO_VERDICTS: &str = r#"the build script of this package left no verdicts

help: let `main` of build.rs return `rumpsteak_build::configure().protocols("protocols").verify().map(drop)`, a
      `Result<(), rumpsteak_build::Report>`, with `.generate()` before `.verify()` if there is a `protocol!`"#;

const STALE_VERDICTS: &str =
    "the verdicts in OUT_DIR are not those of the last run of the build script

help: build again; if that does not help, run `cargo clean`";

const STALE_CODE: &str = "the code in OUT_DIR is not that of the last run of the build script

help: build again; if that does not help, run `cargo clean`";

pub(crate) const UNSEEN: &str = "the build script did not see this item as it stands here

note: it reads the source files of the package as they are written, following `mod`
      it does not see items in the body of a function, those that a macro makes, nor files that it was not told of
help: write the item out in a module of this package
      for files outside of its targets, name them in build.rs: `rumpsteak_build::configure().sources([…])`";

/// The message of the assertion that rustc resolved an item's names as the build script did.
pub(crate) fn resolved_differently(name: &Ident) -> String {
    format!(
        "`{name}` is not the session that was verified: to rustc, one of the names in it means another item than to the \
         build script, which reads the source files as they are written (look for a name or an `include!` that a macro makes, \
         or a name that a `cfg` hides) [V0703]"
    )
}
