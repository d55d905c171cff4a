//! Client-server log (PPoPP'22, Table 1): a server halves the even numbers that its client sends
//! and refuses the odd ones. A log keeps what became of each, without anybody waiting for it.
//!
//! `cargo run -p rumpsteak-examples --example client_server_log`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::sync::oneshot;

#[derive(Roles)]
struct Roles {
    c: C,
    s: S,
    l: L,
}

#[derive(Role)]
#[protocol(ClientServerLog::c)]
#[message(Label)]
struct C {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Role)]
#[protocol(ClientServerLog::s)]
#[message(Label)]
struct S {
    #[route(C)]
    c: Channel<Label>,
    #[route(L)]
    l: Channel<Label>,
}

#[derive(Role)]
#[protocol(ClientServerLog::l)]
#[message(Label)]
struct L {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Request(Request),
    Half(Half),
    Odd(Odd),
    Entry(Entry),
    Refusal(Refusal),
}

struct Request(u32);
struct Half(u32);
struct Odd;
struct Entry(u32);
struct Refusal(u32);

#[session(C)]
pub type Client = Send<S, Request, Branch<S, ClientChoice>>;

#[session]
enum ClientChoice {
    Half(Half, Client),
    Odd(Odd, Client),
}

#[session(S)]
pub type Server = Receive<C, Request, Select<C, ServerChoice>>;

#[session]
enum ServerChoice {
    Half(Half, Send<L, Entry, Server>),
    Odd(Odd, Send<L, Refusal, Server>),
}

#[session(L)]
pub type Log = Branch<S, LogChoice>;

#[session]
enum LogChoice {
    Entry(Entry, Log),
    Refusal(Refusal, Log),
}

async fn client(role: &mut C, first: u32) -> Result<Infallible> {
    try_run(role, async |mut session: Client<'_>| {
        let mut number = first;
        loop {
            session = match session.send(Request(number)).await?.branch().await? {
                ClientChoice::Half(Half(half), next) => {
                    println!("client: half of {number} is {half}");
                    number = half;
                    next
                }
                ClientChoice::Odd(Odd, next) => {
                    println!("client: {number} is odd");
                    number = 3 * number + 1;
                    next
                }
            };
        }
    })
    .await
}

async fn server(role: &mut S) -> Result<Infallible> {
    try_run(role, async |mut session: Server<'_>| {
        loop {
            let (Request(number), next) = session.receive().await?;
            session = match number % 2 {
                0 => {
                    let next = next.select(Half(number / 2)).await?;
                    next.send(Entry(number)).await?
                }
                _ => next.select(Odd).await?.send(Refusal(number)).await?,
            };
        }
    })
    .await
}

/// Keeps the first `entries`: each number, and whether it was refused.
async fn log(
    role: &mut L,
    entries: usize,
    done: oneshot::Sender<Vec<(u32, bool)>>,
) -> Result<Infallible> {
    try_run(role, async |mut session: Log<'_>| {
        let mut kept = Vec::new();
        while kept.len() < entries {
            session = match session.branch().await? {
                LogChoice::Entry(Entry(number), next) => {
                    kept.push((number, false));
                    next
                }
                LogChoice::Refusal(Refusal(number), next) => {
                    println!("log:    {number} was refused");
                    kept.push((number, true));
                    next
                }
            };
        }
        let _ = done.send(kept);
        // The protocol goes on for ever; the program stops when the log has seen enough.
        std::future::pending().await
    })
    .await
}

/// What the log has kept of the first seven requests.
pub async fn run() -> Result<Vec<(u32, bool)>> {
    let mut roles = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(client(&mut roles.c, 6), server(&mut roles.s), log(&mut roles.l, 7, done),)
    };
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(kept) = finished => Ok(kept),
    }
}

/// Half of six is three, which is odd: three times three and one is ten, and so on.
const EXPECTED: [(u32, bool); 7] =
    [(6, false), (3, true), (10, false), (5, true), (16, false), (8, false), (4, false)];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, EXPECTED.to_vec())
}
