//! `Send` is a word of sessions, whatever a module imports.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<Send, Ping, Receive<S, Pong, End>>;
}

fn main() {}
