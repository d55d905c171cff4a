use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream as _;
use futures_sink::Sink as _;
use rumpsteak_runtime::channel::{QueueReceiver, QueueSender};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{Decoder, Encoder, Framed};

use super::net_of_messages;
use crate::platform::spawn;
use crate::platform::task::JoinHandle;
use crate::transport::BUFFER;
use crate::{CodecError, Net, NetError};

/// A connection to a program without sessions that plays a role, such as a database. A codec
/// defines the bytes of a message.
///
/// A task moves messages between the route and the stream. It always reads incoming bytes, so the
/// role may send as far ahead as was verified, whatever the window of the stream is. Messages that
/// the role sends in a row are written together.
///
/// ```no_run
/// # use rumpsteak_net::{Bridge, Net, NetError};
/// # use tokio_util::codec::LinesCodec;
/// # struct Client { server: Net<String> }
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = tokio::net::TcpStream::connect("127.0.0.1:25").await?;
/// let (server, bridge) = Bridge::new("server", stream, LinesCodec::new());
/// let mut client = Client { server };
/// // A session …
/// drop(client);
/// bridge.leave().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Bridge {
    task: JoinHandle<Result<(), NetError>>,
}

impl Bridge {
    /// A route over a stream of bytes, to a peer that has this name in errors.
    ///
    /// If the stream ends, the peer has left: [`Closed`](rumpsteak_runtime::ErrorKind::Closed). If
    /// it breaks, or the bytes are not a message, the session ends with [`NetError::Bridge`].
    pub fn new<M, S, C, E>(peer: &str, stream: S, codec: C) -> (Net<M>, Self)
    where
        M: Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        C: Encoder<M, Error = E> + Decoder<Item = M, Error = E> + Send + Unpin + 'static,
        E: From<io::Error> + Into<CodecError>,
    {
        let (near, incoming, outgoing, status, _) = net_of_messages();
        let mut frames = Framed::with_capacity(stream, codec, BUFFER);
        frames.set_backpressure_boundary(BUFFER);
        let mut queues = (incoming, Some(outgoing));
        let peer = peer.to_owned();
        let task = spawn(async move {
            let moved = poll_fn(|context| poll_move(&mut frames, &mut queues, context)).await;
            moved.map_err(|error| {
                let error = NetError::Bridge { peer, source: Arc::new(error.into()) };
                // Before the queues are dropped, which wakes the role.
                status.fail(error.clone());
                error
            })
        });
        (near, Self { task })
    }

    /// Waits until the role has left, and all of its messages are written to the stream. Drop the
    /// role first. If this future is dropped, a task of the runtime still writes the messages.
    /// Fails with [`NetError::Bridge`].
    pub async fn leave(self) -> Result<(), NetError> {
        // The task is never cancelled. It only panics if the codec does.
        self.task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

/// Moves messages between a stream and the queues of a route. Ready when the role or the peer has
/// left. The queue from the role becomes `None` when the role has left.
fn poll_move<M, S, C, E>(
    frames: &mut Framed<S, C>,
    (incoming, outgoing): &mut (QueueSender<M>, Option<QueueReceiver<M>>),
    context: &mut Context<'_>,
) -> Poll<Result<(), E>>
where
    S: AsyncRead + AsyncWrite + Unpin,
    C: Encoder<M, Error = E> + Decoder<Item = M, Error = E>,
    E: From<io::Error>,
    Framed<S, C>: Unpin,
{
    let mut frames = Pin::new(frames);
    while let Poll::Ready(next) = frames.as_mut().poll_next(context) {
        let Some(message) = next.transpose()? else { return Poll::Ready(Ok(())) };
        // The queue grows. It fails only if the role has left.
        let _ = incoming.try_send(message);
    }
    while let Some(queue) = outgoing
        && frames.as_mut().poll_ready(context)?.is_ready()
    {
        match Pin::new(queue).poll_next(context) {
            Poll::Pending => break,
            Poll::Ready(Some(message)) => frames.as_mut().start_send(message)?,
            Poll::Ready(None) => *outgoing = None,
        }
    }
    if outgoing.is_none() {
        return frames.poll_close(context);
    }
    let _ = frames.poll_flush(context)?;
    Poll::Pending
}
