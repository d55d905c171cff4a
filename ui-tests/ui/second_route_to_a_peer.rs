//! A role has one route to each peer.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    struct C(#[route(S)] Channel<Label>, #[route(S)] Channel<Label>);
}

fn main() {}
