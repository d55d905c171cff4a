//! A name of the protocol has another meaning already.

pub struct S;

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::S;
}

fn main() {}
