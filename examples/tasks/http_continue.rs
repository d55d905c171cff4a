//! HTTP/1.1: a client that waits for `100 (Continue)` before it sends a body, and a connection that
//! the client closes after its last request, or the server after a timeout.
//!
//! `cargo run -p rumpsteak-examples --example http_continue`

use std::future::ready;
use std::process::ExitCode;
use std::time::Duration;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::time::sleep;

#[rumpsteak::protocol(HttpContinue)]
pub mod http_continue {}
use http_continue::*;

/// Sends requests, each so long after the last response, until all are answered or the server
/// closes. Returns the responses.
async fn client<'s>(
    mut open: ClientSession<'s>,
    requests: &[&str],
    pause: Duration,
) -> Ended<'s, Client, Vec<String>> {
    let mut responses = Vec::new();
    let closed = 'open: {
        for &request in requests {
            let headers = async {
                sleep(pause).await;
                Headers(request.to_owned())
            };
            let asked = match open.race(headers).await? {
                Raced::Sent(asked) => asked,
                Raced::Heard(ClientHeadersChoice::Close(Close, closed)) => break 'open closed,
            };
            let response;
            (Response(response), open) = match asked.branch().await? {
                ClientR100Choice::Response(response, open) => (response, open),
                ClientR100Choice::Close(Close, closed) => break 'open closed,
                ClientR100Choice::R100(R100, wanted) => {
                    let body = ready(Body(format!("body of {request}")));
                    let sent = match wanted.race(body).await? {
                        Raced::Sent(sent) => sent,
                        Raced::Heard(ClientBodyChoice::Close(Close, closed)) => {
                            break 'open closed;
                        }
                    };
                    match sent.branch().await? {
                        ClientResponseChoice::Response(response, open) => (response, open),
                        ClientResponseChoice::Close(Close, closed) => break 'open closed,
                    }
                }
            };
            responses.push(response);
        }
        let last = match open.race(ready(Last)).await? {
            Raced::Sent(last) => last,
            Raced::Heard(ClientHeadersChoice::Close(Close, closed)) => break 'open closed,
        };
        match last.branch().await? {
            ClientClosedChoice::Closed(Closed, end) => return end.end(responses),
            ClientClosedChoice::Close(Close, closed) => closed,
        }
    };
    println!("client: the server has closed");
    closed.send(Close).await?.end(responses)
}

/// Answers, and asks for the bodies of uploads. Closes if nothing comes for as long as `idle`.
/// Returns true if it did.
async fn server(mut open: ServerSession<'_>, idle: Duration) -> Ended<'_, Server, bool> {
    let timeout = async || {
        sleep(idle).await;
        Close
    };
    let mut closing = loop {
        let (request, asked) = match open.race(timeout()).await? {
            Raced::Heard(ServerHeadersChoice::Headers(Headers(it), asked)) => (it, asked),
            Raced::Heard(ServerHeadersChoice::Last(Last, last)) => {
                return last.select(Closed).await?.end(false);
            }
            Raced::Sent(closing) => break closing,
        };
        if !request.starts_with("PUT") {
            open = asked.select(Response(format!("200 to {request}"))).await?;
            continue;
        }
        open = match asked.select(R100).await?.race(timeout()).await? {
            Raced::Heard(ServerBodyChoice::Body(Body(body), answers)) => {
                answers.select(Response(format!("201 with {body}"))).await?
            }
            Raced::Sent(closing) => break closing,
        };
    };
    // The message that the client sent before it knew of the end.
    loop {
        closing = match closing.branch().await? {
            ServerHeadersChoiceAfterClose::Headers(_, closing) => closing,
            ServerHeadersChoiceAfterClose::Body(_, closing) => closing,
            ServerHeadersChoiceAfterClose::Last(_, closing) => closing,
            ServerHeadersChoiceAfterClose::Close(Close, end) => return end.end(true),
        };
    }
}

/// The responses, with true if the server closed the connection: for a client in time, and for one
/// that is too late.
pub async fn run() -> Result<[(Vec<String>, bool); 2]> {
    let mut roles = Roles::default();
    let (soon, never) = (Duration::from_millis(20), Duration::from_secs(60));
    let requests = ["GET /", "PUT /a"];
    Ok([
        roles.run(|c| client(c, &requests, Duration::ZERO), |s| server(s, never)).await?,
        roles.run(|c| client(c, &requests, never), |s| server(s, soon)).await?,
    ])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let responses = ["200 to GET /".to_owned(), "201 with body of PUT /a".to_owned()];
    rumpsteak_examples::conclude(run().await, [(responses.into(), false), (vec![], true)])
}
