//! Which of the two is meant?

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    struct C(#[route(S)] Channel<Label>, #[route(S)] Channel<Label>);
}

fn main() {}
