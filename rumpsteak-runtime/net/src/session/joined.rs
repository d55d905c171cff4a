//! A role that takes part in a session.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rumpsteak_runtime::channel::{QueueReceiver, QueueSender};
use rumpsteak_runtime::private::{Watch, connection};
use rumpsteak_runtime::transport::Labelled;
use rumpsteak_runtime::watch::Report;
use rumpsteak_runtime::{Error, ErrorKind, Role};

use crate::host::LaneTask;
use crate::route::{
    FarEnd, Guard, Incoming, Lane, Remote, SharedStatus, reader, run, unwritten, window,
};
use crate::wire::Hello;
use crate::{Codec, NetError, Portable};

/// A role that takes part in a session.
pub struct Joined<R: Role> {
    /// The role, whose routes lead to its peers.
    pub role: R,
    /// In the order of the routes.
    pub(super) routes: Vec<RouteTask>,
    pub(super) guard: Arc<Guard>,
    pub(super) codec: Box<dyn MessageCodec<R::Message>>,
}

pub(super) struct RouteTask {
    /// How the role greets the peer.
    pub(super) own: Hello,
    pub(super) status: SharedStatus,
    /// `None` if the peer is on this host.
    pub(super) lane: Option<LaneTask>,
}

/// A codec, for messages of one type.
pub(super) trait MessageCodec<M>: Send + Sync {
    fn bytes_of(&self, peer: &str, messages: Vec<M>) -> Result<Vec<Vec<u8>>, NetError>;

    /// Moves messages between these queues of a role that stays and its peer that moves, whose
    /// greeting is `theirs`.
    fn lane(
        &self,
        queues: (QueueSender<M>, QueueReceiver<M>),
        remote: Remote,
        theirs: Hello,
        status: SharedStatus,
    ) -> LaneTask;
}

impl<M: Labelled + Portable, C: Codec> MessageCodec<M> for C {
    fn bytes_of(&self, peer: &str, messages: Vec<M>) -> Result<Vec<Vec<u8>>, NetError> {
        let bytes = |message: &M| {
            let mut bytes = Vec::new();
            let written = self.encode(message, &mut bytes);
            written.map(|()| bytes).map_err(|error| unwritten(peer, message, error))
        };
        messages.iter().map(bytes).collect()
    }

    fn lane(
        &self,
        (incoming, outgoing): (QueueSender<M>, QueueReceiver<M>),
        remote: Remote,
        theirs: Hello,
        status: SharedStatus,
    ) -> LaneTask {
        // The role tells after how many it was told to when it was wired.
        let window = window(incoming.queue().capacity);
        let incoming = Incoming::Messages(incoming, reader(&remote.own.route.peer, self.clone()));
        let far = FarEnd { incoming, outgoing, status };
        let ends = [&remote.own, &theirs];
        let lane = Lane::new(ends, self.clone(), far, window, &remote.shared.limits);
        tokio::spawn(run(lane, remote, theirs, None))
    }
}

impl<R: Role> Joined<R> {
    /// Runs a process of the role, and then [leaves](Self::leave), even if the process fails or
    /// panics: so its peers hear of it at once.
    ///
    /// ```no_run
    /// # use rumpsteak_net::{Host, Joins};
    /// # use rumpsteak_runtime::Result;
    /// # async fn f<K: Joins>(host: Host, kernel: impl AsyncFnOnce(&mut K) -> Result<()>)
    /// # -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// // async fn kernel(role: &mut K) -> Result<()>
    /// host.join::<K>("job 42").connect().await?.play(kernel).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Play the roles of one program with `join!`. `try_join!` would drop the others when one has
    /// failed, before they have left. The first error need not be the cause, either: a role that
    /// has failed waits until its peers have left, so their errors come first.
    ///
    /// # Errors
    ///
    /// What the process returns; [`ErrorKind::Leave`] if it succeeds, and the role cannot leave.
    ///
    /// # Panics
    ///
    /// If the process does, when the role has left.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future in the middle of a session poisons the role and wakes its peers. To wait
    /// until they know of it, run the process on [`role`](Self::role) and leave.
    pub async fn play<T, E: From<Error>>(
        mut self,
        process: impl AsyncFnOnce(&mut R) -> Result<T, E>,
    ) -> Result<T, E> {
        let ended = {
            let mut process = std::pin::pin!(process(&mut self.role));
            // It is not polled again after a panic, and the role knows that it is poisoned.
            let poll = |context: &mut Context<'_>| {
                let polled = catch_unwind(AssertUnwindSafe(|| process.as_mut().poll(context)));
                polled.map_or_else(|panic| Poll::Ready(Err(panic)), |polled| polled.map(Ok))
            };
            poll_fn(poll).await
        };
        let left = self.leave().await;
        let value = ended.unwrap_or_else(|panic| resume_unwind(panic))?;
        let failed = |error| ErrorKind::Leave { role: R::NAME, source: Box::new(error) };
        left.map(|()| value).map_err(|error| Error::from(failed(error)).into())
    }

    /// Watches the role: if no action of it completes for this long and it waits, prints to stderr
    /// for which message of which peer, where the peer is, and for how long its connection has been
    /// silent. It is no error, and ends nothing. `RUMPSTEAK_WATCH=5` in the environment watches all
    /// roles, with 5 seconds: see [`watch`](rumpsteak_runtime::watch).
    #[must_use]
    pub fn watch(self, limit: Duration) -> Self {
        self.watched(&Watch::printing(limit))
    }

    /// Watches the role as [`watch`](Self::watch) does, and passes the reports to `tell`.
    #[must_use]
    pub fn watch_with(
        self,
        limit: Duration,
        tell: impl Fn(&Report) + Send + Sync + 'static,
    ) -> Self {
        self.watched(&Watch::new(limit, tell))
    }

    pub(super) fn watched(mut self, watch: &Watch) -> Self {
        let session = self.routes.first().map_or("", |route| &route.own.route.session);
        watch.of_session(session).add(&mut self.role);
        for RouteTask { own, status, .. } in self.routes.iter().filter(|it| it.lane.is_some()) {
            let status = Arc::clone(status);
            connection(&self.role, &own.route.peer, Box::new(move || status.describe()));
        }
        self
    }

    /// Leaves the session: waits until each peer has all that the role has sent it, and has left or
    /// gone on without it. If the future is dropped, tasks of the runtime deliver what was sent.
    ///
    /// A program that ends without leaving may lose messages, and its peers wait for it.
    /// [`play`](Self::play) leaves whatever happens.
    ///
    /// # Errors
    ///
    /// If a peer was lost.
    pub async fn leave(self) -> Result<(), NetError> {
        let Self { role, routes, guard, .. } = self;
        drop(role);
        let mut result = Ok(());
        let lane = |RouteTask { own, lane, .. }| lane.or_else(|| guard.shared.take_lane(&own));
        for lane in routes.into_iter().filter_map(lane) {
            // A task is neither cancelled nor does it panic, unless its runtime ends.
            let moved = lane.await.unwrap_or(Ok(()));
            result = result.and(moved);
        }
        result
    }
}

impl<R: Role> fmt::Debug for Joined<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").field("role", &R::NAME).finish_non_exhaustive()
    }
}
