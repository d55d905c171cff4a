//! `Label` is no message type.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    #[message(Label)]
    struct C(#[route(S)] Channel<Label>);

    enum Label {
        Ping(Ping),
        Pong(Pong),
    }
}

fn main() {}
