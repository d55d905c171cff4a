//! The protocol says `ping(i32)`, and rustc knows what an alias stands for.

type Number = i64;

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::Number;

    struct Ping(Number);
}

fn main() {}
