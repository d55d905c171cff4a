//! A name of the protocol already has another meaning in the module.

pub struct S;

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::S;
}

fn main() {}
