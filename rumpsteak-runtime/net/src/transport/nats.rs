//! NATS: a broker, through which roles find each other by name.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_nats::ConnectErrorKind;
use async_nats::client::RequestErrorKind;
use async_nats::message::OutboundMessage;
use async_nats::{Client, Subject, Subscriber};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::sync::Mutex;

use super::connection::Connection;
use super::listener::{IoFuture, Listener, Opening, Transport};

/// A broker, `nats://server:4222/name`: a role listens under a name at a server of NATS, and others
/// reach it by that name from wherever they reach the server.
///
/// NATS delivers a message at most once. Frames are numbered, and a connection with a gap is a
/// broken one, which is made again as any other: so messages are delivered exactly once and in
/// order as long as both ends live, also over a restart of the server.
#[derive(Clone, Debug, Default)]
pub struct Nats {
    /// By server.
    clients: Arc<Mutex<BTreeMap<String, Client>>>,
}

/// What stands before the names of listeners and of connections.
const PREFIX: &str = "rumpsteak";

/// The number of no frame: the other end is gone.
const GONE: u64 = u64::MAX;

impl Nats {
    /// The client of a server, and the name at it.
    async fn client(&self, place: &str) -> io::Result<(Client, String)> {
        let (server, name) = place.split_once('/').unwrap_or((place, ""));
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "*>".contains(c)) {
            let text = format!("`{place}` is no place at NATS: write `server:4222/name`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut clients = self.clients.lock().await;
        let client = match clients.get(server) {
            Some(client) => client.clone(),
            None => {
                let client = async_nats::connect(server).await.map_err(|error| {
                    let kind = match error.kind() {
                        ConnectErrorKind::ServerParse => io::ErrorKind::InvalidInput,
                        ConnectErrorKind::Dns
                        | ConnectErrorKind::Io
                        | ConnectErrorKind::TimedOut => io::ErrorKind::ConnectionRefused,
                        _ => io::ErrorKind::Other,
                    };
                    // Its text says the source as well.
                    io::Error::new(kind, error.to_string())
                })?;
                clients.insert(server.to_owned(), client.clone());
                client
            }
        };
        Ok((client, format!("{PREFIX}.listeners.{name}")))
    }
}

/// A subject that nobody else has, with what comes under it.
async fn inbox(client: &Client) -> io::Result<(String, Subscriber)> {
    let subject = format!("{PREFIX}.connections.{:032x}", fastrand::u128(..));
    let inbox = client.subscribe(subject.clone()).await.map_err(io::Error::other)?;
    client.flush().await.map_err(io::Error::other)?;
    Ok((subject, inbox))
}

impl Transport for Nats {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let (client, name) = self.client(place).await?;
            let (subject, inbox) = inbox(&client).await?;
            let answered = client.request(name, subject.into()).await;
            let answer = answered.map_err(|error| match error.kind() {
                RequestErrorKind::NoResponders => io::ErrorKind::ConnectionRefused.into(),
                _ => io::Error::other(error),
            })?;
            let to = String::from_utf8(answer.payload.into()).map_err(io::Error::other)?;
            Ok(Connection::new(Frames::new(client, to.into(), inbox, frame)))
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Box<dyn Listener>> {
        Box::pin(async move {
            let (client, name) = self.client(place).await?;
            // Of several that listen under one name, one is called.
            let calls = client.queue_subscribe(name, PREFIX.to_owned()).await;
            let calls = calls.map_err(io::Error::other)?;
            client.flush().await.map_err(io::Error::other)?;
            Ok(Box::new(Listening { client, calls, place: place.to_owned(), frame }) as _)
        })
    }
}

struct Listening {
    client: Client,
    calls: Subscriber,
    place: String,
    frame: usize,
}

impl Listener for Listening {
    fn accept(&mut self) -> IoFuture<'_, Opening> {
        Box::pin(async {
            let next = std::future::poll_fn(|context| Pin::new(&mut self.calls).poll_next(context));
            let call = next.await.ok_or(io::ErrorKind::NotConnected)?;
            let (client, frame) = (self.client.clone(), self.frame);
            Ok(Box::pin(async move {
                let answer = call.reply.ok_or(io::ErrorKind::InvalidData)?;
                let to = String::from_utf8(call.payload.into()).map_err(io::Error::other)?;
                let (subject, inbox) = inbox(&client).await?;
                let answered = client.publish(answer, subject.into()).await;
                answered.map_err(io::Error::other)?;
                Ok(Connection::new(Frames::new(client, to.into(), inbox, frame)))
            }) as _)
        })
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}

/// The frames between two subjects, each with its number before it.
struct Frames {
    client: Client,
    to: Subject,
    inbox: Subscriber,
    frame: usize,
    sent: u64,
    received: u64,
}

impl Frames {
    fn new(client: Client, to: Subject, inbox: Subscriber, frame: usize) -> Self {
        Self { client, to, inbox, frame, sent: 0, received: 0 }
    }
}

fn message(to: &Subject, number: u64, frame: &[u8]) -> OutboundMessage {
    let mut payload = BytesMut::with_capacity(8 + frame.len());
    payload.put_u64_le(number);
    payload.put_slice(frame);
    OutboundMessage { subject: to.clone(), reply: None, payload: payload.freeze(), headers: None }
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
            Ok(number) if number == this.received && payload.len() <= this.frame => {
                this.received += 1;
                Some(Ok(payload.into()))
            }
            Ok(number) if number == this.received => Some(Err(io::ErrorKind::InvalidData.into())),
            // The server was restarted, or this end was too slow for it.
            _ => Some(Err(io::ErrorKind::ConnectionReset.into())),
        })
    }
}

impl Sink<Bytes> for Frames {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().client).poll_ready(context).map_err(io::Error::other)
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        let this = self.get_mut();
        let message = message(&this.to, this.sent, &frame);
        this.sent += 1;
        Pin::new(&mut this.client).start_send(message).map_err(io::Error::other)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().client).poll_flush(context).map_err(io::Error::other)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // Nobody but the other end would notice otherwise; it does in the end, by the silence.
        let (client, to) = (self.client.clone(), self.to.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime
                .spawn(async move { client.publish(to, GONE.to_le_bytes().to_vec().into()).await });
        }
    }
}
