//! The workloads over futures' unbounded mpsc, without sessions: the floor for the session layer.

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

/// A peer has left, or sent an unexpected message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// Streaming.
pub mod streaming {
    use futures::StreamExt as _;

    use super::{Broken, UnboundedReceiver, UnboundedSender, unbounded};
    use crate::unbounded::streaming::{Label, Ready, Stop, Value};

    /// One end of the channels between source and sink.
    #[derive(Debug)]
    pub struct End {
        sender: UnboundedSender<Label>,
        receiver: UnboundedReceiver<Label>,
    }

    /// Both ends.
    pub fn pair() -> (End, End) {
        let (to_sink, from_source) = unbounded();
        let (to_source, from_sink) = unbounded();
        (
            End { sender: to_sink, receiver: from_sink },
            End { sender: to_source, receiver: from_source },
        )
    }

    impl End {
        fn send(&self, label: Label) -> Result<(), Broken> {
            self.sender.unbounded_send(label).map_err(|_| Broken)
        }

        async fn ready(&mut self) -> Result<(), Broken> {
            match self.receiver.next().await {
                Some(Label::Ready(Ready)) => Ok(()),
                _ => Err(Broken),
            }
        }
    }

    /// Sends `count` values, `ahead` of them before they are asked for.
    ///
    /// # Errors
    ///
    /// If the peer has left or violates the protocol.
    pub async fn source(s: &mut End, count: i32, ahead: i32) -> Result<(), Broken> {
        for value in 0..ahead {
            s.send(Label::Value(Value(value)))?;
        }
        for value in ahead..count {
            s.ready().await?;
            s.send(Label::Value(Value(value)))?;
        }
        s.ready().await?;
        s.send(Label::Stop(Stop))?;
        for _ in 0..ahead {
            s.ready().await?;
        }
        Ok(())
    }

    /// Asks for values until the source stops, and returns their sum.
    ///
    /// # Errors
    ///
    /// If the peer has left or violates the protocol.
    pub async fn sink(t: &mut End) -> Result<i32, Broken> {
        let mut sum = 0;
        loop {
            t.send(Label::Ready(Ready))?;
            match t.receiver.next().await {
                Some(Label::Value(Value(value))) => sum += value,
                Some(Label::Stop(Stop)) => return Ok(sum),
                _ => return Err(Broken),
            }
        }
    }
}

/// Streaming over any sink and stream, with boxed errors: the floor for a program with exchangeable
/// channels.
pub mod exchangeable {
    use std::error::Error;

    use futures::{SinkExt as _, StreamExt as _};

    use crate::unbounded::streaming::{Label, Ready, Stop, Value};
    use crate::unbounded::{Rx, Tx};
    use rumpsteak_runtime::transport::Pair as _;

    type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

    /// One end of the channels between source and sink.
    #[derive(Debug)]
    pub struct End {
        tx: Tx<Label>,
        rx: Rx<Label>,
    }

    /// Both ends.
    pub fn pair() -> (End, End) {
        let ((tx, from_source), (rx, to_source)) = (Tx::pair(), Rx::pair());
        (End { tx, rx }, End { tx: to_source, rx: from_source })
    }

    impl End {
        async fn ready(&mut self) -> Result<()> {
            match self.rx.next().await {
                Some(Label::Ready(Ready)) => Ok(()),
                _ => Err("the peer is gone, or sent something else".into()),
            }
        }
    }

    /// Sends `count` values, `ahead` of them before they are asked for.
    ///
    /// # Errors
    ///
    /// If the peer has left or violates the protocol.
    pub async fn source(s: &mut End, count: i32, ahead: i32) -> Result<()> {
        for value in 0..ahead {
            s.tx.send(Label::Value(Value(value))).await?;
        }
        for value in ahead..count {
            s.ready().await?;
            s.tx.send(Label::Value(Value(value))).await?;
        }
        s.ready().await?;
        s.tx.send(Label::Stop(Stop)).await?;
        for _ in 0..ahead {
            s.ready().await?;
        }
        Ok(())
    }

    /// Asks for values until the source stops, and returns their sum.
    ///
    /// # Errors
    ///
    /// If the peer has left or violates the protocol.
    pub async fn sink(t: &mut End) -> Result<i32> {
        let mut sum = 0;
        loop {
            t.tx.send(Label::Ready(Ready)).await?;
            match t.rx.next().await {
                Some(Label::Value(Value(value))) => sum += value,
                Some(Label::Stop(Stop)) => return Ok(sum),
                _ => return Err("the peer is gone, or sent something else".into()),
            }
        }
    }
}

/// As `exchangeable`, with an end that each action takes and returns, and that notices when it is
/// dropped in between: the floor for a program that can neither act twice nor leave unnoticed.
pub mod linear {
    use std::error::Error;
    use std::mem;

    use futures::{SinkExt as _, StreamExt as _};

    use crate::unbounded::streaming::{Label, Ready, Stop, Value};
    use crate::unbounded::{Rx, Tx};
    use rumpsteak_runtime::transport::Pair as _;

    type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

    /// One end of the channels between source and sink.
    #[derive(Debug)]
    pub struct End {
        tx: Tx<Label>,
        rx: Rx<Label>,
        was_left: bool,
    }

    /// Both ends.
    pub fn pair() -> (End, End) {
        let ((tx, from_source), (rx, to_source)) = (Tx::pair(), Rx::pair());
        let end = |tx, rx| End { tx, rx, was_left: false };
        (end(tx, rx), end(to_source, from_source))
    }

    /// The right to act at an end.
    struct Turn<'e>(&'e mut End);

    impl Drop for Turn<'_> {
        #[cold]
        fn drop(&mut self) {
            self.0.was_left = true;
        }
    }

    impl Turn<'_> {
        async fn send(self, label: Label) -> Result<Self> {
            self.0.tx.send(label).await?;
            Ok(self)
        }

        async fn receive(self) -> Result<(Label, Self)> {
            match self.0.rx.next().await {
                Some(label) => Ok((label, self)),
                None => Err("the peer is gone".into()),
            }
        }

        async fn ready(self) -> Result<Self> {
            match self.receive().await? {
                (Label::Ready(Ready), turn) => Ok(turn),
                _ => Err("the peer sent something else".into()),
            }
        }
    }

    /// Runs a process at an end that was not left before.
    async fn run<'e, T, F>(end: &'e mut End, process: impl FnOnce(Turn<'e>) -> F) -> Result<T>
    where
        F: Future<Output = Result<(T, Turn<'e>)>>,
    {
        if end.was_left {
            return Err("the end was left".into());
        }
        let (value, turn) = process(Turn(end)).await?;
        mem::forget(turn);
        Ok(value)
    }

    /// Sends `count` values, `ahead` of them before they are asked for.
    ///
    /// # Errors
    ///
    /// If the peer has left or violates the protocol.
    pub async fn source(end: &mut End, count: i32, ahead: i32) -> Result<()> {
        run(end, async |mut turn: Turn<'_>| {
            for value in 0..ahead {
                turn = turn.send(Label::Value(Value(value))).await?;
            }
            for value in ahead..count {
                turn = turn.ready().await?.send(Label::Value(Value(value))).await?;
            }
            turn = turn.ready().await?.send(Label::Stop(Stop)).await?;
            for _ in 0..ahead {
                turn = turn.ready().await?;
            }
            Ok(((), turn))
        })
        .await
    }

    /// Asks for values until the source stops, and returns their sum.
    ///
    /// # Errors
    ///
    /// If the peer has left or violates the protocol.
    pub async fn sink(end: &mut End) -> Result<i32> {
        run(end, async |mut turn: Turn<'_>| {
            let mut sum = 0;
            loop {
                turn = match turn.send(Label::Ready(Ready)).await?.receive().await? {
                    (Label::Value(Value(value)), turn) => {
                        sum += value;
                        turn
                    }
                    (Label::Stop(Stop), turn) => return Ok((sum, turn)),
                    _ => return Err("the peer sent something else".into()),
                };
            }
        })
        .await
    }
}

/// The ring of three.
pub mod ring {
    use std::convert::Infallible;

    use futures::StreamExt as _;

    use super::{UnboundedReceiver, UnboundedSender, unbounded};
    use crate::unbounded::ring::{Label, Value};

    /// A place in the ring.
    #[derive(Debug)]
    pub struct Place {
        before: UnboundedReceiver<Label>,
        after: UnboundedSender<Label>,
    }

    /// All places.
    pub fn places() -> [Place; 3] {
        let (to_a, at_a) = unbounded();
        let (to_b, at_b) = unbounded();
        let (to_c, at_c) = unbounded();
        [(at_a, to_b), (at_b, to_c), (at_c, to_a)].map(|(before, after)| Place { before, after })
    }

    /// The reason why a place stops.
    #[derive(Debug)]
    pub enum Stopped {
        /// With this value, after the last lap.
        With(i32),
        /// Because a neighbour is gone.
        Broken,
    }

    impl Place {
        fn send(&self, value: i32) -> Result<(), Stopped> {
            self.after.unbounded_send(Label::Value(Value(value))).map_err(|_| Stopped::Broken)
        }

        async fn receive(&mut self) -> Result<i32, Stopped> {
            match self.before.next().await {
                Some(Label::Value(Value(value))) => Ok(value),
                None => Err(Stopped::Broken),
            }
        }
    }

    /// Sends a value round `laps` times, then stops.
    ///
    /// # Errors
    ///
    /// The last value.
    pub async fn first(place: &mut Place, laps: i32) -> Result<Infallible, Stopped> {
        let mut value = 0;
        for _ in 0..laps {
            place.send(value + 1)?;
            value = place.receive().await?;
        }
        Err(Stopped::With(value))
    }

    /// Passes it on.
    ///
    /// # Errors
    ///
    /// If a neighbour has left.
    pub async fn next(place: &mut Place) -> Result<Infallible, Stopped> {
        loop {
            let value = place.receive().await?;
            place.send(value + 1)?;
        }
    }
}
