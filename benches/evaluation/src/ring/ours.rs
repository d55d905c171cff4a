//! Over this project's runtime. A pause stands before each send.

use rumpsteak_runtime::{Result, try_run};

use super::{Received, SENT};
use crate::tasks::no_pause;

/// The roles, whose routes go in one direction each.
#[rumpsteak_runtime::protocol(Lap)]
mod roles {
    use rumpsteak_runtime::channel::{Receiver, Sender};

    #[derive(Role)]
    #[message(Token)]
    struct A {
        #[route(B)]
        b: Sender<Token>,
        #[route(C)]
        c: Receiver<Token>,
    }

    #[derive(Role)]
    #[message(Token)]
    struct B {
        #[route(A)]
        a: Receiver<Token>,
        #[route(C)]
        c: Sender<Token>,
    }

    #[derive(Role)]
    #[message(Token)]
    struct C {
        #[route(A)]
        a: Sender<Token>,
        #[route(B)]
        b: Receiver<Token>,
    }

    #[derive(Message)]
    struct Token(i32);

    #[session(A)]
    type RingA = Send<B, Token, Receive<C, Token, End>>;

    #[session(B)]
    type RingB = Receive<A, Token, Send<C, Token, End>>;

    #[session(B)]
    type OptimisedB = Send<C, Token, Receive<A, Token, End>>;

    #[session(C)]
    type RingC = Receive<B, Token, Send<A, Token, End>>;

    #[session(C)]
    type OptimisedC = Send<A, Token, Receive<B, Token, End>>;
}
pub use roles::Roles;
use roles::*;

/// The roles that send before they receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Only `a`, which begins.
    Plain,
    /// Also `b`.
    B,
    /// Also `c`.
    C,
    /// All.
    Both,
}

/// One lap, in one task; each role pauses before it sends.
///
/// # Errors
///
/// If a session fails.
pub async fn lap<F: Future<Output = ()>>(
    roles: &mut Roles,
    order: Order,
    pause: impl Fn() -> F + Copy,
) -> Result<Received> {
    let Roles { a, b, c } = roles;
    let a = ring_a(a, pause);
    use futures::future::try_join3;
    match order {
        Order::Plain => try_join3(a, ring_b(b, pause), ring_c(c, pause)).await,
        Order::B => try_join3(a, optimised_b(b, pause), ring_c(c, pause)).await,
        Order::C => try_join3(a, ring_b(b, pause), optimised_c(c, pause)).await,
        Order::Both => try_join3(a, optimised_b(b, pause), optimised_c(c, pause)).await,
    }
}

/// One plain lap, by the runner of this project.
///
/// # Errors
///
/// If a session fails.
pub async fn join(roles: &mut Roles) -> Result<Received> {
    let Roles { a, b, c } = roles;
    let processes = (ring_a(a, no_pause), ring_b(b, no_pause), ring_c(c, no_pause));
    let (a, b, c) = rumpsteak_runtime::join(processes).await;
    Ok((a?, b?, c?))
}

async fn ring_a<F: Future<Output = ()>>(role: &mut A, pause: impl Fn() -> F) -> Result<i32> {
    try_run(role, async |session: RingA<'_>| {
        pause().await;
        let (Token(value), end) = session.send(Token(SENT.0)).await?.receive().await?;
        Ok((value, end))
    })
    .await
}

async fn ring_b<F: Future<Output = ()>>(role: &mut B, pause: impl Fn() -> F) -> Result<i32> {
    try_run(role, async |session: RingB<'_>| {
        let (Token(value), session) = session.receive().await?;
        pause().await;
        Ok((value, session.send(Token(SENT.1)).await?))
    })
    .await
}

async fn optimised_b<F: Future<Output = ()>>(role: &mut B, pause: impl Fn() -> F) -> Result<i32> {
    try_run(role, async |session: OptimisedB<'_>| {
        pause().await;
        let (Token(value), end) = session.send(Token(SENT.1)).await?.receive().await?;
        Ok((value, end))
    })
    .await
}

async fn ring_c<F: Future<Output = ()>>(role: &mut C, pause: impl Fn() -> F) -> Result<i32> {
    try_run(role, async |session: RingC<'_>| {
        let (Token(value), session) = session.receive().await?;
        pause().await;
        Ok((value, session.send(Token(SENT.2)).await?))
    })
    .await
}

async fn optimised_c<F: Future<Output = ()>>(role: &mut C, pause: impl Fn() -> F) -> Result<i32> {
    try_run(role, async |session: OptimisedC<'_>| {
        pause().await;
        let (Token(value), end) = session.send(Token(SENT.2)).await?.receive().await?;
        Ok((value, end))
    })
    .await
}
