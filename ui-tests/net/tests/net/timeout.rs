//! Timeouts that come when the server has replied and ended: none gets into the next session.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::{Arc, Mutex};

use rumpsteak::machine::Machine;
use rumpsteak::states::Until;
use rumpsteak::testing::{Mock, explore};
use rumpsteak::{ErrorKind, Result, try_run};
use rumpsteak_net::Host;
use tokio::sync::Notify;
use tokio::task::yield_now;

/// The processes of a module of `Fetch`.
macro_rules! processes {
    () => {
        use std::future::Future;

        use rumpsteak::Ended;
        use rumpsteak::states::Until;
        use tokio::task::yield_now;

        /// Returns if the reply came, and if the timeout was sent.
        pub(super) async fn client<'s>(
            s: ClientSession<'s>,
            number: u32,
            patience: impl Future<Output = ()>,
        ) -> Ended<'s, Client, [bool; 2]> {
            let s = match s.select(Request(number)).await?.until(patience).await? {
                Until::Heard(ClientReplyChoice::Reply(Reply(of), end)) => {
                    assert_eq!(of, number);
                    return end.end([true, false]);
                }
                Until::Heard(_) => unreachable!(),
                Until::Wished((), s) => s,
            };
            // The reply may come before the timeout is sent.
            yield_now().await;
            match s.select(Timeout).await?.branch().await? {
                ClientReplyChoiceAfterTimeout::Reply(Reply(of), end) => {
                    assert_eq!(of, number);
                    end.end([true, true])
                }
                ClientReplyChoiceAfterTimeout::Timeout(Timeout, end) => end.end([false, true]),
            }
        }

        /// Returns the number of the request, if it has replied.
        pub(super) async fn server(
            s: ServerSession<'_>,
            work: impl Future<Output = ()>,
        ) -> Ended<'_, Server, Option<u32>> {
            let (Request(number), s) = match s.branch().await? {
                ServerRequestChoice::Request(request, s) => (request, s),
                ServerRequestChoice::Timeout(..) => unreachable!(),
            };
            match s.until(work).await? {
                Until::Wished((), s) => s.select(Reply(number)).await?.end(Some(number)),
                Until::Heard(ServerReplyChoice::Timeout(Timeout, s)) => {
                    s.send(Timeout).await?.end(None)
                }
                Until::Heard(_) => unreachable!(),
            }
        }
    };
}

#[rumpsteak::protocol(Fetch)]
mod fetch {
    processes!();
}

#[rumpsteak::protocol(Fetch, routes = rumpsteak_net::Net, derive(serde::Serialize, serde::Deserialize))]
mod apart {
    processes!();
}

#[test]
fn no_interleaving_takes_a_timeout_in_the_next_session() {
    use fetch::{ClientSession, Roles, ServerSession};

    let mut all: Vec<Arc<Mutex<Vec<[bool; 2]>>>> = Vec::new();
    let explored = explore(|processes| {
        all.push(Arc::default());
        let counted = Arc::clone(&all[all.len() - 1]);
        let Roles { mut client, mut server } = Roles::default();
        processes.add("client", async move {
            for number in 0..3 {
                let found = try_run(&mut client, async |s: ClientSession<'_>| {
                    fetch::client(s, number, yield_now()).await
                })
                .await?;
                counted.lock().unwrap().push(found);
            }
            Result::<()>::Ok(())
        });
        processes.add("server", async move {
            for number in 0..3 {
                let replied = try_run(&mut server, async |s: ServerSession<'_>| {
                    fetch::server(s, yield_now()).await
                })
                .await?;
                assert!(replied.is_none_or(|of| of == number));
            }
            Result::<()>::Ok(())
        });
    });
    assert!(explored.is_complete, "{explored:?}");
    // In each session: the reply comes, comes beside the timeout, or does not come.
    let found: BTreeSet<_> = all.iter().map(|found| found.lock().unwrap().clone()).collect();
    assert_eq!(found.len(), 27, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tcp_a_timeout_that_is_late_is_dropped() {
    use apart::{Client, ClientSession, Server, ServerSession};

    const SESSIONS: usize = 300;
    let hosts = [(); 2].map(|()| Host::new());
    let at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let client = hosts[0].join::<Client>("1").peer("server", [&at]);
    let (client, server) =
        tokio::try_join!(client.connect(), hosts[1].join::<Server>("1").connect()).unwrap();
    // The client waits for the reply, gives up at once, or gives up while the server replies.
    let replies: Vec<Notify> = (0..SESSIONS).map(|_| Notify::new()).collect();
    let client = client.play(async |role: &mut Client| {
        let mut late = 0;
        for (number, replies) in replies.iter().enumerate() {
            let patience = async {
                match number % 3 {
                    0 => pending().await,
                    1 => {}
                    _ => replies.notified().await,
                }
            };
            let [replied, timed_out]: [bool; 2] = try_run(role, async |s: ClientSession<'_>| {
                apart::client(s, number as u32, patience).await
            })
            .await?;
            assert_eq!(replied, number % 3 != 1);
            late += u32::from(replied && timed_out);
        }
        Result::<u32>::Ok(late)
    });
    let server = server.play(async |role: &mut Server| {
        for (number, replies) in replies.iter().enumerate() {
            let work = async {
                if number % 3 == 1 {
                    pending().await
                }
                replies.notify_one();
            };
            let replied =
                try_run(role, async |s: ServerSession<'_>| apart::server(s, work).await).await?;
            assert_eq!(replied, (number % 3 != 1).then_some(number as u32));
        }
        Result::<()>::Ok(())
    });
    let (late, ()) = tokio::try_join!(client, server).unwrap();
    assert!(late > 0);
}

/// The server leaves when it has replied. Then a timeout is dropped, and the next request fails.
#[tokio::test]
async fn a_timeout_to_a_server_that_has_left_is_dropped() {
    use fetch::{
        ClientReplyChoiceAfterTimeout, ClientSession, Request, Roles, ServerSession, Timeout,
    };

    let Roles { mut client, mut server } = Roles::default();
    let asked = try_run(&mut client, async |s: ClientSession<'_>| {
        let s = s.select(Request(7)).await?;
        let Until::Wished((), s) = s.until(async {}).await? else { panic!("nothing has come") };
        assert_eq!(
            try_run(&mut server, async |s: ServerSession<'_>| fetch::server(s, async {}).await)
                .await?,
            Some(7)
        );
        drop(server);
        match s.select(Timeout).await?.branch().await? {
            ClientReplyChoiceAfterTimeout::Reply(_, end) => end.end(()),
            ClientReplyChoiceAfterTimeout::Timeout(..) => panic!("it has replied"),
        }
    });
    asked.await.unwrap();
    let error =
        try_run(&mut client, async |s: ClientSession<'_>| fetch::client(s, 8, async {}).await)
            .await
            .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Closed { .. }), "{error}");
}

#[tokio::test]
async fn a_timeout_to_a_mock_that_has_ended_is_dropped() {
    use fetch::{Client, ClientReplyChoiceAfterTimeout, ClientSession, Label, Reply, Request};
    use fetch::{Roles, ServerSession, Timeout};

    let Roles { mut client, server } = Roles::default();
    let serves = Mock::new(server, Machine::of::<ServerSession<'_>>()).play(async |server| {
        let Label::Request(Request(number)) = server.receive::<Client>().await else { panic!() };
        server.send::<Client, _>(Reply(number)).await;
    });
    let asked = try_run(&mut client, async |s: ClientSession<'_>| {
        let s = s.select(Request(7)).await?;
        let Until::Wished((), s) = s.until(async {}).await? else { panic!("nothing has come") };
        serves.await;
        match s.select(Timeout).await?.branch().await? {
            ClientReplyChoiceAfterTimeout::Reply(Reply(of), end) => end.end(of),
            ClientReplyChoiceAfterTimeout::Timeout(..) => panic!("it has replied"),
        }
    });
    assert_eq!(asked.await.unwrap(), 7);
}

#[tokio::test]
async fn over_tcp_a_timeout_to_a_server_that_has_left_is_dropped() {
    use apart::{Client, ClientReplyChoiceAfterTimeout, ClientSession, Reply, Request, Timeout};
    use apart::{Server, ServerSession};

    let hosts = [(); 2].map(|()| Host::new());
    let at = hosts[1].listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let client = hosts[0].join::<Client>("1").peer("server", [&at]);
    let (client, server) =
        tokio::try_join!(client.connect(), hosts[1].join::<Server>("1").connect()).unwrap();
    let (leave, left) = tokio::sync::oneshot::channel();
    let client = client.play(async |role: &mut Client| {
        try_run(role, async |s: ClientSession<'_>| {
            let s = s.select(Request(7)).await?;
            let Until::Wished((), s) = s.until(async {}).await? else { panic!("nothing has come") };
            left.await.unwrap();
            match s.select(Timeout).await?.branch().await? {
                ClientReplyChoiceAfterTimeout::Reply(Reply(of), end) => end.end(of),
                ClientReplyChoiceAfterTimeout::Timeout(..) => panic!("it has replied"),
            }
        })
        .await
    });
    let serving = async {
        let play = server.play(async |role: &mut Server| {
            try_run(role, async |s: ServerSession<'_>| apart::server(s, async {}).await).await
        });
        let replied = play.await;
        // The client's host hears of it.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        leave.send(()).unwrap();
        replied
    };
    assert_eq!(tokio::try_join!(client, serving).unwrap(), (7, Some(7)));
}
