//! A macro may change a session after it was verified.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[rumpsteak::closed_system]
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;
}

fn main() {}
