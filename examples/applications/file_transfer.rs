//! A file goes from one process to another.
//!
//! `cargo run -p rumpsteak-examples --example file_transfer`
//!
//! The server need not wait for the client after each piece: it sends as far ahead as the queue
//! between them has room for.
//!
//! `--transport tcp|unix|tls|ws|wss|quic|memory` chooses how they talk to each other; see `--help`
//! for one role in each of two terminals.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use rumpsteak::{Result, try_run};
use rumpsteak_examples::processes::{Failure, Place, start};

#[rumpsteak::protocol(
    FileTransfer,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod file_transfer {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Piece(#[serde(with = "serde_bytes")] std::vec::Vec<u8>);
}
use file_transfer::*;

/// A hash of bytes: FNV-1a.
fn checksum(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;
const PIECE: u64 = 32 << 10;

/// The files at these paths; `None` for a file that the server lacks, or that arrived incomplete.
pub async fn client(role: &mut Client, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
    try_run(role, async |mut session: ClientSession<'_>| {
        let mut files = Vec::new();
        for path in paths {
            session = match session.select(Get(path.clone())).await?.branch().await? {
                ClientFoundChoice::Missing(Missing, next) => {
                    files.push(None);
                    next
                }
                ClientFoundChoice::Found(Found(size), mut pieces) => {
                    let mut file = Vec::new();
                    let (sum, next) = loop {
                        match pieces.branch().await? {
                            ClientPieceChoice::Piece(Piece(piece), next) => {
                                file.extend(piece);
                                pieces = next;
                            }
                            ClientPieceChoice::Done(Done(sum), next) => break (sum, next),
                        }
                    };
                    let is_whole = file.len() as u64 == size && checksum(EMPTY, &file) == sum;
                    files.push(is_whole.then_some(file));
                    next
                }
            };
        }
        Ok((files, session.select(Quit).await?))
    })
    .await
}

/// Sends the requested files of a folder.
pub async fn server(role: &mut Server, folder: &Path) -> Result<()> {
    try_run(role, async |mut session: ServerSession<'_>| {
        loop {
            let (path, asked) = match session.branch().await? {
                ServerGetChoice::Get(Get(path), next) => (path, next),
                ServerGetChoice::Quit(Quit, end) => return Ok(((), end)),
            };
            // Only files inside the folder.
            let name = Path::new(&path).file_name().unwrap_or_default();
            let Ok(mut file) = fs::File::open(folder.join(name)) else {
                session = asked.select(Missing).await?;
                continue;
            };
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            let mut sending = asked.select(Found(size)).await?;
            let mut sum = EMPTY;
            loop {
                let mut piece = Vec::new();
                // If reading fails, the file ends here, and is shorter than announced.
                let read = file.by_ref().take(PIECE).read_to_end(&mut piece);
                if read.is_err() || piece.is_empty() {
                    break;
                }
                sum = checksum(sum, &piece);
                sending = sending.select(Piece(piece)).await?;
            }
            session = sending.select(Done(sum)).await?;
        }
    })
    .await
}

/// Plays one role.
async fn play(place: Place) -> std::result::Result<(), Failure> {
    // The largest file that certainly exists.
    let program = env::current_exe()?;
    let folder = program.parent().ok_or("a program in no folder")?;
    if place.role() == "server" {
        let joined = place.join::<Server>(&[]).await?.connect().await?;
        return Ok(joined.play(async |role| server(role, folder).await).await?);
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wanted = ["no such file".to_owned(), name];
    let joined = place.join::<Client>(&["server"]).await?.connect().await?;
    let files = joined.play(async |role| client(role, &wanted).await).await?;
    if files != [None, Some(fs::read(&program)?)] {
        return Err("the files are not as they were".into());
    }
    println!("the files are as they were");
    Ok(())
}

fn main() -> ExitCode {
    start(
        &[("client", &["client.filetransfer"] as &[_]), ("server", &["server.filetransfer"])],
        |place| Box::pin(play(place)),
    )
}
