//! The examples of the documents. Tests of this package, since they need a build script that
//! verifies them; and a program for those that need one.

#![allow(missing_docs)]

pub use rumpsteak::{self, Channel, Ended, Error, ErrorKind, Result, try_run};

/// The program of the crate's page.
#[rumpsteak::protocol(Ping, derive(Debug))]
pub mod ping {
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;
    #[session(S)]
    type Server = Receive<C, Ping, Send<C, Pong, End>>;
}
pub use ping::*;

pub async fn client(session: Client<'_>) -> Ended<'_, C, i32> {
    let (Pong(answer), session) = session.send(Ping(1)).await?.receive().await?;
    session.end(answer)
}

pub async fn server(session: Server<'_>) -> Ended<'_, S> {
    let (Ping(question), session) = session.receive().await?;
    session.send(Pong(question + 1)).await?.end(())
}

/// A role without a size:
///
/// ```compile_fail,E0080
/// use std::task::{Context, Poll};
///
/// use rumpsteak::Ended;
/// use rumpsteak::transport::{Incoming, Link, Mark, Outgoing, RouteError};
///
/// /// A route that keeps its mark, and all else, elsewhere.
/// pub struct Elsewhere;
/// impl Link for Elsewhere {
///     fn mark(&self) -> &Mark {
///         static MARK: Mark = Mark::new();
///         &MARK
///     }
///     fn close(&mut self) {}
/// }
/// impl<M> Outgoing<M> for Elsewhere {
///     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
///         Poll::Ready(Ok(()))
///     }
///     fn start_send(&mut self, _: M) -> Result<(), RouteError> {
///         Ok(())
///     }
///     fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
///         Poll::Ready(Ok(()))
///     }
/// }
/// impl<M: 'static> Incoming<M> for Elsewhere {
///     fn poll_receive(&mut self, _: &mut Context<'_>) -> Poll<Result<M, RouteError>> {
///         Poll::Pending
///     }
/// }
///
/// #[rumpsteak::protocol(Ping)]
/// mod ping {
///     use super::Elsewhere;
///
///     #[derive(Role)]
///     struct C(#[route(S, unbounded)] Elsewhere);
/// }
/// use ping::*;
///
/// async fn ask(s: CSession<'_>) -> Ended<'_, C, i32> {
///     let (Pong(answer), s) = s.send(Ping(1)).await?.receive().await?;
///     s.end(answer)
/// }
///
/// fn main() {
///     let _ = futures::executor::block_on(rumpsteak::try_run(&mut C(Elsewhere), ask));
/// }
/// ```
#[cfg(doctest)]
pub mod role_without_a_size {}

/// Members that may send different labels, which only `drain_each` receives:
///
/// ```compile_fail,E0080
/// use rumpsteak::Ended;
///
/// #[rumpsteak::protocol(Search)]
/// mod search {}
/// use search::*;
///
/// async fn m(s: MSession<'_>) -> Ended<'_, M> {
///     let s = s.select_each(|_| Stop).await?;
///     s.branch_each(|_, _| ()).await?;
///     unreachable!()
/// }
///
/// fn main() {
///     let mut roles = Roles::sized(1);
///     let _ = futures::executor::block_on(rumpsteak::try_run(&mut roles.m, m));
/// }
/// ```
///
/// So does a choice whose options name the members:
///
/// ```compile_fail,E0080
/// use rumpsteak::Ended;
/// use rumpsteak::states::Until;
///
/// #[rumpsteak::protocol(Survey)]
/// mod survey {
///     #[session(M)]
///     type Asks = Send<Worker, Ask, Race<Asked>>;
///     enum Asked {
///         Answer(Receive<Worker, Answer, Select<Worker, Next>>),
///         Cancel(Send<Worker, Cancel, Branch<Rest>>),
///     }
///     enum Next { Thanks(Thanks, End), Cancel(Cancel, Branch<Rest>) }
///     enum Rest {
///         Answer(Receive<Worker, Answer, Branch<Self>>),
///         Cancel(Receive<Worker, Cancel, End>),
///     }
/// }
/// use survey::*;
///
/// async fn m(s: Asks<'_>) -> Ended<'_, M> {
///     let asked = s.send_each(|_| Ask).await?;
///     let Until::Wished((), s) = asked.until_each(|_, _| (), async {}).await? else { panic!() };
///     s.select_each::<Worker, _>(|_| Cancel).await?.branch_each(|_, _| ()).await?;
///     unreachable!()
/// }
///
/// fn main() {
///     let mut roles = Roles::sized(1);
///     let _ = futures::executor::block_on(rumpsteak::try_run(&mut roles.m, m));
/// }
/// ```
#[cfg(doctest)]
pub mod members_that_differ {}

macro_rules! documents {
    ($condition:meta, $($name:ident: $path:literal)*) => {
        $(
            #[cfg(all(doctest, $condition))]
            #[doc = include_str!(concat!("../../", $path))]
            pub mod $name {}
        )*
    };
}

documents! {
    not(feature = "net"),
    readme: "README.md"
    channels: "guide/channels.md"
    choice: "guide/choice.md"
    cookbook_actor: "guide/cookbook/actor.md"
    cookbook_backpressure: "guide/cookbook/backpressure.md"
    cookbook_batching: "guide/cookbook/batching.md"
    cookbook_broadcast: "guide/cookbook/broadcast.md"
    cookbook_cancel: "guide/cookbook/cancel.md"
    cookbook_cancel_among_many: "guide/cookbook/cancel-among-many.md"
    cookbook_fan_in: "guide/cookbook/fan-in.md"
    cookbook_first_answer: "guide/cookbook/first-answer.md"
    cookbook_hang: "guide/cookbook/hang.md"
    cookbook_request_response: "guide/cookbook/request-response.md"
    cookbook_shared_state: "guide/cookbook/shared-state.md"
    cookbook_testing_one_role: "guide/cookbook/testing-one-role.md"
    cookbook_timeout_and_retry: "guide/cookbook/timeout-and-retry.md"
    cookbook_worker_pool: "guide/cookbook/worker-pool.md"
    executors: "guide/executors.md"
    failure: "guide/failure.md"
    families: "guide/families.md"
    interrupts: "guide/interrupts.md"
    linearity: "guide/linearity.md"
    module: "guide/module.md"
    peers: "guide/peers.md"
    recursion: "guide/recursion.md"
    server: "guide/server.md"
    testing: "guide/testing.md"
}

documents! {
    feature = "net",
    net_readme: "net/README.md"
    net_delegation: "net/guide/delegation.md"
    net_stored: "net/guide/stored.md"
    net_failure: "net/guide/failure.md"
    net_transports: "net/guide/transports.md"
}
