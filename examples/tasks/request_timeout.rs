//! A request with a timeout, and a second attempt: the client gives up while the server works, and
//! the protocol receives the messages in flight.
//!
//! `cargo run -p rumpsteak-examples --example request_timeout`

use std::process::ExitCode;
use std::time::Duration;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::time::sleep;

#[rumpsteak::protocol(RequestTimeout)]
pub mod request_timeout {}
use request_timeout::*;

/// Asks until there is a reply, and returns the reply with the number of attempts.
async fn client<'s>(
    mut session: ClientSession<'s>,
    text: &str,
    patience: Duration,
) -> Ended<'s, Client, (String, usize)> {
    let mut attempts = 1;
    loop {
        let waiting = session.select(Request(text.to_owned())).await?;
        let timeout = async {
            sleep(patience).await;
            Timeout
        };
        let mut draining = match waiting.race(timeout).await? {
            Raced::Heard(ClientReplyChoice::Reply(Reply(reply), next)) => {
                let end = next.select(Received).await?.select(Bye).await?;
                return end.end((reply, attempts));
            }
            Raced::Sent(draining) => draining,
        };
        println!("client: gives up");
        session = loop {
            draining = match draining.branch().await? {
                ClientReplyChoiceAfterTimeout::Reply(_, draining) => draining,
                ClientReplyChoiceAfterTimeout::Timeout(Timeout, next) => {
                    break next.select(Again).await?;
                }
            };
        };
        attempts += 1;
    }
}

/// Answers, the first time slowly. Returns how many answers came too late.
async fn server(mut session: ServerSession<'_>) -> Ended<'_, Server, usize> {
    let (mut work, mut given_up) = (Duration::from_secs(60), 0);
    loop {
        let cancelled = match session.branch().await? {
            ServerRequestChoice::Request(Request(text), working) => {
                let answer = async {
                    sleep(work).await;
                    Reply(text.to_uppercase())
                };
                match working.race(answer).await? {
                    Raced::Sent(answered) => match answered.branch().await? {
                        ServerReceivedChoice::Received(Received, next) => {
                            match next.branch().await? {
                                ServerAgainChoice::Again(Again, next) => {
                                    session = next;
                                    continue;
                                }
                                ServerAgainChoice::Bye(Bye, end) => return end.end(given_up),
                            }
                        }
                        ServerReceivedChoice::Timeout(Timeout, cancelled) => cancelled,
                    },
                    Raced::Heard(ServerReplyChoice::Timeout(Timeout, cancelled)) => cancelled,
                }
            }
            ServerRequestChoice::Timeout(Timeout, cancelled) => cancelled,
        };
        println!("server: stops working");
        (work, given_up) = (Duration::ZERO, given_up + 1);
        session = match cancelled.send(Timeout).await?.branch().await? {
            ServerAgainChoice::Again(Again, next) => next,
            ServerAgainChoice::Bye(Bye, end) => return end.end(given_up),
        };
    }
}

/// The reply, the number of attempts, and the number of answers that came too late.
pub async fn run() -> Result<((String, usize), usize)> {
    let patience = Duration::from_millis(50);
    Roles::default().run(|session| client(session, "hello", patience), server).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (("HELLO".to_owned(), 2), 1))
}
