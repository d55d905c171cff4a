//! A variant was copied without changing its type.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Message)]
    enum Label {
        Ping(Ping),
        Pong(Ping),
    }
}

fn main() {}
