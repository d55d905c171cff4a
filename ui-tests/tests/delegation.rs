//! Sessions that change hands within a process.

use futures::FutureExt as _;
use futures::executor::block_on;
use futures::future::{try_join, try_join3};
use rumpsteak_runtime::error::Action;
use rumpsteak_runtime::{
    Channel, Detached, ErrorKind, Message, Result, Role, Roles, session, try_run,
};
use rumpsteak_ui_tests::closed;

/// What a user and a portal are to each other.
mod portal {
    use super::{Channel, Message, Role, Roles, session};

    #[derive(Roles)]
    pub(super) struct Portals {
        pub(super) user: User,
        pub(super) portal: Portal,
    }

    #[derive(Role)]
    #[protocol(Portal::user)]
    #[message(Label)]
    pub(super) struct User(#[route(Portal)] Channel<Label>);

    #[derive(Role)]
    #[protocol(Portal::portal)]
    #[message(Label)]
    pub(super) struct Portal(#[route(User)] Channel<Label>);

    #[derive(Message)]
    pub(super) enum Label {
        Name(Name),
        Ask(Ask),
        Answer(Answer),
        Quit(Quit),
    }

    pub(super) struct Name(pub(super) String);
    pub(super) struct Ask(pub(super) u64);
    pub(super) struct Answer(pub(super) u64);
    pub(super) struct Quit;

    #[session(User)]
    pub(super) type Using = Send<Portal, Name, Select<Portal, Asking>>;

    #[session]
    pub(super) enum Asking {
        Ask(Ask, Receive<Portal, Answer, Select<Portal, Asking>>),
        Quit(Quit, End),
    }

    #[session(Portal)]
    pub(super) type Greeting = Receive<User, Name, Serving>;

    /// What a server goes on with.
    #[session]
    pub(super) struct Serving(Branch<User, Served>);

    #[session]
    pub(super) enum Served {
        Ask(Ask, Send<User, Answer, Serving>),
        Quit(Quit, End),
    }
}

use portal::{Answer, Ask, Greeting, Name, Portal, Portals, Quit, Served, Serving, User, Using};

#[derive(Roles)]
struct Hires {
    portal: Giver,
    server: Server,
}

#[derive(Role)]
#[protocol(Hire::portal)]
#[message(Contract)]
struct Giver(#[route(Server)] Channel<Contract>);

#[derive(Role)]
#[protocol(Hire::server)]
#[message(Contract)]
struct Server(#[route(Giver)] Channel<Contract>);

#[derive(Message)]
#[allow(clippy::large_enum_variant, reason = "one is sent, and no more")]
enum Contract {
    Job(Job),
    Taken(Taken),
}

/// The session of the portal, from the user's first question on.
struct Job(Detached<Serving<'static, Portal>>);
struct Taken;

#[session(Giver)]
type Give = Send<Server, Job, Receive<Server, Taken, End>>;

#[session(Server)]
type Take = Receive<Giver, Job, Send<Giver, Taken, End>>;

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
        // The user has greeted and asked already when the portal receives the greeting.
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

/// A chain of hands, of which each asks the user for nothing.
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
