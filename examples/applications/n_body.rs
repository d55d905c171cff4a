//! Bodies that attract each other, in a ring of three processes.
//!
//! `cargo run -p rumpsteak-examples --example n_body`
//!
//! The roles are in the library, `src/n_body.rs`, where other packages measure them.
//!
//! `--transport tcp|unix|tls|ws|wss|quic|memory` chooses how they talk to each other; see `--help`
//! for one role in each of three terminals.

use std::process::ExitCode;

use rumpsteak_examples::n_body::roles::{A, B, C};
use rumpsteak_examples::n_body::{Worker, first, second, sequential, third};
use rumpsteak_examples::processes::{Failure, Place, start};

const BODIES: usize = 20;
const STEPS: usize = 200;

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    let (number, worker) = match place.role() {
        "a" => {
            let a = place.join::<A>(&["b", "c"]).await?.connect().await?;
            (0, a.play(async |a| first(a, Worker::new(0, BODIES), STEPS).await).await?)
        }
        "b" => {
            let b = place.join::<B>(&["c"]).await?.connect().await?;
            (1, b.play(async |b| second(b, Worker::new(1, BODIES)).await).await?)
        }
        _ => {
            let c = place.join::<C>(&[]).await?.connect().await?;
            (2, c.play(async |c| third(c, Worker::new(2, BODIES)).await).await?)
        }
    };
    if worker != sequential(BODIES, STEPS)[number] {
        return Err("the bodies are not where one process has them".into());
    }
    if number == 0 {
        println!("{} bodies after {STEPS} steps, as one process has them", 3 * BODIES);
    }
    Ok(())
}

fn main() -> ExitCode {
    start(&[("a", &["a.nbody"] as &[_]), ("b", &["b.nbody"]), ("c", &["c.nbody"])], |place| {
        Box::pin(play(place))
    })
}
