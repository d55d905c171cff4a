//! SMTP: a client that aborts a mail with `RSET` when the server takes too long, and tries again.
//! The protocol drops the answers that are in flight then.
//!
//! `cargo run -p rumpsteak-examples --example smtp_reset`

use std::process::ExitCode;
use std::time::Duration;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::time::sleep;

#[rumpsteak::protocol(SmtpReset)]
pub mod smtp_reset {}
use smtp_reset::*;

/// Sends a mail to each of the recipients. Returns how many attempts it took.
async fn client<'s>(
    mut ready: ClientSession<'s>,
    recipients: &[&str],
    patience: Duration,
) -> Ended<'s, Client, usize> {
    let timeout = async || {
        sleep(patience).await;
        Rset
    };
    let mut attempts = 0;
    let done = 'mails: loop {
        attempts += 1;
        let mut reset = 'mail: {
            let mail = ready.select(Begin).await?;
            let mut answer = mail.select(Mail("ann".to_owned())).await?;
            let mut recipients = recipients.iter();
            let data = loop {
                let next = match answer.race(timeout()).await? {
                    Raced::Heard(ClientR250ChoiceAfterMail::R250(_, next)) => next,
                    Raced::Sent(reset) => break 'mail reset,
                };
                match recipients.next() {
                    Some(&name) => answer = next.select(Rcpt(name.to_owned())).await?,
                    None => break next.select(Data("hello".to_owned())).await?,
                }
            };
            match data.race(timeout()).await? {
                Raced::Heard(ClientR250ChoiceAfterData::R250(_, sent)) => {
                    break 'mails sent.select(Noop).await?;
                }
                Raced::Sent(reset) => reset,
            }
        };
        println!("client: resets");
        ready = loop {
            reset = match reset.branch().await? {
                ClientR250ChoiceAfterRset::R250(_, reset) => reset,
                ClientR250ChoiceAfterRset::Rset(Rset, ready) => break ready,
            };
        };
    };
    let (R221, end) = done.select(Quit).await?.receive().await?;
    end.end(attempts)
}

/// Delays each answer by `delays`, and later ones not. Returns the recipients that got a mail.
async fn server<'s>(
    mut ready: ServerSession<'s>,
    delays: &[Duration],
) -> Ended<'s, Server, Vec<String>> {
    let mut delays = delays.iter();
    let mut answer = async || {
        sleep(delays.next().copied().unwrap_or_default()).await;
        R250("OK".to_owned())
    };
    let mut delivered = Vec::new();
    'mails: loop {
        let mail = match ready.branch().await? {
            ServerBeginChoice::Begin(Begin, mail) => mail,
            ServerBeginChoice::Quit(Quit, session) => {
                return session.send(R221).await?.end(delivered);
            }
        };
        let mut recipients = Vec::new();
        let reset = 'mail: {
            let mut answers = match mail.branch().await? {
                ServerMailChoice::Mail(_, answers) => answers,
                ServerMailChoice::Rset(Rset, reset) => break 'mail reset,
            };
            let answers = loop {
                let next = match answers.race(answer()).await? {
                    Raced::Sent(next) => next,
                    Raced::Heard(ServerR250ChoiceAfterMail::Rset(Rset, reset)) => {
                        break 'mail reset;
                    }
                };
                match next.branch().await? {
                    ServerRcptChoice::Rcpt(Rcpt(name), next) => {
                        recipients.push(name);
                        answers = next;
                    }
                    ServerRcptChoice::Data(_, answers) => break answers,
                    ServerRcptChoice::Rset(Rset, reset) => break 'mail reset,
                }
            };
            let sent = match answers.race(answer()).await? {
                Raced::Sent(sent) => sent,
                Raced::Heard(ServerR250ChoiceAfterData::Rset(Rset, reset)) => {
                    break 'mail reset;
                }
            };
            match sent.branch().await? {
                ServerNoopChoice::Noop(Noop, next) => {
                    delivered.append(&mut recipients);
                    ready = next;
                    continue 'mails;
                }
                ServerNoopChoice::Rset(Rset, reset) => reset,
            }
        };
        ready = reset.send(Rset).await?;
    }
}

/// The number of attempts, and the recipients that got a mail: the second answer takes too long.
pub async fn run() -> Result<(usize, Vec<String>)> {
    let mut roles = Roles::default();
    let (patience, delays) = (Duration::from_millis(50), [Duration::ZERO, Duration::from_secs(60)]);
    let recipients = ["bob", "eve"];
    roles.run(|c| client(c, &recipients, patience), |s| server(s, &delays)).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (2, vec!["bob".to_owned(), "eve".to_owned()]))
}
