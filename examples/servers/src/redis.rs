//! A client of `redis-server`.

use std::collections::VecDeque;
use std::io;

use bytes::{Bytes, BytesMut};
use redis_protocol::error::RedisProtocolError;
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::encode::extend_encode_borrowed;
use redis_protocol::resp2::types::{BorrowedFrame, BytesFrame};
use rumpsteak::{Result, try_run};
use rumpsteak_net::Bridge;
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio_util::codec::{Decoder, Encoder};

#[rumpsteak::protocol(
    RedisPipelining,
    routes = rumpsteak_net::Net,
    // A client that goes on sending may never read its answers.
    fair(client)
)]
mod protocol {
    use bytes::Bytes;

    /// The bytes of a command.
    #[derive(Clone, Debug)]
    struct Command(Bytes);
    /// The bytes of an array.
    #[derive(Debug)]
    struct Array(Bytes);

    /// In the order of the protocol: each command waits for the reply to the one before.
    #[session(Client)]
    type InOrder = Select<Server, Request>;

    enum Request {
        Command(Command, Branch<Server, Answer>),
        Quit(Quit, Receive<Server, Bye, End>),
    }

    enum Answer {
        SimpleString(SimpleString, InOrder),
        Error(Error, InOrder),
        Integer(Integer, InOrder),
        BulkString(BulkString, InOrder),
        Nil(Nil, InOrder),
        Array(Array, InOrder),
    }

    /// Sends any number of commands before it reads their replies, up to the reply to the last
    /// command.
    #[session(Client)]
    type Pipelined = Select<Server, Further>;

    enum Further {
        Command(Command, Pipelined),
        Ping(Ping, Branch<Server, Late>),
        Quit(Quit, Branch<Server, Late>),
    }

    enum Late {
        SimpleString(SimpleString, Branch<Server, Late>),
        Error(Error, Branch<Server, Late>),
        Integer(Integer, Branch<Server, Late>),
        BulkString(BulkString, Branch<Server, Late>),
        Nil(Nil, Branch<Server, Late>),
        Array(Array, Branch<Server, Late>),
        Pong(Pong, Pipelined),
        Bye(Bye, End),
    }

    /// The server, as its documentation describes it. No process here runs this session: both
    /// clients are proven against it.
    #[session(Server)]
    type Serving = Branch<Client, Asks>;

    enum Asks {
        Command(Command, Select<Client, Replies>),
        Ping(Ping, Send<Client, Pong, Serving>),
        Quit(Quit, Send<Client, Bye, End>),
    }

    enum Replies {
        SimpleString(SimpleString, Serving),
        Error(Error, Serving),
        Integer(Integer, Serving),
        BulkString(BulkString, Serving),
        Nil(Nil, Serving),
        Array(Array, Serving),
    }
}

pub use protocol::*;

/// The reply to a command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reply {
    SimpleString(Bytes),
    Error(Bytes),
    Integer(i64),
    BulkString(Bytes),
    Nil,
    /// The bytes of the reply.
    Array(Bytes),
}

/// Connects to a server.
///
/// # Errors
///
/// If no server listens there.
pub async fn connect(address: impl ToSocketAddrs) -> io::Result<(Client, Bridge)> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (server, bridge) = Bridge::new("redis-server", stream, Resp::default());
    Ok((Client { server }, bridge))
}

/// Returns the replies to each batch of commands. Each command is sent after the reply to the one
/// before.
///
/// # Errors
///
/// If the server is lost, or violates its protocol.
pub async fn in_order(
    client: &mut Client,
    batches: impl IntoIterator<Item = Vec<Command>>,
    mut take: impl FnMut(Vec<Reply>),
) -> Result<()> {
    try_run(client, async |mut session: InOrder<'_>| {
        for batch in batches {
            let mut replies = Vec::with_capacity(batch.len());
            for command in batch {
                let (reply, next) = match session.select(command).await?.branch().await? {
                    Answer::SimpleString(it, next) => (Reply::SimpleString(it.0), next),
                    Answer::Error(it, next) => (Reply::Error(it.0), next),
                    Answer::Integer(it, next) => (Reply::Integer(it.0), next),
                    Answer::BulkString(it, next) => (Reply::BulkString(it.0), next),
                    Answer::Nil(Nil, next) => (Reply::Nil, next),
                    Answer::Array(it, next) => (Reply::Array(it.0), next),
                };
                replies.push(reply);
                session = next;
            }
            take(replies);
        }
        let (Bye, end) = session.select(Quit).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

/// Returns the replies to each batch of commands. The commands of a batch are sent all at once. No
/// batch counts as an empty one.
///
/// # Errors
///
/// If the server is lost, or violates its protocol.
pub async fn pipelined(
    client: &mut Client,
    batches: impl IntoIterator<Item = Vec<Command>>,
    mut take: impl FnMut(Vec<Reply>),
) -> Result<()> {
    try_run(client, async |mut session: Pipelined<'_>| {
        let mut batches = batches.into_iter().peekable();
        loop {
            let batch = batches.next().unwrap_or_default();
            let mut replies = Vec::with_capacity(batch.len());
            for command in batch {
                session = session.select(command).await?;
            }
            let mut draining = match batches.peek() {
                Some(_) => session.select(Ping).await?,
                None => session.select(Quit).await?,
            };
            session = loop {
                let (reply, next) = match draining.branch().await? {
                    Late::SimpleString(it, next) => (Reply::SimpleString(it.0), next),
                    Late::Error(it, next) => (Reply::Error(it.0), next),
                    Late::Integer(it, next) => (Reply::Integer(it.0), next),
                    Late::BulkString(it, next) => (Reply::BulkString(it.0), next),
                    Late::Nil(Nil, next) => (Reply::Nil, next),
                    Late::Array(it, next) => (Reply::Array(it.0), next),
                    Late::Pong(Pong, next) => break next,
                    Late::Bye(Bye, end) => {
                        take(replies);
                        return Ok(((), end));
                    }
                };
                replies.push(reply);
                draining = next;
            };
            take(replies);
        }
    })
    .await
}

/// A command of these words.
///
/// # Panics
///
/// Never: it is written to memory.
#[must_use]
pub fn command(words: &[&[u8]]) -> Command {
    let words: Vec<_> = words.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
    let mut bytes = BytesMut::new();
    let written = extend_encode_borrowed(&mut bytes, &BorrowedFrame::Array(&words), false);
    debug_assert!(written.is_ok(), "{written:?}");
    Command(bytes.freeze())
}

/// RESP2, from the side of a client.
#[derive(Debug, Default)]
struct Resp {
    /// The commands without a reply yet. A `+PONG` may be the reply to a ping of the session, or to
    /// a command.
    asked: VecDeque<Asked>,
}

#[derive(Debug)]
enum Asked {
    Command,
    Ping,
    Quit,
}

impl Encoder<Label> for Resp {
    type Error = RedisProtocolError;

    fn encode(
        &mut self,
        label: Label,
        bytes: &mut BytesMut,
    ) -> std::result::Result<(), Self::Error> {
        let (asked, said) = match &label {
            Label::Command(Command(command)) => (Asked::Command, &command[..]),
            Label::Ping(Ping) => (Asked::Ping, &b"PING\r\n"[..]),
            Label::Quit(Quit) => (Asked::Quit, &b"QUIT\r\n"[..]),
            _ => return Err(io::Error::from(io::ErrorKind::InvalidInput).into()),
        };
        self.asked.push_back(asked);
        bytes.extend_from_slice(said);
        Ok(())
    }
}

impl Decoder for Resp {
    type Item = Label;
    type Error = RedisProtocolError;

    fn decode(&mut self, bytes: &mut BytesMut) -> std::result::Result<Option<Label>, Self::Error> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let Some((frame, _, as_it_came)) = decode_bytes_mut(bytes)? else {
            return Ok(None);
        };
        Ok(Some(match (self.asked.pop_front(), frame) {
            (Some(Asked::Ping), BytesFrame::SimpleString(_)) => Label::Pong(Pong),
            (Some(Asked::Quit), BytesFrame::SimpleString(_)) => Label::Bye(Bye),
            (Some(Asked::Command), frame) => match frame {
                BytesFrame::SimpleString(text) => Label::SimpleString(SimpleString(text)),
                BytesFrame::Error(text) => Label::Error(Error(text.into_inner())),
                BytesFrame::Integer(number) => Label::Integer(Integer(number)),
                BytesFrame::BulkString(value) => Label::BulkString(BulkString(value)),
                BytesFrame::Null => Label::Nil(Nil),
                BytesFrame::Array(_) => Label::Array(Array(as_it_came)),
            },
            _ => return Err(io::Error::from(io::ErrorKind::InvalidData).into()),
        }))
    }
}
