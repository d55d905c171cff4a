//! The protocol says `super::Order`.

#[rumpsteak::protocol(Orders)]
mod orders {}

fn main() {}
