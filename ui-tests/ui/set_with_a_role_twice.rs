//! Two fields have one struct.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Roles)]
    struct Roles(C, C);
}

fn main() {}
