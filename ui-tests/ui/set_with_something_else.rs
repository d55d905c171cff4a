//! `String` is not a role.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[derive(Roles)]
    struct Roles(C, S, String);
}

fn main() {}
