//! Routes over other sinks and streams than queues of this crate.

use std::error::Error as _;
use std::io;
use std::pin::Pin;

use futures::channel::mpsc;
use futures::executor::block_on;
use futures::future::{join, try_join};
use futures::{Sink, SinkExt as _, Stream, StreamExt as _, stream};
use rumpsteak::error::Action;
use rumpsteak::transport::Bidirectional;
use rumpsteak::{Error, ErrorKind, Result, Role as _, try_run};

use rumpsteak_ui_tests::closed;

type Tx = Pin<Box<dyn Sink<Label, Error = io::Error>>>;
type Rx = Pin<Box<dyn Stream<Item = io::Result<Label>>>>;
type Transport = Bidirectional<Tx, Rx>;

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::Transport;

    #[derive(Role)]
    struct C(#[route(S, capacity = 1)] Transport);

    #[derive(Role)]
    struct S(#[route(C, capacity = 1)] Transport);

    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;

    #[session(S)]
    type Server = Receive<C, Ping, Send<C, Pong, End>>;
}

use ping::{C, Client, Label, Ping, Pong, S, Server};

async fn client(role: &mut C, question: i32) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(answer), end) = s.send(Ping(question)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}

async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |s: Server<'_>| {
        let (Ping(question), s) = s.receive().await?;
        Ok(((), s.send(Pong(question + 1)).await?))
    })
    .await
}

/// One direction: a bounded queue behind a buffer that holds messages back until it is flushed.
fn direction() -> (Tx, Rx) {
    let (tx, rx) = mpsc::channel(1);
    let tx = tx.sink_map_err(io::Error::other).buffer(8);
    (Box::pin(tx), Box::pin(rx.map(Ok)))
}

fn roles() -> (C, S) {
    let ((to_s, from_c), (to_c, from_s)) = (direction(), direction());
    (C(Bidirectional::new(to_s, from_s)), S(Bidirectional::new(to_c, from_c)))
}

/// A sink that fails, at once or when it is flushed.
fn broken(at_once: bool) -> Tx {
    let sink = futures::sink::unfold((), move |(), _: Label| async move {
        Err::<(), _>(io::Error::new(io::ErrorKind::BrokenPipe, "the cable is cut"))
    });
    if at_once {
        let (tx, _) = mpsc::unbounded();
        Box::pin(tx.sink_map_err(|_| io::Error::new(io::ErrorKind::NotConnected, "no cable")))
    } else {
        Box::pin(sink)
    }
}

#[test]
fn any_sink_and_stream_make_a_route() {
    let (mut c, mut s) = roles();
    for question in 0..3 {
        // If a send did not flush, the buffers would keep the question.
        let (answer, ()) = block_on(try_join(client(&mut c, question), server(&mut s))).unwrap();
        assert_eq!(answer, question + 1);
    }
}

#[test]
fn the_end_of_a_stream_is_a_closed_route() {
    let (mut c, s) = roles();
    let S(route) = s;
    let (to_c, from_c) = route.into_inner().unwrap();
    drop(to_c);
    assert_eq!(closed(block_on(client(&mut c, 1))), ("c", "s", Action::Receive(&["Pong"])));
    drop(from_c);
}

#[test]
fn an_error_of_the_stream_is_the_source() {
    let (tx, _rx) = direction();
    let rx = stream::iter([Err(io::Error::new(io::ErrorKind::InvalidData, "not a message"))]);
    let mut c = C(Bidirectional::new(tx, Box::pin(rx)));
    let error = block_on(client(&mut c, 1)).unwrap_err();
    let told = "`c` cannot receive `Pong` from `s`: the transport failed: not a message";
    assert_eq!([error.to_string(), format!("{error:?}")], [told, told]);
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::InvalidData);
    assert!(c.is_poisoned());
}

#[test]
fn an_error_of_the_sink_is_the_source() {
    for (at_once, kind) in [(true, io::ErrorKind::NotConnected), (false, io::ErrorKind::BrokenPipe)]
    {
        let mut c = C(Bidirectional::new(broken(at_once), Box::pin(stream::pending())));
        let mut returned = None;
        let failed = try_run(&mut c, async |s: Client<'_>| {
            let unsent = s.send_or_return(Ping(1)).await.unwrap_err();
            returned = Some(unsent.label.is_some());
            Err::<((), _), Error>(unsent.error)
        });
        let error = block_on(failed).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Transport { action: Action::Send("Ping"), .. }),
            "{error:?}"
        );
        assert_eq!(error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(), kind);
        // A message that the sink has taken is lost.
        assert_eq!(returned, Some(at_once));
    }
}

#[test]
fn an_aborted_session_drops_both_halves() {
    let (mut c, mut s) = roles();
    let failing = try_run(&mut s, async |s: Server<'_>| {
        let (Ping(_), _s) = s.receive().await?;
        Err::<((), _), Error>(ErrorKind::Poisoned { role: "some reason" }.into())
    });
    let (failed, waiting) = block_on(join(failing, client(&mut c, 1)));
    assert!(failed.is_err());
    assert_eq!(closed(waiting), ("c", "s", Action::Receive(&["Pong"])));
    assert!(c.0.is_closed() && s.0.is_closed());
    assert!(c.0.into_inner().is_none());
}

/// Roles that send all messages before they receive one, over queues with room for them.
#[rumpsteak::protocol(Push, capacity = 2)]
mod push {
    use super::{Bidirectional, mpsc};

    type Queues = Bidirectional<mpsc::Sender<Label>, mpsc::Receiver<Label>>;

    #[derive(Role)]
    struct A(#[route(B)] Queues);

    #[session(A)]
    type Ahead = Send<B, Chunk, Send<B, Chunk, Receive<B, Part, Receive<B, Part, End>>>>;

    #[derive(Role)]
    struct B(#[route(A, capacity = 1)] Queues);

    #[session(B)]
    type InTurn = Receive<A, Chunk, Send<A, Part, Receive<A, Chunk, Send<A, Part, End>>>>;
}

use push::{A, Ahead, B, Chunk, InTurn, Part};

async fn ahead(role: &mut A) -> Result<[i32; 2]> {
    try_run(role, async |s: Ahead<'_>| {
        let s = s.send(Chunk(1)).await?.send(Chunk(2)).await?;
        let (Part(first), s) = s.receive().await?;
        let (Part(second), end) = s.receive().await?;
        Ok(([first, second], end))
    })
    .await
}

async fn in_turn(role: &mut B) -> Result<()> {
    try_run(role, async |s: InTurn<'_>| {
        let (Chunk(first), s) = s.receive().await?;
        let (Chunk(second), s) = s.send(Part(first)).await?.receive().await?;
        Ok(((), s.send(Part(second)).await?))
    })
    .await
}

/// Both roles, over queues with room for so many messages from `A`, and for so many from `B`.
fn bounded(from_a: usize, from_b: usize) -> (A, B) {
    let ((to_b, from_a_rx), (to_a, from_b_rx)) = (mpsc::channel(from_a), mpsc::channel(from_b));
    let a = Bidirectional::bounded(to_b, from_b_rx, from_a);
    (A(a), B(Bidirectional::bounded(to_a, from_a_rx, from_b)))
}

#[test]
fn a_queue_has_the_room_that_its_route_declares() {
    for (from_a, from_b) in [(2, 1), (3, 8)] {
        let (mut a, mut b) = bounded(from_a, from_b);
        for _ in 0..3 {
            let (parts, ()) = block_on(try_join(ahead(&mut a), in_turn(&mut b))).unwrap();
            assert_eq!(parts, [1, 2]);
        }
    }
}

#[test]
fn a_smaller_queue_is_an_error_before_the_first_message() {
    let (mut a, mut b) = bounded(1, 1);
    let (of_a, of_b) = block_on(join(ahead(&mut a), in_turn(&mut b)));
    let error = of_a.unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::SmallQueue { role: "a", peer: "b", declared: 2, capacity: 1 }
    ));
    assert_eq!(
        error.to_string(),
        "`a` cannot begin a session: its route to `b` declares room for 2 messages, and its queue has room for 1; give \
         the queue that room, or declare less, which the build judges"
    );
    assert_eq!(closed(of_b), ("b", "a", Action::Receive(&["Chunk"])));
}
