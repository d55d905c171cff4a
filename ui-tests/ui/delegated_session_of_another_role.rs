//! A session of another role changes hands than the protocol says.

#[rumpsteak::protocol(Portal)]
mod portal {}

#[rumpsteak::protocol(Hire)]
mod hire {
    use rumpsteak::Detached;

    use super::portal::UserSession;

    struct Job(Detached<UserSession<'static>>);
}

fn main() {}
