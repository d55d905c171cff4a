//! Jacobi's method in three processes: the temperature of a plate whose upper edge is hot.
//!
//! `cargo run -p rumpsteak-examples --example jacobi`
//!
//! The roles are in the library, `src/jacobi.rs`, where other packages measure them.
//!
//! `--transport tcp|unix|tls|ws|wss|quic|memory` chooses how they talk to each other; see `--help`
//! for one role in each of three terminals.

use std::process::ExitCode;

use rumpsteak_examples::jacobi::roles::{A, B, M};
use rumpsteak_examples::jacobi::{Task, above, below, master, sequential};
use rumpsteak_examples::processes::{Failure, Place, start};

const TASK: Task = Task { size: 30, accuracy: 0.01 };

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    match place.role() {
        "m" => {
            let join = place.join::<M>(&["a", "b"]).await?;
            let m = join.connect().await?;
            let (plate, rounds) = m.play(async |m| master(m, TASK).await).await?;
            if (plate, rounds) != sequential(TASK) {
                return Err("the plate is not that of one process".into());
            }
            println!("{} points after {rounds} rounds, as one process has them", 30 * 30);
        }
        "a" => place.join::<A>(&[]).await?.connect().await?.play(above).await?,
        _ => place.join::<B>(&[]).await?.connect().await?.play(below).await?,
    }
    Ok(())
}

fn main() -> ExitCode {
    start(&[("m", &["m.jacobi"] as &[_]), ("a", &["a.jacobi"]), ("b", &["b.jacobi"])], |place| {
        Box::pin(play(place))
    })
}
