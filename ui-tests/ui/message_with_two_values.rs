//! Each label is a type of its own.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Message)]
    enum Label {
        Ping(i32, i32),
        Pong(Pong),
    }
}

fn main() {}
