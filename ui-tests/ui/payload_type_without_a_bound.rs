//! Messages that derive `Clone` have payloads that do.

#[rumpsteak::protocol(Orders, derive(Clone))]
mod orders {}

struct Order;

fn main() {}
