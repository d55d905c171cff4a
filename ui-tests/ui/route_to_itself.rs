//! A role cannot send to itself.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    struct C(#[route(C)] Channel<Label>);
}

fn main() {}
