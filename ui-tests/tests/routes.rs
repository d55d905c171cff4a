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
    struct C(#[route(S)] Transport);

    #[derive(Role)]
    struct S(#[route(C)] Transport);

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
    assert_eq!(error.to_string(), "`c` cannot receive `Pong` from `s`: the transport failed");
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
        let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
        assert_eq!(source.kind(), kind);
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
