//! A chat: a server, and three clients in rooms. Two of the clients talk in private.
//!
//! `cargo run -p rumpsteak-examples --example chat`
//!
//! The code of its roles is generated from the protocols, with routes that may lead to other
//! processes. Each client has two sessions with the server, so that it can speak while it listens.
//! One of them invites another to a service. The server passes the invitation on, and has no part
//! in the service.
//!
//! `--transport tcp|unix|tls|ws|wss|quic|memory` chooses how they talk to each other.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rumpsteak::try_run;
use rumpsteak_examples::processes::{Failure, Place, start};
use rumpsteak_net::{Directory, Invitation, Join};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::timeout;

#[rumpsteak::protocol(
    ChatSpeaking,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod chat_speaking {}

#[rumpsteak::protocol(
    ChatListening,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod chat_listening {}

#[rumpsteak::protocol(
    ChatPrivate,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod chat_private {}

use chat_listening::{self as listening, ClientHeard as Heard};
use chat_private::{self as private, GuestAnswerChoice};
use chat_speaking::{self as speaking, Enter, Invite, Leave, Say, ServerSpoken as Spoken};

/// The messages that a client receives.
#[derive(Clone, Debug, PartialEq)]
enum News {
    Entered(String),
    Left(String),
    Said(String, String),
    Invited(String, Invitation<private::Guest>),
}

/// A client, as the server knows it.
struct Member {
    room: String,
    news: UnboundedSender<News>,
}

/// All clients, by name.
#[derive(Clone, Default)]
struct Members(Arc<Mutex<BTreeMap<String, Member>>>);

impl Members {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Member>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: String) -> UnboundedReceiver<News> {
        let (news, listened) = mpsc::unbounded_channel();
        self.lock().insert(name, Member { room: String::new(), news });
        listened
    }

    /// Moves a client to another room, or out of the chat.
    fn go(&self, name: &str, room: Option<String>) {
        let mut members = self.lock();
        let Some(mut member) = members.remove(name) else { return };
        let left = std::mem::replace(&mut member.room, room.clone().unwrap_or_default());
        for (other, Member { room, news }) in &*members {
            // If this fails, the client no longer listens.
            if !left.is_empty() && *room == left {
                let _ = news.send(News::Left(name.to_owned()));
            }
            if !member.room.is_empty() && *room == member.room {
                let _ = news.send(News::Entered(name.to_owned()));
                let _ = member.news.send(News::Entered(other.clone()));
            }
        }
        if room.is_some() {
            members.insert(name.to_owned(), member);
        }
    }

    /// Tells all others in the room of a client.
    fn say(&self, name: &str, text: &str) {
        let members = self.lock();
        let Some(own) = members.get(name) else { return };
        for (other, Member { room, news }) in &*members {
            if other != name && *room == own.room {
                let _ = news.send(News::Said(name.to_owned(), text.to_owned()));
            }
        }
    }

    fn tell(&self, name: &str, news: News) {
        if let Some(member) = self.lock().get(name) {
            let _ = member.news.send(news);
        }
    }
}

/// The server's end of the session in which a client speaks.
async fn hear(join: Join<speaking::Server>, members: Members) -> Result<(), Failure> {
    let name = join.session().to_owned();
    let spoken = async {
        let mut joined = join.connect().await?;
        try_run(&mut joined.role, async |mut session: speaking::ServerSession<'_>| {
            loop {
                session = match session.branch().await? {
                    Spoken::Enter(Enter(room), next) => {
                        members.go(&name, Some(room));
                        next
                    }
                    Spoken::Say(Say(text), next) => {
                        members.say(&name, &text);
                        next
                    }
                    Spoken::Invite(Invite(guest, invitation), next) => {
                        members.tell(&guest, News::Invited(name.clone(), invitation));
                        next
                    }
                    Spoken::Leave(Leave, end) => return Ok::<_, Failure>(((), end)),
                }
            }
        })
        .await?;
        Ok(joined.leave().await?)
    };
    let spoken: Result<(), Failure> = spoken.await;
    members.go(&name, None);
    spoken.map_err(|error| format!("`{name}` is lost: {error}").into())
}

/// The server's end of the session in which a client listens.
async fn tell(
    join: Join<listening::Server>,
    mut news: UnboundedReceiver<News>,
) -> Result<(), Failure> {
    let name = join.session().to_owned();
    let told = async {
        let mut joined = join.connect().await?;
        try_run(&mut joined.role, async |mut session: listening::ServerSession<'_>| {
            while let Some(news) = news.recv().await {
                session = match news {
                    News::Entered(name) => session.select(listening::Entered(name)).await?,
                    News::Left(name) => session.select(listening::Left(name)).await?,
                    News::Said(name, text) => session.select(listening::Said(name, text)).await?,
                    News::Invited(name, invitation) => {
                        session.select(listening::Invited(name, invitation)).await?
                    }
                };
            }
            Ok::<_, Failure>(((), session.select(listening::Closed).await?))
        })
        .await?;
        Ok(joined.leave().await?)
    };
    let told: Result<(), Failure> = told.await;
    told.map_err(|error| format!("`{name}` is lost: {error}").into())
}

/// Serves so many clients, even if some of them fail.
async fn server(place: &Place, clients: usize) -> Result<(), Failure> {
    let (host, members) = (place.host(), Members::default());
    let (mut listeners, mut speakers) = (host.serve(), host.serve());
    let mut tasks = JoinSet::new();
    let mut begun = 0;
    let mut failed = None;
    while begun < 2 * clients || !tasks.is_empty() {
        tokio::select! {
            // A new client listens first.
            Some(join) = listeners.next() => {
                let news = members.add(join.session().to_owned());
                tasks.spawn(tell(join, news));
                begun += 1;
            }
            Some(join) = speakers.next() => {
                tasks.spawn(hear(join, members.clone()));
                begun += 1;
            }
            Some(ended) = tasks.join_next() => {
                if let Err(error) = ended? {
                    // Later errors follow from this one.
                    failed.get_or_insert(error);
                }
            }
            () = tokio::time::sleep(place.patience()), if begun < 2 * clients => {
                return Err(failed.unwrap_or_else(|| "some of `ann`, `bob`, `cy` do not come".into()));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// A client that has joined.
struct Client<'p> {
    place: &'p Place,
    listening: tokio::task::JoinHandle<Result<(), Failure>>,
    news: UnboundedReceiver<News>,
}

impl<'p> Client<'p> {
    async fn come(place: &'p Place) -> Result<Self, Failure> {
        let (heard, news) = mpsc::unbounded_channel();
        let join = place.join_as::<listening::Client>(place.role(), &["server"]).await?;
        let mut joined = join.connect().await?;
        let listening = tokio::spawn(async move {
            try_run(&mut joined.role, async |mut session: listening::ClientSession<'_>| {
                loop {
                    let (news, next) = match session.branch().await? {
                        Heard::Entered(it, next) => (News::Entered(it.0), next),
                        Heard::Left(it, next) => (News::Left(it.0), next),
                        Heard::Said(it, next) => (News::Said(it.0, it.1), next),
                        Heard::Invited(it, next) => (News::Invited(it.0, it.1), next),
                        Heard::Closed(listening::Closed, end) => {
                            return Ok::<_, Failure>(((), end));
                        }
                    };
                    // A client that has left receives nothing.
                    let _ = heard.send(news);
                    session = next;
                }
            })
            .await?;
            Ok(joined.leave().await?)
        });
        Ok(Self { place, listening, news })
    }

    /// The next news, which must come from another client.
    async fn next(&mut self, from: &str) -> Result<News, Failure> {
        match timeout(self.place.patience(), self.news.recv()).await {
            Ok(Some(news)) => Ok(news),
            Ok(None) => {
                // The other task reports the reason.
                (&mut self.listening).await??;
                Err("`server` is lost".into())
            }
            Err(_) => Err(format!("`{from}` does not come").into()),
        }
    }

    async fn expect(&mut self, from: &str, expected: News) -> Result<(), Failure> {
        let news = self.next(from).await?;
        if news == expected { Ok(()) } else { Err(format!("`{from}`: {news:?}").into()) }
    }

    /// Receives until the server has sent everything.
    async fn end(self) -> Result<(), Failure> {
        self.listening.await?
    }
}

/// Greets Bob in one room, and is invited by Cy in another one.
async fn ann(place: &Place) -> Result<String, Failure> {
    let mut client = Client::come(place).await?;
    let mut joined = place.join_as::<speaking::Client>("ann", &["server"]).await?.connect().await?;
    let answer = try_run(&mut joined.role, async |session: speaking::ClientSession<'_>| {
        let session = session.select(Enter("tea".to_owned())).await?;
        client.expect("bob", News::Entered("bob".to_owned())).await?;
        let session = session.select(Say("hello, bob".to_owned())).await?;
        client.expect("bob", News::Said("bob".to_owned(), "hello, ann".to_owned())).await?;
        let session = session.select(Enter("coffee".to_owned())).await?;
        client.expect("cy", News::Entered("cy".to_owned())).await?;
        let News::Invited(_, invitation) = client.next("cy").await? else {
            return Err("`cy` does not invite".into());
        };
        let answer = whisper(invitation.accept(place.host())).await;
        let answer = answer.map_err(|error| format!("`cy` is lost: {error}"))?;
        Ok::<_, Failure>((answer, session.select(Leave).await?))
    })
    .await?;
    joined.leave().await?;
    client.end().await?;
    Ok(answer)
}

/// Plays the guest of a service after an invitation.
async fn whisper(join: Join<private::Guest>) -> Result<String, Failure> {
    let mut guest = join.connect().await?;
    let answers = try_run(&mut guest.role, async |mut session: private::GuestSession<'_>| {
        let mut answers = Vec::new();
        loop {
            let question = private::Whisper(format!("question {}", answers.len()));
            match session.send(question).await?.branch().await? {
                GuestAnswerChoice::Answer(private::Answer(answer), next) => {
                    answers.push(answer);
                    session = next;
                }
                GuestAnswerChoice::Enough(private::Enough(answer), end) => {
                    answers.push(answer);
                    return Ok::<_, Failure>((answers, end));
                }
            }
        }
    })
    .await?;
    guest.leave().await?;
    Ok(answers.join(", "))
}

/// Answers Ann.
async fn bob(place: &Place) -> Result<(), Failure> {
    let mut client = Client::come(place).await?;
    let mut joined = place.join_as::<speaking::Client>("bob", &["server"]).await?.connect().await?;
    try_run(&mut joined.role, async |session: speaking::ClientSession<'_>| {
        let session = session.select(Enter("tea".to_owned())).await?;
        client.expect("ann", News::Entered("ann".to_owned())).await?;
        client.expect("ann", News::Said("ann".to_owned(), "hello, bob".to_owned())).await?;
        let session = session.select(Say("hello, ann".to_owned())).await?;
        client.expect("ann", News::Left("ann".to_owned())).await?;
        Ok::<_, Failure>(((), session.select(Leave).await?))
    })
    .await?;
    joined.leave().await?;
    client.end().await
}

/// Invites Ann to a private conversation.
async fn cy(place: &Place) -> Result<(), Failure> {
    const SERVICE: &str = "what nobody else hears";
    let mut client = Client::come(place).await?;
    let mut joined = place.join_as::<speaking::Client>("cy", &["server"]).await?.connect().await?;
    try_run(&mut joined.role, async |session: speaking::ClientSession<'_>| {
        let session = session.select(Enter("coffee".to_owned())).await?;
        client.expect("ann", News::Entered("ann".to_owned())).await?;
        let peers = Directory::default().with("host", place.reached())?;
        let invite = Invite("ann".to_owned(), Invitation::new(SERVICE, peers));
        let session = session.select(invite).await?;
        let answered = answer(place.host().join::<private::Host>(SERVICE)).await;
        answered.map_err(|error| format!("`ann` is lost: {error}"))?;
        Ok::<_, Failure>(((), session.select(Leave).await?))
    })
    .await?;
    joined.leave().await?;
    client.end().await
}

/// Plays the host of the private conversation.
async fn answer(join: Join<private::Host>) -> Result<(), Failure> {
    let mut host = join.connect().await?;
    try_run(&mut host.role, async |mut session: private::HostSession<'_>| {
        for number in 1.. {
            let (private::Whisper(question), next) = session.receive().await?;
            let answer = format!("{question} answered");
            if number == 3 {
                return Ok::<_, Failure>(((), next.select(private::Enough(answer)).await?));
            }
            session = next.select(private::Answer(answer)).await?;
        }
        unreachable!("it is enough after three")
    })
    .await?;
    Ok(host.leave().await?)
}

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    match place.role() {
        "server" => server(&place, 3).await,
        "ann" => {
            println!("ann whispers to cy: {}", ann(&place).await?);
            Ok(())
        }
        "bob" => bob(&place).await,
        _ => cy(&place).await,
    }
}

fn main() -> ExitCode {
    let of_client = ["client.chatspeaking", "client.chatlistening", "*.chatprivate"];
    let roles: [(&str, &[&str]); 4] = [
        ("server", &["server.chatspeaking", "server.chatlistening"]),
        ("ann", &of_client),
        ("bob", &of_client),
        ("cy", &of_client),
    ];
    start(&roles, |place| Box::pin(play(place)))
}
