//! `ping_pong` and `PingPong` are the same label in the protocol.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Message)]
    enum Label {
        PingPong(Ping),
        #[label("ping_pong")]
        Other(Pong),
    }
}

fn main() {}
