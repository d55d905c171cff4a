//! A client of PostgreSQL, by its extended query protocol.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{ErrorResponseBody, Message as Answered};
use postgres_protocol::message::frontend;
use rumpsteak::{Result, try_run};
use rumpsteak_net::Bridge;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio_util::codec::{Decoder, Encoder};

#[rumpsteak::protocol(
    PostgresExtendedQuery,
    routes = rumpsteak_net::Net,
    // A client that goes on sending may never read its answers.
    fair(frontend)
)]
mod protocol {
    use bytes::Bytes;

    /// Prepares a query, and asks for the names of its columns.
    #[derive(Debug)]
    struct Parse(String);
    /// The parameters of the prepared query, as texts.
    #[derive(Debug)]
    struct Bind(Vec<String>);
    /// Asks for at most so many rows; for all rows if 0.
    #[derive(Debug)]
    struct Execute(u32);
    #[derive(Debug)]
    struct Sync;
    /// The names of the columns.
    #[derive(Debug)]
    struct RowDescription(Vec<String>);
    /// The columns of a row, each with its length before it: see [`columns`](super::columns).
    #[derive(Debug)]
    struct DataRow(Bytes);

    /// In the order of the protocol: each query waits for the rows of the one before.
    #[session(Frontend)]
    type InOrder = Select<Backend, Start>;

    enum Start {
        Parse(Parse, Branch<Backend, Prepared>),
        Terminate(Terminate, End),
    }

    enum Prepared {
        ParseComplete(ParseComplete, Branch<Backend, Described>),
        ErrorResponse(ErrorResponse, Done),
    }

    enum Described {
        RowDescription(RowDescription, Ready),
        NoData(NoData, Ready),
    }

    struct Ready(Select<Backend, Next>);

    enum Next {
        Bind(Bind, Send<Backend, Execute, Branch<Backend, Bound>>),
        Sync(Sync, Receive<Backend, ReadyForQuery, InOrder>),
    }

    enum Bound {
        BindComplete(BindComplete, Branch<Backend, Answer>),
        ErrorResponse(ErrorResponse, Done),
    }

    enum Answer {
        DataRow(DataRow, Branch<Backend, Answer>),
        CommandComplete(CommandComplete, Ready),
        PortalSuspended(PortalSuspended, Ready),
        EmptyQueryResponse(EmptyQueryResponse, Ready),
        ErrorResponse(ErrorResponse, Done),
    }

    /// The end of a batch. After an error, the server answers only this.
    struct Done(Send<Backend, Sync, Receive<Backend, ReadyForQuery, InOrder>>);

    /// Sends all queries of a batch before it reads any answer, up to the answer to the `Sync` at
    /// the end of the batch.
    #[session(Frontend)]
    type Pipelined = Select<Backend, First>;

    enum First {
        Parse(Parse, Filling),
        Bind(Bind, Send<Backend, Execute, Filling>),
        Terminate(Terminate, End),
    }

    struct Filling(Select<Backend, Further>);

    enum Further {
        Parse(Parse, Filling),
        Bind(Bind, Send<Backend, Execute, Filling>),
        Sync(Sync, Draining),
    }

    struct Draining(Branch<Backend, Late>);

    enum Late {
        ParseComplete(ParseComplete, Draining),
        RowDescription(RowDescription, Draining),
        NoData(NoData, Draining),
        BindComplete(BindComplete, Draining),
        DataRow(DataRow, Draining),
        CommandComplete(CommandComplete, Draining),
        PortalSuspended(PortalSuspended, Draining),
        EmptyQueryResponse(EmptyQueryResponse, Draining),
        ErrorResponse(ErrorResponse, Draining),
        ReadyForQuery(ReadyForQuery, Pipelined),
    }

    /// The server, as its documentation describes it. No process here runs this session: both
    /// clients are proven against it.
    #[session(Backend)]
    type Serving = Branch<Frontend, Asks>;

    enum Asks {
        Parse(Parse, Parsing),
        Bind(Bind, Receive<Frontend, Execute, Executing>),
        Terminate(Terminate, End),
    }

    struct Parsing(Select<Frontend, Parses>);

    enum Parses {
        ParseComplete(ParseComplete, Select<Frontend, Describes>),
        ErrorResponse(ErrorResponse, Skipping),
    }

    enum Describes {
        RowDescription(RowDescription, Going),
        NoData(NoData, Going),
    }

    struct Executing(Select<Frontend, Binds>);

    enum Binds {
        BindComplete(BindComplete, Select<Frontend, Executes>),
        ErrorResponse(ErrorResponse, Skipping),
    }

    enum Executes {
        DataRow(DataRow, Select<Frontend, Executes>),
        CommandComplete(CommandComplete, Going),
        PortalSuspended(PortalSuspended, Going),
        EmptyQueryResponse(EmptyQueryResponse, Going),
        ErrorResponse(ErrorResponse, Skipping),
    }

    /// In a batch.
    struct Going(Branch<Frontend, Goes>);

    enum Goes {
        Parse(Parse, Parsing),
        Bind(Bind, Receive<Frontend, Execute, Executing>),
        Sync(Sync, Send<Frontend, ReadyForQuery, Serving>),
    }

    /// After an error, to the end of the batch.
    struct Skipping(Branch<Frontend, Skips>);

    enum Skips {
        Parse(Parse, Skipping),
        Bind(Bind, Receive<Frontend, Execute, Skipping>),
        Sync(Sync, Send<Frontend, ReadyForQuery, Serving>),
    }
}

pub use protocol::*;

/// The rows of a query, or its error.
pub type Rows = std::result::Result<Vec<Bytes>, String>;

/// Connects to a server that trusts this user.
///
/// # Errors
///
/// If no server listens there, or the server wants a password.
pub async fn connect(address: impl ToSocketAddrs, user: &str) -> io::Result<(Frontend, Bridge)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut bytes = BytesMut::new();
    frontend::startup_message([("user", user), ("database", "postgres")], &mut bytes)?;
    stream.write_all(&bytes).await?;
    bytes.clear();
    loop {
        match Answered::parse(&mut bytes)? {
            Some(Answered::ReadyForQuery(_)) => break,
            Some(
                Answered::AuthenticationOk
                | Answered::BackendKeyData(_)
                | Answered::NoticeResponse(_)
                | Answered::ParameterStatus(_),
            ) => {}
            Some(Answered::ErrorResponse(body)) => return Err(io::Error::other(text(&body)?)),
            Some(_) => return Err(io::Error::other("the server wants a password")),
            None if stream.read_buf(&mut bytes).await? == 0 => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            None => {}
        }
    }
    let (backend, bridge) = Bridge::new("PostgreSQL", stream, Extended::default());
    Ok((Frontend { backend }, bridge))
}

/// A query, and the parameters of its executions, one after the other.
#[derive(Clone, Debug)]
pub struct Batch {
    pub query: String,
    pub parameters: Vec<Vec<String>>,
}

/// Returns the rows for each parameter of each batch. Each query waits for the answer to the query
/// before it. A batch is one transaction, and ends with its first error.
///
/// # Errors
///
/// If the server is lost, or violates its protocol.
pub async fn in_order(
    frontend: &mut Frontend,
    batches: impl IntoIterator<Item = Batch>,
) -> Result<Vec<Vec<Rows>>> {
    try_run(frontend, async |mut session: InOrder<'_>| {
        let mut results = Vec::new();
        for Batch { query, parameters } in batches {
            let mut of_batch = Vec::with_capacity(parameters.len());
            let done = 'asked: {
                let described = match session.select(Parse(query)).await?.branch().await? {
                    Prepared::ParseComplete(ParseComplete, next) => next.branch().await?,
                    Prepared::ErrorResponse(ErrorResponse(error), done) => {
                        of_batch.push(Err(error));
                        break 'asked done.send(Sync).await?;
                    }
                };
                let (Described::RowDescription(_, mut ready) | Described::NoData(_, mut ready)) =
                    described;
                for parameter in parameters {
                    match ask(ready, parameter).await? {
                        Ok((rows, next)) => {
                            of_batch.push(Ok(rows));
                            ready = next;
                        }
                        Err((error, done)) => {
                            of_batch.push(Err(error));
                            break 'asked done.send(Sync).await?;
                        }
                    }
                }
                ready.select(Sync).await?
            };
            results.push(of_batch);
            session = done.receive().await?.1;
        }
        Ok((results, session.select(Terminate).await?))
    })
    .await
}

/// The result of a query: the rows, or an error.
type Asked<'s> =
    std::result::Result<(Vec<Bytes>, Ready<'s, Frontend>), (String, Done<'s, Frontend>)>;

async fn ask<'s>(session: Ready<'s, Frontend>, parameters: Vec<String>) -> Result<Asked<'s>> {
    let bound = session.select(Bind(parameters)).await?.send(Execute(0)).await?.branch().await?;
    let mut answer = match bound {
        Bound::BindComplete(BindComplete, next) => next.branch().await?,
        Bound::ErrorResponse(ErrorResponse(error), done) => return Ok(Err((error, done))),
    };
    let mut rows = Vec::new();
    loop {
        match answer {
            Answer::DataRow(DataRow(row), next) => {
                rows.push(row);
                answer = next.branch().await?;
            }
            Answer::CommandComplete(_, next)
            | Answer::PortalSuspended(_, next)
            | Answer::EmptyQueryResponse(_, next) => return Ok(Ok((rows, next))),
            Answer::ErrorResponse(ErrorResponse(error), done) => return Ok(Err((error, done))),
        }
    }
}

/// The same as [`in_order`], but all queries of a batch are under way at once.
///
/// # Errors
///
/// If the server is lost, or violates its protocol.
pub async fn pipelined(
    frontend: &mut Frontend,
    batches: impl IntoIterator<Item = Batch>,
) -> Result<Vec<Vec<Rows>>> {
    try_run(frontend, async |mut session: Pipelined<'_>| {
        let mut results = Vec::new();
        for Batch { query, parameters } in batches {
            let mut of_batch = Vec::with_capacity(parameters.len());
            let mut filling = session.select(Parse(query)).await?;
            for parameter in parameters {
                filling = filling.select(Bind(parameter)).await?.send(Execute(0)).await?;
            }
            let mut draining = filling.select(Sync).await?;
            let mut rows = Vec::new();
            session = loop {
                draining = match draining.branch().await? {
                    Late::ParseComplete(_, next)
                    | Late::RowDescription(_, next)
                    | Late::NoData(_, next)
                    | Late::BindComplete(_, next) => next,
                    Late::DataRow(DataRow(row), next) => {
                        rows.push(row);
                        next
                    }
                    Late::CommandComplete(_, next)
                    | Late::PortalSuspended(_, next)
                    | Late::EmptyQueryResponse(_, next) => {
                        of_batch.push(Ok(std::mem::take(&mut rows)));
                        next
                    }
                    Late::ErrorResponse(ErrorResponse(error), next) => {
                        of_batch.push(Err(error));
                        next
                    }
                    Late::ReadyForQuery(_, next) => break next,
                };
            };
            results.push(of_batch);
        }
        Ok((results, session.select(Terminate).await?))
    })
    .await
}

/// The columns of a row, as texts; `None` for a null.
#[must_use]
pub fn columns(mut row: Bytes) -> Vec<Option<Bytes>> {
    let mut columns = Vec::new();
    while row.remaining() >= 4 {
        let length = usize::try_from(row.get_i32()).ok();
        columns.push(length.map(|length| row.split_to(length.min(row.len()))));
    }
    columns
}

/// The readable parts of an error.
fn text(body: &ErrorResponseBody) -> io::Result<String> {
    let message = body.fields().find(|field| Ok(field.type_() == b'M'))?;
    Ok(message.map_or_else(String::new, |field| {
        String::from_utf8_lossy(field.value_bytes()).into_owned()
    }))
}

/// The messages of the extended query protocol, from the side of a client.
#[derive(Debug, Default)]
struct Extended {
    /// True if the last message was a Flush.
    is_flushed: bool,
}

/// The bytes of a Flush.
const FLUSH: usize = 5;

impl Encoder<Label> for Extended {
    type Error = io::Error;

    fn encode(&mut self, label: Label, bytes: &mut BytesMut) -> io::Result<()> {
        // Later messages are flushed anyway, if the Flush is not on its way yet.
        if self.is_flushed && bytes.len() >= FLUSH {
            bytes.truncate(bytes.len() - FLUSH);
        }
        self.is_flushed = matches!(label, Label::Parse(_) | Label::Execute(_));
        match label {
            Label::Parse(Parse(query)) => {
                frontend::parse("", &query, [], bytes)?;
                frontend::describe(b'S', "", bytes)?;
            }
            Label::Bind(Bind(values)) => {
                let write = |value: String, bytes: &mut BytesMut| {
                    bytes.extend_from_slice(value.as_bytes());
                    Ok(IsNull::No)
                };
                frontend::bind("", "", [], values, write, [], bytes).map_err(
                    |error| match error {
                        frontend::BindError::Conversion(error) => io::Error::other(error),
                        frontend::BindError::Serialization(error) => error,
                    },
                )?;
            }
            Label::Execute(Execute(rows)) => {
                frontend::execute("", i32::try_from(rows).unwrap_or(0), bytes)?;
            }
            Label::Sync(Sync) => frontend::sync(bytes),
            Label::Terminate(Terminate) => frontend::terminate(bytes),
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
        if self.is_flushed {
            frontend::flush(bytes);
        }
        Ok(())
    }
}

impl Decoder for Extended {
    type Item = Label;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Label>> {
        while let Some(answered) = Answered::parse(bytes)? {
            return Ok(Some(match answered {
                // The server sends these at any time, not as answers.
                Answered::NoticeResponse(_)
                | Answered::NotificationResponse(_)
                | Answered::ParameterStatus(_)
                // The types of the columns come after it.
                | Answered::ParameterDescription(_) => continue,
                Answered::ParseComplete => Label::ParseComplete(ParseComplete),
                Answered::RowDescription(body) => {
                    let names = body.fields().map(|field| Ok(field.name().to_owned()));
                    Label::RowDescription(RowDescription(names.collect()?))
                }
                Answered::NoData => Label::NoData(NoData),
                Answered::BindComplete => Label::BindComplete(BindComplete),
                Answered::DataRow(body) => Label::DataRow(DataRow(body.buffer_bytes().clone())),
                Answered::CommandComplete(body) => {
                    Label::CommandComplete(CommandComplete(body.tag()?.to_owned()))
                }
                Answered::PortalSuspended => Label::PortalSuspended(PortalSuspended),
                Answered::EmptyQueryResponse => Label::EmptyQueryResponse(EmptyQueryResponse),
                Answered::ErrorResponse(body) => Label::ErrorResponse(ErrorResponse(text(&body)?)),
                Answered::ReadyForQuery(body) => Label::ReadyForQuery(ReadyForQuery(body.status())),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }));
        }
        Ok(None)
    }
}
