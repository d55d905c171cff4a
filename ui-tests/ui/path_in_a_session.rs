//! A session names items of its own module.

mod labels {
    pub struct Ping(pub i32);
}

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, super::labels::Ping, Receive<S, Pong, End>>;
}

fn main() {}
