//! Stores of records, from which roles come back after their processes died.

#[cfg(feature = "nats")]
mod jetstream;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "nats")]
pub use self::jetstream::KeyValue;
use crate::transport::{IoFuture, random};

/// A place for the records of [stored](crate::Stored) roles: a [`Folder`], a bucket of NATS
/// JetStream (`KeyValue`), or a database.
///
/// The process that opens the records last has them. A process that had them before must not write
/// any more: two processes that play one role from one record break its session.
pub trait Records: Send + Sync + 'static {
    /// The record of this name, if there is one.
    fn get<'a>(&'a self, name: &'a str) -> IoFuture<'a, Option<Vec<u8>>>;

    /// Replaces a record, as a whole or not at all. Ready when it survives the death of the
    /// process, and of the machine if the store promises so.
    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()>;

    /// Removes a record, if there is one.
    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()>;

    /// The names of all records.
    fn names(&self) -> IoFuture<'_, Vec<String>>;
}

/// Records as files of a folder. A record survives the death of the process and of the machine: it
/// is synchronised with the disk before it takes the place of the last one.
///
/// The process that opens the folder last has it, and other processes fail to write to it.
#[derive(Clone, Debug)]
pub struct Folder {
    /// A folder of this process within the folder.
    path: Arc<Path>,
}

/// The end of the name of a file that is being written.
const PARTIAL: &str = ".partial";

impl Folder {
    /// Opens the records in this folder, which is made if it is missing, and takes them over from
    /// the last process. The folder has nothing else. Fails if that is not possible.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let own = format!("{:032x}", random()?);
        // As a whole, so that there is only one folder in it.
        let new = path.with_extension(&own);
        fs::create_dir_all(new.join(&own))?;
        if fs::rename(&new, &path).is_err() {
            fs::remove_dir_all(new)?;
        }
        let own = path.join(own);
        // The last process does not know the new name.
        let last = fs::read_dir(&path)?.next().ok_or(io::ErrorKind::NotFound)??;
        fs::rename(last.path(), &own)?;
        sync(&path)?;
        Ok(Self { path: own.into() })
    }

    /// Runs a blocking operation on a file of the folder.
    fn with<T: Send + 'static>(
        &self,
        name: &str,
        run: impl FnOnce(&Path, PathBuf) -> io::Result<T> + Send + 'static,
    ) -> IoFuture<'_, T> {
        let (folder, file) = (Arc::clone(&self.path), self.path.join(name));
        let task = tokio::task::spawn_blocking(move || run(&folder, file));
        Box::pin(async { task.await.map_err(io::Error::other)? })
    }
}

impl Records for Folder {
    fn get<'a>(&'a self, name: &'a str) -> IoFuture<'a, Option<Vec<u8>>> {
        self.with(name, |_, file| match fs::read(file) {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()> {
        let partial = self.path.join(format!("{name}{PARTIAL}"));
        self.with(name, move |folder, file| {
            let mut written = File::create(&partial)?;
            written.write_all(&record)?;
            written.sync_all()?;
            fs::rename(partial, file)?;
            sync(folder)
        })
    }

    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()> {
        self.with(name, |folder, file| match fs::remove_file(file) {
            Ok(()) => sync(folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
    }

    fn names(&self) -> IoFuture<'_, Vec<String>> {
        self.with("", |folder, _| {
            let files = fs::read_dir(folder)?.map(|file| Ok(file?.file_name().into_string()));
            let files = files.collect::<io::Result<Vec<_>>>()?.into_iter().flatten();
            Ok(files.filter(|name| !name.ends_with(PARTIAL)).collect())
        })
    }
}

/// Makes the names in a folder survive the death of the machine. Windows cannot open a folder.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
