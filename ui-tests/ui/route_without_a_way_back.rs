//! `A` has a route to `B`, but `B` has none to `A`.

#[rumpsteak::protocol(Fork)]
mod fork {
    #[derive(Role)]
    struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);
}

fn main() {}
