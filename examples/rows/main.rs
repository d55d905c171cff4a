//! The results of the examples, and the verdicts on them.
//!
//! Each test in this file calls the `run` of an example, and states the expected result. The table
//! of `README.md` is in `table.rs`.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]
#![allow(dead_code, reason = "the programs' `main`, and what only it needs")]
#![allow(clippy::module_inception, reason = "an example is named after its protocol")]

#[path = "../alternating_bit.rs"]
mod alternating_bit;
#[path = "../authentication.rs"]
mod authentication;
#[path = "../tasks/chat_moderator.rs"]
mod chat_moderator;
#[path = "../tasks/chat_server.rs"]
mod chat_server;
#[path = "../client_server_log.rs"]
mod client_server_log;
#[path = "../double_buffering.rs"]
mod double_buffering;
#[path = "../eager_hospital.rs"]
mod eager_hospital;
#[path = "../elevator.rs"]
mod elevator;
#[path = "../tasks/fastest_mirror.rs"]
mod fastest_mirror;
#[path = "../tasks/first_answer.rs"]
mod first_answer;
#[path = "../hospital.rs"]
mod hospital;
#[path = "../tasks/http_continue.rs"]
mod http_continue;
mod listings;
#[path = "../tasks/lock.rs"]
mod lock;
#[path = "../optimised_double_buffering.rs"]
mod optimised_double_buffering;
#[path = "../optimised_fft.rs"]
mod optimised_fft;
#[path = "../optimised_ring.rs"]
mod optimised_ring;
#[path = "../optimised_ring_choice.rs"]
mod optimised_ring_choice;
#[path = "../optimised_streaming.rs"]
mod optimised_streaming;
#[path = "../tasks/pipeline_cancel.rs"]
mod pipeline_cancel;
#[path = "../tasks/raft_timeout.rs"]
mod raft_timeout;
#[path = "../tasks/request_timeout.rs"]
mod request_timeout;
#[path = "../ring.rs"]
mod ring;
#[path = "../ring_choice.rs"]
mod ring_choice;
#[path = "../tasks/scatter_gather.rs"]
mod scatter_gather;
#[path = "../tasks/smtp_reset.rs"]
mod smtp_reset;
#[path = "../streaming.rs"]
mod streaming;
#[path = "../three_adder.rs"]
mod three_adder;
#[path = "../two_adder.rs"]
mod two_adder;
#[path = "../tasks/worker_pool.rs"]
mod worker_pool;

mod table;

use elevator::Event::{Closes, Moves, Opens};
use optimised_fft::plain as fft;
use rumpsteak::Result;

#[tokio::test]
async fn two_adder_adds() -> Result<()> {
    assert_eq!(two_adder::run().await?, (vec![3, 42, 0], 3));
    Ok(())
}

#[tokio::test]
async fn the_first_answer_counts() -> Result<()> {
    assert_eq!(first_answer::run().await?, ["/index of a", "/index of b"]);
    Ok(())
}

#[tokio::test]
async fn the_slower_mirror_is_cancelled() -> Result<()> {
    assert_eq!(fastest_mirror::run().await?, fastest_mirror::expected());
    Ok(())
}

#[tokio::test]
async fn eight_results_are_gathered() -> Result<()> {
    assert_eq!(scatter_gather::run().await?, 204);
    Ok(())
}

/// A client adds to the number that it has read while it has the lock.
#[tokio::test]
async fn a_lock_is_held_by_one_client_at_a_time() -> Result<()> {
    assert_eq!(lock::run().await?, 106);
    Ok(())
}

/// The client does not wait for the slow answer.
#[tokio::test]
async fn patience_ends_once() -> Result<()> {
    assert_eq!(request_timeout::run().await?, (("HELLO".to_owned(), 2), 1));
    Ok(())
}

/// The second and the third worker are slow, so the first does the rest.
#[tokio::test]
async fn jobs_go_to_whoever_is_free() -> Result<()> {
    assert_eq!(worker_pool::run().await?, (vec![1, 4, 5, 6, 2, 3], [4, 1, 1]));
    Ok(())
}

#[tokio::test]
async fn a_moderator_passes_on_what_is_polite() -> Result<()> {
    let (passed, ann, bob) = chat_moderator::run().await?;
    assert_eq!((passed, ann), (3, vec!["fine".to_owned()]));
    assert_eq!(bob, ["hello", "how are you"]);
    Ok(())
}

#[tokio::test]
async fn all_clients_hear_all_greetings() {
    let expected: Vec<String> = (0..10).map(|number| format!("client {number}: hello")).collect();
    for mut heard in chat_server::run(10).await.unwrap() {
        heard.sort();
        assert_eq!(heard, expected);
    }
}

/// The client is in time on the first connection, and not on the second.
#[tokio::test]
async fn either_side_closes_a_connection() -> Result<()> {
    let responses = ["200 to GET /", "201 with body of PUT /a"].map(str::to_owned);
    assert_eq!(http_continue::run().await?, [(responses.to_vec(), false), (vec![], true)]);
    Ok(())
}

#[tokio::test]
async fn a_mail_that_takes_too_long_is_sent_again() -> Result<()> {
    let (attempts, delivered) = smtp_reset::run().await?;
    assert_eq!((attempts, delivered), (2, vec!["bob".to_owned(), "eve".to_owned()]));
    Ok(())
}

#[tokio::test]
async fn a_follower_asks_for_votes_when_the_leader_is_silent() -> Result<()> {
    assert_eq!(raft_timeout::run().await?, (3, 1));
    Ok(())
}

#[tokio::test]
async fn a_pipeline_is_cancelled_once_there_is_enough() -> Result<()> {
    assert!(pipeline_cancel::run().await?);
    Ok(())
}

#[tokio::test]
async fn three_adder_tells_both_the_sum() -> Result<()> {
    assert_eq!(three_adder::run().await?, (42, 42));
    Ok(())
}

#[tokio::test]
async fn streaming_delivers_all_values_in_order() -> Result<()> {
    let values = [2, 3, 5, 7, 11];
    assert_eq!(streaming::run().await?, values);
    assert_eq!(optimised_streaming::run().await?, values);
    Ok(())
}

#[tokio::test]
async fn ring_adds_up_in_any_order_of_actions() -> Result<()> {
    // `a`, `b` and `c` begin with 1, 2 and 3. Each adds what its predecessor held.
    let (mut a, mut b, mut c) = (1, 2, 3);
    for _ in 0..4 {
        (a, b, c) = (a + c, b + a, c + b);
    }
    assert_eq!(a, 32);
    assert_eq!(ring::run().await?, a);
    assert_eq!(optimised_ring::run().await?, a);
    Ok(())
}

#[tokio::test]
async fn ring_choice_adds_and_subtracts_what_b_chooses() -> Result<()> {
    let (mut a, mut b, mut c) = (1, 1, 1);
    for _ in 0..4 {
        let sign = if b > 0 { 1 } else { -1 };
        c += sign * b;
        b -= a;
        a += sign * c;
    }
    assert_eq!(a, -13);
    assert_eq!(ring_choice::run().await?, a);
    assert_eq!(optimised_ring_choice::run().await?, a);
    Ok(())
}

#[tokio::test]
async fn double_buffering_delivers_the_first_five_values() -> Result<()> {
    assert_eq!(double_buffering::run().await?, 15);
    assert_eq!(optimised_double_buffering::run().await?, 15);
    Ok(())
}

#[tokio::test]
async fn alternating_bit_delivers_once_and_in_order() -> Result<()> {
    let expected = alternating_bit::Outcome {
        received: "everything once and in order".to_owned(),
        has_lost: true,
        has_doubled: true,
    };
    assert_eq!(alternating_bit::run().await?, expected);
    Ok(())
}

#[tokio::test]
async fn elevator_never_moves_with_its_door_open() -> Result<()> {
    let events = elevator::run().await?;
    let expected = [
        // Stopped twice.
        Opens,
        Opens,
        Opens,
        Closes,
        Moves(1), // never
        Opens,
        Closes,
        Moves(2), // once
        Opens,
        Opens,
        Closes,
        Moves(3), // and called again.
        Opens,
    ];
    assert_eq!(events, expected);
    assert_eq!(elevator::first_unsafe_move(&events), None);
    Ok(())
}

#[test]
fn an_elevator_that_moves_with_its_door_open_is_found() {
    let events = [Opens, Closes, Moves(1), Opens, Moves(2), Closes, Moves(3)];
    assert_eq!(elevator::first_unsafe_move(&events), Some(2));
    assert_eq!(elevator::summary(&events), (2, 3, Some(2)));
}

/// For more columns, and with all digits, see the tests of `src/fft`.
#[tokio::test]
async fn fft_is_that_of_rustfft() -> Result<()> {
    use num_complex::Complex32;

    let fft = rustfft::FftPlanner::new().plan_fft_forward(8);
    let mut columns = [[Complex32::ZERO; 8], [Complex32::ONE; 8], [Complex32::I; 8]];
    columns[0][0] = Complex32::ONE;
    for (index, value) in columns[2].iter_mut().enumerate() {
        *value = Complex32::I.powu(index as u32);
    }
    for column in &mut columns {
        fft.process(column);
    }
    let whole = |value: Complex32| (value.re.round() as i32, value.im.round() as i32);
    let mut expected = [[(0, 0); 3]; 8];
    for (row, expected) in expected.iter_mut().enumerate() {
        *expected = columns.map(|column| whole(column[row]));
    }
    assert_eq!(fft::run().await?, expected);
    assert_eq!(optimised_fft::run().await?, expected);
    Ok(())
}

#[tokio::test]
async fn authentication_lets_in_who_knows_the_password() -> Result<()> {
    use authentication::Access::{Cancelled, Denied, Granted};
    assert_eq!(authentication::run().await?, [Granted, Denied, Cancelled]);
    Ok(())
}

#[tokio::test]
async fn client_server_log_has_every_request_in_order() -> Result<()> {
    let numbers = [6, 3, 10, 5, 16, 8, 4];
    let expected = numbers.map(|number| (number, number % 2 == 1));
    assert_eq!(client_server_log::run().await?, expected);
    Ok(())
}

#[tokio::test]
async fn hospital_is_ahead_and_misses_no_answer() -> Result<()> {
    let expected = hospital::Stay {
        // 36, 37 and, after 78 and 76 were refused, half of them: 39, 38.
        accepted: 4,
        refused: 3,
        ahead: 2,
        reports: vec!["[36, 37]".to_owned(), "[36, 37, 39, 38]".to_owned()],
    };
    assert_eq!(hospital::run().await?, expected);
    let reports = [(0, "[36, 37]".to_owned()), (2, "[36, 37, 38]".to_owned())];
    assert_eq!(eager_hospital::run().await?, reports);
    Ok(())
}
