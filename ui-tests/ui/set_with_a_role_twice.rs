//! One struct, two fields.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Roles)]
    struct Roles(C, C);
}

fn main() {}
