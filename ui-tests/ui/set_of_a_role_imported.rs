//! A set has the roles of its own module.

#[rumpsteak::protocol(Ping)]
mod first {}

#[rumpsteak::protocol(Ping)]
mod second {
    use super::first::S as Other;

    #[derive(Roles)]
    struct Roles {
        c: C,
        s: Other,
    }
}

fn main() {}
