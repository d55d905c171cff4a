//! An application portal: a user chooses an application, and the portal gives the session away to
//! the server of that application.
//!
//! `cargo run -p rumpsteak-examples --example portal -- --transport wss`
//!
//! The user has a session with each of the two applications. The portal serves a session until the
//! user has chosen. Then a server continues the session, connected to the user without the portal,
//! and over another transport. The user cannot tell: the build has verified the portal and the
//! servers together.
//!
//! `--transport tcp|unix|tls|ws|wss|quic|nats|memory` chooses how the user reaches the portal, and
//! `--servers` how the user and the portal reach the servers. The default is `tcp` for both.

use std::process::ExitCode;

use rumpsteak::{Detached, Error, try_run};
use rumpsteak_examples::processes::{Failure, Place, start_with};
use tokio::time::timeout;

#[rumpsteak::protocol(
    Portal,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod portal {
    #[session(Portal)]
    type Greeting = Receive<User, Login, Branch<User, Chosen>>;

    enum Chosen {
        Squares(Squares, Squaring),
        Sums(Sums, Summing),
    }

    /// The rest of the session, which the server of squares plays.
    struct Squaring(Branch<User, Asked>);

    enum Asked {
        Ask(Ask, Send<User, Answer, Squaring>),
        Logout(Logout, End),
    }

    /// The rest of the session, which the server of sums plays.
    struct Summing(Branch<User, Added>);

    enum Added {
        Add(Add, Summing),
        Total(Total, Send<User, Sum, End>),
    }
}
use self::portal::*;

#[rumpsteak::protocol(
    HireSquares,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod hire_squares {
    use super::portal::{Portal as Giver, Squaring};
    use rumpsteak_net::Parcel;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Job(Parcel<Squaring<'static, Giver>>);
}

#[rumpsteak::protocol(
    HireSums,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod hire_sums {
    use super::portal::{Portal as Giver, Summing};
    use rumpsteak_net::Parcel;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Job(Parcel<Summing<'static, Giver>>);
}

/// The user asks for the squares of the numbers below this one, and adds the numbers.
const NUMBERS: u64 = 1_000;

/// Chooses squares. Returns the sum of the answers.
async fn ask(place: &Place) -> Result<u64, Failure> {
    let mut joined = place.join_as::<User>("squares", &["portal"]).await?.connect().await?;
    let sum = try_run(&mut joined.role, async |session: UserSession<'_>| {
        let session = session.send(Login("Ada".to_owned())).await?;
        let mut session = session.select(Squares).await?;
        let mut sum = 0;
        for number in 0..NUMBERS {
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

/// Chooses sums. Returns the sum of the numbers.
async fn add(place: &Place) -> Result<u64, Failure> {
    let mut joined = place.join_as::<User>("sums", &["portal"]).await?.connect().await?;
    let sum = try_run(&mut joined.role, async |session: UserSession<'_>| {
        let session = session.send(Login("Ada".to_owned())).await?;
        let mut session = session.select(Sums).await?;
        // Numbers that the portal has received when it gives the session away go to the server.
        for number in 0..NUMBERS {
            session = session.select(Add(number)).await?;
        }
        let (Sum(sum), end) = session.select(Total).await?.receive().await?;
        Ok::<_, Error>((sum, end))
    })
    .await?;
    joined.leave().await?;
    Ok(sum)
}

/// Uses both applications at once.
async fn user(place: &Place) -> Result<(), Failure> {
    let (squares, sum) = tokio::join!(ask(place), add(place));
    let (squares, sum) = (squares?, sum?);
    let expected = (0..NUMBERS).map(|number| number * number).sum::<u64>();
    equal("the sum of the squares", squares, expected)?;
    equal("the sum", sum, (0..NUMBERS).sum())?;
    println!("the numbers up to {} are {sum} in all, their squares {squares}", NUMBERS - 1);
    Ok(())
}

/// The rest of a session, after the user has chosen.
enum Rest {
    Squares(Detached<Squaring<'static, Portal>>),
    Sums(Detached<Summing<'static, Portal>>),
}

/// Gives each session to the server of the application that the user chooses.
async fn portal(place: &Place) -> Result<(), Failure> {
    let mut sessions = place.host().serve::<Portal>();
    for _ in 0..2 {
        let Ok(Some(join)) = timeout(place.patience(), sessions.next()).await else {
            return Err("`user` does not come".into());
        };
        let mut joined = join.connect().await?;
        let rest = try_run(&mut joined.role, async |session: Greeting<'_>| {
            let (Login(_), session) = session.receive().await?;
            Ok::<_, Error>(match session.branch().await? {
                Chosen::Squares(Squares, session) => {
                    let (rest, end) = Detached::new(session);
                    (Rest::Squares(rest), end)
                }
                Chosen::Sums(Sums, session) => {
                    let (rest, end) = Detached::new(session);
                    (Rest::Sums(rest), end)
                }
            })
        })
        .await?;
        match rest {
            Rest::Squares(rest) => {
                use hire_squares::{Job, Portal, PortalSession};
                let mut giver = place.join::<Portal>(&["squares"]).await?.connect().await?;
                let parcel = joined.pack(rest, [place.word_of("squares").await?]).await?;
                try_run(&mut giver.role, async |session: PortalSession<'_>| {
                    Ok::<_, Error>(((), session.send(Job(parcel)).await?))
                })
                .await?;
                giver.leave().await?;
            }
            Rest::Sums(rest) => {
                use hire_sums::{Job, Portal, PortalSession};
                let mut giver = place.join::<Portal>(&["sums"]).await?.connect().await?;
                let parcel = joined.pack(rest, [place.word_of("sums").await?]).await?;
                try_run(&mut giver.role, async |session: PortalSession<'_>| {
                    Ok::<_, Error>(((), session.send(Job(parcel)).await?))
                })
                .await?;
                giver.leave().await?;
            }
        }
    }
    // The portal stays until the user knows the addresses of the servers.
    place.host().told().await;
    Ok(())
}

/// Takes a session over, and answers each number with its square.
async fn squares(place: &Place) -> Result<(), Failure> {
    use hire_squares::{Job, Squares, SquaresSession};
    let mut hired = place.join::<Squares>(&[]).await?.connect().await?;
    let parcel = try_run(&mut hired.role, async |session: SquaresSession<'_>| {
        let (Job(parcel), end) = session.receive().await?;
        Ok::<_, Error>((parcel, end))
    })
    .await?;
    hired.leave().await?;
    let (joined, mut rest) = parcel.unpack(place.host())?;
    let serving = rest.run(async |mut session: Squaring<'_, Portal>| {
        let mut asked = 0;
        loop {
            match session.branch().await? {
                Asked::Ask(Ask(number), next) => {
                    session = next.send(Answer(number * number)).await?;
                    asked += 1;
                }
                Asked::Logout(Logout, end) => return Ok::<_, Error>((asked, end)),
            }
        }
    });
    let asked = serving.await?;
    joined.leave().await?;
    equal("the number of questions", asked, NUMBERS)
}

/// Takes a session over, and adds numbers.
async fn sums(place: &Place) -> Result<(), Failure> {
    use hire_sums::{Job, Sums, SumsSession};
    let mut hired = place.join::<Sums>(&[]).await?.connect().await?;
    let parcel = try_run(&mut hired.role, async |session: SumsSession<'_>| {
        let (Job(parcel), end) = session.receive().await?;
        Ok::<_, Error>((parcel, end))
    })
    .await?;
    hired.leave().await?;
    let (joined, mut rest) = parcel.unpack(place.host())?;
    let serving = rest.run(async |mut session: Summing<'_, Portal>| {
        let (mut added, mut sum) = (0, 0);
        loop {
            match session.branch().await? {
                Added::Add(Add(number), next) => {
                    (session, added, sum) = (next, added + 1, sum + number);
                }
                Added::Total(Total, session) => {
                    return Ok::<_, Error>((added, session.send(Sum(sum)).await?));
                }
            }
        }
    });
    let added = serving.await?;
    joined.leave().await?;
    equal("the number of numbers", added, NUMBERS)
}

/// Fails if a result is not the expected one.
fn equal(result: &str, is: u64, expected: u64) -> Result<(), Failure> {
    if is == expected { Ok(()) } else { Err(format!("{result} is {is}, not {expected}").into()) }
}

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    match place.role() {
        "user" => user(&place).await,
        "portal" => portal(&place).await,
        "squares" => squares(&place).await,
        _ => sums(&place).await,
    }
}

fn main() -> ExitCode {
    let roles: [(&str, &[&str]); 4] = [
        ("user", &["user.portal"]),
        ("portal", &["portal.portal", "portal.hiresquares", "portal.hiresums"]),
        ("squares", &["squares.hiresquares", "portal.portal"]),
        ("sums", &["sums.hiresums", "portal.portal"]),
    ];
    start_with(&roles, &["squares", "sums"], |place| Box::pin(play(place)))
}
