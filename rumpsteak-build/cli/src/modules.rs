//! Reading Scribble modules from files.

use std::ffi::OsStr;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rumpsteak_build::command::{NamedText, Notice, ScrModule, gravest, list, meant, root_of};
use rumpsteak_fsm::Role;
use rumpsteak_scribble::{Diagnostic, Projection, Protocol, file_of_module, parse};

use crate::{Outcome, Reader, Reading, Terminal};

/// A description of a file of protocols, for messages.
const SCRIBBLE: &str =
    "a Scribble protocol: `global protocol P(role a, role b) { hello() from a to b; }`";

/// A Scribble module that was read and checked with all that it imports.
#[derive(Debug)]
pub(crate) struct Module {
    /// The module with its imports, and its diagnostics.
    pub(crate) contents: ScrModule,
    /// The errors for imported files that exist and cannot be read.
    pub(crate) unreadable: Vec<Notice>,
}

/// A protocol with its projections, or the errors in it; an error if it cannot be picked.
pub(crate) type Projected<'a> =
    Result<Result<(&'a Protocol, Vec<Projection>), Vec<Diagnostic>>, Notice>;

/// Reads and checks a module, or standard input for `-`.
///
/// An imported module `shop.Base` is the file `shop/Base.scr` below an import path, below the root
/// that the importing file's own `module` line tells, or below the folder of that file.
pub(crate) fn read(reader: &mut Reader, path: &Path, reading: &Reading) -> Result<Module, Notice> {
    let is_machine = |extension: &OsStr| extension == "local" || extension == "dot";
    if path.extension().is_some_and(is_machine) && path.is_file() {
        return Err(machine(path));
    }
    let source = reader.read(path, SCRIBBLE)?;
    Ok(load(reader, source, path, reading))
}

/// Checks a module that was read from `path`, as [`read`] does.
pub(crate) fn load(
    reader: &mut Reader,
    source: Arc<NamedText>,
    path: &Path,
    reading: &Reading,
) -> Module {
    let header = parse(&source.text).module.header;
    let mut roots = reading.import_path.clone();
    let place = place_of(path);
    if let Some(place) = &place {
        // The path as given comes first, since messages show the paths of imports.
        let named = |header: &_| [path, place].map(|place| root_of(place, header));
        let named = header.iter().flat_map(|header| named(header.as_str())).flatten();
        roots.extend(named.chain(path.parent().map(Path::to_owned)));
    }

    let mut unreadable = vec![];
    let find = |name: &str| {
        let place = PathBuf::from(file_of_module(name));
        let mut places = roots.iter().map(|root| root.join(&place));
        let found = places.find(|place| place.is_file())?;
        reader.read(&found, SCRIBBLE).map_err(|error| unreadable.push(error)).ok()
    };
    let limits = reading.limits.build(None).scribble;
    let contents = ScrModule::load(source, place.as_deref(), &limits, find);
    Module { contents, unreadable }
}

/// The error for a machine in place of a protocol. The machine's file is called after the file of
/// its protocol: `orders.shop.dot` belongs to `orders.scr`.
fn machine(path: &Path) -> Notice {
    let stems = iter::successors(Some(path.with_extension("")), |stem| {
        stem.extension().map(|_| stem.with_extension(""))
    });
    let mut protocols = stems.skip(1).map(|stem| stem.with_extension("scr"));
    let which = match protocols.find(|protocol| protocol.is_file()) {
        Some(found) => format!("`{}`", found.display()),
        None => "a `.scr` file".to_owned(),
    };
    Notice::error(format!("`{}` is the machine of a role, not a protocol", path.display()))
        .help(format!("name {which}; `subtype` and `kmc` read machines"))
}

/// The absolute path of a file, because its `module` line may name folders above the current one.
/// `None` for standard input.
fn place_of(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") {
        return None;
    }
    // The file was read, so only a missing current folder makes this fail: then the path as given
    // has to do. A link keeps its own name.
    let place = std::fs::canonicalize(path).ok();
    let place = place.filter(|place| place.file_name() == path.file_name());
    place.or_else(|| Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())))
}

impl Module {
    /// The name of the file.
    pub(crate) fn name(&self) -> &str {
        &self.contents.texts[0].name
    }

    /// The protocol of this name, or the only one.
    pub(crate) fn pick(&self, wanted: Option<&str>) -> Result<&Protocol, Notice> {
        let protocols = &self.contents.protocols;
        let names: Vec<&str> = protocols.iter().map(|protocol| protocol.name().as_str()).collect();
        Ok(&protocols[pick(self.name(), &names, wanted, "projected")?])
    }

    /// The protocol of this name, or the only one, with the projections onto all of its roles.
    /// Reports and returns errors in the module and in the protocol.
    pub(crate) fn projected(&self, wanted: Option<&str>, terminal: &mut Terminal) -> Projected<'_> {
        self.warn(terminal);
        let mut found = self.contents.diagnostics.clone();
        if found.is_empty() {
            let protocol = self.pick(wanted)?;
            match protocol.project_all() {
                Ok(projections) => return Ok(Ok((protocol, projections))),
                Err(diagnostics) => found = diagnostics,
            }
        }
        self.complain(&found, terminal);
        Ok(Err(found))
    }

    pub(crate) fn reports(&self, diagnostics: &[Diagnostic]) -> impl Iterator<Item = Notice> {
        diagnostics.iter().map(|diagnostic| Notice::of_diagnostic(&self.contents.texts, diagnostic))
    }

    pub(crate) fn warn(&self, terminal: &mut Terminal) {
        self.reports(&self.contents.warnings).for_each(|notice| terminal.report(&notice));
    }

    /// Reports errors of the module, and returns how grave they are.
    pub(crate) fn complain(&self, diagnostics: &[Diagnostic], terminal: &mut Terminal) -> Outcome {
        if !diagnostics.is_empty() {
            self.unreadable.iter().for_each(|notice| terminal.report(notice));
        }
        self.reports(diagnostics).for_each(|notice| terminal.report(&notice));
        gravest(diagnostics)
    }
}

/// The position of the protocol of this name in a file, or of the only protocol.
pub(crate) fn pick(
    file: &str,
    names: &[&str],
    wanted: Option<&str>,
    done: &str,
) -> Result<usize, Notice> {
    match (wanted, names) {
        (None, [_]) => Ok(0),
        (_, []) => Err(Notice::error(format!("`{file}` holds no protocol that can be {done}"))
            .help(format!(
                "`aux` protocols and those with parameters are {done} when others call them"
            ))),
        (None, _) => Err(Notice::error(format!("`{file}` holds several protocols"))
            .help(format!("say which one with `--protocol`: {}", list(names)))),
        (Some(wanted), _) => names.iter().position(|name| *name == wanted).ok_or_else(|| {
            let notice = Notice::error(format!("`{file}` holds no protocol `{wanted}`"));
            notice.help(meant(wanted, names, "it holds"))
        }),
    }
}

/// The position of a role among `roles`, or an error with this message.
pub(crate) fn position(role: &Role, roles: &[Role], message: String) -> Result<usize, Notice> {
    let position = roles.iter().position(|known| known == role);
    let help = || meant(role.as_str(), roles, "the roles are");
    position.ok_or_else(|| Notice::error(message).help(help()))
}
