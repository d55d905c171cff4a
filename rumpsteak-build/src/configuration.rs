//! What a build script asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::limits::Limits;

/// The path of the configuration below `OUT_DIR`.
pub const PATH: &str = "rumpsteak/configuration.json";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// When a message that waits is received, and a role that waits is served. See
/// [`Configuration::liveness`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Liveness {
    /// In every run, whatever the roles choose; as long as a role that can do something does so
    /// sooner or later.
    EveryRun,
    /// If choices are fair: wherever the roles are, they can still choose so that it happens. Given
    /// up is that it happens: a role may choose for ever so that others wait, and messages pile up.
    Fair,
}

/// What to verify. Made by [`configure`](crate::configure).
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is verified until `verify` is called"]
pub struct Configuration {
    pub(crate) protocols: Vec<PathBuf>,
    pub(crate) sources: Vec<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) generate: bool,
    pub(crate) closed_systems: BTreeSet<String>,
    pub(crate) liveness: BTreeMap<String, Liveness>,
}

/// The call that accepts what is so if choices are fair.
pub(crate) fn fairness(protocol: impl Display, role: impl Display) -> String {
    format!("liveness(\"{protocol}::{role}\", rumpsteak_build::Liveness::Fair)")
}

/// The call that raises a limit.
pub(crate) fn raised(setting: &str, limit: usize) -> String {
    format!("limits(rumpsteak_build::Limits::default().{setting}({}))", limit.saturating_mul(10))
}

impl Configuration {
    /// Adds a `.scr` file, or a folder with such files in it or below it. Relative to the package.
    pub fn protocols(mut self, path: impl Into<PathBuf>) -> Self {
        self.protocols.push(path.into());
        self
    }

    /// Adds source files with sessions that belong to no target of the package. Each is read as the
    /// root of a crate. Relative to the package.
    pub fn sources(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.sources.extend(files.into_iter().map(Into::into));
        self
    }

    /// Generates the Rust code of each protocol that the source includes by `protocol!(…)`: its
    /// roles, its messages and their sessions.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), rumpsteak_build::Report> {
    /// // In build.rs. In the source: `rumpsteak_runtime::protocol!(DoubleBuffering);`
    /// rumpsteak_build::configure()
    ///     .protocols("protocols")
    ///     .generate()
    ///     .verify()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A role acts in the order of the protocol, unless a machine for it lies beside the `.scr`
    /// file: `double_buffering.k.dot` or, as a local type, `double_buffering.k.local` is the
    /// machine of the role `k` of the only protocol with such a role in `double_buffering.scr`;
    /// `double_buffering.DoubleBuffering.k.dot` names the protocol, too. The machine is verified
    /// against the protocol as a session is, and an error is raised at `protocol!(…)`.
    pub fn generate(mut self) -> Self {
        self.generate = true;
        self
    }

    /// Accepts sessions of a protocol that are no subtypes of their projections, if the sessions of
    /// all roles of the protocol are a safe closed system: k-multiparty compatible for some k.
    ///
    /// Asynchronous subtyping proves each role by itself, so that it is safe with all peers that
    /// keep to the protocol. A closed system is safe with the sessions of this very package and
    /// with no others: use it only if no other program plays a role of the protocol. Nothing is
    /// accepted if a role has no session in this package, or if one combination of sessions is not
    /// safe; the error says why.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), rumpsteak_build::Report> {
    /// rumpsteak_build::configure()
    ///     .protocols("protocols")
    ///     .accept_closed_system("DoubleBuffering")
    ///     .verify()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn accept_closed_system(mut self, protocol: impl Into<String>) -> Self {
        self.closed_systems.insert(protocol.into());
        self
    }

    /// Says which liveness is asked of a protocol, `"Hospital"`, or of a role, `"Hospital::p"`,
    /// which goes before its protocol.
    ///
    /// | | without it | [`EveryRun`](Liveness::EveryRun) | [`Fair`](Liveness::Fair) |
    /// |---|---|---|---|
    /// | a session that may put off for ever what it can always still receive | refused | refused | accepted |
    /// | a protocol in which others may choose so that the role waits for ever | a warning[^1] | refused | accepted |
    ///
    /// If sessions are judged together, without subtyping, a limit that ends the search for such a
    /// session counts only with `EveryRun`.
    ///
    /// [^1]: If that is soon found: see [`rumpsteak_fsm::Limits::for_a_warning`].
    ///
    /// That nothing deadlocks or comes unexpected, and that no message is lost for good, is
    /// promised in any case.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), rumpsteak_build::Report> {
    /// use rumpsteak_build::Liveness;
    ///
    /// rumpsteak_build::configure()
    ///     .protocols("protocols")
    ///     .liveness("Hospital::p", Liveness::Fair)
    ///     .verify()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn liveness(mut self, name: impl Into<String>, liveness: Liveness) -> Self {
        self.liveness.insert(name.into(), liveness);
        self
    }

    /// How much each search may cost. The defaults answer every protocol of the papers.
    pub fn limits(mut self, limits: impl Into<Limits>) -> Self {
        self.limits = limits.into();
        self
    }

    /// What build.rs says, by this type or by [`verify`](crate::verify): the line to which another
    /// call is added. A `…` stands for what else a long one has.
    pub(crate) fn script(&self) -> String {
        let protocols = self.protocols.iter().map(|path| format!(".protocols({path:?})"));
        let generate = if self.generate { ".generate()" } else { "" };
        let is_short =
            self.sources.is_empty() && self.closed_systems.is_empty() && self.liveness.is_empty();
        let more = if is_short { "" } else { "…" };
        format!("rumpsteak_build::configure(){}{generate}{more}", protocols.collect::<String>())
    }

    /// What asks for all that two configurations ask for, with the limits of the first.
    pub(crate) fn and(mut self, mut other: Self) -> Self {
        other.protocols.retain(|path| !self.protocols.contains(path));
        self.protocols.append(&mut other.protocols);
        self.sources.append(&mut other.sources);
        self.closed_systems.append(&mut other.closed_systems);
        self.liveness.append(&mut other.liveness);
        self.generate |= other.generate;
        self
    }

    /// Reads what [`verify`](Self::verify) wrote into `OUT_DIR`. `None` if it wrote nothing, or is
    /// of another version.
    pub(crate) fn read(out_dir: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(out_dir.join(PATH)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        if value["version"] != VERSION {
            return None;
        }
        let texts = |name: &str| -> Option<Vec<String>> {
            let texts = value[name].as_array()?.iter();
            texts.map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let paths = |name: &str| -> Option<Vec<PathBuf>> {
            Some(texts(name)?.into_iter().map(PathBuf::from).collect())
        };
        let mut limits = Limits::default();
        for (name, limit) in limits.by_name() {
            *limit = usize::try_from(value["limits"][name].as_u64()?).ok()?;
        }
        Some(Self {
            protocols: paths("protocols")?,
            sources: paths("sources")?,
            limits,
            generate: value["generate"].as_bool()?,
            closed_systems: texts("closed_systems")?.into_iter().collect(),
            liveness: value["liveness"]
                .as_object()?
                .iter()
                .map(|(name, liveness)| {
                    let mut known = [Liveness::EveryRun, Liveness::Fair].into_iter();
                    let liveness = known.find(|known| *liveness == format!("{known:?}"))?;
                    Some((name.clone(), liveness))
                })
                .collect::<Option<_>>()?,
        })
    }

    /// The configuration as JSON, for [`read`](Self::read).
    #[doc(hidden)]
    pub fn print(&self) -> String {
        let paths = |paths: &[PathBuf]| -> Value {
            paths.iter().map(|path| path.to_string_lossy()).collect()
        };
        let mut limits = self.limits;
        let limits: Map<String, Value> =
            limits.by_name().map(|(name, limit)| (name.to_owned(), Value::from(*limit))).collect();
        let liveness = self.liveness.iter();
        let liveness: Map<String, Value> = liveness
            .map(|(name, liveness)| (name.clone(), format!("{liveness:?}").into()))
            .collect();
        let value = json!({
            "version": VERSION,
            "protocols": paths(&self.protocols),
            "sources": paths(&self.sources),
            "limits": limits,
            "generate": self.generate,
            "closed_systems": self.closed_systems,
            "liveness": liveness,
        });
        format!("{value:#}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let configuration = crate::configure()
            .protocols("../a \"b\".scr")
            .protocols("protocols")
            .sources(["other.rs"])
            .accept_closed_system("P")
            .liveness("P", Liveness::Fair)
            .liveness("P::a", Liveness::EveryRun)
            .limits(Limits::default().steps(1).items(2).global_states(3));
        let out_dir = std::env::temp_dir().join(format!("rumpsteak-{}", std::process::id()));
        let file = out_dir.join(PATH);
        assert!(std::fs::create_dir_all(out_dir.join("rumpsteak")).is_ok());
        let write = |text: &str| assert!(std::fs::write(&file, text).is_ok());
        let text = configuration.print();
        write(&text);
        let read = Configuration::read(&out_dir);
        assert_eq!(format!("{read:?}"), format!("{:?}", Some(configuration)));
        for broken in [&text[..40], &text.replace(VERSION, "0.0.0"), &text.replace(": 1,", ": -1,")]
        {
            write(broken);
            assert!(Configuration::read(&out_dir).is_none(), "{broken}");
        }
        assert!(std::fs::remove_dir_all(&out_dir).is_ok());
        assert!(Configuration::read(&out_dir).is_none());
    }
}
