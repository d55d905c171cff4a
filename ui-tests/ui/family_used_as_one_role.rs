//! A family is sent to and received from as a whole.

use rumpsteak::states::{End, Send};

#[rumpsteak::protocol(Family)]
mod family {
    #[derive(Roles)]
    struct Roles {
        m: M,
        q: Vec<Q>,
        worker: Worker,
        pair: Vec<Pair>,
    }
}
use family::*;

fn q(session: Send<'_, Q, Worker, Seen, End<'_, Q>>) {
    session.send(Seen);
}

fn worker(session: Send<'_, Worker, M, Done, End<'_, Worker>>) {
    session.send_each(|_| Done(1));
}

fn main() {}
