//! The attribute names the protocol.

#[rumpsteak::protocol]
mod ping {}

fn main() {}
