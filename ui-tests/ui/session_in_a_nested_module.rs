//! A module in the module is no part of it.

#[rumpsteak::protocol(Ping)]
mod ping {
    mod inner {
        use super::*;

        #[session(C)]
        pub type Client = Send<S, Ping, Receive<S, Pong, End>>;
    }
}

fn main() {}
