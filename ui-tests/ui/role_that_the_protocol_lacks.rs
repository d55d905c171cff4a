//! `Ping` has no role `d`.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    #[protocol(Ping::d)]
    struct D(#[route(S)] Channel<Label>);
}

fn main() {}
