//! An option names a peer that says something else.

#[rumpsteak::protocol(Either)]
mod either {
    #[session(C)]
    type Hears = Branch<First>;

    enum First {
        OfA(Receive<A, Answer, Send<D, Done, End>>),
        OfB(Receive<D, Answer, Send<D, Done, End>>),
    }
}

fn main() {}
