//! An option of a `Select` receives.

#[rumpsteak::protocol(Either)]
mod either {
    #[session(C)]
    type Hears = Select<First>;

    enum First {
        OfA(Receive<A, Answer, Send<D, Done, End>>),
        OfB(Receive<B, Answer, Send<D, Done, End>>),
    }
}

fn main() {}
