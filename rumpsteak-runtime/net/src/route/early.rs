//! First messages that go with the greeting, between hosts that have agreed before.
//!
//! ```text
//! caller                                            host
//!   ── Hello, grant, messages, perhaps the end ──────▶   the role joins, receives and answers
//!   ◀──────── Welcome, grant, messages, the end ──────   it leaves
//!   ── grant, the end ────────────────────────────────▶   and is told
//!   ◀─ ─ ─ ─ with the next frames: grant ─ ─ ─ ─ ─ ─ ─
//! ```
//!
//! A shared connection remembers the greetings with which two roles agreed over it. The next role
//! of this kind does not wait for the welcome. It sends as many messages as the proof needs (at
//! least one): each end grants them without a frame. Everything else, and the host's checks, are
//! the same as in a first session, so a refusal is the same error, but the role gets it later. The
//! messages of a greeting that is refused wait in its stream, and are dropped with it.
//!
//! A role may leave when it has everything, the peer has left and has all messages, and its own end
//! is written. The task of its lane keeps the end until it is acknowledged, which is not urgent.
//!
//! If the connection breaks before the answer, the host may have the messages. So the next greeting
//! names the host and has the token of the first. If the session is there, the lane resumes. If the
//! session has ended there, or another host answers, it is refused: no role gets the messages of a
//! session twice.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_sink::Sink as _;
use rumpsteak_runtime::transport::Labelled;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::{Lane, Remote, Stop, answered_at, run};
use crate::host::{Arrival, Early, Greeted};
use crate::transport::Connection;
use crate::wire::{Answer, poll_hear, said};
use crate::{Codec, NetError, Portable, Refusal};

impl<M: Labelled + Portable, C: Codec> Lane<M, C> {
    /// Sends the greeting and the first messages, until the answer has come.
    async fn greet(
        &mut self,
        connection: &mut Connection,
        remote: &Remote,
    ) -> Result<Answer, Stop> {
        self.open(connection, said(connection, &remote.own)?);
        let answer = poll_fn(|context| {
            if self.yields(context) {
                return Poll::Pending;
            }
            while self.poll_send(connection, context)? {}
            if !connection.flushes_itself() {
                let _ = Pin::new(&mut *connection).poll_flush(context)?;
            }
            poll_hear::<Answer>(connection, context).map_err(Stop::Broken)
        });
        let answer = timeout(remote.shared.limits.handshake, answer).await;
        let answer = answer.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        Ok(answer.unwrap_or(Answer::Refused(Refusal::NoGreeting)))
    }
}

impl Remote {
    /// Moves messages to and from a peer whose host has agreed to such a session before. If the
    /// host gives no answer, or the role there has not joined yet, this end calls again.
    pub(crate) async fn meet_early<M: Labelled + Portable, C: Codec>(
        mut self: Box<Self>,
        mut lane: Box<Lane<M, C>>,
        Early { mut connection, address, theirs }: Early,
        until: Instant,
    ) -> Result<(), NetError> {
        let greeted = match lane.greet(&mut connection, &self).await {
            Ok(answer) => {
                let greeted = self.shared.answered(&address, &self.own, connection, answer);
                Box::pin(greeted).await.map(Some)
            }
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Broken(_)) => {
                self.own.lane.host = theirs.lane.host;
                Ok(None)
            }
        };
        let known = match &greeted {
            Ok(Some(Greeted::Welcome(_, hello))) => Some(hello.lane.own),
            _ => None,
        };
        self.shared.answered_early(&self.own, known);
        let failed = match greeted {
            Ok(Some(Greeted::Welcome(connection, hello)))
                if (&hello.contract, &hello.format) == (&theirs.contract, &theirs.format) =>
            {
                answered_at(&mut self.addresses, &connection);
                self.own.lane.known = known;
                return Box::pin(run(lane, self, hello, Some(connection))).await;
            }
            Ok(Some(Greeted::Welcome(..))) => {
                let (peer, refusal) = (self.own.route.peer.clone(), Refusal::StartedAgain);
                NetError::Refused { peer, refusal }
            }
            Ok(_) | Err(NetError::Absent { .. }) => {
                let mut calls = JoinSet::new();
                self.call(&mut calls, until);
                match self.arrival(until + Duration::from_secs(1)).await {
                    Arrival::Remote(connection, theirs, call) => {
                        return Box::pin(self.meet(lane, connection, theirs, call)).await;
                    }
                    Arrival::Failed(error) => error,
                    _ => self.absent(),
                }
            }
            Err(error) => error,
        };
        lane.status.fail(failed.clone());
        if let Some(guard) = &self.guard {
            guard.lost(&self.own.route.peer);
        }
        Err(failed)
    }
}
