//! A macro of the module makes a session, which is not verified.

#[rumpsteak::protocol(Ping)]
mod ping {
    macro_rules! client {
        () => {
            #[session(C)]
            pub type Client = Send<S, Ping, Receive<S, Pong, End>>;
        };
    }

    client!();
}

fn main() {}
