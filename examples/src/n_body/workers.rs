//! Bodies that attract each other, by a master and any number of workers, a family.

use std::ops::Range;

use rumpsteak::{Ended, Result};

use super::Worker as Bodied;

#[rumpsteak::protocol(
    NBodyWorkers,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod roles {
    #[session(M)]
    type Master = Select<Worker, Step>;

    enum Step {
        Bodies(Bodies, Receive<Worker, Moved, Master>),
        Stop(Stop, End),
    }

    #[session(Worker)]
    type Works = Branch<M, Order>;

    enum Order {
        Bodies(Bodies, Send<M, Moved, Works>),
        Stop(Stop, End),
    }
}
use roles::*;

/// The places and the masses of bodies.
pub type Places = Vec<[f64; 3]>;

/// The bodies of a worker, of so many.
fn bodies_of(index: usize, workers: usize, bodies: usize) -> Range<usize> {
    bodies * index / workers..bodies * (index + 1) / workers
}

/// The same by one process: all bodies after so many steps.
pub fn sequential(bodies: usize, steps: usize) -> Places {
    let mut all = Bodied::new(0, bodies);
    for _ in 0..steps {
        all.attract_own();
        all.advance();
    }
    all.bodies
}

pub async fn master(
    mut session: Master<'_>,
    bodies: usize,
    steps: usize,
    workers: usize,
) -> Ended<'_, M, Places> {
    let mut places = Bodied::new(0, bodies).bodies;
    for _ in 0..steps {
        let next = session.select_each(|_| Bodies(places.clone())).await?;
        let take = |index, Moved(own): Moved| {
            places[bodies_of(index, workers, bodies)].copy_from_slice(&own);
        };
        session = next.receive_each(take).await?;
    }
    session.select_each(|_| Stop).await?.end(places)
}

pub async fn worker(
    index: usize,
    workers: usize,
    bodies: usize,
    mut session: Works<'_>,
) -> Ended<'_, Worker> {
    let (all, own) = (Bodied::new(0, bodies), bodies_of(index, workers, bodies));
    let mut own = Bodied {
        bodies: all.bodies[own.clone()].to_vec(),
        velocities: all.velocities[own].to_vec(),
    };
    loop {
        match session.branch().await? {
            Order::Bodies(Bodies(all), next) => {
                own.attract(&all);
                own.advance();
                session = next.send(Moved(own.bodies.clone())).await?;
            }
            Order::Stop(Stop, end) => return end.end(()),
        }
    }
}

/// All roles in one process.
pub async fn together(bodies: usize, steps: usize, workers: usize) -> Result<Places> {
    let mut roles = Roles::sized(workers);
    let member = |index, session| worker(index, workers, bodies, session);
    let main = |session| master(session, bodies, steps, workers);
    let (places, _) = roles.run(main, member).await?;
    Ok(places)
}
