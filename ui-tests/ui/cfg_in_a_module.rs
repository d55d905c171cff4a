//! A `cfg` would hide an item from rustc that was verified.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[cfg(debug_assertions)]
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;
}

fn main() {}
