//! One session under two names: a team may call it what it is in each place.

use futures::executor::block_on;
use futures::future::try_join;
use rumpsteak_runtime::{Channel, Error, Message, Result, Role, Roles, session, try_run};

#[derive(Debug, Roles)]
struct Roles(C, S);

#[derive(Debug, Role)]
#[protocol(Ping::c)]
#[message(Label)]
struct C(#[route(S)] Channel<Label>);

#[derive(Debug, Role)]
#[protocol(Ping::s)]
#[message(Label)]
struct S(#[route(C)] Channel<Label>);

#[derive(Debug, Message)]
enum Label {
    Ping(Ping),
    Pong(Pong),
}

#[derive(Debug)]
struct Ping(i32);
#[derive(Debug)]
struct Pong(i32);

#[session(C)]
type Client = Send<S, Ping, Receive<S, Pong, End>>;

#[session(C)]
type HealthCheck = Send<S, Ping, Receive<S, Pong, End>>;

#[session(S)]
type Server = Receive<C, Ping, Send<C, Pong, End>>;

async fn client(role: &mut C) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}

async fn health_check(role: &mut C) -> Result<i32> {
    try_run(role, async |s: HealthCheck<'_>| {
        let (Pong(answer), end) = s.send(Ping(0)).await?.receive().await?;
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

#[test]
fn both_names_are_verified_and_run() {
    let Roles(mut c, mut s) = Roles::default();
    let answers = block_on(async {
        let first = try_join(client(&mut c), server(&mut s)).await?.0;
        let second = try_join(health_check(&mut c), server(&mut s)).await?.0;
        Ok::<_, Error>([first, second])
    });
    assert_eq!(answers.unwrap(), [2, 1]);
}
