//! Results on disk: JSON lines, one file per figure, in the order in which they were measured.
//!
//! A later row replaces an earlier one of the same figure, series, x and mode. The environments to
//! which the rows refer are in `environments.jsonl` beside them.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Environment, Error, Mode, Result, Unit};

/// One series of a figure at one x.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name of the figure.
    pub figure: String,
    /// The name of the series.
    pub series: String,
    /// The position on the x axis.
    pub x: u64,
    /// How long was measured.
    pub mode: Mode,
    /// The unit of the samples.
    pub unit: Unit,
    /// The samples, in the order in which they were taken.
    pub samples: Vec<f64>,
    /// The largest of the peaks of memory, in bytes, if each sample had a process of its own.
    pub peak: Option<u64>,
    /// The number of seconds after which it was stopped, if it was. Then it has no samples.
    pub timed_out: Option<f64>,
    /// [`Environment::id`].
    pub environment: String,
    /// When, in UTC.
    pub date: String,
}

impl Row {
    /// Its line in the file.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "figure": self.figure,
            "series": self.series,
            "x": self.x,
            "mode": self.mode.name(),
            "unit": self.unit.name(),
            "samples": self.samples,
            "peak": self.peak,
            "timed_out": self.timed_out,
            "environment": self.environment,
            "date": self.date,
        })
    }

    /// Reads that form.
    ///
    /// # Errors
    ///
    /// The missing or invalid member.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let member = |name: &str| value.get(name).ok_or_else(|| format!("`{name}` is missing"));
        let text = |name: &str| {
            let member = member(name)?;
            let text = member.as_str();
            text.ok_or_else(|| format!("`{name}` is not a text"))
        };
        let unknown = |name: &str, value: &str| format!("`{name}` cannot be `{value}`");
        let mode = text("mode")?;
        let unit = text("unit")?;
        let samples = member("samples")?
            .as_array()
            .and_then(|samples| samples.iter().map(Value::as_f64).collect())
            .ok_or("`samples` is not a list of numbers")?;
        let peak = match member("peak")? {
            Value::Null => None,
            peak => Some(peak.as_u64().ok_or("`peak` is not a number of bytes")?),
        };
        let timed_out = match member("timed_out")? {
            Value::Null => None,
            time => Some(time.as_f64().ok_or("`timed_out` is not a number")?),
        };
        let row = Self {
            figure: text("figure")?.to_owned(),
            series: text("series")?.to_owned(),
            x: member("x")?.as_u64().ok_or("`x` is not a whole number")?,
            mode: Mode::named(mode).ok_or_else(|| unknown("mode", mode))?,
            unit: Unit::named(unit).ok_or_else(|| unknown("unit", unit))?,
            samples,
            peak,
            timed_out,
            environment: text("environment")?.to_owned(),
            date: text("date")?.to_owned(),
        };
        if row.samples.is_empty() == row.timed_out.is_none() {
            return Err("there are either samples or `timed_out`".to_owned());
        }
        Ok(row)
    }
}

/// The stored results in a folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    rows: BTreeMap<Place, Row>,
    environments: BTreeMap<String, Environment>,
}

/// The key of a row, by which a later one replaces it: figure, series, x and mode.
type Place = (String, String, u64, &'static str);

const ENVIRONMENTS: &str = "environments.jsonl";

impl Store {
    /// Reads the results in a folder, which need not exist.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] with the first line that is not a result, [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Self> {
        let mut store = Self {
            folder: folder.to_path_buf(),
            rows: BTreeMap::new(),
            environments: BTreeMap::new(),
        };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(store),
            Err(error) => return Err(Error::io(folder)(error)),
        };
        let mut files = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()
            .map_err(Error::io(folder))?;
        files.retain(|file| file.extension().is_some_and(|kind| kind == "jsonl"));
        files.sort();
        for file in files {
            store.read(&file)?;
        }
        if let Some(row) =
            store.rows.values().find(|row| !store.environments.contains_key(&row.environment))
        {
            return Err(Error::Corrupt {
                file: store.file(&row.figure),
                line: 1,
                why: format!("environment `{}` of a row is not in {ENVIRONMENTS}", row.environment),
            });
        }
        Ok(store)
    }

    fn read(&mut self, file: &Path) -> Result<()> {
        let text = fs::read_to_string(file).map_err(Error::io(file))?;
        let environments = file.ends_with(ENVIRONMENTS);
        for (index, line) in text.lines().enumerate() {
            let corrupt =
                |why: String| Error::Corrupt { file: file.to_path_buf(), line: index + 1, why };
            let value: Value =
                serde_json::from_str(line).map_err(|error| corrupt(error.to_string()))?;
            if environments {
                let environment = Environment::from_json(&value)
                    .ok_or_else(|| corrupt("this is not an environment".to_owned()))?;
                self.environments.insert(environment.id(), environment);
            } else {
                let row = Row::from_json(&value).map_err(corrupt)?;
                self.rows.insert(place(&row), row);
            }
        }
        Ok(())
    }

    /// The row of this place.
    #[must_use]
    pub fn row(&self, figure: &str, series: &str, x: u64, mode: Mode) -> Option<&Row> {
        self.rows.get(&(figure.to_owned(), series.to_owned(), x, mode.name()))
    }

    /// All rows of a figure in this mode, by series and x.
    pub fn rows<'a>(&'a self, figure: &'a str, mode: Mode) -> impl Iterator<Item = &'a Row> {
        self.rows.values().filter(move |row| row.figure == figure && row.mode == mode)
    }

    /// The environment of this [id](Environment::id).
    #[must_use]
    pub fn environment(&self, id: &str) -> Option<&Environment> {
        self.environments.get(id)
    }

    /// Adds rows of one environment, on disk and here.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn add(&mut self, environment: &Environment, rows: Vec<Row>) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        let id = environment.id();
        if !self.environments.contains_key(&id) {
            append(&self.folder.join(ENVIRONMENTS), &[environment.to_json().to_string()])?;
            self.environments.insert(id, environment.clone());
        }
        for row in rows {
            append(&self.file(&row.figure), &[row.to_json().to_string()])?;
            self.rows.insert(place(&row), row);
        }
        Ok(())
    }

    /// Rewrites each file without the rows that were replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn compact(&self) -> Result<()> {
        let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
        for row in self.rows.values() {
            let text = files.entry(self.file(&row.figure)).or_default();
            text.push_str(&row.to_json().to_string());
            text.push('\n');
        }
        let used = |id: &str| self.rows.values().any(|row| row.environment == id);
        let environments = self
            .environments
            .iter()
            .filter(|(id, _)| used(id))
            .map(|(_, environment)| format!("{}\n", environment.to_json()))
            .collect();
        files.insert(self.folder.join(ENVIRONMENTS), environments);
        for (file, text) in files {
            // A file beside it first: a run that is interrupted here loses nothing.
            let fresh = file.with_extension("fresh");
            fs::write(&fresh, text).map_err(Error::io(&fresh))?;
            fs::rename(&fresh, &file).map_err(Error::io(&file))?;
        }
        Ok(())
    }

    fn file(&self, figure: &str) -> PathBuf {
        self.folder.join(format!("{figure}.jsonl"))
    }
}

fn place(row: &Row) -> Place {
    (row.figure.clone(), row.series.clone(), row.x, row.mode.name())
}

/// Adds lines to a file, in one write.
fn append(file: &Path, lines: &[String]) -> Result<()> {
    let mut text = lines.join("\n");
    text.push('\n');
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut open| open.write_all(text.as_bytes()))
        .map_err(Error::io(file))
}
