//! Both structs are the role `c`.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    #[protocol(Ping::c)]
    struct Asker(#[route(S)] Channel<Label>);

    #[derive(Role)]
    #[protocol(Ping::c)]
    struct Tester(#[route(S)] Channel<Label>);

    #[derive(Role)]
    struct S(#[route(Asker)] Channel<Label>);
}

fn main() {}
