//! A package as the build script and the macros see it, and the files that pass between them.
//!
//! ```text
//! OUT_DIR/rumpsteak/protocols.txt           the version, the package, and the paths in build.rs
//! OUT_DIR/rumpsteak/protocols/NAME.txt      the files that the protocol NAME depends on
//! OUT_DIR/rumpsteak/verdicts/HASH.json      the verdict on a module
//! ```

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use litemap::LiteMap;
use rumpsteak_front::hash::Hasher;
use rumpsteak_front::{Module, name};

use crate::findings::Findings;
use crate::limits::Limits;
use crate::package_root::{self, PackageRoot};
use crate::protocols::{Protocols, ScrFile};
use crate::settings;
use crate::verdict::{self, Verdict};

/// The variable that tells rustc that the build script has run; files in `OUT_DIR` may be older.
pub(crate) const VERIFIED: &str = "RUMPSTEAK_VERIFIED";

/// The variable that tells rustc the name of the runtime's crate.
pub(crate) const RUNTIME: &str = "RUMPSTEAK_RUNTIME";

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) struct Package {
    pub(crate) base: PackageRoot,
    /// The paths of protocols in build.rs.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) folder: PathBuf,
    /// The limits of modules that set none.
    pub(crate) limits: Limits,
}

/// The files that a protocol depends on.
pub(crate) struct Inputs {
    /// The folder that imports are relative to.
    imports: PathBuf,
    /// All files with their texts, the `.scr` file first.
    files: Vec<(PathBuf, String)>,
}

impl Inputs {
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|(path, _)| path)
    }

    /// The files that the protocols in a file depend on.
    pub(crate) fn of(file: &ScrFile) -> Self {
        let read = file.read.iter().zip(&file.module.texts);
        let machines =
            file.machines.iter().filter_map(|(path, text)| Some((path, text.as_ref().ok()?)));
        let files = read.chain(machines).map(|(path, text)| (path.clone(), text.text.clone()));
        Self { imports: file.imports.clone(), files: files.collect() }
    }
}

impl Package {
    pub(crate) fn new(folder: &Path, out_dir: &Path, paths: Vec<PathBuf>) -> Self {
        let (base, folder) = (PackageRoot::new(folder), out_dir.join("rumpsteak"));
        Self { base, paths, folder, limits: Limits::default() }
    }

    /// The package that rustc compiles, as its build script has described it.
    pub(crate) fn of_macro() -> Result<Self, String> {
        let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(NO_SCRIPT);
        let (out_dir, folder) = (variable("OUT_DIR")?, variable("CARGO_MANIFEST_DIR")?);
        let version = env::var(VERIFIED).map_err(|_| NO_SCRIPT)?;
        if version != VERSION {
            return Err(format!(
                "the build script used rumpsteak-build {version}, and this is {VERSION}\n\n\
                 help: use the same version of `rumpsteak-build` and of the runtime"
            ));
        }
        let (name, built, paths) = read_description(&out_dir).ok_or(NO_SCRIPT)?;
        // A package of test cases is compiled with the `OUT_DIR` of the package that tests them.
        let is_own = env::var("CARGO_PKG_NAME").is_ok_and(|own| own == name);
        Ok(Self::new(if is_own { &folder } else { &built }, &out_dir, paths))
    }

    /// The files that a module's protocol depends on, as the build script has listed them.
    pub(crate) fn inputs(&self, module: &Module) -> Option<Inputs> {
        let name = module.arguments.protocol.as_ref()?.to_string();
        let text = fs::read_to_string(self.list_of(&name)).ok()?;
        let mut paths = text.lines().map(|path| self.base.join(path));
        let imports = paths.next()?;
        let with_text = |path: PathBuf| package_root::read(&path).ok().map(|text| (path, text));
        let files: Vec<_> = paths.map(with_text).collect::<Option<_>>()?;
        (!files.is_empty()).then_some(Inputs { imports, files })
    }

    fn list_of(&self, protocol: &str) -> PathBuf {
        self.folder.join(format!("protocols/{}.txt", name::normalise(protocol)))
    }

    pub(crate) fn verdict(&self, key: u64) -> Option<Verdict> {
        verdict::unseal(key, &fs::read_to_string(verdict::path(&self.folder, key)).ok()?)
    }

    /// Verifies a module, with the protocol in `inputs`, or else in any of the package's files.
    pub(crate) fn judge(&self, module: &Module, inputs: Option<&Inputs>) -> Findings {
        let limits = settings::limits(&module.arguments, self.limits).0;
        let base = self.base.clone();
        let mut protocols = Protocols { base, limits, ..Protocols::default() };
        match (&module.arguments.protocol, inputs) {
            (None, _) => {}
            (_, Some(Inputs { imports, files })) => protocols.read(&files[0].0, imports),
            (_, None) => protocols = Protocols::load(&self.base, &self.paths, limits),
        }
        Findings::of(module, &protocols)
    }

    /// Removes all lists, and describes the package for the macros.
    pub(crate) fn begin(&self) -> io::Result<()> {
        let lists = self.folder.join("protocols");
        if lists.exists() {
            fs::remove_dir_all(&lists)?;
        }
        fs::create_dir_all(lists)?;
        let name = env::var("CARGO_PKG_NAME").unwrap_or_default();
        let folder = self.base.folder.display();
        let paths = self.paths.iter().map(|path| format!("{}\n", path.display()));
        let text = format!("{VERSION}\n{name}\n{folder}\n{}", paths.collect::<String>());
        // In one step: an editor may expand a macro of this package at any time.
        fs::write(self.folder.join("new.txt"), text)?;
        fs::rename(self.folder.join("new.txt"), self.folder.join("protocols.txt"))
    }

    /// Lists the files of each protocol, unless two files declare it: then the macro reports that.
    pub(crate) fn list(&self, protocols: &Protocols) -> io::Result<()> {
        let mut files: LiteMap<String, Vec<usize>> = LiteMap::new();
        for (file, own) in protocols.declared() {
            files.entry(name::normalise(own)).or_default().push(file);
        }
        for (own, declared) in files {
            if let [file] = declared[..] {
                let inputs = Inputs::of(&protocols.files[file]);
                // Relative to the package: another checkout may share this `OUT_DIR`.
                let paths = [&inputs.imports].into_iter().chain(inputs.paths());
                let lines = paths.map(|path| format!("{}\n", self.base.relative(path).display()));
                fs::write(self.list_of(&own), lines.collect::<String>())?;
            }
        }
        Ok(())
    }

    /// Stores verdicts in the place of all that are there. Most are there already.
    pub(crate) fn store<'v>(
        &self,
        verdicts: impl Iterator<Item = (u64, &'v Verdict)>,
    ) -> io::Result<()> {
        fs::create_dir_all(self.folder.join("verdicts"))?;
        let mut sealed: LiteMap<PathBuf, String> = LiteMap::new();
        let text = |(key, of)| (verdict::path(&self.folder, key), verdict::seal(key, of));
        verdicts.map(text).for_each(|(path, text)| _ = sealed.insert(path, text));
        let is_old = |path: &Path| !sealed.contains_key(path);
        for path in package_root::entries(&self.folder.join("verdicts"), is_old) {
            fs::remove_file(path)?;
        }
        let is_new =
            |(path, text): &(_, String)| fs::read_to_string(path).ok().as_ref() != Some(text);
        sealed.into_iter().filter(is_new).try_for_each(|(path, text)| fs::write(path, text))
    }
}

/// The hash of all inputs of the verdict on a module.
pub(crate) fn key(module: &Module, inputs: Option<&Inputs>) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(VERSION);
    hasher.bytes(&module.hash.to_be_bytes());
    for (path, text) in inputs.into_iter().flat_map(|inputs| &inputs.files) {
        // The name of a machine's file says which role it plays.
        hasher.text(&path.file_name().unwrap_or_default().to_string_lossy());
        hasher.text(text);
    }
    hasher.finish()
}

/// The name, the folder and the paths of protocols of a package, unless its version is another one.
pub(crate) fn read_description(out_dir: &Path) -> Option<(String, PathBuf, Vec<PathBuf>)> {
    let text = fs::read_to_string(out_dir.join("rumpsteak/protocols.txt")).ok()?;
    let mut lines = text.lines();
    if lines.next()? != VERSION {
        return None;
    }
    let (name, folder) = (lines.next()?.to_owned(), PathBuf::from(lines.next()?));
    Some((name, folder, lines.map(PathBuf::from).collect()))
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
        analysis.store(&package).unwrap();
        (folder, package)
    }

    /// The verdict that a macro finds for a module.
    fn found(package: &Package, module: &Module) -> Option<Verdict> {
        package.verdict(key(module, package.inputs(module).as_ref()))
    }

    #[test]
    fn a_macro_takes_the_verdict_that_the_build_script_left() {
        let (folder, package) = left("verdict");
        let own = module("P", MODULE);
        let verdict = found(&package, &own).unwrap();
        assert_eq!(verdict, package.judge(&own, package.inputs(&own).as_ref()).verdict);
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
        assert!(read_description(&folder.join("out")).is_some());
        let text = fs::read_to_string(&list).unwrap();
        fs::write(&list, text.replacen(VERSION, "0.0.0", 1)).unwrap();
        assert_eq!(read_description(&folder.join("out")), None);
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
        Analysis::new(&package).store(&package).unwrap();
        assert_eq!(fs::read_dir(folder.join("out/rumpsteak/verdicts")).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }
}
