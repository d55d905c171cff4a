//! A nested module does not belong to the module.

#[rumpsteak::protocol(Ping)]
mod ping {
    mod inner {
        use super::*;

        #[session(C)]
        pub type Client = Send<S, Ping, Receive<S, Pong, End>>;
    }
}

fn main() {}
