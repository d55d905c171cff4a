//! Sessions that change hands within a process.

use futures::FutureExt as _;
use futures::executor::block_on;
use futures::future::{try_join, try_join3};
use rumpsteak::error::Action;
use rumpsteak::{Detached, ErrorKind, Result, Role as _, try_run};
use rumpsteak_ui_tests::closed;

/// A user and a portal.
#[rumpsteak::protocol(Portal)]
mod portal {
    #[session(User)]
    type Using = Send<Portal, Name, Select<Portal, Asking>>;

    enum Asking {
        Ask(Ask, Receive<Portal, Answer, Select<Portal, Asking>>),
        Quit(Quit, End),
    }

    #[session(Portal)]
    type Greeting = Receive<User, Name, Serving>;

    struct Serving(Branch<User, Served>);

    enum Served {
        Ask(Ask, Send<User, Answer, Serving>),
        Quit(Quit, End),
    }
}

use portal::{
    Answer, Ask, Greeting, Name, Portal, Quit, Roles as Portals, Served, Serving, User, Using,
};

/// A portal and a server.
#[rumpsteak::protocol(Hire)]
mod hire {
    use super::{Detached, Serving, portal};

    #[session(Portal)]
    type Give = Send<Server, Job, Receive<Server, Taken, End>>;

    #[session(Server)]
    type Take = Receive<Portal, Job, Send<Portal, Taken, End>>;

    #[derive(Message)]
    #[allow(clippy::large_enum_variant, reason = "one is sent, and no more")]
    enum Contract {
        Job(Job),
        Taken(Taken),
    }

    /// The session of the portal after the user's first question.
    struct Job(Detached<Serving<'static, portal::Portal>>);
    struct Taken;
}

use hire::{Give, Job, Roles as Hires, Take, Taken};

async fn using(user: &mut User, questions: u64) -> Result<Vec<u64>> {
    try_run(user, async |s: Using<'_>| {
        let mut s = s.send(Name("Ada".to_owned())).await?;
        let mut answers = Vec::new();
        for question in 0..questions {
            let (Answer(answer), next) = s.select(Ask(question)).await?.receive().await?;
            answers.push(answer);
            s = next;
        }
        Ok((answers, s.select(Quit).await?))
    })
    .await
}

/// Greets the user, and gives the session away.
async fn greet(portal: &mut Portal) -> Result<Detached<Serving<'static, Portal>>> {
    try_run(portal, async |s: Greeting<'_>| {
        let (Name(name), s) = s.receive().await?;
        assert_eq!(name, "Ada");
        Ok(Detached::new(s))
    })
    .await
}

/// Answers the user to the end.
async fn serve(session: &mut Detached<Serving<'static, Portal>>) -> Result<u64> {
    session
        .run(async |mut s: Serving<'_, Portal>| {
            let mut questions = 0;
            loop {
                match s.branch().await? {
                    Served::Ask(Ask(question), next) => {
                        questions += 1;
                        s = next.send(Answer(2 * question)).await?;
                    }
                    Served::Quit(Quit, end) => return Ok((questions, end)),
                }
            }
        })
        .await
}

#[test]
fn the_user_cannot_tell_that_a_server_goes_on() {
    let Portals { mut user, mut portal } = Portals::default();
    let mut hires = Hires::default();
    let give = async {
        let session = greet(&mut portal).await?;
        try_run(&mut hires.portal, async |s: Give<'_>| {
            let (Taken, end) = s.send(Job(session)).await?.receive().await?;
            Ok(((), end))
        })
        .await
    };
    let take = async {
        let job: Result<_> = try_run(&mut hires.server, async |s: Take<'_>| {
            let (Job(session), s) = s.receive().await?;
            Ok((session, s.send(Taken).await?))
        })
        .await;
        serve(&mut job?).await
    };
    let ((), questions, answers) = block_on(try_join3(give, take, using(&mut user, 3))).unwrap();
    assert_eq!((questions, answers), (3, vec![0, 2, 4]));
}

#[test]
fn what_has_come_goes_along_and_the_role_is_left_without_routes() {
    let Portals { mut user, mut portal } = Portals::default();
    let both = async {
        let mut used = using(&mut user, 2).boxed_local();
        // The user has already greeted and asked when the portal receives the greeting.
        assert!(futures::poll!(&mut used).is_pending());
        let mut session = greet(&mut portal).await?;
        try_join(used, serve(&mut session)).await
    };
    assert_eq!(block_on(both).unwrap(), (vec![0, 2], 2));
    assert!(portal.is_poisoned());
    let again = block_on(greet(&mut portal)).unwrap_err();
    assert!(matches!(again.kind(), ErrorKind::Poisoned { role: "portal" }), "{again}");
}

#[test]
fn a_session_that_nobody_goes_on_with_ends() {
    let Portals { mut user, mut portal } = Portals::default();
    let dropped = async { greet(&mut portal).await.map(drop) };
    let ended = block_on(futures::future::join(using(&mut user, 1), dropped));
    let (role, peer, action) = closed(ended.0);
    assert_eq!((role, peer, action), ("user", "portal", Action::Receive(&["Answer"])));
}

#[test]
fn a_session_goes_on_once() {
    let Portals { mut user, mut portal } = Portals::default();
    let twice = async {
        let mut session = greet(&mut portal).await?;
        serve(&mut session).await?;
        serve(&mut session).await
    };
    let (used, again) = block_on(futures::future::join(using(&mut user, 1), twice));
    assert_eq!(used.unwrap(), [0]);
    let again = again.unwrap_err();
    assert!(matches!(again.kind(), ErrorKind::Poisoned { role: "portal" }), "{again}");
}

/// The session is passed on several times, and no holder acts.
async fn pass_on(
    mut session: Detached<Serving<'static, Portal>>,
) -> Result<Detached<Serving<'static, Portal>>> {
    session.run(async |s: Serving<'_, Portal>| Ok(Detached::new(s))).await
}

#[test]
fn a_session_may_change_hands_again_and_between_threads() {
    let Portals { mut user, mut portal } = Portals::default();
    let used = std::thread::spawn(move || block_on(using(&mut user, 5)));
    let first = block_on(greet(&mut portal)).unwrap();
    let second = std::thread::spawn(|| block_on(pass_on(first))).join().unwrap().unwrap();
    let third = std::thread::spawn(|| block_on(pass_on(second))).join().unwrap().unwrap();
    let served = std::thread::spawn(move || block_on(serve(&mut { third })));
    assert_eq!(served.join().unwrap().unwrap(), 5);
    assert_eq!(used.join().unwrap().unwrap(), [0, 2, 4, 6, 8]);
}
