//! Both ends only receive.

#[rumpsteak::protocol(Ping)]
mod ping {
    use rumpsteak::channel::Receiver;

    #[derive(Role)]
    struct C(#[route(S)] Receiver<Label>);

    #[derive(Role)]
    struct S(#[route(C)] Receiver<Label>);
}

fn main() {}
