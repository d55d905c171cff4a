//! `S` sends to `C`, but has no route to it.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    struct S;
}

fn main() {}
