//! The protocol says `ping(i32)`, and rustc resolves the alias.

type Number = i64;

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::Number;

    struct Ping(Number);
}

fn main() {}
