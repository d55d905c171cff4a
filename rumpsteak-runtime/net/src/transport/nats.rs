//! NATS: a broker at which roles find each other by name.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::message::OutboundMessage;
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, Message, ServerError, Subject, Subscriber,
};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::sync::{Mutex, watch};
use tokio::time::sleep;

use super::connection::*;
use super::framing::Largest;
use crate::Address;

/// A broker, `nats://server:4222/name`: a role listens under a name at a NATS server, and peers
/// that reach the server reach the role by that name.
///
/// NATS delivers a message at most once. So frames are numbered, and a connection with a gap is
/// replaced. As long as both ends live, messages are delivered exactly once and in order, even if
/// the server restarts. Several instances of a service may listen under one name: a new peer
/// reaches any of them, and a peer that resumes reaches the same instance again.
#[derive(Clone, Default)]
pub struct Nats {
    /// By server.
    servers: Arc<Mutex<BTreeMap<String, Server>>>,
    options: ConnectOptions,
}

impl_debug!([] Nats, "servers": |it| Arc::clone(&it.servers));

#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) client: Client,
    /// The last error that the server reported.
    denied: watch::Receiver<String>,
}

impl Server {
    async fn connect(server: &str, options: ConnectOptions) -> io::Result<Self> {
        let (sender, denied) = watch::channel(String::new());
        let options = options.event_callback(move |event| {
            if let Event::ServerError(ServerError::Other(text)) = event {
                sender.send_replace(text);
            }
            std::future::ready(())
        });
        let client = options.connect(server).await.map_err(|error| {
            let kind = match error.kind() {
                ConnectErrorKind::ServerParse => io::ErrorKind::InvalidInput,
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    io::ErrorKind::PermissionDenied
                }
                ConnectErrorKind::Dns | ConnectErrorKind::Io | ConnectErrorKind::TimedOut => {
                    io::ErrorKind::ConnectionRefused
                }
                _ => io::ErrorKind::Other,
            };
            // Its text includes the source.
            io::Error::new(kind, error.to_string())
        })?;
        Ok(Self { client, denied })
    }

    /// Runs an operation on these subjects until the server denies it. The server reports that to
    /// the client as a whole, and the operation would only time out.
    async fn unless_denied<T>(
        &self,
        subjects: [&str; 2],
        operation: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let mut denied = self.denied.clone();
        denied.mark_unchanged();
        let is_denied = async {
            while denied.changed().await.is_ok() {
                let text = denied.borrow_and_update().clone();
                if subjects.iter().any(|subject| text.contains(&format!("\"{subject}\""))) {
                    return io::Error::new(io::ErrorKind::PermissionDenied, text);
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            denied = is_denied => Err(denied),
            done = operation => done,
        }
    }
}

/// The group of listeners with one name. NATS delivers a call to one of them.
const GROUP: &str = "rumpsteak";

/// The prefix of the names of listeners.
const LISTENERS: &str = "rumpsteak.listeners.";

/// How long a server may take to deny a subscription. It does not confirm one.
const DENIED_WITHIN: Duration = Duration::from_millis(200);

/// The bytes of the number before a frame.
const NUMBER: usize = 8;

/// The number that says that the other end is gone.
const GONE: u64 = u64::MAX;

impl Nats {
    /// Connects with these options: credentials, or certificates for TLS.
    pub fn with_options(options: ConnectOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// The client of a server, and the name at it.
    pub(crate) async fn server(&self, place: &str) -> io::Result<(Server, String)> {
        let (server, name) = place.split_once('/').unwrap_or((place, ""));
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "*>".contains(c)) {
            let text = format!("`{place}` is not a place at NATS: write `server:4222/name`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut servers = self.servers.lock().await;
        if !servers.contains_key(server) {
            servers.insert(server.to_owned(), Server::connect(server, self.options.clone()).await?);
        }
        Ok((servers[server].clone(), name.to_owned()))
    }
}

/// A subject that no other connection has.
fn own_subject() -> io::Result<String> {
    Ok(format!("rumpsteak.connections.{:032x}", random()?))
}

/// Subscribes to a subject, and waits until the server has been told.
async fn inbox(client: &Client, subject: &str) -> io::Result<Subscriber> {
    let inbox = client.subscribe(subject.to_owned()).await.map_err(io::Error::other)?;
    client.flush().await.map_err(io::Error::other)?;
    Ok(inbox)
}

impl Transport for Nats {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let (server, name) = self.server(place).await?;
            let (client, name) = (server.client.clone(), format!("{LISTENERS}{name}"));
            let subject = own_subject()?;
            let called = server.unless_denied([&name, &subject], async {
                let inbox = inbox(&client, &subject).await?;
                let answered = client.request(name.clone(), subject.clone().into()).await;
                let answer = answered.map_err(|error| match error.kind() {
                    RequestErrorKind::NoResponders => io::ErrorKind::ConnectionRefused.into(),
                    _ => io::Error::other(error),
                });
                Ok((answer?.payload, inbox))
            });
            let (answer, inbox) = called.await?;
            let answer = std::str::from_utf8(&answer).map_err(io::Error::other)?;
            let (to, instance) = answer.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
            let mut connection = connection(client.clone(), to.to_owned().into(), inbox, frame);
            let parts = place.split_once('/').zip(instance.strip_prefix(LISTENERS));
            let address = |server, name| Address::new("nats", &format!("{server}/{name}"));
            connection.at = parts.map(|((server, _), name)| address(server, name));
            Ok(connection)
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let (server, name) = self.server(place).await?;
            let (client, name) = (server.client.clone(), format!("{LISTENERS}{name}"));
            let instance = format!("{name}.{:032x}", random()?);
            let [mut calls, mut returns] = server
                .unless_denied([&name, &instance], async {
                    // A new peer calls any listener of this name, and later the same instance.
                    let calls = client.queue_subscribe(name.clone(), GROUP.to_owned()).await;
                    let returns = inbox(&client, &instance).await?;
                    sleep(DENIED_WITHIN).await;
                    Ok([calls.map_err(io::Error::other)?, returns])
                })
                .await?;
            let accept = move |context: &mut Context<'_>| {
                let call = match Pin::new(&mut returns).poll_next(context) {
                    Poll::Pending => ready!(Pin::new(&mut calls).poll_next(context)),
                    Poll::Ready(call) => call,
                };
                let call = call.ok_or(io::ErrorKind::NotConnected)?;
                let opened = open(client.clone(), instance.clone(), call, frame);
                Poll::Ready(Ok((Box::pin(opened) as Opening, None)))
            };
            Ok((Box::new(accept) as _, place.to_owned()))
        })
    }
}

/// Answers a call to this instance of a listener.
async fn open(client: Client, own: String, call: Message, frame: usize) -> io::Result<Connection> {
    let answer = call.reply.ok_or(io::ErrorKind::InvalidData)?;
    let to = String::from_utf8(call.payload.into()).map_err(io::Error::other)?;
    let subject = own_subject()?;
    let inbox = inbox(&client, &subject).await?;
    let subjects = format!("{subject} {own}");
    client.publish(answer, subjects.into()).await.map_err(io::Error::other)?;
    Ok(connection(client, to.into(), inbox, frame))
}

/// The frames between two subjects, each with its number before it.
struct Frames {
    client: Client,
    to: Subject,
    inbox: Subscriber,
    largest: Largest,
    sent: u64,
    received: u64,
}

/// A connection between two subjects, with frames that the server accepts.
fn connection(client: Client, to: Subject, inbox: Subscriber, frame: usize) -> Connection {
    let most = client.max_payload().saturating_sub(NUMBER);
    let largest = Largest::new(frame);
    Connection::new(Frames { client, to, inbox, largest, sent: 0, received: 0 })
        .with_max_payload(most)
}

impl Stream for Frames {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(message) = ready!(Pin::new(&mut this.inbox).poll_next(context)) else {
            return Poll::Ready(None);
        };
        let mut payload = message.payload;
        Poll::Ready(match payload.try_get_u64_le() {
            Ok(GONE) => None,
            Ok(number) if number == this.received && payload.len() <= this.largest.next() => {
                this.received += 1;
                this.largest.count();
                Some(Ok(payload.into()))
            }
            Ok(number) if number == this.received => Some(Err(io::ErrorKind::InvalidData.into())),
            // The server restarted, or dropped messages because this end was too slow.
            _ => Some(Err(io::ErrorKind::ConnectionReset.into())),
        })
    }
}

sink_of_frames!(Frames, client, Frames::numbered, io::Error::other);

impl Frames {
    fn numbered(&mut self, frame: Bytes) -> OutboundMessage {
        let mut payload = BytesMut::with_capacity(NUMBER + frame.len());
        payload.put_u64_le(self.sent);
        payload.put_slice(&frame);
        self.sent += 1;
        let (subject, payload) = (self.to.clone(), payload.freeze());
        OutboundMessage { subject, reply: None, payload, headers: None }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // Otherwise the other end would only notice that no heartbeat comes.
        let (client, to) = (self.client.clone(), self.to.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime
                .spawn(async move { client.publish(to, GONE.to_le_bytes().to_vec().into()).await });
        }
    }
}
