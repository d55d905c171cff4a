//! Two adder (COORDINATION'21, Fig. 6, after the Scribble tutorial): a client has a server add two
//! numbers, as often as it likes, and says `bye`.
//!
//! `cargo run -p rumpsteak-examples --example two_adder`

use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

#[derive(Roles)]
struct Roles {
    c: C,
    s: S,
}

#[derive(Role)]
#[protocol(TwoAdder::c)]
#[message(Label)]
struct C {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Role)]
#[protocol(TwoAdder::s)]
#[message(Label)]
struct S {
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Add(Add),
    Sum(Sum),
    Bye(Bye),
}

struct Add(i32);
struct Sum(i32);
struct Bye;

#[session(C)]
pub type Client = Select<S, ClientChoice>;

#[session]
enum ClientChoice {
    Add(Add, Send<S, Add, Receive<S, Sum, Client>>),
    Bye(Bye, Receive<S, Bye, End>),
}

#[session(S)]
pub type Server = Branch<C, ServerChoice>;

#[session]
enum ServerChoice {
    Add(Add, Receive<C, Add, Send<C, Sum, Server>>),
    Bye(Bye, Send<C, Bye, End>),
}

async fn client(role: &mut C, pairs: &[(i32, i32)]) -> Result<Vec<i32>> {
    try_run(role, async |mut session: Client<'_>| {
        let mut sums = Vec::new();
        for &(left, right) in pairs {
            let next = session.select(Add(left)).await?.send(Add(right)).await?;
            let (Sum(sum), next) = next.receive().await?;
            println!("client: {left} + {right} = {sum}");
            sums.push(sum);
            session = next;
        }
        let (Bye, end) = session.select(Bye).await?.receive().await?;
        Ok((sums, end))
    })
    .await
}

async fn server(role: &mut S) -> Result<usize> {
    try_run(role, async |mut session: Server<'_>| {
        let mut served = 0;
        loop {
            session = match session.branch().await? {
                ServerChoice::Add(Add(left), next) => {
                    let (Add(right), next) = next.receive().await?;
                    served += 1;
                    next.send(Sum(left.wrapping_add(right))).await?
                }
                ServerChoice::Bye(Bye, next) => return Ok((served, next.send(Bye).await?)),
            };
        }
    })
    .await
}

/// The sums that the client was told, and how many the server has added.
pub async fn run() -> Result<(Vec<i32>, usize)> {
    let Roles { mut c, mut s } = Roles::default();
    tokio::try_join!(client(&mut c, &[(1, 2), (20, 22), (-5, 5)]), server(&mut s))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (vec![3, 42, 0], 3))
}
