//! A `Send` needs a next state.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, Ping>;
}

fn main() {}
