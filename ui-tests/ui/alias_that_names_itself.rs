//! Only structs may be recursive.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, Self>>;
}

fn main() {}
