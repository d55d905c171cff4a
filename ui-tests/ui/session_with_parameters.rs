//! `#[session]` adds the parameters.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client<'s> = Send<S, Ping, Receive<S, Pong, End>>;
}

fn main() {}
