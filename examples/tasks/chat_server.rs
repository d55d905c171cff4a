//! A chat server for any number of clients, over TCP. The room is an actor that holds the sessions
//! of all listeners. A client that enters late hears all that was said before.
//!
//! `cargo run -p rumpsteak-examples --example chat_server`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use rumpsteak::{Detached, Ended, Error, Held, try_run};
use rumpsteak_net::{Host, Join, Joined};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::time::timeout;

#[rumpsteak::protocol(
    Speaking,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod speaking {}

#[rumpsteak::protocol(
    Listening,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod listening {}

use listening::{ClientSaidChoice as Heard, Closed, Said};
use speaking::{Leave, Say, ServerSayChoice as Spoken};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A session with a client that listens, and its connection.
struct Listener {
    session: listening::ServerSession<'static, Held<listening::Server>>,
    joined: Joined<listening::Server>,
}

impl Listener {
    /// Takes the session of a client out of a process, to hold it.
    async fn new(join: Join<listening::Server>) -> Result<Self, Failure> {
        let mut joined = join.connect().await?;
        let session: Detached<listening::ServerSession<'static>> =
            try_run(&mut joined.role, async |session: listening::ServerSession<'_>| {
                Ok::<_, Error>(Detached::new(session))
            })
            .await?;
        Ok(Self { session: session.hold()?, joined })
    }

    /// Tells the client. One that does not read in time is dropped, so that it does not hold up the
    /// room.
    async fn tell(self, text: &str) -> Option<Self> {
        let told = self.session.select(Said(text.to_owned()));
        let session = timeout(Duration::from_secs(5), told).await.ok()?.ok()?;
        Some(Self { session, ..self })
    }

    async fn close(self) -> Result<(), Failure> {
        drop(self.session.select(Closed).await?);
        Ok(self.joined.leave().await?)
    }
}

enum Event {
    Entered(String, Listener),
    Said(String),
    Left(String),
}

/// Passes on what is said to all that listen.
async fn room(mut events: UnboundedReceiver<Event>) {
    let (mut listeners, mut log) = (BTreeMap::new(), Vec::<String>::new());
    while let Some(event) = events.recv().await {
        match event {
            Event::Entered(name, listener) => {
                let mut told = Some(listener);
                for text in &log {
                    if let Some(listener) = told.take() {
                        told = listener.tell(text).await;
                    }
                }
                listeners.extend(told.map(|listener| (name, listener)));
            }
            Event::Said(text) => {
                for (name, listener) in std::mem::take(&mut listeners) {
                    listeners.extend(listener.tell(&text).await.map(|told| (name, told)));
                }
                log.push(text);
            }
            Event::Left(name) => {
                if let Some(listener) = listeners.remove(&name) {
                    tokio::spawn(listener.close());
                }
            }
        }
    }
}

/// The server's side of a client that speaks.
async fn hear<'s>(
    mut session: speaking::ServerSession<'s>,
    name: &str,
    events: &UnboundedSender<Event>,
) -> Ended<'s, speaking::Server> {
    loop {
        session = match session.branch().await? {
            Spoken::Say(Say(text), next) => {
                // The room is there as long as the server.
                let _ = events.send(Event::Said(format!("{name}: {text}")));
                next
            }
            Spoken::Leave(Leave, end) => return end.end(()),
        };
    }
}

/// Serves all clients that dial the host.
async fn serve(host: Host) {
    let (events, received) = mpsc::unbounded_channel();
    tokio::spawn(room(received));
    let (mut speakers, mut listeners) = (host.serve(), host.serve());
    loop {
        let events = events.clone();
        tokio::select! {
            Some(join) = speakers.next() => {
                tokio::spawn(async move {
                    let name = join.session().to_owned();
                    let process = async |role: &mut speaking::Server| {
                        try_run(role, |session| hear(session, &name, &events)).await
                    };
                    let ended = join.connect().await?.play(process).await;
                    let _ = events.send(Event::Left(name));
                    Ok::<_, Failure>(ended?)
                });
            }
            Some(join) = listeners.next() => {
                tokio::spawn(async move {
                    let name = join.session().to_owned();
                    let listener = Listener::new(join).await?;
                    let _ = events.send(Event::Entered(name, listener));
                    Ok::<_, Failure>(())
                });
            }
        }
    }
}

/// Greets all, and leaves when it has heard so many greetings.
async fn client(server: String, name: String, greetings: usize) -> Result<Vec<String>, Failure> {
    let host = Host::new();
    let listener = host.join::<listening::Client>(&name).peer("server", [&server]);
    let speaker = host.join::<speaking::Client>(&name).peer("server", [&server]);
    let (listener, speaker) = (listener.connect().await?, speaker.connect().await?);
    let (enough, has_enough) = oneshot::channel();
    let listened = listener
        .play(async |role| try_run(role, |session| listen(session, greetings, enough)).await);
    let spoken =
        speaker.play(async |role| try_run(role, |session| greet(session, has_enough)).await);
    let (listened, spoken) = tokio::join!(listened, spoken);
    spoken?;
    Ok(listened?)
}

async fn greet(
    session: speaking::ClientSession<'_>,
    has_enough: oneshot::Receiver<()>,
) -> Ended<'_, speaking::Client> {
    let session = session.select(Say("hello".to_owned())).await?;
    has_enough.await.map_err(Error::other)?;
    session.select(Leave).await?.end(())
}

async fn listen(
    mut session: listening::ClientSession<'_>,
    greetings: usize,
    enough: oneshot::Sender<()>,
) -> Ended<'_, listening::Client, Vec<String>> {
    let (mut heard, mut enough) = (Vec::new(), Some(enough));
    loop {
        session = match session.branch().await? {
            Heard::Said(Said(text), next) => {
                heard.push(text);
                next
            }
            Heard::Closed(Closed, end) => return end.end(heard),
        };
        if heard.len() == greetings {
            let _ = enough.take().map(|enough| enough.send(()));
        }
    }
}

/// Each client hears all greetings.
///
/// # Errors
///
/// The errors of the sessions.
pub async fn run(clients: usize) -> Result<Vec<Vec<String>>, Failure> {
    let host = Host::new();
    let address = host.listen("tcp://127.0.0.1:0").await?.to_string();
    let server = tokio::spawn(serve(host));
    let chats = (0..clients)
        .map(|number| tokio::spawn(client(address.clone(), format!("client {number}"), clients)));
    let mut heard = Vec::new();
    for chat in chats.collect::<Vec<_>>() {
        heard.push(chat.await??);
    }
    server.abort();
    Ok(heard)
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(10).await {
        Ok(heard) if heard.iter().all(|heard| heard.len() == 10) => {
            println!("ten clients heard {}", heard[0].join(", "));
            ExitCode::SUCCESS
        }
        Ok(heard) => {
            eprintln!("somebody missed a greeting: {heard:?}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
