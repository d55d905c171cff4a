//! `C` has a route to `S`, which the set lacks.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Roles)]
    struct Roles {
        c: C,
    }
}

fn main() {}
