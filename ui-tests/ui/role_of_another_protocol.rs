//! `X` plays in `Ring`, and the module is one of `Ping`.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    #[protocol(Ring::x)]
    struct X(#[route(S)] Channel<Label>);
}

fn main() {}
