//! A package: its protocols, its modules, and what its build script leaves for the macros.
//!
//! ```text
//! OUT_DIR/rumpsteak/protocols.txt           the version, the package, and the paths that build.rs names
//! OUT_DIR/rumpsteak/protocols/NAME.txt      the files that the protocol NAME depends on
//! OUT_DIR/rumpsteak/verdicts/HASH.json      the verdict on a module
//! ```

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rumpsteak_front::hash::Hasher;
use rumpsteak_front::{Module, name};

use crate::codegen::machines;
use crate::findings::Findings;
use crate::limits::Limits;
use crate::package_root::PackageRoot;
use crate::protocols::{Protocols, ScrFile};
use crate::settings;
use crate::text_file;
use crate::verdict::{self, Verdict};

/// The variable by which the build script tells rustc that it has verified the package: a file in
/// `OUT_DIR` outlives the build script that wrote it, and this does not.
pub(crate) const VERIFIED: &str = "RUMPSTEAK_VERIFIED";

/// The variable in which the build script tells rustc the name of the runtime's crate.
pub(crate) const RUNTIME: &str = "RUMPSTEAK_RUNTIME";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The protocols of a package, as a macro or the build script finds them.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) base: PackageRoot,
    /// The paths of protocols that build.rs names.
    pub(crate) paths: Vec<PathBuf>,
    /// The folder below `OUT_DIR`.
    folder: PathBuf,
    /// The limits of modules that set none.
    pub(crate) limits: Limits,
}

/// The files that a protocol depends on.
#[derive(Debug)]
pub(crate) struct Place {
    /// The `.scr` file, and the folder in which its imports are looked for.
    root: PathBuf,
    imports: PathBuf,
    /// All files with their texts, the `.scr` file first.
    pub(crate) files: Vec<(PathBuf, String)>,
}

impl Place {
    /// The paths of all files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|(path, _)| path)
    }

    /// The files of a protocol in a file.
    pub(crate) fn of(file: &ScrFile) -> Self {
        let machines = machines::files_beside(&file.path);
        let paths = file.read.iter().cloned().chain(machines);
        let files = paths.filter_map(|path| {
            let text = text_file::read(&path).ok()?;
            Some((path, text))
        });
        Self { root: file.path.clone(), imports: file.imports.clone(), files: files.collect() }
    }

    /// The list of files, with paths from the package's folder on: another checkout may come to use
    /// this `OUT_DIR`.
    fn print(&self, base: &PackageRoot) -> String {
        let paths = [&self.imports].into_iter().chain(self.paths());
        paths.map(|path| format!("{}\n", base.relative(path).display())).collect()
    }
}

impl Package {
    pub(crate) fn new(folder: &Path, out_dir: &Path, paths: Vec<PathBuf>) -> Self {
        let (base, folder) = (PackageRoot::new(folder), out_dir.join("rumpsteak"));
        Self { base, paths, folder, limits: Limits::default() }
    }

    /// The package whose code rustc compiles, as its build script left it.
    ///
    /// # Errors
    ///
    /// The reason why there is none, and what to do.
    pub(crate) fn of_macro() -> Result<Self, String> {
        let variable = |name| env::var_os(name).map(PathBuf::from);
        let (Some(out_dir), Some(folder)) = (variable("OUT_DIR"), variable("CARGO_MANIFEST_DIR"))
        else {
            return Err(NO_SCRIPT.to_owned());
        };
        match env::var(VERIFIED) {
            Ok(version) if version == VERSION => {}
            Ok(version) => {
                return Err(format!(
                    "the build script used rumpsteak-build {version}, and this is {VERSION}\n\n\
                     help: use the same version of `rumpsteak-build` and of the runtime"
                ));
            }
            Err(_) => return Err(NO_SCRIPT.to_owned()),
        }
        let Left { name, folder: left, paths } = left(&out_dir).ok_or(NO_SCRIPT)?;
        // A package of test cases is compiled with the `OUT_DIR` of the package that tests them.
        let is_own = env::var("CARGO_PKG_NAME").is_ok_and(|own| own == name);
        Ok(Self::new(if is_own { &folder } else { &left }, &out_dir, paths))
    }

    /// The files that the protocol of a module depends on, as the build script listed them; `None`
    /// if it did not, or a file is gone.
    pub(crate) fn place(&self, module: &Module) -> Option<Place> {
        let name = module.arguments.protocol.as_ref()?.to_string();
        let text = fs::read_to_string(self.list_of(&name)).ok()?;
        let mut lines = text.lines().map(|path| self.base.join(path));
        let imports = lines.next()?;
        let files = lines.map(|path| {
            let text = text_file::read(&path).ok()?;
            Some((path, text))
        });
        let files: Vec<(PathBuf, String)> = files.collect::<Option<_>>()?;
        let root = files.first()?.0.clone();
        Some(Place { root, imports, files })
    }

    /// The file that lists what a protocol depends on.
    fn list_of(&self, protocol: &str) -> PathBuf {
        self.folder.join(format!("protocols/{}.txt", name::normalise(protocol)))
    }

    /// The verdict that the build script left.
    pub(crate) fn verdict(&self, key: u64) -> Option<Verdict> {
        verdict::unseal(key, &fs::read_to_string(verdict::path(&self.folder, key)).ok()?)
    }

    /// Judges a module whose protocol is at a place, or in any of the files that build.rs names.
    pub(crate) fn judge(&self, module: &Module, place: Option<&Place>) -> Findings {
        let limits = settings::limits(&module.arguments, self.limits).0;
        let protocols = match (&module.arguments.protocol, place) {
            (None, _) => Protocols { limits, ..Protocols::default() },
            (_, Some(place)) => {
                let Place { root, imports, .. } = place;
                Protocols::load_files(&self.base, [(root.clone(), imports.clone())], limits)
            }
            (_, None) => Protocols::load(&self.base, &self.paths, limits),
        };
        Findings::of(module, &protocols, &self.base)
    }

    /// Begins a new set of verdicts.
    pub(crate) fn begin(&self) -> io::Result<()> {
        for folder in ["protocols", "verdicts"] {
            let folder = self.folder.join(folder);
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)?;
        }
        let name = env::var("CARGO_PKG_NAME").unwrap_or_default();
        let folder = self.base.folder().display();
        let paths = self.paths.iter().map(|path| format!("{}\n", path.display()));
        let text = format!("{VERSION}\n{name}\n{folder}\n{}", paths.collect::<String>());
        // In one step: an editor may expand a macro of this package at any time.
        fs::write(self.folder.join("new.txt"), text)?;
        fs::rename(self.folder.join("new.txt"), self.folder.join("protocols.txt"))
    }

    /// Lists the files that each protocol depends on. A name that two files declare has no list, so
    /// that a macro reads all of them and says so.
    ///
    /// # Errors
    ///
    /// If the file system refuses.
    pub(crate) fn list(&self, protocols: &Protocols) -> io::Result<()> {
        for file in &protocols.files {
            let place = Place::of(file);
            for declared in &file.modules.root().protocols {
                let own = declared.name.as_str();
                let is_same = |other: &&str| name::same(other, own);
                if protocols.names().filter(is_same).count() == 1 {
                    fs::write(self.list_of(own), place.print(&self.base))?;
                }
            }
        }
        Ok(())
    }

    /// Leaves a verdict for the macros.
    ///
    /// # Errors
    ///
    /// If the file system refuses.
    pub(crate) fn leave(&self, key: u64, verdict: &Verdict) -> io::Result<()> {
        fs::write(verdict::path(&self.folder, key), verdict::seal(key, verdict))
    }
}

/// The hash of all that the verdict on a module depends on.
pub(crate) fn key(module: &Module, place: Option<&Place>) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(env!("CARGO_PKG_VERSION"));
    hasher.bytes(&module.hash.to_be_bytes());
    for (path, text) in place.into_iter().flat_map(|place| &place.files) {
        // The name of a machine's file says whose it is.
        let name = path.file_name().unwrap_or_default();
        hasher.text(&name.to_string_lossy());
        hasher.text(text);
    }
    hasher.finish()
}

/// What a build script left in its `OUT_DIR`.
struct Left {
    /// The name of the package.
    name: String,
    folder: PathBuf,
    /// The paths of protocols that build.rs names.
    paths: Vec<PathBuf>,
}

/// The paths of protocols that a build script left in its `OUT_DIR`; `None` if it left none, or is
/// of another version.
pub(crate) fn paths(out_dir: &Path) -> Option<Vec<PathBuf>> {
    Some(left(out_dir)?.paths)
}

fn left(out_dir: &Path) -> Option<Left> {
    let text = fs::read_to_string(out_dir.join("rumpsteak/protocols.txt")).ok()?;
    let mut lines = text.lines();
    if lines.next()? != VERSION {
        return None;
    }
    let (name, folder) = (lines.next()?.to_owned(), PathBuf::from(lines.next()?));
    Some(Left { name, folder, paths: lines.map(PathBuf::from).collect() })
}

const NO_SCRIPT: &str = "no build script has verified this package\n\n\
     help: write `rumpsteak_build::verify(\"protocols\")?;` in `main` of build.rs, with `rumpsteak-build` under \
     `[build-dependencies]`";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]
mod tests {
    use rumpsteak_front::module::ModuleKind;

    use super::*;
    use crate::analysis::Analysis;

    const FILES: [(&str, &str); 3] = [
        ("protocols/p.scr", "import base; global protocol P(role a, role b) { do base.Q(a, b); }"),
        ("protocols/base.scr", "aux global protocol Q(role a, role b) { x() from a to b; }"),
        ("protocols/p.a.local", "a: b!x; end"),
    ];
    const MODULE: &str = "mod p { #[session(B)] type Own = Receive<A, X, End>; }";

    fn module(arguments: &str, module: &str) -> Module {
        let tokens = |text: &str| text.parse().unwrap();
        Module::parse(ModuleKind::Protocol, tokens(arguments), tokens(module)).unwrap()
    }

    /// A folder in which the build script has judged the module, and what it left.
    fn left(name: &str) -> (PathBuf, Package) {
        let folder = env::temp_dir().join(format!("rumpsteak-{name}-{}", std::process::id()));
        let source = format!("#[rumpsteak::protocol(P)] {MODULE}");
        for (path, text) in FILES.into_iter().chain([("src/lib.rs", &*source)]) {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let package = Package::new(&folder, &folder.join("out"), vec!["protocols".into()]);
        package.begin().unwrap();
        let analysis = Analysis::new(&package);
        package.list(&analysis.protocols).unwrap();
        analysis.leave(&package).unwrap();
        (folder, package)
    }

    /// The verdict that a macro finds for a module.
    fn found(package: &Package, module: &Module) -> Option<Verdict> {
        package.verdict(key(module, package.place(module).as_ref()))
    }

    #[test]
    fn a_macro_takes_the_verdict_that_the_build_script_left() {
        let (folder, package) = left("verdict");
        let own = module("P", MODULE);
        let verdict = found(&package, &own).unwrap();
        assert_eq!(verdict, package.judge(&own, package.place(&own).as_ref()).verdict);
        assert!(verdict.roots.len() == 2 && verdict.roots.values().all(|root| root.passed));
        // Documentation and the place do not matter.
        let moved = MODULE.replace("type", "/// What it does.\n type");
        assert!(found(&package, &module("P", &moved)).is_some());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn whatever_a_verdict_depends_on_has_it_judged_again() {
        let (folder, package) = left("changes");
        for (arguments, items) in [
            ("P, fair", MODULE.to_owned()),
            ("P, limits(steps = 10)", MODULE.to_owned()),
            ("P", MODULE.replace("Own", "Other")),
            ("P", MODULE.replace("mod p", "pub mod p")),
            ("P", MODULE.replace("End>", "End,>")),
            ("P", MODULE.replace("}", "use super::X; }")),
            ("P", "mod p {}".to_owned()),
        ] {
            assert_eq!(found(&package, &module(arguments, &items)), None, "{arguments} {items}");
        }
        let own = module("P", MODULE);
        for (path, text) in FILES {
            let path = folder.join(path);
            fs::write(&path, format!("{text}\n")).unwrap();
            assert_eq!(found(&package, &own), None, "{path:?}");
            fs::remove_file(&path).unwrap();
            assert_eq!(found(&package, &own), None, "{path:?}");
            fs::write(&path, text).unwrap();
            assert!(found(&package, &own).is_some(), "{path:?}");
        }
        // Another version.
        let list = folder.join("out/rumpsteak/protocols.txt");
        assert!(paths(&folder.join("out")).is_some());
        let text = fs::read_to_string(&list).unwrap();
        fs::write(&list, text.replacen(VERSION, "0.0.0", 1)).unwrap();
        assert_eq!(paths(&folder.join("out")), None);
        // A verdict that was cut off.
        let file = fs::read_dir(folder.join("out/rumpsteak/verdicts")).unwrap().next().unwrap();
        let text = fs::read_to_string(file.as_ref().unwrap().path()).unwrap();
        fs::write(file.unwrap().path(), &text[..text.len() / 2]).unwrap();
        assert_eq!(found(&package, &own), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_module_with_a_mistake_leaves_no_verdict() {
        let (folder, package) = left("mistake");
        let wrong = "#[rumpsteak::protocol(P)] mod p { #[session(B)] type Own = End; }\n\
                     #[rumpsteak::protocol(P)] mod q { type }\n";
        fs::write(folder.join("src/lib.rs"), wrong).unwrap();
        package.begin().unwrap();
        Analysis::new(&package).leave(&package).unwrap();
        assert_eq!(fs::read_dir(folder.join("out/rumpsteak/verdicts")).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }
}
