//! A role holds only its routes.

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
