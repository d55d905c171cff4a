//! A label is an item of the module, because its payload is verified.

pub struct Ping(pub String);

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::Ping;

    #[derive(Message)]
    enum Label {
        Ping(Ping),
        Pong(Pong),
    }

    struct Pong(i32);
}

fn main() {}
