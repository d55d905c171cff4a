//! Bodies that attract each other, in a ring of three roles.
//!
//! Each worker has a third of the bodies. In every step they go round the ring, so that each worker
//! adds up the pull of all bodies on its own. The protocol has a worker receive the bodies of its
//! neighbour before it passes on the earlier ones; here it passes on first, and the build
//! proves that this is safe.
//!
//! Arrays are given away, not copied: a worker sends on the array that it has received, and the
//! last one that it receives is filled for the next step. In one process no array is ever allocated
//! again.

pub mod workers;

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(
    NBody,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod roles {
    /// The places of bodies, and their masses.
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Bodies(Vec<[f64; 3]>);

    #[session(B)]
    type Second = Branch<A, OfFirst>;

    /// It passes on the bodies of the first worker before it waits for the bodies of the third.
    enum OfFirst {
        Bodies(Bodies, Send<C, Bodies, Send<C, Bodies, Receive<A, Bodies, Second>>>),
        Stop(Stop, Send<C, Stop, End>),
    }

    #[session(C)]
    type Third = Branch<B, OfSecond>;

    enum OfSecond {
        Bodies(Bodies, Send<A, Bodies, Send<A, Bodies, Receive<B, Bodies, Third>>>),
        Stop(Stop, End),
    }
}
use roles::*;

/// The bodies of one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    bodies: Vec<[f64; 3]>,
    velocities: Vec<[f64; 2]>,
}

const TIME: f64 = 0.001;

impl Worker {
    /// The worker of this number, with so many bodies.
    pub fn new(number: usize, bodies: usize) -> Self {
        let body = |index: usize| {
            let angle = (number * bodies + index) as f64;
            [angle.cos() * (1.0 + angle), angle.sin() * (1.0 + angle), 1.0 + angle / 10.0]
        };
        Self { bodies: (0..bodies).map(body).collect(), velocities: vec![[0.0; 2]; bodies] }
    }

    /// Its bodies, in an array of an earlier step.
    fn bodies(&self, mut array: Vec<[f64; 3]>) -> Bodies {
        array.clone_from(&self.bodies);
        Bodies(array)
    }

    /// Adds the pull of others for one moment.
    fn attract(&mut self, others: &[[f64; 3]]) {
        attract(&self.bodies, &mut self.velocities, others);
    }

    /// Adds the pull of its own bodies.
    fn attract_own(&mut self) {
        attract(&self.bodies, &mut self.velocities, &self.bodies);
    }

    /// Moves its bodies for one moment.
    fn advance(&mut self) {
        for (body, velocity) in self.bodies.iter_mut().zip(&self.velocities) {
            body[0] += TIME * velocity[0];
            body[1] += TIME * velocity[1];
        }
    }
}

fn attract(bodies: &[[f64; 3]], velocities: &mut [[f64; 2]], others: &[[f64; 3]]) {
    for ([x, y, _], velocity) in bodies.iter().zip(velocities) {
        for [other_x, other_y, mass] in others {
            let (dx, dy) = (other_x - x, other_y - y);
            // Never 0, so that a body does nothing to itself.
            let distance = (dx * dx + dy * dy + 0.01).sqrt();
            let pull = TIME * mass / distance.powi(3);
            velocity[0] += pull * dx;
            velocity[1] += pull * dy;
        }
    }
}

/// The same by one process: all workers, with so many bodies each, after so many steps.
pub fn sequential(bodies: usize, steps: usize) -> [Worker; 3] {
    let mut workers = [0, 1, 2].map(|number| Worker::new(number, bodies));
    for _ in 0..steps {
        let bodies = workers.clone().map(|worker| worker.bodies);
        for (number, worker) in workers.iter_mut().enumerate() {
            // Its own, the neighbour's, and the next neighbour's.
            for distance in [0, 2, 1] {
                worker.attract(&bodies[(number + distance) % 3]);
            }
            worker.advance();
        }
    }
    workers
}

pub async fn first(role: &mut A, mut worker: Worker, steps: usize) -> Result<Worker> {
    try_run(role, async |mut session: ASession<'_>| {
        let mut array = vec![];
        for _ in 0..steps {
            let next = session.select(worker.bodies(array)).await?;
            worker.attract_own();
            let (near, next) = next.receive().await?;
            worker.attract(&near.0);
            let (Bodies(far), next) = next.send(near).await?.receive().await?;
            worker.attract(&far);
            worker.advance();
            (array, session) = (far, next);
        }
        Ok((worker, session.select(Stop).await?))
    })
    .await
}

pub async fn second(role: &mut B, mut worker: Worker) -> Result<Worker> {
    try_run(role, async |mut session: Second<'_>| {
        let mut array = vec![];
        loop {
            match session.branch().await? {
                OfFirst::Bodies(near, next) => {
                    let next = next.send(worker.bodies(array)).await?;
                    worker.attract_own();
                    worker.attract(&near.0);
                    let (Bodies(far), next) = next.send(near).await?.receive().await?;
                    worker.attract(&far);
                    worker.advance();
                    (array, session) = (far, next);
                }
                OfFirst::Stop(Stop, next) => return Ok((worker, next.send(Stop).await?)),
            }
        }
    })
    .await
}

pub async fn third(role: &mut C, mut worker: Worker) -> Result<Worker> {
    try_run(role, async |mut session: Third<'_>| {
        let mut array = vec![];
        loop {
            match session.branch().await? {
                OfSecond::Bodies(near, next) => {
                    let next = next.send(worker.bodies(array)).await?;
                    worker.attract_own();
                    worker.attract(&near.0);
                    let (Bodies(far), next) = next.send(near).await?.receive().await?;
                    worker.attract(&far);
                    worker.advance();
                    (array, session) = (far, next);
                }
                OfSecond::Stop(Stop, end) => return Ok((worker, end)),
            }
        }
    })
    .await
}
