//! The attribute needs the name of the protocol.

#[rumpsteak::protocol]
mod ping {}

fn main() {}
