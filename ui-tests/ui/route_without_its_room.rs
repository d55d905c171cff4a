//! The build does not know how many messages a bounded queue holds.

#[rumpsteak::protocol(Ping)]
mod ping {
    use futures::channel::mpsc::{Receiver, Sender};
    use rumpsteak::transport::Bidirectional;

    #[derive(Role)]
    #[message(Label)]
    struct C(#[route(S)] Bidirectional<Sender<Label>, Receiver<Label>>);
}

fn main() {}
