//! `A` has a route to `B`, but not the other way round, and they never speak.

#[rumpsteak::protocol(Fork)]
mod fork {
    #[derive(Role)]
    struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);
}

fn main() {}
