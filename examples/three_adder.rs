//! Three adder (COORDINATION'21, Listings 3 to 5): `a` and `b` exchange a number each, hand on what
//! they were told, and `c` sends the sum to both.
//!
//! `cargo run -p rumpsteak-examples --example three_adder`

use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

#[derive(Roles)]
struct Roles(A, B, C);

#[derive(Role)]
#[protocol(ThreeAdder::a)]
#[message(Label)]
struct A(#[route(B)] Channel<Label>, #[route(C)] Channel<Label>);

#[derive(Role)]
#[protocol(ThreeAdder::b)]
#[message(Label)]
struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);

#[derive(Role)]
#[protocol(ThreeAdder::c)]
#[message(Label)]
struct C(#[route(A)] Channel<Label>, #[route(B)] Channel<Label>);

#[derive(Message)]
enum Label {
    Add(Add),
    Sum(Sum),
}

struct Add(i32);
struct Sum(i32);

#[session(A)]
pub type AdderA = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

#[session(B)]
pub type AdderB = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

#[session(C)]
pub type AdderC = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;

async fn adder_a(role: &mut A, mine: i32) -> Result<i32> {
    try_run(role, async |session: AdderA<'_>| {
        let session = session.send(Add(mine)).await?;
        let (Add(theirs), session) = session.receive().await?;
        println!("a: picked {mine}, was told {theirs}");
        let session = session.send(Add(theirs)).await?;
        let (Sum(sum), end) = session.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder_b(role: &mut B, mine: i32) -> Result<i32> {
    try_run(role, async |session: AdderB<'_>| {
        let (Add(theirs), session) = session.receive().await?;
        println!("b: picked {mine}, was told {theirs}");
        let session = session.send(Add(mine)).await?;
        let session = session.send(Add(theirs)).await?;
        let (Sum(sum), end) = session.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn adder_c(role: &mut C) -> Result<()> {
    try_run(role, async |session: AdderC<'_>| {
        let (Add(from_a), session) = session.receive().await?;
        let (Add(from_b), session) = session.receive().await?;
        let sum = from_a + from_b;
        println!("c: {from_a} + {from_b} = {sum}");
        let session = session.send(Sum(sum)).await?;
        Ok(((), session.send(Sum(sum)).await?))
    })
    .await
}

/// The sum as `a` knows it, and as `b` does.
pub async fn run() -> Result<(i32, i32)> {
    let Roles(mut a, mut b, mut c) = Roles::default();
    let (sum_a, sum_b, ()) =
        tokio::try_join!(adder_a(&mut a, 20), adder_b(&mut b, 22), adder_c(&mut c))?;
    Ok((sum_a, sum_b))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (42, 42))
}
