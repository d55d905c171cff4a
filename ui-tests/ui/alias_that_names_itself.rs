//! Only structs recur.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, Self>>;
}

fn main() {}
