//! A role is a struct.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Role)]
    enum C {}
}

fn main() {}
