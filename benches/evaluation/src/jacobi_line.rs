//! Jacobi's method by three roles in a line. Each of them sends its rows before it receives its
//! neighbours', as in `rumpsteak_examples::jacobi`.

use rumpsteak_examples::jacobi::{HOT, Rows, Solution, Task, rows_of};
use rumpsteak_runtime::{Result, try_run};

/// The roles.
#[rumpsteak_runtime::protocol(
    JacobiLine,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod roles {
    #[session(A)]
    type Second = Receive<M, Size, Send<B, Size, SecondRound>>;

    struct SecondRound(Send<M, Edge, Send<B, Edge, Receive<M, Edge, Receive<B, Edge, Changes>>>>);

    type Changes = Receive<B, Change, Send<M, Change, Branch<M, Order>>>;

    enum Order {
        More(More, Send<B, More, SecondRound>),
        Stop(Stop, Send<B, Stop, Receive<B, Part, Send<M, Part, End>>>),
    }

    #[session(B)]
    type Third = Receive<A, Size, ThirdRound>;

    struct ThirdRound(Send<A, Edge, Receive<A, Edge, Send<A, Change, Branch<A, LastOrder>>>>);

    enum LastOrder {
        More(More, ThirdRound),
        Stop(Stop, Send<A, Part, End>),
    }
}
use roles::*;

/// The first role, with the upper third.
pub(crate) async fn first(role: &mut M, task: Task) -> Result<Solution> {
    let size = task.size;
    try_run(role, async |session: MSession<'_>| {
        let mut session = session.send(Size(size as u64)).await?;
        let (mut plate, hot) = (Rows::new(size / 3, size), vec![HOT; size]);
        let (mut below, mut round) = (vec![], 0);
        loop {
            round += 1;
            let next = session.send(Edge(plate.last(below))).await?;
            let (Edge(row), next) = next.receive().await?;
            below = row;
            let change = plate.step(&hot, &below);
            let (Change(others), next) = next.receive().await?;
            if change.max(others) > task.accuracy {
                session = next.select(More).await?;
                continue;
            }
            let (Part(others), end) = next.select(Stop).await?.receive().await?;
            return Ok((([plate.rows, rows_of(&others, size)].concat(), round), end));
        }
    })
    .await
}

/// The second role, with what the others do not have.
pub(crate) async fn second(role: &mut A) -> Result<()> {
    try_run(role, async |session: Second<'_>| {
        let (Size(size), session) = session.receive().await?;
        let mut session = session.send(Size(size)).await?;
        let size = size as usize;
        let mut plate = Rows::new(size - 2 * (size / 3), size);
        let (mut above, mut below) = (vec![], vec![]);
        loop {
            let next = session.send(Edge(plate.first(above))).await?;
            let next = next.send(Edge(plate.last(below))).await?;
            let (Edge(row), next) = next.receive().await?;
            above = row;
            let (Edge(row), next) = next.receive().await?;
            below = row;
            let change = plate.step(&above, &below);
            let (Change(others), next) = next.receive().await?;
            match next.send(Change(change.max(others))).await?.branch().await? {
                Order::More(More, next) => session = next.send(More).await?,
                Order::Stop(Stop, next) => {
                    let (Part(others), next) = next.send(Stop).await?.receive().await?;
                    let parts = [plate.rows.concat(), others].concat();
                    return Ok(((), next.send(Part(parts)).await?));
                }
            }
        }
    })
    .await
}

/// The last role, with the lower third.
pub(crate) async fn third(role: &mut B) -> Result<()> {
    try_run(role, async |session: Third<'_>| {
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
                LastOrder::More(More, next) => session = next,
                LastOrder::Stop(Stop, next) => {
                    return Ok(((), next.send(Part(plate.rows.concat())).await?));
                }
            }
        }
    })
    .await
}
