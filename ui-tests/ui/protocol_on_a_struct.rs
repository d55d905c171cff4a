//! The attribute belongs on a module.

#[rumpsteak::protocol(Ping)]
pub struct Ping(i32);

fn main() {}
