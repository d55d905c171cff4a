//! `i32` is another type in this module, but not in the protocol.

#[derive(Debug)]
pub struct Evil;

#[rumpsteak::protocol(Ping)]
mod ping {
    use super::Evil as i32;
}

fn main() {}
