//! The protocols of a package: read, checked and projected onto all of their roles.
//!
//! A file with an error is of no use for verification: none of its protocols takes part, and all of
//! its errors are reported together. An error of a projection is one of the file, because a
//! protocol that one role cannot follow is safe for none.

pub(crate) mod scr_module;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rumpsteak_front::name;
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Fsm, Message, Role};
use rumpsteak_scribble::{
    Code, Declaration, DeclarationKind, Diagnostic, Interaction, InteractionKind, Modules,
    Projection, Protocol, SourceId, file_of_module, parse, similar,
};

use self::scr_module::{ScrModule, root_of};
use crate::gravity::Gravity;
use crate::limits::Limits;
use crate::named_text::NamedText;
use crate::package_root::PackageRoot;
use crate::text_file;

/// All `.scr` files of a package.
#[derive(Debug, Default)]
pub(crate) struct Protocols {
    pub(crate) files: Vec<ScrFile>,
    /// The usable protocols, in the order of the files.
    pub(crate) protocols: Vec<Loaded>,
    /// What could not be read: a path as shown, why, and the path beside it that may be meant.
    pub(crate) unreadable: Vec<(String, String, Option<String>)>,
    /// The existing files and folders that were looked at.
    pub(crate) looked_at: BTreeSet<PathBuf>,
    /// The folders and files that were named, as shown.
    pub(crate) folders: Vec<String>,
    /// The files in them, as shown, that have protocols by the ending of other tools.
    pub(crate) others: Vec<String>,
    /// The limits within which they were read and are judged.
    pub(crate) limits: Limits,
}

/// A file of protocols, with the files that it imports.
#[derive(Debug)]
pub(crate) struct ScrFile {
    /// The path by which the file was found.
    pub(crate) path: PathBuf,
    /// The folder in which imports are looked for.
    pub(crate) imports: PathBuf,
    /// The paths of the file and of those that it imports.
    pub(crate) read: Vec<PathBuf>,
    /// The texts: that of the file first, then those that it imports, in the order of their
    /// [`SourceId`]s.
    pub(crate) texts: Vec<Arc<NamedText>>,
    pub(crate) modules: Modules,
    /// Everything that is wrong with the file, in the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What is right and may surprise.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// A protocol that is well formed and projectable onto each of its roles.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The position of its file.
    pub(crate) file: usize,
    pub(crate) protocol: Protocol,
    /// One for each role, in the protocol's order.
    pub(crate) projections: Vec<Projection>,
    /// Every message of the protocol, in order, by its label.
    pub(crate) messages: BTreeMap<String, BTreeSet<Message>>,
    /// The labels by what they are when they are [normalised](name::normalise).
    pub(crate) labels: BTreeMap<String, BTreeSet<String>>,
    text: OnceCell<String>,
}

/// A role of a usable protocol, by position.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ProtocolRole {
    pub(crate) protocol: usize,
    pub(crate) role: usize,
}

/// What the name of a protocol stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup {
    /// One of the file at this position, which has errors.
    Broken(usize),
    /// The protocol at this position.
    Found(usize),
    /// Several protocols, of the files at the first two of these positions.
    Several(usize, usize),
    /// None.
    Unknown,
    /// One that is there to be called by others only.
    Unplayable,
}

/// What may be meant by a path that is not there: a folder, or a file of protocols, in the same
/// place and with a name like it.
fn beside(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|_| !path.exists())?;
    let is_read = |path: &Path| path.is_dir() || path.extension().is_some_and(|own| own == "scr");
    let entries = std::fs::read_dir(folder).ok()?.flatten().filter(|entry| is_read(&entry.path()));
    let names: BTreeSet<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    similar(path.file_name()?.to_str()?, &known).map(|name| folder.join(name))
}

impl Protocols {
    /// Reads the files at `paths`, and those below them that end in `.scr` where a path is a
    /// folder.
    ///
    /// `import shop.Base;` means the file `shop/Base.scr` below the path that the importing file
    /// was found by, or below the folder in which the path of that file is its own name.
    pub(crate) fn load(base: &PackageRoot, paths: &[PathBuf], limits: Limits) -> Self {
        let mut found = Self::default();
        let mut files: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        for path in paths {
            let path = base.join(path);
            found.folders.push(base.show(&path));
            if let Err(error) = found.find_files(base, &path, &mut files) {
                let meant = beside(&path).map(|meant| base.show(&meant));
                found.unreadable.push((base.show(&path), error.to_string(), meant));
            }
        }
        let mut loaded = Self::load_files(base, files, limits);
        loaded.folders = found.folders;
        loaded.others = found.others;
        loaded.looked_at.append(&mut found.looked_at);
        found.unreadable.append(&mut loaded.unreadable);
        Self { unreadable: found.unreadable, ..loaded }
    }

    /// Reads files, each with the folder in which its imports are looked for.
    pub(crate) fn load_files(
        base: &PackageRoot,
        files: impl IntoIterator<Item = (PathBuf, PathBuf)>,
        limits: Limits,
    ) -> Self {
        let mut loaded = Self { limits, ..Self::default() };
        for (path, imports) in files {
            match text_file::read(&path) {
                Ok(text) => {
                    let text = NamedText::new(base.show(&path), text);
                    loaded.add(base, text, &path, &imports);
                }
                Err(error) => loaded.unreadable.push((base.show(&path), error.to_string(), None)),
            }
        }
        loaded
    }

    /// Looks for files at and below a path.
    fn find_files(
        &mut self,
        base: &PackageRoot,
        path: &Path,
        files: &mut BTreeMap<PathBuf, PathBuf>,
    ) -> std::io::Result<()> {
        let root = path;
        let mut pending = vec![path.to_owned()];
        // A symbolic link is followed, unless it leads back.
        let mut seen = BTreeSet::new();
        let is_folder = std::fs::metadata(path)?.is_dir();
        self.looked_at.insert(path.to_owned());
        if !is_folder {
            let folder = path.parent().unwrap_or(path);
            files.insert(path.to_owned(), folder.to_owned());
            return Ok(());
        }
        while let Some(folder) = pending.pop() {
            if !seen.insert(folder.canonicalize()?) {
                continue;
            }
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                let is = |ending: &str| path.extension().is_some_and(|own| own == ending);
                if path.is_dir() {
                    pending.push(path);
                } else if is("scr") {
                    files.insert(path, root.to_owned());
                } else if ["nuscr", "scribble", "mpst"].into_iter().any(is) {
                    self.others.push(base.show(&path));
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, base: &PackageRoot, text: NamedText, path: &Path, imports: &Path) {
        let limits = self.limits.scribble();
        let mut read = vec![path.to_owned()];
        let text = Arc::new(text);
        let find = |name: &str| {
            let place = file_of_module(name);
            let mut found = imports.join(&place);
            if !found.is_file()
                && let Some(header) = parse(&text.text).module.header
                && let Some(root) = root_of(path, header.as_str())
            {
                found = root.join(place);
            }
            let text = text_file::read(&found).ok()?;
            read.push(found.clone());
            let text = NamedText::new(base.show(&found), text);
            Some(Arc::new(text))
        };
        // The path is absolute: `PackageRoot::join` has made it so.
        let ScrModule { texts, modules, protocols, mut diagnostics, warnings } =
            ScrModule::load(Arc::clone(&text), Some(path), &limits, find);
        self.looked_at.extend(read.iter().cloned());
        let file = self.files.len();
        let mut usable = Vec::new();
        for protocol in protocols {
            let projections = protocol.project_all().unwrap_or_else(|errors| {
                diagnostics.extend(errors);
                Vec::new()
            });
            usable.push(Loaded::new(file, protocol, projections));
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary);
        diagnostics.dedup();
        if diagnostics.is_empty() {
            self.protocols.append(&mut usable);
        }
        let (path, imports) = (path.to_owned(), imports.to_owned());
        self.files.push(ScrFile { path, imports, read, texts, modules, diagnostics, warnings });
    }

    /// The protocol that a Rust name stands for: the one of exactly this name, or else of the same
    /// name in the sense of [`name::same`].
    pub(crate) fn lookup(&self, wanted: &str) -> Lookup {
        let exact = |known: &str| known == wanted;
        let same = |known: &str| name::same(known, wanted);
        match self.lookup_by(exact) {
            Lookup::Unknown => self.lookup_by(same),
            found => found,
        }
    }

    fn lookup_by(&self, is_wanted: impl Fn(&str) -> bool) -> Lookup {
        let mut files = Vec::new();
        for (position, file) in self.files.iter().enumerate() {
            for protocol in &file.modules.root().protocols {
                if is_wanted(protocol.name.as_str()) {
                    files.push(position);
                }
            }
        }
        match files[..] {
            [] => Lookup::Unknown,
            [file] => {
                let of_name = |loaded: &Loaded| is_wanted(loaded.protocol.name().as_str());
                let unusable = if self.files[file].diagnostics.is_empty() {
                    Lookup::Unplayable
                } else {
                    Lookup::Broken(file)
                };
                self.protocols
                    .iter()
                    .position(|loaded| loaded.file == file && of_name(loaded))
                    .map_or(unusable, Lookup::Found)
            }
            [first, second, ..] => Lookup::Several(first, second),
        }
    }

    /// The position of the only protocol that a Rust name stands for.
    pub(crate) fn position(&self, wanted: &str) -> Option<usize> {
        match self.lookup(wanted) {
            Lookup::Found(position) => Some(position),
            _ => None,
        }
    }

    /// True if the file at a position declares the protocol that a Rust name stands for.
    pub(crate) fn declares(&self, file: usize, wanted: &str) -> bool {
        let mut declared = self.files[file].modules.root().protocols.iter();
        declared.any(|protocol| name::same(protocol.name.as_str(), wanted))
    }

    /// The names of all declared protocols.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let declared = self.files.iter().flat_map(|file| &file.modules.root().protocols);
        declared.map(|protocol| protocol.name.as_str())
    }
}

/// What errors of Scribble mean: a text that is no Scribble cannot be judged, a limit decides
/// nothing, and anything else is a protocol that does not hold. `None` without errors.
pub fn gravest(diagnostics: &[Diagnostic]) -> Option<Gravity> {
    let gravity = |diagnostic: &Diagnostic| match diagnostic.code {
        code if code.is_limit() => Gravity::Undecided,
        // The role was named in a call.
        Code::NoSuchRole => Gravity::BadInput,
        code if code.is_syntax() => Gravity::BadInput,
        _ => Gravity::Fails,
    };
    diagnostics.iter().map(gravity).max()
}

/// A recursion that no `continue` names.
#[derive(Debug)]
pub(crate) struct DoneOnce<'a> {
    pub(crate) protocol: &'a str,
    pub(crate) variable: &'a str,
    /// Where it is in its file, from one.
    pub(crate) line: usize,
    /// Other recursions of the protocol are done again.
    pub(crate) others_repeat: bool,
}

impl ScrFile {
    /// What its errors mean.
    pub(crate) fn gravity(&self) -> Gravity {
        gravest(&self.diagnostics).unwrap_or(Gravity::Undecided)
    }

    /// The `sig` that declares a type for a message.
    pub(crate) fn signature(&self, message: &Message) -> Option<&Declaration> {
        let mut declarations = self.modules.iter().flat_map(|module| &module.declarations);
        declarations.find(|found| {
            found.kind == DeclarationKind::Signature
                && found.schema.as_str() == "rust"
                && found.name.as_str() == message.label.as_str()
        })
    }

    /// Its warnings, each on one line.
    pub(crate) fn warning_lines(&self) -> impl Iterator<Item = String> {
        self.warnings.iter().map(|warning| {
            let text = self.text(warning.primary.source());
            let (line, _) = text.position(warning.primary.start());
            let help = warning.help.iter().map(|help| format!("; {help}"));
            format!("{}:{line}: {}{}", text.name, warning.message, help.collect::<String>())
        })
    }

    /// The recursions that no `continue` names, which their processes would do once.
    pub(crate) fn done_once(&self) -> Vec<DoneOnce<'_>> {
        let mut found = Vec::new();
        for protocol in &self.modules.root().protocols {
            let interactions = || protocol.body.interactions().map(|(_, interaction)| interaction);
            let named: BTreeSet<&str> = interactions()
                .filter_map(|interaction| match &interaction.kind {
                    InteractionKind::Continue { variable } => Some(variable.as_str()),
                    _ => None,
                })
                .collect();
            for Interaction { kind, span, .. } in interactions() {
                if let InteractionKind::Rec { variable, .. } = kind
                    && !named.contains(variable.as_str())
                {
                    found.push(DoneOnce {
                        protocol: protocol.name.as_str(),
                        variable: variable.as_str(),
                        line: self.text(span.source()).position(span.start()).0,
                        others_repeat: !named.is_empty(),
                    });
                }
            }
        }
        found
    }

    /// The path as shown.
    pub(crate) fn shown(&self) -> &str {
        &self.text(SourceId::ROOT).name
    }

    /// One of the texts; that of the file itself for one that does not exist.
    pub(crate) fn text(&self, source: SourceId) -> &Arc<NamedText> {
        self.texts.get(source.index()).unwrap_or(&self.texts[0])
    }
}

impl Loaded {
    /// A protocol of the file at this position.
    pub(crate) fn new(file: usize, protocol: Protocol, projections: Vec<Projection>) -> Self {
        let mut messages: BTreeMap<String, BTreeSet<Message>> = BTreeMap::new();
        for projection in &projections {
            for transition in projection.fsm.transitions() {
                let message = &transition.action.message;
                let of_label = messages.entry(message.label.to_string()).or_default();
                of_label.insert(message.clone());
            }
        }
        let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for label in messages.keys() {
            let alike = labels.entry(name::normalise(label)).or_default();
            alike.insert(label.clone());
        }
        Self { file, protocol, projections, messages, labels, text: OnceCell::new() }
    }

    pub(crate) fn name(&self) -> &str {
        self.protocol.name().as_str()
    }

    /// The positions of the roles that a Rust name may stand for: of the one of exactly this name,
    /// or else of those of the same name in the sense of [`name::same`].
    pub(crate) fn roles(&self, wanted: &str) -> Vec<usize> {
        let roles = || self.protocol.roles().iter().map(Role::as_str);
        match roles().position(|role| role == wanted) {
            Some(exact) => vec![exact],
            None => (0..)
                .zip(roles())
                .filter(|(_, role)| name::same(role, wanted))
                .map(|(position, _)| position)
                .collect(),
        }
    }

    /// The projections onto all roles, as a text.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let projections = self.projections.iter();
            let machines: Vec<Fsm> = projections.map(|found| found.fsm.clone()).collect();
            // DOT can say every machine; the other form is shorter.
            let printed = text::print(Form::Cfsm, &machines);
            printed.or_else(|_| text::print(Form::Dot, &machines)).unwrap_or_default()
        })
    }

    /// The roles that play on demand.
    pub(crate) fn on_demand(&self) -> Vec<String> {
        let machines = self.projections.iter().map(|projection| &projection.fsm);
        machines.filter(|fsm| fsm.is_on_demand()).map(|fsm| fsm.role().to_string()).collect()
    }

    /// The projections onto all roles but one.
    pub(crate) fn peers(&self, role: usize) -> Vec<&Fsm> {
        let others = self.projections.iter().enumerate();
        others
            .filter(|(position, _)| *position != role)
            .map(|(_, projection)| &projection.fsm)
            .collect()
    }

    pub(crate) fn role_at(&self, position: usize) -> &Role {
        &self.protocol.roles()[position]
    }
}
