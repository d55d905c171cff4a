//! The client waits for the answer before it asks.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Receive<S, Pong, Send<S, Ping, End>>;
}

fn main() {}
