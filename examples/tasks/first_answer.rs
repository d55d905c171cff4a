//! Two mirrors are asked, and the first answer counts. The later one is received, too, and dropped.
//!
//! `cargo run -p rumpsteak-examples --example first_answer`

use std::process::ExitCode;
use std::time::Duration;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::time::sleep;

#[derive(Roles)]
struct Roles {
    c: C,
    a: A,
    b: B,
}

#[derive(Role)]
#[protocol(FirstAnswer::c)]
#[message(Label)]
struct C {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
}

#[derive(Role)]
#[protocol(FirstAnswer::a)]
#[message(Label)]
struct A(#[route(C)] Channel<Label>);

#[derive(Role)]
#[protocol(FirstAnswer::b)]
#[message(Label)]
struct B(#[route(C)] Channel<Label>);

#[derive(Message)]
enum Label {
    Get(Get),
    Page(Page),
}

struct Get(String);
struct Page(String);

#[session(C)]
type Client = Send<A, Get, Send<B, Get, Branch<First>>>;

#[session]
enum First {
    OfA(Receive<A, Page, Receive<B, Page, End>>),
    OfB(Receive<B, Page, Receive<A, Page, End>>),
}

#[session(A)]
type MirrorA = Mirror;

#[session(B)]
type MirrorB = Mirror;

#[session]
struct Mirror(Receive<C, Get, Send<C, Page, End>>);

async fn client(role: &mut C, path: &str) -> Result<String> {
    try_run(role, async |session: Client<'_>| {
        let session = session.send(Get(path.to_owned())).await?.send(Get(path.to_owned())).await?;
        Ok(match session.branch().await? {
            First::OfA(Page(page), late) => (page, late.receive().await?.1),
            First::OfB(Page(page), late) => (page, late.receive().await?.1),
        })
    })
    .await
}

async fn mirror_a(role: &mut A, delay: Duration) -> Result<()> {
    try_run(role, async |session: MirrorA<'_>| {
        let (Get(path), session) = session.receive().await?;
        sleep(delay).await;
        Ok(((), session.send(Page(format!("{path} of a"))).await?))
    })
    .await
}

async fn mirror_b(role: &mut B, delay: Duration) -> Result<()> {
    try_run(role, async |session: MirrorB<'_>| {
        let (Get(path), session) = session.receive().await?;
        sleep(delay).await;
        Ok(((), session.send(Page(format!("{path} of b"))).await?))
    })
    .await
}

/// The pages, where now the one mirror is slow and now the other.
pub async fn run() -> Result<[String; 2]> {
    let mut roles = Roles::default();
    let mut pages = [String::new(), String::new()];
    let delays = [(Duration::ZERO, Duration::from_millis(20))];
    let delays = delays.into_iter().flat_map(|(fast, slow)| [(fast, slow), (slow, fast)]);
    for (page, (of_a, of_b)) in pages.iter_mut().zip(delays) {
        (*page, (), ()) = tokio::try_join!(
            client(&mut roles.c, "/index"),
            mirror_a(&mut roles.a, of_a),
            mirror_b(&mut roles.b, of_b),
        )?;
        println!("client: got {page}");
    }
    Ok(pages)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let pages = ["/index of a".to_owned(), "/index of b".to_owned()];
    rumpsteak_examples::conclude(run().await, pages)
}
