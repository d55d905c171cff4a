//! The attribute reads the module, so the module stands below it.

#[rumpsteak::protocol(Ping)]
mod ping;

fn main() {}
