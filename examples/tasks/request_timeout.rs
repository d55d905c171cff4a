//! A request with a timeout, and a second attempt: the client gives up while the server works, and
//! whatever was under way then is received by the protocol.
//!
//! `cargo run -p rumpsteak-examples --example request_timeout`

use std::process::ExitCode;
use std::time::Duration;

use rumpsteak_runtime::states::Raced;
use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::time::sleep;

#[derive(Roles)]
struct Roles {
    c: C,
    s: S,
}

#[derive(Role)]
#[protocol(RequestTimeout::client)]
#[message(Label)]
struct C(#[route(S)] Channel<Label>);

#[derive(Role)]
#[protocol(RequestTimeout::server)]
#[message(Label)]
struct S(#[route(C)] Channel<Label>);

#[derive(Message)]
enum Label {
    Request(Request),
    Reply(Reply),
    Received(Received),
    Timeout(Timeout),
    Again(Again),
    Bye(Bye),
}

struct Request(String);
struct Reply(String);
struct Received;
struct Timeout;
struct Again;
struct Bye;

#[session(C)]
type Client = Select<S, Attempt>;

#[session]
enum Attempt {
    Request(Request, Race<Waiting>),
    Timeout(Timeout, Branch<S, Drain>),
}

/// What comes first: the answer, or the end of patience.
#[session]
enum Waiting {
    Reply(Receive<S, Reply, Select<S, Taken>>),
    Timeout(Send<S, Timeout, Branch<S, Drain>>),
}

#[session]
enum Taken {
    Received(Received, Select<S, Next>),
    Timeout(Timeout, Branch<S, Drain>),
}

/// Until the server has heard of the end.
#[session]
enum Drain {
    Reply(Reply, Branch<S, Self>),
    Timeout(Timeout, Select<S, Next>),
}

#[session]
enum Next {
    Again(Again, Client),
    Bye(Bye, End),
}

#[session(S)]
type Server = Branch<C, Asked>;

#[session]
enum Asked {
    Request(Request, Race<Working>),
    Timeout(Timeout, TimedOut),
}

/// What comes first: the answer, or that nobody waits for it.
#[session]
enum Working {
    Reply(Send<C, Reply, Branch<C, Answered>>),
    Timeout(Receive<C, Timeout, TimedOut>),
}

#[session]
enum Answered {
    Received(Received, Branch<C, Decision>),
    Timeout(Timeout, TimedOut),
}

#[session]
type TimedOut = Send<C, Timeout, Branch<C, Decision>>;

#[session]
enum Decision {
    Again(Again, Server),
    Bye(Bye, End),
}

/// Asks until there is a reply, and returns it with the number of attempts.
async fn client(role: &mut C, text: &str, patience: Duration) -> Result<(String, usize)> {
    try_run(role, async |mut session: Client<'_>| {
        let mut attempts = 1;
        loop {
            let waiting = session.select(Request(text.to_owned())).await?;
            let timeout = async {
                sleep(patience).await;
                Timeout
            };
            let mut draining = match waiting.race(timeout).await? {
                Raced::Heard(Waiting::Reply(Reply(reply), next)) => {
                    let end = next.select(Received).await?.select(Bye).await?;
                    return Ok(((reply, attempts), end));
                }
                Raced::Sent(draining) => draining,
            };
            println!("client: gives up");
            session = loop {
                draining = match draining.branch().await? {
                    Drain::Reply(_, draining) => draining,
                    Drain::Timeout(Timeout, next) => break next.select(Again).await?,
                };
            };
            attempts += 1;
        }
    })
    .await
}

/// Answers, the first time slowly. Returns how often nobody waited any more.
async fn server(role: &mut S) -> Result<usize> {
    try_run(role, async |mut session: Server<'_>| {
        let (mut work, mut given_up) = (Duration::from_secs(60), 0);
        loop {
            let cancelled = match session.branch().await? {
                Asked::Request(Request(text), working) => {
                    let answer = async {
                        sleep(work).await;
                        Reply(text.to_uppercase())
                    };
                    match working.race(answer).await? {
                        Raced::Sent(answered) => match answered.branch().await? {
                            Answered::Received(Received, next) => match next.branch().await? {
                                Decision::Again(Again, next) => {
                                    session = next;
                                    continue;
                                }
                                Decision::Bye(Bye, end) => return Ok((given_up, end)),
                            },
                            Answered::Timeout(Timeout, cancelled) => cancelled,
                        },
                        Raced::Heard(Working::Timeout(Timeout, cancelled)) => cancelled,
                    }
                }
                Asked::Timeout(Timeout, cancelled) => cancelled,
            };
            println!("server: stops working");
            (work, given_up) = (Duration::ZERO, given_up + 1);
            session = match cancelled.send(Timeout).await?.branch().await? {
                Decision::Again(Again, next) => next,
                Decision::Bye(Bye, end) => return Ok((given_up, end)),
            };
        }
    })
    .await
}

/// The reply, the number of attempts, and how often the server worked for nobody.
pub async fn run() -> Result<((String, usize), usize)> {
    let mut roles = Roles::default();
    tokio::try_join!(client(&mut roles.c, "hello", Duration::from_millis(50)), server(&mut roles.s))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (("HELLO".to_owned(), 2), 1))
}
