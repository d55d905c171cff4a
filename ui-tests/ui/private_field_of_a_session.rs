//! Only the session makes its struct, even in its own module.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    struct Client(Send<S, Ping, Receive<S, Pong, End>>);

    pub fn twice(s: Client<'_>) -> (Client<'_>, Client<'_>) {
        let Client(inner) = s;
        (Client(inner), Client(inner))
    }
}

fn main() {}
