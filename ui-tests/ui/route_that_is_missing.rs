//! `S` has no route to `C`, with which it speaks.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    struct S;
}

fn main() {}
