//! The protocol declares a session, and the label carries a text.

#[rumpsteak::protocol(Hire)]
mod hire {
    struct Job(String);
}

fn main() {}
