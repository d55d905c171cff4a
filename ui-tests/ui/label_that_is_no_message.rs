//! `Hello` is not in the protocol.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, Hello, Receive<S, Pong, End>>;

    struct Hello(i32);
}

fn main() {}
