//! Over this project's runtime.

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

use super::Sums;

/// All roles.
#[derive(Debug, Roles)]
pub struct Roles {
    a: A,
    b: B,
    c: C,
}

#[derive(Debug, Role)]
#[protocol(ThreeAdder::a)]
#[message(Label)]
struct A {
    #[route(B)]
    b: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Debug, Role)]
#[protocol(ThreeAdder::b)]
#[message(Label)]
struct B {
    #[route(A)]
    a: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Debug, Role)]
#[protocol(ThreeAdder::c)]
#[message(Label)]
struct C {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
}

#[derive(Debug, Message)]
enum Label {
    Add(Add),
    Sum(Sum),
}

#[derive(Debug)]
struct Add(i32);
#[derive(Debug)]
struct Sum(i32);

#[session(A)]
type AdderA = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

#[session(B)]
type AdderB = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

#[session(C)]
type AdderC = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;

/// Adds two numbers, in one task.
///
/// # Errors
///
/// Those of the sessions.
pub async fn add(roles: &mut Roles, first: i32, second: i32) -> Result<Sums> {
    let Roles { a, b, c } = roles;
    let a = adder_a(a, first);
    let (a, b, ()) = futures::future::try_join3(a, adder_b(b, second), adder_c(c)).await?;
    Ok((a, b))
}

/// The same, by the runner of this project.
///
/// # Errors
///
/// Those of the sessions.
pub async fn join(roles: &mut Roles, first: i32, second: i32) -> Result<Sums> {
    let Roles { a, b, c } = roles;
    let processes = (adder_a(a, first), adder_b(b, second), adder_c(c));
    let (a, b, c) = rumpsteak_runtime::join(processes).await;
    c?;
    Ok((a?, b?))
}

async fn adder_a(role: &mut A, mine: i32) -> Result<i32> {
    try_run(role, async |session: AdderA<'_>| {
        let (Add(theirs), session) = session.send(Add(mine)).await?.receive().await?;
        let (Sum(sum), end) = session.send(Add(theirs)).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder_b(role: &mut B, mine: i32) -> Result<i32> {
    try_run(role, async |session: AdderB<'_>| {
        let (Add(theirs), session) = session.receive().await?;
        let session = session.send(Add(mine)).await?;
        let (Sum(sum), end) = session.send(Add(theirs)).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder_c(role: &mut C) -> Result<()> {
    try_run(role, async |session: AdderC<'_>| {
        let (Add(first), session) = session.receive().await?;
        let (Add(second), session) = session.receive().await?;
        let session = session.send(Sum(first + second)).await?;
        Ok(((), session.send(Sum(first + second)).await?))
    })
    .await
}
