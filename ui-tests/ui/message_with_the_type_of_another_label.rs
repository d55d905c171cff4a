//! A variant is copied, and its type is not changed.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Message)]
    enum Label {
        Ping(Ping),
        Pong(Ping),
    }
}

fn main() {}
