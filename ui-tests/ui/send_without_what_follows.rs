//! A session says how it goes on.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, Ping>;
}

fn main() {}
