//! Three adder (COORDINATION'21, Listings 3 to 5): `a` and `b` exchange a number each and pass it
//! on, and `c` sends the sum to both.
//!
//! `cargo run -p rumpsteak-examples --example three_adder`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};

#[rumpsteak::protocol(ThreeAdder)]
pub mod three_adder {
    #[derive(Roles)]
    struct Roles(A, B, C);

    #[derive(Role)]
    #[message(Label)]
    struct A(#[route(B)] Channel<Label>, #[route(C)] Channel<Label>);

    #[derive(Role)]
    #[message(Label)]
    struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);

    #[derive(Role)]
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
    type AdderA = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

    #[session(B)]
    type AdderB = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

    #[session(C)]
    type AdderC = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;
}
use three_adder::*;

async fn adder_a(session: AdderA<'_>, mine: i32) -> Ended<'_, A, i32> {
    let (Add(theirs), session) = session.send(Add(mine)).await?.receive().await?;
    println!("a: picked {mine}, was told {theirs}");
    let (Sum(sum), end) = session.send(Add(theirs)).await?.receive().await?;
    end.end(sum)
}

async fn adder_b(session: AdderB<'_>, mine: i32) -> Ended<'_, B, i32> {
    let (Add(theirs), session) = session.receive().await?;
    println!("b: picked {mine}, was told {theirs}");
    let session = session.send(Add(mine)).await?.send(Add(theirs)).await?;
    let (Sum(sum), end) = session.receive().await?;
    end.end(sum)
}

async fn adder_c(session: AdderC<'_>) -> Ended<'_, C> {
    let (Add(from_a), session) = session.receive().await?;
    let (Add(from_b), session) = session.receive().await?;
    let sum = from_a + from_b;
    println!("c: {from_a} + {from_b} = {sum}");
    session.send(Sum(sum)).await?.send(Sum(sum)).await?.end(())
}

/// The sum at `a`, and at `b`.
pub async fn run() -> Result<(i32, i32)> {
    let mut roles = Roles::default();
    let (a, b, ()) = roles.run(|a| adder_a(a, 20), |b| adder_b(b, 22), adder_c).await?;
    Ok((a, b))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (42, 42))
}
