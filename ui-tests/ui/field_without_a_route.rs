//! A role holds its routes and nothing else.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    struct C {
        #[route(S)]
        s: Channel<Label>,
        count: usize,
    }
}

fn main() {}
