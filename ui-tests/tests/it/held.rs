//! Sessions that own their role.

use std::future::ready;
use std::thread;

use futures::executor::block_on;
use futures::future::{Either, select, try_join};
use futures::{FutureExt as _, poll};
use rumpsteak::error::Action;
use rumpsteak::{Detached, ErrorKind, Held, Result, Role as _, hold, try_run};
use rumpsteak_ui_tests::ping::{self, C, Client, Ping, Pong, Roles, S, Server};
use rumpsteak_ui_tests::{closed, fan_in, numbers};

type Asking = Client<'static, Held<C>>;
type Answering = Server<'static, Held<S>>;

#[test]
fn sessions_wait_in_a_vec_and_on_another_thread() {
    block_on(async {
        let (mut asking, mut answering): (Vec<Asking>, Vec<Answering>) = Default::default();
        for _ in 0..3 {
            let Roles { c, s } = Roles::default();
            asking.push(hold(c).await?);
            answering.push(hold(s).await?);
        }
        let mut asked = Vec::new();
        for (question, session) in (1..).zip(asking) {
            asked.push(session.send(Ping(question)).await?);
        }
        let answers = thread::spawn(|| {
            for session in answering {
                let (Ping(question), session) = block_on(session.receive())?;
                drop(block_on(session.send(Pong(10 * question)))?);
            }
            Ok::<(), rumpsteak::Error>(())
        });
        answers.join().unwrap()?;
        let mut sum = 0;
        for session in asked {
            let (Pong(answer), _) = session.receive().await?;
            sum += answer;
        }
        assert_eq!(sum, 60);
        Ok::<(), rumpsteak::Error>(())
    })
    .unwrap();
}

#[test]
fn the_end_gives_the_role_back_for_the_next_session() {
    let Roles { mut c, mut s } = Roles::default();
    for question in 0..3 {
        let asked = async {
            let session: Asking = hold(c).await?;
            let (Pong(answer), end) = session.send(Ping(question)).await?.receive().await?;
            Ok((answer, end.into_role()))
        };
        let ((answer, role), ()) = block_on(try_join(asked, ping::server(&mut s))).unwrap();
        assert_eq!((answer, role.is_poisoned()), (question + 1, false));
        c = role;
    }
}

#[test]
fn a_dropped_state_or_action_wakes_the_peer() {
    for drops_the_action in [false, true] {
        let Roles { mut c, s } = Roles::default();
        let dropped = async {
            let (Ping(_), session) = hold::<_, Answering>(s).await?.receive().await?;
            if drops_the_action {
                drop(session.send(Pong(1)));
            } else {
                drop(session);
            }
            std::future::pending::<Result<()>>().await
        };
        let asked = ping::client(&mut c, 1);
        let Either::Left((asked, _)) = block_on(select(Box::pin(asked), Box::pin(dropped))) else {
            panic!("the dropped session never ends")
        };
        assert_eq!(closed(asked), ("c", "s", Action::Receive(&["Pong"])));
    }
}

#[test]
fn an_action_in_a_struct_goes_on_after_another_event() {
    struct Waiting<F>(F);
    let Roles { c, mut s } = Roles::default();
    block_on(async {
        let mut waiting = Waiting(hold::<_, Asking>(c).await?.send(Ping(1)).await?.receive());
        assert!(poll!(&mut waiting.0).is_pending());
        assert!(matches!(select(&mut waiting.0, ready(())).await, Either::Right(_)));
        ping::server(&mut s).await?;
        let (Pong(answer), end) = waiting.0.await?;
        assert_eq!((answer, format!("{end:?}")), (2, r#"End { role: "c", .. }"#.to_owned()));
        Ok::<(), rumpsteak::Error>(())
    })
    .unwrap();
}

#[test]
fn a_choice_gives_states_that_own_the_role() {
    use numbers::{Consumer, Next, Number, Q, Roles, Stop, Sum};
    let Roles(mut p, q) = Roles::default();
    let added = async {
        let mut session: Consumer<'static, Held<Q>> = hold(q).await?;
        let mut sum = 0;
        loop {
            session = match session.branch().await? {
                Next::Number(Number(number), next) => {
                    sum += number;
                    next
                }
                Next::Stop(Stop, session) => break session.send(Sum(sum)).await,
            }
        }
    };
    let (sum, _) = block_on(try_join(numbers::producer(&mut p, &[1, 2, 3]), added)).unwrap();
    assert_eq!(sum, 6);
}

#[test]
fn a_peer_that_has_ended_and_was_dropped_is_not_missed() {
    let fan_in::Roles { a, mut b, mut c } = fan_in::Roles::default();
    let written = async {
        let session: fan_in::WriterA<'static, Held<fan_in::Left>> = hold(a).await?;
        let ((), end) = fan_in::write(session, 2).await?;
        drop(end);
        fan_in::writer_b(&mut b, 2).await
    };
    let (lines, ()) = block_on(try_join(fan_in::collector(&mut c), written)).unwrap();
    assert_eq!(lines, [('l', 0), ('l', 1), ('r', 0), ('r', 1)]);
}

#[test]
fn a_session_is_delegated_and_held_again() {
    let Roles { mut c, mut s } = Roles::default();
    block_on(async {
        let taken: Detached<Client<'static>> =
            try_run(&mut c, async |s: Client<'_>| Ok::<_, rumpsteak::Error>(Detached::new(s)))
                .await?;
        let held: Asking = taken.hold()?;
        let mut taken: Detached<Client<'static>> = Detached::from_held(held);
        let asked = taken.run(async |s: Client<'_>| {
            let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
            end.end(answer)
        });
        assert_eq!(try_join(asked, ping::server(&mut s)).await?, (2, ()));
        let again = taken.hold::<Asking>().unwrap_err();
        assert!(matches!(again.kind(), ErrorKind::Poisoned { role: "c" }), "{again}");
        Ok::<(), rumpsteak::Error>(())
    })
    .unwrap();
}

#[test]
fn a_poisoned_role_is_not_held() {
    let Roles { mut c, s: _s } = Roles::default();
    assert!(ping::client(&mut c, 1).now_or_never().is_none());
    let refused = block_on(hold::<_, Asking>(c)).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Poisoned { role: "c" }), "{refused}");
}
