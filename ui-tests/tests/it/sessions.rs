//! Sessions that complete.

use std::rc::Rc;

use futures::executor::block_on;
use futures::future::{join, try_join};
use rumpsteak::{Error, ErrorKind, Role};
use rumpsteak_ui_tests::handover::{self, give, take};
use rumpsteak_ui_tests::numbers::{self, consumer, producer};
use rumpsteak_ui_tests::ping::{self, C, Client, HealthCheck, Ping, Pong, client, server};
use rumpsteak_ui_tests::ring::{self, Stopped, first, second, third};

#[test]
fn roles_run_one_session_after_the_other() {
    let ping::Roles { mut s, mut c } = ping::Roles::default();
    for question in 0..100 {
        let (answer, ()) = block_on(try_join(client(&mut c, question), server(&mut s))).unwrap();
        assert_eq!(answer, question + 1);
    }
    assert!(!c.is_poisoned() && !s.is_poisoned());
}

#[test]
fn a_role_may_be_a_session_ahead_of_its_peer() {
    let ping::Roles { mut s, mut c } = ping::Roles::default();
    block_on(async {
        let both = async {
            let first = client(&mut c, 1).await?;
            Ok::<_, Error>((first, client(&mut c, 10).await?))
        };
        let twice = async {
            server(&mut s).await?;
            server(&mut s).await
        };
        assert_eq!(try_join(both, twice).await.unwrap(), ((2, 11), ()));
    });
}

#[test]
fn a_producer_chooses_and_a_consumer_follows() {
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    for list in [&[][..], &[7], &[1, 2, 3, 4]] {
        let sum: i32 = list.iter().sum();
        let sums = block_on(try_join(producer(&mut p, list), consumer(&mut q))).unwrap();
        assert_eq!(sums, (sum, sum));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_are_tasks_on_any_thread() {
    let mut tasks = Vec::new();
    for question in 0..50 {
        let ping::Roles { mut s, mut c } = ping::Roles::default();
        tokio::spawn(async move { server(&mut s).await });
        tasks.push(tokio::spawn(async move { client(&mut c, question).await }));
    }
    for (question, task) in (0..50).zip(tasks) {
        assert_eq!(task.await.unwrap().unwrap(), question + 1);
    }

    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let producer = tokio::spawn(async move { producer(&mut p, &[1, 2, 3]).await });
    let consumer = tokio::spawn(async move { consumer(&mut q).await });
    assert_eq!(producer.await.unwrap().unwrap(), 6);
    assert_eq!(consumer.await.unwrap().unwrap(), 6);

    let ring::Roles { mut x, mut y, mut z } = ring::Roles::default();
    tokio::spawn(async move { second(&mut y).await });
    tokio::spawn(async move { third(&mut z).await });
    let x = tokio::spawn(async move { first(&mut x, 30).await }).await.unwrap();
    assert!(matches!(x, Err(Stopped::After(30))), "{x:?}");
}

#[test]
fn a_payload_moves_and_need_not_be_send() {
    let handover::Roles(mut taker, mut giver) = handover::Roles::default();
    let gift: Rc<str> = Rc::from("a gift");
    let address = Rc::as_ptr(&gift);
    let ((), taken) = block_on(try_join(give(&mut giver, gift), take(&mut taker))).unwrap();
    assert_eq!(Rc::strong_count(&taken), 1);
    assert!(std::ptr::addr_eq(Rc::as_ptr(&taken), address));
}

#[test]
fn processes_run_on_threads() {
    let ping::Roles { mut s, mut c } = ping::Roles::default();
    std::thread::scope(|scope| {
        scope.spawn(|| block_on(server(&mut s)).unwrap());
        assert_eq!(block_on(client(&mut c, 1)).unwrap(), 2);
    });
}

#[test]
fn one_session_may_have_two_names() {
    let ping::Roles { mut s, mut c } = ping::Roles::default();
    let checked = rumpsteak::try_run(&mut c, async |s: HealthCheck<'_>| {
        let (Pong(answer), end) = s.send(Ping(0)).await?.receive().await?;
        Ok::<_, Error>((answer, end))
    });
    assert_eq!(block_on(try_join(checked, server(&mut s))).unwrap(), (1, ()));
}

#[test]
fn a_process_may_be_a_function() {
    async fn process(s: Client<'_>) -> Result<(i32, rumpsteak::states::End<'_, ping::C>), Error> {
        let (Pong(answer), end) = s.send(Ping(5)).await?.receive().await?;
        Ok((answer, end))
    }
    let ping::Roles { mut s, mut c } = ping::Roles::default();
    let asked = rumpsteak::try_run(&mut c, process);
    assert_eq!(block_on(try_join(asked, server(&mut s))).unwrap(), (6, ()));
}

#[test]
fn a_process_may_have_errors_of_its_own() {
    #[derive(Debug)]
    enum Own {
        Session,
        TooSmall(i32),
    }
    impl From<Error> for Own {
        fn from(_: Error) -> Self {
            Self::Session
        }
    }
    let ping::Roles { mut s, mut c } = ping::Roles::default();
    let asked = rumpsteak::try_run(&mut c, async |s: Client<'_>| {
        let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
        if answer < 10 {
            return Err(Own::TooSmall(answer));
        }
        Ok((answer, end))
    });
    let (asked, served) = block_on(join(asked, server(&mut s)));
    assert!(matches!(asked, Err(Own::TooSmall(2))), "{asked:?}");
    served.unwrap();
    assert!(matches!(Own::from(Error::from(ErrorKind::Poisoned { role: "c" })), Own::Session));
}

#[test]
fn a_process_that_panics_poisons_its_role() {
    let ping::Roles { s: _, mut c } = ping::Roles::default();
    let asked = rumpsteak::try_run(&mut c, async |s: Client<'_>| -> rumpsteak::Ended<'_, C> {
        match s.send(Ping(1)).await {
            Ok(_) => unreachable!("there is no server"),
            Err(error) => panic!("{error}"),
        }
    });
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(asked))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("`c` cannot send `Ping` to `s`"), "{text}");
    assert!(c.is_poisoned());
}

#[test]
fn states_show_where_they_are() {
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let sending = rumpsteak::try_run(&mut p, async |s: numbers::Producer<'_>| {
        assert_eq!(
            format!("{s:?}"),
            r#"Select { role: "p", peer: "q", labels: ["Number", "Stop"] }"#
        );
        let s = s.select(numbers::Stop).await?;
        assert_eq!(format!("{s:?}"), r#"Receive { role: "p", peer: "q", label: "sum" }"#);
        let (_, end) = s.receive().await?;
        assert_eq!(format!("{end:?}"), r#"End { role: "p", .. }"#);
        Ok::<_, Error>(((), end))
    });
    let receiving = rumpsteak::try_run(&mut q, async |s: numbers::Consumer<'_>| {
        // A type of the user shows its name.
        assert_eq!(format!("{s:?}"), "Consumer");
        let s = s.into_session();
        assert_eq!(
            format!("{s:?}"),
            r#"Branch { role: "q", peer: "p", labels: ["Number", "Stop"] }"#
        );
        let next = s.branch().await?;
        assert_eq!(format!("{next:?}"), "Stop");
        let numbers::Next::Stop(_, s) = next else {
            panic!("a number that nobody sent");
        };
        assert_eq!(format!("{s:?}"), r#"Send { role: "q", peer: "p", label: "sum" }"#);
        Ok::<_, Error>(((), s.send(numbers::Sum(0)).await?))
    });
    block_on(try_join(sending, receiving)).unwrap();
}
