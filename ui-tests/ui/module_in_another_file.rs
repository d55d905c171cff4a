//! The attribute must see the items of the module, so the module is inline.

#[rumpsteak::protocol(Ping)]
mod ping;

fn main() {}
