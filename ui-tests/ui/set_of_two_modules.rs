//! A set has the roles of its own module.

#[rumpsteak::protocol(Ping)]
mod first {}

#[rumpsteak::protocol(Ping)]
mod second {
    use super::first::S;

    #[derive(Roles)]
    struct Roles {
        c: C,
        s: S,
    }
}

fn main() {}
