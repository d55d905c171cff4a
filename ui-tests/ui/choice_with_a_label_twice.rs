//! The peer could not tell the two options apart.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Select<S, Choice>;

    enum Choice {
        Once(Ping, Receive<S, Pong, End>),
        Again(Ping, End),
    }
}

fn main() {}
