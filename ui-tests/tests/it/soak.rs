//! Sessions on two threads, cancelled at random moments: no role hangs, and no message is lost,
//! duplicated or reordered.
//!
//! Runs for one second, or as many as `RUMPSTEAK_SOAK` says.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use futures::future::join;
use rumpsteak::{Error, ErrorKind, Result, try_run};
use rumpsteak_ui_tests::numbers::{Consumer, Next, Number, Producer, Q, Roles, Stop, Sum};
use tokio::task::yield_now;
use tokio::time::timeout;

/// Adds the numbers, and keeps each where a cancellation does not lose it.
async fn consume(role: &mut Q, seen: &Mutex<Vec<i32>>) -> Result<i32> {
    try_run(role, async |mut s: Consumer<'_>| {
        let mut sum = 0;
        loop {
            s = match s.branch().await? {
                Next::Number(Number(number), s) => {
                    seen.lock().unwrap().push(number);
                    sum += number;
                    s
                }
                Next::Stop(Stop, s) => return Ok((sum, s.send(Sum(sum)).await?)),
            };
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_cancellation_on_two_threads() {
    let seconds = std::env::var("RUMPSTEAK_SOAK").map_or(1, |text| text.parse().unwrap());
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut random = Rng::with_seed(0);
    let (mut sessions, mut completed) = (0_u64, 0_u64);
    while Instant::now() < until {
        sessions += 1;
        let Roles(mut p, mut q) = Roles::default();
        let count = random.i32(..30);
        let pauses = random.u64(..1 << 30);
        let seen = Arc::new(Mutex::new(Vec::new()));

        let producing = tokio::spawn(async move {
            try_run(&mut p, async |mut s: Producer<'_>| {
                for number in 0..count {
                    s = s.select(Number(number)).await?;
                    if pauses >> number & 1 == 1 {
                        yield_now().await;
                    }
                }
                let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
                Ok::<_, Error>((sum, end))
            })
            .await
        });
        let consuming = {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move { consume(&mut q, &seen).await })
        };
        let cancelled = random.u64(..3);
        for _ in 0..random.u64(..40) {
            yield_now().await;
        }
        match cancelled {
            0 => producing.abort(),
            1 => consuming.abort(),
            _ => {}
        }

        let (produced, consumed) = timeout(Duration::from_secs(30), join(producing, consuming))
            .await
            .expect("nobody hangs");
        let seen = seen.lock().unwrap();
        let all: Vec<i32> = (0..count).collect();
        assert_eq!(*seen, all[..seen.len()], "session {sessions}");
        for (index, result) in [produced, consumed].into_iter().enumerate() {
            match result {
                Ok(Ok(sum)) => {
                    assert_eq!((&*seen, sum), (&all, all.iter().sum()));
                    completed += 1;
                }
                // Cancelled, or failed because the other role was.
                Ok(Err(error)) if matches!(error.kind(), ErrorKind::Closed { .. }) => {
                    assert_ne!(cancelled, 2, "session {sessions}");
                }
                Err(error) => {
                    assert!(error.is_cancelled(), "{error}");
                    assert_eq!(cancelled, index as u64);
                }
                Ok(Err(error)) => panic!("session {sessions}: {error}"),
            }
        }
    }
    // Every third session is not cancelled, so both of its roles complete.
    assert!(completed > 0, "{sessions} sessions, none completed");
}
