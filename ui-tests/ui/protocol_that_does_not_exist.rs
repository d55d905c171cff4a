//! No file declares `Pong`.

#[rumpsteak::protocol(Pong)]
mod ping {
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;
}

fn main() {}
