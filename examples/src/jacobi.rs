//! Jacobi's method in three roles: the temperature of a plate whose upper edge is hot.
//!
//! The master has the middle of the plate and each worker one side. In every round they exchange
//! the rows along their borders. The protocol has the workers receive the master's row before they
//! send their own; here they send first, so that all three compute at the same time, and the build
//! proves that this is safe.
//!
//! Rows are given away, not copied: the row that a role receives is filled with its own border for
//! the next round. In one process no row is ever allocated again.

pub mod workers;

use std::mem;

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(
    Jacobi,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod roles {
    #[session(M)]
    type Master = Send<A, Size, Send<B, Size, MasterRound>>;

    /// Both workers get their rows before the master waits for theirs.
    struct MasterRound(
        Send<
            A,
            Edge,
            Send<
                B,
                Edge,
                Receive<
                    A,
                    Edge,
                    Receive<B, Edge, Receive<A, Change, Receive<B, Change, Select<A, Decision>>>>,
                >,
            >,
        >,
    );

    enum Decision {
        More(More, Send<B, More, MasterRound>),
        Stop(Stop, Send<B, Stop, Receive<A, Part, Receive<B, Part, End>>>),
    }

    #[session(A)]
    type Above = Receive<M, Size, Worker>;

    #[session(B)]
    type Below = Receive<M, Size, Worker>;

    /// A worker sends its row before it waits for the master's.
    struct Worker(Send<M, Edge, Receive<M, Edge, Send<M, Change, Branch<M, Order>>>>);

    enum Order {
        More(More, Worker),
        Stop(Stop, Send<M, Part, End>),
    }
}
use roles::*;

/// Some rows of the plate.
#[derive(Clone, Debug)]
pub struct Rows {
    pub rows: Vec<Vec<f64>>,
    /// The rows before the last step, whose arrays the next step fills.
    old: Vec<Vec<f64>>,
}

/// The temperature of the upper edge; the other edges are cold.
pub const HOT: f64 = 100.0;

impl Rows {
    /// So many cold rows of this length.
    pub fn new(count: usize, size: usize) -> Self {
        let rows = vec![vec![0.0; size]; count];
        Self { old: rows.clone(), rows }
    }

    /// Makes one step, between the rows above and below. Returns the largest change.
    pub fn step(&mut self, above: &[f64], below: &[f64]) -> f64 {
        mem::swap(&mut self.rows, &mut self.old);
        let old = &self.old;
        let mut change: f64 = 0.0;
        for (at, row) in self.rows.iter_mut().enumerate() {
            let above = if at == 0 { above } else { &old[at - 1] };
            let below = old.get(at + 1).map_or(below, Vec::as_slice);
            for column in 0..row.len() {
                let left = if column == 0 { 0.0 } else { old[at][column - 1] };
                let right = old[at].get(column + 1).copied().unwrap_or(0.0);
                row[column] = (above[column] + below[column] + left + right) / 4.0;
                change = change.max((row[column] - old[at][column]).abs());
            }
        }
        change
    }

    /// The first row, in the array of an earlier round.
    pub fn first(&self, array: Vec<f64>) -> Vec<f64> {
        filled(array, self.rows.first())
    }

    /// The last row, in the array of an earlier round.
    pub fn last(&self, array: Vec<f64>) -> Vec<f64> {
        filled(array, self.rows.last())
    }
}

fn filled(mut array: Vec<f64>, row: Option<&Vec<f64>>) -> Vec<f64> {
    array.clear();
    array.extend(row.into_iter().flatten());
    array
}

/// The rows that this part of a plate consists of.
pub fn rows_of(part: &[f64], size: usize) -> Vec<Vec<f64>> {
    part.chunks(size).map(<[f64]>::to_vec).collect()
}

/// A square plate of `size` rows, computed until no point changes by more than `accuracy`.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub size: usize,
    pub accuracy: f64,
}

/// The rows of the plate, and the number of rounds.
pub type Solution = (Vec<Vec<f64>>, usize);

/// The same, by one role.
pub fn sequential(task: Task) -> Solution {
    let mut plate = Rows::new(task.size, task.size);
    let (hot, cold) = (vec![HOT; task.size], vec![0.0; task.size]);
    for round in 1.. {
        if plate.step(&hot, &cold) <= task.accuracy {
            return (plate.rows, round);
        }
    }
    unreachable!("the changes get smaller and smaller")
}

pub async fn master(role: &mut M, task: Task) -> Result<Solution> {
    let size = task.size;
    try_run(role, async |session: Master<'_>| {
        let session = session.send(Size(size as u64)).await?;
        let mut session = session.send(Size(size as u64)).await?;
        let mut plate = Rows::new(size - 2 * (size / 3), size);
        let (mut above, mut below) = (vec![], vec![]);
        for round in 1.. {
            let next = session.send(Edge(plate.first(above))).await?;
            let next = next.send(Edge(plate.last(below))).await?;
            let (Edge(row), next) = next.receive().await?;
            above = row;
            let (Edge(row), next) = next.receive().await?;
            below = row;
            let change = plate.step(&above, &below);
            let (Change(of_a), next) = next.receive().await?;
            let (Change(of_b), next) = next.receive().await?;
            if change.max(of_a).max(of_b) > task.accuracy {
                session = next.select(More).await?.send(More).await?;
                continue;
            }
            let (Part(above), next) = next.select(Stop).await?.send(Stop).await?.receive().await?;
            let (Part(below), end) = next.receive().await?;
            let rows = [rows_of(&above, size), plate.rows, rows_of(&below, size)].concat();
            return Ok(((rows, round), end));
        }
        unreachable!("the changes get smaller and smaller")
    })
    .await
}

/// The worker with the upper third, which is hot at its upper edge.
pub async fn above(role: &mut A) -> Result<()> {
    try_run(role, async |session: Above<'_>| {
        let (Size(size), mut session) = session.receive().await?;
        let size = size as usize;
        let (mut plate, hot) = (Rows::new(size / 3, size), vec![HOT; size]);
        let mut below = vec![];
        loop {
            let next = session.send(Edge(plate.last(below))).await?;
            let (Edge(row), next) = next.receive().await?;
            below = row;
            let change = plate.step(&hot, &below);
            match next.send(Change(change)).await?.branch().await? {
                Order::More(More, next) => session = next,
                Order::Stop(Stop, next) => {
                    return Ok(((), next.send(Part(plate.rows.concat())).await?));
                }
            }
        }
    })
    .await
}

/// The worker with the lower third.
pub async fn below(role: &mut B) -> Result<()> {
    try_run(role, async |session: Below<'_>| {
        let (Size(size), mut session) = session.receive().await?;
        let size = size as usize;
        let (mut plate, cold) = (Rows::new(size / 3, size), vec![0.0; size]);
        let mut above = vec![];
        loop {
            let next = session.send(Edge(plate.first(above))).await?;
            let (Edge(row), next) = next.receive().await?;
            above = row;
            let change = plate.step(&above, &cold);
            match next.send(Change(change)).await?.branch().await? {
                Order::More(More, next) => session = next,
                Order::Stop(Stop, next) => {
                    return Ok(((), next.send(Part(plate.rows.concat())).await?));
                }
            }
        }
    })
    .await
}
