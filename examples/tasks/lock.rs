//! A lock that two clients take at any time. The protocol lets the server talk to both at once. Its
//! session serves one after the other, and the build proves all three roles together.
//!
//! `cargo run -p rumpsteak-examples --example lock`

use std::process::ExitCode;

use rumpsteak::transport::Route;
use rumpsteak::{Channel, Ended, Result, Role};
use tokio::task::yield_now;

// Another client may have the lock for ever: `fair`.
#[rumpsteak::protocol(Lock, accept_closed_system, fair)]
pub mod lock {
    #[session(First)]
    type FirstClient = Client;

    #[session(Second)]
    type SecondClient = Client;

    type Client = Select<Server, Use>;

    enum Use {
        Lock(Lock, Receive<Server, Granted, Send<Server, Release, Client>>),
        Bye(Bye, End),
    }

    #[session(Server)]
    struct Free(Branch<Next>);

    enum Next {
        OfFirst(Receive<First, Lock, Send<First, Granted, Receive<First, Release, Free>>>),
        OfSecond(Receive<Second, Lock, Send<Second, Granted, Receive<Second, Release, Free>>>),
        FirstLeaves(Receive<First, Bye, Branch<Second, NextOfSecond>>),
        SecondLeaves(Receive<Second, Bye, Branch<First, NextOfFirst>>),
    }

    enum NextOfFirst {
        Lock(Lock, Send<First, Granted, Receive<First, Release, Branch<First, Self>>>),
        Bye(Bye, End),
    }

    enum NextOfSecond {
        Lock(Lock, Send<Second, Granted, Receive<Second, Release, Branch<Second, Self>>>),
        Bye(Bye, End),
    }
}
use lock::*;

/// Adds these numbers to the locked number, one at a time. Other tasks run while it has the lock.
async fn add<'s, R>(mut session: Client<'s, R>, numbers: &[u64]) -> Ended<'s, R>
where
    R: Role<Message = Label> + Route<Server, Link = Channel<Label>>,
{
    for number in numbers {
        let (Granted(sum), held) = session.select(Lock).await?.receive().await?;
        yield_now().await;
        session = held.send(Release(sum + number)).await?;
    }
    session.select(Bye).await?.end(())
}

/// Keeps the locked number, from zero, and returns it at the end.
async fn server(mut session: Free<'_>) -> Ended<'_, Server, u64> {
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
                    NextOfSecond::Bye(Bye, end) => return end.end(sum),
                };
                (Release(sum), alone) = taken.send(Granted(sum)).await?.receive().await?;
            },
            Next::SecondLeaves(Bye, mut alone) => loop {
                let taken = match alone.branch().await? {
                    NextOfFirst::Lock(Lock, taken) => taken,
                    NextOfFirst::Bye(Bye, end) => return end.end(sum),
                };
                (Release(sum), alone) = taken.send(Granted(sum)).await?.receive().await?;
            },
        };
    }
}

/// The locked number at the end.
pub async fn run() -> Result<u64> {
    let mut roles = Roles::default();
    let all = roles.run(
        async |session: FirstClient<'_>| add(session, &[1, 2, 3]).await,
        async |session: SecondClient<'_>| add(session, &[10, 20, 30, 40]).await,
        server,
    );
    let ((), (), sum) = all.await?;
    println!("server: together that is {sum}");
    Ok(sum)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 106)
}
