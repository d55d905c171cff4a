//! An application portal: a user talks to a portal, which gives the session away to a server.
//!
//! `cargo run -p rumpsteak-examples --example portal`
//!
//! The portal serves until the user has logged in. Then the server continues the session, connected
//! to the user without the portal. The user cannot tell: the build has verified the portal and the
//! server together.
//!
//! `--transport tcp|unix|tls|ws|wss|quic|nats|memory` chooses how they talk to each other.

use std::process::ExitCode;

use rumpsteak::{Detached, Error, try_run};
use rumpsteak_examples::processes::{Failure, Place, start};

#[rumpsteak::protocol(
    Portal,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod portal {
    #[session(Portal)]
    type Greeting = Receive<User, Login, Granting>;

    /// The rest of the session, which the server plays.
    struct Granting(Receive<User, Wish, Send<User, Granted, Serving>>);

    struct Serving(Branch<User, Wanted>);

    enum Wanted {
        Ask(Ask, Send<User, Answer, Serving>),
        Logout(Logout, End),
    }
}
use self::portal::*;

#[rumpsteak::protocol(
    Hire,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod hire {
    use super::portal::{Granting, Portal as Giver};
    use rumpsteak_net::Parcel;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Job(Parcel<Granting<'static, Giver>>);
}
use hire::{Job, Server};

/// Logs in, and asks for squares.
async fn user(place: &Place, numbers: u64) -> Result<u64, Failure> {
    let mut joined = place.join::<User>(&["portal"]).await?.connect().await?;
    let sum = try_run(&mut joined.role, async |session: UserSession<'_>| {
        let session = session.send(Login("Ada".to_owned())).await?;
        let session = session.send(Wish("squares".to_owned())).await?;
        let (Granted, mut session) = session.receive().await?;
        let mut sum = 0;
        for number in 0..numbers {
            let (Answer(square), next) = session.select(Ask(number)).await?.receive().await?;
            sum += square;
            session = next;
        }
        Ok::<_, Error>((sum, session.select(Logout).await?))
    })
    .await?;
    joined.leave().await?;
    Ok(sum)
}

/// Greets, and gives the rest of the session to the server.
async fn portal(place: &Place) -> Result<(), Failure> {
    // Asks the server first, so that the user does not wait in mid-session.
    let mut giver = place.join::<hire::Portal>(&["server"]).await?.connect().await?;
    let mut joined = place.join::<Portal>(&[]).await?.connect().await?;
    let rest = try_run(&mut joined.role, async |session: Greeting<'_>| {
        let (Login(_), session) = session.receive().await?;
        Ok::<_, Error>(Detached::new(session))
    })
    .await?;
    let parcel = joined.pack(rest, [place.word_of("server").await?]).await?;
    try_run(&mut giver.role, async |session: hire::PortalSession<'_>| {
        Ok::<_, Error>(((), session.send(Job(parcel)).await?))
    })
    .await?;
    giver.leave().await?;
    // The portal stays until the user knows the address of the server.
    place.host().told().await;
    Ok(())
}

/// Takes the session over.
async fn server(place: &Place) -> Result<(), Failure> {
    let mut server = place.join::<Server>(&[]).await?.connect().await?;
    let parcel = try_run(&mut server.role, async |session: hire::ServerSession<'_>| {
        let (Job(parcel), end) = session.receive().await?;
        Ok::<_, Error>((parcel, end))
    })
    .await?;
    server.leave().await?;
    let (joined, mut rest) = parcel.unpack(place.host())?;
    rest.run(async |session: Granting<'_, Portal>| {
        let (Wish(_), session) = session.receive().await?;
        let mut session = session.send(Granted).await?;
        loop {
            match session.branch().await? {
                Wanted::Ask(Ask(number), next) => {
                    session = next.send(Answer(number * number)).await?;
                }
                Wanted::Logout(Logout, end) => return Ok::<_, Error>(((), end)),
            }
        }
    })
    .await?;
    Ok(joined.leave().await?)
}

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    match place.role() {
        "user" => {
            println!("the squares up to 999 are {} in all", user(&place, 1_000).await?);
            Ok(())
        }
        "portal" => portal(&place).await,
        _ => server(&place).await,
    }
}

fn main() -> ExitCode {
    let roles: [(&str, &[&str]); 3] = [
        ("user", &["user.portal"]),
        ("portal", &["portal.portal", "portal.hire"]),
        ("server", &["server.hire", "portal.portal"]),
    ];
    start(&roles, |place| Box::pin(play(place)))
}
