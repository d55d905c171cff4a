//! The protocol says `ping(i32)`.

#[rumpsteak::protocol(Ping)]
mod ping {
    struct Ping(String);
}

fn main() {}
