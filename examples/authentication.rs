//! Authentication (PPoPP'22, Table 1, after Scalas and Yoshida, POPL'19): a service has its client
//! log in at an authentication server, which checks the password and tells the service; or the
//! client cancels.
//!
//! `cargo run -p rumpsteak-examples --example authentication`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};

#[rumpsteak::protocol(Authentication)]
pub mod authentication {}
use authentication::*;

/// How a session ends for the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Granted,
    Denied,
    Cancelled,
}

async fn service(session: SSession<'_>, is_open: bool) -> Ended<'_, S, Access> {
    if !is_open {
        println!("service: closed");
        return session.select(Cancel).await?.end(Access::Cancelled);
    }
    let (Auth(is_right), end) = session.select(Login).await?.receive().await?;
    println!("service: the client may come in: {is_right}");
    end.end(if is_right { Access::Granted } else { Access::Denied })
}

async fn client<'s>(session: CSession<'s>, password: &str) -> Ended<'s, C> {
    match session.branch().await? {
        CLoginChoice::Login(Login, next) => {
            println!("client: says {password:?}");
            next.send(Password(password.to_owned())).await?.end(())
        }
        CLoginChoice::Cancel(Cancel, next) => next.send(Quit).await?.end(()),
    }
}

async fn authenticator<'s>(session: ASession<'s>, expected: &str) -> Ended<'s, A> {
    match session.branch().await? {
        APasswordChoice::Password(Password(password), next) => {
            next.send(Auth(password == expected)).await?.end(())
        }
        APasswordChoice::Quit(Quit, end) => end.end(()),
    }
}

/// How three sessions end: with the right password, with a wrong one, and at a service that is
/// closed.
pub async fn run() -> Result<[Access; 3]> {
    let mut roles = Roles::default();
    let mut access = [Access::Cancelled; 3];
    let visits = [(true, "sesame"), (true, "barley"), (false, "sesame")];
    for (access, (is_open, password)) in access.iter_mut().zip(visits) {
        let all = roles.run(
            |s| service(s, is_open),
            |c| client(c, password),
            |a| authenticator(a, "sesame"),
        );
        (*access, (), ()) = all.await?;
    }
    Ok(access)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, [Access::Granted, Access::Denied, Access::Cancelled])
}
