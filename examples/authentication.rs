//! Authentication (PPoPP'22, Table 1, after Scalas and Yoshida, POPL'19): a service has its client
//! log in at an authentication server, which tells the service whether the password was right; or
//! it cancels.
//!
//! `cargo run -p rumpsteak-examples --example authentication`

use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

#[derive(Roles)]
struct Roles {
    s: S,
    c: C,
    a: A,
}

#[derive(Role)]
#[protocol(Authentication::s)]
#[message(Label)]
struct S {
    #[route(C)]
    c: Channel<Label>,
    #[route(A)]
    a: Channel<Label>,
}

#[derive(Role)]
#[protocol(Authentication::c)]
#[message(Label)]
struct C {
    #[route(S)]
    s: Channel<Label>,
    #[route(A)]
    a: Channel<Label>,
}

#[derive(Role)]
#[protocol(Authentication::a)]
#[message(Label)]
struct A {
    #[route(S)]
    s: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Login(Login),
    Password(Password),
    Auth(Auth),
    Cancel(Cancel),
    Quit(Quit),
}

struct Login;
struct Password(String);
struct Auth(bool);
struct Cancel;
struct Quit;

#[session(S)]
pub type Service = Select<C, ServiceChoice>;

#[session]
enum ServiceChoice {
    Login(Login, Receive<A, Auth, End>),
    Cancel(Cancel, End),
}

#[session(C)]
pub type Client = Branch<S, ClientChoice>;

#[session]
enum ClientChoice {
    Login(Login, Send<A, Password, End>),
    Cancel(Cancel, Send<A, Quit, End>),
}

#[session(A)]
pub type Authenticator = Branch<C, AuthenticatorChoice>;

#[session]
enum AuthenticatorChoice {
    Password(Password, Send<S, Auth, End>),
    Quit(Quit, End),
}

/// How a session ends for the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Granted,
    Denied,
    Cancelled,
}

async fn service(role: &mut S, is_open: bool) -> Result<Access> {
    try_run(role, async |session: Service<'_>| {
        if !is_open {
            println!("service: closed");
            return Ok((Access::Cancelled, session.select(Cancel).await?));
        }
        let (Auth(is_right), end) = session.select(Login).await?.receive().await?;
        println!("service: the client may come in: {is_right}");
        match is_right {
            true => Ok((Access::Granted, end)),
            false => Ok((Access::Denied, end)),
        }
    })
    .await
}

async fn client(role: &mut C, password: &str) -> Result<()> {
    try_run(role, async |session: Client<'_>| {
        let end = match session.branch().await? {
            ClientChoice::Login(Login, next) => {
                println!("client: says {password:?}");
                next.send(Password(password.to_owned())).await?
            }
            ClientChoice::Cancel(Cancel, next) => next.send(Quit).await?,
        };
        Ok(((), end))
    })
    .await
}

async fn authenticator(role: &mut A, expected: &str) -> Result<()> {
    try_run(role, async |session: Authenticator<'_>| {
        let end = match session.branch().await? {
            AuthenticatorChoice::Password(Password(password), next) => {
                next.send(Auth(password == expected)).await?
            }
            AuthenticatorChoice::Quit(Quit, end) => end,
        };
        Ok(((), end))
    })
    .await
}

/// How three sessions end: with the right password, with a wrong one, and at a service that is
/// closed.
pub async fn run() -> Result<[Access; 3]> {
    let mut roles = Roles::default();
    let mut access = [Access::Cancelled; 3];
    let visits = [(true, "sesame"), (true, "barley"), (false, "sesame")];
    for (access, (is_open, password)) in access.iter_mut().zip(visits) {
        (*access, (), ()) = tokio::try_join!(
            service(&mut roles.s, is_open),
            client(&mut roles.c, password),
            authenticator(&mut roles.a, "sesame"),
        )?;
    }
    Ok(access)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, [Access::Granted, Access::Denied, Access::Cancelled])
}
