//! The protocol declares a session of another role.

#[rumpsteak::protocol(Portal)]
mod portal {}

#[rumpsteak::protocol(Hire)]
mod hire {
    use rumpsteak::Detached;

    use super::portal::UserSession;

    struct Job(Detached<UserSession<'static>>);
}

fn main() {}
