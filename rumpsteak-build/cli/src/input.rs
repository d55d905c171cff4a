//! Reading files and standard input.

use std::fs::{DirEntry, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use rumpsteak_build::command::{NamedText, Notice, did_you_mean};

/// Longer inputs are refused: they are devices or wrong files, not protocols.
const LIMIT_MIB: u64 = 64;

#[derive(Debug, Default)]
pub(crate) struct Reader {
    stdin_read: bool,
}

impl Reader {
    /// Reads a file, or standard input for `-`. `what` names the contents, such as "a Scribble
    /// module".
    pub(crate) fn read(&mut self, path: &Path, what: &str) -> Result<Arc<NamedText>, Notice> {
        let stdin = path == Path::new("-");
        let name = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };

        let bytes = if stdin {
            if std::mem::replace(&mut self.stdin_read, true) {
                return Err(Notice::error("standard input can only be read once")
                    .help("name a file in place of the second `-`"));
            }
            read_all(io::stdin().lock())
        } else {
            File::open(path).and_then(read_all)
        };
        let bytes = bytes.map_err(|error| unreadable(path, &name, what, &error))?;

        if bytes.len() as u64 > LIMIT_MIB << 20 {
            let message = format!("`{name}` is longer than {LIMIT_MIB} MiB");
            return Err(Notice::error(message).help(format!("is it {what}?")));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Notice::error(format!("`{name}` is not text: byte {at} is not UTF-8"))
                .help(format!("this command reads {what}"))
        })?;
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(
                Notice::error(format!("`{name}` is empty")).help(format!("it should hold {what}"))
            );
        }
        Ok(Arc::new(NamedText::new(name, text)))
    }
}

fn read_all(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    input.take((LIMIT_MIB << 20) + 1).read_to_end(&mut bytes).map(|_| bytes)
}

fn unreadable(path: &Path, name: &str, what: &str, error: &io::Error) -> Notice {
    match error.kind() {
        io::ErrorKind::NotFound => {
            Notice::error(format!("there is no file `{name}`")).maybe_help(similar(path))
        }
        io::ErrorKind::IsADirectory => Notice::error(format!("`{name}` is a folder"))
            .help(format!("name a file in it that holds {what}")),
        _ => Notice::error(format!("cannot read `{name}`: {error}")),
    }
}

/// "Did you mean", for a file beside `path` with a name like it.
fn similar(path: &Path) -> Option<String> {
    let wanted = path.to_str()?;
    let folder = path.parent()?;
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let beside = here.read_dir().ok()?.flatten();
    let name = |entry: DirEntry| Some(folder.join(entry.file_name()).to_str()?.to_owned());
    let names: Vec<String> = beside.filter_map(name).collect();
    did_you_mean(wanted, names.iter().map(String::as_str))
}
