// The roles of the protocol `Ping` for the examples of the guide, with what `#[session]` expands
// to: tests in documentation have no build script.

pub use rumpsteak_runtime::{Channel, Error, ErrorKind, Message, Result, Role, Roles, session, try_run};
pub use rumpsteak_runtime::states::{End, Receive, Send};
#[derive(Debug, Role)] #[protocol(Ping::c)] #[message(Label)] pub struct C { #[route(S)] pub s: Channel<Label> }
#[derive(Debug, Role)] #[protocol(Ping::s)] #[message(Label)] pub struct S { #[route(C)] pub c: Channel<Label> }
#[derive(Debug, Roles)] pub struct Roles { pub c: C, pub s: S }
#[derive(Debug, Message)] pub enum Label { Ping(Ping), Pong(Pong) }
#[derive(Debug)] pub struct Ping(pub i32);
#[derive(Debug)] pub struct Pong(pub i32);
pub type Client<'s, R = C> = Send<'s, R, S, Ping, Receive<'s, R, S, Pong, End<'s, R>>>;
rumpsteak_runtime::private::plays!(C: Client);
pub type Server<'s, R = S> = Receive<'s, R, C, Ping, Send<'s, R, C, Pong, End<'s, R>>>;
rumpsteak_runtime::private::plays!(S: Server);
pub async fn client(role: &mut C, question: i32) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(answer), end) = s.send(Ping(question)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}
pub async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |s: Server<'_>| {
        let (Ping(question), s) = s.receive().await?;
        Ok(((), s.send(Pong(question + 1)).await?))
    })
    .await
}
