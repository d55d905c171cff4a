//! A lock that two clients take when they like. The protocol lets the server talk to both at once;
//! its session serves one after the other, which the build proves for all three together.
//!
//! `cargo run -p rumpsteak-examples --example lock`

use std::process::ExitCode;

use rumpsteak_runtime::states::End;
use rumpsteak_runtime::transport::Route;
use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::task::yield_now;

#[derive(Roles)]
struct Roles {
    first: First,
    second: Second,
    server: Server,
}

#[derive(Role)]
#[protocol(Lock::first)]
#[message(Label)]
struct First(#[route(Server)] Channel<Label>);

#[derive(Role)]
#[protocol(Lock::second)]
#[message(Label)]
struct Second(#[route(Server)] Channel<Label>);

#[derive(Role)]
#[protocol(Lock::server)]
#[message(Label)]
struct Server {
    #[route(First)]
    first: Channel<Label>,
    #[route(Second)]
    second: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Lock(Lock),
    Granted(Granted),
    Release(Release),
    Bye(Bye),
}

struct Lock;
/// What is locked: a number.
struct Granted(u64);
/// The number as it is from now on.
struct Release(u64);
struct Bye;

#[session(First)]
type FirstClient = Client;

#[session(Second)]
type SecondClient = Client;

#[session]
type Client = Select<Server, Use>;

#[session]
enum Use {
    Lock(Lock, Receive<Server, Granted, Send<Server, Release, Client>>),
    Bye(Bye, End),
}

#[session(Server)]
struct Free(Branch<Next>);

#[session]
enum Next {
    OfFirst(Receive<First, Lock, Send<First, Granted, Receive<First, Release, Free>>>),
    OfSecond(Receive<Second, Lock, Send<Second, Granted, Receive<Second, Release, Free>>>),
    FirstLeaves(Receive<First, Bye, Branch<Second, NextOfSecond>>),
    SecondLeaves(Receive<Second, Bye, Branch<First, NextOfFirst>>),
}

#[session]
enum NextOfFirst {
    Lock(Lock, Send<First, Granted, Receive<First, Release, Branch<First, Self>>>),
    Bye(Bye, End),
}

#[session]
enum NextOfSecond {
    Lock(Lock, Send<Second, Granted, Receive<Second, Release, Branch<Second, Self>>>),
    Bye(Bye, End),
}

/// Adds these numbers to what is locked, one at a time. Other tasks run while the lock is held.
async fn add<'s, R>(mut session: Client<'s, R>, numbers: &[u64]) -> Result<((), End<'s, R>)>
where
    R: Role<Message = Label> + Route<Server, Link = Channel<Label>>,
{
    for number in numbers {
        let (Granted(sum), held) = session.select(Lock).await?.receive().await?;
        yield_now().await;
        session = held.send(Release(sum + number)).await?;
    }
    Ok(((), session.select(Bye).await?))
}

async fn first(role: &mut First, numbers: &[u64]) -> Result<()> {
    try_run(role, async |session: FirstClient<'_>| add(session, numbers).await).await
}

async fn second(role: &mut Second, numbers: &[u64]) -> Result<()> {
    try_run(role, async |session: SecondClient<'_>| add(session, numbers).await).await
}

/// Keeps what is locked, from zero, and gives it back at the end.
async fn server(role: &mut Server) -> Result<u64> {
    try_run(role, async |mut session: Free<'_>| {
        let mut sum = 0;
        loop {
            session = match session.branch().await? {
                Next::OfFirst(Lock, taken) => {
                    let (Release(new), free) = taken.send(Granted(sum)).await?.receive().await?;
                    sum = new;
                    free
                }
                Next::OfSecond(Lock, taken) => {
                    let (Release(new), free) = taken.send(Granted(sum)).await?.receive().await?;
                    sum = new;
                    free
                }
                Next::FirstLeaves(Bye, mut alone) => loop {
                    let taken = match alone.branch().await? {
                        NextOfSecond::Lock(Lock, taken) => taken,
                        NextOfSecond::Bye(Bye, end) => return Ok((sum, end)),
                    };
                    (Release(sum), alone) = taken.send(Granted(sum)).await?.receive().await?;
                },
                Next::SecondLeaves(Bye, mut alone) => loop {
                    let taken = match alone.branch().await? {
                        NextOfFirst::Lock(Lock, taken) => taken,
                        NextOfFirst::Bye(Bye, end) => return Ok((sum, end)),
                    };
                    (Release(sum), alone) = taken.send(Granted(sum)).await?.receive().await?;
                },
            };
        }
    })
    .await
}

/// What is locked in the end.
pub async fn run() -> Result<u64> {
    let mut roles = Roles::default();
    let (sum, (), ()) = tokio::try_join!(
        server(&mut roles.server),
        first(&mut roles.first, &[1, 2, 3]),
        second(&mut roles.second, &[10, 20, 30, 40]),
    )?;
    println!("server: together that is {sum}");
    Ok(sum)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 106)
}
