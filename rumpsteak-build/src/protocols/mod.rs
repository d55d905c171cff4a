//! The protocols of a package: read, checked and projected onto all of their roles.
//!
//! An error in a file, or in one of its projections, disables all protocols of the file. All errors
//! of a file are reported together.

pub(crate) mod scr_module;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use litemap::LiteMap;
use rumpsteak_front::name;
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Fsm, Message, Role};
use rumpsteak_scribble::{
    Code, Declaration, DeclarationKind, Diagnostic, Projection, Protocol, Span, file_of_module,
    parse,
};

use self::scr_module::{ScrModule, root_of};
use crate::limits::Limits;
use crate::named_text::NamedText;
use crate::package_root::{self, PackageRoot};

#[derive(Default)]
pub(crate) struct Protocols {
    /// The package that the files are shown relative to.
    pub(crate) base: PackageRoot,
    pub(crate) files: Vec<ScrFile>,
    /// The usable protocols, in the order of the files.
    pub(crate) protocols: Vec<Loaded>,
    /// The paths that cannot be read, as shown, and the errors.
    pub(crate) unreadable: Vec<(String, String)>,
    /// The existing files and folders that were looked at.
    pub(crate) looked_at: BTreeSet<PathBuf>,
    /// The configured folders and files, as shown.
    pub(crate) folders: Vec<String>,
    /// By folder, the files that may contain machines.
    pub(crate) machines: LiteMap<PathBuf, Vec<PathBuf>>,
    pub(crate) limits: Limits,
}

/// A file of protocols, with the files that it imports.
pub(crate) struct ScrFile {
    /// The path by which the file was found.
    pub(crate) path: PathBuf,
    /// The folder that imports are relative to.
    pub(crate) imports: PathBuf,
    /// The paths of the file and of those that it imports.
    pub(crate) read: Vec<PathBuf>,
    /// The files beside it that may contain machines, by name, as far as they can be read.
    pub(crate) machines: Vec<(PathBuf, io::Result<Arc<NamedText>>)>,
    /// The contents of the same files, with the errors of projections. Its protocols are those of
    /// [`Protocols`].
    pub(crate) module: ScrModule,
}

/// A protocol that is well formed and projectable onto all roles.
pub(crate) struct Loaded {
    pub(crate) file: usize,
    pub(crate) protocol: Protocol,
    /// The projections, in the order of the roles.
    pub(crate) projections: Vec<Projection>,
    /// The messages of the protocol, by their [normalised](name::normalise) labels.
    pub(crate) messages: BTreeMap<String, BTreeSet<Message>>,
}

impl Protocols {
    /// Reads the files at `paths`, and the `.scr` files below paths of folders.
    ///
    /// `import shop.Base;` refers to `shop/Base.scr` below the configured path, or else below the
    /// folder that the `module` line of the importing file implies.
    pub(crate) fn load(base: &PackageRoot, paths: &[PathBuf], limits: Limits) -> Self {
        let mut found = Self { base: base.clone(), limits, ..Self::default() };
        let mut files: LiteMap<PathBuf, PathBuf> = LiteMap::new();
        for path in paths {
            let path = base.join(path);
            found.folders.push(base.show(&path));
            if let Err(error) = found.find(&path, &mut files) {
                found.unreadable.push((base.show(&path), error.to_string()));
            }
        }
        files.iter().for_each(|(path, imports)| found.read(path, imports));
        found
    }

    /// Finds the files at and below a path.
    fn find(&mut self, root: &Path, files: &mut LiteMap<PathBuf, PathBuf>) -> io::Result<()> {
        let is_folder = fs::metadata(root)?.is_dir();
        self.looked_at.insert(root.to_owned());
        let imports = if is_folder { root } else { root.parent().unwrap_or(root) };
        // A symbolic link is followed, unless it forms a cycle.
        let (mut pending, mut seen) = (vec![root.to_owned()], BTreeSet::new());
        while let Some(path) = pending.pop() {
            if !path.is_dir() {
                if path == root || path.extension().is_some_and(|ending| ending == "scr") {
                    files.insert(path, imports.to_owned());
                }
            } else if seen.insert(path.canonicalize()?) {
                for entry in fs::read_dir(path)? {
                    pending.push(entry?.path());
                }
            }
        }
        Ok(())
    }

    /// Reads a file, with the folder that its imports are relative to.
    pub(crate) fn read(&mut self, path: &Path, imports: &Path) {
        let shown = self.base.show(path);
        let text = match package_root::read(path) {
            Ok(text) => Arc::new(NamedText::new(shown, text)),
            Err(error) => return self.unreadable.push((shown, error.to_string())),
        };
        let limits = self.limits.scribble;
        let mut read = vec![path.to_owned()];
        let find = |name: &str| {
            let place = file_of_module(name);
            let mut found = imports.join(&place);
            if !found.is_file()
                && let Some(header) = parse(&text.text).module.header
                && let Some(root) = root_of(path, header.as_str())
            {
                found = root.join(place);
            }
            let text = package_root::read(&found).ok()?;
            read.push(found.clone());
            Some(Arc::new(NamedText::new(self.base.show(&found), text)))
        };
        // `PackageRoot::join` has made the path absolute.
        let mut module = ScrModule::load(Arc::clone(&text), Some(path), &limits, find);
        self.looked_at.extend(read.iter().cloned());
        let file = self.files.len();
        let mut usable = Vec::new();
        for protocol in std::mem::take(&mut module.protocols) {
            match protocol.project_all() {
                Ok(projections) => usable.push(Loaded::new(file, protocol, projections)),
                Err(errors) => module.diagnostics.extend(errors),
            }
        }
        module.diagnostics.sort_by_key(|diagnostic| diagnostic.primary);
        module.diagnostics.dedup();
        if module.diagnostics.is_empty() {
            self.protocols.append(&mut usable);
        }
        let machine = |path: PathBuf| {
            let text = package_root::read(&path);
            let text = text.map(|text| Arc::new(NamedText::new(self.base.show(&path), text)));
            (path, text)
        };
        let folder = path.parent().unwrap_or(path);
        let all = || package_root::entries(folder, |other| form_of(other).is_some());
        let beside = self.machines.entry(folder.to_owned()).or_insert_with(all);
        let own = beside.iter().filter(|other| role_part(path, other).is_some());
        let machines = own.cloned().map(machine).collect();
        let (path, imports) = (path.to_owned(), imports.to_owned());
        self.files.push(ScrFile { path, imports, read, machines, module });
    }

    /// The names of all declared protocols, with the positions of their files.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (usize, &str)> {
        self.files.iter().enumerate().flat_map(|(file, read)| {
            read.module.modules.root().protocols.iter().map(move |own| (file, own.name.as_str()))
        })
    }

    /// True if the file at a position has errors and this word, perhaps the name of a protocol.
    pub(crate) fn may_declare(&self, file: usize, wanted: &str) -> bool {
        let ScrModule { texts, diagnostics, .. } = &self.files[file].module;
        let mut words =
            texts[0].text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        !diagnostics.is_empty() && words.any(|word| name::same(word, wanted))
    }
}

/// The form of a machine's file, by its ending.
pub(crate) fn form_of(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()? {
        "dot" => Some(Form::Dot),
        "local" => Some(Form::Local),
        _ => None,
    }
}

/// The part of a machine's file name between the name of the `.scr` file and the ending.
pub(crate) fn role_part<'a>(scr: &Path, path: &'a Path) -> Option<&'a str> {
    path.file_stem()?.to_str()?.strip_prefix(scr.file_stem()?.to_str()?)?.strip_prefix('.')
}

/// The outcome of a check, in order of severity, so that the outcome of several files is their
/// maximum. A file that cannot be read outweighs all verdicts, and a refusal an undecided search.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Outcome {
    /// Nothing is wrong.
    Holds,
    /// The answer is unknown: a limit stopped the proof, or another error is in the way.
    Undecided,
    /// The package, the protocol or the machine is wrong.
    Fails,
    /// An input cannot be read, so there is nothing to verify.
    BadInput,
}

impl Outcome {
    /// The word in JSON; `None` for bad input.
    pub fn verdict(self) -> Option<&'static str> {
        match self {
            Self::Holds => Some("safe"),
            Self::Fails => Some("unsafe"),
            Self::Undecided => Some("undecided"),
            Self::BadInput => None,
        }
    }
}

/// The outcome of errors of Scribble: a text that does not parse is bad input, a limit decides
/// nothing, and anything else is a mistake in the protocol.
pub fn gravest(diagnostics: &[Diagnostic]) -> Outcome {
    let outcome = |diagnostic: &Diagnostic| match diagnostic.code {
        code if code.is_limit() => Outcome::Undecided,
        // A call names the role.
        code if code == Code::NoSuchRole || code.is_syntax() => Outcome::BadInput,
        _ => Outcome::Fails,
    };
    diagnostics.iter().map(outcome).max().unwrap_or(Outcome::Holds)
}

impl ScrFile {
    /// The `sig` that declares a type for a message.
    pub(crate) fn signature(&self, message: &Message) -> Option<&Declaration> {
        let mut declarations = self.module.modules.iter().flat_map(|module| &module.declarations);
        declarations.find(|found| {
            found.kind == DeclarationKind::Signature
                && found.schema.as_str() == "rust"
                && found.name.as_str() == message.label.as_str()
        })
    }

    /// The warnings, each on one line.
    pub(crate) fn warning_lines(&self) -> impl Iterator<Item = String> {
        self.module.warnings.iter().map(|warning| {
            let (name, line) = self.line(warning.primary);
            let help = warning.help.iter().map(|help| format!("; {help}"));
            format!("{name}:{line}: {}{}", warning.message, help.collect::<String>())
        })
    }

    /// The lines that declare Rust types for a message: "line 1 of protocols/jobs.scr".
    pub(crate) fn declared_in(&self, message: &Message) -> String {
        let sorts = message.payload.iter();
        let types = sorts.filter_map(|sort| self.module.modules.sort(sort.as_str()));
        let lines = self.signature(message).into_iter().chain(types).map(|found| {
            let (name, line) = self.line(found.name.span);
            format!("line {line} of {name}")
        });
        let lines: BTreeSet<String> = lines.collect();
        Vec::from_iter(lines).join(" and ")
    }

    /// The name of a text, and the number of a line in it.
    pub(crate) fn line(&self, span: Span) -> (&str, usize) {
        let text = self.module.text(span.source());
        (&text.name, text.position(span.start()).0)
    }

    pub(crate) fn shown(&self) -> &str {
        &self.module.texts[0].name
    }
}

impl Loaded {
    pub(crate) fn new(file: usize, protocol: Protocol, projections: Vec<Projection>) -> Self {
        let mut messages: BTreeMap<String, BTreeSet<Message>> = BTreeMap::new();
        let transitions = projections.iter().flat_map(|projection| projection.fsm.transitions());
        for message in transitions.map(|of| &of.action.message) {
            let alike = messages.entry(name::normalise(message.label.as_str())).or_default();
            alike.insert(message.clone());
        }
        Self { file, protocol, projections, messages }
    }

    pub(crate) fn name(&self) -> &str {
        self.protocol.name().as_str()
    }

    /// The positions of the roles with exactly this name, or else with the [same](name::same) name.
    pub(crate) fn roles(&self, wanted: &str) -> Vec<usize> {
        let roles = self.protocol.roles().iter().enumerate().collect();
        name::find(wanted, roles, |(_, role)| role.as_str()).into_iter().map(|(at, _)| at).collect()
    }

    /// The projections as text.
    pub(crate) fn text(&self) -> String {
        let machines: Vec<Fsm> = self.projections.iter().map(|found| found.fsm.clone()).collect();
        // DOT can express every machine; the other form is shorter.
        let printed = text::print(Form::Cfsm, &machines);
        printed.or_else(|_| text::print(Form::Dot, &machines)).unwrap_or_default()
    }

    pub(crate) fn on_demand(&self) -> Vec<String> {
        let machines = self.projections.iter().map(|projection| &projection.fsm);
        let others = machines.filter(|fsm| self.protocol.connected_by(fsm.role()).is_none());
        others.filter(|fsm| fsm.is_on_demand()).map(|fsm| fsm.role().to_string()).collect()
    }

    /// The senders and receivers of messages that are dropped if they come too late.
    pub(crate) fn late(&self) -> Vec<(Role, Role)> {
        let machines = self.projections.iter().map(|projection| &projection.fsm);
        let late = |fsm| Fsm::late(fsm).keys().map(move |from| (from.clone(), fsm.role().clone()));
        machines.flat_map(late).collect()
    }

    /// See [`Protocol::counts`].
    pub(crate) fn counts(&self) -> bool {
        self.protocol.counts(&self.projections)
    }

    /// The machine that a written one is compared with: that of a role, or the one whose parts come
    /// in any order.
    pub(crate) fn due(&self, role: usize, in_any_order: bool) -> &Fsm {
        let Projection { fsm, in_any_order: other, .. } = &self.projections[role];
        other.as_ref().filter(|_| in_any_order).unwrap_or(fsm)
    }

    /// The family that a ring connects, if a message goes over it.
    pub(crate) fn connected_by(&self, ring: usize) -> Option<&Role> {
        let family = self.protocol.connected_by(self.role_at(ring))?;
        (self.projections[ring].fsm.transition_count() > 0).then_some(family)
    }

    /// True if a role has a process: it takes part, and is not a ring.
    pub(crate) fn has_process(&self, position: usize) -> bool {
        self.projections[position].fsm.transition_count() > 0
            && self.connected_by(position).is_none()
    }

    pub(crate) fn role_at(&self, position: usize) -> &Role {
        &self.protocol.roles()[position]
    }
}
