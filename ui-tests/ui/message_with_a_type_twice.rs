//! One type cannot be two labels.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Message)]
    enum Label {
        Ping(Number),
        Pong(Number),
    }

    struct Number(i32);
}

fn main() {}
