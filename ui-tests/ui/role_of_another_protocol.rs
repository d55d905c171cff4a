//! `X` is a role of `Ring`, and the module's protocol is `Ping`.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    #[protocol(Ring::x)]
    struct X(#[route(S)] Channel<Label>);
}

fn main() {}
