//! `join`: the processes of several roles in one task.

use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use futures::executor::block_on;
use rumpsteak::{Error, ErrorKind, Result, Role as _, join, try_run};
use rumpsteak_ui_tests::closed;
use rumpsteak_ui_tests::numbers::{self, consumer, producer};
use rumpsteak_ui_tests::ping::{self, Ping, Pong, Server, client, server};
use rumpsteak_ui_tests::ring::{self, Stopped, first, second, third};

#[test]
fn all_processes_end_and_return_their_values() {
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    for _ in 0..3 {
        let (produced, consumed) = block_on(join((producer(&mut p, &[1, 2, 3]), consumer(&mut q))));
        assert_eq!((produced.unwrap(), consumed.unwrap()), (6, 6));
    }
}

#[test]
fn a_process_that_fails_wakes_the_others() {
    let ring::Roles { mut x, mut y, mut z } = ring::Roles::default();
    let (x, y, z) = block_on(join((first(&mut x, 3_000), second(&mut y), third(&mut z))));
    assert!(matches!(x, Err(Stopped::After(3_000))), "{x:?}");
    closed(y);
    closed(z);
}

/// A future that counts its polls.
async fn counted<F: Future>(polls: &AtomicUsize, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(context)
    })
    .await
}

#[test]
fn only_processes_that_were_woken_are_polled() {
    let (tell, told) = oneshot::channel();
    let polls = [const { AtomicUsize::new(0) }; 3];
    let ping::Roles { mut c, mut s } = ping::Roles::default();
    let (asked, served, told) = block_on(join((
        counted(&polls[0], async {
            let answer = client(&mut c, 1).await;
            tell.send(5).unwrap();
            answer
        }),
        counted(&polls[1], server(&mut s)),
        counted(&polls[2], told),
    )));
    assert_eq!((asked.unwrap(), served.unwrap(), told), (2, (), Ok(5)));
    // The client sends and gets the answer; the server gets the question at once; the third waits
    // from the first poll to the last.
    assert_eq!(polls.map(AtomicUsize::into_inner), [2, 1, 2]);
}

#[test]
fn a_wake_up_of_itself_is_not_lost() {
    let yields = |times: usize| {
        let mut left = times;
        poll_fn(move |context| {
            if left == 0 {
                return Poll::Ready(times);
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
    };
    let values = block_on(join((yields(10), yields(0), yields(5_000))));
    assert_eq!(values, (10, 0, 5_000));
}

#[test]
fn other_threads_wake_single_processes() {
    for round in 0..500_u64 {
        let (to_left, left) = oneshot::channel();
        let (to_right, right) = oneshot::channel();
        let (go, gone) = oneshot::channel();
        let other = thread::spawn(move || {
            to_left.send(round).unwrap();
            let told: u64 = block_on(gone).unwrap();
            to_right.send(told + 1).unwrap();
        });
        let (left, right) = block_on(join((
            async {
                let told = left.await.unwrap();
                go.send(told).unwrap();
                told
            },
            right,
        )));
        assert_eq!((left, right), (round, Ok(round + 1)));
        other.join().unwrap();
    }
}

#[test]
fn a_task_that_never_waits_yields() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let forever = || {
        poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        })
    };
    let polls = [const { AtomicUsize::new(0) }; 2];
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut both = pin!(join((counted(&polls[0], forever()), counted(&polls[1], forever()),)));
    for round in 1..=3 {
        assert!(both.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // The task wakes itself, and both had their turns.
        assert_eq!(count.0.load(Ordering::SeqCst), round);
        for polls in &polls {
            assert_eq!(polls.load(Ordering::SeqCst), round * 512);
        }
    }
}

#[test]
fn roles_that_run_for_ever_leave_time_for_others() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let ring::Roles { mut x, mut y, mut z } = ring::Roles::default();
    runtime.block_on(async {
        let ring = join((first(&mut x, u64::MAX), second(&mut y), third(&mut z)));
        let limit = tokio::time::timeout(Duration::from_millis(20), ring).await;
        assert!(limit.is_err());
    });
    assert!(x.is_poisoned() && y.is_poisoned() && z.is_poisoned());
}

#[test]
fn timers_and_tasks_of_the_executor_work_inside() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    // Spawning requires a future that is `Send`.
    let answer = runtime.block_on(runtime.spawn(async {
        let ping::Roles { mut c, mut s } = ping::Roles::default();
        let slow = try_run(&mut s, async |s: Server<'_>| {
            let (Ping(question), s) = s.receive().await?;
            tokio::time::sleep(Duration::from_millis(1)).await;
            let answer = tokio::spawn(async move { question + 1 }).await.unwrap();
            Ok::<_, Error>(((), s.send(Pong(answer)).await?))
        });
        join((client(&mut c, 1), slow)).await.0
    }));
    assert_eq!(answer.unwrap().unwrap(), 2);
}

#[test]
fn sets_can_be_nested() {
    let ping::Roles { mut c, mut s } = ping::Roles::default();
    let numbers::Roles(mut p, mut q) = numbers::Roles::default();
    let (to_inner, inner) = oneshot::channel();
    let ((asked, consumed), (served, produced), ()) = block_on(join((
        join((client(&mut c, 1), consumer(&mut q))),
        join((server(&mut s), async {
            inner.await.unwrap();
            producer(&mut p, &[4]).await
        })),
        async { to_inner.send(()).unwrap() },
    )));
    assert_eq!(asked.unwrap(), 2);
    served.unwrap();
    assert_eq!((produced.unwrap(), consumed.unwrap()), (4, 4));
}

#[test]
fn a_panic_propagates_and_poisons_all() {
    let ping::Roles { mut c, mut s } = ping::Roles::default();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        block_on(join((
            client(&mut c, 1),
            try_run(&mut s, async |s: Server<'_>| {
                let (Ping(question), _s) = s.receive().await?;
                panic!("cannot answer {question}");
                #[allow(unreachable_code, reason = "the type of the process")]
                Err::<((), _), Error>(ErrorKind::Poisoned { role: "s" }.into())
            }),
        )))
    }))
    .unwrap_err();
    assert_eq!(*panic.downcast::<String>().unwrap(), "cannot answer 1");
    assert!(c.is_poisoned() && s.is_poisoned());
}

#[test]
fn dropping_the_set_wakes_peers_elsewhere() {
    let ring::Roles { mut x, mut y, mut z } = ring::Roles::default();
    let elsewhere = thread::spawn(move || block_on(third(&mut z)));
    {
        let mut two = pin!(join((first(&mut x, u64::MAX), second(&mut y))));
        let mut polled = 0;
        block_on(poll_fn(|context| {
            polled += 1;
            assert!(two.as_mut().poll(context).is_pending());
            if polled < 5 { Poll::Pending } else { Poll::Ready(()) }
        }));
    }
    assert!(x.is_poisoned() && y.is_poisoned());
    let third: Result<_> = elsewhere.join().unwrap();
    assert_eq!(closed(third).0, "z");
}

#[test]
fn one_process_is_a_set_too() {
    assert_eq!(block_on(join((ready(1),))), (1,));
    let mut waits = pin!(join((pending::<()>(),)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    // Polled without a wake-up.
    assert!(waits.as_mut().poll(&mut context).is_pending());
}

#[test]
#[should_panic(expected = "polled after it had completed")]
fn a_set_that_has_ended_is_not_polled_again() {
    let mut ended = pin!(join((ready(1),)));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(ended.as_mut().poll(&mut context), Poll::Ready((1,)));
    let _ = ended.poll(&mut context);
}
